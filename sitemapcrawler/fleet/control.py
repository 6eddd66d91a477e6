"""What the tasks of a fleet must know of each other: who crawls which domain, which hosts are asked by whom.

Pure: times are those of one monotonic clock, in seconds, and come as arguments. `cluster` makes a Ray actor of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from sitemapcrawler.fleet.leases import Leases

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
