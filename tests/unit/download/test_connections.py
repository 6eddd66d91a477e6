"""Connections of Scrapy's handler: bound to their downloads, checked where they look up a host, closed when idle."""

from __future__ import annotations

import asyncio
import atexit
import sys
from collections.abc import Iterator, Sequence
from contextvars import Context
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils.reactor import install_reactor, is_reactor_installed
from scrapy.utils.test import get_crawler
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import IReactorPluggableNameResolver
from twisted.internet.protocol import Factory
from twisted.internet.task import Clock
from zope.interface import implementer  # type: ignore[import-untyped] # ships no types

from sitemapcrawler.download import connections
from sitemapcrawler.download.addresses import AddressCheck, AddressForbidden
from sitemapcrawler.download.connections import (
    MAX_IDLE,
    STARTED,
    CheckedEndpoint,
    Download,
    GuardedPool,
    LazyPolicy,
    host_and_port,
    max_idle,
)
from sitemapcrawler.download.handlers import GuardedDownloadHandler
from sitemapcrawler.download.resolver import GuardedResolver, Lookup
from sitemapcrawler.download.shared import Named
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


def test_certificates_are_asked_for_without_the_root_dot_and_when_a_connection_is_made() -> None:
    asked: list[object] = []

    class Policy:
        def creatorForNetloc(self, host: bytes, port: int) -> Any:  # noqa: N802 - Twisted's name
            asked.append((host, port))
            return self

        def clientConnectionForTLS(self, protocol: object) -> object:  # noqa: N802 - Twisted's name
            return "connection"

    creator = LazyPolicy(Policy()).creatorForNetloc(b"e.com.", 443)
    assert asked == []
    assert creator.clientConnectionForTLS(None) == "connection"
    assert asked == [(b"e.com", 443)]


# ---- checks where a connection is made


@implementer(IReactorPluggableNameResolver)
class Reactor(Clock):
    """A reactor whose names all resolve to one address, and which connects to none."""

    def __init__(self, address: str = "10.0.0.1") -> None:
        super().__init__()
        self.nameResolver: Any = self
        self.address = address
        self.connected: list[tuple[str, int]] = []

    def installNameResolver(self, resolver: Any) -> None:  # noqa: N802 - Twisted's name
        self.nameResolver = resolver

    def resolveHostName(self, receiver: Any, name: str, portNumber: int = 0) -> None:  # noqa: N802, N803 - Twisted's names
        receiver.resolutionBegan(None)
        receiver.addressResolved(IPv4Address("TCP", self.address, portNumber))
        receiver.resolutionComplete()

    def connectTCP(self, host: str, port: int, factory: Any, **options: Any) -> None:  # noqa: N802 - Twisted's name
        self.connected.append((host, port))


@pytest.fixture
def reactor(monkeypatch: pytest.MonkeyPatch) -> Reactor:
    made = Reactor()
    monkeypatch.setattr(connections, "installed_reactor", lambda: made)
    return made


class Resolving:
    """Endpoint that looks its host up and connects to nothing."""

    def __init__(self, reactor: Reactor) -> None:
        self.reactor = reactor
        self.found: list[str] = []
        self.connecting: Deferred[Any] = Deferred()

    def connect(self, factory: object) -> Deferred[Any]:
        self.reactor.nameResolver.resolveHostName(self, "a.test", 80)
        return self.connecting

    def resolutionBegan(self, resolution: object) -> None: ...  # noqa: N802 - Twisted's name

    def addressResolved(self, address: Any) -> None:  # noqa: N802 - Twisted's name
        self.found.append(address.host)

    def resolutionComplete(self) -> None: ...  # noqa: N802 - Twisted's name


class Unresolving:
    """Endpoint that would look its host up later."""

    def __init__(self) -> None:
        self.cancelled = False
        self.connecting: Deferred[Any] = Deferred(lambda _: setattr(self, "cancelled", True))

    def connect(self, factory: object) -> Deferred[Any]:
        return self.connecting


@pytest.fixture
def download(reactor: Reactor) -> Iterator[Download]:
    """A download from http://a.test/, which nobody named."""
    crawler = get_crawler()
    request = Request("http://a.test/")
    made = Download(request, crawler, AddressCheck(crawler), None)
    token = STARTED.set([made])
    yield made
    STARTED.reset(token)


KEY = (b"http", b"a.test", 80)


def test_pool_makes_no_connection_without_a_download(reactor: Reactor) -> None:
    with pytest.raises(LookupError):
        GuardedPool().getConnection(KEY, Resolving(reactor))


def test_pool_makes_one_connection_for_a_download(reactor: Reactor, download: Download) -> None:
    pool = GuardedPool()
    pool.getConnection(KEY, Resolving(reactor))
    with pytest.raises(LookupError):
        pool.getConnection(KEY, Resolving(reactor))


