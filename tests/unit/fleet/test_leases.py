"""Who may ask a host: one crawl at a time, in turn, and never while the host rests."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sitemapcrawler.fleet import leases
from sitemapcrawler.fleet.leases import LEASE_S, LOST_S, MAX_WAIT_S, NEXT_WAIT_S, PLACE_S, REST_S, Control, Leases

CDN = "cdn.example"
TERM = 10.0


@pytest.fixture
def held() -> Leases:
    """`a` has the host since 0.0."""
    table = Leases(TERM)
    assert table.ask(CDN, "a", 0.0) == 0.0
    return table


def test_one_holder_at_a_time(held: Leases) -> None:
    assert held.holds(CDN, "a", 1.0)
    assert held.ask(CDN, "b", 1.0) == NEXT_WAIT_S
    assert held.ask(CDN, "c", 1.0) == MAX_WAIT_S
    assert not held.holds(CDN, "b", 1.0)
    assert held.ask("other.example", "b", 1.0) == 0.0


def test_holder_that_asks_again_keeps_it(held: Leases) -> None:
    held.ask(CDN, "b", 8.0)
    assert held.ask(CDN, "a", 9.0) == 0.0
    assert held.holds(CDN, "a", 18.9)


def test_host_given_back_rests_first(held: Leases) -> None:
    held.free(CDN, "a", 2.0, 5.0)
    assert held.ask(CDN, "b", 5.0) == MAX_WAIT_S
    assert held.ask(CDN, "b", 6.75) == 0.25
    assert held.ask(CDN, "b", 7.0) == 0.0


def test_those_who_wait_get_it_in_turn(held: Leases) -> None:
    for holder in "bcd":
        held.ask(CDN, holder, 1.0)
    held.free(CDN, "a", 0.0, 1.5)
    assert held.ask(CDN, "d", 1.5) == MAX_WAIT_S
    assert held.ask(CDN, "a", 1.5) == MAX_WAIT_S
    assert held.ask(CDN, "b", 1.5) == 0.0


def test_one_that_asks_no_more_loses_its_place(held: Leases) -> None:
    held.ask(CDN, "b", 1.0)
    held.ask(CDN, "c", 2.0)
    held.free(CDN, "a", 0.0, 2.0)
    assert held.ask(CDN, "c", 1.0 + PLACE_S) == 0.0


def test_place_that_was_lost_is_not_given_back(held: Leases) -> None:
    held.ask(CDN, "b", 1.0)
    held.ask(CDN, "c", 1.0)
    held.ask(CDN, "b", 2.5)
    held.ask(CDN, "d", 2.5)
    held.ask(CDN, "c", 3.5)
    held.free(CDN, "a", 0.0, 3.5)
    held.ask(CDN, "b", 3.5)
    held.free(CDN, "b", 0.0, 3.5)
    assert held.ask(CDN, "c", 3.5) == MAX_WAIT_S
    assert held.ask(CDN, "d", 3.5) == 0.0


def test_renewal_tells_what_others_wait_for(held: Leases) -> None:
    held.ask("other.example", "a", 1.0)
    held.ask(CDN, "b", 8.0)
    assert held.renew("a", 9.0) == {CDN}
    assert held.holds(CDN, "a", 18.9)
    assert held.holds("other.example", "a", 18.9)
    assert held.renew("a", 8.0 + PLACE_S) == set()
    assert held.renew("nobody", 9.0) == set()


def test_expired_lease_is_the_next_ones(held: Leases) -> None:
    assert held.ask(CDN, "b", 9.75) == NEXT_WAIT_S
    assert held.ask(CDN, "b", 9.9375) == 0.0625
    assert held.ask(CDN, "b", TERM) == 0.0
    assert held.renew("a", TERM) == set()
    assert not held.holds(CDN, "a", TERM)
    held.free(CDN, "a", 5.0, TERM)
    assert held.holds(CDN, "b", TERM)


def test_expired_lease_that_nobody_took_is_revived(held: Leases) -> None:
    held.ask(CDN, "b", TERM - 1)
    assert not held.holds(CDN, "a", TERM)
    assert held.renew("a", TERM) == {CDN}
    assert held.holds(CDN, "a", TERM)
    assert held.ask(CDN, "b", TERM) == NEXT_WAIT_S


def test_expired_holder_that_asks_stands_behind_those_who_wait(held: Leases) -> None:
    held.ask(CDN, "b", TERM)
    held.free(CDN, "b", 0.0, TERM)
    held.ask(CDN, "b", TERM)
    held.ask(CDN, "c", 2 * TERM - 1)
    assert held.ask(CDN, "b", 2 * TERM) == MAX_WAIT_S
    assert held.ask(CDN, "c", 2 * TERM) == 0.0


def test_dropped_holder_has_neither_leases_nor_places(held: Leases) -> None:
    held.ask("other.example", "b", 1.0)
    held.ask("other.example", "a", 1.0)
    held.ask(CDN, "b", 1.0)
    held.drop("a", 1.0)
    assert not held.holds(CDN, "a", 1.0)
    assert held.ask(CDN, "b", 1.0) == 0.0
    assert held.renew("b", 1.0) == set()
    held.drop("nobody", 1.0)


def test_freeing_what_one_does_not_hold_changes_nothing(held: Leases) -> None:
    held.free(CDN, "b", 99.0, 1.0)
    held.free("other.example", "b", 99.0, 1.0)
    assert held.holds(CDN, "a", 1.0)
    assert held.ask("other.example", "c", 1.0) == 0.0


def test_nothing_is_kept_of_hosts_that_nobody_needs() -> None:
    table = Leases(TERM)
    for number in range(100):
        assert table.ask(f"{number}.example", "a", 0.0) == 0.0
        table.ask(f"{number}.example", "b", 0.0)
        table.free(f"{number}.example", "a", 30.0, 0.0)
    table.ask("gone.example", "c", 0.0)
    later = 31.0 + leases.SWEEP_S
    table.drop("d", 15.0)
    assert len(table) == 101
    table.drop("d", later)
    assert len(table) == 1
    table.drop("d", later + leases.KEPT_S)
    assert (len(table), table._hosts_of) == (0, {})


class Modelled(RuleBasedStateMachine):
    """A model that keeps everything, and says of each question how it must be answered."""

    hosts, holders = st.sampled_from("xy"), st.sampled_from("abcd")

    def __init__(self) -> None:
        super().__init__()
        self.table = Leases(TERM)
        self.now = 0.0
        self.leases: dict[str, tuple[str, float]] = {}
        self.rests: dict[str, float] = {}
        self.queues: dict[str, dict[str, float]] = {"x": {}, "y": {}}

    def active(self, host: str) -> str | None:
        holder, expires = self.leases.get(host, ("", -1.0))
        return holder if expires > self.now else None

    def queue(self, host: str) -> dict[str, float]:
        """Those in the queue who still ask."""
        kept = {name: asked for name, asked in self.queues[host].items() if asked + PLACE_S > self.now}
        self.queues[host] = kept
        return kept

    @rule(seconds=st.sampled_from([0.125, 0.5, 1.0, 2.0, 7.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(host=hosts, holder=holders)
    def ask(self, host: str, holder: str) -> None:
        answer = self.table.ask(host, holder, self.now)
        assert 0.0 <= answer <= MAX_WAIT_S
        own = self.active(host) == holder
        queue = self.queue(host)
        if not own:
            queue[holder] = self.now
        free = self.active(host) is None and self.rests.get(host, 0.0) <= self.now
        assert (answer == 0.0) == (own or (free and next(iter(queue)) == holder))
        if answer == 0.0:
            queue.pop(holder, None)
            self.leases[host] = holder, self.now + TERM

    @rule(holder=holders)
    def renew(self, holder: str) -> None:
        wanted = set()
        for host, (name, _) in list(self.leases.items()):
            if name == holder:
                self.leases[host] = name, self.now + TERM
                self.queue(host).pop(holder, None)
                wanted |= {host} if self.queue(host) else set()
        assert self.table.renew(holder, self.now) == wanted

    @rule(host=hosts, holder=holders, rest=st.sampled_from([0.0, 0.25, 1.0, 5.0]))
    def free(self, host: str, holder: str, rest: float) -> None:
        self.table.free(host, holder, rest, self.now)
        if self.leases.get(host, ("",))[0] == holder:
            del self.leases[host]
            self.queue(host).pop(holder, None)
            self.rests[host] = max(self.rests.get(host, 0.0), self.now + rest)

    @rule(holder=holders)
    def drop(self, holder: str) -> None:
        self.table.drop(holder, self.now)
        self.leases = {host: lease for host, lease in self.leases.items() if lease[0] != holder}
        for host in "xy":
            self.queue(host).pop(holder, None)

    @invariant()
    def one_holder_at_a_time(self) -> None:
        for host in "xy":
            holding = [name for name in "abcd" if self.table.holds(host, name, self.now)]
            assert holding == [name for name in "abcd" if name == self.active(host)]


TestModelled = pytest.mark.slow(Modelled.TestCase)
TestModelled.settings = settings(max_examples=150, stateful_step_count=60)


@given(
    st.lists(st.floats(0.0, 3.0), min_size=2, max_size=8),
    st.floats(0.0, 2.0),
    st.floats(0.01, 3.0),
)
def test_all_who_keep_asking_get_it_in_the_order_they_came(arrivals: list[float], rest: float, work: float) -> None:
    table, granted = Leases(TERM), list[tuple[float, int]]()
    events = [(arrival, number, False) for number, arrival in enumerate(arrivals)]
    heapify(events)
    while events:
        now, number, working = heappop(events)
        if working:
            table.free(CDN, str(number), rest, now)
        elif wait := table.ask(CDN, str(number), now):
            heappush(events, (now + wait, number, False))
        else:
            assert all(now >= start + work + rest for start, _ in granted)
            granted.append((now, number))
            heappush(events, (now + work, number, True))
    assert [number for _, number in granted] == [number for _, number in sorted((t, n) for n, t in enumerate(arrivals))]
    starts = [start for start, _ in granted]
    gaps = [after - before for before, after in pairwise(starts)]
    arrived = max(arrivals)
    assert all(
        gap <= work + rest + MAX_WAIT_S + 1e-6 for gap, start in zip(gaps, starts, strict=False) if start > arrived
    )


def test_the_last_attempt_at_a_domain_is_the_one_that_counts() -> None:
    control = Control()
    first, tries = control.begin("a.com", 0)
    assert control.counts(first) and tries == 1
    second, tries = control.begin("a.com", 1)
    assert tries == 2
    assert not control.counts(first)
    assert control.counts(second)
    assert not control.beat(first, 1, 1, 2).go_on
    assert control.beat(second, 1, 1, 2).go_on


def test_attempts_at_other_domains_do_not_matter() -> None:
    control = Control()
    one, _ = control.begin("a.com", 0)
    control.begin("b.com", 0)
    assert control.counts(one)


def test_an_attempt_that_has_ended_counts_no_more() -> None:
    control = Control()
    attempt, _ = control.begin("a.com", 0)
    control.end(attempt, False, 1)
    assert not control.counts(attempt)
    assert control.running(1) == []


def test_hosts_are_held_by_one_attempt_until_it_ends() -> None:
    control = Control()
    one, two = control.begin("a.com", 0)[0], control.begin("b.com", 0)[0]
    assert control.ask(one, "cdn.com", 0) == 0
    assert control.ask(two, "cdn.com", 0) > 0
    assert control.beat(one, 0, 0, 1).wanted == ["cdn.com"]
    control.end(one, False, 2)
    assert control.ask(two, "cdn.com", 2) == 0


def test_a_host_that_is_given_back_rests_first() -> None:
    control = Control()
    one, two = control.begin("a.com", 0)[0], control.begin("b.com", 0)[0]
    control.ask(one, "cdn.com", 0)
    control.free(one, "cdn.com", 3.0, 1)
    assert control.ask(two, "cdn.com", 2) > 0
    assert control.ask(two, "cdn.com", 4.5) == 0


def test_a_worker_that_dies_loses_its_hosts_after_a_while() -> None:
    control = Control()
    one, two = control.begin("a.com", 0)[0], control.begin("b.com", 0)[0]
    control.ask(one, "cdn.com", 0)
    assert control.ask(two, "cdn.com", LEASE_S - 1) > 0
    assert control.ask(two, "cdn.com", LEASE_S + 1) == 0


def test_an_attempt_without_a_sign_of_life_is_forgotten() -> None:
    control = Control()
    attempt, _ = control.begin("a.com", 0)
    control.beat(attempt, 7, 2, 10)
    assert control.running(10 + LOST_S) == [("a.com", 7, 2, 10 + LOST_S)]
    assert control.running(11 + LOST_S) == []
    assert not control.beat(attempt, 8, 2, 12 + LOST_S).go_on


def test_a_domain_that_is_done_begins_to_count_anew() -> None:
    control = Control()
    attempt, _ = control.begin("a.com", 0)
    control.end(attempt, False, 1)
    control.done("a.com")
    assert control.begin("a.com", 2)[1] == 1


def test_a_worker_hears_what_it_has_lost_in_its_silence() -> None:
    control = Control()
    one, two = control.begin("a.com", 0)[0], control.begin("b.com", 0)[0]
    control.ask(one, "cdn.com", 0)
    control.ask(two, "cdn.com", LEASE_S + 1)
    assert control.ask(two, "cdn.com", LEASE_S + 1) == 0
    answer = control.beat(one, 0, 0, LEASE_S + 2)
    assert (answer.go_on, answer.lost, answer.wanted) == (True, ["cdn.com"], [])
    assert control.beat(one, 0, 0, LEASE_S + 3).lost == []


def test_the_hosts_of_a_crawl_that_died_rest() -> None:
    control = Control()
    one, two = control.begin("a.com", 0)[0], control.begin("a.com", 1)[0]
    control.ask(one, "a.com", 0)
    control.end(one, True, 2)
    assert control.ask(two, "a.com", 2) > 0
    assert control.ask(two, "a.com", 2 + REST_S) == 0
