"""Worker processes that read and judge sitemaps beside the crawl's own process, as the setting SITEMAP_WORKERS allows.

A file goes to the first worker that is free. The crawl takes the results in the order in which the answers came, and
reads itself what no worker has begun when its turn comes. So results are those of one process. Each worker writes its
results to a file without a name, and they are used when the sitemap was read to its end: if the worker crashes, nothing
of it is left, and another worker reads the sitemap again, once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from tempfile import TemporaryFile
from typing import IO, Any

from sitemapcrawler.crawl.delivery import Delivery
from sitemapcrawler.crawl.file_counts import FileCounts
from sitemapcrawler.crawl.forking import ForkServer
from sitemapcrawler.crawl.frontier import Visit
from sitemapcrawler.crawl.reading import NO_MEMORY, OUT_OF_MEMORY, Reading
from sitemapcrawler.crawl.verdicts import OURS, Verdicts
from sitemapcrawler.crawl.worker import FAILED, READ, STOP, Answer, Batch, End, Setup, Task
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.robots import Policy

logger = logging.getLogger(__name__)

MANY = 4
"""Sitemaps queued before workers start: they take half a second, as long as one of these."""
LEAST_BYTES = 64 * 1024
"""Bytes of a body, as fetched, from which a worker pays off: handing it over takes some two milliseconds."""
STOP_S = 5.0
"""Seconds in which a worker is to end its file when the crawl stops. A batch takes less than one."""
GRACE_S = 1.0
"""Seconds that processes may take to end on their own, which they do between two batches."""
ATTEMPTS = 2
"""How often a file is given to a worker that crashes."""
CRASHED = "crashed"
"""Outcome of a file whose workers all crashed."""


class SentFile:
    """A file that a worker reads, or will."""

    def __init__(self, visit: Visit, answer: FetchResult) -> None:
        self.visit = visit
        self.answer = answer
        self.outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """As in `worker.Task`, or CRASHED."""
        self.results: IO[bytes] | None = None
        """What the worker writes; None before one has begun."""
        self.begun = False
        """True once it was given to a worker."""
        self.attempts = 0
        """Workers that have begun it."""
        self._body: IO[bytes] | None = None

    def begin(self) -> tuple[IO[bytes], IO[bytes]]:
        """Count an attempt; returns the body, and an empty file for the results. Raises OSError."""
        self.begun = True
        self.attempts += 1
        self.close()
        self._body = self.answer.body.lend()
        self.results = TemporaryFile()  # noqa: SIM115  # `close` closes it
        return self._body, self.results

    def end(self, outcome: str) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)
        if outcome == READ:
            self._close_body()
        else:
            self.close()

    def close(self) -> None:
        """Close both files, which deletes the results."""
        self._close_body()
        if self.results is not None:
            self.results.close()
            self.results = None

    def _close_body(self) -> None:
        if self._body is not None:
            self._body.close()
            self._body = None


@dataclass(eq=False)
class _Worker:
    link: Connection
    pid: int | None = None
    """None until it is ready."""
    sent: SentFile | None = None
    """What it reads."""
    known: dict[str, Policy] = field(default_factory=dict)
    """{origin: robots.txt} that it was sent."""


class Workers:
    """The worker processes of a crawl. They start when there is work for them, and end with `close`."""

    def __init__(
        self,
        number: int,
        setup: Setup,
        reading: Reading,
        policies: Policies,
        verdicts: Verdicts,
        counts: FileCounts,
        delivery: Delivery,
    ) -> None:
        self._number = number
        self._setup = setup
        self._reading = reading
        self._policies = policies
        self._verdicts = verdicts
        self._counts = counts
        self._delivery = delivery
        self._workers: list[_Worker] = []
        self._waiting: deque[SentFile] = deque()
        self._server = ForkServer("sitemapcrawler.crawl.worker", own_session=True)
        self._answers: set[asyncio.Task[None]] = set()
        self._off = False

    def send(self, visit: Visit, answer: FetchResult) -> SentFile | None:
        """Give the workers a file to read; None if the crawl is to read it."""
        many = self._workers or self._reading.frontier.queued_count >= MANY
        if self._off or not many or not answer.ok or answer.body.size < LEAST_BYTES or self._reading.stop.begun():
            return None
        while len(self._workers) < self._number and self._add():
            pass
        if not self._workers:
            return None
        sent = SentFile(visit, answer)
        self._waiting.append(sent)
        self._hand_out()
        return sent

    async def wait_for(self, sent: SentFile) -> bool:
        """Wait until a file is read. Returns False if the crawl is to read it, which no worker has begun or could."""
        if not sent.begun:
            with suppress(ValueError):
                self._waiting.remove(sent)
            return False
        with self._reading.open(sent.answer.body):
            return await sent.outcome in (READ, CRASHED)

    def items(self, sent: SentFile) -> Iterator[FreshBatch | SitemapEnd]:
        """Yield the records of a file that was read, then its own, and count what it contains."""
        if sent.outcome.result() == CRASHED:
            often = "once" if sent.attempts == 1 else "twice"
            self._delivery.spoil(sent.visit.url)
            yield self._reading.gave_up(sent.visit, sent.answer, f"the process that read it died, {often}")
            return
        assert sent.results is not None
        sent.results.seek(0)
        try:
            while (part := _next(sent.results)) is not None:
                if isinstance(part, Batch):
                    self._verdicts.count(part.judged)
                    self._reading.selection.add(part.count)
                    yield _batch(sent.visit.url, part)
                else:
                    yield self._ended(sent.visit, part)
        except MemoryError:
            self._reading.stop.end(NO_MEMORY)
            self._delivery.spoil(sent.visit.url)
            yield self._reading.gave_up(sent.visit, sent.answer, OUT_OF_MEMORY)

    def _ended(self, visit: Visit, end: End) -> SitemapEnd:
        record = end.record
        self._counts.add(record.result.tally)
        self._verdicts.skipped.update(end.skipped)
        self._reading.count_read(visit, record)
        return record

    def drop(self, sent: SentFile) -> None:
        """Let go of a file. A worker that is reading it ends."""
        if sent in self._waiting:
            self._waiting.remove(sent)
        for worker in self._workers:
            if worker.sent is sent:
                worker.sent = None
                self._forget(worker)
                self._hand_out()
                break
        sent.close()

    def stop(self) -> None:
        """Tell the workers that the crawl is stopping, so that they end their files. Those that do not are left."""
        for worker in self._workers:
            with suppress(OSError):
                worker.link.send(STOP)
        asyncio.get_running_loop().call_later(STOP_S, self._leave_busy)

    def _leave_busy(self) -> None:
        for worker in tuple(self._workers):
            if worker.sent is not None:
                logger.warning("%s: the process that reads it does not end", worker.sent.visit.url)
                self._lost(worker)

    def close(self) -> None:
        """End all processes."""
        self._off = True
        imported = any(worker.pid for worker in self._workers)
        for worker in tuple(self._workers):
            self._forget(worker)
        self._server.close(GRACE_S if imported else 0.0)

    def _add(self) -> bool:
        """Start another worker. Returns False if that is impossible."""
        if self._off or self._reading.stop.begun():
            return False
        link = None
        try:
            link = self._server.fork()
            link.send(self._setup)
        except (OSError, pickle.PicklingError) as error:
            self._turn_off(str(error))
            if link is not None:
                link.close()
            return False
        worker = _Worker(link)
        self._workers.append(worker)
        asyncio.get_running_loop().add_reader(link.fileno(), self._receive, worker)
        return True

    def _turn_off(self, reason: str) -> None:
        if not self._off:
            logger.warning("no worker process can be started (%s): all files are read by one process", reason)
        self._off = True

    def _hand_out(self) -> None:
        """Give files that wait to workers that are free."""
        for worker in tuple(self._workers):
            if worker.pid is not None and worker.sent is None and self._waiting:
                self._give(worker, self._waiting.popleft())
        if not self._workers and self._waiting and not self._add():
            for left in self._waiting:
                self._give_up(left)
            self._waiting.clear()

    def _give(self, worker: _Worker, sent: SentFile) -> None:
        try:
            body, results = sent.begin()
        except OSError:  # the disk is full
            sent.end(FAILED)
            return
        worker.sent = sent
        renewed = [origin for origin, policy in worker.known.items() if self._policies.at(origin) is not policy]
        try:
            worker.link.send(Task(sent.visit, sent.answer, sent.answer.body.digest(), self._known_of(worker, renewed)))
            with socket.socket(fileno=os.dup(worker.link.fileno())) as one:
                socket.send_fds(one, [b"+"], [body.fileno(), results.fileno()])
        except OSError:  # it has died before
            sent.attempts -= 1
            self._lost(worker)

    def _receive(self, worker: _Worker) -> None:
        """Take the messages of a worker that have come."""
        try:
            while worker in self._workers and worker.link.poll():
                self._handle(worker, *worker.link.recv())
        except (EOFError, OSError):
            self._lost(worker)

    def _handle(self, worker: _Worker, kind: str, *rest: Any) -> None:  # Any: what `worker` says of each kind
        sent = worker.sent
        if kind == "ready":
            (worker.pid,) = rest
            self._hand_out()
        elif kind == "cannot start":
            self._turn_off(*rest)
        elif kind == "at" and sent is not None:
            (sent.answer.body.given,) = rest
        elif kind == "hosts":
            answer = asyncio.ensure_future(self._answer(worker, *rest))
            self._answers.add(answer)
            answer.add_done_callback(self._answers.discard)
        elif kind == "log":
            name, level, text = rest
            logging.getLogger(name).log(level, "%s", text)
        elif kind == "end":
            self._reading.stop.end(*rest)
        elif kind == "done":
            worker.sent = None
            if sent is not None:
                sent.end(*rest)
            self._hand_out()

    async def _answer(self, worker: _Worker, way: str, origins: list[str]) -> None:
        """Tell a worker what is known of hosts, after finding it out if it asks so."""
        try:
            if way == "obtain":
                for origin in origins:
                    await self._policies.obtain(origin)
            elif way == "prepare":
                await self._policies.prepare(origins)
        except Exception:  # the worker waits for an answer
            logger.exception("internal error")
        with suppress(OSError):  # the worker has died
            worker.link.send(self._known_of(worker, origins))

    def _known_of(self, worker: _Worker, origins: Sequence[str]) -> dict[str, Answer]:
        """What is known of hosts now, for a worker."""
        answers: dict[str, Answer] = {}
        for origin in origins:
            policy = self._policies.at(origin)
            worker.known.pop(origin, None)
            if policy is not None:
                worker.known[origin] = policy
            answers[origin] = policy, isinstance(self._policies.failure(origin), OURS)
        return answers

    def _lost(self, worker: _Worker) -> None:
        """Let another worker read what this one was reading, unless that has happened before."""
        sent, worker.sent = worker.sent, None
        self._forget(worker)
        if worker.pid is None:
            self._turn_off("one ended before it was ready")
        if sent is not None and sent.attempts < ATTEMPTS and self._add():
            if sent.attempts:
                logger.warning("%s: the process that read it died; another one reads it again", sent.visit.url)
            self._waiting.appendleft(sent)
        elif sent is not None:
            self._give_up(sent)
        self._hand_out()

    def _give_up(self, sent: SentFile) -> None:
        """End a file that no worker can read. The crawl reads it unless it may have been the reason, or takes a moment
        for it if it is stopping."""
        sent.end(CRASHED if sent.attempts and not self._reading.stop.begun() else FAILED)

    def _forget(self, worker: _Worker) -> None:
        """Close the connection of a worker, upon which it ends."""
        if worker in self._workers:
            self._workers.remove(worker)
            asyncio.get_running_loop().remove_reader(worker.link.fileno())
            worker.link.close()


def _next(results: IO[bytes]) -> Batch | End | None:
    try:
        part: Batch | End = pickle.load(results)
    except EOFError:
        return None
    return part


def _batch(sitemap: str, part: Batch) -> FreshBatch:
    if part.records is not None:
        return FreshBatch(sitemap, part.records, Notes.table(part.notes), is_judged=True)
    batch = FreshBatch.of_lines(sitemap, part.lines, part.count)
    batch.is_judged = True
    return batch
