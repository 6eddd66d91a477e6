"""Fork server for crawls (`crawl.forking`): a process that has imported everything forks a child for each crawl.

`Nursery` is the worker's side. For each child, the process replies with two lines: the child's pid when it runs, and
its exit code when it has ended. It kills the child when the socket is closed; if it dies itself, the kernel kills the
child.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Self

from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from sitemapcrawler import settings as ours
from sitemapcrawler.crawl.forking import ForkServer, become, leave, requested
from sitemapcrawler.feeds.exporters import ParquetExporter
from sitemapcrawler.fleet.domains import TABLES
from sitemapcrawler.fleet.worker.crawling import FAULT, crawl
from sitemapcrawler.rules import all_rules

START_S = 180.0
"""Seconds to import everything and start the first child. Generous, since Ray lowers the priority of its workers: next
to three busy processes they get a thirtieth of a core."""
PARTS = ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES")
"""Settings with ordered lists of components."""
NAMED = ("FEED_EXPORTERS", "FEED_STORAGES", "DOWNLOAD_HANDLERS")
"""Settings that map names to components."""
LATER = ("duckdb", "scrapy.core.engine", "scrapy.pqueues", "scrapy.squeues", "scrapy.statscollectors")
"""Modules that a crawl imports on first use."""
REACTOR = "twisted.internet.reactor"
"""Module that must not be imported before the fork, since processes cannot share a reactor."""


class NurseryDied(Exception):
    """The nursery process died, and its child with it."""


class Nursery:
    """A process that forks one crawl at a time. It starts with the first child, and again if it has died."""

    def __init__(self) -> None:
        self._server = ForkServer("sitemapcrawler.fleet.worker.nursery")

    def start(self) -> Child:
        """Start a child that waits for its job. Raises NurseryDied if that fails."""
        link = None
        try:
            link = self._server.fork()
            pid = self.next_number(START_S)
        except OSError as error:
            if link is not None:
                link.close()
            self.close()  # else its late reply would be read as another child's
            raise NurseryDied(f"no process could be started: {error}") from None
        return Child(self, pid, link)

    def next_number(self, seconds: float) -> int:
        """Read the next number from the nursery. Raises TimeoutError or NurseryDied."""
        if not select.select([self.fileno()], [], [], seconds)[0]:
            raise TimeoutError(f"no answer in {seconds} s")
        line = b""
        while not line.endswith(b"\n"):
            if not (byte := self._control.recv(1)):
                self.close()
                raise NurseryDied("the process that starts crawls has died")
            line += byte
        return int(line)

    def fileno(self) -> int:
        """File descriptor that becomes readable when a child has ended."""
        return self._control.fileno()

    def close(self) -> None:
        """Kill the nursery and its child."""
        self._server.close()

    @property
    def _control(self) -> socket.socket:
        assert self._server.control is not None
        return self._server.control


class Child:
    """Process of one crawl. Leaving the context kills it if it still runs."""

    def __init__(self, nursery: Nursery, pid: int, link: Connection) -> None:
        self._nursery = nursery
        self.pid = pid
        self.link = link
        self.code: int | None = None
        """Exit code, or the negative number of a signal; None while it runs."""
        self._silent = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.code is None:
            self.signal(signal.SIGKILL)
            self._silent = True
            with suppress(NurseryDied, OSError):
                self.wait(START_S)
        if self.code is None:
            self._nursery.close()
        self.link.close()

    def signal(self, number: int) -> None:
        """Send a signal if the process runs."""
        if self.code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def send(self, message: object) -> bool:
        """Send a JSON message. Returns False if the pipe is full because the crawl has not read for long. Messages to a
        crawl that has ended are dropped."""
        if not select.select([], [self.link], [], 0)[1]:
            return False
        with suppress(OSError):
            self.link.send_bytes(json.dumps(message).encode())
        return True

    def messages(self) -> Iterator[list[Any]]:  # Any: JSON, each item of the type that the keyword implies
        """Yield the messages received so far."""
        try:
            while not self._silent and self.link.poll():
                yield json.loads(self.link.recv_bytes())
        except (EOFError, OSError):
            self._silent = True

    def wait(self, seconds: float) -> bool:
        """Wait for the end or a message; returns True if the process has ended. Raises NurseryDied if the nursery died:
        the exit code is then unknown, and the process dead."""
        nursery = self._nursery.fileno()
        ready, _, _ = select.select([nursery] if self._silent else [nursery, self.link.fileno()], [], [], seconds)
        if nursery in ready:
            try:
                self.code = self._nursery.next_number(seconds)
            except NurseryDied:
                self.signal(signal.SIGKILL)
                self.code = -signal.SIGKILL
                raise
        return self.code is not None


def preload() -> None:
    """Import all that a crawl needs. Ignores errors, which the crawl will report."""
    settings = Settings()
    settings.setmodule(ours, "project")
    named = [path for setting in NAMED for path in settings.getwithbase(setting).values()]
    for path in [*named, *(path for setting in PARTS for path in build_component_list(settings.getwithbase(setting)))]:
        with suppress(ImportError, NameError, AttributeError):
            load_object(path) if path is not None else None
    for module in LATER:
        with suppress(ImportError):
            __import__(module)
    all_rules()
    with suppress(ImportError):
        for record in TABLES.values():  # pyarrow imports more modules with the first rows of a table
            ParquetExporter.check_options({"item_classes": [record]})
    assert REACTOR not in sys.modules


def main(descriptor: int) -> None:
    """Serve until the socket's other end is closed."""
    preload()
    with socket.socket(fileno=descriptor) as control:
        for link in requested(control):
            _serve(control, link)


def _serve(control: socket.socket, link: int) -> None:
    """Run one child from start to end."""
    alive, lifeline = os.pipe()
    nursery = os.getpid()
    child = os.fork()
    if child == 0:
        control.close()
        os.close(alive)
        become(lambda: crawl(Connection(link)), nursery, FAULT)
    os.close(lifeline)
    os.close(link)
    with suppress(OSError):  # the worker is gone; the next line notices
        control.sendall(b"%d\n" % child)
    ready, _, _ = select.select([control.fileno(), alive], [], [])
    if alive not in ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(alive)
    control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(int(sys.argv[1]))
    leave(0)
