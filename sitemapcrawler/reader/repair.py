"""Repairing the text of one broken entry: only where one reading is possible.

What is beyond repair becomes U+FFFD, so that nobody takes it for a value, and a URL that holds it is not trusted.
"""

from __future__ import annotations

import re
from html.entities import html5
from xml.sax.saxutils import escape

from sitemapcrawler.reader.decode import UNKNOWN_BYTES

UNREADABLE = "\ufffd"
"""Stands for characters that cannot be told."""
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML 1.0 forbids (production 2, Char), but for surrogates."""
BAD_BYTE = re.compile("[\ud800-\udfff]")
"""What `decode` makes of bytes that the encoding does not allow."""
URL_TEXT = re.compile(r"(<(?:[\w.-]+:)?(?:[a-z_]*loc|link|guid)>)([^<]*)")
"""A URL in the text of an element."""
REFERENCE = re.compile(r"&(?:(#[0-9]{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z_][\w.-]{0,63});)?")
"""An ampersand, with what makes it a reference."""
PREDEFINED = frozenset(("amp", "lt", "gt", "quot", "apos"))
"""XML 1.0, 4.6."""
TEXT_LESS_THAN = re.compile(r"<(?![A-Za-z_/!?])")
"""A `<` that begins no tag."""
SECTION = re.compile(r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>|<(!--|\?|!\[CDATA\[).*", re.DOTALL)
"""A comment, a processing instruction, a CDATA section, or one of them without an end."""
IN_TAG = "\x00"
"""Stands for a section within a tag, where none may be: without it, what it parts would become one."""
ENDS = {"!--": "-->", "?": "?>", "![CDATA[": "]]>"}
"""How a section that begins so must end."""
FAULT = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)|<(?![A-Za-z_/!?])|[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]"
)
"""What `repair` mends: never well formed outside CDATA, comments and tags."""


def flatten(text: str) -> tuple[str, str]:
    """Markup only: comments blanked, CDATA as plain text; and what would end the section in which the text stops.

    Such a section is cut away; of one within a tag a fault remains. Lines stay where they are.
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


def _is_in_tag(text: str, start: int, end: int, before: bool) -> bool:
    """True where the end of `text[start:end]` is within a tag; `before`: so was its start."""
    opened, closed = text.rfind("<", start, end), text.rfind(">", start, end)
    if opened == closed:  # neither is there
        return before
    return opened > closed and (opened + 1 == end or not TEXT_LESS_THAN.match(text, opened))


def repair(text: str, doctype: bool) -> str:
    """The text of an entry with raw ampersands, HTML entities, forbidden characters and bytes made legal.

    `doctype`: the document declares entities of its own, which are not loaded, so that an unknown one has no value.
    """
    if BAD_BYTE.search(text):
        text = BAD_BYTE.sub(UNREADABLE, URL_TEXT.sub(lambda url: url[1] + escaped_bytes(url[2]), text))
    text = CONTROL.sub(UNREADABLE, text)
    text = REFERENCE.sub(lambda reference: _reference(reference, doctype), text)
    return TEXT_LESS_THAN.sub("&lt;", text)


def escaped_bytes(url: str) -> str:
    """A URL with undecodable bytes as %XX, which is what a request would send; U+FFFD for those nobody knows."""
    return BAD_BYTE.sub(_escaped_byte, url)


def is_trusted(url: str) -> bool:
    """False for a URL of which a part could not be read."""
    return UNREADABLE not in url


def _escaped_byte(byte: re.Match[str]) -> str:
    return UNREADABLE if byte[0] == UNKNOWN_BYTES else f"%{ord(byte[0]) & 0xFF:02X}"


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


def _is_character(number: str) -> bool:
    code = int(number[1:], 16) if number.startswith("x") else int(number)
    return code <= 0x10FFFF and not CONTROL.match(chr(code)) and not BAD_BYTE.match(chr(code))
