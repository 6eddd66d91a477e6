"""Spiders of users that crawl the pages of sitemaps, in projects of their own."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.crawl import documents
from tests.crawl.crawling import DEADLINE_S
from tests.crawl.documents import index, packed
from tests.crawl.projects import FEED, QUICK, Done, crawl, finish, project, run, start
from tests.crawl.site_server import Reply, SiteServer, moved, once

SPIDERS = """
    from scrapy import Request

    from sitemapcrawler import SitemapRecord, SitemapSpider, UrlRecord
    from sitemapcrawler.reader import Document
    from tests.constants import constants


    class Shop(SitemapSpider):
        name = "shop"
        custom_settings = {"EXTENSIONS": {"scrapy.extensions.telnet.TelnetConsole": None}}

        def wanted(self, entry: UrlRecord) -> bool:
            if "/broken-hook" in entry.loc:
                raise KeyError("hook")
            return "/unwanted" not in entry.loc

        def page_request(self, entry: UrlRecord) -> Request:
            return Request(entry.loc, headers={"X-Priority": str(entry.priority)})

        def parse_page(self, response, entry: UrlRecord):
            yield {
                "url": response.url, "entry": entry.loc, "lastmod": entry.lastmod_at.isoformat(), "type": type(response).__name__,
                "size": len(response.body), "title": response.css("title::text").get(), "saw": response.meta["saw"],
            }
            for link in response.css("a"):
                yield response.follow(link, self.parse_linked)

        def parse_linked(self, response):
            yield {"linked": response.url}

        def page_failed(self, failure, entry):
            yield {"failed": entry.loc, "why": type(failure.value).__name__}

        def sitemap_read(self, record: SitemapRecord):
            yield {"sitemap": record.sitemap, "outcome": record.outcome}


    class Plain(SitemapSpider):
        name = "plain"

        def parse_page(self, response, entry):
            return {"url": response.url}


    class Watching(Plain):
        name = "watching"
        custom_settings = {**constants({"pages.spider.PAGES_WAITING": 50}), "DOWNLOADER_MIDDLEWARES": {"shop.middlewares.Soon": 10}}
        most = 0

        async def parse_page(self, response, entry):
            self.most = max(self.most, len(self.crawler.engine._slot.scheduler))
            return {"most": self.most}


    class Full(Plain):
        name = "full"

        async def start(self):
            def read(self, chunks):
                raise MemoryError

            Document.read = read
            async for request in super().start():
                yield request
"""
MIDDLEWARES = """
    import asyncio

    from scrapy.http import HtmlResponse


    class Seeing:
        def process_request(self, request):
            request.meta["saw"] = True


    class Soon:
        def __init__(self, crawler):
            self.crawler = crawler

        @classmethod
        def from_crawler(cls, crawler):
            return cls(crawler)

        async def process_request(self, request):
            if "/page/" in request.url:
                for _ in range(3000 if int(request.url.rpartition("/")[2]) < 8 else 3):
                    if len(self.crawler.engine._slot.scheduler) >= 40:  # until the first answer, requests pile up
                        break
                    await asyncio.sleep(0.01)
                return HtmlResponse(request.url, body=b"<p>")
"""
PIPELINES = """
    class Counting:
        def process_item(self, item):
            assert type(item) is dict, type(item)
            return {**item, "counted": True}
"""
SETTINGS = """
    BOT_NAME = "shop"
    SPIDER_MODULES = ["shop.spiders"]
    ROBOTSTXT_OBEY = True
    DOWNLOADER_MIDDLEWARES = {"shop.middlewares.Seeing": 543}
    ITEM_PIPELINES = {"shop.pipelines.Counting": 300}
