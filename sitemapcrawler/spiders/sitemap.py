"""The audit spider: finds the sitemaps of a site, reads them, and yields their records."""

from __future__ import annotations

from collections.abc import AsyncIterator
from inspect import getattr_static
from typing import ClassVar, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from twisted.python.failure import Failure

from sitemapcrawler.crawl import scrapy_cloud
from sitemapcrawler.crawl.configuring import add_contact, choose, contact_of, leave_out
from sitemapcrawler.crawl.params import ARGUMENTS, attributes
from sitemapcrawler.crawl.scrapy_cloud import schema
from sitemapcrawler.crawl.setting_values import check_settings
from sitemapcrawler.crawl.state import Audit, Audited, Plan
from sitemapcrawler.crawl.walk import Step
from sitemapcrawler.crawl.wiring import complete_for_audit, log_unguarded, refusing
from sitemapcrawler.download import answers
from sitemapcrawler.download.addresses import AddressGuard
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.feeds.folder import on_demand
from sitemapcrawler.feeds.reporting import add_feeds
from sitemapcrawler.feeds.setup import check_columns, overwrite, prepare_feeds
from sitemapcrawler.feeds.storages import shorten_lost_feeds
from sitemapcrawler.feeds.writable import check_fields_of_names, check_writable
from sitemapcrawler.middlewares.credentials import auth_of


def check(settings: BaseSettings) -> None:
    """Validate settings and feeds, and fill in the feeds' options. Raises ValueError, one line."""
    check_settings(settings)
    prepare_feeds(settings)
    choose(settings)
    AddressGuard(networks=settings.getlist("SITEMAP_ALLOW_NETWORKS"))
    auth_of(settings)
    contact_of(settings)


def overrides(spider: type[AuditSpider], *methods: str) -> bool:
    """True if a subclass replaces one of these methods of AuditSpider."""
    return any(getattr_static(spider, name) is not getattr_static(AuditSpider, name) for name in methods)


class AuditSpider(Audited):
    """The sitemap audit: `scrapy crawl sitemap -a domain=example.com`. All arguments: `Params` in `crawl.params`."""

    name = "sitemap"
    metadata: ClassVar[dict[str, object]] = {
        "title": "Sitemap audit",
        "description": "Finds and reads every sitemap of a site, and reports what is wrong with what they list.",
        "template": True,
        "param_schema": schema(),
    }
    """Metadata for Scrapy Cloud: a spider template whose arguments are filled in on a form."""

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Complete the settings of any project for an audit, check them and the feeds, and load custom rules.

        Moves JOBDIR to SITEMAP_JOBDIR: Scrapy's own state there would make a second run filter its first requests as
        duplicates. Raises ValueError, one line, for an invalid setting.
        """
        super().update_settings(settings)
        with refusing():
            complete_for_audit(settings)
            scrapy_cloud.adapt(settings)
            leave_out(settings)
            check(settings)
            add_contact(settings)
            if cls is AuditSpider:  # a subclass may yield other items
                check_columns(settings)
        if settings.get("JOBDIR"):
            settings.set("SITEMAP_JOBDIR", settings["JOBDIR"], priority="cmdline")
            settings.set("JOBDIR", None, priority=SETTINGS_PRIORITIES["cmdline"] + 1)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, _plan: Plan | None = None, **kwargs: object) -> Self:
        """Check the arguments before anything else, unless a command has done so and hands over its plan; raises
        ValueError, one line."""
        with refusing():
            if _plan is None:
                check_writable(crawler.settings)
            plan = _plan or Plan.check(crawler.settings, {**attributes(cls, ARGUMENTS), **kwargs})
        shorten_lost_feeds()
        if "_job" in kwargs:
            overwrite(crawler.settings, str(kwargs["_job"]))
        if plan.params.report is not None:
            add_feeds(crawler.settings, plan.params.report, on_demand(plan.params.as_dict()))
        try:
            spider = super().from_crawler(crawler, *args, **kwargs)
            if not overrides(cls, "from_crawler"):  # it may set attributes later
                with refusing():
                    check_fields_of_names(crawler.settings, dir(spider))
        except Exception:
            plan.discard()
            raise
        spider.params = plan.params
        spider.audit = Audit.new(crawler, plan, spider)
        return spider

    async def start(self) -> AsyncIterator[object]:
        """Request the named sitemaps and each site's robots.txt; nothing if the job is finished."""
        log_unguarded(self.settings)
        job = self.audit.job
        try:
            if job is not None:
                await job.begin(self.audit)
            if job is None or not job.finished:
                async for item in self.audit.walk.start():
                    for part in await self.audit.delivery.unpacked(item):
                        yield part
        except Exception:
            self.audit.stop.note_failure()
            raise

    async def enter_robots(self, url: str) -> None:
        """Fetch a robots.txt that the user named and queue its sitemaps; it is judged at the end."""
        await self.audit.walk.enter_robots(url)

    def fetch(self, step: Step) -> Request:
        """The request for a sitemap, page or list. Raises ValueError for a URL that cannot be requested."""
        return self.audit.walk.request(step, self.parse_answer, self.parse_failure)

    async def parse_answer(self, response: Response, step: Step) -> AsyncIterator[object]:
        """Read a sitemap, page or list: yields url records in batches, the record of a file, then requests."""
        async for item in self._read(step, answers.from_response(response)):
            yield item

    async def parse_failure(self, failure: Failure) -> AsyncIterator[object]:
        """The same where no answer came."""
        step: Step = failure.request.cb_kwargs["step"]  # type: ignore[attr-defined]  # Scrapy sets it
        cause = failure.value.__cause__ if isinstance(failure.value, answers.Unanswered) else failure.value
        self.audit.stop.proxy_failed |= isinstance(cause, answers.ProxyFailed)
        async for item in self._read(step, answers.from_failure(failure)):
            yield item

    async def _read(self, step: Step, answer: FetchResult) -> AsyncIterator[object]:
        audit = self.audit
        try:
            async for item in audit.walk.read(step, answer):
                for part in await audit.delivery.unpacked(item):
                    yield part
        except Exception:
            audit.stop.note_failure()
            raise
        if audit.selection.full and audit.status is None:  # URLs are verified to the end
            raise CloseSpider("max_urls")
