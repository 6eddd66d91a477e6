"""What Google says of listed URLs: the file of answers of Search Console, the table in the database, and counts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from sitemapcrawler.items import IndexCounts, IndexStatus, JsonObject
from sitemapcrawler.jobs.links import number_of
from sitemapcrawler.jobs.rewriting import NewValues
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.schema import TIME, columns, literal
from sitemapcrawler.reader.dates import iso, parse
from sitemapcrawler.reader.index_status import RESULT, StatusReader
from sitemapcrawler.rules.facts.index_reasons import is_indexed
from sitemapcrawler.rules.facts.sites import CURRENT

QUOTA = 2_000
"""URLs of a property in a day. Source: https://developers.google.com/webmaster-tools/limits#url-inspection"""
DAY_OF = "America/Los_Angeles"
"""Zone whose midnight begins a day of the quota."""
AT_ONCE = 20_000
"""Lines in memory."""
MAX_LINE = 2**20
"""Bytes of a line; longer ones are no answers."""

Known = tuple[str, IndexStatus, str | None]
"""A URL, its index status, and when it was inspected, ISO 8601 in UTC."""


class AnswerLine(msgspec.Struct, rename="camel", omit_defaults=True):
    """A line of the file: a row of URL Inspection, which the argument `compare` takes too."""

    inspection_url: str
    site_url: str = ""
    asked: str = ""
    inspection_result: JsonObject | None = None
    error: str | None = None
    """Why there is no answer."""


_line = msgspec.json.Encoder().encode
_answer = msgspec.json.Decoder(AnswerLine).decode


class IndexAnswers:
    """The file of a property, which may be missing. It outlives jobs: what was asked comes after all else, and what
    Google allows in a day is counted across runs. Each answer is a line at once, so that a kill loses none. Raises
    OSError."""

    def __init__(self, path: Path, site: str) -> None:
        """`site`: the property as Search Console names it."""
        self.site = site
        self._path = path
        self._today = _day(datetime.now(UTC))
        self.asked_today = 0
        """URLs of the property that were inspected on this day of the quota, once all lines are read."""

    @property
    def begin_of_day(self) -> datetime:
        """Start of this day of the quota."""
        return datetime(self._today.year, self._today.month, self._today.day, tzinfo=ZoneInfo(DAY_OF)).astimezone(UTC)

    def batches(self) -> Iterator[list[Known]]:
        """Yield what is known by the file. Lines that are broken or of other properties are skipped."""
        self.asked_today = 0
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            lines = iter(partial(file.readline, MAX_LINE), b"")
            while some := list(islice(lines, AT_ONCE)):
                yield [known for line in some if (known := self._known(line)) is not None]

    def _known(self, line: bytes) -> Known | None:
        try:
            found = _answer(line)
            asked = parse(found.asked)
            is_today = asked is not None and _day(asked) == self._today
        except (msgspec.MsgspecError, RecursionError, UnicodeError, OverflowError):
            return None
        if found.site_url != self.site or asked is None:
            return None
        self.asked_today += is_today
        status = StatusReader().status({RESULT: found.inspection_result})
        return found.inspection_url, status or IndexStatus(), iso(asked)

    def add(self, url: str, result: JsonObject | None, error: str | None = None) -> Known:
        """Append an answer. Returns what is known by it. `error`: why there is no answer."""
        asked = iso(datetime.now(UTC).replace(microsecond=0))
        line = _line(AnswerLine(url, self.site, asked, result, error)) + b"\n"
        with self._path.open("a+b") as file:  # a kill may have left half a line
            size = file.seek(0, 2)
            file.seek(max(0, size - 1))
            file.write(line if size == 0 or file.read(1) == b"\n" else b"\n" + line)
        self.asked_today += 1
        return url, StatusReader().status({RESULT: result}) or IndexStatus(), asked


