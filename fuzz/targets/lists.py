"""Lists of URLs from a user: JSON, JSON lines, CSV, text. Pieces make no difference, and only one error type is
raised."""

from __future__ import annotations

from io import BytesIO

from fuzz.inputs import InPieces, in_time, is_parquet
from sitemapcrawler.reader.lists import ListedUrl, read_list
from sitemapcrawler.reader.rows import Unread

MAX_BYTES = 2048
DICTIONARY = "lists.dict"


def check(data: bytes) -> None:
    """Check that whole and pieces give the same entries and error."""
    if is_parquet(data):
        return
    for name in ("", "list.csv"):
        with in_time():
            assert _read(BytesIO(data), name) == _read(InPieces(data), name), "the pieces make a difference"


def _read(file: BytesIO, name: str) -> tuple[list[ListedUrl | Unread], str]:
    entries: list[ListedUrl | Unread] = []
    try:
        entries += read_list(file, name)
    except ValueError as error:
        assert "\n" not in str(error)
        return entries, str(error)
    return entries, ""
