"""Item pipeline that runs the protocol rules on entries and files."""

from __future__ import annotations

from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.pipelines import CrawlPipeline


class StructurePipeline(CrawlPipeline):
    """Runs the protocol rules on entries and files."""

    async def process_item(self, item: object) -> object:
        """Judge entries and files."""
        if isinstance(item, (FreshBatch, SitemapEnd)):
            await self._audit.judging.structure(item)
        return item

    def close_spider(self) -> None:
        """Store the counts of all findings in the stats."""
        judge = self._audit.judge
        for rule, count in judge.counts.items():
            self._crawler.stats.set_value(f"sitemap/findings/{rule}", count)
        for rule, count in judge.skipped.items():
            self._crawler.stats.set_value(f"sitemap/skipped/{rule}", count)
