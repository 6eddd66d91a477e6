"""Item pipelines. Each takes a batch (or any other record) and gives it on."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Self

from scrapy.crawler import Crawler

from sitemapcrawler import urls
from sitemapcrawler.items import SitemapRecord, SummaryRecord, UrlBatch, UrlRecord
from sitemapcrawler.policies import Policies
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.rules.facts import FileFacts
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.verdicts import Verdicts

READ = ("ok", "recovered", "truncated", "unchanged")
"""Outcomes of files that could be read, at least in part."""
KIB = 1024


class StructurePipeline:
    """Runs the rules of the protocol over entries and files; findings ride on their records."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """A pipeline of this crawl."""
        return cls(crawler)

    def open_spider(self) -> None:
        """Take the judge of the crawl."""
        spider: Any = self._crawler.spider
        self._judge: Judge = spider.judge
        self._policies: Policies = spider.policies

    async def process_item(self, item: Any) -> Any:
        """Judge what carries facts; all else passes."""
        file = getattr(item, "file", None)
        if file is not None and isinstance(item, UrlBatch):
            await self._know_hosts(file, item.urls)
            item.judged = self._judge.urls(item.urls, file)
        elif file is not None and isinstance(item, UrlRecord):
            await self._know_hosts(file, [item])
            self._judge.urls([item], file)
        elif file is not None and isinstance(item, SitemapRecord):
            await self._know_hosts(file, file.children)
            self._judge.file(item, file)
        return item

    async def _know_hosts(self, file: FileFacts, listed: Sequence[UrlRecord | ChildRecord]) -> None:
        """Ask for the robots.txt of the hosts that a file lists: one may prove that the file may list them."""
        home = urls.origin(file.url)
        if home is None:  # a file of this machine may list anything
            return
        if self._policies.at(home) is None:
            await self._policies.of(home)
        strange = [record.loc for record in listed if not record.loc.startswith(f"{home}/")]
        if strange:
            await self._policies.prepare(strange)

    def close_spider(self) -> None:
        """Put the complete counts into the stats."""
        for rule, count in self._judge.counts.items():
            self._crawler.stats.set_value(f"sitemap/findings/{rule}", count)
        for rule, count in self._judge.skipped.items():
            self._crawler.stats.set_value(f"sitemap/skipped/{rule}", count)


class RobotsPipeline:
    """Says of every listed URL which crawlers robots.txt denies it to."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """A pipeline of this crawl."""
        return cls(crawler)

    def open_spider(self) -> None:
        """Take what the crawl judges by."""
        spider: Any = self._crawler.spider
        self._verdicts: Verdicts = spider.verdicts

    async def process_item(self, item: Any) -> Any:
        """Judge url records; all else passes."""
        if isinstance(item, UrlBatch):
            item.judged |= await self._verdicts.judge(item.urls, item.file)
        elif isinstance(item, UrlRecord):
            await self._verdicts.judge([item], getattr(item, "file", None))
        return item


class SummaryPipeline:
    """Counts what passes and sends the summary after everything else."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._started = datetime.now(UTC)
        self._clock = time.monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """A pipeline of this crawl."""
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        """Count records, whatever the batch."""
        if isinstance(item, UrlBatch):
            self._stats.inc_value("sitemap/urls", len(item.urls))
        elif isinstance(item, UrlRecord):
            self._stats.inc_value("sitemap/urls")
        elif isinstance(item, SitemapRecord):
            self._count(item)
        return item

    async def close_spider(self) -> None:
        """Send the records of robots files, findings on the crawl itself and the summary to the feeds."""
        spider: Any = self._crawler.spider
        for record in spider.verdicts.records(spider.starts):
            await self._send(record)
        for finding in spider.judge.crawl():
            await self._send(finding)
        summary = self.summary()
        if summary.partial:
            self._stats.set_value("sitemap/partial", summary.partial)
        await self._send(summary)

    async def _send(self, record: Any) -> None:
        await self._crawler.engine.scraper.start_itemproc_async(record, response=None)

    def summary(self) -> SummaryRecord:
        """What the crawl came to so far."""
        spider: Any = self._crawler.spider
        parts = (spider.selection, spider.frontier, spider.judge, spider.verdicts)
        skipped: Counter[str] = sum((Counter(part.skipped) for part in parts), Counter())
        return SummaryRecord(
            domains=[str(start) for start in spider.params.starts],
            started=iso(self._started.replace(microsecond=0)),
            elapsed_s=round(time.monotonic() - self._clock, 3),
            peak_mb=round(peak_mb(), 1),
            sitemaps=self._stats.get_value("sitemap/files", 0),
            urls=self._stats.get_value("sitemap/urls", 0),
            rules=dict(sorted(spider.judge.counts.items())),
            severities=dict(spider.judge.severities),
            agents=dict(spider.verdicts.blocked),
            skipped={name: count for name, count in skipped.items() if count},
            partial=spider.partial,
        )

    def _count(self, record: SitemapRecord) -> None:
        self._stats.inc_value("sitemap/files")
        self._stats.inc_value(f"sitemap/files/{record.outcome}")
        self._stats.inc_value(f"sitemap/format/{record.format}")
        self._stats.inc_value("sitemap/bytes", record.bytes)
        if record.outcome in READ:
            self._stats.inc_value("sitemap/files_read")
        if record.error is not None:
            self._stats.inc_value("sitemap/problems")


def peak_mb() -> float:
    """Peak resident memory of this process in MiB; 0 on systems that do not tell."""
    with suppress(ImportError):  # Windows has no such module
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / KIB / (KIB if sys.platform == "darwin" else 1)
    return 0.0
