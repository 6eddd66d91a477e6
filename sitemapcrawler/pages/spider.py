"""`SitemapSpider`, the base class of spiders that crawl the pages listed in a site's sitemaps.

The user's own arguments and settings always take precedence.
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DownloadCancelledError
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.job import job_dir
from scrapy.utils.misc import arg_to_iter
from twisted.python.failure import Failure

from sitemapcrawler import urls
from sitemapcrawler.crawl.params import ARGUMENTS, ArgumentError, Params, Use, attributes, names_of
from sitemapcrawler.crawl.state import ArgumentSpider, shared_parts
from sitemapcrawler.crawl.wiring import complete_for_pages, log_unguarded, refusing
from sitemapcrawler.download.bodies import BODY_KEY
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.private import queued
from sitemapcrawler.download.shared import Stop, stopping
from sitemapcrawler.items import SitemapRecord, UrlBatch, UrlEntry
from sitemapcrawler.namespaces import declared
from sitemapcrawler.pages.callbacks import ENTRY, Callback, PageRules, Rules, bare_entry, needs_entry, takes_entry
from sitemapcrawler.pages.walking import SitemapItems
from sitemapcrawler.urls.display import counted, inert

logger = logging.getLogger(__name__)

ACCEPTED = names_of(Use.PAGES)
"""Arguments that select the pages to crawl."""
PAGES_WAITING = 1000
"""Requests that may wait to be made; reading waits when there are more, until half of them are made."""
LIKENESS = 0.8
"""Similarity (`difflib`, 0 to 1) from which an unknown name counts as a misspelled argument."""


def page_params(spider: Spider, given: Mapping[str, object]) -> Params:
    """The arguments of a spider, read from its attributes; `given` are those passed to it.
    Raises ArgumentError for an invalid argument, and for one of audits that the spider does not define itself."""
    own = {*dir(type(spider)), *inspect.signature(type(spider).__init__).parameters}
    for name in given.keys() - own:
        _check_name(name, given[name])
    values = attributes(spider, ACCEPTED)
    if not {"domain", "sitemap"} & values.keys():
        raise ArgumentError("domain", None, "neither domain nor sitemap is given", "hosts or URLs, or sitemap")
    return Params.parse(values)


def _check_name(name: str, value: object) -> None:
    if name in ACCEPTED:
        return
    if name in ARGUMENTS:
        raise ArgumentError(name, value, "is for an audit, but this spider crawls pages", ", ".join(ACCEPTED))
    near = difflib.get_close_matches(name, ACCEPTED, 1, LIKENESS)
    if near:
        logger.warning("argument %s is unknown and passed to the spider; did you mean %s?", name, near[0])


class Room:
    """Limits the requests in the scheduler. When it is full, `wait` blocks until half of it is free."""

    def __init__(self, crawler: Crawler, most: int) -> None:
        """`most`: maximum number of waiting requests."""
        self._crawler = crawler
        self._most = most
        self._left = 0
        self._stopped = False
        self._moved = asyncio.Event()
        for signal in (signals.request_reached_downloader, signals.scheduler_empty):
            crawler.signals.connect(self._wake, signal)
        crawler.signals.connect(self._stop, stopping)

    async def wait(self) -> None:
        """Return when there is room for another request, or the crawl is stopping."""
        if self._left <= 0:
            self._left = self._most - self._queued()  # counting is slow, so only once the last count is used up
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


ENTRY_KEY = "sitemap_entry"
"""Key in `Request.meta` of a page's entry, for the errback: a callback may do without."""


class PageRequests:
    """Makes and counts the page requests of a crawl. An exception in a subclass method skips only its page or file."""

    def __init__(self, spider: SitemapSpider, errback: Callable[..., object]) -> None:
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


AGAIN_KEY = "sitemap_again"
"""Key in `Request.meta` of a cancelled request that goes back into the queue."""


