"""Processes that a nursery forks: real ones, whose job fails or never ends."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from sitemapcrawler.fleet.worker.nursery import FAULT, START_S, Child, Nursery, NurseryDied
from tests.processes import LOOK_S, PATIENCE_S, alive, children_of, parent_of, wait_for_end


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    found = Nursery()
    yield found
    found.close()


def to_the_end(child: Child) -> int | None:
    deadline = time.monotonic() + PATIENCE_S
    while not child.wait(0.1):
        list(child.messages())
        assert time.monotonic() < deadline
    return child.code


@pytest.mark.slow
def test_a_child_that_raises_ends_with_a_code_of_its_own(nursery: Nursery) -> None:
    with nursery.start() as child:
        child.link.send("no job")
        assert to_the_end(child) == FAULT


def test_a_child_whose_worker_says_no_more_ends(nursery: Nursery) -> None:
    with nursery.start() as child:
        child.link.close()
        wait_for_end(child.pid)
        assert not alive(child.pid)


@pytest.mark.slow
def test_a_child_is_killed_where_nobody_waits_for_it(nursery: Nursery) -> None:
    with nursery.start() as child:
        assert alive(child.pid)
        pid = child.pid
    assert child.code == -signal.SIGKILL
    assert not alive(pid)


def test_the_next_child_comes_from_the_same_nursery(nursery: Nursery) -> None:
    began = time.monotonic()
    parents = []
    for _ in range(2):
        with nursery.start() as child:
            parents.append(parent_of(child.pid))
    assert parents[0] == parents[1]
    assert time.monotonic() - began < START_S


@pytest.mark.slow
def test_a_child_dies_with_its_nursery_and_another_one_is_started(nursery: Nursery) -> None:
    with pytest.raises(NurseryDied), nursery.start() as child:
        parent = parent_of(child.pid)
        os.kill(parent, signal.SIGKILL)
        wait_for_end(child.pid)
        to_the_end(child)
    with nursery.start() as child:
        assert alive(child.pid)


def test_a_child_that_ends_before_its_number_is_read_has_its_exit_code(
    nursery: Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    with nursery.start() as child:
        parent = parent_of(child.pid)

    def late(self: Nursery, seconds: float) -> int:
        while not (forked := children_of(parent)):
            time.sleep(LOOK_S)  # between two looks
        os.kill(forked[0], signal.SIGKILL)
        while children_of(parent):
            time.sleep(LOOK_S)  # between two looks
        monkeypatch.undo()
        return self.next_number(seconds)

    monkeypatch.setattr(Nursery, "next_number", late)
    with nursery.start() as child:
        assert to_the_end(child) == -signal.SIGKILL


@pytest.mark.slow
def test_a_child_that_came_too_late_is_not_taken_for_the_next(
    nursery: Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    with nursery.start() as child:
        parent = parent_of(child.pid)
    os.kill(parent, signal.SIGSTOP)  # else it may be in time
    with monkeypatch.context() as hasty, pytest.raises(NurseryDied):
        hasty.setattr("sitemapcrawler.fleet.worker.nursery.START_S", 0.0)
        nursery.start()
    with nursery.start() as child:
        assert alive(child.pid)
        assert not child.wait(0.1)


def test_nobody_waits_for_a_child_that_hears_nothing(nursery: Nursery) -> None:
    with nursery.start() as child:
        os.kill(child.pid, signal.SIGSTOP)
        sent = [child.send(["wanted", "shared.example"]) for _ in range(10_000)]
        assert sent[0]
        assert not sent[-1]
    assert child.code == -signal.SIGKILL
