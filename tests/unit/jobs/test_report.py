"""Filling the report's model from a database: what is counted, what is shown, and what happens without time."""

from __future__ import annotations

import json
import random
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemapcrawler.items import (
    ChangeRecord,
    FindingRecord,
    Hop,
    ReplyRecord,
    RobotsRecord,
    SitemapRecord,
    SummaryRecord,
    Target,
    UrlRecord,
)
from sitemapcrawler.jobs import report as queries
from sitemapcrawler.jobs import url_table
from sitemapcrawler.jobs.counting import reaches
from sitemapcrawler.jobs.report import FIRST_SITEMAPS, gather, most_each, share
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.jobs.store.schema import RECORDS
from sitemapcrawler.replies.indexability import set_indexability
from sitemapcrawler.report.model import (
    MAX_CHANGED,
    MAX_EXAMPLES,
    MAX_FINDINGS,
    MAX_MONTHS,
    MAX_NOT_INDEXABLE,
    MAX_SITEMAPS,
    MIN_EXAMPLES,
    Lead,
    Report,
)
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.sites import CARRIED
from tests.examples import briefly
from tests.unit.jobs.store import making
from tests.unit.rules.sites import HOME, A, B, C, Site, at, page

CHECKED = {"ok": 1}
"""Replies of a summary where URLs were verified."""


def report(*records: Any, changes: Mapping[str, str] | None = None, **summary: Any) -> Report:
    """The report on a crawl of these records. `changes`: {path: what became of it}."""
    site = Site(*records)
    for path, change in (changes or {}).items():
        site.change(change, path)
    return gathered(site, SummaryRecord(**summary))


def gathered(site: Site, summary: SummaryRecord) -> Report:
    """The report on a crawl that has ended with this summary."""
    summary.reach, summary.severity_reach = reaches(SiteFacts(rows_of(site.connection)), summary.rules)
    return gather(site.connection, summary)


def finding(rule: str, sitemap: str | None = A, severity: str = "error", **fields: Any) -> FindingRecord:
    return FindingRecord(rule, severity, f"{rule} is so", sitemap, **fields)


def asked(path: str, kind: str, status: int | None = None, blocked_for: Sequence[str] = (), **reply: Any) -> UrlRecord:
    """An entry that was verified."""
    made = page(
        path, reply=ReplyRecord(kind, status=status, **{"final_status": status, **reply}), blocked_for=blocked_for
    )
    set_indexability(made)
    return made


def problems(*records: Any) -> dict[str, Any]:
    """{file: (errors, warnings, infos)} of a crawl of these records, with two files."""
    made = report(SitemapRecord(A), *records)
    return {one.record.sitemap: (one.errors, one.warnings, one.infos) for one in made.files}


def test_crawl_that_found_nothing_at_all() -> None:
    made = report()
    empty = Report(SummaryRecord(), urls=0)
    assert all(getattr(made, one.name) in (getattr(empty, one.name), []) for one in fields(Report))


def test_rules_come_by_severity_then_urls_and_say_what_the_registry_says() -> None:
    known = next(rule for rule in all_rules() if rule.id == "loc-relative")
    found = [
        page("/1", issues=["own-rule"]), page("/2", issues=["own-rule", "lastmod-future"]), page("/2", B, issues=["own-rule"]),
        finding("loc-relative"), finding("loc-relative", B), finding("own-rule", severity="warning"),
        finding("lastmod-future", severity="warning"), finding("lastmod-future", severity="info"),
    ]  # fmt: skip
    counts = {"lastmod-future": 300, "loc-relative": 2, "own-rule": 1, "robots-missing": 1, "never-seen": 9}
    made = report(*found, rules=counts).rules
    assert [(one.rule, one.severity, one.reach.urls, one.reach.files, one.count) for one in made] == [
        ("loc-relative", "error", 0, 2, 2),
        ("own-rule", "warning", 2, 2, 1),
        ("lastmod-future", "warning", 0, 1, 300),
        ("never-seen", "warning", 0, 0, 9),
        ("robots-missing", "info", 0, 0, 1),
    ]
    assert (made[0].what, made[0].why, made[0].source) == (known.what, known.why, known.source)
    assert made[0].what and "\n" not in made[0].what and made[0].why
    assert (made[1].what, made[1].why, made[1].source) == ("", "", "")


