"""Ray: the cluster that a fleet runs on, joined or started; what runs there stands in `work`.

Only imported where a fleet runs. Without an address a cluster of this machine's starts, which listens on the loopback
interface alone, and sends no statistics of its use to Ray's makers.
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

from sitemapcrawler.fleet.control.domains import Domain
from sitemapcrawler.fleet.control.leases import Running
from sitemapcrawler.fleet.output.destination import OutputFailed
from sitemapcrawler.fleet.records import DomainRecord
from sitemapcrawler.fleet.worker.conversation import Superseded
from sitemapcrawler.fleet.worker.results import CrawlDied, CrawlFault
from sitemapcrawler.fleet.worker.task import GivenUp, Plan
from sitemapcrawler.fleet.worker.work import Clocked, ray, work
from sitemapcrawler.urls.display import inert

affinity: Any = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
STORE_BYTES = 100 * 1024 * 1024
"""Memory of a local cluster's object store, in bytes: results are rows of a kilobyte, and Ray wants 75 MB at least."""
CONNECT_S = 10.0
"""Seconds in which the head of a cluster must take a connection."""
LAST_WORDS_S, LOOK_S = 5.0, 0.1
"""Seconds that processes of a cluster which has ended may still write, and between two looks at their folder."""
PLACE, MAX_PLACE = "/tmp", 14
"""Where sockets are whose names would be too long elsewhere, and the characters of such a place: a name ends at 107,
and what follows the place takes some 90. Source: unix(7)"""
_PLACE = re.compile(r"([^/]+):([0-9]{1,5})")
AGAIN = (CrawlDied, OutputFailed, Superseded)
"""What a task may end with that is worth another attempt."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A domain without a result."""

    reason: str
    """One line."""
    common: bool
    """True where that is likely to hold for all domains: an output that cannot be written, a fault in a worker."""


class ClusterFailed(Exception):
    """The cluster cannot be had, or is gone; one line."""


class Murmur(io.TextIOBase):
    """Takes what Ray prints on standard output while a fleet runs, tasks that are tried again for instance: the log has
    it at level DEBUG."""

    def write(self, text: str) -> int:
        """A line or part of one."""
        if text.strip():
            logger.debug("Ray: %s", inert(text.strip()))
        return len(text)


class Cluster:
    """A Ray cluster, joined or started. A context manager: at its end all tasks are ended."""

    def __init__(self, address: str | None, workers: int | None, cpus: float, retries: int) -> None:
        """`workers`: domains at once, None: as many as the cluster has room for; `cpus`: cores reserved for each;
        `retries`: further attempts at a domain whose crawl or output failed."""
        local = address is None
        self._workers = workers
        self._cpus = 1 if local else cpus
        self._folder: str | None = None
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
        if local:
            # Or Ray writes one to ~/.ray, if it may; all clusters that `ray start` begins there would ask for it.
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
        self._quiet = redirect_stdout(Murmur())
        hear = signal.getsignal(signal.SIGTERM)
        try:
            check_reachable(address)
            ray.init(address=address or "local", **options)
        except Exception as error:
            self._shut_down()
            raise ClusterFailed(f"{address or 'a local cluster'}: {first_line(error)}") from None
        finally:
            signal.signal(signal.SIGTERM, hear)  # which Ray has taken, to print a trace and end the process
        self._check_cores()
        # Where the driver is, whose end is that of all: no other machine may take the fleet along when it goes.
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
        """Where a local cluster has its sockets and logs. Ray lets everybody read and write there, as in /tmp/ray: so
        it lies in a folder that nobody else may enter."""
        self._folder = mkdtemp(prefix="sitemapcrawler-", dir=PLACE if len(gettempdir()) > MAX_PLACE else None)
        return f"{self._folder}/ray"

    def _shut_down(self) -> None:
        ray.shutdown()
        if self._folder is not None:
            remove(Path(self._folder))

    def _check_cores(self) -> None:
        """ClusterFailed where a domain is to have more cores than any machine has."""
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
        """Begin with a domain; the reference of its result."""
        return self._task.options(name=domain.name).remote(domain, plan, self._control)

    def share(self, plan: Plan) -> Any:
        """Put the plan where all tasks can read it."""
        return ray.put(plan)

    def wait(self, running: Sequence[Any], seconds: float) -> list[Any]:
        """Wait until one of the references has its result; all that have."""
        done, _ = ray.wait(list(running), num_returns=len(running), timeout=0)
        if not done:
            done, _ = ray.wait(list(running), num_returns=1, timeout=seconds)
        return list(done)

    def result(self, reference: Any, domain: Domain) -> DomainRecord | Failed:
        """The row of a domain, or why there is none. ClusterFailed where the cluster is gone."""
        errors = ray.exceptions
        try:
            record: DomainRecord = ray.get(reference)
            return record
        except errors.RayTaskError as error:
            cause = getattr(error, "cause", error)
            if isinstance(cause, errors.RayError):  # of the control, which all need
                raise ClusterFailed(first_line(cause)) from None
            known = isinstance(cause, (*AGAIN, GivenUp))
            reason = first_line(cause) if known else f"{type(cause).__name__}: {first_line(cause)}"
            return Failed(reason, not known or isinstance(cause, (OutputFailed, CrawlFault)))
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError) as error:
            return Failed(f"its worker died again and again: {first_line(error)}", False)
        except errors.RayError as error:
            raise ClusterFailed(first_line(error)) from None
        finally:
            self._control.done.remote(domain.name)

    def look(self) -> list[Running]:
        """What runs."""
        try:
            seen: list[Running] = ray.get(self._control.look.remote())
            return seen
        except ray.exceptions.RayError as error:
            raise ClusterFailed(first_line(error)) from None


def remove(folder: Path) -> None:
    """Remove a folder in which Ray's processes may still make files for a moment."""
    until = time.monotonic() + LAST_WORDS_S
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or time.monotonic() > until:
            return
        time.sleep(LOOK_S)  # nobody tells when the last of them has ended


def check_reachable(address: str | None) -> None:
    """OSError where nobody listens at HOST:PORT: Ray would try for minutes."""
    if address is not None and (found := _PLACE.fullmatch(address)):
        socket.create_connection((found[1].strip("[]"), int(found[2])), CONNECT_S).close()


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
