"""Scrapy extension: a feed that has lost an item never replaces an earlier one."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from typing import IO, ParamSpec

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exporters import BaseItemExporter
from scrapy.extensions.feedexport import FeedExporter, FeedSlot

from sitemapcrawler.feeds.storages import FeedFile, FeedLost, target_of
from sitemapcrawler.urls.display import first_line

logger = logging.getLogger(__name__)

P = ParamSpec("P")


class WholeFeedExporter(FeedExporter):
    """Scrapy's feed exporter, in which each feed fails on its own.

    Scrapy logs what a filter, a storage or an exporter raises for an item, leaves the item out of this feed and of all
    that follow it, and stores them as if they were whole. What an exporter raises at the end, Scrapy does not log.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._lost: list[FeedSlot] = []

    def item_scraped(self, item: object, spider: Spider) -> None:
        """Write an item to each feed. One that raises an exception is written no further, and is not stored."""
        slots: list[FeedSlot] = []
        for slot in self.slots:
            self.slots = [slot]
            if slot not in self._lost:
                self._attempt(slot, super().item_scraped, item, spider)
            slots += self.slots
        self.slots = slots

    async def close_spider(self, spider: Spider) -> None:
        """Finish the feeds, and store those that did not raise an exception."""
        for slot in self.slots:
            if slot.itemcount:
                self._attempt(slot, slot.finish_exporting)
        await super().close_spider(spider)

    def _attempt(self, slot: FeedSlot, action: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            action(*args, **kwargs)
        except OSError as error:  # a full disk, for example
            self._give_up(slot, error.strerror or str(error))
        except Exception as error:  # an exporter of others may raise anything
            logger.exception("%s has lost an item", slot.uri)
            self._give_up(slot, first_line(error))

    def _give_up(self, slot: FeedSlot, why: str) -> None:
        self._lost.append(slot)
        slot.exporter = LostExporter(dont_fail=True)
        slot.itemcount, slot.store_empty = int(slot.file is not None), False
        if slot.file is None:  # Scrapy then stores nothing, and counts no failure
            logger.error("%s cannot be written: %s", slot.uri, why)
            self.crawler.stats.inc_value(f"feedexport/failed_count/{type(slot.storage).__name__}")
        elif isinstance(file := target_of(slot.file), FeedFile):
            file.fail(OSError(errno.EIO, why))
        else:
            slot.storage = LostStorage(f"{slot.uri} was not written: {why}")


class LostExporter(BaseItemExporter):
    """Stands for an exporter that has raised an exception, and writes nothing."""

    def export_item(self, item: object) -> None:
        """Drop the item."""


class LostStorage:
    """Stands for the storage of a feed that has lost an item, and stores nothing."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def open(self, spider: Spider) -> IO[bytes]:
        raise FeedLost(self._problem)

    def store(self, file: IO[bytes]) -> None:
        raise FeedLost(self._problem)
