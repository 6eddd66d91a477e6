"""Lists of other programs: pieces make no difference, a row is a URL, a path or marked, and only one error type is
raised."""

from __future__ import annotations

import csv
from io import BytesIO

from fuzz.inputs import InPieces, in_time, is_parquet
from sitemapcrawler.reader.lists import LEFT_OUT, UNREAD, ExportRow, read_export

MAX_BYTES = 2048
DICTIONARY = "lists.dict"
SEEDS = ("fuzz/corpus/lists/*",)
STARTS = ("/", "http://", "https://")
CELL = 20
"""Characters of a cell that the csv module takes unless it is told otherwise, so that short inputs are longer."""


def check(data: bytes) -> None:
    """Check that whole and pieces give the same rows and error."""
    if is_parquet(data):
        return
    limit = csv.field_size_limit(CELL)
    try:
        with in_time():
            assert _read(BytesIO(data)) == _read(InPieces(data)), "the pieces make a difference"
    finally:
        csv.field_size_limit(limit)


def _read(file: BytesIO) -> tuple[list[ExportRow], str]:
    rows: list[ExportRow] = []
    try:
        rows += read_export(file).rows
    except ValueError as error:
        assert "\n" not in str(error)
        return rows, str(error)
    urls = [row.url.removeprefix(LEFT_OUT) for row in rows]
    assert all(url == UNREAD or url.lower().startswith(STARTS) for url in urls)
    return rows, ""
