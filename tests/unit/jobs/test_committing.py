"""The writer of the job's database: what is committed together, when, and what happens when that fails."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.jobs import committing
from sitemapcrawler.jobs.committing import Committer
from sitemapcrawler.jobs.store import Store, check
from sitemapcrawler.jobs.store.loading import Commit, FileRows

RUN = 1
NEVER_S = 3600.0
PATIENCE_S = 60
JSON = JsonText(Rows())
FULL = duckdb.IOException('IO Error: Could not write file "x": No space left on device')
REPLY = b'{"url":"u","method":"GET","status":200}\n'


class Crawl:
    """A writer on a database of its own, and what it has committed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = Store.temporary()
        self.commits: list[list[str]] = []
        """The files of each commit."""
        self.failures: list[str] = []
        self.error: Exception | None = None
        """What the next commits fail with."""
        self.gate = threading.Event()
        """Commits wait for it."""
        self.gate.set()
        self.writer = Committer(self.store, RUN, self.failures.append)
        self._load = committing.load
        monkeypatch.setattr(committing, "load", self.load)
        monkeypatch.setattr(committing, "COMMIT_S", NEVER_S)

    def load(self, store: Store, run: int, group: Commit) -> None:
        assert self.gate.wait(PATIENCE_S)
        self.commits.append([file.sitemap for file in group.files])
        if self.error is not None:
            raise self.error
        self._load(store, run, group)

    def file(self, name: str, entries: int = 1) -> FileRows:
        """A file that was read, with so many entries."""
        rows = FileRows(name, self.store.spool(), self.store.spool(), self.store.spool())
        rows.urls.write(JSON.lines([UrlRecord(f"{name}/{n}", sitemap=name) for n in range(entries)]), entries)
        rows.record.write(JSON.lines([SitemapRecord(name)]), 1)
        return rows

    async def done(self) -> None:
        """Return when the thread has done what it was given."""
        await self.writer.run(lambda: None)

    def stored(self) -> list[str]:
        """Files in the database, in order; by a cursor, since the thread has the connection."""
        found = self.store.cursor().execute("SELECT sitemap FROM files ORDER BY rowid").fetchall()
        return [row[0] for row in found]


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Iterator[Crawl]:
    crawl = Crawl(monkeypatch)
    yield crawl
    crawl.gate.set()
    crawl.writer.close()
    assert not crawl.store.path.exists(), "the writer has closed the database"


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), PATIENCE_S))  # type: ignore[arg-type]  # a coroutine


def test_small_files_wait_and_are_one_commit(crawl: Crawl) -> None:
    async def scenario() -> None:
        for name in "abc":
            await crawl.writer.add(crawl.file(name))
        crawl.writer.put("policies", {"origin": "https://e.com"})
        crawl.writer.reply(REPLY)
        await crawl.done()
        assert crawl.commits == []
        await crawl.writer.flush()

    run(scenario)
    assert crawl.commits == [["a", "b", "c"]]
    assert crawl.stored() == ["a", "b", "c"]
    assert crawl.store.execute("SELECT (SELECT origin FROM policies), (SELECT status FROM replies)") == [
        ("https://e.com", 200)
    ]


def test_what_waits_is_committed_in_time(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committing, "COMMIT_S", 0.0)

    async def scenario() -> None:
        for name in "ab":
            await crawl.writer.add(crawl.file(name))
            while name not in crawl.stored():
                await crawl.done()

    run(scenario)
    assert crawl.commits == [["a"], ["b"]]


def test_many_rows_are_committed_at_once(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committing, "COMMIT_ROWS", 10)

    async def scenario() -> None:
        await crawl.writer.add(crawl.file("a", 9))
        await crawl.done()
        assert crawl.commits == []
        await crawl.writer.add(crawl.file("b", 1))
        await asyncio.sleep(0)
        await crawl.done()
        assert crawl.commits == [["a", "b"]]

    run(scenario)


def test_what_comes_during_a_commit_waits_for_the_next(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committing, "COMMIT_ROWS", 10)

    async def scenario() -> None:
        crawl.gate.clear()
        for name in "abc":
            await crawl.writer.add(crawl.file(name, 10))
        crawl.gate.set()
        await crawl.writer.flush()

    run(scenario)
    assert crawl.commits == [["a"], ["b", "c"]]
    assert crawl.stored() == ["a", "b", "c"]


def test_crawl_waits_where_too_much_waits(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committing, "COMMIT_ROWS", 10)
    monkeypatch.setattr(committing, "WAITING_ROWS", 25)

    async def scenario() -> None:
        crawl.gate.clear()
        for name in "abc":
            await crawl.writer.add(crawl.file(name, 10))
        adding = asyncio.ensure_future(crawl.writer.add(crawl.file("d", 10)))
        await asyncio.sleep(0)
        assert not adding.done(), "thirty rows wait"
        crawl.gate.set()
        await adding
        assert "a" in crawl.stored()
        await crawl.writer.flush()

    run(scenario)
    assert sorted(crawl.stored()) == ["a", "b", "c", "d"]


