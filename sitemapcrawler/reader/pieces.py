"""Parses pieces of a document with expat, each under the start tags that are open where it begins.

expat reports exact lines and positions, remembers no names between documents, and loads nothing. `sniff` removes the
DOCTYPE, so only XML's five predefined entities are ever expanded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.element import Element, hide
from sitemapcrawler.reader.diagnosis import SEPARATOR, UNENDED, Malformed, characters, malformed
from sitemapcrawler.reader.entries import FIELDS, EntryBuilder
from sitemapcrawler.reader.faults import MAX_NAME

MAX_NAMES = 1000
"""Element names remembered in split form, and namespaces remembered."""
MAX_NESTED = 20
"""Entries that may stand in another one. More mean that its end tag is missing."""
NOWHERE = 1 << 32
"""Depth of the open entry if none is open."""


class Scope:
    """Namespaces of one document, and the names of its elements."""

    def __init__(self) -> None:
        self.namespaces: dict[str, str] = {}
        """URI -> its first prefix, in order of appearance; at most `MAX_NAMES`."""
        self.names: dict[str, tuple[str, str]] = {}
        """Name as expat gives it -> (namespace, local name); at most `MAX_NAMES`."""

    def declare(self, prefix: str, uri: str) -> None:
        if len(self.namespaces) < MAX_NAMES and len(uri) <= MAX_NAME:
            self.namespaces.setdefault(uri, prefix)

    def split(self, name: str) -> tuple[str, str]:
        """Split an element's name into namespace and local name."""
        uri, *names = name.split(SEPARATOR)
        found = (uri, names[0]) if names else ("", name)
        if len(self.names) < MAX_NAMES and len(name) <= MAX_NAME:
            self.names[name] = found
        return found


@dataclass(frozen=True, slots=True)
class Piece:
    """A parsed piece of a document."""

    root: Element
    opened: list[Element]
    """Elements that are open at its end, or at its fault, outermost first; empty behind the end of the root."""
    texts: list[tuple[str, int]]
    """Texts directly under the root, with the lines on which they end."""
    fault: Malformed | None
    """Why it is not well formed; None if it is."""
    begun: list[Element]
    """Elements in which it begins, outermost first."""
    nested: int
    """Position of the first entry inside another; -1 if there is none."""
    sources: dict[Element, str]
    """Text of each element directly under the root, if the parser keeps that."""
    tags: list[str]
    """Names of the open elements, as expat gives them."""
    declared: list[tuple[int, str, str]]
    """Namespaces that they declare: depth, prefix and namespace."""

    @property
    def starts(self) -> list[str]:
        """Start tags of the open elements; empty if it ends in the elements in which it begins."""
        return [] if self.opened == self.begun else [*map(self.start, range(len(self.opened)))]

    def start(self, depth: int) -> str:
        """Return the start tag of the open element at this depth, with its namespace declarations alone."""
        tag = self.tags[depth]
        _, *parts = tag.split(SEPARATOR) if SEPARATOR in tag else ("", tag)
        declared = [(f":{prefix}" if prefix else "", uri) for at, prefix, uri in self.declared if at == depth]
        namespaces = "".join(f" xmlns{prefix}={quoteattr(uri)}" for prefix, uri in declared)
        return f"<{':'.join(parts[::-1])}{namespaces}>"


