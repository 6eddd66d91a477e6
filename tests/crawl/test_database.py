"""The queries in docs/formats.md, on the database of a crawl of the demo site with a baseline; the script of docs/jobs.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from demo.pages import CATALOGUE_SIZE
from demo.server import serving
from tests.crawl.crawling import FEED, NO_DELAYS, ROOT, Crawl, crawl, start
from tests.crawl.documents import robots, urlset
from tests.crawl.forks import environment
from tests.crawl.site_server import SiteServer, stalled

JOBS = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")
FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
DATABASE = "jobs/demo/audit.duckdb"
BLOCK = re.compile(r"^\d+\. \*\*(.+?)\*\*(.*?)\n\n```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A question, what the answer has, and the query."""
WORD = re.compile(r"`(\w+)`")
NO_COLUMNS = {"issues"}
"""Words in what is said of an answer that name no column of it."""
BASELINE = "before.jsonl"
GONE = "/blog/0"
"""Page that only the baseline lists."""
NEW, DATED = "/blog/1", "/blog/2"
"""Pages that it does not list, and with another date."""
OPTIONS = " ".join(f"-s {name}={value}" for name, value in NO_DELAYS.items())
Row = dict[str, Any]


@dataclass
class Demo:
    """What a crawl left."""

    base: str
    database: duckdb.DuckDBPyConnection
    crawl: Crawl

    def rows(self, sql: str) -> list[Row]:
        """The rows of a query, with the paths of URLs only."""
        found = self.database.execute(sql)
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, map(self._short, row), strict=True)) for row in found.fetchall()]

    def _short(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._short(part) for part in value]
        return value.replace(self.base, "") if isinstance(value, str) else value


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """A crawl of the demo site with a baseline that differs in a few pages."""
    folder = tmp_path_factory.mktemp("demo")
    with serving() as base:
        asked = {"domain": base, "verify": "get"}
        first = crawl(folder, **asked)
        assert first.code == 0, first.log
        (folder / BASELINE).write_text(
            "".join(map(as_before, (folder / FEED).read_text("utf-8").splitlines())), "utf-8"
        )
        done = crawl(folder, settings={"JOBDIR": "jobs/demo"}, baseline=BASELINE, **asked)
        assert done.code == 0, done.log
        with duckdb.connect(folder / DATABASE, read_only=True) as database:
            yield Demo(base, database, done)


def as_before(line: str) -> str:
    """A line of the baseline, from one of a feed of today."""
    record = json.loads(line)
    loc = record.get("loc", "")
    if loc.endswith(NEW):
        record["loc"] = loc.replace(NEW, GONE)
    if loc.endswith(DATED):
        record["lastmod"] = "2001-01-01"
    return json.dumps(record) + "\n"


def queries() -> list[tuple[str, set[str], str]]:
    """(question, columns that are promised, query) of each block."""
    found = [match.groups() for match in BLOCK.finditer(FORMATS)]
    return [(title, {*WORD.findall(told.partition(". ")[0])} - NO_COLUMNS, sql) for title, told, sql in found]


def query(word: str) -> str:
    """The query whose question has a word."""
    [sql] = [sql for title, _, sql in queries() if word in title]
    return sql


def test_every_query_of_the_page_has_its_question() -> None:
    assert len(queries()) == 10
    assert sorted(sql for *_, sql in queries()) == sorted(re.findall(r"^```sql\n(.*?)^```$", FORMATS, re.M | re.S))


@pytest.mark.parametrize(("title", "promised", "sql"), queries(), ids=[title for title, *_ in queries()])
def test_query_gives_the_columns_that_are_promised(demo: Demo, title: str, promised: set[str], sql: str) -> None:
    columns = [column[0] for column in demo.database.execute(sql).description or ()]
    assert set(columns) == promised, title


def by(rows: list[Row], name: str) -> dict[Any, Row]:
    """Rows by the value of a column, of which each has its own."""
    found = {row[name]: row for row in rows}
    assert len(found) == len(rows)
    return found


def test_slowest_sections_come_first(demo: Demo) -> None:
    rows = demo.rows(query("slowest"))
    assert [row["median_ms"] for row in rows] == sorted((row["median_ms"] for row in rows), reverse=True)
    assert by(rows, "section")["/catalogue/"]["pages"] == CATALOGUE_SIZE
    assert all(row["slowest_ms"] >= row["median_ms"] for row in rows)


def test_sections_with_most_errors_come_first(demo: Demo) -> None:
    rows = demo.rows(query("errors"))
    assert rows[0]["section"] == "/defects/" and {"loc-relative", "lastmod-invalid"} <= set(rows[0]["rules"])
    assert by(rows, "section")["/catalogue/"] == {"section": "/catalogue/", "pages": 1, "rules": ["status-404"]}


def test_languages_without_return_links_are_told(demo: Demo) -> None:
    rows = by(demo.rows(query("return links")), "hreflang")
    assert rows["x-default"]["links"] == rows["x-default"]["without_return"] == 2
    assert rows["x-default"]["example"] in {"/en/visit -> /visit", "/de/visit -> /visit"}
    assert rows["de"] == {"hreflang": "de", "links": 1, "without_return": 0, "example": None}


