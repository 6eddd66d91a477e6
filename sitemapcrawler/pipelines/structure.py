"""Item pipeline that runs the protocol rules on entries and files."""

from __future__ import annotations

from collections.abc import Sequence

from sitemapcrawler import urls
from sitemapcrawler.items import FreshBatch, SitemapEnd, UrlRecord
from sitemapcrawler.pipelines import CrawlPipeline
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.rules.facts.given import Counted, FileFacts


class StructurePipeline(CrawlPipeline):
    """Runs the protocol rules on entries and files."""

    def open_spider(self) -> None:
        self._judge = self._audit.judge
        self._policies = self._audit.policies

    async def process_item(self, item: object) -> object:
        """Judge entries and files."""
        match item:
            case FreshBatch(file=FileFacts() as file):
                await self._know_hosts(file, item.urls)
                self._judge.urls(item.urls, file, item.notes)
            case SitemapEnd(facts=FileFacts() as file):
                await self._know_hosts(file, file.children)
                item.findings += self._judge.file(item, file)
            case SitemapEnd(facts=Counted() as file):
                item.findings += self._judge.conclude(file)
        return item

    async def _know_hosts(self, file: FileFacts, listed: Sequence[UrlRecord | ChildRecord]) -> None:
        """Fetch the robots.txt of listed hosts: it may prove that the file may list their URLs."""
        home = urls.origin(file.place)
        if home is None:  # a local file may list anything, unless it will live elsewhere
            return
        if self._policies.at(home) is None:
            await self._policies.obtain(home)
        own = f"{home}/"
        strange = [record.loc for record in listed if not record.loc.startswith(own)]
        if strange:
            await self._policies.prepare(strange)

    def close_spider(self) -> None:
        """Store the counts of all findings in the stats."""
        for rule, count in self._judge.counts.items():
            self._crawler.stats.set_value(f"sitemap/findings/{rule}", count)
        for rule, count in self._judge.skipped.items():
            self._crawler.stats.set_value(f"sitemap/skipped/{rule}", count)
