"""The audit spider: finds the sitemaps of a site, reads them, and yields their records."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, Self

from scrapy import Request, Spider
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
    choose,
    leave_out,
    limits,
    new_frontier,
    new_status,
)
from sitemapcrawler.audit.discovery import Discovery, Site, SitePage, Sites
from sitemapcrawler.audit.frontier import Frontier, Selection, Visit
from sitemapcrawler.audit.local_files import Listing
from sitemapcrawler.audit.params import Params
from sitemapcrawler.audit.reading import Reading
from sitemapcrawler.audit.scrapy_cloud import schema
from sitemapcrawler.audit.verdicts import Verdicts
from sitemapcrawler.audit.visiting import Visits
from sitemapcrawler.download import answers
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.policies import Policies, own_agent
from sitemapcrawler.feeds.reporting import add_feeds, check_report
from sitemapcrawler.feeds.setup import check_columns, prepare_feeds, write_anew
from sitemapcrawler.items import ENDED, MAX_SITE_TIME, SitemapRecord, UrlBatch, UrlRecord
from sitemapcrawler.jobs import restoring
from sitemapcrawler.jobs.opening import open_job
from sitemapcrawler.replies.discovery import HTML_BYTES
from sitemapcrawler.robots import RobotsOutcome, is_robots_url
from sitemapcrawler.rules.facts.given import MAX_CHILDREN
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import ON_THE_SITE, load_rules
from sitemapcrawler.words import counted

logger = logging.getLogger(__name__)


class AuditSpider(Spider):
    """The sitemap audit: `scrapy crawl sitemap -a domain=example.com`. All arguments: `sitemapcrawler.audit.params`."""

    name = "sitemap"
    metadata: ClassVar[dict[str, Any]] = {
        "title": "Sitemap audit",
        "description": "Finds every sitemap of a site, reads all of them, and says what is wrong with what they list.",
        "template": True,
        "param_schema": schema(),
    }
    """Metadata for Scrapy Cloud: a spider template whose arguments are filled in on a form."""
    params: Params
    selection: Selection
    frontier: Frontier
    stop_reason: str | None = None
    """Why the crawl is stopping early; set by the extension `Stopping`."""
    stopped_at = 0.0
    """When the stop was decided (`time.monotonic`)."""
    hurried_at: float | None = None
    """When the user stopped a crawl that was already ending at a limit (`time.monotonic`); else None."""
    begin_stop: Callable[[str], None] | None = None
    """Announces a stop with its reason; set by the extension `Stopping`."""
    phase: str | None = None
    """Current step at the end of the crawl; None before."""
    unreadable = False
    """True if records of the job's database cannot be read back, so that feeds would be incomplete."""
    internal_errors = 0
    """Number of unexpected exceptions in our code; the crawl is incomplete if there are any."""

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
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check the arguments before anything else; raises ArgumentError."""
        params = Params.parse(kwargs)
        check_report(crawler.settings, params.report)
        if "_job" in kwargs:
            write_anew(crawler.settings, kwargs["_job"])
        if params.report is not None:
            add_feeds(crawler.settings)
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.set_up(params)
        return spider

    def set_up(self, params: Params) -> None:
        """Build the parts of the crawl from arguments and settings."""
        settings = self.settings
        self.params = params
        self.named_authorities = params.named_authorities
        self.own_authorities = params.own_authorities
        self.named_files = set(params.named_files)
        self.selection = Selection(params)
        self.frontier = new_frontier(settings, params)
        self.sites = Sites(self.frontier, params.probe)
        self.policies = Policies(self.crawler, params.offline)
        self._discovery = Discovery(self.sites, self.policies)
        self.stop_reason = None
        choice = choose(settings, params)
        self.job = open_job(self.crawler, params, any(map(choice.rules, ON_THE_SITE)))
        self._batch_size = at_least_one(settings, "SITEMAP_BATCH_SIZE")
        self.reading = Reading(
            self.selection,
            self.frontier,
            limits(settings),
            self._batch_size,
            self.stopping,
            params.follow.search if params.follow else None,
            params.select != ("none",) or params.verify != "off",
            None if params.offline else self.policies.prove,
            params.offline,
            self.named_files.add,
        )
        self.reading.max_children = max(MAX_CHILDREN, settings.getint("SITEMAP_MAX_SITEMAPS"))
        self.reading.ran_out = partial(self.end_early, "memory")
        self._visits = Visits(
            self.frontier, self.sites, self.policies, self.reading, self.job, partial(restoring.add, spider=self)
        )
        self.judge = Judge(choice, settings.getint("SITEMAP_FINDINGS_PER_RULE"))
        self.verdicts = Verdicts(self.policies, params.judged_agents, own_agent(settings), self.judge)
        lasting = self.job is not None and self.job.folder is not None
        on_step = self.job.records.reply if self.job is not None and lasting else None
        self.status = new_status(self.crawler, params, self.policies, self.judge, self.stopping, on_step)
        if self.status is not None:
            self.status.is_judged_asset = self.verdicts.judged_assets_of
        self._reading_slots = asyncio.Semaphore(at_least_one(settings, "SITEMAP_READ_AT_ONCE"))
        self._single_records = settings["SITEMAP_ITEMS"] == "records"

    def stopping(self) -> bool:
        """True once the crawl is stopping early."""
        return self.stop_reason is not None

    def end_early(self, reason: str) -> None:
        """Stop the crawl now and keep its results; files being read count as incomplete."""
        if self.begin_stop is not None:
            self.begin_stop(reason)
        self._ending = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))

    @property
    def complete(self) -> bool:
        """False once the crawl ends with work left to do."""
        return self.stop_reason in ENDED and not self.internal_errors

    @property
    def starts(self) -> set[str]:
        """Origins of the sites and sitemaps that the user named, and of sites they led to."""
        named = {url for start in self.params.starts for url in start.url_candidates}
        places = (*self.params.sitemaps, self.params.base_url or "")
        named |= {origin for url in places if (origin := urls.origin(url)) is not None}
        named |= {url for url in self.params.sitemaps if url.startswith("file:")}
        return named | {site.origin for site in self.sites}

    @property
    def given_up(self) -> set[str]:
        """Origins of sites that answered over http but not over https."""
        sites = ([(url, self.policies.at(url)) for url in start.url_candidates] for start in self.params.starts)
        return {
            url
            for *others, (_, last) in sites
            if last is not None and last.outcome is not RobotsOutcome.UNREACHABLE
            for url, policy in others
            if policy is not None and policy.status is None
        }

    @property
    def lost(self) -> set[str]:
        """Sites that could not be reached, so that nothing is known about their sitemaps."""
        return {
            urls.site_of(start.url_candidates[-1])
            for start in self.params.starts
            if all(
                policy is None or policy.outcome is RobotsOutcome.UNREACHABLE
                for policy in map(self.policies.at, start.url_candidates)
            )
        }

    @property
    def left_out(self) -> Counter[str]:
        """What crawl-wide filters, limits and an early stop skipped, by reason; if any, not all listed URLs are known.
        `Frontier.narrowed` has the sites affected by per-site limits."""
        ended = Counter([self.partial] if self.partial not in (None, MAX_SITE_TIME) else [])
        return self.selection.skipped + self.frontier.skipped_everywhere + ended

    @property
    def partial(self) -> str | None:
        """Why the crawl is incomplete; None if it is complete."""
        limits = {
            "internal error": self.internal_errors > 0,
            "max_urls": self.selection.full,
            "max_sitemaps": self.frontier.skipped["max_sitemaps"] > 0,
            MAX_SITE_TIME: bool(self.frontier.given_up),
        }
        stop = None if self.internal_errors and self.stop_reason in ENDED else self.stop_reason
        return stop or next((name for name, reached in limits.items() if reached), None)

    async def start(self) -> AsyncIterator[Request | SitemapRecord]:
        """Request the named sitemaps and each site's robots.txt; nothing if the job is finished."""
        try:
            async for item in self._start():
                yield item
        except Exception:
            self.internal_errors += 1
            raise

    async def _start(self) -> AsyncIterator[Request | SitemapRecord]:
        if self.job is not None:
            await self.job.begin(self, self.send)
            if self.job.finished:
                return
        if self.params.urls is not None and not (self.job is not None and self.params.urls in self.job.done):
            yield self.request(self.params.urls, "parse_list", 1)
        for url in self.params.sitemaps:
            if is_robots_url(url):
                await self.enter_robots(url)
            else:
                self.frontier.add(Visit(url, "argument", place=self.params.place_of(url)))
        for request in self.next_requests():
            yield request
        at_once = at_least_one(self.settings, "CONCURRENT_REQUESTS")
        async for site in self._discovery.enter_all(self.params.starts, at_once):
            for request in self.next_requests(site):
                yield request

    async def enter_robots(self, url: str) -> None:
        """Fetch a robots.txt that the user named and queue its sitemaps; it is judged at the end."""
        robots, named = await self._discovery.named_by(url, self.params.place_of(url))
        queued = [self.reading.queue_named(robots, sitemap) for sitemap in named]
        if self.params.offline and named and not any(queued):
            logger.error("%s: names %s, none of them fetched: offline=yes", url, counted(len(named), "sitemap"))

    async def send(self, batch: UrlBatch) -> None:
        """Send url records through all pipelines and wait for them."""
        for item in single(batch) if self._single_records else [batch]:
            await self.crawler.engine.scraper.start_itemproc_async(item, response=None)

    # Discovery. Each step queues what it found; the next step runs if it found nothing.

    def page_request(self, page: SitePage) -> Request:
        return self.request(page.url, "parse_page", HTML_BYTES, page=page)

    async def parse_page(self, answer: FetchResult, page: SitePage) -> AsyncIterator[Request | SitemapRecord]:
        """Queue the sitemaps that a page names, or enter the site to which a home page redirects."""
        site = await self._discovery.read_page(page, answer)
        for request in self.next_requests(site):
            yield request

    # Reading.

    def next_requests(self, site: Site | None = None) -> Iterator[Request | SitemapRecord]:
        """Requests for the next sitemaps, and for pages of sites that name more of them.

        Yields the record of a sitemap whose URL cannot be requested.
        """
        if self.selection.full:
            return
        for step in self._visits.next(site):
            if isinstance(step, SitePage):
                yield self.page_request(step)
            else:
                yield self.sitemap_request(step)

    def sitemap_request(self, visit: Visit) -> Request | SitemapRecord:
        """The request for a sitemap, or its record if its URL cannot be requested."""
        try:
            request = self.request(visit.url, "parse_sitemap", self.settings.getint("DOWNLOAD_MAXSIZE"), visit=visit)
            request.headers.update(self._visits.validators(visit))
            return request
        except ValueError as error:
            self.frontier.done(visit)
            return self.reading.refused(visit, str(error))

    async def parse_list(self, answer: FetchResult) -> AsyncIterator[Any]:
        """Read the list of the argument `urls`: yields url records in batches, then a record of the list."""
        listing = Listing(self.selection, self._batch_size, self.stopping)
        for item in listing.read(answer.url):
            for record in await self.parts(item):
                yield record
        self.end_where_full()

    async def parse_sitemap(self, answer: FetchResult, visit: Visit) -> AsyncIterator[Any]:
        """Read one sitemap: yields url records in batches, its own record, then the next requests."""
        self.frontier.end_wait(visit)
        taken = self._visits.take_over(visit, answer)
        if taken is not None:
            record, site = taken
            yield record
        elif self._visits.asks_again(visit, answer):
            yield self.sitemap_request(visit)
            return
        else:
            hit = False
            read = self.reading.alias if self._visits.is_alias(visit, answer) else self.reading.read
            async with self._reading_slots:
                for item in read(visit, answer):
                    if item is None:
                        await asyncio.sleep(0)
                        continue
                    hit = True
                    for part in await self.parts(item):
                        yield part
            if visit.probe and not hit:
                self.crawler.stats.inc_value("sitemap/probes_missed")
            site = await self._visits.settle(visit, answer, hit, self.complete)
        self.end_where_full()
        for request in self.next_requests(site):
            yield request

    def end_where_full(self) -> None:
        """Stop the crawl at `max_urls`; if URLs are verified, only the reading ends, by itself."""
        if self.selection.full and self.status is None:
            raise CloseSpider("max_urls")

    async def parts(self, item: UrlBatch | SitemapRecord) -> Iterable[Any]:
        """The items to yield for a batch or record; with SITEMAP_ITEMS=records, single records."""
        if not self._single_records:
            return [item]
        if self.status is not None and isinstance(item, UrlBatch):
            await self.status.prepare(item.urls, item.file)
        return single(item)

    # Requests: one path for all, successful or failed.

    def request(self, url: str, handler: str, limit: int, **arguments: Any) -> Request:
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

    async def handle_response(self, response: Response, handler: str, arguments: dict[str, Any]) -> AsyncIterator[Any]:
        async for item in self._handled(answers.from_response(response), handler, arguments):
            yield item

    async def handle_failure(self, failure: Failure) -> AsyncIterator[Any]:
        given: dict[str, Any] = failure.request.cb_kwargs  # type: ignore[attr-defined]  # Scrapy sets it
        async for item in self._handled(answers.from_failure(failure), given["handler"], given["arguments"]):
            yield item

    async def _handled(self, answer: FetchResult, handler: str, arguments: dict[str, Any]) -> AsyncIterator[Any]:
        try:
            async for item in getattr(self, handler)(answer, **arguments):
                yield item
        except CloseSpider:
            raise
        except Exception:
            self.internal_errors += 1
            raise
        finally:
            answer.body.close()


def single(item: UrlBatch | SitemapRecord) -> Iterator[UrlRecord | SitemapRecord]:
    """The records of a batch one by one, each with the facts of its file."""
    if not isinstance(item, UrlBatch):
        yield item
        return
    for record in item.urls:
        if item.file is not None:
            record.know(item.file)
        yield record
