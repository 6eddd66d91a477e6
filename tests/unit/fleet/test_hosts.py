"""Which hosts a crawl of a fleet asks for, and when it gives them back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.http import Response
from scrapy.utils.conf import build_component_list

from sitemapcrawler.fleet.worker.crawling import Job, settings_of
from sitemapcrawler.fleet.worker.hosts import OneCrawlAHost
from sitemapcrawler.fleet.worker.link import Link

DELAY_S = 3.0
REQUEST = Request("http://a.example/x")


class Worker:
    """Hears a crawl, and grants it whatever it asks for."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []
        self._hear: dict[str, Any] = {}

    def listen(self, word: str, hear: Any) -> None:
        self._hear[word] = hear

    def tell(self, *message: Any) -> None:
        self.heard.append(message)
        if message[0] == "ask":
            self.say("granted", message[1])

    def say(self, word: str, *rest: Any) -> None:
        self._hear[word](*rest)


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
    monkeypatch.setattr(Link, "current", worker, raising=False)
    return worker


def begun(crawl: Crawl) -> OneCrawlAHost:
    middleware = OneCrawlAHost.from_crawler(crawl)  # type: ignore[arg-type]  # a part of one
    asyncio.run(middleware.process_request(REQUEST))
    return middleware


def test_a_host_that_others_want_is_given_back_after_the_last_request(worker: Worker) -> None:
    middleware = begun(Crawl())
    worker.say("wanted", "a.example")
    assert worker.heard == [("ask", "a.example")]
    middleware.process_response(REQUEST, Response(REQUEST.url))
    assert worker.heard[1:] == [("free", "a.example", DELAY_S)]


def test_a_crawl_that_ends_has_its_delay_kept_by_the_next(worker: Worker) -> None:
    crawl = Crawl()
    begun(crawl).process_exception(REQUEST, OSError())
    crawl.calls[signals.spider_closed]()
    assert worker.heard[1:] == [("free", "a.example", DELAY_S)]


def test_nothing_stands_between_it_and_the_downloader(tmp_path: Path) -> None:
    """A redirect is a request in the place of an answer: what stands further away hears of neither."""
    settings = settings_of(Job("example.com", {}, {}, str(tmp_path)))
    order = build_component_list(settings.getwithbase("DOWNLOADER_MIDDLEWARES"))
    assert order[-1] == f"{OneCrawlAHost.__module__}.{OneCrawlAHost.__name__}"
