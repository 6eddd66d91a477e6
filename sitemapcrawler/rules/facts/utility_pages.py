"""Pages without content of their own, recognised by their names: login, cart, search and the like."""

from __future__ import annotations

from urllib.parse import unquote

from sitemapcrawler.rules.facts.given import split
from sitemapcrawler.words import read_words

KINDS = {
    name: kind
    for kind, names in read_words("sitemapcrawler.rules.facts", "utility_pages")["utility_pages"].items()
    for name in names.split()
}
"""{name of a path segment: kind of page}"""
PAGE_EXTENSIONS = ("html", "htm", "php", "aspx", "asp", "jsp", "xhtml", "shtml", "cfm")


def kind_of(name: str) -> str | None:
    """Return the kind of page that the last segment of a path names; None for a page with content."""
    stem, _, extension = name.partition(".")
    return KINDS.get(stem) if not extension or extension in PAGE_EXTENSIONS else None


def leads_to_login(url: str, final: str) -> bool:
    """True for a redirect to a login page, judging by its name, unless it starts at one."""
    return _is_login(final) and not _is_login(url)


def _is_login(url: str) -> bool:
    return kind_of(unquote(split(url).path.rstrip("/").rpartition("/")[2]).lower()) == "a login page"
