"""Records on their way into the database of a job."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.recording import LastRows
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import with_memory
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.reader.notes import Note


def test_final_rows_that_need_more_memory_than_at_first_are_shown_once(store: Store) -> None:
    """As those of 300,000 URLs with a sample do."""
    record, last = UrlRecord("https://e.com/", sitemap="https://e.com/sitemap.xml"), LastRows(store)
    with store.transaction():
        store.insert_rows("urls", [{"loc": loc, "sitemap": record.sitemap} for loc in ("a", record.loc, "b")])
    record.indexable = True
    last.settle([Note(record, number=2)], JsonText(Rows()).lines([record]), b"", 0)
    expected = [("a", None), (record.loc, True), ("b", None)]
    given: list[bool] = []
    with store.cursor() as cursor:

        def execute(sql: str, parameters: Sequence[object] = ()) -> object:
            if "TABLE urls" in sql and not given:
                raise duckdb.OutOfMemoryException("failed to pin block")
            return cursor.execute(sql, parameters)

        shown: Any = SimpleNamespace(execute=execute)
        with_memory(partial(last.show_urls, shown), lambda: not given.append(True))
        assert cursor.execute("SELECT loc, indexable FROM urls ORDER BY rowid").fetchall() == expected
    assert store.execute("SELECT count(indexable) FROM urls") == [(0,)], "a resumed run needs them as they were"
    with store.transaction():
        last.put()
    assert store.execute("SELECT loc, indexable FROM urls ORDER BY rowid") == expected
    last.discard()
