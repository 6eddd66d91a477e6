"""The list that the argument `urls` names."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sitemapcrawler.audit.listing import MAX_TOLD, Listing
from sitemapcrawler.audit.params import Params
from sitemapcrawler.audit.selection import Selection
from sitemapcrawler.items import SitemapRecord, UrlBatch


def listed(path: Path, batch_size: int = 1000, **arguments: str) -> tuple[list[UrlBatch], SitemapRecord]:
    """The batches and the record of a list."""
    selection = Selection(Params.parse({"urls": str(path), **arguments}))
    *batches, record = Listing(selection, batch_size, lambda: False).read(path.as_uri())
    assert isinstance(record, SitemapRecord)
    return [batch for batch in batches if isinstance(batch, UrlBatch)], record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "urls.txt"


def test_urls_come_in_batches_with_their_lines(path: Path) -> None:
    path.write_text("https://e.com/1\n\n# a comment\nhttps://e.com/2\nhttps://e.com/3\n")
    batches, record = listed(path, 2)
    assert [[(url.loc, url.line, url.sitemap) for url in batch.urls] for batch in batches] == [
        [("https://e.com/1", 1, path.as_uri()), ("https://e.com/2", 4, path.as_uri())],
        [("https://e.com/3", 5, path.as_uri())],
    ]
    assert (record.format, record.outcome, record.url_count, record.error) == ("list", "ok", 3, None)
    assert record.bytes == path.stat().st_size


def test_feed_of_an_earlier_crawl_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"type":"url","loc":"https://e.com/1"}\n{"type":"summary"}\n'))
    batches, _ = listed(path)
    assert [url.loc for batch in batches for url in batch.urls] == ["https://e.com/1"]


def test_lines_that_are_no_urls_are_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_text("https://e.com/\n" + "no url\n" * 50)
    batches, record = listed(path)
    assert sum(len(batch.urls) for batch in batches) == 1
    assert record.outcome == "recovered"
    assert record.error is not None
    assert record.error.startswith("line 2: ")
    assert record.error.endswith("(and 49 more)")
    assert len(caplog.records) == MAX_TOLD


@pytest.mark.parametrize(
    ("content", "words"), [("", "lists no URL"), ("# nothing\n", "lists no URL"), ("<urlset/>", "is XML or HTML")]
)
def test_list_without_urls_has_failed(path: Path, content: str, words: str) -> None:
    path.write_text(content)
    batches, record = listed(path)
    assert (batches, record.outcome) == ([], "failed")
    assert words in (record.error or "")


def test_filters_apply(path: Path) -> None:
    path.write_text("https://e.com/a\nhttps://e.com/b\n")
    batches, record = listed(path, include="b")
    assert [url.loc for batch in batches for url in batch.urls] == ["https://e.com/b"]
    assert record.url_count == 2


def test_list_that_has_gone_is_told(path: Path) -> None:
    path.write_text("https://e.com/a\n")
    selection = Selection(Params.parse({"urls": str(path)}))
    path.unlink()
    [record] = Listing(selection, 10, lambda: False).read(path.as_uri())
    assert isinstance(record, SitemapRecord)
    assert record.outcome == "failed"
    assert "No such file" in (record.error or "")
