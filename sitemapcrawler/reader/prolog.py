"""Checks the prolog of a document: XML declaration, comments, instructions and DOCTYPE before the root (XML 1.0, 2.8).

`sniff` skips it unchecked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.parsers import expat

from sitemapcrawler.reader.diagnosis import GENERAL, HYPHENS, MAX_SHOWN, Malformed, diagnose, is_double_hyphen
from sitemapcrawler.reader.faults import Faults, place_of
from sitemapcrawler.reader.pieces import first_fault
from sitemapcrawler.reader.sniff import DOCTYPE, SPACED_DECLARATION
from sitemapcrawler.urls.display import masked_part

MARK = "\ufeff"
"""Byte order mark. `decode` removes a legitimate one."""
DECLARATION = re.compile(
    r"""<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')"""
    r"""(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"[A-Za-z][A-Za-z0-9._-]*"|'[A-Za-z][A-Za-z0-9._-]*'))?"""
    r"""(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>[ \t\n]*"""
)
"""Well-formed declaration (productions 23 to 26, 32, 80 and 81) and the white space after it."""
USUAL = '<?xml version="1.0" encoding="UTF-8"?>'
ATTEMPT = re.compile(r"<\?xml(?![\w.:-])[^<>]*>?", re.IGNORECASE)
"""Text that was meant as a declaration."""
LITERAL = re.compile(r"""<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|"[^"]*+"?|'[^']*+'?""", re.DOTALL)
"""Literal of a DOCTYPE; also a comment or instruction, whose quotes delimit nothing. An unclosed one takes the rest of
the text, since the parser stops there."""
ENTITY_REFERENCE = re.compile(r"&[A-Za-z_:][\w.:-]*;")
BEFORE = (("<!--", "a comment"), ("<?xml-stylesheet", "a stylesheet"))
"""Beginning -> what may not precede a declaration; anything else there is an instruction."""
MISPLACED = expat.errors.XML_ERROR_MISPLACED_XML_PI
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
        return _PrologFault("a second byte order mark: only one is allowed", 0, "doc-leading-content")
    if ATTEMPT.match(prolog) and not DECLARATION.match(prolog):
        return _PrologFault(f"the XML declaration is not well formed: write {USUAL}", 0)
    return _first_fault(prolog)


def _first_fault(prolog: str) -> _PrologFault | None:
    """Return the first fault. It loads nothing and expands no entities declared in the prolog."""
    text = prolog
    if "<!ENTITY" in text:
        text = LITERAL.sub(_without_references, text)
    fault = first_fault(text + ROOT, is_end=True)
    return None if fault is None else _named(fault, prolog, min(fault.offset, len(prolog)))


def _without_references(part: re.Match[str]) -> str:
    """Replace entity references in a `LITERAL` with as many letters; keep other parts."""
    if part[0][0] not in "\"'":
        return part[0]
    return ENTITY_REFERENCE.sub(lambda reference: "x" * len(reference[0]), part[0])


def _named(fault: Malformed, prolog: str, offset: int) -> _PrologFault:
    if str(fault) == MISPLACED and not DOCTYPE.search(prolog, 0, offset):
        return _misplaced(prolog, offset)
    if prolog.startswith(MARK, offset):
        return _PrologFault("a byte order mark that is not at the start", offset, "doc-leading-content")
    if is_double_hyphen(prolog, offset):
        return _PrologFault(HYPHENS, offset - 2)
    rule, offset = diagnose(GENERAL if fault.is_end else fault.rule, prolog, offset)
    return _PrologFault(f"{fault}, before the root element", offset, rule)


def _misplaced(prolog: str, offset: int) -> _PrologFault:
    first = prolog.lstrip(" \t\n")
    what = next((what for start, what in BEFORE if first.startswith(start)), "a processing instruction")
    if DECLARATION.match(prolog):
        return _PrologFault("a second XML declaration", offset, "doc-leading-content")
    return _PrologFault(f"{what} before the XML declaration", offset, "doc-leading-content")
