"""Chooses listed pages in the database of a job: those to request as other crawlers, and those to render.

Each function takes the database, and is called in its writing thread only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from fractions import Fraction
from math import ceil

from sitemapcrawler.jobs.coverage import FOLDER
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.replies.kinds import ReplyKind
from sitemapcrawler.rules.facts.site import origin_of
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.urls import site_of

CANDIDATES = 10
"""Pages of a site that are tried at most as other crawlers, in case that some of them are no page to us."""
SPARE = 3
"""Pages that are tried for each that is to be rendered, for the same reason."""
ORIGIN = origin_of("loc")
LISTED = f"""
    SELECT loc, {ORIGIN} AS origin, {FOLDER.format(url="loc")} AS folder, any_value(segment) AS segment,
        bool_or(reply.kind = '{ReplyKind.OK}' AND reply.final_status = 200) AS known
    FROM urls WHERE {CURRENT} AND (reply IS NULL OR reply.kind IN ('{ReplyKind.OK}', '{ReplyKind.UNCHECKED}'))
    GROUP BY loc"""
"""SQL for listed pages that answer us, or may do so."""
TO_ASK = f"""
    SELECT origin, loc FROM (
        SELECT *, count(*) OVER (PARTITION BY origin, folder) AS size,
            row_number() OVER (PARTITION BY origin, folder ORDER BY known DESC NULLS LAST, md5(loc)) AS place
        FROM ({LISTED}) SEMI JOIN (SELECT unnest(?) AS origin) USING (origin))
    QUALIFY row_number() OVER (PARTITION BY origin ORDER BY place, size DESC, folder) <= {CANDIDATES}
    ORDER BY place, size DESC, folder, origin"""
"""SQL for some pages of each origin: one of each folder in turn, the largest folder first, the same in each crawl."""
TO_RENDER = f"""
    SELECT loc FROM (
        SELECT *, count(*) OVER part AS size,
            row_number() OVER (part ORDER BY known DESC NULLS LAST, md5($2 || loc)) AS place
        FROM ({LISTED}) WHERE list_contains($1, origin) WINDOW part AS (PARTITION BY segment, origin, folder))
    ORDER BY row_number() OVER (PARTITION BY segment ORDER BY place, size DESC, folder, origin), size DESC, segment
    LIMIT $3"""
"""SQL for some listed pages: one of each segment in turn, and within these of each folder, the largest first; the same
with each seed."""


def pages_to_ask(store: Store, sites: Collection[str]) -> dict[str, list[str]]:
    """{site: pages to try as crawlers, those of earlier runs first}. `sites`: those that the user named, as from
    `site_of`."""
    listed = store.execute(f"SELECT DISTINCT {ORIGIN} FROM urls")
    origins = [origin for (origin,) in listed if site_of(origin) in sites]
    rows = store.execute("SELECT DISTINCT url FROM answers ORDER BY url")
    chosen = [url for (url,) in rows] + [loc for _, loc in store.execute(TO_ASK, [origins])]
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for url in chosen:
        found[site_of(url)][url] = None
    return {site: list(pages)[:CANDIDATES] for site, pages in found.items()}


def answered(store: Store) -> set[tuple[str, str]]:
    """Page and crawler of the answers that earlier runs have compared."""
    return set(store.execute("SELECT url, crawler FROM answers"))


def pages_to_render(
    store: Store, sites: Collection[str] | None, count: int | None, share: Fraction | None, seed: int
) -> tuple[int, list[str]]:
    """How many pages to render, and those to try. `sites`: as from `site_of`, to which they belong; None for any.
    `count`, `share`: how many, of those that are listed; `seed` selects them."""
    listed = store.execute(f"SELECT {ORIGIN} AS origin, count(DISTINCT loc) FROM urls WHERE {CURRENT} GROUP BY 1")
    numbers = {origin: number for origin, number in listed if sites is None or site_of(origin) in sites}
    number = sum(numbers.values())
    wanted = min(number, count if share is None else ceil(share * number)) if count or share else number
    chosen = store.execute(TO_RENDER, [list(numbers), str(seed), SPARE * wanted])
    return wanted, [loc for (loc,) in chosen]


def rendered(store: Store) -> set[str]:
    """Pages that earlier runs have rendered."""
    return {url for (url,) in store.execute("SELECT url FROM rendered")}


def listed_of(store: Store, urls: Sequence[str]) -> list[str]:
    """Those of some URLs that are listed, in the same order."""
    rows = store.execute(f"SELECT DISTINCT loc FROM urls WHERE {CURRENT} AND list_contains(?, loc)", [list(urls)])
    found = {loc for (loc,) in rows}
    return [url for url in urls if url in found]
