"""Keeps what Google says of listed URLs in the database, and counts it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sitemapcrawler.items import IndexCounts, IndexStatus
from sitemapcrawler.jobs.index_answers import IndexAnswers, Known
from sitemapcrawler.jobs.links import number_of
from sitemapcrawler.jobs.rewriting import NewValues
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.schema import TIME, columns, literal
from sitemapcrawler.rules.facts.index_reasons import is_indexed
from sitemapcrawler.rules.facts.sites import CURRENT

MAX_REASONS = 50
"""Reasons in the summary, the most frequent ones; Google has some 25."""
DOMAIN = "sc-domain:"
"""Start of a property that is a domain with all its hosts. Others are the start of their URLs."""
FIELDS = tuple(columns(IndexStatus))
ROWS = {"page": "UBIGINT", **columns(IndexStatus), "indexed": "BOOLEAN", "other": "BOOLEAN", "asked": TIME}
"""{column: SQL type} of what is known of a page. `asked`: when we inspected it; NULL in rows of lists."""
STATUSES = f"""
    INSERT INTO index_statuses BY NAME
    SELECT DISTINCT ON (u.loc) u.loc, r.* EXCLUDE (page, asked, n) FROM link_listed l JOIN urls u ON u.rowid = l.entry
    JOIN (
        SELECT DISTINCT ON (page) * FROM (
            SELECT *, rowid AS n FROM index_rows WHERE coalesce({", ".join(f"{one}::VARCHAR" for one in FIELDS)}) <> ''
            QUALIFY asked IS NULL OR asked = max(asked) OVER (PARTITION BY page))
        ORDER BY page, verdict IS NULL AND reason IS NULL, last_crawl DESC NULLS LAST, n DESC) r USING (page)
    WHERE {CURRENT}"""
"""SQL: of several rows of a page the one with the newest crawl, and of equal ones the last. A newer answer of
Search Console replaces an older one."""
COUNTS = f"""
    SELECT count(*) FILTER (verdict IS NOT NULL OR reason IS NOT NULL), count(*) FILTER (indexed),
           count(*) FILTER (NOT indexed), count(*) FILTER (other), count(*) FILTER (last_crawl < changed)
    FROM index_statuses LEFT JOIN (
        SELECT loc, max(lastmod_at)::DATE AS changed FROM urls WHERE {CURRENT} GROUP BY loc) USING (loc)"""
REASONS = f"""
    SELECT coalesce(reason, ''), count(*) AS number FROM index_statuses WHERE NOT indexed
    GROUP BY 1 ORDER BY number DESC, 1 LIMIT {MAX_REASONS}"""
STATUS = f"struct_pack({', '.join(f'{name} := s.{name}' for name in FIELDS)})"
"""SQL for the field `google` of an entry."""
PAGES = f"""
    SELECT page, any_value(loc) AS loc, max(lastmod_at) AS lastmod, min(l.entry) AS entry, any_value(asked) AS asked
    FROM link_listed l JOIN urls u ON u.rowid = l.entry
    LEFT JOIN (SELECT page, max(asked) AS asked FROM index_rows GROUP BY page) USING (page)
    WHERE {CURRENT} AND {{of_property}} GROUP BY page ORDER BY page LIMIT {{sample}}"""
"""SQL: the listed pages of a property; of a sample those with the smallest digests, which are the same in each run."""


class Inspection(NamedTuple):
    """Result of asking Search Console."""

    not_asked: int
    """Listed URLs of the property that were never inspected."""
    partial: str | None
    """Why; None if all were."""


class IndexStatuses:
    """The index status of URLs: rows of lists and answers in temporary tables, that of listed URLs in the table
    `index_statuses`. Use it in the writing thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.has_any = False
        """True if a status was added."""
        for name, kinds in (("index_rows", ROWS), ("index_clicks", {"page": "UBIGINT", "clicks": "BIGINT"})):
            held = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
            store.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({held})")

    def add(self, known: Sequence[Known]) -> None:
        """Add the index status of URLs, which are absolute."""
        if known:
            rows = [self._row(url, status, asked) for url, status, asked in known]
            values = ", ".join(f"unnest(?::{kind}[])" for kind in ROWS.values())
            self._store.execute(f"INSERT INTO index_rows SELECT {values}", list(map(list, zip(*rows, strict=True))))
            self.has_any = True

    def add_clicks(self, clicks: Sequence[tuple[str, int]]) -> None:
        """Add how often URLs were clicked in search results."""
        if clicks:
            pages, numbers = [number_of(url) for url, _ in clicks], [number for _, number in clicks]
            insert = "INSERT INTO index_clicks SELECT unnest(?::UBIGINT[]), unnest(?::BIGINT[])"
            self._store.execute(insert, [pages, numbers])

    @staticmethod
    def _row(url: str, status: IndexStatus, asked: str | None) -> tuple[object, ...]:
        page = number_of(url)
        canonical = status.canonical
        other = None if canonical is None else canonical != url and number_of(canonical) != page
        said = (status.verdict, status.reason, status.canonical, status.last_crawl)
        return page, *said, is_indexed(status), other, asked

    # Asking Search Console, once all listed pages are numbered (`link_listed`).

    def load(self, answers: IndexAnswers) -> None:
        """Add what a file of answers knows. Raises OSError."""
        for known in answers.batches():
            self.add(known)

    def wanted(self, site: str, since: datetime, most: int, sample: int | None) -> list[str]:
        """At most so many listed URLs of a property that were not inspected since a time: those that never were
        first, then the longest ago; of these the ones with most clicks, then the newest lastmod."""
        rows = self._store.execute(
            f"""
            SELECT loc FROM ({self._pages(site, sample)}) p
            LEFT JOIN (SELECT page, sum(clicks) AS clicks FROM index_clicks GROUP BY page) USING (page)
            WHERE asked IS NULL OR asked < ?
            ORDER BY asked NULLS FIRST, clicks DESC NULLS LAST, lastmod DESC NULLS LAST, entry LIMIT ?""",
            [since.replace(tzinfo=None), most],
        )
        return [loc for (loc,) in rows]

    def never_asked(self, site: str, sample: int | None) -> tuple[int, int]:
        """Number of listed URLs of a property, and of those that were never inspected."""
        counts = f"SELECT count(*), count(*) FILTER (asked IS NULL) FROM ({self._pages(site, sample)})"
        [(listed, never)] = self._store.execute(counts)
        return listed, never

    @staticmethod
    def _pages(site: str, sample: int | None) -> str:
        """SQL for the listed pages that may be inspected."""
        if site.startswith(DOMAIN):
            domain = site.removeprefix(DOMAIN)
            host = "lower(regexp_extract(loc, '^https?://([^/?#:]+)', 1))"
            belongs = f"({host} = {literal(domain)} OR ends_with({host}, {literal(f'.{domain}')}))"
        else:
            belongs = f"starts_with(loc, {literal(site)})"
        return PAGES.format(of_property=belongs, sample="ALL" if sample is None else sample)

    def sum_up(self) -> IndexCounts:
        """Fill the table `index_statuses`, once all listed pages are known and numbered (`link_listed`), and count."""
        with self._store.transaction():
            self._store.execute("DELETE FROM index_statuses")
            self._store.execute(STATUSES)
        [(urls, indexed, not_indexed, other, not_crawled)] = self._store.execute(COUNTS)
        return IndexCounts(urls, indexed, not_indexed, other, not_crawled, dict(self._store.execute(REASONS)))

    def google(self) -> NewValues:
        """`google` of the entries, once all are final. Raises duckdb.Error."""
        self._store.execute(
            f"CREATE OR REPLACE TEMP TABLE index_marks AS SELECT u.rowid AS row, u.sitemap, {STATUS} AS google "
            f"FROM urls u JOIN index_statuses s USING (loc) WHERE {CURRENT}"
        )
        return NewValues("index_marks", {"google": "coalesce(index_marks.google, u.google)"})
