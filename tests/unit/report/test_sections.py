"""What sections need besides the report."""

from __future__ import annotations

from sitemapcrawler.items import SitemapRecord, SummaryRecord
from sitemapcrawler.report.model import FileProblems, Report
from sitemapcrawler.report.sections import origin, sites


def test_sites_are_the_hosts_of_the_files_where_only_files_were_named() -> None:
    files = [
        FileProblems(SitemapRecord(sitemap=url)) for url in ("https://a.example/1", "https://a.example/2", "file:///b")
    ]
    report = Report(SummaryRecord(), files=files)
    assert sites(report) == ["a.example"]
    assert origin(report) == "https://a.example"
    assert sites(Report(SummaryRecord(domains=["c.example"]), files=files)) == ["c.example"]


def test_site_that_is_written_in_several_ways_is_one() -> None:
    written = ("https://a.example/1", "https://A.example:443/2", "https://me:secret@a.example/3")
    report = Report(SummaryRecord(), files=[FileProblems(SitemapRecord(sitemap=url)) for url in written])
    assert sites(report) == ["a.example"]
    assert origin(report) == "https://a.example"
