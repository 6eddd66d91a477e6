"""Tables of tests whose rows have the same outcome."""

from __future__ import annotations

from typing import Any


def cases(*groups: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Rows for `parametrize` from groups `([input, ...], outcome, ...)`: one row `(input, outcome, ...)` for each input."""
    return [(given, *outcome) for inputs, *outcome in groups for given in inputs]
