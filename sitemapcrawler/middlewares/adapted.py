"""Scrapy's retry and compression middlewares, adapted to crawls that end in time and to collected bodies."""

from __future__ import annotations

from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.http import Response

from sitemapcrawler.download.bodies import BODY_KEY


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


class CollectedBodyCompressionMiddleware(HttpCompressionMiddleware):
    """In the place of Scrapy's: what is read while it arrives is asked for as gzip only, and passes as it came."""

    def process_request(self, request: Request, spider: Spider | None = None) -> Request | Response | None:
        """Ask for what the reader can inflate."""
        if BODY_KEY in request.meta:
            request.headers.setdefault("Accept-Encoding", b"gzip")
        return super().process_request(request)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Leave the Content-Encoding header of a collected body in place."""
        return response if BODY_KEY in request.meta else super().process_response(request, response)
