"""Marking entries for rules on the whole site."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from sitemapcrawler.jobs import rewriting
from sitemapcrawler.jobs.rewriting import Marks
from sitemapcrawler.jobs.store import Store


class ShortOfMemory:
    """A cursor that needs more memory than it has at first."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def execute(self, sql: str) -> None:
        self.statements.append(sql)
        if len(self.statements) == 1:
            raise duckdb.OutOfMemoryException("failed to pin block")


def test_marks_are_written_again_with_more_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    stub: Any = (cursor := ShortOfMemory())
    monkeypatch.setattr(store, "give_more_memory", lambda: len(cursor.statements) < 2)
    Marks(store, stub, "SELECT 1 AS number")
    assert len(cursor.statements) == 2


def insert(store: Store, sitemap: str, locs: str) -> None:
    store.insert_rows("urls", [{"loc": loc, "sitemap": sitemap, "issues": ["loc-relative"]} for loc in locs])


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_rows_keep_their_order_however_many_are_written_at_once(
    store: Store, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriting, "ROWS_AT_ONCE", at_once)
    for sitemap, locs in (("a", "abc"), ("b", "ab")):
        insert(store, sitemap, locs)
    found = "(VALUES ('a', 3), ('c', 1), ('c', 4)) AS found (sitemap, number)"
    marks = Marks(store, store.cursor(), f"SELECT sitemap, number, ['cross-same-page'] AS rules FROM {found}")
    with store.transaction():
        insert(store, "c", "abcd")  # as with a sample, whose rows are final at the end
        rewriting.rewrite(store, [marks.issues()])
    rows = store.execute(
        "SELECT sitemap, string_agg(loc || len(issues), ' ' ORDER BY rowid) FROM urls GROUP BY 1 ORDER BY 1"
    )
    assert rows == [("a", "a1 b1 c2"), ("b", "a1 b1"), ("c", "a2 b1 c1 d2")]