def test_nothing_to_write_is_no_commit(crawl: Crawl) -> None:
    run(crawl.writer.flush)
    assert crawl.commits == []


@pytest.mark.parametrize(
    ("error", "words"), [(FULL, "No space left on device"), (OSError(errno.ENOSPC, "No space left"), "No space left")]
)
def test_first_error_ends_the_writing(crawl: Crawl, error: Exception, words: str) -> None:
    crawl.error = error

    async def scenario() -> None:
        await crawl.writer.add(crawl.file("a"))
        await crawl.writer.flush()
        assert crawl.writer.error == words
        late = crawl.file("b")
        late.urls.flush()
        await crawl.writer.add(late)
        crawl.writer.put("policies", {"origin": "x"})
        crawl.writer.reply(REPLY)
        await crawl.writer.flush()
        crawl.writer.fail(FULL)

    run(scenario)
    assert crawl.failures == [words], "it is told once"
    assert crawl.commits == [["a"]] and crawl.stored() == []
    assert crawl.writer.error == words
    assert [path for path in crawl.store.spools.iterdir() if path.stat().st_size] == []


def test_failure_drops_what_waits(crawl: Crawl) -> None:
    async def scenario() -> None:
        crawl.gate.clear()
        crawl.error = FULL
        await crawl.writer.add(crawl.file("a"))
        flushing = asyncio.ensure_future(crawl.writer.flush())
        await asyncio.sleep(0)
        waiting = crawl.file("b")
        waiting.urls.flush()
        await crawl.writer.add(waiting)
        crawl.gate.set()
        await flushing

    run(scenario)
    assert crawl.commits == [["a"]]
    assert list(crawl.store.spools.iterdir()) == []


def test_work_is_done_in_the_thread_that_writes(crawl: Crawl) -> None:
    async def scenario() -> None:
        names = {await crawl.writer.run(lambda: threading.current_thread().name) for _ in range(3)}
        assert len(names) == 1 and threading.current_thread().name not in names

    run(scenario)


def test_work_that_fails_gives_nothing(crawl: Crawl) -> None:
    async def scenario() -> None:
        assert await crawl.writer.run(lambda: crawl.store.execute("SELECT * FROM nowhere")) is None

    run(scenario)
    assert len(crawl.failures) == 1 and "nowhere" in crawl.failures[0]


def test_fault_of_our_own_ends_the_writing_too(crawl: Crawl, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        assert await crawl.writer.run(lambda: 1 // 0) is None

    run(scenario)
    assert len(crawl.failures) == 1
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("error", "words"),
    [(MemoryError(), "out of memory"), (RuntimeError("can't start new thread"), "can't start new thread")],
)
def test_end_of_the_machine_is_one_line(
    crawl: Crawl, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    async def work() -> None:
        monkeypatch.setattr(ThreadPoolExecutor, "submit", fail)
        assert await crawl.writer.run(dict) is None
        crawl.writer.close() if isinstance(error, RuntimeError) else None

    asyncio.run(work())
    assert crawl.failures == [words]
    assert not caplog.records


def test_parts_come_one_by_one(crawl: Crawl) -> None:
    async def scenario() -> None:
        assert [part async for part in crawl.writer.each(lambda: (part for part in "abc"))] == ["a", "b", "c"]
        assert [part async for part in crawl.writer.each(lambda: (part for part in ""))] == []

    run(scenario)


def test_what_gives_the_parts_is_closed_before_the_database(crawl: Crawl) -> None:
    names: list[str] = []

    def parts() -> Generator[str]:
        try:
            yield from "abc"
        finally:
            names.append(threading.current_thread().name)

    async def scenario() -> None:
        given = crawl.writer.each(parts)
        assert await anext(given) == "a"
        await given.aclose()
        assert len(names) == 1

    run(scenario)
    assert names != [threading.current_thread().name]


def test_parts_end_where_the_database_fails(crawl: Crawl) -> None:
    def parts() -> Generator[str]:
        yield "a"
        raise FULL

    async def scenario() -> None:
        assert [part async for part in crawl.writer.each(parts)] == ["a"]

    run(scenario)
    assert crawl.failures == ["No space left on device"]


def test_full_disk_fails_the_writer_and_not_the_crawl(crawl: Crawl) -> None:
    with crawl.writer.guarded():
        raise OSError(errno.ENOSPC, "No space left")
    assert crawl.writer.error == "No space left"
    with pytest.raises(KeyError), crawl.writer.guarded():
        raise KeyError


def test_database_is_free_when_the_writer_is_closed(tmp_path: Path) -> None:
    writer = Committer(Store.open(tmp_path), RUN, lambda why: pytest.fail(why))

    async def scenario() -> None:
        writer.put("policies", {"origin": "x"})
        await writer.flush()

    run(scenario)
    writer.close()
    assert check(tmp_path / "audit.duckdb")
    with duckdb.connect(tmp_path / "audit.duckdb", read_only=True) as database:
        assert database.execute("SELECT origin FROM policies").fetchall() == [("x",)]