def test_lookup_of_a_download_finds_only_allowed_addresses(reactor: Reactor, download: Download) -> None:
    endpoint = Resolving(reactor)
    GuardedPool().getConnection(KEY, endpoint)
    assert endpoint.found == []
    assert "a.test:80 is at 10.0.0.1, which is not public" in str(download.refusal)


def test_lookups_of_others_in_the_process_are_passed_on(reactor: Reactor, download: Download) -> None:
    GuardedPool().getConnection(KEY, Resolving(reactor))
    theirs = Resolving(reactor)
    theirs.connect(None)
    assert theirs.found == ["10.0.0.1"]


def test_connection_that_replaces_a_kept_one_is_checked_without_its_download(
    reactor: Reactor, download: Download
) -> None:
    """Twisted connects again, later, if the server has closed a kept connection meanwhile."""
    endpoint = Resolving(reactor)
    later = CheckedEndpoint(endpoint, download, KEY, GuardedPool())
    Context().run(later.connect, None)
    assert endpoint.found == []
    assert download.refusal is not None


def test_endpoint_that_looks_up_its_host_later_is_refused(reactor: Reactor, download: Download) -> None:
    endpoint, failures = Unresolving(), []
    GuardedPool().getConnection(KEY, endpoint).addErrback(lambda failure: failures.append(failure.type))
    assert failures == [AddressForbidden]
    assert endpoint.cancelled


@pytest.mark.parametrize(
    "host", [b"10.0.0.1", b"0x0a.1", b"167772161", b"::ffff:10.0.0.1", b"fe80::1%eth0", b"10.0.0.1."]
)
def test_address_in_a_url_is_refused_before_a_connection_is_sought(
    reactor: Reactor, download: Download, host: bytes
) -> None:
    with pytest.raises(AddressForbidden):
        GuardedPool().getConnection((b"http", host, 80), Resolving(reactor))


@pytest.mark.parametrize("host", ["a.test", "192.0.2.9", "2001:db8::9", "bücher.example"])
def test_endpoints_of_twisted_resolve_names_and_literals_at_once_and_connect_to_what_they_get(
    reactor: Reactor, host: str
) -> None:
    reactor.address = "192.0.2.1"
    chosen: list[Sequence[str]] = []

    def choose(addresses: Sequence[str]) -> Sequence[str]:
        chosen.append(addresses)
        return addresses

    lookup = Lookup(choose)
    with GuardedResolver.of(reactor).serving(lookup):
        HostnameEndpoint(reactor, host, 80).connect(Factory())  # type: ignore[no-untyped-call]  # Twisted has no types
    assert lookup.began
    assert chosen == [["192.0.2.1"]]
    assert reactor.connected == [("192.0.2.1", 80)]


def test_resolver_that_is_installed_later_is_guarded_too(reactor: Reactor) -> None:
    GuardedResolver.of(reactor)
    reactor.installNameResolver(reactor)
    guarded = GuardedResolver.of(reactor)
    assert reactor.nameResolver is guarded
    assert GuardedResolver.of(reactor) is guarded


# ---- idle connections


class Connection:
    """As far as a pool knows one."""

    state = "QUIESCENT"

    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> Deferred[None]:
        self.aborted = True
        return Deferred()


class Connecting:
    """Endpoint that connects at once, by way of a resolver."""

    def __init__(self, reactor: Reactor, connection: Connection) -> None:
        self.resolving = Resolving(reactor)
        self.connection = connection

    def connect(self, factory: object) -> Deferred[Any]:
        self.resolving.connect(factory).callback(self.connection)
        return self.resolving.connecting


def test_idle_connections_are_closed_when_there_may_be_too_many(
    reactor: Reactor, download: Download, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "max_idle", lambda: 3)
    pool, made = GuardedPool(), [Connection() for _ in range(5)]
    for number, connection in enumerate(made):
        key = (b"http", b"%d.test" % number, 80)
        STARTED.set([download])
        pool.getConnection(key, Connecting(reactor, connection))
        if number != 1:  # which is in use all the time
            pool._putConnection(key, connection)  # type: ignore[no-untyped-call]  # as Twisted does after a response
    assert [connection.aborted for connection in made] == [True, False, True, False, False]


@pytest.mark.parametrize(("soft", "most"), [(4, 1), (256, 32), (1024, 128), (1_000_000, MAX_IDLE), (-1, MAX_IDLE)])
def test_share_of_the_descriptors(monkeypatch: pytest.MonkeyPatch, soft: int, most: int) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft if soft >= 0 else resource.RLIM_INFINITY, soft))
    assert max_idle() == most


def test_without_such_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert max_idle() == MAX_IDLE
