"""What a worker does with one domain, without Ray: its crawl killed or stopped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from sitemapcrawler.fleet import task
from sitemapcrawler.fleet.domains import Domain, DomainRecord, domain
from sitemapcrawler.fleet.task import DomainFailed, FleetPlan, crawl_domain
from tests.fleet.fleets import PAGES, SERVER, Data, Site, plan, sites
from tests.fleet.test_faults import gated
from tests.processes import below, children_of, stop_server

pytestmark = pytest.mark.slow

PATIENCE_S = 30


@pytest.fixture(scope="module", autouse=True)
def server(alone: None) -> Iterator[None]:
    """A server of this module: one that was started before is in another network."""
    stop_server()
    yield
    stop_server()


@pytest.fixture
def site(alone: None) -> Iterator[Site]:
    with sites(1) as (server,):
        yield server


def crawled(each: Domain, chosen: FleetPlan, attempt: int = 1) -> DomainRecord:
    return crawl_domain(each, chosen, attempt)


def when_asked(site: Site, path: str, act: Callable[[int], None]) -> Thread:
    """Do something to the crawl as soon as it asks for a file."""

    def wait() -> None:
        site.wait_for(path)
        act(children_of(next(one.pid for one in below(os.getpid()) if SERVER in one.command))[0])

    thread = Thread(target=wait)
    thread.start()
    return thread


def test_results_are_in_their_places_and_the_row_tells_of_them(tmp_path: Path, site: Site) -> None:
    record = crawled(domain(site.url()), plan(f"{tmp_path}/out"))
    assert (record.state, record.urls, record.attempts) == ("finished", site.listed, 1)
    assert 0 < record.elapsed_s < record.wall_s
    row = Data(tmp_path / "out").domains()[site.url()]
    assert (row["urls"], row["bytes"], row["wall_s"]) == (record.urls, record.bytes, record.wall_s)


def test_a_domain_that_never_ends_has_what_came_in_its_time(tmp_path: Path, site: Site) -> None:
    with gated(site, "/1.xml"):
        record = crawled(domain(site.url()), plan(f"{tmp_path}/out", arguments={"max_time": "3"}))
    assert (record.state, record.partial, record.urls) == ("partial", "max_time", PAGES)
    assert len(list((tmp_path / "out" / "_logs").iterdir())) == 1


def test_an_extension_that_cannot_start_is_named(tmp_path: Path, site: Site) -> None:
    wrong = plan(f"{tmp_path}/out", {"EXTENSIONS": {"zipfile.ZipFile": 1}})
    with pytest.raises(DomainFailed, match="its crawl could not run: TypeError: "):
        crawled(domain(site.url()), wrong)


def test_a_crawl_that_is_killed_can_be_tried_again(tmp_path: Path, site: Site) -> None:
    with gated(site, "/1.xml") as gate:
        killing = when_asked(site, "/1.xml", lambda pid: os.kill(pid, signal.SIGKILL))
        with pytest.raises(DomainFailed, match="its process was ended by SIGKILL"):
            crawled(domain(site.url()), plan(f"{tmp_path}/out"))
        killing.join()
        assert Data(tmp_path / "out").domains() == {}
        gate.open()
        record = crawled(domain(site.url()), plan(f"{tmp_path}/out"), attempt=2)
    assert (record.attempts, record.urls) == (2, site.listed)


def test_a_crawl_that_hears_nothing_is_killed_in_the_end(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "GRACE_S", 0.5)
    monkeypatch.setattr(task, "KILL_S", 0.5)
    with gated(site, "/1.xml"):
        stopping = when_asked(site, "/1.xml", lambda pid: os.kill(pid, signal.SIGSTOP))
        began = time.monotonic()
        with pytest.raises(DomainFailed, match="did not end within 9 s, and was killed"):
            crawled(domain(site.url()), plan(f"{tmp_path}/out", max_time=8.0))
        stopping.join()
    assert time.monotonic() - began < PATIENCE_S
    assert Data(tmp_path / "out").domains() == {}


def test_a_crawl_that_is_stopped_for_its_time_says_so(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "GRACE_S", 0.5)
    with gated(site, "/1.xml"):
        stopping = when_asked(site, "/1.xml", lambda pid: None)
        record = crawled(domain(site.url()), plan(f"{tmp_path}/out", max_time=8.0, arguments={"max_time": "3600"}))
        stopping.join()
    assert (record.state, record.partial) == ("partial", "max_time")
    assert Data(tmp_path / "out").domains()[site.url()]["partial"] == "max_time"
