"""What becomes of text that cannot be read strictly: the fault is noted, simple entries are repaired at once."""

from __future__ import annotations

from sitemapcrawler.reader.builder import Builder, outcome
from sitemapcrawler.reader.diagnose import diagnose, rule_of
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.malformed import GENERAL, MISMATCH, Malformed
from sitemapcrawler.reader.mismatch import read_mismatch
from sitemapcrawler.reader.plain import read_repaired
from sitemapcrawler.reader.position import Place, place_of
from sitemapcrawler.reader.recover import Recovered
from sitemapcrawler.reader.repair import FAULT, is_trusted, repair
from sitemapcrawler.userinfo import masked_part

MAX_PLAIN = 4096
"""Characters of an entry that is tried as a plain one after repair: the longest URL allowed, and all the rest."""
MAX_SHOWN = 40
"""Characters that show where a fault is."""
ILLEGAL = "not well formed (illegal character)"


class Broken:
    """Notes the faults of one document, and reads what would be a plain entry but for one of them."""

    def __init__(self, builder: Builder, faults: Faults) -> None:
        self._builder = builder
        self._faults = faults
        self._mismatches = False

    def read(self, piece: str, place: Place, doctype: bool) -> bool:
        """Read a piece that would be a plain entry but for its characters or a tag, if it can be trusted.

        False for any other piece. `place`: where it begins.
        """
        fault = FAULT.search(piece)
        if fault is None:
            return self._mismatches and self._read_mismatched(piece, place)
        entries = self._builder.entries
        record = read_repaired(repair(piece, doctype), place[0], entries.sitemap)
        if record is None:
            return False
        kept = is_trusted(record.loc)
        if kept:
            record.loc, record.loc_raw = entries.locate(record.loc, record.line)
            self._builder.records.append(record)
        self._faults.lost += not kept
        at = fault.start()
        self.add(rule_of(piece, at), ILLEGAL, piece, at, place, outcome(int(kept), int(not kept)))
        return True

    def _read_mismatched(self, piece: str, place: Place) -> bool:
        found = read_mismatch(piece, place[0], self._builder.entries.core)
        self._mismatches = found is not None
        if found is None:
            return False
        entry, at = found
        what = self._builder.recover([Recovered(entry, True, False)])
        self.add(GENERAL, MISMATCH, piece, at, place, what)
        return True

    def note(self, fault: Malformed, text: str, place: Place, what: str) -> None:
        """Note a fault of the strict parser in `text`, which begins at `place`, and what came of it."""
        if fault.is_end and self._faults.first(*CUT_BYTES):
            return
        self._mismatches = fault.is_mismatch
        rule, offset = diagnose(fault.rule, text, fault.offset)
        message = "the file ends before the document does" if fault.is_end else str(fault)
        self.add(rule, message, text, offset, place, what)

    def note_unclosed(self, close: str, line: int) -> None:
        """Note that the document ends within a section that begins on `line` and never ends with `close`."""
        if not self._faults.first(*CUT_BYTES):
            self._faults.add("doc-truncated", f"no {close} follows: what stands behind was not read", line)

    def add(self, rule: str, message: str, text: str, offset: int, place: Place, what: str = "") -> None:
        """Note a fault at `offset` in `text`, which begins at `place`; `what` came of it."""
        if self._faults.is_full(rule):
            self._faults.add(rule, message)
            return
        line, column = place_of(text, offset, place)
        value = masked_part(text, offset, offset + MAX_SHOWN).strip()
        self._faults.add(rule, message + what, line, column + 1, value)
