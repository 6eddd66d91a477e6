"""Recovers entries from broken XML: finds them, repairs their text, and builds records from those it can trust."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import unescape

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import uri_of
from sitemapcrawler.namespaces.element import Element, hide
from sitemapcrawler.reader.diagnosis import Malformed
from sitemapcrawler.reader.entries import Entry, EntryBuilder, note_nested, note_no_entry
from sitemapcrawler.reader.pieces import Piece, PieceParser, entry_of, fault_of
from sitemapcrawler.reader.repair import UNREADABLE, flatten, repair
from sitemapcrawler.urls.display import counted

PREFIX = re.compile(r"<([A-Za-z_][\w.-]*):|\s([A-Za-z_][\w.-]*):[\w.-]+\s*=")
"""Namespace prefix in the name of an element or attribute."""
DECLARED = re.compile(r"\sxmlns:([A-Za-z_][\w.-]*)\s*=")
DECLARATION = re.compile(r"""(\sxmlns(?::([A-Za-z_][\w.-]*))?\s*=\s*(?:"[^"<&]+"|'[^'<&]+'))""")
QUOTES = {"&quot;": '"', "&apos;": "'"}
USUAL = re.compile(
    r"<url>[ \t\n]*+<loc>(?P<loc>[^<]*+)</loc>[ \t\n]*+"
    + "".join(rf"(?:<{name}>(?P<{name}>[^<]*+)</{name}>[ \t\n]*+)?+" for name in ("lastmod", "changefreq", "priority"))
    + r"</url>[ \t\n]*+"
)
"""An entry with the elements of plain ones, and any text in them."""
SUSPECT = re.compile("[&\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""A character that may be a fault."""
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

    def __init__(self, parser: PieceParser, root: str, prefix: str, names: tuple[str, ...], doctype: bool) -> None:
        # What follows an empty root is read as if the root were open, like what follows an end tag.
        self._root = f"{root[:-2]}>" if root.endswith("/>") else root
        self._doctype = doctype
        self._parser = parser
        self.unclosed = ""
        """End marker of the section in which the last text stops; empty: none."""
        self.unclosed_line = 0
        """Line on which that section begins."""
        self._declared = BUILT_IN.union(DECLARED.findall(root))
        prefixed = f"(?:{re.escape(prefix)}:)?" if prefix else ""
        self._start = re.compile(rf"<{prefixed}(?:{'|'.join(names)})(?=[\s/>])")

    def read(
        self, text: str, line: int, inside: Sequence[str], piece: Piece | None = None
    ) -> Iterator[Recovered | None]:
        """Yield the entries in `text`, which begins on `line` inside some elements, with None for each that cannot be
        trusted. `piece`: the same text as it was parsed inside them, if it was."""
        parsed = text
        text, self.unclosed = flatten(text)
        self.unclosed_line = line + text.count("\n")
        starts = [start.start() for start in self._start.finditer(text)]
        if starts != [0] or text != parsed:
            piece = None
        counted = 0
        for start, end in pairwise([*starts, len(text)]):
            line += text.count("\n", counted, start)
            counted = start
            yield self._entry(text[start:end], line, inside, piece)

    def usual(self, text: str, at: int, line: int) -> tuple[Malformed, Recovered] | None:
        """Return the entry at `at`, on `line`, with its fault, if it is usual but for characters that are not well
        formed; None if it is another, or does not end in `text`."""
        found = USUAL.match(text, at)
        if found is None or not SUSPECT.search(text, at, found.end()) or "]]>" in found[0]:
            return None
        fault = fault_of(found[0])
        if fault is None:
            return None
        entry = Element(self._parser.root_uri, "url", {}, line)
        is_lossy = False
        for name, value in found.groupdict().items():
            if value is None:
                continue
            repaired = repair(value, self._doctype) if SUSPECT.search(value) else value
            if "&#" in repaired:
                return None
            is_lossy = is_lossy or repaired.count(UNREADABLE) > value.count(UNREADABLE)
            child = Element(entry.uri, name, {}, line + text.count("\n", at, found.start(name)))
            child.content.append(unescape(repaired, QUOTES) if "&" in repaired else repaired)
            entry.content.append(child)
        if "@" in found[0]:
            hide(entry)
        return fault, Recovered(entry, changed=True, lossy=is_lossy, text=found[0])

    def entries_until(self, text: str, offset: int) -> int:
        """Count the entries of `text` that begin before `offset`, or with the tag there."""
        end = text.find(">", offset) + 1 if text.startswith("<", offset) else offset
        return len(self._start.findall(flatten(text[: end or None])[0])) if offset >= 0 else 0

    def first_start(self, text: str) -> int:
        """Return the position of the first entry in `text`; -1 if there is none."""
        start = self._start.search(flatten(text)[0])
        return start.start() if start else -1

    def _entry(self, text: str, line: int, inside: Sequence[str], piece: Piece | None) -> Recovered | None:
        """`piece`: the same text, parsed; None if it was not."""
        repaired = repair(text, self._doctype)
        missing = self._undeclared(repaired, inside)
        around = [self._context(missing), *inside]
        if piece is None or missing or repaired != text:
            piece = self._parser.parse(around, repaired, line)
        found = entry_of(piece, around, repaired)
        if found is None and missing:  # one of the prefixes is not a valid name
            around[0] = self._root
            found = entry_of(self._parser.parse(around, repaired, line), around, repaired)
        if found is None:
            return None
        element, is_whole = found
        lossy = repaired.count(UNREADABLE) > text.count(UNREADABLE)
        return Recovered(element, repaired != text or bool(missing) or not is_whole, is_whole, lossy, text)

    def _undeclared(self, text: str, inside: Sequence[str]) -> set[str]:
        if ":" not in text:
            return set()
        used = {element or attribute for element, attribute in PREFIX.findall(text)} - self._declared
        return used.difference(DECLARED.findall(text), *map(DECLARED.findall, inside)) if used else used

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


NO_ENTRY = "xml-unknown-element"
UNDECODABLE = "bytes that are invalid in the encoding, read as U+FFFD: 1 read after repair"


class Builder:
    """Builds records from entries and collects them, with the elements they were built from if `keep_elements`."""

    def __init__(self, entries: EntryBuilder, keep_elements: bool) -> None:
        self.entries = entries
        self.keep_elements = keep_elements
        self.records: list[Entry] = []
        """Records since the last `pop_records`."""
        self.outside = False
        """True if the entries have no root: all of them then count as recovered."""

    def pop_records(self) -> list[Entry]:
        """Return the records and forget them."""
        records, self.records = self.records, []
        return records

    def build(self, element: Element, source: str | None, around: Element | None = None) -> None:
        """Add the entries of an element that was parsed. `source`: its text; None if it is unknown, or depends on
        others around it. `around`: the entry that it stood in."""
        faults = self.entries.faults
        recent = faults.recent
        recent.clear()
        entries = [*self.entries.entries_of(element)]
        not_found = recent[-1][0] if recent else NO_ENTRY
        for entry in entries:
            recent.clear()
            if around is not None:
                note_nested(entry, around, faults)
            record = self._record(entry)
            if record is not None:
                if recent:
                    self.blame(record)
                record.recovered = record.recovered or self.outside
                self._add(record, entry)
                if self.entries.keep_source and isinstance(record, UrlRecord) and entry is element:
                    self.entries.notes.on(record).source = source
            elif faults.losses is not None:
                faults.lose("", entry.line, (source if entry is element else None) or f"<{entry.name}>")
        if not entries and faults.losses is not None:
            faults.lose(not_found, element.line, source or f"<{element.name}>")

    def unwrap(self, around: Element) -> None:
        """Note an element around entries, which are read without it."""
        faults = self.entries.faults
        faults.recent.clear()
        note_no_entry(around, faults)
        if faults.recent and faults.recent[-1][0] == NO_ENTRY:
            faults.lose(NO_ENTRY, around.line, f"<{around.name}>")

    def recover(self, recovered: Iterable[Recovered | None]) -> list[Entry | None]:
        """Add entries found in broken text; return their records, with None for each that was left out."""
        records = [self._recover(found) for found in recovered]
        self.entries.faults.lost += records.count(None)
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
        faults.add("loc-whitespace", "whitespace around the URL", line, value=record.loc)
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
    parts = [f"{counted(kept, 'entry', 'entries')} read after repair"] if kept else []
    parts += [f"{counted(lost, 'entry', 'entries')} left out"] if lost else []
    return f": {', '.join(parts)}" if parts else ""
