"""The link graph of a crawl: stores the links of each page that is read, and counts them in SQL when all are read.

A page is a number: a digest of its page key, the key by which rules find pages that are listed twice. The links of a
page enter the database in the transaction of its reply, so a killed crawl neither loses nor repeats any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import blake2b

from sitemapcrawler import urls
from sitemapcrawler.items import LinkGraph, UrlRecord
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.schema import LINES
from sitemapcrawler.replies.chase import MAX_REDIRECTS, REDIRECTS, NoTarget, Step, target
from sitemapcrawler.replies.indexability import Indexability, RobotsVerdicts
from sitemapcrawler.replies.kinds import ReplyKind
from sitemapcrawler.rules.facts.languages import NORMAL_URL, page_key
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.rules.facts.unlisted import NOT_LINKED, UNLISTED
from sitemapcrawler.urls.expressions import Expression

DIGEST_BYTES = 8
"""Bytes of a page's number. Among ten million pages, two share one with a probability of 3 in a million."""
PART = 1_000
"""Links in a row: DuckDB handles 2,048 rows at a time, however long they are."""
MAX_KNOWN = 200_000
"""Targets whose URL is known to be stored already, some 20 MB. Menus link to the same pages from every page."""
AT_ONCE = 10_000
"""Rows that pass through Python at once."""
EXAMPLES = 3
"""Linking pages named for each page."""
BUCKET = 500_000
"""Links counted by one query, which bounds its memory."""
MAX_CLICKS = 100
"""Clicks from the home page at which the crawl along links ends: calendars have a next page without end."""
MAX_VARIANTS = 100
"""Found pages requested that differ in nothing but their query: filters and session ids multiply a page."""
FAR = 1_000_000
"""Depth of pages that cannot be reached, to sort them last."""


def number_of(url: str) -> int:
    """Return the number of the page at a URL."""
    is_normal = NORMAL_URL.fullmatch(url) is not None and not url.endswith("?")
    key = url if is_normal else page_key(urls.request_key(url))
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest(), "big")


def is_near(url: str, other: str) -> bool:
    """True for hosts that are equal or share their last two labels, so that they may belong to one site."""
    host, there = urls.host_of(url), urls.host_of(other)
    return host == there or (host[-1:].isalpha() and host.rsplit(".", 2)[-2:] == there.rsplit(".", 2)[-2:])


