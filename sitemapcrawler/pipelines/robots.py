"""Item pipeline that checks every listed URL against robots.txt."""

from __future__ import annotations

from sitemapcrawler.envelopes import FreshBatch
from sitemapcrawler.items import UNREAD, SitemapRecord
from sitemapcrawler.pipelines import CrawlPipeline


class RobotsPipeline(CrawlPipeline):
    """Sets on every url record the agents that robots.txt blocks."""

    async def process_item(self, item: object) -> object:
        """Judge url records, and note on which hosts there are sitemaps."""
        if isinstance(item, FreshBatch) and not item.is_judged:
            await self._audit.judging.robots(item)
        elif isinstance(item, SitemapRecord) and item.outcome not in UNREAD:
            self._audit.verdicts.note_sitemap(item.final_url or item.sitemap)
        return item
