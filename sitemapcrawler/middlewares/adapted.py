"""Scrapy's robots.txt, retry, compression and cache middlewares, adapted to shared policies, stopping crawls and
collected bodies."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Self, TypeVar

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcache import HttpCacheMiddleware
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response

from sitemapcrawler.download.answers import Forbidden, Unanswered, from_response
from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.policies import AGENT_KEY, Policies, own_agent
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.middlewares.politeness import MAX_PAUSE
from sitemapcrawler.replies import retry_after
from sitemapcrawler.replies.kinds import TOO_MUCH
from sitemapcrawler.robots.policy import Verdict

CACHED = "cached"
"""Flag that Scrapy sets on a response from its cache."""


class StoppableRetryMiddleware(RetryMiddleware):
    """Scrapy's middleware, without retries once the crawl is stopping, and before the server is ready again.
    The closing engine silently drops new requests, so the file would have no record."""

    crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = super().from_crawler(crawler)
        middleware.crawler = crawler
        return middleware

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Retry a response of RETRY_HTTP_CODES, but not while the crawl is stopping, nor if Retry-After is longer than
        the longest pause: the retry would fail too."""
        header = (response.headers.get("Retry-After") or b"").decode("latin-1")
        is_too_early = response.status in TOO_MUCH and (retry_after(header, datetime.now(UTC)) or 0) > MAX_PAUSE
        if is_too_early or Stop.of(self.crawler).begun():
            return response
        return super().process_response(request, response)

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | Response | None:
        """Retry a failure of RETRY_EXCEPTIONS, but not while the crawl is stopping."""
        return None if Stop.of(self.crawler).begun() else super().process_exception(request, exception)


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


class CollectedBodyCacheMiddleware(HttpCacheMiddleware):
    """Scrapy's cache, also for collected bodies: stores them if they are complete, and fills the `Body` of a request
    that the cache answers."""

    def process_request(self, request: Request, spider: Spider | None = None) -> Request | Response | None:
        """Answer from the cache if its policy says so; never a request in the name of a crawler, since a cache does not
        tell these apart."""
        if isinstance(request.meta.get(BODY_KEY), Body) and AGENT_KEY not in request.meta:
            request.meta.pop("dont_cache", None)
        return _filled(request, super().process_request(request))

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Store a response, or answer with the earlier one if that is still valid."""
        body = request.meta.get(BODY_KEY)
        if not isinstance(body, Body) or "_dont_cache" in request.meta or CACHED in response.flags:
            return super().process_response(request, response)
        if from_response(response.replace(request=request)).error is not None:
            request.meta.pop("cached_response", None)
            return response
        answer = super().process_response(request, response.replace(body=b"".join(body.chunks())))
        is_earlier = isinstance(answer, Response) and CACHED in answer.flags
        return _filled(request, answer) if is_earlier else response

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | Response | None:
        """Answer with the earlier response if its policy could not ask whether it is valid."""
        return _filled(request, super().process_exception(request, exception))


Answer = TypeVar("Answer", bound=Request | Response | None)


def _filled(request: Request, answer: Answer) -> Answer:
    """Return what the cache answers, after filling the `Body` of the request with it."""
    body = request.meta.get(BODY_KEY)
    if isinstance(answer, Response) and isinstance(body, Body):
        body.fill(answer, [answer.body])
    return answer


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
        return Forbidden(f"robots.txt could not be fetched ({verdict.reason}), so everything is disallowed")
    return Unanswered(f"no answer to robots.txt: {verdict.reason}")
