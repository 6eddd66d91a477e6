"""Strict XML parser: expat with namespaces, building one entry at a time.

expat counts lines beyond 65,535, reports exact fault positions, and parses no DTD that it is not given. `sniff` removes
the DOCTYPE, so only XML's five predefined entities are ever expanded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.element import Element, hide
from sitemapcrawler.namespaces.schemas.terms import is_complete
from sitemapcrawler.reader.faults import MAX_NAME


class Fed:
    """The text fed to one parser; only the last part is kept."""

    __slots__ = ("_before", "_data", "_next_line", "line_offset", "size")

    def __init__(self) -> None:
        self.size = 0
        """Bytes."""
        self.line_offset = 0
        """Line of the document minus line of the parser."""
        self._next_line = 1
        self._data = b""
        self._before = 0

    def add(self, text: str, line: int) -> bytes:
        """Encode `text`, which begins on `line` of the document, and keep it as the last part."""
        self.line_offset = line - self._next_line
        self._next_line += text.count("\n")
        self._before = self.size
        self._data = text.encode()
        self.size += len(self._data)
        return self._data

    def characters_before(self, index: int) -> int:
        """Convert a byte index in all text to a character index in the last part."""
        return len(self._data[: max(0, index - self._before)].decode("utf-8", "replace"))

    def end_of_tag(self, index: int) -> int:
        """Return the end of the end tag at byte `index`. For `<url/>`, expat reports the end itself."""
        start = index - self._before
        if start >= 0 and not self._data.startswith(b"</", start):
            return index
        return self._before + self._data.find(b">", max(0, start)) + 1

    def forget(self) -> None:
        self._data = b""


def characters_in(text: str, size: int) -> int:
    """Count the characters in the first `size` bytes of `text`."""
    return len(text.encode()[: max(0, size)].decode())


CLOSED = re.compile(r"(?:[^\s<>/:]++:)?([^\s<>/:]++)\s*>")
"""Rest of an end tag."""
NOWHERE = 1 << 32
"""Depth of the open entry if none is open."""


class StrictParser:
    """Feeds text to expat and passes each complete entry to `build`.

    An entry is an element directly under the root or one of `containers` (an RSS channel), or any element named in
    `entries`. `inside`: start tags of the elements open between the root and the entries.
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
        """The text fed so far, including the root's start tag."""
        self.entry_end = 0
        """Bytes fed up to the end of the last complete entry."""
        self.entry_start = 0
        """Bytes fed before the start tag of the last element outside of others."""
        self.root_uri = ""
        self.depth = 0
        """Elements open around the entries, including the root."""
        self.containers: list[str] = []
        """Start tags of these elements, without the root."""
        self._bases: list[str] = []
        self.wrappers: list[Element] = []
        """Unknown elements that turned out to contain entries."""
        self.texts: list[tuple[str, int]] = []
        """Beginnings of texts directly under the root, with their lines."""
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
        """True if no entry is open, nor an element that may become a container."""
        return not self._stack

    @property
    def in_entry(self) -> bool:
        """True if an entry is open."""
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
            raise self._malformed(error, text) from None  # a local variable would form a cycle with this frame

    def salvage(self) -> Element | None:
        """Return the entry that was open when a fault occurred, with its complete children, and with one that lacks
        only its end tag."""
        if not self._stack:
            return None
        entry, *inside = self._stack
        if inside and not (len(inside) == 1 and is_complete(inside[0])):
            entry.content.pop()
        hide(entry)
        return entry

    def _malformed(self, error: expat.ExpatError, text: str) -> Malformed:
        """Return expat's fault in `text`. A mismatched end tag may close elements that lack their own."""
        fault = malformed(error.code, self.fed.characters_before(self._parser.ErrorByteIndex))
        if fault.is_mismatch and (closed := CLOSED.match(text, fault.offset)):
            self._close_implicitly(closed[1])
        return fault

    def _close_implicitly(self, name: str) -> None:
        """Close the open elements within the one called `name`, whose end tag was read, if they lack only end tags.

        That is so if they contain only elements, like `<video:video>`. Children with another namespace, or with the
        closed element's own name, become its siblings.
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
        """Release the text and break the reference cycle between parser and handlers."""
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
            self.entry_start = self._parser.CurrentByteIndex
        stack.append(element)

    def _start_outside(self, uri: str, name: str, tag: str) -> None:
        """Handle an element that begins outside entries: an entry, or an element that may contain some."""
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
        """Treat the open element as a container, because it holds entries."""
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
        """Handle text between entries. It is not buffered, so that its line is exact."""
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
        if len(stack) > self._entry:  # a part of an entry, the most common case
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
"""Rule for faults without a more exact one."""
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
"""Faults that mean that the document ends too early."""
RULES = {
    expat.errors.codes[message]: rule
    for message, rule in (
        (expat.errors.XML_ERROR_UNDEFINED_ENTITY, "doc-undeclared-entity"),
        (expat.errors.XML_ERROR_BAD_CHAR_REF, "doc-control-character"),
        (expat.errors.XML_ERROR_UNBOUND_PREFIX, "xml-ext-namespace-missing"),
        (expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT, "doc-trailing-content"),
    )
} | dict.fromkeys(ENDS, "doc-truncated")
"""expat's error codes -> rules; all others are `GENERAL`."""
ILLEGAL = "not well formed (illegal character)"
"""What expat calls an invalid token: also the wording of those who find such a character before it does."""
WORDING = {expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]: ILLEGAL}
"""expat's error codes -> messages; all others have expat's own."""


