"""What is news in an audit."""

from __future__ import annotations

import pytest

from sitemapcrawler.extensions.notifying import MOST, news
from sitemapcrawler.items import (
    Breach,
    ChangeCounts,
    ChangeRecord,
    Reach,
    Revisits,
    RobotsChange,
    SitemapRecord,
    SummaryRecord,
)
from sitemapcrawler.report.model import MAX_CHANGED, FileProblems, Report
from sitemapcrawler.rules.facts.sites import CHANGED, NEW_PROBLEM, REMOVED

PAGE = "https://example.com/a"


def report(changes: ChangeCounts | None = None, *changed: ChangeRecord, **summary: object) -> Report:
    """A report on one file with one entry."""
    kinds = dict.fromkeys(one.change for one in changed)
    return Report(
        SummaryRecord(sitemaps=1, urls=1, changes=changes, **summary),  # type: ignore[arg-type] # fields by name
        files=[FileProblems(SitemapRecord(outcome="ok"))],
        undated=1,
        changed={kind: [one for one in changed if one.change == kind] for kind in kinds},
    )


def problem(rule: str, severity: str = "error", url: str = PAGE) -> ChangeRecord:
    return ChangeRecord(url, NEW_PROBLEM, rule=rule, severity=severity)


def became(after: str, before: str = "ok") -> ChangeRecord:
    return ChangeRecord(PAGE, CHANGED, "indexability", before, after)


@pytest.mark.parametrize(
    "quiet",
    [
        report(ChangeCounts(added=3, changed=2, solved_problems={"error": 4}), became("ok", "noindex")),
        report(ChangeCounts(new_problems={"warning": 1}), problem("lastmod-no-timezone", "warning")),
        report(ChangeCounts(), became("unknown"), became("noindex", "not found")),
        report(severity_reach={"warning": Reach("warning", 3, 3, 1)}),
        report(ChangeCounts(), revisits=Revisits(100, 95, 0, 5)),
    ],
)
def test_no_news_are_no_message(quiet: Report) -> None:
    assert news(quiet) == []


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (
            report(ChangeCounts(new_problems={"error": 3}), *map(problem, ("status-404", "loc-empty", "status-404"))),
            f"3 new errors (status-404 and loc-empty), such as {PAGE}.",
        ),
        (report(ChangeCounts(), became("noindex")), f"1 page can no longer be indexed: {PAGE}."),
        (
            report(ChangeCounts(), *[became("noindex")] * MAX_CHANGED),
            f"At least 1,000 pages can no longer be indexed, such as {PAGE}.",
        ),
        (report(ChangeCounts(removed=1), ChangeRecord(PAGE, REMOVED)), f"1 URL is no longer listed: {PAGE}."),
        (
            report(ChangeCounts(), problem("lastmod-vs-page-date", "warning")),
            f"1 new reason to mistrust dates (lastmod-vs-page-date): {PAGE}.",
        ),
        (
            report(ChangeCounts(robots=[RobotsChange("https://example.com/robots.txt", not_compared="no answer")] * 3)),
            "https://example.com/robots.txt: rules not compared: no answer. 2 more robots.txt files have changed.",
        ),
        (
            report(ChangeCounts(robots=[RobotsChange("https://example.com/robots.txt", not_compared="no answer")] * 2)),
            "https://example.com/robots.txt: rules not compared: no answer. 1 more robots.txt file has changed.",
        ),
        (report(partial="max_time"), "The crawl ended early: it reached max_time."),
        (
            report(severity_reach={"error": Reach("error", 12, 12, 1)}),
            "There is no earlier audit to compare with, and there are errors on 12 URLs.",
        ),
    ],
)
def test_news_are_one_sentence(found: Report, told: str) -> None:
    assert news(found) == [told]


@pytest.mark.parametrize(
    ("before", "now", "is_news"), [(1, 94, True), (0.5, 50, False), (0.5, 44, True), (0.5, 90, False)]
)
def test_dates_that_lost_trust_are_news(before: float, now: int, is_news: bool) -> None:
    found = report(ChangeCounts(), revisits=Revisits(100, now, 100 - now))
    found.true_before = before
    why = f"Google can trust {now} of 100 lastmod dates: {100 - now} changed although the page did not."
    assert news(found) == [why] * is_news


@pytest.mark.parametrize("changes", [None, ChangeCounts()])
@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ([], ["min-urls=9"], ["1 policy limit is broken: min-urls=9: 3 URLs are listed."]),
        (["min-urls=9"], ["min-urls=9"], []),
        (["min-urls=9"], [], []),
        (["min-urls=8"], ["min-urls=9"], ["1 policy limit is broken: min-urls=9: 3 URLs are listed."]),
        (["min-urls=9"], ["min-urls=9", "max-errors=0", "min-urls=8"],
         ["2 policy limits are broken, such as max-errors=0: 3 URLs are listed."]),
        ([], [""], []),  # the crawl ended early, which is news in itself
    ],
)  # fmt: skip
def test_limit_that_was_kept_and_is_broken_is_news(
    changes: ChangeCounts | None, before: list[str], now: list[str], told: list[str]
) -> None:
    found = report(changes, breaches=[Breach(limit, "3 URLs are listed") for limit in now])
    found.broken_before = frozenset(before)
    assert news(found) == told


def test_text_of_the_site_is_inert() -> None:
    (told,) = news(
        report(ChangeCounts(removed=1), ChangeRecord("https://e.com/\u202e\n\x1b[31m" + "x" * 9999, REMOVED))
    )
    assert told.isprintable() and len(told) < 600


def test_message_has_five_sentences_at_most() -> None:
    robots = [RobotsChange("https://example.com/robots.txt", not_compared="no answer")]
    much = report(
        ChangeCounts(removed=1, new_problems={"error": 1}, robots=robots),
        problem("status-404"), problem("lastmod-future", "warning"), became("noindex"), ChangeRecord(PAGE, REMOVED),
        partial="max_time",
    )  # fmt: skip
    told = news(much)
    assert len(told) == MOST
    assert told[-1] == "2 more kinds of changes are in the report."
