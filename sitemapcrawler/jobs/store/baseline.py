"""Baseline of a crawl: an earlier job's database or feed, attached to the database of this job."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

import msgspec

from sitemapcrawler.envelopes import FileTally
from sitemapcrawler.items import READ, Basis, ReplyRecord, UrlRecord
from sitemapcrawler.jobs.store.database import Store
from sitemapcrawler.jobs.store.duck import duckdb
from sitemapcrawler.jobs.store.files import JobTable, StoreError, check, create, in_words
from sitemapcrawler.jobs.store.loading import BASELINE, EarlierSummary, copy_items, import_feed, read_tally
from sitemapcrawler.jobs.store.queries import Row, completed, fetched, line_of, prefix_of
from sitemapcrawler.jobs.store.schema import ENTRY as NUMBER
from sitemapcrawler.jobs.store.schema import MORE, iso, json_object, literal
from sitemapcrawler.namespaces import declared, plugged
from sitemapcrawler.namespaces.declared import EXTRA
from sitemapcrawler.reader.formats import UNKNOWN, format_named
from sitemapcrawler.rules.facts.sites import CARRIED, CURRENT, sites_before, sites_of

NOT_COMPARED = frozenset((
    "type", "loc", "loc_raw", "sitemap", "line", "lastmod_at", "recovered", "reply", "indexable", "indexability",
    "target", "issues", "change", "changed_fields",
))  # fmt: skip
"""Fields of an entry that say where it is, or what a crawl found out about it. A reply is compared on its own."""
ENTRY = tuple(field.name for field in fields(UrlRecord) if field.name not in NOT_COMPARED)
"""Compared fields of an entry: all others, so that those of namespaces are among them."""
REPLY = ("kind", "status", "final_status", "final_url", "noindex", "noindex_agents", "canonical", "soft_404")
"""Compared fields of its reply."""
IN_HEADS = ("noindex", "noindex_agents", "canonical", "soft_404")
"""Reply fields that come from the page's head. `noindex` is null if neither the head was read nor a header sets it."""
JUDGED = ("blocked_for",)
"""Fields that are ignored if only one crawl has judged them."""
REPLY_TEXT = f"CASE WHEN reply.kind <> 'unchecked' THEN {json_object(ReplyRecord, REPLY, 'reply.')} ELSE '' END"


def differences(entry: str, reply: str, was: tuple[str, str]) -> list[str]:
    """Names of fields in which an entry and its reply differ from an earlier version. All are JSON texts."""
    fields = _different(json.loads(entry), json.loads(was[0]), ENTRY)
    if reply and was[1]:
        now, before = json.loads(reply), json.loads(was[1])
        fields += [f"reply.{name}" for name in _different(now, before, _comparable(now, before))]
    return fields


def _comparable(now: Mapping[str, object], before: Mapping[str, object]) -> Sequence[str]:
    """Reply fields that can be compared: without those of the head if only one crawl has read it."""
    if ("noindex" in now) == ("noindex" in before):
        return REPLY
    return [name for name in REPLY if name not in IN_HEADS]


def _different(now: Mapping[str, object], before: Mapping[str, object], names: Sequence[str]) -> list[str]:
    return [
        part
        for name in names
        if now.get(name) != before.get(name) and not (name in JUDGED and (name in now) != (name in before))
        for part in (_of_extra(now.get(name), before.get(name)) if name == EXTRA else (name,))
    ]


def _of_extra(now: object, before: object) -> Iterator[str]:
    """Yield `extra.<field>` for namespaces of plug-ins whose objects differ, and `extra` if other elements do."""
    now, before = (value if isinstance(value, dict) else {} for value in (now, before))
    plugins = {namespace.field for namespace in plugged()}
    differing = [name for name in dict.fromkeys((*now, *before)) if now.get(name) != before.get(name)]
    if not plugins.issuperset(differing):
        yield EXTRA
    yield from (f"{EXTRA}.{name}" for name in differing if name in plugins)


DATABASE = ".duckdb"
OF_A_CRAWL = ("reply", "blocked_for", "indexable", "indexability", "target", "issues", "changed_fields")
"""Fields that are meaningless for removed URLs."""
_REPLACED = ", ".join(["'removed' AS change", *(f"NULL AS {name}" for name in OF_A_CRAWL)])
LAST_ANSWER = f"""
    SELECT count(*) > 0 FROM {BASELINE}.urls
    WHERE reply.status IS NOT NULL AND reply.final_status IS NULL AND coalesce(len(reply.redirects), 0) = 0"""
