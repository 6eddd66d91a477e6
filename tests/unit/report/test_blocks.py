"""Files as rectangles."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import SitemapRecord, SummaryRecord
from sitemapcrawler.report.blocks import MAX_DRAWN, blocks, legend
from sitemapcrawler.report.model import FileProblems, Report
from tests.unit.report import reports


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
    drawn = blocks(Report(SummaryRecord(sitemaps=12, urls=5000), files=files, undated=5000))
    assert [(block.state, block.weight) for block in drawn] == [("ok", 4000), ("rest", 1000)]
    assert drawn[-1].label.startswith("11 other files")
