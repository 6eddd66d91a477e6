"""Scrapy's own SitemapSpider with a JSON lines feed: one item per entry, in place of a request for its page.

scrapy_sitemap_spider.py INDEX_URL OUT.jsonl
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.spiders import SitemapSpider
from scrapy.utils.sitemap import Sitemap

SETTINGS = {"LOG_LEVEL": "INFO", "TELNETCONSOLE_ENABLED": False}


class ListingSpider(SitemapSpider):
    """Yields the entries of sitemaps, and requests no pages."""

    name = "listing"

    def _parse_sitemap(self, response: Response) -> Iterator[Any]:
        sitemap = Sitemap(self._get_sitemap_body(response))
        if sitemap.type == "urlset":
            for entry in self.sitemap_filter(sitemap):
                yield {"loc": entry["loc"], "lastmod": entry.get("lastmod")}
        else:
            yield from super()._parse_sitemap(response)


def main(index: str, out: str) -> None:
    """Crawl the index into a feed."""
    process = CrawlerProcess({**SETTINGS, "FEEDS": {out: {"format": "jsonlines", "overwrite": True}}})
    process.crawl(ListingSpider, sitemap_urls=[index])
    process.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
