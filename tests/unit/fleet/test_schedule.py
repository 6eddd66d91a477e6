"""Whose turn it is: never two of a site, few of an address, nobody forgotten, and no look at all that wait."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, active_count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sitemapcrawler.fleet.control import schedule
from sitemapcrawler.fleet.control.schedule import RESOLVE_S, Resolver, Schedule, addresses_of
from sitemapcrawler.fleet.domains import Domain, domain

PER_ADDRESS = 2


def some(number: int, site: str | None = None) -> Domain:
    return Domain(f"{number}.example", f"{number}.example", site or f"{number}.example", 0, str(number))


def drained(queue: Schedule) -> list[str]:
    """All that can run at once."""
    return [found.name for found in iter(queue.next, None)]


def test_domains_of_a_site_one_after_the_other() -> None:
    queue = Schedule(4)
    spellings = [domain(text) for text in ("e.com", "https://e.com", "www.e.com", "e.com:8080")]
    for each in spellings:
        queue.add(each, [f"192.0.2.{len(each.name)}"])
    for each in spellings:
        assert queue.next() == each
        assert queue.next() is None
        queue.done(each)
    assert (queue.waiting, queue.running) == (0, 0)


@pytest.mark.parametrize("per_address", [0, 3])
def test_without_a_limit_or_an_address_the_site_alone_counts(per_address: int) -> None:
    queue = Schedule(per_address)
    for number in range(10):
        queue.add(some(number), [] if per_address else ["192.0.2.1"])
    queue.add(some(10, "3.example"), [])
    assert len(drained(queue)) == 10
    queue.done(some(3))
    assert drained(queue) == ["10.example"]


def test_domain_may_come_again() -> None:
    queue = Schedule(4)
    queue.add(some(1), ["192.0.2.1"])
    assert queue.next() == some(1)
    queue.done(some(1))
    queue.add(some(1), ["192.0.2.1"])
    assert queue.next() == some(1)


def test_done_of_what_does_not_run() -> None:
    queue = Schedule(4)
    queue.add(some(1), [])
    with pytest.raises(KeyError, match=r"1\.example"):
        queue.done(some(1))
    queue.next()
    with pytest.raises(KeyError, match=r"2\.example"):
        queue.done(some(2, "1.example"))
    assert queue.running == 1


def test_nothing_is_kept_of_what_is_done() -> None:
    queue = Schedule(PER_ADDRESS)
    for number in range(40):
        queue.add(some(number, f"{number % 7}"), [f"192.0.2.{number % 3}", f"192.0.2.{number % 5}"])
    running: list[Domain] = []
    while queue.waiting or queue.running:
        running += iter(queue.next, None)
        queue.done(running.pop(0))
    held = [value for name, value in vars(queue).items() if name.startswith("_") and hasattr(value, "__len__")]
    assert [len(value) for value in held] == [0] * len(held)


@pytest.mark.parametrize("shared", [["192.0.2.1"], ["192.0.2.1", "192.0.2.2"]], ids=["one", "two"])
def test_those_blocked_are_not_looked_at_again_and_again(shared: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Counter[str]()
    full = Schedule._full

    def counted(queue: Schedule, addresses: tuple[str, ...]) -> object:
        looks["all"] += 1
        return full(queue, addresses)

    monkeypatch.setattr(Schedule, "_full", counted)
    queue, count = Schedule(4), 2000
    for number in range(count):
        queue.add(some(number), [*shared, f"198.51.100.{number}"])
    running: list[Domain] = []
    while queue.waiting or queue.running:
        running += iter(queue.next, None)
        queue.done(running.pop())
    assert looks["all"] < 4 * count


class Modelled(RuleBasedStateMachine):
    """Few sites and addresses, so that much is blocked; the model looks at everything."""

    in_order = True
    """Whether domains of the same site and addresses must run in the order they came."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = Schedule(PER_ADDRESS)
        self.waiting: dict[Domain, frozenset[str]] = {}
        self.running: dict[Domain, frozenset[str]] = {}
        self.count = 0

    def free(self, found: Domain, addresses: frozenset[str]) -> bool:
        used = Counter(address for each in self.running.values() for address in each)
        return all(used[address] < PER_ADDRESS for address in addresses) and not any(
            each.site == found.site for each in self.running
        )

    @rule(site=st.sampled_from("abcdef"), addresses=st.frozensets(st.sampled_from("1234"), max_size=3))
    def add(self, site: str, addresses: frozenset[str]) -> None:
        self.count += 1
        found = some(self.count, site)
        self.waiting[found] = addresses
        self.queue.add(found, addresses)

    @rule()
    def start(self) -> None:
        found = self.queue.next()
        if found is None:
            assert not any(self.free(each, addresses) for each, addresses in self.waiting.items())
        else:
            addresses = self.waiting.pop(found)
            assert self.free(found, addresses)
            same = [each for each, others in self.waiting.items() if (each.site, others) == (found.site, addresses)]
            assert not self.in_order or all(int(found.file) < int(each.file) for each in same)
            self.running[found] = addresses

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        found = data.draw(st.sampled_from(sorted(self.running, key=lambda each: each.name)))
        del self.running[found]
        self.queue.done(found)

    @invariant()
    def counts(self) -> None:
        assert (self.queue.waiting, self.queue.running) == (len(self.waiting), len(self.running))


TestModelled = Modelled.TestCase
TestModelled.settings = settings(max_examples=60, stateful_step_count=60)


class ModelledInHaste(Modelled):
    """The same where a call of `next` may look at few: then None can be wrong, but never where nothing runs."""

    in_order = False
    limits = pytest.MonkeyPatch()

    def __init__(self) -> None:
        super().__init__()
        self.limits.setattr(schedule, "MAX_LOOKS", 2)
        self.limits.setattr(schedule, "MAX_WOKEN", 1)

    def teardown(self) -> None:
        self.limits.undo()

    def free(self, found: Domain, addresses: frozenset[str]) -> bool:
        return super().free(found, addresses) and (found not in self.waiting or not self.running)


TestModelledInHaste = ModelledInHaste.TestCase
TestModelledInHaste.settings = settings(max_examples=50, stateful_step_count=60)


DEADLINE_S = 60.0


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
    monkeypatch.setattr(schedule, "MAX_STUCK", 3)
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
