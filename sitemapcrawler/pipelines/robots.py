"""Item pipeline that checks every listed URL against robots.txt."""

from __future__ import annotations

from collections.abc import Sequence

from sitemapcrawler.items import UNREAD, SitemapRecord, UrlBatch, UrlRecord
from sitemapcrawler.pipelines import CrawlPipeline
from sitemapcrawler.rules.facts.given import FileFacts


class RobotsPipeline(CrawlPipeline):
    """Sets on every url record the agents that robots.txt blocks."""

    def open_spider(self) -> None:
        self._verdicts = self._audit.verdicts
        self._skips_assets = not self._audit.params.verify_assets

    async def process_item(self, item: object) -> object:
        """Judge url records; other items pass unchanged."""
        if isinstance(item, SitemapRecord) and item.outcome not in UNREAD:
            self._verdicts.note_sitemap(item.final_url or item.sitemap)
        if getattr(item, "stored", False):
            return item
        if isinstance(item, UrlBatch) and not item.settled:
            item.judged |= await self._judge(item.urls, item.file)
        elif isinstance(item, UrlRecord) and item.reply is None:
            await self._judge([item], getattr(item, "file", None))
        return item

    async def _judge(self, records: Sequence[UrlRecord], file: FileFacts | None) -> bool:
        found = await self._verdicts.judge(records, file)
        return (file is not None and self._verdicts.judge_assets(records, file, self._skips_assets)) or found
