"""Scrapy's robots.txt, retry and compression middlewares, adapted to shared policies, stopping crawls and collected
bodies."""

from __future__ import annotations

from typing import Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response

from sitemapcrawler.download.answers import Forbidden, Unanswered
from sitemapcrawler.download.bodies import BODY_KEY
from sitemapcrawler.download.policies import Policies, own_agent
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.robots.policy import Verdict


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


class RobotsMiddleware:
    """Replaces Scrapy's middleware, with the same setting and meta key (ROBOTSTXT_OBEY, `dont_obey_robotstxt`).

    Follows RFC 9309 and shares one robots.txt per authority with the whole crawl. Requests wait for it. A robots.txt
    that answers 5xx, or not at all, disallows everything.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._crawler = crawler
        self._agent = own_agent(crawler.settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Wait for the robots.txt; raises IgnoreRequest if it disallows the request."""
        if request.meta.get("dont_obey_robotstxt"):
            return
        policy = await Policies.of(self._crawler).obtain(request.url)
        if policy is None:
            return
        verdict = policy.verdict(request.url, self._agent)
        if not verdict.allowed:
            self._crawler.stats.inc_value("robotstxt/forbidden")
            raise refusal(verdict, policy.status is not None) from Policies.of(self._crawler).failure(request.url)


def refusal(verdict: Verdict, answered: bool) -> IgnoreRequest:
    """Exception for a disallowed request: Forbidden, or Unanswered if the host did not answer."""
    if verdict.rule is not None:
        return Forbidden(f"forbidden by robots.txt, line {verdict.rule.line}: {verdict.rule.text}")
    if answered:
        return Forbidden(f"robots.txt cannot be had ({verdict.reason}), which forbids everything")
    return Unanswered(f"no answer to robots.txt: {verdict.reason}")
