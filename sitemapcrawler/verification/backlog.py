"""Keeps the url records of files on disk until it is their turn to be verified: sitemaps are read first.

Requesting the pages of one file takes hours, in which the other files of the site would not be read, and after an early
stop not at all.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO

from sitemapcrawler.envelopes import FreshBatch
from sitemapcrawler.jobs.protocols import Pipelines
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.rules.facts.given import Counted, FileFacts

logger = logging.getLogger(__name__)

MAX_FILES = 1000
"""Files that may wait, each of which keeps some 100 kB of memory; Scrapy stops requesting at 4,882 answers that are not
read to the end (SCRAPER_SLOT_MAX_ACTIVE_SIZE)."""
MAX_BYTES = 2**30
"""Bytes on disk from which on no further file waits: about three million plain entries."""
AT_ONCE, AT_ONCE_OF_A_SITE = 8, 2
"""Files whose pages are verified at a time, each with a batch in memory."""


@dataclass(slots=True)
class _Waiting:
    """A file that waits, or is being read before that."""

    file: FileFacts | Counted | None = None
    places: list[tuple[int, int]] = field(default_factory=list)
    """Where its batches stand: (offset, length) in bytes."""


class Backlog:
    """Url records that wait for their verification, on disk in a file without a name, which vanishes with the process.

    If the limits are reached, or the disk is full, files are verified as they are read.
    """

    def __init__(self, pipelines: Pipelines) -> None:
        self.pipelines = pipelines
        self._disk: IO[bytes] | None = None
        self._end = 0
        self._files: dict[str, _Waiting] = {}
        self._sites: dict[str, asyncio.Semaphore] = {}
        self._all = asyncio.Semaphore(AT_ONCE)
        self._changed = asyncio.Event()

    @property
    def full(self) -> bool:
        """True if no further file may wait."""
        return len(self._files) >= MAX_FILES or self._end >= MAX_BYTES

    def open(self, sitemap: str) -> None:
        """Let the batches of a file wait, which is about to be read, unless too much waits already."""
        if not self.full:
            self._files[sitemap] = _Waiting()

    def put(self, batch: FreshBatch) -> bool:
        """Keep the records of a batch, which is then empty. Returns False if they are to be verified at once."""
        waiting = self._files.get(batch.sitemap)
        if waiting is None:
            return False
        try:
            data = pickle.dumps((batch.urls, list(batch.notes.values())), pickle.HIGHEST_PROTOCOL)
            self._disk = self._disk or TemporaryFile()  # noqa: SIM115  # open until the crawl ends
            self._disk.seek(self._end)
            self._disk.write(data)
            self._disk.flush()
        except (OSError, RecursionError) as error:  # the disk is full, or an entry is nested too deeply
            logger.warning("%s: its pages are requested before other sitemaps are read (%s)", batch.sitemap, error)
            return False
        waiting.file = batch.file
        waiting.places.append((self._end, len(data)))
        self._end += len(data)
        batch.urls, batch.notes = [], Notes()
        return True

    def look_again(self) -> None:
        """Let files that wait for their turn ask again whether it has come."""
        self._changed.set()

    async def release(self, sitemap: str, site: str, may_begin: Callable[[], bool]) -> None:
        """Wait for the turn of a file that was read, and send its batches in their order.
        `may_begin`: False while there is something to do before; asked at each `look_again`."""
        waiting = self._files.get(sitemap)
        try:
            if waiting is not None and waiting.places:
                async with self._sites.setdefault(site, asyncio.Semaphore(AT_ONCE_OF_A_SITE)):
                    while not (self.full or may_begin()):
                        self._changed.clear()
                        await self._changed.wait()
                    async with self._all:
                        for batch in self._batches(sitemap, waiting):
                            await self.pipelines.send(batch)
        finally:
            self._files.pop(sitemap, None)
            if not any(other.places for other in self._files.values()):
                self._end = 0
            self.look_again()

    def _batches(self, sitemap: str, waiting: _Waiting) -> Iterator[FreshBatch]:
        assert self._disk is not None  # something was written
        for offset, length in waiting.places:
            self._disk.seek(offset)
            records, notes = pickle.loads(self._disk.read(length))  # its own file, which no other process can open
            yield FreshBatch(sitemap, records, Notes.table(notes), waiting.file, is_judged=True)

    def close(self) -> None:
        """Delete what waits."""
        if self._disk is not None:
            with suppress(OSError):  # it still tries to write what did not fit on a full disk
                self._disk.close()
