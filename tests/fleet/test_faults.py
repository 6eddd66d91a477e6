"""What a fleet survives: the death of each of its processes, sites that never end, output that cannot be written."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.crawl.site_server import Exchange
from tests.fleet.fleets import Data, Process, Site, below, crawls, one_of, run, sites, start, workers


class Gate:
    """A route that waits until it is opened."""

    def __init__(self, body: str) -> None:
        self._body = body.encode()
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
    assert isinstance(route, str)
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
            crawl = one_of(fleet, crawls)
            crawl.kill()
            first.wait_for("/1.xml", 2)

            worker, crawl = one_of(fleet, workers), one_of(fleet, crawls)
            worker.kill()
            fleet.wait_until(lambda: not crawl.alive)
            first.wait_for("/1.xml", 3)

            everything = below(fleet.process.pid)
            fleet.process.send_signal(signal.SIGKILL)
            fleet.process.wait()
            crawls_left = [process for process in everything if "fleet.nursery" in process.command]
            assert crawls_left
            wait_for_the_end_of(crawls_left)
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


def wait_for_the_end_of(processes: list[Process], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while alive := [process for process in processes if process.alive]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.02)
