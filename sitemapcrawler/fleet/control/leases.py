"""What the tasks of a fleet must know of each other: who crawls which domain, which hosts are asked by whom.

Pure: times are those of one monotonic clock, in seconds, and come as arguments. `cluster` makes a Ray actor of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

LEASE_S = 10.0
"""Seconds that a lease lasts unless it is renewed: so long is a host left alone when a crawl has died unnoticed."""
MAX_WAIT_S = 0.5
"""Seconds after which those who wait for a host ask again."""
NEXT_WAIT_S = 0.1
"""Seconds after which the first of them does while the host is held: so long it may be idle between two crawls."""
PLACE_S = 4 * MAX_WAIT_S
"""Seconds after which one that has not asked again has lost its place in the queue."""
SWEEP_S = 10.0
"""Seconds between two times at which hosts that nobody needs are forgotten."""
KEPT_S = 600.0
"""Seconds for which an expired lease can be revived by a crawl that stood still, where nobody has taken it."""
_NEVER = float("-inf")


@dataclass(slots=True)
class _Host:
    holder: str | None = None
    """Who has the lease, or had it until it expired."""
    expires: float = _NEVER
    rests: float = _NEVER
    """When the host may be asked again after it was given back."""
    queue: dict[str, float] = field(default_factory=dict)
    """Those who wait, the first first, each with the time it asked last."""

    def late(self, holder: str, now: float) -> bool:
        """Whether one that waited has not asked again in time."""
        return self.queue.get(holder, now) + PLACE_S <= now

    def first(self, now: float) -> str | None:
        """Whose turn it is of those who wait and still ask."""
        return next((holder for holder in self.queue if not self.late(holder, now)), None)

    def idle(self, now: float) -> bool:
        """Whether there is nothing to remember."""
        held = self.holder is not None and self.expires + KEPT_S > now
        return not held and self.rests <= now and self.first(now) is None


class Leases:
    """The hosts that are asked, and who waits for them.

    Memory: an entry for each host that is held, waited for or at rest, and for seconds after.
    """

    def __init__(self, term: float = LEASE_S) -> None:
        """`term`: seconds that a lease lasts unless it is renewed."""
        self._term = term
        self._hosts: dict[str, _Host] = {}
        self._lost: dict[str, set[str]] = {}
        # Where each holder has a lease or a place in the queue.
        self._of: dict[str, set[str]] = {}
        self._swept = _NEVER

    def __len__(self) -> int:
        """Hosts that are remembered."""
        return len(self._hosts)

    def ask(self, host: str, holder: str, now: float) -> float:
        """0.0: the host is the holder's from now on, or still. Else the seconds after which to ask again, at most
        `MAX_WAIT_S`: it is queued, first come, first served, and loses its place when it asks no more."""
        self._sweep(now)
        entry = self._hosts.setdefault(host, _Host())
        if entry.holder == holder and entry.expires > now:
            entry.expires = now + self._term
            return 0.0
        self._queue(entry, host, holder, now)
        if entry.first(now) != holder:
            return MAX_WAIT_S
        if entry.holder is not None and entry.expires > now:
            return min(NEXT_WAIT_S, entry.expires - now)
        if entry.rests > now:
            return min(MAX_WAIT_S, entry.rests - now)
        self._grant(entry, host, holder, now)
        return 0.0

    def renew(self, holder: str, now: float) -> set[str]:
        """Let all leases of a holder last from now; also those that have expired and that nobody else has taken.
        Returns the hosts among them that others wait for."""
        wanted = set()
        for host in self._of.get(holder, ()):
            entry = self._hosts[host]
            if entry.holder == holder:
                entry.expires = now + self._term
                entry.queue.pop(holder, None)
                if entry.first(now) is not None:
                    wanted.add(host)
        return wanted

    def free(self, host: str, holder: str, rest: float, now: float) -> None:
        """Give a host back; nobody gets it in the next `rest` seconds. Nothing, where it is not the holder's."""
        entry = self._hosts.get(host)
        if entry is not None and entry.holder == holder:
            entry.rests = max(entry.rests, now + rest)
            self._leave(host, holder)

    def lost(self, holder: str) -> set[str]:
        """The hosts that others have got since the last call, for the leases of the holder had expired."""
        return self._lost.pop(holder, set())

    def drop(self, holder: str, now: float, rest: float = 0.0) -> None:
        """Forget a holder: its process has ended. Nobody gets its hosts in the next `rest` seconds."""
        for host in list(self._of.get(holder, ())):
            if self._hosts[host].holder == holder:
                self._hosts[host].rests = max(self._hosts[host].rests, now + rest)
            self._leave(host, holder)
        self._lost.pop(holder, None)
        self._sweep(now)

    def holds(self, host: str, holder: str, now: float) -> bool:
        """Whether the holder may ask the host."""
        entry = self._hosts.get(host)
        return entry is not None and entry.holder == holder and entry.expires > now

    def _queue(self, entry: _Host, host: str, holder: str, now: float) -> None:
        """Note that one waits, behind all others where it is new or has lost its place."""
        while entry.queue and entry.late(name := next(iter(entry.queue)), now):
            del entry.queue[name]
            self._forget(entry, host, name)
        if entry.late(holder, now):
            del entry.queue[holder]
        entry.queue[holder] = now
        self._of.setdefault(holder, set()).add(host)

    def _grant(self, entry: _Host, host: str, holder: str, now: float) -> None:
        before, entry.holder = entry.holder, holder
        entry.expires = now + self._term
        del entry.queue[holder]
        if before is not None:
            self._lost.setdefault(before, set()).add(host)
            self._forget(entry, host, before)

    def _leave(self, host: str, holder: str) -> None:
        entry = self._hosts[host]
        entry.queue.pop(holder, None)
        if entry.holder == holder:
            entry.holder, entry.expires = None, _NEVER
        self._forget(entry, host, holder)

    def _forget(self, entry: _Host, host: str, holder: str) -> None:
        """Note that a host is nothing to a holder any more, where it is so."""
        if entry.holder == holder or holder in entry.queue or holder not in self._of:
            return
        self._of[holder].discard(host)
        if not self._of[holder]:
            del self._of[holder]

    def _sweep(self, now: float) -> None:
        if now - self._swept < SWEEP_S:
            return
        self._swept = now
        for host in [host for host, entry in self._hosts.items() if entry.idle(now)]:
            entry = self._hosts[host]
            for holder in {*entry.queue, *([entry.holder] if entry.holder is not None else [])}:
                self._leave(host, holder)
            del self._hosts[host]


