"""The base of spiders that crawl the pages which a site's sitemaps list."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from sitemapcrawler.audit.configuring import at_least_one
from sitemapcrawler.audit.params import ArgumentError, Params
from sitemapcrawler.download.bodies import BODY_KEY
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.slots import queued, stopping
from sitemapcrawler.items import SitemapRecord, UrlBatch, UrlRecord
from sitemapcrawler.pages.requests import PageRequests
from sitemapcrawler.pages.settings import LOGGERS, complete, is_guarded, one_line_errors, page_params
from sitemapcrawler.pages.walking import Walk
from sitemapcrawler.urls import Authority


class Room:
    """Room for requests in the scheduler of a crawl. When it is full, it is waited for until half of it is free."""

    def __init__(self, crawler: Crawler, most: int) -> None:
        """`most`: requests that may wait."""
        self._crawler = crawler
        self._most = most
        self._left = 0
        self._stopped = False
        self._moved = asyncio.Event()
        for signal in (signals.request_reached_downloader, signals.scheduler_empty):
            crawler.signals.connect(self._wake, signal)
        crawler.signals.connect(self._stop, stopping)

    async def wait(self) -> None:
        """Return when there is room for one more request, or the crawl ends."""
        if self._left <= 0:
            self._left = self._most - self._queued()  # counting takes time: it is done when the last count is used up
        if self._left <= 0:
            while not self._stopped and self._queued() > self._most // 2:
                self._moved.clear()
                await self._moved.wait()
            self._left = max(1, self._most - self._queued())
        self._left -= 1

    def _queued(self) -> int:
        return queued(self._crawler.engine, self._most)

    def _wake(self) -> None:
        self._moved.set()

    def _stop(self) -> None:
        self._stopped = True
        self._moved.set()


logger = logging.getLogger(__name__)

AGAIN_KEY = "sitemap_again"
"""Key in `Request.meta` of a request that goes back to the queue."""


class SitemapSpider(Spider):
    """Finds the sitemaps of a site, reads them, and crawls the pages that they list, each with its entry at hand.

    A subclass says where, as an attribute or with `-a`, and what to do with a page:

        class ShopSpider(SitemapSpider):
            name = "shop"
            domain = "example.com"
            include = "/products/"

            def parse_page(self, response, entry):
                yield {"url": response.url, "title": response.css("title::text").get(), "lastmod": entry.lastmod_at}

    Arguments, each also an attribute (a text, a number, or a list of texts): `domain`, `sitemap`, `probe`, `include`,
    `exclude`, `follow`, `since`, `max_urls`, `max_sitemaps`, `max_depth`, `max_time`. Others are the subclass's own.
    A wrong one ends the crawl before it begins, with ArgumentError and one line in the log.

    Listed URLs are asked for once (Scrapy's filter of duplicates). Reading waits while SITEMAP_PAGES_WAITING requests
    wait. With JOBDIR a crawl that was stopped goes on: pages that were crawled are not asked for again, and `max_urls`
    holds for all runs together.
    """

    params: Params
    """The arguments, checked."""
    named_authorities: frozenset[Authority]
    """Hosts and ports that the arguments name: they may be private."""
    own_authorities: frozenset[Authority]
    """Those of them that credentials are sent to."""
    named_files: frozenset[str]
    """`file:` URLs of the sitemaps of this machine that they name."""
    policies: Policies
    """The robots.txt of each authority that was asked for one."""
    stop_reason: str | None = None
    """Why the crawl is ending before its end; set by the extension `Stopping`."""
    stopped_at = 0.0
    """When that was decided, in seconds of the monotonic clock."""
    begin_stop: Callable[[str], None] | None = None
    """Says at once why the crawl is to end; set by the extension `Stopping`."""

    # What a subclass may define.

    def parse_page(self, response: Response, entry: UrlRecord) -> Any:
        """Take what a page holds, like any callback of Scrapy: a generator, a coroutine, an async generator, or a list
        of items and requests."""
        raise NotImplementedError(f"{type(self).__name__}.parse_page is not defined")

    def wanted(self, entry: UrlRecord) -> bool:
        """False for an entry whose page is not to be asked for."""
        return True

    def page_request(self, entry: UrlRecord) -> Request:
        """The request for a page: change its method, headers, meta, priority... Its callback is `parse_page` and its
        errback leads to `page_failed`, unless it has a callback already."""
        return Request(entry.loc)

    def page_failed(self, failure: Failure, entry: UrlRecord) -> Any:
        """What to do about a page that has no answer (an exception of the downloader), or none with a status that is
        handled (`HttpError`), or that robots.txt forbids (`IgnoreRequest`). By itself Scrapy does what it always does.
        """
        failure.raiseException()

    def sitemap_read(self, record: SitemapRecord) -> Any:
        """Hear of each sitemap that was read, or could not be. What it yields or returns are items and requests."""
        return None

    # What makes it work.

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add what reading sitemaps needs, behind the attribute `custom_settings`."""
        super().update_settings(settings)
        complete(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check the arguments before anything else happens; ArgumentError for a bad one."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        try:
            spider.params = page_params(spider, kwargs)
        except ArgumentError:
            for name in LOGGERS:
                logging.getLogger(name).addFilter(one_line_errors)
            raise
        spider.named_authorities = spider.params.named_authorities
        spider.own_authorities = spider.params.own_authorities
        spider.named_files = spider.params.named_files
        spider.policies = Policies(crawler)
        crawler.signals.connect(spider._taken_up, signals.request_reached_downloader)
        return spider

    async def start(self) -> AsyncGenerator[Any, None]:
        """The requests for the pages, as fast as they are taken."""
        if not is_guarded(self.settings):
            logger.info("DOWNLOAD_HANDLERS names a handler that checks no address: private ones are not refused")
        walk = Walk(self.crawler, self.params, self.policies, self.stopping)
        requests = PageRequests(self, self._page_failed)
        try:
            async with aclosing(self._pages(walk, requests)) as pages:
                async for page in pages:
                    yield page
        finally:
            requests.conclude(walk)

    async def _pages(self, walk: Walk, requests: PageRequests) -> AsyncGenerator[Any, None]:
        room = Room(self.crawler, at_least_one(self.settings, "SITEMAP_PAGES_WAITING"))
        async with aclosing(walk.items()) as items:
            while not requests.full and (item := await anext(items, None)) is not None:
                for request in requests.for_batch(item) if isinstance(item, UrlBatch) else ():
                    await room.wait()
                    if self.stopping():
                        return
                    requests.count_sent(request)
                    yield request
                for made in requests.for_sitemap(item) if isinstance(item, SitemapRecord) else ():
                    yield made
        if requests.full:
            logger.info("max_urls is reached: no more sitemaps are read")

    def stopping(self) -> bool:
        """True once the crawl is to end before its end."""
        return self.stop_reason is not None

    def may_cancel(self, request: Request) -> bool:
        """True for requests that a stop ends at once: those for sitemaps, and those for pages, which go back to the
        queue. All others are left to their end, as in every crawl of Scrapy."""
        return BODY_KEY in request.meta or request.errback == self._page_failed

    def _page_failed(self, failure: Failure) -> Any:
        """Errback of the requests for pages: one that a stop has cancelled goes back to the queue, for the next run."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
        if self.stopping() and isinstance(failure.value, DownloadCancelledError):
            return request.replace(dont_filter=True, meta={**request.meta, AGAIN_KEY: True})
        return self.page_failed(failure, request.cb_kwargs["entry"])

    def _taken_up(self, request: Request) -> None:
        """A request is made. One that went back to the queue is filtered like others where it is redirected."""
        if request.meta.pop(AGAIN_KEY, False):
            request.dont_filter = False
