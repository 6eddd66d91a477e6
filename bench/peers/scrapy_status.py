"""Scrapy requesting pages from an item pipeline: one item per page, which awaits its request; JSON lines.

    scrapy_status.py INDEX_URL OUT.jsonl

Runs with the settings of this project, so with the same middlewares, but with Scrapy's own download handler.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response
from scrapy.spiders import SitemapSpider
from scrapy.utils.project import get_project_settings
from scrapy.utils.sitemap import Sitemap

AT_ONCE = 64
HANDLER = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"


class AskingPipeline:
    """Requests the page of an item."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        request = Request(item["loc"], method="HEAD", meta={"dont_redirect": True}, dont_filter=True)
        response = await self._crawler.engine.download_async(request)
        return {**item, "status": response.status}


class StatusSpider(SitemapSpider):
    """Yields one item per entry."""

    name = "status"

    def _parse_sitemap(self, response: Response) -> Iterator[Any]:
        sitemap = Sitemap(self._get_sitemap_body(response))
        if sitemap.type == "urlset":
            yield from ({"type": "url", "loc": entry["loc"]} for entry in sitemap)
        else:
            yield from super()._parse_sitemap(response)


def main(index: str, out: str) -> None:
    """Crawl the index into a feed."""
    settings = get_project_settings()
    settings.update(
        {
            "ITEM_PIPELINES": {AskingPipeline: 300},
            "EXTENSIONS": {},
            "LOG_FORMATTER": "scrapy.logformatter.LogFormatter",
            "SPIDER_MIDDLEWARES": {},
            "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
            "CONCURRENT_ITEMS": AT_ONCE,
            "CONCURRENT_REQUESTS": AT_ONCE,
            "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE,
            "AUTOTHROTTLE_ENABLED": False,
            "DOWNLOAD_DELAY": 0,
            "RETRY_TIMES": 0,
            "SITEMAP_ALLOW_NETWORKS": ["127.0.0.0/8"],
            "FEED_EXPORTERS": {"jsonlines": "scrapy.exporters.JsonLinesItemExporter"},
            "FEEDS": {out: {"format": "jsonlines", "overwrite": True}},
        }
    )
    process = CrawlerProcess(settings)
    process.crawl(StatusSpider, sitemap_urls=[index])
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
