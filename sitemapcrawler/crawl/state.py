"""The state of an audit: all parts of one crawl, built once from its checked plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from sitemapcrawler import urls
from sitemapcrawler.crawl.configuring import (
    choose,
    findings_per_rule,
    limits_of_findings,
    new_beside,
    new_children,
    new_frontier,
    new_status,
)
from sitemapcrawler.crawl.frontier import Frontier, Selection
from sitemapcrawler.crawl.params import FROM_ELSEWHERE, Params
from sitemapcrawler.crawl.reading import Reading
from sitemapcrawler.crawl.site_discovery import Discovery, Sites
from sitemapcrawler.crawl.verdicts import Judging, Verdicts
from sitemapcrawler.crawl.walk import Fetcher, Walk
from sitemapcrawler.download.body_cache import BodyCache
from sitemapcrawler.download.handlers import check_certificates, strict_meta
from sitemapcrawler.download.policies import Policies, own_agent
from sitemapcrawler.download.shared import UNNAMED_URL, Named, Stop
from sitemapcrawler.envelopes import FileTally, SitemapEnd
from sitemapcrawler.feeds.exporters import are_extensions_items, with_extensions
from sitemapcrawler.feeds.folder import CACHE, EARLIER_CACHE
from sitemapcrawler.feeds.reporting import check_report
from sitemapcrawler.feeds.setup import FeedNameParts, check_baseline, check_places
from sitemapcrawler.items import (
    MAX_SITE_TIME,
    PROXY,
    FindingRecord,
    RobotsRecord,
    UrlBatch,
    UrlRecord,
    records,
    with_lists,
)
from sitemapcrawler.jobs.job import Job, OpenedJob
from sitemapcrawler.jobs.links import LinkScope
from sitemapcrawler.jobs.opening import open_job
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.replies.link_files import LinkFile
from sitemapcrawler.robots import RobotsOutcome
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.site import OF_FILES
from sitemapcrawler.rules.families.beside_sitemap import BESIDE
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import ON_FILES, ON_THE_SITE
from sitemapcrawler.verification.backlog import Backlog
from sitemapcrawler.verification.beside import BesideSitemap
from sitemapcrawler.verification.url_status import Status


class Stage(Protocol):
    """A pipeline."""

    async def process_item(self, item: object) -> object: ...


class Delivery:
    """Sends items through all pipelines to the feeds."""

    def __init__(self, crawler: Crawler, stop: Stop, job: Job | None) -> None:
        self.stages: list[Stage] = []
        """The audit's own pipelines, in order."""
        self._crawler, self._stop, self._job = crawler, stop, job

    async def send(self, item: object) -> None:
        """Send an item through all pipelines to the feeds, and wait for it."""
        for one in await self.unpacked(item):
            await self._crawler.engine.scraper.start_itemproc_async(one, response=None)

    async def send_last(self, record: FindingRecord | RobotsRecord) -> None:
        """Store a record on the whole crawl, and send it."""
        if self._job is not None:
            self._job.records.last(record)
        await self.send(record)

    async def unpacked(self, item: object) -> Sequence[object]:
        """The items to yield for an item: itself, or with SITEMAP_ITEMS=records its rows: those of a batch, or a file
        and its findings; with SITEMAP_ITEMS=objects also the objects of a url record, behind it. The item passes our
        own pipelines here; its rows then pass them untouched."""
        if self._crawler.settings["SITEMAP_ITEMS"] not in ("records", "objects"):
            return [item]
        if isinstance(item, (UrlBatch, SitemapEnd)):
            await self._pass_on(item)
        if isinstance(item, SitemapEnd):
            return [with_lists(row) for row in (item.plain(), *item.findings)]
        rows = map(with_lists, records(item))
        if are_extensions_items(self._crawler.settings):
            return [row for record in rows for row in with_extensions(record)]
        return list(rows)

    async def _pass_on(self, item: UrlBatch | SitemapEnd) -> None:
        try:
            for stage in self.stages:
                await stage.process_item(item)
        except Exception:
            self.spoil(item.sitemap)
            raise

    def spoil(self, sitemap: str) -> None:
        """Note that records of a file were lost: it counts as incomplete."""
        self._stop.note_failure()
        if self._job is not None:
            self._job.records.spoil(sitemap)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a crawl is to do: its arguments, rules and job, checked and opened."""

    params: Params
    choice: Choice
    opened: OpenedJob | None
    """The job with its database and baseline; None if none is needed."""

    @classmethod
    def check(cls, settings: BaseSettings, arguments: Mapping[str, object]) -> Self:
        """Check the arguments of a crawl, and open its job. Raises ValueError, one line.

        `settings`: those of the crawler, or a copy that `AuditSpider.update_settings` has completed.
        """
        params = Params.parse(arguments)
        check_places(settings, params.named_files)
        check_baseline(settings, params.baseline)
        check_report(settings, params.report)
        if params.verify != "off" and strict_meta(settings):
            check_certificates()
        choice = choose(settings, params)
        marks_entries = any(rule.id in OF_FILES for rule in choice.rules(*ON_FILES))
        return cls(params, choice, open_job(settings, params, marks_entries or bool(choice.rules(*ON_THE_SITE))))

    def discard(self) -> None:
        """Close the job of a plan that is not crawled."""
        if self.opened is not None:
            self.opened.store.close()


@dataclass
class Audit:
    """The parts of one crawl, and what follows from all of them together."""

    crawler: Crawler
    params: Params
    stop: Stop
    named: Named
    policies: Policies
    selection: Selection
    frontier: Frontier
    sites: Sites
    reading: Reading
    judge: Judge
    verdicts: Verdicts
    judging: Judging
    status: Status | None
    """The verification of listed URLs; None for verify=off."""
    delivery: Delivery
    backlog: Backlog | None
    """Records that wait until all sitemaps of their site are read; None unless listed URLs are requested then."""
    job: Job | None
    """The database of the crawl; None if nothing needs one."""
    beside: BesideSitemap | None
    """Requests llms.txt and the like; None if they are not judged."""
    walk: Walk
    began: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    """Start of this run."""
    phase: str | None = None
    """Current step at the end of the crawl; None before."""

    @classmethod
    def new(cls, crawler: Crawler, plan: Plan, fetcher: Fetcher) -> Self:
        """Build the parts of a crawl. Scrapy has not made the engine yet."""
        settings, params = crawler.settings, plan.params
        stop, named, policies = shared_parts(crawler, params)
        selection, frontier = Selection(params), new_frontier(settings, params)
        sites = Sites(frontier, params.probe)
        job = None if plan.opened is None else Job(crawler, plan.opened)
        keep_bodies(crawler, params, job)
        children = new_children(params, frontier, named.files)
        reading = Reading(
            selection, frontier, limits_of_findings(settings, params), stop, children,
            judging=params.judges, hosts=None if params.offline else policies,
        )  # fmt: skip
        judge = Judge(plan.choice, findings_per_rule(settings, params))
        verdicts = Verdicts(policies, params.judged_agents, own_agent(settings), judge)
        judging = Judging(judge, policies, verdicts, not params.verify_assets)
        status = new_status(crawler, params, policies, judge, verdicts, job, sites)
        is_judged = any(rule.id in BESIDE for rule in plan.choice.rules(*ON_THE_SITE))
        is_judged &= job is not None and not job.finished
        beside = new_beside(crawler, params, policies, verdicts, status) if is_judged else None
        delivery = Delivery(crawler, stop, job)
        backlog = None if status is None or status.draws else Backlog(delivery)
        discovery = Discovery(sites, policies)
        walk = Walk(crawler, params, discovery, reading, children, fetcher, job, backlog)
        return cls(
            crawler, params, stop, named, policies, selection, frontier, sites, reading, judge, verdicts, judging,
            status, delivery, backlog, job, beside, walk,
        )  # fmt: skip

    @staticmethod
    def of(crawler: Crawler) -> Audit | None:
        """Return the state of a crawler's audit; None for a spider that is not ours."""
        spider = crawler.spider
        return spider.audit if isinstance(spider, Audited) else None

    @property
    def started(self) -> str:
        """Start of the crawl whose records are written, as in its summary: of a finished job that of its last run."""
        return self.job.summary().started if self.job is not None and self.job.finished else iso(self.began)

    @property
    def complete(self) -> bool:
        """False once the crawl ends with work left to do."""
        return self.stop.complete

    @property
    def starts(self) -> set[str]:
        """Origins of the sites and sitemaps that the user named, and of sites they led to. A dead site counts once: by
        http, which was tried last."""
        named = {url for start in self.params.domain for url in start.url_candidates} - self._silent(lost=True)
        places = (*self.params.sitemap, self.params.base_url or "")
        named |= {origin for url in places if (origin := urls.origin(url)) is not None}
        named |= {url for url in self.params.sitemap if url.startswith("file:")}
        return named | {site.origin for site in self.sites}

    @property
    def home_links(self) -> set[str]:
        """Sitemaps that the home pages link to, as far as these were read: to discover sitemaps, or as listed pages."""
        return self.sites.home_links | (self.status.home_links if self.status is not None else set())

    @property
    def link_files(self) -> Sequence[LinkFile]:
        """llms.txt and the like, with the replies to their links."""
        return () if self.beside is None else self.beside.files

    @property
    def given_up(self) -> set[str]:
        """Origins of sites that answered over http but not over https."""
        return self._silent(lost=False)

    def _silent(self, lost: bool) -> set[str]:
        """Origins that did not answer, after which http was tried; `lost`: whether that failed as well."""
        sites = ([(url, self.policies.at(url)) for url in start.url_candidates] for start in self.params.domain)
        return {
            url
            for *others, (_, last) in sites
            if last is not None and (last.outcome is RobotsOutcome.UNREACHABLE) == lost
            for url, policy in others
            if policy is not None and policy.status is None
        }

    @property
    def lost(self) -> set[str]:
        """Sites that could not be reached, so that nothing is known about their sitemaps."""
        return {
            urls.site_of(start.url_candidates[-1])
            for start in self.params.domain
            if all(
                policy is None or policy.outcome is RobotsOutcome.UNREACHABLE
                for policy in map(self.policies.at, start.url_candidates)
            )
        }

    @property
    def narrowed(self) -> set[str]:
        """Sites of which a limit left sitemaps out."""
        return self.frontier.narrowed

    @property
    def left_out(self) -> Counter[str]:
        """What crawl-wide filters, limits and an early stop skipped, by reason; if any, not all listed URLs are known.
        `narrowed` has the sites affected by per-site limits."""
        ended = Counter([self.partial] if self.partial not in (None, MAX_SITE_TIME) else [])
        return self.selection.skipped + self.frontier.skipped_everywhere + ended

    @property
    def partial(self) -> str | None:
        """Why the crawl is incomplete; None if it is complete."""
        limits = {
            "internal error": self.stop.internal_errors > 0,
            PROXY: self.stop.proxy_failed,
            "max_urls": self.selection.full,
            "max_sitemaps": self.frontier.skipped["max_sitemaps"] > 0,
            MAX_SITE_TIME: bool(self.frontier.given_up),
        }
        stop = self.stop.reason if self.stop.early or self.stop.complete else None
        return stop or next((name for name, reached in limits.items() if reached), None)

    @property
    def skipped(self) -> Counter[str]:
        """What the parts have skipped, by reason."""
        skipped = self.selection.skipped + self.frontier.skipped + self.judge.skipped + self.verdicts.skipped
        return skipped if self.job is None else skipped + self.job.skipped

    def passes(self, record: UrlRecord) -> bool:
        """True for a record that the arguments' filters let pass."""
        return self.selection.passes(record)

    def add_urls(self, count: int) -> None:
        """Add url records that earlier runs of the job have stored."""
        self.selection.add_earlier(count)

    def add_file(self, tally: FileTally) -> None:
        """Add the counts of a file that an earlier run has read."""
        skipped = Counter(tally.skipped)
        self.frontier.skip("follow", skipped.pop("follow", 0))
        self.selection.skip(skipped)
        self.judge.add(tally.found)
        if self.status is not None and tally.trust is not None:
            self.status.trusts.restore(tally.trust)

    def link_scope(self) -> LinkScope:
        """What of the link graph belongs to this crawl."""
        params, starts = self.params, self.starts - self.given_up
        for first, *others in (start.url_candidates for start in params.domain):
            if first in starts:  # http was not tried, even if a sitemap lists pages there
                starts.difference_update(others)
        homes = sorted(f"{start}/" for start in starts if urls.is_web(start))
        return LinkScope(
            homes, self.verdicts, params.include, params.exclude, params.max_pages, follows=params.links == "site"
        )


