"""The page: every section with and without data, nothing from outside but text and links, and its policy."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.items import (
    ChangeCounts,
    ChangeRecord,
    FileRevisits,
    FindingRecord,
    Lastmods,
    Reach,
    Revisits,
    RobotsChange,
    SegmentCounts,
    Share,
    SitemapRecord,
    SummaryRecord,
    UrlRecord,
)
from sitemapcrawler.report import wording as words
from sitemapcrawler.report.model import FileProblems, Report, RuleReach
from sitemapcrawler.report.page import content, feed_gaps, origin, page, sites
from tests.unit.report import reports
from tests.unit.report.hostile import HOSTILE, check_inert, parsed, spoiled

ROOT = Path(__file__).parents[3]
SECTIONS = [
    *(
        "health", "indexability", "fix", "urls", "where", "lastmod", "status", "robots", "languages", "links",
        "coverage",
    ),
    *("changes", "crawl"),
]  # fmt: skip
MAX_PAGE = 4_000_000
"""Bytes of a page as full as it gets."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["empty", "typical", "full"])
def test_page_holds_every_section_in_order(name: str) -> None:
    tree = check_inert(page(getattr(reports, name)()))
    assert tree.xpath("//main/section/@id") == SECTIONS
    assert tree.xpath("//nav//a/@href") == [f"#{section}" for section in SECTIONS]
    for section in tree.xpath("//main/section"):
        title = tree.get_element_by_id(section.get("aria-labelledby"))
        assert title.tag == "h2" and title.text_content().strip()
    levels = [int(heading.tag[1]) for heading in tree.iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert len(set(tree.xpath("//@id"))) == len(tree.xpath("//@id"))


def test_sections_without_data_say_why() -> None:
    tree = parsed(page(reports.empty()))
    told = {section.get("id"): " ".join(section.text_content().split()) for section in tree.xpath("//main/section")}
    assert "No sitemap found" in told["health"]
    assert "No rule found anything." in told["fix"]
    assert "No sitemap was found" in told["where"]
    assert "no dates" in told["lastmod"]
    assert "verify=head" in told["status"]
    assert "use agents=search,ai" in told["robots"]
    assert "hreflang" in told["languages"]
    assert "links=yes" in told["links"]
    assert "compare=@crawl.csv" in told["coverage"]
    assert "baseline=FOLDER" in told["changes"]
    assert not tree.xpath("//table | //figure")


def test_sections_left_out_for_want_of_time_say_so() -> None:
    names = ["rules", "files", "months", "statuses", "robots", "languages"]
    tree = parsed(page(reports.empty(left_out=names, judged_agents=["Googlebot"])))
    for section in ("fix", "where", "lastmod", "status", "robots", "languages"):
        assert "Not computed" in tree.get_element_by_id(section).text_content(), section


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"arguments": {"baseline": "x"}}, "The crawl ended early, so it was not compared with the baseline."),
        ({"left_out": ["changed"], "changes": ChangeCounts()}, "Not computed"),
        ({"changes": ChangeCounts("2026-11-25T08:00:00Z")}, "Nothing has changed since the audit of 2026-11-25."),
        (
            {"changes": ChangeCounts(robots=[RobotsChange("https://e.com/robots.txt", 1, added=["Disallow: /a (*)"])])},
            "No listed URL has changed since the baseline. "
            "https://e.com/robots.txt: 1 rule added (`Disallow: /a (*)`).",
        ),
    ],
)
def test_section_of_changes_says_why_it_has_none(fields: dict[str, Any], said: str) -> None:
    report = reports.empty(**{name: value for name, value in fields.items() if name != "changes"})
    report.summary.changes = fields.get("changes")
    assert said in parsed(page(report)).get_element_by_id("changes").text_content()


def test_changed_url_has_one_row_with_old_and_new_values() -> None:
    place = {"url": "https://e.com/a", "change": "changed", "sitemap": "https://e.com/s.xml"}
    records = [
        ChangeRecord(**place, what="status", before="200", after="404"),
        ChangeRecord(**place, what="indexability", before="ok", after="not found"),
    ]
    report = reports.empty(changed={"changed": records})
    report.summary.changes = ChangeCounts(changed=1)
    [row] = parsed(page(report)).xpath("//section[@id='changes']//tbody/tr")
    assert [cell.text_content() for cell in row][1] == "status: 200 → 404indexability: ok → not found"


