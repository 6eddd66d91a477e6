"""What a fleet survives: the death of each of its processes, sites that never end, output that cannot be written."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crawl.mounts import small
from tests.crawl.site_server import Exchange
from tests.fleet.fleets import Data, Site, crawls, processes_of, run, sites, start, workers
from tests.processes import parent_of, wait_for_end

pytestmark = pytest.mark.slow

ENDING = "running ones finish"
"""Of the line that answers the first Ctrl-C."""


class Gate:
    """A route that waits until it is opened."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._open = threading.Event()

    def __call__(self, exchange: Exchange) -> None:
        self._open.wait()
        exchange.head(Content_Length=len(self._body))
        exchange.send(self._body)

    def open(self) -> None:
        self._open.set()


@contextmanager
def gated(site: Site, path: str) -> Iterator[Gate]:
    """A site of which one file does not come before the gate is opened."""
    route = site.routes[path]
    assert isinstance(route, bytes)
    gate = Gate(route)
    site.routes[path] = gate
    try:
        yield gate
    finally:
        gate.open()


def test_every_process_may_die_and_each_result_is_there_once(tmp_path: Path) -> None:
    with sites(2) as (first, second), gated(first, "/1.xml") as gate:
        domains = [first.url(), second.url()]
        with start(tmp_path, domains) as fleet:
            first.wait_for("/1.xml")
            second.wait_for("/1.xml")
            fleet.wait_until(lambda: len(crawls(fleet)) == 1)  # the other site's has ended
            crawls(fleet)[0].kill()
            first.wait_for("/1.xml", 2)

            crawl = crawls(fleet)[0]
            next(worker for worker in workers(fleet) if worker.pid == parent_of(crawl.parent)).kill()
            fleet.wait_until(lambda: not crawl.alive)
            first.wait_for("/1.xml", 3)

            left = processes_of(fleet)
            fleet.process.send_signal(signal.SIGKILL)
            fleet.process.wait()
            assert left
            wait_for_end(*left)
        data = Data(tmp_path / "out")
        assert first.url() not in data.urls()
        gate.open()
        again = run(tmp_path, domains)
        assert again.code == 0
        listed, rows = data.urls(), data.domains()
        for site in (first, second):
            assert sorted(listed[site.url()]) == sorted(set(listed[site.url()]))
            assert len(listed[site.url()]) == site.listed == rows[site.url()]["urls"]
        assert data.strangers() == []


def test_a_full_disk_leaves_no_half_file_and_the_next_run_completes_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with sites(4) as servers, small(out, "8m") as disk:
        domains = [site.url() for site in servers]
        disk.fill(left=20_000)
        full = run(tmp_path, domains, "--retries", "0", within=disk.within(tmp_path))
        assert full.code == 1
        assert "domains in a row have failed" in full.log
        data = Data(disk.seen)
        data.whole()
        assert data.domains() == {}
        disk.clear()
        assert run(tmp_path, domains, within=disk.within(tmp_path)).code == 0
        assert data.domains().keys() == set(domains)
        assert {len(locs) for locs in data.urls().values()} == {servers[0].listed}
        assert data.strangers() == []


def test_ctrl_c_lets_domains_end_and_begins_no_more_and_a_second_one_ends_it_at_once(tmp_path: Path) -> None:
    with sites(4) as servers, gated(servers[0], "/1.xml") as first, gated(servers[1], "/1.xml"):
        domains = [site.url() for site in servers]
        data = Data(tmp_path / "out")
        with start(tmp_path, domains) as fleet:
            servers[0].wait_for("/1.xml")
            servers[1].wait_for("/1.xml")
            running = processes_of(fleet)
            os.killpg(fleet.process.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
            fleet.wait_until(lambda: ENDING in fleet.log)
            first.open()
            fleet.wait_until(lambda: bool(data.domains()))
            os.killpg(fleet.process.pid, signal.SIGINT)
            stopped = fleet.finish()
        wait_for_end(*running)
        assert stopped.code == 3
        assert {name: row["state"] for name, row in data.domains().items()} == {domains[0]: "finished"}
        assert data.urls().keys() == set(domains[:1])
        assert [site.paths for site in servers[2:]] == [[], []]
