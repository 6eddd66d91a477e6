"""Rows: what msgspec is given for a record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds.jsontext import Rows, is_record
from sitemapcrawler.items import Counts, Hop, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces.extensions import Image, News

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(slots=True)
class Judged:
    """A record of a later time: nullable list, nullable object, dictionary of objects."""

    type: str = field(default="judged", init=False)
    blocked_for: list[str] | None = None
    hop: Hop | None = None
    hops: dict[str, list[Hop]] = field(default_factory=dict)
    issues: list[str] | None = None


@dataclass
class Priced:
    """A record with a type that is known to type checkers only."""

    type: str = "priced"
    price: Decimal | None = None
    images: list[Image] = field(default_factory=list)


def written(*records: Any, **options: Any) -> list[dict[str, Any]]:
    return [msgspec.json.decode(msgspec.json.encode(row)) for row in Rows(**options).make(records)]


ROWS: dict[str, tuple[list[Any], dict[str, Any], list[dict[str, Any]]]] = {
    "null and empty fields at every depth": (
        [UrlRecord(loc="l", images=[Image(loc="i")], news=News(title="N"))], {},
        [{"type": "url", "loc": "l", "sitemap": "", "images": [{"loc": "i"}], "news": {"title": "N"}, "recovered": False}],
    ),
    "nobody was blocked": (
        [Judged(blocked_for=[]), Judged(), Judged(blocked_for=["a"])], {},
        [{"type": "judged", "blocked_for": []}, {"type": "judged"}, {"type": "judged", "blocked_for": ["a"]}],
    ),
    "any other nullable list that is empty": ([Judged(issues=[])], {}, [{"type": "judged"}]),
    "objects in dictionaries": (
        [Judged(hop=Hop(301, "a"), hops={"x": [Hop(302, "b")], "y": []})], {"fields": ["hops"]},
        [{"hops": {"x": [{"status": 302, "url": "b"}], "y": []}}],
    ),
    "types that cannot be resolved": (
        [Priced(price=None, images=[Image(loc="i")])], {}, [{"type": "priced", "images": [{"loc": "i"}]}],
    ),
    "mixed types": (
        [UrlRecord(loc="1"), Judged(), UrlRecord(loc="2"), UrlRecord(loc="3")], {"fields": ["loc"]},
        [{"loc": "1"}, {"loc": "2"}, {"loc": "3"}],
    ),
    "renamed fields": ([UrlRecord(loc="l")], {"fields": {"loc": "url", "type": "kind"}}, [{"url": "l", "kind": "url"}]),
    "a chosen field in objects": (
        [UrlRecord(images=[Image(), Image(loc="i", title="t")])], {"fields": ["images"]},
        [{"images": [{}, {"loc": "i", "title": "t"}]}],
    ),
    "a field that a record lacks": (
        [UrlRecord(loc="l")], {"fields": ["loc", "depth"], "keep_empty": True}, [{"loc": "l", "depth": None}],
    ),
}  # fmt: skip
"""{what: (records, options, rows)}."""


@pytest.mark.parametrize(("records", "options", "rows"), ROWS.values(), ids=ROWS)
def test_records_are_rows(records: list[Any], options: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    assert written(*records, **options) == rows


def test_fields_stand_in_the_order_of_their_declaration() -> None:
    row = written(SitemapRecord(error="e", hops=[Hop(301, "u")]))[0]
    assert list(row) == [
        "type", "sitemap", "found_by", "depth", "format", "hops", "outcome", "url_count", "bytes", "bytes_fetched",
        "counts", "error",
    ]  # fmt: skip
    assert row["counts"] == {"images": 0, "videos": 0, "news": 0, "alternates": 0}


def test_lists_of_different_objects_are_found() -> None:
    record = UrlRecord(extra={"u": [Image(loc="i"), News(title="n"), {"name": "x"}]})  # type: ignore[list-item]  # stands for a user's own
    assert written(record)[0]["extra"] == {"u": [{"loc": "i"}, {"title": "n"}, {"name": "x"}]}


def test_empty_fields_are_written_on_request() -> None:
    row = written(UrlRecord(images=[Image(loc="i")]), keep_empty=True)[0]
    assert list(row) == list(UrlRecord.__slots__)
    assert (row["news"], row["videos"], row["loc_raw"]) == (None, [], None)
    image = {"loc": "i", "caption": None, "geo_location": None, "title": None, "license": None, "extra": []}
    assert row["images"] == [image]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(UrlRecord, True), (SitemapRecord, True), (Priced, True), (NotedBatch, False), (Counts, False), (dict, False)],
)
def test_a_record_is_a_dataclass_that_begins_with_its_type(kind: type, expected: bool) -> None:
    assert is_record(kind) is expected
