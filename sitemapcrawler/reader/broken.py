"""Diagnoses text that is not well formed: the rule for a fault, and its position.

Simple entries are repaired at once. The prolog (XML declaration, comments, processing instructions and DOCTYPE before
the root; XML 1.0, 2.8) is checked here, because `sniff` skips it unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.parsers import expat

from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.entries import Entry
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.pieces import Place, place_of
from sitemapcrawler.reader.plain import read_repaired
from sitemapcrawler.reader.recovery import (
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
from sitemapcrawler.reader.sniff import DOCTYPE, SPACED_DECLARATION
from sitemapcrawler.reader.strict import GENERAL, ILLEGAL, MISMATCH, SEPARATOR, Fed, Malformed, malformed
from sitemapcrawler.urls.display import masked_part

OPEN_REFERENCE = re.compile(r"&[#\w]{0,40}\Z")
"""Ampersand just before a fault that did not become a reference."""
HYPHENS = "-- within a comment"
ONE_HYPHEN = "a comment begins with <!-- and ends with -->"
NEAR = 48
"""Characters before a fault that are searched for its cause."""


def rule_of(text: str, place: int) -> str:
    """Return the rule for a character that `recovery.FAULT` matches."""
    if text[place] == "&":
        name = REFERENCE.match(text, place)
        return "doc-undeclared-entity" if name and name[1] else "doc-unescaped-ampersand"
    if CONTROL.match(text, place):
        return "doc-control-character"
    return GENERAL


def diagnose(rule: str, text: str, offset: int) -> tuple[str, int]:
    """Return the rule that fits a fault best, and where in `text` it begins. `rule` is the one from the parser."""
    if rule not in (GENERAL, "doc-undeclared-entity"):
        return rule, offset
    before = text[max(0, offset - NEAR) : offset]
    reference = OPEN_REFERENCE.search(before + "&" if text[offset : offset + 1] == "&" and rule == GENERAL else before)
    if rule == GENERAL and reference is not None:
        return "doc-unescaped-ampersand", offset - len(before) + reference.start()
    if CONTROL.match(text, offset):
        return "doc-control-character", offset
    return rule, offset


def is_double_hyphen(text: str, offset: int) -> bool:
    """Return whether the parser stopped at `offset` after a double hyphen that does not end its comment."""
    if not text.startswith("--", offset - 2):
        return False
    start = section_start(text, offset)
    return text.startswith("<!--", start) and start + 4 <= offset - 2


PART = r"<(?!url>|sitemap>)([A-Za-z][A-Za-z0-9]*+)>([^<>&]*+(?:&amp;[^<>&]*+)*+)</([A-Za-z][A-Za-z0-9]*+)>[ \t\n]*+"
ENTRY = re.compile(rf"[ \t\n]*+<url>[ \t\n]*+(?:{PART})*+</url>[ \t\n]*+")
PARTS = re.compile(PART)


def read_mismatch(text: str, line: int, uri: str) -> tuple[Element, int] | None:
    """Return the entry up to its first mismatched end tag, and the offset of that tag's name; None for any other text.

    The entry is what the strict parser would salvage.
    `line`: where `text` begins; `uri`: the namespace of the entry. `text` must not have other kinds of faults.
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
"""Characters of an entry that is tried as a plain one after repair: the longest valid URL and everything else."""
MAX_SHOWN = 40
"""Characters of the excerpt that shows a fault."""


