"""Scheduling of domains: one per site at a time, and a limited number per IP address.

Domains with the same addresses form a group. A blocked group waits at one of its full addresses until that has room; a
domain whose site is running waits at that site. So no call checks all waiting domains.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice
from queue import SimpleQueue
from threading import Lock, Thread

from sitemapcrawler.download.addresses import parse_address
from sitemapcrawler.fleet.domains import Domain

MAX_LOOKS = 1000
"""Maximum number of groups that one call of `next` checks, some 5 ms; the next call resumes after them."""
MAX_WOKEN = 16
"""Maximum number of address sets woken per site; the others wait until a domain of the site ends again."""

Place = tuple[int, Domain]
"""A domain and its number in order of arrival."""
Addresses = tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """Waiting domains with the same addresses."""

    addresses: Addresses
    waiting: list[Place] = field(default_factory=list)
    """Heap; empty only if the group is not queued."""
    queued: bool = False
    """True if the group waits at an address or is due for a check."""


@dataclass(slots=True)
class _Address:
    """An address with running domains or waiting groups."""

    name: str
    running: int = 0
    groups: list[tuple[int, int, _Group]] = field(default_factory=list)
    """Heap of waiting groups, by their first domain."""
    queued: bool = False
    """True if the address is due for a check."""


class Schedule:
    """Waiting and running domains. First come, first served, but blocked domains are passed over.

    Memory: 100 bytes per waiting domain, 600 if it shares its addresses with no other. Time: O(log n) per call.
    """

    def __init__(self, per_address: int) -> None:
        """`per_address`: domains that may run at once on one address; 0: no limit."""
        self.waiting = 0
        """Domains that have not started yet."""
        self._per_address = per_address
        self._added = 0
        self._groups: dict[Addresses, _Group] = {}
        self._addresses: dict[str, _Address] = {}
        # Heap of groups and addresses to check, by their first domain.
        self._ready: list[tuple[int, int, _Group | _Address]] = []
        self._running: dict[str, tuple[Domain, Addresses]] = {}
        self._at_site: dict[str, dict[Addresses, list[Place]]] = {}

    @property
    def running(self) -> int:
        """Number of running domains."""
        return len(self._running)

    def add(self, domain: Domain, addresses: Collection[str]) -> None:
        """Queue a domain. Without addresses, only its site limits it."""
        self._added += 1
        self.waiting += 1
        self._join((self._added, domain), tuple(sorted(set(addresses))) if self._per_address else ())

    def next(self) -> Domain | None:
        """Start the next domain whose site is not running and whose addresses have room. Returns None if none waits,
        all are blocked, or `MAX_LOOKS` groups were checked."""
        for _ in range(MAX_LOOKS):
            if not self._ready:
                break
            first = heappop(self._ready)[2]
            first.queued = False
            group = self._group_at(first) if isinstance(first, _Address) else first
            found = self._first_of(group) if group else None
            if found:
                return found
        return None

    def done(self, domain: Domain) -> None:
        """End a running domain. Raises KeyError if it is not running."""
        ran, addresses = self._running.get(domain.site, (None, ()))
        if ran != domain:
            raise KeyError(domain.name)
        del self._running[domain.site]
        for address in addresses:
            self._leave(self._addresses[address])
        self._wake(domain.site)

    def _wake(self, site: str) -> None:
        """Return a site's domains to their groups: only the first of each address set, since the next one cannot run
        before it."""
        groups = self._at_site.get(site, {})
        for addresses in list(islice(groups, MAX_WOKEN)):
            places = groups.pop(addresses)
            self._join(heappop(places), addresses)
            if places:
                groups[addresses] = places
        if not groups:
            self._at_site.pop(site, None)

    def _join(self, place: Place, addresses: Addresses) -> None:
        group = self._groups.get(addresses)
        if group is None:
            group = self._groups[addresses] = _Group(addresses)
        heappush(group.waiting, place)
        self._queue_group(group)

    def _queue_group(self, group: _Group) -> None:
        if not group.queued:
            group.queued = True
            heappush(self._ready, (group.waiting[0][0], id(group), group))

    def _group_at(self, address: _Address) -> _Group | None:
        """First group that waits at an address, if the address has room."""
        if address.running >= self._per_address:
            return None
        group = heappop(address.groups)[2]
        group.queued = False
        self._queue_address(address)
        return group

    def _first_of(self, group: _Group) -> Domain | None:
        """Start the first domain of a group that can run. Blocked domains move to what blocks them."""
        full = self._full(group.addresses)
        if full:
            group.queued = True
            heappush(full.groups, (group.waiting[0][0], id(group), group))
            return None
        found = self._run_first(group)
        if group.waiting:
            self._queue_group(group)
        else:
            del self._groups[group.addresses]
        return found

    def _run_first(self, group: _Group) -> Domain | None:
        while group.waiting:
            place = heappop(group.waiting)
            domain = place[1]
            if domain.site not in self._running:
                self._running[domain.site] = domain, group.addresses
                self._enter(group.addresses)
                return domain
            heappush(self._at_site.setdefault(domain.site, {}).setdefault(group.addresses, []), place)
        return None

    def _full(self, addresses: Addresses) -> _Address | None:
        known = (self._addresses.get(address) for address in addresses)
        return next((address for address in known if address and address.running >= self._per_address), None)

    def _enter(self, addresses: Addresses) -> None:
        self.waiting -= 1
        for name in addresses:
            if name not in self._addresses:
                self._addresses[name] = _Address(name)
            self._addresses[name].running += 1

    def _leave(self, address: _Address) -> None:
        address.running -= 1
        self._queue_address(address)
        if not address.running and not address.groups:
            del self._addresses[address.name]

    def _queue_address(self, address: _Address) -> None:
        """Queue an address for a check if groups wait there."""
        if address.groups and not address.queued:
            address.queued = True
            heappush(self._ready, (address.groups[0][0], id(address), address))


RESOLVE_S = 10.0
"""Time limit per host in seconds: twice the timeout of a name server (resolv.conf)."""
MAX_STUCK = 256
"""Maximum number of extra threads that replace those stuck in look-ups, which cannot be cancelled."""

Resolved = tuple[Domain, frozenset[str]]


@dataclass(slots=True, eq=False)
class _Lookup:
    domain: Domain
    began: float
    given_up: bool = False


def addresses_of(host: str) -> frozenset[str]:
    """All addresses of a host. Raises OSError if there are none."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return frozenset(str(address[4][0]).partition("%")[0] for address in found)


