"""The demo site, crawled by the command that `make crawl` runs."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
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


def test_each_sitemap_of_the_demo_site_is_read_as_what_it_is(crawl: Demo) -> None:
    assert crawl.code == 0, crawl.log
    assert "Traceback" not in crawl.log
    found = {
        urlsplit(one["sitemap"]).path: (one["format"], one["outcome"], one["url_count"])
        for one in crawl.of_type("sitemap")
    }
    assert (found, crawl.summary["sitemaps"]) == (EXPECTED, len(EXPECTED))
    listed = sum(count for format, _, count in EXPECTED.values() if format != "xml-index")
    assert crawl.summary["urls"] == len(crawl.of_type("url")) == len(crawl.rows) == listed


@pytest.mark.slow
def test_failing_crawl_passes_its_exit_code_on(tmp_path: Path) -> None:
    done = demo_crawl("--out", str(tmp_path), "-a", "max_urls=many")
    assert done.returncode == 2
    assert "max_urls" in done.stderr
