"""From a site to the files a user opens: the same records in every format, whole, and valid."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import DEADLINE_S, FEED, ROOT, Crawl, crawl, read_feed, start, types
from tests.crawl.documents import CORE, DECLARATION, EXTENSIONS, dated, index, page, pages, rss, text, urlset
from tests.crawl.site_server import SiteServer, moved
from tests.ports import reserved_port

SCHEMA = ROOT / "docs" / "records.schema.json"
RICH = f"""{DECLARATION}<urlset {CORE} {EXTENSIONS} xmlns:x="https://example.com/own">
<url>
  <loc>https://pages.example/rich?a=1&amp;b=2</loc>
  <lastmod>2024-05-01T12:00:00+02:00</lastmod><changefreq>daily</changefreq><priority>0.8</priority>
  <image:image><image:loc>https://pages.example/1.png</image:loc><image:title>=1+1</image:title></image:image>
  <image:image><image:loc>https://pages.example/2.png</image:loc></image:image>
  <video:video><video:thumbnail_loc>https://pages.example/t.png</video:thumbnail_loc><video:title>Film</video:title>
    <video:description>A film</video:description><video:price currency="EUR">1.99</video:price>
    <video:price currency="USD">2.99</video:price><video:tag>a</video:tag><video:tag>b</video:tag></video:video>
  <news:news><news:publication><news:name>Paper</news:name><news:language>de</news:language></news:publication>
    <news:publication_date>2024-05-01</news:publication_date>
    <news:title>Gr\u00fc\u00dfe \U0001f600</news:title></news:news>
  <xhtml:link rel="alternate" hreflang="de" href="https://pages.example/de/rich"/>
  <xhtml:link rel="alternate" hreflang="x-default" href="https://pages.example/rich"/>
  <x:own a="1">kept<x:inner/></x:own>
