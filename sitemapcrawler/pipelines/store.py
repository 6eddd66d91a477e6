"""Item pipeline that writes records to the job's database."""

from __future__ import annotations

from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.misc import load_object

from sitemapcrawler.envelopes import FinalBatch, FreshBatch, SitemapEnd
from sitemapcrawler.items import UrlBatch, UrlRecord
from sitemapcrawler.pipelines import CrawlPipeline

PACKAGE = __name__.partition(".")[0]


class StorePipeline(CrawlPipeline):
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        pipeline = super().from_crawler(crawler)
        crawler.signals.connect(pipeline.item_failed, signal=signals.item_error)
        return pipeline

    def item_failed(self, item: object) -> None:
        """Mark a file as incomplete if a pipeline failed on its records."""
        if isinstance(item, (UrlBatch, UrlRecord)):
            self._audit.delivery.spoil(item.sitemap)
        else:
            self._audit.stop.note_failure()

    def open_spider(self) -> None:
        self._job = self._audit.job
        self._followed = self._job is not None and self._is_followed()

    def _is_followed(self) -> bool:
        """True if a third-party pipeline may change records after this one."""
        orders = self._crawler.settings.getwithbase("ITEM_PIPELINES")
        pipelines = [(load_object(path), order) for path, order in orders.items() if order is not None]
        own = next((order for pipeline, order in pipelines if pipeline is type(self)), 0)
        return any(order >= own and not kind.__module__.startswith(f"{PACKAGE}.") for kind, order in pipelines)

    def _count_urls(self, number: int) -> None:
        self._crawler.stats.set_value("sitemap/urls", number)

    async def process_item(self, item: object) -> object:
        """Store what does not come from the database."""
        job = self._job
        if job is None:
            return item
        match item:
            case FreshBatch():
                await job.records.fresh(item)
                self._count_urls(job.records.withheld)
            case FinalBatch(is_stored=False):
                await job.records.final(item)
                self._count_urls(job.records.withheld)
            case FinalBatch() if self._followed:
                item.urls = list(item.urls)
            case SitemapEnd():
                await job.records.file(item, self._audit.complete)
        return item
