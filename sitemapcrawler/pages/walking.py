"""Finds and reads the sitemaps of a crawl in one async generator, as fast as its consumer takes the URLs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator
from contextlib import aclosing
from functools import partial

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from sitemapcrawler import settings as ours
from sitemapcrawler import urls
from sitemapcrawler.audit.argument_values import Start
from sitemapcrawler.audit.configuring import at_least_one, limits, new_frontier
from sitemapcrawler.audit.discovery import Discovery, Site, SitePage, Sites
from sitemapcrawler.audit.frontier import Selection, Visit
from sitemapcrawler.audit.params import Params
from sitemapcrawler.audit.reading import Reading
from sitemapcrawler.audit.visiting import Visits
from sitemapcrawler.download import answers
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.items import SitemapRecord, UrlBatch
from sitemapcrawler.replies.discovery import HTML_BYTES
from sitemapcrawler.robots import is_robots_url

Item = UrlBatch | SitemapRecord
Done = Callable[[], AsyncGenerator[Item, None]]
"""Processes a fetched response when its turn comes."""


class Walk:
    """Fetches and reads the sitemaps of a crawl.

    Requests go straight to Scrapy's downloader, bypassing scheduler and spider middlewares. Up to SITEMAP_FETCH_AHEAD
    sitemaps are fetched at a time and wait to be read one after the other.
    """

    def __init__(self, crawler: Crawler, params: Params, policies: Policies, stopping: Callable[[], bool]) -> None:
        """`stopping`: returns True once the crawl is stopping; then no more items follow."""
        settings = crawler.settings
        self.selection = Selection(params)
        self.frontier = new_frontier(settings, params)
        self._crawler = crawler
        self._stopping = stopping
        self._limit = max_fetched(settings)
        self._starts = iter(params.starts)
        self._sitemaps = params.sitemaps
        self._files = params.named_files
        self._at_once = at_least_one(settings, "CONCURRENT_REQUESTS")
        sites = Sites(self.frontier, params.probe)
        self._discovery = Discovery(sites, policies)
        self._reading = Reading(
            self.selection,
            self.frontier,
            limits(settings),
            at_least_one(settings, "SITEMAP_BATCH_SIZE"),
            stopping,
            params.follow.search if params.follow else None,
        )
        self._visits = Visits(self.frontier, sites, policies, self._reading)
        self._running: list[asyncio.Future[Done]] = []
        self._entering = 0

    async def items(self) -> AsyncGenerator[Item, None]:
        """Yield url records in batches, then the record of their file, one file at a time."""
        try:
            for url in self._sitemaps:
                if is_robots_url(url):
                    self._launch(self._enter_robots(url))
                else:
                    self.frontier.add(Visit(url, "argument"))
            for refused in self._go_on():
                yield refused
            while self._enter_more():
                await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                if self._stopping():
                    return
                done = next(task for task in self._running if task.done())
                self._running.remove(done)
                async with aclosing(done.result()()) as items:
                    async for item in items:
                        yield item
        finally:
            for task in self._running:
                task.add_done_callback(_let_go)

    def _enter_more(self) -> bool:
        """Enter more sites, as many at once as there may be requests; returns True while anything is running."""
        while self._entering < self._at_once and (start := next(self._starts, None)) is not None:
            self._entering += 1
            self._launch(self._enter(start))
        return bool(self._running)

    def _launch(self, work: Coroutine[object, object, Done]) -> None:
        self._running.append(asyncio.ensure_future(work))

    def _go_on(self, site: Site | None = None) -> Iterator[SitemapRecord]:
        """Fetch the next sitemaps, and pages that name more; yields the records of sitemaps that are not requested."""
        for step in self._visits.next(site):
            if isinstance(step, SitePage):
                self._launch(self._read_page(step))
            else:
                try:
                    self._launch(self._fetch(step, request_for(step.url, self._limit, self._files)))
                except ValueError as error:
                    self.frontier.done(step)
                    yield self._reading.refused(step, str(error))

    async def _enter(self, start: Start) -> Done:
        site = await self._discovery.enter(start)
        self._entering -= 1
        return partial(self._after_site, site)

    async def _enter_robots(self, url: str) -> Done:
        robots, named = await self._discovery.named_by(url)
        for sitemap in named:
            self._reading.queue_named(robots, sitemap)
        return partial(self._after_site, None)

    async def _read_page(self, page: SitePage) -> Done:
        answer = await self._answer(request_for(page.url, HTML_BYTES))
        try:
            return partial(self._after_site, await self._discovery.read_page(page, answer))
        finally:
            answer.body.close()

    async def _fetch(self, visit: Visit, request: Request) -> Done:
        answer = await self._answer(request)
        self.frontier.end_wait(visit)
        return _Fetched(self._read, visit, answer)

    async def _answer(self, request: Request) -> FetchResult:
        try:
            return answers.from_response(await self._crawler.engine.download_async(request))
        except Exception as error:
            return answers.from_error(request, error)

    async def _after_site(self, site: Site | None) -> AsyncGenerator[Item, None]:
        for refused in self._go_on(site):
            yield refused

    async def _read(self, visit: Visit, answer: FetchResult) -> AsyncGenerator[Item, None]:
        hit = False
        read = self._reading.alias if self._visits.is_alias(visit, answer) else self._reading.read
        try:
            for item in read(visit, answer):
                if item is None:
                    await asyncio.sleep(0)
                    continue
                hit = True
                yield item
        finally:
            answer.body.close()
        site = await self._visits.settle(visit, answer, hit, not self._stopping())
        for refused in self._go_on(site):
            yield refused


class _Fetched(partial[AsyncGenerator[Item, None]]):
    """A fetched sitemap that waits to be read."""

    def close(self) -> None:
        """Free its body."""
        self.args[-1].body.close()


def _let_go(task: asyncio.Future[Done]) -> None:
    """Free a fetched body that will not be read."""
    if not task.cancelled() and task.exception() is None and isinstance(done := task.result(), _Fetched):
        done.close()


def max_fetched(settings: BaseSettings) -> int:
    """Maximum size of a sitemap in bytes: DOWNLOAD_MAXSIZE, with this project's default instead of Scrapy's."""
    chosen = (settings.getpriority("DOWNLOAD_MAXSIZE") or 0) > SETTINGS_PRIORITIES["default"]
    return settings.getint("DOWNLOAD_MAXSIZE") if chosen else ours.DOWNLOAD_MAXSIZE


def request_for(url: str, limit: int, files: Collection[str] = ()) -> Request:
    """A request that collects up to `limit` bytes of the body.
    Raises ValueError unless the URL is a web URL or in `files`: Scrapy's handlers of other schemes check no address."""
    if not urls.is_web(url) and url not in files:
        raise ValueError("only http and https URLs are asked for")
    meta = Body(limit).meta()
    if url.startswith("file:"):
        meta["download_slot"] = "file"
    return Request(urls.as_sent(url), NO_CALLBACK, meta=meta, dont_filter=True)
