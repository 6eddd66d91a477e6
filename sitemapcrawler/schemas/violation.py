"""One departure from the schema."""

from __future__ import annotations

from dataclasses import dataclass

SCHEMA, ORDER, MISSING = "xml-schema-violation", "xml-element-order", "xml-missing-element"
UNKNOWN, DUPLICATE, ATTRIBUTE = "xml-unknown-element", "xml-duplicate-element", "xml-unknown-attribute"
RULES = frozenset((SCHEMA, ORDER, MISSING, UNKNOWN, DUPLICATE, ATTRIBUTE))
"""Rules under which violations are reported."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing in an entry that the schema does not allow."""

    rule: str
    """Id in the rule catalogue."""
    message: str
    """One sentence."""
    line: int
    """Line, counted from 1."""
    value: str | None = None
    """The offending text or name."""
