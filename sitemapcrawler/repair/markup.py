"""Entries as text: parsed under the root of their file, changed, and written without repeating its declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote
from xml.sax.saxutils import quoteattr, unescape

from lxml import etree

from sitemapcrawler.namespaces import CORE, declared, find
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.entries import FIELDS
from sitemapcrawler.rules.families.xml_structure import LEGACY

PARSER = etree.XMLParser(
    no_network=True, resolve_entities=False, load_dtd=False, huge_tree=True, strip_cdata=False, remove_comments=False
)
DECLARATION = re.compile(r"""(?<!\s)\s++xmlns(?::([\w.-]++))?\s*+=\s*+("[^"]*+"|'[^']*+')""")
ATTRIBUTE = re.compile(r"""(?<!\s)\s++([\w:.-]++)\s*+=\s*+("[^"]*+"|'[^']*+')""")
TAG = re.compile(r"<((?:([\w.-]+):)?([\w.-]+))")
KEPT = re.compile(
    r"<\?(?!xml\s)[A-Za-z_][\w.-]*+(?=\s|\?>)(?:(?!<\?|\?>).)*+\?>|<!--[^-]*+(?:-[^-]++)*+-->", re.ASCII | re.DOTALL
)
"""What is kept of the text before a root: instructions, such as a stylesheet, and comments. Names are ASCII, since
libxml2 takes characters in them that expat refuses."""
DECLARED = re.compile(r"<\?xml\s")
RESERVED = ("xml", "xmlns")
QUOTES = {"&quot;": '"', "&apos;": "'"}
"""{entity: its character} of those that `xml.sax.saxutils` does not know by itself."""
LOCATIONS = ("schemaLocation", "noNamespaceSchemaLocation")
XSI = "http://www.w3.org/2001/XMLSchema-instance"
XML = "http://www.w3.org/XML/1998/namespace"


@dataclass(frozen=True, slots=True)
class Root:
    """The root of a file as it is written."""

    name: str
    """With its prefix."""
    tag: str
    """Start tag."""
    namespaces: dict[str, str]
    """{prefix: namespace} of its declarations; the default namespace has an empty prefix."""
    changes: tuple[tuple[str, str, str], ...] = ()
    """(rule, old, new) for what differs from the root that was read."""

    @property
    def end(self) -> str:
        return f"</{self.name}>"

    @property
    def prefix(self) -> str:
        """Prefix of the protocol's elements with its colon; empty for the default namespace."""
        return f"{self.name.partition(':')[0]}:" if ":" in self.name else ""

    @property
    def is_ambiguous(self) -> bool:
        """True if a usual prefix stands for another namespace, so that elements may be in the wrong one."""
        return any(self.namespaces.get(one.prefix, one.uri) != one.uri for one in declared())


def root_of(tag: str) -> Root:
    """Make the root for the start tag of a urlset or an index as it was read; an empty one gives the usual urlset.

    Namespaces that are misspelt get their official names, and attributes that the protocol does not define are removed.
    """
    start = TAG.match(tag)
    if start is None or start[3] not in ("urlset", "sitemapindex"):
        return _root("urlset", {"": CORE}, "", ())
    prefix = start[2] or ""
    changes: list[tuple[str, str, str]] = []
    namespaces = {"": ""} if prefix else {}
    namespaces |= {name or "": unescape(value[1:-1], QUOTES) for name, value in DECLARATION.findall(tag)}
    own = namespaces.get(prefix, "")
    if own != CORE:
        variant = "xml-namespace-legacy" if LEGACY.fullmatch(own) else "xml-namespace-wrong"
        rule = variant if own else "xml-namespace-missing"
        changes.append((rule, own, CORE))
        namespaces[prefix] = CORE
    for name, uri in [(name, uri) for name, uri in namespaces.items() if uri]:
        meant = find(uri) if uri != CORE else None
        right = meant.uri if meant is not None else _as_uri(uri)
        if right != uri:
            changes.append(("xml-ext-namespace-wrong", uri, right))
            namespaces[name] = right
    attributes = ""
    for name, value in ATTRIBUTE.findall(tag):
        space, colon, local = name.partition(":")
        if name == "xmlns" or space == "xmlns" or name == "xml:base":
            continue
        if colon and namespaces.get(space) == XSI and local in LOCATIONS:
            attributes += f" {name}={value}" if not (local == LOCATIONS[0] and changes) else ""
        else:
            changes.append(("xml-unknown-attribute", f"{name}={value}", ""))
    return _root(start[1], {name: uri for name, uri in namespaces.items() if uri}, attributes, tuple(changes))


def _root(name: str, namespaces: dict[str, str], attributes: str, changes: tuple[tuple[str, str, str], ...]) -> Root:
    written = "".join(
        f' xmlns{":" if prefix else ""}{prefix}="{escape(uri)}"'
        for prefix, uri in namespaces.items()
        if prefix not in RESERVED
    )
    return Root(name, f"<{name}{written}{attributes}>", namespaces, changes)


