"""A fleet from its list to its data set, on a cluster of several machines, which are all this one."""

from __future__ import annotations

import json
import logging
import pickle
import socket
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from sitemapcrawler import cli
from sitemapcrawler.fleet.output import OutputFailed
from sitemapcrawler.fleet.task import DomainFailed
from tests.crawl.crawling import AT_HOME, crawl, launch, options
from tests.crawl.forks import environment
from tests.fleet.fleets import BUSY, TABLES, Data, Site, sites

pytestmark = pytest.mark.slow

NODES = 2
COUNT = 3
NOWHERE = "http://127.0.9.9:9"
"""A place without an answer."""
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
def address() -> Iterator[str]:
    from sitemapcrawler.fleet.cluster import SLOW, STARTS

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv(*BUSY.split("="))
        patch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
        head = {"include_dashboard": False, "node_ip_address": "127.0.0.1"}
        cluster = import_module("ray.cluster_utils").Cluster()
        try:
            for node in (head, *[{}] * (NODES - 1)):
                for left in reversed(range(STARTS)):  # as a fleet does on a machine that is too busy for Ray
                    try:
                        cluster.add_node(num_cpus=1, **node)
                        break
                    except Exception as error:
                        if SLOW not in str(error) or not left:
                            raise
            yield cluster.address
        finally:
            cluster.shutdown()


@pytest.fixture(scope="module")
def net() -> Iterator[list[Site]]:
    with sites(COUNT) as servers:
        yield servers


