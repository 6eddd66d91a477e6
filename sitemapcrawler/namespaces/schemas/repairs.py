"""Elements and attributes of each namespace, and repairs that make an entry's structure valid.

A validator stops at the first unexpected part of an element, so the structure is repaired first. Each repair is a
violation, unless another rule reports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from lxml import etree

from sitemapcrawler.namespaces import CORE, Namespace, find, resembled
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.schemas import CHECKED, parser, text_of
from sitemapcrawler.urls.display import quoted

XML_SCHEMA = "http://www.w3.org/2001/XMLSchema"
XS = f"{{{XML_SCHEMA}}}"
UNCHECKED_TYPES = frozenset(("string", "normalizedString", "token", "anyURI", "anyType", "anySimpleType"))
"""Types of XML Schema that allow the empty value. Source: https://www.w3.org/TR/xmlschema-2/#built-in-datatypes"""
GROUPS = (f"{XS}sequence", f"{XS}all", f"{XS}choice")
FILES = {CORE: ("urlset.xsd", "sitemapindex.xsd"), **{namespace.uri: (str(namespace.schema),) for namespace in CHECKED}}
"""Schema files of the protocol and of our own namespaces, which are checked together."""
ENTRIES = {"urlset": "url", "sitemapindex": "sitemap"}
"""{root: its entries}."""

# Constraints that XML Schema 1.0 cannot express for parts in any order.
REPEATABLE = frozenset(("tag", "price", "id", "content_segment_loc", "uploader"))
"""Parts that may repeat. (A second uploader is reported by another rule.)"""
UNCOUNTED = "video"
"""The element with both single and repeatable parts, which the schema cannot count."""
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


@dataclass(frozen=True, slots=True)
class Terms:
    """Elements and attributes of one namespace."""

    uri: str
    tops: frozenset[str]
    """Elements allowed directly in an entry."""
    holders: dict[str, tuple[str, ...]]
    """{element: child elements in the order of the schema}."""
    names: frozenset[str]
    attributes: frozenset[str]
    typed: frozenset[str]
    """Elements whose text the schema checks, such as numbers."""
    typed_attributes: frozenset[str]
    """Attributes whose value the schema checks."""

    def around(self, name: str) -> str:
        """The elements that may contain `name`, for a message."""
        return " or ".join(tag(self.uri, holder) for holder, names in self.holders.items() if name in names)


@cache
def terms(uri: str) -> Terms:
    """Return the terms of a namespace, from its schema files."""
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
        frozenset(_typed(roots, "element")),
        frozenset(_typed(roots, "attribute")),
    )


def _names(roots: list[etree._Element], where: str, what: str = "element") -> list[str]:
    return [declared.get("name", "") for root in roots for declared in root.iterfind(f"{where}{XS}{what}")]


def _typed(roots: list[etree._Element], what: str) -> Iterator[str]:
    for root in roots:
        kinds = {kind.get("name"): kind for kind in root.iterchildren(f"{XS}simpleType", f"{XS}complexType")}
        yield from (one.get("name", "") for one in root.iter(f"{XS}{what}") if _is_typed(one, kinds))


def _is_typed(declared: etree._Element, kinds: dict[str | None, etree._Element]) -> bool:
    """True if an element, an attribute or the base of one has a type that may not allow the empty value."""
    prefix, _, name = (declared.get("type") or declared.get("base") or "").rpartition(":")
    if declared.nsmap.get(prefix or None) == XML_SCHEMA and name:
        return name not in UNCHECKED_TYPES
    kind = kinds.get(name)
    if kind is None:
        kind = declared.find(f"{XS}complexType")
    if kind is None or kind.tag == f"{XS}simpleType":
        return kind is not None or declared.find(f"{XS}simpleType") is not None
    base = kind.find(f"{XS}simpleContent/*")
    return base is not None and _is_typed(base, kinds)


def _holders(root: etree._Element) -> dict[str, tuple[str, ...]]:
    named = {kind.get("name"): kind for kind in root.iterfind(f"{XS}complexType")}
    holders = {}
    for element in root.iter(f"{XS}element"):
        kind = element.find(f"{XS}complexType")
        if kind is None:
            kind = named.get((element.get("type") or "").rpartition(":")[2])
        for group in () if kind is None else kind.iterchildren(*GROUPS):
            holders[element.get("name", "")] = tuple(part.get("name", "") for part in group.iterfind(f"{XS}element"))
    return holders


HOLDERS = frozenset(name for uri in FILES for name in terms(uri).holders)
"""Elements of any namespace that contain elements."""
NAMES = frozenset(name for uri in FILES for name in terms(uri).names)
"""Elements of any namespace."""
ATTRIBUTES = frozenset(name for uri in FILES for name in terms(uri).attributes)
"""Attributes of any namespace."""
TYPED_ATTRIBUTES = frozenset(name for uri in FILES for name in terms(uri).typed_attributes)
"""Attributes of any namespace whose value a schema checks."""


