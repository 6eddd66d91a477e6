"""Connections that wait for another request: so many at most, however many hosts a crawl meets.

Twisted keeps one for four minutes and aiohttp for 15 s, and neither counts those of other hosts: a thousand sites would
use up the file descriptors of a process.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from twisted.web.client import HTTPConnectionPool

MAX_IDLE = 256
"""Connections that wait in one pool, at most."""
SHARE = 8
"""One file descriptor of so many may be an idle connection of a pool, of which a crawl has two."""


def max_idle() -> int:
    """How many connections may wait in one pool."""
    with suppress(ImportError):  # Windows has no such module, and no such limit
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            return max(1, min(MAX_IDLE, soft // SHARE))
    return MAX_IDLE


class BoundedPool(HTTPConnectionPool):
    """Twisted's pool; the connection that has waited longest makes room for another."""

    def __init__(self, reactor: Any) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]  # Twisted has no types for it
        self._max_idle = max_idle()

    @classmethod
    def like(cls, other: HTTPConnectionPool) -> BoundedPool:
        """An empty one that makes the same connections, and as many for a host."""
        pool = cls(other._reactor)
        pool.maxPersistentPerHost = other.maxPersistentPerHost
        pool._factory = other._factory
        return pool

    @property
    def idle(self) -> int:
        """Connections that wait."""
        return len(self._timeouts)

    def _putConnection(self, key: Any, connection: Any) -> None:  # noqa: N802 - Twisted's name
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]  # as above
        if self.idle > self._max_idle:
            timeout = next(iter(self._timeouts.values()))  # they stand in the order in which they began to wait
            longest = timeout.args
            timeout.cancel()
            self._removeConnection(*longest)

    def _removeConnection(self, key: Any, connection: Any) -> None:  # noqa: N802 - Twisted's name
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]  # as above
        if not self._connections[key]:
            del self._connections[key]
