"""The robots.txt of each authority in a crawl, requested once and shared.

Used for discovery, obeying, verdicts and proof of cross-submission. An authority is scheme, host and port
(RFC 9309, 2.3), written as its origin: `https://example.com`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import BaseSettings

from sitemapcrawler import urls
from sitemapcrawler.download.addresses import AddressForbidden
from sitemapcrawler.download.answers import FetchResult, ProxyFailed, fetch
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.body_cache import KEPT_KEY
from sitemapcrawler.download.shared import OfCrawler, Stop
from sitemapcrawler.items import JsonObject
from sitemapcrawler.replies.kinds import SERVER_ERROR, bare
from sitemapcrawler.robots.agents import EVERYBODY, TOKEN, Agent, agent
from sitemapcrawler.robots.policy import MAX_HOPS, Policy, RobotsOutcome, robots_url
from sitemapcrawler.robots.text import MAX_SITEMAP_BYTES
from sitemapcrawler.urls import local_path
from sitemapcrawler.urls.display import counted, masked_bytes

logger = logging.getLogger(__name__)

MAX_AGE_S = 24 * 3600
"""Seconds after which a cached robots.txt expires (RFC 9309, 2.4)."""
FOREIGN_TIMEOUT_S = 15
"""Timeout in seconds, without retries, for the robots.txt of a host that only appears in sitemaps. If that fails,
a request to the host fetches it again with the usual timeout and retries."""
HTTP_OK = 200
SOME_HOME = "https://example.com/robots.txt"
"""Base of relative Sitemap lines in a local file without a known URL; the result is not shown."""
TOO_MANY = "max redirections reached"
"""Scrapy's message for too many redirects."""
OURS = (AddressForbidden, DownloadCancelledError, ProxyFailed)
"""Failures of our own, or of our proxy: they say nothing about the host's robots.txt."""
AGENT_KEY = "sitemap_agent"
"""Key in `Request.meta` of the `Agent` in whose name a request is sent: delays in robots.txt are those for it."""
fetched = object()
"""Signal with `origin` and `answer`: a robots.txt was fetched. `Policies.restore` rebuilds it from the answer."""


class Policies(OfCrawler):
    """The robots.txt files of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.offline = False
        """True to send no requests and know no web host's policy."""
        self._left = crawler.settings.getint("SITEMAP_MAX_ROBOTS")
        self._running: dict[str, asyncio.Future[Policy | None]] = {}
        self._known: dict[str, Policy] = {}
        self._moved: dict[str, str] = {}
        self._since: dict[str, float] = {}
        self._failures: dict[str, BaseException] = {}
        self._hasty: set[str] = set()

    @property
    def by_origin(self) -> dict[str, Policy]:
        """{origin: policy} of answered and failed requests, in order of request; local files by their `file:` URL."""
        return self._known

    async def obtain(self, url: str, retry: bool = True) -> Policy | None:
        """The policy for a URL; None if it is no web URL, the crawl is offline, or it is stopping."""
        origin = urls.origin(url)
        if origin is None or self.offline:
            return None
        known = self._known.get(origin)
        if retry and origin in self._hasty and known is not None and known.status is None:
            self._hasty.discard(origin)  # fetched without retries; now a request depends on it
            del self._known[origin]
        return await self._obtain(origin, {} if retry else {"dont_retry": True})

    async def load(self, url: str, place: str | None) -> Policy | None:
        """The policy of a robots.txt that the user named, by URL or as a local file.
        `place`: the URL where that file, or a file beside it, will live."""
        path = local_path(url)
        if path is None:
            return await self.obtain(url)
        home = robots_url(place or "") or url
        try:
            with Path(path).open("rb") as file:
                body = file.read(MAX_SITEMAP_BYTES)
                size = os.fstat(file.fileno()).st_size
        except OSError as error:
            self._known[url] = Policy.unreachable(home, error.strerror or str(error))
        else:
            base = home if home != url else SOME_HOME
            self._known[url] = Policy.from_response(home, HTTP_OK, masked_bytes(body), size=size, base=base)
        self._tell(self._known[url])
        return self._known[url]

    async def prepare(self, listed: Iterable[str]) -> None:
        """Fetch the policies of hosts in listed URLs, so that `at` returns them; up to SITEMAP_MAX_ROBOTS."""
        if self.offline:
            return
        origins = {origin for url in listed if (origin := urls.origin(url)) is not None}
        new = sorted(origins - self._known.keys() - self._running.keys())
        refused = new[self._left :]
        self._left -= len(new) - len(refused)
        meta = {"dont_retry": True, "download_timeout": FOREIGN_TIMEOUT_S}
        await asyncio.gather(*(self._obtain(origin, meta) for origin in origins.difference(refused)))

    def at(self, url: str) -> Policy | None:
        """The policy for a URL if it is known already."""
        origin = urls.origin(url)
        return None if origin is None else self._known.get(origin)

    def restore(self, origin: str, age_s: float, told: JsonObject) -> None:
        """Restore data that came with `fetched` `age_s` seconds ago.
        An expired or failed robots.txt is fetched again as soon as a request depends on it."""
        policy = self._known[origin] = restored(told)
        self._since[origin] = time.monotonic() - (age_s if policy.status is not None else MAX_AGE_S + 1)
        if told["final_url"]:
            self._moved[origin] = told["final_url"]

    def failure(self, url: str) -> BaseException | None:
        """The error of fetching the robots.txt for a URL; None if it was answered."""
        return self._failures.get(urls.origin(url) or "")

    def prove(self, url: str, files: Sequence[str]) -> bool:
        """True if the robots.txt for a URL names one of the sitemap `files`, which may then list the URL."""
        policy = self.at(url)
        return policy is not None and any(policy.names(file) for file in files)

    def final_url(self, policy: Policy) -> str:
        """URL that a robots.txt was finally served from."""
        return self._moved.get(urls.origin(policy.url) or "", policy.url)

    async def _obtain(self, origin: str, meta: JsonObject) -> Policy | None:
        running, known = self._running.get(origin), self._known.get(origin)
        if running is None and known is not None and not self._is_old(origin):
            return known
        if running is None:
            if meta:
                self._hasty.add(origin)
            running = self._running[origin] = asyncio.ensure_future(self._ask(origin, meta))
            running.add_done_callback(lambda _: self._running.pop(origin))
        return await asyncio.shield(running)

    def _is_old(self, origin: str) -> bool:
        return time.monotonic() - self._since[origin] > MAX_AGE_S

    async def _ask(self, origin: str, meta: dict[str, object]) -> Policy | None:
        self._since[origin] = time.monotonic()
        if Stop.of(self.crawler).begun():
            return None
        self._failures.pop(origin, None)
        answer = await self._fetch(f"{origin}/robots.txt", meta)
        try:
            policy = policy_of(answer)
            kept = kept_of(answer, policy)
        finally:
            answer.body.close()
        self._since[origin] = time.monotonic()
        self._known[origin] = policy
        if answer.hops:
            self._moved[origin] = answer.final_url
        self._keep(origin, kept)
        self._share(answer, policy, kept)
        self._tell(policy)
        return policy

    async def _fetch(self, url: str, meta: dict[str, object]) -> FetchResult:
        collected = Body(MAX_SITEMAP_BYTES).meta()
        own = {"dont_obey_robotstxt": True, "redirect_ttl": MAX_HOPS, KEPT_KEY: True}
        request = Request(url, callback=NO_CALLBACK, dont_filter=True, meta={**collected, **own, **meta})
        answer = await fetch(self.crawler, request)
        if answer.failure is not None:
            self._failures[urls.origin(url) or ""] = bare(answer.failure)
        return answer

    def _keep(self, origin: str, kept: JsonObject) -> None:
        if not Stop.of(self.crawler).begun():
            self.crawler.signals.send_catch_log(fetched, origin=origin, answer=kept)

    def _share(self, answer: FetchResult, policy: Policy, kept: JsonObject) -> None:
        """Store a redirected robots.txt for the target's authority as well."""
        origin = urls.origin(answer.final_url)
        if not answer.hops or origin is None or robots_url(origin) != answer.final_url:
            return
        if origin not in self._known and origin not in self._running:
            policy = self._known[origin] = replace(policy, url=answer.final_url)
            self._since[origin] = time.monotonic()
            self._keep(origin, {**kept, "url": policy.url, "final_url": None})

    @staticmethod
    def _tell(policy: Policy) -> None:
        named = f"{counted(len(policy.sitemaps), 'sitemap')} named"
        level = logging.WARNING if policy.outcome is RobotsOutcome.UNREACHABLE else logging.INFO
        logger.log(level, "%s: %s (%s)", policy.url, policy.outcome, policy.reason or named)


