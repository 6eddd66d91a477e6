"""A fleet's crawl of one domain, in a process forked by a nursery. It writes its records to four Parquet files.

The crawl and its worker exchange JSON messages: lists that start with a keyword. The first message to the crawl is the
pickled job.

    from the crawl      ["ask", host]           request the lease on a host
                        ["free", host, rest]    release it; others can get it after `rest` seconds
                        ["at", urls, sitemaps]  progress
    to the crawl        ["granted", host]
                        ["wanted", host...]     others wait for these hosts
                        ["lost", host...]       others took over these hosts
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import urlsplit

import msgspec
from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.asyncio import create_looping_call

from sitemapcrawler.download.shared import Repeating, may_cancel, stopping
from sitemapcrawler.extensions.logs import inert_traceback
from sitemapcrawler.fleet.domains import DOMAIN, TABLES, WRITING
from sitemapcrawler.items import SummaryRecord
from sitemapcrawler.middlewares.politeness import PolitenessMiddleware
from sitemapcrawler.spiders.running import plan, quieten, run
from sitemapcrawler.spiders.sitemap import AuditSpider

LOG = "log.txt"
SUMMARY = "summary.jsonl"
"""Files next to the tables in a crawl's folder."""
LAST = 10_000
"""Downloader middleware order: last, so that no other middleware delays or answers a request after it."""


@dataclass(frozen=True, slots=True)
class CrawlJob:
    """Parameters of one crawl."""

    domain: str
    """Column `domain` of its rows, and argument of the spider."""
    arguments: dict[str, str]
    """The spider's other arguments."""
    settings: dict[str, tuple[object, int]] = field(repr=False)
    """{name: (value, priority)} of settings that differ from Scrapy's defaults."""
    folder: str
    """Folder for the files; exists and is empty."""
    path: tuple[str, ...] = ()
    """`sys.path` of the command, to import the modules of a Scrapy project."""


def crawl(connection: Connection) -> int:
    """Wait for the job, run it, and return its exit code."""
    link = WorkerLink(connection)
    job = link.job()
    try:
        return _crawl(job)
    except Exception as error:  # logged for the worker, which reports it
        with (Path(job.folder) / LOG).open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"ERROR: {inert_traceback(error)}\n")
        raise


def _crawl(job: CrawlJob) -> int:
    sys.path.extend(place for place in job.path if place not in sys.path)
    settings = settings_of(job)
    arguments = {**job.arguments, "domain": job.domain}
    process = AsyncCrawlerProcess(settings)
    quieten()
    planned = plan(settings, arguments)
    code = run(process, process.create_crawler(AuditSpider), arguments, planned)
    return FAULT if process.bootstrap_failed else code


def settings_of(job: CrawlJob) -> Settings:
    settings = Settings()
    for name, (value, priority) in job.settings.items():
        settings.set(name, value, priority)
    folder = Path(job.folder)
    own: dict[str, object] = {
        "FEEDS": feeds(folder, job.domain),
        "JOBDIR": None,
        "LOG_FILE": str(folder / LOG),
        "SITEMAP_PROGRESS": False,
    }
    settings.setdict(own, "cmdline")
    settings["EXTENSIONS"]["sitemapcrawler.fleet.worker.crawling.ProgressMessages"] = 140
    settings["DOWNLOADER_MIDDLEWARES"]["sitemapcrawler.fleet.worker.crawling.OneCrawlAHost"] = LAST
    return settings


def feeds(folder: Path, domain: str) -> dict[str, dict[str, object]]:
    """FEEDS setting with the four tables and the summary."""
    place = folder.absolute().as_uri()  # in a path, Scrapy would replace "%20" and "%(time)s"
    common = {"overwrite": True, "store_empty": True, "encoding": "utf-8", "fields": None}
    tables = {
        f"{place}/{table}.parquet": {
            "format": "parquet",
            "item_classes": [record],
            "item_export_kwargs": {"item_classes": [record], "constants": {DOMAIN: domain}, **WRITING},
            **common,
        }
        for table, record in TABLES.items()
    }
    return {**tables, f"{place}/{SUMMARY}": {"format": "jsonlines", "item_classes": [SummaryRecord], **common}}


def summary(folder: Path) -> SummaryRecord:
    """Summary record of a finished crawl. Raises OSError or ValueError if there is none."""
    try:
        return msgspec.json.decode((folder / SUMMARY).read_bytes(), type=SummaryRecord)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from None


PROGRESS_S = 1.0
"""Seconds between progress messages."""
FAULT = 70
"""Exit code of a crawl that could not start or raised an exception; EX_SOFTWARE of sysexits.h."""
ORPHANED = 71
"""Exit code of a crawl whose worker is gone; EX_OSERR of sysexits.h."""

Handler = Callable[..., None]
"""Called with the items of a message after the keyword."""


class WorkerLink:
    """The crawl's end of the connection to its worker. One per process."""

    current: ClassVar[WorkerLink]

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._handlers: dict[str, Handler] = {}
        WorkerLink.current = self

    def job(self) -> CrawlJob:
        """Wait for the job and return it."""
        job = self._connection.recv()
        assert isinstance(job, CrawlJob)
        return job

    def listen(self, word: str, handler: Handler) -> None:
        """Register the handler of messages with this keyword."""
        self._handlers[word] = handler

    def open(self) -> None:
        """Start handling messages in the event loop."""
        asyncio.get_running_loop().add_reader(self._connection.fileno(), self._handle_message)

    def send(self, *message: object) -> None:
        """Send a message. Ends the process if the worker is gone."""
        try:
            self._connection.send_bytes(json.dumps(message).encode())
        except OSError:
            os._exit(ORPHANED)

    def _handle_message(self) -> None:
        try:
            word, *rest = json.loads(self._connection.recv_bytes())
        except (OSError, EOFError):
            os._exit(ORPHANED)
        self._handlers[word](*rest)


