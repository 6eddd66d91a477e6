"""What runs in the processes of Ray: the control of a fleet, as an actor, and a task for each domain."""

from __future__ import annotations

import os
import time
from importlib import import_module
from typing import Any

from sitemapcrawler.fleet.control.domains import Domain
from sitemapcrawler.fleet.control.leases import Answer, Control, Running
from sitemapcrawler.fleet.records import DomainRecord
from sitemapcrawler.fleet.worker.children import Nursery
from sitemapcrawler.fleet.worker.task import Plan, crawl_domain

for _name, _value in {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or it announces a change of its own at each start
}.items():
    os.environ.setdefault(_name, _value)
ray: Any = import_module("ray")  # an import statement would ask type checkers for the types of what it brings along


class Clocked:
    """The control, as an actor: with the clock of its machine, so that no two clocks are compared."""

    def __init__(self) -> None:
        self._control = Control()

    def begin(self, domain: str) -> tuple[int, int]:
        """See `Control`."""
        return self._control.begin(domain, time.monotonic())

    def beat(self, attempt: int, urls: int, sitemaps: int) -> Answer:
        """See `Control`."""
        return self._control.beat(attempt, urls, sitemaps, time.monotonic())

    def counts(self, attempt: int) -> bool:
        """See `Control`."""
        return self._control.counts(attempt)

    def ask(self, attempt: int, host: str) -> float:
        """See `Control`."""
        return self._control.ask(attempt, host, time.monotonic())

    def free(self, attempt: int, host: str, rest: float) -> None:
        """See `Control`."""
        self._control.free(attempt, host, rest, time.monotonic())

    def end(self, attempt: int, died: bool) -> None:
        """See `Control`."""
        self._control.end(attempt, died, time.monotonic())

    def done(self, domain: str) -> None:
        """See `Control`."""
        self._control.done(domain)

    def look(self) -> list[Running]:
        """See `Control`."""
        return self._control.look(time.monotonic())


class Remote:
    """The control, as tasks see it."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._actor, name)
        return lambda *arguments: ray.get(method.remote(*arguments))


_nursery = Nursery()
"""Of this worker; children of one domain after the other come from it."""


def work(domain: Domain, plan: Plan, actor: Any) -> DomainRecord:
    """The task of Ray: one domain."""
    return crawl_domain(domain, plan, Remote(actor), _nursery)
