"""Waiting domains of a fleet, and which of them may begin. No I/O."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

from sitemapcrawler.fleet.domains import Domain

MAX_LOOKS = 1000
"""Maximum number of groups that one call of `next` checks, some 2 ms; the next call resumes after them."""

Addresses = tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """Waiting domains with the same addresses: those of one site, or of sites with one domain each."""

    site: str | None
    addresses: Addresses
    waiting: list[Domain]
    """The next one last."""
    queued: int = 1
    """How often the group is in the queue."""


class DomainQueue:
    """Domains of a fleet: one of each site at a time, and a limited number per address.

    A group stays first until its addresses are full; then it waits at the end of the queue, or until one of its domains
    ends. Memory: some 300 bytes for a domain that shares its addresses with no other, 10 for all others.
    """

    def __init__(self, domains: Iterable[tuple[Domain, Addresses]], per_address: int) -> None:
        """`domains`: with their addresses, if known; `per_address`: domains at once on one address, 0: no limit."""
        resolved = list(domains)
        sites = Counter(domain.site for domain, _ in resolved)
        groups: dict[tuple[str | None, Addresses], list[Domain]] = {}
        for domain, addresses in resolved:
            key = domain.site if sites[domain.site] > 1 else None, addresses if per_address else ()
            groups.setdefault(key, []).append(domain)
        self._queue = deque(_Group(*key, waiting[::-1]) for key, waiting in groups.items())
        self._per_address = per_address
        self._running: dict[Domain, _Group] = {}
        self._sites = set[str]()
        self._used = Counter[str]()

    def next(self) -> Domain | None:
        """Begin the next domain whose site is not running and whose addresses have room. Returns None if there is none,
        or if `MAX_LOOKS` groups were checked."""
        looks = min(len(self._queue), MAX_LOOKS)
        while self._queue and looks:
            group = self._queue.popleft()
            group.queued -= 1
            if not group.waiting:
                continue
            if self._has_room(group):
                return self._begin(group)
            looks -= 1
            if not group.queued:
                self._queue.append(group)
                group.queued += 1
        return None

    def done(self, domain: Domain) -> None:
        """End a running domain. Raises KeyError if it is not running."""
        group = self._running.pop(domain)
        self._sites.discard(domain.site)
        self._used -= Counter(group.addresses)  # forgets addresses without domains
        self._put_first(group)

    def _has_room(self, group: _Group) -> bool:
        return group.site not in self._sites and all(self._used[name] < self._per_address for name in group.addresses)

    def _begin(self, group: _Group) -> Domain:
        domain = group.waiting.pop()
        self._running[domain] = group
        self._sites.add(domain.site)
        self._used.update(group.addresses)
        self._put_first(group)
        return domain

    def _put_first(self, group: _Group) -> None:
        if group.waiting:
            self._queue.appendleft(group)
            group.queued += 1
