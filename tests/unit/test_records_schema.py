"""docs/records.schema.json: made from the records, and true of what is exported."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import io
import json
import runpy
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from itemadapter import ItemAdapter
from scrapy.utils.test import get_crawler

from sitemapcrawler.crawl.state import Delivery
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import NotedBatch, SitemapEnd
from sitemapcrawler.feeds.exporters import JsonLinesExporter
from sitemapcrawler.items import Counts, Hop, Record, ReplyRecord, SitemapRecord, SummaryRecord, UrlRecord
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video

DOCS = Path(__file__).parents[2] / "docs"
TREE = {"name": "a", "attributes": {"b": "c"}, "children": [{"name": "d", "value": "e"}, "text"]}
FULL = UrlRecord(
    loc="https://e.com/",
    loc_raw="/",
    sitemap="https://e.com/s.xml",
    line=3,
    lastmod="2024",
    lastmod_at="2024-01-01T00:00:00Z",
    changefreq="daily",
    priority=0.5,
    images=[Image(loc="i", extra=[TREE])],
    videos=[
        Video(title="v", player_loc={"value": "p"}, restriction={"value": "DE"}, tag=["t"], price=[{"value": "1"}])
    ],
    news=News(publication={"name": "n"}),
    alternates=[Alternate("de", "https://e.com/de", attributes={"media": "print"})],
    extra={"urn:x": [TREE]},
    recovered=True,
)
ITEMS = [
    NotedBatch("https://e.com/s.xml", [UrlRecord(loc="https://e.com/"), FULL]),
    SitemapRecord(sitemap="https://e.com/s.xml"),
    SitemapRecord(status=200, hops=[Hop(301, "u")], counts=Counts(1, 2, 3, 4), namespaces=["urn:x"], error="e"),
    SummaryRecord(domains=["e.com"], started="2024-01-01T00:00:00Z", elapsed_s=1.5, skipped={"since": 2}),
]


def exported(**options: Any) -> list[dict[str, Any]]:
    file = io.BytesIO()
    exporter = JsonLinesExporter(file, encoding="utf-8", **options)
    for item in ITEMS:
        exporter.export_item(item)
    return [json.loads(line) for line in file.getvalue().splitlines()]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((DOCS / "records.schema.json").read_text(encoding="utf-8"))
    return loaded


def test_the_schema_is_not_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect, "getsource", cache(inspect.getsource))  # itemadapter asks for each field of a class
    made = runpy.run_path(str(DOCS.parent / "tools" / "make_schema.py"))["document"]()
    assert (DOCS / "records.schema.json").read_text(encoding="utf-8") == made, "run: python tools/make_schema.py"


def test_each_type_of_record_is_described(schema: dict[str, Any]) -> None:
    assert list(schema["$defs"]) == [record().type for record in get_args(Record)]
    for record in get_args(Record):
        properties = schema["$defs"][record().type]["properties"]
        assert list(properties) == [field.name for field in dataclasses.fields(record)]
        assert all(properties[name]["description"] for name in properties)


def test_exported_rows_are_valid(schema: dict[str, Any]) -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator(schema)
    rows = exported()
    assert [row["type"] for row in rows] == ["url", "url", "sitemap", "sitemap", "summary"]
    for row in rows + exported(export_empty_fields=True):
        assert [error.message for error in validator.iter_errors(row)] == []


def test_single_items_are_valid(schema: dict[str, Any]) -> None:
    """As a user's own pipeline validates them."""
    validator = pytest.importorskip("jsonschema").Draft202012Validator(schema)
    kinds = [NotedBatch("s", [UrlRecord(reply=ReplyRecord())]), SitemapEnd("s"), *(kind() for kind in get_args(Record))]
    delivery = Delivery(get_crawler(settings_dict={"SITEMAP_ITEMS": "records"}), Stop(get_crawler()), None)
    for item in [one for kind in kinds for one in asyncio.run(delivery.unpacked(kind))]:
        assert [error.message for error in validator.iter_errors(ItemAdapter(item).asdict())] == []


@pytest.mark.parametrize(
    "changed", [{"type": "page"}, {"loc": None}, {"line": "3"}, {"colour": "red"}, {"sitemap": ...}]
)
def test_other_rows_are_not_valid(schema: dict[str, Any], changed: dict[str, Any]) -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator(schema)
    row = {key: value for key, value in {**exported()[0], **changed}.items() if value is not ...}
    assert not validator.is_valid(row)
