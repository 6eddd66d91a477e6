"""The strict XML parser: expat with namespaces, building one entry at a time.

expat is used for its exact lines beyond 65,535, its exact fault positions, and because it parses no DTD that it is
not given: `sniff` takes the DOCTYPE away, so no entity beyond the five of XML is ever expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from sitemapcrawler.element import Element
from sitemapcrawler.reader.entries import CORE

SEPARATOR = " "
"""Between namespace, local name and prefix; it can occur in none of them."""
MAX_NAMES = 1000
"""Element names that are remembered in split form, and namespaces that are remembered at all."""
NOWHERE = 1 << 32
"""The depth of the open entry where none is open."""
UNENDED = "an entry without an end tag"
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
"""Catalogue rule for expat's error codes; all others are `doc-xml-malformed`."""
JUNK = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]


class Malformed(Exception):
    """The document stops being well formed here."""

    def __init__(self, message: str, rule: str, offset: int, code: int) -> None:
        super().__init__(message)
        self.rule = rule
        self.offset = offset
        """Characters of the text last fed that come before the fault."""
        self.code = code


class TooDeep(Malformed):
    """More elements are open at once than the limit allows."""


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
        names: dict[str, tuple[str, str]] | None = None,
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
        self._names = {} if names is None else names
        self._scope: list[tuple[int, str | None, str | None]] = []
        self.fed = 0
        self._line_offset = 0
        self._next_line = 1
        self._entry_end = 0
        self._data = b""
        self._before = 0
        self.namespaces: dict[str, str] = {}
        self.root_uri = ""
        self.depth = 0
        """Elements that are open around the entries, the root included."""
        self.containers: list[str] = []
        """Start tags of those but for the root."""
        self.wrappers: list[Element] = []
        """Unknown elements that turned out to hold entries."""
        self._parser = self._create()
        self._down = 1 + len(inside)
        self.feed("".join((root_tag, *inside)), 1)
        self._down = 0

    def _create(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.buffer_text = True
        parser.namespace_prefixes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartNamespaceDeclHandler = self._declare
        parser.EndNamespaceDeclHandler = self._undeclare
        return parser

    @property
    def is_between(self) -> bool:
        """True where no entry is open, and nothing that may become a container."""
        return not self._stack

    @property
    def in_entry(self) -> bool:
        """True where an entry is open."""
        return self._entry != NOWHERE

    def characters_done(self, text: str, start: int) -> int:
        """Characters of `text`, fed from byte `start` on, that belong to complete entries."""
        if self._entry_end <= start:
            return 0
        return len(text.encode("utf-8", "surrogatepass")[: self._entry_end - start].decode("utf-8", "surrogatepass"))

    @property
    def ended(self) -> bool:
        """True after the root's end tag."""
        return self.depth == 0

    def feed(self, text: str, line: int, final: bool = False) -> None:
        """Parse `text`, which begins on `line` of the document. Raises Malformed and TooDeep."""
        data = text.encode("utf-8", "surrogatepass")
        self._line_offset = line - self._next_line
        self._next_line += text.count("\n")
        self._data, self._before = data, self.fed
        self.fed += len(data)
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            message, offset = expat.ErrorString(error.code), self._characters_before(self._parser.ErrorByteIndex)
            raise Malformed(message, RULES.get(error.code, "doc-xml-malformed"), offset, error.code) from None

    def _characters_before(self, index: int) -> int:
        """Characters of the text last fed before byte `index` of all."""
        return len(self._data[: max(0, index - self._before)].decode("utf-8", "replace"))

    def salvage(self) -> Element | None:
        """The entry that was open when a fault was met, with those children that were complete."""
        if not self._stack:
            return None
        entry = self._stack[0]
        if len(self._stack) > 1:
            entry.content.pop()
        return entry

    def close(self) -> None:
        """Let go of the text: parser and handlers refer to each other, and would live until the next collection."""
        self._parser.StartElementHandler = self._parser.EndElementHandler = None
        self._parser.StartNamespaceDeclHandler = self._parser.EndNamespaceDeclHandler = None
        self._parser.CharacterDataHandler = None
        self._data = b""

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self._scope.append((self.depth + len(self._stack), prefix, uri))
        if len(self.namespaces) < MAX_NAMES:
            self.namespaces.setdefault(uri or "", prefix or "")

    def _undeclare(self, prefix: str | None) -> None:
        self._scope.pop()

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        uri, name = self._names.get(tag) or self._split(tag)
        stack = self._stack
        if not stack and (self.depth < self._down or (self.depth == 1 and name in self._containers)):
            self._go_down(uri, tag)
            return
        for key in attributes:
            if SEPARATOR in key:
                attributes = {self._attribute(key): value for key, value in attributes.items()}
                break
        if self._entry == NOWHERE:
            self._start_outside(uri, name, tag)
        element = Element(uri, name, attributes, self._parser.CurrentLineNumber + self._line_offset)
        if stack:
            stack[-1].content.append(element)
            if len(stack) >= self._max_depth:
                raise self._too_deep()
        else:
            self._parser.CharacterDataHandler = self._text
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
        place = self._characters_before(self._parser.CurrentByteIndex)
        if sum(element.name in self._entries for element in self._stack) > 1:
            return Malformed(UNENDED, "doc-xml-malformed", place, 0)
        return TooDeep(f"more than {self._max_depth} elements are open at once", "limit-depth", place, 0)

    def _go_down(self, uri: str, tag: str) -> None:
        if self.depth == 0:
            self.root_uri = uri
        else:
            self.containers.append(self._start_tag(tag, self.depth))
        self.depth += 1

    def _unwrap(self) -> None:
        """The open element is no entry but holds some: go down through it instead of building it."""
        self.wrappers += self._stack[:1]
        self.containers += [self._start_tag(tag, self.depth + above) for above, tag in enumerate(self._tags)]
        self.depth += len(self._stack)
        self._stack.clear()
        self._tags.clear()
        self._parser.CharacterDataHandler = None

    def _start_tag(self, tag: str, depth: int) -> str:
        """The start tag of an element at this depth, without attributes but with the namespaces it declares."""
        _, *parts = tag.split(SEPARATOR) if SEPARATOR in tag else ("", tag)
        declared = [(f":{prefix}" if prefix else "", uri or "") for at, prefix, uri in self._scope if at == depth]
        return f"<{':'.join(parts[::-1])}{''.join(f' xmlns{name}={quoteattr(uri)}' for name, uri in declared)}>"

    def _text(self, text: str) -> None:
        self._stack[-1].content.append(text)

    def _end(self, tag: str) -> None:
        stack = self._stack
        if not stack:
            self.depth -= 1
            if self.containers:
                self.containers.pop()
            return
        element = stack.pop()
        if len(stack) > self._entry:  # a part of an entry, as nearly all are
            return
        if self._entry == NOWHERE:
            self._tags.pop()
        self._entry = NOWHERE
        if not stack:
            self._parser.CharacterDataHandler = None
            self._entry_end = self._end_of_tag()
            self._build(element)

    def _end_of_tag(self) -> int:
        """Where the end tag ends that is being parsed, in bytes fed. Of `<url/>` expat gives the end by itself."""
        start = self._parser.CurrentByteIndex - self._before
        if start >= 0 and not self._data.startswith(b"</", start):
            return self._parser.CurrentByteIndex
        return self._before + self._data.find(b">", max(0, start)) + 1

    def _split(self, tag: str) -> tuple[str, str]:
        parts = tag.split(SEPARATOR)
        names = (parts[0], parts[1]) if len(parts) > 1 else ("", tag)
        if len(self._names) < MAX_NAMES:
            self._names[tag] = names
        return names

    @staticmethod
    def _attribute(key: str) -> str:
        uri, *names = key.split(SEPARATOR)
        return f"{{{uri}}}{names[0]}" if names else key
