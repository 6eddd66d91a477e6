"""The settings of one crawl of a fleet, and where its files go."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.extensions.feedexport import FileFeedStorage, apply_uri_params
from scrapy.http import Response
from scrapy.utils.conf import build_component_list

from sitemapcrawler.fleet.domains import TABLES
from sitemapcrawler.fleet.worker.crawling import SUMMARY, CrawlJob, OneCrawlAHost, WorkerLink, settings_of


@pytest.mark.parametrize("name", ["plain", "a b", "100%", "a%20b", "%(time)s", "%d", "a#b", "it's", "\u00fc"])
def test_its_files_go_to_its_folder_whatever_that_is_called(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    settings = settings_of(CrawlJob("example.com", {}, {}, str(folder)))
    places = [FileFeedStorage(apply_uri_params(uri, {"time": "now"})).path for uri in settings["FEEDS"]]
    assert sorted(places) == sorted(str(folder / file) for file in (SUMMARY, *(f"{table}.parquet" for table in TABLES)))


DELAY_S = 3.0
REQUEST = Request("http://a.example/x")


class Worker:
    """Hears a crawl, and grants it whatever it asks for."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self._handlers: dict[str, Any] = {}

    def listen(self, word: str, handler: Any) -> None:
        self._handlers[word] = handler

    def send(self, *message: Any) -> None:
        self.sent.append(message)
        if message[0] == "ask":
            self.say("granted", message[1])

    def say(self, word: str, *rest: Any) -> None:
        self._handlers[word](*rest)


class Crawl:
    """As much of a crawler as the middleware knows."""

    def __init__(self) -> None:
        slots = {"a.example": SimpleNamespace(delay=DELAY_S)}
        self.engine = SimpleNamespace(downloader=SimpleNamespace(get_slot_key=lambda _: "a.example", slots=slots))
        self.spider = None
        self.signals = self
        self.calls: dict[Any, Any] = {}

    def connect(self, call: Any, signal: Any) -> None:
        self.calls[signal] = call

    def get_downloader_middleware(self, _: type) -> None:
        return None


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    worker = Worker()
    monkeypatch.setattr(WorkerLink, "current", worker, raising=False)
    return worker


def begun(crawl: Crawl) -> OneCrawlAHost:
    middleware = OneCrawlAHost.from_crawler(crawl)  # type: ignore[arg-type]  # a part of one
    asyncio.run(middleware.process_request(REQUEST))
    return middleware


def test_a_host_that_others_want_is_given_back_after_the_last_request(worker: Worker) -> None:
    middleware = begun(Crawl())
    worker.say("wanted", "a.example")
    assert worker.sent == [("ask", "a.example")]
    middleware.process_response(REQUEST, Response(REQUEST.url))
    assert worker.sent[1:] == [("free", "a.example", DELAY_S)]


def test_a_crawl_that_ends_has_its_delay_kept_by_the_next(worker: Worker) -> None:
    crawl = Crawl()
    begun(crawl).process_exception(REQUEST, OSError())
    crawl.calls[signals.spider_closed]()
    assert worker.sent[1:] == [("free", "a.example", DELAY_S)]


def test_nothing_stands_between_it_and_the_downloader(tmp_path: Path) -> None:
    """A redirect is a request in the place of an answer: what stands further away hears of neither."""
    settings = settings_of(CrawlJob("example.com", {}, {}, str(tmp_path)))
    order = build_component_list(settings.getwithbase("DOWNLOADER_MIDDLEWARES"))
    assert order[-1] == f"{OneCrawlAHost.__module__}.{OneCrawlAHost.__name__}"
