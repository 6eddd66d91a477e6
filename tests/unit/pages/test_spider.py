"""Spiders of pages without a crawl: their arguments, and what waits in a queue."""

from __future__ import annotations

import asyncio
import logging
import pickle
import re
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.http import Response
from scrapy.utils.request import request_from_dict
from scrapy.utils.test import get_crawler

from sitemapcrawler import SitemapSpider, UrlRecord, read_sitemap
from sitemapcrawler.crawl.params import ARGUMENTS, ArgumentError, Params
from sitemapcrawler.crawl.wiring import Refused, in_one_line
from sitemapcrawler.download import answers
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.shared import stopping
from sitemapcrawler.items import UrlBatch
from sitemapcrawler.pages.callbacks import EntryMiddleware, PageRules, needs_entry, takes_entry
from sitemapcrawler.pages.spider import ACCEPTED, PageRequests, Room, page_params
from tests.unit.tables import cases

DATA = Path(__file__).parents[2] / "data/good"


def params(given: dict[str, Any] | None = None, **attributes: Any) -> Params:
    """The arguments of a spider with these attributes of its class, started with what is `given`."""
    kind = type("Pages", (SitemapSpider,), {"name": "pages", **attributes})
    return page_params(kind(**(given or {})), given or {})


# Arguments


def test_attributes_are_arguments() -> None:
    found = params(domain=["a.example", "b.example"], include="/x/", max_urls=5, since=date(2025, 1, 2))
    assert [str(start) for start in found.domain] == ["a.example", "b.example"]
    assert found.as_dict().items() >= {"include": "/x/", "max_urls": "5", "since": "2025-01-02T00:00:00+00:00"}.items()


def test_compiled_expression_of_a_spider_is_searched_by_python() -> None:
    found = params(domain="a.example", include=re.compile("/x(?=y)"))
    assert found.include is not None
    assert (found.include.matches("/xy"), found.include.matches("/xz")) == (True, False)


def test_what_is_given_counts_before_the_attribute() -> None:
    found = params({"domain": "b.example", "max_urls": "7"}, domain="a.example", max_urls=5)
    assert ([str(start) for start in found.domain], found.max_urls) == (["b.example"], 7)


def test_attribute_that_the_spider_sets_itself_counts() -> None:
    class Pages(SitemapSpider):
        name = "pages"

        def __init__(self, shop: str = "", **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.domain = f"{shop}.example"

    assert [str(start) for start in page_params(Pages(shop="lamps"), {"shop": "lamps"}).domain] == ["lamps.example"]


@pytest.mark.parametrize("name", sorted(ARGUMENTS.keys() - set(ACCEPTED)))
def test_argument_of_an_audit_is_refused(name: str) -> None:
    with pytest.raises(
        ArgumentError, match=f"argument {name}='x': is for an audit.*; accepted: domain, sitemap, probe"
    ):
        params({name: "x"}, domain="a.example")


def test_arguments_of_the_subclass_are_its_own(caplog: pytest.LogCaptureFixture) -> None:
    class Pages(SitemapSpider):
        name = "pages"
        domain = "a.example"
        sample: Any = None

        def __init__(self, urls: str = "", **kwargs: Any) -> None:
            super().__init__(**kwargs)

        def follow(self) -> None:
            """A method that has the name of an argument."""

    given = {"sample": "5", "urls": "x", "colour": "red"}
    assert page_params(Pages(**given), given).follow is None
    assert not caplog.records


def test_slip_is_told(caplog: pytest.LogCaptureFixture) -> None:
    params({"max_url": "5"}, domain="a.example")
    assert [record.getMessage() for record in caplog.records] == [
        "argument max_url is unknown and passed to the spider; did you mean max_urls?"
    ]


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "argument domain: neither domain nor sitemap is given"),
        ({"domain": "a.example", "since": "soon"}, "argument since='soon'"),
        ({"domain": "a.example", "max_urls": True}, "argument max_urls=True: is not a number"),
        ({"sitemap": "./no-such.xml"}, "argument sitemap='./no-such.xml': no such file"),
    ],
)
def test_bad_argument_is_one_line(attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        params(**attributes)
    assert str(raised.value).startswith(words)
    assert "\n" not in str(raised.value)


def test_log_tells_a_bad_argument_in_a_line_and_all_else_in_full() -> None:
    for error, expected in (
        (Refused("argument a='b': c"), "argument a='b': c"),
        (KeyError("x"), "m"),
    ):
        record = logging.LogRecord("asyncio", logging.ERROR, "", 1, "m", (), (type(error), error, None))
        assert in_one_line(record)
        assert record.getMessage() == expected
        assert bool(record.exc_info) == isinstance(error, KeyError)


# Callbacks


class Pages(SitemapSpider):
    name = "pages"
    domain = "a.example"


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("/shop/", "is not a list"), (["/shop/"], "is not a pair"), ([("/shop/",)], "is not a pair"),
        ([(1, "parse_page")], "is not a pair"), ([("(", "parse_page")], "is not a regular expression"),
        ([("/shop/", "parse_shop")], "names no method"), ([("/shop/", None)], "names no method"),
    ],
)  # fmt: skip
def test_invalid_rule_is_refused_in_a_line(rules: Any, problem: str) -> None:
    kind = type("Ruled", (SitemapSpider,), {"name": "ruled", "domain": "a.example", "rules": rules})
    with pytest.raises(Refused, match=f"^argument rules=.*: {problem}.*; accepted: a list of pairs"):
        get_crawler(kind)._create_spider()


