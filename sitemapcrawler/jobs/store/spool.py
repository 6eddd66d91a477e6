"""Rows on their way into the database: JSON lines, in memory while they are few, then in a file."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Self

from sitemapcrawler.jobs.store.schema import ODD

IN_MEMORY = 256 * 1024
"""Bytes of rows that are kept in memory."""
LINE = 1024 * 1024
"""Bytes of a row that readers of the file are prepared for, where no row is longer."""
BASIC = ("loc", "sitemap", "line")
"""What is kept in columns of a row that cannot be read as a whole."""
_ESCAPE = re.compile(rb"\\ud[89a-f][0-9a-f]{2}")
_LONE = re.compile(rb"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}")


class Spool:
    """Rows of one table, or of one file of a table."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where its file is made, when it needs one."""
        self.rows = 0
        """How many."""
        self.longest = LINE
        """Bytes of the longest row, or `LINE`."""
        self._folder = folder
        self._held = bytearray()
        self._file: IO[bytes] | None = None

    def write(self, lines: bytes, rows: int) -> None:
        """Take rows: JSON lines as feeds write them."""
        if not lines:
            return
        self.rows += rows
        lines = fitting(lines)
        if len(lines) > LINE:
            self.longest = max(self.longest, *(len(line) + 1 for line in lines.split(b"\n")))
        self._held += lines
        if len(self._held) > IN_MEMORY:
            self.flush()

    def flush(self) -> Path:
        """Write what is held to the file; its path. OSError where the disk is full."""
        if self._file is None:
            self._file = tempfile.NamedTemporaryFile(  # noqa: SIM115  # it is removed by `discard`
                dir=self._folder, prefix="rows-", suffix=".jsonl", buffering=0, delete=False
            )
        view = memoryview(self._held)
        while view:
            view = view[self._file.write(view) :]
        self._held = bytearray()
        return Path(self._file.name)

    def take(self, other: Spool) -> bool:
        """Take over the rows of another one, where they are still in memory; False where not."""
        if other._file is not None:
            return False
        self.rows += other.rows
        self.longest = max(self.longest, other.longest)
        self._held += other._held
        if len(self._held) > IN_MEMORY:
            self.flush()
        return True

    def absorb(self, other: Spool) -> None:
        """Take over the rows of another one, which is empty then. OSError where the disk is full."""
        if not self.take(other):
            self.rows += other.rows
            self.longest = max(self.longest, other.longest)
            with other.flush().open("rb") as file:
                while block := file.read(IN_MEMORY):
                    self._held += block
                    self.flush()
        other.discard()
        other.rows, other.longest = 0, LINE

    def lines(self) -> Iterator[bytes]:
        """The rows again, one by one."""
        with self.flush().open("rb") as file:
            yield from file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def discard(self) -> None:
        """Remove the file."""
        self._held = bytearray()
        if self._file is not None:
            self._file.close()
            Path(self._file.name).unlink(missing_ok=True)
            self._file = None


def fitting(lines: bytes) -> bytes:
    """The rows, those with lone surrogates as `odd` ones."""
    if _ESCAPE.search(lines) is None or _LONE.search(lines) is None:
        return lines
    return b"".join(odd(line) if _LONE.search(line) else line for line in lines.splitlines(keepends=True))


def odd(line: bytes, only: Sequence[str] = ()) -> bytes:
    """A row that the columns cannot hold exactly, with its own text beside them. `only`: the fields to keep."""
    text = line.rstrip(b"\n").decode()
    row = json.loads(_LONE.sub(rb"\1\\ufffd", line))
    kept = {name: value for name, value in row.items() if not only or name in only}
    return json.dumps({**kept, ODD: text}, ensure_ascii=False).encode() + b"\n"
