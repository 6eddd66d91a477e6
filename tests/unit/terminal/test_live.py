"""Rows at the bottom of a terminal, and what goes above them."""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, TextIO

import pyte
import pytest

from sitemapcrawler.extensions import progress
from sitemapcrawler.terminal import live as module
from sitemapcrawler.terminal.live import Display
from sitemapcrawler.terminal.progress_rows import ProgressRow
from sitemapcrawler.terminal.streams import can_be_live, same_terminal
from tests.crawl.crawling import DEADLINE_S
from tests.crawl.terminal import CHANGING, read_terminal

COLUMNS, LINES = 80, 24
LONG = "https://example.com/" + "long/" * 30 + " [bold]not markup[/] :smile: end"


class Slave:
    """A terminal, and a thread that reads what is written to it."""

    def __init__(self) -> None:
        self._master, slave = os.openpty()
        self.stream: TextIO = os.fdopen(slave, "w", encoding="utf-8")
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.written = b""
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        stream = pyte.ByteStream(self.screen)
        while data := read_terminal(self._master, self.screen):
            self.written += data
            stream.feed(data)

    def take_stderr(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Be standard error. To be called in the test itself: pytest's capturing begins anew with it."""
        monkeypatch.setattr(sys, "stderr", self.stream)

    def shown(self, rows: int) -> list[str]:
        """The rows of the screen, once so many of them are shown; one that is blank is being written."""
        until = time.monotonic() + DEADLINE_S
        while len(found := self._rows()) < rows or not all(found):
            assert time.monotonic() < until, found
        return found

    def _rows(self) -> list[str]:
        return "\n".join(row.rstrip() for row in self.screen.display).rstrip().split("\n")

    def close(self) -> list[str]:
        """Nothing more is written: the rows of the screen without blank ends."""
        if not self.stream.closed:
            self.stream.close()
            self._thread.join()
            os.close(self._master)
        return self._rows()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slave]:
    """A terminal that is standard error."""
    for name in CHANGING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(module, "REFRESH_S", 0.01)
    slave = Slave()
    yield slave
    slave.close()


@pytest.fixture
def handler(terminal: Slave) -> Iterator[logging.StreamHandler[Any]]:
    """A log handler that writes to the terminal, as Scrapy's does."""
    handler = logging.StreamHandler(terminal.stream)
    handler.setFormatter(logging.Formatter("LOG %(message)s"))
    logging.root.addHandler(handler)
    yield handler
    logging.root.removeHandler(handler)


def row(text: str) -> ProgressRow:
    return ProgressRow("label", [(text, "red")])


class Telling:
    """Tells rows, and that it was asked."""

    def __init__(self, *rows: ProgressRow) -> None:
        self.rows = list(rows)
        self._asked = threading.Semaphore(0)

    def __call__(self, width: int) -> list[ProgressRow]:
        self._asked.release()
        return self.rows

    def wait(self) -> None:
        """Return when the rows before the last ones have been drawn."""
        while self._asked.acquire(blocking=False):
            pass  # looks at the rows before
        for _ in range(3):
            assert self._asked.acquire(timeout=10)


