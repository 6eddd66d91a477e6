"""Connections that wait: how many, which go first, and that those in use are left alone."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from twisted.internet.task import Clock

from sitemapcrawler.download import connections as idle
from sitemapcrawler.download.connections import MAX_IDLE, BoundedPool, max_idle


class Connection:
    """As far as a pool knows one."""

    state = "QUIESCENT"

    def __init__(self) -> None:
        self.transport = self
        self.lost = False

    def loseConnection(self) -> None:  # noqa: N802 - Twisted's name
        self.lost = True


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> BoundedPool:
    monkeypatch.setattr(idle, "max_idle", lambda: 3)
    return BoundedPool(Clock())


def given_back(pool: BoundedPool, *hosts: str) -> list[Connection]:
    connections = [Connection() for _ in hosts]
    for host, connection in zip(hosts, connections, strict=True):
        pool._putConnection(host, connection)
    return connections


def test_connection_that_has_waited_longest_goes(pool: BoundedPool) -> None:
    connections = given_back(pool, *"abcde")
    assert [connection.lost for connection in connections] == [True, True, False, False, False]
    assert pool.idle == 3
    assert list(pool._connections) == ["c", "d", "e"]


def test_connection_in_use_does_not_count(pool: BoundedPool) -> None:
    first, *_ = given_back(pool, *"abc")
    endpoint: Any = None
    pool.getConnection("a", endpoint)
    [last] = given_back(pool, "d")
    assert not first.lost
    assert pool.idle == 3
    pool._putConnection("a", first)
    assert not first.lost
    assert not last.lost
    assert pool.idle == 3


def test_connections_time_out_as_before(pool: BoundedPool) -> None:
    connections = given_back(pool, *"aab")
    clock: Any = pool._reactor
    clock.advance(pool.cachedConnectionTimeout + 1)
    assert all(connection.lost for connection in connections)
    assert (pool.idle, pool._connections) == (0, {})


def test_pool_like_another(pool: BoundedPool) -> None:
    pool.maxPersistentPerHost = 7
    other = BoundedPool.like(pool)
    assert other.maxPersistentPerHost == 7
    assert other.persistent
    assert other._factory is pool._factory
    assert other._reactor is pool._reactor


@pytest.mark.parametrize(("soft", "most"), [(4, 1), (256, 32), (1024, 128), (1_000_000, MAX_IDLE), (-1, MAX_IDLE)])
def test_share_of_the_descriptors(monkeypatch: pytest.MonkeyPatch, soft: int, most: int) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft if soft >= 0 else resource.RLIM_INFINITY, soft))
    assert max_idle() == most


def test_without_such_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert max_idle() == MAX_IDLE
