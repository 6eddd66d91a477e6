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


def test_null_and_empty_fields_are_left_out_at_every_depth() -> None:
    url = UrlRecord(loc="https://e.com/", images=[Image(loc="https://e.com/i.png")], news=News(title="N"))
    assert written(url) == [
        {
            "type": "url",
            "loc": "https://e.com/",
            "sitemap": "",
            "images": [{"loc": "https://e.com/i.png"}],
            "news": {"title": "N"},
            "recovered": False,
        }
    ]


def test_fields_stand_in_the_order_of_their_declaration() -> None:
    row = written(SitemapRecord(error="e", hops=[Hop(301, "u")]))[0]
    assert list(row) == [
        "type", "sitemap", "found_by", "depth", "format", "hops", "outcome", "url_count", "bytes", "bytes_fetched",
        "counts", "error",
    ]  # fmt: skip
    assert row["counts"] == {"images": 0, "videos": 0, "news": 0, "alternates": 0}


def test_an_object_without_any_value_keeps_its_place_in_a_list() -> None:
    assert written(UrlRecord(images=[Image(), Image(loc="i")]))[0]["images"] == [{}, {"loc": "i"}]


def test_nobody_was_blocked_is_not_the_same_as_not_judged() -> None:
    assert written(Judged(blocked_for=[]), Judged(), Judged(blocked_for=["a"])) == [
        {"type": "judged", "blocked_for": []},
        {"type": "judged"},
        {"type": "judged", "blocked_for": ["a"]},
    ]


def test_any_other_nullable_list_is_left_out_when_empty() -> None:
    assert written(Judged(issues=[])) == [{"type": "judged"}]


def test_objects_in_dictionaries_are_found() -> None:
    record = Judged(hop=Hop(301, "a"), hops={"x": [Hop(302, "b")], "y": []})
    assert written(record)[0]["hops"] == {"x": [{"status": 302, "url": "b"}], "y": []}


def test_lists_of_different_objects_are_found() -> None:
    record = UrlRecord(extra={"u": [Image(loc="i"), News(title="n"), {"name": "x"}]})  # type: ignore[list-item]  # stands for a user's own
    assert written(record)[0]["extra"] == {"u": [{"loc": "i"}, {"title": "n"}, {"name": "x"}]}


def test_a_record_whose_types_cannot_be_resolved_is_written_all_the_same() -> None:
    assert written(Priced(price=None, images=[Image(loc="i")])) == [{"type": "priced", "images": [{"loc": "i"}]}]


def test_types_of_record_may_be_mixed() -> None:
    mixed = [UrlRecord(loc="1"), Judged(), UrlRecord(loc="2"), UrlRecord(loc="3")]
    assert [row.get("loc", row["type"]) for row in written(*mixed)] == ["1", "judged", "2", "3"]


def test_no_records_give_no_rows() -> None:
    assert written() == []


def test_fields_are_written_in_the_order_asked_for() -> None:
    assert list(written(UrlRecord(loc="l", line=3), fields=["line", "loc", "news"])[0]) == ["line", "loc"]


def test_fields_are_renamed() -> None:
    assert written(UrlRecord(loc="l"), fields={"loc": "url", "type": "kind"}) == [{"url": "l", "kind": "url"}]


def test_fields_do_not_reach_into_nested_objects() -> None:
    record = UrlRecord(loc="l", images=[Image(loc="i", title="t")])
    assert written(record, fields=["images"]) == [{"images": [{"loc": "i", "title": "t"}]}]


def test_a_type_of_record_without_any_of_the_fields_is_left_out() -> None:
    assert written(SitemapRecord(), UrlRecord(loc="l"), fields=["loc"]) == [{"loc": "l"}]


def test_empty_fields_are_written_on_request() -> None:
    row = written(UrlRecord(images=[Image(loc="i")]), keep_empty=True)[0]
    assert list(row) == list(UrlRecord.__slots__)
    assert (row["news"], row["videos"], row["loc_raw"]) == (None, [], None)
    assert row["images"] == [
        {"loc": "i", "caption": None, "geo_location": None, "title": None, "license": None, "extra": []}
    ]


def test_fields_that_a_record_does_not_have_are_null_on_request() -> None:
    assert written(UrlRecord(loc="l"), fields=["loc", "depth"], keep_empty=True) == [{"loc": "l", "depth": None}]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(UrlRecord, True), (SitemapRecord, True), (Priced, True), (NotedBatch, False), (Counts, False), (dict, False)],
)
def test_a_record_is_a_dataclass_that_begins_with_its_type(kind: type, expected: bool) -> None:
    assert is_record(kind) is expected
