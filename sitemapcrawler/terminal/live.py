"""Live rows at the bottom of a terminal, below log lines and output. Drawn by rich, which honours NO_COLOR."""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, Group
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from sitemapcrawler.terminal.progress_rows import FAINT, GAP, LABEL, Cell, ProgressRow, Tell
from sitemapcrawler.terminal.streams import same_terminal

REFRESH_S = 0.25
"""Seconds between two updates."""
PATIENCE_S = 1.0
"""Seconds that `stop` waits for a running update."""
BAR = (8, 30)
"""Minimum and maximum columns of a bar."""
STEPS = 1000
"""Steps of a bar."""


class Terminal(Console):
    """A terminal on which one thread draws or writes at a time. Once it is gone, it ignores what is written."""

    def __init__(self, file: TextIO) -> None:
        self._turn = threading.RLock()
        super().__init__(
            file=file, force_terminal=True, force_interactive=True,
            soft_wrap=True, markup=False, emoji=False, highlight=False,
        )  # fmt: skip

    def __enter__(self) -> Console:
        self._turn.acquire()
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        except (OSError, ValueError):  # gone, or closed
            self.quiet = True
        finally:
            self._turn.release()


class RowText(ProgressColumn):
    """The cells of a row."""

    def render(self, task: Task) -> Text:
        text: Text = task.fields["text"]
        return text


class Display:
    """Rows at the bottom of the terminal. Between `start` and `stop`, log lines and printed text appear above them."""

    def __init__(self, terminal: TextIO, tell: Tell) -> None:
        self._terminal = terminal
        self._tell = tell
        self._console = Terminal(terminal)
        label = TextColumn("{task.description}", FAINT, markup=False, table_column=Column(no_wrap=True))
        self._bar = BarColumn(style=FAINT, complete_style="green", finished_style="green")
        self._with_bars = Progress(label, self._bar, RowText(), console=self._console)
        self._others = Progress(label, RowText(), console=self._console)
        self._live = Live(
            Group(self._with_bars, self._others),
            console=self._console,
            auto_refresh=False,  # its thread draws without a turn
            transient=True,
            redirect_stdout=same_terminal(sys.stdout, terminal),
            redirect_stderr=same_terminal(sys.stderr, terminal),
        )
        self._rows: Sequence[ProgressRow] = []
        self._handlers: list[tuple[logging.StreamHandler[TextIO], TextIO]] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def start(self) -> None:
        """Start drawing in a thread, so that a busy crawl does not stop the clock."""
        atexit.register(self.stop)
        with self._console:
            self._live.start()
        self._redirect_log()
        self._update()
        self._thread.start()

    def stop(self) -> None:
        """Remove the rows and restore the streams."""
        atexit.unregister(self.stop)
        self._done.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE_S)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, FileProxy):
                stream.flush()  # an incomplete line
        with self._console:
            self._show([])
            self._live.stop()
        for handler, stream in self._handlers:  # outside our turn: loggers take the lock of a handler first
            handler.setStream(stream)
        self._handlers.clear()

    def _redirect_log(self) -> None:
        """Let log handlers that write to this terminal write above the rows, as rich lets `sys.stderr`."""
        for handler in logging.root.handlers:
            if isinstance(handler, logging.StreamHandler) and same_terminal(handler.stream, self._terminal):
                self._handlers.append((handler, handler.stream))
                handler.setStream(sys.stderr)

    def _run(self) -> None:
        while not self._done.wait(REFRESH_S):
            self._update()

    def _update(self) -> None:
        # The crawl changes while it is measured; the next update comes soon. Log nothing here: a thread that logs holds
        # the lock of a handler and may wait for its turn.
        with suppress(Exception):
            self._rows = self._tell(self._console.width)
        with self._console:
            self._show(self._rows)
            self._live.refresh()

    def _show(self, rows: Sequence[ProgressRow]) -> None:
        """Fill the tables. Rows with a share come first and get a bar, if there is room for one."""
        label = max([LABEL, *(len(row.label) for row in rows)])
        room = self._console.width - 1 - label - len(GAP)
        texts = [fitted(row.cells, room) for row in rows]
        widest = max([text.cell_len for row, text in zip(rows, texts, strict=True) if row.share is not None], default=0)
        free = room - 1 - widest
        self._bar.bar_width = min(free, BAR[1])
        for progress in (self._with_bars, self._others):
            for task in progress.task_ids:
                progress.remove_task(task)
        for row, text in zip(rows, texts, strict=True):
            progress = self._others if row.share is None or free < BAR[0] else self._with_bars
            done = round((row.share or 0.0) * STEPS)
            progress.add_task(f"{row.label:<{label}} ", total=STEPS, completed=done, text=text)


def fitted(cells: Sequence[Cell], room: int) -> Text:
    """Join cells, without those at the end that do not fit into `room` columns. The first one is cut."""
    text = Text(no_wrap=True, overflow="crop")
    for part, style in cells:
        if part and text.cell_len + len(GAP) + cell_len(part) > room and text:
            break
        if part:
            text.append(GAP if text else "").append(part, style or None)
    text.truncate(max(1, room))
    return text
