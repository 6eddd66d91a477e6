"""Marking entries for rules on the whole site."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from sitemapcrawler.jobs.marking import Marks
from sitemapcrawler.jobs.store import Store


class ShortOfMemory:
    """A cursor that needs more memory than it has at first."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def execute(self, sql: str) -> None:
        self.statements.append(sql)
        if len(self.statements) == 1:
            raise duckdb.OutOfMemoryException("failed to pin block")


def test_marks_are_written_again_with_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    store, cursor = Store.temporary(), ShortOfMemory()
    stub: Any = cursor
    monkeypatch.setattr(store, "give_more_memory", lambda: len(cursor.statements) < 2)
    Marks(store, stub, "SELECT 1 AS number")
    store.close()
    assert len(cursor.statements) == 2
