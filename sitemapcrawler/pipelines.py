"""Item pipelines. Each takes a batch (or any other record) and gives it on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, DropItem, NotConfigured
from scrapy.utils.misc import load_object

from sitemapcrawler import urls
from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, UrlBatch, UrlRecord
from sitemapcrawler.jobs import Job
from sitemapcrawler.policies import Policies
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.rules.facts import FileFacts
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.status import Status
from sitemapcrawler.storedbatch import StoredBatch
from sitemapcrawler.verdicts import Verdicts

PACKAGE = __name__.partition(".")[0]
DRAWN_AT_ONCE = 1000
"""Records of a sample that leave together, as many as in a batch."""


class CrawlPipeline:
    """An item pipeline of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """A pipeline of this crawl. NotConfigured for another spider than ours."""
        if not issubclass(crawler.spidercls, AuditSpider):
            raise NotConfigured
        return cls(crawler)

    async def _send(self, item: Any) -> None:
        """Send an item through all pipelines to the feeds."""
        await self._crawler.engine.scraper.start_itemproc_async(item, response=None)


class StructurePipeline(CrawlPipeline):
    """Runs the rules of the protocol over entries and files; findings ride on their records."""

    def open_spider(self) -> None:
        """Take the judge of the crawl."""
        spider: Any = self._crawler.spider
        self._judge: Judge = spider.judge
        self._policies: Policies = spider.policies

    async def process_item(self, item: Any) -> Any:
        """Judge what carries facts; all else passes, and what comes back with its reply."""
        file = getattr(item, "file", None)
        if not isinstance(file, FileFacts):
            return item
        if isinstance(item, UrlBatch):
            await self._know_hosts(file, item.urls)
            item.judged = self._judge.urls(item.urls, file)
        elif isinstance(item, UrlRecord) and item.reply is None:
            await self._know_hosts(file, [item])
            self._judge.urls([item], file)
        elif isinstance(item, SitemapRecord):
            await self._know_hosts(file, file.children)
            self._judge.file(item, file)
        return item

    async def _know_hosts(self, file: FileFacts, listed: Sequence[UrlRecord | ChildRecord]) -> None:
        """Ask for the robots.txt of the hosts that a file lists: one may prove that the file may list them."""
        home = urls.origin(file.place)
        if home is None:  # a file of this machine may list anything, unless it will live elsewhere
            return
        if self._policies.at(home) is None:
            await self._policies.of(home)
        strange = [record.loc for record in listed if not record.loc.startswith(f"{home}/")]
        if strange:
            await self._policies.prepare(strange)

    def close_spider(self) -> None:
        """Put the complete counts into the stats."""
        for rule, count in self._judge.counts.items():
            self._crawler.stats.set_value(f"sitemap/findings/{rule}", count)
        for rule, count in self._judge.skipped.items():
            self._crawler.stats.set_value(f"sitemap/skipped/{rule}", count)


class RobotsPipeline(CrawlPipeline):
    """Says of every listed URL which crawlers robots.txt denies it to."""

    def open_spider(self) -> None:
        """Take what the crawl judges by."""
        spider: Any = self._crawler.spider
        self._verdicts: Verdicts = spider.verdicts

    async def process_item(self, item: Any) -> Any:
        """Judge url records; all else passes."""
        if getattr(item, "stored", False):
            return item
        if isinstance(item, UrlBatch) and not item.settled:
            item.judged |= await self._verdicts.judge(item.urls, item.file)
        elif isinstance(item, UrlRecord) and item.reply is None:
            await self._verdicts.judge([item], getattr(item, "file", None))
        return item


