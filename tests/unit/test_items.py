"""The records of a crawl."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
from dataclasses import MISSING, asdict, fields, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sitemapcrawler import items
from sitemapcrawler.items import FindingRecord, SitemapRecord, SummaryRecord, UrlBatch, UrlEntry, UrlRecord, records

RECORDS = (UrlRecord, SitemapRecord, SummaryRecord, FindingRecord)


@pytest.mark.parametrize("record", RECORDS)
def test_type_is_the_first_field_and_no_argument(record: type) -> None:
    first = fields(record)[0]
    assert (first.name, first.init) == ("type", False)
    assert record().type == record.__name__.removesuffix("Record").lower()


@pytest.mark.parametrize("record", RECORDS)
def test_every_field_has_a_default(record: type) -> None:
    assert not [field.name for field in fields(record) if field.default is MISSING and field.default_factory is MISSING]


@pytest.mark.parametrize("record", RECORDS)
def test_records_have_slots(record: type) -> None:
    """A million of them must fit, and a misspelled field must not pass."""
    assert not hasattr(record(), "__dict__")


def test_defaults_are_not_shared() -> None:
    one, other = SitemapRecord(), SitemapRecord()
    one.namespaces.append("x")
    one.counts.images = 7
    assert (other.namespaces, other.counts.images) == ([], 0)


def test_every_field_is_documented() -> None:
    for node in ast.parse(inspect.getsource(items)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for field, after in zip(node.body, [*node.body[1:], ast.Pass()], strict=True):
            if isinstance(field, ast.AnnAssign):
                assert isinstance(after, ast.Expr), f"{node.name}.{ast.unparse(field.target)} has no docstring"


def test_a_batch_stands_for_its_records() -> None:
    urls = [UrlRecord("https://e.com/1"), UrlRecord("https://e.com/2")]
    assert records(UrlBatch("https://e.com/sitemap.xml", urls)) == urls


def test_any_other_item_stands_for_itself() -> None:
    record = SitemapRecord()
    assert records(record) == [record]
    assert records({"type": "other"}) == [{"type": "other"}]


def test_a_program_holds_a_moment_where_the_record_has_text() -> None:
    record = UrlRecord("https://e.com/1", lastmod_at="2024-05-01T10:00:00Z")
    entry = UrlEntry.convert(record)
    moment = datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert entry.lastmod_at == moment
    for copied in (copy.copy(entry), pickle.loads(pickle.dumps(entry)), replace(entry)):
        assert copied == entry
        assert (type(copied), copied.lastmod_at) == (UrlEntry, moment)
    assert asdict(entry)["lastmod_at"] == moment
    entry.lastmod_at = moment.astimezone(timezone(timedelta(hours=2)))
    assert records(entry) == [UrlRecord("https://e.com/1", lastmod_at="2024-05-01T10:00:00Z")]
    entry.lastmod_at = None
    assert entry.lastmod_at is None
