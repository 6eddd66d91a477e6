"""What a worker does with one domain, without Ray: its crawl killed, stopped, or overtaken by another worker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from scrapy.settings import Settings

from sitemapcrawler import settings as ours
from sitemapcrawler.commands.fleet import passed
from sitemapcrawler.fleet.domains import domain
from sitemapcrawler.fleet.leases import Control
from sitemapcrawler.fleet.worker import task
from sitemapcrawler.fleet.worker.nursery import Nursery
from sitemapcrawler.fleet.worker.task import CrawlAbandoned, CrawlDied, CrawlFault, FleetPlan, Superseded, crawl_domain
from tests.fleet.fleets import PAGES, Data, Site, sites
from tests.fleet.test_faults import gated
from tests.processes import children_of

pytestmark = pytest.mark.slow

PATIENCE_S = 30


class Clocked:
    """A control with a clock."""

    def __init__(self) -> None:
        self.control = Control()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.control, name)
        return method if name in ("counts", "done") else lambda *arguments: method(*arguments, time.monotonic())


@pytest.fixture(scope="module")
def nursery(alone: None) -> Iterator[Nursery]:
    found = Nursery()
    yield found
    found.close()


@pytest.fixture
def site(alone: None) -> Iterator[Site]:
    with sites(1) as (server,):
        yield server


def plan(folder: Path, chosen: Mapping[str, object] | None = None, **changes: Any) -> FleetPlan:
    """A plan with settings that are chosen."""
    settings = Settings()
    settings.setmodule(ours, "project")
    own = {"AUTOTHROTTLE_ENABLED": False, "SITEMAP_MAX_ROBOTS": 0, "SITEMAP_STOP_GRACE": 0}
    settings.setdict(own | dict(chosen or {}), "cmdline")
    made = {"arguments": {"max_time": "60"}, "max_time": 60.0, "retries": 2, **changes}
    return FleetPlan(output=str(folder / "out"), settings=passed(settings), **made)


def when_asked(site: Site, path: str, act: Callable[[int], None]) -> Thread:
    """Do something to the crawl as soon as it asks for a file."""

    def wait() -> None:
        site.wait_for(path)
        nursery = next(
            pid for pid in children_of(os.getpid()) if b"worker.nursery" in Path(f"/proc/{pid}/cmdline").read_bytes()
        )
        act(children_of(nursery)[0])

    thread = Thread(target=wait)
    thread.start()
    return thread


def test_results_are_in_their_places_and_the_row_tells_of_them(tmp_path: Path, site: Site, nursery: Nursery) -> None:
    record = crawl_domain(domain(site.url()), plan(tmp_path), Clocked(), nursery)
    assert (record.state, record.urls, record.attempts) == ("finished", site.listed, 1)
    assert 0 < record.elapsed_s < record.wall_s
    row = Data(tmp_path / "out").domains()[site.url()]
    assert (row["urls"], row["bytes"], row["wall_s"]) == (record.urls, record.bytes, record.wall_s)


def test_a_domain_that_never_ends_has_what_came_in_its_time(tmp_path: Path, site: Site, nursery: Nursery) -> None:
    with gated(site, "/1.xml"):
        record = crawl_domain(domain(site.url()), plan(tmp_path, arguments={"max_time": "3"}), Clocked(), nursery)
    assert (record.state, record.partial, record.urls) == ("partial", "max_time", PAGES)
    assert len(list((tmp_path / "out" / "_logs").iterdir())) == 1


def test_an_extension_that_cannot_start_is_named(tmp_path: Path, site: Site, nursery: Nursery) -> None:
    wrong = plan(tmp_path, {"EXTENSIONS": {"zipfile.ZipFile": 1}})
    with pytest.raises(CrawlFault, match="its crawl could not run: TypeError: "):
        crawl_domain(domain(site.url()), wrong, Clocked(), nursery)


def test_a_crawl_that_is_killed_can_be_tried_again(tmp_path: Path, site: Site, nursery: Nursery) -> None:
    control = Clocked()
    with gated(site, "/1.xml") as gate:
        killing = when_asked(site, "/1.xml", lambda pid: os.kill(pid, signal.SIGKILL))
        with pytest.raises(CrawlDied, match="its process was ended by SIGKILL"):
            crawl_domain(domain(site.url()), plan(tmp_path), control, nursery)
        killing.join()
        assert Data(tmp_path / "out").domains() == {}
        gate.open()
        record = crawl_domain(domain(site.url()), plan(tmp_path), control, nursery)
    assert (record.attempts, record.urls) == (2, site.listed)


def test_a_crawl_that_hears_nothing_is_killed_in_the_end(
    tmp_path: Path, site: Site, nursery: Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "GRACE_S", 0.5)
    monkeypatch.setattr(task, "KILL_S", 0.5)
    with gated(site, "/1.xml"):
        stopping = when_asked(site, "/1.xml", lambda pid: os.kill(pid, signal.SIGSTOP))
        began = time.monotonic()
        with pytest.raises(CrawlAbandoned, match="did not end within 9 s, and was killed"):
            crawl_domain(domain(site.url()), plan(tmp_path, max_time=8.0), Clocked(), nursery)
        stopping.join()
    assert time.monotonic() - began < PATIENCE_S
    assert Data(tmp_path / "out").domains() == {}


def test_a_worker_that_is_taken_for_dead_leaves_nothing(
    tmp_path: Path, site: Site, nursery: Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "BEAT_S", 0.1)
    control = Clocked()
    with gated(site, "/1.xml"):
        overtaking = when_asked(site, "/1.xml", lambda pid: control.begin(site.url()))
        with pytest.raises(Superseded, match="another worker has begun with it"):
            crawl_domain(domain(site.url()), plan(tmp_path), control, nursery)
        overtaking.join()
    data = Data(tmp_path / "out")
    assert data.domains() == {} and data.urls() == {}
    assert data.strangers() == []


def test_a_domain_whose_workers_die_again_and_again_is_given_up(tmp_path: Path, nursery: Nursery) -> None:
    control = Clocked()
    for _ in range(3):
        control.begin("a.example")  # and no end: Ray has killed the worker
    with pytest.raises(CrawlAbandoned, match="its worker died 3 times"):
        crawl_domain(domain("a.example"), plan(tmp_path), control, nursery)
