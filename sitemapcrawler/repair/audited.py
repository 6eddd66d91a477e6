"""What an audit has found out: the sitemaps of a site, and which listed URLs do not belong in one.

Reads the database of a job (JOBDIR), or the folder that the command `audit` wrote.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from sitemapcrawler import urls
from sitemapcrawler.feeds.folder import CONTENTS, FORMATS, SUMMARY, summary_of
from sitemapcrawler.items import FindingRecord, PageRecord, ReplyRecord, RobotsRecord, SitemapRecord, Target, UrlRecord
from sitemapcrawler.jobs.store.database import FILE
from sitemapcrawler.jobs.store.files import check, confine
from sitemapcrawler.jobs.store.queries import reading
from sitemapcrawler.jobs.store.schema import columns, iso, json_line, literal
from sitemapcrawler.reader.duck import CONFIG, duckdb
from sitemapcrawler.repair.additions import FoundPage
from sitemapcrawler.repair.streaming import COMPARED, LINKED, Dated, Verdict
from sitemapcrawler.replies.chase import REDIRECTS
from sitemapcrawler.replies.indexability import Indexability, indexability, names_other, rough_key
from sitemapcrawler.replies.kinds import Reason, ReplyKind, at_end
from sitemapcrawler.replies.page.body import is_page
from sitemapcrawler.robots import RobotsOutcome
from sitemapcrawler.robots.policy import TOO_MANY_REQUESTS
from sitemapcrawler.rules.facts.replied import TO_HOME, home_of, leads_to_login, redirect_rule
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.rules.facts.tally import Match, match
from sitemapcrawler.rules.facts.unlisted import MISSING, UNLISTED
from sitemapcrawler.rules.families.page_replies import PERMANENT
from sitemapcrawler.rules.registry import Severity
from sitemapcrawler.urls.grammar import Standing, standing

JSON_LINES, PARQUET = FORMATS
Row = tuple[Any, ...]  # Any: the query decides on the types
Record = TypeVar("Record", SitemapRecord, UrlRecord, RobotsRecord)
ROWS = 1000
"""Rows that are read from a database at a time."""
NOINDEX = ("page-noindex-meta", "page-noindex-header", "page-noindex-for-googlebot-only")
GONE = 410
MAX_LINE = 1 << 24
"""Bytes of a line of a JSON lines feed."""
CONTENTS_SEEN = f"""
    SELECT url, {iso("coalesce(changed_at, first_seen)")}, {iso("coalesce(changed_after, changed_at)")}
    FROM {{contents}} WHERE changed_at IS NOT NULL OR first_seen < {{started}}"""
"""SQL for pages that two crawls have read: since when the content is what it is, and if it was seen to change, the last
time at which it was not."""
STARTED = "(SELECT (value->>'$.started')::TIMESTAMP FROM job WHERE name = 'summary')"
PARTIAL = "SELECT value->>'$.partial' FROM job WHERE name = 'summary'"
HAS_FOUND = "SELECT EXISTS (FROM pages), EXISTS (FROM compared_lists)"
"""SQL: whether a job has followed links, and has read lists."""
FOUND_BY_LINKS = f"""
    SELECT url, '{LINKED}', coalesce(indexable, FALSE), modified FROM ({UNLISTED})
    WHERE grouped IS NULL ORDER BY url"""
FOUND_BY_LISTS = f"""
    SELECT url, '{COMPARED}', coalesce(indexable, FALSE), modified FROM ({MISSING})
    WHERE grouped IS NULL ORDER BY url"""
FINDINGS_OF_LISTS = f"""
    SELECT url, '{COMPARED}', severity <> '{Severity.INFO}', NULL FROM findings
    WHERE rule = '{COMPARED}' AND url IS NOT NULL ORDER BY url"""
"""SQL for pages to add: URL, rule, whether it can be indexed, date. A folder has those of lists as findings."""


def is_audit(path: Path) -> bool:
    """True for the folder of a job, or of a finished audit with its records."""
    return (path / FILE).is_file() or ((path / SUMMARY).is_file() and _feed(path, "urls") is not None)


def _feed(path: Path, name: str) -> Path | None:
    return next((feed for form in FORMATS if (feed := path / f"{name}.{form}").is_file()), None)


class AuditedSite:
    """The records of an audit, read as a stream. Verdicts are kept in a database on disk."""

    def __init__(self, path: Path, work: Path, keep_unverified: bool) -> None:
        """`work`: folder for the database. `keep_unverified`: no verdict on a URL whose replacement is not verified.
        Raises StoreError or ValueError, one line, if `path` cannot be read."""
        self._path = path
        self._keeps = keep_unverified
        self._known = sqlite3.connect(work / "verdicts.sqlite", isolation_level=None)
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE"):
            self._known.execute(f"PRAGMA {pragma}")
        self._known.execute("CREATE TABLE good (url TEXT PRIMARY KEY) WITHOUT ROWID")
        self._known.execute("CREATE TABLE bad (url TEXT PRIMARY KEY, rule TEXT, target TEXT) WITHOUT ROWID")
        if (path / FILE).is_file():
            check(path / FILE)
        self.sitemaps = [*self._records("sitemaps", SitemapRecord)]
        """Records of the files, in the order of the crawl."""
        self.is_first_sight = False
        """True if no page is known to have been read twice, once `dated` was called."""
        robots = [*self._records("robots", RobotsRecord)]
        unknown = (one for one in robots if one.outcome == RobotsOutcome.UNREACHABLE or one.status == TOO_MANY_REQUESTS)
        self._unknown = {urls.origin(one.robots) for one in unknown}
        """Origins whose robots.txt did not answer, for which crawlers take everything as blocked for the time being."""
        self._named = {urls.origin(one.robots): {*map(urls.visit_key, one.sitemaps)} for one in robots if one.sitemaps}
        """{origin: visit keys of the sitemaps that its robots.txt names}."""
        self._parents = {one.sitemap: one.parent for one in self.sitemaps if one.parent is not None}
        self._origins: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
        """{sitemap: the origins of its pages}."""
        self._behind: set[str] = set()
        """Request keys of the pages to which entries that stay redirect."""
        self._judge()

    def close(self) -> None:
        self._known.close()

    def partial(self) -> str | None:
        """Return why the audit ended early; None if it did not."""
        if (self._path / FILE).is_file():
            ends = [reason for (reason,) in _rows(self._path / FILE, PARTIAL)]
            return ends[0] if ends else "it was killed"
        return (summary_of(self._path) or {}).get("partial")

    def verdicts(self, listed: Sequence[str]) -> dict[str, Verdict]:
        """Return the verdicts on those of these URLs that do not belong in a sitemap."""
        found = {}
        for url in listed:
            row = self._known.execute("SELECT rule, target FROM bad WHERE url = ?", (url,)).fetchone()
            if row is not None:
                found[url] = Verdict(*row)
        return found

    def home(self) -> str | None:
        """Return the root folder of the origin that most listed pages have."""
        [(origin, _)] = sum(self._origins.values(), Counter()).most_common(1) or [(None, 0)]
        return origin and f"{origin}/"

    def others(self, home: str) -> set[str]:
        """Return the sitemaps most of whose pages have another origin than `home`, and the indexes above them. Files
        without pages count by their own origin."""
        own = urls.origin(home)
        listing = (one for one, origins in self._origins.items() if origins.most_common(1)[0][0] != own)
        found = {above for one in listing for above in self._line(one)}
        with_pages = {above for one in self._origins for above in self._line(one)}
        named = (one.sitemap for one in self.sitemaps)
        return found | {one for one in named if one not in with_pages and urls.origin(one) != own}

    def is_named(self, sitemap: str) -> bool:
        """True if the robots.txt of its host names a sitemap."""
        return urls.visit_key(sitemap) in self._named.get(urls.origin(sitemap), ())

    def may_list(self, url: str, places: Sequence[str]) -> bool:
        """True if the robots.txt on the host of a URL names one of these sitemaps, or an index above it."""
        named = self._named.get(urls.origin(url), ())
        return any(urls.visit_key(one) in named for place in places for one in self._line(place))

    def dated(self) -> Dated:
        """Return the dates of pages by what the job, its baseline and earlier ones have seen of their content. Raises
        ValueError, one line, without such a history."""
        database, table = self._path / FILE, self._path / CONTENTS
        if database.is_file():
            seen = _rows(database, CONTENTS_SEEN.format(contents="contents", started=STARTED))
        elif table.is_file():
            started = (summary_of(self._path) or {}).get("started")
            query = CONTENTS_SEEN.format(contents="read_parquet(?)", started="?::TIMESTAMP")
            seen = _rows(None, query, [table], [str(table), str(started)])
        else:
            raise ValueError(
                "has no history of contents; accepted: an audit or a JOBDIR with verify=get and a baseline"
            )
        execute = self._known.execute
        execute("CREATE TABLE contents (url TEXT PRIMARY KEY, since TEXT, after TEXT) WITHOUT ROWID")
        execute("BEGIN")
        for row in seen:
            execute("INSERT INTO contents VALUES (?, ?, ?)", row)
        execute("COMMIT")
        [(self.is_first_sight,)] = execute("SELECT count(*) = 0 FROM contents")
        return self._date_of

    def _date_of(self, url: str, lastmod: str | None) -> str | None:
        """A content that was seen to change has this date, unless it has one since the crawl before; one that stays the
        same has none that is later."""
        row = self._known.execute("SELECT since, after FROM contents WHERE url = ?", (url,)).fetchone()
        if row is None:
            return None
        since, after = row
        how = match(lastmod or "", since)
        if after is None:
            return "" if how is Match.NEWER else None
        is_between = how is Match.OLDER and match(lastmod or "", after) is not Match.OLDER
        return None if how is Match.AGREES or is_between else since

    def found_pages(self) -> list[FoundPage]:
        """Return the pages that links or lists have and no sitemap lists, without feeds, files and paginated pages.
        Raises ValueError, one line, if the audit has neither followed links nor read lists."""
        database = self._path / FILE
        found: list[Iterator[Row]] = []
        if database.is_file():
            [(linked, compared)] = _rows(database, HAS_FOUND)
            if linked or compared:
                found = [_rows(database, FOUND_BY_LINKS), _rows(database, FOUND_BY_LISTS)]
        else:
            pages, findings = _feed(self._path, "pages"), _feed(self._path, "findings")
            if pages is not None:
                found.append(_rows_of(pages, "pages", PageRecord, FOUND_BY_LINKS))
            if findings is not None and (summary_of(self._path) or {}).get("coverage") is not None:
                found.append(_rows_of(findings, "findings", FindingRecord, FINDINGS_OF_LISTS))
        if not found:
            raise ValueError("followed no links and read no lists; audit with links=site or compare=FILE")
        all_pages = (FoundPage(*row) for rows in found for row in rows)
        return [page._replace(is_behind=urls.request_key(page.url) in self._behind) for page in all_pages]

    def _line(self, sitemap: str) -> Iterator[str]:
        """A sitemap, and the indexes above it."""
        passed: set[str] = set()
        above: str | None = sitemap
        while above is not None and above not in passed:
            yield above
            passed.add(above)
            above = self._parents.get(above)

    def _judge(self) -> None:
        execute = self._known.execute
        execute("BEGIN")
        for record in self._records("urls", UrlRecord):
            if record.change == "removed":
                continue
            self._origins[record.sitemap][urls.origin(record.loc)] += 1
            if record.target is not None and record.target.indexable:
                execute("INSERT OR IGNORE INTO good VALUES (?)", (urls.request_key(record.target.url),))
            if record.indexable:
                execute("INSERT OR IGNORE INTO good VALUES (?)", (urls.request_key(record.loc),))
            elif record.indexable is False:
                found = self._verdict(record)
                if found is None and record.indexability == Indexability.REDIRECT and record.target is not None:
                    self._behind.add(urls.request_key(record.target.url))
                elif found is not None:
                    execute("INSERT OR IGNORE INTO bad VALUES (?, ?, ?)", (record.loc, found.rule, found.replacement))
        self._known.create_function("key_of", 1, urls.request_key, deterministic=True)
        statement = "DELETE FROM bad" if self._keeps else "UPDATE bad SET target = NULL"
        unknown = "target IS NOT NULL AND key_of(target) NOT IN (SELECT url FROM good)"
        execute(f"{statement} WHERE rule IN (?, ?) AND {unknown}", (CANONICAL, REFRESH))
        self._known.create_function("home_of", 1, home_of, deterministic=True)
        # Of pages that are gone.
        several = "SELECT home_of(target) FROM bad WHERE rule = ? AND target IS NOT NULL GROUP BY 1 HAVING count(*) > 1"
        of_several = f"target IS NOT NULL AND home_of(target) IN ({several})"
        execute(f"UPDATE bad SET target = NULL WHERE rule = ? AND {of_several}", (TO_HOME, TO_HOME))
        execute("COMMIT")

    def _verdict(self, record: UrlRecord) -> Verdict | None:
        """What to do with a URL that cannot be indexed; None where that may pass, as a server error does."""
        reply = record.reply
        match record.indexability:
            case Indexability.BLOCKED:
                return None if urls.origin(record.loc) in self._unknown else Verdict("url-blocked-by-robots")
            case Indexability.NOT_FOUND:
                return Verdict("status-410" if reply is not None and reply.status == GONE else "status-404")
            case Indexability.SOFT_404:
                return Verdict("status-soft-404")
            case Indexability.NOINDEX:
                return Verdict(next((rule for rule in NOINDEX if rule in record.issues), NOINDEX[0]))
            case Indexability.CANONICALISED if reply is not None and reply.canonical:
                return self._of_named(record, CANONICAL, reply.canonical)
            case Indexability.REDIRECT if reply is not None and reply.refresh and not reply.redirects:
                return self._of_named(record, REFRESH, reply.refresh)
            case Indexability.REDIRECT if reply is not None:
                return self._of_redirect(record)
        return None

    def _of_named(self, record: UrlRecord, rule: str, named: str) -> Verdict | None:
        """The verdict on a page that names another one, by its canonical or a refresh; None if the canonical is void or
        in another language. Without a verified target, the page that is named replaces it if another entry shows that
        it is indexable."""
        target = record.target
        if OTHER_LANGUAGE in record.issues or (rule == CANONICAL and is_void(target, record.loc)):
            return None
        is_unfit = target is not None and target.indexable is False and target.indexability not in PASSING
        if is_unfit or not may_replace(record, named):
            return Verdict(rule)
        return Verdict(rule, named if target is None else target.url)

    def _of_redirect(self, record: UrlRecord) -> Verdict | None:
        """The verdict on a URL that redirects, by the page at the end, and by the one that this page names."""
        reply, verified = record.reply, record.target
        assert reply is not None
        if reply.kind == ReplyKind.REDIRECT_LOOP:
            return Verdict("status-redirect-loop")
        if reply.redirects and leads_to_login(record.loc, reply.final_url or ""):
            return Verdict("status-redirect-to-login")
        if reply.redirects and reply.final_url is not None and not may_replace(record, reply.final_url):
            return Verdict("status-redirect-offsite")
        target = moved_to(reply)
        if target is not None and not may_replace(record, target):
            return Verdict("status-redirect-offsite")
        rule = redirect_rule(record.loc, reply) if reply.redirects else REDIRECT
        unverified = None if self._keeps else Verdict(rule)
        if reply.reason == Reason.BLOCKED:
            return unverified
        why: str | None = indexability(at_end(reply))
        if reply.refresh is not None and why == Indexability.REDIRECT:
            why = Indexability.CANONICALISED  # the page names another one in both cases
        elif why == Indexability.CANONICALISED and is_void(verified, reply.final_url):
            why, verified = Indexability.OK, None
        if why == Indexability.CANONICALISED:
            if target is None and not names_other(reply.refresh or reply.canonical, record.loc):
                return None
            target = verified.url if verified is not None else target
        if verified is not None:  # robots.txt counts there too
            why = verified.indexability
        match why:
            case Indexability.OK:
                if target is None:
                    return None
                return Verdict(rule, target if may_replace(record, target) and is_page(reply.content_type) else None)
            case Indexability.NOT_FOUND:
                status = reply.final_status if verified is None else verified.status
                return Verdict("status-410" if status == GONE else "status-404")
            case Indexability.SOFT_404:
                return Verdict("status-soft-404")
            case Indexability.NOINDEX:
                return Verdict(NOINDEX[0])
            case Indexability.BLOCKED:
                return Verdict(rule)
            case Indexability.CANONICALISED:
                return unverified
            case Indexability.NOT_READ | Indexability.NOT_CHECKED:
                return unverified if target is not None else None
            case Indexability.REDIRECT if verified is not None or reply.final_status in REDIRECTS:  # to no web page
                return Verdict(rule)
        return None

    def _records(self, name: str, kind: type[Record]) -> Iterator[Record]:
        """Yield the records of a table, without the lists of their objects."""
        database = self._path / FILE
        feed = _feed(self._path, name)
        decode = msgspec.json.Decoder(kind).decode
        if database.is_file():
            condition = CURRENT if kind is UrlRecord else "TRUE"
            query = f"SELECT {_line_of(kind)} FROM {name} WHERE {condition}"
            yield from (decode(line) for (line,) in _rows(database, query))
        elif feed is not None and feed.suffix == f".{JSON_LINES}":
            with feed.open("rb") as lines:
                yield from map(decode, lines)
        elif feed is not None:
            query = f"SELECT {_line_of(kind)} FROM read_parquet({literal(str(feed))})"
            yield from (decode(line) for (line,) in _rows(None, query, [feed]))


def _line_of(kind: type) -> str:
    """SQL for a record as JSON, without lists of objects: entries are read from the sitemaps."""
    heavy = {"images", "videos", "news", "alternates", "extra", "counts", "lastmod", "replies"}
    return json_line(kind, absent=frozenset(columns(kind).keys() & heavy) if kind is UrlRecord else frozenset(heavy))


def _rows_of(feed: Path, table: str, kind: type, query: str) -> Iterator[Row]:
    """Yield the rows of SQL on a feed. `table`: its name in the query."""
    source = "read_parquet(?)" if feed.suffix == f".{PARQUET}" else reading(columns(kind), MAX_LINE)
    return _rows(None, f"WITH {table} AS (SELECT * FROM {source}) {query}", [feed], [str(feed)])


def _rows(
    database: Path | None, query: str, files: Sequence[Path] = (), parameters: Sequence[str] = ()
) -> Iterator[Row]:
    with duckdb.connect(database or ":memory:", read_only=database is not None, config=CONFIG) as connection:
        confine(connection, files=files)
        try:
            cursor = connection.execute(query, parameters)
        except duckdb.InvalidInputException as error:
            why = str(error).partition("\n")[0].removeprefix("Invalid Input Error: ")
            raise ValueError(f"cannot be read: {why}") from None
        except duckdb.BinderException:
            names = ", ".join(file.name for file in files) or FILE
            raise ValueError(f"{names} of the audit was written by another version; audit the site again") from None
        while rows := cursor.fetchmany(ROWS):
            yield from rows


REDIRECT, CANONICAL, REFRESH = "status-redirect", "page-canonical-other", "page-meta-refresh"
OTHER_LANGUAGE = "page-canonical-other-language"
PASSING = frozenset((Indexability.UNREACHABLE, Indexability.SERVER_ERROR, Indexability.CLIENT_ERROR))
"""What may pass, or be meant for crawlers alone."""
VOID = frozenset((Indexability.NOT_FOUND, Indexability.SOFT_404, Indexability.CANONICALISED))
"""Indexability of a canonical for which the page that names it stays."""


def moved_to(reply: ReplyRecord) -> str | None:
    """The URL at the end of the permanent redirects with which a chain begins; None if the first one is temporary."""
    target = None
    for hop, end in zip(reply.redirects, [*(hop.url for hop in reply.redirects[1:]), reply.final_url], strict=True):
        if hop.status not in PERMANENT:
            break
        target = end
    return target


def is_void(canonical: Target | None, page: str | None) -> bool:
    """True if search engines ignore the canonical of a page: it does not exist, names another page itself, as in a
    loop, or redirects to the page or another spelling of it, as on a former domain."""
    if canonical is None:
        return False
    end = canonical.final_url if canonical.indexability == Indexability.REDIRECT else None
    leads_back = end is not None and page is not None and rough_key(end) == rough_key(page)
    return leads_back or canonical.indexability in VOID


def may_replace(record: UrlRecord, url: str) -> bool:
    """True if a URL may replace a listed one: a web URL on its host or that of its sitemap, apart from a leading `www.`
    and https."""
    return urls.is_web(url) and any(
        urls.authority(one) == urls.authority(url) or standing(url, one) is not Standing.OTHER_AUTHORITY
        for one in (record.loc, record.sitemap)
        if urls.is_web(one)
    )
