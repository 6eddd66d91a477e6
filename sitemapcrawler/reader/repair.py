"""Repairs the text of entries that are not well formed, where a fault has one meaning."""

from __future__ import annotations

import re
from html.entities import html5
from xml.sax.saxutils import escape

UNREADABLE = "\ufffd"
"""U+FFFD, the replacement for characters that cannot be read."""
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML 1.0 forbids (production 2, Char)."""
REFERENCE = re.compile(r"&(?:(#[0-9]{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z_][\w.-]{0,63});)?")
"""An ampersand, with the rest of the reference if it is one."""
SURROGATES = re.compile(r"&#(5[56]\d{3}|x[Dd][89ABab]\w\w);&#(5[67]\d{3}|x[Dd][C-Fc-f]\w\w);")
"""References to the halves of a character beyond U+FFFF, as programs write them that have strings in UTF-16."""
PREDEFINED = frozenset(("amp", "lt", "gt", "quot", "apos"))
"""XML 1.0, 4.6."""
TEXT_LESS_THAN = re.compile(r"<(?![A-Za-z_/!?])")
"""A `<` that does not begin a tag."""
SECTION = re.compile(r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>|<(!--|\?|!\[CDATA\[).*", re.DOTALL)
"""Comment, processing instruction or CDATA section, closed or not."""
IN_TAG = "\x00"
"""Replaces a section within a tag, where none is allowed. Dropping it could join its surroundings to a valid tag."""
ENDS = {"!--": "-->", "?": "?>", "![CDATA[": "]]>"}
"""Start of a section, without `<` -> its end."""


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
    text = SURROGATES.sub(_joined, text)
    text = REFERENCE.sub(lambda reference: _reference(reference, doctype), text)
    return TEXT_LESS_THAN.sub("&lt;", text)


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


def _joined(halves: re.Match[str]) -> str:
    try:
        return b"".join(_code(half).to_bytes(2, "big") for half in halves.groups()).decode("utf-16-be")
    except ValueError:
        return halves[0]


def _code(number: str) -> int:
    return int(number[1:], 16) if number.startswith("x") else int(number)


def _is_character(number: str) -> bool:
    code = _code(number)
    return code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF and not CONTROL.match(chr(code))