class PieceParser:
    """Parses the pieces of one document."""

    def __init__(self, max_depth: int, scope: Scope, keep_source: bool = False) -> None:
        """`max_depth`: elements that may be open around another."""
        self._max_depth = max_depth
        self._scope = scope
        self._keep_source = keep_source
        self._names = self._cores = frozenset[str]()
        self._stack: list[Element] = []
        self._tags: list[str] = []
        self._texts: list[tuple[str, int]] = []
        self._declared: list[tuple[int, str, str]] = []
        self.bound: dict[str, str] = {}
        """Prefix -> namespace, of what the root declares."""

    def __getstate__(self) -> dict[str, object]:
        """What an `Unparsed` entry needs to be parsed after it has waited on disk: all but the last piece."""
        kept = ("_max_depth", "_scope", "_keep_source", "_names", "_cores", "bound", "root_uri")
        return {name: getattr(self, name) for name in kept}

    def enter(self, names: Sequence[str], tag: str) -> str:
        """Begin under the root with this start tag, and return it on one line. `names`: those of its entries."""
        self._names, self._cores = frozenset[str](), frozenset[str]()
        root = " ".join(tag.split("\n"))
        piece = self.parse([], root, 1)
        self.bound = {prefix: uri for _, prefix, uri in self._declared}
        self._names, self._cores = frozenset(names), frozenset((piece.root.uri, CORE, ""))
        self.root_uri = piece.root.uri
        return root

    def parse(self, around: Sequence[str], text: str, line: int, is_end: bool = False) -> Piece:
        """Parse a piece that begins on `line` inside the elements with the start tags `around`. `is_end`: the document
        ends with it."""
        self._stack, self._tags, self._texts, self._declared = [], [], [], []
        self._root: Element | None = None
        self._entry, self._before, self._is_done = NOWHERE, line - 1, False
        self._begun, self._nested = len(around), NOWHERE
        self._sources: dict[Element, str] = {}
        parser = self._parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.namespace_prefixes = parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        if self._keep_source and len(around) == 1:
            parser.StartElementHandler, parser.EndElementHandler = self._start_kept, self._end_kept
        parser.StartNamespaceDeclHandler, parser.EndNamespaceDeclHandler = self._declare, self._undeclare
        tags, data = "".join(around).encode(), text.encode()
        self._data, self._first = data, len(tags)
        fault, begun = None, list[Element]()
        try:
            parser.Parse(tags)
            begun = self._stack.copy()
            parser.CharacterDataHandler = self._text
            parser.Parse(data, is_end)
        except expat.ExpatError as error:
            fault = malformed(error.code, characters(data, parser.ErrorByteIndex - len(tags)))
        except Malformed as limit:
            offset = characters(data, parser.CurrentByteIndex - len(tags))
            fault = Malformed(str(limit), limit.rule, offset)
        self._is_done = True  # to change a handler hands over what it waits for
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
        parser.StartNamespaceDeclHandler = parser.EndNamespaceDeclHandler = None  # breaks the cycle of references
        if fault is not None:
            fault.is_behind = not self._stack and bool(around)
        root = self._root or Element("", "", {}, line)
        nested = -1 if self._nested == NOWHERE else characters(data, self._nested - len(tags))
        opened, texts, sources = self._stack, self._texts, self._sources
        return Piece(root, opened, texts, fault, begun, nested, sources, self._tags, self._declared)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        stack = self._stack
        depth = len(stack)
        uri, name = self._scope.names.get(tag) or self._scope.split(tag)
        if name in self._names and (uri in self._cores or depth == self._begun):
            if self._entry == NOWHERE:
                self._entry, self._inside = depth, 0
            else:
                self._inside += 1
                if self._nested == NOWHERE:
                    self._nested = self._parser.CurrentByteIndex
                if self._inside > MAX_NESTED:
                    raise Malformed(UNENDED)
        if depth > self._max_depth:
            raise Malformed(f"elements are nested more than {self._max_depth} deep", "limit-depth")
        for key in attributes:
            if SEPARATOR in key:
                attributes = {_attribute(key): value for key, value in attributes.items()}
                break
        element = Element(uri, name, attributes, self._parser.CurrentLineNumber + self._before)
        if stack:
            stack[-1].content.append(element)
        else:
            self._root = element
        stack.append(element)
        self._tags.append(tag)

    def _end(self, tag: str) -> None:
        stack = self._stack
        stack.pop()
        self._tags.pop()
        if len(stack) == self._entry:
            self._entry = NOWHERE

    def _start_kept(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self._stack) == 1:
            self._began = self._parser.CurrentByteIndex - self._first
        self._start(tag, attributes)

    def _end_kept(self, tag: str) -> None:
        element = self._stack[-1]
        self._end(tag)
        if len(self._stack) == 1:
            end = self._parser.CurrentByteIndex - self._first
            if self._data.startswith(b"</", end):
                end = self._data.index(b">", end) + 1
            self._sources[element] = self._data[self._began : end].decode()

    def _text(self, text: str) -> None:
        if self._is_done:
            return
        if len(self._stack) > 1:
            self._stack[-1].content.append(text)
        elif text.strip(" \t\n"):
            self._texts.append((text, self._parser.CurrentLineNumber + self._before))

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self._declared.append((len(self._stack), prefix or "", uri or ""))
        if len(self._stack) >= self._begun:
            self._scope.declare(prefix or "", uri or "")

    def _undeclare(self, prefix: str | None) -> None:
        self._declared.pop()

    def is_entry(self, element: Element) -> bool:
        """Return whether an element has the name of an entry."""
        return element.name in self._names

    def first_entry(self, element: Element) -> Element | None:
        """Return the first entry below an element that is not an entry itself; None if there is none."""
        waiting = [*element.children][::-1]
        while waiting:
            inner = waiting.pop()
            if inner.name in self._names and inner.uri in self._cores:
                return inner
            waiting += [*inner.children][::-1]
        return None

    def only(self, root: str, text: str, line: int) -> Element:
        """Return the only entry of a well-formed text, which begins on `line` directly under the root."""
        return next(self.parse([root], text, line).root.children)


