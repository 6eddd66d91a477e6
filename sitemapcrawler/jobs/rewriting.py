"""Writes rows of `urls` again with other values, in their order, which updates would change."""

from __future__ import annotations

from sitemapcrawler.jobs.store import Store

ROWS_AT_ONCE = 20_000
"""Rows that are written again at once, so that they fit into the memory of the database; a usual one has 500 bytes."""


def rewrite(store: Store, files: str, changed: str, replaced: str) -> None:
    """Write the rows of files again, within a transaction of the caller. Raises duckdb.Error.

    `files`: name of a table of their URLs (`sitemap`); `changed`: name of a table of row numbers (`row`) and new
    values; `replaced`: columns as SQL, with `u` for the old row and `m` for that of `changed`, whose columns are null
    where it has none.
    """
    run = store.execute
    of_files = f"sitemap IN (FROM {files})"
    parts = run(f"SELECT DISTINCT rowid // {ROWS_AT_ONCE} AS part FROM urls WHERE {of_files} ORDER BY part")
    [(last,)] = run("SELECT max(rowid) FROM urls")
    for (part,) in parts:  # numbers have gaps: those of rows that are not committed begin far above the others
        here = f"BETWEEN {part * ROWS_AT_ONCE} AND {min((part + 1) * ROWS_AT_ONCE - 1, last)}"
        run(
            f"INSERT INTO urls SELECT u.* REPLACE ({replaced}) "
            f"FROM urls u LEFT JOIN (FROM {changed} WHERE row {here}) m ON m.row = u.rowid "
            f"WHERE u.rowid {here} AND u.{of_files} ORDER BY u.rowid"
        )
    if parts:
        run(f"DELETE FROM urls WHERE rowid <= {last} AND {of_files}")
