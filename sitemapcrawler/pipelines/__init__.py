"""Item pipelines, in the order of `ITEM_PIPELINES`: structure, robots, status, store, summary.

May import Scrapy and the parts of a crawl. Start reading in `structure.py`.
"""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemapcrawler.crawl.state import Audit


class CrawlPipeline:
    """An item pipeline of one crawl. What it does with an item depends on the type of the item alone:

    - `FreshBatch`: url records as they were read, to be judged, verified and stored; those that have waited for their
      turn to be verified are judged;
    - `FinalBatch`: url records of a sample, to be stored again in their final form; those from the job's database are
      stored;
    - `SitemapEnd`: the end of a file, to be judged and stored.

    Everything else passes: records that come from the database, those that are stored before they are sent, and with
    SITEMAP_ITEMS=records the rows of a batch or file, which has passed before (`Delivery.unpacked`).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @property
    def _audit(self) -> Audit:
        audit = Audit.of(self._crawler)
        assert audit is not None  # see `from_crawler`
        return audit

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the pipeline. Raises NotConfigured unless the spider runs an audit; Scrapy's shell creates pipelines
        before the spider."""
        if Audit.of(crawler) is None:
            raise NotConfigured
        pipeline = cls(crawler)
        pipeline._audit.delivery.stages.append(pipeline)
        return pipeline

    async def process_item(self, item: object) -> object:
        """Process an item, and pass it on."""
        return item
