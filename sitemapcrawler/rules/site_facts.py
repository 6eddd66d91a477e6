"""What rules on the whole site are given: the job's database, with tables that several of them need made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import duckdb

from sitemapcrawler.items import READ
from sitemapcrawler.rules import site_pages
from sitemapcrawler.rules.facts import GONE
from sitemapcrawler.rules.registry import Needs, SiteMessage
from sitemapcrawler.rules.site_tables import Table, ordered
from sitemapcrawler.store.sql import fetched_with_memory, with_memory

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
        baseline_urls: int | None = None,
        baseline_whole: bool = True,
        stopped: Callable[[], bool] = lambda: False,
        more_memory: Callable[[], bool] = lambda: False,
    ) -> None:
        """`narrowed_by`: what the crawl left out, by filter or limit; an early end is one of them.

        `baseline_urls`: the URLs of the earlier crawl that this one is compared with; None where there is none.

        `more_memory`: lets queries use more from now on; False where they have all there is.
        """
        self.baseline_urls = baseline_urls
        self.stopped = stopped
        """Asked between rules: True where no more of them are to run."""
        self.told: int | None = None
        """Findings of a rule and file that become records; None: all."""
        self._connection = connection
        self._more_memory = more_memory
        self._given = narrowed_by or {}
        self._baseline_whole = baseline_whole
        self._made: set[Table] = set()

    @property
    def whole(self) -> bool:
        """True for a crawl that left nothing of the site out."""
        return not self.narrowed_by

    def serves(self, needs: Needs) -> bool:
        """True where rules with such needs can judge the crawl."""
        compared = self.baseline_urls is not None and self._baseline_whole
        return self.whole if needs is Needs.WHOLE_SITE else needs is not Needs.BASELINE or (compared and self.whole)

    @cached_property
    def narrowed_by(self) -> dict[str, int]:
        """What the crawl left out: {filter, limit or outcome of a file: how many}."""
        given = {name: number for name, number in self._given.items() if number}
        alone = {"argument": self._alone} if self._alone else {}
        return given | alone | self._unread

    def unjudged(self, needs: Needs) -> int:
        """What rules with such needs could not judge: files that were not read to their end, or the site, as one."""
        if needs is Needs.SITE:
            return sum(self._unread.values())
        return int(not self.serves(needs) and (needs is Needs.WHOLE_SITE or self.baseline_urls is not None))

    @cached_property
    def _unread(self) -> dict[str, int]:
        """{outcome: files}. A file that is not there lists nothing, so nothing of it is left out."""
        files = """
            SELECT outcome, count(*) FROM sitemaps
            WHERE outcome NOT IN ? AND coalesce(status NOT IN ?, true) GROUP BY outcome ORDER BY outcome"""
        return dict(self.query(files, list(READ), list(GONE)))

    @cached_property
    def _alone(self) -> int:
        """Files that were given by name: each may be one of many of its site, and so may an index."""
        files = "SELECT count(*) FROM sitemaps WHERE found_by = 'argument'"
        [(number,)] = list(self.query(files))
        return int(number)

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