@pytest.mark.parametrize(("age", "stale"), [("0 DAY", CATALOGUE_SIZE), ("90 YEAR", 0)])
def test_stale_pages_are_those_whose_date_is_old(demo: Demo, age: str, stale: int) -> None:
    sql = query("stale")
    assert sql.count("1 YEAR") == 1
    rows = by(demo.rows(sql.replace("1 YEAR", age)), "section")
    oldest = datetime(2026, 4, 30, 6, 15)
    told = {"section": "/catalogue/", "pages": CATALOGUE_SIZE, "dated": CATALOGUE_SIZE, "stale": stale}
    assert rows["/catalogue/"] == told | {"oldest": oldest}
    assert rows["/defects/"]["dated"] == 2 and rows["/defects/"]["pages"] == 8
    assert rows["/blog/"]["pages"] == 3, "the removed page is not counted"


def test_pages_that_a_crawler_cannot_see(demo: Demo) -> None:
    rows = demo.rows(query("crawler"))
    paths = ["/news/1", "/news/2", "/news/3", "/news/night-opening", "/private/press-kit"]
    assert [row["loc"] for row in rows] == paths
    assert rows[0]["sitemap"] == "/feeds/news.rss"


def test_redirects_have_their_targets(demo: Demo) -> None:
    assert demo.rows(query("redirects")) == [
        {"target": target, "status": 200, "pages": 1, "redirects": 1} for target in ("/catalogue/20", "/visit")
    ]


def test_pages_in_several_files_name_these(demo: Demo) -> None:
    rows = by(demo.rows(query("several files")), "loc")
    assert rows.keys() == {"/about", "/shop", "/tickets"}
    assert rows["/about"]["files"] == ["/sitemaps/ampersand.xml", "/sitemaps/pages.xml"]


def test_changes_are_counted_by_section(demo: Demo) -> None:
    rows = demo.rows(query("baseline"))
    assert rows[0] == {"section": "/blog/", "added": 1, "removed": 1, "changed": 1, "unchanged": 1}
    assert by(rows, "section")["/catalogue/"]["unchanged"] == CATALOGUE_SIZE
    assert not any(row["added"] + row["removed"] + row["changed"] for row in rows[1:])


def test_answers_are_counted_by_file(demo: Demo) -> None:
    answers = {(row["sitemap"], row["answer"]): row["urls"] for row in demo.rows(query("answer"))}
    assert answers["/sitemaps/catalogue.xml.gz", "200"] == CATALOGUE_SIZE - 2
    assert answers["/sitemaps/catalogue.xml.gz", "301"] == 1
    assert answers["/sitemaps/catalogue.xml.gz", "404"] == 1
    assert answers["/sitemaps/defects.xml", "off-site"] == 1
    assert sum(answers.values()) == len(demo.crawl.of_type("url")) - 1, "all but the removed one"


def test_pages_that_are_not_to_be_indexed(demo: Demo) -> None:
    sql = query("noindex")
    assert demo.rows(sql) == [], "the demo site has none"
    hidden = "{'noindex': loc LIKE '%/about', 'noindex_agents': [a FOR a IN ['b'] IF loc LIKE '%/press']}"
    rows = demo.rows(sql.replace("FROM urls", f"FROM (SELECT * REPLACE ({hidden} AS reply) FROM urls)"))
    assert {(row["loc"], row["everywhere"], *row["agents"]) for row in rows} == {
        ("/about", True),
        ("/press", False, "b"),
    }


def test_example_in_python_works(
    demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = [text for text in re.findall(r"^```python\n(.*?)^```$", FORMATS, re.M | re.S) if "duckdb" in text]
    monkeypatch.chdir(demo.crawl.folder)
    exec(example.replace("jobs/example", "jobs/demo"), {})
    assert "/sitemaps/catalogue.xml.gz" in capsys.readouterr().out


def test_database_is_locked_while_a_crawl_runs(tmp_path: Path, site: SiteServer) -> None:
    site.routes = {"/robots.txt": robots(site.url("/slow.xml")), "/slow.xml": stalled(b"<urlset>")}
    with start(tmp_path, settings={"JOBDIR": "jobs/demo"}, domain=site.url()) as running:
        running.wait_until(lambda: "/slow.xml" in site.paths)
        with pytest.raises(duckdb.IOException, match="lock"):
            duckdb.connect(tmp_path / DATABASE, read_only=True)


# docs/jobs.md


@pytest.mark.slow
def test_script_of_every_night_lists_what_has_changed(tmp_path: Path, site: SiteServer) -> None:
    program = tmp_path / "bin" / "sitemapcrawler"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m sitemapcrawler.cli "$@" {OPTIONS}\n')
    program.chmod(0o755)
    [script] = re.findall(r"^```sh\n(.*?)^```$", JOBS, re.MULTILINE | re.DOTALL)
    script = script.replace("/srv/audits/example", str(tmp_path)).replace("domain=example.com", f"domain={site.url()}")
    pages = [site.url(f"/{number}") for number in range(3)]

    def night(date: str, listed: list[str]) -> list[tuple[str, str | None]]:
        site.routes = {"/robots.txt": robots(site.url("/s.xml")), "/s.xml": urlset(*listed)}
        command = ["sh", "-c", script.replace("$(date +%F)", date)]
        path = os.pathsep.join([str(program.parent), os.environ.get("PATH", os.defpath)])
        done = subprocess.run(command, env=environment() | {"PATH": path}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        rows = map(json.loads, (tmp_path / "changes" / f"{date}.jsonl").read_text("utf-8").splitlines())
        return sorted((row["loc"], row.get("change")) for row in rows if row["type"] == "url")

    assert night("2026-01-01", pages[:2]) == [(pages[0], None), (pages[1], None)]
    assert night("2026-01-03", pages[1:]) == [(pages[0], "removed"), (pages[2], "added")]
    assert night("2026-01-04", pages[1:]) == []
    assert (tmp_path / "jobs" / "last").readlink() == Path("2026-01-04")
