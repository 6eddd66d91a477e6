"""A process that reads and judges files for a crawl, beside the crawl's own (`crawl.workers`).

`python -m sitemapcrawler.crawl.worker FD` imports what reading needs, once. FD is one end of a socket pair; each byte
sent there carries the worker's end of a connection, for which a child is forked. When the socket is closed, the program
ends, and its children with it.

Worker and crawl exchange pickles. The first message to the worker is its `Setup`. Then each `Task` comes with two
files: the body to read, and one for the results. Results are pickles too, one for each batch, and an `End`; the crawl
reads them when the worker says that it is done. Other messages:

    from the worker     ("ready", pid)              waits for its first task
                        ("cannot start", reason)
                        ("at", bytes)               has read so much of the body
                        ("hosts", way, origins)     asks for the robots.txt of these, by a method of `Policies`
                        ("log", name, level, text)
                        ("end", reason)             ends the crawl: memory has run out
                        ("done", outcome)           of the task, one of READ, LEFT, FAILED
    to the worker       {origin: Answer}            the answer about hosts
                        STOP                        the crawl is stopping: end the file
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import pickle
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import IO, NoReturn

from scrapy.exceptions import DownloadCancelledError

from sitemapcrawler import urls
from sitemapcrawler.crawl.forking import become, leave, requested
from sitemapcrawler.crawl.frontier import Frontier, Selection, Visit
from sitemapcrawler.crawl.judging import Judging
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.reading import COLLECTED_AFTER, ListsSitemaps, Reading
from sitemapcrawler.crawl.verdicts import Judged, Verdicts
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader import Limits
from sitemapcrawler.reader.notes import Note
from sitemapcrawler.robots import Agent, Policy
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.judge import Judge

Answer = tuple[Policy | None, bool]
"""What the crawl knows of a host: its robots.txt if it is known, and True if the crawl gave up the request for it."""

STOP = "stop"
"""Message: the crawl is stopping."""
READ, LEFT, FAILED = "read", "left", "failed"
"""Outcomes of a task: its results are complete; the file lists sitemaps, which only the crawl can queue; something went
wrong besides reading, such as a full disk. The crawl reads the last two itself."""
LINGER_S, POLL_S = 0.5, 0.005
"""Seconds that workers may take to end when the crawl is gone, before the kernel kills them; and between two looks."""
FAULT = 1
"""Exit code of a worker that fails, or whose parent has ended."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker needs to know of its crawl."""

    params: Params
    choice: Choice
    """Without the rules themselves, which are this project's own."""
    per_rule: int
    """As in `Judge`."""
    limits: Limits
    own: Agent
    """The crawl's agent."""
    log_level: int


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read. Its body comes beside it."""

    visit: Visit
    answer: FetchResult
    digest: bytes
    """Of the body."""
    renewed: Mapping[str, Answer]
    """What the crawl has learned of hosts that the worker had asked about."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Url records that were read and judged."""

    lines: bytes
    """The records as JSON lines; empty if `records` are given."""
    count: int
    """Number of records."""
    judged: Sequence[Judged]
    """What robots.txt says about them, to be counted."""
    records: list[UrlRecord] | None = None
    """The records, if some have findings."""
    notes: Sequence[Note] = ()
    """The notes with their findings."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of a file."""

    record: SitemapEnd
    """Without `facts`."""
    skipped: Counter[str]
    """What robots.txt verdicts left out (`Verdicts.skipped`)."""


class Link:
    """The worker's end of its connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stopped = False

    def send(self, *message: object) -> None:
        self._connection.send(message)

    def receive(self) -> object:
        """Wait for the next message that is not STOP. Ends the process if the crawl is gone."""
        try:
            while (message := self._connection.recv()) == STOP:
                self._stopped = True
        except (EOFError, OSError):
            leave(FAULT)
        return message

    def receive_files(self) -> tuple[IO[bytes], IO[bytes]]:
        """Wait for the two files of a task."""
        with socket.socket(fileno=os.dup(self._connection.fileno())) as one:
            _, (body, results), _, _ = socket.recv_fds(one, 1, 2)
        return os.fdopen(body, "rb"), os.fdopen(results, "wb")

    def begun(self) -> bool:
        """True once the crawl is ending early. Ends the process if the crawl is gone."""
        if not self._stopped and self._connection.poll():
            try:
                self._stopped = self._connection.recv() == STOP  # nothing else comes unasked
            except (EOFError, OSError):
                leave(FAULT)
        return self._stopped

    def end(self, reason: str) -> None:
        """Have the crawl ended early."""
        self.send("end", reason)


class AskedHosts:
    """What the crawl knows of hosts: a worker sends no requests. Implements `Hosts`."""

    def __init__(self, link: Link) -> None:
        self.by_origin: dict[str, Policy] = {}
        self._link = link
        self._unknown: set[str] = set()
        self._unanswered: set[str] = set()
        """Origins in `by_origin` whose robots.txt could not be fetched; a later request may succeed."""
        self._failures: dict[str, Exception] = {}

    def forget_unknown(self) -> None:
        """Ask again for what the crawl did not know, or could not fetch: it may know more by now."""
        self._unknown.clear()
        for origin in self._unanswered:
            del self.by_origin[origin]
        self._unanswered.clear()

    def learn(self, answers: Mapping[str, Answer]) -> None:
        """Keep what the crawl knows."""
        for origin, (policy, given_up) in answers.items():
            for kept in (self.by_origin, self._failures):
                kept.pop(origin, None)
            self._unanswered.discard(origin)
            if given_up:
                self._failures[origin] = DownloadCancelledError()
            if policy is None:
                self._unknown.add(origin)
                continue
            self.by_origin[origin] = policy
            if policy.status is None:
                self._unanswered.add(origin)

    def at(self, url: str) -> Policy | None:
        origin = urls.origin(url)
        if origin is not None and origin not in self.by_origin and origin not in self._unknown:
            self._ask("at", [origin])
        return self.by_origin.get(origin or "")

    async def obtain(self, url: str) -> Policy | None:
        origin = urls.origin(url)
        if origin is not None:
            self._ask("obtain", [origin])
        return self.by_origin.get(origin or "")

    async def prepare(self, listed: Iterable[str]) -> None:
        origins = {origin for url in listed if (origin := urls.origin(url)) is not None}
        if new := sorted(origins - self.by_origin.keys()):
            self._ask("prepare", new)

    def failure(self, url: str) -> Exception | None:
        return self._failures.get(urls.origin(url) or "")

    def prove(self, url: str, files: Sequence[str]) -> bool:
        """As in `Policies`."""
        policy = self.at(url)
        return policy is not None and any(policy.names(file) for file in files)

    def final_url(self, policy: Policy) -> str:
        return policy.url

    def _ask(self, way: str, origins: list[str]) -> None:
        self._link.send("hosts", way, origins)
        answers = self._link.receive()
        assert isinstance(answers, Mapping)
        self.learn(answers)


class ToTheCrawl(logging.Handler):
    """Sends log records to the crawl, which logs them."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            self._link.send("log", record.name, record.levelno, self.format(record))