def test_rules_on_redirects_have_one_with_what_to_do_about_it() -> None:
    moved = ReplyRecord("redirected", 301, final_status=200, final_url=at("/new"))
    fields = {"reply": moved, "indexability": "redirect", "target": Target(at("/new"), indexable=True)}
    listed = page("/1", issues=["status-redirect", "status-redirect-target-listed-too"], **fields)
    chained = page("/2", issues=["status-redirect-chain"], **fields)
    hidden = page(
        "/3",
        issues=["page-canonical-other"],
        reply=ReplyRecord("ok", 200, canonical=at("/new")),
        indexability="noindex",
    )
    names = {"status-redirect": "/1", "status-redirect-chain": "/2", "page-canonical-other": "/3"}
    found = [finding(rule, url=at(path)) for rule, path in names.items()]
    found.append(finding("status-redirect-chain", url=at("/3")))
    pages = (listed, chained, hidden)
    made = {rule.rule: rule.lead for rule in report(*pages, *found, rules=dict.fromkeys(names, 1)).rules}
    assert made == {
        "status-redirect": Lead(at("/1"), at("/new"), "Remove the entry: its target is listed too."),
        "status-redirect-chain": Lead(at("/2"), at("/new"), "List the target instead."),
        "page-canonical-other": None,
    }


def test_main_file_and_value_of_a_rule_are_those_of_this_site() -> None:
    found: list[Any] = [finding("lastmod-invalid", A, value=value) for value in ("1.2.26", "1.2.26", "x")]
    found += [page(path, B, issues=["lastmod-invalid"]) for path in ("/1", "/2", "/2", "/3")]
    found += [page("/1", A, issues=["lastmod-invalid"]), finding("lastmod-invalid", B, value="x")]
    found += [finding("robots-missing", None), finding("own-rule", B, value="")]
    counts = {"lastmod-invalid": 4, "robots-missing": 1, "own-rule": 1}
    one, other, third = sorted(report(*found, rules=counts).rules, key=lambda rule: rule.rule)
    assert (one.main_file, one.in_main_file, one.main_value, one.with_main_value) == (B, 3, "1.2.26", 2)
    assert one.fix.startswith("Write the date as") and other.fix == ""
    assert (other.main_file, other.main_value) == (None, None)
    assert (third.main_file, third.main_value) == (None, None)


def test_examples_are_of_as_many_files_as_there_are() -> None:
    found = [finding("loc-relative", A, line=line) for line in range(20)]
    found += [finding("loc-relative", sitemap, line=line) for sitemap in (B, C) for line in (7, 8)]
    [made] = report(*found, rules={"loc-relative": 500}).rules
    assert [(one.sitemap, one.line) for one in made.examples[:3]] == [(A, 0), (B, 7), (C, 7)]
    assert len({(one.sitemap, one.line) for one in made.examples}) == len(made.examples) == len(found)


@pytest.mark.slow
def test_no_rule_shows_more_findings_than_there_is_room_for() -> None:
    found = [finding("loc-relative", A, line=line) for line in range(MAX_EXAMPLES + 1)]
    [made] = report(*found, rules={"loc-relative": 900}).rules
    assert len(made.examples) == MAX_EXAMPLES


