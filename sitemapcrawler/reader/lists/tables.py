"""Lists of URLs as Parquet, read a group of rows at a time, of the column of URLs alone."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, BinaryIO

from sitemapcrawler.feeds.cells import Cells
from sitemapcrawler.reader.lists.entry import COLUMNS, MAX_LINE, TYPE, Entry, Unread, entry
from sitemapcrawler.urls.display import shown
from sitemapcrawler.words import counted

TABLES = (".csv", ".tsv")
"""Names of files that are tables, with or without a header that is known."""
DELIMITERS = ",;\t|"
"""A comma by the standard (RFC 4180), a semicolon where Excel has commas in numbers."""
MAX_HEADER = 64 * 1024
"""Characters of a header; no cell of it may be longer than the 128 KiB of the csv module."""
WEB = "://"
"""What a line of URLs has and a header has not."""


def is_header(line: str) -> bool:
    """True for the first line of a table with a column of URLs."""
    return len(line) <= MAX_HEADER and WEB not in line and column_of(_header(line)[0]) is not None


def column_of(names: Sequence[str]) -> int | None:
    """Which column holds the URLs; None where none does."""
    names = [name.strip().lower() for name in names]
    return next((names.index(name) for name in COLUMNS if name in names), None)


def read_table(lines: Iterator[str]) -> Iterator[Entry]:
    """The URLs of a table; blank lines and comments are passed over. ValueError where no column holds them."""
    before, first = 0, ""
    for first in lines:
        before += 1
        if first.strip():
            break
    names, delimiter = _header(first[:MAX_HEADER])
    column = column_of(names)
    if column is None:
        raise ValueError(f"has no column loc; there are {', '.join(map(shown, names[:20]))}")
    cells = Cells(delimiter)
    kinds = [name.strip().lower() for name in names]
    kind = kinds.index("type") if "type" in kinds else None
    for row, line in _rows(lines, delimiter, before):
        if isinstance(row, Unread):
            yield row
        elif len(row) > len(names):
            yield Unread(line, f"the row has {counted(len(row), 'cell')}, the header {len(names)}")
        elif kind is None or len(row) <= kind or row[kind] in ("", TYPE):
            yield entry(cells.armed(row[column]), line) if column < len(row) else Unread(line, "the row has no loc")


def _header(line: str) -> tuple[list[str], str]:
    """The cells of a header, and what parts them: what leaves a column of URLs, or else most columns."""
    found = [(next(csv.reader([line], delimiter=mark), []), mark) for mark in DELIMITERS]
    return max(found, key=lambda header: (column_of(header[0]) is not None, len(header[0])))


def _rows(lines: Iterable[str], delimiter: str, before: int) -> Iterator[tuple[list[str] | Unread, int]]:
    """The rows behind the header, each with its first line."""
    limit = csv.field_size_limit(MAX_LINE)  # of the process; the default of 128 KiB is less than a page's images take
    # Strict, so that a quote without an end is a row that cannot be read, not one that swallows the others. With their
    # ends, so that a cell over two lines is not taken for one text.
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        while True:
            line = before + reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Unread(line, f"the row cannot be read: {error}"), line
                continue
            if any(row) and not row[0].startswith("#"):
                yield row, line
    finally:
        csv.field_size_limit(limit)


MAGIC = b"PAR1"
"""Source: https://parquet.apache.org/docs/file-format/"""
ROWS = 10_000
"""Rows at a time."""


def read_parquet(file: BinaryIO) -> Iterator[Entry]:
    """The URLs of a table. ValueError without pyarrow, and for a file that is damaged or has no column of URLs."""
    table = _opened(file)
    names = table.schema_arrow.names
    column = column_of(names)
    if column is None:
        raise ValueError(f"has no column loc; there are {', '.join(map(shown, names[:20]))}")
    chosen = [names[column], *(["type"] if "type" in names else [])]
    done = 0
    try:
        for batch in table.iter_batches(ROWS, columns=chosen):
            kinds = batch.column("type").to_pylist() if "type" in chosen else [None] * batch.num_rows
            rows = zip(batch.column(chosen[0]).to_pylist(), kinds, strict=True)
            for row, (url, kind) in enumerate(rows, done + 1):
                if kind in (None, TYPE):
                    yield entry(url, row) if isinstance(url, str) else Unread(row, "the row has no loc")
            done += batch.num_rows
    except (OSError, ValueError) as error:  # pyarrow's own are among them
        yield Unread(done + 1, f"{_first_line(error)}: the rest was not read")


def _opened(file: BinaryIO) -> Any:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise ValueError("is Parquet, for which pyarrow is needed: pip install pyarrow") from None
    try:
        file.seek(0)
        return parquet.ParquetFile(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"is damaged Parquet: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
