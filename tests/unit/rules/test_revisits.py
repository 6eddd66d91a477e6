"""Rules on dates of pages that two crawls have read."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.items import FileRevisits, ReplyRecord, Revisits, UrlRecord
from sitemapcrawler.jobs.segments import proven_dates
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.revisits import MAX_FILES, revisits
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.families.lastmod import MIN_TOGETHER
from sitemapcrawler.urls.segments import Segment

from .sites import HOME, RULES, A, B, Site, page

MOVED, STAYED, TOGETHER = "lastmod-moved-content-same", "lastmod-same-content-changed", "lastmod-moved-together"
SINCE = "2026-11-20T02:00:00Z"
"""Start of the earlier crawl."""


def read(path: str, lastmod: str | None, content: str = "a", sitemap: str = A, **reply: Any) -> UrlRecord:
    """A dated entry of a page with this content."""
    answer = {"kind": "ok", "status": 200, "noindex": False, "title": "Page", "content_hash": f"1-{32 * content}"}
    return page(
        path, sitemap, lastmod=lastmod, lastmod_at=lastmod and utc(lastmod), reply=ReplyRecord(**(answer | reply))
    )


def audited(*now: UrlRecord) -> Site:
    return Site(*now, choice=Choice(RULES, select=("lastmod",)))


def told(before: UrlRecord, now: UrlRecord, since: str | None = SINCE) -> list[str]:
    """Rules that report one page."""
    site = audited(now)
    return [rule for rule, _ in site.rules(baseline=site.earlier(before), since=since) if rule != "lastmod-missing"]


OLD, NEW = "2026-11-01", "2026-11-21"


@pytest.mark.parametrize(
    ("before", "now", "rules"),
    [
        (read("/a", OLD), read("/a", NEW), [MOVED]),
        (read("/a", OLD), read("/a", OLD), []),
        (read("/a", OLD), read("/a", NEW, "b"), []),
        (read("/a", OLD), read("/a", OLD, "b"), [STAYED]),
        (read("/a", NEW), read("/a", OLD), []),
        (read("/a", NEW), read("/a", OLD, "b"), []),
        (read("/a", OLD), read("/a", NEW, title="Other"), []),
        (read("/a", OLD), read("/a", NEW, h1="Other"), []),
        (read("/a", OLD), read("/a", NEW, canonical=HOME), []),
        (read("/a", OLD), read("/a", NEW, noindex=True), []),
        (read("/a", OLD), read("/a", OLD, title="Other"), []),
        (read("/a", OLD), read("/a", f"{OLD}T10:00:00Z"), []),
        (read("/a", f"{NEW}T10:00:00Z"), read("/a", f"{NEW}T10:00:01Z"), [MOVED]),
        (read("/a", OLD), read("/a", None, "b"), []),
        (read("/a", None), read("/a", NEW), []),
        (read("/a", OLD), read("/a", OLD, content_hash="2-" + 32 * "b"), []),
        (read("/a", OLD), read("/a", NEW, content_hash=None), []),
        (read("/a", OLD), read("/a", NEW, kind="redirected", status=301), []),
        (read("/a", OLD), read("/a", NEW, status=203), []),
        (read("/a", OLD), read("/a", NEW, soft_404="empty"), []),
        (read("/a", OLD), read("/a", NEW, shell=True), []),
        (read("/b", OLD), read("/a", NEW), []),
        (read("/a", OLD, sitemap=B), read("/a", NEW), [MOVED]),
    ],
)  # fmt: skip
def test_date_of_a_page_that_two_crawls_have_read(before: UrlRecord, now: UrlRecord, rules: list[str]) -> None:
    assert told(before, now) == rules


@pytest.mark.parametrize(
    ("date", "rules"),
    [
        ("2026-11-19T02:00:00Z", []),
        ("2026-11-20T02:00:00Z", []),
        ("2026-11-20", []),
        ("2026-11-20T02:00:01Z", [MOVED]),
        ("2026-11-18T23:00:00Z", [MOVED]),
    ],
)
def test_date_that_moved_to_when_the_content_was_seen_to_change_is_a_correction(date: str, rules: list[str]) -> None:
    site = audited(read("/a", date))
    before = read("/a", OLD)
    baseline = site.earlier(before)
    seen = (before.loc, "2026-11-19 02:00:00", "2026-11-20 02:00:00")
    site.connection.execute(f"INSERT INTO {baseline}.contents (url, changed_after, changed_at) VALUES (?, ?, ?)", seen)
    assert [rule for rule, _ in site.rules(baseline=baseline, since=SINCE)] == rules


@pytest.mark.parametrize(
    ("date", "rules"),
    [
        ("2026-11-20T01:59:59Z", [STAYED]),
        ("2026-11-20T02:00:01Z", []),
        ("2026-11-20", []),
        ("2026-11-19", []),
        ("2026-11-18", [STAYED]),
    ],
)
def test_date_that_may_be_that_of_the_change_is_not_reported(date: str, rules: list[str]) -> None:
    """A day ends in the west 36 hours after it has begun in UTC."""
    assert told(read("/a", date), read("/a", date, "b")) == rules


def test_date_counts_where_the_baseline_does_not_say_when_it_began() -> None:
    assert told(read("/a", NEW), read("/a", NEW, "b"), since=None) == [STAYED]


def test_findings_name_both_dates_and_mark_their_entries() -> None:
    site = audited(read("/a", NEW), read("/b", OLD, "b"), read("/c", OLD))
    facts: dict[str, Any] = {
        "baseline": site.earlier(*(read(path, OLD) for path in ("/a", "/b", "/c"))), "since": SINCE
    }  # fmt: skip
    assert site.told(**facts) == [
        (MOVED, "/a", "lastmod changed from '2026-11-01', but the page is the same as in the previous crawl"),
        (STAYED, "/b", "lastmod is still '2026-11-01', but the content has changed since the previous crawl"),
    ]
    assert site.marked(**facts) == {MOVED: {("a.xml", "/a")}, STAYED: {("a.xml", "/b")}}


def test_page_in_two_files_is_compared_file_by_file() -> None:
    site = audited(read("/a", NEW, sitemap=A), read("/a", OLD, sitemap=B))
    before = site.earlier(read("/a", OLD, sitemap=B), read("/a", NEW, sitemap=A))
    assert site.rules(baseline=before, since=SINCE) == []


def test_page_that_a_file_lists_with_two_dates_is_compared_with_both() -> None:
    site = audited(read("/a", OLD), read("/a", NEW))
    assert site.rules(baseline=site.earlier(read("/a", OLD), read("/a", NEW)), since=SINCE) == []


def together(moved: int, others: int, seconds: int = 1) -> list[str]:
    """Rules that report a file of which some dates moved."""
    paths = [f"/{number}" for number in range(moved + others)]
    dates = [utc(f"{NEW}T10:{seconds * n // 60:02}:{seconds * n % 60:02}Z") or "" for n in range(moved)] + others * [
        OLD
    ]
    site = audited(*(read(path, date) for path, date in zip(paths, dates, strict=True)))
    found = site.told(baseline=site.earlier(*(read(path, OLD) for path in paths)), since=SINCE)
    return [message for rule, _, message in found if rule == TOGETHER]


def test_dates_that_moved_together() -> None:
    assert together(MIN_TOGETHER, MIN_TOGETHER - 1) == [
        "10 of 19 compared dates changed to within 10 minutes of each other, "
        "such as '2026-11-21T10:00:00Z'; their pages stayed the same"
    ]


@pytest.mark.parametrize(
    ("moved", "others", "seconds"), [(MIN_TOGETHER - 1, 0, 1), (MIN_TOGETHER, MIN_TOGETHER, 1), (20, 0, 120)]
)
def test_dates_that_moved_one_by_one(moved: int, others: int, seconds: int) -> None:
    assert together(moved, others, seconds) == []


def test_true_dates_are_counted_by_file() -> None:
    now = [read("/1", NEW), read("/2", OLD, "b"), read("/3", NEW, "b"), read("/4", OLD), read("/5", OLD, sitemap=B)]
    site = audited(*now, read("/new", NEW))
    before = site.earlier(*(read(one.loc, OLD, sitemap=one.sitemap) for one in now))
    facts = SiteFacts(rows_of(site.connection.cursor()), baseline=before, since=SINCE)
    files = [FileRevisits(A, 4, 2, 1, 1), FileRevisits(B, 1, 1, 0, 0)]
    assert revisits(facts) == Revisits(5, 3, 1, 1, files)


def test_segment_has_the_share_of_its_own_dates_that_proved_true() -> None:
    now = [read("/shop/1", NEW), read("/shop/2", NEW, "b"), read("/shop/3", OLD), read("/4", OLD)]
    site = audited(*now, read("/shop/new", NEW))
    before = site.earlier(*(read(one.loc, OLD) for one in now))
    facts, shop = (
        SiteFacts(rows_of(site.connection.cursor()), baseline=before, since=SINCE),
        Segment.parse("shop=/shop/"),
    )
    assert proven_dates(facts, [shop]) == {"shop": pytest.approx(2 / 3), "other": 1}


def test_summary_keeps_the_worst_files() -> None:
    now = [read(f"/{n}", NEW if n == MAX_FILES else OLD, sitemap=f"{HOME}/{n}.xml") for n in range(MAX_FILES + 1)]
    site = audited(*now)
    before = site.earlier(*(read(one.loc, OLD, sitemap=one.sitemap) for one in now))
    found = revisits(SiteFacts(rows_of(site.connection.cursor()), baseline=before, since=SINCE))
    assert found is not None
    assert (found.compared, found.true, len(found.files)) == (MAX_FILES + 1, MAX_FILES, MAX_FILES)
    assert found.files[0].sitemap == f"{HOME}/{MAX_FILES}.xml"


def test_nothing_is_counted_without_an_earlier_reading() -> None:
    site = audited(read("/a", NEW))
    assert revisits(SiteFacts(rows_of(site.connection.cursor()))) is None
    assert revisits(SiteFacts(rows_of(site.connection.cursor()), baseline=site.earlier(read("/b", OLD)))) is None
