"""Where the guard sits: between the endpoint, which resolves names, and the reactor, which connects."""

from __future__ import annotations

import asyncio
import atexit
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Spider
from scrapy.core.downloader.handlers.http11 import _ScrapyAgent
from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils.reactor import install_reactor, is_reactor_installed
from scrapy.utils.test import get_crawler
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import HTTP11ClientProtocol
from twisted.web._newclient import Request as TwistedRequest
from twisted.web.client import URI
from twisted.web.http_headers import Headers
from twisted.web.iweb import UNKNOWN_LENGTH

from sitemapcrawler.download import connections
from sitemapcrawler.download.addresses import AddressForbidden
from sitemapcrawler.download.connections import (
    MAX_HEAD,
    MAX_IDLE,
    BoundedPool,
    GuardedAgent,
    HeadTooLong,
    host_and_port,
    limited,
    max_idle,
)
from sitemapcrawler.download.handlers import GuardedDownloadHandler
from sitemapcrawler.download.shared import Named
from sitemapcrawler.replies.kinds import cause_of
from sitemapcrawler.urls import Authority


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    """Install the reactor of a crawl: the order of the tests must not decide whether there is one."""
    if not is_reactor_installed():
        install_reactor(TWISTED_REACTOR)
        atexit.register(asyncio.get_event_loop().close)  # nobody runs the reactor, which would close it


def test_authority_that_the_spider_names_later_is_allowed() -> None:
    crawler = get_crawler(settings_dict={"TWISTED_REACTOR_ENABLED": True})  # 2.18 asks for it
    crawler.spider = Spider("a")
    named = Named.of(crawler).authorities
    handler = GuardedDownloadHandler(crawler)
    with pytest.raises(AddressForbidden):
        handler._check("A.test.", 80, "10.0.0.1")
    named.add(Authority("a.test", 80))
    handler._check("A.test.", 80, "10.0.0.1")


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://a.test/", ("a.test", 80)),
        ("https://a.test/", ("a.test", 443)),
        ("http://[::1]:8080/", ("::1", 8080)),
        ("http://a.test:80@10.0.0.1/", ("a.test:80@10.0.0.1", 80)),
    ],
)
def test_host_is_read_as_twisted_reads_it(url: str, authority: tuple[str, int]) -> None:
    assert host_and_port(url) == authority


def test_certificates_are_asked_for_without_the_root_dot() -> None:
    crawler = get_crawler(settings_dict={"TWISTED_REACTOR_ENABLED": True})  # 2.18 asks for it
    crawler.spider = Spider("a")
    asked: list[tuple[bytes, int]] = []

    class Contexts:
        def creatorForNetloc(self, host: bytes, port: int) -> None:  # noqa: N802 - Twisted's name
            asked.append((host, port))

    agent: Any = GuardedDownloadHandler(crawler)._agent(strict=False)
    agent._contextFactory, agent._attempt_timeout, agent._bind = Contexts(), 10, None
    uri: Any = URI
    agent._endpoint(uri.fromBytes(b"https://e.com./a"))
    assert asked == [(b"e.com", 443)]


OK, END = b"HTTP/1.1 200 OK\r\n", b"\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: " + b"x" * 100_000 + 2 * END
CHUNK = 60_000
"""Bytes that arrive at once."""


class Exchanged:
    """A request on a connection to a server, and the answer to it."""

    def __init__(self, *sent: bytes) -> None:
        self.transport = StringTransport()
        self._protocol = limited(HTTP11ClientProtocol(lambda _: None))
        self._protocol.makeConnection(self.transport)
        for data in sent:
            self.answer: Deferred[Any] = self._request()
            for at in range(0, len(data), CHUNK):
                self._protocol.dataReceived(data[at : at + CHUNK])

    def _request(self) -> Deferred[Any]:
        wanted = TwistedRequest(b"GET", b"/", Headers({b"Host": [b"example.com"]}), None, persistent=True)
        answer: Deferred[Any] = self._protocol.request(wanted)
        return answer

    @property
    def failure(self) -> BaseException:
        """Why there is no answer, which ends the connection."""
        failed: list[Failure] = []
        self.answer.addErrback(failed.append)
        assert self.transport.disconnected
        return cause_of(failed[0].value)

    @property
    def response(self) -> Any:
        answers: list[Any] = []
        self.answer.addCallback(answers.append)
        assert not self.transport.disconnected
        return answers[0]


def head(length: int, *lines: bytes) -> bytes:
    """The head of an answer without content, so many bytes long, with one long header."""
    around = b"".join([OK, *(line + END for line in lines), b"Content-Length: 0\r\nX: ", 2 * END])
    return around[: -2 * len(END)] + b"x" * (length - len(around)) + 2 * END


@pytest.mark.parametrize("name", ["Set-Cookie", "Link"])
def test_long_header_is_read(name: str) -> None:
    value = b"x" * 200_000
    response = Exchanged(OK + b"%b: %b\r\nContent-Length: 0\r\n\r\n" % (name.encode(), value)).response
    assert response.headers.getRawHeaders(name) == [value.decode()]


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"nonsense" + END + b" and its continuation",
        b" folded",
        b": nameless",
        b"X Y: blank in the name",
        b"\xff: x",
        b"{}",
    ],
)
def test_line_that_is_no_header_is_skipped(line: bytes) -> None:
    response = Exchanged(
        OK + line + END + b"ETag: x" + END + line.strip() + END + b"Content-Length: 0\r\n\r\n"
    ).response
    assert [*response.headers.getAllRawHeaders()] == [(b"ETag", [b"x"])]


