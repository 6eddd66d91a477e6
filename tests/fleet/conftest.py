"""Ray asks for the metadata of a cloud machine when it starts, at an address that is none of this machine's: every test
of a fleet runs in a network namespace that has nothing but `lo`.

A cluster must be up within 30 seconds, which Ray does not let anyone change. Two that start at once take longer on two
cores, so one module of these tests runs at a time."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.namespace import alone_or_skipped

LOCK = Path(tempfile.gettempdir()) / "sitemapcrawler-fleet-tests.lock"


@pytest.fixture(scope="module", autouse=True)
def alone() -> Iterator[None]:
    """The namespace, for a module; the lock, among the workers of pytest-xdist."""
    with LOCK.open("w") as lock, alone_or_skipped():
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        fcntl.flock(lock, fcntl.LOCK_UN)  # closing it is not enough: a process that was forked meanwhile holds it too
