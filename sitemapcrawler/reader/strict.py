"""The strict XML parser: expat with namespaces, building one entry at a time.

expat is used for its exact lines beyond 65,535, its exact fault positions, and because it parses no DTD that it is
not given: `sniff` takes the DOCTYPE away, so no entity beyond the five of XML is ever expanded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.element import Element, hide
from sitemapcrawler.reader.faults import MAX_NAME


class Fed:
    """The text that one parser was given, of which only the last part is kept."""

    __slots__ = ("_before", "_data", "_next_line", "line_offset", "size")

    def __init__(self) -> None:
        self.size = 0
        """Bytes given."""
        self.line_offset = 0
        """What the parser's line lacks to that of the document."""
        self._next_line = 1
        self._data = b""
        self._before = 0

    def add(self, text: str, line: int) -> bytes:
        """The bytes of `text`, which begins on `line` of the document."""
        self.line_offset = line - self._next_line
        self._next_line += text.count("\n")
        self._before = self.size
        self._data = text.encode()
        self.size += len(self._data)
        return self._data

    def characters_before(self, index: int) -> int:
        """Characters of the part added last before byte `index` of all."""
        return len(self._data[: max(0, index - self._before)].decode("utf-8", "replace"))

    def end_of_tag(self, index: int) -> int:
        """Where the end tag ends that begins at byte `index`. Of `<url/>` expat gives the end by itself."""
        start = index - self._before
        if start >= 0 and not self._data.startswith(b"</", start):
            return index
        return self._before + self._data.find(b">", max(0, start)) + 1

    def forget(self) -> None:
        """Let go of the text."""
        self._data = b""


def characters_in(text: str, size: int) -> int:
    """Characters of `text` that its first `size` bytes are."""
    return len(text.encode()[: max(0, size)].decode())


CLOSED = re.compile(r"(?:[^\s<>/:]++:)?([^\s<>/:]++)\s*>")
"""The rest of an end tag."""
NOWHERE = 1 << 32
"""The depth of the open entry where none is open."""


