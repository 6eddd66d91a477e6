"""What Scrapy's SitemapSpider finds on a site, by its robots.txt: the pages and sitemaps that it requests.

reading_scrapy_spider.py ORIGIN OUT.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Self

import scrapy
from scrapy import Request
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response
from scrapy.spiders import SitemapSpider


class Listing(SitemapSpider):
    """Requests sitemaps as usual, but no pages."""

    name = "listing"
    pages: list[str]
    children: list[str]


class Watch:
    """Spider middleware: records every request, and drops those for pages."""

    def __init__(self, spider: Listing) -> None:
        self.spider = spider

    async def process_spider_output(self, response: Response, result: AsyncIterator[Request]) -> AsyncIterator[Request]:
        """Yield the requests for sitemaps."""
        async for request in result:
            if self.spider.parse == request.callback:
                self.spider.pages.append(request.url)
            else:
                self.spider.children += [] if response.url.endswith("/robots.txt") else [request.url]
                yield request

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create a middleware that knows its spider."""
        assert isinstance(crawler.spider, Listing)
        return cls(crawler.spider)


def main(origin: str, out: str) -> None:
    """Crawl, then write the recorded requests and the exceptions of the spider."""
    settings = {"LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "SPIDER_MIDDLEWARES": {Watch: 50}}
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(Listing)
    pages: list[str] = []
    children: list[str] = []
    process.crawl(crawler, sitemap_urls=[f"{origin}/robots.txt"], pages=pages, children=children)
    process.start()
    assert crawler.stats is not None
    stats = crawler.stats.get_stats()
    if stats.get("finish_reason") != "finished":
        sys.exit("the crawl did not run")
    errors = [key for key in stats if key.startswith("spider_exceptions/")]
    error = ", ".join(sorted(key.rpartition("/")[2] for key in errors if not key.endswith("/count")))
    found = {"version": scrapy.__version__, "pages": pages, "children": children, "error": error}
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
