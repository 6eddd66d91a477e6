"""What rules on the whole site are given: the job's database, with tables that several of them need made once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import duckdb

from sitemapcrawler.items import READ
from sitemapcrawler.jobs.store.schema import CURRENT
from sitemapcrawler.jobs.store.sites import sites_before
from sitemapcrawler.jobs.store.sql import fetched_with_memory, with_memory
from sitemapcrawler.rules.facts import site_pages
from sitemapcrawler.rules.facts.given import GONE
from sitemapcrawler.rules.facts.site_pages import Table, ordered
from sitemapcrawler.rules.registry import Needs, SiteMessage

AS_WRITTEN = "join_order,build_side_probe_side"
"""Optimizers that are off while tables are made: joins have the larger side first, and to guess which it is goes wrong
with filters, by which ten million links are held in memory instead of a million pages."""

COLUMNS = """
    SELECT NULL::BIGINT AS place, NULL::BIGINT AS number, NULL::VARCHAR AS what, NULL::BIGINT AS other WHERE false"""
DETAILS = f"""
    SELECT f.sitemap, u.line, u.loc, n.times, n.number, w.what, o.loc, o.sitemap
    FROM temp.site_told n
    JOIN temp.site_files f ON f.file = {site_pages.file_of("n.place")}
    JOIN urls u ON u.rowid = {site_pages.row_of("n.place")}
    LEFT JOIN urls o ON o.rowid = {site_pages.row_of("n.other")}
    LEFT JOIN (SELECT place, what FROM ({{what}})) w ON w.place = n.place
    ORDER BY n.place"""


class Fault(NamedTuple):
    """A listed URL that a rule has found something about."""

    sitemap: str
    line: int | None
    url: str
    times: int
    """Faults in the file that it stands for: itself, and those that are not told."""
    number: int | None
    """How many of what is wrong with it, as the rule counts."""
    what: str | None
    """A code, a date or a URL, as the rule says."""
    other: str | None
    """Another listed URL."""
    other_sitemap: str | None
    """The file which that stands in."""


class SiteFacts:
    """The database of a crawl that has ended, read through one cursor that nobody else uses meanwhile.

    The rows of a file must stand in its table in document order. Tables that rules need besides are temporary.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        narrowed_by: Mapping[str, int] | None = None,
        narrowed_sites: Collection[str] = (),
        baseline: str | None = None,
        uncompared: Collection[str] = (),
        stopped: Callable[[], bool] = lambda: False,
        more_memory: Callable[[], bool] = lambda: False,
    ) -> None:
        """`narrowed_by`: what the crawl left out of any site, by filter or limit; an early end is one of them.

        `narrowed_sites`: those of which something else was left out.

        `baseline`: name of the attached database of the earlier crawl that this one is compared with; None where there
        is none. `uncompared`: sites of which it is not known what was removed since.

        `more_memory`: lets queries use more from now on; False where they have all there is.
        """
        self.stopped = stopped
        """Asked between rules: True where no more of them are to run."""
        self.told: int | None = None
        """Findings of a rule and file that become records; None: all."""
        self._connection = connection
        self._more_memory = more_memory
        self._narrowed = any((narrowed_by or {}).values())
        self._narrowed_sites = frozenset(narrowed_sites)
        self._baseline = baseline
        self._uncompared = frozenset(uncompared)
        self._made: set[Table] = set()

    @cached_property
    def sites(self) -> dict[str, int]:
        """The sites of the crawl, with their files that were not read to their end. A file that is not there lists
        nothing, so nothing of it is left out."""
        self.need(site_pages.SITES)
        rows = self.query(
            """
            SELECT s.site, count(*) FILTER (f.outcome NOT IN ? AND coalesce(f.status NOT IN ?, true))
            FROM temp.site_sites s JOIN sitemaps f USING (sitemap) GROUP BY s.site ORDER BY s.site""",
            list(READ),
            list(GONE),
        )
        return dict(rows)

    @cached_property
    def whole_sites(self) -> frozenset[str]:
        """The sites of which nothing was left out. A file that was given by name may be one of many of its site, and so
        may an index."""
        if self._narrowed:
            return frozenset()
        sites = self.sites
        alone = "SELECT DISTINCT site FROM temp.site_sites JOIN sitemaps USING (sitemap) WHERE found_by = 'argument'"
        left_out = {site for (site,) in self.query(alone)} | self._narrowed_sites
        return frozenset(site for site, unread in sites.items() if not unread and site not in left_out)

    @cached_property
    def urls_before(self) -> dict[str, int]:
        """The sites that are compared with an earlier crawl, with the URLs that they listed then."""
        if self._baseline is None or not self.whole_sites - self._uncompared:
            return {}
        self.need(site_pages.SITES)
        before = sites_before(self._baseline, "temp.site_sites", complete=not self._narrowed_sites)
        self.run(f"CREATE OR REPLACE TEMP TABLE site_before AS {before}")
        rows = self.query(
            f"SELECT site, count(*) FROM {self._baseline}.urls JOIN temp.site_before USING (sitemap) "
            f"WHERE {CURRENT} GROUP BY site ORDER BY site"
        )
        compared = self.whole_sites - self._uncompared
        return {site: number for site, number in rows if site in compared}

    def serves(self, needs: Needs) -> bool:
        """True where rules with such needs can judge some site of the crawl."""
        if needs is Needs.BASELINE:
            return bool(self.urls_before)
        return needs is not Needs.WHOLE_SITE or bool(self.whole_sites)

    def unjudged(self, needs: Needs) -> int:
        """What rules with such needs could not judge: files that were not read to their end, or whole sites."""
        if needs is Needs.SITE:
            return sum(self.sites.values())
        if needs is Needs.WHOLE_SITE:
            return len(self.sites) - len(self.whole_sites) if self.sites else int(self._narrowed)
        return 0 if self._baseline is None else max(1, len(self.sites)) - len(self.urls_before)

    def named(self, site: str) -> str:
        """How a message that names no file begins: with the site, where the crawl has several."""
        return f"{site}: " if len(self.sites) > 1 else ""

    def has(self, column: str) -> bool:
        """True where some entry has this column: without, there is nothing to join for."""
        return bool(list(self.query(f"SELECT 1 FROM urls WHERE {column} IS NOT NULL LIMIT 1")))

    def query(self, sql: str, *parameters: Any) -> Iterator[Any]:
        """The rows of a query, fetched as they are asked for. One query at a time: another one ends it."""
        for rows in fetched_with_memory(self._connection, sql, self._more_memory, parameters):
            yield from rows

    def run(self, sql: str, *parameters: Any) -> None:
        """Run a statement."""
        with_memory(partial(self._connection.execute, sql, parameters), self._more_memory)

    def need(self, *tables: Table) -> None:
        """Make temporary tables that are not there yet, and those they are made of."""
        missing = [table for table in ordered(tables) if table not in self._made]
        if missing:
            self.run(f"SET disabled_optimizers = '{AS_WRITTEN}'")
            try:
                for table in missing:
                    self._make(table)
            finally:
                self.run("RESET disabled_optimizers")

    def _make(self, table: Table) -> None:
        self.run(f"DROP TABLE IF EXISTS temp.{table.name}")
        for statement in table.statements:
            self.run(statement)
        if table.fill is not None:
            table.fill(self)
        self._made.add(table)

    def faults(self, sql: str, what: str | None = None) -> Iterator[Fault]:
        """What a rule has found, file by file: the first of each as far as they become records, the last of these
        standing for the others.

        `sql` selects `place` (of `site_pages`), and of `number`, `what` and `other` (a place) what there is. `what`
        selects `place` and `what` for those of the temporary table `site_told`.
        """
        self.need(site_pages.FILES)
        self.run(f"CREATE OR REPLACE TEMP TABLE site_told AS {self._told(sql)}")
        return (Fault(*row) for row in self.query(DETAILS.format(what=what or "FROM temp.site_told")))

    def _told(self, sql: str) -> str:
        file = site_pages.file_of("place")
        last = "NULL" if self.told is None else str(self.told)
        return f"""
            SELECT place, number, what, other, CASE WHEN nth = {last} THEN many - nth + 1 ELSE 1 END AS times
            FROM (SELECT *, row_number() OVER (PARTITION BY {file} ORDER BY place) AS nth,
                         count(*) OVER (PARTITION BY {file}) AS many
                  FROM ({COLUMNS} UNION ALL BY NAME ({sql})))
            WHERE nth <= {last} OR {last} IS NULL"""


def on_entry(fault: Fault, text: str, value: str | None = None) -> SiteMessage:
    """What is said of a listed URL."""
    return SiteMessage(text, fault.line, value=value, sitemap=fault.sitemap, url=fault.url, times=fault.times)
