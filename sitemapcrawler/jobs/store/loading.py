"""Loads crawled files, each atomically, and baseline feeds into the database."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from sitemapcrawler.envelopes import FileResult, FileTally
from sitemapcrawler.feeds.folder import BASELINES as OF_A_REPORT
from sitemapcrawler.feeds.folder import CONTENTS, summary_of, unfinished
from sitemapcrawler.items import KEPT_WHEN_EMPTY, SummaryRecord
from sitemapcrawler.jobs.store.database import FEED_LINE, Store, content_errors
from sitemapcrawler.jobs.store.files import is_out_of_memory
from sitemapcrawler.jobs.store.schema import TIME, iso, literal, quoted
from sitemapcrawler.jobs.store.spool import Spool
from sitemapcrawler.namespaces import OWN, either
from sitemapcrawler.reader.duck import duckdb

LARGE_MEMORY_MB = (256, 512, 1024)
"""Memory limits in MB that a commit tries in turn if memory runs out because of very large entries."""
BASELINE = "baseline"
"""Name under which the baseline's database is attached."""


read_tally = msgspec.json.Decoder(FileTally).decode
"""Reads the column `tally` of the table `files`."""


@dataclass
class FileRows:
    """The rows of one sitemap file."""

    sitemap: str
    urls: Spool
    findings: Spool
    record: Spool
    """The file's own record, one row; empty for a guessed URL that was no sitemap."""
    result: FileResult = field(default_factory=FileResult)

    def row(self, run: int) -> dict[str, object]:
        """Row for the table `files`."""
        return {
            "sitemap": self.sitemap,
            "run": run,
            "digest": self.result.digest,
            "tally": msgspec.to_builtins(self.result.tally),
        }

    def absorb(self, other: FileRows) -> None:
        """Take over the rows of another file. Raises OSError if the disk is full."""
        self.urls.absorb(other.urls)
        self.findings.absorb(other.findings)
        self.record.absorb(other.record)

    def discard(self) -> None:
        for spool in (self.urls, self.findings, self.record):
            spool.discard()


@dataclass
class Commit:
    """Files and rows to commit together."""

    files: list[FileRows] = field(default_factory=list)
    rows: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    """Rows of other tables, by table."""
    replies: list[bytes] = field(default_factory=list)
    """Rows of `replies`, as JSON lines."""
    urls: int = 0
    """Number of rows of `urls`."""

    def __bool__(self) -> bool:
        return bool(self.files or self.rows or self.replies)

    def add(self, file: FileRows) -> None:
        self.files.append(file)
        self.urls += file.urls.rows


def load(store: Store, run: int, group: Commit) -> None:
    """Commit a group. Keeps little of rows that do not fit the columns, and raises the memory limit if needed. Raises
    duckdb.Error, OSError."""
    try:
        _commit_with_room(store, run, group)
    except content_errors():
        for file in group.files:
            _load_alone(store, run, file)
        _commit(store, run, Commit([], group.rows, group.replies))
    finally:
        for file in group.files:
            file.discard()


def _commit_with_room(store: Store, run: int, group: Commit) -> None:
    for memory_mb in (0, *LARGE_MEMORY_MB):
        try:
            with store.memory(memory_mb):
                _commit(store, run, group)
            return
        except duckdb.Error as error:
            if memory_mb == LARGE_MEMORY_MB[-1] or not is_out_of_memory(error):
                raise


def _load_alone(store: Store, run: int, file: FileRows) -> None:
    try:
        _commit(store, run, Commit([file]))
    except content_errors():
        unfit, file.urls = file.urls, store.reduced(file.urls)
        unfit.discard()
        _commit(store, run, Commit([file]))


def _commit(store: Store, run: int, group: Commit) -> None:
    with store.transaction():
        if group.files:
            put_files(store, run, group.files)
        for table, rows in group.rows.items():
            store.insert_rows(table, rows)
        if group.replies:
            with store.spool() as spool:
                spool.write(b"".join(group.replies), len(group.replies))
                store.insert("replies", [spool])


