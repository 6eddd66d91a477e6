"""What becomes of text that cannot be read strictly: the fault is noted, simple entries are repaired at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.entries import Entry
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.malformed import GENERAL, MISMATCH, Malformed
from sitemapcrawler.reader.plain import read_repaired
from sitemapcrawler.reader.position import Place, place_of
from sitemapcrawler.reader.recovery import (
    BAD_BYTE,
    CONTROL,
    FAULT,
    REFERENCE,
    Builder,
    Recovered,
    is_trusted,
    outcome,
    repair,
    section_start,
)
from sitemapcrawler.urls.display import masked_part

OPEN_REFERENCE = re.compile(r"&[#\w]{0,40}\Z")
"""An ampersand just before the fault that did not become a reference."""
HYPHENS = "-- within a comment"
NEAR = 48
"""Characters before a fault in which its cause is looked for."""


def rule_of(text: str, place: int) -> str:
    """The rule that names a character which `repair.FAULT` found."""
    if text[place] == "&":
        name = REFERENCE.match(text, place)
        return "doc-undeclared-entity" if name and name[1] else "doc-unescaped-ampersand"
    if CONTROL.match(text, place):
        return "doc-control-character"
    return "doc-encoding-not-utf8" if BAD_BYTE.match(text, place) else GENERAL


def diagnose(rule: str, text: str, offset: int) -> tuple[str, int]:
    """The rule that names the fault best, and where in `text` it begins. `rule` is the parser's own opinion."""
    if rule not in (GENERAL, "doc-undeclared-entity"):
        return rule, offset
    before = text[max(0, offset - NEAR) : offset]
    reference = OPEN_REFERENCE.search(before + "&" if text[offset : offset + 1] == "&" and rule == GENERAL else before)
    if rule == GENERAL and reference is not None:
        return "doc-unescaped-ampersand", offset - len(before) + reference.start()
    if CONTROL.match(text, offset):
        return "doc-control-character", offset
    if BAD_BYTE.match(text, offset):
        return "doc-encoding-not-utf8", offset
    return rule, offset


def is_double_hyphen(text: str, offset: int) -> bool:
    """True where a parser stopped at `offset` behind a double hyphen that does not end its comment."""
    if not text.startswith("--", offset - 2):
        return False
    start = section_start(text, offset)
    return text.startswith("<!--", start) and start + 4 <= offset - 2


PART = r"<(?!url>|sitemap>)([A-Za-z][A-Za-z0-9]*+)>([^<>&]*+(?:&amp;[^<>&]*+)*+)</([A-Za-z][A-Za-z0-9]*+)>[ \t\n]*+"
ENTRY = re.compile(rf"[ \t\n]*+<url>[ \t\n]*+(?:{PART})*+</url>[ \t\n]*+")
PARTS = re.compile(PART)


def read_mismatch(text: str, line: int, uri: str) -> tuple[Element, int] | None:
    """The entry in `text` up to the first end tag that does not fit, as the strict parser would leave it, and where in
    `text` the name in that tag begins; None where `text` is anything else.

    `line`: where `text` begins; `uri`: the namespace of the entry. Text with faults of other kinds must not be given.
    """
    if not ENTRY.fullmatch(text):
        return None
    start = text.index("<url>")
    entry = Element(uri, "url", {}, line + text.count("\n", 0, start))
    for part in PARTS.finditer(text, start + 5):
        name, value, end = part.groups()
        if name != end:
            return entry, part.start(3)
        child = Element(uri, name, {}, line + text.count("\n", 0, part.start()))
        child.content += [value.replace("&amp;", "&")] if value else []
        entry.content.append(child)
    return None


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
        kept = record if is_trusted(record.loc) else None
        if kept is not None:
            kept.loc, kept.loc_raw = entries.locate(kept.loc, kept.line)
            self._builder.records.append(kept)
        self._faults.lost += kept is None
        at = fault.start()
        self.add(rule_of(piece, at), ILLEGAL + outcome([kept]), piece, at, place, kept)
        return True

    def _read_mismatched(self, piece: str, place: Place) -> bool:
        found = read_mismatch(piece, place[0], self._builder.entries.core)
        self._mismatches = found is not None
        if found is None:
            return False
        entry, at = found
        records = self._builder.recover([Recovered(entry, True, False)])
        self.add(GENERAL, MISMATCH + outcome(records), piece, at, place, records[0])
        return True

    def note(self, fault: Malformed, text: str, place: Place, records: Sequence[Entry | None], before: int) -> None:
        """Note a fault of the strict parser in `text`, which begins at `place`, and what came of it.

        `records`: of the entries in `text`; `before`: how many of them begin before the fault.
        """
        if fault.is_end and self._faults.first(*CUT_BYTES):
            return
        self._mismatches = fault.is_mismatch
        rule, offset = diagnose(fault.rule, text, fault.offset)
        message = "the file ends before the document does" if fault.is_end else str(fault)
        if rule == GENERAL and is_double_hyphen(text, offset):
            message, offset = HYPHENS, offset - 2
        record = next((one for one in records[:before][::-1] if one is None or one.recovered), None)
        self.add(rule, message + outcome(records), text, offset, place, record)

    def note_unclosed(self, close: str, line: int) -> None:
        """Note that the document ends within a section that begins on `line` and never ends with `close`."""
        if not self._faults.first(*CUT_BYTES):
            self._faults.add("doc-truncated", f"no {close} follows: what stands behind was not read", line)

    def add(self, rule: str, message: str, text: str, offset: int, place: Place, record: Entry | None = None) -> None:
        """Note a fault at `offset` in `text`, which begins at `place`. `record`: of the entry in which it lies."""
        self._faults.recent.clear()
        if self._faults.is_full(rule):
            self._faults.add(rule, message)
        else:
            line, column = place_of(text, offset, place)
            value = masked_part(text, offset, offset + MAX_SHOWN).strip()
            self._faults.add(rule, message, line, column + 1, value)
        if record is not None:
            self._builder.blame(record)
