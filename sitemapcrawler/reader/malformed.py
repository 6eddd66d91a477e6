"""What ends strict parsing, and the rule that names it."""

from __future__ import annotations

from xml.parsers import expat

GENERAL = "doc-xml-malformed"
"""The rule where none is more exact."""
UNENDED = "an entry without an end tag"
MISMATCH = expat.errors.XML_ERROR_TAG_MISMATCH
ENDS = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
"""Faults that mean: the document ends before its end."""
RULES = {
    expat.errors.codes[message]: rule
    for message, rule in (
        (expat.errors.XML_ERROR_UNDEFINED_ENTITY, "doc-undeclared-entity"),
        (expat.errors.XML_ERROR_BAD_CHAR_REF, "doc-control-character"),
        (expat.errors.XML_ERROR_UNBOUND_PREFIX, "xml-ext-namespace-missing"),
        (expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT, "doc-trailing-content"),
    )
} | dict.fromkeys(ENDS, "doc-truncated")
"""Catalogue rule for expat's error codes; all others are `GENERAL`."""


class Malformed(Exception):
    """The document stops being well formed here, or goes beyond a limit."""

    def __init__(self, message: str, rule: str, offset: int) -> None:
        super().__init__(message)
        self.rule = rule
        self.offset = offset
        """Characters of the text last fed that come before the fault."""

    @property
    def is_end(self) -> bool:
        """True for the fault that the document has no end."""
        return self.rule == "doc-truncated"

    @property
    def is_unended(self) -> bool:
        """True for the fault that an entry has no end."""
        return str(self) == UNENDED

    @property
    def is_mismatch(self) -> bool:
        """True for the fault that an end tag does not fit the start tag."""
        return str(self) == MISMATCH


def malformed(code: int, offset: int) -> Malformed:
    """The fault for an error code of expat."""
    return Malformed(expat.ErrorString(code), RULES.get(code, GENERAL), offset)


def unended(offset: int = 0) -> Malformed:
    """The fault that an entry begins while the one before it has no end tag."""
    return Malformed(UNENDED, GENERAL, offset)
