"""Item pipelines, in the order of `ITEM_PIPELINES`: structure, robots, status, store, summary.

May import Scrapy and the parts of a crawl. Start reading in `structure.py`.
"""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemapcrawler.audit.state import Audit, Audited


class CrawlPipeline:
    """An item pipeline of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @property
    def _audit(self) -> Audit:
        audit = Audit.of(self._crawler)
        assert audit is not None  # see `from_crawler`
        return audit

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the pipeline. Raises NotConfigured unless the spider runs an audit."""
        if not issubclass(crawler.spidercls, Audited):
            raise NotConfigured
        return cls(crawler)
