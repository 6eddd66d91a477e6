"""Item pipelines, in the order of `ITEM_PIPELINES`: structure, robots, status, store, summary.

May import Scrapy and the parts of a crawl. Start reading in `structure.py`.
"""

from __future__ import annotations

from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemapcrawler.spiders.sitemap import AuditSpider


class CrawlPipeline:
    """An item pipeline of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the pipeline. Raises NotConfigured unless the spider is an AuditSpider."""
        if not issubclass(crawler.spidercls, AuditSpider):
            raise NotConfigured
        return cls(crawler)

    async def _send(self, item: Any) -> None:
        """Send an item through all pipelines to the feeds."""
        await self._crawler.engine.scraper.start_itemproc_async(item, response=None)
