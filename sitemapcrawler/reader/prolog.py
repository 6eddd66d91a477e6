"""The prolog: XML declaration, comments, processing instructions and DOCTYPE before the root (XML 1.0, 2.8).

`sniff` passes over it in any condition, so that the entries of a file with a broken prolog are read. Strict parsers
refuse such a file; here its first fault is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.parsers import expat

from sitemapcrawler.reader.broken import HYPHENS, diagnose, is_double_hyphen
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.malformed import GENERAL, malformed
from sitemapcrawler.reader.position import place_of
from sitemapcrawler.reader.sniff import DOCTYPE, SPACED_DECLARATION
from sitemapcrawler.reader.strict import Fed
from sitemapcrawler.urls.display import masked_part

MARK = "\ufeff"
"""A byte order mark; `decode` takes the one that belongs there."""
DECLARATION = re.compile(
    r"""<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')"""
    r"""(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"[A-Za-z][A-Za-z0-9._-]*"|'[A-Za-z][A-Za-z0-9._-]*'))?"""
    r"""(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>[ \t\n]*"""
)
"""A well-formed declaration (productions 23 to 26, 32, 80 and 81) and the white space behind it."""
ATTEMPT = re.compile(r"<\?xml(?![\w.:-])[^<>]*>?", re.IGNORECASE)
"""What was meant as a declaration."""
VERSION = re.compile(r"""\sversion\s*=\s*(?:"([^"]*)"|'([^']*)')""")
STANDALONE = re.compile(r"""\sstandalone\s*=\s*["'](?!(?:yes|no)["'])""")
CURLY_QUOTES = re.compile("[\u2018-\u201f\u2032\u2033\u00ab\u00bb\u00b4`]")
"""Quotation marks of word processors, of which XML knows none."""
LITERAL = re.compile(r"""<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|"[^"]*+"?|'[^']*+'?""", re.DOTALL)
"""A literal of a DOCTYPE, or a comment or instruction, whose quotes delimit none. One without an end is the rest of the
text: the strict parser stops there."""
ENTITY_REFERENCE = re.compile(r"&[A-Za-z_:][\w.:-]*;")
BEFORE = (("<!--", "a comment"), ("<?xml-stylesheet", "a stylesheet"))
"""How that begins which may not stand before a declaration; anything else there is an instruction."""
MISPLACED = expat.errors.codes[expat.errors.XML_ERROR_MISPLACED_XML_PI]
MAX_SHOWN = 40
"""Characters that show where a fault is."""
ROOT = "<r/>"


@dataclass(frozen=True, slots=True)
class _Broken:
    message: str
    offset: int
    rule: str = GENERAL


def note_prolog(prolog: str, faults: Faults) -> None:
    """Note the first fault of a prolog, which is all that stands before the root."""
    if not prolog or DECLARATION.fullmatch(prolog):
        return
    spaced = SPACED_DECLARATION.match(prolog)  # which is noted with the root
    start = spaced.end() - len("<?xml ") if spaced else 0
    fault = _fault_of(prolog[start:])
    if fault is None:
        return
    offset = start + fault.offset
    line, before = place_of(prolog, offset, (1, 0))
    value = masked_part(prolog, offset, offset + MAX_SHOWN).strip()
    faults.add(fault.rule, fault.message, line, before + 1, value)


def _fault_of(prolog: str) -> _Broken | None:
    if prolog.startswith(MARK):
        return _Broken("a second byte order mark: only one may stand at the start", 0, "doc-leading-content")
    attempt = ATTEMPT.match(prolog)
    if attempt is not None and not DECLARATION.match(prolog):
        return _Broken(f"the XML declaration is not well formed: {_cause(attempt[0])}", 0)
    return _first_fault(prolog)


def _cause(declaration: str) -> str:
    """Why a declaration is not well formed."""
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


def _first_fault(prolog: str) -> _Broken | None:
    """What the strict parser says of a prolog. It loads nothing, and expands no entity that the prolog declares."""
    text = prolog
    if "<!ENTITY" in text:
        text = LITERAL.sub(_without_references, text)
    parser = expat.ParserCreate("utf-8", " ")
    fed = Fed()
    try:
        parser.Parse(fed.add(text + ROOT, 1), True)
    except expat.ExpatError as error:
        offset = min(fed.characters_before(parser.ErrorByteIndex), len(prolog))
        return _named(error.code, prolog, offset)
    return None


def _without_references(part: re.Match[str]) -> str:
    """A `LITERAL`, with the references to entities in it replaced by as many letters. Others remain as they are."""
    if part[0][0] not in "\"'":
        return part[0]
    return ENTITY_REFERENCE.sub(lambda reference: "x" * len(reference[0]), part[0])


def _named(code: int, prolog: str, offset: int) -> _Broken:
    if code == MISPLACED and not DOCTYPE.search(prolog, 0, offset):
        return _misplaced(prolog, offset)
    if prolog.startswith(MARK, offset):
        return _Broken("a byte order mark that is not at the start", offset, "doc-leading-content")
    if is_double_hyphen(prolog, offset):
        return _Broken(HYPHENS, offset - 2)
    fault = malformed(code, offset)
    rule, offset = diagnose(GENERAL if fault.is_end else fault.rule, prolog, offset)
    return _Broken(f"{fault}, before the root element", offset, rule)


def _misplaced(prolog: str, offset: int) -> _Broken:
    """The fault that a declaration is not at the start."""
    first = prolog.lstrip(" \t\n")
    what = next((what for start, what in BEFORE if first.startswith(start)), "a processing instruction")
    if DECLARATION.match(prolog):
        return _Broken("a second XML declaration", offset, "doc-leading-content")
    return _Broken(f"{what} before the XML declaration", offset, "doc-leading-content")
