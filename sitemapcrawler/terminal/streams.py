"""Standard streams and terminals: their capabilities, colours, and output whose reader may go away."""

from __future__ import annotations

import asyncio
import io
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import IO, TextIO, TypeGuard

from sitemapcrawler.rules.catalogue import Paint

NOT_LIVE = ("", "dumb", "unknown")
"""Values of TERM for terminals that cannot move the cursor."""
NO = ("", "0", "false", "no")
"""Values of CI that mean: no CI system."""
CLOSED = "standard output is closed"
CHUNK = 1 << 16
"""Bytes copied at a time: the capacity of a pipe."""
STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "ok": "bold green",
    "place": "bold",
    "id": "bold",
    "label": "bold",
}
"""Rich style of each kind of text."""
Stream = IO[str] | IO[bytes] | None
"""A stream; None for a closed standard stream."""


class OutputError(ValueError):
    """Standard output cannot be written. The message is one line."""


def can_be_live(stream: Stream) -> bool:
    """True for a foreground terminal with a movable cursor, outside CI."""
    if not is_terminal(stream) or os.environ.get("CI", "").lower() not in NO:
        return False
    if os.environ.get("TERM", "" if os.name != "nt" else "windows") in NOT_LIVE:
        return False
    return in_foreground(stream)


def is_terminal(stream: Stream) -> TypeGuard[IO[str]]:
    """True for a stream that ends on a terminal."""
    try:
        return stream is not None and os.isatty(stream.fileno())
    except (AttributeError, OSError, ValueError):  # missing, closed, or without a file descriptor
        return False


def in_foreground(stream: IO[str]) -> bool:
    """False if the shell runs the process in the background (`command &`)."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except (AttributeError, OSError):  # no job control here
        return True


def same_terminal(one: Stream, other: Stream) -> bool:
    """True if both streams end on the same terminal."""
    if not is_terminal(one) or not is_terminal(other):
        return False
    return one is other or os.fstat(one.fileno()).st_rdev == os.fstat(other.fileno()).st_rdev


def spool_input(limit: int = 0) -> None:
    """Copy standard input to an unnamed temporary file and make /dev/stdin refer to it.

    The file can be read like any other. Raises ValueError, one line, if standard input cannot be read. `limit`: bytes
    to read, plus one that shows that there are more; 0: all.
    """
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    if sys.stdin.isatty():
        raise ValueError("standard input is a terminal; use a pipe or a file")
    try:
        with tempfile.TemporaryFile() as file:
            for chunk in _chunks(sys.stdin.buffer, limit):
                file.write(chunk)
            file.flush()
            os.dup2(file.fileno(), sys.stdin.fileno())
    except OSError as error:
        raise ValueError(f"a temporary file cannot be written: {error.strerror}") from None


def _chunks(source: IO[bytes], limit: int) -> Iterator[bytes]:
    left = limit + 1 if limit else sys.maxsize
    try:
        while left and (chunk := source.read(min(left, CHUNK))):
            left -= len(chunk)
            yield chunk
    except OSError as error:
        raise ValueError(f"standard input cannot be read: {error.strerror}") from None


class StandardOutput:
    """Standard output of a crawl. It notices when its reader goes away."""

    def __init__(self, ended: Callable[[], None]) -> None:
        """`ended`: called once, when nothing more can be written."""
        self.gone = False
        """True if the reader has gone (`| head`)."""
        self.error: str | None = None
        """Why nothing can be written, in a few words; None if it can."""
        self._ended = ended
        self._has_ended = False
        self._turn = asyncio.Lock()
        self._unwatch: Callable[[], object] = lambda: None

    @property
    def is_open(self) -> bool:
        """True until writing fails or the reader has gone."""
        return not self.gone and self.error is None

    def write(self, text: str) -> None:
        """Write text at once."""
        if self.is_open:
            self._put(text)
            self._take_note()

    async def send(self, text: str) -> None:
        """Write text after everything sent before, without blocking the event loop on a slow reader."""
        async with self._turn:
            if self.is_open:
                await asyncio.to_thread(self._put, text)
                self._take_note()

    def _put(self, text: str) -> None:
        try:
            if not put(text):
                self.gone = True
        except OutputError as error:
            self.error = str(error)

    def _take_note(self) -> None:
        if not (self.is_open or self._has_ended):
            self._has_ended = True
            self._unwatch()
            self._ended()

    def watch(self) -> None:
        """Notice in the running event loop that the reader goes away while there is nothing to write."""
        with suppress(OSError, NotImplementedError):  # anything but a pipe is noticed when written to
            number = sys.stdout.fileno()
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                loop = asyncio.get_running_loop()
                loop.add_reader(number, self._leave)
                self._unwatch = partial(loop.remove_reader, number)

    def _leave(self) -> None:
        if self.is_open:
            self.gone = True
            self._take_note()


def pour(source: IO[bytes]) -> bool:
    """Write a whole file to standard output. Returns False if its reader has gone. Raises OutputError if writing
    fails."""
    try:
        descriptor = sys.stdout.fileno()
        os.set_blocking(descriptor, True)
        while chunk := source.read(CHUNK):
            written = 0
            while written < len(chunk):
                written += os.write(descriptor, chunk[written:])
    except BrokenPipeError:
        return False
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror}") from None
    return True


def put(text: str) -> bool:
    """Write text to standard output, escaping characters that its encoding lacks. Returns and raises what `pour`
    does."""
    if sys.stdout is None:
        raise OutputError(CLOSED)
    return pour(io.BytesIO(text.encode(sys.stdout.encoding, "backslashreplace")))


def wants_colour(stream: TextIO | None) -> bool:
    """True for a terminal that shows colours; honours NO_COLOR and TERM."""
    if stream is None or not stream.isatty():
        return False
    from rich.console import Console  # imported here: few runs have a terminal

    console = Console(file=stream)
    return console.color_system is not None and not console.no_color


def plain(text: str, kind: str) -> str:
    """Return the text unchanged: a `Paint` without colours."""
    return text


def painter(colour: bool) -> Paint:
    """Return a function that styles text, with colours or without."""
    if not colour:
        return plain
    from rich.color import ColorSystem
    from rich.style import Style

    styles = {kind: Style.parse(style) for kind, style in STYLES.items()}

    def paint(text: str, kind: str) -> str:
        return styles[kind].render(text, color_system=ColorSystem.STANDARD) if kind in styles else text

    return paint
