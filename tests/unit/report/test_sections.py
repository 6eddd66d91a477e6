"""What sections need besides the report."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import Lastmods, SitemapRecord, SummaryRecord
from sitemapcrawler.report.model import FileProblems, Report, RuleReach
from sitemapcrawler.report.page import content, feed_gaps, origin, sites


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


def test_local_files_have_the_host_of_base_url_or_their_names() -> None:
    files = [FileProblems(SitemapRecord(sitemap="file:///home/me/public/my%20map.xml"))]
    assert sites(Report(SummaryRecord(), files=files)) == ["my map.xml"]
    base = {"base_url": "https://example.com/maps/"}
    assert sites(Report(SummaryRecord(), files=files, arguments=base)) == ["example.com"]


def test_what_the_feeds_leave_out_is_said() -> None:
    rules = [RuleReach("a", "error", 5000, 1, "", "", "", kept=1000), RuleReach("b", "info", 2, 1, "", "", "", kept=2)]
    assert feed_gaps(Report(SummaryRecord(), rules[1:])) == []
    [gap] = feed_gaps(Report(SummaryRecord(), rules))
    assert "1,002 of 5,002 findings" in gap and "SITEMAP_FINDINGS_PER_RULE" in gap
    [gap] = feed_gaps(Report(SummaryRecord(only="changes")))
    assert "only=changes" in gap


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (None, ""),
        (
            Lastmods(1.0, 0, 1.0),
            "No date was compared with what pages and servers say. Nothing was found against the dates.",
        ),
        (
            Lastmods(1.0, 1, 0.5, {"future": 1}),
            "At most 50 % of the dates can be trusted. 1 date was compared with what pages and servers say.",
        ),
    ],
)
def test_trust_in_dates_is_said_without_empty_figures(found: Lastmods | None, text: str) -> None:
    assert content(Report(SummaryRecord(lastmod=found)))["trusted"] == text
