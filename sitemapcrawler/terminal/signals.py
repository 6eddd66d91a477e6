"""Signals that stop a program which needs no reactor: clean-up first, and never in the middle of a step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a program to stop. Windows has no SIGHUP."""
Handler = Any  # Any: a function, a constant or None
"""Handler of a signal as `signal.signal` takes and returns it."""


class Interruptible:
    """Context in which the first signal to stop raises KeyboardInterrupt.

    Further ones are ignored, so that clean-up comes to its end.
    """

    def __init__(self) -> None:
        self._is_stopped = False
        self._before: dict[int, Handler] = {}

    def __enter__(self) -> Self:
        self._before = _handled(self._stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise KeyboardInterrupt also for what a library has made of it: DuckDB raises RuntimeError."""
        _restore(self._before)
        if self._is_stopped and isinstance(error, Exception):
            raise KeyboardInterrupt from error

    def ignore(self) -> None:
        """Ignore signals from now on: only clean-up is left."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.ignore()
        self._is_stopped = True
        raise KeyboardInterrupt


@contextmanager
def postponed() -> Iterator[None]:
    """Context that is not interrupted: signals to stop are delivered at its end."""
    received: list[int] = []
    before = _handled(lambda number, frame: received.append(number))
    try:
        yield
    finally:
        _restore(before)
        for number in received:
            signal.raise_signal(number)


def _handled(handler: Callable[[int, FrameType | None], None]) -> dict[int, Handler]:
    """Handle signals to stop, and return the handlers before. One that is ignored (`nohup`) stays ignored. Threads
    other than the main one receive no signals."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in numbers}


def _restore(before: dict[int, Handler]) -> None:
    for number, handler in before.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)
