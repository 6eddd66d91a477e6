"""Lists of URLs from a user: JSON, JSON lines, CSV, text. Pieces make no difference, and only one error type is
raised."""

from __future__ import annotations

from io import BytesIO

from fuzz.inputs import chance, in_time
from sitemapcrawler.reader.lists import MAGIC, ListEntry, read_list

MAX_BYTES = 2048
DICTIONARY = "lists.dict"


class InPieces(BytesIO):
    """File that returns less than requested, as a pipe does."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._chance = chance(data)

    def read(self, size: int | None = -1) -> bytes:
        """Return at least one byte, except at the end."""
        return super().read(self._chance.randint(1, 40))


def check(data: bytes) -> None:
    """Check that whole and pieces give the same entries and error."""
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