"""
PAGE = "<!doctype html><title>{}</title><p>Words"
HTML = {"Content-Type": "text/html; charset=utf-8"}


def page(title: str, **headers: str) -> Reply:
    return Reply(PAGE.format(title), headers={**HTML, **headers})


def urlset(*locs: str) -> bytes:
    """A sitemap of pages of one date."""
    return documents.urlset(*locs).replace(b"</loc>", b"</loc><lastmod>2025-03-01</lastmod>")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a user's project."""
    folder = tmp_path_factory.mktemp("shop")
    return project(folder, SPIDERS, middlewares=MIDDLEWARES, pipelines=PIPELINES)


@pytest.fixture(scope="module")
def wired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a middleware and a pipeline of the user's, and settings that are few."""
    folder = tmp_path_factory.mktemp("wired")
    return project(folder, SPIDERS, middlewares=MIDDLEWARES, pipelines=PIPELINES, settings=SETTINGS)


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    """A site with all that can happen to a page."""
    server = SiteServer()
    home = server.url()
    names = ("1", "2", "large", "gzip", "missing", "moved", "busy", "private/secret", "unwanted", "broken-hook")
    paths = [f"/{name}" for name in names]
    more = ["/2", "/3", "/broken-hook/2"]
    strange = ["file:///etc/passwd", "mailto:a@example.com", f"http://127.0.0.2:{server.server_address[1]}/inside"]
    server.routes = {
        "/robots.txt": f"User-agent: *\nDisallow: /private/\nSitemap: {home}/index.xml\n",
        "/index.xml": index(f"{home}/a.xml", f"{home}/b.xml.gz", f"{home}/none.xml"),
        "/a.xml": urlset(*(home + path for path in paths)),
        "/b.xml.gz": packed(urlset(*(home + path for path in more), *strange)),
        "/1": page("one"),
        "/2": Reply(PAGE.format("two") + "<a href='/linked'>x</a>", headers=HTML),
        "/3": page("three"),
        "/linked": page("linked"),
        "/target": page("target"),
        "/large": Reply(PAGE.format("large") + "x" * 3_000_000, headers=HTML),
        "/gzip": Reply(packed(PAGE.format("packed").encode()), headers={**HTML, "Content-Encoding": "gzip"}),
        "/moved": moved(f"{home}/target"),
        "/busy": once(Reply("", 429, {"Retry-After": "1"}), page("busy")),
    }
    with server:
        yield server


@pytest.fixture(scope="module")
def done(wired: Path, site: SiteServer) -> Done:
    return crawl(wired, "shop", "-a", f"domain={site.url()}", tracebacks=1)


def test_pages_are_crawled_once_with_their_entries(done: Done, site: SiteServer) -> None:
    pages = {item["url"].removeprefix(site.url()): item for item in done.items if "entry" in item}
    assert pages.keys() == {"/1", "/2", "/3", "/large", "/gzip", "/target", "/busy"}
    assert len(done.values("entry")) == len(pages)
    assert pages["/target"]["entry"] == site.url("/moved")
    assert {item["lastmod"] for item in pages.values()} == {"2025-03-01T00:00:00+00:00"}
    assert Counter(site.paths)["/2"] == 1


def test_responses_are_ordinary_ones(done: Done, site: SiteServer) -> None:
    pages = {item["url"].removeprefix(site.url()): item for item in done.items if "entry" in item}
    assert {item["type"] for item in pages.values()} == {"HtmlResponse"}
    assert {item["title"] for item in pages.values()} == {"one", "two", "three", "large", "packed", "target", "busy"}
    assert pages["/large"]["size"] == len(PAGE.format("large")) + 3_000_000
    assert done.values("linked") == [site.url("/linked")]


def test_failures_go_to_the_hook(done: Done, site: SiteServer) -> None:
    failed = {item["failed"]: item["why"] for item in done.items if "failed" in item}
    inside = f"http://127.0.0.2:{site.server_address[1]}/inside"
    assert failed == {site.url("/missing"): "HttpError", site.url("/private/secret"): "Forbidden", inside: "Unanswered"}
    assert "/private/secret" not in site.paths


