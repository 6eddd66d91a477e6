"""Writes rows of `urls` again with other values, in their order, which updates would change: for one, the issues of
entries with the rules on the whole site that concern them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import with_memory
from sitemapcrawler.jobs.store.schema import literal
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.rules.facts.site import OF_FILES, numbered
from sitemapcrawler.rules.facts.sites import CURRENT

ROWS_AT_ONCE = 20_000
"""Rows that are written again at once, so that they fit into the memory of the database; a usual one has 500 bytes."""


@dataclass(frozen=True, slots=True)
class NewValues:
    """New values for rows of `urls`."""

    table: str
    """A temporary table: the number of each row (`row`), its file (`sitemap`), and what the values are made of."""
    columns: Mapping[str, str]
    """The new values as SQL, by column, with `u` for the old row and the name of the table for its own, whose columns
    are null where it has none."""

    @property
    def replacing(self) -> str:
        """SQL for the new columns."""
        return ", ".join(f"{sql} AS {column}" for column, sql in self.columns.items())


def rewrite(store: Store, found: Collection[NewValues]) -> None:
    """Write the rows of all files that have new values again, within a transaction of the caller, and drop the tables
    of the values. No two set the same column. Raises duckdb.Error."""
    if not found:
        return
    run = store.execute
    tables = [values.table for values in found]
    files = " UNION ".join(f"SELECT sitemap FROM temp.{table}" for table in tables)
    run(f"CREATE OR REPLACE TEMP TABLE rewritten AS {files}")
    of_files = "sitemap IN (FROM temp.rewritten)"
    columns = ", ".join(values.replacing for values in found)
    parts = run(f"SELECT DISTINCT rowid // {ROWS_AT_ONCE} AS part FROM urls WHERE {of_files} ORDER BY part")
    [(last,)] = run("SELECT max(rowid) FROM urls")
    for (part,) in parts:  # numbers have gaps: those of rows that are not committed begin far above the others
        here = f"BETWEEN {part * ROWS_AT_ONCE} AND {min((part + 1) * ROWS_AT_ONCE - 1, last)}"
        joined = " ".join(
            f"LEFT JOIN (FROM temp.{table} WHERE row {here}) {table} ON {table}.row = u.rowid" for table in tables
        )
        run(
            f"INSERT INTO urls SELECT u.* REPLACE ({columns}) FROM urls u {joined} "
            f"WHERE u.rowid {here} AND u.{of_files} ORDER BY u.rowid"
        )
    if parts:
        run(f"DELETE FROM urls WHERE rowid <= {last} AND {of_files}")
    for table in ("rewritten", *tables):
        run(f"DROP TABLE temp.{table}")


FILE = "marks.parquet"
"""Name of the file with the marks, in the folder of the spools, which is removed with them."""


class Marks:
    """Entries with the rules on the whole site that concern them, in a file until the job is finished: a resumed job
    needs the entries as they were read."""

    def __init__(self, store: Store, cursor: duckdb.DuckDBPyConnection, marks: str) -> None:
        """`marks`: see `SiteFacts.marks`; read with `cursor`. Raises duckdb.Error."""
        self._store = store
        self._file = literal(str(store.spools / FILE))
        copy = f"COPY ({marks}) TO {self._file} (FORMAT parquet)"
        with_memory(partial(cursor.execute, copy), store.give_more_memory)

    def issues(self) -> NewValues:
        """The issues of the entries, once all are final. Raises duckdb.Error."""
        files = f"SELECT DISTINCT sitemap FROM read_parquet({self._file})"
        self._store.execute(
            f"CREATE OR REPLACE TEMP TABLE marks AS SELECT n.row, sitemap, m.rules "
            f"FROM ({numbered(files)}) n JOIN read_parquet({self._file}) m USING (sitemap, number)"
        )
        own = "coalesce(u.issues, [])"
        issues = f"list_concat({own}, list_filter(coalesce(marks.rules, []), lambda id: NOT list_contains({own}, id)))"
        return NewValues("marks", {"issues": f"nullif({issues}, [])"})


def mark_files(connection: duckdb.DuckDBPyConnection, rules: Collection[str]) -> None:
    """Add these rules to the issues of the entries for which they have reported their files, in a transaction that is
    rolled back: the order of the rows is lost. Raises duckdb.Error."""
    for rule in OF_FILES.keys() & rules:
        connection.execute(
            f"UPDATE urls AS u SET issues = list_append(coalesce(issues, []), $1) "
            f"WHERE {CURRENT} AND sitemap IN (SELECT sitemap FROM sitemaps WHERE list_contains(issues, $1)) "
            f"AND NOT list_contains(coalesce(issues, []), $1) AND ({OF_FILES[rule]})",
            [rule],
        )
