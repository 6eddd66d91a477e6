"""Dates by period."""

from __future__ import annotations

import pytest

from sitemapcrawler.report.months import MAX_PERIODS, history


@pytest.mark.parametrize(
    ("months", "unit", "first", "last", "bars"),
    [
        ({"2026-11": 5}, "month", "Nov 2026", "Nov 2026", 1),
        ({"2026-01": 5, "2026-11": 5}, "month", "Jan 2026", "Nov 2026", 11),
        ({"2024-01": 5, "2026-11": 5}, "month", "Jan 2024", "Nov 2026", 35),
        ({"2019-05": 5, "2026-11": 5}, "quarter", "Q2 2019", "Q4 2026", 31),
        ({"2000-05": 5, "2026-11": 5}, "year", "2000", "2026", 27),
        ({"1970-01": 1, "2026-10": 50, "2026-11": 50}, "month", "earlier", "Nov 2026", MAX_PERIODS + 1),
        ({"2026-11": 5, "2031-01": 5, "9999-12": 1}, "month", "Nov 2026", "future", 2),
        ({"2031-01": 5}, "month", "Nov 2026", "future", 2),
    ],
)
def test_dates_are_drawn_by_few_periods(months: dict[str, int], unit: str, first: str, last: str, bars: int) -> None:
    made = history(months, "2026-11-20T21:04:11Z")
    assert made is not None
    assert (made.unit, made.periods[0].label, made.periods[-1].label, len(made.periods)) == (unit, first, last, bars)
    assert sum(period.entries for period in made.periods) == sum(months.values())


@pytest.mark.parametrize("months", [{}, {"junk": 5}, {"2026-13": 5}, {"2026-00": 1}])
def test_dates_that_are_none_draw_nothing(months: dict[str, int]) -> None:
    assert history(months, "2026-11-20T21:04:11Z") is None


def test_dates_are_drawn_without_the_time_of_the_crawl() -> None:
    made = history({"2025-01": 1, "2026-02": 3}, "")
    assert made is not None and made.periods[-1].label == "Feb 2026"
