"""Reads access logs into the database: who requested which page, when, and with what answer.

DuckDB parses the lines in blocks and counts requests by URL, crawler and day. Then each URL is resolved once, and SQL
compares the pages with the listed ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sitemapcrawler import urls
from sitemapcrawler.items import ComparedList, CrawlerFetches
from sitemapcrawler.jobs.links import LinkScope, number_of
from sitemapcrawler.jobs.rewriting import NewValues
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.schema import LINES, iso, literal
from sitemapcrawler.reader.access_logs import (
    FIELDS,
    IIS_NAMES,
    MAX_AGENT,
    MAX_URL,
    LogFormat,
    crawler_pattern,
    with_columns,
)
from sitemapcrawler.reader.lists import UNREAD, cleaned
from sitemapcrawler.reader.rows import WEB
from sitemapcrawler.robots.addresses import Ranges
from sitemapcrawler.robots.agents import AGENTS
from sitemapcrawler.rules.facts.languages import NORMAL_URL
from sitemapcrawler.rules.facts.site import origin_of
from sitemapcrawler.rules.facts.sites import CURRENT, text_key

AT_ONCE = 32 * 2**20
"""Characters of lines that DuckDB parses at once. It takes as long to plan the query as to parse 3,000 lines, and to
insert fewer rows than are stored together, 122,880, as to insert twice as many."""
OFFSITE = "-"
"""In place of a URL: one of another site."""
MAX_PROBLEMS = 1_000
"""URLs of each kind kept for a crawler, those requested last."""
TARGETS = 50_000
"""URLs that are resolved at once."""
SECTIONS = re.compile(f"\n(?={re.escape(FIELDS)})")
"""Before names of columns, which IIS writes again when it starts, and which an administrator may have changed."""
READS = "method IN ('GET', 'HEAD')"
"""SQL condition for a request that reads a page."""
SERVED = "status IN (200, 304)"
"""SQL condition for a request that got it."""
NO_REQUESTS = """
    CREATE OR REPLACE TEMP TABLE log_requests (
        url UBIGINT, host VARCHAR, scheme VARCHAR, target VARCHAR, visit BOOLEAN, status USMALLINT, asked TIMESTAMP,
        address VARCHAR, agent VARCHAR)"""
REQUESTS = f"""
    INSERT INTO log_requests
    WITH lines AS (FROM ({LINES}) WHERE regexp_matches(line, '^\\s*[^#\\s]'))
    SELECT {text_key("host", "scheme", "target")} AS url, host, scheme,
           CASE WHEN strlen(target) <= {MAX_URL} THEN target END AS target,
           {READS} AND {SERVED} AS visit, status, asked, address,
           CASE WHEN {READS} AND asked IS NOT NULL AND strlen(agent) <= {MAX_AGENT} THEN agent END AS agent
    FROM ({{requests}})"""
"""SQL: the requests of some lines, without blank ones and comments, such as names of columns."""
CRAWLER = f"ENUM ({', '.join(literal(agent.name.lower()) for agent in AGENTS)})"
AGENTS_OF = f"""
    CREATE OR REPLACE TEMP TABLE log_agents AS
    SELECT agent, try_cast(lower(regexp_extract(
        agent, {literal(crawler_pattern(agent.name for agent in AGENTS))}, 1)) AS {CRAWLER}) AS crawler
    FROM (SELECT DISTINCT agent FROM log_requests)"""
"""SQL: the crawlers of user agents, of which most stand in many lines."""
NEW_ADDRESSES = """
    SELECT DISTINCT crawler, address FROM log_requests r JOIN log_agents USING (agent)
    WHERE crawler IN (SELECT unnest(?::VARCHAR[]))
    AND NOT EXISTS (
        FROM log_addresses a WHERE a.crawler = log_agents.crawler AND a.address = coalesce(r.address, ''))"""
NEW_URLS = """
    INSERT INTO log_urls
    SELECT url, host, scheme, target FROM log_requests
    WHERE rowid IN (SELECT min(rowid) FROM log_requests ANTI JOIN log_urls USING (url) GROUP BY url)"""
HITS = """
    INSERT INTO log_hits
    SELECT url, g.crawler, a.genuine, {list}, visit, status, asked
    FROM log_requests r LEFT JOIN log_agents g USING (agent)
    LEFT JOIN log_addresses a ON a.crawler = g.crawler AND a.address = coalesce(r.address, '')"""
VISITS = """
    CREATE OR REPLACE TEMP TABLE log_visits AS
    SELECT url, list, count(*) AS requests, count(*) FILTER (visit) AS visits, min(asked) AS first, max(asked) AS last
    FROM log_hits GROUP BY url, list"""
SUFFIXES = (
    "avif|bmp|css|eot|gif|ico|jpe?g|js|json|map|mjs|mp[34]|ogg|otf|png|rss|svg|ttf|txt|wasm|web[mp]|woff2?|xml|zip|gz"
)
IS_ASSET = f"regexp_matches(address, '(?i)^[^?#]*[.]({SUFFIXES})([?#]|$)')"
"""SQL condition for the URL of a style sheet, script, image or other file that is no page."""
PAGES = f"""
    INSERT INTO log_pages
    SELECT cells[1]::UBIGINT, nullif(cells[2], '')::UBIGINT, nullif(cells[3], '')::UBIGINT,
           cells[4] AS address, {IS_ASSET}
    FROM (SELECT string_split(line, chr(9)) AS cells FROM ({LINES}))"""
ADDRESSES = """
    SELECT url, CASE WHEN starts_with(target, '/')
                     THEN concat(coalesce(scheme, $own), '://', coalesce(host, $authority), target)
                     ELSE target END AS address
    FROM log_urls"""
"""SQL: the requested URLs with scheme and host, those of the site unless the log has others."""
LISTED_PAGES = f"""
    INSERT INTO log_pages
    SELECT u.url, k.page, k.page, address, {IS_ASSET}
    FROM ({ADDRESSES} WHERE NOT contains(target, '?')) u
    JOIN log_keys k ON k.url = {text_key("address")}
    WHERE starts_with(address, $home) AND regexp_full_match(address, {literal(NORMAL_URL.pattern)})"""
"""SQL: the requested URLs that sitemaps list as they stand, which are most of them."""
OTHER_URLS = f"CREATE OR REPLACE TEMP TABLE log_others AS {ADDRESSES} ANTI JOIN log_pages USING (url)"
FETCHED = """
    CREATE OR REPLACE TEMP TABLE log_fetched AS
    SELECT page, crawler, count(*) AS requests, max(asked) AS last,
           arg_max(status, epoch_ms(asked) * 1000 + status) AS status, coalesce(bool_and(genuine), false) AS verified
    FROM log_hits JOIN log_pages USING (url)
    WHERE crawler IS NOT NULL AND genuine IS DISTINCT FROM false AND page IS NOT NULL GROUP BY page, crawler"""
"""SQL: the pages that each crawler requested, with its last answer: of several in one moment, that with the highest
status."""
ENTRIES = f"""
    CREATE OR REPLACE TEMP TABLE log_entries AS
    SELECT l.page, min(u.lastmod_at) AS changed, any_value(CASE
        WHEN {origin_of("u.loc")} || '/robots.txt' NOT IN (SELECT robots FROM robots WHERE outcome <> 'parsed')
        THEN [lower(name) for name in u.blocked_for] END) AS denied
    FROM link_listed l JOIN urls u ON u.rowid = l.entry WHERE {CURRENT} GROUP BY l.page"""
"""SQL: the listed pages, with the crawlers that a robots.txt denies them; one that cannot be read says nothing."""
BY_CRAWLER = f"""
    SELECT f.crawler, sum(f.requests)::BIGINT, count(e.page), count(e.page) FILTER (f.status >= 400),
           count(e.page) FILTER (list_contains(e.denied, f.crawler)),
           {iso("max(f.last) FILTER (e.page IS NOT NULL)")},
           coalesce(sum(f.requests) FILTER (s.kind = 'robots'), 0)::BIGINT,
           {iso("max(f.last) FILTER (s.kind = 'robots')")},
           coalesce(sum(f.requests) FILTER (s.kind = 'sitemap'), 0)::BIGINT,
           {iso("max(f.last) FILTER (s.kind = 'sitemap')")}
    FROM log_fetched f LEFT JOIN log_entries e USING (page) LEFT JOIN log_special s USING (page)
    GROUP BY f.crawler"""
DAYS = """
    SELECT crawler, median(days) FROM (
        SELECT h.crawler, e.page, min(h.asked)::DATE - any_value(e.changed)::DATE AS days
        FROM log_hits h JOIN log_pages p USING (url) JOIN log_entries e USING (page)
        WHERE h.crawler IS NOT NULL AND h.genuine IS DISTINCT FROM false AND h.asked >= e.changed
          AND e.changed >= (SELECT min(first)::DATE FROM log_visits)
        GROUP BY h.crawler, e.page)
    GROUP BY crawler"""
"""SQL, by crawler: median of the days between the change of a page and the first request since."""

PRETENDED = """
    SELECT crawler, count(*) FROM log_hits JOIN log_pages USING (url)
    WHERE NOT genuine AND page IS NOT NULL GROUP BY crawler"""
"""SQL, by crawler: requests under its name from addresses of others."""
FILES = f"""
    WITH entries AS (
        SELECT DISTINCT u.sitemap, l.page FROM link_listed l JOIN urls u ON u.rowid = l.entry WHERE {CURRENT}),
    sizes AS (SELECT sitemap, count(*) AS listed FROM entries GROUP BY sitemap),
    counts AS (
        SELECT sitemap, crawler, count(*) AS fetched, count(*) FILTER (status >= 400) AS errors, max(last) AS last
        FROM entries JOIN log_fetched USING (page) GROUP BY sitemap, crawler),
    files AS (
        SELECT t.sitemap, f.crawler, f.requests, f.last FROM log_special t JOIN log_fetched f USING (page)
        WHERE kind = 'sitemap')
    SELECT sitemap, crawler, coalesce(listed, 0), coalesce(fetched, 0), coalesce(errors, 0), c.last,
           coalesce(f.requests, 0), f.last
    FROM counts c FULL JOIN files f USING (sitemap, crawler) LEFT JOIN sizes USING (sitemap)"""
"""SQL, by sitemap and crawler: listed pages that it requested, and requests for the file itself."""
NAMES = f"{[agent.name for agent in AGENTS]}::VARCHAR[]"
"""SQL for the names of crawlers in the order of the type `CRAWLER`."""
PARTS = 16
"""Parts of the pages, one after the other: a million URLs with some crawlers each do not fit into memory at once."""
KEYS = f"""
    CREATE OR REPLACE TEMP TABLE log_keys AS
    SELECT DISTINCT l.page, {text_key("u.loc")} AS url
    FROM link_listed l JOIN urls u ON u.rowid = l.entry WHERE {CURRENT}"""
"""SQL: the URLs of the listed pages, as keys."""
SEEN = f"""
    INSERT INTO log_seen
    SELECT url, '{{' || array_to_string([one.text for one in list_reverse_sort(list(made))], ',') || '}}' FROM (
        SELECT k.url, {{last: f.last, text: concat(
            '"', ({NAMES})[enum_code(f.crawler) + 1], '":"', {iso("f.last")}, '"')}} AS made
        FROM log_fetched f JOIN log_keys k USING (page) WHERE f.page % {PARTS} = $1 AND k.page % {PARTS} = $1)
    GROUP BY url"""
"""SQL: listed URLs with the crawlers that requested them, and the last time. Parameter: the part."""
ROWS_SEEN = f"""
    CREATE OR REPLACE TEMP TABLE log_rows AS
    SELECT u.rowid AS row, u.sitemap, s.fetched FROM urls u JOIN log_seen s ON s.url = {text_key("u.loc")}"""
PROBLEMS = f"""
    SELECT kind, crawler, loc, status, last, verified, count(*) OVER (PARTITION BY kind, crawler) FROM (
        SELECT DISTINCT f.crawler, f.status, f.last, f.verified, u.loc,
               CASE WHEN list_contains(e.denied, f.crawler) THEN 'denied' WHEN f.status >= 400 THEN 'error' END AS kind
        FROM log_fetched f JOIN log_entries e USING (page) JOIN link_listed l USING (page)
        JOIN urls u ON u.rowid = l.entry
        WHERE {CURRENT})
    WHERE kind IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY kind, crawler ORDER BY last DESC, loc) <= {MAX_PROBLEMS}"""
"""SQL: listed URLs that a crawler requested although robots.txt denies them, and those that answered with an error."""


class CrawlerLogs:
    """The requests of all logs, in temporary tables. Use it in the writing thread only."""

    def __init__(self, store: Store, ranges: Ranges) -> None:
        self._store = store
        self._ranges = ranges
        self.has_any = False
        """True if a log was read."""

    def begin(self) -> None:
        """Create the tables, empty."""
        for table in (
            "log_urls (url UBIGINT, host VARCHAR, scheme VARCHAR, target VARCHAR)",
            "log_pages (url UBIGINT, page UBIGINT, visited UBIGINT, address VARCHAR, is_asset BOOLEAN)",
            f"log_addresses (crawler {CRAWLER}, address VARCHAR, genuine BOOLEAN)",
            f"log_hits (url UBIGINT, crawler {CRAWLER}, genuine BOOLEAN, list UTINYINT, visit BOOLEAN, "
            "status USMALLINT, asked TIMESTAMP)",
            "log_special (page UBIGINT, kind VARCHAR, sitemap VARCHAR)",
        ):
            self._store.execute(f"CREATE OR REPLACE TEMP TABLE {table}")

    def read(self, lines: Iterable[str], found: LogFormat, number: int, total: ComparedList) -> None:
        """Count the requests of a log. `lines`: some hundreds joined at a time; `number`: of the list."""
        execute = self._store.execute
        for form, text in _blocks(lines, found):
            execute(NO_REQUESTS)
            execute(REQUESTS.replace("{requests}", form.requests), [text])
            [(rows, readable)] = execute("SELECT count(*), count(target) FROM log_requests")
            total.rows += rows
            total.unread += rows - readable
            if rows > readable:
                execute("DELETE FROM log_requests WHERE target IS NULL")
            execute(AGENTS_OF)
            self._note_addresses()
            execute(NEW_URLS)
            execute(HITS.replace("{list}", str(number)))
        execute(NO_REQUESTS)
        self.has_any = True

    def _note_addresses(self) -> None:
        known = self._ranges.crawlers
        found = self._store.execute(NEW_ADDRESSES, [known]) if known else []
        if found:
            rows = [[crawler, address or "", self._ranges.has(crawler, address)] for crawler, address in found]
            columns = [list(column) for column in zip(*rows, strict=True)]
            self._store.execute(
                "INSERT INTO log_addresses SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::BOOLEAN[])",
                columns,
            )

    def resolve(self, scope: LinkScope) -> None:
        """Find the page of each requested URL: temporary table `log_pages`. URLs of other sites have none. The listed
        pages must be numbered (`link_listed`)."""
        home = next(iter(scope.homes), "")
        sites, execute = scope.sites, self._store.execute
        own, _, authority = home.rstrip("/").partition("://")
        places = {"own": own, "authority": authority}
        execute(KEYS)
        if home:
            execute(LISTED_PAGES, {**places, "home": home})
        execute(OTHER_URLS, places)
        [(number,)] = execute("SELECT count(*) FROM log_others")
        for first in range(0, number, TARGETS):
            rows = execute(f"FROM log_others WHERE rowid BETWEEN {first} AND {first + TARGETS - 1}")
            lines = ["\t".join((str(url), *self._page(home, sites, address))) for url, address in rows]
            execute(PAGES, ["\n".join(lines)])

    @staticmethod
    def _page(home: str, sites: frozenset[str], address: str) -> tuple[str, str, str]:
        """The requested page, the page without parameters of advertisements, and its URL (`UNREAD` or `OFFSITE` if it
        has none). Numbers as text: DuckDB takes long texts faster than lists."""
        if not WEB.match(address):
            return "", "", UNREAD
        url = address.partition("#")[0]
        is_normal = NORMAL_URL.fullmatch(url)
        if not is_normal:
            url = urls.resolve(home, url) or UNREAD
        clean = url if is_normal and "?" not in url else cleaned(url)
        if clean == UNREAD:
            return "", "", UNREAD
        if not (home and url.startswith(home)) and urls.site_of(url) not in sites:
            return "", "", OFFSITE
        page = str(number_of(url))
        return page, page if clean == url else str(number_of(clean)), clean

    def put_visits(self) -> None:
        """Add the pages that anybody got to the rows of the lists."""
        self._store.execute(VISITS)
        self._store.execute(
            """
            INSERT INTO compared_rows
            SELECT visited, address, list, visits FROM log_visits JOIN log_pages USING (url)
            WHERE visits > 0 AND visited IS NOT NULL AND NOT is_asset"""
        )
        self._store.execute(
            """
            INSERT INTO compared_left_out
            SELECT DISTINCT visited FROM log_visits JOIN log_pages USING (url)
            WHERE visited IS NOT NULL AND (is_asset OR requests > visits)"""
        )

    def add_totals(self, totals: Sequence[ComparedList]) -> None:
        """Complete what was found in the logs."""
        rows = self._store.execute(
            f"""
            SELECT list, coalesce(sum(requests) FILTER (address = '{UNREAD}'), 0)::BIGINT,
                   coalesce(sum(requests) FILTER (address = '{OFFSITE}'), 0)::BIGINT,
                   coalesce(sum(if(is_asset, requests, requests - visits)) FILTER (page IS NOT NULL), 0)::BIGINT,
                   {iso("min(first)")}, {iso("max(last)")}
            FROM log_visits JOIN log_pages USING (url) GROUP BY list"""
        )
        for number, unread, offsite, left_out, since, until in rows:
            total = totals[number]
            total.unread += unread
            total.offsite, total.left_out, total.since, total.until = offsite, left_out, since, until

    # Crawlers, once all listed pages are known and numbered.

    def sum_up(self, homes: Iterable[str]) -> dict[str, CrawlerFetches]:
        """What each crawler requested, by its name in lower case. Fills the tables `fetched_files` and
        `fetched_problems`."""
        execute = self._store.execute
        self._note_special(homes)
        execute(ENTRIES)
        execute(FETCHED)
        days: dict[str, float] = dict(execute(DAYS))
        [(listed,)] = execute("SELECT count(*) FROM log_entries")
        execute(KEYS)
        execute("CREATE OR REPLACE TEMP TABLE log_seen (url UBIGINT, fetched JSON)")
        for part in range(PARTS):
            execute(SEEN, [part])
        found = {}
        for crawler, requests, fetched, errors, denied, last, *special in execute(BY_CRAWLER):
            verified = True if crawler in self._ranges.crawlers else None
            made = CrawlerFetches(verified, 0, requests, fetched, listed - fetched, errors, denied, last)
            made.days = days.get(crawler)
            made.robots, made.robots_last, made.sitemaps, made.sitemaps_last = special
            found[crawler] = made
        for crawler, pretended in execute(PRETENDED):
            found.setdefault(crawler, CrawlerFetches(True, not_fetched=listed)).pretended = pretended
        with self._store.transaction():
            for table, query in (("fetched_files", FILES), ("fetched_problems", PROBLEMS)):
                execute(f"DELETE FROM {table}")
                execute(f"INSERT INTO {table} {query}")
        return found

    def fetched(self) -> NewValues:
        """`fetched` of the entries, once all are final. Raises duckdb.Error."""
        self._store.execute(ROWS_SEEN)
        return NewValues("log_rows", {"fetched": "coalesce(log_rows.fetched, u.fetched)"})

    def _note_special(self, homes: Iterable[str]) -> None:
        """Number robots.txt files and sitemaps: temporary table `log_special`."""
        files = self._store.execute(
            "SELECT 'robots', robots FROM robots "
            "UNION SELECT 'sitemap', sitemap FROM sitemaps WHERE starts_with(sitemap, 'http')"
        )
        rows = {
            number_of(url): (kind, url) for kind, url in [*files, *(("robots", f"{home}robots.txt") for home in homes)]
        }
        self._store.execute("DELETE FROM log_special")
        self._store.execute(
            "INSERT INTO log_special SELECT unnest(?::UBIGINT[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[])",
            [[*rows], [kind for kind, _ in rows.values()], [url for _, url in rows.values()]],
        )


def _blocks(texts: Iterable[str], found: LogFormat) -> Iterator[tuple[LogFormat, str]]:
    """Join texts to some `AT_ONCE` characters of one format, which a line with the names of columns may change."""
    some: list[str] = []
    size = 0
    for text in texts:
        for part in SECTIONS.split(text) if FIELDS in text else (text,):
            names = part.partition("\n")[0].removeprefix(FIELDS).split() if part.startswith(FIELDS) else ()
            new = with_columns(names) if IIS_NAMES.intersection(names) else None
            if some and (size >= AT_ONCE or new not in (None, found)):
                yield found, "\n".join(some)
                some, size = [], 0
            found = new or found
            some.append(part)
            size += len(part)
    if some:
        yield found, "\n".join(some)
