"""Reading one sitemap from Python: what can be read, what comes of it, and what is raised."""

from __future__ import annotations

import doctest
import gzip
import io
import os
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import sitemapcrawler
from sitemapcrawler import ChildEntry, FindingRecord, Limits, SitemapRecord, UrlEntry, read_sitemap
from sitemapcrawler.api import sitemaps as sitemapfile
from tests.unit.rules.judging import NOW, URL, judge

ROOT = Path(__file__).parents[3]
HEAD = b"<?xml version='1.0' encoding='UTF-8'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
PAGES = HEAD + b"<url><loc>https://example.com/a</loc></url><url><loc>/b</loc></url></urlset>"
INDEX = (
    b"<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
    b"<sitemap><loc>https://example.com/1.xml</loc></sitemap><sitemap><loc>https://example.com/1.xml</loc></sitemap>"
    b"</sitemapindex>"
)
LIGHT = """
import sys, sitemapcrawler
from sitemapcrawler import read_sitemap, UrlEntry, Limits
sitemap = read_sitemap(b"https://example.com/a\\n", url="https://example.com/sitemap.txt")
print([entry.loc for entry in sitemap], sitemap.sitemap.outcome, "scrapy" in sys.modules, "twisted" in sys.modules)
print(set(sitemapcrawler.__all__) <= set(dir(sitemapcrawler)), all(getattr(sitemapcrawler, name) for name in sitemapcrawler.__all__))
"""


def locs(source: Any, **options: Any) -> list[str]:
    return [entry.loc for entry in read_sitemap(source, **options)]


@pytest.mark.slow
def test_reading_brings_no_scrapy_along() -> None:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-W", "error", "-c", LIGHT]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, timeout=60)
    assert done.stdout.splitlines() == ["['https://example.com/a'] ok False False", "True True"], done.stderr


def test_name_that_is_none_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'read_sitemaps'"):
        _ = sitemapcrawler.read_sitemaps


def test_example_of_the_docstring_runs() -> None:
    done = doctest.testmod(sitemapfile)
    assert done.attempted > 0
    assert done.failed == 0


