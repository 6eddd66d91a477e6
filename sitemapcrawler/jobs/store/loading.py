"""Putting what a crawl has found into the database: files whole or not at all, with the requests that were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb

from sitemapcrawler.jobs.store.base import CONTENT_ERRORS, Store
from sitemapcrawler.jobs.store.errors import is_out_of_memory
from sitemapcrawler.jobs.store.making import SEEDED
from sitemapcrawler.jobs.store.schema import CARRIED, CURRENT, ENTRY, MORE, ODD, ODD_UNCHANGED
from sitemapcrawler.jobs.store.spool import Spool

LARGE_MEMORY_MB = (256, 512, 1024)
"""What a commit may use that does not do with less, in turn: of a file with very large entries."""
BASELINE = "baseline"
"""Name of the database that the crawl is compared with, where it is attached."""


@dataclass
class FileRows:
    """The rows of one sitemap file."""

    sitemap: str
    urls: Spool
    findings: Spool
    record: Spool
    """Its own record, one row; none for a guess that was no sitemap."""
    digest: str = ""
    """Of its content, in hexadecimal."""
    tally: dict[str, Any] = field(default_factory=dict)
    """What it adds to the counts of the crawl; see `restoring.tally_of`."""
    children: Sequence[tuple[str, str | None]] = ()
    """(URL, lastmod) of what an index lists."""
    taken: bool = False
    """True where the rows are those of the baseline, but for the record."""

    def row(self, run: int) -> dict[str, Any]:
        """The row of `files`."""
        found_in = taken_in(run) if self.taken else run
        return {"sitemap": self.sitemap, "run": found_in, "digest": self.digest, "tally": self.tally}

    def absorb(self, other: FileRows) -> None:
        """Hold the rows of another file as well, which keeps none. OSError where the disk is full."""
        self.urls.absorb(other.urls)
        self.findings.absorb(other.findings)
        self.record.absorb(other.record)

    def discard(self) -> None:
        """Forget the rows."""
        for spool in (self.urls, self.findings, self.record):
            spool.discard()


@dataclass
class Group:
    """What is committed together."""

    files: list[FileRows] = field(default_factory=list)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows of other tables, by table."""
    replies: list[bytes] = field(default_factory=list)
    """Rows of `replies`, as JSON lines."""
    urls: int = 0
    """Rows of `urls`."""

    def __bool__(self) -> bool:
        return bool(self.files or self.rows or self.replies)

    def add(self, file: FileRows) -> None:
        """Add a file."""
        self.files.append(file)
        self.urls += file.urls.rows


def taken_in(run: int) -> int:
    """The run of a file whose entries were taken over from the baseline in a run: lower than that of any other."""
    return -run


def load(store: Store, run: int, group: Group) -> None:
    """Commit a group. A file whose rows DuckDB cannot read keeps them as text; one that needs more memory gets it.
    Raises duckdb.Error, OSError."""
    try:
        _commit_with_room(store, run, group)
    except CONTENT_ERRORS:
        for file in group.files:
            _load_alone(store, run, file)
        _commit(store, run, Group([], group.rows, group.replies))
    finally:
        for file in group.files:
            file.discard()


def _commit_with_room(store: Store, run: int, group: Group) -> None:
    for memory_mb in (0, *LARGE_MEMORY_MB):
        try:
            with store.memory(memory_mb):
                _commit(store, run, group)
            return
        except duckdb.Error as error:
            if memory_mb == LARGE_MEMORY_MB[-1] or not is_out_of_memory(error):
                raise


def _load_alone(store: Store, run: int, file: FileRows) -> None:
    try:
        _commit(store, run, Group([file]))
    except CONTENT_ERRORS:
        unfit, file.urls = file.urls, store.mended(file.urls)
        unfit.discard()
        _commit(store, run, Group([file]))


def _commit(store: Store, run: int, group: Group) -> None:
    with store.transaction():
        if group.files:
            put_files(store, run, group.files)
        for table, rows in group.rows.items():
            store.insert_rows(table, rows)
        if group.replies:
            with store.spool() as spool:
                spool.write(b"".join(group.replies), len(group.replies))
                store.insert("replies", [spool])


def put_files(store: Store, run: int, files: Sequence[FileRows]) -> None:
    """Insert the rows of files, within a transaction of the caller. Raises duckdb.Error, OSError."""
    if store.seeded:
        _replace(store, [file.sitemap for file in files if not file.taken])
    else:
        _take_over(store, [file.sitemap for file in files if file.taken])
    for table, spools in (
        ("urls", [file.urls for file in files]),
        ("findings", [file.findings for file in files]),
        ("sitemaps", [file.record for file in files]),
    ):
        with _joined(store, spools) as joined:
            store.insert(table, joined)
    store.insert_rows(
        "files",
        [file.row(run) for file in files],
    )
    store.insert_rows(
        "children",
        (
            {"sitemap": file.sitemap, "loc": loc, "lastmod_at": lastmod}
            for file in files
            if not file.taken
            for loc, lastmod in file.children
        ),
    )


def _replace(store: Store, sitemaps: Sequence[str]) -> None:
    """Remove what the baseline has of files that have changed."""
    for table in SEEDED if sitemaps else ():
        store.execute(f"DELETE FROM {table} WHERE sitemap IN (SELECT unnest(?))", [list(sitemaps)])


def _take_over(store: Store, sitemaps: Sequence[str]) -> None:
    """Copy what the baseline has of files that have not changed. What is said of the whole site is said anew."""
    if not sitemaps:
        return
    files, named = "sitemap IN (SELECT unnest(?))", [list(sitemaps)]
    store.execute(
        "INSERT INTO urls BY NAME SELECT * REPLACE "
        f"('unchanged' AS change, NULL AS changed_fields, {ODD_UNCHANGED} AS {ODD}) "
        f"FROM {BASELINE}.urls WHERE {files} AND {CURRENT}",
        named,
    )
    store.execute(
        f"INSERT INTO findings BY NAME SELECT * FROM {BASELINE}.findings WHERE {files} AND whole_site IS NULL",
        named,
    )
    store.execute(f"INSERT INTO children BY NAME SELECT * FROM {BASELINE}.children WHERE {files}", named)
    copy_items(store)


def copy_items(store: Store) -> None:
    """Copy the items of long lists that entries from the baseline still lack, within a transaction of the caller."""
    for table in MORE.values():
        if store.execute(f"SELECT 1 FROM {BASELINE}.{table} LIMIT 1"):
            store.execute(
                f"INSERT INTO main.{table} SELECT * FROM {BASELINE}.{table} WHERE {ENTRY} IN "
                f"(SELECT {ENTRY} FROM main.urls UNION SELECT {ENTRY} FROM main.{CARRIED}) "
                f"AND {ENTRY} NOT IN (SELECT {ENTRY} FROM main.{table})"
            )


@contextmanager
def _joined(store: Store, spools: Iterable[Spool]) -> Iterator[list[Spool]]:
    """Spools with those that are in memory made one, so that small files cost no file each."""
    with store.spool() as small:
        large = [spool for spool in spools if not small.take(spool)]
        yield [small, *large]
