"""Lines of text in order, however many there are."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterator
from typing import IO

RUN = 10_000
"""Lines that are held in memory at most: some 5 MB of them."""


class SortedLines:
    """Takes lines in any order, gives them in that of their texts. What is too much for memory waits on disk, in
    temporary files that have no name: a sorted run each, which are merged when they are read."""

    def __init__(self, run: int = RUN) -> None:
        self._run = run
        self._held: list[str] = []
        self._files: list[IO[str]] = []

    def add(self, line: str) -> None:
        """Take a line, without any end of line in it. OSError where the disk is full."""
        self._held.append(f"{line}\n")
        if len(self._held) >= self._run:
            self._put_away()

    def __iter__(self) -> Iterator[str]:
        self._held.sort()
        for file in self._files:
            file.seek(0)
        for line in heapq.merge(self._held, *self._files):
            yield line[:-1]

    def close(self) -> None:
        """Forget all of it."""
        for file in self._files:
            file.close()
        self._files, self._held = [], []

    def _put_away(self) -> None:
        file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - closed by close()
        self._files.append(file)
        file.writelines(sorted(self._held))
        self._held = []
