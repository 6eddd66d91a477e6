"""Answers to crawlers in the database of a job: which pages to request, and what is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from sitemapcrawler.jobs.coverage import FOLDER
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.replies.kinds import ReplyKind
from sitemapcrawler.rules.facts.site import origin_of
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.urls import site_of

CANDIDATES = 10
"""Pages of a site that are tried at most, in case that some of them are no page to us."""
ORIGIN = origin_of("loc")
LISTED = f"""
    SELECT loc, {ORIGIN} AS origin, {FOLDER.format(url="loc")} AS folder, any_value(segment) AS segment,
        bool_or(reply.kind = '{ReplyKind.OK}' AND reply.final_status = 200) AS known
    FROM urls WHERE {CURRENT} AND (reply IS NULL OR reply.kind IN ('{ReplyKind.OK}', '{ReplyKind.UNCHECKED}'))
    GROUP BY loc"""
"""SQL for listed pages that answer us, or may do so."""
CHOSEN = f"""
    SELECT origin, loc FROM (
        SELECT *, count(*) OVER (PARTITION BY origin, folder) AS size,
            row_number() OVER (PARTITION BY origin, folder ORDER BY known DESC NULLS LAST, md5(loc)) AS place
        FROM ({LISTED}) SEMI JOIN (SELECT unnest(?) AS origin) USING (origin))
    QUALIFY row_number() OVER (PARTITION BY origin ORDER BY place, size DESC, folder) <= {CANDIDATES}
    ORDER BY place, size DESC, folder, origin"""
"""SQL for some pages of each origin: one of each folder in turn, the largest folder first, the same in each crawl."""


class AnswerTable:
    """The table `answers` of a job. Use it in the writing thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def pages(self, sites: Collection[str]) -> dict[str, list[str]]:
        """{site: pages to try, those of earlier runs first}. `sites`: those that the user named, as from `site_of`."""
        listed = self._store.execute(f"SELECT DISTINCT {ORIGIN} FROM urls")
        origins = [origin for (origin,) in listed if site_of(origin) in sites]
        rows = self._store.execute("SELECT DISTINCT url FROM answers ORDER BY url")
        chosen = [url for (url,) in rows] + [loc for _, loc in self._store.execute(CHOSEN, [origins])]
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for url in chosen:
            found[site_of(url)][url] = None
        return {site: list(pages)[:CANDIDATES] for site, pages in found.items()}

    def known(self) -> set[tuple[str, str]]:
        """Page and crawler of the answers that earlier runs have compared."""
        return set(self._store.execute("SELECT url, crawler FROM answers"))
