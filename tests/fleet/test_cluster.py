"""A fleet on a cluster that is there already, of several machines, which are all this one; on it also what any fleet does
with a project of its own and with hosts that several crawls lead to."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from sitemapcrawler.fleet.domains import domain
from sitemapcrawler.fleet.output.folders import OutputFailed
from sitemapcrawler.fleet.worker.task import CrawlDied, CrawlFault
from tests.crawl.crawling import Crawl
from tests.crawl.documents import index, urlset
from tests.crawl.forks import environment
from tests.crawl.site_server import Exchange
from tests.fleet.fleets import BUSY, Data, Site, run, sites

pytestmark = pytest.mark.slow

NODES = 3
SHARED = 6
"""Sitemaps of each site on the host that both share."""
DELAY_S = 0.6
"""Seconds between two requests to a host."""
ANSWER_S = 0.15
"""Seconds that an answer of the shared host takes; without a delay, the next request comes at its end."""
APART_S = 0.6 * DELAY_S
"""Seconds between two requests at least. One that the busy server heard late comes close before the next."""
SETTINGS = """
from sitemapcrawler.settings import *
DOWNLOADER_MIDDLEWARES = {**DOWNLOADER_MIDDLEWARES, "mine.marking.Marking": 50}
AUTOTHROTTLE_ENABLED = False
"""
MARKING = """
class Marking:
    def process_request(self, request):
        request.headers["X-Mine"] = "yes"
"""


@pytest.fixture(scope="module")
def address(alone: None) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv(*BUSY.split("="))
        patch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
        head = {"num_cpus": 1, "include_dashboard": False, "node_ip_address": "127.0.0.1"}
        cluster = import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(NODES - 1):
                cluster.add_node(num_cpus=1)
            yield cluster.address
        finally:
            cluster.shutdown()


def test_its_machines_share_the_domains(address: str, tmp_path: Path) -> None:
    with sites(NODES) as servers:
        done = run(tmp_path, [site.url() for site in servers], "--address", address, "--cpus", "0.5")
        assert done.code == 0, done.log
        assert Data(tmp_path / "out").domains().keys() == {site.url() for site in servers}


def test_what_all_tasks_need_lives_where_the_command_does(address: str) -> None:
    """Another machine may go away, and only its crawls with it."""
    from sitemapcrawler.fleet.control.cluster import RayCluster

    state, ray = import_module("ray._private.state"), import_module("ray")
    for _ in range(3):
        with RayCluster(address, None, 1, 0) as cluster:
            cluster.running()
            control = state.actors()[cluster._control._actor_id.hex()]
            assert control["Address"]["NodeID"] == ray.get_runtime_context().get_node_id()


def test_local_cluster_that_was_too_slow_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from sitemapcrawler.fleet.control import cluster

    errors = [Exception("The current node timed out during startup. This could happen because ..."), None]
    starts = []

    def init(address: str, **options: object) -> None:
        starts.append((address, options))
        error = errors.pop(0)
        if error is not None:
            raise error

    monkeypatch.setattr(cluster.ray, "init", init)
    cluster.RayCluster._join("local", {"num_cpus": 1})
    assert starts == [("local", {"num_cpus": 1})] * 2
    errors[:] = [ConnectionError("no cluster there")]
    with pytest.raises(ConnectionError):
        cluster.RayCluster._join("local", {})
    assert len(starts) == 3


@pytest.mark.parametrize(
    ("cause", "reason", "common"),
    [
        (CrawlFault("its crawl could not run"), "its crawl could not run", True),
        (OutputFailed("the disk is full"), "the disk is full", True),
        (CrawlDied("it was ended by SIGKILL"), "it was ended by SIGKILL", False),
        (ValueError("odd"), "ValueError: odd", True),
    ],
)
def test_failure_that_other_domains_share_is_told_apart(
    cause: Exception, reason: str, common: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sitemapcrawler.fleet.control import cluster

    def get(reference: object) -> None:
        raise cluster.ray.exceptions.RayTaskError("work", "", cause)

    monkeypatch.setattr(cluster.ray, "get", get)
    joined: Any = SimpleNamespace(_control=Mock())
    assert cluster.RayCluster.result(joined, None, domain("a.example")) == cluster.DomainFailure(reason, common)
    joined._control.done.remote.assert_called_once_with("a.example")


def test_folder_in_which_a_last_file_was_made_is_removed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sitemapcrawler.fleet.control import cluster

    folder, removed = tmp_path / "ray", []

    def remove(path: Path, ignore_errors: bool) -> None:
        """As where a process makes a file meanwhile, once."""
        removed.append(path)
        if len(removed) > 1:
            path.rmdir()

    folder.mkdir()
    monkeypatch.setattr(cluster.shutil, "rmtree", remove)
    cluster.remove_folder(folder)
    assert removed == [folder, folder]


# ---- a project of its own


def test_settings_and_modules_of_a_project_reach_the_crawls(address: str, tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mine.settings\n")
    package, below = tmp_path / "mine", tmp_path / "below"
    package.mkdir()
    below.mkdir()
    for name, text in (("__init__", ""), ("settings", SETTINGS), ("marking", MARKING)):
        (package / f"{name}.py").write_text(text)
    with sites(1) as (site,):
        command = [sys.executable, "-m", "scrapy", "fleet", site.url(), "--out", "out", "--address", address]
        done = subprocess.run(command, cwd=below, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert {exchange.headers.get("x-mine") for exchange in site.exchanges} == {"yes"}
    assert Data(below / "out").domains()[site.url()]["state"] == "finished"


# ---- a host is asked by one crawl at a time, whichever crawls lead to it


class Shared(Site):
    """A host of sitemaps of others, which notes whom it answers when."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.spans: list[tuple[float, float, str]] = []
        """(from, to, path) of each answer."""

    def answer(self, exchange: Exchange) -> None:
        began = time.monotonic()
        time.sleep(ANSWER_S)  # so that answers at the same time would overlap
        super().answer(exchange)
        self.spans.append((began, time.monotonic(), exchange.path))


