"""Crawls one domain: starts the process, relays messages between it and the control actor, publishes the results."""

from __future__ import annotations

import platform
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Protocol

from sitemapcrawler.fleet.domains import DOMAIN, FINISHED, PARTIAL, TABLES, UNREAD, WRITING, Domain, DomainRecord
from sitemapcrawler.fleet.leases import HeartbeatReply
from sitemapcrawler.fleet.output.destination import Output, OutputFailed
from sitemapcrawler.fleet.output.folders import MAX_REASON, failing_as
from sitemapcrawler.fleet.worker.crawling import FAULT, LOG, CrawlJob, summary
from sitemapcrawler.fleet.worker.nursery import Child, Nursery, NurseryDied
from sitemapcrawler.spiders import running
from sitemapcrawler.urls.display import counted, inert

GRACE_S = 30.0
"""Seconds by which a crawl may exceed `max_time`: it needs up to 15 to stop, and then writes its files."""
KILL_S = 30.0
"""Seconds from SIGTERM to SIGKILL."""


class CrawlAbandoned(Exception):
    """The crawl had to be killed, or its worker died repeatedly. Not retried."""


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """Parameters of all crawls of a fleet."""

    output: str
    """URL of the data set's folder."""
    arguments: dict[str, str]
    """Arguments of the spider, except `domain`."""
    settings: dict[str, tuple[object, int]] = field(repr=False)
    """{name: (value, priority)} of settings."""
    max_time: float
    """Time limit per crawl in seconds."""
    retries: int
    """Further attempts after the first."""
    path: tuple[str, ...] = ()
    """`sys.path` of the command."""


def crawl_domain(domain: Domain, plan: FleetPlan, control: ControlLike, nursery: Nursery) -> DomainRecord:
    """Crawl a domain and publish its results, with its own row last.

    Raises CrawlDied, CrawlAbandoned, Superseded or OutputFailed if there is no result; the domain then has no row.
    """
    began = time.monotonic()
    output = Output(plan.output)
    attempt, tries = control.begin(domain.name)
    ended = False
    try:
        if tries > plan.retries + 1:  # Ray's limit ignores workers that it kills for lack of memory
            raise CrawlAbandoned(f"its worker died {counted(tries - 1, 'time')}")
        with output.scratch() as folder, heartbeats(control, attempt) as state:
            job = CrawlJob(domain.name, plan.arguments, plan.settings, str(folder), plan.path)
            try:
                code = _crawl(job, attempt, plan, control, nursery, state)
                ended = code >= 0
                record = record_of(domain, folder, code, tries)
            except (CrawlDied, CrawlAbandoned, OutputFailed):
                keep_log(output, domain, folder)
                raise

            def check() -> None:
                if state.superseded or not control.counts(attempt):
                    raise Superseded("crawled by another worker")

            publish(output, domain, folder, record, began, check)
            return record
    finally:
        control.end(attempt, not ended)


def _crawl(
    job: CrawlJob, attempt: int, plan: FleetPlan, control: ControlLike, nursery: Nursery, state: TaskState
) -> int:
    """Run the crawl in its own process and return its exit code."""
    try:
        with nursery.start() as child:
            child.link.send(job)
            _accompany(child, Conversation(child, attempt, control, state), plan.max_time)
            assert child.code is not None
            return child.code
    except (NurseryDied, OSError, EOFError) as error:
        raise CrawlDied(str(error)) from None


def _accompany(child: Child, conversation: Conversation, max_time: float) -> None:
    """Relay messages until the crawl ends, and end it if it exceeds its time."""
    end, kill = (time.monotonic() + max_time + seconds for seconds in (GRACE_S, GRACE_S + KILL_S))
    while not child.wait(conversation.patience):
        conversation.step()
        now = time.monotonic()
        if now > kill:
            raise CrawlAbandoned(f"the crawl did not end within {max_time + GRACE_S + KILL_S:.0f} s, and was killed")
        if now > end:
            child.signal(signal.SIGTERM)
            end = kill
    conversation.handle_messages()  # the last ones arrived together with the end


BEAT_S = 2.0
"""Seconds between heartbeats."""
WAIT_S = 0.2
"""Seconds to wait for a message before checking the clock."""