class ProgressMessages:
    """Scrapy extension that sends progress to the worker."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._calls: Repeating | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def opened(self, spider: Spider) -> None:
        """Start handling messages and sending progress."""
        WorkerLink.current.open()
        self._calls = create_looping_call(self._send)
        self._calls.start(PROGRESS_S, now=False)

    def closed(self) -> None:
        if self._calls is not None and self._calls.running:
            self._calls.stop()
        self._send()

    def _send(self) -> None:
        stats = self._stats
        WorkerLink.current.send("at", stats.get_value("sitemap/urls", 0), stats.get_value("sitemap/files", 0))


HELD_KEY = "fleet_host"
"""`Request.meta` key with the host whose lease the request uses."""


@dataclass(slots=True)
class HeldHost:
    """State of a crawl's lease on a host."""

    slot: str
    """Key of the host's download slot."""
    granted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while requests can start."""
    asked: bool = False
    """True while a request for the lease is pending."""
    wanted: bool = False
    """True if another crawl waits: no request starts, and the lease is released after the last one."""
    running: int = 0
    """Number of running requests."""
    waiting: int = 0
    """Number of waiting requests."""


class OneCrawlAHost:
    """Downloader middleware that lets one crawl of the fleet at a time send requests to a host. It delays requests
    until the host is leased, and releases the lease if other crawls wait."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._link = WorkerLink.current
        self._hosts: dict[str, HeldHost] = {}
        self._stopped = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        middleware._link.listen("granted", middleware._granted)
        middleware._link.listen("wanted", middleware._wanted)
        middleware._link.listen("lost", middleware._lost)
        crawler.signals.connect(middleware._stopped.set, signal=stopping)
        crawler.signals.connect(middleware._closed, signal=signals.spider_closed)
        return middleware

    async def process_request(self, request: Request) -> None:
        """Wait for the lease. Raises DownloadCancelledError if the crawl stops first."""
        parts = urlsplit(request.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return
        held = self._hosts.get(parts.hostname)
        if held is None:
            held = self._hosts[parts.hostname] = HeldHost(self._crawler.engine.downloader.get_slot_key(request))
        while not held.granted.is_set():
            self._ask(parts.hostname, held)
            await self._wait(held, request)
        held.running += 1
        request.meta[HELD_KEY] = parts.hostname

    def process_response(self, request: Request, response: Response) -> Response:
        """Count the request as ended."""
        self._ended(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Count the request as ended."""
        self._ended(request)

    def _ask(self, host: str, held: HeldHost) -> None:
        if not held.asked and not held.wanted:
            held.asked = True
            self._link.send("ask", host)

    async def _wait(self, held: HeldHost, request: Request) -> None:
        waits = [asyncio.ensure_future(held.granted.wait())]
        if may_cancel(self._crawler, request):
            waits.append(asyncio.ensure_future(self._stopped.wait()))
        held.waiting += 1
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            held.waiting -= 1
            for wait in waits:
                wait.cancel()
        if len(waits) > 1 and self._stopped.is_set():
            raise DownloadCancelledError(f"{request.url}: the crawl was stopped before its turn")

    def _ended(self, request: Request) -> None:
        host = request.meta.pop(HELD_KEY, None)
        if host is not None:
            self._hosts[host].running -= 1
            self._give_back(host)

    def _granted(self, host: str) -> None:
        held = self._hosts[host]
        held.asked = False
        held.granted.set()

    def _wanted(self, *hosts: str) -> None:
        for host in hosts:
            held = self._hosts[host]
            if held.granted.is_set():
                held.granted.clear()
                held.wanted = True
                self._give_back(host)

    def _lost(self, *hosts: str) -> None:
        """Handle the loss of hosts after late heartbeats: request their leases again if requests wait."""
        for host in hosts:
            held = self._hosts[host]
            held.granted.clear()
            held.wanted = False
            if held.waiting:
                self._ask(host, held)

    def _give_back(self, host: str) -> None:
        """Release a host that other crawls wait for, and queue again if requests wait."""
        held = self._hosts[host]
        if held.wanted and not held.running:
            held.wanted = False
            self._link.send("free", host, self._rest(held.slot))
            if held.waiting:
                self._ask(host, held)

    def _closed(self) -> None:
        """Release hosts that need a rest; the control actor frees all others when the attempt ends."""
        for host, held in self._hosts.items():
            rest = self._rest(held.slot)
            if rest and (held.granted.is_set() or held.wanted):
                held.granted.clear()
                held.wanted = False
                self._link.send("free", host, rest)

    def _rest(self, slot: str) -> float:
        """Seconds that the host must rest before the next crawl."""
        politeness = self._crawler.get_downloader_middleware(PolitenessMiddleware)
        pause = politeness.resting(slot) if politeness is not None else 0.0
        known = self._crawler.engine.downloader.slots.get(slot)
        return max(pause, known.delay if known is not None else 0.0)
