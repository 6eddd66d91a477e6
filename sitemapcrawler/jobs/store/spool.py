"""Rows waiting for their commit, as JSON lines: in memory while they are few, then in a file."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Self

IN_MEMORY = 256 * 1024
"""Bytes of rows kept in memory."""
LINE = 1024 * 1024
"""Minimum for the line length that readers of the file allow, in bytes."""
BASIC = ("loc", "sitemap", "line")
"""Fields that are kept of a row that does not fit the columns."""


class Spool:
    """Rows of one table waiting for their commit."""

    def __init__(self, folder: Path) -> None:
        """`folder`: place for the file, which is created if needed."""
        self.rows = 0
        self.longest = LINE
        """Length of the longest row in bytes, at least `LINE`."""
        self._folder = folder
        self._held = bytearray()
        self._file: IO[bytes] | None = None

    def write(self, lines: bytes, rows: int) -> None:
        """Add rows as JSON lines, in the format of feeds."""
        if not lines:
            return
        self.rows += rows
        if len(lines) > LINE:
            self.longest = max(self.longest, *(len(line) + 1 for line in lines.split(b"\n")))
        self._held += lines
        if len(self._held) > IN_MEMORY:
            self.flush()

    def flush(self) -> Path:
        """Write the rows to the file and return its path. Raises OSError; the rows are lost, and the file has none in
        part."""
        if self._file is None:
            self._file = tempfile.NamedTemporaryFile(  # noqa: SIM115  # it is removed by `discard`
                dir=self._folder, prefix="rows-", suffix=".jsonl", buffering=0, delete=False
            )
        held, self._held = self._held, bytearray()
        view, end = memoryview(held), self._file.tell()
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError:
            self._file.seek(self._file.truncate(end))
            raise
        return Path(self._file.name)

    def absorb_if_in_memory(self, other: Spool) -> bool:
        """Move the rows of another spool here if they are in memory. Returns False otherwise."""
        if other._file is not None:
            return False
        self._count(other)
        self._held += other._held
        if len(self._held) > IN_MEMORY:
            self.flush()
        return True

    def absorb(self, other: Spool) -> None:
        """Move the rows of another spool here. Raises OSError."""
        if not self.absorb_if_in_memory(other):
            self._count(other)
            with other.flush().open("rb") as file:
                while block := file.read(IN_MEMORY):
                    self._held += block
                    self.flush()
        other.discard()
        other.rows, other.longest = 0, LINE

    def _count(self, other: Spool) -> None:
        self.rows += other.rows
        self.longest = max(self.longest, other.longest)

    def lines(self) -> Iterator[bytes]:
        """Yield the rows."""
        if self._file is not None:
            with Path(self._file.name).open("rb") as file:
                yield from file
        yield from io.BytesIO(self._held)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def discard(self) -> None:
        """Drop the rows and remove the file."""
        self._held = bytearray()
        if self._file is not None:
            self._file.close()
            Path(self._file.name).unlink(missing_ok=True)
            self._file = None


def reduced(line: bytes) -> bytes:
    """Return a row with the fields in `BASIC` alone."""
    row = json.loads(line)
    return json.dumps({name: row[name] for name in BASIC if name in row}, ensure_ascii=False).encode() + b"\n"
