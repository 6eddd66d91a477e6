"""Baseline of a crawl: an earlier job's database or feed, attached to the database of this job."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

import msgspec

from sitemapcrawler.feeds.folder import CONTENTS
from sitemapcrawler.items import Basis, JsonObject, ReplyRecord, SummaryRecord, UrlRecord
from sitemapcrawler.jobs.store.database import Store
from sitemapcrawler.jobs.store.files import JobTable, StoreError, check, create, in_words
from sitemapcrawler.jobs.store.loading import BASELINE, OF_ROBOTS, import_feed
from sitemapcrawler.jobs.store.queries import fetched, line_of
from sitemapcrawler.jobs.store.schema import columns, json_object, literal, tables
from sitemapcrawler.namespaces import plugged
from sitemapcrawler.namespaces.declared import EXTRA
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.rules.facts.contents import version
from sitemapcrawler.rules.facts.languages import page_key
from sitemapcrawler.rules.facts.site import odd
from sitemapcrawler.rules.facts.sites import CARRIED, CHANGED, CURRENT, UNCHANGED, sites_before, sites_of

NOT_COMPARED = frozenset((
    "type", "loc", "loc_raw", "sitemap", "line", "lastmod_at", "recovered", "reply", "indexable", "indexability",
    "target", "issues", "change", "changed_fields", "what_changed", "usage", "fetched",
    "segment",
    "google",
))  # fmt: skip
"""Fields of an entry that say where it is, or what a crawl found out about it. A reply is compared on its own."""
ENTRY = tuple(field.name for field in fields(UrlRecord) if field.name not in NOT_COMPARED)
"""Compared fields of an entry: all others, so that those of namespaces are among them."""
TITLES, CONTENT = ("title", "h1"), "content_hash"
REPLY = (
    "kind",
    "status",
    "final_status",
    "final_url",
    "noindex",
    "noindex_agents",
    "canonical",
    "refresh",
    *TITLES,
    CONTENT,
    "soft_404",
)
"""Compared fields of its reply."""
IN_HEADS = ("noindex", "noindex_agents", "canonical", "refresh", *TITLES, CONTENT, "soft_404")
"""Reply fields that come from the page. `noindex` is null if neither the page was read nor a header sets it."""
URLS = frozenset(("final_url", "canonical", "refresh"))
JUDGED = ("blocked_for",)
"""Fields that are ignored if only one crawl has judged them."""
LASTMOD, OTHERS = "lastmod", "entry"
KINDS = {
    "status": frozenset(("reply.kind", "reply.status", "reply.final_status", "reply.final_url")),
    "indexability": frozenset(("reply.noindex", "reply.noindex_agents", "reply.refresh", "reply.soft_404")),
    "canonical": frozenset(("reply.canonical",)),
    "title": frozenset(f"reply.{name}" for name in TITLES),
    "content": frozenset((f"reply.{CONTENT}",)),
    "robots": frozenset(JUDGED),
}
"""{value of `what_changed`: changed fields that it stands for}, the most telling first; all others are `OTHERS`, and
`LASTMOD` alone."""


def kind_of_change(fields: Collection[str]) -> str:
    """`what_changed` of an entry, by its `changed_fields`."""
    found = next((kind for kind, names in KINDS.items() if not names.isdisjoint(fields)), OTHERS)
    return LASTMOD if list(fields) == [LASTMOD] else found


def differences(entry: str, reply: str, was: tuple[str, str]) -> list[str]:
    """Names of fields in which an entry and its reply differ from an earlier version. All are JSON texts."""
    fields = _different(json.loads(entry), json.loads(was[0]), ENTRY)
    if reply and was[1]:
        now, before = json.loads(reply), json.loads(was[1])
        fields += [f"reply.{name}" for name in _different(now, before, _comparable(now, before))]
    return fields


def _comparable(now: Mapping[str, object], before: Mapping[str, object]) -> Sequence[str]:
    """Reply fields that can be compared: without those of the page if only one crawl has read it, without title and
    content if another URL answered, and without content if its hashes are of two versions."""
    left_out: Collection[str] = ()
    if ("noindex" in now) != ("noindex" in before):
        left_out = IN_HEADS
    elif _value("final_url", now) != _value("final_url", before):
        left_out = (*TITLES, CONTENT)
    elif _version(now) != _version(before):
        left_out = (CONTENT,)
    return [name for name in REPLY if name not in left_out]


def _version(reply: Mapping[str, object]) -> str:
    return str(reply.get(CONTENT, "")).partition("-")[0]


def _different(now: Mapping[str, object], before: Mapping[str, object], names: Sequence[str]) -> list[str]:
    return [
        part
        for name in names
        if _value(name, now) != _value(name, before) and not (name in JUDGED and (name in now) != (name in before))
        for part in (_of_extra(now.get(name), before.get(name)) if name == EXTRA else (name,))
    ]


def _value(name: str, entry: Mapping[str, object]) -> object:
    """The value of a field; of a date the moment, and of a URL the page, which another notation does not change."""
    value = entry.get(name)
    if isinstance(value, str) and name in URLS:
        return page_key(value)
    if isinstance(value, str) and name == LASTMOD:
        return utc(value) or value
    return value


def _of_extra(now: object, before: object) -> Iterator[str]:
    """Yield `extra.<field>` for namespaces of plug-ins whose objects differ, and `extra` if other elements do."""
    now, before = (value if isinstance(value, dict) else {} for value in (now, before))
    plugins = {namespace.field for namespace in plugged()}
    differing = [name for name in dict.fromkeys((*now, *before)) if now.get(name) != before.get(name)]
    if not plugins.issuperset(differing):
        yield EXTRA
    yield from (f"{EXTRA}.{name}" for name in differing if name in plugins)


DATABASE = ".duckdb"
OF_A_CRAWL = (
    "blocked_for",
    "usage",
    "fetched",
    "segment",
    "google",
    "reply",
    "indexable",
    "indexability",
    "target",
    "issues",
    "changed_fields",
    "what_changed",
)
"""Fields that are meaningless for removed URLs."""
_REPLACED = ", ".join(["'removed' AS change", *(f"NULL::{columns(UrlRecord)[name]} AS {name}" for name in OF_A_CRAWL)])
LAST_ANSWER = f"""
    SELECT count(*) > 0 FROM {BASELINE}.urls
    WHERE reply.status IS NOT NULL AND reply.final_status IS NULL AND coalesce(len(reply.redirects), 0) = 0"""
"""SQL: true for a feed written before version 9, whose `status` is the last answer."""
RESPELLED = "respelled"
"""A database in memory: views of the baseline's tables in which pages are spelled as in this crawl, and two tables of
URLs of the baseline: `spellings` (loc, rough) of those that are not in normal form, with the hash of `rough_spelling`,
and `changed` (loc, now) of those that this crawl spells in another way."""
PAGES = {"urls": "loc", CARRIED: "loc", "findings": "url", "contents": "url"}
"""{table: column with the URL of a page}."""


def _listed(database: str) -> str:
    return f"(SELECT * FROM {database}.urls WHERE {CURRENT} UNION ALL BY NAME SELECT * FROM {database}.{CARRIED})"


LISTED = _listed(RESPELLED)
"""SQL: entries of the baseline, and those whose removal it could not determine."""
_AS_WRITTEN = _listed(BASELINE)
_PAIRS = "SELECT unnest($1) AS now, unnest($2) AS loc"
_FOUND_BY_KEY = f"""
    SELECT DISTINCT loc FROM main.urls ANTI JOIN {_AS_WRITTEN} USING (loc)
    WHERE change IN ('{UNCHANGED}', '{CHANGED}')"""


def rough_spelling(url: str) -> str:
    """SQL for a text that two URLs share if their `page_key` is the same; those of other pages may share it too."""
    escaped = rf"replace(url_encode(regexp_replace({url}, '(?s)^[A-Za-z]+://[^/?#\\]*|#.*', '', 'g')), '%25', '%')"
    # what is left escaped would not be UTF-8 in every URL
    decoded = rf"url_decode(regexp_replace({escaped}, '%([89A-Fa-f][0-9A-Fa-f])', '~\1', 'g'))"
    return f"regexp_replace(lower({decoded}), '[^a-z0-9~]', '', 'g')"


def sites_before_here(complete: bool) -> str:
    """SQL for (sitemap, site) of files with entries in the baseline. `complete`: see `sites_before`."""
    return sites_before(RESPELLED, f"({sites_of()})", complete)


NOT_LISTED = "NOT EXISTS (SELECT 1 FROM main.urls now WHERE now.loc = before.loc)"
"""SQL condition for a row `before` of the baseline that this crawl neither lists nor has already recorded as
removed."""
HEADERS = 3 * 4096
"""Bytes before a database's first block: https://duckdb.org/docs/stable/internals/storage"""


