"""Hostile answers on the wire, in each role that an answer may have, in one crawl."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from sitemapcrawler.crawl.site_discovery import MAX_MOVES
from tests.constants import constants
from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import CORE, index, robots, urlset
from tests.crawl.site_server import Answering, Exchange, Reply, _answer, moved
from tests.security.hostile_answers import CODINGS, FRAMES, HEADS, PAGES, ROBOTS
from tests.security.hosts import Hosts

pytestmark = pytest.mark.slow

GOOD = "https://pages.example/good"
PEAK_MB = 400
"""Dozens of pages at a time are read up to 2 MiB each."""
HOPS = 10
"""Redirects that are followed, in `settings.REDIRECT_MAX_TIMES`."""
SETTINGS = LOOPBACK | {
    "DOWNLOAD_TIMEOUT": 6,
    "RETRY_TIMES": 0,
    "SITEMAP_MAX_SITE_TIME": 40,
    "SITEMAP_MAX_HOST_ERRORS": 0,
    **constants({"middlewares.politeness.MAX_CRAWL_DELAY": 0.2, "middlewares.politeness.MAX_PAUSE": 0.2}),
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "LOG_LEVEL": "DEBUG",
}
WIRE = CODINGS | HEADS | FRAMES
READ = ("cookies", "surplus", "surplus-answer", "surplus-megabytes", "trailers")
"""Odd framing around a sitemap that is read whole. Twisted loses `two-answers` in one piece, and `transfer-gzip`."""
DELAYS = ("31536000", "-5", "9" * 400, "1e308", "nan", "Fri, 31 Dec 9999 23:59:59 GMT", "\u0661")
"""Retry-After of servers that want nobody to come again."""


def external(canary: str) -> dict[str, str]:
    """Documents that want something else to be read with them, from the web and from this machine."""
    documents = {}
    for name, place in {"web": f"{canary}/secret", "file": "file:///etc/passwd"}.items():
        doctype = f'<!DOCTYPE urlset SYSTEM "{place}" [<!ENTITY e SYSTEM "{place}"><!ENTITY % p SYSTEM "{place}"> %p;]>'
        style = f'<?xml-stylesheet href="{place}" type="text/xsl"?>'
        start = (
            f'{CORE} xmlns:xi="http://www.w3.org/2001/XInclude" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        )
        start += f'xsi:schemaLocation="http://www.sitemaps.org/schemas/sitemap/0.9 {place}"'
        include = f'<xi:include href="{place}" parse="text"/>'
        entry = f"<loc>{GOOD}</loc></{{0}}><{{0}}><loc>{canary}/?&e;</loc>"
        documents |= {
            f"urlset-{name}": f"{style}{doctype}<urlset {start}>{include}<url>{entry.format('url')}</url>"
            f"<url><loc>{include}</loc></url></urlset>",
            f"index-{name}": f"{style}{doctype}<sitemapindex {start}>{include}<sitemap><loc>{canary}/?&e;</loc></sitemap>"
            "</sitemapindex>",
            f"rss-{name}": f"{style}{doctype}<rss version='2.0' {start}><channel>{include}<item><link>{GOOD}</link>"
            "<title>&e;</title></item></channel></rss>",
            f"atom-{name}": f"{style}{doctype}<feed xmlns='http://www.w3.org/2005/Atom' xmlns:xi='http://www.w3.org/2001/"
            f"XInclude'>{include}<entry><link href='{GOOD}'/><title>&e;</title></entry></feed>",
        }
    return documents


def chain(hosts: Hosts) -> Answering:
    """A redirect to another host, which redirects to the next one, for ever."""

    def route(exchange: Exchange) -> None:
        _answer(exchange, moved(f"{hosts.new(robots=robots(), home=route, far=route)}/far"))

    return route


def moving(hosts: Hosts) -> Answering:
    """A home page that moves to another host, whose home page does the same, for ever."""

    def landing(exchange: Exchange) -> None:
        _answer(exchange, moved(hosts.new(robots=robots(), home=landing, landing="here") + "/landing"))

    return landing


class Met(NamedTuple):
    """A crawl that met all of it."""

    hosts: Hosts
    crawl: Crawl
    base: str
    canary: str
    quick: str


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Met]:
    with Hosts() as hosts:
        canary, far = hosts.new(), chain(hosts)
        files = WIRE | PAGES | {"far-file": far} | external(canary)
        pages = {f"page-{name}": way for name, way in (WIRE | PAGES).items()} | {"page-far": far}
        base = hosts.new(**files, **pages)
        files_named = [f"{base}/{name}" for name in (*files, "pages")]
        hosts.sites |= {
            (base[7:], "/robots.txt"): robots("/index"),
            (base[7:], "/index"): index(*files_named),
            (base[7:], "/pages"): urlset(*(f"{base}/{name}" for name in pages)),
        }
        quick = hosts.new(robots=robots("/files"), files=urlset("/page"))
        places = [hosts.new(robots=way) for way in (*ROBOTS.values(), *CODINGS.values(), PAGES["html-endless"], far)]
        places += [hosts.new(robots=robots(), home=way) for way in (*PAGES.values(), *CODINGS.values(), far)]
        places.append(hosts.new(robots=robots(), home=moving(hosts)))
        # On hosts of their own: each 503 slows its host down, to 30 s between requests, and the rest would wait.
        places += [
            hosts.new(robots=Reply("", 503, {"Retry-After": value.encode().decode("latin-1")})) for value in DELAYS
        ]
        folder = tmp_path_factory.mktemp("met")
        domain = ",".join([base, *places, quick])
        done = crawl(folder, domain=domain, verify="get", probe="never", settings=SETTINGS)
        yield Met(hosts, done, base, canary, quick)


def test_it_costs_little_and_no_other_site(met: Met) -> None:
    assert met.crawl.summary["peak_mb"] < PEAK_MB
    assert met.crawl.locs(f"{met.quick}/files") == [f"{met.quick}/page"]


@pytest.mark.parametrize("name", WIRE | PAGES)
def test_each_file_has_its_record(met: Met, name: str) -> None:
    record = met.crawl.sitemaps[f"{met.base}/{name}"]
    assert record["outcome"] == "ok" or record["error"]
    assert "Traceback" not in record.get("error", "")


@pytest.mark.parametrize("name", READ)
def test_whole_sitemap_in_odd_framing_is_read(met: Met, name: str) -> None:
    assert met.crawl.locs(f"{met.base}/{name}") == [GOOD]


@pytest.mark.parametrize("name", WIRE | PAGES)
def test_each_page_has_its_reply(met: Met, name: str) -> None:
    [reply] = [record["reply"] for record in met.crawl.of_type("url") if record["loc"] == f"{met.base}/page-{name}"]
    assert reply["kind"] in ("ok", "reset", "truncated", "timeout", "http-error")


def test_nothing_else_is_read_with_a_document(met: Met) -> None:
    assert met.hosts.asked(met.canary) == []
    written = (met.crawl.folder / "records.jsonl").read_text("utf-8") + met.crawl.log
    assert "root:" not in written
    for place in ("web", "file"):
        assert met.crawl.locs(f"{met.base}/urlset-{place}") == [GOOD], "the entries with an entity are left out"
        assert met.crawl.locs(f"{met.base}/atom-{place}") == [GOOD], "its address came before the entity"
        assert met.crawl.locs(f"{met.base}/rss-{place}") == [], "its title needs the entity, so the item is left out"


def test_redirects_from_host_to_host_end(met: Met) -> None:
    asked = sum(exchange.path == "/far" for exchange in met.hosts.exchanges)
    record = met.crawl.sitemaps[f"{met.base}/far-file"]
    assert (record["outcome"], record["url_count"]) == ("failed", 0)
    [reply] = [record["reply"] for record in met.crawl.of_type("url") if record["loc"] == f"{met.base}/page-far"]
    assert len(reply["redirects"]) <= HOPS + 1
    assert asked < 40 * HOPS
    assert sum(exchange.path == "/landing" for exchange in met.hosts.exchanges) == MAX_MOVES + 1