def test_log_lines_and_prints_stay_whole_above_the_rows(
    terminal: Slave, handler: logging.StreamHandler[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.take_stderr(monkeypatch)
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    tell = Telling(row("first"), row("second"))
    display = Display(terminal.stream, tell)
    display.start()
    logging.getLogger("of.a.test").warning("%s", LONG)
    tell.rows.append(row("third"))
    tell.wait()
    print("printed")
    print("begun, ", end="")
    print("and ended")
    print("asked:", end=" ", flush=True)
    print("left open", file=sys.stderr, end="")
    tell.rows[:] = tell.rows[:1]
    tell.wait()
    display.stop()
    assert handler.stream is sys.stderr is sys.stdout is terminal.stream
    logging.getLogger("of.a.test").warning("afterwards")
    rows = terminal.close()
    text = f"LOG {LONG}"
    wrapped = [text[at : at + COLUMNS].rstrip() for at in range(0, len(text), COLUMNS)]
    assert rows == [*wrapped, "printed", "begun, and ended", "asked:", "left open", "LOG afterwards"]
    assert f"{text}\r\n".encode() in terminal.written
    assert b"third" in terminal.written
    assert not terminal.screen.cursor.hidden


def test_stream_that_somebody_kept_passes_on_what_comes_later(terminal: Slave, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.take_stderr(monkeypatch)
    display = Display(terminal.stream, Telling(row("row")))
    display.start()
    kept = sys.stderr
    display.stop()
    print("later", file=kept)
    assert kept is not terminal.stream
    assert kept.isatty()
    assert terminal.close() == ["later"]


def test_log_line_at_the_moment_of_the_end_is_waited_for(
    terminal: Slave, handler: logging.StreamHandler[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.take_stderr(monkeypatch)
    display = Display(terminal.stream, Telling(row("row")))
    display.start()
    begun = threading.Event()
    monkeypatch.setattr(handler, "format", lambda record: (begun.set(), ended.wait(0.2), record.getMessage())[2])
    ended = threading.Event()
    logs = threading.Thread(target=logging.getLogger("of.a.test").warning, args=("the last line",), daemon=True)
    stops = threading.Thread(target=lambda: (begun.wait(10), display.stop(), ended.set()), daemon=True)
    for thread in (logs, stops):
        thread.start()
    for thread in (logs, stops):
        thread.join(10)
    assert not logs.is_alive() and not stops.is_alive(), "each waits for the lock of the other"
    assert terminal.close() == ["the last line"]


def test_terminal_that_is_gone_ends_neither_log_nor_prints(
    handler: logging.StreamHandler[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = os.openpty()
    stream = os.fdopen(slave, "w", encoding="utf-8")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "stdout", stream)
    handler.setStream(stream)
    failed: list[logging.LogRecord] = []
    monkeypatch.setattr(handler, "handleError", failed.append)
    display = Display(stream, Telling(row("row")))
    display.start()
    os.close(master)
    with pytest.raises(OSError, match="Input/output error"):
        os.write(slave, b"gone")
    logging.getLogger("of.a.test").warning("nobody reads this")
    print("nor this", end="")
    display.stop()
    assert sys.stdout is handler.stream is stream
    assert failed == []
    with pytest.raises(OSError, match="Input/output error"):
        stream.close()


PARTS = [
    ProgressRow("verifying", [("12 of 80 files", ""), ("340,221 URLs", ""), ("", ""), ("1:02", "")], 0.5),
    ProgressRow("checked", [("2,310 of about 520,000", ""), ("9.6/s", ""), ("about 15 h left", "")], 0.0),
    ProgressRow("found", [("errors in 1 file", ""), ("warnings on 1,200 entries", ""), ("notes on 45 entries", "")]),
    ProgressRow("", [("[bold]\u540d\u524d", "")]),
]


@pytest.mark.parametrize(
    ("columns", "encoding", "shown"),
    [
        (
            80,
            "utf-8",
            [
                "verifying  ━━━━━━━━━━╸━━━━━━━━━━ 12 of 80 files  340,221 URLs  1:02",
                "checked    ━━━━━━━━━━━━━━━━━━━━━ 2,310 of about 520,000  9.6/s  about 15 h left",
                "found      errors in 1 file  warnings on 1,200 entries  notes on 45 entries",
                "           [bold]\u540d\u524d",
            ],
        ),
        (
            40,
            "utf-8",
            [
                "verifying  12 of 80 files  340,221 URLs",
                "checked    2,310 of about 520,000",
                "found      errors in 1 file",
                "           [bold]\u540d\u524d",
            ],
        ),
        (
            20,
            "utf-8",
            ["verifying  12 of 80", "checked    2,310 of", "found      errors i", "           [bold]\u540d"],
        ),
        (
            70,
            "ascii",
            [
                "verifying  ----- ----- 12 of 80 files  340,221 URLs  1:02",
                "checked    ----------- 2,310 of about 520,000  9.6/s  about 15 h left",
                "found      errors in 1 file  warnings on 1,200 entries",
                "           [bold]",
            ],
        ),
    ],
)
def test_rows_at_several_widths(
    terminal: Slave, monkeypatch: pytest.MonkeyPatch, columns: int, encoding: str, shown: list[str]
) -> None:
    terminal.stream.reconfigure(encoding=encoding, errors="ignore")  # type: ignore[union-attr]  # it is a TextIOWrapper
    terminal.take_stderr(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(columns))
    display = Display(terminal.stream, lambda width: PARTS)
    display.start()
    display._done.set()
    display._thread.join()
    assert [line.replace("\u3000", "") for line in terminal.shown(len(shown))] == shown
    display.stop()
    assert terminal.close() == [""]


def test_look_that_fails_leaves_the_last_rows(terminal: Slave, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.take_stderr(monkeypatch)
    looks = threading.Semaphore(0)

    def tell(width: int) -> list[ProgressRow]:
        looks.release()
        if b"row" in terminal.written:
            raise RuntimeError("dictionary changed size during iteration")
        return [row("row")]

    display = Display(terminal.stream, tell)
    display.start()
    for _ in range(5):
        assert looks.acquire(timeout=10)
    display.stop()
    assert terminal.close() == [""]
    assert terminal.written.count(b"row") > 1


def test_rows_beyond_the_height_are_cut(terminal: Slave, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.take_stderr(monkeypatch)
    tell = Telling(*(row(f"row {number}") for number in range(LINES + 10)))
    display = Display(terminal.stream, tell)
    display.start()
    tell.wait()
    display.stop()
    print("after", file=sys.stderr)
    assert "after" in terminal.close()
    assert f"row {LINES}".encode() not in terminal.written


@pytest.mark.parametrize(
    ("variables", "live"),
    [
        ({}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": ""}, False),
        ({"CI": "true"}, False),
        ({"CI": "false"}, True),
        ({"NO_COLOR": "1"}, True),
    ],
)
def test_where_the_display_can_be(
    terminal: Slave, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], live: bool
) -> None:
    terminal.take_stderr(monkeypatch)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert can_be_live(terminal.stream) is live
    assert progress.is_live(settings()) is live


def test_what_is_no_terminal() -> None:
    closed = open(os.devnull)  # noqa: PTH123, SIM115 - closed in the next line
    closed.close()
    with open(os.devnull) as device:  # noqa: PTH123 - as above
        for stream in (None, io.StringIO(), closed, device, object()):
            assert not can_be_live(stream)
            assert not same_terminal(stream, stream)


@pytest.mark.parametrize(
    ("feed", "live"),
    [
        (None, True),
        ("urls.jsonl", True),
        ("s3://bucket/urls.jsonl", True),
        ("stdout:", False),
        ("/dev/tty", False),
        ("file:///dev/tty", False),
        ("the terminal", False),
    ],
)
def test_feed_to_the_terminal_keeps_the_display_off(
    terminal: Slave, monkeypatch: pytest.MonkeyPatch, feed: str | None, live: bool
) -> None:
    terminal.take_stderr(monkeypatch)
    monkeypatch.setattr(sys, "__stdout__", terminal.stream)
    uri = os.ttyname(terminal.stream.fileno()) if feed == "the terminal" else feed
    assert progress.is_live(settings(FEEDS={uri: {"format": "jsonl"}} if uri else {})) is live


def test_feed_to_standard_output_elsewhere_does_not(terminal: Slave, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.take_stderr(monkeypatch)
    with open(os.devnull, "w") as pipe:  # noqa: PTH123 - a device
        monkeypatch.setattr(sys, "__stdout__", pipe)
        assert progress.is_live(settings(FEEDS={"stdout:": {"format": "jsonl"}}))


def test_display_can_be_switched_off(terminal: Slave, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.take_stderr(monkeypatch)
    assert not progress.is_live(settings(SITEMAP_PROGRESS="False"))


def test_log_that_goes_elsewhere(
    terminal: Slave, monkeypatch: pytest.MonkeyPatch, handler: logging.StreamHandler[Any]
) -> None:
    terminal.take_stderr(monkeypatch)
    before = [other for other in logging.root.handlers if other is not handler]
    logging.root.handlers[:] = [handler, logging.NullHandler()]
    try:
        assert not progress.logs_elsewhere()
        logging.root.handlers.append(logging.StreamHandler(io.StringIO()))
        assert progress.logs_elsewhere()
    finally:
        logging.root.handlers[:] = [*before, handler]


def settings(**changed: Any) -> Any:
    from scrapy.settings import Settings

    return Settings({"SITEMAP_PROGRESS": True, **changed})