def _as_uri(namespace: str) -> str:
    """Return a namespace as a URI, without which parsers refuse the whole file."""
    for uri in (namespace, namespace.strip()):
        if is_well_formed(f'<a xmlns:x="{escape(uri)}"/>', behind=""):
            return uri
    return f"urn:{quote(namespace, safe='')}"


def prolog_of(text: str) -> str:
    """Return the XML declaration, and the instructions and comments that stood between it and a root."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{kept_markup(text[len(front_of(text)) :])}'


def front_of(text: str) -> str:
    """Return what stands in front of the XML declaration, where nothing may stand."""
    declaration = DECLARED.search(text)
    return text[: declaration.start()] if declaration is not None else ""


def kept_markup(text: str) -> str:
    """Return the instructions and comments in a text outside of elements, one a line."""
    return "".join(f"{part}\n" for part in KEPT.findall(text) if is_well_formed(part))


def is_well_formed(text: str, behind: str = "<root/>") -> bool:
    """True for text that may stand in front of an element, or makes a document with what is `behind`."""
    try:
        etree.fromstring(f"{text}{behind}".encode(), PARSER)
    except (etree.XMLSyntaxError, ValueError):
        return False
    return True


class EntryMarkup:
    """Parses and writes the entries of one file."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self._open, self._close = root.tag, root.end
        self._declared = [
            f' xmlns{":" if prefix else ""}{prefix}="{escape(uri)}"' for prefix, uri in root.namespaces.items()
        ]

    def document(self, entries: Iterable[str]) -> str:
        """Return a document of entries, each of which begins on a new line."""
        return "\n".join([self._open, *entries, self._close])

    def parse(self, entries: Sequence[str]) -> list[etree._Element | None]:
        """Parse entries; None for each that is not one well-formed element."""
        if len(entries) > 1:
            found = self._elements(entries)
            if found is not None and len(found) == len(entries):
                return [*found]
        return [found[0] if (found := self._elements([one])) and len(found) == 1 else None for one in entries]

    def _elements(self, entries: Sequence[str]) -> list[etree._Element] | None:
        try:
            root = etree.fromstring(self.document(entries).encode(), PARSER)
        except (etree.XMLSyntaxError, ValueError):
            return None
        return [child for child in root if isinstance(child.tag, str)]

    def write(self, entry: etree._Element) -> str:
        """Write an entry that `parse` returned."""
        text = etree.tostring(entry, encoding="unicode", with_tail=False)
        tag, end, rest = text.partition(">")
        for declaration in self._declared:
            tag = tag.replace(declaration, "", 1)
        return tag + end + rest

    def of_element(self, entry: Element) -> str:
        """Write an entry that was recovered from broken text. Namespaces that the root lacks are declared in it."""
        prefixes = {uri: prefix for prefix, uri in reversed(self.root.namespaces.items())}
        prefixes[""] = prefixes[CORE]  # what is in no namespace stands for the protocol
        if find(entry.uri) is not None:  # the root declares an extension in place of the protocol
            entry = _in_protocol(entry)
        else:
            prefixes[entry.uri] = prefixes[CORE]
        return _written(entry, prefixes)


def _in_protocol(entry: Element) -> Element:
    """Copy an entry with the elements that have names of the protocol in its namespace."""
    copy = Element(CORE, entry.name, entry.attributes, entry.line)
    for part in entry.content:
        if isinstance(part, Element) and part.name in FIELDS and part.uri == entry.uri:
            part = _in_protocol(part)
        copy.content.append(part)
    return copy


def _written(element: Element, prefixes: dict[str, str]) -> str:
    """Write an element; `prefixes`: {namespace: prefix} that are declared around it."""
    declarations = ""

    def prefix_of(uri: str) -> str:
        nonlocal declarations, prefixes
        if uri not in prefixes:
            meant = find(uri)
            name = meant.prefix if meant is not None and meant.uri == uri else f"ns{len(prefixes)}"
            if name in prefixes.values():
                name = f"ns{len(prefixes)}"
            prefixes = {**prefixes, uri: name}
            declarations += f' xmlns:{name}="{escape(uri)}"'
        return prefixes[uri]

    prefix = prefix_of(element.uri)
    tag = f"{prefix}:{element.name}" if prefix else element.name
    attributes = ""
    for name, value in element.attributes.items():
        uri, brace, local = name[1:].partition("}") if name.startswith("{") else ("", "", name)
        if brace and (uri in (XML, CORE) or not prefix_of(uri)):
            continue  # URLs are absolute already; attributes cannot be in a default namespace
        space = f"{prefix_of(uri)}:" if brace else ""
        attributes += f" {space}{local}={quoteattr(value)}"
    inside = "".join(
        escape(part, quote=False) if isinstance(part, str) else _written(part, prefixes) for part in element.content
    )
    return f"<{tag}{declarations}{attributes}>{inside}</{tag}>"