def find_own(uri: str) -> Namespace | None:
    """Return the namespace of ours with a schema that a URI means. To the protocol's schema any other is unknown."""
    namespace = find(uri)
    return namespace if namespace is not None and namespace.uri in FILES else None


def tag(uri: str, name: str) -> str:
    """Format an element as a tag, with the usual prefix of its namespace."""
    namespace = find(uri)
    return f"<{namespace.prefix}:{name}>" if namespace else f"<{name}>"


SCHEMA, ORDER, MISSING = "xml-schema-violation", "xml-element-order", "xml-missing-element"
UNKNOWN, DUPLICATE, ATTRIBUTE = "xml-unknown-element", "xml-duplicate-element", "xml-unknown-attribute"
RULES = frozenset((SCHEMA, ORDER, MISSING, UNKNOWN, DUPLICATE, ATTRIBUTE))
"""Rules under which violations are reported."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of the schema in an entry."""

    rule: str
    """Id in the rule catalogue."""
    message: str
    """One sentence."""
    line: int
    """Line, counted from 1."""
    value: str | None = None
    """The offending text or name."""


BLANKS = " \t\r\n"
"""XML whitespace, which is allowed everywhere."""


def text_in(holder: Element, uri: str) -> Violation | None:
    """Report text in an element of the namespace `uri` that must contain elements only; None if there is none."""
    for place, part in enumerate(holder.content):
        if isinstance(part, str) and part.strip(BLANKS):
            text = part.strip(BLANKS)
            message = f"text in {tag(uri, holder.name)}, which is for elements only: {quoted(text)}"
            return Violation(SCHEMA, message, _line(holder, place), text)
    return None


def _line(holder: Element, place: int) -> int:
    """Line of the text at an index of the content.

    Text has no line of its own, so it is derived from the next or previous element. Line breaks in comments and tags in
    between are unknown, so the result may be too low.
    """
    breaks = 0
    for number, part in enumerate(holder.content[place:]):
        if isinstance(part, Element):
            return part.line - breaks
        breaks += (part if number else part.lstrip(BLANKS)).count("\n")
    text = holder.content[place]
    assert isinstance(text, str)
    return _end(holder, place) + text[: len(text) - len(text.lstrip(BLANKS))].count("\n")


def _end(element: Element, place: int) -> int:
    """Line on which the content before `place` ends."""
    parts, behind = element.content[:place], 0
    while True:
        texts = []
        while parts and isinstance(parts[-1], str):
            texts.append(str(parts.pop()))
        behind += sum(text.count("\n") for text in texts)
        if not parts:
            return element.line + behind
        last = parts[-1]
        assert isinstance(last, Element)
        element, parts = last, last.content[:]


MAX_REPEATED = 100
"""Parts of the same name and element to check. 32 tags are allowed; another rule reports more."""


class PartRepairs:
    """Repairs the parts of an entry's elements and collects the violations.

    Another rule reports missing parts. What replaces such a part, or the part itself in a wrong place, is therefore not
    reported again.
    """

    def __init__(self, core: frozenset[str]) -> None:
        self.found: list[Violation] = []
        """Violations that are certain."""
        self._core = core
        self._strays: list[tuple[str, Violation]] = []
        self._missing: set[tuple[str, str]] = set()

    @property
    def violations(self) -> list[Violation]:
        """All violations. Complete after all parts have been repaired."""
        strays = (stray for uri, stray in self._strays if (uri, stray.value) not in self._missing)
        return [*self.found, *strays]

    def stray(self, uri: str, violation: Violation) -> None:
        """Add the violation of a misplaced part of a namespace; `violation.value` is the part's name."""
        self._strays.append((uri, violation))

    def repaired(self, holder: Element, uri: str) -> Element:
        """Copy an element of the namespace `uri` with its allowed parts only."""
        names = terms(uri).holders.get(holder.name)
        if names is None:
            return holder
        parts, strangers = self._sorted(holder, uri, names)
        missing = lacking(holder.name, [part for same in parts.values() for part in same])
        self._missing.update((uri, name) for name in missing)
        self._strays += [(uri, stranger) for stranger in strangers[len(missing) :]]
        text = None if missing else text_in(holder, uri)
        self.found += [text] if text else []
        repaired = Element(uri, holder.name, holder.attributes, holder.line)
        for name, same in parts.items():
            if name not in missing:
                kept = same[: MAX_REPEATED if name in REPEATABLE else 1]
                repaired.content += [self.repaired(part, uri) for part in kept]
        return repaired

    def _sorted(
        self, holder: Element, uri: str, names: tuple[str, ...]
    ) -> tuple[dict[str, list[Element]], list[Violation]]:
        """Split the parts into those allowed here, by name, and violations for the rest."""
        parts: dict[str, list[Element]] = {}
        strangers: list[Violation] = []
        for part in holder.children:
            namespace = find_own(part.uri)
            if part.uri == holder.uri or (namespace is not None and namespace.uri == uri):
                if part.name in names:
                    parts.setdefault(part.name, []).append(part)
                elif holder.uri == uri:
                    message = f"{tag(uri, part.name)} is no part of {tag(uri, holder.name)}"
                    strangers.append(Violation(UNKNOWN, message, part.line, part.name))
            elif namespace is not None or part.uri in self._core or not part.uri:
                strangers.append(_of_another(part, holder, uri, names))
        for name, same in parts.items():
            if len(same) > 1 and name not in REPEATABLE:
                message = f"{tag(uri, name)} stands {len(same)} times in one {tag(uri, holder.name)}"
                self.found.append(Violation(DUPLICATE, message, same[1].line, same[1].text))
        return parts, strangers


