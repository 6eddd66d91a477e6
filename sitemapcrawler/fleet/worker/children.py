"""The children of a worker: crawls in processes of their own, forked by a nursery, one at a time."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Self

START_S = 180.0
"""Seconds in which a nursery has everything imported and its first child running, also on a machine with much to do:
Ray's workers are nice, and have a thirtieth of a core beside three processes that are not."""


class NurseryDied(Exception):
    """The nursery is gone, and its child with it."""


class Nursery:
    """The process that children are forked from; it is started with the first child, and again after its death."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._answers: socket.SocketIO | None = None

    def start(self) -> Child:
        """A child that waits for its job. NurseryDied where none comes to life."""
        if self._process is None or self._process.poll() is not None:
            self._begin()
        assert self._control is not None
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"+"], [theirs.fileno()])
                pid = self.answer(START_S)
            except OSError as error:
                ours.close()
                self.close()  # or its next answer, to this, would be taken for another child's
                raise NurseryDied(f"no process could be started: {error}") from None
        return Child(self, pid, Connection(ours.detach()))

    def answer(self, seconds: float) -> int:
        """The next number that the nursery says. TimeoutError, or NurseryDied."""
        assert self._control is not None and self._answers is not None
        if not select.select([self._control], [], [], seconds)[0]:
            raise TimeoutError(f"no answer in {seconds} s")
        line = self._answers.readline()
        if not line:
            self.close()
            raise NurseryDied("the process that starts crawls has died")
        return int(line)

    def fileno(self) -> int:
        """What can be read when a child has ended, for select."""
        assert self._control is not None
        return self._control.fileno()

    def close(self) -> None:
        """End the nursery, and its child."""
        if self._process is None or self._control is None or self._answers is None:
            return
        self._answers.close()
        self._control.close()
        self._process.kill()
        self._process.wait()
        self._process = None

    def _begin(self) -> None:
        self.close()
        self._control, theirs = socket.socketpair()
        self._answers = self._control.makefile("rb", buffering=0)  # what a buffer holds, select does not see
        with theirs:
            command = [sys.executable, "-m", "sitemapcrawler.fleet.worker.nursery", str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)


class Child:
    """One crawl. A context manager, which kills it where it has not ended."""

    def __init__(self, nursery: Nursery, pid: int, link: Connection) -> None:
        self._nursery = nursery
        self.pid = pid
        self.link = link
        self.code: int | None = None
        """Exit code, negative for a signal; None while it runs."""
        self._silent = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.code is None:
            self.signal(signal.SIGKILL)
            self._silent = True
            with suppress(NurseryDied, OSError):
                self.wait(START_S)
        if self.code is None:
            self._nursery.close()
        self.link.close()

    def signal(self, number: int) -> None:
        """Send it a signal; nothing where it has ended."""
        if self.code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def send(self, message: Any) -> bool:
        """Send a message, JSON; False where there is no room for it, since the crawl hears nothing for long. It may
        have ended: then nobody hears it."""
        if not select.select([], [self.link], [], 0)[1]:
            return False
        with suppress(OSError):
            self.link.send_bytes(json.dumps(message).encode())
        return True

    def heard(self) -> Iterator[list[Any]]:
        """Its messages, as far as there are some."""
        try:
            while not self._silent and self.link.poll():
                yield json.loads(self.link.recv_bytes())
        except (EOFError, OSError):
            self._silent = True

    def wait(self, seconds: float) -> bool:
        """Wait for its end or a message of it; True when it has ended. NurseryDied where that is not to be known: it is
        dead, or is killed here."""
        nursery = self._nursery.fileno()
        ready, _, _ = select.select([nursery] if self._silent else [nursery, self.link.fileno()], [], [], seconds)
        if nursery in ready:
            try:
                self.code = self._nursery.answer(seconds)
            except NurseryDied:
                self.signal(signal.SIGKILL)
                self.code = -signal.SIGKILL
                raise
        return self.code is not None