class StrictParser:
    """Feeds text to expat and hands each complete entry to `build`.

    An entry is an element directly under the root, or under one of `containers` (an RSS channel), or one of the names
    `entries` wherever it stands. `inside`: start tags of the elements that are open between the root and the entries.
    """

    def __init__(
        self,
        root_tag: str,
        build: Callable[[Element], None],
        containers: Collection[str] = (),
        max_depth: int = 32,
        scope: Scope | None = None,
        entries: Collection[str] = (),
        inside: Sequence[str] = (),
    ) -> None:
        self._build = build
        self._containers = containers
        self._entries = entries
        self._max_depth = max_depth
        self._stack: list[Element] = []
        self._tags: list[str] = []
        self._entry = NOWHERE
        self._scope = scope or Scope()
        self._scope.begin()
        self._names = self._scope.names
        self.fed = Fed()
        """The text it was given, the root's start tag included."""
        self.entry_end = 0
        """Bytes of it up to the end of the last complete entry."""
        self.root_uri = ""
        self.depth = 0
        """Elements that are open around the entries, the root included."""
        self.containers: list[str] = []
        """Start tags of those but for the root."""
        self._bases: list[str] = []
        self.wrappers: list[Element] = []
        """Unknown elements that turned out to hold entries."""
        self.texts: list[tuple[str, int]] = []
        """Texts directly under the root, of each its first words, with their lines."""
        self._text_behind = -1
        self._may_hide = False
        self._parser = self._create()
        self._down = 1 + len(inside)
        self.feed("".join((root_tag, *inside)), 1)
        self._down = 0
        self._parser.CharacterDataHandler = self._between

    def _create(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.namespace_prefixes = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.StartNamespaceDeclHandler = self._declare
        parser.EndNamespaceDeclHandler = lambda prefix: self._scope.undeclare()
        return parser

    @property
    def is_between(self) -> bool:
        """True where no entry is open, and nothing that may become a container."""
        return not self._stack

    @property
    def in_entry(self) -> bool:
        """True where an entry is open."""
        return self._entry != NOWHERE

    @property
    def ended(self) -> bool:
        """True after the root's end tag."""
        return self.depth == 0

    def feed(self, text: str, line: int, final: bool = False) -> None:
        """Parse `text`, which begins on `line` of the document. Raises Malformed."""
        self._may_hide = (self._may_hide and not self.is_between) or "@" in text or "&#" in text
        try:
            self._parser.Parse(self.fed.add(text, line), final)
        except expat.ExpatError as error:
            raise self._malformed(error, text) from None  # as a local variable it would refer to itself, by this frame

    def salvage(self) -> Element | None:
        """The entry that was open when a fault was met, with those children that were complete."""
        if not self._stack:
            return None
        entry = self._stack[0]
        if len(self._stack) > 1:
            entry.content.pop()
        hide(entry)
        return entry

    def _malformed(self, error: expat.ExpatError, text: str) -> Malformed:
        """The fault that expat met in `text`. An end tag that does not fit may end elements that lack their own."""
        fault = malformed(error.code, self.fed.characters_before(self._parser.ErrorByteIndex))
        if fault.is_mismatch and (closed := CLOSED.match(text, fault.offset)):
            self._close_implicitly(closed[1])
        return fault

    def _close_implicitly(self, name: str) -> None:
        """End the open elements within the one called `name`, whose end tag was met, if they lack nothing but theirs.

        That is so where the innermost holds elements alone, such as a `<video:video>`. What it holds of other
        namespaces, or of its own name, stands beside it.
        """
        stack = self._stack
        depth = max((depth for depth, element in enumerate(stack) if element.name == name), default=-1)
        if depth < 0 or not all(element.has_children and not element.text for element in stack[depth + 1 :]):
            return
        while len(stack) > depth + 1:
            ended = stack.pop()
            inside: list[Element | str] = []
            for part in ended.content:
                is_own = isinstance(part, str) or (part.uri == ended.uri and part.name != ended.name)
                (inside if is_own else stack[-1].content).append(part)
            ended.content = inside
        if depth:
            stack.pop()

    def close(self) -> None:
        """Let go of the text: parser and handlers refer to each other, and would live until the next collection."""
        self._parser.StartElementHandler = self._parser.EndElementHandler = None
        self._parser.StartNamespaceDeclHandler = self._parser.EndNamespaceDeclHandler = None
        self._parser.CharacterDataHandler = None
        self.fed.forget()

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self._scope.declare(self.depth + len(self._stack), prefix or "", uri or "")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        uri, name = self._names.get(tag) or self._scope.split(tag)
        stack = self._stack
        if not stack and (self.depth < self._down or (self.depth == 1 and name in self._containers)):
            self._go_down(uri, tag, attributes)
            return
        for key in attributes:
            if SEPARATOR in key:
                attributes = {attribute(key): value for key, value in attributes.items()}
                break
        if self.depth + len(stack) > self._max_depth:
            raise self._too_deep()
        if self._entry == NOWHERE:
            self._start_outside(uri, name, tag)
        if not stack and any(self._bases):
            attributes = {**attributes, BASE: BASES.join(filter(None, (*self._bases, attributes.get(BASE))))}
        element = Element(uri, name, attributes, self._parser.CurrentLineNumber + self.fed.line_offset)
        if stack:
            stack[-1].content.append(element)
        else:
            self._listen(self._text, True)
        stack.append(element)

    def _start_outside(self, uri: str, name: str, tag: str) -> None:
        """An element begins where no entry is open: an entry, or one that may turn out to hold some."""
        if name not in self._entries or (self._stack and uri not in (self.root_uri, CORE, "")):
            self._tags.append(tag)
            return
        if self._stack:
            self._unwrap()
        self._entry = 0

    def _too_deep(self) -> Malformed:
        place = self.fed.characters_before(self._parser.CurrentByteIndex)
        if sum(element.name in self._entries for element in self._stack) > 1:
            return unended(place)
        return Malformed(f"more than {self._max_depth} elements are open at once", "limit-depth", place)

    def _go_down(self, uri: str, tag: str, attributes: dict[str, str]) -> None:
        if self.depth == 0:
            self.root_uri = uri
        else:
            base = next((value for key, value in attributes.items() if attribute(key) == BASE), "")
            self._contain(tag, self.depth, base)
        self.depth += 1

    def _contain(self, tag: str, depth: int, base: str) -> None:
        self.containers.append(self._scope.start_tag(tag, depth, base))
        self._bases.append(base)

    def _unwrap(self) -> None:
        """The open element is no entry but holds some: go down through it instead of building it."""
        self.wrappers += self._stack[:1]
        for above, (tag, element) in enumerate(zip(self._tags, self._stack, strict=True)):
            self._contain(tag, self.depth + above, element.attributes.get(BASE, ""))
        self.depth += len(self._stack)
        self._stack.clear()
        self._tags.clear()
        self._listen(self._between, False)

    def _listen(self, handler: Callable[[str], None], buffered: bool) -> None:
        self._parser.CharacterDataHandler = handler
        self._parser.buffer_text = buffered

    def _between(self, text: str) -> None:
        """Text where no element is open but the root and containers: not buffered, so that the line is right."""
        if self.depth == 1 and self._text_behind != self.entry_end and text.strip(" \t\n"):
            self._text_behind = self.entry_end
            self.texts.append((text, self._parser.CurrentLineNumber + self.fed.line_offset))

    def _text(self, text: str) -> None:
        self._stack[-1].content.append(text)

    def _end(self, tag: str) -> None:
        stack = self._stack
        if not stack:
            self.depth -= 1
            if self.containers:
                self.containers.pop()
                self._bases.pop()
            return
        element = stack.pop()
        if len(stack) > self._entry:  # a part of an entry, as nearly all are
            return
        if self._entry == NOWHERE:
            self._tags.pop()
        self._entry = NOWHERE
        if not stack:
            self._listen(self._between, False)
            self.entry_end = self.fed.end_of_tag(self._parser.CurrentByteIndex)
            if self._may_hide:
                hide(element)
            self._build(element)


GENERAL = "doc-xml-malformed"
"""The rule where none is more exact."""
UNENDED = "an entry without an end tag"
MISMATCH = expat.errors.XML_ERROR_TAG_MISMATCH
ENDS = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
"""Faults that mean: the document ends before its end."""
RULES = {
    expat.errors.codes[message]: rule
    for message, rule in (
        (expat.errors.XML_ERROR_UNDEFINED_ENTITY, "doc-undeclared-entity"),
        (expat.errors.XML_ERROR_BAD_CHAR_REF, "doc-control-character"),
        (expat.errors.XML_ERROR_UNBOUND_PREFIX, "xml-ext-namespace-missing"),
        (expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT, "doc-trailing-content"),
    )
} | dict.fromkeys(ENDS, "doc-truncated")
"""Catalogue rule for expat's error codes; all others are `GENERAL`."""


class Malformed(Exception):
    """The document stops being well formed here, or goes beyond a limit."""

    def __init__(self, message: str, rule: str, offset: int) -> None:
        super().__init__(message)
        self.rule = rule
        self.offset = offset
        """Characters of the text last fed that come before the fault."""

    @property
    def is_end(self) -> bool:
        """True for the fault that the document has no end."""
        return self.rule == "doc-truncated"

    @property
    def is_unended(self) -> bool:
        """True for the fault that an entry has no end."""
        return str(self) == UNENDED

    @property
    def is_mismatch(self) -> bool:
        """True for the fault that an end tag does not fit the start tag."""
        return str(self) == MISMATCH


def malformed(code: int, offset: int) -> Malformed:
    """The fault for an error code of expat."""
    return Malformed(expat.ErrorString(code), RULES.get(code, GENERAL), offset)


def unended(offset: int = 0) -> Malformed:
    """The fault that an entry begins while the one before it has no end tag."""
    return Malformed(UNENDED, GENERAL, offset)


SEPARATOR = " "
"""Between namespace, local name and prefix; it can occur in none of them."""
BASE = "{http://www.w3.org/XML/1998/namespace}base"
"""What relative URLs in an element are resolved against. Source: https://www.w3.org/TR/xmlbase/"""
BASES = "\n"
"""Between the bases of the elements around an entry and its own, the outermost first."""
MAX_NAMES = 1000
"""Element names that are remembered in split form, and namespaces that are remembered at all."""


class Scope:
    """The namespaces of one document: those that were declared, and those that are declared now."""

    def __init__(self) -> None:
        self.namespaces: dict[str, str] = {}
        """URI -> the prefix it was declared with first, in order of appearance, as far as remembered."""
        self.names: dict[str, tuple[str, str]] = {}
        """Names as expat gives them -> (namespace, local name), as far as remembered."""
        self._declared: list[tuple[int, str, str]] = []

    def begin(self) -> None:
        """Forget what is declared now: a new parser begins."""
        self._declared.clear()

    def declare(self, depth: int, prefix: str, uri: str) -> None:
        """Say that the element with `depth` others around it declares a namespace."""
        self._declared.append((depth, prefix, uri))
        if len(self.namespaces) < MAX_NAMES and len(uri) <= MAX_NAME:
            self.namespaces.setdefault(uri, prefix)

    def undeclare(self) -> None:
        """Say that the declaration made last ends."""
        self._declared.pop()

    def split(self, name: str) -> tuple[str, str]:
        """Namespace and local name of an element."""
        uri, *names = name.split(SEPARATOR)
        found = (uri, names[0]) if names else ("", name)
        if len(self.names) < MAX_NAMES and len(name) <= MAX_NAME:
            self.names[name] = found
        return found

    def start_tag(self, name: str, depth: int, base: str = "") -> str:
        """The start tag of the element `name` at this depth, with what it declares and its `base`."""
        _, *parts = name.split(SEPARATOR) if SEPARATOR in name else ("", name)
        declared = [(f":{prefix}" if prefix else "", uri) for at, prefix, uri in self._declared if at == depth]
        namespaces = "".join(f" xmlns{prefix}={quoteattr(uri)}" for prefix, uri in declared)
        return f"<{':'.join(parts[::-1])}{namespaces}{f' xml:base={quoteattr(base)}' if base else ''}>"


def attribute(key: str) -> str:
    """An attribute's name: `{uri}name`, or the plain name of one without a namespace."""
    uri, *names = key.split(SEPARATOR)
    return f"{{{uri}}}{names[0]}" if names else key