def lacking(holder: str, parts: list[Element]) -> list[str]:
    """Names of the required parts that are missing or, as for the rules that report them, empty."""
    names = {part.name for part in parts if part.text or part.has_children or holder == UNNAMED_LACK}
    missing = [name for name in REQUIRED.get(holder, ()) if name not in names]
    if holder == "video" and names.isdisjoint(LOCATIONS):
        missing.append(LOCATIONS[0])
    return missing


def is_complete(element: Element) -> bool:
    """True for an image, video or news article that has all its required parts."""
    return element.name in REQUIRED and not lacking(element.name, list(element.children))


def _of_another(part: Element, holder: Element, uri: str, names: tuple[str, ...]) -> Violation:
    meant = f": {tag(uri, part.name)} is meant" if part.name in names else ""
    message = f"{tag(part.uri, part.name)} has no place in {tag(uri, holder.name)}{meant}"
    return Violation(SCHEMA, message, part.line, part.name)


class EntryRepairs:
    """Repairs the entries of a document. `core`: the namespaces it uses for the protocol."""

    def __init__(self, root: str, core: frozenset[str]) -> None:
        self._in_index = root == "sitemapindex"
        self._core = core
        self._order = terms(CORE).holders[ENTRIES[root]]

    def repaired_entry(self, entry: Element) -> tuple[Element, list[Violation]]:
        """Return the entry in the structure of the schema, and the violations found."""
        parts = PartRepairs(self._core)
        text = text_in(entry, CORE)
        parts.found += [text] if text else []
        fields = self._fields(entry, parts)
        repaired = Element(CORE, entry.name, {}, entry.line)
        fields.setdefault("loc", Element(CORE, "loc", {}, entry.line))  # another rule reports a missing one
        repaired.content = [fields[name] for name in self._order if name in fields]
        repaired.content += self._others(entry, parts)
        return repaired, [*parts.violations, *self._misplaced(entry)]

    def _is_core(self, element: Element) -> bool:
        return element.uri in self._core or not element.uri

    def _fields(self, entry: Element, parts: PartRepairs) -> dict[str, Element]:
        """The protocol's elements, each once. The reader has already reported unknown and repeated ones."""
        if entry.uri not in self._core:
            parts.found.append(_bare(entry))
        fields: dict[str, Element] = {}
        for child in entry.children:
            if self._is_core(child) and child.name in self._order and child.name not in fields:
                fields[child.name] = child
                if child.uri not in self._core and child.uri != entry.uri:
                    parts.found.append(_bare(child))
        return fields

    def _others(self, entry: Element, parts: PartRepairs) -> Iterator[Element]:
        """Yield elements of namespaces with a schema. Elements of other namespaces are allowed."""
        for child in entry.children:
            namespace = None if self._is_core(child) else find_own(child.uri)
            if namespace is None:
                continue
            known, name = terms(namespace.uri), tag(namespace.uri, child.name)
            if self._in_index:
                message = f"{name} stands in a <sitemap>, which names a file and no more"
                parts.found.append(Violation(SCHEMA, message, child.line, child.name))
            elif child.name in known.tops:
                yield parts.repaired(child, namespace.uri)
            elif child.name in known.names:
                message = f"{name} stands in the <url> itself, not in {known.around(child.name)}"
                parts.stray(namespace.uri, Violation(SCHEMA, message, child.line, child.name))
            elif child.uri == namespace.uri and resembled(child) is None:
                parts.found.append(Violation(UNKNOWN, f"{name} is no part of a <url>", child.line, child.name))

    def _misplaced(self, entry: Element) -> Iterator[Violation]:
        """Yield a violation for the first element in the wrong order."""
        seen: set[str] = set()
        last, before = -1, entry
        for child in entry.children:
            rank = len(self._order)
            if self._is_core(child):
                if child.name not in self._order or child.name in seen:
                    continue
                rank = self._order.index(child.name)
                seen.add(child.name)
            if rank < last:
                order = f"the order is {', '.join(self._order)}, then other namespaces"
                message = f"<{child.name}> stands behind {tag(before.uri, before.name)}: {order}"
                yield Violation(ORDER, message, child.line, child.name)
                return
            if rank > last:
                last, before = rank, child


def _bare(element: Element) -> Violation:
    return Violation(SCHEMA, f"<{element.name}> is in no namespace, but the root is in one", element.line, element.name)
