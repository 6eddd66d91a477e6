"""A feed whose filter, storage or exporter raises an exception."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import IO, Any, ClassVar

import pytest
from scrapy import Spider
from scrapy.exporters import JsonLinesItemExporter
from scrapy.extensions.feedexport import BlockingFeedStorage
from scrapy.utils.test import get_crawler

from sitemapcrawler import settings as ours
from sitemapcrawler.feeds.whole import WholeFeedExporter

ITEMS = [{"n": 1}, {"n": 2}, {"n": 3}]


class Torn(JsonLinesItemExporter):
    """Writes one item, and fails for the others."""

    def export_item(self, item: Any) -> None:
        if item["n"] > 1:
            raise MemoryError("no room\nfor this")
        super().export_item(item)


class TornFilter:
    def __init__(self, options: object) -> None:
        """Options of the feed."""

    def accepts(self, item: Any) -> bool:
        return 1 / (2 - item["n"]) > 0


class Remote(BlockingFeedStorage):
    """A storage that is not ours."""

    stored: ClassVar[list[bytes]] = []

    def __init__(self, uri: str, *, feed_options: object = None) -> None:
        """Options of the feed."""

    def _store_in_thread(self, file: IO[bytes]) -> None:
        file.seek(0)
        self.stored.append(file.read())


class Closed(Remote):
    def open(self, spider: Spider) -> IO[bytes]:
        raise OSError("no such place")


def exported(feeds: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """The statistics of a crawl with these feeds."""

    async def run() -> dict[str, Any]:
        settings = {
            "FEEDS": {uri: {"format": "jl", "overwrite": True, **options} for uri, options in feeds.items()},
            "FEED_EXPORTERS": {"jl": JsonLinesItemExporter, "torn": Torn},
            "FEED_STORAGES": {**ours.FEED_STORAGES, "remote": Remote, "closed": Closed},
        }
        crawler = get_crawler(settings_dict=settings, prevent_warnings=True)
        spider = crawler.spider = Spider.from_crawler(crawler, "any")
        exporter = WholeFeedExporter.from_crawler(crawler)
        exporter.open_spider(spider)
        for item in ITEMS:
            exporter.item_scraped(item, spider)
        await exporter.close_spider(spider)
        assert crawler.stats is not None
        return crawler.stats.get_stats()

    return asyncio.run(run())


@pytest.mark.parametrize("options", [{"format": "torn"}, {"item_filter": TornFilter}])
def test_earlier_feed_stays_and_the_others_are_whole(
    options: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    torn, whole = tmp_path / "torn.jl", tmp_path / "whole.jl"
    torn.write_text("earlier")
    stats = exported({str(torn): options, str(whole): {}}, tmp_path)
    assert torn.read_text() == "earlier"
    assert whole.read_text() == '{"n": 1}\n{"n": 2}\n{"n": 3}\n'
    assert stats["feedexport/failed_count/AtomicFileStorage"] == 1
    assert stats["feedexport/success_count/AtomicFileStorage"] == 1
    assert caplog.text.count("has lost an item") == 1
    assert caplog.text.count("was not written") == 1
    assert sorted(tmp_path.iterdir()) == [torn, whole]


def test_storage_of_another_machine_stores_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stats = exported({"remote://a": {"format": "torn"}, "closed://b": {}}, tmp_path)
    assert Remote.stored == []
    assert stats["feedexport/failed_count/LostStorage"] == 1
    assert stats["feedexport/failed_count/Closed"] == 1
    assert "remote://a was not written: no room" in caplog.text
