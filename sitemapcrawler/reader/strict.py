"""The strict XML parser: expat with namespaces, building one entry at a time.

expat is used for its exact lines beyond 65,535, its exact fault positions, and because it parses no DTD that it is
not given: `sniff` takes the DOCTYPE away, so no entity beyond the five of XML is ever expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from xml.parsers import expat

from sitemapcrawler.element import Element

SEPARATOR = " "
"""Between namespace and local name; it can occur in neither."""
MAX_NAMES = 1000
"""Element names that are remembered in split form."""
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


class TooDeep(Exception):
    """More elements are open at once than the limit allows."""

    rule = "limit-depth"
    offset = 0


class StrictParser:
    """Feeds text to expat and hands each complete entry to `build`.

    An entry is an element directly under the root, or under one of `containers` (an RSS channel), or one of the names
    `entries` wherever it stands.
    """

    def __init__(
        self,
        root_tag: str,
        build: Callable[[Element], None],
        containers: Collection[str] = (),
        max_depth: int = 32,
        names: dict[str, tuple[str, str]] | None = None,
        entries: Collection[str] = (),
    ) -> None:
        self._build = build
        self._containers = containers
        self._entries = entries
        self._max_depth = max_depth
        self._stack: list[Element] = []
        self._above = 0
        self._names = {} if names is None else names
        self.fed = 0
        self._line_offset = 0
        self._next_line = 1
        self._entry_end = 0
        self._data = b""
        self._before = 0
        self.namespaces: dict[str, str] = {}
        self.root_uri = ""
        self.containers: list[str] = []
        """Names of the open elements between the root and the entries."""
        self.wrappers: list[Element] = []
        """Unknown elements that turned out to hold entries."""
        self._parser = self._create()
        self.feed(root_tag, 1)
        self._entry_end = self.fed

    def _create(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartNamespaceDeclHandler = self._declare
        return parser

    @property
    def at_boundary(self) -> bool:
        """True where the text fed so far ends exactly with the end of an entry (or of the root's start tag)."""
        return self._entry_end == self.fed and self._above > 0 and not self._stack

    def characters_done(self, text: str, start: int) -> int:
        """Characters of `text`, fed from byte `start` on, that belong to complete entries."""
        if self._entry_end <= start:
            return 0
        return len(text.encode("utf-8", "surrogatepass")[: self._entry_end - start].decode("utf-8", "surrogatepass"))

    @property
    def ended(self) -> bool:
        """True after the root's end tag."""
        return self._above == 0

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
            offset = max(0, self._parser.ErrorByteIndex - self._before)
            characters = len(data[:offset].decode("utf-8", "replace"))
            message = expat.ErrorString(error.code)
            raise Malformed(message, RULES.get(error.code, "doc-xml-malformed"), characters, error.code) from None

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
        self._parser.StartNamespaceDeclHandler = self._parser.CharacterDataHandler = None
        self._data = b""

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self.namespaces.setdefault(uri or "", prefix or "")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        uri, name = self._names.get(tag) or self._split(tag)
        stack = self._stack
        if not stack and (self._above == 0 or (self._above == 1 and name in self._containers)):
            self._go_down(uri, name)
            return
        for key in attributes:
            if SEPARATOR in key:
                attributes = {self._attribute(key): value for key, value in attributes.items()}
                break
        if (
            name in self._entries
            and uri == self.root_uri
            and stack
            and not any(part.name in self._entries for part in stack)
        ):
            self._unwrap()
        element = Element(uri, name, attributes, self._parser.CurrentLineNumber + self._line_offset)
        if stack:
            stack[-1].content.append(element)
            if len(stack) >= self._max_depth:
                raise TooDeep(f"more than {self._max_depth} elements are open at once")
        else:
            self._parser.CharacterDataHandler = self._text
        stack.append(element)

    def _go_down(self, uri: str, name: str) -> None:
        if self._above == 0:
            self.root_uri = uri
        else:
            self.containers.append(name)
        self._above += 1

    def _unwrap(self) -> None:
        """The open element is no entry but holds some: go down through it instead of building it."""
        self.wrappers += self._stack[:1]
        self.containers += [element.name for element in self._stack]
        self._above += len(self._stack)
        self._stack.clear()
        self._parser.CharacterDataHandler = None

    def _text(self, text: str) -> None:
        self._stack[-1].content.append(text)

    def _end(self, tag: str) -> None:
        stack = self._stack
        if not stack:
            self._above -= 1
            if self.containers:
                self.containers.pop()
            return
        element = stack.pop()
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
        uri, _, name = tag.rpartition(SEPARATOR)
        if len(self._names) < MAX_NAMES:
            self._names[tag] = uri, name
        return uri, name

    @staticmethod
    def _attribute(key: str) -> str:
        uri, _, name = key.rpartition(SEPARATOR)
        return f"{{{uri}}}{name}" if uri else name
