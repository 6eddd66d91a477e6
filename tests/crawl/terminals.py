"""Commands on a terminal of their own, as wide as a test wants it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from collections.abc import Sequence
from typing import Self

import pyte

from tests.crawl.crawling import DEADLINE_S, environment


class Terminal:
    """A command whose standard input, output and error are a terminal."""

    def __init__(self, command: Sequence[str], columns: int, lines: int = 50, **variables: str) -> None:
        self.columns, self.lines = columns, lines
        own, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        known = {name: value for name, value in environment().items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        self._process = subprocess.Popen(
            command, stdin=other, stdout=other, stderr=other, env={**known, "TERM": "xterm-256color", **variables}
        )
        os.close(other)
        self._own = own
        self._written = bytearray()
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._reading.join()
        os.close(self._own)

    def finish(self) -> tuple[int, str]:
        """Wait for its end: the exit code, and all that it has written."""
        code = self._process.wait(DEADLINE_S)
        self._reading.join()
        return code, self._written.decode()

    def screen(self, text: str) -> list[str]:
        """The lines that one sees of a text."""
        screen = pyte.Screen(self.columns, self.lines)
        pyte.Stream(screen).feed(text)
        return [line.rstrip() for line in screen.display]

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._own, 1 << 16)
            except OSError:  # the other side was closed
                return
            if not data:
                return
            self._written += data
