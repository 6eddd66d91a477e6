"""What is counted while the entries of a file pass."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.extensions import News
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.dates import iso, utc
from sitemapcrawler.rules.facts.tally import MAX_PRIORITIES, MAX_PUBLICATIONS, STALE, Tally, share

from .judging import NOW

DATES = (
    "2026-05-13", "2026-05-13T10:00:00Z", "1970-01-01", "05/13/2026", "", "soon", "2026", iso(NOW),
    iso(NOW - timedelta(minutes=3)),
)  # fmt: skip
FREQUENCIES = ("daily", "monthly", "never", "", "often")


def entry(lastmod: str | None = None, changefreq: str | None = None, priority: float | None = None) -> UrlRecord:
    record = UrlRecord("https://example.com/", lastmod=lastmod, changefreq=changefreq, priority=priority)
    record.lastmod_at = utc(lastmod) if lastmod else None
    return record


entries = st.builds(
    entry,
    st.none() | st.sampled_from(DATES),
    st.none() | st.sampled_from(FREQUENCIES),
    st.none() | st.sampled_from((0.0, 0.5, 0.8, 1.0, 10.0)),
)


def counts(tally: Tally) -> dict[str, object]:
    return {name: value for name, value in vars(tally).items() if not name.startswith("_")}


@given(st.lists(entries, max_size=30), st.integers(1, 10))
def test_batches_of_any_size_come_to_the_same(urls: list[UrlRecord], size: int) -> None:
    whole, parts = Tally(NOW), Tally(NOW)
    whole.count(urls)
    for start in range(0, len(urls), size):
        parts.count(urls[start : start + size])
    expected, found = counts(whole), counts(parts)
    values = expected.pop("priorities"), found.pop("priorities")
    assert found == expected
    assert min(len(values[0]), MAX_PRIORITIES) <= len(values[1])  # type: ignore[arg-type]  # sets
    assert (len(values[0]) == 1) == (len(values[1]) == 1)  # type: ignore[arg-type]  # sets


@given(st.lists(entries, max_size=30))
def test_counts_are_those_of_a_slow_count(urls: list[UrlRecord]) -> None:
    tally = Tally(NOW)
    tally.count(urls)
    dated = [url for url in urls if url.lastmod_at]
    moments = [url.lastmod_at or "" for url in dated]
    fresh = [url for url in dated if iso(NOW - timedelta(minutes=5)) <= (url.lastmod_at or "") <= iso(NOW)]
    assert tally.entries == len(urls)
    assert tally.undated == len([url for url in urls if url.lastmod is None])
    assert tally.dated == len(dated)
    assert (tally.oldest, tally.newest) == (min(moments, default=None), max(moments, default=None))
    assert tally.date_only == len([url for url in dated if url.lastmod in ("2026-05-13", "1970-01-01")])
    assert tally.at_fetch == len(fresh)
    assert tally.prioritised == len([url for url in urls if url.priority is not None])
    assert tally.frequencies == len([url for url in urls if url.changefreq])
    assert tally.contradicting == len([url for url in dated if url.lastmod == "1970-01-01" and url.changefreq in STALE])


def test_children_are_counted_by_their_dates() -> None:
    tally = Tally(NOW)
    tally.count_dates(
        [ChildRecord("https://example.com/a.xml", lastmod="2026-05-13", lastmod_at="2026-05-13T00:00:00Z")]
    )
    tally.count_dates([ChildRecord("https://example.com/b.xml")])
    assert (tally.entries, tally.dated, tally.undated, tally.date_only) == (2, 1, 1, 1)


def test_articles_have_dates_of_their_own() -> None:
    record, dated = entry(), entry("2026-05-13")
    record.news = dated.news = News(publication={"name": "The Example"})
    tally = Tally(NOW)
    tally.count([record, dated, entry()])
    assert (tally.news, tally.undated, tally.publications) == (2, 1, {"The Example": 2})


def test_names_of_publications_are_bounded_and_those_kept_are_counted_on() -> None:
    tally = Tally(NOW)
    names = [str(number) for number in range(MAX_PUBLICATIONS + 5)]
    for name in [*names, "0", "0"]:
        article = entry()
        article.news = News(publication={"name": name})
        tally.count([article])
    assert len(tally.publications) == MAX_PUBLICATIONS
    assert tally.publications["0"] == 3
    assert tally.news == len(names) + 2


@pytest.mark.parametrize(
    ("hour", "day", "expected"), [(12, "2026-06-02", False), (9, "2026-06-02", True), (12, "2026-06-03", True)]
)
def test_a_day_is_in_the_future_until_it_begins_somewhere(hour: int, day: str, expected: bool) -> None:
    assert Tally(NOW.replace(hour=hour)).is_future(day) is expected


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (2, 3, "2 of 3 dates (67 %) have none"),
        (1, 213, "1 of 213 dates (0.5 %) has none"),
        (1, 1, "1 of 1 date (100 %) has none"),
        (99_999, 100_000, "99,999 of 100,000 dates (>99.9 %) have none"),
        (1, 100_000, "1 of 100,000 dates (<0.1 %) has none"),
    ],
)
def test_a_share_is_rounded_but_never_to_all_or_none(part: int, whole: int, text: str) -> None:
    assert share(part, whole, ("date", "dates"), ("has none", "have none")) == text