@pytest.mark.parametrize("written", [b"Link: <a>;\r\n rel=canonical", b"Link \t: <a>; rel=canonical"])
def test_header_in_an_old_form_is_read(written: bytes) -> None:
    response = Exchanged(OK + written + END + b"Content-Length: 0\r\n\r\n").response
    assert response.headers.getRawHeaders("Link") == ["<a>; rel=canonical"]


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([head(MAX_HEAD)], id="line"),
        pytest.param([head(MAX_HEAD, *[b"A: b"] * 30_000)], id="lines"),
        pytest.param([head(MAX_HEAD).replace(END, b"\n")], id="line-feeds"),
        pytest.param([OK + b"Content-Length: 900000\r\n\r\n" + b"x" * 900_000, head(MAX_HEAD)], id="behind-a-body"),
        pytest.param([head(MAX_HEAD)] * 3, id="each-of-several"),
        pytest.param([INTERIM + head(MAX_HEAD - len(INTERIM))], id="interim"),
    ],
)
def test_head_of_the_limit_is_read(answers: list[bytes]) -> None:
    assert Exchanged(*answers).response.code == 200


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(head(MAX_HEAD + 2), id="line"),
        pytest.param(head(MAX_HEAD + 2, *[b"A: b"] * 30_000), id="lines"),
        pytest.param(OK + b"A: b\r\n" * MAX_HEAD, id="endless-lines"),
        pytest.param(OK + b"A: " + b"x" * (MAX_HEAD + CHUNK), id="endless-line"),
        pytest.param(b"HTTP/1.1 200 " + b"x" * (MAX_HEAD + CHUNK), id="endless-status"),
        pytest.param(3 * INTERIM, id="interim"),
    ],
)
def test_longer_head_ends_the_connection_and_says_so(sent: bytes) -> None:
    failure = Exchanged(sent).failure
    assert isinstance(failure, HeadTooLong)
    assert str(failure) == "more than 262,144 bytes of response headers"


class Connection:
    """As far as a pool knows one."""

    state = "QUIESCENT"

    def __init__(self) -> None:
        self.transport = self
        self.lost = False

    def loseConnection(self) -> None:  # noqa: N802 - Twisted's name
        self.lost = True


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> BoundedPool:
    monkeypatch.setattr(connections, "max_idle", lambda: 3)
    return BoundedPool(Clock())


def given_back(pool: BoundedPool, *hosts: str) -> list[Connection]:
    connections = [Connection() for _ in hosts]
    for host, connection in zip(hosts, connections, strict=True):
        pool._putConnection(host, connection)
    return connections


def test_connection_that_has_waited_longest_goes(pool: BoundedPool) -> None:
    connections = given_back(pool, *"abcde")
    assert [connection.lost for connection in connections] == [True, True, False, False, False]
    assert pool.idle == 3
    assert list(pool._connections) == ["c", "d", "e"]


def test_connection_in_use_does_not_count(pool: BoundedPool) -> None:
    first, *_ = given_back(pool, *"abc")
    endpoint: Any = None
    pool.getConnection("a", endpoint)
    [last] = given_back(pool, "d")
    assert not first.lost
    assert pool.idle == 3
    pool._putConnection("a", first)
    assert not first.lost
    assert not last.lost
    assert pool.idle == 3


def test_connections_time_out_as_before(pool: BoundedPool) -> None:
    connections = given_back(pool, *"aab")
    clock: Any = pool._reactor
    clock.advance(pool.cachedConnectionTimeout + 1)
    assert all(connection.lost for connection in connections)
    assert (pool.idle, pool._connections) == (0, {})


def test_pool_like_another(pool: BoundedPool) -> None:
    pool.maxPersistentPerHost = 7
    other = BoundedPool.like(pool)
    assert other.maxPersistentPerHost == 7
    assert other.persistent
    assert other._factory is pool._factory
    assert other._reactor is pool._reactor


@pytest.mark.parametrize(("soft", "most"), [(4, 1), (256, 32), (1024, 128), (1_000_000, MAX_IDLE), (-1, MAX_IDLE)])
def test_share_of_the_descriptors(monkeypatch: pytest.MonkeyPatch, soft: int, most: int) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft if soft >= 0 else resource.RLIM_INFINITY, soft))
    assert max_idle() == most


def test_without_such_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert max_idle() == MAX_IDLE


def test_headers_are_those_of_scrapy() -> None:
    received = {b"etag": [b'"1"'], b"x-ROBOTS-tag": [b"noindex", b"nofollow"], b"www-authenticate": [b"Basic"]}
    for length in (0, 12, UNKNOWN_LENGTH):
        ours, theirs = (SimpleNamespace(headers=Headers(received), length=length) for _ in range(2))
        headers = GuardedAgent._headers_from_twisted_response(ours)
        assert list(headers.items()) == list(_ScrapyAgent._headers_from_twisted_response(theirs).items())
        assert GuardedAgent._headers_from_twisted_response(ours) is headers
