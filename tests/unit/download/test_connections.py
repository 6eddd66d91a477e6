"""Where the guard sits: between the endpoint, which resolves names, and the reactor, which connects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred, succeed
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.protocol import Factory
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.web.client import URI

from sitemapcrawler.download.addresses import AddressGuard
from sitemapcrawler.download.connections import GuardedReactor, Turnstile, host_and_port
from sitemapcrawler.download.handlers import GuardedHTTP11DownloadHandler
from sitemapcrawler.download.refusals import AddressRefused


class Recorder(Clock):
    """Stands in for the reactor: knows what a name resolves to, and notes the connections asked for."""

    def __init__(self, *addresses: str) -> None:
        super().__init__()
        self.addresses = addresses
        self.connected: list[tuple[str, int]] = []

    @property
    def nameResolver(self) -> Recorder:  # noqa: N802 - Twisted's name
        return self

    def resolveHostName(self, receiver: Any, name: str, portNumber: int) -> None:  # noqa: N802, N803 - Twisted's names
        for address in self.addresses:
            receiver.addressResolved(IPv4Address("TCP", address, portNumber))
        receiver.resolutionComplete()

    def connectTCP(self, host: str, port: int, *_: Any, **__: Any) -> None:  # noqa: N802 - Twisted's name
        self.connected.append((host, port))


def guarded(reactor: Recorder, *named: tuple[str, int]) -> GuardedReactor:
    guard = AddressGuard(named)

    def check(host: str, port: int, address: str) -> None:
        if not guard.allows(host, port, address):
            raise AddressRefused(address)

    return GuardedReactor(reactor, "a.test", check)


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1",
        "169.254.169.254",
        "192.168.1.1",
        "172.16.0.1",
        "100.64.0.1",
        "0.0.0.0",
        "fd00::1",
        "fe80::1%eth0",
        "::ffff:10.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "2002:a00:1::1",
        "metadata.test",
        "10.1",
        "0xa.1",
        "167772161",
    ],
)
def test_private_address_is_not_connected_to(address: str) -> None:
    reactor = Recorder()
    with pytest.raises(AddressRefused):
        guarded(reactor).connectTCP(address, 80, Factory())
    assert reactor.connected == []


def test_public_address_is_connected_to() -> None:
    reactor = Recorder()
    guarded(reactor).connectTCP("93.184.216.34", 80, Factory(), timeout=30, bindAddress=None)
    assert reactor.connected == [("93.184.216.34", 80)]


def test_named_authority_is_connected_to_at_a_private_address() -> None:
    reactor = Recorder()
    guarded(reactor, ("a.test", 80)).connectTCP("10.0.0.1", 80, Factory())
    assert reactor.connected == [("10.0.0.1", 80)]


def connect(reactor: Recorder) -> Deferred[Any]:
    endpoint = HostnameEndpoint(guarded(reactor), "a.test", 80, attemptDelay=1)
    return endpoint.connect(Factory())


def test_name_with_private_addresses_only_fails_as_refused() -> None:
    reactor = Recorder("10.0.0.1", "192.168.0.1")
    failures: list[Failure] = []
    connect(reactor).addErrback(failures.append)
    reactor.pump([1, 1])
    assert [failure.type for failure in failures] == [AddressRefused]
    assert reactor.connected == []


def test_name_with_a_public_address_too_is_connected_to_there() -> None:
    reactor = Recorder("10.0.0.1", "93.184.216.34")
    outcomes: list[Any] = []
    connect(reactor).addBoth(outcomes.append)
    reactor.pump([1, 1])
    assert reactor.connected == [("93.184.216.34", 80)]
    assert outcomes == []


def test_authority_that_the_spider_names_later_is_allowed() -> None:
    crawler = get_crawler()
    crawler.spider = Spider("a")
    crawler.spider.named_authorities = named = {("b.test", 80)}
    handler = GuardedHTTP11DownloadHandler(crawler)
    with pytest.raises(AddressRefused):
        handler._check("A.test.", 80, "10.0.0.1")
    named.add(("a.test", 80))
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


# ---- what a request passes just before it is sent


class Held(Exception):
    pass


class Pool:
    """Stands in for Twisted's pool: gives the connections that it was made with, and knows those given back."""

    persistent = True

    def __init__(self, *connections: Any) -> None:
        self.connections = list(connections)
        self.kept: list[Any] = []

    def getConnection(self, key: Any, endpoint: Any) -> Deferred[Any]:  # noqa: N802 - Twisted's name
        return succeed(self.connections.pop(0))

    def _putConnection(self, key: Any, connection: Any) -> None:  # noqa: N802 - Twisted's name
        self.kept.append(connection)


def retrying(connection: object, again: object) -> Any:
    """A connection that was kept, as Twisted gives it: what fails on it is sent again on another one."""
    return SimpleNamespace(_clientProtocol=connection, _newConnection=lambda: succeed(again))


@pytest.mark.parametrize("connection", ["new", retrying("kept", "new")])
def test_connection_of_a_request_that_is_held_back_is_kept(connection: Any) -> None:
    def hold() -> None:
        raise Held

    pool, failures = Pool(connection), []
    Turnstile(pool, hold).getConnection("key", None).addErrback(lambda failure: failures.append(failure.type))
    assert failures == [Held]
    assert pool.kept == [getattr(connection, "_clientProtocol", connection)]


def test_request_that_twisted_sends_again_is_asked_about_too() -> None:
    asked: list[str] = []
    turnstile = Turnstile(Pool(retrying("kept", "new")), lambda: asked.append("may it?"))
    assert turnstile.persistent
    [connection] = results_of(turnstile.getConnection("key", None))
    assert asked == ["may it?"]
    assert results_of(connection._newConnection()) == ["new"]
    assert asked == ["may it?"] * 2


def results_of(deferred: Deferred[Any]) -> list[Any]:
    found: list[Any] = []
    deferred.addCallback(found.append)
    return found


def test_certificates_are_asked_for_without_the_root_dot() -> None:
    crawler = get_crawler(settings_dict={"TWISTED_REACTOR_ENABLED": True})  # 2.18 asks for it
    crawler.spider = Spider("a")
    asked: list[tuple[bytes, int]] = []

    class Contexts:
        def creatorForNetloc(self, host: bytes, port: int) -> None:  # noqa: N802 - Twisted's name
            asked.append((host, port))

    agent: Any = GuardedHTTP11DownloadHandler(crawler)._agent(strict=False)
    agent._contextFactory, agent._attempt_timeout, agent._bind = Contexts(), 10, None
    uri: Any = URI
    agent._endpoint(uri.fromBytes(b"https://e.com./a"))
    assert asked == [(b"e.com", 443)]
