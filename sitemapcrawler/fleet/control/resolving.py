"""The addresses of hosts, looked up ahead: a fleet asks few domains of an address at once."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock, Thread

from sitemapcrawler.download.addresses import parse_address
from sitemapcrawler.fleet.control.domains import Domain

RESOLVE_S = 10.0
"""Seconds for one host: twice the time that resolvers give a name server (resolv.conf, timeout)."""
MAX_STUCK = 256
"""Threads that may hang in hosts that took longer, each of them replaced by another: nothing ends a look-up."""

Resolved = tuple[Domain, frozenset[str]]


@dataclass(slots=True, eq=False)
class _Lookup:
    domain: Domain
    began: float
    given_up: bool = False


def addresses_of(host: str) -> frozenset[str]:
    """All addresses that this machine finds for a host. OSError where it finds none."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return frozenset(str(address[4][0]).partition("%")[0] for address in found)


class Resolver:
    """Looks up hosts in threads of its own, which end with the process. For one thread to use.

    What cannot be found in `RESOLVE_S` seconds has no addresses: the crawl will say why.
    """

    def __init__(
        self,
        resolve: Callable[[str], Collection[str]] = addresses_of,
        threads: int = 32,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`resolve` gives the addresses of a host, or raises anything; `threads`: hosts looked up at once."""
        self.pending = 0
        """Domains that were submitted, and that `ready` has not given back."""
        self._resolve, self._most, self._clock = resolve, threads, clock
        self._queue: SimpleQueue[Domain | None] = SimpleQueue()
        self._lock = Lock()
        self._running: set[_Lookup] = set()
        self._found: list[Resolved] = []
        self._threads = 0
        self._stuck = 0
        self._closed = False

    def submit(self, domain: Domain) -> None:
        """Have the host of a domain looked up; a literal address is its own."""
        self.pending += 1
        literal = parse_address(domain.host)
        with self._lock:
            if literal is not None:
                self._found.append((domain, frozenset({str(literal)})))
                return
            self._queue.put(domain)
            if self._threads < self._most:
                self._start()

    def ready(self) -> list[Resolved]:
        """The domains that have been looked up since the last call. Never blocks."""
        with self._lock:
            self._give_up(self._clock() - RESOLVE_S)
            found, self._found = self._found, []
        self.pending -= len(found)
        return found

    def close(self) -> None:
        """Look up nothing more. What is under way ends by itself."""
        with self._lock:
            self._closed = True
            for _ in range(self._threads):
                self._queue.put(None)

    def _start(self) -> None:
        self._threads += 1
        Thread(target=self._work, name="resolver", daemon=True).start()

    def _give_up(self, before: float) -> None:
        for lookup in [lookup for lookup in self._running if lookup.began < before]:
            lookup.given_up = True
            self._running.discard(lookup)
            self._found.append((lookup.domain, frozenset()))
            self._stuck += 1
            if self._threads < self._most + MAX_STUCK:
                self._start()

    def _work(self) -> None:
        while (domain := self._queue.get()) is not None and not self._closed:
            lookup = _Lookup(domain, self._clock())
            with self._lock:
                self._running.add(lookup)
            try:
                addresses = frozenset(self._resolve(domain.host))
            except Exception:  # whatever a resolver raises: UnicodeError for a label that is too long
                addresses = frozenset()
            if not self._goes_on(lookup, addresses):
                return

    def _goes_on(self, lookup: _Lookup, addresses: frozenset[str]) -> bool:
        """Note what was found; False where another thread has taken the place of this one."""
        with self._lock:
            if not lookup.given_up:
                self._running.discard(lookup)
                self._found.append((lookup.domain, addresses))
                return True
            self._stuck -= 1
            if self._threads - self._stuck <= self._most:
                return True
            self._threads -= 1
            return False
