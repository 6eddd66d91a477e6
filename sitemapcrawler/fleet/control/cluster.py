"""The Ray cluster that a fleet runs on, joined or started here, with its control actor and its tasks.

Only imported by a running fleet. Without an address, a local cluster starts. It listens on the loopback interface only,
and sends no usage statistics.
"""

from __future__ import annotations

import io
import logging
import os
import re
import shutil
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir, mkdtemp
from types import TracebackType
from typing import Any, Self

from sitemapcrawler.fleet.domains import Domain, DomainRecord
from sitemapcrawler.fleet.leases import Control, HeartbeatReply, Running
from sitemapcrawler.fleet.output.destination import OutputFailed
from sitemapcrawler.fleet.worker.nursery import Nursery
from sitemapcrawler.fleet.worker.task import CrawlAbandoned, CrawlDied, CrawlFault, Plan, Superseded, crawl_domain
from sitemapcrawler.urls.display import inert

for _name, _value in {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or it announces a change of its own at each start
}.items():
    os.environ.setdefault(_name, _value)
ray: Any = import_module("ray")  # an import statement would ask type checkers for the types of what it brings along
affinity: Any = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
STORE_BYTES = 100 * 1024 * 1024
"""Object store of a local cluster in bytes: results are rows of a kilobyte, and Ray requires 75 MB."""
CONNECT_S = 10.0
"""Timeout in seconds of a connection to the head of a cluster."""
SHUTDOWN_S, POLL_S = 5.0, 0.1
"""Seconds for which processes of an ended cluster may still write, and between two checks of their folder."""
PLACE, MAX_PLACE = "/tmp", 14
"""Folder of sockets if the temporary folder's path is longer than this: names end at 107 characters, and Ray adds some
90. Source: unix(7)"""
_PLACE = re.compile(r"([^/]+):([0-9]{1,5})")
AGAIN = (CrawlDied, OutputFailed, Superseded)
"""Errors of a task after which it is tried again."""


class Clocked:
    """`Control` as an actor with the clock of its machine, so that no two clocks are compared."""

    def __init__(self) -> None:
        self._control = Control()

    def begin(self, domain: str) -> tuple[int, int]:
        """See `Control`."""
        return self._control.begin(domain, time.monotonic())

    def beat(self, attempt: int, urls: int, sitemaps: int) -> HeartbeatReply:
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

    def running(self) -> list[Running]:
        """See `Control`."""
        return self._control.running(time.monotonic())


