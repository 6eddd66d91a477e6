"""Adds rules on the whole site to the issues of the entries they concern, once all rules have run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import with_memory
from sitemapcrawler.jobs.store.schema import literal
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.rules.facts.site import OF_FILES, numbered
from sitemapcrawler.rules.facts.sites import CURRENT

FILE = "marks.parquet"
"""Name of the file with the marks, in the folder of the spools, which is removed with them."""

ROWS_AT_ONCE = 20_000
"""Rows that are written again at once, so that they fit into the memory of the database; a usual one has 500 bytes."""


class Marks:
    """Entries with the rules on the whole site that concern them, in a file until the job is finished: a resumed job
    needs the entries as they were read."""

    def __init__(self, store: Store, cursor: duckdb.DuckDBPyConnection, marks: str) -> None:
        """`marks`: see `SiteFacts.marks`; read with `cursor`. Raises duckdb.Error."""
        self._store = store
        self._file = literal(str(store.spools / FILE))
        copy = f"COPY ({marks}) TO {self._file} (FORMAT parquet)"
        with_memory(partial(cursor.execute, copy), store.give_more_memory)

    def apply(self) -> None:
        """Set the issues, within a transaction of the caller. Files with such entries are written again, since updates
        would change the order of their rows. Raises duckdb.Error."""
        run = self._store.execute
        run(f"CREATE OR REPLACE TEMP TABLE marked AS SELECT DISTINCT sitemap FROM read_parquet({self._file})")
        parts = run(
            f"SELECT DISTINCT rowid // {ROWS_AT_ONCE} AS part FROM urls WHERE sitemap IN (FROM marked) ORDER BY part"
        )
        if parts:
            run(
                f"CREATE OR REPLACE TEMP TABLE marks AS SELECT n.row, m.rules "
                f"FROM ({numbered('urls', 'FROM marked')}) n JOIN read_parquet({self._file}) m USING (sitemap, number)"
            )
            self._rewrite([part for (part,) in parts])
            run("DROP TABLE marks")
        run("DROP TABLE marked")

    def _rewrite(self, parts: Iterable[int]) -> None:
        """Write the rows of marked files again. `parts`: those of the table that have some, by row number. Numbers have
        gaps: those of rows that are not committed begin far above the others."""
        run = self._store.execute
        own = "coalesce(u.issues, [])"
        issues = f"list_concat({own}, list_filter(coalesce(m.rules, []), lambda id: NOT list_contains({own}, id)))"
        run("CREATE OR REPLACE TEMP TABLE rewritten AS FROM urls LIMIT 0")
        for part in parts:
            here = f"BETWEEN {part * ROWS_AT_ONCE} AND {(part + 1) * ROWS_AT_ONCE - 1}"
            run(
                f"INSERT INTO rewritten SELECT u.* REPLACE (nullif({issues}, []) AS issues) "
                f"FROM urls u LEFT JOIN (FROM marks WHERE row {here}) m ON m.row = u.rowid "
                f"WHERE u.rowid {here} AND u.sitemap IN (FROM marked) ORDER BY u.rowid"
            )
        run("DELETE FROM urls WHERE sitemap IN (FROM marked)")
        run("INSERT INTO urls FROM rewritten")
        run("DROP TABLE rewritten")


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
