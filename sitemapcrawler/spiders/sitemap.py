"""The spider: finds the sitemaps of a site, reads them, and yields what they list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from sitemapcrawler import answers, discovery, urls
from sitemapcrawler.answers import Answer
from sitemapcrawler.argument_values import Start
from sitemapcrawler.bodies import Body
from sitemapcrawler.choosing import choose
from sitemapcrawler.configuring import at_least_one, limits, new_status, prepare_feeds
from sitemapcrawler.frontier import Frontier, Visit
from sitemapcrawler.items import SitemapRecord, UrlBatch, UrlRecord
from sitemapcrawler.listing import Listing
from sitemapcrawler.obeying import own_agent
from sitemapcrawler.params import Params
from sitemapcrawler.policies import Policies
from sitemapcrawler.reading import Reading, is_page
from sitemapcrawler.robots.policy import Outcome, Policy
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.selection import Selection
from sitemapcrawler.sites import Site, Sites
from sitemapcrawler.verdicts import Verdicts
from sitemapcrawler.waiting import each


class SitemapSpider(Spider):
    """`scrapy crawl sitemap -a domain=example.com`; all arguments stand in `sitemapcrawler.params`."""

    name = "sitemap"
    params: Params
    selection: Selection
    frontier: Frontier
    stop_reason: str | None = None
    """Why the crawl is ending before its end; set by the extension `Stopping`."""

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Complete and check the feeds, for those who start the crawl from a script too; ValueError for a bad one."""
        super().update_settings(settings)
        prepare_feeds(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check the arguments before anything else happens; ArgumentError for a bad one."""
        params = Params.parse(kwargs)
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.set_up(params)
        return spider

    def set_up(self, params: Params) -> None:
        """Prepare the queue and what the arguments select."""
        settings = self.settings
        self.params = params
        self.named_authorities = params.named_authorities
        self.named_files = params.named_files
        self.selection = Selection(params)
        self.frontier = Frontier(
            params.max_sitemaps or settings.getint("SITEMAP_MAX_SITEMAPS"),
            params.max_depth,
            at_least_one(settings, "SITEMAP_FETCH_AHEAD"),
            at_least_one(settings, "CONCURRENT_REQUESTS_PER_DOMAIN"),
        )
        self.sites = Sites(self.frontier, params.probe)
        self.policies = Policies(self.crawler)
        self.stop_reason = None
        self._batch_size = at_least_one(settings, "SITEMAP_BATCH_SIZE")
        self._reading = Reading(
            self.selection,
            self.frontier,
            limits(settings),
            self._batch_size,
            self.stopping,
            params.follow.search if params.follow else None,
            params.select != ("none",) or params.verify != "off",
            self.policies.prove,
        )
        self.judge = Judge(choose(settings, params), settings.getint("SITEMAP_FINDINGS_PER_RULE"))
        self.verdicts = Verdicts(self.policies, params.judged_agents, own_agent(settings), self.judge)
        self.status = new_status(self.crawler, params, self.policies, self.judge, self.stopping)
        self._reading_slots = asyncio.Semaphore(at_least_one(settings, "SITEMAP_READ_AT_ONCE"))
        self._single_records = settings["SITEMAP_ITEMS"] == "records"

    def stopping(self) -> bool:
        """True once the crawl is to end before its end."""
        return self.stop_reason is not None

    @property
    def starts(self) -> set[str]:
        """Origins of the sites and sitemaps that the user named, and of the sites they led to."""
        named = {url for start in self.params.starts for url in start.url_candidates}
        named |= {origin for url in self.params.sitemaps if (origin := urls.origin(url)) is not None}
        return named | {site.origin for site in self.sites}

    @property
    def partial(self) -> str | None:
        """Why the crawl does not cover everything; None where it does."""
        limits = {"max_urls": self.selection.full, "max_sitemaps": self.frontier.skipped["max_sitemaps"] > 0}
        return self.stop_reason or next((name for name, reached in limits.items() if reached), None)

    async def start(self) -> AsyncIterator[Request | SitemapRecord]:
        """Ask for the sitemaps that were named and the robots.txt of each site."""
        if self.params.urls is not None:
            yield self.request(self.params.urls, "parse_list", 1)
        for url in self.params.sitemaps:
            self.frontier.add(Visit(url, "argument"))
        for request in self.next_requests():
            yield request
        async for site in each(self.enter, self.params.starts, at_least_one(self.settings, "CONCURRENT_REQUESTS")):
            for request in self.next_requests(site):
                yield request

    # Discovery. Each step queues what it found; the next one is taken where there was nothing.

    async def enter(self, start: Start) -> Site | None:
        """Queue the sitemaps that the robots.txt of a start names; the site of the authority that gave it, if new."""
        *others, last = start.url_candidates
        for origin in others:
            policy = await self.policies.of(origin, retry=False)
            if policy is not None and policy.status is not None:
                return self._enter(policy)
            self.logger.warning("%s: %s; trying http", origin, policy and policy.reason)
        policy = await self.policies.of(last)
        return None if policy is None else self._enter(policy)

    def _enter(self, policy: Policy) -> Site | None:
        if policy.outcome is Outcome.UNREACHABLE:  # which forbids everything
            self.logger.error("%s: %s", policy.url, policy.reason)
            return None
        return self.sites.enter(self.policies.final_url(policy), [sitemap.url for sitemap in policy.sitemaps])

    def home_request(self, origin: str) -> Request:
        """Ask for the home page of a site."""
        return self.request(f"{origin}/", "parse_home", discovery.HTML_BYTES)

    async def parse_home(self, answer: Answer) -> AsyncIterator[Request | SitemapRecord]:
        """Take the sitemaps that the home page links to; go on at another authority where it redirects to one."""
        moved = urls.origin(answer.final_url)
        if moved is not None and moved != urls.origin(answer.url) and not self.sites.entered(moved):
            for request in self.next_requests(await self.enter(Start((moved,)))):
                yield request
            return
        if answer.ok:
            page = answer.content(discovery.HTML_BYTES)
            self.sites.links(answer.final_url, discovery.from_html(page, answer.final_url))
        for request in self.next_requests():
            yield request

    # Reading.

    def next_requests(self, site: Site | None = None) -> Iterator[Request | SitemapRecord]:
        """Requests for the sitemaps whose turn it is, and for the home page of a site that has named none.

        A sitemap whose URL cannot be asked for is a record at once.
        """
        if self.selection.full:
            return
        for visit in self.frontier.take():
            yield self.sitemap_request(visit)
        if site is not None and self.sites.wants_home(site):
            yield self.home_request(site.origin)

    def sitemap_request(self, visit: Visit) -> Request | SitemapRecord:
        """The request for a sitemap, or its record where its URL is none that can be asked for."""
        try:
            return self.request(visit.url, "parse_sitemap", self.settings.getint("DOWNLOAD_MAXSIZE"), visit=visit)
        except ValueError as error:
            self.frontier.done(visit)
            return self._reading.refused(visit, str(error))

    async def parse_list(self, answer: Answer) -> AsyncIterator[Any]:
        """Read the list of the argument `urls`: url records in batches, and a record of the list."""
        listing = Listing(self.selection, self._batch_size, self.stopping)
        for item in listing.read(answer.url):
            for record in await self.parts(item):
                yield record
        self.end_where_full()

    async def parse_sitemap(self, answer: Answer, visit: Visit) -> AsyncIterator[Any]:
        """Read one sitemap: its url records in batches, its own record, then requests for what is next."""
        hit = False
        known = answer.ok and self.sites.is_known(visit, answer.final_url, answer.body.digest())
        known = known and not is_page(answer)  # that many files redirect to one page is a fault of each
        read = self._reading.alias if known else self._reading.read
        async with self._reading_slots:
            for item in read(visit, answer):
                hit = True
                for record in await self.parts(item):
                    yield record
        self.frontier.done(visit)
        if visit.probe and not hit:
            self.crawler.stats.inc_value("sitemap/probes_missed")
        self.end_where_full()
        for request in self.next_requests(self.sites.settle(visit, hit, answer.ok)):
            yield request

    def end_where_full(self) -> None:
        """End the crawl at `max_urls`; where URLs are verified, only the reading ends, by itself."""
        if self.selection.full and self.status is None:
            raise CloseSpider("max_urls")

    async def parts(self, item: UrlBatch | SitemapRecord) -> Iterable[Any]:
        """What leaves the spider for a batch or a record: itself, or with SITEMAP_ITEMS=records its records."""
        if not self._single_records:
            return [item]
        if self.status is not None and isinstance(item, UrlBatch):
            await self.status.prepare(item.urls, item.file)
        return single(item)

    # Requests: one way for all of them, whether they succeed or fail.

    def request(self, url: str, handler: str, limit: int, **arguments: Any) -> Request:
        """A request whose `Answer` goes to the method `handler`, with its body collected up to `limit` bytes."""
        meta = Body(limit).meta()
        if url.startswith("file:"):
            meta["download_slot"] = "file"
        return Request(
            url,
            callback=self.answered,
            errback=self.failed,
            meta=meta,
            dont_filter=True,
            cb_kwargs={"handler": handler, "arguments": arguments},
        )

    async def answered(self, response: Response, handler: str, arguments: dict[str, Any]) -> AsyncIterator[Any]:
        """Callback of every request."""
        async for item in self._handled(answers.answered(response), handler, arguments):
            yield item

    async def failed(self, failure: Failure) -> AsyncIterator[Any]:
        """Errback of every request."""
        given: dict[str, Any] = failure.request.cb_kwargs  # type: ignore[attr-defined]  # Scrapy sets it
        async for item in self._handled(answers.failed(failure), given["handler"], given["arguments"]):
            yield item

    async def _handled(self, answer: Answer, handler: str, arguments: dict[str, Any]) -> AsyncIterator[Any]:
        try:
            async for item in getattr(self, handler)(answer, **arguments):
                yield item
        finally:
            answer.body.close()


def single(item: UrlBatch | SitemapRecord) -> Iterator[UrlRecord | SitemapRecord]:
    """The records of a batch one by one, each with the facts of the batch."""
    if not isinstance(item, UrlBatch):
        yield item
        return
    for record in item.urls:
        if item.file is not None:
            record.know(item.file)
        yield record
