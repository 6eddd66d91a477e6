"""Rows waiting for their commit, as JSON lines: in memory while they are few, then in a file."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import count, groupby
from pathlib import Path
from typing import IO, Self

import msgspec

from sitemapcrawler.jobs.store.schema import ENTRY, FIRST, MORE

IN_MEMORY = 256 * 1024
"""Bytes of rows kept in memory."""
LINE = 1024 * 1024
"""Minimum for the line length that readers of the file allow, in bytes."""
LONG = 4096
"""Average bytes per row above which the other items of long lists become rows of their own."""
BASIC = ("loc", "sitemap", "line")
"""Fields that are kept of a row that does not fit the columns."""
_numbers = count(time.time_ns() // 1000)
"""Entry numbers, unique in a database and its baseline: fewer entries are numbered than microseconds pass."""
_NUMBER = re.compile(rf',"{ENTRY}":([0-9]+)}}\n?$'.encode())
_BEGIN = re.compile(rf'{{"{ENTRY}":([0-9]+),?'.encode())
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPES = re.compile(rb"(?<!\\)((?:\\\\)*)((?:\\ud[89a-f][0-9a-f]{2})+)", re.IGNORECASE)
"""Escapes of surrogates in JSON, behind escaped backslashes."""


class Spool:
    """Rows of one table waiting for their commit."""

    def __init__(self, folder: Path) -> None:
        """`folder`: place for the file, which is created if needed."""
        self.rows = 0
        """Number of rows."""
        self.longest = LINE
        """Length of the longest row in bytes, at least `LINE`."""
        self.items: dict[str, Spool] = {}
        """Other items of long lists, by field."""
        self._folder = folder
        self._held = bytearray()
        self._file: IO[bytes] | None = None

    def write(self, lines: bytes, rows: int) -> None:
        """Add rows as JSON lines, in the format of feeds."""
        if not lines:
            return
        self.rows += rows
        lines = fitting(lines)
        if len(lines) > rows * LONG:
            lines = b"".join((self._short(line) if len(line) > LONG else line) + b"\n" for line in lines.splitlines())
        if len(lines) > LINE:
            self.longest = max(self.longest, *(len(line) + 1 for line in lines.split(b"\n")))
        self._held += lines
        if len(self._held) > IN_MEMORY:
            self.flush()

    def flush(self) -> Path:
        """Write the rows to the file and return its path. Raises OSError."""
        if self._file is None:
            self._file = tempfile.NamedTemporaryFile(  # noqa: SIM115  # it is removed by `discard`
                dir=self._folder, prefix="rows-", suffix=".jsonl", buffering=0, delete=False
            )
        view = memoryview(self._held)
        while view:
            view = view[self._file.write(view) :]
        self._held = bytearray()
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

    def _short(self, line: bytes) -> bytes:
        """Return a row with only the first items of its long lists; the others are written separately."""
        row = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        for field in MORE.keys() & row.keys():
            items = [bytes(item) for item in msgspec.json.decode(row[field], type=list[msgspec.Raw])]
            if len(items) > FIRST:
                if ENTRY not in row:
                    row[ENTRY] = msgspec.Raw(b"%d" % next(_numbers))
                begin = b'{"%b":%b' % (ENTRY.encode(), bytes(row[ENTRY]))
                spool = self.items.setdefault(field, Spool(self._folder))
                rest = (b"%b%b%b\n" % (begin, b"," if len(item) > 2 else b"", item[1:]) for item in items[FIRST:])
                spool.write(b"".join(rest), len(items) - FIRST)
                row[field] = msgspec.Raw(b"[%b]" % b",".join(items[:FIRST]))
        return msgspec.json.encode(row) if ENTRY in row else line

    def _count(self, other: Spool) -> None:
        self.rows += other.rows
        self.longest = max(self.longest, other.longest)
        for field, spool in other.items.items():
            self.items.setdefault(field, Spool(self._folder)).absorb(spool)

    def lines(self) -> Iterator[bytes]:
        """Yield the rows, with all items of their lists."""
        items = {field: _Items(spool.lines()) for field, spool in self.items.items()}
        with self.flush().open("rb") as file:
            for line in file:
                number = _NUMBER.search(line) if items else None
                yield line if number is None else _whole(line, int(number[1]), items)

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
        for spool in self.items.values():
            spool.discard()


class _Items:
    """Items of long lists, in the order of their entries."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._groups = groupby(lines, lambda line: int(_BEGIN.match(line)[1]))  # type: ignore[index]  # all are numbered
        self._next = next(self._groups, None)

    def pop(self, number: int) -> list[bytes]:
        """Return the items of an entry, and drop them."""
        if self._next is None or self._next[0] != number:
            return []
        found = [b"{" + _BEGIN.sub(b"", line.rstrip(b"\n")) for line in self._next[1]]
        self._next = next(self._groups, None)
        return found


def _whole(line: bytes, number: int, items: Mapping[str, _Items]) -> bytes:
    """Return a row with all items of its long lists."""
    row = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    del row[ENTRY]
    for field, spooled in items.items():
        if rest := spooled.pop(number):
            row[field] = msgspec.Raw(b"%b,%b]" % (bytes(row[field])[:-1], b",".join(rest)))
    return msgspec.json.encode(row) + b"\n"


def fitting(lines: bytes) -> bytes:
    """Replace each lone surrogate in rows by U+FFFD. DuckDB rejects them; the reader has none, but a plug-in or a
    baseline may."""
    if b"\\" not in lines:  # a fraction of the time of the next test, and true for nearly all
        return lines
    return _ESCAPES.sub(_without_lone, lines) if b"\\ud" in lines or b"\\uD" in lines else lines


def _without_lone(escapes: re.Match[bytes]) -> bytes:
    text: str = json.loads(b'"%b"' % escapes[2])
    return escapes[1] + _SURROGATE.sub("\ufffd", text).encode()


def reduced(line: bytes) -> bytes:
    """Return a row with the fields in `BASIC` alone."""
    row = json.loads(line)
    return json.dumps({name: row[name] for name in BASIC if name in row}, ensure_ascii=False).encode() + b"\n"