def entry_of(piece: Piece, around: Sequence[str], text: str) -> tuple[Element, bool] | None:
    """Return the entry at the start of a piece with this text, and whether it is whole; None if none is there. One
    that is not has the children that are complete before its first fault."""
    entry = next(piece.begun[-1].children, None) if piece.begun else None
    if entry is None:
        return None
    opened = piece.opened[len(around) :]
    if opened and opened[0] is not entry:  # what stands behind the entry
        opened = []
    is_whole = not opened
    if len(opened) > 1:
        entry.content.pop()
    if "@" in text or "&#" in text:
        hide(entry)
    return entry, is_whole


def first_fault(text: str, is_end: bool) -> Malformed | None:
    """Return the first fault of the beginning of a document, or of a whole one; None if there is none."""
    return PieceParser(1, Scope()).parse([], text, 1, is_end).fault


def fault_of(text: str) -> Malformed | None:
    """Return the first fault of an element without prefixes, whatever it contains; None if there is none."""
    parser = expat.ParserCreate("utf-8", SEPARATOR)
    data = text.encode()
    try:
        parser.Parse(data)
    except expat.ExpatError as error:
        return malformed(error.code, characters(data, parser.ErrorByteIndex))
    return None


def _attribute(key: str) -> str:
    """Return an attribute's name: `{uri}name`, or the plain name without a namespace."""
    uri, *names = key.split(SEPARATOR)
    return f"{{{uri}}}{names[0]}" if names else key


CONTAINERS = ("channel",)
"""Elements between the root and its entries."""


@dataclass(slots=True)
class Contents:
    """What stands in a piece, in document order."""

    _parser: PieceParser
    _may_hide: bool
    """True if values may hold passwords."""
    _begun: set[Element]
    """The elements in which the piece begins."""
    _opened: set[Element]
    """These, and the elements in which it ends."""
    elements: list[Element] = field(default_factory=list)
    """Entries, and other elements between them."""
    around: dict[Element, Element] = field(default_factory=dict)
    """Entry inside another -> that one."""
    wrappers: list[Element] = field(default_factory=list)
    """Unknown elements that contain entries, with what stands before these."""

    @classmethod
    def of(cls, piece: Piece, text: str, parser: PieceParser, entries: EntryBuilder) -> Self:
        """Collect what stands in a piece with this text. Entries inside others are taken out of these if they name a
        URL. `parser`: the one that made the piece."""
        contents = cls(parser, "@" in text or "&#" in text, {*piece.begun}, {*piece.begun, *piece.opened})
        contents._collect(piece.root, is_root=True)
        if piece.nested >= 0:
            contents._take_apart(entries)
        return contents

    def _collect(self, parent: Element, is_root: bool = False, is_noted: bool = False) -> None:
        """Add what stands in the root or an element around entries. `is_noted`: it, or one around it, is noted as a
        wrapper."""
        for child in parent.children:
            is_new = child not in self._begun
            first = self._parser.first_entry(child) if is_new and not self._parser.is_entry(child) else None
            is_container = is_root and child.name in CONTAINERS
            if first is None and child not in self._opened and not is_container:
                if self._may_hide:
                    hide(child)
                self.elements.append(child)
                continue
            is_wrapper = is_new and not is_container
            if is_wrapper and not is_noted:
                self.wrappers.append(wrapper(child, first, self._parser))
            self._collect(child, is_noted=is_noted or is_wrapper)

    def _take_apart(self, entries: EntryBuilder) -> None:
        elements, self.elements = self.elements, []
        for entry in elements:
            waiting = [(entry, entry)]
            while waiting:
                element, outer = waiting.pop()
                if element is entry or element in self.around:
                    self.elements.append(element)
                    outer = element
                children = [*element.children]
                inner = [child for child in children if entries.is_entry(child) and entries.has_url(child, True)]
                if inner:
                    self.around.update(dict.fromkeys(inner, outer))
                    element.content = [part for part in element.content if part not in self.around]
                waiting += [(child, outer) for child in reversed(children) if child.name not in FIELDS]


def wrapper(element: Element, first: Element | None, parser: PieceParser) -> Element:
    """Return an element that contains entries, with what stands before the `first` one, if it was reached."""
    found = Element(element.uri, element.name, element.attributes, element.line)
    for child in element.children:
        if first is not None and first in (child, parser.first_entry(child)):
            break
        found.content.append(child)
    return found
