"""A fleet that is told to end."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.crawl.crawling import Crawl, Running
from tests.crawl.site_server import Exchange
from tests.fleet.fleets import Data, sites, start, wait_for
from tests.processes import Process, below, wait_for_end, wait_for_process
from tests.security.watching import Seen, working_in

pytestmark = pytest.mark.slow

HEAD = "gcs_server"
"""Ray's first process."""


@dataclass
class Terminated:
    """A fleet that got SIGTERM while it read a file that does not end."""

    pid: int
    ended: Crawl
    home: Path
    temporary: Path
    """Its TMPDIR."""
    seen: Seen
    """What was there just before."""
    others: list[Process]
    """Those that it had started."""


@pytest.fixture(scope="module")
def terminated(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminated]:
    home, seen = tmp_path_factory.mktemp("home"), Seen()
    temporary = Path(mkdtemp(prefix="t", dir="/tmp"))  # paths of sockets must be short
    with pytest.MonkeyPatch.context() as patch, sites(1) as (site,):
        patch.setenv("HOME", str(home))
        patch.setenv("TMPDIR", str(temporary))
        site.routes["/1.xml"] = Exchange.wait_until_client_goes
        with start(tmp_path_factory.mktemp("fleet"), [site.url()]) as fleet:
            wait_for(fleet, site, "/1.xml")
            seen.look(fleet.process.pid, temporary)
            others = below(fleet.process.pid)
            fleet.process.send_signal(signal.SIGTERM)
            ended = fleet.finish()
    yield Terminated(fleet.process.pid, ended, home, temporary, seen, others)
    shutil.rmtree(temporary)


def test_sigterm_ends_it_at_once_and_leaves_nothing(terminated: Terminated) -> None:
    ended = terminated.ended
    assert ended.code == 3
    assert "0 of 1 domain done" in ended.log
    assert "stopped before the end; run the same command to resume" in ended.log
    assert "SIGTERM" not in ended.log
    assert terminated.others
    wait_for_end(*(process.pid for process in terminated.others))
    assert working_in(ended.folder) == set()
    assert list(terminated.home.iterdir()) == []
    assert list(terminated.temporary.glob("*/ray")) == [], "what its crawls leave is for the next crawl to remove"
    sessions = (Path("/tmp").glob(f"{ours}ray/session_*_{terminated.pid}") for ours in ("", "sitemapcrawler-*/"))
    assert [*chain.from_iterable(sessions)] == []
    assert not list((Data(ended.folder / "out").folder).rglob("*.parquet"))


def test_it_listens_on_loopback_alone(terminated: Terminated) -> None:
    """Ray's processes talk by ports and sockets, which no other machine can reach."""
    seen = terminated.seen
    assert seen.listening, "Ray listens"
    assert {address for address in seen.listening if not address.startswith(("127.", "::1:"))} == set()
    assert not any(address.endswith(":8265") for address in seen.listening), "Ray's dashboard"
    assert {mode for name, mode in seen.modes.items() if "/" not in name} <= {0o600, 0o700}
    assert any(re.fullmatch(rf"[^/]+/ray/session_\S+_{terminated.pid}", name) for name in seen.modes)


def stopped(fleet: Running) -> None:
    """Wait for the end of a fleet that was told to stop, and check what it says."""
    ended = fleet.finish()
    assert ended.code == 3, ended.log
    assert ended.log.splitlines()[-1].endswith("stopped before the end; run the same command to resume")
    assert "lost objects" not in ended.log and "The program will terminate" not in ended.log


@pytest.mark.parametrize("is_reading", [True, False], ids=["while it reads", "while Ray starts"])
def test_sigterm_to_all_its_processes_is_a_stop_too(tmp_path: Path, is_reading: bool) -> None:
    """As `timeout` sends it: Ray's processes end by it too."""
    with sites(1) as (site,):
        site.routes["/1.xml"] = Exchange.wait_until_client_goes
        with start(tmp_path, [site.url()]) as fleet:
            if is_reading:
                wait_for(fleet, site, "/1.xml")
            else:
                wait_for_process(fleet.process.pid, HEAD)
            others = below(fleet.process.pid)
            os.killpg(fleet.process.pid, signal.SIGTERM)
            stopped(fleet)
    wait_for_end(*(process.pid for process in others))
