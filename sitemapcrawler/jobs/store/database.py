"""The database of a job: opened, locked, read and written."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Self

from sitemapcrawler.feeds.scratch import OF_A_CRAWL, scratch
from sitemapcrawler.jobs.store.files import (
    NEW,
    check,
    confine,
    create,
    create_tables,
    refusal,
)
from sitemapcrawler.jobs.store.queries import FEW, Row, fetched_with_memory, line_of, reading, with_memory
from sitemapcrawler.jobs.store.schema import TYPE, literal, quoted, tables
from sitemapcrawler.jobs.store.spool import Spool, reduced
from sitemapcrawler.reader.duck import CONFIG, MEMORY_MB, duckdb

FILE = "audit.duckdb"
"""Name of the database in a job's folder."""
SPOOLS = ".spool"
"""Folder next to the database for rows waiting for their commit."""
THREADS = 2
"""Threads of the rules on the whole site; one while files are read, which keeps a core busy itself."""
FEED_LINE = 16 * 1024 * 1024
"""Maximum length of a feed's line in bytes."""


def content_errors() -> tuple[type[Exception], ...]:
    """DuckDB's errors for rows that do not fit the columns."""
    return duckdb.ConversionException, duckdb.InvalidInputException, duckdb.OutOfRangeException


class _Undone(Exception):
    """Rolls a transaction back."""


