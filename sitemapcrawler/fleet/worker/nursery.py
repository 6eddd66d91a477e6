"""Fork server for crawls: a process with everything imported forks a child for each crawl.

`Nursery` is the worker's side. It starts `python -m sitemapcrawler.fleet.worker.nursery FD`, where FD is one end of a
socket pair. Each byte sent there passes the child's end of a connection along. The process replies with two lines: the
child's pid when it runs, its exit code when it has ended. It kills the child when the socket is closed, and the kernel
kills the child when the process dies.

The forkserver of multiprocessing does not do: its children keep it alive when the worker is killed, so they survive as
well, and its socket stays behind in the temporary folder.
"""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NoReturn, Self

from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from sitemapcrawler import settings as ours
from sitemapcrawler.feeds.exporters import try_options
from sitemapcrawler.fleet.domains import TABLES
from sitemapcrawler.fleet.worker.crawling import FAULT
from sitemapcrawler.rules import all_rules

START_S = 180.0
"""Seconds until a nursery has imported everything and its first child runs, also on a busy machine: Ray's workers are
nice, and get a thirtieth of a core beside three processes that are not."""
PARTS = ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES")
"""Settings that list components in order."""
NAMED = ("FEED_EXPORTERS", "FEED_STORAGES", "DOWNLOAD_HANDLERS")
"""Settings that map names to components."""
LATER = ("duckdb", "scrapy.core.engine", "scrapy.pqueues", "scrapy.squeues", "scrapy.statscollectors")
"""Modules that a crawl imports on first use."""
REACTOR = "twisted.internet.reactor"
"""Module that must not be imported before the fork: processes cannot share a reactor."""
DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2), on Linux."""


class NurseryDied(Exception):
    """The nursery has died, and its child with it."""


class Nursery:
    """A process that forks crawls, one at a time. Started with the first child, and again after its death."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._replies: socket.SocketIO | None = None

    def start(self) -> Child:
        """A child that waits for its job. NurseryDied if none starts."""
        if self._process is None or self._process.poll() is not None:
            self._begin()
        assert self._control is not None
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"+"], [theirs.fileno()])
                pid = self.next_number(START_S)
            except OSError as error:
                ours.close()
                self.close()  # or its late reply would be taken for another child's
                raise NurseryDied(f"no process could be started: {error}") from None
        return Child(self, pid, Connection(ours.detach()))

    def next_number(self, seconds: float) -> int:
        """The next number from the nursery. TimeoutError, or NurseryDied."""
        assert self._control is not None and self._replies is not None
        if not select.select([self._control], [], [], seconds)[0]:
            raise TimeoutError(f"no answer in {seconds} s")
        line = self._replies.readline()
        if not line:
            self.close()
            raise NurseryDied("the process that starts crawls has died")
        return int(line)

    def fileno(self) -> int:
        """Readable when a child has ended."""
        assert self._control is not None
        return self._control.fileno()

    def close(self) -> None:
        """End the nursery and its child."""
        if self._process is None or self._control is None or self._replies is None:
            return
        self._replies.close()
        self._control.close()
        self._process.kill()
        self._process.wait()
        self._process = None

    def _begin(self) -> None:
        self.close()
        self._control, theirs = socket.socketpair()
        self._replies = self._control.makefile("rb", buffering=0)  # select does not see what a buffer holds
        with theirs:
            command = [sys.executable, "-m", "sitemapcrawler.fleet.worker.nursery", str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)


class Child:
    """The process of one crawl. As a context manager, kills it at the end if it still runs."""

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
        """Send it a signal if it runs."""
        if self.code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def send(self, message: Any) -> bool:
        """Send a JSON message. False if the pipe is full, since the crawl has not read for long. A message to a crawl
        that has ended is dropped."""
        if not select.select([], [self.link], [], 0)[1]:
            return False
        with suppress(OSError):
            self.link.send_bytes(json.dumps(message).encode())
        return True

    def messages(self) -> Iterator[list[Any]]:
        """Messages that have arrived."""
        try:
            while not self._silent and self.link.poll():
                yield json.loads(self.link.recv_bytes())
        except (EOFError, OSError):
            self._silent = True

    def wait(self, seconds: float) -> bool:
        """Wait for its end or a message; True if it has ended. NurseryDied if its exit code cannot be known: then it is
        dead, or is killed here."""
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
    """Import what a crawl needs. Failed imports are left to the crawl, which reports them."""
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
        for record in TABLES.values():  # pyarrow imports more when a table gets its first rows
            try_options({"item_classes": [record]})
    assert REACTOR not in sys.modules


def main(descriptor: int) -> None:
    """Serve until the other end of the socket is closed."""
    preload()
    gc.collect()
    gc.freeze()  # a collection would write to every object, and so copy the memory that all children share
    with socket.socket(fileno=descriptor) as control:
        while True:
            word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
            if not word:
                return
            _serve(control, descriptors[0])


def _serve(control: socket.socket, link: int) -> None:
    """Run one child from start to end."""
    alive, lifeline = os.pipe()
    nursery = os.getpid()
    child = os.fork()
    if child == 0:
        control.close()
        os.close(alive)
        _become_crawl(link, nursery)
    os.close(lifeline)
    os.close(link)
    with suppress(OSError):  # the worker is gone, as the next line notices
        control.sendall(b"%d\n" % child)
    ready, _, _ = select.select([control.fileno(), alive], [], [])
    if alive not in ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(alive)
    control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become_crawl(link: int, nursery: int) -> NoReturn:
    """Run the crawl in the child."""
    code = FAULT
    try:
        die_with(nursery)
        from sitemapcrawler.fleet.worker.crawling import crawl

        code = crawl(Connection(link))
    except BaseException:
        logging.getLogger(__name__).exception("the crawl failed")
        raise
    finally:
        leave(code)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends. Elsewhere than on Linux, the end of the link ends it."""
    with suppress(AttributeError, OSError):  # not Linux
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        leave(FAULT)


def leave(code: int) -> NoReturn:
    """Exit at once: flush logs and standard streams, but tear down nothing that the nursery has set up."""
    for flush in (logging.shutdown, *(stream.flush for stream in (sys.stdout, sys.stderr) if stream is not None)):
        with suppress(OSError, ValueError):
            flush()
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
    leave(0)