class LinkRows:
    """Turns replies into rows of the tables `linking` and `linked`."""

    def __init__(self) -> None:
        self._known: set[int] = set()

    def rows(self, url: str, step: Step) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield (table, row) for the links of a page, or the target of a redirect. `url`: of the request."""
        moved = _moved(url, step)
        if moved is not None:
            yield from self._targets([moved], [number_of(moved)])
            yield "linking", {"page": number_of(url), "url": url, "part": 0, "moved": number_of(moved)}
        page = step.page
        if page is None or page.links is None or step.status is None or not 200 <= step.status < 300:
            return
        near = [
            [target for target in found if is_near(url, target)] for found in (page.links.followed, page.links.nofollow)
        ]
        numbers = [list(map(number_of, found)) for found in near]
        for found, targets in zip(near, numbers, strict=True):
            yield from self._targets(found, targets)
        followed = list(dict.fromkeys(numbers[0]))
        nofollow = list(dict.fromkeys(numbers[1]).keys() - set(followed))
        facts: dict[str, object] = {
            "complete": page.links.complete and step.cut is None,
            "offsite": len(page.links.followed) + len(page.links.nofollow) - sum(map(len, near)),
        }
        if page.successor is not None and is_near(url, page.successor):
            facts["canonical"] = number_of(page.successor)
        for start in range(0, max(len(followed), len(nofollow), 1), PART):
            part = {"followed": followed[start : start + PART], "nofollow": sorted(nofollow)[start : start + PART]}
            yield "linking", {"page": number_of(url), "url": url, "part": start // PART, **part, **facts}
            facts = {}

    def _targets(self, found: Sequence[str], numbers: Sequence[int]) -> Iterator[tuple[str, dict[str, object]]]:
        for url, number in zip(found, numbers, strict=True):
            if number not in self._known:
                if len(self._known) >= MAX_KNOWN:
                    self._known.clear()
                self._known.add(number)
                yield "linked", {"page": number, "url": url}


def _moved(url: str, step: Step) -> str | None:
    if step.status not in REDIRECTS:
        return None
    try:
        return target(next(iter(step.headers.get("location", ())), None), url)
    except NoTarget:
        return None


ONCE = "rowid IN (SELECT min(rowid) FROM linking GROUP BY page, part)"
"""SQL that is true for each row of `linking` but repeated ones: a page is requested again if the memo was lost."""
NUMBERED = f"""
    INSERT INTO {{table}} SELECT split_part(line, ' ', 1)::UBIGINT, split_part(line, ' ', 2)::BIGINT FROM ({LINES})"""
"""SQL: numbers of pages with their entries. DuckDB takes a long text faster than lists."""


def number_pages(store: Store, table: str, condition: str, number: Callable[[str], int]) -> None:
    """Number the pages of the entries that meet an SQL condition: a temporary table of `page` and `entry`, a row."""
    store.execute(f"CREATE OR REPLACE TEMP TABLE {table} (page UBIGINT, entry BIGINT)")
    [(end,)] = store.execute("SELECT coalesce(max(rowid) + 1, 0) FROM urls")
    for first in range(0, end, AT_ONCE):
        here = f"rowid BETWEEN {first} AND {first + AT_ONCE - 1}"
        if rows := store.execute(f"SELECT rowid, loc FROM urls WHERE {condition} AND {here} ORDER BY rowid"):
            store.execute(NUMBERED.format(table=table), ["\n".join(f"{number(url)} {entry}" for entry, url in rows)])


@dataclass(frozen=True, slots=True)
class LinkScope:
    """Which pages belong to the graph, and which of them may be requested."""

    homes: Sequence[str]
    """Home pages, from which clicks are counted."""
    verdicts: RobotsVerdicts
    include: Expression | None = None
    """What found URLs must match."""
    exclude: Expression | None = None
    """What they must not match."""
    max_pages: int = 0
    """Found pages to request."""
    follows: bool = False
    """True if links are followed, so that unlisted pages are requested."""

    @property
    def sites(self) -> frozenset[str]:
        """Sites of the home pages."""
        return frozenset(map(urls.site_of, self.homes))

    def passes(self, url: str) -> bool:
        """False for a found URL that the arguments leave out."""
        included = self.include is None or self.include.matches(url)
        return included and (self.exclude is None or not self.exclude.matches(url))


class FoundBy(StrEnum):
    """What led to a page of the table `found`."""

    LINK = "link"
    LIST = "list"
    CANONICAL = "canonical"
    """The canonical of a listed page, or where its refresh leads."""
    REDIRECT = "redirect"
    """A URL that was requested redirects to it, so that it cost no further request."""


FETCHED = f"kind <> 'unchecked' AND found_by <> '{FoundBy.REDIRECT}'"
"""SQL that is true for pages of `found` that cost a request of their own."""


class Links:
    """The link graph in the database of a job. Use it in the writing thread only."""

    found_by = FoundBy.LINK

    def __init__(self, store: Store, scope: LinkScope) -> None:
        self._store = store
        self._scope = scope
        self._depth = 0

    @property
    def depth(self) -> int:
        """Clicks from the home pages that were gone."""
        return self._depth

    # Following links, breadth first.

    def begin(self) -> None:
        """Start at the home pages."""
        self.number_listed()
        self._store.execute("CREATE OR REPLACE TEMP TABLE link_depths (page UBIGINT, depth INTEGER)")
        homes = self._homes()
        rows = [{"page": number_of(url), "url": url} for url in homes]
        with self._store.transaction():
            self._store.insert_rows("linked", rows)
        self._store.execute(
            "INSERT INTO link_depths SELECT DISTINCT unnest(?::UBIGINT[]), 0", [[r["page"] for r in rows]]
        )
        self._depth = 0

    def _homes(self) -> list[str]:
        """The home pages, with those in other spellings of their sites that were read."""
        read = self._store.execute("SELECT DISTINCT url FROM linking WHERE regexp_full_match(url, 'https?://[^/?#]+/')")
        known = [url for (url,) in read if urls.site_of(url) in self._scope.sites]
        return list(dict.fromkeys([*self._scope.homes, *known]))

    def unlisted_homes(self) -> list[str]:
        """The home pages of the scope that no sitemap lists."""
        self.number_listed()
        homes = {number_of(url): url for url in self._scope.homes}
        listed = self._store.execute(
            "SELECT DISTINCT page FROM link_listed WHERE page IN (SELECT unnest(?::UBIGINT[]))", [list(homes)]
        )
        return [url for page, url in homes.items() if (page,) not in listed]

    def number_listed(self) -> None:
        """Number the listed pages: temporary table `link_listed`, unless it has them. Entries that are written again
        move to the end."""
        self._store.execute("CREATE TEMP TABLE IF NOT EXISTS link_listed (page UBIGINT, entry BIGINT)")
        numbered = self._store.execute("SELECT count(*), max(entry) FROM link_listed")
        if numbered != self._store.execute(f"SELECT count(*), max(rowid) FROM urls WHERE {CURRENT}"):
            number_pages(self._store, "link_listed", CURRENT, number_of)

    def deeper(self) -> bool:
        """Go one click further. Returns False if no more pages can be reached."""
        self._close()
        if self._depth >= MAX_CLICKS:
            return False
        added = self._store.execute(
            f"""
            INSERT INTO link_depths SELECT DISTINCT page, {self._depth + 1} FROM (
                SELECT unnest(l.followed) AS page FROM linking l JOIN link_depths d USING (page)
                WHERE d.depth = {self._depth}) n ANTI JOIN link_depths d USING (page)"""
        )
        self._depth += 1
        return bool(added[0][0])

    def _close(self) -> None:
        """Give the targets of redirects the depth of what redirects to them."""
        for _ in range(MAX_REDIRECTS):
            [(added,)] = self._store.execute(
                f"""
                INSERT INTO link_depths SELECT DISTINCT page, {self._depth} FROM (
                    SELECT l.moved AS page FROM linking l JOIN link_depths d USING (page)
                    WHERE d.depth = {self._depth} AND l.moved IS NOT NULL) n ANTI JOIN link_depths d USING (page)"""
            )
            if not added:
                return

    def wanted(self) -> None:
        """Collect the pages at this depth that are to be requested: temporary table `link_wanted`."""
        self._store.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE link_wanted AS
            SELECT row_number() OVER (ORDER BY url) AS n, url FROM (
                SELECT w.url FROM (
                    SELECT page, min(url) AS url FROM link_depths JOIN linked USING (page)
                    WHERE depth = {self._depth} GROUP BY page) w
                ANTI JOIN link_listed l USING (page) ANTI JOIN found f USING (page)
                LEFT JOIN (SELECT split_part(url, '?', 1) AS path, count(*) AS number FROM found GROUP BY path) o
                    ON o.path = split_part(w.url, '?', 1)
                QUALIFY row_number() OVER (PARTITION BY split_part(w.url, '?', 1) ORDER BY w.url)
                    + coalesce(o.number, 0) <= {MAX_VARIANTS})"""
        )

    def take(self, first: int, many: int) -> list[str] | None:
        """Return the URLs to request among `many` wanted ones from number `first`; None if there are no more."""
        rows = self._store.execute(
            "SELECT url FROM link_wanted WHERE n BETWEEN ? AND ? ORDER BY n", [first, first + many - 1]
        )
        if not rows:
            return None
        return [url for (url,) in rows if urls.site_of(url) in self._scope.sites and self._scope.passes(url)]

    def left(self) -> int:
        """Number of found pages that may still be requested."""
        [(asked,)] = self._store.execute(
            f"SELECT count(DISTINCT page) FROM found ANTI JOIN link_listed USING (page) WHERE {FETCHED}"
        )
        return max(0, self._scope.max_pages - int(asked))

    # Counting, once all pages are read.

    def count(self) -> None:
        """Fill the table `pages`."""
        store = self._store
        with store.transaction():
            store.execute("DELETE FROM pages")
        self.begin()
        while self.deeper():
            pass
        for statement in COUNTING:
            store.execute(statement)
        [(links,)] = store.execute("SELECT coalesce(sum(len(followed)), 0) FROM linking")
        buckets = int(links) // BUCKET + 1
        for bucket in range(buckets):
            store.execute(COUNT.format(buckets=buckets, bucket=bucket))
        for statement in NAMING:
            store.execute(statement)
        self._place_unlisted()
        with store.transaction():
            store.execute(f"INSERT INTO pages BY NAME ({PAGES})", [self._unasked])
        for table in TEMPORARY:
            store.execute(f"DROP TABLE IF EXISTS temp.{table}")

    @property
    def _unasked(self) -> str:
        """Why an unlisted page was not requested."""
        return "left-out" if self._scope.follows else "not-listed"

    def _place_unlisted(self) -> None:
        """Select the unlisted pages on the sites of the crawl: temporary table `link_unlisted`."""
        execute = self._store.execute
        [(last,)] = execute("SELECT coalesce(max(n), 0) FROM link_others")
        for first in range(1, last + 1, AT_ONCE):
            rows = execute("SELECT page, url FROM link_others WHERE n BETWEEN ? AND ?", [first, first + AT_ONCE - 1])
            near = [(page, url) for page, url in rows if urls.site_of(url) in self._scope.sites]
            if near:
                execute(
                    "INSERT INTO link_unlisted "
                    "SELECT unnest(?::UBIGINT[]), unnest(?::VARCHAR[]), unnest(?::BOOLEAN[])",
                    [[page for page, _ in near], [url for _, url in near],
                     [self._scope.verdicts.is_blocked(url) for _, url in near]],
                )  # fmt: skip

    def graph(self, why: str | None) -> LinkGraph:
        """Sum up the table `pages`. `why`: what ended following links early, if anything."""
        [(pages, read, unlisted, not_linked, links, deepest, home)] = self._store.execute(TOTALS)
        [(offsite, nofollow, cut)] = self._store.execute(LINK_TOTALS)
        unread: dict[str, int] = dict(self._store.execute(UNREAD))
        groups: dict[str, int] = dict(self._store.execute(IN_GROUPS))
        return LinkGraph(
            pages, read, unread, unlisted, groups, not_linked, links, nofollow, offsite, deepest, bool(home), cut, why
        )


