"""The last item pipeline: counts records and sends the summary."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from sitemapcrawler.crawl.params import ALL
from sitemapcrawler.crawl.state import Audit
from sitemapcrawler.download.addresses import COUNT
from sitemapcrawler.envelopes import NotedBatch, SitemapEnd
from sitemapcrawler.feeds.reporting import Reporting
from sitemapcrawler.items import (
    UNREAD,
    AnswerRecord,
    Basis,
    CrawlerAccess,
    RenderedRecord,
    SitemapRecord,
    SummaryRecord,
)
from sitemapcrawler.jobs.changes import DECISIVE
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.jobs.listing import MAX_ROWS
from sitemapcrawler.pipelines import CrawlPipeline
from sitemapcrawler.pipelines.status import StatusPipeline
from sitemapcrawler.policy import BREACHES, breaches
from sitemapcrawler.processes import own_memory
from sitemapcrawler.report.wording import verdict
from sitemapcrawler.robots.agents import BY_NAME
from sitemapcrawler.rules.reach import places, unknown
from sitemapcrawler.urls.display import counted, inert, percent

LIMITED_BY = "SITEMAP_LIMITED_BY"
"""Setting in which commands pass what a configuration file switches off."""
KIB, MIB = 2**10, 2**20


class SummaryPipeline(CrawlPipeline):
    """Counts records, and sends the summary after everything else."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._stats = crawler.stats
        self._limited_by = limits_of(crawler.settings)
        self._clock = time.monotonic()

    async def process_item(self, item: object) -> object:
        """Count an item's records."""
        if isinstance(item, NotedBatch) and self._audit.job is None:  # with a job, `StorePipeline` counts them
            self._stats.inc_value("sitemap/urls", item.listed_count)
        elif isinstance(item, SitemapEnd):
            self._count(item)
        return item

    def open_spider(self) -> None:
        """Make Scrapy conclude the crawl before it closes the pipelines. It closes all of them at once, and each of
        them, the user's own included, is to see the last records first."""
        processor = self._crawler.engine.scraper.itemproc
        close = processor.close_spider_async

        async def close_spider_async() -> None:
            try:
                await self.conclude()
            except Exception:
                self._audit.stop.records_lost = "an error left records out"
                raise
            finally:
                await close()

        processor.close_spider_async = close_spider_async  # type: ignore[method-assign]  # see the docstring

    async def conclude(self) -> None:
        """Send robots records, findings on the crawl and the summary through the pipelines to the feeds."""
        status = self._crawler.get_item_pipeline(StatusPipeline)
        if status is not None:  # it may still hold records
            await status.close_spider()
        audit = self._audit
        job = audit.job
        try:
            summary = await self._conclude(audit, job)
            if audit.params.policy and job is not None:
                summary.breaches = breaches(audit.params.policy, summary, job.measured)
                await job.keep_breaches(summary)
                self._stats.set_value(BREACHES, [str(breach) for breach in summary.breaches])
            reporting = self._crawler.get_extension(Reporting) if job is not None else None
            if reporting is not None and job is not None:
                reporting.report = await job.report(audit, summary, reporting.names)
                summary.verdict = None if reporting.report is None else verdict(reporting.report)
                if (table := await job.exported_contents()) is not None:
                    reporting.keep_contents(table)
        finally:
            if job is not None:
                job.close()
        if summary.bad is not None:
            bad, checked = summary.bad.bad, counted(summary.bad.checked, "checked URL")
            told = f"{bad:,} of {checked} {'is' if bad == 1 else 'are'} bad"
            self._stats.set_value("sitemap/verified", told)
        if summary.not_indexable is not None:
            found = summary.not_indexable
            share = f"{found.bad:,} of {counted(found.checked, 'URL')} ({percent(found.share)})"
            self._stats.set_value("sitemap/not_indexable", share)
        for severity, count in summary.severities.items():
            self._stats.set_value(f"sitemap/severities/{severity}", count)
        for severity, text in places(summary.severity_reach).items():
            self._stats.set_value(f"sitemap/found/{severity}", text)
        if summary.partial:
            self._stats.set_value("sitemap/partial", summary.partial)
        if summary.only:
            self._stats.set_value("sitemap/only", summary.only)
        if summary.limited_by:
            self._stats.set_value("sitemap/limited_by", summary.limited_by)
        await audit.delivery.send(summary)

    async def _conclude(self, audit: Audit, job: Job | None) -> SummaryRecord:
        """Send the remaining records; returns the summary."""
        status = self._crawler.get_item_pipeline(StatusPipeline)
        if job is not None:
            audit.phase = "writing feeds"
            await job.flush()
            await job.settle(audit, any(audit.frontier.skipped_everywhere.values()))
            self._stats.set_value("sitemap/urls", await job.url_count())
            earlier = job.summary() if job.finished else None
            if earlier is not None:
                await job.count_again(earlier)
            async for item in job.stored():
                if isinstance(item, SitemapRecord):
                    self._count(item)
                await audit.delivery.send(item)
            if earlier is not None:
                await self._send_rows(audit, job)
                earlier.partial = audit.stop.reason or earlier.partial
                earlier.limited_by = self._limited_by
                return earlier
        for record in audit.verdicts.records(audit.starts, audit.given_up):
            await audit.delivery.send_last(record)
        if job is not None and audit.complete and audit.params.links != "no":
            audit.phase = "counting links"
            why = status.following_ended if status is not None else None
            async for pages in job.count_links(audit.link_scope(), why):
                await audit.delivery.send(pages)
        if job is not None and audit.complete and audit.params.compare:
            audit.phase = "comparing lists"
            await job.compare(audit.link_scope(), audit.params, status.comparing_ended if status else None)
        for kind, asked in {AnswerRecord: audit.params.fetch_as, RenderedRecord: audit.params.render}.items():
            if job is not None and asked:
                async for records in job.gathered(kind):
                    await audit.delivery.send(records)
        if job is not None and audit.complete:
            await job.count_index(audit.link_scope(), status.inspection if status is not None else None)
            audit.phase = "checking the site"
            async for finding in job.findings(audit):
                await audit.delivery.send_last(finding)
        else:
            audit.judge.skip_site()
        for finding in audit.judge.crawl(audit.frontier.given_up):
            await audit.delivery.send_last(finding)
        for finding in audit.judge.incomplete_lists():
            await audit.delivery.send_last(finding)
        summary = self.summary()
        audit.phase = "writing feeds"
        if job is None:
            return summary
        if audit.complete:
            await job.finish(audit, summary)
            async for changes in job.changes():
                await audit.delivery.send(changes)
            await self._send_rows(audit, job)
            summary.partial = audit.partial
        else:
            await job.suspend(summary)
            await self._send_rows(audit, job)
        return summary

    @staticmethod
    async def _send_rows(audit: Audit, job: Job) -> None:
        """Send the url records, which are final now. With `findings=all`, send the rows that complete the list of
        findings, and what is left out."""
        async for batch in job.urls():
            await audit.delivery.send(batch)
        async for batch in job.listed():
            await audit.delivery.send(batch)
        if audit.params.findings == ALL:
            for finding in audit.judge.incomplete_lists(job.left_out, MAX_ROWS):
                await audit.delivery.send(finding)

    def summary(self) -> SummaryRecord:
        """The summary of the crawl so far, before what the rules concern is counted."""
        audit, status = self._audit, self._audit.status
        skipped = audit.skipped
        skipped["addresses_refused"] = self._stats.get_value(COUNT, 0)
        reach, severity_reach = unknown(audit.judge.counts, audit.judge.reach)
        return SummaryRecord(
            domains=[str(start) for start in audit.params.domain],
            started=audit.started,
            elapsed_s=round(time.monotonic() - self._clock, 3),
            peak_mb=round(peak_mb(), 1),
            sitemaps=self._stats.get_value("sitemap/files", 0),
            urls=self._stats.get_value("sitemap/urls", 0),
            rules=dict(sorted(audit.judge.counts.items())),
            severities=dict(audit.judge.severities),
            reach=reach,
            severity_reach=severity_reach,
            agents=dict(audit.verdicts.blocked),
            crawlers=crawlers_of(audit),
            replies=dict(status.counts) if status is not None else {},
            lastmod=status.trusts.all if status is not None else None,
            bad=status.bad if status is not None else None,
            not_indexable=status.not_indexable if status is not None else None,
            indexability=dict(status.indexability) if status is not None else {},
            revisits=audit.job.revisits if audit.job is not None else None,
            graph=audit.job.graph if audit.job is not None else None,
            coverage=audit.job.coverage if audit.job is not None else None,
            google=audit.job.google if audit.job is not None else None,
            findings_left_out=dict(sorted(audit.judge.unlisted.items())),
            basis=basis_of(audit),
            skipped={name: count for name, count in skipped.items() if count},
            only=audit.params.only,
            limited_by=self._limited_by,
            partial=audit.partial,
        )

    def _count(self, record: SitemapRecord) -> None:
        self._stats.inc_value("sitemap/files")
        self._stats.inc_value(f"sitemap/files/{record.outcome}")
        self._stats.inc_value(f"sitemap/format/{record.format}")
        self._stats.inc_value("sitemap/bytes", record.bytes)
        if record.outcome not in UNREAD:
            self._stats.inc_value("sitemap/files_read")
        if record.error is not None:
            self._stats.inc_value("sitemap/problems")


