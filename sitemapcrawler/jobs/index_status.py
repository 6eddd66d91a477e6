"""Keeps what Google says of listed URLs in the database, and counts it."""

from __future__ import annotations

from collections.abc import Sequence

from sitemapcrawler.items import IndexCounts, IndexStatus
from sitemapcrawler.jobs.links import number_of
from sitemapcrawler.jobs.rewriting import rewrite
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.schema import columns
from sitemapcrawler.rules.facts.index_reasons import is_indexed
from sitemapcrawler.rules.facts.sites import CURRENT

MAX_REASONS = 50
"""Reasons in the summary, the most frequent ones; Google has some 25."""
ROWS = {"page": "UBIGINT", **columns(IndexStatus), "indexed": "BOOLEAN", "other": "BOOLEAN"}
"""{column: SQL type} of what is known of a page."""
STATUSES = f"""
    INSERT INTO index_statuses BY NAME
    SELECT DISTINCT ON (u.loc) u.loc, r.* EXCLUDE (page) FROM link_listed l JOIN urls u ON u.rowid = l.entry
    JOIN (
        SELECT DISTINCT ON (page) * FROM index_rows
        ORDER BY page, verdict IS NULL AND reason IS NULL, last_crawl DESC NULLS LAST, rowid DESC) r USING (page)
    WHERE {CURRENT}"""
"""SQL: of several rows of a page the one with the newest crawl, and of equal ones the last."""
COUNTS = f"""
    SELECT count(*) FILTER (verdict IS NOT NULL OR reason IS NOT NULL), count(*) FILTER (indexed),
           count(*) FILTER (NOT indexed), count(*) FILTER (other), count(*) FILTER (last_crawl < changed)
    FROM index_statuses LEFT JOIN (
        SELECT loc, max(lastmod_at)::DATE AS changed FROM urls WHERE {CURRENT} GROUP BY loc) USING (loc)"""
REASONS = f"""
    SELECT coalesce(reason, ''), count(*) AS number FROM index_statuses WHERE NOT indexed
    GROUP BY 1 ORDER BY number DESC, 1 LIMIT {MAX_REASONS}"""
STATUS = f"struct_pack({', '.join(f'{name} := s.{name}' for name in columns(IndexStatus))})"
"""SQL for the field `google` of an entry."""


class IndexStatuses:
    """The index status of URLs: those of rows in a temporary table, those of listed URLs in the table `index_statuses`.
    Use it in the writing thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.has_any = False
        """True if a status was added."""

    def begin(self) -> None:
        """Start without any status."""
        self.has_any = False
        names = ", ".join(f"{name} {kind}" for name, kind in ROWS.items())
        self._store.execute(f"CREATE OR REPLACE TEMP TABLE index_rows ({names})")

    def add(self, known: Sequence[tuple[str, IndexStatus]]) -> None:
        """Add the index status of URLs, which are absolute."""
        if known:
            rows = [self._row(url, status) for url, status in known]
            values = ", ".join(f"unnest(?::{kind}[])" for kind in ROWS.values())
            self._store.execute(f"INSERT INTO index_rows SELECT {values}", list(map(list, zip(*rows, strict=True))))
            self.has_any = True

    @staticmethod
    def _row(url: str, status: IndexStatus) -> tuple[object, ...]:
        page = number_of(url)
        other = None if status.canonical is None else number_of(status.canonical) != page
        said = (status.verdict, status.reason, status.canonical, status.last_crawl)
        return page, *said, is_indexed(status), other

    def sum_up(self) -> IndexCounts:
        """Fill the table `index_statuses`, once all listed pages are known and numbered (`link_listed`), and count."""
        with self._store.transaction():
            self._store.execute("DELETE FROM index_statuses")
            self._store.execute(STATUSES)
        [(urls, indexed, not_indexed, other, not_crawled)] = self._store.execute(COUNTS)
        return IndexCounts(urls, indexed, not_indexed, other, not_crawled, dict(self._store.execute(REASONS)))

    def mark(self) -> None:
        """Set `google` of the entries, within a transaction of the caller, once all are final. Raises duckdb.Error."""
        run = self._store.execute
        run(
            f"CREATE OR REPLACE TEMP TABLE index_marks AS SELECT u.rowid AS row, u.sitemap, {STATUS} AS google "
            f"FROM urls u JOIN index_statuses s USING (loc) WHERE {CURRENT}"
        )
        run("CREATE OR REPLACE TEMP TABLE index_files AS SELECT DISTINCT sitemap FROM index_marks")
        rewrite(self._store, "index_files", "index_marks", "coalesce(m.google, u.google) AS google")
