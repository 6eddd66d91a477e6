"""Counts of segments in the database."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import FindingRecord, Lastmods, SegmentCounts, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.segments import WHOLE, count_segments, measure, set_segments, set_segments_of_changes
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.policy import Limit, Problems
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.urls.segments import Segment, finder
from tests.unit.rules.sites import HOME, A, B, Site, at, page

SHOP = Segment.parse("shop=/shop/**")
OLD = Segment.parse("old=/shop/old/")
OK, NOINDEX, NOT_CHECKED, SHELL = (
    {"indexability": str(one), "indexable": indexable}
    for one, indexable in (
        (Indexability.OK, True), (Indexability.NOINDEX, False), (Indexability.NOT_CHECKED, None), (Indexability.SHELL, None),
    )
)  # fmt: skip


def count(*records: UrlRecord | SitemapRecord, segments: list[Segment]) -> dict[str | None, SegmentCounts]:
    site = Site(*records)
    set_segments(site.connection, segments)
    issues = {rule for record in records if isinstance(record, UrlRecord) for rule in record.issues}
    return count_segments(SiteFacts(rows_of(site.connection)), segments, issues)


def test_first_segment_that_matches_counts_and_the_rest_is_other() -> None:
    pages = [page("/shop/old/1"), page("/shop/2"), page("/shop/2", B), page("/about")]
    found = count(*pages, segments=[OLD, SHOP])
    assert {name: one.urls for name, one in found.items()} == {"old": 1, "shop": 1, "other": 1, WHOLE: 3}
    found = count(*pages, segments=[SHOP, OLD])
    assert {name: one.urls for name, one in found.items()} == {"shop": 2, "old": 0, "other": 1, WHOLE: 3}


def test_segment_may_have_several_patterns() -> None:
    found = count(page("/a/1"), page("/b/1"), segments=[Segment.parse("x=/a/"), Segment.parse("x=/b/")])
    assert {name: one.urls for name, one in found.items()} == {"x": 2, "other": 0, WHOLE: 2}


def test_url_in_two_files_counts_once_and_by_what_is_known_of_it() -> None:
    pages = [
        page("/shop/1", **OK), page("/shop/1", B, **OK), page("/shop/2", **NOINDEX), page("/shop/3", **SHELL),
        page("/shop/4", **NOT_CHECKED), page("/shop/5", change="added", **OK), page("/shop/6", change="removed", **NOINDEX),
    ]  # fmt: skip
    one = count(*pages, segments=[SHOP])["shop"]
    assert (one.urls, one.indexable, one.not_indexable, one.unknown) == (5, 2, 1, 1)
    assert (one.added, one.removed, one.checked, one.share) == (1, 1, 4, 0.5)


def test_errors_and_warnings_are_those_of_its_urls() -> None:
    pages = [
        page("/shop/1", issues=["status-404"]), page("/shop/1", B, issues=["status-404"]), page("/shop/2", issues=["loc-fragment"]),
        page("/about", issues=["status-404", "loc-fragment"]),
    ]  # fmt: skip
    found = count(*pages, segments=[SHOP])
    assert [(found[name].errors, found[name].warnings) for name in ("shop", "other", WHOLE)] == [(1, 1), (1, 1), (2, 2)]


def test_trust_in_dates_is_that_of_the_files_by_their_dated_entries() -> None:
    dated = {"lastmod": "2026-01-05", "lastmod_at": "2026-01-05T00:00:00Z"}
    files = [
        SitemapRecord(url, lastmod=Lastmods(1.0, 10, share)) for url, share in ((A, 0.2), (B, 0.8), (f"{HOME}/c", None))
    ]
    pages = [
        page("/shop/1", **dated),
        page("/shop/2", B, **dated),
        page("/shop/3", B),
        page("/shop/4", f"{HOME}/c", **dated),
    ]
    found = count(*files, *pages, segments=[SHOP])
    assert (found["shop"].dated, found["shop"].trusted) == (3, pytest.approx((0.2 + 0.8 + 1) / 3))
    alone = count(files[2], pages[3], segments=[SHOP])["shop"]
    assert (alone.dated, alone.trusted) == (1, None)
    assert (found["other"].dated, found["other"].trusted) == (0, None)


@pytest.mark.parametrize(("proven", "trusted"), [(0.3, 0.3), (0.9, 0.5)])
def test_dates_are_trusted_no_more_than_the_baseline_proves(proven: float, trusted: float) -> None:
    dated = page("/shop/1", lastmod="2026-01-05", lastmod_at="2026-01-05T00:00:00Z")
    made = Site(SitemapRecord(A, lastmod=Lastmods(1.0, 10, 0.5)), dated)
    set_segments(made.connection, [SHOP])
    site = SiteFacts(rows_of(made.connection))
    found = count_segments(site, [SHOP], (), {"shop": proven, "other": proven})
    assert (found["shop"].trusted, found["other"].trusted) == (trusted, proven)


@pytest.mark.parametrize(
    "patterns",
    [
        ("a=/a", "b=/b/", "c=*/c"), ("a=/a/*/c", "b=*.pdf$", "c=/$"), ("a=https://Example.com/", "b=/", "c=/a"),
        ("a=/caf%C3%A9", "b=/%7Ea?b", "c=*?b=*c$"), ("a=*ä", "b=//", "c=/\u212a"), (),
    ],
)  # fmt: skip
def test_database_and_program_name_the_same_segments(patterns: tuple[str, ...]) -> None:
    segments = [Segment.parse(text) for text in patterns]
    paths = [
        "/", "", "/a", "/a/b/c", "/b/c.pdf", "/b/c.pdf?x", "/caf%c3%a9", "/café", "/~a?b=c", "/%7ea?b", "/ä", "//b", "/k", "/a\nb",
    ]  # fmt: skip
    urls = [
        f"{origin}{path}"
        for origin in ("https://example.com", "http://EXAMPLE.com:80", "ftp://e.com", "")
        for path in paths
    ]
    site = Site(*(UrlRecord(url, sitemap=A) for url in urls))
    set_segments(site.connection, segments)
    find = finder(segments)
    expected = {url: find(url) if segments else None for url in urls}
    assert dict(site.connection.execute("SELECT loc, segment FROM urls").fetchall()) == expected


def test_segments_that_are_given_no_more_leave_no_names() -> None:
    site = Site(page("/shop/1"))
    for segments, name in (([SHOP], "shop"), ([OLD], "other"), ([], None)):
        set_segments(site.connection, segments)
        assert site.connection.execute("SELECT segment FROM urls").fetchall() == [(name,)]


def test_changes_belong_to_the_segments_of_their_urls() -> None:
    site = Site(page("/shop/1"), page("/shop/2", change="removed"), page("/about"), SitemapRecord(A))
    for url, change in (
        (at("/shop/1"), "new problem"),
        (at("/shop/2"), "solved problem"),
        (A, "new problem"),
        (at("/about"), "new problem"),
        ("", "solved problem"),
    ):
        site.connection.execute("INSERT INTO changes (url, change, rule) VALUES (?, ?, 'status-404')", [url, change])
    set_segments(site.connection, [SHOP])
    set_segments_of_changes(site.connection)
    named = site.connection.execute("SELECT segment FROM changes ORDER BY rowid").fetchall()
    assert named == [("shop",), ("shop",), (None,), ("other",), (None,)]
    found = count_segments(SiteFacts(rows_of(site.connection)), [SHOP], ())
    assert [(found[name].new_problems, found[name].solved_problems) for name in ("shop", "other")] == [(1, 1), (1, 0)]


def test_pattern_is_no_sql() -> None:
    found = count(page("/a' OR '1'='1"), page("/b"), segments=[Segment.parse("x=/a' OR '1'='1")])
    assert (found["x"].urls, found["other"].urls) == (1, 1)


def test_site_without_urls_has_empty_segments() -> None:
    assert {name: one.urls for name, one in count(segments=[SHOP]).items()} == {"shop": 0, "other": 0, WHOLE: 0}


@pytest.mark.parametrize(
    ("limit", "problems"),
    [
        ("max-errors=0", Problems(2, 1, 1)),
        ("max-errors.status-404=0", Problems(2)),
        ("max-errors.status-slow=0", Problems(1)),
        ("max-errors.status=0", Problems(2)),
        ("max-errors.doc=0", Problems(files=1)),
        ("max-errors.lastmod=0", Problems()),
        ("shop.max-errors=0", Problems(1)),
        ("shop.max-errors.status=0", Problems(1)),
    ],
)
def test_limit_of_errors_counts_urls_files_and_the_site(limit: str, problems: Problems) -> None:
    site = Site(
        page("/shop/1", issues=["status-404"]), page("/shop/1", B, issues=["status-404"]), page("/shop/2", issues=["status-slow"]),
        page("/about", issues=["status-404"]),
        *(
            FindingRecord(rule, severity, "", sitemap, url=url and at(url))
            for rule, severity, sitemap, url in (
                ("status-404", "error", A, "/shop/1"), ("status-404", "error", B, "/shop/1"), ("status-404", "error", A, "/about"),
                ("status-slow", "warning", A, "/shop/2"), ("doc-bom", "error", A, None), ("cross-empty", "error", None, None),
            )
        ),
    )  # fmt: skip
    rules = ["status-404", "status-slow", "doc-bom", "cross-empty"]
    one = Limit.parse(limit)
    set_segments(site.connection, [SHOP])
    assert measure(SiteFacts(rows_of(site.connection)), [SHOP], [one], rules).problems == {one: problems}


def test_limit_of_a_pattern_counts_listed_urls_that_match() -> None:
    limits = [
        Limit.parse(text)
        for text in ("must-list=/shop/", "must-not-list=/a", "shop.must-list=*2$", "other.must-list=*2$")
    ]
    pages = [page("/shop/2"), page("/shop/2", B), page("/shop/1"), page("/a/3", change="removed")]
    site = Site(*pages)
    set_segments(site.connection, [SHOP])
    found = measure(SiteFacts(rows_of(site.connection)), [SHOP], limits, [])
    assert list(found.matches.values()) == [(2, at("/shop/1")), (0, None), (1, at("/shop/2")), (0, None)]
