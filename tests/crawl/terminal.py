"""A terminal of a given size in which a program runs, and what a person sees on it."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import pyte

from tests.crawl import forks
from tests.crawl.crawling import DEADLINE_S
from tests.crawl.forks import environment

CHANGING = ("CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
"""Variables that change what a program writes to a terminal."""
KEPT_LINES = 2000
"""Lines that have left the screen and can still be read."""
CTRL_C = b"\x03"


class Terminal:
    """Runs a command. As a context manager it is killed at the end, if it still runs."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        columns: int = 80,
        lines: int = 24,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, lines, history=KEPT_LINES)
        self.written = b""
        """All that the program has written."""
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process = forks.start(
            command,
            cwd=folder,
            env=terminal_environment() | dict(variables or {}),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            terminal=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    @property
    def rows(self) -> list[str]:
        """What the screen shows, without blank ends of rows."""
        return [row.rstrip() for row in self.screen.display]

    @property
    def text(self) -> str:
        """The rows of the screen as one text."""
        return "\n".join(self.rows)

    @property
    def everything(self) -> list[str]:
        """The rows that have left the screen, and those on it, without the empty ones at the end."""
        above = ["".join(row[at].data for at in range(self.screen.columns)) for row in self.screen.history.top]
        return "\n".join([*map(str.rstrip, above), *self.rows]).rstrip().split("\n")

    @property
    def cursor_is_visible(self) -> bool:
        """Whether the program has left the cursor as it was."""
        return not self.screen.cursor.hidden

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self._master, keys)

    def read_until(self, condition: Callable[[], bool]) -> None:
        """Return when the condition on the screen holds; fails where the program ends before that."""
        until = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < until, self.text
            assert self._read(), f"it has ended:\n{self.text}"

    def finish(self) -> int:
        """Read to the end of the program; its exit code."""
        while self._read():
            pass
        return self.process.wait(DEADLINE_S)

    def _read(self) -> bool:
        """Read what there is, if need be after a moment; False at the end."""
        data = read_terminal(self._master, self.screen)
        self.written += data
        self._stream.feed(data)
        return bool(data)


def read_terminal(master: int, screen: pyte.Screen) -> bytes:
    """What programs have written to a terminal since the last read, if need be after a moment; nothing at the end.
    `screen`: what a test that waits in vain shows.

    Linux may pass over what is written just before a terminal is closed if a read waits for it at that moment (1 of
    4,000 times), and does not if only `select` waits.
    """
    ready, _, _ = select.select([master], [], [], DEADLINE_S)
    assert ready, "\n".join(screen.display)
    try:
        return os.read(master, 1 << 16)
    except OSError:  # Linux says so when the last program has left the terminal
        return b""


def terminal_environment() -> dict[str, str]:
    """The environment of a program on a terminal that can move its cursor and has colours."""
    kept = {name: value for name, value in environment().items() if name not in CHANGING}
    return kept | {"TERM": "xterm-256color"}
