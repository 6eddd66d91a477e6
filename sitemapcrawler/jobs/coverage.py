"""Compares the listed pages with lists from elsewhere: what they have and no sitemap lists, and what none of them has.

Each run reads the lists again, after the sitemaps. A page is a number, as in the link graph. SQL compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from sitemapcrawler import urls
from sitemapcrawler.feeds.columns import cell_reader
from sitemapcrawler.items import ComparedFolder, ComparedGroup, ComparedList, Coverage, CrawlerFetches
from sitemapcrawler.jobs.crawler_logs import CrawlerLogs
from sitemapcrawler.jobs.index_status import IndexStatuses, Known
from sitemapcrawler.jobs.links import FoundBy, Links, LinkScope, number_of
from sitemapcrawler.jobs.rewriting import NewValues
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import with_memory
from sitemapcrawler.reader.lists import LEFT_OUT, UNREAD, ExportRow, files_of, read_export
from sitemapcrawler.robots.addresses import Ranges
from sitemapcrawler.rules.facts.index_reasons import is_indexed
from sitemapcrawler.rules.facts.languages import NORMAL_URL
from sitemapcrawler.rules.facts.site import origin_of
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.rules.facts.unlisted import MISSING, ONLY

AT_ONCE = 20_000
"""Rows of a list that pass through Python at once, some 8 MB."""
PART = 1_000_000
"""Rows whose pages are brought together by one query. DuckDB keeps the URLs of its groups in memory."""
MAX_SITES = 1_000
"""Sites of listed pages that a list may have pages of, where no site was named."""
MAX_FOLDERS = 100
"""Folders in the summary, those with the most pages that are missing on one side."""
FOLDER = "coalesce(nullif(regexp_extract({url}, '^https?://[^/?#]+(/[^/?#]+/)', 1), ''), '/')"
"""SQL for the first folder of a URL."""


class Lists:
    """The lists in the database of a job. Use it in the writing thread only."""

    found_by = FoundBy.LIST

    def __init__(
        self, store: Store, scope: LinkScope, paths: Sequence[Path], ranges: Ranges, statuses: IndexStatuses
    ) -> None:
        """`scope`: which pages belong to the crawl. `paths`: the lists; one may be a pattern for several files.
        `ranges`: addresses of crawlers. `statuses`: gets what Google says of pages."""
        self._store = store
        self._scope = scope
        self._paths = paths
        self._links = Links(store, scope)
        self._logs = CrawlerLogs(store, ranges)
        self._statuses = statuses

    def load(self) -> list[ComparedList]:
        """Read all lists into the table `compared`. Returns what was found in each. Raises ValueError or OSError, one
        line, if one cannot be read."""
        execute, self._scope = self._store.execute, self._with_homes()
        execute("CREATE OR REPLACE TEMP TABLE compared_rows (page UBIGINT, url VARCHAR, list UTINYINT, number BIGINT)")
        execute("CREATE OR REPLACE TEMP TABLE compared_left_out (page UBIGINT)")
        self._logs.begin()
        totals = [self._read(path, number) for number, path in enumerate(self._paths)]
        self._links.number_listed()
        if self._logs.has_any:
            self._logs.resolve(self._scope)
            self._logs.put_visits()
            self._logs.add_totals(totals)
        with_memory(partial(self._bring_together, totals), self._store.give_more_memory)
        for number, total in enumerate(totals):
            [(found, listed)] = execute(
                f"SELECT count(*), count(*) FILTER (listed) FROM compared WHERE lists & (1::UBIGINT << {number}) > 0"
            )
            total.urls, total.listed = found, listed
        return totals

    def _bring_together(self, totals: Sequence[ComparedList]) -> None:
        execute = self._store.execute
        [(rows,)] = execute("SELECT count(*) FROM compared_rows")
        parts = int(rows) // PART + 1
        with self._store.transaction():
            execute("DELETE FROM compared")
            execute("DELETE FROM compared_lists")
            self._store.insert_rows(
                "compared_lists",
                [
                    {"number": number, "name": total.name, "since": total.since, "until": total.until}
                    for number, total in enumerate(totals)
                ],
            )
            for part in range(parts):
                execute(
                    f"""
                    INSERT INTO compared
                    SELECT page, min(url), bit_or(1::UBIGINT << list), sum(number)::BIGINT,
                           page IN (SELECT page FROM link_listed)
                    FROM compared_rows WHERE page % {parts} = {part} GROUP BY page"""
                )
        execute("DROP TABLE temp.compared_rows")

    def _with_homes(self) -> LinkScope:
        """The scope; where sitemaps were named and no site, with the sites of the pages that they list."""
        if self._scope.homes:
            return self._scope
        origins = self._store.execute(f"SELECT DISTINCT {origin_of('loc')} FROM urls WHERE {CURRENT} LIMIT {MAX_SITES}")
        return replace(self._scope, homes=sorted(f"{origin}/" for (origin,) in origins if origin))

    def _read(self, path: Path, number: int) -> ComparedList:
        home = next(iter(self._scope.homes), "")
        total = ComparedList(name=path.name)
        for file in files_of(str(path)):
            self._read_file(file, home, number, total)
        return total

    def _read_file(self, path: str, home: str, number: int, total: ComparedList) -> None:
        with Path(path).open("rb") as file:
            export = read_export(file, path, cell_reader)
            total.format = export.format
            if export.log is not None:
                self._logs.read(export.lines, export.log, number, total)
            while read := list(islice(export.rows, AT_ONCE)):
                total.rows += len(read)
                rows, inspected = self._read_statuses(read, home)
                total.inspected += inspected
                pages = self._pages(rows, home, total)
                if pages:
                    self._store.execute(
                        f"INSERT INTO compared_rows SELECT unnest(?::UBIGINT[]), unnest(?::VARCHAR[]), {number}, 1",
                        [[number_of(url) for url in pages], pages],
                    )
                self._note_left_out(rows, home)

    def _read_statuses(self, read: Sequence[ExportRow], home: str) -> tuple[list[str], int]:
        """Keep what Google says of rows, and their clicks. Returns the URLs, with `LEFT_OUT` before those that are not
        indexed, and the number of rows with an index status."""
        rows: list[str] = []
        known: list[Known] = []
        clicked: list[tuple[str, int]] = []
        for url, status, clicks in read:
            says = (status is not None or clicks is not None) and url != UNREAD
            loc = urls.resolve(home, url.removeprefix(LEFT_OUT)) if says else None
            if loc is not None and status is not None:
                known.append((loc, status, None))
            if loc is not None and clicks is not None:
                clicked.append((loc, clicks))
            is_left_out = loc is not None and status is not None and is_indexed(status) is False
            rows.append(f"{LEFT_OUT}{url}" if is_left_out and not url.startswith(LEFT_OUT) else url)
        self._statuses.add(known)
        self._statuses.add_clicks(clicked)
        return rows, len(known)

    def _note_left_out(self, rows: Sequence[str], home: str) -> None:
        """Remember the pages of rows that are left out: they are not missing in a sitemap, but the list has them."""
        found = {row.removeprefix(LEFT_OUT) for row in rows if row.startswith(LEFT_OUT)}
        pages = {number_of(url) for row in found if row != UNREAD and (url := urls.resolve(home, row)) is not None}
        if pages:
            self._store.execute("INSERT INTO compared_left_out SELECT unnest(?::UBIGINT[])", [list(pages)])

    def _pages(self, rows: Iterable[str], home: str, total: ComparedList) -> list[str]:
        """The URLs of this crawl's sites; counts the others."""
        sites, homes, found = self._scope.sites, tuple(self._scope.homes), []
        for row in rows:
            if row.startswith(homes) and NORMAL_URL.fullmatch(row):
                found.append(row)
                continue
            if row.startswith(LEFT_OUT):
                total.left_out += 1
                continue
            url = urls.resolve(home, row) if row != UNREAD else None
            if url is None:
                total.unread += 1
            elif urls.site_of(url) not in sites:
                total.offsite += 1
            else:
                found.append(url)
        return found

    # Pages to request: those that no sitemap lists, in the most lists and rows first.

    def wanted(self) -> None:
        """Collect the pages to request: temporary table `compared_wanted`."""
        self._store.execute(
            """
            CREATE OR REPLACE TEMP TABLE compared_wanted AS
            SELECT row_number() OVER (ORDER BY bit_count(lists) DESC, rows DESC, url) AS n, url
            FROM compared c ANTI JOIN found f USING (page) WHERE NOT listed"""
        )

    def take(self, first: int, many: int) -> list[str] | None:
        """Return the URLs to request among `many` wanted ones from number `first`; None if there are no more."""
        rows = self._store.execute(
            "SELECT url FROM compared_wanted WHERE n BETWEEN ? AND ? ORDER BY n", [first, first + many - 1]
        )
        return [url for (url,) in rows if self._scope.passes(url)] if rows else None

    def left(self) -> int:
        """Number of unlisted pages that may still be requested."""
        return self._links.left()

    # Comparing, once everything is requested.

    def compare(self, totals: list[ComparedList], why: str | None) -> Coverage:
        """Fill the table `uncompared`, and sum up. `totals`: from `load`; `why`: what ended requesting pages early."""
        execute = self._store.execute
        self._links.number_listed()
        with self._store.transaction():
            execute("DELETE FROM uncompared")
            if not all(one.is_inspection for one in totals):
                execute(
                    """
                    INSERT INTO uncompared
                    SELECT min(u.loc) FROM link_listed l JOIN urls u ON u.rowid = l.entry
                    ANTI JOIN compared c ON c.page = l.page ANTI JOIN compared_left_out o ON o.page = l.page
                    WHERE u.indexable IS NOT FALSE GROUP BY l.page"""
                )
        for number, total in enumerate(totals):
            [(total.not_listed,)] = execute(
                f"SELECT count(*) FROM ({MISSING}) WHERE grouped IS NULL AND lists & (1::UBIGINT << {number}) > 0"
            )
        [(missing, verified)] = execute(
            f"SELECT count(*), count(*) FILTER (indexable) FROM ({MISSING}) WHERE grouped IS NULL"
        )
        [(refused,)] = execute(
            f"SELECT count(*) FROM compared c ANTI JOIN ({MISSING}) m USING (page) WHERE NOT c.listed"
        )
        [(only,)] = execute(f"SELECT count(*) FROM ({ONLY}) WHERE grouped IS NULL")
        [(left_out,)] = execute(
            """
            SELECT count(DISTINCT page) FROM compared_left_out o SEMI JOIN link_listed l USING (page)
            ANTI JOIN compared c USING (page)"""
        )
        return Coverage(
            totals,
            missing,
            missing - verified,
            refused,
            only,
            left_out,
            self._groups(),
            self._folders([one.name for one in totals]),
            why,
        )

    def fetches(self) -> dict[str, CrawlerFetches]:
        """What crawlers requested by the access logs, by their names in lower case; empty without logs. Call `compare`
        before."""
        return self._logs.sum_up(self._scope.homes) if self._logs.has_any else {}

    def fetched(self) -> NewValues:
        """`fetched` of the entries, if `fetches` has found any crawler. Raises duckdb.Error."""
        return self._logs.fetched()

    def _groups(self) -> list[ComparedGroup]:
        """The pages that are counted by group only, the largest group first."""
        rows = self._store.execute(
            f"""
            SELECT grouped, count(*) FILTER (side = 1), count(*) FILTER (side = 2) FROM (
                SELECT grouped, 1 AS side FROM ({MISSING}) UNION ALL SELECT grouped, 2 FROM ({ONLY}))
            WHERE grouped IS NOT NULL GROUP BY grouped ORDER BY count(*) DESC, grouped"""
        )
        return [ComparedGroup(*row) for row in rows]

    def _folders(self, names: Sequence[str]) -> list[ComparedFolder]:
        in_lists = ", ".join(
            f"count(*) FILTER (side = 1 AND lists & (1::UBIGINT << {number}) > 0)" for number in range(len(names))
        )
        rows = self._store.execute(
            f"""
            SELECT folder, count(*) FILTER (side = 0), count(*) FILTER (side = 1), count(*) FILTER (side = 2),
                   {in_lists}
            FROM (
                SELECT 0 AS side, {FOLDER.format(url="url")} AS folder, lists FROM compared WHERE listed
                UNION ALL SELECT 1, {FOLDER.format(url="url")}, lists FROM ({MISSING}) WHERE grouped IS NULL
                UNION ALL SELECT 2, {FOLDER.format(url="loc")}, 0 FROM ({ONLY}) WHERE grouped IS NULL)
            GROUP BY folder ORDER BY count(*) FILTER (side > 0) DESC, folder LIMIT {MAX_FOLDERS}"""
        )
        return [
            ComparedFolder(folder, both, missing, only, {name: n for name, n in zip(names, by_list, strict=True) if n})
            for folder, both, missing, only, *by_list in rows
        ]
