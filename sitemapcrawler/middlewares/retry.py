"""Asking again, but not while the crawl ends."""

from __future__ import annotations

from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware


class StoppableRetryMiddleware(RetryMiddleware):
    """Scrapy's middleware until the crawl is to end: the closing engine drops new requests without a word, and the
    file would have no record."""

    crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The middleware of this crawl."""
        middleware = super().from_crawler(crawler)
        middleware.crawler = crawler
        return middleware

    def _retry(self, request: Request, reason: Any) -> Request | None:
        if getattr(self.crawler.spider, "stop_reason", None) is not None:
            return None
        return super()._retry(request, reason)
