"""Figures, dates and addresses in words."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sitemapcrawler.items import (
    READ,
    ChangeCounts,
    ComparedList,
    Coverage,
    IndexCounts,
    LinkGraph,
    Reach,
    Revisits,
    RobotsRecord,
    Share,
    SitemapRecord,
    SummaryRecord,
)
from sitemapcrawler.reader.formats import FORMATS, format_label
from sitemapcrawler.replies import Reason, ReplyKind
from sitemapcrawler.report import wording
from sitemapcrawler.report import wording as words
from sitemapcrawler.report.model import FileProblems, Report
from sitemapcrawler.report.wording import gaps, health, not_indexable, partial, unfinished_rules


def on(urls: Mapping[str, int]) -> dict[str, Reach]:
    """What findings concern: so many URLs of one file, by severity."""
    return {severity: Reach(severity, number, None, 1) for severity, number in urls.items()}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (wording.number(1234567), "1,234,567"),
        (wording.percent(0, 10), "0 %"),
        (wording.percent(10, 10), "100 %"),
        (wording.percent(1, 10_000), "<0.1 %"),
        (wording.percent(9_999, 10_000), ">99.9 %"),
        (wording.percent(9_984, 10_000), "99.8 %"),
        (wording.percent(1, 40), "2.5 %"),
        (wording.percent(1, 3), "33 %"),
        (wording.percent(1, 0), "0 %"),
        (wording.listed([]), ""),
        (wording.listed(["a"]), "a"),
        (wording.listed(["a", "b", "c"]), "a, b and c"),
        (wording.listed(list("abcde"), 3), "a, b, c and 2 more"),
        (wording.beside("urls 1.jsonl"), "urls%201.jsonl"),
        (wording.beside("javascript:alert(1)"), "javascript%3Aalert%281%29"),
        (wording.sentences("The file ends before its end."), ["The file ends before its end"]),
        (wording.sentences("An ampersand is not written as `&amp;`."), ["An ampersand is not written as `&amp;`"]),
        (wording.sentences("No date. Once for a file. Rare."), ["No date", "Once for a file. Rare"]),
        (wording.sentences("A priority below 0.0 or above 1.0."), ["A priority below 0.0 or above 1.0"]),
        (wording.sentences(""), []),
    ],
)
def test_figures_and_sentences_are_for_people(made: object, expected: object) -> None:
    assert made == expected


@pytest.mark.parametrize(
    ("text", "clock", "expected"),
    [
        ("2024-05-03T10:00:00Z", True, "3 May 2024, 10:00 UTC"),
        ("2024-05-03T23:30:00-02:00", True, "4 May 2024, 01:30 UTC"),
        ("2024-05-03T23:30:00-02:00", False, "3 May 2024"),
        ("2024-05-03", False, "3 May 2024"),
        ("0001-01-01T00:00:00+10:00", True, "0001-01-01T00:00:00+10:00"),
        ("yesterday", True, "yesterday"),
        ("", True, ""),
        (None, True, ""),
    ],
)
def test_dates_are_for_people(text: str | None, clock: bool, expected: str) -> None:
    made = wording.moment(text, clock)
    assert (str(made).partition(">")[2].partition("<")[0] or made) == expected


def test_address_is_shown_without_the_origin_of_the_site() -> None:
    assert "/a<span class=at>:7</span></a>" in wording.address("https://example.com/a", "https://example.com", 7)
    assert ">https://example.com.evil/a</a>" in wording.address("https://example.com.evil/a", "https://example.com")


def test_every_name_in_records_has_words() -> None:
    assert {*ReplyKind, *Reason} == words.REPLIES.keys()
    assert {*READ, "truncated", "failed", "blocked"} == words.READING.keys()
    formats = {"xml-urlset", "xml-index", "rss", "atom", "text", "html", "list", "unknown"}
    assert formats == FORMATS.keys() and all(map(format_label, formats))


@pytest.mark.parametrize(
    ("summary", "judged", "headline"),
    [
        (SummaryRecord(), 100, "No sitemap found"),
        (SummaryRecord(sitemaps=1, urls=5), 100, "Sitemap files are valid"),
        (SummaryRecord(sitemaps=1, urls=5, partial="max_urls"), 100, "Sitemap files are valid so far"),
        (SummaryRecord(sitemaps=1, skipped={"include": 5}), 100, "Sitemap files are valid"),
        (SummaryRecord(sitemaps=1, only="changes"), 100, "Healthy"),
        (SummaryRecord(sitemaps=1, urls=5, replies={"blocked": 5}), 100, "Sitemap files are valid"),
        (SummaryRecord(sitemaps=1, urls=5, replies={"ok": 5}, partial="max_urls"), 100, "Healthy so far"),
        (SummaryRecord(sitemaps=1, urls=5, replies={"ok": 5}, severity_reach=on({"info": 3})), 100, "Healthy"),
        (
            SummaryRecord(sitemaps=1, urls=5, severity_reach=on({"warning": 1})),
            100,
            "Sitemap files are valid, with warnings",
        ),
        (
            SummaryRecord(sitemaps=1, urls=5, replies={"ok": 5}, severity_reach=on({"warning": 1})),
            100,
            "Works, with warnings",
        ),
        (SummaryRecord(sitemaps=1, urls=5, severity_reach=on({"warning": 1, "error": 1})), 100, "Needs repair"),
        (SummaryRecord(sitemaps=1, urls=5, severity_reach=on({"error": 1})), None, "Needs repair"),
        (SummaryRecord(sitemaps=1, urls=5), 0, "Not judged"),
        (
            SummaryRecord(sitemaps=1, urls=5, replies={"ok": 5}, not_indexable=Share(5, 5, 1, 0.2, 0.2, 0.2)),
            100,
            "Not everything works",
        ),
        (SummaryRecord(sitemaps=1, urls=5, bad=Share(5, 5, 0, 0, 0, 0)), 100, "Healthy"),
    ],
)
def test_verdict_follows_from_the_findings(summary: SummaryRecord, judged: int | None, headline: str) -> None:
    assert health(Report(summary, judged=judged)).headline == headline


def test_verdict_without_a_requested_page_says_so() -> None:
    assert "Pages were not checked (use verify=get)." in health(Report(SummaryRecord(sitemaps=1, urls=5))).sentences
    asked = SummaryRecord(sitemaps=1, urls=5, replies={"sampled-out": 4, "blocked": 1})
    assert "No listed page was requested." in health(Report(asked)).sentences
    filtered = SummaryRecord(sitemaps=1, skipped={"include": 65})
    assert "65 entries were left out: not matched by include." in health(Report(filtered)).sentences
    broken = SummaryRecord(sitemaps=1, urls=5, severity_reach=on({"error": 1}))
    assert "Pages were not checked (use verify=get)." in health(Report(broken)).sentences


def test_advice_to_check_pages_is_given_only_if_any_is_listed() -> None:
    empty = Report(SummaryRecord(sitemaps=1, severity_reach=on({"error": 1})))
    assert not any("verify" in sentence for sentence in (*health(empty).sentences, *gaps(empty)))


@pytest.mark.parametrize(
    ("status", "outcome", "expected"),
    [
        (200, "parsed", "read"),
        (404, "unavailable", "missing: everything is allowed"),
        (429, "unavailable", "too many requests: Google treats everything as disallowed, most others as allowed"),
        (None, "unreachable", "no answer: everything is disallowed"),
    ],
)
def test_result_of_robots_txt(status: int | None, outcome: str, expected: str) -> None:
    record = RobotsRecord("https://example.com/robots.txt", status=status, outcome=outcome)
    assert wording.robots_result(record) == expected


def test_verdict_says_why_nothing_could_be_read() -> None:
    failed = [FileProblems(SitemapRecord(sitemap="https://example.com/s", outcome="failed", error="HTTP status 404"))]
    made = health(Report(SummaryRecord(sitemaps=1), files=failed))
    assert made.headline == "Nothing could be read"
    assert made.sentences == ["1 sitemap was found; none could be read: HTTP status 404."]
    silent = [RobotsRecord("https://example.com/robots.txt", outcome="unreachable", error="the connection was refused")]
    [reason] = health(Report(SummaryRecord(), robots=silent)).sentences
    assert reason == "The site does not answer: the connection was refused."
    _, reason = wording.reasons(made := Report(SummaryRecord(partial="proxy"), robots=silent), health(made))
    assert reason == "Nothing was requested: the connection was refused."
    stopped = health(Report(SummaryRecord(partial="max_time"), robots=silent))
    assert (stopped.headline, stopped.sentences) == ("No sitemap found so far", ["The crawl found no sitemap."])
    robots = "http://example.com/robots.txt"
    silent.insert(0, RobotsRecord(robots, outcome="unreachable", error="no answer in time"))  # as a report sorts them
    [reason] = health(Report(SummaryRecord(), robots=silent)).sentences
    assert reason == "The site does not answer: no answer in time."
    silent.append(RobotsRecord(robots, status=503, outcome="unreachable", error="HTTP status 503"))
    [reason] = health(Report(SummaryRecord(), robots=silent)).sentences
    assert reason == "robots.txt answers with HTTP status 503, so everything counts as disallowed."


@pytest.mark.parametrize(("status", "refused"), [(403, True), (429, True), (404, False)])
def test_verdict_without_a_sitemap_says_that_the_site_refuses_the_crawler(status: int, refused: bool) -> None:
    robots = [
        RobotsRecord(
            "http://example.com/robots.txt", status=status, outcome="unavailable", error=f"HTTP status {status}"
        ),
        RobotsRecord("https://example.com/robots.txt", outcome="unreachable", error="the connection was refused"),
    ]
    for stop, headline in ((None, "No sitemap found"), ("max_time", "No sitemap found so far")):
        made = health(Report(SummaryRecord(partial=stop), robots=robots))
        _, *why = made.sentences
        assert made.headline == headline
        assert (
            why == [f"robots.txt answers with HTTP status {status}, so the server may refuse this crawler."] * refused
        )


@pytest.mark.parametrize(
    ("share", "is_told"),
    [(Share(40, 10, 0, 0, 0, 0.3), True), (Share(40, 40, 0, 0, 0, 0), False), (Share(40, 10, 2, 0.2, 0.1, 0.5), False)],
)
def test_verdict_of_a_clean_sample_says_how_much_was_checked(share: Share, is_told: bool) -> None:
    summary = SummaryRecord(sitemaps=1, urls=40, replies={"ok": 10}, not_indexable=share)
    assert ("Not all pages were checked, only 10." in health(Report(summary)).sentences) is is_told


@pytest.mark.parametrize(
    ("share", "indexability", "text"),
    [
        (None, {}, ""),
        (Share(5, 5, 0, 0, 0, 0), {}, "0 of 5 URLs (0 %) are not indexable."),
        (
            Share(5, 5, 0, 0, 0, 0),
            {"ok": 4, "blocked": 2, "not checked": 1},
            "0 of 5 checked URLs (0 %) are not indexable. 1 listed URL is another spelling of one of these.",
        ),
        (Share(35, 35, 15, 15 / 35, 0.4, 0.4), {"not checked": 87}, "15 of 35 checked URLs (43 %) are not indexable."),
        (
            Share(119, 22, 4, 0.12, 0.034, 0.3),
            {"not checked": 105},
            "An estimated 12 % of the URLs are not indexable (95 % interval: 3.4 % to 30 %, from 22 checked URLs).",
        ),
    ],
)
def test_share_that_is_not_indexable_says_what_it_is_of(
    share: Share | None, indexability: dict[str, int], text: str
) -> None:
    report = Report(SummaryRecord(not_indexable=share, indexability=indexability), indexability=indexability)
    assert "".join(not_indexable(report)) == text


LEFT_OUT = {"rules": ["a", "b", "c", "x"], "links": ["d"]}
"""Rules that were not compared with the baseline."""


def test_answers_to_compare_links_and_baseline() -> None:
    lists = [ComparedList("crawl.csv"), ComparedList("access.log")]
    graph, coverage = (
        LinkGraph(unlisted=12, not_linked=1),
        Coverage(lists, not_listed=47, not_verified=40, listed_only=1),
    )
    report = Report(
        SummaryRecord(
            graph=graph, coverage=coverage, changes=ChangeCounts(added=3, removed=1200, not_compared=LEFT_OUT)
        )
    )
    assert words.answers(report) == [
        "Compared with crawl.csv and access.log: 47 pages are in a list but in no sitemap (40 not verified), 1 listed page is in no "
        "list.",
        "Links: 12 pages are linked but not listed, 1 listed page is not linked from any page that was read.",
        "Since the baseline: 0 problems solved, 0 new; 3 URLs added, 1,200 removed, 0 changed.",
        "Problems that were not compared: a, b, c and 1 more (applied by one crawl only); d (another value of links).",
    ]
    report.summary.skipped["removed"] = 2
    assert words.answers(report)[-2].endswith("1,200 removed (unknown for 2 more), 0 changed.")
    assert words.answers(Report(SummaryRecord())) == []


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ({"rendered": 20}, "Rendered 20 pages in a browser."),
        (
            {"crashed": 1, "rendered": 17, "timeout": 2},
            "Rendered 20 pages in a browser; of these, ended early: crashed 1, timeout 2.",
        ),
        ({"limit": 1}, "Rendered 1 page in a browser; of these, ended early: limit 1."),
    ],
)
def test_rendered_pages_are_counted(results: dict[str, int], told: str) -> None:
    assert words.answers(Report(SummaryRecord(rendered=results))) == [told]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Revisits(40, 4, 35, 1),
         "Google can trust 4 of 40 lastmod dates: 35 changed although the page did not and 1 did not change although the "
         "content did."),
        (Revisits(1200, 0, 1200, 0),
         "Google can trust 0 of 1,200 lastmod dates: 1,200 changed although the page did not."),
        (Revisits(1, 1), "Dates follow the content: 1 of 1 lastmod date changed or stayed with it."),
    ],
)  # fmt: skip
def test_true_dates(found: Revisits, said: str) -> None:
    assert words.answers(Report(SummaryRecord(revisits=found))) == [said]


@pytest.mark.parametrize(
    ("indexability", "headline"),
    [({"unknown": 30}, "Sitemap files are valid"), ({"unknown": 30, "ok": 1}, "Healthy")],
)
def test_pages_whose_html_proves_nothing_are_not_called_healthy(indexability: dict[str, int], headline: str) -> None:
    summary = SummaryRecord(sitemaps=1, urls=31, replies={"ok": 31}, indexability=indexability)
    report = Report(summary, indexability=indexability)
    made = health(report)
    assert made.headline == headline
    [line] = [line for line in gaps(report) if "unknown" in line]
    assert line.startswith("Whether 30 pages can be indexed is unknown: ")
    assert line in made.sentences


@pytest.mark.parametrize(
    ("urls", "first"),
    [
        ({"error": 1, "warning": 1}, "Errors on 1 URL; warnings on 1 URL."),
        ({"error": 2000, "info": 2}, "Errors on 2,000 URLs; notes on 2 URLs."),
        ({"error": 0}, "Errors in 1 file."),
        ({"warning": 1}, "No errors in any file; warnings on 1 URL."),
        ({"info": 1}, "No errors and no warnings in any file."),
    ],
)
def test_verdict_counts_urls(urls: dict[str, int], first: str) -> None:
    made = health(Report(SummaryRecord(sitemaps=1, urls=1, severity_reach=on(urls))))
    assert made.sentences[0] == first
    assert ("Worth knowing: notes on 1 URL." in made.sentences) == (urls == {"info": 1})


def test_verdict_tells_of_troubles_whatever_the_rules_say() -> None:
    files = [FileProblems(SitemapRecord(sitemap="https://example.com/s", outcome="failed"))]
    made = health(
        Report(SummaryRecord(sitemaps=2, urls=5, not_indexable=Share(5, 5, 1, 0.2, 0.2, 0.2)), files=files, undated=5)
    )
    assert made.sentences[1:] == [
        "1 file could not be read.",
        "1 of 5 URLs (20 %) is not indexable.",
        "Pages were not checked (use verify=get).",
    ]
    assert (
        "1 file was not read."
        in health(Report(SummaryRecord(sitemaps=2, urls=5, partial="max_urls"), files=files, undated=5)).sentences
    )


def test_gaps_name_what_was_not_checked() -> None:
    summary = SummaryRecord(
        sitemaps=1, urls=5, skipped={"since": 1, "max_urls": 1200, "loc-duplicate": 3}, only="changes"
    )
    report = Report(summary, judged=0)
    told = gaps(report)
    assert told[0] == "No rules were applied (select=none)."
    assert "agents=search,ai" in told[1] and "verify=head" in told[2]
    assert "1 entry was left out: older than since, or undated." in told
    assert "1,200 entries were left out: beyond max_urls." in told
    assert "only=changes" in told[-1] and unfinished_rules(report) == ["loc-duplicate"]


def test_gaps_of_a_verified_crawl_name_urls_that_were_not_asked_for() -> None:
    summary = SummaryRecord(sitemaps=1, replies={"ok": 5, "sampled-out": 1, "blocked": 4})
    told = gaps(Report(summary, judged=9, judged_agents=["Googlebot"], not_requested={"blocked": 2, "sampled-out": 1}))
    assert told == [
        "2 URLs were not requested: blocked by robots.txt.",
        "1 URL was not requested: not in the sample.",
    ]


@pytest.mark.parametrize("reason", ["max_urls", "max_time", "store", "something new"])
def test_partial_crawl_says_why(reason: str) -> None:
    assert partial(Report(SummaryRecord(partial=reason))).startswith("The crawl ended early: ")


IN_ENGLISH = "reasons are understood in English only, which Search Console exports with hl=en in its address"


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (IndexCounts(), "No listed URL has an index status."),
        (IndexCounts(urls=3, indexed=2, not_indexed=1, reasons={"Soft 404": 1}),
         "Google has indexed 2 of 3 inspected URLs; 1 is not indexed (1 Soft 404)."),
        (IndexCounts(urls=30), f"30 inspected URLs may be indexed: {IN_ENGLISH}."),
        (IndexCounts(urls=31, indexed=1),
         f"Google has indexed 1 of 1 inspected URL; 30 inspected URLs may be indexed: {IN_ENGLISH}."),
    ],
)  # fmt: skip
def test_index_status_that_is_not_known_is_not_called_not_indexed(found: IndexCounts, sentence: str) -> None:
    assert wording.index_status(found) == sentence