def put_files(store: Store, run: int, files: Sequence[FileRows]) -> None:
    """Insert the rows of files, within a transaction of the caller. Raises duckdb.Error, OSError."""
    for table, spools in (
        ("urls", [file.urls for file in files]),
        ("findings", [file.findings for file in files]),
        ("sitemaps", [file.record for file in files]),
    ):
        with _joined(store, spools) as joined:
            store.insert(table, joined)
    store.insert_rows("files", [file.row(run) for file in files])
    store.insert_rows(
        "children",
        (
            {"sitemap": file.sitemap, "loc": loc, "lastmod_at": lastmod}
            for file in files
            for loc, lastmod in file.result.children
        ),
    )


@contextmanager
def _joined(store: Store, spools: Iterable[Spool]) -> Iterator[list[Spool]]:
    """Merge spools in memory into one, so that small files need no temporary file each."""
    with store.spool() as small:
        large = [spool for spool in spools if not small.absorb_if_in_memory(spool)]
        yield [small, *large]


PARQUET, CSV, GZIP = ".parquet", ".csv", ".gz"
NEEDED = ("loc", "sitemap")
"""Columns without which rows of a feed cannot be compared."""
AS_TEXT = r"regexp_replace(regexp_replace({}, '^''([=+@\t\r-])', '\1'), '([;\t\r\n])''([=+@-])', '\1\2', 'g')"
"""SQL for the text of a CSV cell, without the `'` by which it is no formula (`feeds.columns.Cells`)."""
FROM_CELLS = {
    **{name: AS_TEXT.format(name) for name in (*NEEDED, "lastmod", "changefreq", "indexability", "change")},
    "line": "try_cast(line AS BIGINT)",
    "lastmod_at": f"try_cast(lastmod_at AS {TIME})",
    "priority": "try_cast(priority AS DOUBLE)",
    "blocked_for": "CASE WHEN blocked_for = 'none' THEN [] ELSE string_split(blocked_for, '; ') END",
    "problems": "string_split(problems, '; ')",
}
"""{column of a CSV feed: SQL for its value}, as far as it is that of a url record."""
OF_FINDINGS = ("rule", "severity", "sitemap", "url", "value")
"""Fields of the findings of a baseline that are compared."""
OF_ROBOTS = ("robots", "status", "outcome", "final_url", "error")
"""Fields of robots records that say which rules the baseline knew."""
REPLY = "reply"
"""Field with the result of verifying the URL."""
ZONED = "TIMESTAMP WITH TIME ZONE"
"""Type of the times in a Parquet feed."""
TREES = "extra"
"""Field with element trees, which Parquet stores as text."""
ATTRIBUTED = frozenset(name for namespace in OWN for name, read in namespace.fields.items() if read is either)
"""Fields with text or objects, which Parquet always stores as objects."""
_NESTED = re.compile(
    "|".join((r'":\[\{', '"extra":"', *(rf'"{namespace.field}":\{{' for namespace in OWN if namespace.single))).encode()
)


@dataclass(frozen=True, slots=True)
class EarlierFeed:
    """What a feed says besides its records."""

    partial: str | None
    """Why its url records are incomplete; None if they are complete."""
    summary: SummaryRecord | None
    columns: Collection[str] | None
    """Fields of url records that it can hold; None if it can hold all."""


