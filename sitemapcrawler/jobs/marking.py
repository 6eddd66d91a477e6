"""Adds rules on the whole site to the issues of the entries they concern, once all rules have run."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.duck import duckdb
from sitemapcrawler.jobs.store.queries import with_memory
from sitemapcrawler.jobs.store.schema import literal
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.site import OF_FILES, numbered
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.rules.registry import ON_THE_SITE

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

    def apply(self) -> None:
        """Set the issues, within a transaction of the caller. Files with such entries are written again, since updates
        would change the order of their rows. Raises duckdb.Error."""
        of_site = f"[{', '.join(sorted(literal(rule) for rule in _of_site()))}]::VARCHAR[]"
        run = self._store.execute
        run(
            f"CREATE OR REPLACE TEMP TABLE marked AS SELECT DISTINCT sitemap FROM read_parquet({self._file}) "
            f"UNION SELECT DISTINCT sitemap FROM urls WHERE list_has_any(issues, {of_site})"  # of copied files
        )
        if run("SELECT 1 FROM marked LIMIT 1"):
            own = f"list_filter(coalesce(u.issues, []), lambda id: NOT list_contains({of_site}, id))"
            issues = f"list_concat({own}, list_filter(coalesce(m.rules, []), lambda id: NOT list_contains({own}, id)))"
            run(
                f"CREATE OR REPLACE TEMP TABLE rewritten AS SELECT u.* REPLACE (nullif({issues}, []) AS issues) "
                f"FROM urls u LEFT JOIN ({numbered('urls', 'FROM marked')}) n ON n.row = u.rowid "
                f"LEFT JOIN read_parquet({self._file}) m ON m.sitemap = n.sitemap AND m.number = n.number "
                "WHERE u.sitemap IN (FROM marked) ORDER BY u.rowid"
            )
            run("DELETE FROM urls WHERE sitemap IN (FROM marked)")
            run("INSERT INTO urls FROM rewritten")
            run("DROP TABLE rewritten")
        run("DROP TABLE marked")


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


def _of_site() -> set[str]:
    """Rules that mark entries at the end alone. Copies of an earlier crawl's rows have its marks."""
    return {rule.id for rule in all_rules() if set(rule.needs) <= set(ON_THE_SITE) or rule.id in OF_FILES}
