"""Writes rows of `urls` again with other values, in their order, which updates would change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sitemapcrawler.jobs.store import Store

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