COUNTING = (
    f"""
    CREATE OR REPLACE TEMP TABLE link_aliases AS
    WITH RECURSIVE moved AS (SELECT DISTINCT page, moved AS goal FROM linking WHERE moved IS NOT NULL),
    ends(page, goal, hops) AS (
        SELECT page, goal, 1 FROM moved
        UNION SELECT e.page, m.goal, hops + 1 FROM ends e JOIN moved m ON m.page = e.goal WHERE hops < {MAX_REDIRECTS}),
    named AS (SELECT DISTINCT page, canonical AS goal FROM linking WHERE canonical IS NOT NULL)
    SELECT DISTINCT page, goal FROM (
        SELECT page, goal FROM ends UNION ALL SELECT page, goal FROM named
        UNION ALL SELECT e.page, n.goal FROM ends e JOIN named n ON n.page = e.goal)
    WHERE page <> goal""",
    """
    CREATE OR REPLACE TEMP TABLE link_indirect AS
    SELECT DISTINCT source, goal AS target FROM (
        SELECT page AS source, unnest(followed) AS target FROM linking) l
    JOIN link_aliases a ON a.page = l.target WHERE source <> goal""",
    """
    DELETE FROM link_indirect i USING (SELECT page, unnest(followed) AS target FROM linking) l
    WHERE l.page = i.source AND l.target = i.target""",
    "CREATE OR REPLACE TEMP TABLE link_counts (page UBIGINT, inlinks BIGINT, sources INTEGER[])",
    f"""
    CREATE OR REPLACE TEMP TABLE link_ranks AS
    SELECT page, row_number() OVER (ORDER BY coalesce(depth, {FAR}), page)::INTEGER AS rank
    FROM (SELECT DISTINCT page FROM linking WHERE moved IS NULL) l LEFT JOIN link_depths d USING (page)""",
    f"""
    CREATE OR REPLACE TEMP TABLE link_nofollow AS
    SELECT target AS page, count(*) AS inlinks FROM (
        SELECT page AS source, unnest(nofollow) AS target FROM linking WHERE {ONCE})
    WHERE source <> target GROUP BY target""",
    "CREATE OR REPLACE TEMP TABLE link_unlisted (page UBIGINT, url VARCHAR, blocked BOOLEAN)",
)
"""SQL statements that prepare the counts, in order."""
COUNT = f"""
    INSERT INTO link_counts
    SELECT target, count(*), min(rank, {EXAMPLES}) FROM (
        SELECT page AS source, unnest(followed) AS target FROM linking WHERE {ONCE}
        UNION ALL SELECT source, target FROM link_indirect) l
    JOIN link_ranks k ON k.page = l.source
    WHERE source <> target AND target % {{buckets}} = {{bucket}} GROUP BY target"""
