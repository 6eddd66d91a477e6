"""Ray cluster of a fleet, joined or started here, with its tasks.

Imported only when a fleet runs. Without an address it starts a local cluster, which listens on the loopback interface
only and sends no usage statistics.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir, mkdtemp
from types import ModuleType, TracebackType
from typing import Self

from sitemapcrawler.fleet.domains import Domain, DomainRecord
from sitemapcrawler.fleet.output import OutputFailed
from sitemapcrawler.fleet.task import DomainFailed, FleetPlan, crawl_domain
from sitemapcrawler.urls.display import first_line, inert

for _name, _value in {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray prints a warning about a future change at each start
    "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",  # else a signal during the start ends it after up to 30 seconds
}.items():
    os.environ.setdefault(_name, _value)
ray: ModuleType = import_module("ray")  # an import statement would make type checkers read Ray's dependencies

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
STORE_BYTES = 100 * 1024 * 1024
"""Object store of a local cluster in bytes. Results are rows of about 1 kB; Ray requires at least 75 MB."""
CONNECT_S = 10.0
"""Timeout in seconds for connecting to the head of a cluster."""
SHUTDOWN_S, POLL_S = 5.0, 0.1
"""Seconds to keep removing the folder of an ended cluster, whose processes may still write, and between two checks."""
PLACE, MAX_PLACE = "/tmp", 14
"""Folder for sockets if the path of the temporary folder is longer than `MAX_PLACE`: socket paths are limited to 107
characters, of which Ray uses some 90. Source: unix(7)"""
_PLACE = re.compile(r"([^/]+):([0-9]{1,5})")
SLOW = "timed out during startup"
"""What Ray says of a cluster that was not up within its 30 seconds."""
STARTS = 5
"""Attempts to start a local cluster. On two cores with ten busy processes, two were not enough."""


class ClusterFailed(Exception):
    """The cluster cannot be started or reached, or is gone. The message is one line."""


@contextmanager
def reaching() -> Iterator[None]:
    """Raise ClusterFailed for an error of Ray."""
    try:
        yield
    except ray.exceptions.RayError as error:
        raise _failed(error) from None


def _failed(error: Exception) -> ClusterFailed:
    return ClusterFailed(f"the Ray cluster failed: {first_line(error).rstrip('.')}")


class RayOutput(io.TextIOBase):
    """Logs what Ray prints to standard output, at level DEBUG."""

    def write(self, text: str) -> int:
        """Log a line or a part of one."""
        if text.strip():
            logger.debug("Ray: %s", inert(text.strip()))
        return len(text)


class RayCluster:
    """A Ray cluster, joined or started. Leaving the context ends all tasks."""

    def __init__(self, address: str | None, workers: int | None, cpus: float) -> None:
        """Join the cluster at `address`, or start a local one. Raises ClusterFailed.

        `workers`: domains at once, default one per reserved core; `cpus`: cores reserved per domain.
        """
        local = address is None
        self._workers = workers
        self._cpus = 1 if local else cpus
        self._folder: str | None = None
        options: dict[str, object] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
        if local:
            # Otherwise Ray writes a token to ~/.ray, which `ray start` then requires.
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
            self._join(address or "local", options)
        except (Exception, SystemExit) as error:
            self._shut_down()
            if isinstance(error, SystemExit) and callable(handler):
                handler(signal.SIGTERM, None)
            raise ClusterFailed(f"{address or 'a local cluster'}: {first_line(error)}") from None
        finally:
            signal.signal(signal.SIGTERM, handler)  # while Ray starts, it handles the signal, and raises SystemExit
        self._check_cores()
        self._work = ray.remote(num_cpus=self._cpus, scheduling_strategy="SPREAD", max_retries=0)(crawl_domain)

    def __enter__(self) -> Self:
        self._quiet.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shut_down()
        self._quiet.__exit__(kind, error, trace)

    @staticmethod
    def _join(address: str, options: Mapping[str, object]) -> None:
        """Join the cluster, or start it, and again while that is too slow: Ray gives it 30 seconds, which
        no setting changes."""
        for attempt in range(1, STARTS + 1):
            try:
                ray.init(address=address, **options)
                return
            except Exception as error:
                if SLOW not in str(error) or attempt == STARTS:
                    raise
            logger.info("The local cluster did not start in time; starting it again")
            ray.shutdown()

    def _private_folder(self) -> str:
        """Folder for sockets and logs of a local cluster. Ray makes it world-writable, so its parent is private."""
        self._folder = mkdtemp(prefix="sitemapcrawler-", dir=PLACE if len(gettempdir()) > MAX_PLACE else None)
        return f"{self._folder}/ray"

    def _shut_down(self) -> None:
        ray.shutdown()
        if self._folder is not None:
            remove_folder(Path(self._folder))

    def _check_cores(self) -> None:
        """Raise ClusterFailed if no machine has the cores that one domain needs."""
        most = max((node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]), default=0)
        if 0 < most < self._cpus:
            self._shut_down()
            cores = "core" if self._cpus == 1 else "cores"
            raise ClusterFailed(
                f"no machine of the cluster has {self._cpus:g} {cores} for a domain, the largest {most:g}"
            )

    @property
    def room(self) -> int:
        """Number of domains that can run at once. Raises ClusterFailed if the cluster is gone."""
        if self._workers is not None:
            return self._workers
        with reaching():
            return max(1, int(ray.cluster_resources().get("CPU", 1) / self._cpus))

    def start(self, domain: Domain, plan: FleetPlan, attempt: int) -> object:
        """Start a task and return the reference of its result. The plan goes with each task: in the object store it
        would be lost with the machine that holds it."""
        plan = plan if self._folder is None else replace(plan, sockets=self._folder)
        return self._work.options(name=domain.name).remote(domain, plan, attempt)

    def wait(self, running: Sequence[object], seconds: float) -> list[object]:
        """Wait up to `seconds` for a result; returns all references that have one. Raises ClusterFailed if the cluster
        is gone."""
        with reaching():
            done, _ = ray.wait(list(running), num_returns=len(running), timeout=0)
            if not done:
                done, _ = ray.wait(list(running), num_returns=1, timeout=seconds)
            return list(done)

    def result(self, reference: object) -> DomainRecord | DomainFailed:
        """Row of a domain, or the reason why there is none. Raises ClusterFailed if the cluster is gone."""
        errors = ray.exceptions
        try:
            record: DomainRecord = ray.get(reference)
            return record
        except errors.RayTaskError as error:
            return failure_of(getattr(error, "cause", error))
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError) as error:
            return DomainFailed(f"its worker died: {first_line(error)}")
        except errors.RayError as error:
            raise _failed(error) from None


def failure_of(error: Exception) -> DomainFailed:
    """Failure of a domain whose task raised an exception."""
    if isinstance(error, DomainFailed):
        return error
    if isinstance(error, OutputFailed):
        return DomainFailed(first_line(error), common=True)
    return DomainFailed(f"{type(error).__name__}: {first_line(error)}", common=True, again=False)


def remove_folder(folder: Path) -> None:
    """Remove a folder although Ray's processes may still create files in it."""
    until = time.monotonic() + SHUTDOWN_S
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or time.monotonic() > until:
            return
        time.sleep(POLL_S)  # Ray does not report when its last process has ended


def check_reachable(address: str | None) -> None:
    """Raise OSError if nothing listens at HOST:PORT; Ray itself would retry for minutes."""
    if address is not None and (found := _PLACE.fullmatch(address)):
        socket.create_connection((found[1].strip("[]"), int(found[2])), CONNECT_S).close()
