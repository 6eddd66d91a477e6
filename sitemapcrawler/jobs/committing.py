"""Commits results to a job's database, in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.files import in_words, is_of_the_machine
from sitemapcrawler.jobs.store.loading import Commit, FileRows, load

logger = logging.getLogger(__name__)

COMMIT_ROWS = 50_000
"""Rows at which a commit starts at once: as many as a sitemap may list. A commit takes some 10 ms of overhead."""
COMMIT_S = 0.5
"""Maximum seconds that results wait for a commit. A crash loses these and the commit that runs."""
WAITING_ROWS = 200_000
"""Waiting rows above which `Committer.add` blocks."""
T = TypeVar("T")


class Committer:
    """Commits a crawl's results in groups. After the first error it calls `failed` and drops the rest."""

    def __init__(self, store: Store, run: int, failed: Callable[[str], None]) -> None:
        self.error: str | None = None
        """Why writing stopped, in one line; None while it works."""
        self.store = store
        self._run = run
        self._failed = failed
        self._thread = ThreadPoolExecutor(1, "store")
        self._group = Commit()
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def add(self, file: FileRows) -> None:
        """Add a file that was read completely. Waits while too many rows are pending."""
        if self.error is not None:
            file.discard()
            return
        self._group.add(file)
        self._wake()
        while self._group.urls > WAITING_ROWS and self._task is not None:
            await self._task

    def put(self, table: str, row: dict[str, object]) -> None:
        """Add a row to another table."""
        if self.error is None:
            self._group.rows.setdefault(table, []).append(row)
            self._wake()

    def reply(self, line: bytes) -> None:
        """Add a row to `replies`, as a JSON line."""
        if self.error is None:
            self._group.replies.append(line)
            self._wake()

    async def flush(self) -> None:
        """Wait until everything is committed."""
        while self.error is None and (self._group or self._task is not None):
            await (self._task or self._begin())

    async def run(self, work: Callable[[], T]) -> T | None:
        """Run `work` in the writing thread and return its result, or None after a failure."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except Exception as error:
            if not is_of_the_machine(error):
                logger.exception("internal error")
            self.fail(error)
            return None

    async def each(self, work: Callable[[], Generator[T]]) -> AsyncGenerator[T]:
        """Yield the items of a generator that runs, and is closed, in the writing thread."""
        generator = await self.run(work)
        if generator is None:
            return
        try:
            while (part := await self.run(lambda: next(generator, None))) is not None:
                yield part
        finally:
            await self.run(generator.close)

    def fail(self, error: Exception) -> None:
        """Stop writing because of an error."""
        if self.error is None:
            self.error = in_words(error)
            self._failed(self.error)
        for file in self._group.files:
            file.discard()
        self._group = Commit()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn an OSError, such as a full disk, into a failure of the committer."""
        try:
            yield
        except OSError as error:
            self.fail(error)

    def close(self) -> None:
        """Close the database."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            self._thread.submit(self.store.close)
        except (RuntimeError, MemoryError):  # no thread can be started
            self.store.close()
        self._thread.shutdown()

    def _wake(self) -> None:
        """Start a commit if many rows wait, else schedule one."""
        if self._group.urls >= COMMIT_ROWS and self._task is None:
            self._begin()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(COMMIT_S, self._due)

    def _due(self) -> None:
        self._timer = None
        if self._task is not None:
            self._timer = asyncio.get_running_loop().call_later(COMMIT_S, self._due)
        elif self._group:
            self._begin()

    def _begin(self) -> asyncio.Task[None]:
        group, self._group = self._group, Commit()
        self._task = asyncio.ensure_future(self._commit(group))
        return self._task

    async def _commit(self, group: Commit) -> None:
        try:
            await self.run(lambda: load(self.store, self._run, group))
        finally:
            self._task = None
        if self.error is None and self._group.urls >= COMMIT_ROWS:
            self._begin()
