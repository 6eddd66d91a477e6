"""The workbook: what openpyxl reads in it, and what text of crawled sites cannot do there."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from xlsxwriter.exceptions import FileCreateError

from sitemapcrawler.envelopes import NotedBatch, SitemapEnd
from sitemapcrawler.feeds import worksheets
from sitemapcrawler.feeds.workbook import WorkbookExporter, summary_rows
from sitemapcrawler.feeds.worksheets import MAX_CELL, MAX_LINK, UNWRITTEN, cell_text, link_to
from sitemapcrawler.items import (
    EXTENSIONS,
    AnswerRecord,
    ChangeCounts,
    ChangedVerdict,
    ChangeRecord,
    ComparedFolder,
    ComparedList,
    Coverage,
    CrawlerAccess,
    FileRevisits,
    FindingRecord,
    Hop,
    Reach,
    ReplyRecord,
    Revisits,
    RobotsChange,
    RobotsRecord,
    SegmentCounts,
    Share,
    SitemapRecord,
    SummaryRecord,
    Target,
    UrlRecord,
)
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video
from sitemapcrawler.reader.notes import Note, Notes
from sitemapcrawler.report.wording import NOT_INDEXABLE_MEANS
from sitemapcrawler.rules import all_rules
from tests.unit.feeds import exporting

SITEMAP = "https://e.com/sitemap.xml"
SHEETS = ["Summary", "URLs", "Problems", "Sitemaps", "Robots"]
HOSTILE = [
    *("=1+1", "+1", "-1+1", "@SUM(A1)", '=HYPERLINK("http://x")', "{=1}", "internal:A1", "mailto:a@b"),
    "file:///etc/passwd",
]


export = partial(exporting.export, WorkbookExporter)


def book(*items: Any, **options: Any) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(export(*items, **options)))


def rows(sheet: Any) -> list[dict[str, Any]]:
    header, *values = sheet.iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in values]


def filled(sheet: Any) -> list[dict[str, Any]]:
    """The rows without their empty cells."""
    return [{name: value for name, value in row.items() if value is not None} for row in rows(sheet)]


def parts(data: bytes) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            yield name, archive.read(name).decode()


def test_an_empty_workbook_has_all_sheets_with_their_headers() -> None:
    written = book()
    assert written.sheetnames == SHEETS
    assert [cell.value for cell in written["Problems"][1]] == [
        "severity", "rule", "title", "message", "url", "value", "sitemap", "line", "fix",
    ]  # fmt: skip
    for sheet in written.worksheets[1:]:
        assert all(cell.font.bold for cell in sheet[1])
        assert sheet.freeze_panes == "A2"
        assert sheet.auto_filter.ref == f"A1:{sheet.cell(1, sheet.max_column).coordinate}"
        assert all(sheet.column_dimensions[cell.column_letter].width > len(cell.value) for cell in sheet[1])


def test_every_column_of_a_url() -> None:
    url = UrlRecord(
        loc="https://e.com/old", sitemap=SITEMAP, line=3, lastmod="2024-05", changefreq="daily", priority=0.5,
        images=[Image(loc="i"), Image(loc="j")], videos=[Video(title="v")], news=News(title="n"),
        alternates=[Alternate("de", "https://e.com/de")], blocked_for=["GPTBot", "CCBot"],
        reply=ReplyRecord("redirected", None, 301, 200, "https://e.com/new", [Hop(301, "https://e.com/old")], canonical="https://e.com/c", noindex=True,
                          title="=1+1", h1="Old", words=250, content_hash="1-0f", simhash="0f"),
        issues=["status-redirect", "loc-x"], change="added", indexable=False, indexability="redirect",
        target=Target("https://e.com/c", "ok", indexable=True, indexability="ok"),
    )  # fmt: skip
    assert rows(book(NotedBatch(SITEMAP, [url]))["URLs"]) == [
        {
            "url": "https://e.com/old", "status": 301, "indexable": "no", "indexability": "redirect",
            "final_status": 200, "final_url": "https://e.com/new", "redirects": "301 https://e.com/old",
            "canonical": "https://e.com/c", "target": "https://e.com/c", "target_indexability": "ok",
            "noindex": "yes", "title": "=1+1", "h1": "Old", "words": 250, "blocked_for": "GPTBot, CCBot", "lastmod": "2024-05", "changefreq": "daily",
            "priority": 0.5, "images": 2, "videos": 1, "news": 1, "alternates": 1,
            "problems": "status-redirect, loc-x", "sitemap": SITEMAP, "line": 3, "change": "added",
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "cells"),
    [
        (None, {}),
        (ReplyRecord("unchecked", "blocked"), {"status_error": "blocked"}),
        (ReplyRecord("timeout", final_url="https://e.com/"), {"status_error": "timeout"}),
        (ReplyRecord("ok", status=200, final_url="https://e.com/", noindex=False), {"status": 200, "noindex": "no"}),
        (
            ReplyRecord("ok", status=200, noindex=False, noindex_agents=["bing", "x"]),
            {"status": 200, "noindex": "bing, x"},
        ),
    ],
)
def test_replies_in_words(reply: ReplyRecord | None, cells: dict[str, Any]) -> None:
    url = UrlRecord(loc="https://e.com/", sitemap=SITEMAP, reply=reply)
    assert filled(book(url)["URLs"]) == [{"url": "https://e.com/", "sitemap": SITEMAP, **cells}]


def test_all_crawlers_stand_for_each_of_those_judged() -> None:
    urls = [UrlRecord(loc=f"{n}", blocked_for=names) for n, names in enumerate(([], ["A"], ["A", "B", "C"]))]
    assert [row["blocked_for"] for row in rows(book(*urls, judged_agents=3)["URLs"])] == ["none", "A", "all crawlers"]
    changes = [
        ChangeRecord(url="u", change="changed", what=what, before=before, after="A, B, C")
        for what, before in (("blocked_for", "none"), ("blocked_for", "A, B"), ("images", "none"))
    ]
    written = rows(book(*changes, judged_agents=3)["Changes"])
    assert [(row["before"], row["after"]) for row in written] == [
        ("none", "all crawlers"), ("A, B", "all crawlers"), ("none", "A, B, C"),
    ]  # fmt: skip


def broken(path: str, status: int = 404, **fields: Any) -> UrlRecord:
    """A URL that is not indexable."""
    loc = f"https://e.com/{path}"
    reply = ReplyRecord("http-error", None, status, status, loc)
    found = {"indexable": False, "indexability": "not found", "line": 3, **fields}
    return UrlRecord(loc=loc, sitemap=SITEMAP, reply=reply, **found)


def test_urls_that_are_not_indexable_are_the_first_sheet() -> None:
    fine = UrlRecord(loc="https://e.com/", sitemap=SITEMAP, indexable=True, indexability="ok")
    written = book(fine, broken("a"), SummaryRecord(urls=2))
    assert written.sheetnames == ["Not indexable", *SHEETS]
    assert written.active.title == "Not indexable"
    assert filled(written["Not indexable"]) == [
        {"url": "https://e.com/a", "why": "page does not exist", "status": 404, "sitemap": SITEMAP, "line": 3,
         "what_to_do": "Remove the entry, or restore the page."}
    ]  # fmt: skip


def test_changes_have_a_sheet_of_their_own() -> None:
    moved = ChangeRecord(url="https://e.com/1", change="changed", what="status", before="200", after="404")
    written = book(moved, SummaryRecord(urls=5))
    assert written.sheetnames == ["Summary", "URLs", "Problems", "Changes", "Sitemaps", "Robots"]
    assert filled(written["Changes"]) == [
        {"change": "changed", "url": "https://e.com/1", "what": "status", "before": "200", "after": "404"}
    ]


@pytest.mark.parametrize(
    ("written", "at", "cell", "shown"),
    [
        ("2024-05-01", "2024-05-01T00:00:00Z", datetime(2024, 5, 1), "yyyy-mm-dd"),
        ("2024-05-01T12:30:00+02:00", "2024-05-01T10:30:00Z", datetime(2024, 5, 1, 10, 30), "yyyy-mm-dd hh:mm:ss"),
        ("yesterday", None, "yesterday", "General"),
        ("1899-12-31", "1899-12-31T00:00:00Z", "1899-12-31", "General"),
    ],
)
def test_dates_are_dates(written: str, at: str | None, cell: object, shown: str) -> None:
    sheet = book(UrlRecord(loc="u", lastmod=written, lastmod_at=at))["URLs"]
    [found] = [one for one in sheet[2] if one.value not in (None, "u", "no", "")]
    assert (found.value, found.number_format) == (cell, shown)


def test_shares_are_percentages() -> None:
    summary = SummaryRecord(not_indexable=Share(2, 2, 1, 0.5, 0.5, 0.5))
    [cell] = [row[1] for row in book(summary)["Summary"].iter_rows() if row[0].value == "Not indexable"]
    assert (cell.value, cell.number_format) == (0.5, "0.0%")


def test_severities_have_colours() -> None:
    sheet = book(*(FindingRecord("r", severity) for severity in ("error", "warning", "info", "x")))["Problems"]
    colours = [cell.fill.fgColor.rgb if cell.fill.patternType else None for cell in sheet["A"][1:]]
    assert len(set(colours)) == 4 and colours[3] is None


def test_only_new_problems_have_colours() -> None:
    found = (ChangeRecord(url="u", change=f"{name} problem", rule="r", severity="error") for name in ("new", "solved"))
    sheet = book(*found)["Changes"]
    cells = [cell for row in sheet.iter_rows(min_row=2) for cell in row if cell.value == "error"]
    assert [cell.fill.patternType for cell in cells] == ["solid", None]


def test_answers_to_crawlers_have_a_sheet() -> None:
    answer = AnswerRecord(
        "https://e.com/", "GPTBot", "payment", "402, price USD 0.01", 402, price="USD 0.01", our_words=9
    )
    [row] = rows(book(answer)["Answers"])
    assert {name: value for name, value in row.items() if value is not None} == {
        "crawler": "GPTBot", "verdict": "payment", "note": "402, price USD 0.01", "url": "https://e.com/", "status": 402,
        "price": "USD 0.01", "our_words": 9,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("agents", "judged", "cell"),
    [
        ({"GPTBot": 20, "CCBot": 1, "Bingbot": 1}, 3, "GPTBot 20, all other crawlers 1"),
        ({"GPTBot": 1, "CCBot": 1, "Bingbot": 1}, 3, "all crawlers 1"),
        ({"GPTBot": 20, "CCBot": 1, "Bingbot": 1}, 4, "GPTBot 20, CCBot 1, Bingbot 1"),
        ({"GPTBot": 20, "CCBot": 1}, 2, "GPTBot 20, CCBot 1"),
        ({"GPTBot": 20}, 1, "GPTBot 20"),
    ],
)
def test_crawlers_with_equal_numbers_share_a_name(agents: dict[str, int], judged: int, cell: str) -> None:
    [row] = rows(book(RobotsRecord("https://e.com/robots.txt", agents=agents), judged_agents=judged)["Robots"])
    assert row["blocked_urls"] == cell


def test_segments_stand_by_their_share_of_indexable_urls() -> None:
    counts = [SegmentCounts("blog", 4), SegmentCounts("shop", 3, 3), SegmentCounts("other", 8, 1, 3, trusted=0.25)]
    sheet = book(SummaryRecord(segments=counts))["Segments"]
    assert [(row["segment"], row["urls"], row.get("indexable_share")) for row in filled(sheet)] == [
        ("other", 8, 0.25), ("shop", 3, 1), ("blog", 4, None),
    ]  # fmt: skip
    assert sheet["C2"].number_format == "0.0%"


def test_coverage_of_one_list_has_a_row_for_each_folder() -> None:
    one = ComparedList("crawl.csv", urls=5, listed=3, not_listed=2)
    folder = ComparedFolder("/shop/", 3, 2, 4, {"crawl.csv": 2})
    sheet = book(SummaryRecord(coverage=Coverage([one], listed_only=4, folders=[folder])))["Coverage"]
    assert list(sheet.iter_rows(min_row=2, values_only=True)) == [
        ("all folders", "crawl.csv", 3, 2, 4), ("/shop/", "crawl.csv", 3, 2, 4),
    ]  # fmt: skip


def test_objects_of_pages_have_sheets() -> None:
    url = UrlRecord(
        "https://e.com/", sitemap=SITEMAP, line=3, images=[Image("https://e.com/i.png", title="=1"), Image("j")],
        videos=[Video(tag=["a", "b"], price=[{"value": "1"}], uploader={"value": "x"})],
    )  # fmt: skip
    place = {"sitemap": SITEMAP, "line": 3}
    written = book(NotedBatch(SITEMAP, [url, UrlRecord()]))
    assert written.sheetnames == [*SHEETS[:3], "Images", "Videos", *SHEETS[3:]]
    assert filled(written["Images"]) == [
        {"url": "https://e.com/", "image_loc": "https://e.com/i.png", "title": "=1", **place},
        {"url": "https://e.com/", "image_loc": "j", **place},
    ]
    [video] = filled(written["Videos"])
    assert (video["tag"], video["price"], video["uploader"]) == ("a, b", '[{"value":"1"}]', "x")
    assert written["Images"]["C2"].data_type == "s"


@pytest.mark.parametrize("kind", EXTENSIONS)
def test_workbook_of_one_kind_of_objects_has_its_sheet_alone(kind: type) -> None:
    written = book(NotedBatch(SITEMAP, [UrlRecord()]), item_classes=[kind])
    assert written.sheetnames == [EXTENSIONS[kind].field.capitalize()]
    assert [cell.value for cell in written.worksheets[0][1]][:1] == ["url"]


def test_empty_columns_are_left_out() -> None:
    sheet = book(UrlRecord(loc="u", sitemap=SITEMAP), UrlRecord(loc="v", sitemap=SITEMAP, line=2))["URLs"]
    assert [list(row) for row in sheet.iter_rows(values_only=True)] == [
        ["url", "sitemap", "line"], ["u", SITEMAP, None], ["v", SITEMAP, 2],
    ]  # fmt: skip
    sheet = book(UrlRecord(loc="u"), fields_to_export=["url", "news"])["URLs"]
    assert rows(sheet) == [{"url": "u", "news": None}], "it was asked for"


def test_problems_stand_in_the_order_of_the_summary() -> None:
    found = [FindingRecord(rule, value=f"{n}") for n in range(2) for rule in ("few", "unknown", "many", "worst")]
    reach = {
        "worst": Reach("error", 1, 1, 1), "many": Reach("warning", 9, 9, 1), "few": Reach("warning", 2, 2, 1),
    }  # fmt: skip
    written = rows(book(*found, SummaryRecord(reach=reach))["Problems"])
    assert [(row["rule"], row["value"]) for row in written] == [
        (rule, n) for rule in ("worst", "many", "few", "unknown") for n in ("0", "1")
    ]


def test_rows_wait_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worksheets, "ROWS_AT_ONCE", 2)
    urls = [UrlRecord(loc=f"{n}", lastmod="2024-05-01", lastmod_at="2024-05-01T00:00:00Z") for n in range(5)]
    assert rows(book(*urls)["URLs"]) == [{"url": f"{n}", "lastmod": datetime(2024, 5, 1)} for n in range(5)]


def test_sheets_are_printed_as_wide_as_a_page_with_their_header_on_each() -> None:
    sheet = book(*(broken(f"{n}") for n in range(5)))["Not indexable"]
    assert (sheet.page_setup.orientation, sheet.page_setup.fitToHeight) == ("landscape", 0)
    assert sheet.sheet_properties.pageSetUpPr.fitToPage, "one page wide, which is the default"
    assert sheet.print_title_rows == "$1:$1"


def test_findings_of_entries_and_files_are_problems() -> None:
    url = UrlRecord(loc="https://e.com/", sitemap=SITEMAP)
    note = Note(url, findings=[FindingRecord("loc-relative", "error", "not absolute", SITEMAP, 3, 1, url.loc, "/")])
    end = SitemapEnd("sitemap")
    end.sitemap, end.findings = SITEMAP, [FindingRecord("limit-bytes", "warning", "too large", SITEMAP)]
    written = book(
        NotedBatch(SITEMAP, [url], Notes.table([note])), end, FindingRecord("robots-missing", "info", "none")
    )
    assert filled(written["Problems"]) == [
        {"severity": "error", "rule": "loc-relative", "title": "The URL is not absolute", "message": "not absolute", "url": url.loc, "value": "/", "sitemap": SITEMAP, "line": 3, "fix": "Write the full URL with scheme and host."},
        {"severity": "warning", "rule": "limit-bytes", "title": "limit-bytes", "message": "too large", "sitemap": SITEMAP},
        {"severity": "info", "rule": "robots-missing", "title": "There is no robots.txt", "message": "none", "fix": "Create a robots.txt with a Sitemap: line."},
    ]  # fmt: skip
    assert written["Problems"].auto_filter.ref == "A1:I4"
    assert len(rows(written["Sitemaps"])) == len(rows(written["URLs"])) == 1


def test_files_and_robots() -> None:
    file = SitemapRecord(
        sitemap=SITEMAP,
        status=404,
        outcome="failed",
        replies={"ok": 1200, "http-error": 3},
        issues=["a", "b"],
        error="HTTP status 404",
    )
    robots = RobotsRecord(
        "https://e.com/robots.txt",
        200,
        sitemaps=[SITEMAP, "https://e.com/b.xml"],
        crawl_delay=2.5,
        agents={"GPTBot": 1200},
    )
    written = book(file, robots)
    assert filled(written["Sitemaps"]) == [
        {"sitemap": SITEMAP, "format": "unknown", "status": 404, "outcome": "failed", "url_count": 0, "bytes": 0, "found_by": "argument",
         "replies": "ok 1,200, http-error 3", "problems": "a, b", "error": "HTTP status 404"}
    ]  # fmt: skip
    assert filled(written["Robots"]) == [
        {"robots": "https://e.com/robots.txt", "status": 200, "outcome": "parsed", "sitemaps": f"{SITEMAP}, https://e.com/b.xml",
         "crawl_delay": 2.5, "urls": 0, "blocked_urls": "GPTBot 1,200"}
    ]  # fmt: skip


class TestSummary:
    SUMMARY = SummaryRecord(
        domains=["e.com"], started="2026-05-01T10:00:00Z", elapsed_s=200.0, sitemaps=17, urls=1037,
        rules={"loc-relative": 5, "status-404": 2}, severities={"error": 6, "warning": 1},
        reach={"loc-relative": Reach("error", 300, 310, 3, milder=7), "status-404": Reach("error", 2, 2, 1)},
        severity_reach={"error": Reach("error", 301, None, 3), "warning": Reach("warning", 0, None, 1)},
        replies={"ok": 900, "http-error": 66, "sampled-out": 3}, crawlers=[CrawlerAccess("GPTBot", may_fetch=95, may_not_fetch=5), CrawlerAccess("CCBot", may_fetch=100, may_not_fetch=0)],
        not_indexable=Share(2000, 1037, 66, 66 / 1037, 0.05, 0.08), skipped={"include": 2, "robots-x": 1}, partial="max_urls", limited_by="a.toml: ignore = loc",
        indexability={"ok": 900, "noindex": 100}, findings_left_out={"loc-relative": 3, "status-404": 2},
    )  # fmt: skip

    def rows(self, *items: Any, **options: Any) -> list[list[Any]]:
        sheet = book(*items, self.SUMMARY, **options)["Summary"]
        return [[value for value in row if value is not None] for row in sheet.iter_rows(values_only=True)]

    def test_it_is_in_words(self) -> None:
        shown = self.rows()
        for row in (
            ["Site", "e.com"],
            ["Started", datetime(2026, 5, 1, 10), "UTC"],
            ["Duration", "3 min 20 s"],
            ["Sitemaps", 17],
            ["Entries", 1037, "a URL that is listed twice has two"],
            ["Entries by reply"],
            ["Entries by indexability"],
            [
                "Not indexable",
                pytest.approx(66 / 1037),
                f"66 of 1,037 URLs: {NOT_INDEXABLE_MEANS}; of all 2,000 probably 5.0 % to 8.0 %",
            ],
            ["Ended early", "yes", "it reached max_urls"],
            ["Limited by", "a.toml: ignore = loc", "a configuration file leaves something out"],
            ["error", 301, "6 findings on 301 URLs in 3 files"],
            ["warning", 0, "1 finding in 1 file"],
            ["answered with an HTTP error", 66],
            ["not requested: not in the sample", 3],
            ["noindex", 100],
            ["GPTBot", 95, "5 blocked by robots.txt"],
            ["include", 2, "entries were left out: not matched by include"],
            ["robots-x", 1, "file that the rule could not check"],
        ):
            assert row in shown

    def test_rules_are_counted_and_explained(self) -> None:
        finding = FindingRecord("loc-relative", "error", "m")
        shown = self.rows(finding, finding)
        at = shown.index([
            "Errors by rule", "URLs", "files", "title", "what to do", "entries", "lower severity", "found", "listed",
        ])  # fmt: skip
        first, second = shown[at + 1 : at + 3]
        assert [first[:3], second[:3]] == [["loc-relative", 300, 3], ["status-404", 2, 1]]
        assert "not absolute" in first[3] and first[4] == "Write the full URL with scheme and host."
        assert first[5:] == [310, 7, 5, 2]

    def test_what_was_not_counted_is_not_zero(self) -> None:
        reach = {"loc-relative": Reach("error", at_least=True)}
        errors = {"error": Reach("error", entries=3, files=1, at_least=True)}
        summary = SummaryRecord(rules={"loc-relative": 4}, severities={"error": 4}, reach=reach, severity_reach=errors)
        rows = {row[0]: row for row in book(summary)["Summary"].iter_rows(values_only=True)}
        assert rows["error"][1:4] == (None, None, "4 findings on 3 entries")
        numbers = [cell for cell in rows["loc-relative"][1:] if not isinstance(cell, str)]
        assert [cell for cell in numbers if cell is not None] == [4, 0]  # found and listed

    def test_rules_stand_in_the_order_of_the_summary_below_their_severity(self) -> None:
        reach = {
            "status-404": Reach("error", 9, 9, 1), "mine": Reach("error", 1, 1, 1),
            "loc-relative": Reach("warning", 2, 2, 1), "lastmod-date-only": Reach("info", 0, 0, 1),
        }  # fmt: skip
        sheet = book(SummaryRecord(reach=reach))["Summary"]
        names = [row[0] for row in sheet.iter_rows(values_only=True) if row[0]]
        first = names.index("Errors by rule")
        assert names[first : first + 7] == [
            "Errors by rule", "status-404", "mine", "Warnings by rule", "loc-relative",
            "Notes by rule", "lastmod-date-only",
        ]  # fmt: skip

    def test_true_dates_are_shares_of_files(self) -> None:
        revisits = Revisits(40, 4, 35, 1, [FileRevisits("=a.xml", 40, 4, 35, 1)])
        rows = list(book(SummaryRecord(revisits=revisits))["Summary"].iter_rows(values_only=True))
        at = next(number for number, row in enumerate(rows) if row[0] == "Dates since the baseline")
        text = "of 40 are true; 35 changed, page the same; 1 stayed, content changed"
        assert [row[:4] for row in rows[at + 1 : at + 3]] == [("All files", 4, 0.1, text), ("=a.xml", 4, 0.1, text)]

    def test_meanings_are_plain_text(self) -> None:
        shown = self.rows()
        assert not [cell for row in shown for cell in row if isinstance(cell, str) and "`" in cell]
        assert any("`" in rule.title for rule in all_rules())

    def test_nothing_is_said_of_a_sheet_that_is_not_there(self) -> None:
        shown = self.rows(item_classes=[UrlRecord, SummaryRecord])
        assert next(row for row in shown if row and row[0] == "loc-relative")[:2] == ["loc-relative", 300]
        assert not [row for row in shown if row and row[0] == "Problems"]

    def test_what_a_sheet_lacks_is_said_here_and_at_its_end(self) -> None:
        [problems] = [row for row in self.rows(FindingRecord("loc-relative")) if row[:1] == ["Problems"]]
        assert problems[1] == 1
        assert problems[2].startswith("5 more findings are not listed: 3 of loc-relative and 2 of status-404. ")
        assert "findings=all" in problems[2] and "urls.parquet" in problems[2]
        sheet = book(FindingRecord("loc-relative"), self.SUMMARY)["Problems"]
        assert (sheet["A3"].value, sheet.auto_filter.ref) == (problems[2], "A1:C2")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_a_formula_or_another_link(text: str) -> None:
    data = export(
        UrlRecord(loc=text, lastmod=text, sitemap=text),
        FindingRecord(text, "error", text, text, url=text, value=text),
        SitemapRecord(sitemap=text, error=text),
        RobotsRecord(text),
        SummaryRecord(
            domains=[text], rules={text: 1}, agents={text: 1}, partial=text, limited_by=text, skipped={text: 1}
        ),
    )
    for name, xml in parts(data):
        assert not re.search(r"<f[ >]|<hyperlink", xml), name
    written = openpyxl.load_workbook(io.BytesIO(data))
    for sheet, column in (("URLs", "A2"), ("Problems", "D2"), ("Sitemaps", "A2"), ("Robots", "A2")):
        cell = written[sheet][column]
        assert (cell.value, cell.data_type, cell.hyperlink) == (text, "s", None)
        assert bool(cell.quotePrefix) == text.startswith(("=", "+", "-", "@"))


SHOWN = {
    **{text: text for text in ("0012", "1e5", "2024-05-01", "TRUE", "12 ", " a  b ", "a\tb\nc", "<b>&amp;</b>", "😀é")},
    "_x0041_": "_x005F_x0041_",  # openpyxl leaves the escape that Excel decodes
    "<r><t>x</t></r>": "<r><t>x</t></r> ",  # own markup of the library
    "<r><t>&bogus;</r>": "<r><t>&bogus;</r> ",
    "a\x00b\x1bc": r"a\x00b\x1bc",
    "a\rb": r"a\rb",
    "\x9b\u202eevil": r"\x9b\u202eevil",
    "\ud800\uffff": r"\ud800\uffff",
}
"""{text: how it is read}: as it is, but for what XML cannot hold."""


@pytest.fixture(scope="module")
def texts() -> dict[str, Any]:
    """{text: its cell}."""
    column = book(*(FindingRecord("r", "error", text) for text in SHOWN))["Problems"]["D"]
    return dict(zip(SHOWN, column[1:], strict=True))


@pytest.mark.parametrize("text", SHOWN, ids=ascii)
def test_text_is_text_and_can_be_seen(texts: dict[str, Any], text: str) -> None:
    assert (texts[text].data_type, texts[text].value) == ("s", SHOWN[text])


@pytest.mark.slow
@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=20))
def test_any_text_is_a_file_that_can_be_read(text: str) -> None:
    (row,) = rows(book(FindingRecord(text, text, text, text, 7, url=text, value=text))["Problems"])
    assert row["line"] == 7
    assert (row.get("message") or "").replace("_x005F_", "_") == cell_text(text)


@pytest.mark.parametrize("char", ["x", "😀"])
def test_long_text_is_cut_visibly(char: str) -> None:
    units = len(char.encode("utf-16-le")) // 2
    whole = char * (MAX_CELL // units)
    assert cell_text(whole) == whole
    message = rows(book(FindingRecord("r", "error", whole + char))["Problems"])[0]["message"]
    assert message.endswith(f"{char}...")
    assert MAX_CELL - units < len(message.encode("utf-16-le")) // 2 <= MAX_CELL


LINKS = {
    **dict.fromkeys(("https://e.com/a?b=1&c=%20", "HTTP://e.com", "https://e.com/ä/#b#c"), ""),
    "https://e.com/?a[]=1": "https://e.com/?a%5B%5D=1",
    "https://e.com/" + "x" * (MAX_LINK - 14): "",
    **dict.fromkeys(
        [
            *("https://e.com/" + "x" * (MAX_LINK - 13), "https://e.com/?" + "[" * 700, "https://e.com/" + "😀" * 1100),
            *("javascript:alert(1)", "ftp://e.com/", "//e.com/", "https://", "https://bank.com@e.com/"),
            *("https://e.com/a b", 'https://e.com/"x', "https://e.com/<x>", "https://e.com/\u202ex", "https://[::1]/"),
            "https://e.com\\x",
        ]
    ),
}
"""{URL: the target of its link}: "" for the URL itself, None for no link."""


@pytest.fixture(scope="module")
def cells() -> dict[str, Any]:
    """{URL: its cell}."""
    return dict(zip(LINKS, book(*(UrlRecord(loc=url) for url in LINKS))["URLs"]["A"][1:], strict=True))


@pytest.mark.parametrize("url", LINKS, ids=lambda url: ascii(url)[:40])
def test_only_plain_web_urls_are_links(cells: dict[str, Any], url: str) -> None:
    target = url if LINKS[url] == "" else LINKS[url]
    assert link_to(url) == target
    assert cells[url].value == cell_text(url)
    link = cells[url].hyperlink
    assert (link and "#".join(filter(None, (link.target, link.location)))) == target


def test_links_end_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worksheets, "MAX_LINKS", 2)
    sheet = book(*(UrlRecord(loc=f"https://e.com/{n}") for n in range(4)))["URLs"]
    assert [bool(cell.hyperlink) for cell in sheet["A"]] == [False, True, True, False, False]
    assert sheet["A5"].value == "https://e.com/3"


def test_library_warns_of_nothing_at_its_own_limit() -> None:
    sheet = xlsxwriter.Workbook(io.BytesIO()).add_worksheet()
    sheet.hlink_count = worksheets.MAX_LINKS - 1  # as if so many had been written
    assert sheet.write_url(0, 0, "https://e.com/") == 0
    with pytest.warns(UserWarning, match="exceeds Excel's limit of 65,530 URLs"):
        sheet.write_url(1, 0, "https://e.com/")


def test_a_full_sheet_goes_on_behind_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worksheets, "ROWS_OF_A_SHEET", 2)
    listed = [UrlRecord(loc=f"https://e.com/{n}", line=n) for n in range(5)]
    written = book(NotedBatch(SITEMAP, listed), *(FindingRecord(f"r{n}") for n in range(3)), SummaryRecord(urls=5))
    assert written.sheetnames == ["Summary", "URLs", "URLs 2", "URLs 3", "Problems", "Problems 2", "Sitemaps", "Robots"]
    urls = ("URLs", "URLs 2", "URLs 3")
    lines = [[row["line"] for row in rows(written[name]) if row["line"] is not None] for name in urls]
    assert lines == [[0, 1], [2, 3], [4]]
    ends = [rows(written[name])[-1]["url"] for name in urls]
    assert ends[:2] == ["The rows continue on the sheet URLs 2.", "The rows continue on the sheet URLs 3."]
    assert ["URLs", 5, None, "on the sheets URLs, URLs 2, URLs 3"] in [
        list(row[:4]) for row in written["Summary"].iter_rows(values_only=True)
    ]
    for sheet in written.worksheets[1:]:
        assert (sheet.freeze_panes, sheet["A1"].font.bold) == ("A2", True)
    assert [written[name].auto_filter.ref for name in ("URLs 2", "URLs 3")] == ["A1:B3", "A1:B2"]


def test_stopped_crawl_writes_as_many_rows_as_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worksheets, "ROWS_AT_ONCE", 2)
    listed = [UrlRecord(loc=f"https://e.com/{n}", line=n + 1) for n in range(5)]
    written = book(NotedBatch(SITEMAP, listed), FindingRecord("r"), SummaryRecord(), is_late=lambda: True)
    assert [row["line"] for row in rows(written["URLs"])] == [1, 2, None]
    assert written["URLs"]["A4"].value == f"3 more rows are {UNWRITTEN}."
    assert written.sheetnames == SHEETS and len(rows(written["Problems"])) == 1
    summary = [row[:4] for row in written["Summary"].iter_rows(values_only=True)]
    assert ("URLs", 5, None, f"3 of them {UNWRITTEN}") in summary


def test_each_filter_is_that_of_its_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worksheets, "ROWS_OF_A_SHEET", 2)
    data = export(*(UrlRecord(loc=f"{n}") for n in range(5)))
    named = re.findall(r'localSheetId="(\d)" hidden="1">(.*?)!', dict(parts(data))["xl/workbook.xml"])
    names = openpyxl.load_workbook(io.BytesIO(data)).sheetnames
    assert len(named) == len(names) - 1
    # Excel repairs a workbook in which they differ.
    assert [names[int(number)] for number, _ in named] == [name.strip("'") for _, name in named]


class TestOptions:
    def test_fields_choose_and_rename_columns(self) -> None:
        written = book(UrlRecord(loc="u"), FindingRecord("r"), fields_to_export={"rule": "Rule", "url": "Page"})
        assert written.sheetnames == ["Summary", "URLs", "Problems"]
        assert [cell.value for cell in written["Problems"][1]] == ["Rule", "Page"]
        assert rows(written["URLs"]) == [{"Page": "u"}]

    def test_item_classes_choose_sheets(self) -> None:
        items = (UrlRecord(loc="u"), FindingRecord("r"), SummaryRecord())
        assert book(*items, item_classes=["sitemapcrawler.items.FindingRecord"]).sheetnames == ["Problems"]
        assert book(*items, item_classes=[UrlRecord, SummaryRecord]).sheetnames == ["Summary", "URLs"]

    def test_other_items_are_left_out(self) -> None:
        assert rows(book({"url": "u"})["URLs"]) == []

    def test_unknown_option_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"^xlsx has no option colour; accepted: item_classes$"):
            WorkbookExporter.check_options({"colour": "red", "item_classes": [UrlRecord]})


KILLED = """
import io, sys, tempfile
from sitemapcrawler.feeds.workbook import WorkbookExporter
from sitemapcrawler.items import UrlRecord
tempfile.tempdir = sys.argv[1]
writer = WorkbookExporter(io.BytesIO())
writer.start_exporting()
writer.export_item(UrlRecord(loc="u"))
print("ready", flush=True)
sys.stdin.read()
"""


def test_next_workbook_removes_temporary_files_of_a_killed_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    argv = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        export(UrlRecord(loc="u"))
        [left] = tmp_path.iterdir()
        assert left.is_dir(), "that of a process that is running stays"
        process.kill()
        process.wait()
        assert left.is_dir()
        export(UrlRecord(loc="u"))
    assert list(tmp_path.iterdir()) == []


def test_full_disk_is_an_error_of_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    close = xlsxwriter.Workbook.close

    def full(book: xlsxwriter.Workbook) -> None:
        close(book)
        raise FileCreateError(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    monkeypatch.setattr("xlsxwriter.Workbook.close", full)
    with pytest.raises(OSError, match="No space left on device"):
        export(UrlRecord(loc="u"))


def test_pipe_gets_a_whole_workbook() -> None:
    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.data = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.data += bytes(data)
            return len(data)

    exporting.write(WorkbookExporter, pipe := Pipe(), [UrlRecord(loc="https://e.com/")])
    assert rows(openpyxl.load_workbook(io.BytesIO(pipe.data))["URLs"])[0]["url"] == "https://e.com/"


def test_summary_has_urls_that_robots_newly_blocks() -> None:
    place, rule = "https://example.com/robots.txt", "Disallow: /shop/"
    verdict = ChangedVerdict("blocked", 340, ["Googlebot"], rule, "https://example.com/shop/1")
    summary = SummaryRecord(changes=ChangeCounts(robots=[RobotsChange(place, verdicts=[verdict])]))
    text = f"{place}: Googlebot: 340 listed URLs newly blocked by `{rule}`"
    assert ("URLs newly blocked by robots.txt", 340, None, text) in list(summary_rows(summary, {}))
