"""Leases on hosts, and the crawl attempts that hold them.

No I/O: times are arguments, in seconds of one monotonic clock. `control.cluster` wraps `Control` in a Ray actor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

LEASE_S = 10.0
"""Duration of a lease in seconds unless renewed. A host rests this long after its crawl dies unnoticed."""
MAX_WAIT_S = 0.5
"""Seconds after which waiting crawls ask again."""
NEXT_WAIT_S = 0.1
"""Seconds after which the first crawl of the queue asks again: the longest idle time of a host between two crawls."""
PLACE_S = 4 * MAX_WAIT_S
"""Seconds after which a crawl that does not ask again loses its place in the queue."""
SWEEP_S = 10.0
"""Seconds between sweeps that remove unused hosts."""
KEPT_S = 600.0
"""Seconds for which an expired lease can be renewed if no other crawl holds the host."""
_NEVER = float("-inf")


@dataclass(slots=True)
class _Host:
    """Lease and queue of a host."""

    holder: str | None = None
    """Crawl with the lease, even after it expires."""
    expires: float = _NEVER
    rests: float = _NEVER
    """Time at which the rest after a release ends."""
    queue: dict[str, float] = field(default_factory=dict)
    """Waiting holders in order, each with the time of its last request."""

    def late(self, holder: str, now: float) -> bool:
        """True if a waiting holder did not ask again in time."""
        return self.queue.get(holder, now) + PLACE_S <= now

    def first(self, now: float) -> str | None:
        """First waiting holder that keeps asking."""
        return next((holder for holder in self.queue if not self.late(holder, now)), None)

    def idle(self, now: float) -> bool:
        """True if the host can be forgotten: not held, waited for or at rest."""
        held = self.holder is not None and self.expires + KEPT_S > now
        return not held and self.rests <= now and self.first(now) is None


class Leases:
    """Leases on hosts, with one holder at a time and a queue of waiting holders.

    Memory: one entry per host that is leased, waited for or at rest, kept for some seconds longer.
    """

    def __init__(self, term: float = LEASE_S) -> None:
        """`term`: duration of a lease in seconds."""
        self._term = term
        self._hosts: dict[str, _Host] = {}
        self._lost: dict[str, set[str]] = {}
        # Hosts that a holder leases or waits for.
        self._hosts_of: dict[str, set[str]] = {}
        self._swept = _NEVER

    def __len__(self) -> int:
        """Number of remembered hosts."""
        return len(self._hosts)

    def ask(self, host: str, holder: str, now: float) -> float:
        """Request or extend a lease. Returns 0.0 if granted, else the seconds to wait before the next call, at most
        `MAX_WAIT_S`. The queue is first come, first served; a holder that stops asking loses its place."""
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
        """Renew all leases of a holder, including expired ones that no other holder took over. Returns the hosts that
        others wait for."""
        wanted = set()
        for host in self._hosts_of.get(holder, ()):
            entry = self._hosts[host]
            if entry.holder == holder:
                entry.expires = now + self._term
                entry.queue.pop(holder, None)
                if entry.first(now) is not None:
                    wanted.add(host)
        return wanted

    def free(self, host: str, holder: str, rest: float, now: float) -> None:
        """Release a host and let it rest for `rest` seconds. Does nothing without the lease."""
        entry = self._hosts.get(host)
        if entry is not None and entry.holder == holder:
            entry.rests = max(entry.rests, now + rest)
            self._leave(host, holder)

    def lost(self, holder: str) -> set[str]:
        """Hosts whose lease expired and was granted to another holder since the last call."""
        return self._lost.pop(holder, set())

    def drop(self, holder: str, now: float, rest: float = 0.0) -> None:
        """Remove a holder whose process has ended. Its hosts rest for `rest` seconds."""
        for host in list(self._hosts_of.get(holder, ())):
            if self._hosts[host].holder == holder:
                self._hosts[host].rests = max(self._hosts[host].rests, now + rest)
            self._leave(host, holder)
        self._lost.pop(holder, None)
        self._sweep(now)

    def holds(self, host: str, holder: str, now: float) -> bool:
        """True if the holder has a valid lease on the host."""
        entry = self._hosts.get(host)
        return entry is not None and entry.holder == holder and entry.expires > now

    def _queue(self, entry: _Host, host: str, holder: str, now: float) -> None:
        """Add a holder to the queue, at the end if it is new or has lost its place."""
        while entry.queue and entry.late(name := next(iter(entry.queue)), now):
            del entry.queue[name]
            self._forget(entry, host, name)
        if entry.late(holder, now):
            del entry.queue[holder]
        entry.queue[holder] = now
        self._hosts_of.setdefault(holder, set()).add(host)

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
        """Unlink a holder from a host that it neither leases nor waits for."""
        if entry.holder == holder or holder in entry.queue or holder not in self._hosts_of:
            return
        self._hosts_of[holder].discard(host)
        if not self._hosts_of[holder]:
            del self._hosts_of[holder]

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
"""Seconds without a heartbeat after which an attempt counts as dead."""
REST_S = 5.0
"""Rest in seconds for the hosts of a crawl that died: longer than most delays."""


@dataclass(slots=True)
class CrawlAttempt:
    """One attempt of a worker to crawl a domain."""

    domain: str
    begun: float
    last_beat: float
    urls: int = 0
    """URLs listed so far."""
    sitemaps: int = 0
    """Files read so far."""


@dataclass(slots=True)
class HeartbeatReply:
    """Reply to a worker's heartbeat."""

    go_on: bool
    """False if a newer attempt has started: this one must end without results."""
    wanted: list[str] = field(default_factory=list)
    """Hosts of the crawl that others wait for."""
    lost: list[str] = field(default_factory=list)
    """Hosts that others took over because the last heartbeat came too late."""