"""SQL that counts the links to a part of the pages. DuckDB keeps the examples of all pages of a query in memory."""
NAMING = (
    f"""
    CREATE OR REPLACE TEMP TABLE link_read AS
    SELECT page, min(url) AS url, sum(len(followed)) - count(*) FILTER (list_contains(followed, page)) AS outlinks
    FROM linking WHERE moved IS NULL AND {ONCE} GROUP BY page""",
    """
    CREATE OR REPLACE TEMP TABLE link_examples AS
    SELECT s.page, list(url ORDER BY rank) AS linked_from FROM (
        SELECT page, unnest(sources) AS rank FROM link_counts) s
    JOIN link_ranks k USING (rank) JOIN link_read r ON r.page = k.page GROUP BY s.page""",
    """
    CREATE OR REPLACE TEMP TABLE link_others AS
    SELECT row_number() OVER (ORDER BY page) AS n, page, url FROM (
        SELECT page, min(url) AS url FROM (
            SELECT page, url FROM linked UNION ALL SELECT page, url FROM link_read
            UNION ALL SELECT page, url FROM found) GROUP BY page) u
    ANTI JOIN link_listed l USING (page)
    WHERE page IN (SELECT page FROM link_counts UNION SELECT page FROM link_nofollow
                   UNION SELECT page FROM link_read)""",
)
"""SQL statements that give pages and examples their URLs, in order."""
TEMPORARY = (
    "link_listed", "link_depths", "link_wanted", "link_aliases", "link_indirect", "link_counts", "link_ranks",
    "link_nofollow", "link_read", "link_examples", "link_others", "link_unlisted",
)  # fmt: skip
FACTS = """
    FROM nodes n LEFT JOIN link_depths d USING (page) LEFT JOIN link_counts c USING (page)
    LEFT JOIN link_nofollow o USING (page) LEFT JOIN link_read r USING (page) LEFT JOIN link_examples e USING (page)"""
