"""What holds for all tests: examples of hypothesis are few and the same each time, or many with
HYPOTHESIS_PROFILE=search, and how long one takes says nothing; how a run ends."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.crawl import forks

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: it cannot be imported
"""With it, jsonschema compiles a grammar of IRIs each time it is imported, and so Ray, which takes 1.4 s."""

FLEETS = "tests/fleet/"
NICENESS = 5
"""Niceness of tests beside a fleet: each has a third of its share of a core."""
GZIP = b"\x1f\x8b"
"""Beginning of gzip."""

NEEDS = {
    "crawl/test_python_audit.py": "nbclient",
    "crawl/test_scrapy_cloud.py": "shub",
    "deploy/test_scrapyd.py": "scrapyd",
    "fleet/test_s3.py": "boto3",
    "unit/feeds/test_writable.py": "gcsfs",
    "unit/fleet/test_command.py": "ray",
    "unit/fleet/test_output_gcs.py": "gcsfs",
    "unit/fleet/test_output_s3.py": "s3fs",
    "unit/fleet/test_launching.py": "ray",
}
"""Packages of the extra `test-all` that modules need. Without them, as in `make test`, the modules are left out."""
collect_ignore = [name for name, package in NEEDS.items() if find_spec(package) is None]

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "fixed", max_examples=50, derandomize=True, deadline=None, database=None, suppress_health_check=SLOW
)
settings.register_profile(
    "search", max_examples=3000, deadline=None, database=None, suppress_health_check=SLOW, print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# A run in the background (`nohup`, `&`) ignores these, and so would every program that a test starts.
if hasattr(signal, "SIGHUP"):  # not on Windows
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected from the garbage collector, which would visit 20,000 tests again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the fleets, which take five minutes on their one worker: the others would wait for it in the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(FLEETS))


_niced: set[int] = set()
"""Processes of tests that have become nice."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let all others give way to the fleets: Ray gives its processes 30 seconds to start, without a setting."""
    if not item.nodeid.startswith(FLEETS) and os.getpid() not in _niced and hasattr(os, "nice"):
        _niced.add(os.getpid())
        os.nice(NICENESS)


@pytest.fixture(scope="module")
def fresh() -> Iterator[None]:
    """Start the programs of a module as a user does, with nothing imported: for tests about the start."""
    with forks.fresh():
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Any:
    """Run each module on one worker, and all fleets on one: two that start at once on two cores take too long. Groups of pytest-xdist (`loadgroup`) would say the same,
    but pytest 9.2 ignores them: https://github.com/pytest-dev/pytest-xdist/issues/1386"""
    from xdist.scheduler import LoadFileScheduling

    class ByModule(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist ships no types
        def _split_scope(self, nodeid: str) -> str:
            module: str = super()._split_scope(nodeid)
            return FLEETS if module.startswith(FLEETS) else module

    return ByModule(config, log)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Gzip holds the time of its making, of which no name of a test may depend: two processes must agree on it."""
    return argname if isinstance(val, bytes) and val.startswith(GZIP) else None


@atexit.register
def summary_is_last() -> None:
    """Let pytest's summary be the last line: behind it, DuckDB's binding lists objects on standard error that caches of
    the test tools still hold when the interpreter ends. Not in a hook: after the last one, pytest restores the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