class SitemapSpider(ArgumentSpider):
    """Finds the sitemaps of a site, reads them, and crawls the pages that they list, each with its sitemap entry.

    A subclass defines where to start, as an attribute or with `-a`, and how to parse a page:

        class ShopSpider(SitemapSpider):
            name = "shop"
            domain = "example.com"
            include = "/products/"

            def parse_page(self, response, entry):
                yield {"url": response.url, "title": response.css("title::text").get(), "lastmod": entry.lastmod_at}

    Arguments, each also an attribute (a string, number, date, list of strings or compiled expression): `domain`,
    `sitemap`, `probe`, `include`, `exclude`, `follow`, `since`, `max_urls`, `max_sitemaps`, `max_depth`, `max_time`. A
    subclass may have others. An invalid argument raises ValueError before the crawl starts and logs one line.

    Each listed URL is requested once (Scrapy's duplicate filter). Reading pauses while `PAGES_WAITING` requests
    wait. With JOBDIR, a stopped crawl can be resumed: pages already crawled are not requested again; `max_urls`
    counts those of one run.
    """

    rules: Rules = ()
    """(regular expression, callback) for the pages, as `sitemap_rules` of Scrapy's spider: the first whose expression
    is found in the URL counts, and pages that match none are skipped. By default, all pages go to `parse_page`."""
    params: Params
    """The validated arguments."""
    _page_rules: PageRules
    _stop: Stop

    # Methods to override.

    def parse_page(self, response: Response, entry: UrlEntry) -> object:
        """Parse a page. May be a generator, coroutine or async generator, or return a list of items and requests."""
        raise NotImplementedError(f"{type(self).__name__}.parse_page is not defined")

    def wanted(self, entry: UrlEntry) -> bool:
        """Return False for an entry whose page must not be requested."""
        return True

    def page_request(self, entry: UrlEntry) -> Request:
        """Return the request for a page, with any method, headers, meta, priority or callback.

        By default, the callback is that of `rules` or `parse_page`, and the errback calls `page_failed`. Any callback
        with a parameter `entry` gets the entry.
        """
        return Request(entry.loc)

    def page_failed(self, failure: Failure, entry: UrlEntry) -> object:
        """Handle a page that failed: an exception of the downloader, `HttpError` for a status that is not handled, or
        `IgnoreRequest` if robots.txt disallows it. By default, Scrapy handles the failure as usual.
        """
        failure.raiseException()

    def sitemap_read(self, record: SitemapRecord) -> object:
        """Handle the record of a sitemap that was read or failed. May yield or return items and requests."""
        return None

    # Implementation.

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add the settings for reading sitemaps to those of `custom_settings`, which take precedence."""
        super().update_settings(settings)
        with refusing():
            complete_for_pages(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, **kwargs: object) -> Self:
        """Check the arguments before anything else; raises ValueError, one line."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        declared()  # a plug-in that cannot be imported ends the crawl here
        with refusing():
            spider.params = page_params(spider, kwargs)
            spider._page_rules = PageRules(spider, spider.rules, spider.parse_page)
        spider._stop, *_ = shared_parts(crawler, spider.params)
        crawler.signals.connect(spider._taken_up, signals.request_reached_downloader)
        return spider

    async def start(self) -> AsyncGenerator[object, None]:
        """Yield page requests as fast as Scrapy accepts them."""
        log_unguarded(self.settings)
        sitemaps = SitemapItems(self.crawler, self.params, Policies.of(self.crawler), self._stop)
        requests = PageRequests(self, self._page_failed)
        try:
            async with aclosing(self._pages(sitemaps, requests)) as pages:
                async for page in pages:
                    yield page
        finally:
            requests.conclude(sitemaps)

    async def _pages(self, sitemaps: SitemapItems, requests: PageRequests) -> AsyncGenerator[object, None]:
        room = Room(self.crawler, PAGES_WAITING)
        async with aclosing(sitemaps.read()) as items:
            while not requests.full and (item := await anext(items, None)) is not None:
                for request in requests.for_batch(item) if isinstance(item, UrlBatch) else ():
                    await room.wait()
                    if self._stop.begun():
                        return
                    requests.count_sent(request)
                    yield request
                for made in requests.for_sitemap(item) if isinstance(item, SitemapRecord) else ():
                    yield made
        if requests.full:
            logger.info("max_urls is reached: no more sitemaps are read")

    def parse(self, response: Response, **kwargs: object) -> object:
        """Parse a page that was requested without a callback, such as by `scrapy parse`."""
        callback: Callback = self.page_callback(response.url) or self.parse_page
        if needs_entry(callback):
            kwargs.setdefault(ENTRY, bare_entry(response))
        return callback(response, **kwargs)

    def page_callback(self, url: str) -> Callback | None:
        """Return the callback of a page by `rules`; None if they skip it."""
        return self._page_rules.callback(url)

    def stopping(self) -> bool:
        """True once the crawl is stopping early."""
        return self._stop.begun()

    def may_cancel(self, request: Request) -> bool:
        """True for requests that a stop cancels: those for sitemaps, and page requests, which go back into the queue.
        All others finish, as in any Scrapy crawl."""
        return BODY_KEY in request.meta or request.errback == self._page_failed

    def _page_failed(self, failure: Failure) -> object:
        """Errback of page requests: puts one that a stop cancelled back into the queue for the next run."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
        if self._stop.begun() and isinstance(failure.value, DownloadCancelledError):
            return request.replace(dont_filter=True, meta={**request.meta, AGAIN_KEY: True})
        return self.page_failed(failure, request.meta[ENTRY_KEY])

    def _taken_up(self, request: Request) -> None:
        """Clear `dont_filter` on a request that went back into the queue, so that its redirects are filtered."""
        if request.meta.pop(AGAIN_KEY, False):
            request.dont_filter = False