class Malformed(Exception):
    """The document is not well formed here, or exceeds a limit."""

    def __init__(self, message: str, rule: str, offset: int) -> None:
        super().__init__(message)
        self.rule = rule
        self.offset = offset
        """Position of the fault in the text last fed, in characters."""

    @property
    def is_end(self) -> bool:
        """True if the document has no end."""
        return self.rule == "doc-truncated"

    @property
    def is_unended(self) -> bool:
        """True if an entry has no end tag."""
        return str(self) == UNENDED

    @property
    def is_mismatch(self) -> bool:
        """True if an end tag does not match its start tag."""
        return str(self) == MISMATCH


def malformed(code: int, offset: int) -> Malformed:
    """Return the fault for an error code of expat."""
    return Malformed(WORDING.get(code) or expat.ErrorString(code), RULES.get(code, GENERAL), offset)


def unended(offset: int = 0) -> Malformed:
    """Return the fault for an entry that begins before the previous one has ended."""
    return Malformed(UNENDED, GENERAL, offset)


SEPARATOR = "\f"
"""Separates namespace, local name and prefix. XML forbids it everywhere; a blank would make expat refuse namespaces
that are written with one."""
BASE = "{http://www.w3.org/XML/1998/namespace}base"
"""Base for relative URLs in an element. Source: https://www.w3.org/TR/xmlbase/"""
BASES = "\n"
"""Separates the bases of an entry and the elements around it, outermost first."""
MAX_NAMES = 1000
"""Element names remembered in split form, and namespaces remembered."""


class Scope:
    """Namespaces of one document: all that occurred, and those declared now."""

    def __init__(self) -> None:
        self.namespaces: dict[str, str] = {}
        """URI -> its first prefix, in order of appearance; at most `MAX_NAMES`."""
        self.names: dict[str, tuple[str, str]] = {}
        """Name as expat gives it -> (namespace, local name); at most `MAX_NAMES`."""
        self._declared: list[tuple[int, str, str]] = []

    def begin(self) -> None:
        """Forget the current declarations: a new parser starts."""
        self._declared.clear()

    def declare(self, depth: int, prefix: str, uri: str) -> None:
        """Add a namespace declared by the element at `depth`."""
        self._declared.append((depth, prefix, uri))
        if len(self.namespaces) < MAX_NAMES and len(uri) <= MAX_NAME:
            self.namespaces.setdefault(uri, prefix)

    def bound(self) -> dict[str, str]:
        """Return {prefix: namespace} of the root's declarations."""
        return {prefix: uri for depth, prefix, uri in self._declared if depth == 0}

    def undeclare(self) -> None:
        """Remove the last declaration."""
        self._declared.pop()

    def split(self, name: str) -> tuple[str, str]:
        """Split an element's name into namespace and local name."""
        uri, *names = name.split(SEPARATOR)
        found = (uri, names[0]) if names else ("", name)
        if len(self.names) < MAX_NAMES and len(name) <= MAX_NAME:
            self.names[name] = found
        return found

    def start_tag(self, name: str, depth: int, base: str = "") -> str:
        """Return the start tag of the element `name` at this depth, with its namespace declarations and `base`."""
        _, *parts = name.split(SEPARATOR) if SEPARATOR in name else ("", name)
        declared = [(f":{prefix}" if prefix else "", uri) for at, prefix, uri in self._declared if at == depth]
        namespaces = "".join(f" xmlns{prefix}={quoteattr(uri)}" for prefix, uri in declared)
        return f"<{':'.join(parts[::-1])}{namespaces}{f' xml:base={quoteattr(base)}' if base else ''}>"


def attribute(key: str) -> str:
    """Return an attribute's name: `{uri}name`, or the plain name without a namespace."""
    uri, *names = key.split(SEPARATOR)
    return f"{{{uri}}}{names[0]}" if names else key
