"""Report of a crawl, gathered from the job's database and, for a stopped crawl, from uncommitted rows. Queries are
interrupted when the time for it is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import Any

import duckdb
from scrapy.crawler import Crawler

from sitemapcrawler.download.slots import stopping
from sitemapcrawler.items import FINISHED, SummaryRecord
from sitemapcrawler.jobs.committing import Committer
from sitemapcrawler.jobs.recording import Recorder
from sitemapcrawler.jobs.report import gather, languages
from sitemapcrawler.jobs.store.loading import put_files
from sitemapcrawler.report.model import Report
from sitemapcrawler.rules.facts.site import SiteFacts

AGAIN_S = 0.1
"""Seconds from one interruption to the next: one that comes between two queries is heard by neither."""


class Interrupter:
    """Interrupts a connection repeatedly. All but `interruptible` runs in the thread of the event loop."""

    def __init__(self) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._lock = Lock()
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def interruptible(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Allow interrupting the queries of a connection, in whatever thread they run."""
        self._connection = connection
        try:
            yield
        finally:
            with self._lock:
                self._connection = None

    def begin(self, delay: float = 0.0) -> None:
        """Start interrupting after a delay in seconds."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(delay, self._interrupt)

    def end(self) -> None:
        """Stop interrupting."""
        if self._timer is not None:
            self._timer.cancel()

    def _interrupt(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.interrupt()
        self._timer = asyncio.get_running_loop().call_later(AGAIN_S, self._interrupt)


GATHER_S = 13.5
"""Seconds from a stop to the end of gathering: half a second more than earlier records are read back, and enough less
than a stopped crawl may take for its feeds and the page."""


class Gatherer:
    """Gathers the report when everything else is done."""

    def __init__(self, crawler: Crawler, writer: Committer, records: Recorder, run: int) -> None:
        records.unfinished = []
        self._crawler = crawler
        self._writer = writer
        self._records = records
        self._run = run
        self._known: dict[str, Any] = {}
        self._interrupter = Interrupter()

    def keep(self, facts: SiteFacts) -> None:
        """Take from the tables of the rules on the whole site what would cost much to make again."""
        if not facts.stopped():
            with suppress(Exception):  # it is made again, and told of, with all other parts
                self._known = languages(facts)

    async def gather(
        self, summary: SummaryRecord, agents: Sequence[str], names: Sequence[str], holding: bool
    ) -> Report | None:
        """The report; None where the database has failed. Parameters are those of `report.gathering.gather`;
        `holding`: url records have a last form, which is not committed yet."""
        if self._writer.error is not None:
            return None
        made = partial(gather, summary=summary, agents=agents, feeds=names, late=self._is_late, known=self._known)
        self._crawler.signals.connect(self._hurry, signal=stopping)
        self._hurry()
        try:
            return await self._writer.run(partial(self._gather, made, holding))
        finally:
            self._interrupter.end()

    def _gather(self, made: partial[Report], holding: bool) -> Report:
        store = self._writer.store
        if store.get("state") != FINISHED and not self._is_late():
            try:
                with store.trial() as connection, self._interrupter.interruptible(connection):
                    put_files(store, self._run, self._records.rest)
                    store.purge_rows()
                    self._records.last_rows.put(holding)
                    return made(connection)
            except (duckdb.Error, OSError):  # neither room nor time for rows that are not committed: without them
                pass
        with store.analysis() as cursor, self._interrupter.interruptible(cursor):
            return made(cursor)

    def _hurry(self) -> None:
        """Where the crawl is to end early, interrupt what runs when its time is over."""
        if self._seconds_left is not None:
            self._interrupter.begin(self._seconds_left)

    @property
    def _seconds_left(self) -> float | None:
        """Seconds until gathering must end; None if the crawl was not stopped, or only by a limit after which nothing
        is left to do."""
        spider: Any = self._crawler.spider
        if getattr(spider, "stop_reason", None) is None:
            return None
        stopped_at = spider.hurried_at if spider.complete else spider.stopped_at
        return None if stopped_at is None else max(0.0, float(stopped_at) + GATHER_S - time.monotonic())

    def _is_late(self) -> bool:
        return self._seconds_left == 0
