"""Drives a fleet: looks up addresses, submits domains, collects results, handles signals."""

from __future__ import annotations

import logging
import signal
import socket
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from threading import Thread
from types import FrameType
from typing import NamedTuple

from sitemapcrawler.fleet.cluster import RayCluster
from sitemapcrawler.fleet.domains import DOMAIN, FAILED, Domain, DomainRecord
from sitemapcrawler.fleet.output import Output
from sitemapcrawler.fleet.queueing import Addresses, DomainQueue
from sitemapcrawler.fleet.task import DomainFailed, FleetPlan, file_name
from sitemapcrawler.urls.display import inert

logger = logging.getLogger(__name__)

WAIT_S = 0.2
"""Seconds to wait for results before more domains are started."""
LOOK_UPS = 256
"""Look-ups at once. A name server that does not answer takes some ten seconds of each: timeout and attempts of
resolv.conf(5)."""
IN_A_ROW = 3
"""The fleet ends when this many domains in a row fail for a common reason, such as a full disk."""


@dataclass(slots=True)
class FleetCounts:
    """Results of a fleet, by count."""

    total: int
    earlier: int = 0
    """Domains done by earlier runs."""
    states: dict[str, int] = field(default_factory=dict)
    """Domains done by this run, by state."""
    urls: int = 0
    """URLs of the domains done by this run."""
    sitemaps: int = 0
    """Files of the domains done by this run."""
    failed: list[DomainRecord] = field(default_factory=list)
    """Domains without a result."""
    hosts: int = 0
    """Hosts whose addresses are looked up before any domain begins."""
    looked_up: int = 0
    """Those of them that have been."""

    def add(self, domain: Domain, result: DomainRecord | DomainFailed, attempts: int) -> None:
        """Count the result of a domain."""
        if isinstance(result, DomainFailed):
            failed = DomainRecord(domain=domain.name, state=FAILED, error=result.reason, attempts=attempts)
            self.failed.append(failed)
            logger.warning("no result of %s: %s", domain.name, inert(result.reason))
            return
        self.states[result.state] = self.states.get(result.state, 0) + 1
        self.urls += result.urls
        self.sitemaps += result.sitemaps

    @property
    def done(self) -> int:
        """Domains with a result."""
        return self.earlier + sum(self.states.values())


class Attempt(NamedTuple):
    """A crawl that runs, or waits for a worker."""

    domain: Domain
    number: int
    """From 1."""
    began: float
    """By `time.monotonic`."""


class FleetStop:
    """Stop signals: the first SIGINT lets running domains finish; a second one, SIGTERM or SIGHUP ends them at once."""

    def __init__(self) -> None:
        self.begun = False
        """True if no more domains are started."""
        self.now = False
        """True if running domains end at once."""

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        self.now = self.now or self.begun or number != signal.SIGINT
        self.begun = True  # before the log line: its reader may send the next signal at once
        if not self.now:
            logger.info("no more domains are started; running ones finish (again: stop at once)")

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Install the signal handlers within the context."""
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
    """One run over a list of domains."""

    def __init__(
        self,
        domains: list[Domain],
        output: Output,
        plan: FleetPlan,
        per_address: int,
        stop: FleetStop,
        again: Collection[str] = (),
    ) -> None:
        """`again`: names of domains to crawl even if they are done."""
        done = finished(output)
        self._left = [domain for domain in domains if domain.name in again or file_name(DOMAIN, domain) not in done]
        self.counts = FleetCounts(len(domains), earlier=len(domains) - len(self._left))
        self._per_address = per_address
        self._cluster: RayCluster
        self._plan = plan
        self._stop = stop
        self.running: dict[object, Attempt] = {}
        self._lost = 0
        self.broken = False
        """True if the fleet ends because of a common failure."""

    @property
    def is_done(self) -> bool:
        """True if no domain is left to crawl."""
        return not self._left

    def run(self, cluster: RayCluster, show: Callable[[Fleet], None]) -> None:
        """Run until all domains are done or a signal arrives; `show` is called between results. Raises ClusterFailed if
        the cluster is gone."""
        self._cluster = cluster
        addresses = self._look_up(show) if self._per_address else {}
        queue = DomainQueue(((domain, addresses.get(domain.host, ())) for domain in self._left), self._per_address)
        self._left, addresses = [], {}
        while not self._stop.now:
            if not self._stop.begun:
                self._start(queue)
            if not self.running:
                return
            self._collect(queue)
            show(self)

    def _look_up(self, show: Callable[[Fleet], None]) -> dict[str, Addresses]:
        """Addresses of all hosts, or of some if a signal arrives."""
        found: dict[str, Addresses] = {}
        hosts = dict.fromkeys(domain.host for domain in self._left)
        waiting = iter(hosts)  # shared: taking the next host is atomic

        def look_up() -> None:
            for host in waiting:
                if self._stop.begun:
                    return
                found[host] = addresses_of(host)

        self.counts.hosts = len(hosts)
        threads = [Thread(target=look_up, daemon=True) for _ in range(min(LOOK_UPS, len(hosts)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive() and not self._stop.begun:
                thread.join(WAIT_S)
                self.counts.looked_up = len(found)
                show(self)
        self.counts.looked_up = len(found)
        return found

    @property
    def stopped(self) -> bool:
        """True if a signal or a common failure ended the fleet early."""
        return self._stop.begun

    def _start(self, queue: DomainQueue) -> None:
        room = self._cluster.room
        while len(self.running) < room and (domain := queue.next()) is not None:
            self._begin(domain, 1)

    def _begin(self, domain: Domain, number: int) -> None:
        reference = self._cluster.start(domain, self._plan, number)
        self.running[reference] = Attempt(domain, number, time.monotonic())

    def _collect(self, queue: DomainQueue) -> None:
        for reference in self._cluster.wait([*self.running], WAIT_S):
            if self._stop.now:  # the signal may have ended workers too: this is no failure of a domain
                return
            domain, number, _ = self.running.pop(reference)
            result = self._cluster.result(reference)
            if isinstance(result, DomainFailed) and result.again and number <= self._plan.retries:
                self._begin(domain, number + 1)
                continue
            queue.done(domain)
            self.counts.add(domain, result, number)
            self._lost = self._lost + 1 if isinstance(result, DomainFailed) and result.common else 0
            if self._lost >= IN_A_ROW and not self._stop.begun:
                self.broken = self._stop.begun = True
                message = "%d domains in a row failed for a reason other than the site; no more are started"
                logger.error(message, self._lost)


def addresses_of(host: str) -> Addresses:
    """Sorted addresses of a host; none if it cannot be looked up, which its crawl will report."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # the latter if a label is too long
        return ()
    return tuple(sorted({str(address[4][0]).partition("%")[0] for address in found}))


def finished(output: Output) -> set[str]:
    """Names of the row files of finished domains."""
    return set(chain.from_iterable(output.partitions(DOMAIN)))
