"""What a crawl is compared with: the database of an earlier job, or a feed of one, beside the database of this one."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from sitemapcrawler.items import READ, ReplyRecord, UrlRecord
from sitemapcrawler.jobs.store.database import Store
from sitemapcrawler.jobs.store.files import StoreError, check, create, in_words
from sitemapcrawler.jobs.store.loading import BASELINE, copy_items, import_feed
from sitemapcrawler.jobs.store.queries import completed, fetched, line_of, prefix_of
from sitemapcrawler.jobs.store.schema import ENTRY as NUMBER
from sitemapcrawler.jobs.store.schema import MORE, ODD, json_object, literal, quoted
from sitemapcrawler.rules.facts.sites import CARRIED, CURRENT, sites_before, sites_of

ENTRY = ("lastmod", "changefreq", "priority", "images", "videos", "news", "alternates", "extra", "blocked_for")
"""Fields of an entry that are compared."""
REPLY = ("kind", "status", "final_url", "noindex", "noindex_agents", "canonical", "soft_404")
"""Fields of its reply that are."""
IN_HEADS = ("noindex", "noindex_agents", "canonical", "soft_404")
"""Those of them that the head of a page says: `noindex` is null where it was not read and no header says so."""
JUDGED = ("blocked_for",)
"""Fields that say nothing where one side was not judged."""
_SURROGATE = re.compile("[\ud800-\udfff]")
REPLY_TEXT = f"CASE WHEN reply.kind <> 'unchecked' THEN {json_object(ReplyRecord, REPLY, 'reply.')} ELSE '' END"


def as_held(text: str) -> str:
    """A text as columns hold it: U+FFFD in place of each lone surrogate."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def chosen(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """Some fields of a row, as text."""
    return json.dumps({name: row[name] for name in names if name in row})


def differences(entry: str, reply: str, was: tuple[str, str]) -> list[str]:
    """Fields in which an entry and its reply, as text, differ from what they were."""
    fields = _different(json.loads(entry), json.loads(was[0]), ENTRY)
    if reply and was[1]:
        now, before = json.loads(reply), json.loads(was[1])
        fields += [f"reply.{name}" for name in _different(now, before, _comparable(now, before))]
    return fields


def _comparable(now: Mapping[str, Any], before: Mapping[str, Any]) -> Sequence[str]:
    """Fields of replies that can be compared: where only one head was read, what stands in heads cannot."""
    if ("noindex" in now) == ("noindex" in before):
        return REPLY
    hidden = now.get("noindex") or before.get("noindex")
    return [name for name in REPLY if name not in IN_HEADS or (hidden and name == "noindex")]


def _different(now: Mapping[str, Any], before: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return [
        name
        for name in names
        if now.get(name) != before.get(name) and not (name in JUDGED and (name in now) != (name in before))
    ]


DATABASE = ".duckdb"
OF_A_CRAWL = ("reply", "blocked_for", "issues", "changed_fields")
"""Fields that say nothing of a URL that is listed no more."""
_REPLACED = ", ".join(["'removed' AS change", *(f"NULL AS {name}" for name in OF_A_CRAWL)])
LISTED = f"(SELECT * FROM {BASELINE}.urls WHERE {CURRENT} UNION ALL BY NAME SELECT * FROM {BASELINE}.{CARRIED})"
"""SQL: what the baseline lists, and what it could not tell of."""


def sites_before_here(complete: bool) -> str:
    """SQL for (sitemap, site) of the files that the baseline has entries of. `complete`: see `sites_before`."""
    return sites_before(BASELINE, f"({sites_of()})", complete)


NOT_LISTED = "NOT EXISTS (SELECT 1 FROM main.urls now WHERE now.loc = before.loc{})"
"""SQL: true for a row `before` of the baseline that this crawl does not list, and has not said so in an earlier run."""
PASSING = (
    "lastmod-future",
    "lastmod-equals-fetch-time",
    "doc-redirected",
    "doc-redirect-offsite",
)
"""Rules whose findings may pass though the file does not change: such a file is read again, and so is one with news,
which grow old, or with videos that expire."""
EXPIRES = (
    "(videos IS NOT NULL AND len([1 FOR video IN videos IF video.expiration_date IS NOT NULL]) > 0) OR "
    f"{NUMBER} IN (SELECT {NUMBER} FROM {BASELINE}.{MORE['videos']} WHERE expiration_date IS NOT NULL)"
)
"""SQL: true for an entry of which something may be said only later."""
ON_DATES = ("index-lastmod-older-than-child", "")
"""Rules on the date that an index gives a file: their findings hold while that date is the same."""
HEADERS = 3 * 4096
"""Bytes before the first block of a database: https://duckdb.org/docs/stable/internals/storage"""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A file as the baseline knows it."""

    etag: str | None
    last_modified: str | None
    digest: str
    line: str
    """Its record, as JSON."""
    tally: dict[str, Any]
    index: bool
    dated: bool = False
    """True where something is said of the date that its index gives it."""

    @property
    def validators(self) -> dict[str, str]:
        """Headers of a request that is answered with the file only where it has changed (RFC 9110, 13.1)."""
        found = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in found.items() if value}


