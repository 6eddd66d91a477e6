"""Audits of sites of which everything is planned: each output is compared with the plan, URL by URL."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from sitemapcrawler.rules import all_rules
from tests.crawl.site_server import Reply, Route, SiteServer
from tests.crawl.test_audit import audit
from tests.planned_sites import SITES, Site

SEVERITIES = {rule.id: rule.severity for rule in all_rules()}
SHOWN = r"^  (?:Error|Warning) +([0-9,]+) URLs?  .+ \(([a-z0-9-]+)\)$"
"""A problem that the terminal shows: number of URLs, and rule."""


@dataclass
class Audited:
    """A planned site and the folder of its audit."""

    name: str
    site: Site
    origin: str
    folder: Path
    output: str
    """Standard output."""

    def path(self, url: str) -> str:
        return url.removeprefix(self.origin)

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a CSV file."""
        with (self.folder / name).open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def summary(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "summary.json").read_text()))

    def sheet(self, title: str) -> list[dict[str, Any]]:
        """The rows of a sheet of the workbook, by the names of its header."""
        with closing(openpyxl.load_workbook(self.folder / "audit.xlsx", read_only=True)) as book:
            header, *rows = book[title].iter_rows(values_only=True)
        return [dict(zip(map(str, header), row, strict=True)) for row in rows]


def served(route: Route, origin: str) -> Route:
    """A route of a plan with the origin in place of `$`."""
    if isinstance(route, str):
        kind = "application/xml" if route.startswith("<?xml") else "text/plain"
        return Reply(route.replace("$", origin), 200, {"Content-Type": kind})
    assert isinstance(route, Reply)
    return Reply(str(route.body).replace("$", origin), route.status, route.headers)


@pytest.fixture(scope="module", params=SITES)
def audited(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Audited]:
    site = SITES[request.param]()
    with SiteServer() as server:
        origin = server.url("").rstrip("/")
        server.routes = {path: served(route, origin) for path, route in site.routes.items()}
        server.otherwise = served(site.otherwise, origin)
        folder = tmp_path_factory.mktemp("audit")
        done = audit(folder, f"{origin}/", "--out", "out")
    yield Audited(request.param, site, origin, folder / "out", done.stdout)


def test_each_listed_url_has_its_planned_answer_and_indexability(audited: Audited) -> None:
    rows = audited.table("urls.csv")
    assert {audited.path(row["loc"]) for row in rows} == set(audited.site.plan)
    found = {
        audited.path(row["loc"]): (row["status"], row["indexability"], audited.path(row["final_url"])) for row in rows
    }
    planned = {
        path: (str(planned.status or ""), planned.indexability, planned.final)
        for path, planned in audited.site.plan.items()
    }
    assert found == planned


def test_each_row_names_the_planned_problems(audited: Audited) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for row in audited.table("urls.csv"):
        for rule in row["problems"].split("; "):
            if rule and (SEVERITIES[rule] != "info" or rule in audited.site.rules):
                found[rule].add(audited.path(row["loc"]))
    assert found == {rule: audited.site.planned(rule) for rule in audited.site.rules}


def test_each_rule_counts_the_planned_urls(audited: Audited) -> None:
    planned = {rule: len(audited.site.planned(rule)) for rule in audited.site.rules}
    reach = audited.summary["reach"]
    assert {rule: reach[rule]["urls"] for rule in planned} == planned
    shown = {rule: int(urls.replace(",", "")) for urls, rule in re.findall(SHOWN, audited.output, re.MULTILINE)}
    assert shown
    assert shown == {rule: planned[rule] for rule in shown}
    for severity in ("error", "warning"):
        counts = [count for rule, count in shown.items() if SEVERITIES[rule] == severity]
        assert counts == sorted(counts, reverse=True)


def test_each_list_of_problems_has_all_planned_urls(audited: Audited) -> None:
    for rows in (audited.table("findings.csv"), audited.sheet("Problems")):
        found = {rule: {audited.path(row["url"]) for row in rows if row["rule"] == rule} for rule in audited.site.rules}
        assert found == {rule: audited.site.planned(rule) for rule in audited.site.rules}


def test_entries_whose_target_is_listed_are_to_be_removed(audited: Audited) -> None:
    rules = ("status-redirect-target-listed-too", "page-canonical-other-listed-too")
    planned = set[str]().union(*map(audited.site.planned, rules))
    advised = {
        audited.path(row["url"])
        for row in (audited.sheet("Not indexable") if planned else ())
        if row["what_to_do"] == "Remove the entry: its target is listed too."
    }
    assert advised == planned


def test_the_summary_counts_the_planned_verdicts(audited: Audited) -> None:
    planned = Counter(planned.indexability for planned in audited.site.plan.values())
    bad = sum(number for value, number in planned.items() if value not in {"ok", "unknown"})
    assert audited.summary["not_indexable"]["bad"] == bad
    assert (f"{bad} of {len(audited.site.plan)} URLs" in audited.output) == bool(bad)
