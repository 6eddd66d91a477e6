"""Reads the sitemaps of a crawl in one async generator, as fast as its consumer takes the URLs, and turns these into
page requests with the methods of the user's subclass, up to `max_urls`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing
from typing import Protocol

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.job import job_dir
from scrapy.utils.misc import arg_to_iter

from sitemapcrawler import urls
from sitemapcrawler.crawl.configuring import limits, new_frontier
from sitemapcrawler.crawl.frontier import Selection
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.reading import Children, Reading
from sitemapcrawler.crawl.site_discovery import Discovery, Sites
from sitemapcrawler.crawl.walk import Item, Step, Walk
from sitemapcrawler.download import answers
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.items import SitemapRecord, UrlBatch, UrlEntry
from sitemapcrawler.pages.callbacks import ENTRY, Callback, takes_entry
from sitemapcrawler.urls.display import counted, inert

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
        try:
            answer = answers.from_response(await self._crawler.engine.download_async(request))
        except Exception as error:
            answer = answers.from_error(request, error)
        self._walk.answered(step)
        return step, answer


def _let_go(task: asyncio.Future[Result]) -> None:
    """Free a fetched body that will not be read."""
    if not task.cancelled() and task.exception() is None and not isinstance(result := task.result(), list):
        _, answer = result
        answer.body.close()


ENTRY_KEY = "sitemap_entry"
"""Key in `Request.meta` of a page's entry, for the errback: a callback may do without."""
logger = logging.getLogger(__name__)


class PageSource(Protocol):
    """A spider, as far as page requests depend on it; `SitemapSpider` documents its methods."""

    crawler: Crawler
    params: Params

    def wanted(self, entry: UrlEntry) -> bool: ...
    def page_request(self, entry: UrlEntry) -> Request | None: ...
    def page_callback(self, url: str) -> Callback | None: ...
    def sitemap_read(self, record: SitemapRecord) -> object: ...
    def stopping(self) -> bool: ...


class PageRequests:
    """Makes and counts the page requests of a crawl. An exception in a subclass method skips only its page or file."""

    def __init__(self, spider: PageSource, errback: Callable[..., object]) -> None:
        self._spider = spider
        self._errback = errback
        crawler = spider.crawler
        self._stats = crawler.stats
        self._failed = False
        self._sent: Request | None = None
        self._in_job = job_dir(crawler.settings) is not None
        self.count = 0
        """Requests of this run that Scrapy's duplicate filter has let pass."""
        self.known = 0
        """Requests that it has filtered out."""
        crawler.signals.connect(self._drop, signals.request_dropped)

    @property
    def full(self) -> bool:
        """True if this run has requested `max_urls` pages."""
        return self._spider.params.max_urls is not None and self.count >= self._spider.params.max_urls

    def for_batch(self, batch: UrlBatch) -> Iterator[Request]:
        """Requests for the pages of a batch, up to `max_urls`. Pass each to `count_sent` when it is sent."""
        for record in batch.urls:
            if self.full:
                return
            request = self._request(UrlEntry.convert(record))
            if request is not None:
                yield request

    def count_sent(self, request: Request) -> None:
        """Count a request that is sent. Scrapy decides before the next one whether it drops it."""
        self.count += 1
        self._sent = request

    def _drop(self, request: Request) -> None:
        if request is self._sent:
            self.count -= 1
            self.known += 1

    def for_sitemap(self, record: SitemapRecord) -> Iterator[object]:
        """Items and requests that the subclass makes of a sitemap."""
        self._stats.inc_value("sitemap/files")
        self._stats.inc_value(f"sitemap/files/{record.outcome}")
        try:
            yield from arg_to_iter(self._spider.sitemap_read(record))
        except CloseSpider:
            raise
        except Exception as error:
            self._blame("sitemap_read", record.sitemap, error)

    def conclude(self, sitemaps: SitemapItems) -> None:
        """Store the counts in the stats, and log one line."""
        for name, count in (sitemaps.selection.skipped + sitemaps.frontier.skipped).items():
            self._stats.inc_value(f"sitemap/skipped/{name}", count)
        self._stats.set_value("sitemap/pages", self.count)
        files, stopped = self._stats.get_value("sitemap/files", 0), self._spider.stopping()
        level = logging.INFO if self.count or self.known or stopped or self.full else logging.WARNING
        pages = f"{counted(self.count, 'page')} to crawl{' so far' if stopped else ''}"
        known = f", {counted(self.known, 'page')} already in the job" if self.known and self._in_job else ""
        logger.log(level, "%s, %s%s", counted(files, "sitemap"), pages, known)

    def _request(self, entry: UrlEntry) -> Request | None:
        if not urls.is_web(entry.loc):
            self._stats.inc_value("sitemap/skipped/not-web")
            return None
        try:
            callback = self._spider.page_callback(entry.loc)
            request = self._spider.page_request(entry) if callback and self._spider.wanted(entry) else None
            if callback is not None and request is not None:
                return self._leading_back(_to_its_host(request, entry.loc), entry, callback)
            self._stats.inc_value(f"sitemap/skipped/{'rules' if callback is None else 'wanted'}")
        except CloseSpider:
            raise
        except Exception as error:
            self._blame("no request was made", entry.loc, error)
        return None

    def _leading_back(self, request: Request, entry: UrlEntry, callback: Callback) -> Request:
        """Set callback and errback unless the request has some, and the entry for both."""
        request.callback = request.callback or callback
        request.errback = request.errback or self._errback
        request.meta[ENTRY_KEY] = entry
        if takes_entry(request.callback):
            request.cb_kwargs.setdefault(ENTRY, entry)
        return request

    def _blame(self, what: str, url: str, error: Exception) -> None:
        """Log an exception in a method of the subclass; the first one with its traceback."""
        kind = type(error).__name__
        logger.error("%s: %s: %s: %s", inert(url), what, kind, inert(str(error)), exc_info=not self._failed)
        self._failed = True
        self._stats.inc_value("spider_exceptions/count")
        self._stats.inc_value(f"spider_exceptions/{kind}")


def _to_its_host(request: Request, loc: str) -> Request:
    """The request with the host of its entry encoded as we send it, if Scrapy encoded it differently."""
    sent = urls.as_sent(loc)
    return request.replace(url=sent) if sent != loc and request.url == Request(loc).url else request
