"""Rows of the job's database that count only when the crawl is finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sitemapcrawler.comparing import REMOVED
from sitemapcrawler.items import FindingRecord, RobotsRecord, UrlRecord
from sitemapcrawler.jsontext import JsonText
from sitemapcrawler.rows import Rows
from sitemapcrawler.store import Store


class LastRows:
    """What is said of the whole crawl, and url records in their last form, until they are inserted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables = {table: store.spool() for table in ("findings", "robots")}
        self._urls = store.spool()
        self._json = JsonText(Rows())

    def add(self, record: FindingRecord | RobotsRecord) -> None:
        """Take a record of the whole crawl. OSError where the disk is full."""
        found: Sequence[Any] = [record]
        if isinstance(record, RobotsRecord):
            self._tables["robots"].write(self._json.lines([record]), 1)
            found = getattr(record, "findings", ())
        lines = self._json.lines(found) if found else b""
        self._tables["findings"].write(lines.replace(b"}\n", b',"whole_site":true}\n'), len(found))

    def settle(self, records: Sequence[UrlRecord], lines: bytes) -> None:
        """Take url records that were written before with what was not known yet; `lines`: as JSON. OSError where the
        disk is full."""
        new = [finding for one in records for finding in getattr(one, "findings", ())[getattr(one, "told", 0) :]]
        self._urls.write(lines, len(records))
        self._tables["findings"].write(self._json.lines(new) if new else b"", len(new))

    def put(self, holding: bool) -> None:
        """Insert them, in the thread that writes and a transaction of the caller. `holding`: url records have a last
        form. Raises duckdb.Error, OSError."""
        for table, spool in self._tables.items():
            self._store.insert(table, [spool])
        if holding:
            self._store.execute(f"DELETE FROM urls WHERE change IS DISTINCT FROM '{REMOVED}'")
            self._store.insert("urls", [self._urls], "sitemap, line")

    def discard(self) -> None:
        """Forget them."""
        for spool in (*self._tables.values(), self._urls):
            spool.discard()
