"""Pages without content of their own, recognised by their names: login, cart, search and the like."""

from __future__ import annotations

import re
from urllib.parse import unquote

from sitemapcrawler.rules.facts.given import split
from sitemapcrawler.words import read_words

KINDS = {
    name: kind
    for kind, names in read_words("sitemapcrawler.rules.facts", "utility_pages")["utility_pages"].items()
    for name in names.split()
}
"""{name of a path segment: kind of page}"""
PAGE_EXTENSIONS = ("html", "htm", "php", "aspx", "asp", "jsp", "xhtml", "shtml", "cfm", "do", "action")
_SIGN_ON = re.compile(
    r"/(?:sso|saml2?|shibboleth\.sso|wayf|adfs|oauth2?|openid-connect)(?:/|\Z)|/authorize\Z", re.IGNORECASE
)
"""Paths of single sign-on, which have a query: SAML and Shibboleth, Active Directory, OAuth and OpenID Connect. Without
one, they are pages about it."""
_FIRST_STEP = re.compile(r"/(?:index|default|start|identifier)(?:\.[a-z]{2,5})?\Z")
"""The page at which a login in a folder of its own begins: `/login/index.php`."""


def kind_of(name: str) -> str | None:
    """Return the kind of page that the last segment of a path names; None for a page with content."""
    stem, _, extension = name.partition(".")
    return KINDS.get(stem) if not extension or extension in PAGE_EXTENSIONS else None


def leads_to_login(url: str, final: str) -> bool:
    """True for a redirect to a login page, judging by its URL, unless it starts at one."""
    signs_on = split(final).query != "" and _SIGN_ON.search(_path(final)) is not None
    return (_is_login(final) or signs_on) and not _is_login(url)


def _path(url: str) -> str:
    return unquote(split(url).path).rstrip("/")


def _is_login(url: str) -> bool:
    """True if the last segment of the path names a login page, or the one before it in a URL with a query."""
    names = _FIRST_STEP.sub("", _path(url).lower()).split("/")
    return "a login page" in map(kind_of, names[-2 if split(url).query else -1 :])
