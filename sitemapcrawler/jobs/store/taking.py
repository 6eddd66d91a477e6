"""Taking the url records of a feed into a database, so that a crawl can be compared with it."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import duckdb

from sitemapcrawler.feeds.folder import unfinished
from sitemapcrawler.items import KEPT_WHEN_EMPTY
from sitemapcrawler.jobs.store.base import FEED_LINE, Store
from sitemapcrawler.jobs.store.columns import literal, quoted
from sitemapcrawler.jobs.store.loading import BASELINE
from sitemapcrawler.jobs.store.sql import reading

PARQUET = ".parquet"
GZIP = ".gz"
OF_A_REPORT = ("urls.parquet", "urls.jsonl")
"""Feeds that may stand in the folder of a report, whose summary says whether they are complete."""
REPLY = "reply"
"""The field with what asking for the URL came to."""
TREES = "extra"
"""The field of trees of elements, which Parquet has as text."""
ATTRIBUTED = ("player_loc",)
"""Fields of text that may be objects instead, which Parquet has as objects always."""
_NESTED = re.compile(rb'":\[\{|"news":\{|"extra":"')


def take_in(store: Store, path: Path) -> str | None:
    """Put the url records of a feed into the attached database; why they are not complete, None where they are.

    Raises duckdb.Error, OSError.
    """
    cut = unfinished(path.parent) if path.name in OF_A_REPORT else None
    path = _linked(store, path)
    if path.suffix == PARQUET:
        _take_table(store, path)
    elif cut is not None:
        _take_lines(store, path)
    else:
        _take_lines(store, path)
        cut = _partial(store, path)
    [(count,)] = store.execute(f"SELECT count(*) FROM {BASELINE}.urls")
    return cut or (None if count else "it holds no url records")


def _linked(store: Store, path: Path) -> Path:
    """The same file under a name that DuckDB does not take for a pattern."""
    link = store.spools / f"feed{''.join(path.suffixes[-2:] if path.suffix == GZIP else path.suffixes[-1:])}"
    try:
        link.symlink_to(path)
    except OSError:  # where links need a privilege
        shutil.copyfile(path, link)
    return link


def _partial(store: Store, path: Path) -> str | None:
    """Why the feed of a crawl is not complete, by the summary in it."""
    held = dict.fromkeys(("type", "partial", "only"), "VARCHAR")
    try:
        rows = store.execute(
            f"SELECT partial, {quoted('only')} FROM {reading(held, FEED_LINE)} WHERE type = 'summary'",
            [[str(path)]],
        )
    except duckdb.InvalidInputException:  # lone surrogates
        return None
    return next((partial or (only and f"only={only}") for partial, only in rows), None)


def _take_table(store: Store, path: Path) -> None:
    feed = store.spools / "baseline.jsonl"
    store.execute(
        f"COPY (SELECT * REPLACE ({_emptied(store, path)}) FROM read_parquet({literal(str(path))})) "
        f"TO {literal(str(feed))} (FORMAT json)"
    )
    with store.spool() as spool:
        with feed.open("rb") as file:
            for line in _lines(file):
                spool.write(plain_line(line), 1)
        store.read_feed(f"{BASELINE}.urls", spool.flush(), None)
        store.insert_items(f"{BASELINE}.", [spool])
    feed.unlink()


def _take_lines(store: Store, path: Path) -> None:
    try:
        store.read_feed(f"{BASELINE}.urls", path, "url")
    except duckdb.InvalidInputException:  # lone surrogates: those rows are kept as text
        _take_odd_lines(store, path)


def _take_odd_lines(store: Store, path: Path) -> None:
    with store.spool() as spool:
        with (gzip.open if path.suffix == GZIP else open)(path, "rb") as file:
            for line in _lines(file):
                spool.write(line.rstrip(b"\n") + b"\n", 1)
        store.read_feed(f"{BASELINE}.urls", spool.flush(), "url")
        store.insert_items(f"{BASELINE}.", [spool])


def _lines(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    """The lines of a feed; OSError for one that is longer than any that we write."""
    while line := file.readline(FEED_LINE + 1):
        if len(line) > FEED_LINE:
            raise OSError(f"a line of it has more than {FEED_LINE:,} bytes")
        yield line


def _emptied(store: Store, path: Path) -> str:
    """SQL that makes null of what JSON leaves out: lists that are empty, but for those that say so."""
    replaced = {"loc": "loc"}  # REPLACE takes at least one column
    for name, type in _described(store, path, "*").items():
        if name == REPLY and type.startswith("STRUCT"):
            fields = _described(store, path, f"unnest({REPLY})").items()
            parts = (f"{literal(field)}: {_unless_empty(f'{REPLY}.{quoted(field)}', kind)}" for field, kind in fields)
            replaced[name] = f"CASE WHEN {REPLY} IS NOT NULL THEN {{{', '.join(parts)}}} END"
        elif type.endswith("[]") and name not in KEPT_WHEN_EMPTY:
            replaced[name] = _unless_empty(quoted(name), type)
    return ", ".join(f"{value} AS {quoted(name)}" for name, value in replaced.items())


def _described(store: Store, path: Path, columns: str) -> dict[str, str]:
    """{column: its type}."""
    rows = store.execute(f"DESCRIBE SELECT {columns} FROM read_parquet({literal(str(path))})")
    return {row[0]: row[1] for row in rows}


def _unless_empty(column: str, type: str) -> str:
    """SQL of a column; null for a list that is empty."""
    return f"CASE WHEN len({column}) > 0 THEN {column} END" if type.endswith("[]") else column


def plain_line(line: bytes) -> bytes:
    """A row of a Parquet feed as JSON lines have it, where it holds objects."""
    if not _NESTED.search(line):
        return line
    return json.dumps(_plain(json.loads(line)), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        parts = {key: _plain(part, key) for key, part in value.items()}
        kept = {key: part for key, part in parts.items() if part not in (None, [], {}) or key in KEPT_WHEN_EMPTY}
        return kept["value"] if name in ATTRIBUTED and kept.keys() == {"value"} else kept
    return json.loads(value) if name == TREES and isinstance(value, str) else value
