"""Workbooks, tables and the Parquet feed of a real crawl, and how many findings they list."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import polars
import pyarrow.parquet as pq
import pytest

from demo.server import serving
from sitemapcrawler.feeds.folder import OF_EXTENSIONS
from sitemapcrawler.reader.faults import MAX_KEPT
from tests.crawl import forks
from tests.crawl.crawling import AT_HOME, DEADLINE_S, FEED, Crawl, command, crawl
from tests.crawl.documents import CORE, DECLARATION, EXTENSIONS, index, robots, urlset
from tests.crawl.forks import environment
from tests.crawl.reports import nested, without_returns
from tests.crawl.site_server import SiteServer

FAULTY = 30
"""Faulty entries of a file."""
CAP = {"SITEMAP_FINDINGS_PER_RULE": 5}
RULES = "loc-relative,xml-unknown-element"
SHEETS = {"URLs": "url", "Problems": "finding", "Sitemaps": "sitemap", "Robots": "robots", "Links": "page"}


def faulty(count: int, start: int = 0) -> str:
    """A urlset with an unknown element and a relative URL in each entry."""
    entries = "".join(f"<url><loc>/page/{n}</loc><title>{n}</title></url>\n" for n in range(start, start + count))
    return f"<urlset {CORE}>\n{entries}</urlset>"


def publish(site: SiteServer, files: int = 2) -> None:
    names = [f"/{number}.xml" for number in range(files)]
    site.routes = {
        "/robots.txt": robots(site.url("/index.xml")),
        "/index.xml": index(*map(site.url, names)),
        **{name: faulty(FAULTY, number * FAULTY) for number, name in enumerate(names)},
    }


def sheets(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table of a workbook, without a note below them."""
    found = {}
    for sheet in openpyxl.load_workbook(path).worksheets:
        if sheet.title == "Summary":
            continue
        header, *rows = sheet.iter_rows(values_only=True)
        found[sheet.title] = [dict(zip(header, row, strict=True)) for row in rows if any(row[1:])]
    return found


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def counts(done: Crawl) -> dict[str, int]:
    numbers = {name: len(done.of_type(kind)) for name, kind in SHEETS.items()}
    numbers["Not indexable"] = sum(record.get("indexable") is False for record in done.of_type("url"))
    optional = ("Links", "Not indexable")
    return {name: number for name, number in numbers.items() if number or name not in optional}


