"""A fleet from its list to its data set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import Crawl, crawl
from tests.fleet.fleets import TABLES, Data, Site, run, sites

pytestmark = pytest.mark.slow

COUNT = 3


@pytest.fixture(scope="module")
def net(alone: None) -> Iterator[list[Site]]:
    with sites(COUNT) as servers:
        yield servers


@pytest.fixture(scope="module")
def fleet(net: list[Site], tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """One fleet over all sites and one place where nobody answers; the first site is named three times."""
    first = net[0].place
    domains = [*(site.url() for site in net), f"HTTP://{first}/", first, "http://127.0.9.9:9"]
    return run(tmp_path_factory.mktemp("fleet"), domains)


@pytest.fixture(scope="module")
def data(fleet: Crawl) -> Data:
    return Data(fleet.folder / "out")


def test_every_domain_has_a_row_and_its_pages_once(fleet: Crawl, data: Data, net: list[Site]) -> None:
    assert fleet.code == 0
    rows, listed = data.domains(), data.urls()
    for site in net:
        assert rows[site.url()]["state"] == "finished"
        assert rows[site.url()]["urls"] == len(listed[site.url()]) == len(set(listed[site.url()])) == site.listed


def test_a_domain_that_does_not_answer_is_a_result_too(data: Data) -> None:
    row = data.domains()["http://127.0.9.9:9"]
    assert (row["state"], row["urls"], row["attempts"]) == ("unread", 0, 1)
    assert "refused" in row["error"]


def test_a_site_that_is_named_twice_is_crawled_once(net: list[Site], data: Data) -> None:
    asked = [exchange.path for exchange in net[0].exchanges].count("/sitemap.xml")
    assert asked == 2  # as an origin, and as a bare host
    assert {net[0].url(), net[0].place} <= data.domains().keys()


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


def test_other_arguments_for_the_same_data_set_are_refused(fleet: Crawl, net: list[Site]) -> None:
    other = run(fleet.folder, [net[0].url()], "-a", "verify=head")
    assert other.code == 2
    assert "holds results with no arguments" in other.log
    assert other.log.count("\n") == 1


def test_the_arguments_are_kept_with_the_data_set(data: Data) -> None:
    assert json.loads((data.folder / "_fleet.json").read_text())["arguments"] == {}
