"""What a crawl, its worker and the control of the fleet say to each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Protocol

from sitemapcrawler.fleet.control.leases import Answer
from sitemapcrawler.fleet.worker.children import Child

BEAT_S = 2.0
"""Seconds between two signs of life."""
WAIT_S = 0.2
"""Seconds between two looks at the clock, while a crawl says nothing."""


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

    def end(self, attempt: int, died: bool) -> None:
        """It is over, and how."""


@dataclass(slots=True)
class State:
    """How far a task is."""

    urls: int = 0
    sitemaps: int = 0
    superseded: bool = False
    news: SimpleQueue[list[str]] = field(default_factory=SimpleQueue)
    """Messages to the crawl."""


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
            for word, hosts in (("lost", answer.lost), ("wanted", answer.wanted)):
                if hosts:
                    state.news.put([word, *hosts])

    thread = Thread(target=beat, name="pulse", daemon=True)
    thread.start()
    try:
        yield state
    finally:
        over.set()
        thread.join()


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
            self._tell(*self._state.news.get_nowait())

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
