"""The Parquet feed of a real crawl, that of the demo site, beside its table in CSV."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow.parquet as pq
import pytest

from tests.crawl.crawling import LOG, ROOT, crawl
from tests.crawl.forks import environment
from tests.crawl.site_server import SiteServer


@dataclass
class Feeds:
    """What the crawl left."""

    folder: Path
    log: str
    table: list[dict[str, str]]
    """Rows of the CSV feed."""
    urls: list[dict[str, Any]]
    """Url records of the JSON lines feed."""

    @property
    def parquet(self) -> str:
        """Path of the Parquet feed."""
        return str(self.folder / "x.parquet")


def demo_crawl(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demo", "crawl", "--out", str(out), "-s", "AUTOTHROTTLE_ENABLED=0", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Feeds:
    out = tmp_path_factory.mktemp("demo") / "out"
    done = demo_crawl(out, "-O", str(out / "x.parquet"))
    assert done.returncode == 0, done.stderr
    with (out / "urls.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    records = map(json.loads, (out / "records.jsonl").read_text(encoding="utf-8").splitlines())
    return Feeds(out, done.stderr, table, [record for record in records if record["type"] == "url"])


def test_it_stands_beside_the_other_feeds(feeds: Feeds) -> None:
    assert "Traceback" not in feeds.log
    assert sorted(path.name for path in feeds.folder.iterdir()) == ["records.jsonl", "urls.csv", "x.parquet"]


def test_it_has_the_rows_of_the_table(feeds: Feeds) -> None:
    rows = duckdb.execute("SELECT sitemap, loc, line, lastmod FROM read_parquet(?)", [feeds.parquet]).fetchall()
    assert len(rows) >= 111
    assert [tuple("" if cell is None else str(cell) for cell in row) for row in rows] == [
        (row["sitemap"], row["loc"], row["line"], row["lastmod"]) for row in feeds.table
    ]


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


@pytest.mark.parametrize(
    ("option", "name", "problem"),
    [
        ("-o", "x.parquet", "parquet cannot be appended to; use -O (overwrite: True in FEEDS)"),
        ("-O", "x.parquet.gz", "x.parquet.gz cannot be gzip: parquet is compressed inside; leave .gz out"),
    ],
)
def test_what_cannot_be_written_is_refused_before_a_request(
    tmp_path: Path, option: str, name: str, problem: str
) -> None:
    done = crawl(tmp_path, option, name, domain="127.0.0.1:1")
    assert (done.code, done.log) == (2, f"sitemapcrawler: {problem}\n")
    assert [path.name for path in tmp_path.iterdir()] == [LOG]


@pytest.mark.slow
def test_standard_output_holds_a_whole_file(site: SiteServer, tmp_path: Path) -> None:
    site.routes["/sitemap.txt"] = site.url("/page")
    command = [sys.executable, "-m", "sitemapcrawler.cli", "crawl", "sitemap", "-O", "-:parquet"]
    command += ["-a", f"sitemap={site.url('/sitemap.txt')}", "-s", "AUTOTHROTTLE_ENABLED=0"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    assert pq.read_table(io.BytesIO(done.stdout))["loc"].to_pylist() == [site.url("/page")]
