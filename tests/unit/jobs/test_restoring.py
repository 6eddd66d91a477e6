"""Url records from the database: their lines as they are, their records when they are asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.utils.test import get_crawler

from sitemapcrawler import envelopes
from sitemapcrawler.envelopes import FinalBatch, NotedBatch, RecordBatch, decoded
from sitemapcrawler.feeds.exporters import CsvExporter
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import UrlRecord, records
from sitemapcrawler.jobs.job import Job, OpenedJob
from sitemapcrawler.jobs.restoring import Asked, url_batches
from sitemapcrawler.jobs.store import Store
from tests.examples import briefly
from tests.unit.feeds.exporting import export
from tests.unit.jobs.store.making import of

SITEMAP = "https://e.com/s.xml"
CHANGES = {"a": None, "b": "added", "c": "unchanged", "d": "removed"}
JSON = JsonText(Rows())


def batch(urls: Sequence[UrlRecord]) -> FinalBatch:
    return FinalBatch.of_rows(SITEMAP, [JSON.lines([one]).decode()[:-1] for one in urls])


@pytest.mark.slow
@briefly(30)
@given(st.lists(of(UrlRecord), min_size=1, max_size=3))
def test_records_are_those_that_were_written(urls: list[UrlRecord]) -> None:
    stored = batch(urls)
    assert len(stored) == len(urls)
    assert [json.loads(JSON.lines([one])) for one in stored.urls] == [json.loads(JSON.lines([one])) for one in urls]
    assert (stored.lines or b"") == b"".join(JSON.lines([one]) for one in urls)


@pytest.mark.slow
@briefly(30)
@given(st.lists(of(UrlRecord), min_size=1, max_size=4))
def test_rows_make_the_same_tables_as_records(urls: list[UrlRecord]) -> None:
    stored = batch(urls)
    assert export(CsvExporter, batch(urls)) == export(CsvExporter, NotedBatch(SITEMAP, stored.urls))


def test_records_are_made_once_and_only_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes | str] = []
    decode = envelopes._decoded_lines
    monkeypatch.setattr(envelopes, "_decoded_lines", lambda lines: [made.append(lines), decode(lines)][1])
    stored = batch([UrlRecord("a"), UrlRecord("b")])
    assert (len(stored), stored.sitemap, made) == (2, SITEMAP, [])
    assert [one.loc for one in stored.urls] == ["a", "b"]
    assert stored.urls is stored.urls and len(made) == 1
    assert records(stored) == stored.urls


def test_batch_is_one_that_was_judged_before() -> None:
    stored = batch([UrlRecord("a", issues=["loc-fragment"])])
    assert isinstance(stored, NotedBatch)
    assert not stored.judged


@pytest.mark.parametrize("text", ["\u2028", "\x85", "\r", "\n", "\x0b", "\x1c", "\\ud800"])
def test_line_ends_in_a_text_end_no_line(text: str) -> None:
    stored = batch([UrlRecord(text), UrlRecord("b")])
    assert [one.loc for one in stored.urls] == [text, "b"]


def test_line_is_decoded_with_all_that_is_in_it() -> None:
    record = decoded('{"loc":"a","change":"changed","changed_fields":["lastmod"],"reply":{"kind":"ok","status":200}}')
    assert (record.change, record.changed_fields) == ("changed", ["lastmod"])
    assert record.reply is not None and record.reply.status == 200
    assert record.blocked_for is None


def test_first_run_without_a_baseline_reads_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.temporary()
    job = Job(get_crawler(), OpenedJob(store, None, None, only_changes=False, reports=False))
    for name in ("execute", "lines"):
        monkeypatch.setattr(Store, name, lambda *given: pytest.fail("reads the database"))

    async def read_back() -> tuple[int, list[object], list[RecordBatch]]:
        return await job.url_count(), [item async for item in job.stored()], [item async for item in job.changes()]

    assert asyncio.run(read_back()) == (0, [], [])
    monkeypatch.undo()
    job.close()


def test_rows_that_no_baseline_has_judged_are_changes(store: Store) -> None:
    with store.transaction():
        store.insert_rows("files", [{"sitemap": SITEMAP, "run": 1}])
        store.insert_rows(
            "urls", [{"loc": name, "sitemap": SITEMAP, "change": change} for name, change in CHANGES.items()]
        )
    asked = Asked(run=2, finished=False, only_changes=True)
    for condition in (asked.urls, asked.earlier_urls):
        assert {one.loc for batch in url_batches(store, condition) for one in batch.urls} == {"a", "b", "d"}
