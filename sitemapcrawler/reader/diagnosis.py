"""Words the faults of text that is not well formed: the rule, the message and the exact position."""

from __future__ import annotations

import re
from xml.parsers import expat

from sitemapcrawler.reader.repair import CONTROL, section_start

GENERAL = "doc-xml-malformed"
"""Rule for faults without a more exact one."""
TRAILING = "doc-trailing-content"
"""Rule for text after the root."""
AMPERSAND = "doc-unescaped-ampersand"
MAX_SHOWN = 40
"""Characters of the excerpt that shows a fault."""
UNENDED = "an entry without an end tag"
HYPHENS = "-- inside a comment"
ENDS = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
"""Faults that mean that the document ends too early."""
RULES = {
    expat.errors.codes[message]: rule
    for message, rule in (
        (expat.errors.XML_ERROR_UNDEFINED_ENTITY, "doc-undeclared-entity"),
        (expat.errors.XML_ERROR_BAD_CHAR_REF, "doc-control-character"),
        (expat.errors.XML_ERROR_UNBOUND_PREFIX, "xml-ext-namespace-missing"),
        (expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT, TRAILING),
    )
} | dict.fromkeys(ENDS, "doc-truncated")
"""expat's error codes -> rules; all others are `GENERAL`."""
ILLEGAL = "not well formed (illegal character)"
"""What expat calls an invalid token: also the wording of those who find such a character before it does."""
WORDING = {expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]: ILLEGAL}
"""expat's error codes -> messages; all others have expat's own."""
SEPARATOR = "\f"
"""Separates namespace and name. XML forbids it everywhere; a blank would make expat refuse namespaces that are written
with one."""


class Malformed(Exception):
    """The document is not well formed here, or exceeds a limit."""

    def __init__(self, message: str, rule: str = GENERAL, offset: int = 0) -> None:
        super().__init__(message)
        self.rule = rule
        self.offset = offset
        """Position of the fault in the text, in characters."""
        self.is_behind = False
        """True if the root has ended before the fault."""

    @property
    def is_end(self) -> bool:
        """True if the document has no end."""
        return self.rule == "doc-truncated"


def characters(data: bytes, size: int) -> int:
    """Convert a number of bytes at the start of `data` to characters."""
    return len(data[: max(0, size)].decode("utf-8", "replace"))


def malformed(code: int, offset: int) -> Malformed:
    """Return the fault for an error code of expat."""
    return Malformed(WORDING.get(code) or expat.ErrorString(code), RULES.get(code, GENERAL), offset)


OPEN_REFERENCE = re.compile(r"&[#\w]{0,40}\Z")
"""Ampersand just before a fault that did not become a reference."""
NEAR = 48
"""Characters before a fault that are searched for its cause."""


def diagnose(rule: str, text: str, offset: int) -> tuple[str, int]:
    """Return the rule that fits a fault best, and where in `text` it begins. `rule` is the one from the parser."""
    if rule not in (GENERAL, "doc-undeclared-entity"):
        return rule, offset
    before = text[max(0, offset - NEAR) : offset]
    reference = OPEN_REFERENCE.search(before)
    if reference is None and rule == GENERAL and text.startswith("&", offset):
        reference = OPEN_REFERENCE.search(before + "&")
    if rule == GENERAL and reference is not None:
        return AMPERSAND, offset - len(before) + reference.start()
    if CONTROL.match(text, offset):
        return "doc-control-character", offset
    return rule, offset


def is_double_hyphen(text: str, offset: int) -> bool:
    """Return whether the parser stopped at `offset` after a double hyphen that does not end its comment."""
    if not text.startswith("--", offset - 2):
        return False
    start = section_start(text, offset)
    return text.startswith("<!--", start) and start + 4 <= offset - 2


def worded(fault: Malformed, text: str) -> tuple[str, str, int]:
    """Return the rule, message and position of a fault of `text`."""
    rule, offset = diagnose(fault.rule, text, fault.offset)
    message = "the file ends before the document does" if fault.is_end else str(fault)
    if rule == AMPERSAND:
        return rule, "not well formed (an & that is not escaped)", offset
    if rule == GENERAL and is_double_hyphen(text, offset):
        return rule, HYPHENS, offset - 2
    return rule, message, offset
