"""What a fleet knows of its running crawls."""

from __future__ import annotations

import pytest

from sitemapcrawler.fleet import cluster
from sitemapcrawler.fleet.cluster import Crawls, Running


def test_crawl_that_begins_again_has_read_nothing_and_counts_its_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(cluster.time, "monotonic", lambda: now[0])
    actor = Crawls()
    assert actor.begin("a.example") == 1
    actor.tell("a.example", 500, 3)
    now[0] = 107.0
    assert actor.running() == [Running("a.example", 500, 3, 7.0)]
    assert actor.begin("a.example") == 2
    assert actor.running() == [Running("a.example", 0, 0, 0.0)]


def test_domain_that_is_done_is_forgotten_although_its_worker_tells_more() -> None:
    actor = Crawls()
    actor.begin("a.example")
    actor.begin("a.example")
    assert actor.done("a.example") == 2
    actor.tell("a.example", 500, 3)
    assert actor.running() == []
    assert actor.begin("a.example") == 1
