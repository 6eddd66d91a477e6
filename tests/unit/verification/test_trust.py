"""How far lastmod dates can be trusted: what they tell by themselves, and what pages say of their age."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.extensions import News
from sitemapcrawler.reader.dates import iso, utc
from sitemapcrawler.rules.facts.tally import Evidence, Match, Tally, Trust, header_date, match
from tests.unit.tables import cases

NOW = datetime(2026, 5, 20, 12, 0, tzinfo=UTC)


def entries(dates: Iterable[str | None], news: News | None = None) -> list[UrlRecord]:
    return [UrlRecord("https://e.com/", lastmod=date, lastmod_at=date and utc(date), news=news) for date in dates]


def spread(number: int) -> Iterator[str]:
    """Dates as of pages that change one by one."""
    return (iso(NOW - timedelta(days=30, hours=7 * place)) for place in range(number))


def file(urls: list[UrlRecord], format: str = "xml-urlset", batch: int = 7) -> Trust:
    trust, tally = Trust(), Tally(NOW)
    for start in range(0, len(urls), batch):
        tally.count(urls[start : start + batch])
        trust.count(urls[start : start + batch], tally, NOW)
    trust.close(tally, format)
    return trust


def evidence(*dates: str | None, format: str = "xml-urlset") -> Evidence:
    return file(entries(dates), format).evidence()


SECONDS_AGO = iso(NOW - timedelta(seconds=3))
SINGLE_FILES: dict[str, tuple[list[str | None], Evidence, float | None]] = {
    "none": ([None, None, "soon"], Evidence(), None),
    "single changes": ([*spread(100)], Evidence(dated=100), 1),
    "in the future, wherever they were written": (
        ["2099-01-01", "2026-05-20T12:06:00Z", "2026-05-20T16:00:00+02:00", *spread(3),
         "2026-05-21T01:00:00",  # without a zone: it may be this in Kiribati
         "2026-05-21",
         "2026-05-20T12:04:00Z",  # clocks differ
         "2026-05-20T14:00:00+02:00"],
        Evidence(dated=10, future=3), 0.7,
    ),
    "in the future, in a later batch": ([*spread(20), "2099-01-01", *spread(20)], Evidence(dated=41, future=1), 40 / 41),
    "zeros of clocks": (
        ["1970-01-01T00:00:00Z", "0001-01-01", "1970-01-20T05:00:00Z", "1998-07-12", *spread(16)],
        Evidence(dated=20, epoch=3), 0.85,
    ),
    "zeros that are identical": (["1970-01-01"] * 95 + [*spread(5)], Evidence(dated=100, epoch=95), 0.05),
    "made by the request": ([SECONDS_AGO] * 27 + [*spread(3)], Evidence(dated=30, at_fetch=27), 0.1),
    "some pages changed just now": ([SECONDS_AGO] * 8 + [*spread(3)], Evidence(dated=11), 1),
}  # fmt: skip
"""The dates of a file, what they tell by themselves, and the share that is trusted."""


@pytest.mark.parametrize(("dates", "expected", "trusted"), SINGLE_FILES.values(), ids=SINGLE_FILES)
def test_dates_of_a_file(dates: list[str | None], expected: Evidence, trusted: float | None) -> None:
    found = evidence(*dates)
    assert found == expected
    assert found.trusted == (trusted if trusted is None else pytest.approx(trusted))


@pytest.mark.parametrize(
    "dates",
    [
        ["2026-03-01"] * 20,
        ["2026-03-01T10:15:30Z"] * 30,
        [f"2026-03-01T10:{minute:02}:30Z" for minute in range(40)],
        ["2026-03-01"] * 18 + ["2026-04-01", "2026-05-01"],
    ],
)
def test_nearly_all_dates_in_one_hour_are_those_of_a_run(dates: list[str]) -> None:
    found = evidence(*dates)
    assert found.identical >= 0.9 * len(dates)
    assert found.trusted == pytest.approx(1 - found.identical / found.dated)


@pytest.mark.parametrize(
    "dates",
    [
        ["2026-03-01"] * 19,
        ["2026-03-01"] * 17 + list(spread(3)),
        [f"2026-03-01T{hour:02}:15:00Z" for hour in range(24)],
    ],
)
def test_few_or_mixed_dates_and_those_of_an_active_day_are_not(dates: list[str]) -> None:
    assert evidence(*dates).identical == 0


@pytest.mark.parametrize("format", ["rss", "atom"])
def test_feeds_list_the_latest(format: str) -> None:
    assert evidence(*["2026-03-01"] * 50, format=format).trusted == 1


def test_news_sitemaps_list_the_latest() -> None:
    urls = entries(["2026-05-19T10:00:00Z"] * 50, News(title="t"))
    assert file(urls).evidence().trusted == 1


def site(*files: Trust) -> Evidence:
    whole = Trust()
    for one in files:
        whole.merge(one)
    return whole.evidence()


def test_site_is_the_sum_of_its_files() -> None:
    good, run = file(entries(spread(60))), file(entries(["2026-03-01"] * 30))
    request = file(entries([iso(NOW)] * 10))
    found = site(good, run, request)
    assert found == Evidence(dated=100, at_fetch=10, identical=30)
    assert found.trusted == 0.6


def test_one_run_over_many_small_files_shows_in_the_site() -> None:
    files = [file(entries(["2026-03-01"] * 6)) for _ in range(10)]
    assert all(one.evidence().identical == 0 for one in files)
    assert site(*files).identical == 60


def test_request_dates_of_many_files_are_not_identical_as_well() -> None:
    found = site(*(file(entries([iso(NOW)] * 10)) for _ in range(5)))
    assert (found.at_fetch, found.identical, found.trusted) == (50, 0, 0)


HEADER = "Wed, 11 Mar 2026 09:30:00 GMT"


@pytest.mark.parametrize(
    ("lastmod", "other", "expected"),
    [
        ("2026-03-11T09:30:00Z", "2026-03-11T09:30:00Z", Match.AGREES),
        ("2026-03-10T09:30:00Z", "2026-03-11T09:30:00Z", Match.AGREES),
        ("2026-03-10T09:29:59Z", "2026-03-11T09:30:00Z", Match.OLDER),
        ("2026-03-12T09:30:01Z", "2026-03-11T09:30:00Z", Match.NEWER),
        ("2026-03-12T11:30:00+02:00", "2026-03-11T09:30:00Z", Match.AGREES),
        ("2026-03-12", "2026-03-11T09:30:00Z", Match.AGREES),
        ("2026-03-14", "2026-03-11T09:30:00Z", Match.NEWER),
        ("2026-03-08", "2026-03-11T09:30:00Z", Match.OLDER),
        ("2026-03-11", "2026-03-12", Match.AGREES),
        ("Wed, 11 Mar 2026 09:30:00 +0100", "2026-03-11T09:30:00Z", Match.AGREES),
        ("Wed, 11 Feb 2026 09:30:00 +0100", "2026-03-11", Match.OLDER),
        ("2026-03", "2026-03-11T09:30:00Z", None),
        ("2026", "2020-03-11", None),
        ("soon", "2026-03-11", None),
        ("2026-03-11", "2026-02-30", None),
        ("", "2026-03-11", None),
        ("0001-01-01", "9999-12-31", None),
        ("0001-01-03", "9999-12-20", Match.OLDER),
    ],
)  # fmt: skip
def test_match_of_two_dates(lastmod: str, other: str, expected: Match | None) -> None:
    assert match(lastmod, other) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    cases(
        ([HEADER, "Wednesday, 11-Mar-26 09:30:00 GMT"], "2026-03-11T09:30:00Z"),
        (["Wed, 20 May 2026 11:54:00 GMT"], "2026-05-20T11:54:00Z"),
        (["Wed, 20 May 2026 11:58:00 GMT", "Wed, 20 May 2026 18:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT",
          "Thu, 01 Jan 1970 00:00:01 GMT", "-1", "", None], None),
    ),
)  # fmt: skip
def test_header_that_says_something(header: str | None, expected: str | None) -> None:
    assert header_date(header, NOW) == expected


def compared(*replies: tuple[str, str | None, str | None], dates: int = 10) -> Evidence:
    trust = file(entries(spread(dates)))
    for lastmod, header, page_date in replies:
        trust.compare(lastmod, NOW, header, page_date)
    return trust.evidence()


def test_headers_speak_against_dates_both_ways() -> None:
    found = compared(("2026-02-01", HEADER, None), ("2026-04-01", HEADER, None), *[("2026-03-11", HEADER, None)] * 3)
    assert (found.compared, found.older_than_header, found.newer_than_header) == (5, 1, 1)
    assert found.trusted == pytest.approx(0.6)


def test_page_itself_is_asked_before_its_header() -> None:
    found = compared(("2026-02-01", HEADER, "2026-02-01"), ("2026-03-11", HEADER, "2026-02-01"))
    assert (found.compared, found.older_than_header, found.newer_than_page) == (2, 0, 1)


def test_header_is_asked_where_the_page_gives_no_date() -> None:
    assert compared(("2026-02-01", HEADER, "yesterday")).older_than_header == 1


def test_headers_of_the_request_say_nothing() -> None:
    assert compared(*[("2026-02-01", "Wed, 20 May 2026 12:00:00 GMT", None)] * 30) == Evidence(dated=10)


def test_few_comparisons_do_not_stand_for_the_others() -> None:
    assert compared(*[("2026-02-01", HEADER, None)] * 4).trusted == 1
    assert compared(*[("2026-02-01", HEADER, None)] * 4, dates=4).trusted == 0


def test_headers_of_one_deployment_do_not_speak_against_older_dates() -> None:
    found = compared(*[("2026-02-01", HEADER, None)] * 30, dates=100)
    assert (found.headers_alike, found.older_than_header, found.trusted) == (True, 30, 1)


def test_dates_after_the_only_deployment_are_wrong_all_the_same() -> None:
    found = compared(*[("2026-02-01", HEADER, None)] * 20, *[("2026-04-01", HEADER, None)] * 10, dates=100)
    assert (found.headers_alike, found.trusted) == (True, 0)


def test_dates_that_fail_both_ways_are_taken_off_once() -> None:
    urls = entries([*["2026-03-01"] * 90, *islice(spread(100), 10)])
    trust = file(urls)
    for place in range(10):
        trust.compare("2026-03-01", NOW, f"Wed, 11 Feb 2026 {place:02}:30:00 GMT")
    for place in range(10):
        trust.compare("2026-02-11", NOW, f"Wed, 11 Feb 2026 {place:02}:30:00 GMT")
    assert trust.evidence().trusted == pytest.approx(0.1)


def test_comparisons_of_files_add_up_in_the_site() -> None:
    one, other = file(entries(spread(50))), file(entries(spread(50)))
    for _ in range(12):
        one.compare("2026-02-01", NOW, HEADER)
        other.compare("2026-03-01", NOW, HEADER)
    found = site(one, other)
    assert (found.compared, found.older_than_header, found.headers_alike) == (24, 24, True)


TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["2026-03-11", "2099-01-01", "0001-01-01", "9999-12-31T23:59:59Z", HEADER, "2026"]),
)


def kept(trust: Trust) -> Trust:
    """What a job keeps of a file, and gives back in the next run."""
    return Trust.from_state(json.loads(json.dumps(trust.state())))


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=30))
def test_any_dates_give_a_share_and_evidence_that_was_kept_is_the_same(texts: list[tuple[str, str, str]]) -> None:
    trust = file(entries([text for text, _, _ in texts]))
    for lastmod, header, page_date in texts:
        trust.compare(lastmod, NOW, header, page_date)
    found = trust.evidence()
    assert (found.trusted is None) == (found.dated == 0)
    assert found.trusted is None or 0 <= found.trusted <= 1
    assert (kept(trust).evidence(), kept(trust).state()) == (found, trust.state())


def test_files_that_were_kept_add_up_in_the_site() -> None:
    files = [file(entries(["2026-03-01"] * 12)), file(entries(["2026-03-01"] * 13)), file(entries(spread(5)))]
    for _ in range(12):
        files[0].compare("2026-02-01", NOW, HEADER)
        files[1].compare("2026-03-01", NOW, HEADER)
    found = site(*map(kept, files))
    assert found == site(*files)
    assert (found.dated, found.compared, found.headers_alike) == (30, 24, True)
