"""Rendered pages in the database of a job: which pages to render, what is known, which links lead to listed pages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import ceil

from sitemapcrawler.jobs.answer_table import LISTED, ORIGIN
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.urls import site_of

SPARE = 3
"""Pages that are tried for each that is wanted, in case that some of them are no pages."""
CHOSEN = f"""
    SELECT loc FROM (
        SELECT *, count(*) OVER part AS size,
            row_number() OVER (part ORDER BY known DESC NULLS LAST, md5($2 || loc)) AS place
        FROM ({LISTED}) WHERE list_contains($1, origin) WINDOW part AS (PARTITION BY segment, origin, folder))
    ORDER BY row_number() OVER (PARTITION BY segment ORDER BY place, size DESC, folder, origin), size DESC, segment
    LIMIT $3"""
"""SQL for some listed pages: one of each segment in turn, and within these of each folder, the largest first; the same
with each seed."""


class RenderedTable:
    """The table `rendered` of a job. Use it in the writing thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def pages(
        self, sites: Collection[str] | None, count: int | None, share: Fraction | None, seed: int
    ) -> tuple[int, list[str]]:
        """How many pages to render, and those to try. `sites`: as from `site_of`, to which they belong; None for any.
        `count`, `share`: how many, of those that are listed; `seed` selects them."""
        listed = self._store.execute(
            f"SELECT {ORIGIN} AS origin, count(DISTINCT loc) FROM urls WHERE {CURRENT} GROUP BY 1"
        )
        numbers = {origin: number for origin, number in listed if sites is None or site_of(origin) in sites}
        number = sum(numbers.values())
        wanted = min(number, count if share is None else ceil(share * number)) if count or share else number
        chosen = self._store.execute(CHOSEN, [list(numbers), str(seed), SPARE * wanted])
        return wanted, [loc for (loc,) in chosen]

    def known(self) -> set[str]:
        """Pages that earlier runs have rendered."""
        return {url for (url,) in self._store.execute("SELECT url FROM rendered")}

    def listed(self, urls: Sequence[str]) -> list[str]:
        """Those of some URLs that are listed, in the same order."""
        rows = self._store.execute(
            f"SELECT DISTINCT loc FROM urls WHERE {CURRENT} AND list_contains(?, loc)", [list(urls)]
        )
        found = {loc for (loc,) in rows}
        return [url for url in urls if url in found]
