"""The robots.txt of each authority that a crawl meets: asked for once, by whoever needs it first, for all the others.

Discovery, obeying, judging and the proof of cross-submission share it. An authority is scheme, host and port
(RFC 9309, 2.3); it is written as its origin, `https://example.com`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler import answers, urls
from sitemapcrawler.answers import Answer
from sitemapcrawler.bodies import Body
from sitemapcrawler.robots.authorities import robots_url
from sitemapcrawler.robots.decode import MAX_SITEMAP_BYTES
from sitemapcrawler.robots.policy import MAX_HOPS, Outcome, Policy

logger = logging.getLogger(__name__)

MAX_AGE_S = 24 * 3600
"""Seconds for which an answer holds (RFC 9309, 2.4)."""
FOREIGN_TIMEOUT_S = 15
"""Seconds for the robots.txt of a host that only a sitemap names, asked once: nothing but a judgement depends on it. It
is asked again, with more patience, where a request does."""
TOO_MANY = "max redirections reached"
"""What Scrapy says of more redirects than it may follow."""


class Policies:
    """The robots files of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._left = crawler.settings.getint("SITEMAP_MAX_ROBOTS")
        self._asked: dict[str, asyncio.Future[Policy | None]] = {}
        self._known: dict[str, Policy] = {}
        self._moved: dict[str, str] = {}
        self._since: dict[str, float] = {}
        self._failures: dict[str, Exception] = {}
        self._hasty: set[str] = set()

    @property
    def known(self) -> dict[str, Policy]:
        """{origin: policy} of those that were answered, or failed, in the order of asking."""
        return self._known

    async def of(self, url: str, retry: bool = True) -> Policy | None:
        """The policy for a URL; None where there is none to ask for: no web URL, or the crawl is being stopped."""
        origin = urls.origin(url)
        if origin is None:
            return None
        known = self._known.get(origin)
        if retry and origin in self._hasty and known is not None and known.status is None:
            self._hasty.discard(origin)  # it was asked once and in a hurry, and now a request depends on it
            del self._known[origin], self._asked[origin]
        elif known is not None and not self._is_old(origin):
            return known
        return await self._of(origin, {} if retry else {"dont_retry": True})

    async def prepare(self, listed: Iterable[str]) -> None:
        """Ask for the policies of hosts that sitemaps name, so that `at` knows them; up to SITEMAP_MAX_ROBOTS."""
        origins = {origin for url in listed if (origin := urls.origin(url)) is not None}
        new = [origin for origin in sorted(origins) if origin not in self._asked]
        allowed = new[: self._left]
        self._left -= len(allowed)
        meta = {"dont_retry": True, "download_timeout": FOREIGN_TIMEOUT_S}
        await asyncio.gather(*(self._of(origin, meta) for origin in {*allowed, *(origins & self._asked.keys())}))

    def at(self, url: str) -> Policy | None:
        """The policy for a URL, where it is known by now."""
        origin = urls.origin(url)
        return None if origin is None else self._known.get(origin)

    def failure(self, url: str) -> Exception | None:
        """Why the robots.txt of a URL's host was not answered; None where it was."""
        return self._failures.get(urls.origin(url) or "")

    def prove(self, url: str, files: Sequence[str]) -> bool:
        """True where the robots.txt of a URL's host names one of the sitemap `files`: it may then list the URL."""
        policy = self.at(url)
        return policy is not None and any(policy.names(file) for file in files)

    def final_url(self, policy: Policy) -> str:
        """URL that gave the content of a robots.txt in the end."""
        return self._moved.get(urls.origin(policy.url) or "", policy.url)

    async def _of(self, origin: str, meta: dict[str, Any]) -> Policy | None:
        asked = self._asked.get(origin)
        if asked is None or (asked.done() and self._is_old(origin)):
            if meta:
                self._hasty.add(origin)
            asked = self._asked[origin] = asyncio.ensure_future(self._ask(origin, meta))
        return await asyncio.shield(asked)

    def _is_old(self, origin: str) -> bool:
        return time.monotonic() - self._since[origin] > MAX_AGE_S

    async def _ask(self, origin: str, meta: dict[str, Any]) -> Policy | None:
        self._since[origin] = time.monotonic()
        if getattr(self._crawler.spider, "stop_reason", None) is not None:
            return None
        self._failures.pop(origin, None)
        answer = await self._fetch(f"{origin}/robots.txt", meta)
        try:
            policy = policy_of(answer)
        finally:
            answer.body.close()
        self._since[origin] = time.monotonic()
        self._known[origin] = policy
        if answer.hops:
            self._moved[origin] = answer.final_url
        self._share(answer, policy)
        self._tell(policy)
        return policy

    async def _fetch(self, url: str, meta: dict[str, Any]) -> Answer:
        collected = Body(MAX_SITEMAP_BYTES).meta()
        own = {"dont_obey_robotstxt": True, "redirect_ttl": MAX_HOPS}
        request = Request(url, callback=NO_CALLBACK, dont_filter=True, meta={**collected, **own, **meta})
        try:
            return answers.answered(await self._crawler.engine.download_async(request))
        except Exception as error:
            self._failures[urls.origin(url) or ""] = error
            return answers.ended(request, error)

    def _share(self, answer: Answer, policy: Policy) -> None:
        """What the robots.txt of another authority answered by redirect is that one's own as well."""
        origin = urls.origin(answer.final_url)
        if answer.hops and origin is not None and robots_url(origin) == answer.final_url and origin not in self._asked:
            policy = replace(policy, url=answer.final_url)
            done = asyncio.get_running_loop().create_future()
            done.set_result(policy)
            self._asked[origin], self._known[origin] = done, policy
            self._since[origin] = time.monotonic()

    @staticmethod
    def _tell(policy: Policy) -> None:
        named = f"{len(policy.sitemaps)} sitemaps named"
        level = logging.WARNING if policy.outcome is Outcome.UNREACHABLE else logging.INFO
        logger.log(level, "%s: %s (%s)", policy.url, policy.outcome, policy.reason or named)


def policies_of(crawler: Crawler) -> Policies:
    """The robots files of a crawl: those of the spider, made where it has none."""
    spider: Any = crawler.spider
    if not isinstance(getattr(spider, "policies", None), Policies):
        spider.policies = Policies(crawler)
    found: Policies = spider.policies
    return found


def policy_of(answer: Answer) -> Policy:
    """What an answer to the request for a robots.txt means."""
    if answer.error is not None and TOO_MANY in answer.error:
        return Policy.too_many_redirects(answer.url, answer.status)
    if answer.status is None:
        return Policy.unreachable(answer.url, answer.error or "no answer")
    if answer.error is not None and not answer.body.overflowed:  # the rules that are missing may forbid anything
        return Policy.unreachable(answer.url, answer.error)
    body = answer.content(MAX_SITEMAP_BYTES)
    size = max(len(body), answer.body.size)
    return Policy.from_response(answer.url, answer.status, body, size=size, base=answer.final_url)