def test_section_of_changes_counts_what_changed() -> None:
    text = parsed(page(reports.typical())).get_element_by_id("changes").text_content()
    assert "18,902 changed (lastmod only 18,000, content 900, status 2)" in text
    assert all(line in text for line in ("lastmod only: 18,000 URLs", "content: 900 URLs", "status: 2 URLs"))


def test_segments_are_the_first_table_those_with_the_smallest_share_first() -> None:
    counts = [SegmentCounts("blog", 4), SegmentCounts("shop", 3, 3), SegmentCounts("other", 8, 1, 3)]
    tables = re.findall(r"<table.*?</table>", page(Report(SummaryRecord(segments=counts))), re.DOTALL)
    assert re.findall(r'<th scope="row">(\w*?)<span.*?</th><td class="n" data-v="[^"]*">(.*?)</td>', tables[0]) == [
        ("other", "25 %"), ("shop", "100 %"), ("blog", "not checked"),
    ]  # fmt: skip


def test_section_of_dates_has_the_files_with_the_least_true_dates() -> None:
    report = reports.typical()
    report.summary.revisits = Revisits(40, 4, 35, 1, [FileRevisits("https://www.example.com/a.xml", 40, 4, 35, 1)])
    section = parsed(page(report)).get_element_by_id("lastmod")
    assert words.true_dates(report.summary.revisits) in section.text_content()
    [row] = section.xpath(".//table[contains(., 'Moved, page the same')]/tbody/tr")
    assert [cell.text_content() for cell in row] == ["/a.xml", "40", "4", "35", "1"]


@pytest.mark.parametrize(
    ("arguments", "is_said"),
    [({"verify": "get"}, True), ({"verify": "head"}, False), ({"verify": "get", "baseline": "before"}, False)],
)
def test_first_audit_says_what_the_next_one_will_add(arguments: dict[str, str], is_said: bool) -> None:
    report = reports.typical()
    report.arguments = arguments
    said = "A later audit with --baseline also says which dates are true"
    assert (said in parsed(page(report)).get_element_by_id("lastmod").text_content()) is is_said


def test_page_says_what_a_partial_or_limited_crawl_is() -> None:
    report = reports.typical()
    report.summary.partial, report.summary.limited_by = "max_time", "pyproject.toml: select = none"
    tree = parsed(page(report))
    health = tree.get_element_by_id("health").text_content()
    assert "ended early" in health
    assert "Limited by pyproject.toml: select = none." in health
    assert "in part" in tree.find(".//header").text_content()


@pytest.mark.slow
@pytest.mark.parametrize("keep", [False, True], ids=["instead of", "behind"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_strangers_is_inert_in_every_field(text: str, keep: bool) -> None:
    made = page(spoiled(reports.small(hosts=7 if keep else 2), text, keep))
    tree = check_inert(made)
    assert "<b><b>" not in made
    assert "49" not in tree.find(".//title").text
    assert len(made) < MAX_PAGE


def test_text_of_strangers_can_still_be_read() -> None:
    finding = FindingRecord(
        "r", "error", "is <b> & \u202e", url="https://example.com/?a=1&b=<i>", line=3, sitemap="https://example.com/s"
    )
    tree = parsed(
        page(Report(SummaryRecord(sitemaps=1), [RuleReach("r", Reach("error", 1, 1, 1), 1, "what", "", "", [finding])]))
    )
    row = tree.xpath("//table[caption/@id='found-r']/tbody/tr")[0]
    assert "is <b> & \\u202e" in row.text_content()
    assert row.xpath(".//a/@href") == ["https://example.com/?a=1&b=<i>", "https://example.com/s"]
    assert [link.text_content() for link in row.findall(".//a")] == [
        "https://example.com/?a=1&b=<i>",
        "https://example.com/s:3",
    ]


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://example.com/", "//example.com/"),
        *("HTTPS:x", "httpx://example.com/", "http:example.com", "https://", "vbscript:x", " https://example.com/"),
    ],
)
def test_only_addresses_of_the_web_are_links(url: str) -> None:
    report = Report(
        SummaryRecord(sitemaps=1),
        files=[FileProblems(SitemapRecord(sitemap=url))],
        statuses={"404": 1},
        not_indexable=[UrlRecord(loc=url)],
    )
    tree = parsed(page(report))
    assert not tree.xpath("//td//a")
    assert tree.xpath("//td//span[@class='url']")[0].text_content() == url