class BrokenText:
    """Notes the faults of one document, and reads entries that would be plain except for one of them."""

    def __init__(self, builder: Builder, faults: Faults) -> None:
        self._builder = builder
        self._faults = faults
        self._mismatches = False

    def read(self, piece: str, place: Place, doctype: bool) -> bool:
        """Read a piece at `place` that would be a plain entry except for one fault; False for any other piece."""
        fault = FAULT.search(piece)
        if fault is None:
            return self._mismatches and self._read_mismatched(piece, place)
        entries = self._builder.entries
        repaired = repair(piece, doctype)
        record = read_repaired(repaired, place[0], entries.sitemap)
        if record is None:
            return False
        kept = record if is_trusted(record.loc, piece, repaired) else None
        if kept is not None:
            kept.loc, kept.loc_raw = entries.locate(kept.loc, kept.line)
            self._builder.records.append(kept)
            if entries.keep_source:
                entries.notes.on(kept).broken = piece.strip()
        elif self._faults.losses is not None:
            self._faults.lose(rule_of(piece, fault.start()), place[0], piece.strip())
        self._faults.leave_out(int(kept is None))
        at = fault.start()
        self.add(rule_of(piece, at), ILLEGAL + outcome([kept]), piece, at, place, kept)
        return True

    def _read_mismatched(self, piece: str, place: Place) -> bool:
        found = read_mismatch(piece, place[0], self._builder.entries.core)
        self._mismatches = found is not None
        if found is None:
            return False
        entry, at = found
        records = self._builder.recover([Recovered(entry, True, False, text=piece)])
        self.add(GENERAL, MISMATCH + outcome(records), piece, at, place, records[0])
        return True

    def note(self, fault: Malformed, text: str, place: Place, records: Sequence[Entry | None], before: int) -> None:
        """Note a fault of the strict parser in `text`, which begins at `place`, and the result of recovery.

        `records`: those of the entries in `text`; `before`: how many of these entries begin before the fault.
        """
        if fault.is_end and self._faults.first(*CUT_BYTES):
            return
        self._mismatches = fault.is_mismatch
        rule, offset = diagnose(fault.rule, text, fault.offset)
        message = "the file ends before the document does" if fault.is_end else str(fault)
        if rule == GENERAL and is_double_hyphen(text, offset):
            message, offset = HYPHENS, offset - 2
        elif rule == GENERAL and text.endswith("<!-", 0, offset):
            message, offset = ONE_HYPHEN, offset - 3
        record = next((one for one in records[:before][::-1] if one is None or one.recovered), None)
        self.add(rule, message + outcome(records), text, offset, place, record)

    def note_unclosed(self, close: str, line: int) -> None:
        """Note that the document ends within a section that begins on `line` and is never closed by `close`."""
        if not self._faults.first(*CUT_BYTES):
            self._faults.add("doc-truncated", f"no {close} follows: what stands behind was not read", line)

    def add(self, rule: str, message: str, text: str, offset: int, place: Place, record: Entry | None = None) -> None:
        """Note a fault at `offset` in `text`, which begins at `place`. `record`: the entry that contains it."""
        self._faults.recent.clear()
        if self._faults.is_full(rule):
            self._faults.add(rule, message)
        else:
            line, column = place_of(text, offset, place)
            value = masked_part(text, offset, offset + MAX_SHOWN).strip()
            self._faults.add(rule, message, line, column + 1, value)
        if record is not None:
            self._builder.blame(record)


MARK = "\ufeff"
"""Byte order mark. `decode` removes a legitimate one."""
DECLARATION = re.compile(
    r"""<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')"""
    r"""(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"[A-Za-z][A-Za-z0-9._-]*"|'[A-Za-z][A-Za-z0-9._-]*'))?"""
    r"""(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>[ \t\n]*"""
)
"""Well-formed declaration (productions 23 to 26, 32, 80 and 81) and the white space after it."""
ATTEMPT = re.compile(r"<\?xml(?![\w.:-])[^<>]*>?", re.IGNORECASE)
"""Text that was meant as a declaration."""
VERSION = re.compile(r"""\sversion\s*=\s*(?:"([^"]*)"|'([^']*)')""")
STANDALONE = re.compile(r"""\sstandalone\s*=\s*["'](?!(?:yes|no)["'])""")
CURLY_QUOTES = re.compile("[\u2018-\u201f\u2032\u2033\u00ab\u00bb\u00b4`]")
"""Quotation marks of word processors, which XML does not accept."""
LITERAL = re.compile(r"""<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|"[^"]*+"?|'[^']*+'?""", re.DOTALL)
"""Literal of a DOCTYPE; also a comment or instruction, whose quotes delimit nothing. An unclosed one takes the rest of
the text, since the strict parser stops there."""
ENTITY_REFERENCE = re.compile(r"&[A-Za-z_:][\w.:-]*;")
BEFORE = (("<!--", "a comment"), ("<?xml-stylesheet", "a stylesheet"))
"""Beginning -> what may not precede a declaration; anything else there is an instruction."""
MISPLACED = expat.errors.codes[expat.errors.XML_ERROR_MISPLACED_XML_PI]
ROOT = "<r/>"


