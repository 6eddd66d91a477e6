"""The rules on dates, beyond the files `lastmod-*` in `tests/data/bad`."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.dates import iso, utc
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.facts.written import MAX_BYTES, DateForm, Standard, Written, written

from .expecting import CORE, places, rules_of
from .judging import NOW, URL, judge

RULES = rules_of("lastmod")
UNREADABLE = {"lastmod-invalid", "lastmod-empty", "lastmod-impossible", "lastmod-over-100-bytes"}
ABOUT_THE_DAY = {"lastmod-epoch", "lastmod-future", "lastmod-too-old"}
ON_DATES = [RULES[id] for id in (*UNREADABLE, *ABOUT_THE_DAY, "lastmod-no-timezone", "lastmod-xsd-only-invalid")]
"""The rules on single dates, which take pages and children."""
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def urlset(
    *dates: str, entry: str = "<url>\n<loc>https://example.com/{0}</loc>\n<lastmod>{1}</lastmod></url>\n"
) -> bytes:
    """A urlset with one entry for each date, which stands on the third line of its own."""
    entries = "".join(entry.format(number, date) for number, date in enumerate(dates))
    return f'<urlset xmlns="{CORE}">\n{entries}</urlset>'.encode()


def index(*dates: str) -> bytes:
    entries = (
        f"<sitemap><loc>https://example.com/{number}.xml</loc><lastmod>{date}</lastmod></sitemap>\n"
        for number, date in enumerate(dates)
    )
    return f'<sitemapindex xmlns="{CORE}">\n{"".join(entries)}</sitemapindex>'.encode()


def rss(*items: str) -> bytes:
    listed = "".join(
        f"<item><link>https://example.com/{number}</link>{item}</item>" for number, item in enumerate(items)
    )
    head = '<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>'
    return f"{head}{listed}</channel></rss>".encode()


def atom(*items: str) -> bytes:
    listed = "".join(
        f'<entry><link href="https://example.com/{number}"/>{item}</entry>' for number, item in enumerate(items)
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{listed}</feed>'.encode()


def found(data: bytes) -> list[str]:
    """The rules on lastmod that say something about single entries."""
    wholes = ("lastmod-date-only", "lastmod-missing")
    return [finding.rule for finding in judge(data) if finding.rule in RULES and finding.rule not in wholes]


def spaced(start: datetime, number: int, step: timedelta) -> list[str]:
    return [iso(start + step * place) for place in range(number)]


@pytest.mark.parametrize("zone", ["+14:01", "-15:00", "+01:60", "+99:99"])
def test_no_place_on_earth_has_such_a_zone(zone: str) -> None:
    assert written(f"2026-05-13T10:00:00{zone}", Standard.W3C) == Written(
        DateForm.IMPOSSIBLE, "there is no such time zone"
    )
    date = f"Wed, 13 May 2026 10:00:00 {zone.replace(':', '')}"
    assert written(date, Standard.RFC822) == Written(DateForm.IMPOSSIBLE, "there is no such time zone")


def test_tomorrow_is_no_future_while_it_has_begun_in_kiribati() -> None:
    morning = NOW.replace(hour=9)
    record = UrlRecord("https://example.com/", lastmod="2026-06-02", lastmod_at=utc("2026-06-02"))
    rule = RULES["lastmod-future"]
    for fetched_at, expected in ((morning, 1), (NOW, 0)):
        file = FileFacts(URL, SitemapRecord(URL), Document(URL), fetched_at=fetched_at)
        assert len(list(rule.check(UrlFacts(record, file)))) == expected


def test_a_date_with_elements_in_it_is_passed_over_as_by_the_reader() -> None:
    data = urlset("<b>2026</b></lastmod>\n<lastmod>soon")
    assert places(judge(data), RULES) == [("lastmod-invalid", 5)]


def test_a_prefixed_lastmod_has_its_line() -> None:
    data = f'<s:urlset xmlns:s="{CORE}">\n<s:url><s:loc>https://example.com/a</s:loc>\n<s:lastmod/></s:url></s:urlset>'
    assert places(judge(data.encode()), RULES) == [("lastmod-empty", 3)]


def test_text_has_no_dates_to_miss() -> None:
    assert places(judge(b"https://example.com/a\nhttps://example.com/b\n"), RULES, RULES) == []


# Feeds


def test_a_feed_read_after_repair_is_judged_by_the_look_of_its_dates() -> None:
    item = "<item><link>https://example.com/?a=1&b=2</link><pubDate>{}</pubDate></item>"
    for date in ("Wed, 13 May 2026 10:00:00 GMT", "2026-05-13T10:00:00Z"):
        data = f'<rss version="2.0"><channel>{item.format(date)}</channel></rss>'.encode()
        assert [rule for rule in found(data) if rule != "lastmod-invalid"] == []


# Whole files


def said(data: bytes, rule: str, **record: object) -> list[str]:
    return [finding.message for finding in judge(data, **record) if finding.rule == rule]  # type: ignore[arg-type]  # fields of the record


def test_days_without_time_are_counted() -> None:
    dates = ["2026-05-13", "2026-05-12", "2026-05-11T00:00:00Z", "05/13/2026", "0000-00-00"]
    assert said(urlset(*dates), "lastmod-date-only") == ["2 of 4 dates (50 %) have no time"]
    assert said(index(*dates), "lastmod-date-only") == ["2 of 4 dates (50 %) have no time"]
    assert said(rss("<dc:date>2026-05-13</dc:date>"), "lastmod-date-only") == []


def test_coverage_counts_what_is_written() -> None:
    two = (
        "<url><loc>https://example.com/a</loc></url><url><loc>https://example.com/b</loc><lastmod>soon</lastmod></url>"
    )
    assert said(
        urlset("2026-05-13", entry=f"{two}<url><loc>https://example.com/c</loc><lastmod>{{1}}</lastmod></url>"),
        "lastmod-missing",
    ) == ["1 of 3 entries (33 %) has no date"]
    assert said(rss("", "<pubDate>Wed, 13 May 2026 10:00:00 GMT</pubDate>"), "lastmod-missing") == [
        "1 of 2 entries (50 %) has no date"
    ]


def test_coverage_is_silent_where_articles_have_dates_of_their_own() -> None:
    news = "http://www.google.com/schemas/sitemap-news/0.9"
    article = "<n:news><n:publication_date>2026-05-31</n:publication_date></n:news>"
    data = f'<urlset xmlns="{CORE}" xmlns:n="{news}"><url><loc>https://example.com/a</loc>{article}</url></urlset>'
    assert said(data.encode(), "lastmod-missing") == []


@pytest.mark.parametrize("number", [19, 20])
def test_one_day_for_all_needs_twenty_dates(number: int) -> None:
    dates = spaced(NOW - 30 * HOUR, number, MINUTE)
    expected = [f"all {number} dates are on one day, 2026-05-31"] if number == 20 else []
    assert said(urlset(*dates), "lastmod-all-identical") == expected


def test_one_day_for_all_but_one_is_no_finding() -> None:
    assert said(urlset(*["2026-05-13"] * 50, "2026-05-12"), "lastmod-all-identical") == []


@pytest.mark.parametrize("day", ["1970-01-01", "2099-01-01"])
def test_one_day_for_all_is_silent_where_the_day_itself_is_wrong(day: str) -> None:
    data = urlset(*[day] * 20)
    assert said(data, "lastmod-all-identical") == []
    assert len(found(data)) == 20


def test_one_day_for_all_is_silent_for_indexes_feeds_and_news() -> None:
    news = '<url xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><loc>https://example.com/{0}</loc><lastmod>{1}</lastmod><n:news/></url>'
    pages = urlset(*["2026-05-13"] * 30, entry=news)
    for data in (index(*["2026-05-13"] * 30), atom(*["<updated>2026-05-13T10:00:00Z</updated>"] * 30), pages):
        assert said(data, "lastmod-all-identical") == []


@pytest.mark.parametrize(
    ("dates", "fires"),
    [
        ([*spaced(NOW - MINUTE, 9, timedelta(seconds=1)), "2026-01-01"], True),
        ([*spaced(NOW - MINUTE, 8, timedelta(seconds=1)), "2026-01-01"], False),
        (spaced(NOW - MINUTE, 4, timedelta(seconds=1)), False),
        (spaced(NOW - 6 * MINUTE, 9, timedelta(seconds=1)), False),
        (spaced(NOW - 5 * MINUTE, 9, timedelta(seconds=1)), True),
        (spaced(NOW + MINUTE, 9, timedelta(seconds=1)), True),
        (["2026-06-01"] * 9, False),
    ],
    ids=["nine-of-ten", "eight-of-nine", "four", "six-minutes", "five-minutes", "clock-ahead", "days"],
)
def test_dates_made_by_the_request(dates: list[str], fires: bool) -> None:
    assert bool(said(urlset(*dates), "lastmod-equals-fetch-time")) is fires
    assert bool(said(index(*dates), "lastmod-equals-fetch-time")) is fires


def test_days_are_not_the_time_of_a_request_at_midnight() -> None:
    midnight = NOW.replace(hour=0, minute=1)
    document = Document(URL)
    file = FileFacts(URL, SitemapRecord(URL, format="xml-urlset"), document, fetched_at=midnight)
    for records in document.read([urlset(*["2026-06-01"] * 30)]):
        file.tally.count([record for record in records if isinstance(record, UrlRecord)])
    assert file.tally.at_fetch == 0
    assert list(RULES["lastmod-equals-fetch-time"].check(file)) == []


def test_dates_made_by_the_request_are_told_once() -> None:
    data = urlset(*spaced(NOW - MINUTE, 20, timedelta(seconds=1)))
    assert found(data) == ["lastmod-equals-fetch-time"]


def test_a_file_of_which_a_filter_left_out_pages_is_not_counted() -> None:
    data = urlset(*["2026-05-13"] * 20)
    assert {"lastmod-all-identical", "lastmod-date-only"} <= {finding.rule for finding in judge(data)}
    rules = {finding.rule for finding in judge(data, url_count=21)}
    assert rules.isdisjoint({"lastmod-all-identical", "lastmod-date-only", "lastmod-missing"})


# Properties

days = st.dates().map(str)
zones = st.sampled_from(["Z", "+00:00", "+05:45", "-03:00", "+14:00", "-14:00"])
seconds = st.datetimes().map(lambda moment: moment.isoformat(timespec="seconds"))
plain = days | st.builds("{}{}".format, seconds, zones)
parts = st.sampled_from(
    [
        "20", "26", "-", "05", "13", "T", "10:00", ":00", ".5", "Z", "+02:00", "/", " ", "é", "Wed, ", " May ", "GMT",
        "00",
    ]
)  # fmt: skip
texts = st.text(max_size=120) | st.lists(parts, max_size=12).map("".join) | plain


@given(texts, st.sampled_from(["xml-urlset", "xml-index", "rss", "atom", "text"]))
def test_no_text_makes_a_rule_fail_and_one_rule_says_how_it_is_written(text: str, format: str) -> None:
    document = Document(URL)
    document.format = format  # type: ignore[assignment]  # one of the formats
    file = FileFacts(URL, SitemapRecord(URL), document, fetched_at=NOW)
    text = text.strip()
    record = UrlRecord("https://example.com/", lastmod=text, lastmod_at=utc(text) if text else None)
    rules = {rule.id for rule in ON_DATES if list(rule.check(UrlFacts(record, file)))}
    assert len(rules & UNREADABLE) <= 1
    assert len(rules & ABOUT_THE_DAY) <= 1
    assert not rules & UNREADABLE or len(rules) == 1
    if format in ("xml-urlset", "xml-index"):
        assert (rules <= ABOUT_THE_DAY) == (written(text, Standard.W3C).form is DateForm.LEGAL)


@given(texts, st.sampled_from(Standard))
def test_what_is_a_date_is_read_as_one(text: str, standard: Standard) -> None:
    text = text.strip()
    found_form = written(text, standard)
    assert (found_form.form is DateForm.TOO_LONG) == (len(text.encode()) > MAX_BYTES)
    if found_form.is_date and standard is not Standard.RFC822:
        moment = utc(text)
        overflows = found_form.day in ("0001-01-01", "9999-12-31")
        assert moment is not None or overflows
    if standard is not Standard.RFC822 and utc(text) is None:
        assert found_form.form is not DateForm.LEGAL or found_form.day in ("0001-01-01", "9999-12-31")
