"""Lists of URLs that a user gives: JSON, JSON lines, CSV, text. Read alike in any pieces, and only one error leaves."""

from __future__ import annotations

from io import BytesIO

from fuzz.inputs import chance, in_time
from sitemapcrawler.reader.lists import MAGIC, ListEntry, read_list

MAX_BYTES = 2048
RUNS = 8_000
DICTIONARY = "lists.dict"


class InPieces(BytesIO):
    """A file that gives less than it is asked for, as a pipe does."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._chance = chance(data)

    def read(self, size: int | None = -1) -> bytes:
        """At least one byte, unless it is the end."""
        return super().read(self._chance.randint(1, 40))


def check(data: bytes) -> None:
    """Entries and error are the same for the whole and for pieces."""
    if data.startswith(MAGIC) or (data[:1] == b"P" and len(data) > 1):
        return
    for name in ("", "list.csv"):
        with in_time():
            assert _read(BytesIO(data), name) == _read(InPieces(data), name), "the pieces make a difference"


def _read(file: BytesIO, name: str) -> tuple[list[ListEntry], str]:
    entries: list[ListEntry] = []
    try:
        entries += read_list(file, name)
    except ValueError as error:
        assert "\n" not in str(error)
        return entries, str(error)
    return entries, ""
