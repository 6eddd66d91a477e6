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
from tests.fleet.fleets import WITHOUT_RAY, Data, Site, crawls, processes_of, run, sites, start, wait_for, workers
from tests.processes import parent_of, wait_for_end

pytestmark = pytest.mark.slow

NOWHERE = "http://127.0.9.9:9"
"""The start of a site whose server does not listen."""
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


def test_after_a_full_disk_and_the_death_of_every_process_each_result_is_there_once(tmp_path: Path) -> None:
    """The last run skips what is done, and reads again what could not be read."""
    out = tmp_path / "out"
    out.mkdir()
    with sites(4) as servers, small(out, "8m") as disk:
        domains, data, within = [site.url() for site in servers], Data(disk.seen), disk.within(tmp_path)
        disk.fill(left=20_000)
        full = run(tmp_path, domains, "--retries", "0", within=within, command=WITHOUT_RAY)
        assert full.code == 1
        assert "domains in a row failed" in full.log
        assert "run the same command to resume" in full.log
        data.whole()
        assert data.domains() == {}
        disk.clear()

        first, second = servers[:2]
        for site in (first, second):
            site.exchanges.clear()
        with gated(first, "/1.xml") as gate:
            with start(tmp_path, [*domains[:2], NOWHERE], within=within) as fleet:
                wait_for(fleet, first, "/1.xml")
                fleet.wait_until(lambda: data.domains().keys() == {second.url(), NOWHERE})
                fleet.wait_until(lambda: len(crawls(fleet)) == 1)  # those of the others have ended
                crawls(fleet)[0].kill()
                wait_for(fleet, first, "/1.xml", 2)

                crawl = crawls(fleet)[0]
                next(worker for worker in workers(fleet) if worker.pid == parent_of(crawl.parent)).kill()
                fleet.wait_until(lambda: not crawl.alive)
                wait_for(fleet, first, "/1.xml", 3)

                left = processes_of(fleet)
                fleet.process.send_signal(signal.SIGKILL)
                fleet.process.wait()
                assert left
                wait_for_end(*left)
            assert data.urls().keys() == {second.url()}
            done, asked = data.domains(), len(second.exchanges)
            gate.open()
            again = run(tmp_path, [*domains, NOWHERE], "--again", "unread", within=within)
        assert again.code == 0
        assert "5 domains, 1 of them done earlier, 2 at once" in again.log
        listed, rows = data.urls(), data.domains()
        assert {name for name in done if rows[name]["started"] != done[name]["started"]} == {NOWHERE}
        assert len(second.exchanges) == asked
        assert listed.keys() == set(domains) and rows.keys() == {*domains, NOWHERE}
        for site in servers:
            locs = listed[site.url()]
            assert len(locs) == len(set(locs)) == site.listed == rows[site.url()]["urls"]
        assert data.strangers() == []


def test_ctrl_c_lets_domains_end_and_begins_no_more_and_a_second_one_ends_it_at_once(tmp_path: Path) -> None:
    with sites(4) as servers, gated(servers[0], "/1.xml") as first, gated(servers[1], "/1.xml"):
        domains = [site.url() for site in servers]
        data = Data(tmp_path / "out")
        with start(tmp_path, domains) as fleet:
            wait_for(fleet, servers[0], "/1.xml")
            wait_for(fleet, servers[1], "/1.xml")
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
