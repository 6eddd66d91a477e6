from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.reader.dates import utc
from sitemapcrawler.terminal.inspect.inspection import MAX_BARS, MAX_DAYS, Dates


def counted(*moments: str) -> Dates:
    dates = Dates()
    dates.add(moments)
    return dates


def rows(dates: Dates) -> list[tuple[str, int]]:
    return [(bar.label, bar.count) for bar in dates.bars()]


@pytest.mark.parametrize(
    ("moments", "shown"),
    [
        ([], []),
        (["2024-05-01", "2024-05-30"], [("2024-05-01", 1), ("2024-05-30", 1)]),
        ([f"2024-{month:02}-{day:02}" for month in (5, 6) for day in range(1, 31)], [("2024-05", 30), ("2024-06", 30)]),
        (
            [f"{year}-01-01" for year in range(1990, 2030)],
            [("until 2014", 25), *((str(year), 1) for year in range(2015, 2030))],
        ),
    ],
    ids=["none", "days", "too many days", "too many years"],
)
def test_bars(moments: list[str], shown: list[tuple[str, int]]) -> None:
    dates = counted(*(f"{day}T00:00:00Z" for day in moments))
    assert rows(dates) == shown
    assert (dates.first is None) == (not moments)


def test_moments_of_a_day_are_counted_together() -> None:
    dates = counted("2024-02-28T10:00:00Z", "2024-03-01T00:00:00Z", "2024-03-01T23:59:59Z")
    assert dates.histogram() == ("day", {"2024-02-28": 1, "2024-03-01": 2})


def test_more_days_than_are_kept_are_counted_by_year() -> None:
    days = [f"{2000 + n // 336}-{1 + n % 12:02}-{1 + n // 12 % 28:02}T00:00:00Z" for n in range(MAX_DAYS + 1)]
    dates = Dates()
    for day in days:
        dates.add([day])
    dates.add(["2001-01-01T00:00:00Z"])
    unit, counts = dates.histogram()
    assert unit == "year" and sum(counts.values()) == dates.total == MAX_DAYS + 2
    assert len(dates._counts) < 20


@pytest.mark.slow
@given(st.lists(st.lists(st.datetimes().map(lambda at: utc(at.isoformat()[:19])), max_size=20), max_size=5))
def test_no_date_is_lost(batches: list[list[str]]) -> None:
    dates = Dates()
    for batch in batches:
        dates.add([moment for moment in batch if moment])
    bars = dates.bars()
    assert sum(bar.count for bar in bars) == dates.total == sum(dates.histogram()[1].values())
    assert len(bars) <= MAX_BARS
    assert dates.total == 0 or (bars[0].count and bars[-1].count)
