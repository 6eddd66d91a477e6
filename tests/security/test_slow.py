"""Servers that are slow on purpose: each answer may take DOWNLOAD_TIMEOUT in all, however steadily its bytes come."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import URLSET_START, entry, robots, urlset
from tests.crawl.site_server import Exchange, Route
from tests.security.hosts import Hosts

pytestmark = pytest.mark.slow

TIMEOUT_S = 3
BITE_S = 0.3
"""Seconds between two parts of an answer."""
PATIENCE_S = 60
"""Seconds for which a server goes on at most."""
QUICK = 20
"""Sitemaps of a host that answers at once."""
MANY = 40
"""Sitemaps that a slow host names."""
GOOD = "https://pages.example/good"
SETTINGS = LOOPBACK | {
    "DOWNLOAD_TIMEOUT": TIMEOUT_S,
    "RETRY_TIMES": 0,
    "SITEMAP_MAX_SITE_TIME": 9,
    "SITEMAP_MAX_HOST_ERRORS": 0,
    "LOG_LEVEL": "DEBUG",
}


def slowly(start: bytes, piece: bytes) -> Route:
    """The start at once, then a piece at a time for ever."""

    def route(exchange: Exchange) -> None:
        exchange.closed = True
        exchange.send(start)
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            exchange.send(piece)
            time.sleep(BITE_S)  # this is the attack

    return route


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PART = f"{URLSET_START}{entry(GOOD)}".encode()
WAYS: dict[str, Route] = {
    "silent": Exchange.wait_until_client_goes,
    "head": slowly(HEAD, b"A"),
    "lines": slowly(HEAD, b"A: b\r\n"),
    "continue": slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": slowly(HEAD + b"Content-Length: 100000\r\n\r\n" + PART, b" "),
    "chunks": slowly(HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(PART), PART), b"1\r\n \r\n"),
    "just-in-time": slowly(HEAD + b"\r\n" + PART, b"<!-- -->"),
}


class Slow(NamedTuple):
    """A crawl of slow hosts and a quick one."""

    hosts: Hosts
    crawl: Crawl
    robots: dict[str, str]
    homes: dict[str, str]
    files: str
    quick: str


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slow]:
    with ExitStack() as stack:
        hosts = stack.enter_context(Hosts())
        deaf = stack.enter_context(socket.create_server(("127.9.0.1", 0), backlog=0))
        for _ in range(2):  # those that the system takes; all others are never connected
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(deaf.getsockname())
        mute = stack.enter_context(socket.create_server(("127.9.0.2", 0), backlog=128))
        robots_of = {name: hosts.new(robots=way) for name, way in WAYS.items()}
        homes = {name: hosts.new(robots=robots(), home=way) for name, way in WAYS.items()}
        quick = hosts.new()
        hosts.sites[quick[7:], "/robots.txt"] = robots(*(f"/{at}.xml" for at in range(QUICK)))
        for at in range(QUICK):
            hosts.sites[quick[7:], f"/{at}.xml"] = urlset(f"{quick}/{at}")
        files = hosts.new(robots=robots(*(f"/{name}" for name in WAYS), *(f"/more-{at}" for at in range(MANY))))
        for name in [*WAYS, *(f"more-{at}" for at in range(MANY))]:
            hosts.sites[files[7:], f"/{name}"] = WAYS.get(name, WAYS["silent"])
        pages = hosts.new(robots=robots("/pages"), **{f"page-{name}": way for name, way in WAYS.items()})
        hosts.sites[pages[7:], "/pages"] = urlset(*(f"{pages}/page-{name}" for name in WAYS))
        silent = "{}:{}".format(*mute.getsockname()), "{}:{}".format(*deaf.getsockname())
        places = [files, *robots_of.values(), *homes.values(), *(f"https://{place}" for place in silent), pages, quick]
        folder = tmp_path_factory.mktemp("slow")
        done = crawl(folder, domain=",".join(places), verify="get", settings=SETTINGS)
        yield Slow(hosts, done, robots_of, homes, files, quick)


@pytest.mark.parametrize("name", WAYS)
def test_answer_has_its_time_in_all_and_what_came_is_kept(slow: Slow, name: str) -> None:
    record = slow.crawl.sitemaps[f"{slow.files}/{name}"]
    kept = name in ("body", "chunks", "just-in-time")
    assert (record["outcome"], record["url_count"]) == (("truncated", 1) if kept else ("failed", 0))
    assert record["error"] == "no answer in time"


@pytest.mark.parametrize("name", WAYS)
def test_page_is_a_timeout(slow: Slow, name: str) -> None:
    [reply] = [record["reply"] for record in slow.crawl.of_type("url") if record["loc"].endswith(f"/page-{name}")]
    assert (reply["kind"], reply["attempts"]) == ("timeout", 1)


@pytest.mark.parametrize("name", WAYS)
def test_robots_file_that_does_not_come_forbids_and_a_home_page_is_given_up(slow: Slow, name: str) -> None:
    assert slow.hosts.asked(slow.robots[name]) == ["/robots.txt"]
    assert slow.hosts.asked(slow.homes[name]).count("/") == 1


def test_slow_hosts_take_no_time_of_others(slow: Slow) -> None:
    [index] = [at for at, exchange in enumerate(slow.hosts.exchanges) if exchange.path == "/19.xml"]
    first = slow.hosts.exchanges[0].at
    assert len([record for record in slow.crawl.sitemaps if record.startswith(slow.quick)]) == QUICK
    assert slow.hosts.exchanges[index].at - first < 4 * TIMEOUT_S


def test_slow_site_is_left_alone_in_time(slow: Slow) -> None:
    assert (slow.crawl.code, slow.crawl.summary["partial"]) == (3, "max_site_time")
    assert 0 < slow.crawl.summary["skipped"]["max_site_time"] <= MANY
    assert slow.crawl.summary["peak_mb"] < 300