def check(path: Path) -> None:
    """Raise ValueError, one line, if a file is there and has no answers, or cannot be written."""
    first = b""
    try:
        if not path.exists() and not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
            raise ValueError("cannot be written, there is no such folder, or no permission to write in it")
        if path.exists():
            with path.open("r+b") as file:
                first = file.readline(MAX_LINE)
    except OSError as error:
        raise ValueError(f"cannot be written, {error.strerror}") from None
    if first.strip():
        try:
            _answer(first)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            raise ValueError("is another file than one of answers of Search Console") from None


def _day(moment: datetime) -> date:
    return moment.astimezone(ZoneInfo(DAY_OF)).date()


MAX_REASONS = 50
"""Reasons in the summary, the most frequent ones; Google has some 25."""
DOMAIN = "sc-domain:"
"""Start of a property that is a domain with all its hosts. Others are the start of their URLs."""
FIELDS = tuple(columns(IndexStatus))
ROWS = {"page": "UBIGINT", **columns(IndexStatus), "indexed": "BOOLEAN", "other": "BOOLEAN", "asked": TIME}
"""{column: SQL type} of what is known of a page. `asked`: when we inspected it; NULL in rows of lists."""
STATUSES = f"""
    INSERT INTO index_statuses BY NAME
    SELECT DISTINCT ON (u.loc) u.loc, r.* EXCLUDE (page, asked, n) FROM link_listed l JOIN urls u ON u.rowid = l.entry
    JOIN (
        SELECT DISTINCT ON (page) * FROM (
            SELECT *, rowid AS n FROM index_rows WHERE coalesce({", ".join(f"{one}::VARCHAR" for one in FIELDS)}) <> ''
            QUALIFY asked IS NULL OR asked = max(asked) OVER (PARTITION BY page))
        ORDER BY page, verdict IS NULL AND reason IS NULL, last_crawl DESC NULLS LAST, n DESC) r USING (page)
    WHERE {CURRENT}"""
"""SQL: of several rows of a page the one with the newest crawl, and of equal ones the last. A newer answer of
Search Console replaces an older one."""
COUNTS = f"""
    SELECT count(*) FILTER (verdict IS NOT NULL OR reason IS NOT NULL), count(*) FILTER (indexed),
           count(*) FILTER (NOT indexed), count(*) FILTER (other), count(*) FILTER (last_crawl < changed)
    FROM index_statuses LEFT JOIN (
        SELECT loc, max(lastmod_at)::DATE AS changed FROM urls WHERE {CURRENT} GROUP BY loc) USING (loc)"""
REASONS = f"""
    SELECT coalesce(reason, ''), count(*) AS number FROM index_statuses WHERE NOT indexed
    GROUP BY 1 ORDER BY number DESC, 1 LIMIT {MAX_REASONS}"""
STATUS = f"struct_pack({', '.join(f'{name} := s.{name}' for name in FIELDS)})"
"""SQL for the field `google` of an entry."""
PAGES = f"""
    SELECT page, any_value(loc) AS loc, max(lastmod_at) AS lastmod, min(l.entry) AS entry, any_value(asked) AS asked
    FROM link_listed l JOIN urls u ON u.rowid = l.entry
    LEFT JOIN (SELECT page, max(asked) AS asked FROM index_rows GROUP BY page) USING (page)
    WHERE {CURRENT} AND {{of_property}} GROUP BY page ORDER BY page LIMIT {{sample}}"""
"""SQL: the listed pages of a property; of a sample those with the smallest digests, which are the same in each run."""


class Inspection(NamedTuple):
    """Result of asking Search Console."""

    not_asked: int
    """Listed URLs of the property that were never inspected."""
    partial: str | None
    """Why; None if all were."""