REQUESTED = f"""
    SELECT * FROM (SELECT DISTINCT ON (page) * FROM found)
    UNION ALL BY NAME
    SELECT DISTINCT page, '{ReplyKind.REDIRECTED}' AS kind, FALSE AS indexable,
           '{Indexability.REDIRECT}' AS indexability
    FROM linking ANTI JOIN found USING (page) WHERE moved IS NOT NULL"""
"""SQL for what is known of unlisted pages: redirects between a listed page and its target are requested too."""
PAGES = f"""
    WITH nodes AS (
        SELECT l.page, u.loc AS url, TRUE AS listed, u.sitemap, u.reply.kind AS kind, u.reply.reason AS reason,
               u.reply.status AS status, u.reply.final_status AS final_status, u.reply.final_url AS final_url,
               u.reply.redirects AS redirects, u.indexable, u.indexability,
               NULL AS modified
        FROM (
            SELECT page, min({{'file': u.sitemap, 'entry': l.entry}}).entry AS entry
            FROM link_listed l JOIN urls u ON u.rowid = l.entry GROUP BY page) l
        JOIN urls u ON u.rowid = l.entry
        UNION ALL
        SELECT n.page, n.url, FALSE, NULL, coalesce(f.kind, 'unchecked'),
               CASE WHEN f.kind IS NOT NULL THEN f.reason WHEN n.blocked THEN 'blocked' ELSE ? END,
               f.status, f.final_status, f.final_url, f.redirects, CASE WHEN n.blocked THEN FALSE ELSE f.indexable END,
               CASE WHEN n.blocked THEN '{Indexability.BLOCKED}'
                    ELSE coalesce(f.indexability, '{Indexability.NOT_CHECKED}') END, f.modified
        FROM link_unlisted n LEFT JOIN ({REQUESTED}) f USING (page))
    SELECT n.url, n.listed, n.sitemap, d.depth, coalesce(c.inlinks, 0) AS inlinks,
           coalesce(o.inlinks, 0) AS nofollow_inlinks, coalesce(e.linked_from, []) AS linked_from, r.outlinks,
           n.kind, n.reason, n.status, n.final_status, CASE WHEN n.final_url <> n.url THEN n.final_url END AS final_url,
           n.redirects, n.indexable, n.indexability, n.modified
    {FACTS}
    ORDER BY coalesce(d.depth, {FAR}), n.url"""
