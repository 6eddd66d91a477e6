"""Tables of the listed pages: each is one, whatever the spelling of its URL.

An entry has a place: a number made of the number of its file, by the order of their URLs, and that of its row. So the
order of places is that of files and of entries in them, however the crawl came to read them. A page is known by the
place of its first entry.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from sitemapcrawler.jobs.store.sites import site_of, sites_of
from sitemapcrawler.rules.facts.cluster import page_key


class Database(Protocol):
    """What a table is made with: `site_facts.SiteFacts`."""

    def query(self, sql: str, *parameters: Any) -> Iterator[Any]:
        """The rows of a query."""
        ...

    def run(self, sql: str, *parameters: Any) -> None:
        """Run a statement."""
        ...

    @property
    def whole_sites(self) -> Collection[str]:
        """The sites of which nothing was left out."""
        ...


@dataclass(frozen=True, slots=True)
class Table:
    """A temporary table."""

    name: str
    statements: tuple[str, ...]
    """The SQL that makes it."""
    of: tuple[Table, ...] = ()
    """Tables that must be there before."""
    fill: Callable[[Database], None] | None = None
    """What puts rows into it that SQL cannot make."""


def ordered(tables: Iterable[Table]) -> list[Table]:
    """Tables with all they are made of, each once and behind those."""
    found: dict[Table, None] = {}
    for table in tables:
        found.update(dict.fromkeys((*ordered(table.of), table)))
    return list(found)


ROW_BITS = 40
"""Bits of a place that number the row. The others are left for a million of files and more."""
FEEDS = ("rss", "atom")
LIST = "list"
"""Formats of files that are no sitemaps of all pages."""
AT_ONCE = 10_000
"""Spellings that are put into their table together."""
LISTED = "SELECT rowid AS row, * FROM urls WHERE change IS DISTINCT FROM 'removed'"
"""What sitemaps list now. With a baseline, `urls` has also what they listed then."""
NORMAL = (
    r"https?://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?/"
    r"(?:[!-\"$&-~]|%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF]))*"
)
"""A URL that `page_key` leaves as it is, but for a port that need not be named: its escapes are in capitals, and none
is of a character that needs none."""
DEFAULT_PORT = "^(?:http://[^/]*:80|https://[^/]*:443)/"
"""A URL that names the port of its scheme."""


def file_of(place: str) -> str:
    """SQL for the number of the file of a place."""
    return f"({place} >> {ROW_BITS})"


def row_of(place: str) -> str:
    """SQL for the row of a place."""
    return f"({place} & {(1 << ROW_BITS) - 1})"


def origin_of(key: str) -> str:
    """SQL for scheme, host and port of a URL by its key."""
    return f"regexp_extract({key}, '^https?://[^/]+')"


def odd(url: str) -> str:
    """SQL that is true for a URL which may have another key."""
    return f"(NOT regexp_full_match({url}, '{NORMAL}') OR regexp_matches({url}, '{DEFAULT_PORT}'))"


def spell(database: Database, table: str, of: str, key: Callable[[str, str], str | None]) -> None:
    """Put (base, url, key) of what a query finds as (base, url) into a table; what has no key is left out."""
    # A query that another one interrupts is at its end, so the URLs are held in a table of their own.
    database.run(f"CREATE OR REPLACE TEMP TABLE site_odd AS SELECT row_number() OVER () AS n, * FROM ({of})")
    [(total,)] = database.query("SELECT count(*) FROM temp.site_odd")
    for first in range(1, total + 1, AT_ONCE):
        rows = list(
            database.query("SELECT base, url FROM temp.site_odd WHERE n BETWEEN ? AND ?", first, first + AT_ONCE - 1)
        )
        _insert(database, table, ((base, url, made) for base, url in rows if (made := key(base, url)) is not None))
    database.run("DROP TABLE temp.site_odd")


def _insert(database: Database, table: str, rows: Iterable[tuple[str, str, str]]) -> None:
    if columns := list(zip(*rows, strict=True)):
        values = ", ".join("unnest(?::VARCHAR[])" for _ in columns)
        database.run(f"INSERT INTO temp.{table} SELECT {values}", *map(list, columns))


def _spell_pages(database: Database) -> None:
    spell(
        database, "site_spellings", f"SELECT DISTINCT '' AS base, loc AS url FROM ({LISTED}) WHERE {odd('loc')}",
        lambda base, url: page_key(url),
    )  # fmt: skip


SITES = Table("site_sites", (f"CREATE TEMP TABLE site_sites AS {sites_of()}",))
"""Which site each file is of."""


def _mark_whole(database: Database) -> None:
    database.run("INSERT INTO temp.site_whole SELECT unnest(?::VARCHAR[])", sorted(database.whole_sites))


WHOLE = Table("site_whole", ("CREATE TEMP TABLE site_whole (site VARCHAR)",), of=(SITES,), fill=_mark_whole)
"""The sites of which nothing was left out."""
FILES = Table(
    "site_files",
    (
        f"""
        CREATE TEMP TABLE site_files AS
        SELECT row_number() OVER (ORDER BY l.sitemap) AS file, l.* EXCLUDE (news, videos, images, versions),
               coalesce(s.site, {site_of("l.sitemap")}) AS site, 2 * versions >= entries AS versions,
               CASE WHEN f.format IN {FEEDS} THEN 'feed' WHEN f.format = '{LIST}' THEN 'list'
                    WHEN 2 * news >= entries THEN 'news'
                    WHEN 2 * videos >= entries THEN 'video'
                    WHEN 2 * images >= entries THEN 'image'
                    ELSE 'page' END AS kind
        FROM (SELECT sitemap, count(*) AS entries, count(news) AS news, count(*) FILTER (len(videos) > 0) AS videos,
                     count(*) FILTER (len(images) > 0) AS images, count(*) FILTER (len(alternates) > 0) AS versions
              FROM ({LISTED}) GROUP BY sitemap) l
        LEFT JOIN sitemaps f USING (sitemap) LEFT JOIN temp.site_sites s USING (sitemap)""",
    ),
    of=(SITES,),
)
"""Files with entries: how many, the site, and `kind`: feed, list, or news, video or image where at least half of the
entries have some, else page; `versions`: whether so many have language versions."""
SPELLINGS = Table(
    "site_spellings",
    ("CREATE TEMP TABLE site_spellings (base VARCHAR, url VARCHAR, key VARCHAR)",),
    fill=_spell_pages,
)
"""The keys of URLs of pages that are not in normal form."""
ENTRIES = Table(
    "site_entries",
    (
        f"""
        CREATE TEMP TABLE site_entries AS
        SELECT (f.file << {ROW_BITS}) + u.row AS place, coalesce(s.key, u.loc) AS key, u.recovered
        FROM ({LISTED}) u JOIN temp.site_files f USING (sitemap) LEFT JOIN temp.site_spellings s ON s.url = u.loc""",
    ),
    of=(FILES, SPELLINGS),
)
"""All entries."""
PAGES = Table(
    "site_pages",
    (
        """
        CREATE TEMP TABLE site_pages AS
        SELECT key, min(place) AS page, count(*) AS entries, bool_or(recovered) AS doubtful
        FROM temp.site_entries GROUP BY key""",
    ),
    of=(ENTRIES,),
)
"""The pages: `doubtful` where an entry was read after a repair."""
AGAIN = Table(
    "site_again",
    (
        """
        CREATE TEMP TABLE site_again AS
        SELECT e.place, p.page FROM temp.site_entries e JOIN temp.site_pages p USING (key) WHERE p.entries > 1""",
    ),
    of=(PAGES,),
)
"""The entries of pages that have several, the first of them included."""
ORIGINS = Table(
    "site_origins",
    (
        f"""
        CREATE TEMP TABLE site_origins AS
        SELECT origin, sum(entries) AS entries, max(share) AS share,
               bool_and(site IN (SELECT site FROM temp.site_whole)) AS whole
        FROM (
            SELECT {origin_of("e.key")} AS origin, f.file, f.site, count(*) AS entries,
                   count(*) / f.entries AS share
            FROM temp.site_entries e JOIN temp.site_files f ON f.file = {file_of("e.place")}
            GROUP BY origin, f.file, f.site, f.entries)
        GROUP BY origin""",
    ),
    of=(ENTRIES, WHOLE),
)
"""Scheme, host and port of listed pages: how many entries, the largest share that they are of a file, and whether of
all sites that list some nothing was left out."""
