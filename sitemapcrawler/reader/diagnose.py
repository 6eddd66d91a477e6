"""What a fault of the strict parser is, by the characters at its place."""

from __future__ import annotations

import re

from sitemapcrawler.reader.malformed import GENERAL
from sitemapcrawler.reader.repair import BAD_BYTE, CONTROL, REFERENCE

OPEN_REFERENCE = re.compile(r"&[#\w]{0,40}\Z")
"""An ampersand just before the fault that did not become a reference."""
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