"""SQL for the rows of `pages`, those nearest to the home page first; `?` is why an unlisted page was not requested."""
TOTALS = f"""
    SELECT count(*), count(outlinks), (SELECT count(*) FROM ({UNLISTED}) WHERE grouped IS NULL),
           (SELECT count(*) FROM ({NOT_LINKED})), coalesce(sum(outlinks), 0)::BIGINT,
           max(depth), count(*) FILTER (depth = 0 AND outlinks IS NOT NULL)
    FROM pages"""
IN_GROUPS = f"""
    SELECT grouped, count(*) FROM ({UNLISTED}) WHERE grouped IS NOT NULL
    GROUP BY grouped ORDER BY count(*) DESC, grouped"""
LINK_TOTALS = f"""
    SELECT coalesce(sum(offsite), 0)::BIGINT, coalesce(sum(len(nofollow)), 0)::BIGINT,
           count(*) FILTER (NOT complete) FROM linking WHERE {ONCE}"""
UNREAD = """
    SELECT coalesce(reason, CASE WHEN kind = 'ok' THEN 'no-html' ELSE kind END) AS why, count(*) FROM pages
    WHERE outlinks IS NULL GROUP BY why ORDER BY count(*) DESC, why"""
"""SQL for the pages whose links are unknown, by reason."""


def found_row(record: UrlRecord, by: FoundBy, modified: str | None) -> dict[str, object]:
    """The row of the table `found` for a page that was requested without being listed. `by`: what led to it;
    `modified`: the date of change that it states."""
    reply = record.reply
    assert reply is not None  # it was verified
    return {
        "page": number_of(record.loc),
        "url": record.loc,
        "found_by": str(by),
        "kind": reply.kind,
        "reason": reply.reason,
        "status": reply.status,
        "final_status": reply.final_status,
        "final_url": reply.final_url,
        "redirects": [asdict(hop) for hop in reply.redirects],
        "indexable": record.indexable,
        "indexability": record.indexability,
        "modified": modified,
    }