def basis_of(audit: Audit) -> Basis:
    """What a crawl can find, for later comparisons with it."""
    given = audit.params.as_dict()
    return Basis(
        sorted(rule.id for rule in audit.judge.selected), {name: given[name] for name in DECISIVE if name in given}
    )


def crawlers_of(audit: Audit) -> list[CrawlerAccess]:
    """The crawlers that robots.txt was checked for, and those in access logs, before their URLs are counted."""
    fetches = audit.job.fetches if audit.job is not None else {}
    judged = {one.name.lower(): one for one in audit.params.judged_agents}
    known = judged | {name: BY_NAME[name] for name in sorted(fetches.keys() - judged.keys())}
    found = []
    for name, one in known.items():
        count = 0 if audit.job is not None and name in judged else None
        found.append(CrawlerAccess(one.name, one.operator, one.purpose, count, count, fetches=fetches.get(name)))
    return found


def limits_of(settings: BaseSettings) -> str | None:
    """What a configuration file switches off, and the allowlist, whose findings are not counted; None if nothing."""
    allowlist = settings.get("SITEMAP_ALLOW")
    limits = [settings.get(LIMITED_BY), allowlist and f"{inert(allowlist)}: accepted findings"]
    return "; ".join(filter(None, limits)) or None


def peak_mb() -> float:
    """Peak resident memory of this process in MiB; 0 if the system does not report it."""
    if peak := own_memory("VmHWM"):  # Linux, where rusage includes the parent process
        return peak / MIB
    with suppress(ImportError):  # no such module on Windows
        import resource

        unit = 1 if sys.platform == "darwin" else KIB
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MIB
    return 0.0