class Remote:
    """The control actor, as tasks use it."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._actor, name)
        return lambda *arguments: ray.get(method.remote(*arguments))


_nursery = Nursery()
"""The nursery of this worker, which forks one crawl after the other."""


def work(domain: Domain, plan: Plan, actor: Any) -> DomainRecord:
    """Task of Ray: crawl one domain."""
    return crawl_domain(domain, plan, Remote(actor), _nursery)


@dataclass(frozen=True, slots=True)
class DomainFailure:
    """A domain without a result."""

    reason: str
    """One line."""
    common: bool
    """True if other domains are likely to fail as well: the output cannot be written, or a worker has a fault."""


class ClusterFailed(Exception):
    """The cluster cannot be started or reached, or is gone; one line."""


class RayOutput(io.TextIOBase):
    """Logs at level DEBUG what Ray prints on standard output."""

    def write(self, text: str) -> int:
        """A line or part of one."""
        if text.strip():
            logger.debug("Ray: %s", inert(text.strip()))
        return len(text)


class RayCluster:
    """A Ray cluster, joined or started. As a context manager, ends all tasks."""

    def __init__(self, address: str | None, workers: int | None, cpus: float, retries: int) -> None:
        """`workers`: domains at once, None: one for each reserved core; `cpus`: cores reserved for each domain;
        `retries`: further attempts at a domain whose crawl or output failed."""
        local = address is None
        self._workers = workers
        self._cpus = 1 if local else cpus
        self._folder: str | None = None
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
        if local:
            # Else Ray writes a token to ~/.ray, which `ray start` would require from then on.
            os.environ.setdefault("RAY_AUTH_TOKEN", token_hex())
            self._workers = workers or os.cpu_count() or 1
            options |= {
                "num_cpus": self._workers,
                "num_gpus": 0,
                "include_dashboard": False,
                "object_store_memory": STORE_BYTES,
                "_node_ip_address": LOOPBACK,
                "_temp_dir": self._private_folder(),
            }
        self._quiet = redirect_stdout(RayOutput())
        handler = signal.getsignal(signal.SIGTERM)
        try:
            check_reachable(address)
            ray.init(address=address or "local", **options)
        except Exception as error:
            self._shut_down()
            raise ClusterFailed(f"{address or 'a local cluster'}: {first_line(error)}") from None
        finally:
            signal.signal(signal.SIGTERM, handler)  # Ray replaces it by one that prints a trace and exits
        self._check_cores()
        # On the driver's machine, whose end is that of the fleet in any case.
        here = affinity(ray.get_runtime_context().get_node_id(), soft=False)
        self._control = ray.remote(num_cpus=0, scheduling_strategy=here)(Clocked).remote()
        self._task = ray.remote(
            num_cpus=self._cpus, max_retries=retries, retry_exceptions=list(AGAIN), scheduling_strategy="SPREAD"
        )(work)

    def __enter__(self) -> Self:
        self._quiet.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shut_down()
        self._quiet.__exit__(kind, error, trace)

    def _private_folder(self) -> str:
        """Folder of a local cluster's sockets and logs. Ray makes it world-writable, so its parent is private."""
        self._folder = mkdtemp(prefix="sitemapcrawler-", dir=PLACE if len(gettempdir()) > MAX_PLACE else None)
        return f"{self._folder}/ray"

    def _shut_down(self) -> None:
        ray.shutdown()
        if self._folder is not None:
            remove_folder(Path(self._folder))

    def _check_cores(self) -> None:
        """ClusterFailed if no machine has the cores that a domain needs."""
        most = max((node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]), default=0)
        if 0 < most < self._cpus:
            self._shut_down()
            cores = "core" if self._cpus == 1 else "cores"
            raise ClusterFailed(
                f"no machine of the cluster has {self._cpus:g} {cores} for a domain, the largest {most:g}"
            )

    @property
    def room(self) -> int:
        """Domains that can run at once."""
        if self._workers is not None:
            return self._workers
        return max(1, int(ray.cluster_resources().get("CPU", 1) / self._cpus))

    def start(self, domain: Domain, plan: Any) -> Any:
        """Start a task; returns the reference of its result."""
        return self._task.options(name=domain.name).remote(domain, plan, self._control)

    def share(self, plan: Plan) -> Any:
        """Share the plan with all tasks; returns its reference."""
        return ray.put(plan)

    def wait(self, running: Sequence[Any], seconds: float) -> list[Any]:
        """Wait for a result; returns all references that have one."""
        done, _ = ray.wait(list(running), num_returns=len(running), timeout=0)
        if not done:
            done, _ = ray.wait(list(running), num_returns=1, timeout=seconds)
        return list(done)

    def result(self, reference: Any, domain: Domain) -> DomainRecord | DomainFailure:
        """The row of a domain, or why there is none. ClusterFailed if the cluster is gone."""
        errors = ray.exceptions
        try:
            record: DomainRecord = ray.get(reference)
            return record
        except errors.RayTaskError as error:
            cause = getattr(error, "cause", error)
            if isinstance(cause, errors.RayError):  # of the control, which all need
                raise ClusterFailed(first_line(cause)) from None
            known = isinstance(cause, (*AGAIN, CrawlAbandoned))
            reason = first_line(cause) if known else f"{type(cause).__name__}: {first_line(cause)}"
            return DomainFailure(reason, not known or isinstance(cause, (OutputFailed, CrawlFault)))
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError) as error:
            return DomainFailure(f"its worker died again and again: {first_line(error)}", False)
        except errors.RayError as error:
            raise ClusterFailed(first_line(error)) from None
        finally:
            self._control.done.remote(domain.name)

    def running(self) -> list[Running]:
        """Running attempts. ClusterFailed if the cluster is gone."""
        try:
            running: list[Running] = ray.get(self._control.running.remote())
            return running
        except ray.exceptions.RayError as error:
            raise ClusterFailed(first_line(error)) from None


def remove_folder(folder: Path) -> None:
    """Remove a folder in which Ray's processes may still create files for a moment."""
    until = time.monotonic() + SHUTDOWN_S
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or time.monotonic() > until:
            return
        time.sleep(POLL_S)  # Ray does not say when the last of them has ended


def check_reachable(address: str | None) -> None:
    """OSError if nothing listens at HOST:PORT: Ray would try for minutes."""
    if address is not None and (found := _PLACE.fullmatch(address)):
        socket.create_connection((found[1].strip("[]"), int(found[2])), CONNECT_S).close()


def first_line(error: BaseException) -> str:
    """First line of an error's message, or its type."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