@pytest.mark.parametrize(
    ("kept", "most"),
    [
        ([], MAX_EXAMPLES),
        ([MAX_EXAMPLES + 1], MAX_EXAMPLES),
        ([900] * 40, MAX_FINDINGS // 40),
        ([900] * 200, MIN_EXAMPLES),
        ([1] * 30 + [70, 900, 900, 900, 900], (MAX_FINDINGS - 100) // 4),
        ([500, 500, 500, 500], MAX_EXAMPLES),
    ],
)
def test_rules_with_few_findings_leave_room_to_the_others(kept: list[int], most: int) -> None:
    assert most_each(kept) == most


@pytest.mark.parametrize(
    ("counts", "room", "each"),
    [([], 10, 0), ([1, 2], 10, 2), ([1, 50], 10, 9), ([50, 50], 10, 5), ([3, 50, 50], 10, 3), ([5], 0, 0)],
)
def test_shares(counts: list[int], room: int, each: int) -> None:
    assert share(counts, room) == each


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], (0, 0, 0)),
        ([finding("xml-malformed")], (1, 0, 0)),
        ([page("/1", issues=["loc-relative"]), page("/1", issues=["loc-relative"])], (1, 0, 0)),
        ([page(f"/{number}", issues=["loc-relative"]) for number in range(250)], (250, 0, 0)),
        ([page("/1", issues=["loc-relative"]), finding("loc-relative", severity="info")], (0, 0, 1)),
        ([page("/1", issues=["a"]), page("/2", issues=["b"]), finding("xml-malformed")], (1, 2, 0)),
        ([page("/1", issues=["loc-relative", "loc-offsite"])], (1, 0, 0)),
    ],
)
def test_problems_of_a_file_count_its_urls_and_itself(records: list[Any], expected: tuple[int, int, int]) -> None:
    assert problems(*records, SitemapRecord(B), finding("b", B, "warning")) == {A: expected, B: (0, 1, 0)}


def test_files_count_their_urls_that_are_not_indexable() -> None:
    entries = [
        asked("/1", "http-error", 404), asked("/1", "http-error", 404), page("/2", indexable=True),
        page("/3"), page("/1", B, indexable=False), page("/was", indexable=False),
    ]  # fmt: skip
    made = {one.record.sitemap: one for one in report(*entries, SitemapRecord(C), changes={"/was": "removed"}).files}
    assert {name: (one.not_indexable, one.checked) for name, one in made.items()} == {A: (1, 2), B: (1, 1), C: (0, 0)}


def test_an_error_of_a_file_is_none_of_its_urls() -> None:
    page_and_file = page("/1", issues=["loc-relative"]), finding("xml-malformed")
    found = report(*page_and_file, SitemapRecord(B), finding("xml-malformed", B)).files
    assert {one.record.sitemap: (one.errors, one.error_urls) for one in found} == {A: (2, 1), B: (1, 0)}


@pytest.mark.slow
def test_files_with_the_heaviest_problems_come_first_and_are_shown() -> None:
    few = [finding("a", C), finding("a", B, "warning"), finding("a", B, "info")]
    others = [SitemapRecord(f"{HOME}/{number}.xml", url_count=number) for number in range(MAX_SITEMAPS)]
    made = report(*others, *map(SitemapRecord, (A, B, C)), *few).files
    assert [one.record.sitemap for one in made[:3]] == [C, B, f"{HOME}/{MAX_SITEMAPS - 1}.xml"]
    assert len(made) == MAX_SITEMAPS


def test_months_are_those_of_what_is_listed() -> None:
    dates = ["2024-05-01T00:00:00Z", "2023-12-31T23:59:59Z", "2024-05-31T10:00:00Z", None, "0001-01-01T00:00:00Z"]
    pages = [page(f"/{number}", lastmod_at=date) for number, date in enumerate(dates)]
    made = report(*pages, page("/gone", lastmod_at=dates[0]), changes={"/gone": "removed"})
    assert list(made.months.items()) == [("0001-01", 1), ("2023-12", 1), ("2024-05", 2)]
    assert (made.undated, made.other_months) == (1, 0)


@pytest.mark.slow
def test_months_of_a_site_that_dates_every_page_otherwise() -> None:
    dates = [f"{1000 + number // 12}-{1 + number % 12:02}-01T00:00:00Z" for number in range(MAX_MONTHS + 7)]
    made = report(*(page(f"/{date}", lastmod_at=date) for date in [*dates, dates[-1]]))
    assert len(made.months) == MAX_MONTHS
    assert made.months[dates[-1][:7]] == 2
    assert list(made.months) == sorted(made.months)
    assert made.other_months == 7