def own_agent(settings: BaseSettings) -> Agent:
    """Our agent in robots.txt: the product token at the start of our user agent."""
    name = settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"] or ""
    token = TOKEN.match(name)
    return agent(token[0] if token else EVERYBODY)


def kept_of(answer: FetchResult, policy: Policy) -> JsonObject:
    """Data that `restored` rebuilds a policy from."""
    body = answer.content(MAX_SITEMAP_BYTES) if policy.outcome is RobotsOutcome.PARSED else b""
    return {
        "url": policy.url,
        "outcome": policy.outcome,
        "status": policy.status,
        "reason": policy.reason,
        "is_ours": policy.is_ours,
        "final_url": answer.final_url if answer.hops else None,
        "size": max(len(body), answer.body.size),
        "body": b64encode(masked_bytes(body)).decode(),
    }


def restored(kept: JsonObject) -> Policy:
    """Rebuild a policy from the result of `kept_of`."""
    if kept["outcome"] == RobotsOutcome.TOO_MANY_REDIRECTS:
        return Policy.too_many_redirects(kept["url"], kept["status"])
    if kept["status"] is None or (kept["outcome"] == RobotsOutcome.UNREACHABLE and kept["status"] < SERVER_ERROR):
        return Policy.unreachable(kept["url"], kept["reason"], kept.get("is_ours", False))
    body = b64decode(kept["body"])
    return Policy.from_response(
        kept["url"], kept["status"], body, size=kept["size"], base=kept["final_url"] or kept["url"]
    )


def policy_of(answer: FetchResult) -> Policy:
    """Interpret the response to a robots.txt request."""
    if answer.error is not None and TOO_MANY in answer.error:
        return Policy.too_many_redirects(answer.url, answer.status)
    if answer.status is None:
        return Policy.unreachable(answer.url, answer.error or "no answer", isinstance(answer.failure, OURS))
    if answer.error is not None and not answer.body.overflowed:  # missing rules might disallow anything
        return Policy.unreachable(answer.url, answer.error, isinstance(answer.failure, OURS))
    body = answer.content(MAX_SITEMAP_BYTES)
    size = max(len(body), answer.body.size)
    body = masked_bytes(body)
    return Policy.from_response(answer.url, answer.status, body, size=size, base=answer.final_url)