"""SQL: true for a feed written before version 9, whose `status` is the last answer."""
LISTED = f"(SELECT * FROM {BASELINE}.urls WHERE {CURRENT} UNION ALL BY NAME SELECT * FROM {BASELINE}.{CARRIED})"
"""SQL: entries of the baseline, and those whose removal it could not determine."""


def sites_before_here(complete: bool) -> str:
    """SQL for (sitemap, site) of files with entries in the baseline. `complete`: see `sites_before`."""
    return sites_before(BASELINE, f"({sites_of()})", complete)


NOT_LISTED = "NOT EXISTS (SELECT 1 FROM main.urls now WHERE now.loc = before.loc{})"
"""SQL condition for a row `before` of the baseline that this crawl neither lists nor has already recorded as
removed."""
PASSING = (
    "lastmod-future",
    "lastmod-equals-fetch-time",
    "doc-redirected",
    "doc-redirect-offsite",
)
"""Rules whose findings can disappear although the file is unchanged. Files with such findings are read again, and so
are files with objects that age (`Namespace.ages`), such as news, or videos that expire."""
ON_DATES = ("index-lastmod-older-than-child", "")
"""Rules about the date of a file in its index. Their findings hold while that date is unchanged."""
HEADERS = 3 * 4096
"""Bytes before a database's first block: https://duckdb.org/docs/stable/internals/storage"""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A file as stored in the baseline."""

    etag: str | None
    last_modified: str | None
    digest: str
    line: str
    """The file's record, as JSON."""
    tally: FileTally
    index: bool
    dated: bool = False
    """True if findings depend on the file's date in its index."""

    @property
    def validators(self) -> dict[str, str]:
        """Headers of a conditional request (RFC 9110, 13.1)."""
        found = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in found.items() if value}


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
        self.files: dict[str, Earlier] = {}
        """Files that were read completely, by URL; empty for a feed."""
        self.summary: EarlierSummary | None = None
        """What its summary record says; None if it has none."""
        self.partial: str | None = None
        """Why it is incomplete; None if it is complete."""
        self._store = store
        self.fields: tuple[str, ...] = ENTRY
        """Compared fields of an entry."""
        self.with_replies = True
        """True if replies are compared too."""
        with self.usable():
            self._attach(path)

    @contextmanager
    def usable(self) -> Iterator[None]:
        """Raise errors of DuckDB and the system, and those of malformed tallies and summaries, as StoreError."""
        try:
            yield
        except (OSError, duckdb.Error, msgspec.DecodeError) as error:
            raise StoreError(f"baseline {self.path} cannot be used: {in_words(error)}") from None

    def _attach(self, path: Path) -> None:
        database = path
        if path.suffix == DATABASE:
            if path.samefile(self._store.path):
                raise StoreError(f"baseline {path} is the database of this very job; use another JOBDIR")
            self.job = _checked(path)
        else:
            database = self._store.spools / "baseline.duckdb"
            create(database)
        mode = " (READ_ONLY)" if path.suffix == DATABASE else ""
        self._store.execute(f"ATTACH {literal(str(database))} AS {BASELINE}{mode}")
        if path.suffix == DATABASE:
            self._check_size(path)
            self.files = self._files()
            self.summary = msgspec.convert(self.job.get("summary"), EarlierSummary | None)
            self.partial = None if self.summary is None else self.summary.partial
        else:
            self.partial, self.summary = import_feed(self._store, path)
            self._check_status(path)

    @property
    def basis(self) -> Basis | None:
        """What it could find; None if it does not say."""
        return None if self.summary is None else self.summary.basis

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

    def _files(self) -> dict[str, Earlier]:
        rows = self._store.execute(
            f"SELECT f.sitemap, s.etag, s.last_modified, f.digest, f.tally, s.format, {line_of('sitemaps', 's.')}, "
            f"f.sitemap IN (SELECT sitemap FROM {BASELINE}.findings WHERE rule IN {ON_DATES}) "
            f"FROM {BASELINE}.files f JOIN {BASELINE}.sitemaps s USING (sitemap) "
            f"WHERE s.outcome IN {READ} AND s.format <> '{UNKNOWN.name}' AND {_lasts()} "
            f"AND f.sitemap NOT IN (SELECT sitemap FROM {BASELINE}.urls WHERE {_expires()}) "
            f"AND f.sitemap NOT IN (SELECT sitemap FROM {BASELINE}.findings "
            f"WHERE sitemap IS NOT NULL AND rule IN {PASSING})"
        )
        return {
            sitemap: Earlier(
                etag, last_modified, digest or "", line, read_tally(tally or "{}"), format_named(format).is_index, dated
            )
            for sitemap, etag, last_modified, digest, tally, format, line, dated in rows
        }

    @property
    def urls(self) -> int:
        """Number of url records."""
        return int(self._store.execute(f"SELECT count(*) FROM {BASELINE}.urls WHERE {CURRENT}")[0][0])

    def hosts(self, column: str = "CASE WHEN sitemap LIKE 'file:%' THEN loc ELSE sitemap END") -> set[str]:
        """Hosts and ports of its sitemaps, or of their pages if the sitemaps were local files. `column`: SQL for other
        URLs."""
        rows = self._store.execute(
            f"SELECT DISTINCT regexp_extract({column}, '^[^:/?#]+://(?:[^/?#@]*@)?([^/?#]*)', 1) FROM {BASELINE}.urls"
        )
        return {host.lower() for (host,) in rows if host}

    def foreign_prefixes(self) -> dict[str, list[str]]:
        """{file: prefixes of other sites' URLs that it lists, each up to the path}."""
        rows = self._store.execute(
            f"SELECT sitemap, list(DISTINCT {prefix_of('loc')}) FROM {BASELINE}.urls JOIN "
            f"(SELECT sitemap, {prefix_of('sitemap')} || '/' AS home FROM {BASELINE}.sitemaps) USING (sitemap) "
            f"WHERE {CURRENT} AND NOT starts_with(loc, home) GROUP BY sitemap"
        )
        return dict(rows)

    def dates(self, index: str) -> dict[str, str | None]:
        """{URL: lastmod} of the children of an index."""
        rows = self._store.cursor().execute(
            f"SELECT loc, {iso('lastmod_at')} FROM {BASELINE}.children WHERE sitemap = ?", [index]
        )
        return dict(rows.fetchall())

    def same_files(self, store: Store) -> bool:
        """True if a crawl has the same files, all of them unchanged."""
        [(same,)] = store.execute(
            "SELECT (SELECT count(*) FROM main.sitemaps WHERE outcome <> 'unchanged') = 0 AND "
            f"(SELECT count(*) FROM main.sitemaps) = (SELECT count(*) FROM {BASELINE}.sitemaps)"
        )
        return bool(same)

    def policies(self) -> dict[str, dict[str, object]]:
        """{origin: its robots.txt, as from `policies.kept_of`}."""
        rows = self._store.execute(f"SELECT origin, answer FROM {BASELINE}.policies ORDER BY asked_at")
        return {origin: json.loads(answer) for origin, answer in rows}

    @property
    def _compared(self) -> str:
        entry = json_object(UrlRecord, self.fields, "", frozenset(MORE))
        return f"{entry}, {REPLY_TEXT if self.with_replies else repr('')}"

    def compare(self, verdicts: bool, replies: bool) -> None:
        """Exclude from the comparison what either crawl lacks. `verdicts`, `replies`: whether this crawl has them."""
        has_verdicts, has_replies = self._store.execute(
            f"SELECT count(blocked_for) > 0, count(reply) > 0 FROM {BASELINE}.urls"
        )[0]
        self.with_replies = replies and has_replies
        if not verdicts or not has_verdicts:
            self.fields = tuple(name for name in ENTRY if name not in JUDGED)

    def entries(self, sitemap: str) -> EntryHashes:
        """Hashes of the entries in one of its files."""
        found = EntryHashes()
        cursor = self._store.cursor().execute(
            f"SELECT loc, {self._compared} FROM {LISTED} WHERE sitemap = ?", [sitemap]
        )
        for rows in fetched(cursor):
            found.locs.update(hash(row[0]) for row in rows)
            for few in self._completed(rows, 1):
                found.same.update(map(hash, few))
        return found

    def texts(self, locs: Iterable[str], sitemap: str | None = None) -> dict[str, list[tuple[str, str]]]:
        """{URL: (entry, reply) as text} of listed URLs, in one file or in all."""
        of_file = "AND sitemap = ?" if sitemap is not None else ""
        cursor = self._store.cursor().execute(
            f"SELECT loc, {self._compared} FROM {LISTED} WHERE loc IN (SELECT unnest(?)) {of_file}",
            [[loc.encode("utf-8", "replace").decode() for loc in locs], *([sitemap] if sitemap is not None else [])],
        )
        found: dict[str, list[tuple[str, str]]] = {}
        for few in self._completed(cursor.fetchall(), 1):
            for loc, entry, reply in few:
                found.setdefault(loc, []).append((entry, reply))
        return found

    def missing(self, judged: Sequence[str]) -> Iterator[list[str]]:
        """Yield removed entries as JSON lines, without verdict or reply: each URL once that the files `judged` list and
        this crawl does not."""
        cursor = self._store.cursor().execute(
            f"SELECT {line_of('urls')} FROM (SELECT * REPLACE ({_REPLACED}) "
            f"FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) AND {self._not_listed} "
            "QUALIFY row_number() OVER (PARTITION BY loc) = 1)",
            [list(judged)],
        )
        for rows in fetched(cursor):
            for few in self._completed(rows, 0):
                yield [line for (line,) in few]

    def _completed(self, rows: Sequence[Row], column: int) -> Iterator[Sequence[Row]]:
        return completed(self._store.cursor(), rows, column, BASELINE)

    def count(self, files: Sequence[str]) -> int:
        """Number of URLs that these files list and this crawl does not."""
        rows = self._store.execute(
            f"SELECT count(DISTINCT loc) FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) "
            f"AND {self._not_listed}",
            [list(files)],
        )
        return int(rows[0][0])

    def sites(self, files: Sequence[str], complete: bool) -> set[str]:
        """Sites of these files that list URLs missing in this crawl. `complete`: see `sites_before`."""
        rows = self._store.execute(
            f"SELECT DISTINCT site FROM {LISTED} before JOIN ({sites_before_here(complete)}) USING (sitemap) "
            f"WHERE sitemap IN (SELECT unnest(?)) AND {self._not_listed}",
            [list(files)],
        )
        return {site for (site,) in rows}

    def listed_files(self) -> list[str]:
        """Files that its entries come from."""
        return [row[0] for row in self._store.execute(f"SELECT DISTINCT sitemap FROM {LISTED}")]

    @property
    def _not_listed(self) -> str:
        """SQL condition for a row `before` that this crawl does not list, ignoring entries it started with."""
        return NOT_LISTED.format(" AND now.sitemap IN (SELECT sitemap FROM main.files)" if self._store.seeded else "")

    def carry(self, files: Sequence[str]) -> None:
        """Keep entries of these files that this crawl does not list, for the next crawl."""
        with self._store.transaction():
            self._store.execute(
                f"INSERT INTO main.{CARRIED} BY NAME SELECT * REPLACE (NULL AS change, NULL AS changed_fields) "
                f"FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) AND {self._not_listed}",
                [list(files)],
            )
            copy_items(self._store)


