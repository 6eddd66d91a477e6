"""Drives a fleet: submits domains, collects results, handles signals."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from sitemapcrawler.fleet.control.cluster import DomainFailure, RayCluster
from sitemapcrawler.fleet.control.schedule import Resolver, Schedule
from sitemapcrawler.fleet.domains import DOMAIN, FAILED, Domain, DomainRecord
from sitemapcrawler.fleet.leases import Running
from sitemapcrawler.fleet.output.destination import Output
from sitemapcrawler.fleet.worker.task import Plan, file_name
from sitemapcrawler.urls.display import inert

logger = logging.getLogger(__name__)

AHEAD = 10_000
"""Domains whose addresses are looked up ahead: enough that some can run while others share an address."""
WAIT_S = 0.2
"""Seconds to wait for results before starting further domains."""
IN_A_ROW = 3
"""Domains in a row that fail for a common reason, a full disk for instance, after which no more start."""


@dataclass(slots=True)
class FleetCounts:
    """Counts of a fleet's results."""

    total: int
    """Domains of the list."""
    earlier: int = 0
    """Domains done by an earlier run."""
    states: dict[str, int] = field(default_factory=dict)
    """Domains done by this run, by state."""
    urls: int = 0
    """URLs of domains done by this run."""
    sitemaps: int = 0
    """Files of domains done by this run."""
    failed: list[DomainRecord] = field(default_factory=list)
    """Domains without a result."""

    def add(self, domain: Domain, result: DomainRecord | DomainFailure) -> None:
        """Count the result of a domain."""
        if isinstance(result, DomainFailure):
            self.failed.append(DomainRecord(domain=domain.name, state=FAILED, error=result.reason))
            logger.warning("no result of %s: %s", domain.name, inert(result.reason))
            return
        self.states[result.state] = self.states.get(result.state, 0) + 1
        self.urls += result.urls
        self.sitemaps += result.sitemaps

    @property
    def done(self) -> int:
        """Domains with a result."""
        return self.earlier + sum(self.states.values())


class FleetStop:
    """Stop signals. The first SIGINT lets running domains finish; a second one, SIGTERM or SIGHUP ends them."""

    def __init__(self) -> None:
        self.begun = False
        """True if no further domain starts."""
        self.now = False
        """True if running domains are not waited for."""

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        self.now = self.now or self.begun or number != signal.SIGINT
        self.begun = True  # before the log line, whose reader may send the next signal at once
        if not self.now:
            logger.info("no more domains are begun; those that run come to their end (again: end at once)")

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Handle signals within the context."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # not under nohup
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self.on_signal) for number in numbers}
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
        cluster: RayCluster,
        per_address: int,
        stop: FleetStop,
        again: Collection[str] = (),
    ) -> None:
        """`again`: names of domains to crawl although they are done."""
        done = finished(output)
        left = [domain for domain in domains if domain.name in again or file_name(DOMAIN, domain) not in done]
        self._left = iter(left)
        self.counts = FleetCounts(len(domains), earlier=len(domains) - len(left))
        self._schedule = Schedule(per_address)
        self._resolver = Resolver()
        self._cluster = cluster
        self._plan = cluster.share(plan)
        self._stop = stop
        self.running: dict[Any, Domain] = {}
        self._lost = 0
        self.broken = False
        """True if the fleet ends because of a failure common to all domains."""

    def run(self, show: Callable[[Fleet], None]) -> None:
        """Run to the end or a stop, calling `show` between results. ClusterFailed if the cluster is gone."""
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
        """Domains that are scheduled or being looked up."""
        return self._schedule.waiting + self._resolver.pending

    def progress(self) -> list[Running]:
        """Progress of running domains."""
        return self._cluster.running()

    @property
    def stopped(self) -> bool:
        """True if not every domain was started."""
        return self._stop.begun

    def _feed(self) -> None:
        """Look up addresses ahead, and schedule domains whose addresses are known."""
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
            time.sleep(WAIT_S / 10)  # only look-ups are running
            return
        for reference in self._cluster.wait([*self.running], WAIT_S):
            domain = self.running.pop(reference)
            self._schedule.done(domain)
            result = self._cluster.result(reference, domain)
            self.counts.add(domain, result)
            self._lost = self._lost + 1 if isinstance(result, DomainFailure) and result.common else 0
            if self._lost >= IN_A_ROW and not self._stop.begun:
                self.broken = self._stop.begun = True
                message = "%d domains in a row have failed for a reason that is not theirs; no more are begun"
                logger.error(message, self._lost)


def finished(output: Output) -> set[str]:
    """Files of the rows of domains that are done."""
    return {name for name in output.names(DOMAIN) if name.endswith(".parquet")}
