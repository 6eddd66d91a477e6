"""Counting the values that strangers write: all of them, but no more different ones than memory allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

MAX_VALUES = 1000
"""Different values that are counted by name: more than there are language codes in use."""
MAX_VALUE = 200
"""Characters that are kept of a value."""


class Bounded:
    """Counts values by name, as far as there are no more than `MAX_VALUES` of them."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.others = 0
        """Values that were counted together, since there were too many different ones before them."""

    def add(self, values: Iterable[str]) -> None:
        """Count values."""
        for value in values:
            name = value[:MAX_VALUE]
            if name in self.counts or len(self.counts) < MAX_VALUES:
                self.counts[name] += 1
            else:
                self.others += 1

    def ranked(self) -> list[tuple[str, int]]:
        """(value, count), the most frequent first; those of the same count by name."""
        return sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))
