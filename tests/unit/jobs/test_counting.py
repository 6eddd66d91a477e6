"""What rules concern, counted in the database: distinct URLs, entries and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from sitemapcrawler.items import FindingRecord, Reach, RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.counting import reaches
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.reach import NOUNS, Reaches, places, unknown
from tests.unit.rules.sites import HOME, A, B, C, Site, at

ROBOTS = f"{HOME}/robots.txt"


def entry(path: str, sitemap: str, *issues: str, change: str | None = None) -> UrlRecord:
    return UrlRecord(loc=at(path), sitemap=sitemap, issues=list(issues), change=change)


def finding(rule: str, severity: str, path: str | None = None, sitemap: str | None = A) -> FindingRecord:
    return FindingRecord(rule, severity, "", sitemap, url=None if path is None else at(path))


def from_database(records: Sequence[Any], rules: Sequence[str] = (), unlisted: Sequence[str] = ()) -> Reaches:
    return reaches(SiteFacts(rows_of(Site(*records).connection)), rules or named(records), unlisted)


def named(records: Sequence[Any]) -> list[str]:
    """The rules that records name."""
    rules = [[one.rule] if isinstance(one, FindingRecord) else one.issues for one in records]
    return sorted({rule for some in rules for rule in some})


def test_a_url_in_several_entries_counts_once() -> None:
    records = [
        entry("/1", A, "status-404"), entry("/1", A, "status-404"), entry("/1", B, "status-404"),
        entry("/2", B, "status-404", "loc-fragment"), entry("/3", C),
        finding("status-404", "error", "/1"), finding("loc-fragment", "warning", "/2", B),
    ]  # fmt: skip
    by_rule, by_severity = from_database(records, ["status-404", "loc-fragment"])
    assert by_rule == {"status-404": Reach("error", 2, 4, 2), "loc-fragment": Reach("warning", 1, 1, 1)}
    assert by_severity == {"error": Reach("error", 2, None, 2), "warning": Reach("warning", 1, None, 1)}


def test_problems_of_files_concern_no_url() -> None:
    robots = RobotsRecord(ROBOTS, issues=["robots-missing"])
    files = [SitemapRecord(file, issues=["lastmod-all-identical"]) for file in (A, B)]
    told = [finding("robots-missing", "info", None, ROBOTS), finding("xml-malformed", "error")]
    by_rule, by_severity = from_database([robots, *files, *told, finding("internal-error", "error", None, None)])
    assert by_rule == {
        "xml-malformed": Reach("error", 0, 0, 1),
        "internal-error": Reach("error", 0, 0, 0),
        "lastmod-all-identical": Reach("info", 0, 0, 2),
        "robots-missing": Reach("info", 0, 0, 1),
    }
    assert [(name, one.urls, one.files) for name, one in by_severity.items()] == [("error", 0, 1), ("info", 0, 3)]


def test_pages_that_no_sitemap_lists_count_by_their_findings() -> None:
    by_rule, _ = from_database([finding("links-not-listed", "warning", path, None) for path in ("/1", "/2", "/2")])
    assert by_rule == {"links-not-listed": Reach("warning", 2, 0, 0)}


def test_errors_of_whole_files_come_first_then_most_urls_whatever_the_number_of_findings() -> None:
    few = [finding("loc-relative", "error", f"/{number}") for number in range(6)]
    many = [entry(f"/{number}", A, "status-404") for number in range(30)]
    names = [entry(f"/{number}", A, "loc-relative") for number in range(6)]
    told = [finding("status-404", "error", "/0"), finding("lastmod-future", "warning")]
    whole = [finding("doc-truncated", "error", sitemap=C), finding("doc-empty-body", "error", sitemap=B)]
    of_an_entry = finding("xml-entry-without-loc", "error", sitemap=B)
    notes = [
        finding("index-lastmod-missing", "info", sitemap=C),
        *(entry(f"/{n}", A, "lastmod-missing") for n in (1, 2)),
    ]
    by_rule, _ = from_database([*many, *names, *few, *told, *whole, of_an_entry, *notes])
    files, of_urls = ["doc-empty-body", "doc-truncated"], ["status-404", "loc-relative", "xml-entry-without-loc"]
    assert [*by_rule] == [*files, *of_urls, "lastmod-future", "lastmod-missing", "index-lastmod-missing"]


def test_a_rule_on_pages_comes_before_the_one_on_links_to_them() -> None:
    counts = {"loc-relative": 9, "hreflang-target-status": 24, "status-410": 1, "status-404": 8, "page-noindex-meta": 9}
    entries = [entry(f"/{number}", A, rule) for rule, urls in counts.items() for number in range(urls)]
    by_rule, _ = from_database([*entries, *(finding(rule, "error", "/0") for rule in counts)])
    others = ["loc-relative", "page-noindex-meta"]
    assert [*by_rule] == ["status-404", "status-410", "hreflang-target-status", *others]


def test_urls_of_a_rule_with_two_severities_count_for_their_own() -> None:
    records = [entry(f"/{number}", A, "url-blocked") for number in range(5)]
    told = [finding("url-blocked", "error", "/3"), finding("url-blocked", "info", "/1")]
    by_rule, by_severity = from_database([*records, *told])
    assert by_rule == {"url-blocked": Reach("error", 1, 1, 1, milder=4)}
    assert [(name, one.urls) for name, one in by_severity.items()] == [("error", 1), ("info", 4)]
    assert from_database([*records, *told], unlisted=["url-blocked"])[0] == {"url-blocked": Reach("error", 5, 5, 1)}


def test_urls_of_a_rule_with_a_severity_for_each_file_count_for_that_of_their_file() -> None:
    records = [
        *(entry(f"/{n}", A, "loc-ip-host") for n in range(3)),
        *(entry(f"/{n}", B, "loc-ip-host") for n in (2, 7, 8)),
    ]
    told = [finding("loc-ip-host", "warning", "/0", A), finding("loc-ip-host", "info", "/7", B)]
    by_rule, by_severity = from_database([*records, *told])
    assert by_rule == {"loc-ip-host": Reach("warning", 3, 3, 1, milder=2)}
    assert [(name, one.urls) for name, one in by_severity.items()] == [("warning", 3), ("info", 3)]


def test_urls_of_a_rule_that_reports_each_value_count_for_the_worst_of_their_file() -> None:
    rule = "hreflang-code-invalid"
    records = [*(entry(f"/{n}", A, rule) for n in range(4)), *(entry(f"/{n}", B, rule) for n in (7, 8))]
    told = [finding(rule, "error", "/0"), finding(rule, "warning", "/1"), finding(rule, "warning", "/7", B)]
    by_rule, by_severity = from_database([*records, *told])
    assert by_rule == {rule: Reach("error", 3, 3, 1, milder=3)}
    assert [(name, one.urls) for name, one in by_severity.items()] == [("error", 3), ("warning", 3)]


def test_a_rule_whose_findings_are_only_counted_has_its_own_severity() -> None:
    rules = ["robots-missing", "loc-relative", "gone-rule"]
    by_rule, _ = from_database([entry("/1", A, "loc-relative", "replaced"), entry("/1", A, "gone-rule")], rules)
    assert {rule: (one.severity, one.urls) for rule, one in by_rule.items()} == {
        "loc-relative": ("error", 1), "gone-rule": ("warning", 1), "robots-missing": ("info", 0),
    }  # fmt: skip


def test_removed_urls_of_a_baseline_are_not_listed() -> None:
    site = Site(entry("/1", A, "status-404"), entry("/2", A, "status-404"))
    site.change("removed", "/2")
    assert reaches(SiteFacts(rows_of(site.connection)), ["status-404"])[0]["status-404"].urls == 1


@pytest.mark.parametrize(
    ("found", "subject", "place"),
    [
        (Reach("error", 11_755, 12_000, 3), "11,755 URLs", "on 11,755 URLs in 3 files"),
        (Reach("error", 1, 1, 0), "1 URL", "on 1 URL"),
        (Reach("error", 0, 0, 2), "2 files", "in 2 files"),
        (Reach("error", 0, 0, 0), "the site", "on the site"),
        (Reach("error", 0, 12, 2, at_least=True), "12 entries", "on 12 entries"),
        (replace(Reach("info", 100_000, 1, 1), at_least=True), "at least 100,000 URLs", "on at least 100,000 URLs"),
    ],
)  # fmt: skip
def test_reach_in_words(found: Reach, subject: str, place: str) -> None:
    assert (found.subject, found.place) == (subject, place)


@pytest.mark.slow
def test_urls_that_differ_in_two_numbers_are_told_apart() -> None:
    """`hash` of DuckDB 2.0.1 is equal for 1.7 % of such URLs."""
    number = 20_000
    records = [entry(f"/shop/category-{at % 97}/product-{at:07}.html", A, "status-404") for at in range(number)]
    assert from_database(records)[0]["status-404"].urls == number


@pytest.mark.parametrize(
    ("severities", "expected"),
    [(["info"], {"robots-unreachable": "info"}), (["info", "error"], {"robots-unreachable": "error"}), ([], {})],
)
def test_rule_that_was_not_counted_has_a_severity_that_was_found(
    severities: list[str], expected: dict[str, str]
) -> None:
    found, by_severity = unknown(expected, {one: Reach(one, 0, 3, 1) for one in severities})
    assert {rule: reach.severity for rule, reach in found.items()} == expected
    assert {rule: reach.subject for rule, reach in found.items()} == dict.fromkeys(expected, "")
    assert sorted(places(by_severity).values()) == sorted(f"{NOUNS[one]} on 3 entries" for one in severities)
