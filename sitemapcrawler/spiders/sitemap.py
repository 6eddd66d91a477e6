"""The audit spider: finds the sitemaps of a site, reads them, and yields their records."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from twisted.python.failure import Failure

from sitemapcrawler import urls
from sitemapcrawler.audit import scrapy_cloud
from sitemapcrawler.audit.configuring import (
    add_contact,
    at_least_one,
    leave_out,
)
from sitemapcrawler.audit.discovery import Site, SitePage
from sitemapcrawler.audit.frontier import Visit
from sitemapcrawler.audit.local_files import Listing
from sitemapcrawler.audit.scrapy_cloud import schema
from sitemapcrawler.audit.state import Audit, Audited, Plan
from sitemapcrawler.download import answers
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.feeds.reporting import add_feeds
from sitemapcrawler.feeds.setup import check_columns, prepare_feeds, write_anew
from sitemapcrawler.items import SitemapRecord, UrlBatch
from sitemapcrawler.replies.discovery import HTML_BYTES
from sitemapcrawler.robots import is_robots_url
from sitemapcrawler.rules.registry import load_rules
from sitemapcrawler.words import counted

logger = logging.getLogger(__name__)


class AuditSpider(Audited):
    """The sitemap audit: `scrapy crawl sitemap -a domain=example.com`. All arguments: `sitemapcrawler.audit.params`."""

    name = "sitemap"
    metadata: ClassVar[dict[str, object]] = {
        "title": "Sitemap audit",
        "description": "Finds every sitemap of a site, reads all of them, and says what is wrong with what they list.",
        "template": True,
        "param_schema": schema(),
    }
    """Metadata for Scrapy Cloud: a spider template whose arguments are filled in on a form."""
    _reading_slots: asyncio.Semaphore

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Complete and check feeds and USER_AGENT, and load custom rules, also for crawls started from a script.

        Moves JOBDIR to SITEMAP_JOBDIR: Scrapy's own state there would make a second run filter its first requests as
        duplicates. Raises ValueError for an invalid setting.
        """
        super().update_settings(settings)
        scrapy_cloud.adapt(settings)
        leave_out(settings)
        add_contact(settings)
        prepare_feeds(settings)
        if cls is AuditSpider:  # a subclass may yield other items
            check_columns(settings)
        load_rules(settings)
        if settings.get("JOBDIR"):
            settings.set("SITEMAP_JOBDIR", settings["JOBDIR"], priority="cmdline")
            settings.set("JOBDIR", None, priority=SETTINGS_PRIORITIES["cmdline"] + 1)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, _plan: Plan | None = None, **kwargs: Any) -> Self:
        """Check the arguments before anything else, unless a command has done so and hands over its plan; raises
        ValueError, one line."""
        plan = _plan or Plan.of(crawler.settings, kwargs)
        if "_job" in kwargs:
            write_anew(crawler.settings, kwargs["_job"])
        if plan.params.report is not None:
            add_feeds(crawler.settings, plan.params.report)
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.params = plan.params
        spider.audit = Audit.new(crawler, plan)
        spider._reading_slots = asyncio.Semaphore(at_least_one(crawler.settings, "SITEMAP_READ_AT_ONCE"))
        return spider

    async def start(self) -> AsyncIterator[Request | SitemapRecord]:
        """Request the named sitemaps and each site's robots.txt; nothing if the job is finished."""
        try:
            async for item in self._start():
                yield item
        except Exception:
            self.audit.note_failure()
            raise

    async def _start(self) -> AsyncIterator[Request | SitemapRecord]:
        job, listed = self.audit.job, self.params.urls
        if job is not None:
            await job.begin(self.audit, self.audit.send)
            if job.finished:
                return
        if listed is not None and (job is None or listed not in job.done):
            yield self.request(listed, "parse_list", 1)
        for url in self.params.sitemaps:
            if is_robots_url(url):
                await self.enter_robots(url)
            else:
                self.audit.frontier.add(Visit(url, "argument", place=self.params.place_of(url)))
        for request in self.next_requests():
            yield request
        at_once = at_least_one(self.settings, "CONCURRENT_REQUESTS")
        async for site in self.audit.discovery.enter_all(self.params.starts, at_once):
            for request in self.next_requests(site):
                yield request

    async def enter_robots(self, url: str) -> None:
        """Fetch a robots.txt that the user named and queue its sitemaps; it is judged at the end."""
        robots, named = await self.audit.discovery.named_by(url, self.params.place_of(url))
        queued = [self.audit.reading.queue_named(robots, sitemap) for sitemap in named]
        if self.params.offline and named and not any(queued):
            logger.error("%s: names %s, none of them fetched: offline=yes", url, counted(len(named), "sitemap"))

    # Discovery. Each step queues what it found; the next step runs if it found nothing.

    def page_request(self, page: SitePage) -> Request:
        return self.request(page.url, "parse_page", HTML_BYTES, page=page)

    async def parse_page(self, answer: FetchResult, page: SitePage) -> AsyncIterator[Request | SitemapRecord]:
        """Queue the sitemaps that a page names, or enter the site to which a home page redirects."""
        site = await self.audit.discovery.read_page(page, answer)
        for request in self.next_requests(site):
            yield request

    # Reading.

    def next_requests(self, site: Site | None = None) -> Iterator[Request | SitemapRecord]:
        """Requests for the next sitemaps, and for pages of sites that name more of them.

        Yields the record of a sitemap whose URL cannot be requested.
        """
        if self.audit.selection.full:
            return
        for step in self.audit.visits.next(site):
            if isinstance(step, SitePage):
                yield self.page_request(step)
            else:
                yield self.sitemap_request(step)

    def sitemap_request(self, visit: Visit) -> Request | SitemapRecord:
        """The request for a sitemap, or its record if its URL cannot be requested."""
        try:
            request = self.request(visit.url, "parse_sitemap", self.settings.getint("DOWNLOAD_MAXSIZE"), visit=visit)
            request.headers.update(self.audit.visits.validators(visit))
            return request
        except ValueError as error:
            self.audit.frontier.done(visit)
            return self.audit.reading.refused(visit, str(error))

    async def parse_list(self, answer: FetchResult) -> AsyncIterator[object]:
        """Read the list of the argument `urls`: yields url records in batches, then a record of the list."""
        listing = Listing(self.audit.selection, self.audit.reading.batch_size, self.audit.stop.begun)
        for item in listing.read(answer.url):
            for record in await self._parts(item):
                yield record
        self.end_where_full()

    async def parse_sitemap(self, answer: FetchResult, visit: Visit) -> AsyncIterator[object]:
        """Read one sitemap: yields url records in batches, its own record, then the next requests."""
        self.audit.frontier.end_wait(visit)
        taken = self.audit.visits.take_over(visit, answer)
        if taken is not None:
            record, site = taken
            yield record
        elif self.audit.visits.asks_again(visit, answer):
            yield self.sitemap_request(visit)
            return
        else:
            hit = False
            read = self.audit.reading.alias if self.audit.visits.is_alias(visit, answer) else self.audit.reading.read
            async with self._reading_slots:
                for item in read(visit, answer):
                    if item is None:
                        await asyncio.sleep(0)
                        continue
                    hit = True
                    for part in await self._parts(item):
                        yield part
            if visit.probe and not hit:
                self.crawler.stats.inc_value("sitemap/probes_missed")
            site = await self.audit.visits.settle(visit, answer, hit, self.audit.complete)
        self.end_where_full()
        for request in self.next_requests(site):
            yield request

    def end_where_full(self) -> None:
        """Stop the crawl at `max_urls`; if URLs are verified, only the reading ends, by itself."""
        if self.audit.selection.full and self.audit.status is None:
            raise CloseSpider("max_urls")

    async def _parts(self, item: UrlBatch | SitemapRecord) -> list[object]:
        """The items to yield for a batch or record."""
        parts = list(self.audit.parts(item))
        if parts != [item] and isinstance(item, UrlBatch) and self.audit.status is not None:
            await self.audit.status.prepare(item.urls, item.file)
        return parts

    # Requests: one path for all, successful or failed.

    def request(self, url: str, handler: str, limit: int, **arguments: object) -> Request:
        """A request that passes its `FetchResult` to the method `handler`; collects up to `limit` bytes of the body."""
        meta = Body(limit).meta()
        if url.startswith("file:"):
            meta["download_slot"] = "file"
        return Request(
            urls.as_sent(url),
            callback=self.handle_response,
            errback=self.handle_failure,
            meta=meta,
            dont_filter=True,
            cb_kwargs={"handler": handler, "arguments": arguments},
        )

    async def handle_response(
        self, response: Response, handler: str, arguments: dict[str, object]
    ) -> AsyncIterator[object]:
        async for item in self._handled(answers.from_response(response), handler, arguments):
            yield item

    async def handle_failure(self, failure: Failure) -> AsyncIterator[object]:
        given: dict[str, Any] = failure.request.cb_kwargs  # type: ignore[attr-defined]  # Scrapy sets it
        async for item in self._handled(answers.from_failure(failure), given["handler"], given["arguments"]):
            yield item

    async def _handled(self, answer: FetchResult, handler: str, arguments: dict[str, object]) -> AsyncIterator[object]:
        try:
            async for item in getattr(self, handler)(answer, **arguments):
                yield item
        except CloseSpider:
            raise
        except Exception:
            self.audit.note_failure()
            raise
        finally:
            answer.body.close()
