"""Audits of sites of which everything is planned: each output is compared with the plan, URL by URL."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from lxml import html

from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.reach import OF_VERSIONS
from sitemapcrawler.urls.display import percent
from tests.crawl.browsers import chromium
from tests.crawl.site_server import Reply, Route, SiteServer
from tests.crawl.test_audit import audit
from tests.planned_sites import SITES, Planned, Site

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

    @cached_property
    def page(self) -> Any:
        """The report page without its script."""
        return html.document_fromstring((self.folder / "report.html").read_text(encoding="utf-8"))

    def rows(self, caption: str) -> list[dict[str, Any]]:
        """The cells of a table of the page, by heading; none if there is no such table."""
        tables = self.page.xpath("//table[caption/@id=$id]", id=caption)
        heads = [head.text_content() for table in tables for head in table.xpath("thead//th")]
        return [dict(zip(heads, row, strict=True)) for table in tables for row in table.xpath("tbody/tr")]

    def linked(self, cell: Any) -> str:
        """The path of the link in a cell."""
        return self.path(cell.xpath("string(.//a/@href)"))

    def count(self, severity: str) -> int:
        """Planned URLs with a problem of this severity."""
        return sum(
            any(SEVERITIES[rule] == severity for rule in planned.problems) for planned in self.site.plan.values()
        )

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
        rules = [rule for rule in shown if SEVERITIES[rule] == severity]
        counts = [max(planned[rule], planned.get(OF_VERSIONS.get(rule, ""), 0)) for rule in rules]
        assert counts == sorted(counts, reverse=True), "pages before the links to them"


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


def figure(text: str) -> int:
    """The first number of a text."""
    return int(re.findall(r"[0-9][0-9,]*", text)[0].replace(",", ""))


def test_the_header_of_the_page_has_the_planned_figures(audited: Audited) -> None:
    tiles = {
        tile.findtext("dt"): tile.find("dd").text_content() for tile in audited.page.xpath("//*[@class='tiles']/div")
    }
    assert figure(tiles["Listed URLs"]) == len(audited.site.plan)
    for title, severity in (("Errors", "error"), ("Warnings", "warning")):
        if audited.count(severity):  # otherwise files may have some
            assert figure(tiles[title]) == audited.count(severity)
    bad = sum(is_bad(planned) for planned in audited.site.plan.values())
    known = sum(planned.indexability != "unknown" for planned in audited.site.plan.values())
    assert tiles["Not indexable"].startswith(percent(bad, known) if known else "")


def is_bad(planned: Planned) -> bool:
    return planned.indexability not in {"ok", "unknown"}


def test_the_page_shows_the_planned_problems_with_their_urls(audited: Audited) -> None:
    found = {}
    for reach in audited.page.xpath("//section[@id='fix']//*[@class='reach']"):
        rule, text = reach.findtext("code"), reach.text_content()
        if rule in audited.site.rules:
            found[rule] = figure(text)
    assert found == {rule: len(audited.site.planned(rule)) for rule in audited.site.rules}
    for rule in found:
        examples = {audited.linked(row["URL"]) for row in audited.rows(f"found-{rule}")}
        assert examples and examples <= audited.site.planned(rule)


def test_the_tables_of_the_page_have_the_planned_urls(audited: Audited) -> None:
    plan = audited.site.plan
    listed = {audited.linked(row["URL"]): row["Why"].text for row in audited.rows("not-indexable")}
    assert listed == {path: planned.indexability for path, planned in plan.items() if is_bad(planned)}
    values = {row["Indexability"].text: figure(row["URLs"].text) for row in audited.rows("indexabilities")}
    assert values == Counter(planned.indexability for planned in plan.values())
    statuses = {row["Status"].text[:3]: figure(row["URLs"].text) for row in audited.rows("statuses")}
    assert statuses == Counter(str(planned.status) for planned in plan.values() if planned.status)


def test_the_table_of_files_counts_the_planned_urls(audited: Audited) -> None:
    lists: dict[str, set[str]] = defaultdict(set)
    for row in audited.table("urls.csv"):
        lists[audited.path(row["sitemap"])].add(audited.path(row["loc"]))
    rows = {audited.linked(row["File"]): row for row in audited.rows("files")}
    for file, paths in lists.items():
        planned = [audited.site.plan[path] for path in paths]
        assert figure(rows[file]["Not indexable"].text or "0") == sum(map(is_bad, planned))
        errors = sum(any(SEVERITIES[rule] == "error" for rule in one.problems) for one in planned)
        assert figure(rows[file]["Errors"].text) == errors


def test_the_page_names_the_line_that_denies_the_planned_urls(audited: Audited) -> None:
    rows = [row for row in audited.rows("crawlers") if "Decided by" in row]
    assert len(rows) == bool(audited.site.planned("url-blocked-by-robots"))
    for row in rows:
        [line] = row["Decided by"].findall("div")
        assert line.findtext("code") == "line 2, Disallow: /private/"
        assert audited.linked(line) in audited.site.planned("url-blocked-by-robots")


CHOICES = """titles => Object.fromEntries(titles.map(title => [title, Object.fromEntries(
    [...document.querySelectorAll(`#explorer ul[aria-label="${title}"] label`)].map(label => [
        label.querySelector("input").value, Number(label.querySelector(".count").textContent.replaceAll(",", "")),
    ]))]))"""
"""JavaScript: numbers of URLs by value, for each facet."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.mark.slow
def test_the_facets_of_the_page_count_the_planned_urls(audited: Audited, browser: Any) -> None:
    page = browser.new_page()
    page.goto((audited.folder / "report.html").as_uri())
    page.locator("#explorer").wait_for()
    facets = page.evaluate(CHOICES, ["Indexability", "First status", "Problem"])
    told = page.locator("#explorer output").inner_text()
    page.close()
    plan = audited.site.plan.values()
    assert facets["Indexability"] == Counter(planned.indexability for planned in plan)
    assert facets["First status"] == Counter(str(planned.status or "") for planned in plan)
    found = {rule: number for rule, number in facets["Problem"].items() if rule in audited.site.rules}
    assert found == {rule: len(audited.site.planned(rule)) for rule in audited.site.rules}
    assert told.startswith(f"{len(plan)} of {len(plan)} URLs")
