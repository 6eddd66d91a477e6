"""The dates of many entries: their range, and how many fall on each day, month or year of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

DAY, MONTH, YEAR = len("2024-05-01"), len("2024-05"), len("2024")
"""How much of a date tells its day, month and year."""
UNITS = {DAY: "day", MONTH: "month", YEAR: "year"}
MAX_DAYS = 4000
"""Different days that are counted; where there are more, their years are."""
MAX_BARS = 16
"""Bars of a histogram, as many as a glance takes in; where days are more, months are shown, and then years."""
LONGEST = {DAY: 62, MONTH: 36}
"""Days, and months, from the oldest date to the newest, beyond which they are not told apart, however few they are."""
MONTHS = 12


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a histogram."""

    label: str
    """A day, a month or a year; `until 2010` for all that is older than the next."""
    count: int
    gap: bool = False
    """True for a row that stands for several without any date."""


class Dates:
    """Counts moments (ISO 8601 in UTC, as `lastmod_at`) in bounded memory."""

    def __init__(self) -> None:
        self.total = 0
        self.first: str | None = None
        """The oldest moment."""
        self.last: str | None = None
        """The newest."""
        self._length = DAY
        self._counts: Counter[str] = Counter()

    def add(self, moments: Sequence[str]) -> None:
        """Count moments."""
        if not moments:
            return
        self.total += len(moments)
        self.first = min(moments) if self.first is None else min(self.first, *moments)
        self.last = max(moments) if self.last is None else max(self.last, *moments)
        length = self._length
        self._counts.update([moment[:length] for moment in moments])
        if len(self._counts) > MAX_DAYS and length > YEAR:
            self._length = YEAR
            self._counts = self._by(YEAR)

    def histogram(self) -> tuple[str, dict[str, int]]:
        """day, month or year, whichever tells the range of the dates best, and {its name: how many}, the oldest
        first."""
        length = next((unit for unit in (DAY, MONTH) if self._fits(unit)), YEAR)
        return UNITS[length], dict(sorted(self._by(length).items()))

    def bars(self) -> list[Bar]:
        """The histogram as at most `MAX_BARS` rows, the oldest first; several rows without a date are one."""
        unit, counts = self.histogram()
        return _oldest_together(_rows(unit, counts))

    def _fits(self, length: int) -> bool:
        """True where all days, or all months, of the range find room."""
        if self.first is None or self.last is None or length > self._length:
            return False
        number = _day_number if length == DAY else _month
        span = number(self.last) - number(self.first)
        return span <= LONGEST[length] and len(_rows(UNITS[length], self._by(length))) <= MAX_BARS

    def _by(self, length: int) -> Counter[str]:
        counts: Counter[str] = Counter()
        for name, count in self._counts.items():
            counts[name[:length]] += count
        return counts


def _day(moment: str) -> date:
    return date.fromisoformat(moment[:DAY])


def _day_number(moment: str) -> int:
    return _day(moment).toordinal()


def _month(moment: str) -> int:
    return int(moment[:YEAR]) * MONTHS + int(moment[YEAR + 1 : MONTH]) - 1


def _between(unit: str, first: str, last: str) -> Iterable[str]:
    """The names of all days, months or years from one to another."""
    if unit == "day":
        days = (_day(last) - _day(first)).days
        return ((_day(first) + timedelta(days=number)).isoformat() for number in range(days + 1))
    if unit == "month":
        months = range(_month(first), _month(last) + 1)
        return (f"{number // MONTHS:04}-{number % MONTHS + 1:02}" for number in months)
    return (f"{year:04}" for year in range(int(first), int(last) + 1))


def _rows(unit: str, counts: Mapping[str, int]) -> list[Bar]:
    labels = _between(unit, min(counts), max(counts)) if counts else ()
    return _without_gaps(Bar(label, counts.get(label, 0)) for label in labels)


def _without_gaps(bars: Iterable[Bar]) -> list[Bar]:
    """Two empty rows and more, one after the other, become one."""
    kept: list[Bar] = []
    for bar in bars:
        before = kept[-1] if kept else None
        if before is None or bar.count or before.count:
            kept.append(bar)
        elif not before.gap:
            kept[-1] = Bar("", 0, True)
    return kept


def _oldest_together(bars: list[Bar]) -> list[Bar]:
    """No more than `MAX_BARS` rows: those too many, the oldest, become one."""
    if len(bars) <= MAX_BARS:
        return bars
    start = len(bars) - MAX_BARS + 1
    old, kept = bars[:start], bars[start:]
    until = next(bar.label for bar in reversed(old) if bar.label)
    return [Bar(f"until {until}", sum(bar.count for bar in old)), *kept]