def test_statuses_and_urls_that_are_not_indexable() -> None:
    pages = [
        asked("/ok", "ok", 200), asked("/ok", "ok", 200), asked("/soft", "ok", 200, soft_404="it says so"),
        asked("/moved", "redirected", 301, final_status=200), asked("/404", "http-error", 404), asked("/404", "http-error", 404),
        asked("/slow", "timeout"), asked("/not", "unchecked", reason="blocked"), page("/unasked"),
        asked("/gone", "http-error", 410), asked("/denied", "unchecked", reason="blocked", blocked_for=["Googlebot"]),
        asked("/not", "unchecked", reason="blocked"),
    ]  # fmt: skip
    made = report(*pages, replies=CHECKED, changes={"/gone": "removed"})
    assert list(made.statuses.items()) == [("200", 2), ("301", 1), ("404", 1), ("timeout", 1)]
    assert made.not_requested == {"blocked": 2}
    assert made.indexability == {
        "blocked": 1, "not checked": 1, "not found": 1, "page not read": 1, "redirect": 1, "soft 404": 1, "unreachable": 1
    }  # fmt: skip
    assert (made.urls, made.listed) == (8, 11), "a URL that is listed twice counts once"
    assert [one.loc for one in made.not_indexable] == [
        at(path) for path in ("/denied", "/slow", "/404", "/moved", "/soft")
    ]
    assert [one.indexability for one in made.not_indexable] == [
        "blocked", "unreachable", "not found", "redirect", "soft 404"
    ]  # fmt: skip
    assert made.not_indexable[2].reply == ReplyRecord("http-error", status=404, final_status=404)
    assert (made.not_indexable[2].sitemap, made.not_indexable[2].line) == (A, pages[4].line)


@pytest.mark.slow
def test_so_many_urls_that_are_not_indexable() -> None:
    moved = [asked(f"/moved/{number}", "redirected", 200) for number in range(5)]
    pages = [asked(f"/{number}", "http-error", 404) for number in range(MAX_NOT_INDEXABLE + 5)]
    made = report(*moved, *pages, replies=CHECKED)
    shown = [*pages[: MAX_NOT_INDEXABLE - len(moved)], *moved]
    assert [one.loc for one in made.not_indexable] == [one.loc for one in shown]


def entries_of(made: Report) -> list[dict[str, Any]]:
    """Rows of the table of all URLs, with the values that are not empty."""
    assert made.entries is not None
    columns = json.loads(zlib.decompress(made.entries.packed, wbits=-15))
    rows = [
        {name: held["values"][held["codes"][at]] for name, held in columns.items()} for at in range(made.entries.shown)
    ]
    return [{name: value for name, value in row.items() if value not in (None, [])} for row in rows]


def test_all_entries_are_in_the_table_of_all_urls() -> None:
    pages = [
        replace(asked("/b/1", "ok", 200), lastmod_at="2026-03-04T05:06:07Z", line=7),
        replace(
            asked("/a", "redirected", 301, final_status=404, redirects=[Hop(301, at("/a"))], final_url=at("/gone")),
            line=8,
        ),
        replace(asked("/slow", "timeout", final_url=at("/slow")), line=9, issues=["loc-relative"]),
        page("/b/1", B, line=3),
        replace(asked("/was", "http-error", 404, ["GPTBot"]), line=4, issues=["loc-relative"]),
        replace(asked("/not", "unchecked", None, ["Googlebot", "GPTBot"], reason="blocked"), line=10),
    ]
    made = report(*pages, changes={"/was": "removed", "/a": "changed"})
    assert made.entries is not None and made.entries.total == made.entries.shown == 6
    assert entries_of(made) == [
        {"loc": at("/a"), "indexability": "redirect", "status": "301", "target": at("/gone"), "sitemap": A, "line": 8,
         "host": "example.com", "folder": "/", "change": "changed"},
        {"loc": at("/b/1"), "indexability": "page not read", "status": "200", "sitemap": A, "line": 7, "host": "example.com", "folder": "/b/",
         "lastmod": "2026-03-04", "month": "2026-03"},
        {"loc": at("/b/1"), "sitemap": B, "line": 3, "host": "example.com", "folder": "/b/"},
        {"loc": at("/not"), "indexability": "blocked", "sitemap": A, "line": 10, "host": "example.com", "folder": "/",
         "denied": ["Googlebot", "GPTBot"]},
        {"loc": at("/slow"), "indexability": "unreachable", "status": "timeout", "problem": ["loc-relative"],
         "sitemap": A, "line": 9, "host": "example.com", "folder": "/"},
        {"loc": at("/was"), "sitemap": A, "line": 4, "host": "example.com", "folder": "/", "change": "removed"},
    ]  # fmt: skip