def import_feed(store: Store, path: Path) -> EarlierFeed:
    """Load the url records of a feed into the attached database.

    Raises duckdb.Error, OSError, and msgspec.ValidationError for a malformed summary.
    """
    is_of_report = path.name in OF_A_REPORT
    cut = unfinished(path.parent) if is_of_report else None
    summary = msgspec.convert(summary_of(path.parent) if is_of_report else None, SummaryRecord | None)
    findings, kept = _linked(store, findings_of(path), "findings"), path.with_name(CONTENTS)
    robots = robots_of(path)
    path = _linked(store, path, "urls")
    columns = None
    if path.suffix == GZIP:
        _check_whole(path)
    if path.suffix == PARQUET:
        columns = _import_parquet(store, path)
    elif path.suffix == CSV:
        columns = _import_csv(store, path)
    else:
        store.read_feed(f"{BASELINE}.urls", path, "url")
        if cut is None:
            summary = summary or _summary(store, path)
            if summary is not None:
                cut = summary.partial or (summary.only and f"only={summary.only}")
    _import_records(store, findings, "findings", "finding", OF_FINDINGS)
    if is_of_report and robots.is_file():
        _import_records(store, _linked(store, robots, "robots"), "robots", "robots", OF_ROBOTS)
    if is_of_report and kept.is_file():
        _import_contents(store, _linked(store, kept, "contents"))
    return EarlierFeed(cut or _lack(store), summary, columns)


def _check_whole(path: Path) -> None:
    """Raise OSError for a damaged gzip file. DuckDB ignores its checksum."""
    try:
        with gzip.open(path) as file:
            for _ in _lines(file):
                pass
    except (EOFError, zlib.error) as error:
        raise OSError(str(error)) from None


def _lack(store: Store) -> str | None:
    """What the url records of a feed lack; None if they lack nothing. Raises OSError if they cannot be compared."""
    missing = ", ".join(f"count(*) - count({name})" for name in NEEDED)
    [(count, *without)] = store.execute(f"SELECT count(*), {missing} FROM {BASELINE}.urls")
    for name, number in zip(NEEDED, without, strict=True):
        if number:
            raise OSError(f"{number:,} of its {count:,} url records have no {name}")
    return None if count else "it holds no url records"


def findings_of(path: Path) -> Path:
    """The feed with the findings of a feed of url records: the one beside it in a report, else the feed itself."""
    beside = path.with_name(f"findings{path.suffix}")
    return beside if path.name in OF_A_REPORT and beside.is_file() else path


def robots_of(path: Path) -> Path:
    """The feed with the robots records of a report, whose url records are in this one."""
    return path.with_name(f"robots{path.suffix}")


def _import_records(store: Store, path: Path, table: str, kind: str, fields: Collection[str]) -> None:
    """Load these fields of the records of one type from a feed, if it has any. `kind`: their `type`."""
    if path.suffix not in (PARQUET, CSV):
        store.read_feed(f"{BASELINE}.{table}", path, kind)
    elif path.suffix == PARQUET and {*fields} <= _described(store, path, "*").keys():
        names = ", ".join(fields)
        store.execute(f"INSERT INTO {BASELINE}.{table} BY NAME SELECT {names} FROM read_parquet({literal(str(path))})")


def _import_contents(store: Store, path: Path) -> None:
    """Load the table of contents of a report (`jobs.content_history.export`)."""
    store.execute(
        f"INSERT INTO {BASELINE}.contents BY NAME SELECT * REPLACE (content_hash::UHUGEINT AS content_hash) "
        f"FROM read_parquet({literal(str(path))})"
    )


def _linked(store: Store, path: Path, name: str) -> Path:
    """Link a file to a name without characters that DuckDB treats as a pattern."""
    link = store.spools / f"{name}{''.join(path.suffixes[-2:] if path.suffix == GZIP else path.suffixes[-1:])}"
    try:
        link.symlink_to(path)
    except OSError:  # links may require a privilege
        shutil.copyfile(path, link)
    return link


def _summary(store: Store, path: Path) -> SummaryRecord | None:
    """The summary in a crawl's feed, if any."""
    lines = f"read_json_objects(?, format = 'newline_delimited', maximum_object_size = {FEED_LINE})"
    rows = store.execute(f"SELECT json FROM {lines} WHERE json->>'type' = 'summary'", [[str(path)]])
    return msgspec.json.decode(rows[0][0], type=SummaryRecord) if rows else None


