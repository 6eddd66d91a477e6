"""What becomes of text that cannot be read strictly: the fault is noted, its entries are recovered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from sitemapcrawler.element import Element
from sitemapcrawler.reader.diagnose import GENERAL, diagnose, rule_of
from sitemapcrawler.reader.entries import Entries
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.mismatch import read_mismatch
from sitemapcrawler.reader.plain import read_repaired
from sitemapcrawler.reader.position import Place, place_of
from sitemapcrawler.reader.recover import Recovered, Recovery
from sitemapcrawler.reader.repair import FAULT, is_trusted, repair
from sitemapcrawler.reader.strict import Malformed

MAX_PLAIN = 4096
"""Characters of an entry that is tried as a plain one after repair: the longest URL allowed, and all the rest."""
MAX_SHOWN = 40
"""Characters that show where a fault is."""
ILLEGAL = "not well formed (illegal character)"


MISMATCH = expat.errors.XML_ERROR_TAG_MISMATCH
MISMATCHED = expat.errors.codes[MISMATCH]


class Broken:
    """Notes the faults of one document and makes records of what can be recovered from its broken parts."""

    def __init__(self, entries: Entries, faults: Faults) -> None:
        self._entries = entries
        self._faults = faults
        self._mismatches = False

    def plain(self, piece: str, place: Place, doctype: bool) -> list[Any] | None:
        """The record, if it can be trusted, of a piece that would be a plain entry but for its characters or a tag.

        None for any other piece. `place`: where it begins.
        """
        fault = FAULT.search(piece)
        if fault is None:
            return self._mismatched(piece, place) if self._mismatches else None
        record = read_repaired(repair(piece, doctype), place[0], self._entries.sitemap)
        if record is None:
            return None
        kept = is_trusted(record.loc)
        if kept:
            record.loc, record.loc_raw = self._entries.locate(record.loc, record.line)
        self._faults.lost += not kept
        at = fault.start()
        self.add(rule_of(piece, at), ILLEGAL, piece, at, place, outcome(int(kept), int(not kept)))
        return [record] if kept else []

    def _mismatched(self, piece: str, place: Place) -> list[Any] | None:
        found = read_mismatch(piece, place[0], self._entries.core)
        self._mismatches = found is not None
        if found is None:
            return None
        entry, at = found
        records, what = self._records(iter((Recovered(entry, True, False),)), False)
        self.add(GENERAL, MISMATCH, piece, at, place, what)
        return records

    def entries(
        self, recovery: Recovery, text: str, line: int, broken: Element | None, outside: bool
    ) -> tuple[list[Any], str]:
        """The records of the entries in broken text, which begins on `line`; what came of them, for the message.

        `broken`: where parsing it ended. `outside`: it stands in no root, so that all of them count as recovered.
        """
        return self._records(recovery.read(text, line, broken), outside)

    def _records(self, recovered: Iterator[Recovered | None], outside: bool) -> tuple[list[Any], str]:
        records: list[Any] = []
        kept = lost = 0
        for found in recovered:
            record = None
            if found is not None and self._entries.has_url(found.element, found.whole):
                record = self._entries.build(found.element)
            if found is None or record is None or not is_trusted(record.loc):
                lost += 1
                continue
            record.recovered = found.changed or outside
            records.append(record)
            kept += record.recovered
        self._faults.lost += lost
        return records, outcome(kept, lost)

    def note(self, fault: Malformed, text: str, offset: int, place: Place, what: str) -> None:
        """Note a fault of the strict parser at `offset` in `text`, which begins at `place`, and what came of it."""
        if fault.rule == "doc-truncated" and self._faults.first(*CUT_BYTES):
            return
        self._mismatches = fault.code == MISMATCHED
        rule, offset = diagnose(fault.rule, text, offset)
        message = "the file ends before the document does" if final_end(fault) else str(fault)
        self.add(rule, message, text, offset, place, what)

    def add(self, rule: str, message: str, text: str, offset: int, place: Place, what: str) -> None:
        """Note a fault at `offset` in `text`, which begins at `place`."""
        if self._faults.is_full(rule):
            self._faults.add(rule, message)
            return
        line, column = place_of(text, offset, place)
        value = text[offset : offset + MAX_SHOWN].strip()
        self._faults.add(rule, message + what, line, column + 1, value)


def final_end(fault: Malformed) -> bool:
    """True for the fault that the document has no end."""
    return fault.rule == "doc-truncated"


def outcome(kept: int, lost: int) -> str:
    """How a fault ended, for its message."""
    parts = [f"{kept} read after repair"] if kept else []
    parts += [f"{lost} left out"] if lost else []
    return f": {', '.join(parts)}" if parts else ""
