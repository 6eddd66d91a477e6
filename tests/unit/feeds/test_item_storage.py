"""Rows in the item storage of Scrapy Cloud: those of a JSON feed, none larger than it takes."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from scrapinghub.hubstorage.serialization import jsonencode
from scrapy.utils.test import get_crawler

from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds.exporters import JsonLinesExporter
from sitemapcrawler.feeds.item_storage import LEFT_OUT, MAX_ITEM, STAT, ItemStorage, cut
from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, SummaryRecord, UrlRecord
from sitemapcrawler.namespaces.extensions import Image

from .findings_written import with_findings


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> ItemStorage:
    """The extension, with a list in place of the pipe that items are written to."""
    made = ItemStorage.from_crawler(get_crawler())
    made.stored = []
    monkeypatch.setattr(made, "_write_item", made.stored.append)
    return made


def stored(storage: ItemStorage, item: Any) -> list[dict[str, Any]]:
    """What is written of an item."""
    storage.item_scraped(item, None)
    written: list[dict[str, Any]] = storage.stored
    return written


def rows(item: Any) -> list[dict[str, Any]]:
    """The rows of an item in a JSON feed."""
    file = io.BytesIO()
    JsonLinesExporter(file).export_item(item)
    return [json.loads(line) for line in file.getvalue().splitlines()]


def judged(record: Any) -> Any:
    return with_findings(record, FindingRecord(rule="loc-empty", severity="error"), FindingRecord(rule="loc-relative"))


@pytest.mark.parametrize(
    "item",
    [
        judged(UrlRecord(loc="https://e.com/\u00e9\u2028\U0001f600", images=[Image(loc="i")], priority=float("nan"))),
        UrlRecord(loc="https://e.com/", blocked_for=(), extra={"urn:x": [{"name": "\ud800"}]}),
        NotedBatch("https://e.com/s.xml", [UrlRecord(loc="a"), UrlRecord(loc="b")]),
        judged(SitemapRecord(sitemap="https://e.com/s.xml")),
        RobotsRecord(robots="https://e.com/robots.txt", agents={"GPTBot": 3}),
        SummaryRecord(domains=["https://e.com"], partial="max_urls"),
    ],
    ids=["judged", "odd", "batch", "sitemap", "robots", "summary"],
)
def test_items_are_the_rows_of_a_feed(storage: ItemStorage, item: Any) -> None:
    found = stored(storage, item)
    assert [{name: row[name] for name in row if name != "_type"} for row in found] == rows(item)
    names = {"url": "UrlRecord", "sitemap": "SitemapRecord", "robots": "RobotsRecord", "summary": "SummaryRecord"}
    assert [row["_type"] for row in found] == [names.get(row["type"], "FindingRecord") for row in found]
    assert storage.crawler.stats.get_value(STAT) is None


def test_items_of_other_pipelines_are_written_as_ever(storage: ItemStorage) -> None:
    assert stored(storage, {"name": "shop", "none": None}) == [{"name": "shop", "none": None, "_type": "dict"}]


def test_what_is_too_large_is_left_out_and_named(storage: ItemStorage, caplog: pytest.LogCaptureFixture) -> None:
    sitemaps = [f"https://e.com/{number}.xml" for number in range(50_000)]
    for _ in range(2):
        row = stored(storage, RobotsRecord(robots="https://e.com/robots.txt", sitemaps=sitemaps))[-1]
        assert (row["robots"], row[LEFT_OUT]) == ("https://e.com/robots.txt", ["sitemaps"])
        assert "sitemaps" not in row
    assert storage.crawler.stats.get_value(STAT) == 2
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        f"an item of more than 1048576 bytes is stored without sitemaps; {STAT} counts such items"
    ]


@pytest.mark.parametrize("letter", ["a", "\u00e9", "\u20ac", "\U0001f600", '"', "\x01"])
def test_no_item_is_larger_than_the_storage_takes(storage: ItemStorage, letter: str) -> None:
    once = len(jsonencode(letter)) - 2
    fitting = (MAX_ITEM - 200) // once
    for size in (fitting, fitting + 200):
        storage.item_scraped(UrlRecord(loc=letter * size, sitemap="https://e.com/s.xml"), None)
    whole, short = storage.stored
    assert len(whole["loc"]) == fitting and LEFT_OUT not in whole
    assert short[LEFT_OUT] == ["loc"] and short["sitemap"] == "https://e.com/s.xml"
    assert max(len(jsonencode(row)) for row in storage.stored) <= MAX_ITEM


def test_as_much_as_possible_is_kept() -> None:
    row = {"type": "url", "a": "x" * (MAX_ITEM // 2), "b": ["y"] * (MAX_ITEM // 4), "c": "z" * 10}
    assert cut(row) == {"type": "url", "a": row["a"], "c": row["c"], LEFT_OUT: ["b"]}
    assert cut(row | {"a": 1}) is not row
    assert cut({"type": "url"}) == {"type": "url"}
