"""Gathers what the end of a crawl tells: what the rules concern, and the data of the report. From the job's database
and, if the crawl was stopped, from uncommitted rows.

After a signal, queries are interrupted when their time is over.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import TypeVar

from scrapy.crawler import Crawler

from sitemapcrawler.download.shared import FINISHED, Stop, stopping
from sitemapcrawler.items import SummaryRecord
from sitemapcrawler.jobs.committing import Committer
from sitemapcrawler.jobs.recording import Recorder
from sitemapcrawler.jobs.report import gather, languages
from sitemapcrawler.jobs.store.loading import put_files
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.report.model import Report
from sitemapcrawler.rules.facts.site import SiteFacts

T = TypeVar("T")
Query = Callable[[duckdb.DuckDBPyConnection], T]
"""Reads the rows of a crawl."""
AGAIN_S = 0.1
"""Seconds between interruptions. One that falls between two queries has no effect, so they are repeated."""


class Interrupter:
    """Interrupts a connection repeatedly. Only `interruptible` may be used outside the event loop's thread."""

    def __init__(self) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._lock = Lock()
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def interruptible(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Allow interrupting the queries of a connection, whatever thread they run in."""
        self._connection = connection
        try:
            yield
        finally:
            with self._lock:
                self._connection = None

    def begin(self, delay: float = 0.0) -> None:
        """Start interrupting after `delay` seconds."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(delay, self._interrupt)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _interrupt(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.interrupt()
        self._timer = asyncio.get_running_loop().call_later(AGAIN_S, self._interrupt)


GATHER_S = 13.5
"""Seconds from a signal until gathering must end: half a second after records are read back (`job.STOP_S`), and early
enough to finish the feeds and the page."""


class Gatherer:
    """Gathers the report at the end of a crawl, and the counts of one that ended early."""

    def __init__(self, crawler: Crawler, writer: Committer, records: Recorder, run: int) -> None:
        self._crawler = crawler
        self._writer = writer
        self._records = records
        self._run = run
        self._known: dict[str, object] = {}
        self.mark: Query[None] = lambda connection: None
        """Adds what rules on files concern to rows that are not committed."""
        self._interrupter = Interrupter()

    def keep(self, facts: SiteFacts) -> None:
        """Keep results of the whole-site rules that are expensive to compute again."""
        if not facts.stopped():
            with suppress(Exception):  # `gather` repeats the query and logs its error
                self._known = languages(facts)

    async def gather(self, summary: SummaryRecord, agents: Sequence[str], names: Sequence[str]) -> Report | None:
        """Gather the report; None if the database failed. Parameters as in `jobs.report.gather`."""
        made = partial(gather, summary=summary, agents=agents, feeds=names, late=self._is_late, known=self._known)
        return await self.ask(made, partly=True)

    async def ask(self, query: Query[T], *, partly: bool = False) -> T | None:
        """Run a query on the database and on rows that are not committed. None if the database failed, or has no room
        or time for these rows; with `partly`, the query then runs without them."""
        if self._writer.error is not None:
            return None
        self._crawler.signals.connect(self._hurry, signal=stopping)
        self._hurry()
        try:
            return await self._writer.run(partial(self._with_rest, query, partly))
        finally:
            self._interrupter.end()

    def _with_rest(self, query: Query[T], partly: bool) -> T | None:
        store = self._writer.store
        finished = store.get("state") == FINISHED
        if not finished and not self._is_late():
            try:
                with store.trial() as connection, self._interrupter.interruptible(connection):
                    put_files(store, self._run, self._records.rest)
                    self._records.last_rows.put()
                    self.mark(connection)
                    return query(connection)
            except (duckdb.Error, OSError):  # no room or time for uncommitted rows
                pass
        if not finished and not partly:
            return None
        with store.analysis() as cursor, self._interrupter.interruptible(cursor):
            return query(cursor)

    def _hurry(self) -> None:
        """If a signal stopped the crawl, interrupt queries when their time is over."""
        if self._seconds_left is not None:
            self._interrupter.begin(self._seconds_left)

    @property
    def _seconds_left(self) -> float | None:
        """Seconds until gathering must end. None if no signal stopped the crawl."""
        stopped_at = Stop.of(self._crawler).hurried_at
        return None if stopped_at is None else max(0.0, stopped_at + GATHER_S - time.monotonic())

    def _is_late(self) -> bool:
        return self._seconds_left == 0
