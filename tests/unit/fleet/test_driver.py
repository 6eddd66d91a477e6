"""A fleet from its list to its counts, on a cluster that is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from sitemapcrawler.fleet import driver
from sitemapcrawler.fleet.domains import Domain, DomainRecord, domain
from sitemapcrawler.fleet.driver import IN_A_ROW, Fleet, FleetStop
from sitemapcrawler.fleet.output import output_at
from sitemapcrawler.fleet.task import DomainFailed

RETRIES = 2
NAMES = ("a.example", "b.example", "c.example", "127.0.0.1:81", "http://[::1]")


class Cluster:
    """Runs one thing at a time, the first that was started, and notes the order."""

    def __init__(self, room: int = 10, failure: DomainFailed | None = None, failing: int = 1000) -> None:
        """`failure`: of the first `failing` crawls."""
        self.room = room
        self.log: list[str] = []
        self.attempts: list[int] = []
        self.most = 0
        """Domains that ran at once."""
        self._failures = [failure] * failing if failure is not None else []

    def start(self, each: Domain, plan: object, attempt: int) -> object:
        self.log.append(each.name)
        self.attempts.append(attempt)
        return each

    def wait(self, running: Sequence[object], seconds: float) -> list[object]:
        self.most = max(self.most, sum(isinstance(one, Domain) for one in running))
        return [running[0]]

    def result(self, each: Any) -> DomainRecord | DomainFailed:
        return self._failures.pop() if self._failures else DomainRecord(each.name, urls=2)


@pytest.fixture(autouse=True)
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts that were looked up; names have one address in common."""
    hosts: list[str] = []

    def addresses_of(host: str) -> tuple[str, ...]:
        hosts.append(host)
        return ("192.0.2.1",) if host.endswith(".example") else (host,)

    monkeypatch.setattr(driver, "addresses_of", addresses_of)
    return hosts


def run(
    folder: Path,
    cluster: Cluster,
    per_address: int,
    show: Callable[[Fleet], None] = lambda _: None,
    stop: FleetStop | None = None,
) -> Fleet:
    """Run a fleet to its end, and return it."""
    plan: Any = SimpleNamespace(retries=RETRIES)
    joined: Any = cluster
    fleet = Fleet([*map(domain, NAMES)], output_at(str(folder)), plan, per_address, stop or FleetStop())
    fleet.run(joined, show)
    return fleet


def test_names_are_looked_up_before_any_domain_begins(tmp_path: Path, looked_up: list[str]) -> None:
    shown: list[tuple[int, int]] = []
    run(tmp_path, Cluster(), 4, lambda one: shown.append((one.counts.looked_up, one.counts.done)))
    assert sorted(looked_up) == ["127.0.0.1", "::1", "a.example", "b.example", "c.example"]
    assert all(names == len(NAMES) for names, done in shown if done)
    assert shown[-1] == (5, 5)


def test_no_name_is_looked_up_where_addresses_do_not_count(tmp_path: Path, looked_up: list[str]) -> None:
    cluster = Cluster()
    run(tmp_path, cluster, 0)
    assert (cluster.log, looked_up) == (list(NAMES), [])


@pytest.mark.parametrize(("room", "per_address", "most"), [(10, 1, 3), (10, 2, 4), (10, 0, 5), (2, 0, 2)])
def test_domains_at_once_are_limited_by_the_cluster_and_by_their_address(
    room: int, per_address: int, most: int, tmp_path: Path
) -> None:
    cluster = Cluster(room)
    run(tmp_path, cluster, per_address)
    assert cluster.most == most


def test_ctrl_c_during_the_look_ups_begins_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, stop, answered = Cluster(), FleetStop(), Event()
    monkeypatch.setattr(driver, "addresses_of", lambda _: answered.wait() and ())

    def show(_: Fleet) -> None:
        stop.begun = True

    stopped = run(tmp_path, cluster, 4, show, stop)
    answered.set()
    assert cluster.log == []
    assert stopped.stopped and stopped.counts.done == 0


@pytest.mark.parametrize(("common", "begun"), [(True, IN_A_ROW), (False, len(NAMES))])
def test_failures_in_a_row_end_it_if_they_are_not_those_of_the_domain(common: bool, begun: int, tmp_path: Path) -> None:
    cluster = Cluster(room=1, failure=DomainFailed("the disk is full", common, again=True))
    failing = run(tmp_path, cluster, 0)
    assert cluster.attempts == [1, 2, 3] * begun
    assert failing.broken == common
    assert {failed.attempts for failed in failing.counts.failed} == {3}


def test_crawl_that_dies_is_tried_again_in_its_place(tmp_path: Path) -> None:
    cluster = Cluster(room=1, failure=DomainFailed("its worker died", common=False, again=True), failing=2)
    done = run(tmp_path, cluster, 0)
    assert cluster.log[:4] == [NAMES[0]] * 3 + [NAMES[1]]
    assert (done.counts.done, done.counts.failed) == (len(NAMES), [])


def test_failure_that_would_come_again_is_the_last(tmp_path: Path) -> None:
    cluster = Cluster(failure=DomainFailed("it was killed", common=False, again=False))
    done = run(tmp_path, cluster, 0)
    assert cluster.attempts == [1] * len(NAMES)
    assert {failed.attempts for failed in done.counts.failed} == {1}
