"""What the tasks of a fleet must know of each other."""

from __future__ import annotations

from sitemapcrawler.fleet.control.leases import LEASE_S, LOST_S, REST_S, Control


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
    assert control.look(1) == []


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
    assert control.look(10 + LOST_S) == [("a.com", 7, 2, 10 + LOST_S)]
    assert control.look(11 + LOST_S) == []
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
