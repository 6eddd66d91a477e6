"""Lists of URLs as Parquet, read a group of rows at a time, of the column of URLs alone."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, BinaryIO

from sitemapcrawler.quoting import shown
from sitemapcrawler.urllists.entry import TYPE, Entry, Unread, entry
from sitemapcrawler.urllists.tables import column_of

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
