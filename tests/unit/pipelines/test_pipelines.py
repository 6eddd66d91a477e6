"""Counting what passes, and the summary at the end."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.state import Audit, Delivery
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import FinalBatch, FreshBatch, NotedBatch, SitemapEnd
from sitemapcrawler.items import FindingRecord, Reach, RobotsRecord, SummaryRecord, UrlRecord
from sitemapcrawler.pipelines.summary import SummaryPipeline, peak_mb
from sitemapcrawler.spiders.sitemap import AuditSpider


class Crawl:
    """As much of a crawler as the pipeline uses; it keeps what is sent to the feeds."""

    itemproc: Any

    def __init__(self, partial: str | None = None) -> None:
        self.stats = MemoryStatsCollector(get_crawler())
        self.sent: list[Any] = []
        self.engine = SimpleNamespace(scraper=self)
        stop = Stop(get_crawler())
        stop.reason = partial
        parts: dict[str, Any] = dict.fromkeys(Audit.__dataclass_fields__)
        parts |= {
            "crawler": self,
            "stop": stop,
            "sites": [],
            "policies": SimpleNamespace(at=lambda url: None),
            "delivery": Delivery(cast(Any, self), stop, None),
            "began": datetime(2026, 5, 1, 10, tzinfo=UTC),
            "params": Params.parse({"domain": "a.com,http://b.com:8080"}),
            "selection": SimpleNamespace(full=False, skipped=Counter(since=2, include=0)),
            "frontier": SimpleNamespace(given_up={}, skipped=Counter(max_depth=1)),
            "judge": SimpleNamespace(
                skip_site=lambda: None,
                counts=Counter({"z-rule": 1, "a-rule": 2}),
                severities=Counter(error=3),
                reach={"error": Reach("error", 0, 3, 1)},
                skipped=Counter({"a-rule": 4}),
                crawl=lambda given_up: [FindingRecord("allow-expired")],
                incomplete_lists=lambda: [FindingRecord("limit-findings")],
                unlisted={"z-rule": 7},
                selected=[SimpleNamespace(id="z-rule"), SimpleNamespace(id="a-rule")],
            ),
            "verdicts": SimpleNamespace(
                skipped=Counter(robots=5),
                blocked=Counter(GPTBot=2),
                records=lambda starts, given_up: [RobotsRecord("https://a.com/robots.txt")],
            ),
        }
        self.settings = {"SITEMAP_ITEMS": "auto"}
        self.spider = AuditSpider()
        self.spider.audit = Audit(**parts)
        self.pipeline = SummaryPipeline.from_crawler(self)  # type: ignore[arg-type]  # all of a crawler that it uses

    def get_item_pipeline(self, kind: type) -> None:
        """There is none besides the one under test."""

    def get_extension(self, kind: type) -> None:
        """There is none."""

    async def start_itemproc_async(self, item: Any, *, response: object) -> None:
        assert response is None
        self.sent.append(item)

    def pass_on(self, *items: Any) -> None:
        for item in items:
            assert asyncio.run(self.pipeline.process_item(item)) is item

    @property
    def counts(self) -> dict[str, Any]:
        return {name.removeprefix("sitemap/"): value for name, value in self.stats.get_stats().items()}


def sitemap(outcome: str, error: str | None = None) -> SitemapEnd:
    end = SitemapEnd("https://a.com/s.xml")
    end.format, end.outcome, end.bytes, end.error = "xml-urlset", outcome, 100, error
    return end


def test_pipelines_of_a_crawler_without_a_spider_are_off() -> None:
    """`scrapy shell --spider sitemap` creates them before the spider, which it may have no arguments for."""
    with pytest.raises(NotConfigured):
        SummaryPipeline.from_crawler(get_crawler(AuditSpider, {"TWISTED_REACTOR_ENABLED": True}))


def test_records_are_counted_whatever_the_batch() -> None:
    crawl = Crawl()
    crawl.pass_on(
        FreshBatch("s", [UrlRecord("a"), UrlRecord("b")]), FinalBatch("s", [UrlRecord("c")]), FreshBatch("s", [])
    )
    assert crawl.counts == {"urls": 3}


def test_rows_of_a_batch_that_has_passed_are_not_counted_again() -> None:
    crawl = Crawl()
    crawl.pass_on(UrlRecord("a"), FindingRecord("loc-empty"), sitemap("ok").plain())
    assert crawl.counts == {}


def test_files_are_counted_by_outcome_and_format() -> None:
    crawl = Crawl()
    crawl.pass_on(sitemap("ok"), sitemap("ok"), sitemap("failed", "HTTP status 404"))
    assert crawl.counts == {
        "files": 3,
        "files/ok": 2,
        "files/failed": 1,
        "format/xml-urlset": 3,
        "bytes": 300,
        "files_read": 2,
        "problems": 1,
    }


@pytest.mark.parametrize(
    ("outcome", "read"),
    [("ok", 1), ("recovered", 1), ("truncated", 1), ("unchanged", 1), ("failed", 0), ("blocked", 0)],
)
def test_what_counts_as_read(outcome: str, read: int) -> None:
    crawl = Crawl()
    crawl.pass_on(sitemap(outcome))
    assert crawl.counts.get("files_read", 0) == read


def test_other_items_pass() -> None:
    crawl = Crawl()
    crawl.pass_on({"name": "of a user's own spider"}, SummaryRecord())
    assert crawl.counts == {}


def test_summary_is_sent_at_the_end() -> None:
    crawl = Crawl()
    crawl.pass_on(NotedBatch("s", [UrlRecord("a")]), sitemap("ok"))
    asyncio.run(crawl.pipeline.conclude())
    robots, finding, capped, summary = crawl.sent
    assert robots.robots == "https://a.com/robots.txt"
    assert (finding.rule, capped.rule) == ("allow-expired", "limit-findings")
    assert isinstance(summary, SummaryRecord)
    assert summary.domains == ["a.com", "http://b.com:8080"]
    assert (summary.sitemaps, summary.urls, summary.partial) == (1, 1, None)
    assert list(summary.rules.items()) == [("a-rule", 2), ("z-rule", 1)]
    assert summary.severities == {"error": 3}
    assert summary.skipped == {"since": 2, "max_depth": 1, "a-rule": 4, "robots": 5}
    assert summary.agents == {"GPTBot": 2}
    assert summary.basis.rules == ["a-rule", "z-rule"]
    assert summary.started == "2026-05-01T10:00:00Z"
    assert 0 <= summary.elapsed_s < 60
    assert "partial" not in crawl.counts


def test_pipelines_close_after_the_last_record() -> None:
    """Scrapy closes all of them at once: the user's own would see no record of the end, or fail on a closed file."""
    crawl = Crawl()

    async def close() -> None:
        crawl.sent.append("closed")

    crawl.itemproc = SimpleNamespace(close_spider_async=close)
    crawl.pipeline.open_spider()
    asyncio.run(crawl.itemproc.close_spider_async())
    assert isinstance(crawl.sent[-2], SummaryRecord)
    assert crawl.sent[-1] == "closed"


def test_stopped_crawl_is_partial() -> None:
    crawl = Crawl(partial="max_time")
    asyncio.run(crawl.pipeline.conclude())
    assert crawl.sent[-1].partial == "max_time"
    assert crawl.counts["partial"] == "max_time"


def test_peak_memory_is_plausible() -> None:
    assert 5 < peak_mb() < 100_000
