"""Addresses of hosts, found ahead. No name is looked up here but localhost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, active_count

import pytest

from sitemapcrawler.fleet.control import resolving
from sitemapcrawler.fleet.control.domains import domain
from sitemapcrawler.fleet.control.resolving import RESOLVE_S, Resolver, addresses_of

DEADLINE_S = 20.0


def gathered(resolver: Resolver, count: int) -> dict[str, frozenset[str]]:
    """What has been resolved, as soon as it is so much."""
    found: dict[str, frozenset[str]] = {}
    end = time.monotonic() + DEADLINE_S
    while len(found) < count and time.monotonic() < end:
        found |= {each.name: addresses for each, addresses in resolver.ready()}
    return found


@contextmanager
def resolving_with(resolve: Callable[[str], list[str]], **options: object) -> Iterator[Resolver]:
    resolver = Resolver(resolve, **options)  # type: ignore[arg-type]  # options of several types
    try:
        yield resolver
    finally:
        resolver.close()


def unasked(host: str) -> list[str]:
    raise AssertionError(host)


def test_hosts_are_looked_up_with_all_their_addresses() -> None:
    with resolving_with(lambda host: [f"192.0.2.{len(host)}", "2001:db8::1"], threads=2) as resolver:
        names = ["a.example", "bb.example:8080", "https://ccc.example"]
        for name in names:
            resolver.submit(domain(name))
        assert resolver.pending == 3
        assert gathered(resolver, 3) == {
            name: frozenset({f"192.0.2.{size}", "2001:db8::1"}) for name, size in zip(names, (9, 10, 11), strict=True)
        }
        assert resolver.pending == 0
        assert resolver.ready() == []


@pytest.mark.parametrize(
    ("name", "address"), [("127.0.0.1:81", "127.0.0.1"), ("[2001:DB8:0::1]:81", "2001:db8::1"), ("http://[::1]", "::1")]
)
def test_literal_address_is_its_own_at_once(name: str, address: str) -> None:
    resolver = Resolver(unasked)
    resolver.submit(domain(name))
    assert resolver.pending == 1
    assert resolver.ready() == [(domain(name), frozenset({address}))]
    assert resolver.pending == 0


@pytest.mark.parametrize("error", [OSError("no such host"), UnicodeError("label too long"), RuntimeError("odd")])
def test_host_that_cannot_be_found_has_no_addresses(error: Exception) -> None:
    def failing(host: str) -> list[str]:
        if host == "bad.example":
            raise error
        return ["192.0.2.1"]

    with resolving_with(failing, threads=1) as resolver:
        for name in ("bad.example", "good.example"):
            resolver.submit(domain(name))
        assert gathered(resolver, 2) == {"bad.example": frozenset(), "good.example": frozenset({"192.0.2.1"})}


def test_hosts_that_never_answer_hold_up_nobody() -> None:
    now, asked, released = [0.0], list[str](), Event()

    def hanging(host: str) -> list[str]:
        asked.append(host)
        if host.startswith("slow"):
            assert released.wait(DEADLINE_S)
        return ["192.0.2.1"]

    with resolving_with(hanging, threads=2, clock=lambda: now[0]) as resolver:
        for name in ("slow-1.example", "slow-2.example", "good.example"):
            resolver.submit(domain(name))
        until(lambda: len(asked) == 2)
        now[0] = RESOLVE_S
        assert resolver.ready() == []
        now[0] += 1
        found = gathered(resolver, 3)
        released.set()
        assert found == {
            "slow-1.example": frozenset(),
            "slow-2.example": frozenset(),
            "good.example": frozenset({"192.0.2.1"}),
        }
        # Their answers come too late, and count for nothing; as many threads go on as before.
        until(lambda: resolver._threads == 2)
        resolver.submit(domain("next.example"))
        assert list(gathered(resolver, 1)) == ["next.example"]
        assert resolver.pending == 0


def test_threads_are_bounded_though_all_hosts_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolving, "MAX_STUCK", 3)
    now, released = [0.0], Event()

    def hanging(host: str) -> list[str]:
        assert released.wait(DEADLINE_S)
        return [host]

    before = active_count()
    with resolving_with(hanging, threads=2, clock=lambda: now[0]) as resolver:
        for number in range(20):
            resolver.submit(domain(f"{number}.example"))
        found = 0
        while found < 5:
            now[0] += RESOLVE_S + 1
            found += len(resolver.ready())
            assert active_count() - before <= 5
        assert resolver.ready() == []
        released.set()
        assert len(gathered(resolver, 15)) == 15


def test_nothing_is_looked_up_after_the_end() -> None:
    asked, released = list[str](), Event()

    def hanging(host: str) -> list[str]:
        asked.append(host)
        assert released.wait(DEADLINE_S)
        return []

    resolver = Resolver(hanging, threads=1)
    for number in range(3):
        resolver.submit(domain(f"{number}.example"))
    until(lambda: len(asked) == 1)
    resolver.close()
    released.set()
    assert list(gathered(resolver, 1)) == ["0.example"]
    assert asked == ["0.example"]


def test_localhost_is_this_machine() -> None:
    assert addresses_of("localhost") & {"127.0.0.1", "::1"}


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