class Superseded(Exception):
    """A newer attempt at the domain has started; this one must not write results."""


class ControlLike(Protocol):
    """Interface of `leases.Control` without times."""

    def begin(self, domain: str) -> tuple[int, int]:
        """Begin an attempt. Returns its number and the domain's attempt count."""

    def beat(self, attempt: int, urls: int, sitemaps: int) -> HeartbeatReply:
        """Send a heartbeat."""

    def counts(self, attempt: int) -> bool:
        """True if the attempt may write results."""

    def ask(self, attempt: int, host: str) -> float:
        """Request a lease. Returns 0 if granted, else the seconds to wait before the next call."""

    def free(self, attempt: int, host: str, rest: float) -> None:
        """Release a lease."""

    def end(self, attempt: int, died: bool) -> None:
        """End the attempt."""


@dataclass(slots=True)
class TaskState:
    """State of a task, shared with its heartbeat thread."""

    urls: int = 0
    sitemaps: int = 0
    superseded: bool = False
    news: SimpleQueue[list[str]] = field(default_factory=SimpleQueue)
    """Messages for the crawl."""


@contextmanager
def heartbeats(control: ControlLike, attempt: int) -> Iterator[TaskState]:
    """Send heartbeats from a thread, so that a slow upload does not look like a dead worker."""
    state, over = TaskState(), Event()

    def beat() -> None:
        while not over.wait(BEAT_S):
            reply = control.beat(attempt, state.urls, state.sitemaps)
            if not reply.go_on:
                state.superseded = True
                return
            for word, hosts in (("lost", reply.lost), ("wanted", reply.wanted)):
                if hosts:
                    state.news.put([word, *hosts])

    thread = Thread(target=beat, name="heartbeats", daemon=True)
    thread.start()
    try:
        yield state
    finally:
        over.set()
        thread.join()


class Conversation:
    """Relays messages between a crawl and the control actor. `worker.crawling` lists them."""

    def __init__(self, child: Child, attempt: int, control: ControlLike, state: TaskState) -> None:
        self._child = child
        self._attempt = attempt
        self._control = control
        self._state = state
        self._pending: dict[str, float] = {}
        self._handlers: Mapping[str, Callable[..., None]] = {"ask": self._ask, "free": self._free, "at": self._at}

    @property
    def patience(self) -> float:
        """Seconds until the next lease request is due, by default `WAIT_S`."""
        now = time.monotonic()
        return max(0.0, min((due - now for due in self._pending.values()), default=WAIT_S))

    def step(self) -> None:
        """Relay messages in both directions. Raises Superseded if the crawl must end."""
        if self._state.superseded:
            raise Superseded("another worker has begun with it")
        self.handle_messages()
        for host in [host for host, due in self._pending.items() if due <= time.monotonic()]:
            self._ask(host)
        with suppress(Empty):
            self._child.send(self._state.news.get_nowait())

    def handle_messages(self) -> None:
        for word, *rest in self._child.messages():
            self._handlers[word](*rest)

    def _ask(self, host: str) -> None:
        wait = self._control.ask(self._attempt, host) or (0.0 if self._child.send(["granted", host]) else WAIT_S)
        if wait > 0:
            self._pending[host] = time.monotonic() + wait
        else:
            self._pending.pop(host, None)

    def _free(self, host: str, rest: float) -> None:
        self._control.free(self._attempt, host, rest)

    def _at(self, urls: int, sitemaps: int) -> None:
        self._state.urls, self._state.sitemaps = urls, sitemaps


Check = Callable[[], None]
"""Raises an exception if results must not be published."""
LOGS = "_logs"
"""Folder for the logs of incomplete crawls."""
LOG_BYTES = 1024 * 1024
"""Number of bytes kept from the end of a log."""


class CrawlDied(Exception):
    """The crawl's process ended without a result. May be retried."""


class CrawlFault(CrawlDied):
    """The crawl could not start, or raised an exception: a setting, a package or our code is at fault, not the site."""