@pytest.fixture(scope="module")
def data(address: str, net: list[Site], tmp_path_factory: pytest.TempPathFactory) -> Data:
    """Results of a fleet that is started below a project, for all sites and `NOWHERE`. The first site is named as an
    origin, twice as a bare host, and as an origin in another spelling."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = mine.settings\n")
    package, below = folder / "mine", folder / "below"
    package.mkdir()
    below.mkdir()
    for name, text in (("__init__", ""), ("settings", SETTINGS), ("marking", MARKING)):
        (package / f"{name}.py").write_text(text)
    first = net[0].place
    domains = [*(site.url() for site in net), f"HTTP://{first}/", first, first, NOWHERE]
    command = [sys.executable, "-m", "scrapy", "fleet", *domains, "--out", "out", "--address", address, "--cpus", "0.5"]
    command += options(AT_HOME)
    done = launch(below, command).finish()
    assert done.code == 0, done.log
    return Data(below / "out")


def test_every_domain_has_a_row_and_its_pages_once(data: Data, net: list[Site]) -> None:
    rows, listed = data.domains(), data.urls()
    assert rows.keys() == {*(site.url() for site in net), net[0].place, NOWHERE}
    for site in net:
        assert rows[site.url()]["state"] == "finished"
        assert rows[site.url()]["urls"] == len(listed[site.url()]) == len(set(listed[site.url()])) == site.listed


def test_settings_and_modules_of_a_project_reach_the_crawls(data: Data, net: list[Site]) -> None:
    assert {exchange.headers.get("x-mine") for site in net for exchange in site.exchanges} == {"yes"}


def test_two_spellings_of_a_site_are_crawled_one_after_the_other(data: Data, net: list[Site]) -> None:
    asked, half = net[0].paths, len(net[0].paths) // 2
    assert asked.count("/sitemap.xml") == 2, "as an origin, and as a bare host"
    assert sorted(asked[:half]) == sorted(asked[half:]), "the second one begins when the first has ended"


def test_a_domain_that_does_not_answer_is_a_result_too(data: Data) -> None:
    row = data.domains()["http://127.0.9.9:9"]
    assert (row["state"], row["urls"], row["attempts"]) == ("unread", 0, 1)
    assert "refused" in row["error"]


def test_each_domain_has_one_file_in_each_table(data: Data) -> None:
    files = {table: sorted(path.name for path in (data.folder / table).rglob("*.parquet")) for table in TABLES}
    assert len(set(map(tuple, files.values()))) == 1
    assert len(files["url"]) == COUNT + 2
    assert data.strangers() == []


def test_the_heaviest_severity_of_each_rule_stands_in_the_row(data: Data, net: list[Site]) -> None:
    found: dict[str, set[str]] = {}
    for row in data.rows("finding"):
        if row["domain"] == net[0].place:
            found.setdefault(row["rule"], set()).add(row["severity"])
    assert found
    order = ("error", "warning", "info")
    worst = {rule: min(severities, key=order.index) for rule, severities in found.items()}
    told = {rule: reach["severity"] for rule, reach in data.domains()[net[0].place]["reach"].items()}
    assert told == worst


def test_rows_are_those_of_a_crawl(tmp_path: Path, net: list[Site], data: Data) -> None:
    site = net[1]
    local = crawl(tmp_path, domain=site.url())
    mine = [row["loc"] for row in data.rows("url", "domain, loc") if row["domain"] == site.url()]
    assert sorted(mine) == sorted(local.locs())
    found = [(row["rule"], row["sitemap"]) for row in data.rows("finding") if row["domain"] == site.url()]
    assert sorted(found, key=str) == sorted(
        ((row["rule"], row["sitemap"]) for row in local.of_type("finding")), key=str
    )
    row: dict[str, Any] = data.domains()[site.url()]
    assert {name: row[name] for name in ("urls", "sitemaps", "rules", "severities")} == {
        name: local.summary[name] for name in ("urls", "sitemaps", "rules", "severities")
    }


def refused(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[object, str]:
    """Exit code and log of a fleet that does not begin. Logging is left as it was to the tests that follow."""
    handlers, level = [*logging.root.handlers], logging.root.level
    try:
        with pytest.raises(SystemExit) as ended:
            cli.main(["sitemapcrawler", "fleet", *words])
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
    return ended.value.code, capfd.readouterr().err


def test_other_arguments_for_the_same_data_set_are_refused(data: Data, capfd: pytest.CaptureFixture[str]) -> None:
    code, log = refused(capfd, "127.0.0.1", "--out", str(data.folder), "-a", "verify=head")
    assert (code, log.count("\n")) == (2, 1)
    assert "holds results with no arguments" in log


def test_a_cluster_where_nobody_listens_is_refused_in_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
    code, log = refused(capfd, "127.0.0.1", "--out", str(tmp_path), "--address", place)
    assert (code, log) == (1, f"sitemapcrawler: {place}: [Errno 111] Connection refused\n")


def test_the_arguments_are_kept_with_the_data_set(data: Data) -> None:
    assert json.loads((data.folder / "_fleet.json").read_text())["arguments"] == {}


def test_local_cluster_that_was_too_slow_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from sitemapcrawler.fleet import cluster

    slow = Exception("The current node timed out during startup. This could happen because ...")
    errors = [slow, slow, slow, None]
    calls: list[object] = []

    def init(address: str, **options: object) -> None:
        calls.append((address, options))
        error = errors.pop(0)
        if error is not None:
            raise error

    monkeypatch.setattr(cluster.ray, "init", init)
    monkeypatch.setattr(cluster.ray, "shutdown", lambda: calls.append("shutdown"))
    cluster.RayCluster._join("local", {"num_cpus": 1})
    assert calls == [*[("local", {"num_cpus": 1}), "shutdown"] * 3, ("local", {"num_cpus": 1})]
    for errors[:], attempts in (([ConnectionError("no cluster there")], 1), ([slow] * 9, cluster.STARTS)):
        calls.clear()
        with pytest.raises(type(errors[0])):
            cluster.RayCluster._join("local", {})
        assert calls.count(("local", {})) == attempts


@pytest.mark.parametrize(
    ("cause", "reason", "common", "again"),
    [
        (DomainFailed("its crawl could not run", common=True), "its crawl could not run", True, True),
        (OutputFailed("the disk is full"), "the disk is full", True, True),
        (DomainFailed("it was ended by SIGKILL"), "it was ended by SIGKILL", False, True),
        (DomainFailed("it was killed", again=False), "it was killed", False, False),
        (ValueError("odd"), "ValueError: odd", True, False),
    ],
)
def test_failure_says_whether_other_domains_share_it_and_another_attempt_may_help(
    cause: Exception, reason: str, common: bool, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sitemapcrawler.fleet import cluster

    error = cluster.ray.exceptions.RayTaskError("work", "", pickle.loads(pickle.dumps(cause)))
    monkeypatch.setattr(cluster.ray, "get", Mock(side_effect=error))
    joined: Any = SimpleNamespace()
    found = cluster.RayCluster.result(joined, None)
    assert isinstance(found, DomainFailed)
    assert (found.reason, found.common, found.again) == (reason, common, again)


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