LOST_S = 30.0
"""Seconds without a word after which an attempt is taken for dead, and counts no more."""

REST_S = 5.0
"""Seconds for which the hosts of a crawl that died are left alone: longer than most delays."""


@dataclass(slots=True)
class Attempt:
    """One attempt at a domain, by one worker."""

    domain: str
    begun: float
    heard: float
    urls: int = 0
    """Url records so far."""
    sitemaps: int = 0
    """Sitemap records so far."""


@dataclass(slots=True)
class Answer:
    """What a worker is told when it says that it is alive."""

    go_on: bool
    """False where another attempt at the domain has begun: this one must end, and leave nothing."""
    wanted: list[str] = field(default_factory=list)
    """Hosts of the crawl that others wait for."""
    lost: list[str] = field(default_factory=list)
    """Hosts that others have got, since nothing was heard of this worker for long."""


class Running(NamedTuple):
    """An attempt that runs now."""

    domain: str
    urls: int
    """URLs that were listed so far."""
    sitemaps: int
    """Files that were read so far."""
    seconds: float
    """Since it began."""


class Control:
    """Attempts at domains, of which the last one counts, and the hosts that they hold."""

    def __init__(self) -> None:
        self._leases = Leases()
        self._attempts: dict[int, Attempt] = {}
        self._last: dict[str, int] = {}
        self._tries: dict[str, int] = {}
        self._ids = count(1)

    def begin(self, domain: str, now: float) -> tuple[int, int]:
        """A new attempt at a domain: its number, and how many there have been. An earlier one counts no more."""
        attempt = next(self._ids)
        self._attempts[attempt] = Attempt(domain, now, now)
        self._last[domain] = attempt
        self._tries[domain] = self._tries.get(domain, 0) + 1
        return attempt, self._tries[domain]

    def beat(self, attempt: int, urls: int, sitemaps: int, now: float) -> Answer:
        """A worker says that it is alive, and how far it is; its hosts stay its own."""
        known = self._attempts.get(attempt)
        if known is None or not self.counts(attempt):
            return Answer(False)
        known.heard, known.urls, known.sitemaps = now, urls, sitemaps
        holder = str(attempt)
        return Answer(True, sorted(self._leases.renew(holder, now)), sorted(self._leases.lost(holder)))

    def counts(self, attempt: int) -> bool:
        """True for the last attempt at its domain: it alone may leave results."""
        known = self._attempts.get(attempt)
        return known is not None and self._last.get(known.domain) == attempt

    def ask(self, attempt: int, host: str, now: float) -> float:
        """0 where a host may be asked from now on, else the seconds after which to ask for it again."""
        return self._leases.ask(host, str(attempt), now)

    def free(self, attempt: int, host: str, rest: float, now: float) -> None:
        """A host is given back; nobody may ask it for `rest` seconds."""
        self._leases.free(host, str(attempt), rest, now)

    def end(self, attempt: int, died: bool, now: float) -> None:
        """An attempt is over. `died`: its crawl could not say how long its hosts are to be left alone."""
        self._leases.drop(str(attempt), now, REST_S if died else 0.0)
        self._attempts.pop(attempt, None)

    def done(self, domain: str) -> None:
        """A domain will not be tried again."""
        self._last.pop(domain, None)
        self._tries.pop(domain, None)

    def look(self, now: float) -> list[Running]:
        """What runs. Attempts of workers that have died are forgotten; their hosts fall to others by themselves."""
        for attempt in [number for number, one in self._attempts.items() if now - one.heard > LOST_S]:
            del self._attempts[attempt]
        alive = [one for number, one in self._attempts.items() if self.counts(number)]
        return [Running(one.domain, one.urls, one.sitemaps, now - one.begun) for one in alive]