class StorePipeline(CrawlPipeline):
    """Writes records to the job's database."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """A pipeline of this crawl."""
        pipeline = super().from_crawler(crawler)
        crawler.signals.connect(pipeline.failed, signal=signals.item_error)
        return pipeline

    def failed(self, item: Any) -> None:
        """A pipeline has failed with records: their file is not complete."""
        spider: Any = self._crawler.spider
        spider.internal_errors += 1
        if self._job is not None and isinstance(item, (UrlBatch, UrlRecord)):
            self._job.records.spoil(item.sitemap)

    def open_spider(self) -> None:
        """Take the job; None where there is no database."""
        spider: Any = self._crawler.spider
        self._job: Job | None = spider.job
        if self._job is not None:
            self._job.records.gives_lines = not self._is_followed()

    def _is_followed(self) -> bool:
        """True where a pipeline that is none of ours may change records after this one."""
        orders = self._crawler.settings.getwithbase("ITEM_PIPELINES")
        pipelines = [(load_object(path), order) for path, order in orders.items() if order is not None]
        own = next((order for pipeline, order in pipelines if pipeline is type(self)), 0)
        return any(order >= own and not kind.__module__.startswith(f"{PACKAGE}.") for kind, order in pipelines)

    async def process_item(self, item: Any) -> Any:
        """Store what does not come from there."""
        job = self._job
        if isinstance(item, StoredBatch) and job is not None and not job.records.gives_lines:
            item.urls = list(item.urls)
        if job is None or getattr(item, "stored", False) or isinstance(item, StoredBatch):
            return item
        if isinstance(item, UrlBatch):
            await job.records.urls(item)
        elif isinstance(item, UrlRecord):
            if not await job.records.url(item, job.holding):
                raise DropItem("unchanged", log_level="DEBUG")
        elif isinstance(item, SitemapRecord):
            await job.records.file(item, self._crawler.spider.complete)  # type: ignore[union-attr]  # our spider has it
        elif isinstance(item, (FindingRecord, RobotsRecord)):
            job.records.last(item)
        return item


class StatusPipeline(CrawlPipeline):
    """Asks listed URLs whether they work, where the argument `verify` says so."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._drawing: asyncio.Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """A pipeline of this crawl."""
        pipeline = super().from_crawler(crawler)
        crawler.signals.connect(pipeline.idle, signal=signals.spider_idle)
        return pipeline

    def open_spider(self) -> None:
        """Take what the crawl asks by; None where nothing is verified."""
        spider: Any = self._crawler.spider
        self._status: Status | None = spider.status
        self._job: Job | None = spider.job

    async def process_item(self, item: Any) -> Any:
        """Give url records their replies; all else passes. Records that may be in a sample wait for `idle`."""
        if self._status is None or getattr(item, "stored", False):
            return item
        if isinstance(item, UrlBatch) and not item.settled:
            item.listed = item.urls if self._status.holding else None
            item.urls = await self._status.judge(item.urls, item.file)
            item.judged = item.judged or has_findings(item.urls)
        elif isinstance(item, UrlRecord) and item.reply is None:
            await self._judge_single(self._status, item)
        elif isinstance(item, SitemapRecord) and isinstance(getattr(item, "file", None), FileFacts):
            self._status.conclude(item, item.file)
        return item

    async def _judge_single(self, status: Status, item: UrlRecord) -> None:
        """DropItem for a record that is held back."""
        done = await status.judge([item], getattr(item, "file", None))
        if status.holding and self._job is not None:
            self._job.records.listed(item.sitemap, [item])
        for record in done:
            if record is not item:
                await self._send(record)
        if not any(record is item for record in done):
            raise DropItem("held back until the sample is known", log_level="DEBUG")

    def idle(self) -> None:
        """Everything is read: DontCloseSpider until the sample has been asked."""
        if self._drawing is None and self._status is not None and self._status.holds:
            self._drawing = asyncio.ensure_future(self._draw(self._status))
            self._drawing.add_done_callback(self._look_again)
        if self._drawing is not None and not self._drawing.done():
            raise DontCloseSpider

    def _look_again(self, _: asyncio.Future[None]) -> None:
        slot = self._crawler.engine._slot  # private, alike in Scrapy 2.18 and 2.19; without it: five seconds more
        if slot is not None:
            slot.nextcall.schedule()

    async def close_spider(self) -> None:
        """Let go of what waits still: a stopped crawl says that it was not asked."""
        if self._status is not None and self._drawing is None:
            self._drawing = asyncio.ensure_future(self._draw(self._status))
        if self._drawing is not None and self._status is not None:
            await self._drawing
            self._status.close()

    async def _draw(self, status: Status) -> None:
        for records, findings in await status.draw():
            for start in range(0, len(records), DRAWN_AT_ONCE):
                await self._send_settled(records[start : start + DRAWN_AT_ONCE])
            for finding in findings:
                await self._send(finding)

    async def _send_settled(self, records: list[UrlRecord]) -> None:
        if self._crawler.settings["SITEMAP_ITEMS"] != "records":
            batch = UrlBatch(records[0].sitemap, records, judged=has_findings(records), settled=True)
            await self._send(batch)
            return
        for record in records:
            await self._send(record)


def has_findings(records: Sequence[UrlRecord]) -> bool:
    """True where some of the records have findings."""
    return any(getattr(record, "findings", None) for record in records)
