"""The demo site, crawled by the command that `make crawl` runs."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.crawl.crawling import DEADLINE_S, FEED, ROOT, Crawl, read_feed

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
    "/sitemaps/ampersand.xml": ("xml-urlset", "recovered", 4),
    "/sitemaps/defects.xml": ("xml-urlset", "ok", 10),
    "/sitemaps/missing.xml": ("unknown", "failed", 0),
    "/private/drafts.xml": ("unknown", "blocked", 0),
}
"""Format, outcome and `url_count` by path."""


@dataclass
class Demo(Crawl):
    """What one crawl of the demo site left."""

    rows: list[dict[str, str]] = field(default_factory=list)
    """Of the table."""

    def sitemap(self, path: str) -> dict[str, Any]:
        return next(record for record in self.of_type("sitemap") if urlsplit(record["sitemap"]).path == path)

    def urls(self, path: str) -> list[dict[str, Any]]:
        return [record for record in self.of_type("url") if urlsplit(record["sitemap"]).path == path]


def demo_crawl(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demo", "crawl", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    out = tmp_path_factory.mktemp("demo") / "out"
    done = demo_crawl("--out", str(out))
    assert (out / "urls.csv").exists(), done.stderr
    with (out / "urls.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return Demo(done.returncode, done.stderr, done.stdout, out, 0, read_feed(out / FEED), rows)


def test_crawl_of_the_demo_site_succeeds_without_a_traceback(crawl: Demo) -> None:
    assert crawl.code == 0, crawl.log
    assert "Traceback" not in crawl.log


def test_each_sitemap_has_one_record(crawl: Demo) -> None:
    paths = [urlsplit(record["sitemap"]).path for record in crawl.of_type("sitemap")]
    assert sorted(paths) == sorted(EXPECTED)


@pytest.mark.parametrize("path", EXPECTED)
def test_sitemap_is_read_as_what_it_is(crawl: Crawl, path: str) -> None:
    record = crawl.sitemap(path)
    assert (record["format"], record["outcome"], record["url_count"]) == EXPECTED[path]
    assert len(crawl.urls(path)) == (0 if record["format"] == "xml-index" else record["url_count"])


def test_summary_counts_the_records(crawl: Demo) -> None:
    assert crawl.summary["sitemaps"] == len(crawl.of_type("sitemap"))
    assert crawl.summary["urls"] == len(crawl.of_type("url")) == len(crawl.rows) >= 111
    assert "partial" not in crawl.summary


@pytest.mark.slow
def test_failing_crawl_passes_its_exit_code_on(tmp_path: Path) -> None:
    done = demo_crawl("--out", str(tmp_path), "-a", "max_urls=many")
    assert done.returncode == 2
    assert "max_urls" in done.stderr