def test_policy_lets_only_our_script_and_style_through() -> None:
    tree = parsed(page(reports.typical()))
    policy = dict(
        part.strip().split(" ", 1)
        for part in tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0].split(";")
    )
    hashes = {
        name: base64.b64encode(hashlib.sha256(tree.find(f".//{name}").text.encode()).digest()).decode()
        for name in ("script", "style")
    }
    assert policy == {
        "default-src": "'none'",
        "script-src": f"'sha256-{hashes['script']}'",
        "style-src": f"'sha256-{hashes['style']}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_policy_stands_before_what_it_is_for() -> None:
    made = page(reports.empty())
    assert made.index("Content-Security-Policy") < min(
        made.index(name) for name in ("<style", "<script", "<link", "<title")
    )


def test_full_page_stays_small_and_whole() -> None:
    report = reports.full()
    made = page(report)
    assert len(made.encode()) < MAX_PAGE
    tree = parsed(made)
    rows = {table.find("caption").get("id"): len(table.findall("tbody/tr")) for table in tree.iter("table")}
    assert (rows["files"], rows["not-indexable"], rows["robots-files"], rows["hreflang"]) == (1000, 200, 200, 300)
    assert [rows[f"changed-{number}"] for number in range(1, 7)] == [1, *[1000] * 5]


def test_same_report_makes_the_same_page() -> None:
    assert page(reports.typical()) == page(reports.typical())


def test_charts_have_a_name_and_their_figures_as_a_table() -> None:
    tree = parsed(page(reports.typical()))
    charts = tree.xpath("//*[local-name()='svg'][@role='img']")
    assert len(charts) == 14  # seven, each for a screen and for a phone
    assert all(chart.get("aria-label") for chart in charts)
    cells = tree.xpath("//table[caption/@id='statuses']//tr/*/text()")
    assert cells == [
        *("Status", "URLs", "200 OK", "9,017", "404 Not Found", "412", "410 Gone", "31"),
        *("500 Internal Server Error", "12", "timeout", "9", "dns", "1"),
    ]


def test_page_is_made_from_a_zipped_package(tmp_path: Path) -> None:
    archive = tmp_path / "sitemapcrawler.egg"
    with zipfile.ZipFile(archive, "w") as egg:
        for file in (ROOT / "sitemapcrawler").rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                egg.write(file, file.relative_to(ROOT))
    script = (
        "from sitemapcrawler.items import SummaryRecord\nfrom sitemapcrawler.report import model, page\n"
        "made = page.page(model.Report(SummaryRecord()))\nprint(page.__file__, len(made) > 10_000)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == [str(archive / "sitemapcrawler/report/page.py"), "True"], done.stderr


@pytest.mark.parametrize(
    "written",
    [
        ("https://a.example/1", "https://a.example/2", "file:///b"),
        ("https://a.example/1", "https://A.example:443/2", "https://me:secret@a.example/3"),
    ],
    ids=["and a file", "in several spellings"],
)
def test_sites_are_the_hosts_of_the_files_where_only_files_were_named(written: tuple[str, ...]) -> None:
    report = Report(SummaryRecord(), files=[FileProblems(SitemapRecord(sitemap=url)) for url in written])
    assert sites(report) == ["a.example"]
    assert origin(report) == "https://a.example"
    report.summary.domains = ["c.example"]
    assert sites(report) == ["c.example"]


def test_paths_are_those_of_the_crawled_site() -> None:
    files = ("https://docs.a.example/1", "https://docs.a.example/2", "https://www.a.example/")
    report = Report(SummaryRecord(), files=[FileProblems(SitemapRecord(sitemap=url)) for url in files])
    assert origin(report) == "https://docs.a.example"
    report.summary.domains = ["a.example"]
    assert origin(report) == "https://www.a.example"


def test_local_files_have_the_host_of_base_url_or_their_names() -> None:
    files = [FileProblems(SitemapRecord(sitemap="file:///home/me/public/my%20map.xml"))]
    assert sites(Report(SummaryRecord(), files=files)) == ["my map.xml"]
    base = {"base_url": "https://example.com/maps/"}
    assert sites(Report(SummaryRecord(), files=files, arguments=base)) == ["example.com"]


@pytest.mark.parametrize(("feeds", "queried"), [(["urls.parquet", "urls.jsonl"], "urls.parquet"), (["urls.jsonl"], "")])
def test_only_a_feed_with_all_columns_is_queried(feeds: list[str], queried: str) -> None:
    assert content(reports.empty(entries=reports.entries(reports.rows(2)), feeds=feeds))["feed"] == queried


FINDINGS, ROWS = ("findings.csv", "findings.parquet"), ("urls.parquet",)


@pytest.mark.parametrize(
    ("left_out", "feeds", "only", "words"),
    [
        (0, FINDINGS, None, "findings.csv and findings.parquet beside this page have all."),
        (0, ("audit.xlsx", *ROWS), None, "audit.xlsx beside this page has all."),
        (0, FINDINGS[1:], "changes", "findings.parquet beside this page has those on entries that have changed."),
        (0, ROWS, None, "no file beside this page has the others, but the url records name the rule."),
        (0, (), None, "no file beside this page has the others, but the table of all URLs shows the rule."),
        (4000, (*FINDINGS, *ROWS), None,
         "4,000 findings are in no file of findings, but the url records name the rule."),
    ],
)  # fmt: skip
def test_findings_that_are_not_shown_are_said_to_be_elsewhere(
    left_out: int, feeds: tuple[str, ...], only: str | None, words: str
) -> None:
    rule = RuleReach("a", Reach("error", 5000, 5000, 1), 5000, "", "", "", [FindingRecord("a")], left_out=left_out)
    report = reports.empty(rules=[rule], feeds=feeds)
    report.summary.only = only
    assert f"1 of 5,000 findings; {words}" in " ".join(parsed(page(report)).itertext())


def test_what_the_feeds_leave_out_is_said() -> None:
    assert feed_gaps(Report(SummaryRecord())) == []
    missing = SummaryRecord(findings_left_out={"few": 1, "many": 4000, "some": 2, "none": 1})
    assert feed_gaps(Report(missing)) == [], "there are no files of findings"
    [gap] = feed_gaps(Report(missing, feeds=["findings.csv"]))
    assert "4,004 more findings are not listed: 4,000 of many, 2 of some, 1 of few and 1 more." in gap
    assert "findings=all lists up to 1,000,000 of each rule;" in gap and "FROM 'urls.parquet'" in gap
    [gap] = feed_gaps(Report(SummaryRecord(only="changes")))
    assert "only=changes" in gap


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (None, ""),
        (
            Lastmods(1.0, 0, 1.0),
            "Nothing was found against the dates.",
        ),
        (Lastmods(1.0, 0, 0.0, {"future": 1}), "None of the dates can be trusted."),
        (
            Lastmods(1.0, 1, 0.5, {"future": 1}),
            "At most 50 % of the dates can be trusted. 1 date was compared with what pages and servers say.",
        ),
    ],
)
def test_trust_in_dates_is_said_without_empty_figures(found: Lastmods | None, text: str) -> None:
    assert content(Report(SummaryRecord(lastmod=found)))["trusted"] == text


def test_trust_in_dates_beside_what_the_baseline_proves() -> None:
    summary = SummaryRecord(lastmod=Lastmods(1.0, 0, 0.5, {"identical": 2}), revisits=Revisits(4, 4))
    assert content(Report(summary))["trusted"] == "Without the baseline, at most 50 % of the dates can be trusted."


def test_share_of_a_file_that_lists_urls_twice_names_its_urls() -> None:
    file = FileProblems(SitemapRecord("https://e.com/a.xml", url_count=3), checked=2, not_indexable=1)
    summary = SummaryRecord(sitemaps=1, not_indexable=Share(2, 2, 1, 0.5, 0.5, 0.5))
    assert "1 of 2 URLs (50 %)" in page(Report(summary, files=[file]))
