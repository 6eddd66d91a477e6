"""Delivers the items of a crawl to its pipelines and feeds, and notes which are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from scrapy.crawler import Crawler

from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import SitemapEnd
from sitemapcrawler.feeds.exporters import are_extensions_items, with_extensions
from sitemapcrawler.items import FindingRecord, RobotsRecord, UrlBatch, records
from sitemapcrawler.jobs.job import Job


class Stage(Protocol):
    """A pipeline."""

    async def process_item(self, item: object) -> object: ...


class Delivery:
    """Sends items through all pipelines to the feeds."""

    def __init__(self, crawler: Crawler, stop: Stop, job: Job | None) -> None:
        self.stages: list[Stage] = []
        """The audit's own pipelines, in order."""
        self._crawler, self._stop, self._job = crawler, stop, job

    async def send(self, item: object) -> None:
        """Send an item through all pipelines to the feeds, and wait for it."""
        for one in await self.unpacked(item):
            await self._crawler.engine.scraper.start_itemproc_async(one, response=None)

    async def send_last(self, record: FindingRecord | RobotsRecord) -> None:
        """Store a record on the whole crawl, and send it."""
        if self._job is not None:
            self._job.records.last(record)
        await self.send(record)

    async def unpacked(self, item: object) -> Sequence[object]:
        """The items to yield for an item: itself, or with SITEMAP_ITEMS=records its rows: those of a batch, or a file
        and its findings; with SITEMAP_ITEMS=objects also the objects of a url record, behind it. The item passes our
        own pipelines here; its rows then pass them untouched."""
        if self._crawler.settings["SITEMAP_ITEMS"] not in ("records", "objects"):
            return [item]
        if isinstance(item, (UrlBatch, SitemapEnd)):
            await self._pass_on(item)
        if isinstance(item, SitemapEnd):
            return [item.plain(), *item.findings]
        if are_extensions_items(self._crawler.settings):
            return [row for record in records(item) for row in with_extensions(record)]
        return records(item)

    async def _pass_on(self, item: UrlBatch | SitemapEnd) -> None:
        try:
            for stage in self.stages:
                await stage.process_item(item)
        except Exception:
            self.spoil(item.sitemap)
            raise

    def spoil(self, sitemap: str) -> None:
        """Note that records of a file were lost: it counts as incomplete."""
        self._stop.note_failure()
        if self._job is not None:
            self._job.records.spoil(sitemap)
