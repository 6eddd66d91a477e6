"""A fleet on a cluster that is there already, of several machines, which are all this one; on it also what any fleet does
with a project of its own and with two spellings of a site."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from sitemapcrawler.fleet.output import OutputFailed
from sitemapcrawler.fleet.task import CrawlAbandoned, CrawlDied, CrawlFault
from tests.crawl.forks import environment
from tests.fleet.fleets import BUSY, Data, Site, sites

pytestmark = pytest.mark.slow

NODES = 3
PATIENCE_S = 120
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


@pytest.fixture(scope="module")
def net(alone: None) -> Iterator[list[Site]]:
    with sites(NODES) as servers:
        yield servers


@pytest.fixture(scope="module")
def data(address: str, net: list[Site], tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Results of a fleet that is started below a project, for all sites, of which the first is spelled in two ways."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = mine.settings\n")
    package, below = folder / "mine", folder / "below"
    package.mkdir()
    below.mkdir()
    for name, text in (("__init__", ""), ("settings", SETTINGS), ("marking", MARKING)):
        (package / f"{name}.py").write_text(text)
    domains = [*(site.url() for site in net), net[0].place]
    command = [sys.executable, "-m", "scrapy", "fleet", *domains, "--out", "out", "--address", address, "--cpus", "0.5"]
    done = subprocess.run(command, cwd=below, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Data(below / "out")


def test_its_machines_share_the_domains(data: Data, net: list[Site]) -> None:
    rows = data.domains()
    assert rows.keys() == {*(site.url() for site in net), net[0].place}
    assert {row["state"] for row in rows.values()} == {"finished"}


def test_settings_and_modules_of_a_project_reach_the_crawls(data: Data, net: list[Site]) -> None:
    assert {exchange.headers.get("x-mine") for site in net for exchange in site.exchanges} == {"yes"}


def test_two_spellings_of_a_site_are_crawled_one_after_the_other(data: Data, net: list[Site]) -> None:
    asked, half = net[0].paths, len(net[0].paths) // 2
    assert sorted(asked[:half]) == sorted(asked[half:]), "the second one begins when the first has ended"


def test_local_cluster_that_was_too_slow_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from sitemapcrawler.fleet import cluster

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
    ("cause", "reason", "common", "again"),
    [
        (CrawlFault("its crawl could not run"), "its crawl could not run", True, True),
        (OutputFailed("the disk is full"), "the disk is full", True, True),
        (CrawlDied("it was ended by SIGKILL"), "it was ended by SIGKILL", False, True),
        (CrawlAbandoned("it was killed"), "it was killed", False, False),
        (ValueError("odd"), "ValueError: odd", True, False),
    ],
)
def test_failure_says_whether_other_domains_share_it_and_another_attempt_may_help(
    cause: Exception, reason: str, common: bool, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sitemapcrawler.fleet import cluster

    error = cluster.ray.exceptions.RayTaskError("work", "", cause)
    monkeypatch.setattr(cluster.ray, "get", Mock(side_effect=error))
    joined: Any = SimpleNamespace()
    assert cluster.RayCluster.result(joined, None) == cluster.DomainFailure(reason, common, again)


def test_cluster_that_is_gone_is_no_failure_of_a_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    from sitemapcrawler.fleet import cluster

    monkeypatch.setattr(cluster.ray, "get", Mock(side_effect=cluster.ray.exceptions.ActorDiedError()))
    joined: Any = SimpleNamespace()
    with pytest.raises(cluster.ClusterFailed, match=r"^the Ray cluster failed: The actor died .*[^.]$"):
        cluster.RayCluster.result(joined, None)


def test_folder_in_which_a_last_file_was_made_is_removed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sitemapcrawler.fleet import cluster

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