class Running(NamedTuple):
    """A running attempt."""

    domain: str
    urls: int
    """URLs listed so far."""
    sitemaps: int
    """Files read so far."""
    seconds: float
    """Time since it began."""


class Control:
    """Attempts at domains and their leases. Only the latest attempt at a domain is valid."""

    def __init__(self) -> None:
        self._leases = Leases()
        self._attempts: dict[int, CrawlAttempt] = {}
        self._last: dict[str, int] = {}
        self._tries: dict[str, int] = {}
        self._ids = count(1)

    def begin(self, domain: str, now: float) -> tuple[int, int]:
        """Begin an attempt that supersedes earlier ones. Returns its number and the domain's attempt count."""
        attempt = next(self._ids)
        self._attempts[attempt] = CrawlAttempt(domain, now, now)
        self._last[domain] = attempt
        self._tries[domain] = self._tries.get(domain, 0) + 1
        return attempt, self._tries[domain]

    def beat(self, attempt: int, urls: int, sitemaps: int, now: float) -> HeartbeatReply:
        """Handle a worker's heartbeat: record its progress and renew its leases."""
        known = self._attempts.get(attempt)
        if known is None or not self.counts(attempt):
            return HeartbeatReply(False)
        known.last_beat, known.urls, known.sitemaps = now, urls, sitemaps
        holder = str(attempt)
        return HeartbeatReply(True, sorted(self._leases.renew(holder, now)), sorted(self._leases.lost(holder)))

    def counts(self, attempt: int) -> bool:
        """True for the latest attempt at a domain; only it may write results."""
        known = self._attempts.get(attempt)
        return known is not None and self._last.get(known.domain) == attempt

    def ask(self, attempt: int, host: str, now: float) -> float:
        """See `Leases.ask`."""
        return self._leases.ask(host, str(attempt), now)

    def free(self, attempt: int, host: str, rest: float, now: float) -> None:
        """See `Leases.free`."""
        self._leases.free(host, str(attempt), rest, now)

    def end(self, attempt: int, died: bool, now: float) -> None:
        """End an attempt. `died`: the crawl could not report how long its hosts must rest."""
        self._leases.drop(str(attempt), now, REST_S if died else 0.0)
        self._attempts.pop(attempt, None)

    def done(self, domain: str) -> None:
        """Forget a domain that will not be tried again."""
        self._last.pop(domain, None)
        self._tries.pop(domain, None)

    def running(self, now: float) -> list[Running]:
        """Running attempts. Forgets those without a heartbeat; their leases expire."""
        for attempt in [number for number, one in self._attempts.items() if now - one.last_beat > LOST_S]:
            del self._attempts[attempt]
        alive = [one for number, one in self._attempts.items() if self.counts(number)]
        return [Running(one.domain, one.urls, one.sitemaps, now - one.begun) for one in alive]