def test_sample_of_entries_has_all_of_each_rare_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_table, "MAX_ENTRIES", 10)
    pages = [asked(f"/{number}", "ok", 200) for number in range(40)]
    pages += [asked(f"/gone/{number}", "http-error", 404) for number in range(20)]
    pages += [replace(asked(f"/odd/{number}", "ok", 200), issues=["loc-relative"]) for number in range(2)]
    made = report(*pages)
    assert made.entries is not None and (made.entries.shown, made.entries.total) == (10, 62)
    assert Counter(row["folder"] for row in entries_of(made)) == {"/": 4, "/gone/": 4, "/odd/": 2}


def test_entries_that_take_too_much_room_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_table, "MAX_PACKED", 4000)
    pages = [page(f"/{random.Random(number).randbytes(300).hex()}") for number in range(64)]
    made = report(*pages)
    assert made.entries is not None
    assert len(made.entries.packed) <= 4000
    assert (made.entries.shown, made.entries.total) == (8, 64)


def test_entries_with_very_long_urls_are_sampled_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_table, "MAX_CHARACTERS", 4000)
    made = report(*(page(f"/{'x' * 200}/{number}") for number in range(64)))
    assert made.entries is not None
    assert (made.entries.shown, made.entries.total) == (16, 64)


def test_sql_of_the_table_holds_for_a_feed(tmp_path: Path) -> None:
    site = Site(
        asked("/a", "redirected", 301, final_status=200, redirects=[Hop(301, at("/a"))]),
        asked("/b", "timeout"),
        page("/c/d"),
    )
    site.connection.execute(f"COPY urls TO '{tmp_path}/urls.parquet'")
    select = f"SELECT {', '.join(url_table.COLUMNS.values())} FROM"
    assert (
        duckdb.sql(f"{select} '{tmp_path}/urls.parquet'").fetchall()
        == site.connection.execute(f"{select} urls").fetchall()
    )


def test_nothing_is_said_of_replies_where_nothing_was_asked() -> None:
    assert "statuses" not in queries.queries(SummaryRecord())
    assert "statuses" in queries.queries(SummaryRecord(replies=CHECKED))


def test_changes_since_the_baseline() -> None:
    added = [ChangeRecord(at(f"/{number}"), "added") for number in range(MAX_CHANGED + 1)]
    values = [ChangeRecord(at("/x"), "changed", "status", "200", "404"), ChangeRecord(at("/x"), "changed", "lastmod")]
    made = report(*added, *values)
    assert {name: len(rows) for name, rows in made.changed.items()} == {"changed": 2, "added": MAX_CHANGED}
    assert made.changed["changed"] == values


def test_languages_and_their_return_links() -> None:
    both = {"de": "/de/", "en-us": "/en/"}
    pages = [
        page("/de/", A, both), page("/en/", B, {"en-US": "/en/"}),
        page("/de/2", A, {"de": "/de/2", "fr": "/fr/2", "no such code": "/x"}), page("/3", A, {"de": "/3"}),
    ]  # fmt: skip
    made = report(*pages)
    assert [(one.code, one.links, one.unreturned, one.unlisted) for one in made.languages] == [
        ("de", 3, 0, 0),
        ("en-US", 2, 1, 0),
        ("fr", 1, 0, 1),
    ]
    assert made.language_count == 3
    assert report(page("/")).languages == ()


def test_robots_of_most_urls_come_first_and_few_of_their_sitemaps_are_kept() -> None:
    named = [f"{HOME}/{number}.xml" for number in range(2 * FIRST_SITEMAPS)]
    small, large = RobotsRecord("https://b.example/robots.txt"), RobotsRecord("https://a.example/robots.txt")
    large.urls, large.sitemaps, large.agents = 7, named, {"GPTBot": 3}
    made = report(small, large)
    assert [one.robots for one in made.robots] == [large.robots, small.robots]
    assert (made.robots[0].sitemaps, made.robots[0].agents) == (named[:FIRST_SITEMAPS], {"GPTBot": 3})
    assert made.robots_count == 2


