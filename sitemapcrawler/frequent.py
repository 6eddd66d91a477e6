"""The value that most of many have, in little memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Self

CAPACITY = 64
"""Values that are counted at once: a count may be short by 1 in 65 of all."""


class Frequent:
    """Counts values, the frequent ones nearly exactly, the others not at all; what others counted can be added.

    Source: Agarwal et al., Mergeable Summaries, 2012, on the counters of J. Misra and D. Gries, 1982.
    """

    def __init__(self) -> None:
        self.total = 0
        """Values counted."""
        self._counts: Counter[str] = Counter()

    def count(self, values: Iterable[str]) -> None:
        """Count values."""
        self._add(Counter(values))

    def merge(self, other: Frequent) -> None:
        """Add what another one has counted."""
        self._add(other._counts, other.total)

    def state(self) -> tuple[int, dict[str, int]]:
        """What was counted, to be kept: (total, counts)."""
        return self.total, dict(self._counts)

    @classmethod
    def of(cls, state: tuple[int, dict[str, int]]) -> Self:
        """One that has counted so."""
        made = cls()
        made._add(Counter(state[1]), state[0])
        return made

    @property
    def most(self) -> int:
        """How often the most frequent value occurred: no more than it did, and short of it by `total` / 65 at most."""
        return max(self._counts.values(), default=0)

    def _add(self, counts: Counter[str], total: int | None = None) -> None:
        self.total += counts.total() if total is None else total
        self._counts.update(counts)
        if len(self._counts) > CAPACITY:
            cut = sorted(self._counts.values(), reverse=True)[CAPACITY]
            self._counts = Counter({value: count - cut for value, count in self._counts.items() if count > cut})
