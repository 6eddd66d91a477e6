"""The walk through the sitemaps of a crawl: what to fetch next, and what to do with each answer.

How a URL is fetched is up to the spider: the audit yields requests to Scrapy, `SitemapSpider` asks the downloader.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from scrapy import Request
from scrapy.crawler import Crawler
from twisted.python.failure import Failure

from sitemapcrawler import urls
from sitemapcrawler.crawl.configuring import at_least_one, max_fetched
from sitemapcrawler.crawl.frontier import Frontier, Selection, Visit
from sitemapcrawler.crawl.local_files import Listing
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.reading import BATCH_SIZE, Children, Reading, is_page
from sitemapcrawler.crawl.site_discovery import Discovery, Site, SitePage
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.body_cache import KEPT_KEY
from sitemapcrawler.download.shared import Stop, stopping
from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.jobs.restoring import Done
from sitemapcrawler.replies.discovery import ARGUMENT, HTML_BYTES
from sitemapcrawler.robots import is_robots_url
from sitemapcrawler.urls.display import counted
from sitemapcrawler.verification.backlog import Backlog

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UrlList:
    """The list of URLs that the argument `urls` names."""

    url: str


READ_AT_ONCE = 2
"""Files that are read at a time: one more than a core needs, so that a large one holds back no small ones."""
Step = Visit | SitePage | UrlList
"""What is fetched: a sitemap, a page that may name sitemaps, or a list of URLs."""
Item = FreshBatch | SitemapEnd
"""What reading gives: the records of a file in batches, then the record of the file."""


class Fetcher(Protocol):
    """What fetches the steps of a walk: the audit spider, or `SitemapItems`."""

    def fetch(self, step: Step) -> Request | None:
        """Begin to fetch a step, whose answer then goes to `Walk.read`. Returns a request for Scrapy to send, or None.
        Raises ValueError for a URL that cannot be requested."""

    async def enter_robots(self, url: str) -> None:
        """Take up a robots.txt among the sitemaps that the user named, as `Walk.enter_robots` does."""


class Walk:
    """Reads the sitemaps of a crawl, each once, in the order in which they are found and answered."""

    def __init__(
        self,
        crawler: Crawler,
        params: Params,
        discovery: Discovery,
        reading: Reading,
        children: Children,
        fetcher: Fetcher,
        job: Job | None = None,
        backlog: Backlog | None = None,
    ) -> None:
        """`backlog`: keeps records until their site is read; None if they need not wait."""
        settings = crawler.settings
        self._crawler = crawler
        self._params = params
        self._reading = reading
        self._children = children
        self._frontier: Frontier = reading.frontier
        self._selection: Selection = reading.selection
        self._discovery = discovery
        self._sites = discovery.sites
        self._fetcher = fetcher
        self._job = job
        self._backlog = backlog
        if backlog is not None:
            crawler.signals.connect(backlog.look_again, signal=stopping)
        self._stop = Stop.of(crawler)
        self._max_size = max_fetched(settings)
        self._at_once = at_least_one(settings, "CONCURRENT_REQUESTS")
        self._reading_slots = asyncio.Semaphore(READ_AT_ONCE)

    # What to fetch.

    async def start(self) -> AsyncGenerator[Request | SitemapEnd, None]:
        """Fetch the sitemaps that the user named, and enter the sites."""
        listed = self._params.urls
        if listed is not None and (self._job is None or listed not in self._job.done):
            for request in self._fetched(UrlList(listed)):
                yield request
        for url in self._params.sitemap:
            if is_robots_url(url):
                await self._fetcher.enter_robots(url)
            else:
                self._frontier.add(Visit(url, ARGUMENT.name, place=self._params.place_of(url)))
        for request in self._go_on():
            yield request
        async with aclosing(self._discovery.enter_all(self._params.domain, self._at_once)) as entered:
            async for site in entered:
                for request in self._go_on(site):
                    yield request

    async def enter_robots(self, url: str) -> None:
        """Fetch a robots.txt that the user named and queue its sitemaps."""
        robots, named = await self._discovery.named_by(url, self._params.place_of(url))
        queued = [self._children.queue_named(robots, sitemap) for sitemap in named]
        if self._params.offline and named and not any(queued):
            logger.error("%s: names %s, not fetched: offline=yes", url, counted(len(named), "sitemap"))

    def request(
        self, step: Step, callback: Callable[..., object], errback: Callable[[Failure], object] | None = None
    ) -> Request:
        """The request for a step, which the callback gets as `step`.
        Raises ValueError for a URL that cannot be requested."""
        limit = self._max_size
        if isinstance(step, SitePage):
            limit = HTML_BYTES
        elif isinstance(step, UrlList):
            limit = 1  # it is read from disk, as it stands there
        meta = Body(limit).meta()
        if step.url.startswith("file:"):
            meta["download_slot"] = "file"
        elif isinstance(step, Visit):
            meta[KEPT_KEY] = True
        return Request(
            urls.as_sent(step.url),
            callback=callback,
            errback=errback,
            meta=meta,
            dont_filter=True,
            cb_kwargs={"step": step},
        )

    def _go_on(self, site: Site | None = None) -> Iterator[Request | SitemapEnd]:
        """Fetch the next sitemaps, and pages of sites that name more of them; `site` may need such a page."""
        if not self._selection.full:
            for step in self._next(site):
                yield from self._fetched(step)
        if self._backlog is not None:
            self._backlog.look_again()

    def _fetched(self, step: Step) -> Iterator[Request | SitemapEnd]:
        """Fetch a step. Yields what Scrapy is to send, or the record of a sitemap that cannot be requested."""
        try:
            request = self._fetcher.fetch(step)
        except ValueError as error:
            if not isinstance(step, Visit):
                raise
            self._frontier.done(step)
            yield self._reading.refused(step, str(error))
        else:
            if request is not None:
                yield request

    def _next(self, site: Site | None) -> Iterator[Step]:
        sites = [site]
        for visit in self._frontier.next_visits():
            if self._job is not None and visit.url in self._job.done:
                sites.append(self._pass_by(visit, self._job.done[visit.url]))
            else:
                yield visit
        for one in filter(None, sites):
            if (page := self._sites.next_page(one)) is not None:
                yield page

    # What to do with the answer.

    def answered(self, step: Step) -> None:
        """Note that a step has its answer, which may have to wait until it is read."""
        if isinstance(step, Visit):
            self._frontier.end_wait(step)

    async def read(self, step: Step, answer: FetchResult) -> AsyncGenerator[Item | Request, None]:
        """Read the answer to a step, and fetch what comes next."""
        try:
            self.answered(step)
            if isinstance(step, Visit):
                items = self._read_sitemap(step, answer)
            elif isinstance(step, SitePage):
                items = self._read_page(step, answer)
            else:
                items = self._read_list(answer)
            async with aclosing(items):
                async for item in items:
                    yield item
        finally:
            answer.body.close()
            if isinstance(step, Visit):  # also if reading failed
                self._frontier.close(step)
            if self._backlog is not None:
                self._backlog.look_again()

    async def _read_list(self, answer: FetchResult) -> AsyncGenerator[Item, None]:
        for item in Listing(self._selection, BATCH_SIZE, self._stop).read(answer.url):
            yield item

    async def _read_page(self, page: SitePage, answer: FetchResult) -> AsyncGenerator[Item | Request, None]:
        """Queue the sitemaps that a page names, or enter the site to which a home page redirects."""
        for request in self._go_on(await self._discovery.read_page(page, answer)):
            yield request

    async def _read_sitemap(self, visit: Visit, answer: FetchResult) -> AsyncGenerator[Item | Request, None]:
        end: SitemapEnd | None = None
        hit = False
        is_alias = self._is_alias(visit, answer)
        async with self._reading_slots:
            if self._backlog is not None:
                self._backlog.open(visit.url)
            for item in (self._reading.alias if is_alias else self._reading.read)(visit, answer):
                if item is None:
                    await asyncio.sleep(0)
                    continue
                hit = True
                if self._backlog is None:
                    yield item
                elif isinstance(item, SitemapEnd):
                    end = item
                else:
                    await self._backlog.pipelines.send(item)
        for request in self._go_on(await self._settle(visit, answer, hit)):
            yield request
        if end is not None and self._backlog is not None:
            answer.body.close()
            await self._backlog.release(visit.url, visit.judged_with, partial(self._is_read, visit))
            yield end
            for request in self._go_on():  # the home page may be among its pages
                yield request

    def _is_read(self, visit: Visit) -> bool:
        """True once the pages of a file may be requested: all sitemaps of its site are read, or will not be."""
        return self._selection.full or self._stop.begun() or not self._frontier.is_open(visit.judged_with)

    def _is_alias(self, visit: Visit, answer: FetchResult) -> bool:
        """True for a sitemap that was read already under another URL."""
        if not answer.ok:
            return False
        known = self._sites.was_read(visit, answer.final_url, answer.body.digest())
        return known and not is_page(answer)  # each file that redirects to a common HTML page is a problem of its own

    async def _settle(self, visit: Visit, answer: FetchResult, hit: bool) -> Site | None:
        """Finish a sitemap; `hit`: it was one. Returns the site it is a guess for."""
        self._frontier.done(visit)
        if visit.probe and not hit:
            self._crawler.stats.inc_value("sitemap/probes_missed")
            if self._job is not None and self._stop.complete:
                await self._job.records.missed(visit.url, answer.ok, answer.status)
        silent = answer.status is None and not answer.blocked
        return self._sites.settle(visit, hit, silent)

    def _pass_by(self, visit: Visit, done: Done) -> Site | None:
        """Apply the effects of reading a file without reading it again."""
        if done.hit and done.answered and not done.alias:
            self._sites.read_before(visit, done.final_url, bytes.fromhex(done.digest))
        self._children.count_index(visit, done.index)
        if done.index and self._job is not None:
            for loc, lastmod_at in self._job.children(visit.url):
                self._children.queue(visit, loc, lastmod_at)
        if visit.probe and done.hit:
            self._frontier.count_guess()
        self._frontier.done(visit)
        return self._sites.settle(visit, done.hit)