def _lasts() -> str:
    """SQL condition for files `s` without objects of which each may get or lose findings by itself."""
    ageing = [namespace for namespace in declared() if namespace.ages is True]
    counts = [f"counts.{one.field}" if one.own else f"counts.extra[{literal(one.field)}]" for one in ageing]
    return " AND ".join(f"coalesce(s.{count}, 0) = 0" for count in counts)


def _expires() -> str:
    """SQL condition for entries with objects that may get or lose findings because of one of their parts."""
    conditions = []
    for namespace in declared():
        name, part = namespace.field, namespace.ages
        if not isinstance(part, str):
            continue
        if not namespace.own:
            conditions.append(f"len(json_extract(extra, {literal(f'$.{name}[*].{part}')})) > 0")
            continue
        conditions.append(f"({name} IS NOT NULL AND len([1 FOR one IN {name} IF one.{part} IS NOT NULL]) > 0)")
        conditions.append(f"{NUMBER} IN (SELECT {NUMBER} FROM {BASELINE}.{MORE[name]} WHERE {part} IS NOT NULL)")
    return " OR ".join(conditions)


def _checked(path: Path) -> JobTable:
    """Check a baseline's database and return its table `job`. Raises StoreError without advice about one's own job."""
    try:
        return check(path)
    except StoreError as error:
        raise StoreError(f"baseline {str(error).partition(';')[0]}") from None