class Worker:
    """Reads and judges one file after the other."""

    def __init__(self, link: Link, setup: Setup) -> None:
        self._link = link
        params = setup.params
        choice = replace(setup.choice, all_rules=all_rules())
        judge = Judge(choice, setup.per_rule)
        self._hosts = AskedHosts(link)
        self._verdicts = Verdicts(self._hosts, params.judged_agents, setup.own, judge)
        self._judging = Judging(judge, self._hosts, self._verdicts, not params.verify_assets)
        self._reading = Reading(
            Selection(params),
            Frontier(0, 0, 1, 1),  # nothing is queued here
            setup.limits,
            link,
            judging=params.judges,
            every_child=choice.sees_every_child,
            hosts=None if params.offline else self._hosts,
        )
        self._json = JsonText(Rows())

    async def read(self, task: Task, body: IO[bytes], results: IO[bytes]) -> str:
        """Read a file, and write the results. Returns the outcome."""
        answer = task.answer
        answer.body.attach(body, task.digest)
        self._hosts.learn(task.renewed)
        self._verdicts.skipped.clear()
        try:
            for item in self._reading.read(task.visit, answer):
                if isinstance(item, FreshBatch):
                    _put(results, await self._judged(item))
                    self._link.send("at", answer.body.given)
                elif isinstance(item, SitemapEnd):
                    _put(results, await self._ended(item))
            results.flush()
        except ListsSitemaps:
            return LEFT
        except Exception:
            logger.debug("%s: the worker leaves it to the crawl", task.visit.url, exc_info=True)
            return FAILED
        finally:
            answer.body.close()
        return READ

    async def _judged(self, batch: FreshBatch) -> Batch:
        self._hosts.forget_unknown()
        self._verdicts.uncounted = []
        await self._judging.structure(batch)
        await self._judging.robots(batch)
        if batch.judged:
            notes = [note for note in batch.notes.values() if note.findings]
            for note in notes:
                note.written = None
            return Batch(b"", len(batch), self._verdicts.uncounted, batch.urls, notes)
        return Batch(self._json.lines(batch.urls), len(batch), self._verdicts.uncounted)

    async def _ended(self, record: SitemapEnd) -> End:
        await self._judging.structure(record)
        record.facts = None
        return End(record, self._verdicts.skipped)


def _put(results: IO[bytes], result: Batch | End) -> None:
    pickle.dump(result, results, pickle.HIGHEST_PROTOCOL)


def serve(connection: Connection) -> NoReturn:
    """Work for a crawl until it closes the connection."""
    gc.set_threshold(*COLLECTED_AFTER)
    link = Link(connection)
    setup = link.receive()
    assert isinstance(setup, Setup)
    logging.basicConfig(level=setup.log_level, handlers=[ToTheCrawl(link)], format="%(message)s", force=True)
    worker = Worker(link, setup)
    link.send("ready", os.getpid())
    with asyncio.Runner(debug=False) as runner:  # reading a file is one step, which the debug mode would report
        while True:
            task = link.receive()
            assert isinstance(task, Task)
            body, results = link.receive_files()
            outcome = runner.run(worker.read(task, body, results))
            with suppress(OSError):  # the disk is full, which `outcome` says
                results.close()
            link.send("done", outcome)


def main(descriptor: int) -> None:
    """Fork workers until the socket's other end is closed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the crawl gets them too, and says what to do
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: _reap())
    all_rules()
    own = os.getpid()
    with socket.socket(fileno=descriptor) as control:
        for link in requested(control):
            try:
                child = os.fork()
            except OSError as error:
                with Connection(link) as told:
                    told.send(("cannot start", str(error)))
                continue
            if child == 0:
                control.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                become(partial(serve, Connection(link)), own, FAULT)
            os.close(link)
    until = time.monotonic() + LINGER_S
    while _reap() and time.monotonic() < until:
        time.sleep(POLL_S)  # waitpid(2) has no timeout


def _reap() -> bool:
    """Remove children that have ended, so that their processor time counts as that of the crawl. Returns False if there
    are no others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    from sitemapcrawler.crawl import worker  # pickles name this module, which is another one here

    worker.main(int(sys.argv[1]))
    leave(0)
