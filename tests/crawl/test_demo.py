"""The demo site, crawled by the command that `make crawl` runs."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]
EXPECTED = {
    "/sitemap-index.xml": ("xml-index", "ok", 14),
    "/sitemaps/pages.xml": ("xml-urlset", "ok", 11),
    "/sitemaps/catalogue.xml.gz": ("xml-urlset", "ok", 60),
    "/sitemaps/media.xml": ("xml-urlset", "ok", 5),
    "/sitemaps/archive-index.xml": ("xml-index", "ok", 3),
    "/sitemaps/archive-2024.xml": ("xml-urlset", "ok", 5),
    "/sitemaps/archive-2025.xml": ("xml-urlset", "ok", 5),
    "/sitemaps/pages.txt": ("text", "ok", 3),
    "/feeds/news.rss": ("rss", "ok", 3),
    "/feeds/blog.atom": ("atom", "ok", 3),
    "/sitemaps/moved.xml": ("xml-urlset", "ok", 2),
    "/sitemaps/login.xml": ("html", "failed", 0),
    "/sitemaps/truncated.xml": ("xml-urlset", "truncated", 3),
}
"""Format, outcome and `url_count` by path, where recovery makes no difference."""

OTHERS = {
    "/sitemaps/missing.xml",
    "/private/drafts.xml",
    "/sitemaps/ampersand.xml",
    "/sitemaps/defects.xml",
}
"""The other files that have a record."""


@dataclass
class Crawl:
    """What one crawl of the demo site left."""

    code: int
    log: str
    rows: list[dict[str, str]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)

    def of_type(self, name: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == name]

    def sitemap(self, path: str) -> dict[str, Any]:
        return next(record for record in self.of_type("sitemap") if urlsplit(record["sitemap"]).path == path)

    def urls(self, path: str) -> list[dict[str, Any]]:
        return [record for record in self.of_type("url") if urlsplit(record["sitemap"]).path == path]


def demo_crawl(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demo", "crawl", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    out = tmp_path_factory.mktemp("demo") / "out"
    done = subprocess.run(
        [sys.executable, "-m", "demo", "crawl", "--out", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (out / "urls.csv").exists() and (out / "records.jsonl").exists(), done.stderr
    with (out / "urls.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    lines = (out / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return Crawl(done.returncode, done.stderr, rows, [json.loads(line) for line in lines])


def test_crawl_of_the_demo_site_succeeds_without_a_traceback(crawl: Crawl) -> None:
    assert crawl.code == 0, crawl.log
    assert "Traceback" not in crawl.log


def test_each_sitemap_has_one_record(crawl: Crawl) -> None:
    paths = [urlsplit(record["sitemap"]).path for record in crawl.of_type("sitemap")]
    assert Counter(paths) == Counter([*EXPECTED, *OTHERS])


@pytest.mark.parametrize("path", EXPECTED)
def test_sitemap_is_read_as_what_it_is(crawl: Crawl, path: str) -> None:
    record = crawl.sitemap(path)
    assert (record["format"], record["outcome"], record["url_count"]) == EXPECTED[path]
    assert len(crawl.urls(path)) == (0 if record["format"] == "xml-index" else record["url_count"])


def test_missing_sitemap_is_recorded_with_its_status(crawl: Crawl) -> None:
    record = crawl.sitemap("/sitemaps/missing.xml")
    assert (record["outcome"], record["status"], record["url_count"]) == ("failed", 404, 0)
    assert "404" in record["error"]


def test_sitemap_that_robots_forbids_is_blocked(crawl: Crawl) -> None:
    record = crawl.sitemap("/private/drafts.xml")
    assert (record["outcome"], record.get("status")) == ("blocked", None)
    assert crawl.urls("/private/drafts.xml") == []


def test_moved_sitemap_keeps_its_hop(crawl: Crawl) -> None:
    record = crawl.sitemap("/sitemaps/moved.xml")
    assert record["hops"] == [{"status": 301, "url": record["sitemap"]}]
    assert urlsplit(record["final_url"]).path == "/sitemaps/shop.xml"


def test_raw_ampersand_costs_no_entry_before_it(crawl: Crawl) -> None:
    record = crawl.sitemap("/sitemaps/ampersand.xml")
    paths = [urlsplit(url["loc"]).path for url in crawl.urls("/sitemaps/ampersand.xml")]
    assert record["outcome"] in {"recovered", "truncated"}
    assert 1 <= record["url_count"] <= 4
    assert paths == ["/about", "/search", "/shop", "/tickets"][: len(paths)] and paths


def test_raw_ampersand_never_gives_another_url(crawl: Crawl) -> None:
    base = crawl.sitemap("/sitemaps/ampersand.xml")["sitemap"].removesuffix("/sitemaps/ampersand.xml")
    searches = {url["loc"] for url in crawl.of_type("url") if urlsplit(url["loc"]).path == "/search"}
    assert searches <= {f"{base}/search?colour=red&size=2"}


def test_wrong_values_cost_no_entry(crawl: Crawl) -> None:
    record = crawl.sitemap("/sitemaps/defects.xml")
    urls = crawl.urls("/sitemaps/defects.xml")
    assert record["outcome"] in {"ok", "recovered"}
    assert record["url_count"] == len(urls) == 10
    assert urls[0]["loc_raw"] == "/defects/1"
    assert urlsplit(urls[0]["loc"]).path == "/defects/1"
    assert urls[1]["lastmod"] == "2025-13-45"
    assert "lastmod_at" not in urls[1]
    assert urls[3]["priority"] == 1.5
    assert "priority" not in urls[4]


def test_namespaces_are_counted(crawl: Crawl) -> None:
    counts = {"images": 2, "videos": 1, "news": 1, "alternates": 6}
    assert crawl.sitemap("/sitemaps/media.xml")["counts"] == counts


def test_files_say_how_they_were_found(crawl: Crawl) -> None:
    found = {path: crawl.sitemap(path) for path in ("/sitemap-index.xml", "/sitemaps/archive-2024.xml")}
    assert [(record["found_by"], record["depth"]) for record in found.values()] == [("robots", 0), ("index", 2)]
    assert urlsplit(found["/sitemaps/archive-2024.xml"]["parent"]).path == "/sitemaps/archive-index.xml"


def test_table_has_a_row_for_each_url_record(crawl: Crawl) -> None:
    urls = Counter((record["sitemap"], record["loc"]) for record in crawl.of_type("url"))
    assert Counter((row["sitemap"], row["loc"]) for row in crawl.rows) == urls
    assert urls.total() >= 111


def test_summary_is_last_and_counts_the_rest(crawl: Crawl) -> None:
    summary = crawl.records[-1]
    assert summary["type"] == "summary"
    assert summary["sitemaps"] == len(crawl.of_type("sitemap"))
    assert summary["urls"] == len(crawl.of_type("url"))
    assert "partial" not in summary


def test_failing_crawl_passes_its_exit_code_on(tmp_path: Path) -> None:
    done = demo_crawl("--out", str(tmp_path), "-a", "max_urls=many")
    assert done.returncode == 2
    assert "max_urls" in done.stderr
