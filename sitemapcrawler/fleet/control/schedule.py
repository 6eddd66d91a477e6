"""Which domain may be crawled next: never two of one site at once, and no more than a few that share an address.

Domains with the same addresses form a group, of which the first one stands for all. A group that cannot go on waits at
one of the addresses that are full, and is looked at again when that one has room; a domain whose site runs waits at
that site. So nobody looks at all that wait, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice

from sitemapcrawler.fleet.control.domains import Domain

MAX_LOOKS = 1000
"""Groups that one call of `next` looks at, some 5 ms. Where so many of those that have just got room are blocked at
another address, the next call goes on behind them."""
MAX_WOKEN = 16
"""Sets of addresses that one site has: more than these wait until one of its domains has run again."""

Place = tuple[int, Domain]
"""A domain, and its number in the order in which domains came."""
Addresses = tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """Domains that wait and have the same addresses."""

    addresses: Addresses
    waiting: list[Place] = field(default_factory=list)
    """A heap. It is empty only where the group stands nowhere."""
    queued: bool = False
    """Whether the group stands somewhere: at an address, or among those to look at."""


@dataclass(slots=True)
class _Address:
    """An address on which a domain runs, or at which groups wait."""

    name: str
    running: int = 0
    groups: list[tuple[int, int, _Group]] = field(default_factory=list)
    """A heap of those that wait for room, by their first domain."""
    queued: bool = False
    """Whether it stands among those to look at."""


class Schedule:
    """The domains that wait and those that run. First come, first served, but for those that are blocked.

    Memory: 100 bytes for each domain that waits, 600 for one whose addresses no other has. Time: O(log n) for each
    call, taken over many.
    """

    def __init__(self, per_address: int) -> None:
        """`per_address`: domains that may run at once on an address that they share; 0: any number."""
        self.waiting = 0
        """Domains that were added and do not run yet."""
        self._per_address = per_address
        self._added = 0
        self._groups: dict[Addresses, _Group] = {}
        self._addresses: dict[str, _Address] = {}
        # A heap, by the first domain, of what may hold one that can run.
        self._ready: list[tuple[int, int, _Group | _Address]] = []
        self._running: dict[str, tuple[Domain, Addresses]] = {}
        self._at_site: dict[str, dict[Addresses, list[Place]]] = {}

    @property
    def running(self) -> int:
        """Domains that run."""
        return len(self._running)

    def add(self, domain: Domain, addresses: Collection[str]) -> None:
        """Let a domain wait for its turn. Where it has no addresses, its site alone counts."""
        self._added += 1
        self.waiting += 1
        self._join((self._added, domain), tuple(sorted(set(addresses))) if self._per_address else ())

    def next(self) -> Domain | None:
        """The next domain whose site does not run and whose addresses all have room: it runs from now on. None where
        all are blocked by those that run, or by `MAX_LOOKS`, and where none waits."""
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
        """A domain does not run any more. KeyError where it did not."""
        ran, addresses = self._running.get(domain.site, (None, ()))
        if ran != domain:
            raise KeyError(domain.name)
        del self._running[domain.site]
        for address in addresses:
            self._leave(self._addresses[address])
        self._wake(domain.site)

    def _wake(self, site: str) -> None:
        """Let domains of a site wait in their groups again: of those with the same addresses the first one, since the
        next has no chance before that one has run, when the site is woken again."""
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
        self._look_at(group)

    def _look_at(self, group: _Group) -> None:
        if not group.queued:
            group.queued = True
            heappush(self._ready, (group.waiting[0][0], id(group), group))

    def _group_at(self, address: _Address) -> _Group | None:
        """The first group that waits at an address, where that has room."""
        if address.running >= self._per_address:
            return None
        group = heappop(address.groups)[2]
        group.queued = False
        self._tell(address)
        return group

    def _first_of(self, group: _Group) -> Domain | None:
        """The first domain of a group that can run; what cannot waits at what blocks it."""
        full = self._full(group.addresses)
        if full:
            group.queued = True
            heappush(full.groups, (group.waiting[0][0], id(group), group))
            return None
        found = self._run_first(group)
        if group.waiting:
            self._look_at(group)
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
        self._tell(address)
        if not address.running and not address.groups:
            del self._addresses[address.name]

    def _tell(self, address: _Address) -> None:
        """Have an address looked at that may have room for those that wait there."""
        if address.groups and not address.queued:
            address.queued = True
            heappush(self._ready, (address.groups[0][0], id(address), address))