def shared_parts(crawler: Crawler, params: Params) -> tuple[Stop, Named, Policies]:
    """Return what downloads need to know of a crawl, with what its arguments say."""
    stop, named, policies = Stop.of(crawler), Named.of(crawler), Policies.of(crawler)
    stop.max_time = params.max_time
    unnamed = {urls.authority(crawler.settings.get(UNNAMED_URL, ""))}
    if not crawler.settings.getbool(FROM_ELSEWHERE):
        named.authorities |= params.own_authorities | (params.named_authorities - unnamed)
        named.own |= params.own_authorities
    named.files |= params.named_files
    policies.offline = params.offline
    return stop, named, policies


def keep_bodies(crawler: Crawler, params: Params, job: Job | None) -> None:
    """Keep bodies of sitemaps in the folder of the job, and look for earlier ones beside the baseline. Those of a crawl
    without JOBDIR are up to its report."""
    cache = BodyCache.of(crawler)
    if job is not None and job.folder is not None:
        cache.place = job.folder / CACHE
        cache.earlier.append(job.folder / EARLIER_CACHE)
    if params.baseline is not None:
        path = Path(params.baseline)
        cache.earlier.append((path if path.is_dir() else path.parent) / CACHE)


class ArgumentSpider(Spider):
    """Base of spiders that take our arguments."""

    params: Params


class Audited(ArgumentSpider):
    """Base of spiders that run an audit."""

    audit: Audit

    @property
    def file_metadata(self) -> dict[str, str]:
        """What `ParquetExporter` states of the crawl in its files."""
        sites = {"site": ", ".join(self.params.sites)} if self.params.sites else {}
        return {**sites, "started": self.audit.started}


def uri_params(params: dict[str, object], spider: Spider) -> dict[str, object]:
    """FEED_URI_PARAMS: values for `%(name)s` in feed URIs, made safe if the spider takes our arguments."""
    return FeedNameParts(params) if isinstance(spider, ArgumentSpider) else params