</url>
<url><loc>https://pages.example/m\u00fcnchen/\u65e5\u672c</loc><lastmod>=HYPERLINK("http://evil.example")</lastmod></url>
<url><loc>/relative</loc></url>
</urlset>""".encode()
CHILDREN = ("/rich.xml", "/many.xml.gz", "/list.txt", "/feed.rss", "/gone.xml", "/page.xml", "/moved.xml",
            "/dated.xml", "/cut.xml")  # fmt: skip
MANY = 1100
"""Entries of a file that is more than a batch."""
PICKED = {"urls": "UrlRecord", "sitemaps": "SitemapRecord", "summary": "SummaryRecord"}
"""Record types that have feeds of their own, by name."""
FEEDS = ("urls.csv", "all.json", "all.jsonl", "urls.csv.gz", "deep/folder/all.jsonl.gz")


def program(site: SiteServer) -> None:
    """A site with all kinds of rows and records."""
    at = site.url
    site.routes = {
        "/index.xml": index(*map(at, CHILDREN)),
        "/rich.xml": RICH,
        "/many.xml.gz": gzip.compress(urlset(*pages("many", MANY)), mtime=0),
        "/list.txt": text(*pages("list", 3)),
        "/feed.rss": rss(*pages("feed", 3)),
        "/page.xml": page(),
        "/moved.xml": moved("/target.xml", 301),
        "/target.xml": urlset(*pages("moved", 2)),
        "/dated.xml": dated({"https://pages.example/d1": "2024-05-01", "https://pages.example/d2": "2023"}),
        "/cut.xml": urlset(*pages("cut", 5))[:-100],
    }


@dataclass
class Feeds:
    """A crawl that wrote every format."""

    crawl: Crawl
    site: SiteServer

    def path(self, name: str) -> Path:
        return self.crawl.folder / name

    @property
    def rows(self) -> list[dict[str, str]]:
        return table(self.path("urls.csv").read_bytes())

    @property
    def records(self) -> list[dict[str, Any]]:
        return read_feed(self.path("all.jsonl"))

    def of_type(self, name: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == name]


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Feeds]:
    with SiteServer() as site:
        program(site)
        options = [option for name in FEEDS for option in ("-O", name)]
        folder = tmp_path_factory.mktemp("feeds")
        (folder / "urls.csv").write_text("an earlier and much longer feed\n" * 100_000)
        chosen = {
            f"{name}.jsonl": {"format": "jsonl", "overwrite": True, "item_classes": [f"sitemapcrawler.items.{kind}"]}
            for name, kind in PICKED.items()
        }
        settings = {"FEEDS": json.dumps(chosen)}
        yield Feeds(crawl(folder, *options, settings=settings, sitemap=site.url("/index.xml")), site)


def test_crawl_ends_well_and_says_what_it_wrote(feeds: Feeds) -> None:
    assert feeds.crawl.code == 0
    assert all(name in feeds.crawl.log for name in FEEDS)
    assert feeds.crawl.output == ""


def test_closing_line_is_for_a_person(feeds: Feeds) -> None:
    files, urls = len(feeds.of_type("sitemap")), len(feeds.of_type("url"))
    last = feeds.crawl.log.splitlines()[-1]
    found = r"errors on [\d,]+ URLs? in [\d,]+ files?, warnings on [\d,]+ URLs? in [\d,]+ files?"
    assert re.search(rf"{files} files, {urls:,} URLs, {found}; took \d+\.\d s \([\d,]+ URLs/s\)$", last), last


@pytest.mark.parametrize(("name", "kind"), [("urls", "url"), ("sitemaps", "sitemap"), ("summary", "summary")])
def test_item_classes_pick_record_types(feeds: Feeds, name: str, kind: str) -> None:
    assert read_feed(feeds.path(f"{name}.jsonl")) == feeds.of_type(kind)


def test_json_holds_the_same_as_json_lines(feeds: Feeds) -> None:
    assert json.loads(feeds.path("all.json").read_text("utf-8")) == feeds.records


def test_compressed_feeds_hold_the_same(feeds: Feeds) -> None:
    assert gzip.decompress(feeds.path("urls.csv.gz").read_bytes()) == feeds.path("urls.csv").read_bytes()
    packed = feeds.path("deep/folder/all.jsonl.gz").read_bytes()
    assert gzip.decompress(packed) == feeds.path("all.jsonl").read_bytes()


def test_table_has_the_url_records_only(feeds: Feeds) -> None:
    records = feeds.of_type("url")
    assert [(row["loc"], row["sitemap"], row["line"]) for row in feeds.rows] == [
        (record["loc"], record["sitemap"], str(record["line"])) for record in records
    ]


def test_rows_of_a_file_stand_in_document_order(feeds: Feeds) -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for record in feeds.of_type("url"):
        found[record["sitemap"]].append(record["loc"])
    assert found[feeds.site.url("/many.xml.gz")] == pages("many", MANY)
    lines = [r["line"] for r in feeds.of_type("url") if r["sitemap"] == feeds.site.url("/many.xml.gz")]
    assert lines == list(range(3, 3 + MANY))


def test_record_of_a_file_counts_its_rows(feeds: Feeds) -> None:
    rows = [record["sitemap"] for record in feeds.of_type("url")]
    for record in feeds.of_type("sitemap"):
        if record["format"] != "xml-index":
            assert record["url_count"] == rows.count(record["sitemap"]), record


def test_every_record_is_valid(feeds: Feeds) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    problems = [error.message for record in feeds.records for error in validator.iter_errors(record)]
    assert problems == []


# ---- batches and single records


def lines_of_files(path: Path) -> dict[str, list[bytes]]:
    """The url rows of a JSON lines feed, as written, by sitemap."""
    found: dict[str, list[bytes]] = defaultdict(list)
    for line in path.read_bytes().splitlines():
        record = json.loads(line)
        if record["type"] == "url":
            found[record["sitemap"]].append(line)
    return found


def lines_but_summary(path: Path) -> list[bytes]:
    """All other rows of a JSON lines feed, as written, sorted."""
    return sorted(line for line in path.read_bytes().splitlines() if not line.startswith(b'{"type":"summary"'))


@pytest.mark.slow
def test_single_records_give_the_same_rows_byte_for_byte(feeds: Feeds, tmp_path: Path) -> None:
    settings = {"SITEMAP_ITEMS": "records"}
    options = ["-O", "all.jsonl", "-O", "urls.csv", "-O", "all.json"]
    done = crawl(tmp_path, *options, settings=settings, sitemap=feeds.site.url("/index.xml"))
    assert done.code == 0
    assert lines_of_files(tmp_path / "all.jsonl") == lines_of_files(feeds.path("all.jsonl"))
    assert lines_but_summary(tmp_path / "all.jsonl") == lines_but_summary(feeds.path("all.jsonl"))
    assert sorted((tmp_path / "urls.csv").read_bytes().splitlines()) == sorted(
        feeds.path("urls.csv").read_bytes().splitlines()
    )
    assert len(json.loads((tmp_path / "all.json").read_bytes())) == len(feeds.records)
    assert f"{len(feeds.rows):,} URLs" in done.log.splitlines()[-1]


# ---- appending, overwriting, other targets


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux that is always full")
def test_feed_that_cannot_be_written_is_told_in_a_line(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/a.xml": urlset(*pages("a", 3))}
    done = crawl(tmp_path, "-O", "/dev/full:csv", "-O", "all.jsonl", sitemap=site.url("/a.xml"))
    assert "/dev/full cannot be written: No space left on device" in done.log
    assert "wrote /dev/full" not in done.log
    assert "wrote all.jsonl" in done.log
    assert done.code not in (0, 2, 3, 4)
    assert types(read_feed(tmp_path / "all.jsonl")) == ["sitemap", "url", "url", "url", "summary"]


def test_feed_that_could_not_be_sent_is_not_said_to_be_written(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/a.xml": urlset(site.url("/page"))}
    with ExitStack() as stack:
        feed = f"ftp://user:secret@127.0.0.1:{stack.enter_context(reserved_port())}/out.csv"
        running = stack.enter_context(start(tmp_path, "-O", feed, "-O", FEED, sitemap=site.url("/a.xml")))
        assert running.process.wait(DEADLINE_S) == 1
        assert "Error storing csv feed" in running.log
        assert re.findall("wrote (.*)", running.log) == [FEED]
        assert "secret" not in running.log


TORN = """
from scrapy.exporters import JsonLinesItemExporter
class Torn(JsonLinesItemExporter):
    def export_item(self, item):
        if item.type == "url":
            raise MemoryError
        super().export_item(item)