def test_hooks_choose_and_change_requests(done: Done, site: SiteServer) -> None:
    assert "/unwanted" not in site.paths
    assert site.exchange("/1").headers["x-priority"] == "None"
    assert done.log.count("no request was made: KeyError: 'hook'") == 2  # the traceback of the first alone is told


def test_pipelines_see_what_the_spider_yields_and_nothing_else(done: Done, site: SiteServer) -> None:
    assert all(item["counted"] for item in done.items)
    outcomes = {item["sitemap"].removeprefix(site.url()): item["outcome"] for item in done.items if "outcome" in item}
    assert outcomes == {"/index.xml": "ok", "/a.xml": "ok", "/b.xml.gz": "ok", "/none.xml": "failed"}
    assert all(done.values("saw"))


def test_crawl_is_polite(done: Done, site: SiteServer) -> None:
    assert [exchange.path for exchange in site.exchanges].count("/robots.txt") == 1
    first, second = (exchange.at for exchange in site.exchanges if exchange.path == "/busy")
    assert second - first >= 1


def test_crawl_ends_well(done: Done) -> None:
    assert done.code == 0
    assert "'finish_reason': 'finished'" in done.log
    assert "'sitemap/skipped/wanted': 1" in done.log
    assert "'sitemap/skipped/not-web': 2" in done.log


def test_robots_txt_may_be_named_as_a_sitemap(shop: Path) -> None:
    with SiteServer() as server:
        home = server.url()
        server.routes = {
            "/robots.txt": "User-agent: *\nSitemap: /s.xml\n",
            "/s.xml": urlset(f"{home}/1"),
            "/1": page("one"),
        }
        done = crawl(shop, "plain", "-a", f"sitemap={home}/robots.txt")
    assert (done.code, done.values("url")) == (0, [f"{home}/1"])


def test_crawl_ends_when_memory_runs_out(shop: Path) -> None:
    with SiteServer() as server:
        home = server.url()
        server.routes = {"/s.xml": urlset(f"{home}/1")}
        done = crawl(shop, "full", "-a", f"sitemap={home}/s.xml")
    assert f"{home}/s.xml: out of memory, and the crawl ends" in done.log
    assert "'finish_reason': 'memory'" in done.log


def test_reading_waits_while_requests_wait(shop: Path) -> None:
    pages = 600
    with SiteServer() as server:
        server.routes = {"/s.xml": urlset(*(f"{server.url()}/page/{number}" for number in range(pages)))}
        done = crawl(shop, "watching", "-a", f"sitemap={server.url()}/s.xml")
    assert f"'item_scraped_count': {pages}" in done.log
    assert 25 <= max(done.values("most")) <= 50


RULED = """
    from sitemapcrawler import SitemapSpider


    class Ruled(SitemapSpider):
        name = "ruled"
        sitemap = "HOME/s.xml"
        rules = [("/shop/new/", "parse_new"), ("/shop/", "parse_shop"), ("/own/", "parse_shop")]

        def page_request(self, entry):
            request = super().page_request(entry)
            return request.replace(callback=self.parse_own) if "/own/" in entry.loc else request

        def page_failed(self, failure, entry):
            yield {"failed": entry.loc}

        def parse_new(self, response):
            yield {"new": response.url}

        def parse_shop(self, response, entry):
            '''Parse a page of the shop.

            @url HOME/shop/1
            @returns items 1 1
            @scrapes shop lastmod
            '''
            yield {"shop": entry.loc, "lastmod": entry.lastmod}

        async def parse_own(self, response, *, entry=None):
            yield {"own": entry.loc}
"""