@dataclass(slots=True)
class EntryHashes:
    """The entries of one file, as hashes."""

    locs: set[int] = field(default_factory=set)
    same: set[int] = field(default_factory=set)
    """Of entries with what is compared of them."""


class Baseline:
    """An earlier crawl, attached to the database of this one."""

    def __init__(self, store: Store, path: Path) -> None:
        """StoreError where it cannot be used."""
        self.path = path
        self.job: Mapping[str, Any] = {}
        """What its job says of itself; nothing where it is a feed."""
        self.files: dict[str, Earlier] = {}
        """Its files that were read to their end, where it is a database."""
        self.partial: str | None = None
        """Why it does not hold all that it should; None where it does."""
        self._store = store
        self.fields: tuple[str, ...] = ENTRY
        """Fields of an entry that are compared."""
        self.with_replies = True
        """Whether replies are compared too."""
        with self.usable():
            self._attach(path)

    @contextmanager
    def usable(self) -> Iterator[None]:
        """StoreError for what is wrong with the file, in place of what DuckDB raises."""
        try:
            yield
        except (OSError, duckdb.Error) as error:
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
            self.partial = (self.job.get("summary") or {}).get("partial")
        else:
            self.partial = import_feed(self._store, path)

    def _check_size(self, path: Path) -> None:
        """OSError for a file that has lost much of its end, which would be noticed in the middle of the crawl. Free
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
            f"WHERE s.outcome IN {READ} AND s.format <> 'unknown' AND coalesce(s.counts.news, 0) = 0 "
            f"AND f.sitemap NOT IN (SELECT sitemap FROM {BASELINE}.urls WHERE {EXPIRES}) "
            f"AND f.sitemap NOT IN (SELECT sitemap FROM {BASELINE}.findings "
            f"WHERE sitemap IS NOT NULL AND rule IN {PASSING})"
        )
        return {
            sitemap: Earlier(
                etag, last_modified, digest or "", line, json.loads(tally or "{}"), format == "xml-index", dated
            )
            for sitemap, etag, last_modified, digest, tally, format, line, dated in rows
        }

    @property
    def urls(self) -> int:
        """How many url records it has."""
        return int(self._store.execute(f"SELECT count(*) FROM {BASELINE}.urls WHERE {CURRENT}")[0][0])

    def hosts(self, column: str = "CASE WHEN sitemap LIKE 'file:%' THEN loc ELSE sitemap END") -> set[str]:
        """Hosts and ports of the files it was read from, or of its pages, where those were files on disk. `column`: of
        other URLs."""
        rows = self._store.execute(
            f"SELECT DISTINCT regexp_extract({column}, '^[^:/?#]+://(?:[^/?#@]*@)?([^/?#]*)', 1) FROM {BASELINE}.urls"
        )
        return {host.lower() for (host,) in rows if host}

    def strange_hosts(self) -> dict[str, list[str]]:
        """{file: URLs, up to their paths, of the other sites whose pages it lists}."""
        rows = self._store.execute(
            f"SELECT sitemap, list(DISTINCT {prefix_of('loc')}) FROM {BASELINE}.urls JOIN "
            f"(SELECT sitemap, {prefix_of('sitemap')} || '/' AS home FROM {BASELINE}.sitemaps) USING (sitemap) "
            f"WHERE {CURRENT} AND NOT starts_with(loc, home) GROUP BY sitemap"
        )
        return dict(rows)

    def dates(self, index: str) -> dict[str, str | None]:
        """{URL: lastmod} of what one of its indexes listed."""
        rows = self._store.cursor().execute(
            f"SELECT loc, lastmod_at FROM {BASELINE}.children WHERE sitemap = ?", [index]
        )
        return dict(rows.fetchall())

    def same_files(self, store: Store) -> bool:
        """True where a crawl has the same files, and all of them are unchanged."""
        [(same,)] = store.execute(
            "SELECT (SELECT count(*) FROM main.sitemaps WHERE outcome <> 'unchanged') = 0 AND "
            f"(SELECT count(*) FROM main.sitemaps) = (SELECT count(*) FROM {BASELINE}.sitemaps)"
        )
        return bool(same)

    def policies(self) -> dict[str, dict[str, Any]]:
        """What each robots.txt was: {origin: what `policies.kept_of` gave}."""
        rows = self._store.execute(f"SELECT origin, answer FROM {BASELINE}.policies ORDER BY asked_at")
        return {origin: json.loads(answer) for origin, answer in rows}

    @property
    def _compared(self) -> str:
        entry = json_object(UrlRecord, self.fields, "", frozenset(MORE))
        return f"{entry}, {REPLY_TEXT if self.with_replies else repr('')}"

    def compare(self, verdicts: bool, replies: bool) -> None:
        """Leave out of the comparison what one side does not have. Given is what this crawl has."""
        has_verdicts, has_replies = self._store.execute(
            f"SELECT count(blocked_for) > 0, count(reply) > 0 FROM {BASELINE}.urls"
        )[0]
        self.with_replies = replies and has_replies
        if not verdicts or not has_verdicts:
            self.fields = tuple(name for name in ENTRY if name not in JUDGED)

    def entries(self, sitemap: str) -> EntryHashes:
        """The entries of one of its files."""
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
        """{URL: what is compared of it: entry, reply} of those it lists, of one file or of all. URLs are `as_held`."""
        of_file = "AND sitemap = ?" if sitemap is not None else ""
        cursor = self._store.cursor().execute(
            f"SELECT loc, {self._compared}, {quoted(ODD)} FROM {LISTED} WHERE loc IN (SELECT unnest(?)) {of_file}",
            [list(locs), *([sitemap] if sitemap is not None else [])],
        )
        found: dict[str, list[tuple[str, str]]] = {}
        for few in self._completed(cursor.fetchall(), 1):
            for loc, entry, reply, odd in few:
                found.setdefault(loc, []).append((entry, reply) if odd is None else self._compared_odd(json.loads(odd)))
        return found

    def _compared_odd(self, row: Mapping[str, Any]) -> tuple[str, str]:
        """What is compared of a row that the columns cannot hold exactly."""
        reply = row.get("reply") or {}
        asked = self.with_replies and reply.get("kind", "unchecked") != "unchecked"
        return chosen(row, self.fields), chosen(reply, REPLY) if asked else ""

    def missing(self, judged: Sequence[str]) -> Iterator[list[str]]:
        """JSON of what its files `judged` list and this crawl does not, each URL once, without verdict or reply."""
        cursor = self._store.cursor().execute(
            f"SELECT {line_of('urls')}, {quoted(ODD)} IS NOT NULL FROM (SELECT * REPLACE ({_REPLACED}) "
            f"FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) AND {self._not_listed} "
            "QUALIFY row_number() OVER (PARTITION BY loc) = 1)",
            [list(judged)],
        )
        for rows in fetched(cursor):
            for few in self._completed(rows, 0):
                yield [_removed(line) if odd else line for line, odd in few]

    def _completed(self, rows: Sequence[Any], column: int) -> Iterator[Sequence[Any]]:
        return completed(self._store.cursor(), rows, column, BASELINE)

    def count(self, files: Sequence[str]) -> int:
        """How many URLs some of its files list and this crawl does not."""
        rows = self._store.execute(
            f"SELECT count(DISTINCT loc) FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) "
            f"AND {self._not_listed}",
            [list(files)],
        )
        return int(rows[0][0])

    def sites(self, files: Sequence[str], complete: bool) -> set[str]:
        """Sites of those of its files that list URLs which this crawl does not. `complete`: see `sites_before`."""
        rows = self._store.execute(
            f"SELECT DISTINCT site FROM {LISTED} before JOIN ({sites_before_here(complete)}) USING (sitemap) "
            f"WHERE sitemap IN (SELECT unnest(?)) AND {self._not_listed}",
            [list(files)],
        )
        return {site for (site,) in rows}

    def listed_files(self) -> list[str]:
        """The files that its entries stand in."""
        return [row[0] for row in self._store.execute(f"SELECT DISTINCT sitemap FROM {LISTED}")]

    @property
    def _not_listed(self) -> str:
        """SQL: true for a row `before` that this crawl does not list, whatever it began with."""
        return NOT_LISTED.format(" AND now.sitemap IN (SELECT sitemap FROM main.files)" if self._store.seeded else "")

    def carry(self, files: Sequence[str]) -> None:
        """Keep for the next crawl what some of its files list and this crawl does not."""
        with self._store.transaction():
            self._store.execute(
                f"INSERT INTO main.{CARRIED} BY NAME SELECT * REPLACE (NULL AS change, NULL AS changed_fields) "
                f"FROM {LISTED} before WHERE sitemap IN (SELECT unnest(?)) AND {self._not_listed}",
                [list(files)],
            )
            copy_items(self._store)


def _checked(path: Path) -> dict[str, Any]:
    """What its job says of itself; StoreError without the advice that is for a job of one's own."""
    try:
        return check(path)
    except StoreError as error:
        raise StoreError(f"baseline {str(error).partition(';')[0]}") from None


def _removed(line: str) -> str:
    """A row that the columns cannot hold exactly, as that of a URL that is listed no more."""
    row = {name: value for name, value in json.loads(line).items() if name not in OF_A_CRAWL}
    return json.dumps({**row, "change": "removed"})