def _import_csv(store: Store, path: Path) -> Collection[str]:
    """Load the rows of a CSV feed. Returns the fields that it holds."""
    source = (
        f"read_csv({literal(str(path))}, header = true, delim = ',', quote = '\"', escape = '\"', all_varchar = true, "
        f"max_line_size = {FEED_LINE})"
    )
    columns = {row[0] for row in store.execute(f"DESCRIBE FROM {source}")}
    if lacking := [name for name in NEEDED if name not in columns]:
        raise OSError(f"it has no column {lacking[0]}")
    values = {"issues" if name == "problems" else name: sql for name, sql in FROM_CELLS.items() if name in columns}
    named = ", ".join(f"{value} AS {name}" for name, value in values.items())
    store.execute(f"INSERT INTO {BASELINE}.urls BY NAME SELECT {named} FROM {source}")
    return values.keys()


def _import_parquet(store: Store, path: Path) -> Collection[str]:
    """Load the rows of a Parquet feed. Returns the fields that it holds."""
    columns = _described(store, path, "*").keys()
    feed = store.spools / "baseline.jsonl"
    store.execute(
        f"COPY (SELECT * REPLACE ({_as_in_lines(store, path)}) FROM read_parquet({literal(str(path))})) "
        f"TO {literal(str(feed))} (FORMAT json)"
    )
    with store.spool() as spool:
        with feed.open("rb") as file:
            for line in _lines(file):
                spool.write(plain_line(line), 1)
        store.read_feed(f"{BASELINE}.urls", spool.flush(), None)
    feed.unlink()
    return columns


def _lines(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    """Yield the lines of a feed. Raises OSError if one is longer than any that feeds contain."""
    while line := file.readline(FEED_LINE + 1):
        if len(line) > FEED_LINE:
            raise OSError(f"a line of it has more than {FEED_LINE:,} bytes")
        yield line


def _as_in_lines(store: Store, path: Path) -> str:
    """SQL that replaces values by those of JSON feeds: empty lists by null, except for fields that are kept when empty,
    and times by text."""
    replaced = {"loc": "loc"}  # REPLACE takes at least one column
    for name, type in _described(store, path, "*").items():
        if name == REPLY and type.startswith("STRUCT"):
            fields = _described(store, path, f"unnest({REPLY})").items()
            parts = (f"{literal(field)}: {_unless_empty(f'{REPLY}.{quoted(field)}', kind)}" for field, kind in fields)
            replaced[name] = f"CASE WHEN {REPLY} IS NOT NULL THEN {{{', '.join(parts)}}} END"
        elif type.endswith("[]") and name not in KEPT_WHEN_EMPTY:
            replaced[name] = _unless_empty(quoted(name), type)
        elif type == ZONED:
            replaced[name] = iso(quoted(name))
    return ", ".join(f"{value} AS {quoted(name)}" for name, value in replaced.items())


def _described(store: Store, path: Path, columns: str) -> dict[str, str]:
    """{column: type} of a Parquet file."""
    rows = store.execute(f"DESCRIBE SELECT {columns} FROM read_parquet({literal(str(path))})")
    return {row[0]: row[1] for row in rows}


def _unless_empty(column: str, type: str) -> str:
    """SQL for a column, with empty lists replaced by null."""
    return f"CASE WHEN len({column}) > 0 THEN {column} END" if type.endswith("[]") else column


def plain_line(line: bytes) -> bytes:
    """Convert a row of a Parquet feed to the form in JSON lines feeds if it contains objects."""
    if not _NESTED.search(line):
        return line
    return json.dumps(_plain(json.loads(line)), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _plain(value: object, name: str = "") -> object:
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        parts = {key: _plain(part, key) for key, part in value.items()}
        kept = {key: part for key, part in parts.items() if part not in (None, [], {}) or key in KEPT_WHEN_EMPTY}
        return kept["value"] if name in ATTRIBUTED and kept.keys() == {"value"} else kept
    return json.loads(value) if name == TREES and isinstance(value, str) else value
