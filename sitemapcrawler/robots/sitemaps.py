"""The sitemaps that a robots.txt names: sitemaps.org/protocol.html#submit_robots.

They stand in no group (RFC 9309, 2.2.4), so every line counts, wherever it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from html import unescape

from sitemapcrawler import urls
from sitemapcrawler.robots.decode import BLANKS, BOM, TAG, escaped
from sitemapcrawler.robots.parse import MAX_LINE
from sitemapcrawler.urls.display import masked, removed

MAX_SITEMAPS = 50_000  # as many as one index may list, sitemaps.org/protocol.html#index

FIELDS = {
    "sitemap": "the name itself (sitemaps.org/protocol.html#submit_robots); Google takes whatever begins so: sitemaps",
    "site-map": "google/robotstxt, KeyIsSitemap",
    "site map": "as google/robotstxt reads `user agent`",
    "site_map": "the same with the other joint",
}
"""Beginnings of field names that are read as `Sitemap`, and why."""
_FIELD = re.compile(rf"(?:{'|'.join(FIELDS)})[^\s:]{{0,20}}", re.IGNORECASE)
_NEXT_URL = re.compile(r"[\s,](?=https?://)", re.IGNORECASE)
_WEB_START = re.compile(r"https?://", re.IGNORECASE)
_QUOTES = "\"'<>`\xab\xbb\u2018\u2019\u201c\u201d"  # the typographic ones come from word processors


@dataclass(frozen=True, slots=True)
class RobotsSitemap:
    """One sitemap that a robots.txt names, or means to name."""

    url: str
    """Absolute http or https URL, without fragment; empty where the value is none."""
    line: int
    """Line of robots.txt, counted from 1."""
    raw: str
    """The line as written, blanks around it removed; bytes that are not UTF-8 as %XX, passwords as `***`."""
    typo: bool = False
    """True where the line is not `Sitemap: URL`: another field name, no colon, markup before it, or a URL alone."""
    relative: bool = False
    """True where the URL was not written in full."""
    comment: bool = False
    """True where a comment follows on the line."""
    first: int | None = None
    """The line that named it before; None for the first one."""


def read_sitemaps(lines: Iterable[str], base: str, wrapped: bool = False) -> list[RobotsSitemap]:
    """The Sitemap lines of a robots.txt that was fetched from the URL `base`, repeated and unusable ones included.

    `wrapped`: something made an HTML page of it, so that `&amp;` stands for `&`.
    """
    found: list[RobotsSitemap] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not 0 < len(line) <= MAX_LINE or len(found) >= MAX_SITEMAPS:
            continue
        text = escaped(line).strip(BLANKS + BOM)
        markup = "<" in text and TAG.search(text)
        for sitemap in _of_markup(number, text, base, wrapped) if markup else _of_line(number, text, base):
            first = seen.setdefault(urls.visit_key(sitemap.url), number) if sitemap.url else number
            found.append(sitemap if first == number else replace(sitemap, first=first))
    return found


def _of_markup(number: int, line: str, base: str, wrapped: bool) -> Iterator[RobotsSitemap]:
    """The fields between the tags of a line. A URL alone is none: it may be part of any page."""
    commented = False
    for place, piece in enumerate(TAG.split(line)):
        text = (unescape(piece) if wrapped else piece).strip(BLANKS)
        if _FIELD.match(text) and not commented:
            for sitemap in _of_line(number, text, base):
                yield replace(sitemap, raw=masked(line), typo=sitemap.typo or place > 0)
        commented |= "#" in piece


def _of_line(number: int, line: str, base: str) -> Iterator[RobotsSitemap]:
    content, mark, _ = line.partition("#")
    comment = bool(mark) and content[-1:].isspace()
    found = _value(content.strip(BLANKS))
    if found is None:
        return
    value, typo = found
    raw = masked(line)
    for written in _NEXT_URL.split(value):
        reference = written.strip(BLANKS + BOM + _QUOTES + ",")
        if reference:
            url = urls.resolve(base, removed(reference)) or ""
            yield RobotsSitemap(url, number, raw, typo, _WEB_START.match(reference) is None, comment)


def _value(content: str) -> tuple[str, bool] | None:
    """The text after `Sitemap:` and whether that was misspelt; None for a line of another kind."""
    field = _FIELD.match(content)
    if field is None:
        return (content, True) if _is_bare(content.strip(_QUOTES)) else None
    after = content[field.end() :]
    rest = after.lstrip(BLANKS)
    if rest.startswith(":"):
        return rest[1:], field[0].lower() != "sitemap"
    # As google/robotstxt: white space stands for a forgotten colon where one word follows.
    forgotten = rest != after and len(rest.split()) == 1 and re.match(r"/|https?://", rest, re.IGNORECASE)
    return (rest, True) if forgotten else None


def _is_bare(text: str) -> bool:
    if _WEB_START.match(text) is None or any(character.isspace() for character in text):
        return False
    name = text.partition("?")[0].rpartition("/")[2].lower()
    return name.endswith((".xml", ".xml.gz")) or "sitemap" in name
