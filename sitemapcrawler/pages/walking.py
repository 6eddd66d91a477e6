"""Reads the sitemaps of a crawl in one async generator, as fast as its consumer takes the URLs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http.request import NO_CALLBACK

from sitemapcrawler import urls
from sitemapcrawler.crawl.configuring import limits, new_frontier
from sitemapcrawler.crawl.frontier import Selection
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.reading import Children, Reading
from sitemapcrawler.crawl.site_discovery import Discovery, Sites
from sitemapcrawler.crawl.walk import Item, Step, Walk
from sitemapcrawler.download.answers import FetchResult, fetch
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.shared import Stop

Result = tuple[Step, FetchResult] | list[Item]
"""A step with its answer, which waits to be read; or, of entering the sites, the records of sitemaps that cannot be
requested."""


class SitemapItems:
    """The url records and file records of a crawl.

    Requests go straight to Scrapy's downloader, bypassing scheduler and spider middlewares. Up to `FETCH_AHEAD`
    sitemaps are fetched at a time and wait to be read one after the other.
    """

    def __init__(self, crawler: Crawler, params: Params, policies: Policies, stop: Stop) -> None:
        settings = crawler.settings
        # max_urls limits requests, not what is listed
        self.selection = Selection(params.model_copy(update={"max_urls": None}))
        self.frontier = new_frontier(settings, params)
        self._crawler = crawler
        self._stop = stop
        self._files = params.named_files
        children = Children(self.frontier, params.follow)
        reading = Reading(self.selection, self.frontier, limits(settings), stop, children)
        discovery = Discovery(Sites(self.frontier, params.probe), policies)
        self._walk = Walk(crawler, params, discovery, reading, children, self)
        self._running: set[asyncio.Future[Result]] = set()
        self._done: asyncio.Queue[asyncio.Future[Result]] = asyncio.Queue()

    async def read(self) -> AsyncGenerator[Item, None]:
        """Yield url records in batches, then the record of their file, one file at a time."""
        entering = self._launch(self._enter())
        try:
            while self._running:
                done = await self._done.get()
                if self._stop.begun():
                    return
                self._running.remove(done)
                async with aclosing(self._items(done.result())) as items:
                    async for item in items:
                        yield item
        finally:
            entering.cancel()
            for task in self._running:
                task.add_done_callback(_let_go)

    def _launch(self, work: Coroutine[object, object, Result]) -> asyncio.Future[Result]:
        task = asyncio.ensure_future(work)
        task.add_done_callback(self._done.put_nowait)
        self._running.add(task)
        return task

    async def _items(self, result: Result) -> AsyncGenerator[Item, None]:
        if isinstance(result, list):
            for refused in result:
                yield refused
            return
        async with aclosing(self._walk.read(*result)) as items:
            async for item in items:
                if not isinstance(item, Request):
                    yield item

    async def _enter(self) -> Result:
        """Enter all sites; returns the records of sitemaps that cannot be requested."""
        return [item async for item in self._walk.start() if not isinstance(item, Request)]

    def fetch(self, step: Step) -> None:
        """Begin to fetch a step. Raises ValueError unless its URL is a web URL or one of the files that the user named:
        Scrapy's handlers of other schemes check no address."""
        if not urls.is_web(step.url) and step.url not in self._files:
            raise ValueError("only http and https URLs are requested")
        self._launch(self._answer(step, self._walk.request(step, NO_CALLBACK)))

    async def enter_robots(self, url: str) -> None:
        """Fetch a robots.txt that the user named and queue its sitemaps."""
        await self._walk.enter_robots(url)

    async def _answer(self, step: Step, request: Request) -> Result:
        answer = await fetch(self._crawler, request)
        self._walk.answered(step)
        return step, answer


def _let_go(task: asyncio.Future[Result]) -> None:
    """Free a fetched body that will not be read."""
    if not task.cancelled() and task.exception() is None and not isinstance(result := task.result(), list):
        _, answer = result
        answer.body.close()
