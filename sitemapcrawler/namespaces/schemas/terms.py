"""Elements and attributes of each namespace, and the constraints on them that XML Schema cannot express."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from lxml import etree

from sitemapcrawler.namespaces import CORE, Namespace, find
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.schemas import CHECKED, parser, text_of

XS = "{http://www.w3.org/2001/XMLSchema}"
GROUPS = (f"{XS}sequence", f"{XS}all", f"{XS}choice")
ANY_TEXT = "xs:string"
"""Type of text that may be anything."""
FILES = {CORE: ("urlset.xsd", "sitemapindex.xsd"), **{namespace.uri: (str(namespace.schema),) for namespace in CHECKED}}
"""Schema files of the protocol and of our own namespaces, which are checked together."""
ENTRIES = {"urlset": "url", "sitemapindex": "sitemap"}
"""{root: its entries}."""

REPEATABLE = frozenset(("tag", "price", "id", "content_segment_loc", "uploader"))
"""Parts that may repeat. (A second uploader is reported by another rule.)"""
REQUIRED = {
    "image": ("loc",),
    "video": ("thumbnail_loc", "title", "description"),
    "news": ("publication", "publication_date", "title"),
    "publication": ("name", "language"),
    "tvshow": ("show_title", "video_type"),
}
"""{element: required parts}."""
LOCATIONS = ("content_loc", "player_loc")
"""A video needs one of these."""
UNNAMED_LACK = "tvshow"
"""The only element whose missing parts no other rule reports."""
REQUIRED_ATTRIBUTES = {
    "link": ("rel", "hreflang", "href"),
    "restriction": ("relationship",),
    "platform": ("relationship",),
}
"""{element: required attributes}."""


class Kind(NamedTuple):
    """What the schema allows in an element."""

    parts: tuple[str, ...]
    """Child elements, in the order of the schema. Empty for an element that must not have any."""
    is_free: bool
    """True if its text may be anything."""
    attributes: frozenset[str]
    free_attributes: frozenset[str]
    """Attributes whose value may be anything."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Elements and attributes of one namespace."""

    uri: str
    tops: frozenset[str]
    """Elements allowed directly in an entry."""
    kinds: dict[str, Kind]
    """All elements, by name."""

    def parts(self, name: str) -> tuple[str, ...]:
        """Names of the child elements of an element; empty if it must not have any."""
        kind = self.kinds.get(name)
        return kind.parts if kind is not None else ()

    def around(self, name: str) -> str:
        """The elements that may contain `name`, for a message."""
        return " or ".join(tag(self.uri, holder) for holder, kind in self.kinds.items() if name in kind.parts)


@cache
def terms(uri: str) -> Terms:
    """Return the terms of a namespace, from its schema files."""
    roots = [etree.fromstring(text_of(name), parser()) for name in FILES[uri]]
    return Terms(
        uri,
        frozenset(one.get("name", "") for root in roots for one in root.iterfind(f"{XS}element")),
        {one.get("name", ""): _kind(one, root) for root in roots for one in root.iter(f"{XS}element")},
    )


def _kind(element: etree._Element, root: etree._Element) -> Kind:
    """Return what a declaration allows. Text of a type that is declared in place counts as limited."""
    name = element.get("type", "")
    types = [
        *element.iterfind(f"{XS}complexType"),
        *root.iterfind(f"{XS}complexType[@name='{name.rpartition(':')[2]}']"),
    ]
    groups = (group for kind in types for group in kind.iterchildren(*GROUPS))
    bases = (base for kind in types for base in kind.iterfind(f"{XS}simpleContent/*"))
    attributes = [one for kind in types for one in kind.iter(f"{XS}attribute")]
    return Kind(
        tuple(part.get("name", "") for group in groups for part in group.iterfind(f"{XS}element")),
        ANY_TEXT in (name, *(base.get("base") for base in bases)),
        frozenset(attribute.get("name", "") for attribute in attributes),
        frozenset(attribute.get("name", "") for attribute in attributes if attribute.get("type") == ANY_TEXT),
    )


def find_own(uri: str) -> Namespace | None:
    """Return the namespace of ours with a schema that a URI means. To the protocol's schema any other is unknown."""
    namespace = find(uri)
    return namespace if namespace is not None and namespace.uri in FILES else None


def tag(uri: str, name: str) -> str:
    """Format an element as a tag, with the usual prefix of its namespace."""
    namespace = find(uri)
    return f"<{namespace.prefix}:{name}>" if namespace else f"<{name}>"


def lacking(holder: Element) -> list[str]:
    """Names of the required parts that are missing or, as for the rules that report them, empty."""
    required = REQUIRED.get(holder.name)
    if required is None:
        return []
    space = find(holder.uri)
    parts = [part for part in holder.children if part.uri == holder.uri or find(part.uri) is space]
    names = {part.name for part in parts if part.text or part.has_children or holder.name == UNNAMED_LACK}
    missing = [name for name in required if name not in names]
    if holder.name == "video" and names.isdisjoint(LOCATIONS):
        missing.append(LOCATIONS[0])
    return missing