@dataclass(frozen=True, slots=True)
class _PrologFault:
    message: str
    offset: int
    rule: str = GENERAL


def note_prolog(prolog: str, faults: Faults) -> None:
    """Note the first fault of a prolog, the text before the root."""
    if not prolog or DECLARATION.fullmatch(prolog):
        return
    spaced = SPACED_DECLARATION.match(prolog)  # noted with the root
    start = spaced.end() - len("<?xml ") if spaced else 0
    fault = _fault_of(prolog[start:])
    if fault is None:
        return
    offset = start + fault.offset
    line, before = place_of(prolog, offset, (1, 0))
    value = masked_part(prolog, offset, offset + MAX_SHOWN).strip()
    faults.add(fault.rule, fault.message, line, before + 1, value)


def _fault_of(prolog: str) -> _PrologFault | None:
    if prolog.startswith(MARK):
        return _PrologFault("a second byte order mark: only one may stand at the start", 0, "doc-leading-content")
    attempt = ATTEMPT.match(prolog)
    if attempt is not None and not DECLARATION.match(prolog):
        return _PrologFault(f"the XML declaration is not well formed: {_cause(attempt[0])}", 0)
    return _first_fault(prolog)


def _cause(declaration: str) -> str:
    version = VERSION.search(declaration)
    if not declaration.startswith("<?xml"):
        return "xml must be in lower case"
    if CURLY_QUOTES.search(declaration):
        return "its quotation marks are neither \" nor '"
    if not declaration.endswith("?>"):
        return "it does not end with ?>"
    if version is None:
        return "it states no version"
    if not re.fullmatch(r"1\.[0-9]+", version[1] or version[2] or ""):
        return f"there is no version {(version[1] or version[2] or '')[:MAX_SHOWN]!r} of XML"
    if STANDALONE.search(declaration):
        return "standalone is neither yes nor no"
    return "it must be version, encoding, standalone, in this order and each once"


def _first_fault(prolog: str) -> _PrologFault | None:
    """Return the strict parser's first fault. It loads nothing and expands no entities declared in the prolog."""
    text = prolog
    if "<!ENTITY" in text:
        text = LITERAL.sub(_without_references, text)
    parser = expat.ParserCreate("utf-8", SEPARATOR)
    fed = Fed()
    try:
        parser.Parse(fed.add(text + ROOT, 1), True)
    except expat.ExpatError as error:
        offset = min(fed.characters_before(parser.ErrorByteIndex), len(prolog))
        return _named(error.code, prolog, offset)
    return None


def _without_references(part: re.Match[str]) -> str:
    """Replace entity references in a `LITERAL` with as many letters; keep other parts."""
    if part[0][0] not in "\"'":
        return part[0]
    return ENTITY_REFERENCE.sub(lambda reference: "x" * len(reference[0]), part[0])


def _named(code: int, prolog: str, offset: int) -> _PrologFault:
    if code == MISPLACED and not DOCTYPE.search(prolog, 0, offset):
        return _misplaced(prolog, offset)
    if prolog.startswith(MARK, offset):
        return _PrologFault("a byte order mark that is not at the start", offset, "doc-leading-content")
    if is_double_hyphen(prolog, offset):
        return _PrologFault(HYPHENS, offset - 2)
    fault = malformed(code, offset)
    rule, offset = diagnose(GENERAL if fault.is_end else fault.rule, prolog, offset)
    return _PrologFault(f"{fault}, before the root element", offset, rule)


def _misplaced(prolog: str, offset: int) -> _PrologFault:
    first = prolog.lstrip(" \t\n")
    what = next((what for start, what in BEFORE if first.startswith(start)), "a processing instruction")
    if DECLARATION.match(prolog):
        return _PrologFault("a second XML declaration", offset, "doc-leading-content")
    return _PrologFault(f"{what} before the XML declaration", offset, "doc-leading-content")
