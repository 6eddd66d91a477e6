"""When the listed pages were last modified, in periods that are few enough to be drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

MAX_PERIODS = 36
"""Bars of the chart, those for what lies before and after aside."""
MOST = 0.9
"""Share of the dated entries that a chart shows by period; the finest that does so is taken."""
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
_UNITS = {"month": 1, "quarter": 3, "year": 12}
"""Months of each period."""


@dataclass(frozen=True, slots=True)
class Period:
    """A bar of the chart."""

    label: str
    entries: int
    future: bool = False
    """True for what was modified after the crawl, by its own account."""


@dataclass(frozen=True, slots=True)
class History:
    """The bars, in order of time."""

    unit: str
    """month, quarter or year."""
    periods: list[Period]


def history(months: Mapping[str, int], crawled: str) -> History | None:
    """Entries by period up to the crawl (ISO 8601); None where none is dated."""
    counts: Counter[int] = Counter()
    for month, entries in months.items():
        if (at := _index(month)) is not None:
            counts[at] += entries
    if not counts:
        return None
    now = _index(crawled)
    return _drawn(counts, max(counts) if now is None else now)


def _index(text: str) -> int | None:
    """Months since year 0."""
    found = _MONTH.match(text)
    return int(found[1]) * 12 + int(found[2]) - 1 if found and 1 <= int(found[2]) <= 12 else None


def _drawn(counts: Counter[int], now: int) -> History:
    past = {month: entries for month, entries in counts.items() if month <= now}
    unit, months = _unit(past, now)
    by_period: Counter[int] = Counter()
    for month, entries in past.items():
        by_period[month // months] += entries
    last = now // months
    oldest = last - MAX_PERIODS + 1
    first = max(oldest, min(by_period, default=last))
    periods = [Period(_label(at, months), by_period[at]) for at in range(first, last + 1)]
    if earlier := sum(entries for at, entries in by_period.items() if at < first):
        periods.insert(0, Period("earlier", earlier))
    if future := sum(entries for month, entries in counts.items() if month > now):
        periods.append(Period("future", future, future=True))
    return History(unit, periods)


def _unit(past: Mapping[int, int], now: int) -> tuple[str, int]:
    """The finest unit that shows most entries, and its months."""
    whole = sum(past.values())
    for unit, months in _UNITS.items():
        first = (now // months - MAX_PERIODS + 1) * months
        if sum(entries for month, entries in past.items() if month >= first) >= MOST * whole:
            return unit, months
    return unit, months


def _label(period: int, months: int) -> str:
    year, month = divmod(period * months, 12)
    if months == 1:
        return f"{date(2000, month + 1, 1):%b} {year}"
    return f"Q{month // 3 + 1} {year}" if months == 3 else str(year)