@dataclass(slots=True)
class EntryHashes:
    """Hashes of the entries of one file."""

    locs: set[int] = field(default_factory=set)
    same: set[int] = field(default_factory=set)
    """Hashes of URLs with all compared fields."""


class Baseline:
    """An earlier crawl, attached to the database of this one."""

    def __init__(self, store: Store, path: Path) -> None:
        """Raises StoreError if the baseline cannot be used."""
        self.path = path
        self.job: JobTable = {}
        """Table `job` of its database; empty for a feed."""
        self.digests: dict[str, str] = {}
        """{file: digest of its body, as fetched}; empty for a feed."""
        self.summary: SummaryRecord | None = None
        """What its summary record says; None if it has none."""
        self.partial: str | None = None
        """Why it is incomplete; None if it is complete."""
        self._store = store
        self._columns: Collection[str] | None = None
        self.fields: tuple[str, ...] = ENTRY
        """Compared fields of an entry."""
        self.with_replies = True
        """True if replies are compared too."""
        self.replies: Sequence[str] = REPLY
        """Compared fields of a reply."""
        self._knows_spellings = False
        with self.usable():
            self._attach(path)

    @contextmanager
    def usable(self) -> Iterator[None]:
        """Raise errors of DuckDB and the system, and those of malformed tallies and summaries, as StoreError."""
        try:
            yield
        except (OSError, duckdb.Error, msgspec.DecodeError) as error:
            # DuckDB names the temporary link or copy of a feed
            place = re.escape(str(self._store.spools))
            why = re.sub(rf"{place}/(?={re.escape(CONTENTS)})", "", in_words(error))
            why = re.sub(rf"{place}/[^'\"]+", self.path.name, why)
            raise StoreError(f"baseline {self.path} cannot be used: {why}") from None

    def _attach(self, path: Path) -> None:
        database = path
        if path.suffix == DATABASE:
            if path.samefile(self._store.path):
                raise StoreError(f"baseline {path} is the database of this job itself; use another JOBDIR")
            self.job = _checked(path)
        else:
            database = self._store.spools / "baseline.duckdb"
            create(database)
        mode = " (READ_ONLY)" if path.suffix == DATABASE else ""
        self._store.execute(f"ATTACH {literal(str(database))} AS {BASELINE}{mode}")
        self._store.execute(f"ATTACH ':memory:' AS {RESPELLED}")
        self._store.execute(f"CREATE TABLE {RESPELLED}.changed (loc VARCHAR, now VARCHAR)")
        for table in tables():
            names, joined = "*", ""
            if url := PAGES.get(table):
                names = f"t.* REPLACE (coalesce(now, t.{url}) AS {url})"
                joined = f"LEFT JOIN {RESPELLED}.changed c ON c.loc = t.{url}"
            self._store.execute(f"CREATE VIEW {RESPELLED}.{table} AS SELECT {names} FROM {BASELINE}.{table} t {joined}")
        if path.suffix == DATABASE:
            self._check_size(path)
            self.digests = dict(self._store.execute(f"SELECT sitemap, digest FROM {BASELINE}.files WHERE digest <> ''"))
            self.summary = msgspec.convert(self.job.get("summary"), SummaryRecord | None)
            self.partial = None if self.summary is None else self.summary.partial
        else:
            feed = import_feed(self._store, path)
            self.partial, self.summary, self._columns = feed.partial, feed.summary, feed.columns
            self._check_status(path)

    @property
    def basis(self) -> Basis | None:
        """What it could find; None if it does not say."""
        return None if self.summary is None else self.summary.basis

    @property
    def started(self) -> str | None:
        """Start of the crawl; None if it does not say."""
        return (self.summary.started or None) if self.summary is not None else None

    def _check_status(self, path: Path) -> None:
        """Raise StoreError for a feed whose replies cannot be compared with those of this version."""
        [(is_last,)] = self._store.execute(LAST_ANSWER)
        if is_last:
            raise StoreError(f"baseline {path} was written by an earlier version, in which status was the last answer; "
                             "crawl again for a baseline")  # fmt: skip

    def _check_size(self, path: Path) -> None:
        """Raise OSError if much of the file's end is missing, which DuckDB would notice only during the crawl. Free
        blocks at the end may be missing."""
        [(size,)] = self._store.execute(
            f"SELECT {HEADERS} + used_blocks * block_size FROM pragma_database_size() WHERE database_name = ?",
            [BASELINE],
        )
        if path.stat().st_size < size:
            raise OSError(errno.EIO, "the end of the file is missing")

    def robots(self) -> dict[str, JsonObject]:
        """{origin: answer to the request for its robots.txt, as `download.policies.restored` reads it}; empty for a
        feed."""
        rows = self._store.execute(f"SELECT origin, answer FROM {BASELINE}.policies ORDER BY rowid")
        return {origin: json.loads(answer) for origin, answer in rows}

    def robots_records(self) -> list[tuple[str, int | None, str, str | None, str | None]]:
        """`OF_ROBOTS` of the robots records; empty for a feed without any."""
        return self._store.execute(f"SELECT {', '.join(OF_ROBOTS)} FROM {BASELINE}.robots")

    def hosts(self, column: str = "CASE WHEN sitemap LIKE 'file:%' THEN loc ELSE sitemap END") -> set[str]:
        """Hosts and ports of its sitemaps, or of their pages if the sitemaps were local files. `column`: SQL for other
        URLs."""
        rows = self._store.execute(
            f"SELECT DISTINCT regexp_extract({column}, '^[^:/?#]+://(?:[^/?#@]*@)?([^/?#]*)', 1) FROM {BASELINE}.urls"
        )
        return {host.lower() for (host,) in rows if host}

    @property
    def _compared(self) -> str:
        entry = json_object(UrlRecord, self.fields)
        if not self.with_replies:
            return f"{entry}, ''"
        reply = json_object(ReplyRecord, self.replies, "reply.")
        return f"{entry}, CASE WHEN reply.kind <> 'unchecked' THEN {reply} ELSE '' END"

    def compare(self, verdicts: bool, replies: bool) -> None:
        """Exclude from the comparison what either crawl lacks. `verdicts`, `replies`: whether this crawl has them."""
        has_verdicts, has_replies, has_titles = self._store.execute(
            "SELECT count(blocked_for) > 0, count(reply) > 0, count(coalesce(reply.title, reply.h1)) > 0 "
            f"FROM {BASELINE}.urls"
        )[0]
        self.with_replies = replies and has_replies
        self.replies = [name for name in REPLY if has_titles or name not in TITLES]
        left_out = frozenset(() if verdicts and has_verdicts else JUDGED)
        held = ENTRY if self._columns is None else self._columns
        self.fields = tuple(name for name in ENTRY if name in held and name not in left_out)

    @property
    def has_other_hashes(self) -> bool:
        """True if its version hashed contents in another way than this one. Ask it once the pages have been read."""
        now, before = (f"(SELECT max({version('reply.content_hash')}) FROM {name}.urls)" for name in ("main", BASELINE))
        return bool(self._store.execute(f"SELECT coalesce({now} <> {before}, false)")[0][0])

    def entries(self, sitemap: str) -> EntryHashes:
        """Hashes of the entries in one of its files."""
        found = EntryHashes()
        cursor = self._store.cursor().execute(
            f"SELECT loc, {self._compared} FROM {_AS_WRITTEN} WHERE sitemap = ?", [sitemap]
        )
        for rows in fetched(cursor):
            found.locs.update(hash(row[0]) for row in rows)
            found.same.update(map(hash, rows))
        return found

    def texts(self, locs: Iterable[str], sitemap: str | None = None) -> dict[str, list[tuple[str, str]]]:
        """{URL: (entry, reply) as text} of listed URLs in one file, or in all, in which another spelling will do."""
        asked = [loc.encode("utf-8", "replace").decode() for loc in locs]
        compared = f"{self._compared} FROM {_AS_WRITTEN}"
        if sitemap is not None:
            query = f"SELECT loc, {compared} WHERE loc IN (SELECT unnest($1)) AND sitemap = $2"
            return self._texts(query, [asked, sitemap])
        found = self._texts(f"SELECT loc, {compared} WHERE loc IN (SELECT unnest($1))", [asked])
        if pairs := self._other_spellings([loc for loc in asked if loc not in found]):
            query = f"WITH asked AS ({_PAIRS}) SELECT now, {compared} JOIN asked USING (loc)"
            found |= self._texts(query, list(zip(*pairs, strict=True)))
        return found

    def _texts(self, query: str, parameters: Sequence[object]) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for loc, entry, reply in self._store.cursor().execute(query, parameters).fetchall():
            found.setdefault(loc, []).append((entry, reply))
        return found

    def _other_spellings(self, locs: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs of a URL and of another one that the baseline may list for the same page."""
        if not locs:
            return []
        rough = f"hash({rough_spelling('loc')})"
        if not self._knows_spellings:
            self._store.execute(
                f"CREATE TABLE {RESPELLED}.spellings AS "
                f"SELECT DISTINCT loc, {rough} AS rough FROM {_AS_WRITTEN} WHERE {odd('loc')}"
            )
            self._knows_spellings = True
        keys = {loc: page_key(loc) for loc in locs}
        candidates = self._store.cursor().execute(
            f"SELECT now, loc FROM (SELECT loc AS now, {rough} AS rough FROM (SELECT unnest($1) AS loc)) "
            f"JOIN {RESPELLED}.spellings USING (rough)",
            [list(locs)],
        )
        pairs = {(loc, key) for loc, key in keys.items() if key != loc}
        for rows in fetched(candidates):
            pairs.update((now, loc) for now, loc in rows if keys[now] == page_key(loc))
        return sorted(pairs)

    def respell(self) -> None:
        """Spell pages in `RESPELLED` as this crawl does, once it has compared all entries."""
        if pairs := self._other_spellings([loc for (loc,) in self._store.execute(_FOUND_BY_KEY)]):
            self._store.execute(
                f"INSERT INTO {RESPELLED}.changed SELECT loc, min(now) FROM ({_PAIRS}) "
                f"SEMI JOIN {_AS_WRITTEN} USING (loc) ANTI JOIN main.urls USING (loc) GROUP BY loc",
                list(zip(*pairs, strict=True)),
            )

    def missing(self, judged: Sequence[str]) -> Generator[list[str]]:
        """Yield removed entries as JSON lines, without verdict or reply: each URL once that the files `judged` list and
        this crawl does not."""
        cursor = self._store.cursor().execute(
            f"SELECT {line_of('urls')} FROM (SELECT * REPLACE ({_REPLACED}) "
            f"FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) AND {NOT_LISTED} "
            "QUALIFY row_number() OVER (PARTITION BY loc) = 1)",
            [list(judged)],
        )
        for rows in fetched(cursor):
            yield [line for (line,) in rows]

    def count(self, files: Sequence[str]) -> int:
        """Number of URLs that these files list and this crawl does not."""
        rows = self._store.execute(
            f"SELECT count(DISTINCT loc) FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) AND {NOT_LISTED}",
            [list(files)],
        )
        return int(rows[0][0])

    def sites(self, files: Sequence[str], complete: bool) -> set[str]:
        """Sites of these files that list URLs missing in this crawl. `complete`: see `sites_before`."""
        rows = self._store.execute(
            f"SELECT DISTINCT site FROM {LISTED} before JOIN ({sites_before_here(complete)}) USING (sitemap) "
            f"WHERE sitemap IN (SELECT unnest(?)) AND {NOT_LISTED}",
            [list(files)],
        )
        return {site for (site,) in rows}

    def listed_files(self) -> list[str]:
        """Files that its entries come from."""
        return [row[0] for row in self._store.execute(f"SELECT DISTINCT sitemap FROM {LISTED}")]

    def carry(self, files: Sequence[str]) -> None:
        """Keep entries of these files that this crawl does not list, for the next crawl."""
        self._store.execute(
            f"INSERT INTO main.{CARRIED} BY NAME "
            "SELECT * REPLACE (NULL AS change, NULL AS changed_fields, NULL AS what_changed) "
            f"FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) AND {NOT_LISTED}",
            [list(files)],
        )


def _checked(path: Path) -> JobTable:
    """Check a baseline's database and return its table `job`. Raises StoreError without advice about one's own job."""
    try:
        return check(path)
    except StoreError as error:
        raise StoreError(f"baseline {str(error).partition(';')[0]}") from None
