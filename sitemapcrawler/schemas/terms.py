"""One departure from the schema."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from lxml import etree

from sitemapcrawler.namespaces import NAMESPACES, find, hreflang, image, news, video
from sitemapcrawler.schemas import CORE, parser, text_of

XS = "{http://www.w3.org/2001/XMLSchema}"
GROUPS = (f"{XS}sequence", f"{XS}all", f"{XS}choice")
FILES = {
    CORE: ("urlset.xsd", "sitemapindex.xsd"),
    image.URI: ("image.xsd",),
    video.URI: ("video.xsd",),
    news.URI: ("news.xsd",),
    hreflang.URI: ("xhtml-link.xsd",),
}
"""The schemas of each namespace."""
ENTRIES = {"urlset": "url", "sitemapindex": "sitemap"}
"""Root -> its entries."""

# What XML Schema 1.0 cannot say of parts whose order is free.
REPEATABLE = frozenset(("tag", "price", "id", "content_segment_loc", "uploader"))
"""Parts that an element may hold several of; all others stand once. (A rule of its own names a second uploader.)"""
UNCOUNTED = "video"
"""The element whose parts the schema cannot count, since some may repeat and some not."""
REQUIRED = {
    "image": ("loc",),
    "video": ("thumbnail_loc", "title", "description"),
    "news": ("publication", "publication_date", "title"),
    "publication": ("name", "language"),
    "tvshow": ("show_title", "video_type"),
}
"""Element -> parts that it must hold."""
LOCATIONS = ("content_loc", "player_loc")
"""A video must hold one of these."""
UNNAMED_LACK = "tvshow"
"""The one element whose lacking parts no rule of its own names."""
REQUIRED_ATTRIBUTES = {
    "link": ("rel", "hreflang", "href"),
    "restriction": ("relationship",),
    "platform": ("relationship",),
}
"""Element -> attributes that it must have."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The names of one namespace."""

    uri: str
    tops: frozenset[str]
    """Elements that stand in an entry."""
    holders: dict[str, tuple[str, ...]]
    """Each element that holds elements, and their names in the order of the schema."""
    names: frozenset[str]
    """All elements."""
    attributes: frozenset[str]
    """All attributes."""

    def around(self, name: str) -> str:
        """The elements in which the element `name` stands, for a message."""
        return " or ".join(tag(self.uri, holder) for holder, names in self.holders.items() if name in names)


@cache
def terms(uri: str) -> Terms:
    """The terms of a namespace that has a schema."""
    roots = [etree.fromstring(text_of(name), parser()) for name in FILES[uri]]
    holders: dict[str, tuple[str, ...]] = {}
    for root in roots:
        holders |= _holders(root)
    return Terms(
        uri,
        frozenset(_names(roots, "./")),
        holders,
        frozenset(_names(roots, ".//")),
        frozenset(_names(roots, ".//", "attribute")),
    )


def _names(roots: list[Any], where: str, what: str = "element") -> list[str]:
    return [declared.get("name") for root in roots for declared in root.iterfind(f"{where}{XS}{what}")]


def _holders(root: Any) -> dict[str, tuple[str, ...]]:
    named = {kind.get("name"): kind for kind in root.iterfind(f"{XS}complexType")}
    holders = {}
    for element in root.iter(f"{XS}element"):
        kind = element.find(f"{XS}complexType")
        if kind is None:
            kind = named.get((element.get("type") or "").rpartition(":")[2])
        for group in () if kind is None else kind.iterchildren(*GROUPS):
            holders[element.get("name")] = tuple(part.get("name") for part in group.iterfind(f"{XS}element"))
    return holders


HOLDERS = frozenset(name for uri in FILES for name in terms(uri).holders)
"""Elements of any namespace that hold elements."""
NAMES = frozenset(name for uri in FILES for name in terms(uri).names)
"""Elements of any namespace."""
ATTRIBUTES = frozenset(name for uri in FILES for name in terms(uri).attributes)
"""Attributes of any namespace."""


def tag(uri: str, name: str) -> str:
    """An element as people write it, with the usual prefix of the namespace that is meant."""
    namespace = NAMESPACES.get(uri) or find(uri)
    return f"<{namespace.prefix}:{name}>" if namespace else f"<{name}>"


SCHEMA, ORDER, MISSING = "xml-schema-violation", "xml-element-order", "xml-missing-element"
UNKNOWN, DUPLICATE, ATTRIBUTE = "xml-unknown-element", "xml-duplicate-element", "xml-unknown-attribute"
RULES = frozenset((SCHEMA, ORDER, MISSING, UNKNOWN, DUPLICATE, ATTRIBUTE))
"""Rules under which violations are reported."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing in an entry that the schema does not allow."""

    rule: str
    """Id in the rule catalogue."""
    message: str
    """One sentence."""
    line: int
    """Line, counted from 1."""
    value: str | None = None
    """The offending text or name."""