def test_first_rule_that_matches_counts() -> None:
    spider = Pages()
    rules = PageRules(spider, [("/shop/new/", max), (re.compile("/SHOP/", re.IGNORECASE), "page_request")], print)
    assert rules.callback("https://a.example/shop/new/1") is max
    assert rules.callback("https://a.example/shop/1") == spider.page_request
    assert rules.callback("https://a.example/") is None
    assert PageRules(spider, (), print).callback("https://a.example/") is print


@pytest.mark.parametrize(
    ("callback", "takes", "needs"),
    cases(
        ([lambda response: None, type], False, False),
        ([lambda response, entry: None, lambda response, *, entry: None], True, True),
        ([lambda response, entry=None: None, lambda response, **kwargs: None], True, False),
    ),
)  # fmt: skip
def test_entry_is_for_callbacks_that_take_it(callback: Any, takes: bool, needs: bool) -> None:
    assert (takes_entry(callback), needs_entry(callback)) == (takes, needs)


def test_callback_that_needs_an_entry_gets_the_url_that_was_requested() -> None:
    request = Request("https://a.example/new", Pages().parse_page, meta={"redirect_urls": ["https://a.example/old"]})
    EntryMiddleware().process_spider_input(Response(request.url, request=request))
    assert request.cb_kwargs["entry"].loc == "https://a.example/old"
    listed = request.replace(cb_kwargs={"entry": UrlRecord("https://a.example/")})
    EntryMiddleware().process_spider_input(Response(listed.url, request=listed))
    assert listed.cb_kwargs["entry"].loc == "https://a.example/"


# The queue


@pytest.mark.parametrize("name", ["mixed.xml", "video-all-elements.xml", "news.xml", "rss-media.xml"])
def test_request_with_its_entry_outlives_the_process(name: str) -> None:
    spider = get_crawler(Pages)._create_spider()
    assert isinstance(spider, Pages)
    for entry in read_sitemap(DATA / name, select="none"):
        assert isinstance(entry, UrlRecord)
        request = Request(entry.loc, spider.parse_page, errback=spider._page_failed, cb_kwargs={"entry": entry})
        stored = pickle.dumps(request.to_dict(spider=spider), protocol=4)
        again = request_from_dict(pickle.loads(stored), spider=spider)
        assert (again.callback, again.errback, again.cb_kwargs) == (request.callback, request.errback, {"entry": entry})


def test_only_requests_that_go_back_to_the_queue_are_cancelled() -> None:
    spider: Any = get_crawler(Pages)._create_spider()
    page = Request("https://a.example/", spider.parse_page, errback=spider._page_failed)
    assert spider.may_cancel(page)
    assert spider.may_cancel(Request("https://a.example/s.xml", meta=Body().meta()))
    assert not spider.may_cancel(Request("https://a.example/", spider.parse_page))


class Scheduler:
    def __init__(self, waiting: int) -> None:
        self.waiting = waiting

    def __len__(self) -> int:
        return self.waiting


class Uncounted:
    """A scheduler that only says whether something waits."""

    def __init__(self, waiting: int) -> None:
        self.waiting = waiting

    def has_pending_requests(self) -> bool:
        return self.waiting > 0


@pytest.mark.parametrize(("kind", "left"), [(Scheduler, 5), (Uncounted, 0)])
def test_room_is_waited_for_until_half_of_it_is_free(kind: Any, left: int) -> None:
    async def taking() -> None:
        crawler: Any = get_crawler(Spider)
        scheduler = kind(0)
        crawler.engine = SimpleNamespace(_slot=SimpleNamespace(scheduler=scheduler))
        room = Room(crawler, 10)
        for _ in range(10):
            await room.wait()
        scheduler.waiting = 10
        waiting = asyncio.ensure_future(room.wait())
        await asyncio.sleep(0)
        for scheduler.waiting in (9, left + 1):
            crawler.signals.send_catch_log(signals.request_reached_downloader, request=None, spider=None)
            await asyncio.sleep(0)
            assert not waiting.done()
        scheduler.waiting = left
        crawler.signals.send_catch_log(signals.scheduler_empty)
        await waiting

    asyncio.run(taking())


def test_room_is_not_waited_for_when_the_crawl_ends() -> None:
    async def stopping_while_it_waits() -> None:
        crawler: Any = get_crawler(Spider)
        crawler.engine = SimpleNamespace(_slot=SimpleNamespace(scheduler=Scheduler(10)))
        waiting = asyncio.ensure_future(Room(crawler, 10).wait())
        await asyncio.sleep(0)
        crawler.signals.send_catch_log(stopping)
        await waiting

    asyncio.run(stopping_while_it_waits())


# Requests


def test_what_a_hook_says_when_it_fails_is_made_inert(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Pages):
        def wanted(self, entry: UrlRecord) -> bool:
            raise ValueError(entry.lastmod)

    spider: Any = get_crawler(Failing)._create_spider()
    caplog.clear()  # of what Scrapy logs at its start where a test before this one has lowered the level
    entry = UrlRecord("https://a.example/", lastmod="\x1b[2J\u202egood")
    assert list(PageRequests(spider, spider._page_failed).for_batch(UrlBatch("", [entry]))) == []
    [told] = caplog.records
    assert told.getMessage() == r"https://a.example/: no request was made: ValueError: \x1b[2J\u202egood"


# Handlers of others


def test_body_of_a_handler_that_tells_nothing_on_the_way_is_taken() -> None:
    request = Request("https://a.example/s.xml", meta=Body(limit=4).meta())
    answer = answers.from_response(Response(request.url, body=b"12345", request=request))
    assert (b"".join(answer.body.chunks()), answer.ok) == (b"1234", True)
    assert answer.error == "more than 4 bytes: the rest was not fetched"
    answer.body.close()
