"""Shows how far a fleet is: live on a terminal, as a line now and then in a log."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from sitemapcrawler.fleet.control import Running
from sitemapcrawler.fleet.pace import FleetPace
from sitemapcrawler.fleet.records import FAILED
from sitemapcrawler.fleet.view import FleetProgress, line, rows
from sitemapcrawler.progress import is_live, logs_elsewhere
from sitemapcrawler.progress_rows import Row
from sitemapcrawler.words import counted, elapsed

if TYPE_CHECKING:
    from sitemapcrawler.fleet.driver import Fleet

logger = logging.getLogger("sitemapcrawler")

LOOK_S = 1.0
"""Seconds between two looks at what runs, on a terminal."""
SHOWN = 5
"""Domains that run which have a row: those that have run longest."""


class Showing:
    """Takes looks at a fleet, and shows what it sees."""

    def __init__(self, settings: BaseSettings) -> None:
        self._live = is_live(settings)
        interval = settings.getfloat("SITEMAP_PROGRESS_INTERVAL")
        told = (not self._live or logs_elsewhere()) and 0 < interval < math.inf
        self._interval = interval if told else math.inf
        self._pace = FleetPace()
        self._began = self._looked = self._told = time.monotonic()
        self._progress = FleetProgress(total=0, elapsed=0.0)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """While the fleet runs."""
        if not self._live:
            yield
            return
        from sitemapcrawler.display import Display  # rich takes its time, and is of no use to a pipe

        display = Display(sys.stderr, self._rows)
        display.start()
        try:
            yield
        finally:
            display.stop()

    def look(self, fleet: Fleet) -> None:
        """Look at the fleet, if it is time."""
        now = time.monotonic()
        due = self._live and now - self._looked >= LOOK_S
        tell = now - self._told >= self._interval
        if due or tell:
            self._looked = now
            self._progress = self._taken(fleet, fleet.look(), now)
        if tell:
            self._told = now
            logger.info("%s", line(self._progress))

    def _rows(self, width: int, unicode: bool) -> Sequence[Row]:
        return rows(self._progress, width, unicode)

    def _taken(self, fleet: Fleet, running: list[Running], now: float) -> FleetProgress:
        tally = fleet.tally
        done = {**tally.states, **({FAILED: len(tally.failed)} if tally.failed else {})}
        urls = tally.urls + sum(one.urls for one in running)
        self._pace.add(now, urls, sum(done.values()))
        left = tally.total - tally.earlier - sum(done.values())
        longest = sorted(running, key=lambda one: one.seconds, reverse=True)[:SHOWN]
        return FleetProgress(
            total=tally.total,
            elapsed=now - self._began,
            earlier=tally.earlier,
            done=done,
            running=len(fleet.running),
            waiting=left - len(fleet.running),
            urls=urls,
            sitemaps=tally.sitemaps + sum(one.sitemaps for one in running),
            urls_per_second=self._pace.urls_per_second,
            domains_per_minute=self._pace.domains_per_minute,
            eta_s=self._pace.seconds_left(left),
            shown=tuple(longest),
        )


def closing_line(fleet: Fleet, seconds: float) -> str:
    """What a fleet came to, in one line."""
    tally = fleet.tally
    states = [f"{count:,} {state}" for state, count in sorted(tally.states.items())]
    parts = [
        f"{tally.done:,} of {counted(tally.total, 'domain')} done",
        *([f"{tally.earlier:,} earlier"] if tally.earlier else []),
        *states,
        *([f"{len(tally.failed):,} without a result"] if tally.failed else []),
        counted(tally.urls, "URL"),
    ]
    return f"{', '.join(parts)} in {elapsed(seconds)}"