class Resolver:
    """Resolves hosts in daemon threads. Its methods must be called from one thread.

    A host that takes longer than `RESOLVE_S` gets no addresses; its crawl then reports why.
    """

    def __init__(
        self,
        resolve: Callable[[str], Collection[str]] = addresses_of,
        threads: int = 32,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`resolve`: returns the addresses of a host, may raise anything; `threads`: look-ups at once."""
        self.pending = 0
        """Submitted domains that `ready` has not returned yet."""
        self._resolve, self._most, self._clock = resolve, threads, clock
        self._queue: SimpleQueue[Domain | None] = SimpleQueue()
        self._lock = Lock()
        self._running: set[_Lookup] = set()
        self._found: list[Resolved] = []
        self._threads = 0
        self._stuck = 0
        self._closed = False

    def submit(self, domain: Domain) -> None:
        """Resolve the host of a domain; IP addresses need no look-up."""
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
        """Domains resolved since the last call. Never blocks."""
        with self._lock:
            self._give_up(self._clock() - RESOLVE_S)
            found, self._found = self._found, []
        self.pending -= len(found)
        return found

    def close(self) -> None:
        """Start no more look-ups; running ones end by themselves."""
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
            except Exception:  # resolvers raise more than OSError: UnicodeError if a label is too long
                addresses = frozenset()
            if not self._record(lookup, addresses):
                return

    def _record(self, lookup: _Lookup, addresses: frozenset[str]) -> bool:
        """Record the addresses. Returns False if another thread has replaced this one."""
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
