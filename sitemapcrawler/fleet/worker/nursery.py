"""A process that has imported all that a crawl needs, and becomes a crawl each time it is told to: by fork.

`children.Nursery` starts `python -m sitemapcrawler.fleet.worker.nursery FD`, and holds the other end of the socket FD.
Each byte that comes by it brings the child's end of a connection along; the answers are two lines, the child's process
id when it runs and its exit code when it has ended. Where the other end goes away, the child is killed, and so is it
where this process dies.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NoReturn

from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from sitemapcrawler import settings as ours
from sitemapcrawler.feeds.exporters import try_options
from sitemapcrawler.fleet.records import TABLES
from sitemapcrawler.fleet.worker.link import FAULT
from sitemapcrawler.rules import all_rules

PARTS = ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES")
"""Settings that name components in an order."""
NAMED = ("FEED_EXPORTERS", "FEED_STORAGES", "DOWNLOAD_HANDLERS")
"""Settings that give components a name."""
LATER = (
    "duckdb",
    "scrapy.core.engine",
    "scrapy.pqueues",
    "scrapy.squeues",
    "scrapy.statscollectors",
    "sitemapcrawler.fleet.worker.crawling",
    "sitemapcrawler.fleet.worker.hosts",
)
"""Modules that a crawl imports where it first needs them."""
REACTOR = "twisted.internet.reactor"
"""A module that must not be imported before the fork: a reactor cannot be shared."""
DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2), on Linux."""


def preload() -> None:
    """Import what a crawl needs. What cannot be imported is left to the crawl, which says so."""
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
        for record in TABLES.values():  # what a table needs is made once, and pyarrow imports more with its first rows
            try_options({"item_classes": [record]})
    assert REACTOR not in sys.modules


def main(descriptor: int) -> None:
    """Serve until the other end of the socket goes away."""
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
    """One child, from its begin to its end."""
    alive, lifeline = os.pipe()
    nursery = os.getpid()
    child = os.fork()
    if child == 0:
        control.close()
        os.close(alive)
        _become(link, nursery)
    os.close(lifeline)
    os.close(link)
    with suppress(OSError):  # then it is gone, which the next line hears
        control.sendall(b"%d\n" % child)
    ready, _, _ = select.select([control.fileno(), alive], [], [])
    if alive not in ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(alive)
    control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(link: int, nursery: int) -> None:
    """The child: never returns."""
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
    """Have the kernel kill this process when its parent ends. Where it cannot, the link tells: its end is an end."""
    with suppress(AttributeError, OSError):  # not Linux
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        leave(FAULT)


def leave(code: int) -> NoReturn:
    """End at once, logs and standard streams flushed; nothing that the nursery set up is torn down."""
    for flush in (logging.shutdown, *(stream.flush for stream in (sys.stdout, sys.stderr) if stream is not None)):
        with suppress(OSError, ValueError):
            flush()
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
    leave(0)
