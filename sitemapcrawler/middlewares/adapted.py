"""Scrapy's retry and compression middlewares, adapted to stopping crawls and collected bodies."""

from __future__ import annotations

from typing import Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.http import Response

from sitemapcrawler.download.bodies import BODY_KEY
from sitemapcrawler.download.crawl import Stop


class StoppableRetryMiddleware(RetryMiddleware):
    """Scrapy's middleware, without retries once the crawl is stopping.
    The closing engine silently drops new requests, so the file would have no record."""

    crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = super().from_crawler(crawler)
        middleware.crawler = crawler
        return middleware

    def _retry(self, request: Request, reason: str | Exception | type[Exception]) -> Request | None:
        if Stop.of(self.crawler).begun():
            return None
        return super()._retry(request, reason)


class CollectedBodyCompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's middleware, except for collected bodies: requests gzip only and does not decompress."""

    def process_request(self, request: Request, spider: Spider | None = None) -> Request | Response | None:
        """Request gzip only for a collected body: the reader can decompress it."""
        if BODY_KEY in request.meta:
            request.headers.setdefault("Accept-Encoding", b"gzip")
        return super().process_request(request)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Pass a collected body and its Content-Encoding header unchanged."""
        return response if BODY_KEY in request.meta else super().process_response(request, response)