def listed(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(row["rule"] for row in rows)


def unlisted(rows: list[dict[str, Any]]) -> dict[str, str]:
    """What the findings on capped rules say, by rule."""
    return {row["value"]: row["message"] for row in rows if row["rule"] == "limit-findings"}


def test_workbook_has_a_row_for_each_record(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    options = ("-O", FEED, "-O", "audit.xlsx")
    done = crawl(tmp_path, *options, settings={"SITEMAP_ITEMS": "records"}, domain=site.url(), verify="head")
    assert done.code == 0
    rows = sheets(tmp_path / "audit.xlsx")
    assert {name: len(found) for name, found in rows.items()} == counts(done)
    assert {row["url"]: row["status"] for row in rows["URLs"]} == {
        record["loc"]: record["reply"].get("status") for record in done.of_type("url")
    }
    for name, kind, field in (("Problems", "finding", "message"), ("Sitemaps", "sitemap", "sitemap")):
        assert sorted(row[field] for row in rows[name]) == sorted(record[field] for record in done.of_type(kind))
    summary = dict(row[:2] for row in openpyxl.load_workbook(tmp_path / "audit.xlsx")["Summary"].values if row[0])
    assert (summary["URLs"], summary["Sitemaps"], summary["Ended early"]) == (2 * FAULTY, 3, "no")
    assert summary["loc-relative"] == 2 * FAULTY


@pytest.mark.slow
def test_job_that_was_stopped_and_one_that_is_finished_give_the_same_workbook(site: SiteServer, tmp_path: Path) -> None:
    publish(site, 6)
    options, job = ("-O", FEED, "-O", "audit.xlsx"), {**CAP, "JOBDIR": "job"}
    (whole := tmp_path / "whole").mkdir()
    expected = crawl(whole, *options, settings=CAP, domain=site.url(), select=RULES)
    stopped = crawl(tmp_path, *options, settings={**job, "CLOSESPIDER_ITEMCOUNT": 3}, domain=site.url(), select=RULES)
    assert stopped.code == 3 and counts(stopped)["URLs"] < 6 * FAULTY
    for _ in range(2):
        done = crawl(tmp_path, *options, settings=job, domain=site.url(), select=RULES)
        assert done.code == 0
        rows = sheets(tmp_path / "audit.xlsx")
        for name, found in sheets(whole / "audit.xlsx").items():
            assert sorted(map(str, rows[name])) == sorted(map(str, found))
        assert done.summary["rules"] == expected.summary["rules"]
    assert counts(done) == counts(expected)
    left = 6 * (FAULTY - CAP["SITEMAP_FINDINGS_PER_RULE"])
    assert unlisted(rows["Problems"]) == {
        rule: f"{left} more findings of {rule} are counted, not listed; findings=all lists all"
        for rule in RULES.split(",")
    }


def test_files_named_after_a_record_type_hold_it(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    names = (
        "findings.csv",
        "out/sitemaps.csv.gz",
        "robots.parquet",
        "out/findings.parquet",
        "urls.csv",
        "my-findings.csv",
    )
    options = [part for name in (FEED, *names) for part in ("-O", name)]
    done = crawl(tmp_path, *options, domain=site.url())
    assert done.code == 0
    findings = table(tmp_path / "findings.csv")
    assert [(row["type"], row["rule"], row["url"]) for row in findings] == [
        ("finding", record["rule"], record.get("url", "")) for record in done.of_type("finding")
    ]
    assert len(pq.read_table(tmp_path / "out/findings.parquet")) == len(findings)
    assert pq.read_table(tmp_path / "robots.parquet")["robots"].to_pylist() == [site.url("/robots.txt")]
    assert [row["loc"] for row in table(tmp_path / "urls.csv")] == [record["loc"] for record in done.of_type("url")]
    assert (tmp_path / "my-findings.csv").read_bytes() == (tmp_path / "urls.csv").read_bytes()


MULTILINGUAL = f"""{DECLARATION}<urlset {CORE} {EXTENSIONS}>
<url><loc>BASE/en</loc>
  <image:image><image:loc>BASE/1.png</image:loc><image:title>=1+1</image:title></image:image>
  <image:image><image:loc>BASE/2.png</image:loc></image:image>
  <xhtml:link rel="alternate" hreflang="en" href="BASE/en"/><xhtml:link rel="alternate" hreflang="de" href="BASE/de"/>
  <xhtml:link rel="alternate" hreflang="fr" href="/fr"/><xhtml:link rel="alternate" hreflang="it" href="BASE/it"/></url>
<url><loc>BASE/de</loc>
  <video:video><video:title>Film</video:title><video:tag>a</video:tag><video:tag>b</video:tag>
    <video:restriction relationship="allow">US CA</video:restriction></video:video>
  <xhtml:link rel="alternate" hreflang="en" href="BASE/en"/></url>
<url><loc>BASE/fr</loc>
  <news:news><news:publication><news:name>Paper</news:name></news:publication><news:title>A</news:title></news:news></url>
</urlset>"""
"""Three pages with objects of each extension."""
RETURNS = ["yes", "yes", "no", "not listed", "yes"]
"""Whether its language versions link back."""


def written(folder: Path, feed: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a feed in all formats."""
    return {
        "csv": table(folder / f"{feed}.csv"),
        "jsonl": [json.loads(line) for line in (folder / f"{feed}.jsonl").read_bytes().splitlines()],
        "parquet": pq.read_table(folder / f"{feed}.parquet").to_pylist(),
        "xlsx": sheets(folder / f"{feed}.xlsx")[feed.capitalize()],
    }


def test_objects_of_pages_have_files_in_each_format(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/a.xml": MULTILINGUAL.replace("BASE", site.url(""))}
    names = [f"{feed}.{format}" for feed in OF_EXTENSIONS for format in ("csv", "jsonl", "parquet", "xlsx")]
    options = [part for name in (FEED, *names, "blog-images.csv", "blog-news.jsonl") for part in ("-O", name)]
    done = crawl(tmp_path, *options, sitemap=site.url("/a.xml"), select="none")
    assert done.code == 0
    for feed in OF_EXTENSIONS:
        expected = nested(done.of_type("url"), feed)
        files = written(tmp_path, feed)
        assert [without_returns(row) for row in files["jsonl"]] == expected
        for format, rows in files.items():
            page = "url" if format == "xlsx" else "loc"
            assert [(row[page], row["line"]) for row in rows] == [
                (row["loc"], str(row["line"]) if format == "csv" else row["line"]) for row in expected
            ]
            if feed == "alternates":
                assert [row["returns"] for row in rows] == RETURNS
    assert [row["title"] for row in table(tmp_path / "images.csv")] == ["'=1+1", ""]
    assert len(table(tmp_path / "blog-images.csv")) == 3
    assert (tmp_path / "blog-news.jsonl").read_bytes().count(b"\n") == len(done.records)


def test_objects_as_items_stand_in_feeds_once(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/a.xml": MULTILINGUAL.replace("BASE", site.url(""))}
    settings = {"SITEMAP_ITEMS": "objects", "JOBDIR": "job"}
    options = ("-O", FEED, "-O", "alternates.csv", "-O", "audit.xlsx")
    for _ in range(2):  # batches, then records of a job that is finished
        done = crawl(tmp_path, *options, settings=settings, sitemap=site.url("/a.xml"))
        for kind in ("alternate", "image", "video", "news"):
            of_kind = done.of_type(kind)
            feed = kind if kind == "news" else f"{kind}s"
            assert [without_returns(row) for row in of_kind] == nested(done.of_type("url"), feed)
            assert len(sheets(tmp_path / "audit.xlsx")[feed.capitalize()]) == len(of_kind)
        assert [row["returns"] for row in done.of_type("alternate")] == RETURNS
        assert [row["returns"] for row in table(tmp_path / "alternates.csv")] == RETURNS


def test_item_classes_make_a_table_of_any_record_type(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    kinds = {
        "sitemap": "SitemapRecord",
        "robots": "RobotsRecord",
        "finding": "FindingRecord",
        "summary": "SummaryRecord",
    }
    feeds = {
        f"{name}s.csv": {"overwrite": True, "item_classes": [f"sitemapcrawler.items.{kind}"]}
        for name, kind in kinds.items()
    }
    feeds["findings.xlsx"] = {
        "overwrite": True,
        "item_classes": ["sitemapcrawler.items.FindingRecord"],
        "fields": ["rule", "line"],
    }
    done = crawl(tmp_path, settings={"FEEDS": json.dumps(feeds)}, domain=site.url())
    for name in kinds:
        rows = table(tmp_path / f"{name}s.csv")
        assert [row["type"] for row in rows] == [name] * len(done.of_type(name)) != []
    (sheet,) = openpyxl.load_workbook(tmp_path / "findings.xlsx").worksheets
    assert [cell.value for cell in sheet[1]] == ["rule", "line"]
    assert sheet.max_row == 1 + len(done.of_type("finding"))


@pytest.mark.slow
def test_standard_output_holds_a_whole_file(site: SiteServer, tmp_path: Path) -> None:
    """Of Parquet; `unit/feeds/test_workbook.py` writes a workbook to a pipe."""
    site.routes["/sitemap.txt"] = site.url("/page")
    argv = command("-O", "-:parquet", settings=AT_HOME, sitemap=site.url("/sitemap.txt"))
    done = forks.run(argv, cwd=tmp_path, env=environment(), capture_output=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr.decode()
    assert pq.read_table(io.BytesIO(done.stdout))["loc"].to_pylist() == [site.url("/page")]


def test_each_feed_says_what_it_does_not_list(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    options = ("-O", FEED, "-O", "findings.csv", "-O", "audit.xlsx", "-O", "x.sarif", "-O", "x.junit")
    done = crawl(tmp_path, *options, settings=CAP, domain=site.url(), select=RULES)
    told = {
        rule: f"50 more findings of {rule} are counted, not listed; findings=all lists all" for rule in RULES.split(",")
    }
    problems = sheets(tmp_path / "audit.xlsx")["Problems"]
    for rows in (done.of_type("finding"), table(tmp_path / "findings.csv"), problems):
        assert unlisted(rows) == told
        assert listed(rows) == {**dict.fromkeys(told, 10), "limit-findings": 2}
    for name in ("x.sarif", "x.junit"):
        assert all(message in (tmp_path / name).read_text() for message in told.values())
    assert done.summary["rules"] == {**dict.fromkeys(told, 2 * FAULTY), "limit-findings": 2}
    assert done.of_type("finding")[-1]["rule"] == "limit-findings"
    assert done.summary["findings_left_out"] == dict.fromkeys(told, 50)
    [row] = [row for row in openpyxl.load_workbook(tmp_path / "audit.xlsx")["Summary"].values if row[0] == "Problems"]
    assert row[1] == 22 and row[3].startswith("100 more findings are not listed: 50 of loc-relative and 50 of ")


@pytest.mark.slow
def test_findings_all_lists_all(site: SiteServer, tmp_path: Path) -> None:
    many = MAX_KEPT + 200
    site.routes = {
        "/robots.txt": robots(site.url("/a.xml"), site.url("/b.xml")),
        "/a.xml": faulty(many),
        "/b.xml": faulty(many),
    }
    rules = f"{RULES},cross-duplicate-url"
    options = ("-O", FEED, "-O", "findings.csv", "-O", "audit.xlsx")
    done = crawl(tmp_path, *options, settings=CAP, domain=site.url(), select=rules, findings="all")
    assert done.code == 0
    expected = dict.fromkeys(rules.split(","), 2 * many)
    assert done.summary["rules"] == {**expected, "cross-duplicate-url": 1}
    assert listed(done.of_type("finding")) == expected
    assert listed(table(tmp_path / "findings.csv")) == expected
    assert listed(sheets(tmp_path / "audit.xlsx")["Problems"]) == expected


@pytest.mark.slow
def test_list_of_findings_says_which_entries_it_lacks(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    (tmp_path / "few.py").write_text("from sitemapcrawler.jobs import listing\nlisting.MAX_ROWS = 26\n")
    settings = {"SITEMAP_RULES": "few.py", "JOBDIR": "job"}
    options = ("-O", FEED, "-O", "findings.csv", "-O", "audit.xlsx", "-O", "x.sarif")
    rules = f"{RULES},lastmod-missing"
    for _ in range(2):
        done = crawl(tmp_path, *options, settings=settings, domain=site.url(), select=rules, findings="all")
        assert done.code == 0, done.log
        assert done.summary["findings_left_out"] == {"lastmod-missing": 2 * FAULTY - 26}
        for found in (
            done.of_type("finding"),
            table(tmp_path / "findings.csv"),
            sheets(tmp_path / "audit.xlsx")["Problems"],
        ):
            told = [row for row in found if row["rule"] != "limit-findings"]
            assert listed(told)["lastmod-missing"] >= 26
            assert {rule: listed(told)[rule] for rule in RULES.split(",")} == dict.fromkeys(
                RULES.split(","), 2 * FAULTY
            )
            assert unlisted(found).keys() == {"lastmod-missing"}
        results = json.loads((tmp_path / "x.sarif").read_bytes())["runs"][0]["results"]
        of_rules = Counter(result["ruleId"] for result in results)
        assert {of_rules[rule] for rule in RULES.split(",")} == {2 * FAULTY}


def test_stopped_crawl_lists_what_it_says_of_the_files_that_it_has_read(site: SiteServer, tmp_path: Path) -> None:
    names = [f"/{number}.xml" for number in range(6)]
    site.routes = {
        "/index.xml": index(*map(site.url, names)),
        **{name: urlset(*(site.url(f"{name}/{n}") for n in range(3))) for name in names},
    }
    options = ("-O", FEED, "-O", "urls.csv")
    settings = {"CLOSESPIDER_ITEMCOUNT": 3, **AT_HOME}
    done = crawl(
        tmp_path, *options, settings=settings, sitemap=site.url("/index.xml"), select="lastmod-missing", findings="all"
    )
    assert done.code == 3
    told = {file["sitemap"] for file in done.of_type("sitemap") if "lastmod-missing" in file.get("issues", [])}
    assert 0 < len(told) < len(names)
    rows = {(finding["sitemap"], finding["url"]) for finding in done.of_type("finding") if "url" in finding}
    assert rows == {(record["sitemap"], record["loc"]) for record in done.of_type("url") if record["sitemap"] in told}
    assert done.summary["reach"]["lastmod-missing"]["urls"] == len(rows)


def test_rules_on_the_site_count_what_they_do_not_list(site: SiteServer, tmp_path: Path) -> None:
    files = [f"/{n}.xml" for n in range(FAULTY)]
    site.routes = {
        "/robots.txt": robots(*map(site.url, ["/all.xml", *files])),
        "/all.xml": urlset(*map(site.url, files)),
        **{path: urlset(site.url(f"/page{path}")) for path in files},
    }
    done = crawl(tmp_path, settings=CAP, domain=site.url(), select="loc-is-sitemap")
    findings = done.of_type("finding")
    assert listed(findings) == {"loc-is-sitemap": 5, "limit-findings": 1}
    assert list(unlisted(findings).values()) == [
        "25 more findings of loc-is-sitemap are counted, not listed; findings=all lists all"
    ]


# ---- Parquet, of the demo site


@dataclass
class Feeds:
    """What the crawl left."""

    folder: Path
    table: list[dict[str, str]]
    """Rows of the CSV feed."""
    urls: list[dict[str, Any]]
    """Url records of the JSON lines feed."""

    @property
    def parquet(self) -> str:
        """Path of the Parquet feed."""
        return str(self.folder / "x.parquet")


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Feeds:
    folder = tmp_path_factory.mktemp("demo")
    with serving() as base:
        done = crawl(folder, "-O", FEED, "-O", "urls.csv", "-O", "x.parquet", domain=base)
    assert done.code == 0, done.log
    return Feeds(folder, table(folder / "urls.csv"), done.of_type("url"))


def test_its_columns_are_the_fields_of_the_json_feed(feeds: Feeds) -> None:
    columns = pq.read_schema(feeds.parquet).names
    assert all([name for name in columns if name in url] == list(url) for url in feeds.urls)


def test_nested_records_are_those_of_the_json_feed(feeds: Feeds) -> None:
    table = polars.read_parquet(feeds.parquet)
    read = [
        [[image["loc"] for image in row["images"]], [each["hreflang"] for each in row["alternates"]]]
        for row in table.iter_rows(named=True)
    ]
    assert read == [
        [
            [image["loc"] for image in url.get("images", [])],
            [each.get("hreflang") for each in url.get("alternates", [])],
        ]
        for url in feeds.urls
    ]
    assert any(images for images, _ in read) and any(alternates for _, alternates in read)