def test_denied_urls_are_examples_of_each_set_of_crawlers_and_folder() -> None:
    both = [page(f"/private/{at}", blocked_for=["GPTBot", "CCBot"]) for at in range(3)]
    others = [page("/a/1", blocked_for=["CCBot"]), page("https://b.example/1", blocked_for=["CCBot"])]
    free = [page("/b/1", blocked_for=[]), page("/c/1"), page("/was", blocked_for=["CCBot"])]
    made = report(*both, *others, *free, changes={"/was": "removed"}).denied
    assert [(one.robots, one.url, [*one.agents], one.lines) for one in made] == [
        (at("/robots.txt"), at("/private/0"), ["GPTBot", "CCBot"], {}),
        (at("/robots.txt"), at("/private/2"), ["GPTBot", "CCBot"], {}),
        ("https://b.example/robots.txt", "https://b.example/1", ["CCBot"], {}),
        (at("/robots.txt"), at("/a/1"), ["CCBot"], {}),
    ]


def test_denied_urls_of_many_hosts_are_those_of_the_folders_with_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_DENIED_IN_ALL", 2)
    pages = [
        page(f"https://h{host}.example/{at}", blocked_for=["CCBot"]) for host in range(5) for at in range(1 + host)
    ]
    made = report(*pages).denied
    assert [one.url for one in made] == [f"https://h{host}.example/{at}" for host in (4, 3) for at in (0, host)]


def test_what_comes_too_late_is_left_out_and_named() -> None:
    site = Site(page("/"), SitemapRecord(A))
    asked_for = 0

    def late() -> bool:
        nonlocal asked_for
        asked_for += 1
        return asked_for > 2

    made = gather(site.connection, SummaryRecord(), late=late)
    assert len(made.files) == 1
    assert made.left_out == [name for name in queries.queries(SummaryRecord()) if name not in ("rules", "files")]


@pytest.mark.parametrize("error", [duckdb.InterruptException, duckdb.OutOfMemoryException, OSError, ValueError])
def test_part_that_fails_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def fails(_: object) -> dict[str, Any]:
        raise error("it fails")

    monkeypatch.setattr(queries, "months", fails)
    site = Site(page("/", change="added"), ChangeRecord(at("/"), "added"))
    made = gather(site.connection, SummaryRecord(), agents=["GPTBot"], feeds=["urls.jsonl"])
    assert made.left_out == ["months"]
    assert len(made.changed["added"]) == 1
    assert (made.judged_agents, made.feeds) == (["GPTBot"], ["urls.jsonl"])


def test_what_is_known_is_not_asked_again() -> None:
    known = {"languages": [], "language_count": 7}
    made = gather(Site(page("/", links={"de": "/"})).connection, SummaryRecord(), known=known)
    assert (made.languages, made.language_count) == ([], 7)


ANY = st.one_of(*(making.of(kind, making.ANY) for kind in (UrlRecord, SitemapRecord, FindingRecord, RobotsRecord)))


@pytest.mark.slow
@briefly(10)
@given(st.lists(ANY, max_size=6))
@example([UrlRecord(reply=ReplyRecord(status=301, reason="blocked"))])
def test_any_records_give_a_report(opened: Store, records: list[Any]) -> None:
    for number, record in enumerate(records):
        if isinstance(record, SitemapRecord):
            record.sitemap = f"{number}"
    for table, kind in RECORDS.items():
        opened.execute(f"DELETE FROM {table}")
        with opened.spool() as spool:
            rows = [record for record in records if isinstance(record, kind) and table != CARRIED]
            spool.write(making.lines(rows), len(rows))
            opened.insert(table, [spool])
    with opened.analysis() as cursor:
        made = gather(cursor, SummaryRecord(replies=CHECKED))
    assert made.left_out == []
    assert len(made.files) == sum(isinstance(record, SitemapRecord) for record in records)
    listed = [one for one in records if isinstance(one, UrlRecord) and one.change != "removed"]
    assert sum(made.months.values()) + made.undated == len(listed)
    replies = [(one.loc, one.reply) for one in listed if one.reply is not None]
    answers = {
        (loc, reply.kind if reply.status is None else str(reply.status))
        for loc, reply in replies
        if reply.status is not None or reply.kind != "unchecked"  # a redirect may lead to what is not requested
    }
    assert Counter(made.statuses).total() == len(answers)  # made up: the URL of two records may have two answers
    msgspec.json.encode(made)  # which half of a surrogate pair would not let
