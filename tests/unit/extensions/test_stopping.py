"""The closing line, the brief log, and the watch over the end of a crawl."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.signalmanager import SignalManager

from sitemapcrawler.download.shared import Stop, stopping
from sitemapcrawler.extensions.stopping import BriefFormatter, Stopping, closing_line
from sitemapcrawler.items import UrlBatch, UrlRecord

# ---- the closing line


def stats(files: int, urls: int, **more: object) -> dict[str, Any]:
    return {"sitemap/files": files, "sitemap/urls": urls} | {
        f"sitemap/{name.replace('__', '/')}": value for name, value in more.items()
    }


@pytest.mark.parametrize(
    ("counts", "seconds", "line"),
    [
        (
            stats(
                20,
                1_000_000,
                found__error="errors on 2 URLs",
                found__warning="warnings on 1 URL",
                found__info="notes",
                files__failed=3,
            ),
            8.04,
            "20 files, 1,000,000 URLs, errors on 2 URLs, warnings on 1 URL; took 8.0 s (124,378 URLs/s)",
        ),
        (stats(1, 1, problems=1, found__info="notes on 1 URL"), 1.0, "1 file, 1 URL; took 1.0 s (1 URL/s)"),
        (
            stats(9, 1, files__failed=2, files__blocked=1, files__truncated=1, files__ok=5),
            1.0,
            "9 files, 1 URL, 3 files not read, 1 file not read to its end; took 1.0 s (1 URL/s)",
        ),
        (
            stats(1, 10, verified="2 of 9 checked URLs are bad"),
            1.0,
            "1 file, 10 URLs, 2 of 9 checked URLs are bad; took 1.0 s (10 URLs/s)",
        ),
        ({}, 0.0, "0 files, 0 URLs; took 0.0 s (0 URLs/s)"),
        (
            stats(2, 10, limited_by="a.toml: exclude = /b"),
            2.0,
            "2 files, 10 URLs; took 2.0 s (5 URLs/s); limited by a.toml: exclude = /b",
        ),
        (stats(2, 0, only="changes"), 2.0, "2 files, 0 changed URLs; took 2.0 s"),
        (
            stats(2, 10, partial="max_time"),
            2.0,
            "2 files, 10 URLs; took 2.0 s (5 URLs/s); stopped before the end: max_time",
        ),
    ],
)
def test_closing_line(counts: dict[str, Any], seconds: float, line: str) -> None:
    assert closing_line(counts, seconds) == line


# ---- the log


def test_items_are_not_logged() -> None:
    assert BriefFormatter().scraped(UrlBatch("s", [UrlRecord("u")]), None, Spider("s")) is None


def test_error_of_an_item_names_its_kind_alone() -> None:
    batch = UrlBatch("s", [UrlRecord("https://e.com/listed")] * 1000)
    logged = BriefFormatter().item_error(batch, ValueError("x"), Response("https://e.com/"), Spider("s"))
    text = logged["msg"] % logged["args"]
    assert text == "Error processing a UrlBatch"
    assert logged["level"] == logging.ERROR


@pytest.mark.parametrize(("level", "is_made"), [(logging.DEBUG, True), (logging.INFO, False)])
def test_response_is_logged_only_if_a_handler_writes_it(
    level: int, is_made: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "scrapy")  # as Scrapy sets it up, whatever LOG_LEVEL is
    monkeypatch.setattr(logging.root, "handlers", [logging.NullHandler(level)])
    request = Request("https://e.com/")
    assert bool(BriefFormatter().crawled(request, Response(request.url), Spider("s"))) is is_made


# ---- stopping


class Engine:
    """As much of Scrapy's engine as is watched."""

    def __init__(self) -> None:
        self.closed: list[str] = []
        self.downloader = SimpleNamespace(slots={})

    async def close_spider_async(self, *, reason: str = "cancelled") -> None:
        self.closed.append(reason)


class Watched:
    """An extension in a crawl that is not one, and the order of what happens."""

    def __init__(self, max_time: float | None = None) -> None:
        self.signals = SignalManager(self)
        self.engine = Engine()
        self.told: list[str] = []
        self.stop = Stop.of(cast("Crawler", self))
        self.stop.max_time = max_time
        self.signals.connect(self.tell, stopping)
        self.extension = Stopping.from_crawler(self)  # type: ignore[arg-type]  # all of a crawler that it uses

    def tell(self) -> None:
        self.told.append(f"before {len(self.engine.closed)}")


def watched(*reasons: str) -> Watched:
    """A crawl that was ended for these reasons, one after the other."""

    async def crawl() -> Watched:
        made = Watched()
        made.extension.opened()
        for reason in reasons:
            await made.engine.close_spider_async(reason=reason)
        made.extension.closed()
        return made

    return asyncio.run(crawl())


@pytest.mark.parametrize(
    ("reasons", "reason", "told"),
    [
        (["shutdown"], "shutdown", ["before 0"]),
        (["finished"], None, []),  # the end of all work is no stop, nor that of another spider of a project
        (["max_urls", "shutdown", "shutdown"], "max_urls", ["before 0", "before 1"]),
        (["max_time"], "max_time", ["before 0"]),
        (["max_time", "shutdown"], "max_time", ["before 0", "before 1"]),
    ],
)
def test_stop_is_told_before_the_engine_waits(reasons: list[str], reason: str | None, told: list[str]) -> None:
    crawl = watched(*reasons)
    assert (crawl.stop.reason, crawl.told) == (reason, told)
    assert crawl.engine.closed[0] == reasons[0]
    assert (crawl.stop.hurried_at is not None) == ("shutdown" in reasons)


def test_time_is_up() -> None:
    async def crawl() -> Watched:
        watched = Watched(max_time=0.001)
        watched.extension.opened()
        async with asyncio.timeout(10):
            while not watched.engine.closed:
                await asyncio.sleep(0)
        watched.extension.closed()
        return watched

    watched = asyncio.run(crawl())
    assert watched.engine.closed == ["max_time"]
    assert watched.stop.reason == "max_time"


def test_clock_stops_with_the_crawl() -> None:
    async def crawl() -> Watched:
        watched = Watched(max_time=3600)
        watched.extension.opened()
        watched.extension.closed()
        await asyncio.sleep(0)
        return watched

    assert asyncio.run(crawl()).engine.closed == []
