"""A feed whose filter, storage or exporter raises an exception."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, ClassVar

import pytest
from scrapy import Spider
from scrapy.exporters import JsonLinesItemExporter
from scrapy.extensions.feedexport import BlockingFeedStorage
from scrapy.utils.test import get_crawler

from sitemapcrawler import settings as ours
from sitemapcrawler.feeds import worksheets
from sitemapcrawler.feeds.whole import WholeFeedExporter
from sitemapcrawler.feeds.workbook import WorkbookExporter
from sitemapcrawler.items import UrlRecord

ITEMS = [{"n": 1}, {"n": 2}, {"n": 3}]


class Torn(JsonLinesItemExporter):
    """Writes one item, and fails for the others."""

    def export_item(self, item: Any) -> None:
        if item["n"] > 1:
            raise MemoryError("no room\nfor this")
        super().export_item(item)


class TornAtEnd(JsonLinesItemExporter):
    """Fails where the last rows are to be written."""

    def finish_exporting(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


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


def exported(feeds: dict[str, Any], items: Iterable[object] = ITEMS) -> dict[str, Any]:
    """The statistics of a crawl with these feeds and items."""

    async def run() -> dict[str, Any]:
        settings = {
            "FEEDS": {uri: {"format": "jl", "overwrite": True, **options} for uri, options in feeds.items()},
            "FEED_EXPORTERS": {
                "jl": JsonLinesItemExporter,
                "torn": Torn,
                "torn at its end": TornAtEnd,
                "xlsx": WorkbookExporter,
            },
            "FEED_STORAGES": {**ours.FEED_STORAGES, "remote": Remote, "closed": Closed},
        }
        crawler = get_crawler(settings_dict=settings, prevent_warnings=True)
        spider = crawler.spider = Spider.from_crawler(crawler, "any")
        exporter = WholeFeedExporter.from_crawler(crawler)
        exporter.open_spider(spider)
        for item in items:
            exporter.item_scraped(item, spider)
        await exporter.close_spider(spider)
        assert crawler.stats is not None
        return crawler.stats.get_stats()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("options", "tracebacks"),
    [({"format": "torn"}, 1), ({"item_filter": TornFilter}, 1), ({"format": "torn at its end"}, 0)],
)
def test_earlier_feed_stays_and_the_others_are_whole(
    options: dict[str, Any], tracebacks: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    torn, whole = tmp_path / "torn.jl", tmp_path / "whole.jl"
    torn.write_text("earlier")
    stats = exported({str(torn): options, str(whole): {}})
    assert torn.read_text() == "earlier"
    assert whole.read_text() == '{"n": 1}\n{"n": 2}\n{"n": 3}\n'
    assert stats["feedexport/failed_count/AtomicFileStorage"] == 1
    assert stats["feedexport/success_count/AtomicFileStorage"] == 1
    assert caplog.text.count("has lost an item") == caplog.text.count("Traceback") == tracebacks
    assert caplog.text.count("was not written") == 1
    assert sorted(tmp_path.iterdir()) == [torn, whole]


def test_storage_of_another_machine_stores_nothing(caplog: pytest.LogCaptureFixture) -> None:
    stats = exported({"remote://a": {"format": "torn"}, "closed://b": {}})
    assert Remote.stored == []
    assert stats["feedexport/failed_count/LostStorage"] == 1
    assert stats["feedexport/failed_count/Closed"] == 1
    assert "remote://a was not written: no room" in caplog.text
    assert "closed://b cannot be written: no such place" in caplog.text


@pytest.mark.parametrize("is_full", [True, False])
def test_workbook_without_room_or_folder_for_temporary_files(
    is_full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    target = tmp_path / "audit.xlsx"
    target.write_bytes(b"earlier")

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOENT, "No such file or directory")

    if is_full:
        monkeypatch.setattr(worksheets.SheetTable, "add", full)
    else:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    exported({str(target): {"format": "xlsx"}}, [UrlRecord(loc=f"{number}") for number in range(3)])
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
        f"{target} cannot be written: No such file or directory",
        f"{target} was not written: No such file or directory; the previous file is kept",
    ]
    assert target.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [target]
