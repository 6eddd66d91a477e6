"""What is known of url records on their way through a crawl, besides their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from sitemapcrawler.items import FindingRecord, UrlRecord
from sitemapcrawler.namespaces.element import Element, Unparsed


@dataclass(slots=True)
class Note:
    """What is known of one record."""

    record: UrlRecord
    """The record, which also keeps its identity from being given to another one."""
    written: Element | Unparsed | None = None
    """The entry as it stands in the XML; None for plain entries, feeds and text. See `element`."""
    faults: Sequence[str] = ()
    """Rules of the faults that the reader found in the entry."""
    findings: list[FindingRecord] = field(default_factory=list)
    """Findings on the entry, which feeds write after it."""
    number: int = 0
    """Which entry of its file it is, counted from 1, for those of a sample."""
    source: str | None = None
    """The entry's text in the document, where the reader keeps it (`Document.keep_source`); None for an entry that
    could only be read after a repair, or that depends on elements around it."""
    broken: str = ""
    """The text of an entry that could only be read after a repair, under the same condition."""

    @property
    def element(self) -> Element | None:
        """The entry as it stands in the XML, parsed if it was not yet."""
        if isinstance(self.written, Unparsed):
            self.written = self.written.element()
        return self.written


class Notes(dict[int, Note]):
    """The notes on some records, by the identity of each. Most records have none."""

    @classmethod
    def table(cls, notes: Iterable[Note]) -> Self:
        return cls({id(note.record): note for note in notes})

    def on(self, record: UrlRecord) -> Note:
        """Return the note on a record. The first call makes it."""
        note = self.get(id(record))
        if note is None:
            note = self[id(record)] = Note(record)
        return note

    def element(self, record: UrlRecord) -> Element | None:
        """The XML element of an entry; None for plain entries, feeds and text."""
        note = self.get(id(record))
        return None if note is None else note.element

    def of(self, records: Iterable[UrlRecord]) -> list[Note]:
        """The notes on records, in their order."""
        found = (self.get(id(record)) for record in records) if self else ()
        return [note for note in found if note is not None]

    def findings(self, records: Iterable[UrlRecord]) -> list[FindingRecord]:
        """The findings on records, in their order."""
        return [finding for note in self.of(records) for finding in note.findings]

    def remove(self, records: Iterable[object]) -> Notes:
        """Take out the notes on these records, and return them."""
        removed = ((id(record), self.pop(id(record), None)) for record in records) if self else ()
        return Notes((key, note) for key, note in removed if note is not None)
