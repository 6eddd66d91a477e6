"""One domain, from the begin of its crawl to its tables in their places: what a worker of a fleet does."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Protocol

from sitemapcrawler.fleet.children import Child, Nursery, NurseryDied
from sitemapcrawler.fleet.control import Answer
from sitemapcrawler.fleet.crawling import Job
from sitemapcrawler.fleet.domains import Domain
from sitemapcrawler.fleet.output import Output, OutputFailed
from sitemapcrawler.fleet.records import DomainRecord
from sitemapcrawler.fleet.results import CrawlDied, keep_log, publish, record_of

BEAT_S = 2.0
"""Seconds between two signs of life."""
WAIT_S = 0.2
"""Seconds between two looks at the clock, while a crawl says nothing."""
GRACE_S = 30.0
"""Seconds that a crawl may take longer than its `max_time`: it ends by itself within 15, and writes its files."""
KILL_S = 30.0
"""Seconds after which a crawl that was told to end is killed."""


class CrawlHung(Exception):
    """A crawl did not end in time, even when it was told to; trying again would take as long."""


class Superseded(Exception):
    """Another attempt at the same domain has begun, so that this one must leave nothing."""


class ControlLike(Protocol):
    """What tasks must know of each other, wherever that is kept: `control.Control`, with its clock."""

    def begin(self, domain: str) -> tuple[int, int]:
        """A new attempt: its number, and how many there have been."""

    def beat(self, attempt: int, urls: int, sitemaps: int) -> Answer:
        """Say that it is alive."""

    def counts(self, attempt: int) -> bool:
        """True where it may leave results."""

    def ask(self, attempt: int, host: str) -> float:
        """0, or the seconds after which to ask again."""

    def free(self, attempt: int, host: str, rest: float) -> None:
        """Give a host back."""

    def end(self, attempt: int) -> None:
        """It is over."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is the same for all domains of a fleet."""

    output: str
    """URL of the folder that holds the data set."""
    arguments: dict[str, str]
    """Arguments of the spider."""
    settings: dict[str, tuple[Any, int]]
    """{name: (value, priority)} of settings."""
    max_time: float
    """Seconds that a crawl may take."""
    path: tuple[str, ...] = ()
    """Where the command finds modules."""


@dataclass(slots=True)
class State:
    """How far a task is."""

    urls: int = 0
    sitemaps: int = 0
    superseded: bool = False
    wanted: SimpleQueue[list[str]] = field(default_factory=SimpleQueue)
    """Hosts that others wait for."""


def crawl_domain(domain: Domain, plan: Plan, control: ControlLike, nursery: Nursery) -> DomainRecord:
    """Crawl a domain and put its results into their places, its own row last.

    CrawlDied, CrawlHung or `OutputFailed` where there are none; then nothing of it can be taken for a result.
    """
    began = time.monotonic()
    output = Output(plan.output)
    attempt, tries = control.begin(domain.name)
    try:
        with output.scratch() as folder, pulse(control, attempt) as state:
            job = Job(domain.name, plan.arguments, plan.settings, str(folder), plan.path)
            try:
                code = _crawl(job, attempt, plan, control, nursery, state)
                record = record_of(domain, folder, code, tries)
            except (CrawlDied, CrawlHung, OutputFailed):
                keep_log(output, domain, folder)
                raise
            if state.superseded or not control.counts(attempt):
                raise Superseded("crawled by another worker")
            publish(output, domain, folder, record, began)
            return record
    finally:
        control.end(attempt)


@contextmanager
def pulse(control: ControlLike, attempt: int) -> Iterator[State]:
    """Say in a thread that the task is alive, so that neither a large file nor a slow network is taken for death."""
    state, over = State(), Event()

    def beat() -> None:
        while not over.wait(BEAT_S):
            answer = control.beat(attempt, state.urls, state.sitemaps)
            if not answer.go_on:
                state.superseded = True
                return
            if answer.wanted:
                state.wanted.put(answer.wanted)

    thread = Thread(target=beat, name="pulse", daemon=True)
    thread.start()
    try:
        yield state
    finally:
        over.set()
        thread.join()


def _crawl(job: Job, attempt: int, plan: Plan, control: ControlLike, nursery: Nursery, state: State) -> int:
    """Run the crawl in a process of its own; its exit code."""
    try:
        with nursery.start() as child:
            child.link.send(job)
            _accompany(child, Conversation(child, attempt, control, state), plan.max_time)
            assert child.code is not None
            return child.code
    except (NurseryDied, OSError, EOFError) as error:
        raise CrawlDied(str(error)) from None


def _accompany(child: Child, conversation: Conversation, max_time: float) -> None:
    """Talk with a crawl until it ends; see that it ends."""
    end, kill = (time.monotonic() + max_time + seconds for seconds in (GRACE_S, GRACE_S + KILL_S))
    while not child.wait(conversation.patience):
        conversation.go_on()
        now = time.monotonic()
        if now > kill:
            raise CrawlHung(f"the crawl did not end within {max_time + GRACE_S + KILL_S:.0f} s, and was killed")
        if now > end:
            child.signal(signal.SIGTERM)
            end = kill
    conversation.hear()  # its last words came with its end


class Conversation:
    """What a crawl and the control of the fleet have to say to each other."""

    def __init__(self, child: Child, attempt: int, control: ControlLike, state: State) -> None:
        self._child = child
        self._attempt = attempt
        self._control = control
        self._state = state
        self._asked: dict[str, float] = {}
        self._heard: Mapping[str, Callable[..., None]] = {"ask": self._ask, "free": self._free, "at": self._at}

    @property
    def patience(self) -> float:
        """Seconds until there is something to do, though the crawl says nothing."""
        now = time.monotonic()
        return max(0.0, min((due - now for due in self._asked.values()), default=WAIT_S))

    def go_on(self) -> None:
        """Hear what the crawl has said, and say what others have. Superseded where it must end."""
        if self._state.superseded:
            raise Superseded("another worker has begun with it")
        self.hear()
        for host in [host for host, due in self._asked.items() if due <= time.monotonic()]:
            self._ask(host)
        with suppress(Empty):
            self._tell("wanted", *self._state.wanted.get_nowait())

    def hear(self) -> None:
        """Hear what the crawl has said."""
        for word, *rest in self._child.heard():
            self._heard[word](*rest)

    def _ask(self, host: str) -> None:
        wait = self._control.ask(self._attempt, host) or (0.0 if self._tell("granted", host) else WAIT_S)
        if wait > 0:
            self._asked[host] = time.monotonic() + wait
        else:
            self._asked.pop(host, None)

    def _free(self, host: str, rest: float) -> None:
        self._control.free(self._attempt, host, rest)

    def _at(self, urls: int, sitemaps: int) -> None:
        self._state.urls, self._state.sitemaps = urls, sitemaps

    def _tell(self, *message: Any) -> bool:
        return self._child.send(message)