@pytest.mark.parametrize(
    "given",
    [
        lambda path: str(path),
        lambda path: path,
        lambda path: path.read_bytes(),
        lambda path: bytearray(path.read_bytes()),
        lambda path: memoryview(path.read_bytes()),
        lambda path: io.BytesIO(path.read_bytes()),
        lambda path: (path.read_bytes()[at : at + 7] for at in range(0, len(path.read_bytes()), 7)),
        lambda path: [gzip.compress(path.read_bytes())],
    ],
    ids=["str", "path", "bytes", "bytearray", "memoryview", "stream", "chunks", "gzip"],
)
def test_every_kind_of_source_gives_the_same(given: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "sitemap.xml"
    path.write_bytes(PAGES)
    sitemap = read_sitemap(given(path), url=URL)
    assert [(entry.loc, entry.sitemap) for entry in sitemap if isinstance(entry, UrlEntry)] == [
        ("https://example.com/a", URL),
        ("https://example.com/b", URL),
    ]
    assert (sitemap.sitemap.outcome, sitemap.sitemap.url_count, sitemap.sitemap.bytes) == ("ok", 2, len(PAGES))
    assert [finding.rule for finding in sitemap.findings] == ["loc-relative", "lastmod-missing"]


def test_path_without_a_url_is_its_file_url(tmp_path: Path) -> None:
    path = tmp_path / "a b.xml"
    path.write_bytes(PAGES)
    sitemap = read_sitemap(path)
    assert [entry.loc for entry in sitemap] == ["https://example.com/a", "/b"]  # nothing to resolve it against
    assert sitemap.sitemap.sitemap == path.as_uri()
    assert sitemap.sitemap.bytes_fetched == len(PAGES)


def test_bytes_without_a_url_have_none() -> None:
    sitemap = read_sitemap(PAGES)
    assert sitemap.sitemap.sitemap == ""
    assert {finding.rule for finding in sitemap.findings} == {"loc-relative", "lastmod-missing"}


@pytest.mark.parametrize("name", ["index.xml", "news.xml", "rss-2.0.xml", "video.xml", "text.txt"])
def test_good_files_are_good_wherever_they_will_live(name: str) -> None:
    for url in (None, URL):
        sitemap = read_sitemap(ROOT / "tests/data/good" / name, url=url, at=NOW)
        assert [finding for finding in sitemap.findings if finding.severity != "info"] == []
        assert sitemap.sitemap.outcome == "ok"


def test_findings_are_those_of_a_crawl() -> None:
    data = PAGES.replace(b"/b<", b"/b#c<")
    assert read_sitemap(data, url=URL, at=NOW).findings == judge(data)


def test_records_have_findings_behind_the_records_they_belong_to() -> None:
    kinds = [type(record) for record in read_sitemap(PAGES + b"x", url=URL).records()]
    assert kinds[:3] == [UrlEntry, UrlEntry, FindingRecord]
    assert kinds[3] is SitemapRecord
    assert set(kinds[4:]) == {FindingRecord}


def test_index_gives_its_children() -> None:
    sitemap = read_sitemap(INDEX, url="https://example.com/index.xml")
    children = list(sitemap)
    assert all(isinstance(child, ChildEntry) for child in children)
    assert [child.loc for child in children] == ["https://example.com/1.xml"] * 2
    assert sitemap.sitemap.format == "xml-index"
    assert sitemap.counts["index-child-duplicate"] == 1


@pytest.mark.parametrize("written", ["2024-05-01T12:00:00.5+02:00", "2024-05-01", None, "soon"])
def test_lastmod_is_a_moment(written: str | None) -> None:
    lastmod = b"" if written is None else f"<lastmod>{written}</lastmod>".encode()
    moments = {
        "2024-05-01T12:00:00.5+02:00": datetime(2024, 5, 1, 10, 0, 0, 500_000, UTC),
        "2024-05-01": datetime(2024, 5, 1, tzinfo=UTC),
    }
    for file in (PAGES, INDEX):
        [first, *_] = read_sitemap(file.replace(b"</loc>", b"</loc>" + lastmod), URL)
        assert first.lastmod_at == moments.get(written or "")
        assert first.lastmod == written


def test_rules_on_an_index_see_dates_as_text_after_the_entries_were_given_out() -> None:
    dated = INDEX.replace(b"</loc>", b"</loc><lastmod>2999-01-01</lastmod>")
    sitemap = read_sitemap(dated, "https://example.com/index.xml")
    assert [entry.lastmod_at for entry in sitemap] == [datetime(2999, 1, 1, tzinfo=UTC)] * 2
    assert sitemap.counts["lastmod-future"] == 2
    assert sitemap.sitemap.lastmod_max == "2999-01-01T00:00:00Z"


def test_repr_says_what_was_read() -> None:
    sitemap = read_sitemap(PAGES, URL)
    assert repr(sitemap) == f"<SitemapFile {URL}: not read yet>"
    assert sitemap.counts["loc-relative"] == 1
    assert repr(sitemap) == f"<SitemapFile {URL}: xml-urlset, ok, 2 entries>"
    assert repr(read_sitemap(b"")) == "<SitemapFile without a URL: not read yet>"


def test_what_a_file_cannot_tell_is_skipped_and_counted() -> None:
    skipped = read_sitemap(PAGES, url=URL).skipped
    assert {"status-404", "robots-missing", "cross-duplicate-url"} <= skipped.keys()
    assert not {"loc-relative", "doc-http-status", "baseline-urls-vanished"} & skipped.keys()
    assert set(skipped.values()) == {1}


def test_rules_are_chosen() -> None:
    data = PAGES.replace(b"/b<", b"/b#c<")
    assert read_sitemap(data, URL, select="loc-fragment").counts == {"loc-fragment": 1}
    assert read_sitemap(data, URL, ignore=["loc", "lastmod"]).counts == {}
    nothing = read_sitemap(data, URL, select="none")
    assert (list(nothing) and nothing.findings, nothing.counts, nothing.skipped) == ([], {}, {})


def test_findings_of_a_rule_are_counted_beyond_those_that_are_kept() -> None:
    data = HEAD + b"".join(b"<url><loc>/%d</loc></url>" % number for number in range(20)) + b"</urlset>"
    sitemap = read_sitemap(data, URL, select="loc-relative", findings_per_rule=3)
    assert (len(sitemap.findings), sitemap.counts) == (3, {"loc-relative": 20})


def test_everything_is_known_at_the_end_and_not_in_the_midst() -> None:
    sitemap = read_sitemap(PAGES, URL)
    next(iter(sitemap))
    for asked in ("sitemap", "findings", "counts", "skipped"):
        with pytest.raises(RuntimeError, match="still being read"):
            getattr(sitemap, asked)
    assert [entry.loc for entry in sitemap] == ["https://example.com/b"]
    assert sitemap.sitemap.outcome == "ok"


def test_reading_that_is_ended_early_says_so(tmp_path: Path) -> None:
    path = tmp_path / "sitemap.xml"
    path.write_bytes(PAGES)
    with read_sitemap(path, URL) as sitemap:
        next(iter(sitemap))
    assert (sitemap.sitemap.outcome, sitemap.sitemap.error) == ("truncated", "the reading was ended")
    assert list(sitemap) == []
    with read_sitemap(path) as unread:
        pass
    assert (unread.sitemap.outcome, unread.sitemap.url_count) == ("failed", 0)


def test_limits_hold() -> None:
    sitemap = read_sitemap(PAGES, URL, limits=Limits(max_entries=1))
    assert len(list(sitemap)) == 1
    assert sitemap.sitemap.outcome == "truncated"


def test_dates_are_judged_by_the_moment_that_is_given() -> None:
    data = HEAD + b"<url><loc>https://example.com/</loc><lastmod>2026-01-01</lastmod></url></urlset>"
    early, late = (datetime(year, 6, 1, tzinfo=UTC) for year in (2025, 2026))
    assert read_sitemap(data, URL, at=early).counts["lastmod-future"] == 1
    assert read_sitemap(data, URL, at=late).counts["lastmod-future"] == 0


def test_memory_does_not_grow_with_the_file() -> None:
    def peak(pages: int) -> int:
        def chunks() -> Iterator[bytes]:
            yield HEAD
            for start in range(0, pages, 1000):
                yield b"".join(b"<url><loc>https://example.com/%d#</loc></url>" % (start + at) for at in range(1000))
            yield b"</urlset>"

        tracemalloc.start()
        count = sum(1 for _ in read_sitemap(chunks(), URL, select="none"))
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == pages
        return top

    peak(1000)
    assert peak(20_000) < peak(5_000) + 2**17


@pytest.mark.parametrize(
    ("source", "options", "error", "words"),
    [
        ("no-such.xml", {}, FileNotFoundError, "no-such.xml"),
        (".", {}, IsADirectoryError, "directory"),
        (Path(), {}, IsADirectoryError, "directory"),
        (b"", {"settings": {}}, ValueError, "settings are for a download; accepted: none, or a URL as source"),
        ("https://example.com/sitemap.xml", {"url": "example.com"}, ValueError, "not an absolute"),
        ("https://example.com/sitemap.xml", {"settings": {"A": object()}}, ValueError, "accepted: what JSON can hold"),
        ("<urlset/>", {}, ValueError, "a text is a path"),
        (io.StringIO("<urlset/>"), {}, TypeError, "mode 'rb'"),
        (["<urlset/>"], {}, TypeError, "not str"),
        (7, {}, TypeError, "not int"),
        (None, {}, TypeError, "not NoneType"),
        (b"", {"limits": {"max_entries": 3}}, TypeError, "limits={'max_entries': 3}: accepted: Limits"),
        (b"", {"at": "2026-01-01"}, TypeError, "at='2026-01-01': accepted: datetime or None"),
        (b"", {"at": date(2026, 1, 1)}, TypeError, "accepted: datetime or None"),
        (b"", {"findings_per_rule": "5"}, TypeError, "findings_per_rule='5': accepted: int"),
        ("https://e.com/", {"settings": ["A"]}, TypeError, "settings=['A']: accepted: Mapping or None"),
        (b"", {"url": "example.com/sitemap.xml"}, ValueError, "not an absolute"),
        (b"", {"select": "loc-fragmnt"}, ValueError, "did you mean loc-fragment"),
        (b"", {"ignore": ["nonsense"]}, ValueError, "no rule or family 'nonsense'"),
    ],
)
def test_bad_input_is_raised(source: Any, options: Any, error: type[Exception], words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=re.escape(words)):
        list(read_sitemap(source, **options))


def test_missing_file_is_raised_at_once() -> None:
    with pytest.raises(FileNotFoundError):
        read_sitemap("no-such.xml")


@pytest.mark.parametrize(
    ("content", "outcome", "error"),
    [
        (b"", "failed", "an empty body"),
        (b"<!doctype html><title>x</title>", "failed", "an HTML page, not a sitemap"),
        (PAGES[:-20], "truncated", "the file ends before the document does"),
        (PAGES.replace(b"/a<", b"/a?b=1&c=2<"), "recovered", None),
    ],
)
def test_bad_content_is_no_error_but_an_outcome(content: bytes, outcome: str, error: str | None) -> None:
    sitemap = read_sitemap(content, URL)
    assert sitemap.sitemap.outcome == outcome
    assert error is None or error in (sitemap.sitemap.error or "")
    assert sitemap.findings


def test_failure_of_the_source_comes_through() -> None:
    def broken() -> Iterator[bytes]:
        yield PAGES[:-20]
        raise ConnectionResetError("gone")

    sitemap = read_sitemap(broken(), URL)
    with pytest.raises(ConnectionResetError):
        list(sitemap)
    assert (sitemap.sitemap.outcome, sitemap.sitemap.error) == ("failed", "the source failed: gone")  # nothing was read


def test_stream_is_left_open_and_a_path_is_not(tmp_path: Path) -> None:
    stream = io.BytesIO(PAGES)
    assert locs(stream) == ["https://example.com/a", "/b"]
    assert not stream.closed
    path = tmp_path / "sitemap.xml"
    path.write_bytes(PAGES)
    for read in (list, lambda _: None):  # ResourceWarning is an error here
        read(read_sitemap(path))
