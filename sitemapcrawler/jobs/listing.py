"""The rows of `findings=all` for entries that a finding on their file or site sums up: URL and rule of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial

from sitemapcrawler.items import FindingBatch, FindingRecord
from sitemapcrawler.jobs.counting import ORDER, RANK
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import fetched_with_memory, with_memory
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.sites import CURRENT, UNCHANGED
from sitemapcrawler.rules.reach import own_severity
from sitemapcrawler.rules.registry import title_of

MAX_ROWS = 1_000_000
"""Rows of a list of findings; a worksheet has 1,048,576."""
UNNAMED = f"""
    SELECT p.* FROM (
        SELECT rowid AS row, sitemap, line, loc, unnest(issues) AS rule FROM urls
        WHERE issues IS NOT NULL AND {CURRENT} AND {{only}}) p
    WHERE NOT EXISTS (FROM findings f WHERE f.rule = p.rule AND f.url = p.loc AND f.sitemap = p.sitemap)"""
"""SQL for the issues of entries for which no finding has the URL."""
ROWS = f"""
    SELECT u.rule, coalesce(s.rank, r.rank), u.sitemap, u.line, u.loc FROM (
        SELECT * FROM ({UNNAMED}) QUALIFY row_number() OVER (PARTITION BY rule ORDER BY row) <= $1) u
    LEFT JOIN (SELECT rule, sitemap, min({RANK}) AS rank FROM findings GROUP BY ALL) s USING (rule, sitemap)
    LEFT JOIN (SELECT rule, min({RANK}) AS rank FROM findings GROUP BY ALL) r ON r.rule = u.rule
    ORDER BY u.rule, u.row"""
"""SQL for these rows, with the severity of their finding. Parameter: how many of each rule."""


class Listing:
    """The rows of one crawl, up to `MAX_ROWS` with its findings; if there are more, a share of each rule."""

    def __init__(self, store: Store, only_changes: bool) -> None:
        self._store = store
        self._only = f"change IS DISTINCT FROM '{UNCHANGED}'" if only_changes else "TRUE"

    def rows(self) -> Iterator[FindingBatch]:
        """Yield the rows rule by rule. Raises duckdb.Error."""
        if self._each == 0:
            return
        sources = {rule.id: rule.source or None for rule in all_rules()}
        with self._store.cursor() as cursor:
            query = ROWS.format(only=self._only)
            for rows in fetched_with_memory(cursor, query, self._store.give_more_memory, [self._each]):
                batch = []
                for id, rank, sitemap, line, url in rows:
                    severity = ORDER[rank - 1] if rank else own_severity(id)
                    source = sources.get(id)
                    batch.append(FindingRecord(id, severity, title_of(id), sitemap, line, None, url, None, source))
                yield FindingBatch(batch)

    def left_out(self) -> dict[str, int]:
        """Number of rows that `rows` leaves out, by rule. Raises duckdb.Error."""
        return {rule: number - self._each for rule, number in self._counts.items() if number > self._each}

    @cached_property
    def _each(self) -> int:
        """How many rows of each rule there are at most."""
        listed: int = self._store.execute("SELECT count(*) FROM findings")[0][0]
        return share(self._counts.values(), max(0, MAX_ROWS - listed))

    @cached_property
    def _counts(self) -> dict[str, int]:
        query = f"SELECT rule, count(*) FROM ({UNNAMED.format(only=self._only)}) GROUP BY rule ORDER BY rule"
        return dict(with_memory(partial(self._store.execute, query), self._store.give_more_memory))


def share(counts: Iterable[int], room: int) -> int:
    """Maximum number of rows of each kind, so that all kinds together fit. Kinds with few rows leave room to others."""
    left = sorted(counts)
    for place, count in enumerate(left):
        each = room // (len(left) - place)
        if count > each:
            return each
        room -= count
    return max(left, default=0)