class Store:
    """Database of a job. One thread writes; other threads read with their own `cursor`."""

    def __init__(self, path: Path, beside: Sequence[Path] = ()) -> None:
        """Open a database; a new one gets its tables. `beside`: the files of a baseline, the only others that can be
        opened. Raises duckdb.Error."""
        self.path = path
        self._folder = ExitStack()
        self.spools = path.parent / SPOOLS
        is_new = not path.exists()
        # Queries spill to this private folder if they exceed the memory limit.
        self._connection = duckdb.connect(path, config=CONFIG | {"temp_directory": str(self.spools / "spilled")})
        self._in_transaction = False
        self._threads = 1
        self._memory_mb = self._most_mb = MEMORY_MB
        shutil.rmtree(self.spools, ignore_errors=True)
        for left in path.parent.glob(f".{path.name}.*{NEW}"):  # left by a killed process
            shutil.rmtree(left, ignore_errors=True)
        self.spools.mkdir(mode=0o700)
        confine(self._connection, [self.spools], beside)
        if is_new:
            create_tables(self._connection)
        atexit.register(self.close)  # a second signal ends the process without closing the crawl

    @classmethod
    def temporary(cls, beside: Sequence[Path] = ()) -> Self:
        """Create a database for this process only, and remove those of killed processes. `beside`: see `__init__`."""
        with ExitStack() as stack:
            path = stack.enter_context(scratch(Path(tempfile.gettempdir()), OF_A_CRAWL)) / FILE
            store = cls(path, beside)  # makes it too: opening it a second time would take 20 ms
            store.execute("PRAGMA disable_checkpoint_on_shutdown")  # closing removes it anyway
            store._folder = stack.pop_all()
            return store

    @classmethod
    def open(cls, folder: Path, beside: Sequence[Path] = ()) -> Self:
        """Open the database of a job after reading every row of it, or create it. `beside`: see `__init__`.
        Raises StoreError."""
        path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if path.exists():
                check(path, thorough=True)
            else:
                create(path)
            return cls(path, beside)
        except (OSError, duckdb.Error) as error:
            raise refusal(path, error) from None

    def close(self) -> None:
        """Write everything to disk and close the database."""
        connection = vars(self).pop("_connection", None)  # references to the store must not keep it open
        if connection is not None:
            with suppress(duckdb.Error):  # after a fatal error, the next connection replays the log
                connection.close()
        shutil.rmtree(self.spools, ignore_errors=True)
        self._folder.close()
        atexit.unregister(self.close)

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a cursor for use in another thread."""
        return self._connection.cursor()

    def resources(self, memory_mb: int, sparing: bool = False) -> None:
        """Let DuckDB use `THREADS`, and set its memory limit. `sparing`: keep the low limit of the reading phase
        and raise it on demand, since DuckDB fills the memory it may use and few queries gain from it."""
        self._connection.execute(f"SET threads = {THREADS}")
        self._threads = THREADS
        self._most_mb = memory_mb
        self._limit_memory(min(memory_mb, MEMORY_MB) if sparing else memory_mb)

    def give_more_memory(self) -> bool:
        """Double the memory limit of DuckDB, up to the configured one; then use one thread, each of which holds 2,048
        rows. Returns False after that."""
        if self._memory_mb >= self._most_mb:
            was_one, self._threads = self._threads == 1, 1
            self._connection.execute("SET threads = 1")
            return not was_one
        self._limit_memory(min(2 * self._memory_mb, self._most_mb))
        return True

    def _limit_memory(self, memory_mb: int) -> None:
        self._connection.execute(f"SET memory_limit = '{memory_mb}MB'")
        self._memory_mb = memory_mb

    @contextmanager
    def memory(self, memory_mb: int) -> Iterator[None]:
        """Raise the memory limit of DuckDB inside the block."""
        before = self._memory_mb
        self._limit_memory(max(before, memory_mb))
        try:
            yield
        finally:
            self._limit_memory(before)

    @contextmanager
    def analysis(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Provide a cursor for queries that may return rows in any order."""
        with self.cursor() as cursor:
            cursor.execute("SET preserve_insertion_order = false")
            try:
                yield cursor
            finally:
                cursor.execute("RESET preserve_insertion_order")

    @contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Commit everything in the block, or nothing. Provides the connection."""
        self._connection.execute("BEGIN")
        self._in_transaction = True
        try:
            yield self._connection
        except BaseException:
            with suppress(duckdb.Error):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._in_transaction = False
        self._connection.execute("COMMIT")

    @contextmanager
    def trial(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Provide a connection for changes that are rolled back at the end."""
        with suppress(_Undone), self.transaction() as connection:
            yield connection
            raise _Undone

    def execute(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
        """Run SQL and return all rows. Outside of transactions, which a failure ends, it retries with more memory."""
        more_memory = (lambda: False) if self._in_transaction else self.give_more_memory
        return with_memory(lambda: self._connection.execute(sql, parameters).fetchall(), more_memory)

    def spool(self) -> Spool:
        return Spool(self.spools)

    def insert(self, table: str, spools: Iterable[Spool]) -> None:
        """Insert the rows of spools into a table."""
        if filled := [spool for spool in spools if spool.rows]:
            held = tables()[table.rpartition(".")[2]]
            source = reading(held, max(spool.longest for spool in filled))
            paths = [str(spool.flush()) for spool in filled]
            self._connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM {source}", [paths])

    def read_feed(self, table: str, feed: Path, kind: str | None) -> None:
        """Insert the rows of a JSON lines feed. `kind`: `type` of the records to insert, None for all."""
        made = table.rpartition(".")[2]
        held = {TYPE: "VARCHAR", **tables()[made]}
        where = f"WHERE {quoted(TYPE)} = {literal(kind)}" if kind else ""
        self._connection.execute(
            f"INSERT INTO {table} BY NAME SELECT * EXCLUDE ({quoted(TYPE)}) FROM {reading(held, FEED_LINE)} {where}",
            [[str(feed)]],
        )

    def insert_rows(self, table: str, rows: Iterable[Mapping[str, object]]) -> None:
        with self.spool() as spool:
            for row in rows:
                spool.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n", 1)
            self.insert(table, [spool])

    def reduced(self, spool: Spool) -> Spool:
        """Return a spool's rows with the fields alone that fit the columns in any case."""
        made = self.spool()
        for line in spool.lines():
            made.write(reduced(line), 1)
        return made

    def lines(self, table: str, condition: str = "TRUE", database: str = "main") -> Generator[list[str]]:
        """Yield the records of a table as JSON lines, up to `AT_ONCE` at a time, in the order of the files."""
        query = f"SELECT {line_of(table)} FROM {database}.{table} WHERE {condition}"
        for rows in self._fetched(self.cursor(), query):
            yield [line for (line,) in rows]

    def tagged_lines(
        self, table: str, tag: str, condition: str, cursor: duckdb.DuckDBPyConnection | None = None
    ) -> Iterator[list[tuple[str, str]]]:
        """Like `lines`, with the value of the column `tag` before each line. `cursor`: reads them; by default a new
        one."""
        cursor = cursor or self.cursor()
        filled = f"SELECT {', '.join(f'count({quoted(name)})' for name in tables()[table])} FROM {table}"
        [[counts]] = self._fetched(cursor, filled)
        absent = frozenset(name for name, count in zip(tables()[table], counts, strict=True) if not count)
        query = f"SELECT rowid, {quoted(tag)}, {line_of(table, '', absent)} FROM {table} WHERE ({condition}) AND rowid "
        last = -1
        try:
            for rows in self._fetched(cursor, f"{query} > -1"):
                yield [row[1:] for row in rows]
                last = rows[-1][0]
        except duckdb.OutOfMemoryException:  # very long rows: fetch so few at once that they fit
            while self.give_more_memory():
                pass
            [(end,)] = cursor.execute(f"SELECT max(rowid) FROM {table}").fetchall()
            for first in range(last + 1, end + 1, FEW):
                for rows in self._halved(cursor, query, first, FEW):
                    yield [row[1:] for row in rows]

    def _halved(self, cursor: duckdb.DuckDBPyConnection, query: str, first: int, number: int) -> Iterator[list[Row]]:
        """Yield the rows with these row numbers, in two halves if they do not fit into memory together, and so on."""
        try:
            found = [*self._fetched(cursor, f"{query} BETWEEN {first} AND {first + number - 1}")]
        except duckdb.OutOfMemoryException:
            if number == 1:
                raise
            half = number // 2
            yield from self._halved(cursor, query, first, half)
            yield from self._halved(cursor, query, first + half, number - half)
        else:
            yield from found

    def _fetched(self, cursor: duckdb.DuckDBPyConnection, query: str) -> Iterator[list[Row]]:
        return fetched_with_memory(cursor, query, self.give_more_memory)

    def get(self, name: str) -> Any:  # Any: values are JSON, and who asks knows which
        """Return a value of the table `job`, or None."""
        rows = self.execute("SELECT value FROM job WHERE name = ?", [name])
        return json.loads(rows[0][0]) if rows else None

    def set(self, **values: object) -> None:
        """Store values in the table `job`, in a transaction of the caller or one of its own."""
        with nullcontext() if self._in_transaction else self.transaction():
            names = list(values)
            self._connection.execute("DELETE FROM job WHERE list_contains(?, name)", [names])
            texts = list(map(json.dumps, values.values()))
            self._connection.execute("INSERT INTO job SELECT unnest(?), unnest(?::VARCHAR[])", [names, texts])
