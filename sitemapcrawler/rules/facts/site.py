"""The job's database as input of site-wide rules, with temporary tables that several rules share.

The place of an entry combines the number of its file, in the order of file URLs, with its row number. Sorting by place
therefore does not depend on the order of the crawl. A page is a normalised URL, identified by the place of its first
entry.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from sitemapcrawler.items import READ, RobotsChange
from sitemapcrawler.reader.formats import LIST, InputFormat, format_names
from sitemapcrawler.replies.link_files import LinkFile
from sitemapcrawler.rules.facts.given import GONE
from sitemapcrawler.rules.facts.languages import page_key
from sitemapcrawler.rules.facts.sites import CURRENT, sites_before, sites_of, sql_site_of
from sitemapcrawler.rules.facts.tally import MAX_TITLE, STALE
from sitemapcrawler.rules.registry import Of, SiteMessage
from sitemapcrawler.urls import site_of


@dataclass(frozen=True, slots=True)
class Table:
    """A temporary table that rules share."""

    name: str
    select: str | Callable[[SiteFacts], tuple[object, ...]]
    """SQL for its rows; or what returns SQL and its parameters once the tables of `of` exist, or nothing if it has made
    the table itself."""
    of: tuple[Table, ...] = ()
    """Tables that must exist first."""
    key: Callable[[str, str], str | None] | None = None
    """Returns the third column, `key`, of each row (base, url) that `select` yields; those without one are left out."""


def ordered(tables: Iterable[Table]) -> list[Table]:
    """Sort tables after the tables they depend on, each listed once."""
    found: dict[Table, None] = {}
    for table in tables:
        found.update(dict.fromkeys((*ordered(table.of), table)))
    return list(found)


ROW_BITS = 40
"""Bits of a place that hold the row number. The remaining bits allow for a million files and more."""

AT_ONCE = 10_000
"""Rows in memory that Python code judges, and values per INSERT statement."""

LISTED = f"SELECT rowid AS row, * FROM urls WHERE {CURRENT}"
"""SQL for the entries of the current crawl. With a baseline, `urls` also contains removed entries."""
PLACED = f"""
    SELECT (f.file << {ROW_BITS}) + u.row AS place, f.file, f.site, u.*
    FROM ({LISTED}) u JOIN temp.site_files f USING (sitemap)"""
"""SQL for the same with their places, files and sites; needs `FILES`."""

NORMAL = (
    r"https?://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?/"
    r"(?:[!-\"$&-~]|%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF]))*"
)
"""A URL that `page_key` returns unchanged, unless it names the default port: escapes are upper case and necessary."""

DEFAULT_PORT = "^(?:http://[^/]*:80|https://[^/]*:443)/"
"""A URL that names the default port of its scheme."""


def file_of(place: str) -> str:
    """SQL for the file number of a place."""
    return f"({place} >> {ROW_BITS})"


def row_of(place: str) -> str:
    """SQL for the row number of a place."""
    return f"({place} & {(1 << ROW_BITS) - 1})"


def origin_of(url: str) -> str:
    """SQL for the scheme, host and port of a web address, as it stands there; empty for others."""
    return f"regexp_extract({url}, '^https?://[^/?#]+')"


def odd(url: str) -> str:
    """SQL that is true for a URL whose page key may differ from the URL."""
    return f"(NOT regexp_full_match({url}, '{NORMAL}') OR regexp_matches({url}, '{DEFAULT_PORT}'))"


def _is_feed(format: InputFormat) -> bool:
    return format.is_feed


def page_key_of(_: str, url: str) -> str:
    """`Table.key` for the page key of a URL."""
    return page_key(url)


def in_parts(site: SiteFacts, of: str, *parameters: object) -> Iterator[list[tuple[str, ...]]]:
    """Yield the rows of a query, `AT_ONCE` at a time. The caller may run other queries between them."""
    # A second query ends the first, so the rows are copied to a table of their own.
    site.run(f"CREATE OR REPLACE TEMP TABLE site_parts AS SELECT row_number() OVER () AS n, * FROM ({of})", *parameters)
    [(total,)] = site.query("SELECT count(*) FROM temp.site_parts")
    for first in range(1, total + 1, AT_ONCE):
        part = "SELECT * EXCLUDE (n) FROM temp.site_parts WHERE n BETWEEN ? AND ?"
        yield list(site.query(part, first, first + AT_ONCE - 1))
    site.run("DROP TABLE temp.site_parts")


SITES = Table("site_sites", lambda site: (sites_of(),))
"""The site of each file."""
WHOLE = Table("site_whole", lambda site: ("SELECT unnest(?::VARCHAR[]) AS site", sorted(site.whole_sites)), of=(SITES,))
"""Sites that were crawled completely."""
FEEDS = Table("site_feeds", lambda site: ("SELECT unnest(?::VARCHAR[]) AS format", format_names(_is_feed)))
"""Formats of feeds, which do not claim to list all pages of a site."""
FILES = Table(
    "site_files",
    f"""
    SELECT row_number() OVER (ORDER BY l.sitemap) AS file, l.* EXCLUDE (news, videos, images, versions),
           coalesce(s.site, {sql_site_of("l.sitemap")}) AS site, 2 * versions >= entries AS versions,
           CASE WHEN f.format IN (FROM temp.site_feeds) THEN 'feed' WHEN f.format = '{LIST.name}' THEN 'list'
                WHEN 2 * news >= entries THEN 'news'
                WHEN 2 * videos >= entries THEN 'video'
                WHEN 2 * images >= entries THEN 'image'
                ELSE 'page' END AS kind
    FROM (SELECT sitemap, count(*) AS entries, count(news) AS news, count(*) FILTER (len(videos) > 0) AS videos,
                 count(*) FILTER (len(images) > 0) AS images, count(*) FILTER (len(alternates) > 0) AS versions
          FROM ({LISTED}) GROUP BY sitemap) l
    LEFT JOIN sitemaps f USING (sitemap) LEFT JOIN temp.site_sites s USING (sitemap)""",
    of=(SITES, FEEDS),
)
"""Files with entries: entry count, site and `kind` (feed, list, or news, video or image if at least half of the entries
have one, else page). `versions` is true if at least half of the entries have language versions."""

SPELLINGS = Table(
    "site_spellings",
    f"SELECT DISTINCT '' AS base, loc AS url FROM ({LISTED}) WHERE {odd('loc')}",
    key=page_key_of,
)
"""Page keys of listed URLs that are not in normal form."""

ENTRIES = Table(
    "site_entries",
    f"""
    SELECT u.place, coalesce(s.key, u.loc) AS key, u.recovered
    FROM ({PLACED}) u LEFT JOIN temp.site_spellings s ON s.url = u.loc""",
    of=(FILES, SPELLINGS),
)

PAGES = Table(
    "site_pages",
    """
    SELECT key, min(place) AS page, count(*) AS entries, bool_or(recovered) AS doubtful
    FROM temp.site_entries GROUP BY key""",
    of=(ENTRIES,),
)
"""Listed pages. `doubtful` is true if an entry was read after a repair."""

AGAIN = Table(
    "site_again",
    """
    SELECT e.place, p.page FROM temp.site_entries e JOIN temp.site_pages p USING (key) WHERE p.entries > 1""",
    of=(PAGES,),
)
"""All entries of pages that are listed more than once."""

REPEATING = Table(
    "site_repeating",
    f"""
    FROM temp.site_files WHERE file IN (SELECT {file_of("place")} FROM temp.site_again)
    UNION
    SELECT f.* REPLACE (CASE WHEN kind IN ('image', 'video') THEN 'page' ELSE kind END AS kind, false AS versions)
    FROM temp.site_files f JOIN temp.site_again a ON f.file = {file_of("a.place")}
    GROUP BY ALL HAVING 2 * count(*) < any_value(f.entries)""",
    of=(AGAIN,),
)
"""Files with such entries, as in `FILES`, and again as plain files of pages if most of their pages are listed nowhere
else. The others with images, videos or language versions are files apart."""

ORIGINS = Table(
    "site_origins",
    f"""
    SELECT origin, sum(entries) AS entries, max(share) AS share,
           bool_and(site IN (SELECT site FROM temp.site_whole)) AS whole
    FROM (
        SELECT {origin_of("e.key")} AS origin, f.file, f.site, count(*) AS entries,
               count(*) / f.entries AS share
        FROM temp.site_entries e JOIN temp.site_files f ON f.file = {file_of("e.place")}
        GROUP BY origin, f.file, f.site, f.entries)
    GROUP BY origin""",
    of=(ENTRIES, WHOLE),
)
"""Scheme, host and port of listed pages: the number of entries, their largest share of a file, and whether all sites
that list them were crawled completely."""

MARKS = Table("site_marks", "SELECT NULL::BIGINT AS place, NULL::VARCHAR AS rule WHERE false")
"""Entries that rules on the site concern."""

AS_WRITTEN = "join_order,build_side_probe_side"
"""DuckDB optimizers to disable while creating tables. The joins already name the larger side first; with filters DuckDB
guesses wrong and holds ten million links in memory instead of a million pages."""

ON_THEIR_PAGES = """
    SELECT place FROM temp.site_faults
    UNION ALL SELECT a.place FROM temp.site_again a JOIN temp.site_faults t ON t.place = a.page"""
"""SQL for all entries of the pages that a rule reports."""
ALONE = "SELECT place FROM temp.site_faults"
"""SQL for the entries that a rule reports, without others of the same pages."""
UNDATED = "u.lastmod IS NULL AND u.news IS NULL"
"""SQL that is true for entries without a date. News articles have their own."""
REPEATED_TITLE = f"""
    (u.sitemap, left(u.news.title, {MAX_TITLE})) IN (
        SELECT sitemap, left(news.title, {MAX_TITLE}) FROM urls WHERE news.title <> '' AND {CURRENT}
        GROUP BY ALL HAVING count(*) > 1)"""
"""SQL that is true for articles whose title another article of the file has too."""
OF_FILES = {
    "lastmod-missing": UNDATED,
    "changefreq-contradicts-lastmod": " OR ".join(
        f"(u.changefreq = '{name}' AND u.lastmod_at < now() AT TIME ZONE 'UTC' - INTERVAL {age.days} DAY)"
        for name, age in STALE.items()
    ),
    "news-title-repeated": REPEATED_TITLE,
}
"""Rules that report a file for some of its entries: {id: SQL that is true for these entries `u`}. Rules on what a
program writes in all entries, such as a priority, are about the file alone."""
COLUMNS = """
    SELECT NULL::BIGINT AS place, NULL::BIGINT AS number, NULL::VARCHAR AS what, NULL::BIGINT AS other WHERE false"""
DETAILS = f"""
    SELECT f.sitemap, u.line, u.loc, n.times, n.number, w.what, o.loc, o.sitemap
    FROM temp.site_told n
    JOIN temp.site_files f ON f.file = {file_of("n.place")}
    JOIN urls u ON u.rowid = {row_of("n.place")}
    LEFT JOIN urls o ON o.rowid = {row_of("n.other")}
    LEFT JOIN (SELECT place, what FROM ({{what}})) w ON w.place = n.place
    ORDER BY n.place"""


def numbered(files: str) -> str:
    """SQL for the row numbers of entries, with their files and their numbers in these, counted from 1, which do not
    change when the rows are written again. `files`: SQL for the URLs of the files that are needed."""
    return f"""
        SELECT rowid AS row, sitemap, row_number() OVER (PARTITION BY sitemap ORDER BY rowid) AS number FROM urls
        WHERE {CURRENT} AND sitemap IN ({files})"""


class EntryFault(NamedTuple):
    """A listed URL that a rule reports."""

    sitemap: str
    line: int | None
    url: str
    times: int
    """Findings in the file that this one stands for, itself included."""
    number: int | None
    """A count, as defined by the rule."""
    what: str | None
    """A code, a date or a URL, as defined by the rule."""
    other: str | None
    other_sitemap: str | None
    """The file that lists `other`."""


class SiteFacts:
    """The database of a finished crawl, as input of site-wide rules.

    Reads through one cursor that must not be used elsewhere at the same time. The rows of a file must be in document
    order in their table. All other tables that rules need are temporary.
    """

    def __init__(
        self,
        rows: Callable[[str, Sequence[object]], Iterator[object]],
        narrowed_by: Mapping[str, int] | None = None,
        narrowed_sites: Collection[str] = (),
        baseline: str | None = None,
        uncompared: Collection[str] = (),
        stopped: Callable[[], bool] = lambda: False,
        home_links: Collection[str] = (),
        since: str | None = None,
    ) -> None:
        """Store how to run SQL and which sites are incomplete.

        `rows`: runs SQL with parameters and yields rows.

        `narrowed_by`: entries left out on any site, by filter, limit or early end of the crawl.

        `narrowed_sites`: sites that are incomplete for another reason.

        `baseline`: name of the attached database of the earlier crawl; None without one. `uncompared`: sites for which
        removed URLs are unknown.

        `home_links`: URLs of the sitemaps that home pages link to, as far as these were read.

        `since`: start of the earlier crawl, ISO 8601 in UTC; None if unknown.
        """
        self.home_links = home_links
        self.stopped = stopped
        """Called between rules; True if no further rules should run."""
        self.per_file: int | None = None
        """Maximum number of findings per rule and file that become records; None for no limit."""
        self.robots_changes: Sequence[RobotsChange] = ()
        """What has changed in each robots.txt since the baseline."""
        self.link_files: Sequence[LinkFile] = ()
        """Lists of pages beside the sitemap, with the replies to their links."""
        self.rule = ""
        """Id of the rule that runs, for `mark`."""
        self.rules: Collection[str] = ()
        """Ids of the selected rules."""
        self._rows = rows
        self._narrowed = any((narrowed_by or {}).values())
        self._narrowed_sites = frozenset(narrowed_sites)
        self.baseline = baseline
        self.since = since
        self._uncompared = frozenset(uncompared)
        self._made: set[Table] = set()
        self._filled: dict[str, bool] = {}

    @cached_property
    def sites(self) -> dict[str, int]:
        """Sites of the crawl, each with its number of files not read to the end. Files that do not exist do not
        count."""
        self.need(SITES)
        rows = self.query(
            """
            SELECT s.site, count(*) FILTER (f.outcome NOT IN ? AND coalesce(f.status NOT IN ?, true))
            FROM temp.site_sites s JOIN sitemaps f USING (sitemap) GROUP BY s.site ORDER BY s.site""",
            list(READ),
            list(GONE),
        )
        return dict(rows)

    @cached_property
    def discovered_sites(self) -> frozenset[str]:
        """Sites of which no argument or limit left out a sitemap or page. Excludes sites with a sitemap given as an
        argument, which may have more."""
        if self._narrowed:
            return frozenset()
        sites = self.sites
        alone = "SELECT DISTINCT site FROM temp.site_sites JOIN sitemaps USING (sitemap) WHERE found_by = 'argument'"
        return frozenset(sites) - {site for (site,) in self.query(alone)} - self._narrowed_sites

    @cached_property
    def whole_sites(self) -> frozenset[str]:
        """Discovered sites of which all sitemaps were read to their ends."""
        return frozenset(site for site in self.discovered_sites if not self.sites[site])

    def is_known(self, url: str) -> bool:
        """True if all sitemaps of a URL's site that the crawl found, or was given, were read to their ends."""
        site = site_of(url)
        return not self._narrowed and site not in self._narrowed_sites and not self.sites.get(site)

    @cached_property
    def urls_before(self) -> dict[str, int]:
        """Sites compared with the baseline, each with its number of URLs in the baseline."""
        if self.baseline is None or not self.whole_sites - self._uncompared:
            return {}
        self.need(SITES)
        before = sites_before(self.baseline, "temp.site_sites", complete=not self._narrowed_sites)
        self.run(f"CREATE OR REPLACE TEMP TABLE site_before AS {before}")
        rows = self.query(
            f"SELECT site, count(*) FROM {self.baseline}.urls JOIN temp.site_before USING (sitemap) "
            f"WHERE {CURRENT} GROUP BY site ORDER BY site"
        )
        compared = self.whole_sites - self._uncompared
        return {site: number for site, number in rows if site in compared}

    def serves(self, of: Of) -> bool:
        """True if rules on it can judge at least one site."""
        if of is Of.BASELINE:
            return bool(self.urls_before)
        if of is Of.REVISIT:
            return self.baseline is not None
        return of is not Of.WHOLE_SITE or bool(self.discovered_sites)

    def unjudged(self, of: Of) -> int:
        """Number of files (`SITE`) or sites that rules on it could not judge."""
        if of is Of.SITE:
            return sum(self.sites.values())
        if of is Of.WHOLE_SITE:
            return len(self.sites) - len(self.whole_sites) if self.sites else int(self._narrowed)
        if of is Of.REVISIT:
            return 0
        return 0 if self.baseline is None else max(1, len(self.sites)) - len(self.urls_before)

    def named(self, site: str) -> str:
        """Prefix for a message without a file: the site, if the crawl has several, else empty."""
        return f"{site}: " if len(self.sites) > 1 else ""

    def has(self, column: str) -> bool:
        """True if an entry has a value in this column; otherwise rules skip their joins."""
        return self.has_rows(f"urls WHERE {column} IS NOT NULL")

    def has_rows(self, source: str) -> bool:
        """True if there are such rows; otherwise rules skip their queries. `source`: SQL for a table that does not
        change any more, with a condition if needed. Ends any query."""
        if source not in self._filled:
            self._filled[source] = bool(list(self.query(f"SELECT 1 FROM {source} LIMIT 1")))
        return self._filled[source]

    def query(self, sql: str, *parameters: object) -> Iterator[Any]:  # Any: the query names the columns
        """Run a query and fetch its rows lazily. Starting another query ends this one."""
        return self._rows(sql, parameters)

    def run(self, sql: str, *parameters: object) -> None:
        for _ in self._rows(sql, parameters):
            pass

    def need(self, *tables: Table) -> None:
        """Create temporary tables and the tables they depend on, unless they exist."""
        missing = [table for table in ordered(tables) if table not in self._made]
        if missing:
            self.run(f"SET disabled_optimizers = '{AS_WRITTEN}'")
            try:
                for table in missing:
                    self._make(table)
            finally:
                self.run("RESET disabled_optimizers")

    def _make(self, table: Table) -> None:
        sql, *parameters = (table.select,) if isinstance(table.select, str) else table.select(self) or ("",)
        if table.key is None and sql:
            self.run(f"CREATE OR REPLACE TEMP TABLE {table.name} AS {sql}", *parameters)
        elif table.key is not None:
            self.run(f"CREATE OR REPLACE TEMP TABLE {table.name} (base VARCHAR, url VARCHAR, key VARCHAR)")
            for rows in in_parts(self, str(sql), *parameters):
                found = [(base, url, made) for base, url in rows if (made := table.key(base, url)) is not None]
                columns = [list(column) for column in zip(*found, strict=True)] or [[], [], []]
                values = ", ".join("unnest(?::VARCHAR[])" for _ in columns)
                self.run(f"INSERT INTO temp.{table.name} SELECT {values}", *columns)
        self._made.add(table)

    def faults(self, sql: str, what: str | None = None, entries: str = ON_THEIR_PAGES) -> Iterator[EntryFault]:
        """Return the URLs a rule reports, file by file, limited to those that become records, and mark all its entries.

        The last one of each file stands for the findings beyond the limit. `sql` selects `place` (of `site_pages`) and
        optionally `number`, `what` and `other` (a place). `what` selects `place` and `what` for rows of the temporary
        table `site_told`. `entries` selects the places of all entries concerned; the table `site_faults` has the rows
        of `sql`.
        """
        self.need(FILES)
        self.run(f"CREATE OR REPLACE TEMP TABLE site_faults AS ({COLUMNS} UNION ALL BY NAME ({sql}))")
        if not list(self.query("SELECT 1 FROM temp.site_faults LIMIT 1")):
            return iter(())
        self.mark(entries)
        self.run(f"CREATE OR REPLACE TEMP TABLE site_told AS {self._limited()}")
        return (EntryFault(*row) for row in self.query(DETAILS.format(what=what or "FROM temp.site_told")))

    def mark(self, entries: str, *parameters: object) -> None:
        """Add the running rule to the issues of entries. `entries`: SQL that selects their places; ends any query."""
        self.need(MARKS, AGAIN)
        self.run(
            f"INSERT INTO temp.site_marks SELECT place, ? FROM (SELECT DISTINCT place FROM ({entries}))",
            self.rule, *parameters,
        )  # fmt: skip

    def mark_files(self, rules: Collection[str], replaced: Mapping[str, Collection[str]]) -> None:
        """Mark the entries for which some of these rules on files (`OF_FILES`) have reported a file. `replaced`: as in
        `Judge`."""
        self.need(FILES)
        for rule in OF_FILES.keys() & rules:
            reported = "SELECT sitemap FROM sitemaps WHERE list_contains(issues, ?)"
            if list(self.query(f"{reported} LIMIT 1", rule)):
                self.rule = rule
                self.mark(
                    f"FROM ({PLACED}) u WHERE sitemap IN ({reported}) AND NOT list_contains(?::VARCHAR[], site) "
                    f"AND ({OF_FILES[rule]})",
                    rule, sorted(replaced.get(rule, ())),
                )  # fmt: skip

    def forget_marks(self, allowed: Callable[[str], bool]) -> None:
        """Remove the marks of the running rule on listed URLs that an allowlist accepts."""
        self.need(MARKS)
        of_rule = f"FROM temp.site_marks m JOIN urls u ON u.rowid = {row_of('m.place')} WHERE m.rule = ?"
        self.run("CREATE OR REPLACE TEMP TABLE site_allowed (url VARCHAR)")
        for rows in in_parts(self, f"SELECT DISTINCT u.loc {of_rule}", self.rule):
            urls = [url for (url,) in rows if allowed(url)]
            self.run("INSERT INTO temp.site_allowed SELECT unnest(?::VARCHAR[])", urls)
        accepted = f"SELECT m.place {of_rule} AND u.loc IN (FROM temp.site_allowed)"
        self.run(f"DELETE FROM temp.site_marks WHERE rule = ? AND place IN ({accepted})", self.rule, self.rule)
        self.run("DROP TABLE temp.site_allowed")

    @property
    def has_marks(self) -> bool:
        """True if rules have marked entries."""
        return MARKS in self._made

    @property
    def marks(self) -> str:
        """SQL for the marked entries: their files, their numbers in these (see `numbered`), and their rules."""
        self.need(FILES, MARKS)
        marked = f"SELECT f.sitemap FROM temp.site_marks m JOIN temp.site_files f ON f.file = {file_of('m.place')}"
        return f"""
            SELECT n.sitemap, n.number, list(DISTINCT m.rule ORDER BY m.rule) AS rules
            FROM temp.site_marks m JOIN ({numbered(marked)}) n ON n.row = {row_of("m.place")}
            GROUP BY n.sitemap, n.number"""

    def _limited(self) -> str:
        file = file_of("place")
        last = "NULL" if self.per_file is None else str(self.per_file)
        return f"""
            SELECT place, number, what, other, CASE WHEN nth = {last} THEN many - nth + 1 ELSE 1 END AS times
            FROM (SELECT *, row_number() OVER (PARTITION BY {file} ORDER BY place) AS nth,
                         count(*) OVER (PARTITION BY {file}) AS many
                  FROM temp.site_faults)
            WHERE nth <= {last} OR {last} IS NULL"""


def on_entry(fault: EntryFault, text: str, value: str | None = None) -> SiteMessage:
    """Make a message about a listed URL."""
    return SiteMessage(text, fault.line, value=value, sitemap=fault.sitemap, url=fault.url, times=fault.times)