@pytest.fixture(scope="module")
def shared(address: str) -> Iterator[Shared]:
    with Shared(9) as server:
        yield server


@pytest.fixture(scope="module")
def crawled(
    address: str, shared: Shared, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Crawl, list[Site]]]:
    """Two sites that keep their sitemaps on the same third host, crawled at once, by machines of their own."""
    with sites(2) as pair:
        for number, site in enumerate(pair):
            names = [f"/{number}-{part}.xml" for part in range(SHARED)]
            site.routes["/sitemap.xml"] = index(*map(shared.url, names))
            shared.routes |= {name: urlset(site.url(name)) for name in names}
        settings = {"DOWNLOAD_DELAY": DELAY_S, "RANDOMIZE_DOWNLOAD_DELAY": 0, "SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
        domains = [pair[0].url(), pair[0].place, pair[1].url()]  # the first in two spellings, of which one waits
        fleet = run(tmp_path_factory.mktemp("hosts"), domains, "--address", address, settings=settings)
        yield fleet, pair


@pytest.fixture(scope="module")
def fleet(crawled: tuple[Crawl, list[Site]]) -> Crawl:
    return crawled[0]


def test_all_sites_are_read_whole(fleet: Crawl) -> None:
    assert fleet.code == 0
    rows = Data(fleet.folder / "out").domains()
    assert [row["urls"] for row in rows.values()] == [SHARED] * 3
    assert {row["state"] for row in rows.values()} == {"finished"}


def test_two_crawls_of_a_site_keep_its_delay_between_them(crawled: tuple[Crawl, list[Site]]) -> None:
    site = crawled[1][0]
    assert site.paths.count("/sitemap.xml") == 2
    assert_kept([exchange.at for exchange in site.exchanges])


def test_the_shared_host_is_asked_by_one_at_a_time(fleet: Crawl, shared: Shared) -> None:
    ends: dict[str, float] = {}
    for began, ended, path in sorted(shared.spans):
        crawl = path[1]
        if path == "/robots.txt":  # asked by each of the two
            continue
        others = [end for other, end in ends.items() if other != crawl]
        assert all(began >= end for end in others), sorted(shared.spans)
        ends[crawl] = max(ended, ends.get(crawl, 0.0))


def test_the_delay_of_the_host_is_kept_across_crawls(fleet: Crawl, shared: Shared) -> None:
    assert len(shared.spans) >= 2 * SHARED
    assert_kept([began for began, _, _ in shared.spans])


def test_both_have_their_turn(fleet: Crawl, shared: Shared) -> None:
    crawls = [path[1] for _, _, path in sorted(shared.spans) if path != "/robots.txt"]
    assert set(crawls) == {"0", "1"}


def assert_kept(moments: list[float]) -> None:
    """The delay lies between two requests."""
    gaps = [later - earlier for earlier, later in itertools.pairwise(sorted(moments))]
    assert min(gaps) >= APART_S, gaps
