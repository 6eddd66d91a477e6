"""The connection of a crawl to the worker that it runs for: JSON messages, lists that begin with a word.

    from the crawl      ["ask", host]           may this host be asked by us from now on?
                        ["free", host, rest]    it may be asked by others, after `rest` seconds
                        ["at", urls, sitemaps]  how far we are
    to the crawl        ["granted", host]
                        ["wanted", host...]     others wait for these hosts
        ["lost", host...]       others have them

The first message to the crawl is its job, and no JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, ClassVar, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

TELL_S = 1.0
"""Seconds between two messages of how far a crawl is."""
FAULT = 70
"""Exit code of a crawl that could not begin, or raised; EX_SOFTWARE of sysexits.h."""
LEFT_ALONE = 71
"""Exit code of a crawl whose worker is gone; EX_OSERR of sysexits.h."""

Hear = Callable[..., None]
"""Takes what stands behind the word of a message."""


class Link:
    """The crawl's end. There is one in a process, since a process is one crawl."""

    current: ClassVar[Link]

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hear: dict[str, Hear] = {}
        Link.current = self

    def job(self) -> Any:
        """Wait for the job."""
        return self._connection.recv()

    def listen(self, word: str, hear: Hear) -> None:
        """Have messages that begin with a word heard."""
        self._hear[word] = hear

    def open(self) -> None:
        """Hear messages from now on, in the event loop."""
        asyncio.get_running_loop().add_reader(self._connection.fileno(), self._heard)

    def tell(self, *message: Any) -> None:
        """Send a message; without a worker, end."""
        try:
            self._connection.send_bytes(json.dumps(message).encode())
        except OSError:
            os._exit(LEFT_ALONE)

    def _heard(self) -> None:
        try:
            word, *rest = json.loads(self._connection.recv_bytes())
        except (OSError, EOFError):
            os._exit(LEFT_ALONE)
        self._hear[word](*rest)


class Telling:
    """Scrapy extension: tells the worker how far the crawl is."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._calls: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the life of the spider."""
        extension = cls(crawler)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def opened(self, spider: Spider) -> None:
        """Open the link, and begin to tell."""
        Link.current.open()
        self._calls = create_looping_call(self._tell)
        self._calls.start(TELL_S, now=False)

    def closed(self) -> None:
        """Tell once more how far it came."""
        if self._calls is not None and self._calls.running:
            self._calls.stop()
        self._tell()

    def _tell(self) -> None:
        stats = self._stats
        Link.current.tell("at", stats.get_value("sitemap/urls", 0), stats.get_value("sitemap/files", 0))
