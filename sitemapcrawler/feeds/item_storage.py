"""Scrapy extension: writes rows to the item storage of Zyte Scrapy Cloud. Enabled by `crawl.scrapy_cloud`."""

from __future__ import annotations

import json
import logging

from scrapinghub.hubstorage.serialization import jsonencode
from scrapy import Spider
from scrapy.crawler import Crawler
from sh_scrapy.extension import HubstorageExtension

from sitemapcrawler.feeds.exporters import is_ours
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import RECORDS, JsonObject, records

logger = logging.getLogger(__name__)

MAX_ITEM = 2**20
"""Maximum characters of an item's JSON: `maxitemsize` in `scrapinghub.hubstorage.batchuploader`."""
LONGEST = 4
"""Upper bound of characters per UTF-8 byte: a two-byte letter becomes a six-character escape."""
LEFT_OUT = "_left_out"
"""Field that names the dropped fields of an item."""
STAT = "sitemap/items_cut"
NAMES = {kind().type: kind.__name__ for kind in RECORDS}
"""{`type` of a record: name of its class, which Scrapy Cloud shows as the type of an item}."""


class ItemStorage(HubstorageExtension):  # type: ignore[misc] # ships no types
    """Writes one row per record and finding, without null and empty fields, as in JSON feeds."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._json = JsonText(Rows())

    def item_scraped(self, item: object, spider: Spider) -> None:
        """Write the rows of our items, and other items unchanged."""
        if not is_ours(item):
            super().item_scraped(item, spider)
            return
        rows = records(item)
        for record, line in zip(rows, self._json.lines(rows).splitlines(), strict=True):
            row = {**json.loads(line), "_type": NAMES[record.type]}
            self._write_item(row if LONGEST * len(line) < MAX_ITEM else self._cut(row))

    def _cut(self, row: JsonObject) -> JsonObject:
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


def cut(row: JsonObject) -> JsonObject:
    """Shrink a row until the storage accepts it: drop its largest fields and name them in `_left_out`."""
    sizes = {name: len(jsonencode(value)) for name, value in row.items()}
    left_out: list[str] = []
    fitting = row
    while len(jsonencode(fitting)) > MAX_ITEM:
        left_out.append(max(sizes, key=lambda name: sizes[name]))
        del sizes[left_out[-1]]
        fitting = {**{name: row[name] for name in sizes}, LEFT_OUT: left_out}
    return fitting
