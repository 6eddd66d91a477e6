"""Figures, dates, addresses and verdicts in words."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import READ, RobotsRecord, Share, SitemapRecord, SummaryRecord
from sitemapcrawler.reply import Kind, Reason
from sitemapcrawler.report import wording, words
from sitemapcrawler.report.blocks import MAX_DRAWN, blocks, legend
from sitemapcrawler.report.matrix import FEW, matrix
from sitemapcrawler.report.model import FileProblems, Report
from sitemapcrawler.report.months import MAX_PERIODS, history
from sitemapcrawler.report.sections import origin, sites
from sitemapcrawler.report.verdict import gaps, partial, verdict
from tests.unit.report import reports


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (wording.number(1234567), "1,234,567"),
        (wording.count(1, "file"), "1 file"),
        (wording.count(0, "file"), "0 files"),
        (wording.count(1234, "entry", "entries"), "1,234 entries"),
        (wording.percent(0, 10), "0 %"),
        (wording.percent(10, 10), "100 %"),
        (wording.percent(1, 10_000), "<0.1 %"),
        (wording.percent(9_999, 10_000), ">99.9 %"),
        (wording.percent(1, 40), "2.5 %"),
        (wording.percent(1, 3), "33 %"),
        (wording.percent(1, 0), "0 %"),
        (wording.size(0), "0 B"),
        (wording.size(999), "999 B"),
        (wording.size(1000), "1.0 kB"),
        (wording.size(52_428_800), "52.4 MB"),
        (wording.size(520_000_000), "520 MB"),
        (wording.duration(4.23), "4.2 s"),
        (wording.duration(59.99), "1 min 0 s"),
        (wording.duration(200), "3 min 20 s"),
        (wording.duration(3599.9), "1 h 0 min"),
        (wording.duration(7500), "2 h 5 min"),
        (wording.listed([]), ""),
        (wording.listed(["a"]), "a"),
        (wording.listed(["a", "b", "c"]), "a, b and c"),
        (wording.listed(list("abcde"), 3), "a, b, c and 2 more"),
        (wording.beside("urls 1.jsonl"), "urls%201.jsonl"),
        (wording.beside("javascript:alert(1)"), "javascript%3Aalert%281%29"),
    ],
)
def test_figures_are_for_people(made: str, expected: str) -> None:
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


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("The file ends before its end.", ["The file ends before its end"]),
        ("An ampersand is not written as `&amp;`.", ["An ampersand is not written as `&amp;`"]),
        ("No date. Once for a file. Rare.", ["No date", "Once for a file. Rare"]),
        ("A priority below 0.0 or above 1.0.", ["A priority below 0.0 or above 1.0"]),
        ("", []),
    ],
)
def test_first_sentence_of_a_rule_is_its_title(text: str, parts: list[str]) -> None:
    assert wording.sentences(text) == parts


def test_address_is_shown_without_the_origin_of_the_site() -> None:
    assert "/a<span class=at>:7</span></a>" in wording.address("https://example.com/a", "https://example.com", 7)
    assert ">https://example.com.evil/a</a>" in wording.address("https://example.com.evil/a", "https://example.com")


@pytest.mark.parametrize(
    ("summary", "judged", "headline"),
    [
        (SummaryRecord(), 100, "No sitemap found"),
        (SummaryRecord(sitemaps=1, urls=5), 100, "Healthy"),
        (SummaryRecord(sitemaps=1, urls=5, partial="max_urls"), 100, "Healthy so far"),
        (SummaryRecord(sitemaps=1, urls=5, severities={"info": 3}), 100, "Healthy"),
        (SummaryRecord(sitemaps=1, urls=5, severities={"warning": 1}), 100, "Works, with warnings"),
        (SummaryRecord(sitemaps=1, urls=5, severities={"warning": 1, "error": 1}), 100, "Needs repair"),
        (SummaryRecord(sitemaps=1, urls=5, severities={"error": 1}), None, "Needs repair"),
        (SummaryRecord(sitemaps=1, urls=5), 0, "Not judged"),
        (SummaryRecord(sitemaps=1, urls=5, bad=Share(5, 5, 1, 0.2, 0.2, 0.2)), 100, "Not everything works"),
        (SummaryRecord(sitemaps=1, urls=5, bad=Share(5, 5, 0, 0, 0, 0)), 100, "Healthy"),
    ],
)
def test_verdict_follows_from_the_findings(summary: SummaryRecord, judged: int | None, headline: str) -> None:
    assert verdict(Report(summary, judged=judged)).headline == headline


def test_verdict_of_a_site_of_which_nothing_could_be_read() -> None:
    failed = [FileProblems(SitemapRecord(sitemap="https://example.com/s", outcome="failed"), errors=1)]
    assert verdict(Report(SummaryRecord(sitemaps=1), files=failed)).headline == "Nothing could be read"


def test_verdict_counts_in_singular_and_plural() -> None:
    one = Report(SummaryRecord(sitemaps=1, urls=1, severities={"error": 1, "warning": 1, "info": 1}))
    many = Report(SummaryRecord(sitemaps=1, urls=1, severities={"error": 2000, "warning": 2, "info": 2}))
    assert " ".join(verdict(one).sentences).startswith("1 error and 1 warning.") and "There is 1 note" in " ".join(
        verdict(one).sentences
    )
    assert " ".join(verdict(many).sentences).startswith(
        "2,000 errors and 2 warnings."
    ) and "There are 2 notes" in " ".join(verdict(many).sentences)


def test_gaps_name_what_was_not_checked() -> None:
    summary = SummaryRecord(sitemaps=1, skipped={"since": 1, "max_urls": 1200, "loc-duplicate": 3}, only="changes")
    told = gaps(Report(summary, judged=0))
    assert told[0] == "No rules were applied (select=none)."
    assert "agents=search,ai" in told[1] and "verify=head" in told[2]
    assert "1 entry was left out as older than the argument since, or undated." in told
    assert "1,200 entries were left out beyond max_urls." in told
    assert "1 rule could not judge everything, since not everything was read or asked for: loc-duplicate." in told
    assert "only=changes" in told[-1]


def test_gaps_of_a_verified_crawl_name_urls_that_were_not_asked_for() -> None:
    summary = SummaryRecord(sitemaps=1, replies={"ok": 5, "sampled-out": 1, "blocked": 2})
    told = gaps(Report(summary, judged=9, judged_agents=["Googlebot"]))
    assert told == [
        "2 URLs were not asked for: robots.txt forbids us to.",
        "1 URL was not asked for: not in the sample.",
    ]


@pytest.mark.parametrize("reason", ["max_urls", "max_time", "store", "something new"])
def test_partial_crawl_says_why(reason: str) -> None:
    assert partial(Report(SummaryRecord(partial=reason))).startswith("The crawl ended early: ")


def test_every_name_in_records_has_words() -> None:
    assert {*Kind} <= words.HAPPENED.keys() <= words.REPLIES.keys()
    assert {*Reason} <= words.REPLIES.keys()
    assert {*READ, "truncated", "failed", "blocked"} == words.READING.keys()
    formats = {"xml-urlset", "xml-index", "rss", "atom", "text", "html", "list"}
    assert formats == words.FORMATS.keys()


@pytest.mark.parametrize(
    ("months", "unit", "first", "last", "bars"),
    [
        ({"2026-11": 5}, "month", "Nov 2026", "Nov 2026", 1),
        ({"2026-01": 5, "2026-11": 5}, "month", "Jan 2026", "Nov 2026", 11),
        ({"2024-01": 5, "2026-11": 5}, "month", "Jan 2024", "Nov 2026", 35),
        ({"2019-05": 5, "2026-11": 5}, "quarter", "Q2 2019", "Q4 2026", 31),
        ({"2000-05": 5, "2026-11": 5}, "year", "2000", "2026", 27),
        ({"1970-01": 1, "2026-10": 50, "2026-11": 50}, "month", "earlier", "Nov 2026", MAX_PERIODS + 1),
        ({"2026-11": 5, "2031-01": 5, "9999-12": 1}, "month", "Nov 2026", "future", 2),
        ({"2031-01": 5}, "month", "Nov 2026", "future", 2),
    ],
)
def test_dates_are_drawn_by_few_periods(months: dict[str, int], unit: str, first: str, last: str, bars: int) -> None:
    made = history(months, "2026-11-20T21:04:11Z")
    assert made is not None
    assert (made.unit, made.periods[0].label, made.periods[-1].label, len(made.periods)) == (unit, first, last, bars)
    assert sum(period.entries for period in made.periods) == sum(months.values())


@pytest.mark.parametrize("months", [{}, {"junk": 5}, {"2026-13": 5}, {"2026-00": 1}])
def test_dates_that_are_none_draw_nothing(months: dict[str, int]) -> None:
    assert history(months, "2026-11-20T21:04:11Z") is None


def test_dates_are_drawn_without_the_time_of_the_crawl() -> None:
    made = history({"2025-01": 1, "2026-02": 3}, "")
    assert made is not None and made.periods[-1].label == "Feb 2026"


def test_treemap_sums_up_what_it_cannot_draw() -> None:
    drawn = blocks(reports.full())
    assert MAX_DRAWN < len(drawn) <= MAX_DRAWN + 5
    whole = sum(file.record.url_count for file in reports.full().files if file.record.format != "xml-index")
    assert sum(block.weight for block in drawn) == pytest.approx(whole, rel=0.1)
    assert len({block.label for block in drawn if "other file" in block.label}) >= 3


def test_treemap_shows_files_that_list_nothing_and_no_index() -> None:
    files = [
        FileProblems(SitemapRecord(sitemap="https://example.com/index.xml", format="xml-index", url_count=2)),
        FileProblems(SitemapRecord(sitemap="https://example.com/a.xml.gz", outcome="failed"), errors=1),
        FileProblems(SitemapRecord(sitemap="https://example.com/b.xml", url_count=4000)),
    ]
    report = Report(SummaryRecord(sitemaps=3, urls=4000), files=files)
    assert [(block.state, block.label, block.weight) for block in blocks(report)] == [
        ("unread", "? a", 10),
        ("ok", "b", 4000),
    ]
    assert [(part.state, part.files) for part in legend(report)] == [("unread", 1), ("ok", 1)]


def test_treemap_sums_up_files_beyond_the_table() -> None:
    files = [FileProblems(SitemapRecord(sitemap="https://example.com/b.xml", url_count=4000))]
    drawn = blocks(Report(SummaryRecord(sitemaps=12, urls=5000), files=files))
    assert [(block.state, block.weight) for block in drawn] == [("ok", 4000), ("rest", 1000)]
    assert drawn[-1].label.startswith("11 other files")


def robots(number: int) -> list[RobotsRecord]:
    return [
        RobotsRecord(robots=f"https://{at}.example.com/robots.txt", urls=10, agents={"GPTBot": at})
        for at in range(number)
    ]


def test_matrix_has_crawlers_in_rows_where_hosts_are_few() -> None:
    made = matrix(Report(SummaryRecord(), robots=robots(2), judged_agents=["Googlebot", "GPTBot", "MyBot"]))
    assert made is not None
    assert (made.corner, made.columns) == ("Crawler", ["0.example.com", "1.example.com"])
    assert [(row.name, row.note) for row in made.rows] == [
        ("GPTBot", "OpenAI, training"),
        ("Googlebot", "Google, search"),
        ("MyBot", ""),
    ]
    assert [(cell.text, cell.step) for cell in made.rows[0].cells] == [("0 %", "none"), ("10 % (1)", "few")]


def test_matrix_has_hosts_in_rows_where_they_are_many() -> None:
    made = matrix(Report(SummaryRecord(), robots=robots(FEW + 1), judged_agents=["Googlebot", "GPTBot"]))
    assert made is not None
    assert (made.corner, made.columns, made.free) == ("Host", ["GPTBot"], ["Googlebot"])
    assert [row.cells[0].text for row in made.rows] == ["60 %", "50 %", "40 %", "30 %", "20 %", "10 %", "0 %"]


def test_matrix_is_none_where_nothing_was_judged() -> None:
    assert matrix(Report(SummaryRecord(), robots=robots(1))) is None
    assert matrix(Report(SummaryRecord(), judged_agents=["GPTBot"])) is None
    assert matrix(Report(SummaryRecord(), robots=[RobotsRecord(robots="x")], judged_agents=["GPTBot"])) is None


def test_sites_are_the_hosts_of_the_files_where_only_files_were_named() -> None:
    files = [
        FileProblems(SitemapRecord(sitemap=url)) for url in ("https://a.example/1", "https://a.example/2", "file:///b")
    ]
    report = Report(SummaryRecord(), files=files)
    assert sites(report) == ["a.example"]
    assert origin(report) == "https://a.example"
    assert sites(Report(SummaryRecord(domains=["c.example"]), files=files)) == ["c.example"]
