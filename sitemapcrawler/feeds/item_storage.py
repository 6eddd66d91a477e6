"""Scrapy extension: the rows of a crawl in the item storage of Zyte Scrapy Cloud, where `scrapy_cloud` puts it."""

from __future__ import annotations

import json
import logging
from typing import Any

from scrapinghub.hubstorage.serialization import jsonencode
from scrapy import Spider
from scrapy.crawler import Crawler
from sh_scrapy.extension import HubstorageExtension

from sitemapcrawler.feeds.exporters import is_ours
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import records

logger = logging.getLogger(__name__)

MAX_ITEM = 2**20
"""Characters of JSON that an item may have: `maxitemsize` in `scrapinghub.hubstorage.batchuploader`."""
LONGEST = 4
"""More than the characters that a byte of UTF-8 may become there: two of a letter are an escape of six."""
LEFT_OUT = "_left_out"
"""Field of an item with the names of the fields that would have made it too large."""
STAT = "sitemap/items_cut"


class ItemStorage(HubstorageExtension):  # type: ignore[misc] # ships no types
    """Writes the rows of a JSON feed: a row for each record and each finding, without null and empty fields."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._json = JsonText(Rows())

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Write the rows of an item of ours; items of other pipelines are written as they always are."""
        if not is_ours(item):
            super().item_scraped(item, spider)
            return
        rows = records(item)
        for record, line in zip(rows, self._json.lines(rows).splitlines(), strict=True):
            row = {**json.loads(line), "_type": type(record).__name__}
            self._write_item(row if LONGEST * len(line) < MAX_ITEM else self._cut(row))

    def _cut(self, row: dict[str, Any]) -> dict[str, Any]:
        fitting = cut(row)
        if fitting is not row:
            if not self.crawler.stats.get_value(STAT):
                logger.warning(
                    "an item of more than %d bytes is stored without %s; %s counts such items",
                    MAX_ITEM,
                    ", ".join(fitting[LEFT_OUT]),
                    STAT,
                )
            self.crawler.stats.inc_value(STAT)
        return fitting


def cut(row: dict[str, Any]) -> dict[str, Any]:
    """A row that the storage takes: without its largest fields, which are named in it, where it would not."""
    sizes = {name: len(jsonencode(value)) for name, value in row.items()}
    left_out: list[str] = []
    fitting = row
    while len(jsonencode(fitting)) > MAX_ITEM:
        left_out.append(max(sizes, key=lambda name: sizes[name]))
        del sizes[left_out[-1]]
        fitting = {**{name: row[name] for name in sizes}, LEFT_OUT: left_out}
    return fitting
