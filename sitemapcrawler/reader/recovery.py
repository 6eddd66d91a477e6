"""Recovers entries from broken XML: finds them, repairs their text, and builds records from those it can trust."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html.entities import html5
from itertools import pairwise
from xml.sax.saxutils import escape

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import uri_of
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.entries import Entry, EntryBuilder
from sitemapcrawler.reader.strict import Malformed, Scope, StrictParser

UNREADABLE = "\ufffd"
"""U+FFFD, the replacement for characters that cannot be read."""
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML 1.0 forbids (production 2, Char)."""
REFERENCE = re.compile(r"&(?:(#[0-9]{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z_][\w.-]{0,63});)?")
"""An ampersand, with the rest of the reference if it is one."""
PREDEFINED = frozenset(("amp", "lt", "gt", "quot", "apos"))
"""XML 1.0, 4.6."""
TEXT_LESS_THAN = re.compile(r"<(?![A-Za-z_/!?])")
"""A `<` that does not begin a tag."""
SECTION = re.compile(r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>|<(!--|\?|!\[CDATA\[).*", re.DOTALL)
"""Comment, processing instruction or CDATA section, closed or not."""
TAG_ENDS = re.compile("[<>]")
IN_TAG = "\x00"
"""Replaces a section within a tag, where none is allowed. Dropping it could join its surroundings to a valid tag."""
ENDS = {"!--": "-->", "?": "?>", "![CDATA[": "]]>"}
"""Start of a section, without `<` -> its end."""
FAULT = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)|<(?![A-Za-z_/!?])|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
)
"""What `repair` fixes: never well formed outside CDATA, comments and tags."""


def flatten(text: str) -> tuple[str, str]:
    """Blank comments and turn CDATA into plain text; also return the end marker of an unclosed section, if any.

    An unclosed section is cut away; a section within a tag leaves a fault. Line numbers do not change.
    """
    if "<!" not in text and "<?" not in text:
        return text, ""
    unclosed, passed, in_tag = "", 0, False

    def replace(section: re.Match[str]) -> str:
        nonlocal unclosed, passed, in_tag
        in_tag = _is_in_tag(text, passed, section.start(), in_tag)
        passed = section.end()
        if section[2] is not None:
            unclosed = ENDS[section[2]]
            return ""
        if in_tag or section[1] is None:
            return IN_TAG * in_tag + "\n" * section[0].count("\n")
        return escape(section[1])

    return SECTION.sub(replace, text), unclosed


def section_start(text: str, offset: int) -> int:
    """Return the start of the section that contains `offset`, or `offset` if none does."""
    starts = (section.start() for section in SECTION.finditer(text, 0) if section.start() <= offset < section.end())
    return next(starts, offset)


def _is_hidden(text: str, start: int) -> bool:
    """Return whether what begins at `start` was meant to be in a comment, which begins with `<!-` instead of `<!--`."""
    opened = text.rfind("<!-", 0, start)
    return opened >= 0 and not TAG_ENDS.search(text, opened + 1, start)


def _is_in_tag(text: str, start: int, end: int, before: bool) -> bool:
    """Return whether the end of `text[start:end]` is within a tag; `before`: whether its start is."""
    opened, closed = text.rfind("<", start, end), text.rfind(">", start, end)
    if opened == closed:  # neither is there
        return before
    return opened > closed and (opened + 1 == end or not TEXT_LESS_THAN.match(text, opened))


def repair(text: str, doctype: bool) -> str:
    """Make raw ampersands, HTML entities and forbidden characters in an entry's text legal.

    `doctype`: the document declares its own entities; they are not loaded, so unknown entities have no value.
    """
    text = CONTROL.sub(UNREADABLE, text)
    text = REFERENCE.sub(lambda reference: _reference(reference, doctype), text)
    return TEXT_LESS_THAN.sub("&lt;", text)


def is_trusted(url: str, text: str, repaired: str) -> bool:
    """Return False for a URL that lost a character to the repair. Characters that `decode` replaced do not count."""
    return UNREADABLE not in url or repaired.count(UNREADABLE) == text.count(UNREADABLE)


def _reference(reference: re.Match[str], doctype: bool) -> str:
    name = reference[1]
    if name is None:
        return "&amp;"
    if name in PREDEFINED:
        return reference[0]
    if name.startswith("#"):
        return reference[0] if _is_character(name[1:]) else UNREADABLE
    if f"{name};" in html5:
        return escape(html5[f"{name};"])
    return UNREADABLE if doctype else f"&amp;{name};"


def _is_character(number: str) -> bool:
    code = int(number[1:], 16) if number.startswith("x") else int(number)
    return code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF and not CONTROL.match(chr(code))


PREFIX = re.compile(r"<([A-Za-z_][\w.-]*):|\s([A-Za-z_][\w.-]*):[\w.-]+\s*=")
"""Namespace prefix in the name of an element or attribute."""
DECLARED = re.compile(r"\sxmlns:([A-Za-z_][\w.-]*)\s*=")
DECLARATION = re.compile(r"""(\sxmlns(?::([A-Za-z_][\w.-]*))?\s*=\s*(?:"[^"<&]+"|'[^'<&]+'))""")
BUILT_IN = frozenset(("xml", "xmlns"))


@dataclass(frozen=True, slots=True)
class Recovered:
    """An entry found in broken text."""

    element: Element
    """The entry; if it is damaged, only its complete children."""
    changed: bool
    """True if it was repaired or lost a part."""
    whole: bool = True
    """False if its end is missing."""
    lossy: bool = False
    """True if the repair replaced characters that cannot be read."""
    text: str = ""
    """Its text as it was found; empty if unknown."""


class Recovery:
    """Finds the entries in broken pieces of one document.

    `root` is the root's start tag, `names` the entry elements; `doctype`: entities were declared.
    """

    def __init__(self, root: str, prefix: str, names: tuple[str, ...], doctype: bool, max_depth: int) -> None:
        # What follows an empty root is read as if the root were open, like what follows an end tag.
        self._root = f"{root[:-2]}>" if root.endswith("/>") else root
        self._doctype = doctype
        self._max_depth = max_depth
        self._scope = Scope()
        self.unclosed = ""
        """End marker of the section in which the last text stops; empty: none."""
        self.unclosed_line = 0
        """Line on which that section begins."""
        self.inside: list[str] = []
        """Start tags of open elements between the root and the entries that declare namespaces."""
        self._declared = BUILT_IN.union(DECLARED.findall(root))
        prefixed = f"(?:{re.escape(prefix)}:)?" if prefix else ""
        self._start = re.compile(rf"<{prefixed}(?:{'|'.join(names)})(?=[\s/>])")

    def read(self, text: str, line: int, broken: Element | None = None) -> Iterator[Recovered | None]:
        """Yield the entries in `text`, which begins on `line`, with None for each that cannot be trusted.

        `broken`: the open entry in which parsing `text` failed; used as it is if nothing can be repaired.
        """
        text, self.unclosed = flatten(text)
        self.unclosed_line = line + text.count("\n")
        starts = [start.start() for start in self._start.finditer(text)]
        hidden = {start for start in starts if _is_hidden(text, start)}
        if (
            broken is not None
            and not hidden
            and len(starts) == 1
            and not FAULT.search(text)
            and not self._undeclared(text)
        ):
            yield Recovered(broken, True, False, text=text[starts[0] :])
            return
        counted = 0
        for start, end in pairwise([*starts, len(text)]):
            line += text.count("\n", counted, start)
            counted = start
            yield None if start in hidden else self._entry(text[start:end], line)

    def entries_until(self, text: str, offset: int) -> int:
        """Count the entries of `text` that begin before `offset`, or with the tag there."""
        end = text.find(">", offset) + 1 if text.startswith("<", offset) else offset
        return len(self._start.findall(flatten(text[: end or None])[0])) if offset >= 0 else 0

    def first_start(self, text: str) -> int:
        """Return the position of the first entry in `text`; 0 if there is none."""
        start = self._start.search(text)
        return start.start() if start else 0

    def _entry(self, text: str, line: int) -> Recovered | None:
        whole: list[Element] = []
        repaired = repair(text, self._doctype)
        missing = self._undeclared(repaired)
        try:
            parser = self._parser(self._context(missing), whole)
        except Malformed:  # one of the prefixes is not a valid name
            parser = self._parser(self._root, whole)
        with suppress(Malformed):
            parser.feed(repaired, line)
        element = whole[0] if whole else parser.salvage()
        parser.close()
        if element is None:
            return None
        lossy = repaired.count(UNREADABLE) > text.count(UNREADABLE)
        return Recovered(element, repaired != text or bool(missing) or not whole, bool(whole), lossy, text)

    def _parser(self, root: str, entries: list[Element]) -> StrictParser:
        return StrictParser(root, entries.append, max_depth=self._max_depth, scope=self._scope, inside=self.inside)

    def _undeclared(self, text: str) -> set[str]:
        if ":" not in text:
            return set()
        used = {element or attribute for element, attribute in PREFIX.findall(text)} - self._declared
        return used.difference(DECLARED.findall(text), *map(DECLARED.findall, self.inside)) if used else used

    def _context(self, prefixes: set[str]) -> str:
        if not prefixes:
            return self._root
        declarations = "".join(f' xmlns:{prefix}="{namespace_of(prefix)}"' for prefix in sorted(prefixes))
        return f"{self._root[:-1]}{declarations}>"


def namespace_of(prefix: str) -> str:
    """Return the namespace that an undeclared prefix must mean; an unknown prefix gets a namespace of its own."""
    return uri_of(prefix) or uri_of(prefix.lower()) or f"urn:undeclared:{prefix}"


def readable_root(tag: str, attributes: str, prefix: str, core: str) -> str:
    """Return a usable start tag for a malformed root, with its readable namespace declarations and the missing one.

    `core`: namespace of the format; empty if it has none.
    """
    declarations = {prefix: text for text, prefix in DECLARATION.findall(attributes)}
    uri = core or (namespace_of(prefix) if prefix else "")
    if uri:
        declarations.setdefault(prefix, f' xmlns{":" if prefix else ""}{prefix}="{uri}"')
    usable = {name: text for name, text in declarations.items() if name not in BUILT_IN}
    return f"<{tag}{''.join(usable.values())}>"


UNDECODABLE = "bytes that do not fit the encoding, read as U+FFFD: 1 read after repair"


class Builder:
    """Builds records from entries and collects them, with the elements they were built from if `keep_elements`."""

    def __init__(self, entries: EntryBuilder, keep_elements: bool) -> None:
        self.entries = entries
        self.keep_elements = keep_elements
        self.records: list[Entry] = []
        """Records since the last `take`."""
        self.source_of_last: Callable[[], str | None] | None = None
        """Returns the text of the element that the strict parser read last; None if it depends on others around it.
        Only with `keep_source`: entries on their way through a crawl may be written to disk with what they refer to."""
        self.outside = False
        """True if the entries have no root: all of them then count as recovered."""

    def pop_records(self) -> list[Entry]:
        """Return the records and forget them."""
        records, self.records = self.records, []
        return records

    def _source(self) -> str | None:
        return None if self.source_of_last is None else self.source_of_last()

    def build(self, element: Element) -> None:
        """Add the entries of an element that the strict parser read."""
        faults = self.entries.faults
        recent = faults.recent
        recent.clear()
        entries = [*self.entries.entries_of(element)]
        not_found = recent[-1][0] if recent else "xml-unknown-element"
        for entry in entries:
            recent.clear()
            record = self._record(entry)
            if record is not None:
                if recent:
                    self.blame(record)
                record.recovered = record.recovered or self.outside
                self._add(record, entry)
                if self.entries.keep_source and isinstance(record, UrlRecord) and entry is element:
                    self.entries.notes.on(record).source = self._source()
            elif faults.losses is not None:
                faults.lose("", entry.line, (self._source() if entry is element else None) or f"<{entry.name}>")
        if not entries and faults.losses is not None:
            faults.lose(not_found, element.line, self._source() or f"<{element.name}>")

    def recover(self, recovered: Iterable[Recovered | None]) -> list[Entry | None]:
        """Add entries found in broken text; return their records, with None for each that was left out."""
        records = [self._recover(found) for found in recovered]
        self.entries.faults.leave_out(records.count(None))
        return records

    def _recover(self, found: Recovered | None) -> Entry | None:
        self.entries.faults.recent.clear()
        record = self._trusted(found)
        if found is not None and record is not None:
            self.blame(record)
            record.recovered = record.recovered or found.changed or self.outside
            self._add(record, None if found.changed else found.element)
            if self.entries.keep_source and isinstance(record, UrlRecord):
                note = self.entries.notes.on(record)
                note.written = note.written or found.element
                note.broken = found.text
        elif found is not None:
            self.entries.faults.lose("", found.element.line, found.text or f"<{found.element.name}>")
        else:
            self.entries.faults.lose("", None, "")
        return record

    def _record(self, element: Element, lossy: bool = False) -> Entry | None:
        """Return the record of an entry; `lossy`: its U+FFFD stand for characters that the repair replaced."""
        record = self.entries.build(element)
        if record is not None and not lossy and self._is_undecodable(element):
            self.entries.faults.add("doc-encoding-not-utf8", UNDECODABLE, element.line)
            record.recovered = True
        return record

    def _is_undecodable(self, element: Element) -> bool:
        """Return whether an entry contains bytes that did not fit the encoding."""
        if not self.entries.faults.undecodable:
            return False
        waiting = [element]
        while waiting:
            one = waiting.pop()
            waiting += one.children
            if any(UNREADABLE in text for text in (*one.attributes.values(), *one.content) if isinstance(text, str)):
                return True
        return False

    def blame(self, record: Entry) -> None:
        """Attribute the faults noted since the last entry to `record`."""
        rules = self.entries.faults.place(record.loc)
        if rules and isinstance(record, UrlRecord):
            note = self.entries.notes.on(record)
            note.faults = [*note.faults, *rules]

    def note_padding(self, record: UrlRecord, line: int) -> None:
        """Note white space around the URL of a plain entry; `line` is that of its `<loc>`."""
        faults = self.entries.faults
        faults.recent.clear()
        faults.add("loc-whitespace", "white space around the URL", line, value=record.loc)
        self.blame(record)

    def _trusted(self, found: Recovered | None) -> Entry | None:
        if found is None or not self.entries.has_url(found.element, found.whole):
            return None
        record = self._record(found.element, found.lossy)
        return None if record is None or (found.lossy and UNREADABLE in record.loc) else record

    def _add(self, record: Entry, element: Element | None) -> None:
        if self.keep_elements and element is not None and isinstance(record, UrlRecord):
            self.entries.notes.on(record).written = element
        self.records.append(record)


def outcome(records: Sequence[Entry | None]) -> str:
    """Return the end of a fault's message: what happened to the entries around it."""
    kept, lost = sum(record is not None and record.recovered for record in records), records.count(None)
    parts = [f"{kept} read after repair"] if kept else []
    parts += [f"{lost} left out"] if lost else []
    return f": {', '.join(parts)}" if parts else ""
