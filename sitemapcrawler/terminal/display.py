"""Live rows at the bottom of a terminal, below log lines and output. Drawn by rich, which honours NO_COLOR."""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.segment import Segment, Segments
from rich.text import Text

from sitemapcrawler.terminal.progress import Row
from sitemapcrawler.terminal.streams import same_terminal

REFRESH_S = 0.25
"""Seconds between two updates."""
PATIENCE_S = 1.0
"""Seconds that `stop` waits for a running update."""
GONE = (OSError, ValueError)
"""Raised by writes to a terminal that is gone or closed."""

Tell = Callable[[int, bool], Sequence[Row]]
"""Returns the rows, given the columns of the terminal and whether it shows more than ASCII."""


class Display:
    """Rows at the bottom of the terminal. Between `start` and `stop`, log lines and printed text appear above them."""

    def __init__(self, terminal: TextIO, tell: Tell) -> None:
        self._terminal = terminal
        self._tell = tell
        self._shown = Text()
        self._console = Console(file=terminal, force_terminal=True, force_interactive=True)
        self._live = Live(
            get_renderable=lambda: self._shown,
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._lock = threading.RLock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._above = Above(self, terminal)

    def start(self) -> None:
        """Start drawing in a thread, so that a busy crawl does not stop the clock."""
        self._above.take_over()
        atexit.register(self.stop)
        with self._lock:
            self._update()
            self._live.start()
        self._thread.start()

    def stop(self) -> None:
        """Remove the rows and restore the streams."""
        atexit.unregister(self.stop)
        self._done.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE_S)
        with self._lock, suppress(*GONE):
            self._shown = Text()
            self._live.stop()
        with suppress(*GONE):  # outside our lock: it takes log handlers' locks, which loggers take before ours
            self._above.give_back()

    def write(self, text: str) -> None:
        """Write whole lines above the rows, unchanged."""
        with self._lock:
            if self._live.is_started:
                self._console.print(Segments([Segment(text)]), end="", soft_wrap=True)
            else:
                self._terminal.write(text)
                self._terminal.flush()

    def _run(self) -> None:
        while not self._done.wait(REFRESH_S):
            try:
                with self._lock:
                    self._update()
                    self._live.refresh()
            except GONE:  # the crawl continues without a display
                self._done.set()

    def _update(self) -> None:
        # The crawl changes while it is measured; the next update comes soon. Log nothing here: a thread that logs holds
        # the lock of a handler and may wait for ours.
        with suppress(Exception):
            self._shown = frame(self._tell(self._console.width, not self._console.options.ascii_only))


class Above:
    """Stream whose lines appear above the rows of a display. Replaces the streams that end on its terminal."""

    def __init__(self, display: Display, terminal: TextIO) -> None:
        self._display = display
        self._terminal = terminal
        self._begun = ""
        self._lock = threading.RLock()
        self._handlers: list[tuple[logging.StreamHandler[TextIO], TextIO]] = []
        self._streams: dict[str, TextIO] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._terminal, name)

    def write(self, text: str) -> int:
        """Write complete lines, and keep the rest until its newline arrives."""
        with self._lock:
            whole, newline, self._begun = (self._begun + text).rpartition("\n")
            if newline:
                self._display.write(whole + newline)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        """Write an incomplete line, which may be a prompt."""
        with self._lock:
            if self._begun:
                self.write("\n")

    def take_over(self) -> None:
        """Replace standard output, standard error and the streams of log handlers that end on this terminal."""
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if same_terminal(stream, self._terminal):
                self._streams[name] = stream
                setattr(sys, name, self)
        for handler in logging.root.handlers:
            if isinstance(handler, logging.StreamHandler) and same_terminal(handler.stream, self._terminal):
                self._handlers.append((handler, handler.stream))
                handler.setStream(self)

    def give_back(self) -> None:
        """Restore the replaced streams."""
        self.flush()
        for name, stream in self._streams.items():
            if getattr(sys, name) is self:
                setattr(sys, name, stream)
        for handler, stream in self._handlers:
            held: object = handler.stream
            if held is self:
                handler.setStream(stream)
        self._streams.clear()
        self._handlers.clear()


def frame(rows: Sequence[Row]) -> Text:
    """Join rows into a text for rich; long rows are cut, not wrapped."""
    text = Text(no_wrap=True, overflow="crop", end="")
    for at, row in enumerate(rows):
        text.append("\n" if at else "")
        for part, style in row:
            text.append(part, style or None)
    return text