def record_of(domain: Domain, folder: Path, code: int, tries: int) -> DomainRecord:
    """Build a domain's row from the files of its crawl. Raises CrawlDied if there is no result, OutputFailed if the
    files could not be written."""
    states = {0: FINISHED, running.STOPPED: PARTIAL, running.NOTHING_READ: UNREAD}
    if code == running.FEED_LOST:
        raise OutputFailed(f"its files could not be written{last_error(folder)}")
    if code == FAULT:
        raise CrawlFault(f"its crawl could not run{last_error(folder)}")
    if code not in states:
        raise CrawlDied(f"{exit_reason(code)}{last_error(folder)}")
    try:
        found = summary(folder)
        size = sum((folder / f"{table}.parquet").stat().st_size for table in TABLES)
    except (OSError, ValueError) as error:
        raise CrawlDied(f"its files are not whole: {error}") from None
    names = {one.name for one in fields(DomainRecord)} & {one.name for one in fields(found)} - {"bad", "not_indexable"}
    record = DomainRecord(**{name: getattr(found, name) for name in names})
    state = PARTIAL if record.partial and code == 0 else states[code]
    record.domain, record.state, record.attempts, record.bytes = domain.name, state, tries, size
    record.node, record.findings = platform.node(), sum(record.severities.values())
    if found.bad is not None:
        record.bad, record.checked = found.bad.bad, found.bad.checked
    if found.not_indexable is not None:
        record.not_indexable, record.indexability_checked = found.not_indexable.bad, found.not_indexable.checked
    record.error = reason_of(folder) if state == UNREAD else None
    return record


def reason_of(folder: Path) -> str | None:
    """Why nothing could be read: the first error of a sitemap, else of a robots.txt."""
    for table in ("sitemap", "robots"):
        path = folder / f"{table}.parquet"
        errors = import_module("pyarrow.parquet").read_table(path, columns=["error"], partitioning=None)
        for error in errors.column("error").drop_null().to_pylist():
            return inert(error, MAX_REASON)
    return None


def exit_reason(code: int) -> str:
    """Exit code in words."""
    return (
        f"its process was ended by {signal.Signals(-code).name}" if code < 0 else f"its process ended with code {code}"
    )


def last_error(folder: Path) -> str:
    """Last error of the log after a colon; empty if there is none."""
    try:
        lines = tail(folder / LOG).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    begins = [number for number, line in enumerate(lines) if "ERROR: " in line]
    if not begins:
        return ""
    first, *rest = lines[begins[-1] :]
    trace = [line for line in rest if line and not line[0].isspace() and not line[0].isdigit()]
    # The last line of a traceback names the exception.
    error = trace[-1] if any(line.startswith("Traceback") for line in rest) else first.partition("ERROR: ")[2]
    return f": {inert(error, MAX_REASON)}"


def tail(log: Path) -> bytes:
    """Last `LOG_BYTES` bytes of a log."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_BYTES))
        return file.read()


def publish(
    output: Output, domain: Domain, folder: Path, record: DomainRecord, began: float, check: Check = lambda: None
) -> None:
    """Publish a domain's tables, then its row. Calls `check` before each file. Raises OutputFailed."""
    if record.state != FINISHED:
        keep_log(output, domain, folder)
    for table in TABLES:
        check()
        output.publish(folder / f"{table}.parquet", file_name(table, domain))
    record.wall_s = round(time.monotonic() - began, 3)
    row = folder / f"{DOMAIN}.parquet"
    with failing_as(f"{domain.name}: its row cannot be written"):
        write_row(row, record)
    check()
    output.publish(row, file_name(DOMAIN, domain))


def keep_log(output: Output, domain: Domain, folder: Path) -> None:
    """Keep the end of a crawl's log. Ignores errors."""
    with suppress(OSError):
        output.write_bytes(f"{LOGS}/{domain.file}.txt", tail(folder / LOG))


def file_name(table: str, domain: Domain) -> str:
    """Path of a domain's file in a table, relative to the data set."""
    return f"{table}/bucket={domain.bucket}/{domain.file}.parquet"


def write_row(path: Path, record: DomainRecord) -> None:
    from sitemapcrawler.feeds.arrow import Columns, writer  # imports pyarrow

    table = Columns(DomainRecord).table([record])
    facts = {"site": record.domain, "started": record.started or ""}
    with writer(path, table.schema, facts, **WRITING) as file:
        file.write_table(table)
