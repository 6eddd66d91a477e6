"""A fleet that is told to end, and one that cannot begin."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from tests.crawl.crawling import Running
from tests.crawl.site_server import Exchange
from tests.fleet.fleets import Data, run, sites, start
from tests.processes import below, wait_for_end, wait_for_process

pytestmark = pytest.mark.slow

HEAD = "gcs_server"
"""Ray's first process."""


def test_sigterm_ends_it_at_once_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))

    with sites(1) as (site,):
        site.routes["/1.xml"] = Exchange.wait_until_client_goes
        with start(tmp_path, [site.url()]) as fleet:
            site.wait_for("/1.xml")
            others = below(fleet.process.pid)
            fleet.process.send_signal(signal.SIGTERM)
            ended = fleet.finish()
    assert ended.code == 3
    assert "0 of 1 domain done" in ended.log
    assert "stopped before the end; run the same command to resume" in ended.log
    assert not list(home.iterdir())
    assert "SIGTERM" not in ended.log
    assert others
    wait_for_end(*(process.pid for process in others))
    assert not list((Data(tmp_path / "out").folder).rglob("*.parquet"))


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
                site.wait_for("/1.xml")
            else:
                wait_for_process(fleet.process.pid, HEAD)
            others = below(fleet.process.pid)
            os.killpg(fleet.process.pid, signal.SIGTERM)
            stopped(fleet)
    wait_for_end(*(process.pid for process in others))


def test_a_cluster_where_nobody_listens_is_refused_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
    refused = run(tmp_path, ["127.0.0.1"], "--address", place)
    assert refused.code == 1
    assert refused.log == f"sitemapcrawler: {place}: [Errno 111] Connection refused\n"