"""
"""An exporter that writes the first items of a crawl, and raises an exception for others."""
JSON_LINES = "sitemapcrawler.feeds.exporters.JsonLinesExporter"


def test_feed_that_has_lost_a_row_leaves_the_earlier_one_and_the_other_feeds_whole(
    site: SiteServer, tmp_path: Path
) -> None:
    site.routes = {"/a.xml": urlset(*pages("a", 3))}
    (tmp_path / "torn.py").write_text(TORN)
    (tmp_path / "some.csv").write_text("earlier")
    settings = {"FEED_EXPORTERS": json.dumps({"csv": "torn.Torn", "jsonl": JSON_LINES}), "SITEMAP_ITEMS": "records"}
    feeds = ("-O", "some.csv", "-O", "all.jsonl")
    with start(tmp_path, *feeds, settings=settings, sitemap=site.url("/a.xml")) as running:
        assert running.process.wait(DEADLINE_S) == 1, running.log
    assert (tmp_path / "some.csv").read_text() == "earlier"
    assert types(read_feed(tmp_path / "all.jsonl")) == ["sitemap", "url", "url", "url", "summary"]
    assert running.log.count("some.csv was not written: MemoryError; the previous file is kept") == 1
    assert running.log.count("Traceback") == 1
    assert not list(tmp_path.glob(".*"))