class IndexStatuses:
    """The index status of URLs: rows of lists and answers in temporary tables, that of listed URLs in the table
    `index_statuses`. Use it in the writing thread only."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.has_any = False
        """True if a status was added."""
        for name, kinds in (("index_rows", ROWS), ("index_clicks", {"page": "UBIGINT", "clicks": "BIGINT"})):
            held = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
            store.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({held})")

    def add(self, known: Sequence[Known]) -> None:
        """Add the index status of URLs, which are absolute."""
        if known:
            rows = [self._row(url, status, asked) for url, status, asked in known]
            values = ", ".join(f"unnest(?::{kind}[])" for kind in ROWS.values())
            self._store.execute(f"INSERT INTO index_rows SELECT {values}", list(map(list, zip(*rows, strict=True))))
            self.has_any = True

    def add_clicks(self, clicks: Sequence[tuple[str, int]]) -> None:
        """Add how often URLs were clicked in search results."""
        if clicks:
            pages, numbers = [number_of(url) for url, _ in clicks], [number for _, number in clicks]
            insert = "INSERT INTO index_clicks SELECT unnest(?::UBIGINT[]), unnest(?::BIGINT[])"
            self._store.execute(insert, [pages, numbers])

    @staticmethod
    def _row(url: str, status: IndexStatus, asked: str | None) -> tuple[object, ...]:
        page = number_of(url)
        canonical = status.canonical
        other = None if canonical is None else canonical != url and number_of(canonical) != page
        said = (status.verdict, status.reason, status.canonical, status.last_crawl)
        return page, *said, is_indexed(status), other, asked

    # Asking Search Console, once all listed pages are numbered (`link_listed`).

    def load(self, answers: IndexAnswers) -> None:
        """Add what a file of answers knows. Raises OSError."""
        for known in answers.batches():
            self.add(known)

    def wanted(self, site: str, since: datetime, most: int, sample: int | None) -> list[str]:
        """At most so many listed URLs of a property that were not inspected since a time: those that never were
        first, then the longest ago; of these the ones with most clicks, then the newest lastmod."""
        rows = self._store.execute(
            f"""
            SELECT loc FROM ({self._pages(site, sample)}) p
            LEFT JOIN (SELECT page, sum(clicks) AS clicks FROM index_clicks GROUP BY page) USING (page)
            WHERE asked IS NULL OR asked < ?
            ORDER BY asked NULLS FIRST, clicks DESC NULLS LAST, lastmod DESC NULLS LAST, entry LIMIT ?""",
            [since.replace(tzinfo=None), most],
        )
        return [loc for (loc,) in rows]

    def never_asked(self, site: str, sample: int | None) -> tuple[int, int]:
        """Number of listed URLs of a property, and of those that were never inspected."""
        counts = f"SELECT count(*), count(*) FILTER (asked IS NULL) FROM ({self._pages(site, sample)})"
        [(listed, never)] = self._store.execute(counts)
        return listed, never

    @staticmethod
    def _pages(site: str, sample: int | None) -> str:
        """SQL for the listed pages that may be inspected."""
        if site.startswith(DOMAIN):
            domain = site.removeprefix(DOMAIN)
            host = "lower(regexp_extract(loc, '^https?://([^/?#:]+)', 1))"
            belongs = f"({host} = {literal(domain)} OR ends_with({host}, {literal(f'.{domain}')}))"
        else:
            belongs = f"starts_with(loc, {literal(site)})"
        return PAGES.format(of_property=belongs, sample="ALL" if sample is None else sample)

    def sum_up(self) -> IndexCounts:
        """Fill the table `index_statuses`, once all listed pages are known and numbered (`link_listed`), and count."""
        with self._store.transaction():
            self._store.execute("DELETE FROM index_statuses")
            self._store.execute(STATUSES)
        [(urls, indexed, not_indexed, other, not_crawled)] = self._store.execute(COUNTS)
        return IndexCounts(urls, indexed, not_indexed, other, not_crawled, dict(self._store.execute(REASONS)))

    def google(self) -> NewValues:
        """`google` of the entries, once all are final. Raises duckdb.Error."""
        self._store.execute(
            f"CREATE OR REPLACE TEMP TABLE index_marks AS SELECT u.rowid AS row, u.sitemap, {STATUS} AS google "
            f"FROM urls u JOIN index_statuses s USING (loc) WHERE {CURRENT}"
        )
        return NewValues("index_marks", {"google": "coalesce(index_marks.google, u.google)"})
