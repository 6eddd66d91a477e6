"""Lines of text in order, however many there are."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

RUN = 10_000
"""Lines that are held in memory at most: some 5 MB of them."""
MAX_RUNS = 32
"""Sorted runs of about one size that become a single one: so a billion lines need some hundred open files, of the 256
that the most frugal system allows (launchd of macOS), and each line is copied three times."""


class SortedLines:
    """Takes lines in any order, gives them in that of their texts. What is too much for memory waits on disk, in
    temporary files that have no name: sorted runs, which are merged when they are many and when they are read."""

    def __init__(self, run: int = RUN) -> None:
        self._run = run
        self._held: list[str] = []
        self._levels: list[list[IO[str]]] = []
        """The runs, each level with those that were merged once more often than those before."""

    def add(self, line: str) -> None:
        """Take a line, without any end of line in it. OSError where the disk is full."""
        self._held.append(f"{line}\n")
        if len(self._held) >= self._run:
            self._put_away()

    def __iter__(self) -> Iterator[str]:
        self._held.sort()
        files = [file for level in self._levels for file in level]
        for line in merged(files, self._held):
            yield line[:-1]

    def close(self) -> None:
        """Forget all of it."""
        for level in self._levels:
            close_all(level)
        self._levels, self._held = [], []

    def _put_away(self) -> None:
        self._keep(sorted(self._held), 0)
        self._held = []

    def _keep(self, lines: Iterable[str], number: int) -> None:
        """Write a run, and where its level is full, merge that into one of the next."""
        if number == len(self._levels):
            self._levels.append([])
        level = self._levels[number]
        file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - closed by close()
        level.append(file)
        file.writelines(lines)
        if len(level) == MAX_RUNS:
            self._keep(merged(level), number + 1)
            close_all(level)


def merged(files: Sequence[IO[str]], *others: Iterable[str]) -> Iterator[str]:
    """The lines of sorted files, and of others, in order."""
    for file in files:
        file.seek(0)
    return heapq.merge(*others, *files)


def close_all(files: list[IO[str]]) -> None:
    """Close files, and forget them."""
    for file in files:
        file.close()
    files.clear()
