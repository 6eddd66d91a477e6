"""Host names to addresses: both families, Scrapy's settings for names, and users' own resolvers."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from scrapy.settings import Settings
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from sitemapcrawler.download.resolver import DualStackResolver, GuardedResolver, Lookup, is_chosen

FOUND: dict[str, list[tuple[Any, ...]]] = {
    "both.test": [(socket.AF_INET6, 1, 6, "", ("2001:db8::1", 0, 0, 0)), (socket.AF_INET, 1, 6, "", ("192.0.2.1", 0))],
    "six.test": [(socket.AF_INET6, 1, 6, "", ("2001:db8::2", 0, 0, 0))],
    "odd.test": [(socket.AF_UNIX, 1, 6, "", ("/x",)), (socket.AF_INET, 1, 6, "", ("192.0.2.3", 0))],
}


class Threads(Clock):
    """A reactor with one thread, which works when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Callable[[], None]] = []

    def getThreadPool(self) -> Threads:  # noqa: N802 - Twisted's name
        return self

    def callInThreadWithCallback(self, done: Any, work: Any, *given: Any) -> None:  # noqa: N802 - Twisted's name
        def run() -> None:
            try:
                done(True, work(*given))
            except (OSError, UnicodeError):
                done(False, Failure())  # type: ignore[no-untyped-call]  # Twisted has no types for it

        self.waiting.append(run)

    def callFromThread(self, work: Any, *given: Any) -> None:  # noqa: N802 - Twisted's name
        work(*given)

    def work(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


class Receiver:
    """Hears of a resolution."""

    def __init__(self) -> None:
        self.addresses: list[Any] = []
        self.began = self.completed = 0

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 - Twisted's name
        self.began += 1
        resolution.cancel()  # which does nothing

    def addressResolved(self, address: Any) -> None:  # noqa: N802 - Twisted's name
        self.addresses.append(address)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        self.completed += 1


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that the system was asked for."""
    names: list[str] = []

    def getaddrinfo(host: str, port: int, type: int) -> list[tuple[Any, ...]]:
        names.append(host)
        if host == "long.test":
            raise UnicodeError("label too long")
        if host not in FOUND:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return FOUND[host]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return names


def resolver(reactor: Threads, **settings: Any) -> DualStackResolver:
    return DualStackResolver(reactor, Settings(settings))


def resolved(made: Any, reactor: Threads, name: str, port: int = 80) -> list[Any]:
    receiver = Receiver()
    made.resolveHostName(receiver, name, port)
    reactor.work()
    assert (receiver.began, receiver.completed) == (1, 1)
    return receiver.addresses


def test_addresses_of_both_families_come_in_the_order_of_the_system(asked: list[str]) -> None:
    reactor = Threads()
    assert resolved(resolver(reactor), reactor, "both.test", 8080) == [
        IPv6Address("TCP", "2001:db8::1", 8080),
        IPv4Address("TCP", "192.0.2.1", 8080),
    ]


@pytest.mark.parametrize("name", ["unknown.test", "long.test"])
def test_name_that_cannot_be_resolved_has_no_addresses(asked: list[str], name: str) -> None:
    reactor = Threads()
    assert resolved(resolver(reactor), reactor, name) == []


def test_family_that_cannot_be_connected_to_is_left_out(asked: list[str]) -> None:
    reactor = Threads()
    assert resolved(resolver(reactor), reactor, "odd.test") == [IPv4Address("TCP", "192.0.2.3", 80)]


def test_names_are_cached_for_every_port_and_failures_are_not(asked: list[str]) -> None:
    reactor = Threads()
    made = resolver(reactor)
    assert resolved(made, reactor, "six.test", 80) == [IPv6Address("TCP", "2001:db8::2", 80)]
    assert resolved(made, reactor, "six.test", 443) == [IPv6Address("TCP", "2001:db8::2", 443)]
    for _ in range(2):
        resolved(made, reactor, "unknown.test")
    assert asked == ["six.test", "unknown.test", "unknown.test"]


@pytest.mark.parametrize("settings", [{"DNSCACHE_ENABLED": False}, {"DNSCACHE_SIZE": 0}])
def test_cache_can_be_switched_off(asked: list[str], settings: dict[str, Any]) -> None:
    reactor = Threads()
    made = resolver(reactor, **settings)
    for _ in range(2):
        resolved(made, reactor, "six.test")
    assert asked == ["six.test", "six.test"]


def test_cache_is_as_large_as_the_setting_says(asked: list[str]) -> None:
    reactor = Threads()
    made = resolver(reactor, DNSCACHE_SIZE=1)
    for name in ("six.test", "both.test", "six.test", "six.test"):
        resolved(made, reactor, name)
    assert asked == ["six.test", "both.test", "six.test"]


def test_name_that_takes_too_long_has_no_addresses(asked: list[str]) -> None:
    reactor, receiver = Threads(), Receiver()
    resolver(reactor, DNS_TIMEOUT=5).resolveHostName(receiver, "six.test", 80)
    reactor.advance(4.9)
    assert receiver.completed == 0
    reactor.advance(0.1)
    assert (receiver.addresses, receiver.completed) == ([], 1)
    reactor.work()  # what comes later is nobody's
    assert (receiver.addresses, receiver.completed) == ([], 1)


def test_only_chosen_addresses_are_told_and_all_are_known_before(asked: list[str]) -> None:
    reactor, given = Threads(), []
    guarded = GuardedResolver(resolver(reactor))

    def choose(addresses: Any) -> list[str]:
        given.append(list(addresses))
        return ["192.0.2.1"]

    with guarded.serving(Lookup(choose)):
        assert resolved(guarded, reactor, "both.test") == [IPv4Address("TCP", "192.0.2.1", 80)]
    assert given == [["2001:db8::1", "192.0.2.1"]]
    assert len(resolved(guarded, reactor, "both.test")) == 2


def test_crawl_uses_its_own_resolver_and_others_that_of_the_process(asked: list[str]) -> None:
    reactor, process = Threads(), Threads()
    guarded = GuardedResolver(resolver(process))
    with guarded.serving(Lookup(list, resolver(reactor))):
        resolved(guarded, reactor, "six.test")
    assert (asked, process.waiting) == (["six.test"], [])
    guarded.resolveHostName(Receiver(), "odd.test")
    assert len(process.waiting) == 1


def test_default_resolver_is_not_chosen() -> None:
    assert not is_chosen(Settings())


@pytest.mark.parametrize("name", ["TWISTED_DNS_RESOLVER", "DNS_RESOLVER"])
def test_resolver_that_the_user_names_is_chosen(name: str) -> None:
    assert is_chosen(Settings({name: "scrapy.resolver.CachingThreadedResolver"}))
