"""Records of a document's entries, whatever way the entries were read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sitemapcrawler.element import Element
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.entries import Entries, Entry
from sitemapcrawler.reader.recover import Recovered
from sitemapcrawler.reader.repair import is_trusted


class Builder:
    """Makes records of entries and collects them. With `keep_elements` they carry the element they were made of."""

    def __init__(self, entries: Entries, keep_elements: bool) -> None:
        self.entries = entries
        self._keep_elements = keep_elements
        self.records: list[Any] = []
        """The records since they were taken last."""
        self.outside = False
        """True where the entries stand in no root: then all of them count as recovered."""

    def take(self) -> list[Any]:
        """The records, which are then gone from here."""
        records, self.records = self.records, []
        return records

    def build(self, element: Element) -> None:
        """Take in an element that the strict parser read."""
        for entry in self.entries.entries_of(element):
            record = self.entries.build(entry)
            if record is not None:
                record.recovered = record.recovered or self.outside
                self._add(record, entry)

    def recover(self, recovered: Iterable[Recovered | None]) -> str:
        """Take in entries that were found in broken text; what came of them, for a message."""
        kept = lost = 0
        for found in recovered:
            record = self._trusted(found)
            if found is None or record is None:
                lost += 1
                continue
            record.recovered = found.changed or self.outside
            self._add(record, None if found.changed else found.element)
            kept += record.recovered
        self.entries.faults.lost += lost
        return outcome(kept, lost)

    def _trusted(self, found: Recovered | None) -> Entry | None:
        if found is None or not self.entries.has_url(found.element, found.whole):
            return None
        record = self.entries.build(found.element)
        return record if record is not None and is_trusted(record.loc) else None

    def _add(self, record: Entry, element: Element | None) -> None:
        if self._keep_elements and element is not None and isinstance(record, UrlRecord):
            record.element = element
        self.records.append(record)


def outcome(kept: int, lost: int) -> str:
    """How a fault ended, for its message."""
    parts = [f"{kept} read after repair"] if kept else []
    parts += [f"{lost} left out"] if lost else []
    return f": {', '.join(parts)}" if parts else ""
