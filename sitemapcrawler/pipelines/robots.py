"""Item pipeline that checks every listed URL against robots.txt."""

from __future__ import annotations

from sitemapcrawler.items import UNREAD, FreshBatch, SitemapRecord
from sitemapcrawler.pipelines import CrawlPipeline


class RobotsPipeline(CrawlPipeline):
    """Sets on every url record the agents that robots.txt blocks."""

    def open_spider(self) -> None:
        self._verdicts = self._audit.verdicts
        self._skips_assets = not self._audit.params.verify_assets

    async def process_item(self, item: object) -> object:
        """Judge url records, and note on which hosts there are sitemaps."""
        if isinstance(item, FreshBatch):
            await self._verdicts.judge(item.urls, item.file, item.notes)
            if item.file is not None:
                self._verdicts.judge_assets(item.urls, item.file, item.notes, self._skips_assets)
        elif isinstance(item, SitemapRecord) and item.outcome not in UNREAD:
            self._verdicts.note_sitemap(item.final_url or item.sitemap)
        return item
