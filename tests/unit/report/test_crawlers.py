"""The section on crawlers: who may fetch what, which line denies it, and the shares by host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from lxml import html

from sitemapcrawler.items import CrawlerAccess, CrawlerFetches, RobotsRecord, SummaryRecord, UsageCounts
from sitemapcrawler.report.crawlers import crawler_table, hosts, preferences
from sitemapcrawler.report.model import Denied, FetchedFile, Report
from sitemapcrawler.report.page import page
from sitemapcrawler.robots.agents import agent

PRIVATE, SEARCH = "line 2, Disallow: /private/", "line 7, Disallow: /search"


def report(denied: Mapping[str, int], examples: Sequence[Denied] = (), hosts: Sequence[RobotsRecord] = ()) -> Report:
    """A report on 10 listed URLs. `denied`: how many of them each crawler may not fetch."""
    known = {name: agent(name) for name in denied}
    crawlers = [
        CrawlerAccess(name, known[name].operator, known[name].purpose, 10 - number, number)
        for name, number in denied.items()
    ]
    summary = SummaryRecord(sitemaps=1, crawlers=crawlers)
    return Report(summary, robots=hosts, judged_agents=[*denied], denied=examples)


def example(url: str, lines: Mapping[str, str]) -> Denied:
    return Denied("https://e.com/robots.txt", url, [*lines], lines)


def robots(number: int) -> list[RobotsRecord]:
    """Hosts that deny two crawlers 0, 1, 2 ... of 10 listed URLs, and a third one all."""
    return [
        RobotsRecord(f"https://{at}.example.com/robots.txt", urls=10, agents={"GPTBot": at, "CCBot": at, "MyBot": 10})
        for at in range(number)
    ]


def test_crawlers_alike_share_a_row_with_the_lines_that_deny_and_the_urls() -> None:
    three = ["GPTBot", "CCBot", "Bytespider"]
    denied = [example(f"https://e.com/private/{at}", dict.fromkeys(three, PRIVATE)) for at in range(4)]
    denied.append(example("https://e.com/search", dict.fromkeys(three, PRIVATE) | {"ClaudeBot": SEARCH}))
    made = report({"Googlebot": 0, **dict.fromkeys(three, 4), "ClaudeBot": 1}, denied)
    table = crawler_table(made)
    assert table is not None
    assert (table.columns, table.free) == (["May fetch"], ["Googlebot"])
    shown = [
        (
            row.name,
            row.note,
            [cell and cell.text for cell in row.cells],
            [(one.text, len(one.urls)) for one in row.lines],
        )
        for row in table.rows
    ]
    assert shown == [
        ("GPTBot, CCBot and Bytespider", "3 crawlers", ["6 of 10 listed pages"], [(PRIVATE, 2)]),
        ("ClaudeBot", "Anthropic, training", ["9 of 10 listed pages"], [(SEARCH, 1)]),
    ]
    assert "GPTBot (OpenAI, training), CCBot (" in table.rows[0].names
    assert [row.chosen for row in table.rows] == ["#urls?denied=GPTBot", "#urls?denied=ClaudeBot"]
    tree = html.fromstring(page(made))
    [cell] = tree.xpath("//tr[th[contains(., 'ClaudeBot')]]/td[@class='t']")
    assert cell.text_content().startswith(f"{SEARCH}: https://e.com/search")
    assert "1 other crawler may fetch everything: Googlebot." in tree.text_content()


@pytest.mark.parametrize(
    ("judged", "shown"), [(60, "all crawlers"), (61, "Crawler-0, Crawler-1, Crawler-2, Crawler-3 and 56 more")]
)
def test_the_names_of_many_crawlers_alike_are_folded(judged: int, shown: str) -> None:
    denied = {f"Crawler-{number}": 4 * (number < 60) for number in range(judged)}
    [row] = html.fromstring(page(report(denied))).xpath("//table[caption[@id='crawlers']]/tbody/tr/th")
    assert row.text == shown
    assert row.findtext("details/summary") == "60 crawlers"
    assert row.find("details").text_content().endswith(", Crawler-58 and Crawler-59")


def test_what_crawlers_get_is_a_column() -> None:
    made = report({"Googlebot": 0, "GPTBot": 0, "CCBot": 10, "Bingbot": 0})
    google, gpt, common, _ = made.summary.crawlers
    google.gets, google.pages = "same", {"same": 5}
    gpt.gets, gpt.difference, gpt.pages = (
        "refused",
        "403, page of Cloudflare",
        {"refused": 3, "same": 1, "not-asked": 1},
    )
    common.gets, common.pages = "not-asked", {"not-asked": 5}
    table = crawler_table(made)
    assert table is not None
    assert (table.columns, table.free) == (["May fetch", "Gets"], ["Bingbot"])
    gets = {row.name: row.cells[1] for row in table.rows}
    assert {name: cell and (cell.text, cell.note, cell.share) for name, cell in gets.items()} == {
        "CCBot": ("not requested: blocked by robots.txt", "", 0),
        "GPTBot": ("refused: 403, page of Cloudflare", "3 of 4 pages", 0.75),
        "Googlebot": ("the same page as this crawl", "5 pages", 0),
    }
    assert [row.chosen for row in table.rows if row.name != "CCBot"] == ["", ""]
    assert "What crawlers may fetch and get" in page(made)


def test_crawlers_that_may_fetch_everything_are_one_sentence() -> None:
    tree = html.fromstring(page(report({"Googlebot": 0, "GPTBot": 0})))
    assert not tree.xpath("//caption[@id='crawlers']")
    assert "2 crawlers may fetch everything: Googlebot and GPTBot." in tree.text_content()


@pytest.mark.parametrize(
    "crawlers", [[], [CrawlerAccess("GPTBot", may_fetch=0, may_not_fetch=0)], [CrawlerAccess("GPTBot")]]
)
def test_there_is_no_table_where_nothing_was_judged(crawlers: Sequence[CrawlerAccess]) -> None:
    assert crawler_table(Report(SummaryRecord(crawlers=crawlers))) is None


def test_hosts_have_rows_and_crawlers_with_equal_shares_a_column() -> None:
    denied = [
        Denied("https://1.example.com/robots.txt", "https://1.example.com/private/", ["GPTBot"], {"GPTBot": PRIVATE})
    ]
    made = hosts(report({"Googlebot": 0, "GPTBot": 1, "CCBot": 1, "MyBot": 10}, denied, robots(2)))
    assert made is not None
    assert made.columns == ["GPTBot and CCBot", "MyBot"]
    assert [(row.name, [cell and cell.text for cell in row.cells]) for row in made.rows] == [
        ("https://1.example.com", ["10 %", "100 %"]), ("https://0.example.com", ["0 %", "100 %"]),
    ]  # fmt: skip
    assert [cell and cell.step for cell in made.rows[0].cells] == ["few", "all"]
    assert [line.text for line in made.rows[0].lines] == [PRIVATE]


@pytest.mark.parametrize(
    ("denied", "number"), [({"GPTBot": 1}, 1), ({"Googlebot": 0}, 2)], ids=["a single host", "nothing denied"]
)
def test_there_is_no_table_by_host(denied: Mapping[str, int], number: int) -> None:
    assert hosts(report(denied, (), robots(number))) is None


def logged() -> Report:
    """A report with access logs: Googlebot fetched half of the pages, GPTBot is in no log."""
    made = report({"Googlebot": 0, "GPTBot": 0})
    fetches = CrawlerFetches(
        None, 0, 30, 5, 5, 1, 0, "2026-05-08T10:00:00Z", 4.0, sitemaps=1, sitemaps_last="2026-05-03T10:00:00Z"
    )
    made.summary.crawlers[0].fetches = fetches
    made.fetched_files = [
        FetchedFile("https://e.com/a.xml", "googlebot", 8, 5, 1, fetches.last, 1, fetches.sitemaps_last),
        FetchedFile("https://e.com/b.xml", "googlebot", 2, 0, 0, None, 0, None),
    ]
    return made


def test_lines_beyond_the_first_are_mentioned() -> None:
    lines = [f"line {at}, Disallow: /{at}" for at in range(6)]
    made = report({"GPTBot": 6}, [example(f"https://e.com/{at}", {"GPTBot": line}) for at, line in enumerate(lines)])
    table = crawler_table(made)
    assert table is not None
    assert [line.text for line in table.rows[0].lines] == [*lines[:5], "and more lines"]
    assert "Disallow: /4: https://e.com/4and more lines" in html.fromstring(page(made)).text_content()


def test_what_a_crawler_has_fetched_is_a_column_of_its_own() -> None:
    table = crawler_table(logged())
    assert table is not None
    assert (table.columns, table.free) == (["May fetch", "Has fetched"], ["GPTBot"])
    [row] = table.rows
    assert [(cell.text, cell.note, cell.order) for cell in row.cells if cell] == [
        ("10 of 10 listed pages", "", 0.0),
        ("5 of 10", "last on 8 May 2026; 4.0 days after lastmod (median); 1 page answered with an error", 5),
    ]


def test_sitemaps_have_the_share_that_each_crawler_has_fetched() -> None:
    made = logged()
    tree = html.fromstring(page(made))
    rows = [[cell.text_content() for cell in row] for row in tree.xpath("//table[caption[@id='fetched']]/tbody/tr")]
    assert rows == [
        ["https://e.com/a.xml", "62 %last on 8 May 2026; the file on 3 May 2026"],
        ["https://e.com/b.xml", "0 %file not fetched"],
    ]
    assert "Not verified, so other programs may use their names: Googlebot." in tree.text_content()
    assert "1 other crawler may fetch everything and made no request: GPTBot." in tree.text_content()


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        ({}, ""),
        ({"train": UsageCounts(unsaid=3)}, ""),
        ({"train": UsageCounts(0, 2, 1), "search": UsageCounts(3)},
         "3 listed pages: training of AI models disallowed for 2, search allowed for 3."),
        ({"input": UsageCounts(1, 1)}, "2 listed pages: answers of AI allowed for 1, answers of AI disallowed for 1."),
    ],
)  # fmt: skip
def test_preferences_on_uses_are_one_sentence(usage: dict[str, UsageCounts], text: str) -> None:
    assert preferences(usage) == text
