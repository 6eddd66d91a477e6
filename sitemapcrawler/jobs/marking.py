"""Adds rules on the whole site to the issues of the entries they concern, once all rules have run."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from sitemapcrawler.jobs.rewriting import NewValues
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import with_memory
from sitemapcrawler.jobs.store.schema import literal
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.rules.facts.site import OF_FILES, numbered
from sitemapcrawler.rules.facts.sites import CURRENT

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
