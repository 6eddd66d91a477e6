"""The fleet from where it is started: which domains are left to do, which may run, what has come of them."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from sitemapcrawler.fleet.control.cluster import Cluster, Failed
from sitemapcrawler.fleet.control.domains import Domain
from sitemapcrawler.fleet.control.leases import Running
from sitemapcrawler.fleet.control.resolving import Resolver
from sitemapcrawler.fleet.control.schedule import Schedule
from sitemapcrawler.fleet.output.destination import Output
from sitemapcrawler.fleet.records import DOMAIN, FAILED, DomainRecord
from sitemapcrawler.fleet.worker.results import place
from sitemapcrawler.fleet.worker.task import Plan
from sitemapcrawler.urls.display import inert

logger = logging.getLogger(__name__)

AHEAD = 10_000
"""Domains whose addresses are looked up before their turn: enough that some can run while others share an address."""
WAIT_S = 0.2
"""Seconds to wait for results before the next look at what else there is to do."""
IN_A_ROW = 3
"""Domains that fail one after the other for a reason that holds for all, a full disk for instance, after which no more
begin."""


@dataclass(slots=True)
class Tally:
    """How far a fleet is."""

    total: int
    """Domains of the list."""
    earlier: int = 0
    """Of these, done by an earlier run."""
    states: dict[str, int] = field(default_factory=dict)
    """Domains done by this run, by state."""
    urls: int = 0
    """Url records of those."""
    sitemaps: int = 0
    """Sitemap records of those."""
    failed: list[DomainRecord] = field(default_factory=list)
    """Those without a result."""

    def take(self, domain: Domain, result: DomainRecord | Failed) -> None:
        """Count what came of a domain."""
        if isinstance(result, Failed):
            self.failed.append(DomainRecord(domain=domain.name, state=FAILED, error=result.reason))
            logger.warning("no result of %s: %s", domain.name, inert(result.reason))
            return
        self.states[result.state] = self.states.get(result.state, 0) + 1
        self.urls += result.urls
        self.sitemaps += result.sitemaps

    @property
    def done(self) -> int:
        """Domains that need no more work, failed ones left out."""
        return self.earlier + sum(self.states.values())


class Stop:
    """Signals. The first SIGINT lets running domains come to their end; a second one, SIGTERM, or the end of the
    terminal (SIGHUP) does not."""

    def __init__(self) -> None:
        self.begun = False
        """No new domain begins."""
        self.now = False
        """Nothing is waited for."""

    def hear(self, number: int, frame: FrameType | None) -> None:
        """A signal came."""
        self.now = self.now or self.begun or number != signal.SIGINT
        self.begun = True  # before anything is told: whoever reads it may send the next one at once
        if not self.now:
            logger.info("no more domains are begun; those that run come to their end (again: end at once)")

    @contextmanager
    def heard(self) -> Iterator[None]:
        """While signals are heard here."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # `nohup` ignores it
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self.hear) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Fleet:
    """One run of a fleet over a list of domains."""

    def __init__(
        self,
        domains: list[Domain],
        output: Output,
        plan: Plan,
        cluster: Cluster,
        per_address: int,
        stop: Stop,
        again: Collection[str] = (),
    ) -> None:
        """`again`: names of domains that are crawled though they are done."""
        done = finished(output)
        left = [domain for domain in domains if domain.name in again or place(DOMAIN, domain) not in done]
        self._left = iter(left)
        self.tally = Tally(len(domains), earlier=len(domains) - len(left))
        self._schedule = Schedule(per_address)
        self._resolver = Resolver()
        self._cluster = cluster
        self._plan = cluster.share(plan)
        self._stop = stop
        self.running: dict[Any, Domain] = {}
        self._lost = 0
        self.broken = False
        """True where the fleet ends because of something that fails for all domains."""

    def run(self, show: Callable[[Fleet], None]) -> None:
        """Run to the end, or to a stop. `show` is called now and then. ClusterFailed where the cluster is gone."""
        try:
            while not self._stop.now:
                if not self._stop.begun:
                    self._feed()
                    self._start()
                elif not self.running:
                    return
                if not self.running and not self.waiting:
                    return
                self._collect()
                show(self)
        finally:
            self._resolver.close()

    @property
    def waiting(self) -> int:
        """Domains that are known to be left, running ones left out."""
        return self._schedule.waiting + self._resolver.pending

    def look(self) -> list[Running]:
        """What runs, as its workers say."""
        return self._cluster.look()

    @property
    def stopped(self) -> bool:
        """True where not every domain was taken on."""
        return self._stop.begun

    def _feed(self) -> None:
        """Have addresses looked up, and domains scheduled whose addresses are known."""
        while self.waiting < AHEAD and (domain := next(self._left, None)) is not None:
            self._resolver.submit(domain)
        for domain, addresses in self._resolver.ready():
            self._schedule.add(domain, addresses)

    def _start(self) -> None:
        room = self._cluster.room - len(self.running)
        while room > 0 and (domain := self._schedule.next()) is not None:
            self.running[self._cluster.start(domain, self._plan)] = domain
            room -= 1

    def _collect(self) -> None:
        if not self.running:
            time.sleep(WAIT_S / 10)  # names are being looked up, and nothing else is to be waited for
            return
        for reference in self._cluster.wait([*self.running], WAIT_S):
            domain = self.running.pop(reference)
            self._schedule.done(domain)
            result = self._cluster.result(reference, domain)
            self.tally.take(domain, result)
            self._lost = self._lost + 1 if isinstance(result, Failed) and result.common else 0
            if self._lost >= IN_A_ROW and not self._stop.begun:
                self.broken = self._stop.begun = True
                told = "%d domains in a row have failed for a reason that is not theirs; no more are begun"
                logger.error(told, self._lost)


def finished(output: Output) -> set[str]:
    """Names of the rows of domains that are done."""
    return {name for name in output.names(DOMAIN) if name.endswith(".parquet")}