@pytest.fixture(scope="module")
def ruled(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A project whose spider has rules, and its site."""
    folder = shutil.copytree(shop, tmp_path_factory.mktemp("ruled") / "project")
    with SiteServer() as server:
        home = server.url()
        paths = ["/shop/1", "/shop/new/1", "/own/1", "/other/1", "/own/missing", "/shop/new/missing"]
        server.routes = {path: page("page") for path in paths[:4]}
        server.routes["/s.xml"] = urlset(*(home + path for path in paths))
        spider = dedent(RULED).replace("HOME", home)
        (folder / "shop/spiders/ruled.py").write_text(spider)
        yield folder, home


def test_rules_and_requests_choose_the_callback(ruled: tuple[Path, str]) -> None:
    folder, home = ruled
    done = crawl(folder, "ruled")
    assert sorted(done.items, key=str) == [
        {"failed": f"{home}/own/missing"},
        {"failed": f"{home}/shop/new/missing"},
        {"new": f"{home}/shop/new/1"},
        {"own": f"{home}/own/1"},
        {"shop": f"{home}/shop/1", "lastmod": "2025-03-01"},
    ]
    assert "'sitemap/skipped/rules': 1" in done.log


def test_contracts_and_parse_give_the_url_as_entry(ruled: tuple[Path, str]) -> None:
    folder, home = ruled
    checked = run(folder, "-m", "scrapy", "check", "ruled")
    assert (checked.code, checked.log.splitlines()[-1]) == (0, "OK")
    for options in ((), ("-c", "parse_shop")):
        with start(folder, "-m", "scrapy", "parse", "--spider", "ruled", *options, f"{home}/shop/1") as running:
            output, _ = running.process.communicate(timeout=DEADLINE_S)
        assert f"'shop': '{home}/shop/1'" in output


def test_second_run_of_a_job_says_that_nothing_is_new(shop: Path, tmp_path: Path) -> None:
    with SiteServer() as server:
        home, paths = server.url(), ["/a", "/b", "/c"]
        server.otherwise = page("page")
        options = ("-a", f"sitemap={home}/s.xml", "-s", f"JOBDIR={tmp_path / 'job'}")
        lines = []
        for listed in (paths[:2], paths[:2], paths):
            server.routes = {"/s.xml": urlset(*(home + path for path in listed))}
            lines += [line for line in crawl(shop, "plain", *options).log.splitlines() if "to crawl" in line]
    assert [line.partition("] INFO: ")[2] for line in lines] == [
        "1 sitemap, 2 pages to crawl",
        "1 sitemap, 0 pages to crawl, 2 pages already in the job",
        "1 sitemap, 1 page to crawl, 2 pages already in the job",
    ]


@pytest.mark.slow
def test_stopped_crawl_goes_on_and_asks_for_no_page_twice(shop: Path, tmp_path: Path) -> None:
    paths = [f"/page/{number}" for number in range(24)]
    with SiteServer() as server:
        home = server.url()
        server.routes = {path: page(path) for path in paths} | {
            paths[6]: moved(home + paths[0]),
            "/robots.txt": f"User-agent: *\nCrawl-delay: 0.1\nSitemap: {home}/a.xml\nSitemap: {home}/b.xml\n",
            "/a.xml": urlset(*(home + path for path in paths[:16])),
            "/b.xml": urlset(*(home + path for path in paths[12:])),
        }
        (shop / FEED).unlink(missing_ok=True)
        command = ["-m", "scrapy", "crawl", "plain", *QUICK, "-a", f"domain={home}", "-s", f"JOBDIR={tmp_path / 'job'}"]
        with start(shop, *command, "-o", FEED) as running:
            server.wait_for(paths[2])
            signalled = running.seconds
            running.process.send_signal(signal.SIGTERM)
            before = finish(running)
        asked = len(server.exchanges)
        assert running.seconds - signalled < 10
        assert 0 < len(before.items) < len(paths)
        assert "'finish_reason': 'shutdown'" in before.log
        after = run(shop, *command, "-o", FEED)
        pages = sorted(home + path for path in paths if path != paths[6])
        assert sorted(item["url"] for item in after.items) == pages
        assert Counter(server.paths).keys() >= set(paths)
        assert max(Counter(path for path in server.paths if path in paths).values()) == 1
        assert asked < len(server.exchanges)
        assert len(run(shop, *command, "-o", FEED).items) == len(pages), "again, of a crawl that is finished"
        assert max(Counter(path for path in server.paths if path in paths).values()) == 1


def test_limit_counts_a_page_that_is_listed_twice_once(shop: Path) -> None:
    with SiteServer() as server:
        home, paths = server.url(), ["/page/1", "/page/1", "/page/2", "/page/3", "/page/4"]
        server.otherwise = page("page")
        server.routes = {"/s.xml": urlset(*(home + path for path in paths))}
        done = crawl(shop, "plain", "-a", f"sitemap={home}/s.xml", "-a", "max_urls=3")
        assert "max_urls is reached" in done.log
        assert sorted(path for path in server.paths if path in paths) == ["/page/1", "/page/2", "/page/3"]


KINDS = """
    import json

    from scrapy.crawler import CrawlerProcess

    from sitemapcrawler import SitemapSpider


    class Kind(SitemapSpider):
        sitemap = ["./one.txt"]
        max_urls = 1
        custom_settings = {"SITEMAP_ALLOW_NETWORKS": ["127.0.0.0/8"]}

        def page_failed(self, failure, entry):
            yield {"failed": entry.loc}


    class Generator(Kind):
        name = "generator"

        def parse_page(self, response, entry):
            yield {"kind": self.name}


    class AsyncGenerator(Kind):
        name = "async generator"

        async def parse_page(self, response, entry):
            yield {"kind": self.name}


    class Coroutine(Kind):
        name = "coroutine"

        async def parse_page(self, response, entry):
            return [{"kind": self.name}]


    class Value(Kind):
        name = "value"
        handle_httpstatus_list = [404]

        def parse_page(self, response, entry):
            return {"kind": f"{self.name} {response.status}"}

        def page_request(self, entry):
            return super().page_request(entry).replace(url=f"{entry.loc}/missing")


    class Failing(Kind):
        name = "failing"

        def page_request(self, entry):
            return super().page_request(entry).replace(url=f"{entry.loc}/missing")


    class Forbidden(Failing):
        name = "forbidden"

        def page_request(self, entry):
            return super().page_request(entry).replace(url=f"{entry.loc}/private/x")


    process = CrawlerProcess({"FEEDS": {"items.jsonl": {"format": "jsonlines"}}, "LOG_LEVEL": "INFO"})
    for spider in (Generator, AsyncGenerator, Coroutine, Value, Failing, Forbidden):
        process.crawl(spider)
    process.start()
"""


def test_script_without_a_project_and_every_kind_of_callback(tmp_path: Path) -> None:
    (tmp_path / "kinds.py").write_text(dedent(KINDS))
    with SiteServer() as server:
        server.routes = {"/p": page("p"), "/robots.txt": "User-agent: *\nDisallow: /p/private/"}
        (tmp_path / "one.txt").write_text(f"{server.url()}/p\n{server.url()}/q\n")
        done = run(tmp_path, "-W", "error", "kinds.py")
    assert sorted(done.values("kind")) == ["async generator", "coroutine", "generator", "value 404"]
    assert done.values("failed") == [f"{server.url()}/p"] * 2
    assert "/q" not in server.paths
    assert "/p/private/x" not in server.paths


ALONE = """
    from sitemapcrawler import SitemapSpider


    class Alone(SitemapSpider):
        name = "alone"

        def parse_page(self, response, entry):
            return {"url": response.url}
"""


def test_spider_runs_with_the_settings_of_this_project(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text(dedent(ALONE))
    with SiteServer() as server:
        server.routes = {"/s.xml": urlset(f"{server.url()}/1", f"{server.url()}/2"), "/1": page("one")}
        command = ["-m", "sitemapcrawler.cli", "runspider", "alone.py", "-s", "AUTOTHROTTLE_ENABLED=0", "-O", FEED]
        done = run(tmp_path, *command, "-a", f"sitemap={server.url()}/s.xml")
    assert done.code == 0
    assert done.values("url") == [server.url("/1")]
    assert "HTTP status code is not handled" in done.log  # as in every crawl of Scrapy
