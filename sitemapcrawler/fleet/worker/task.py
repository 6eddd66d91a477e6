"""One domain, from the begin of its crawl to its tables in their places: what a worker of a fleet does."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass, field
from typing import Any

from sitemapcrawler.fleet.control.domains import Domain
from sitemapcrawler.fleet.output.destination import Output, OutputFailed
from sitemapcrawler.fleet.records import DomainRecord
from sitemapcrawler.fleet.worker.children import Child, Nursery, NurseryDied
from sitemapcrawler.fleet.worker.conversation import ControlLike, Conversation, State, Superseded, pulse
from sitemapcrawler.fleet.worker.crawling import Job
from sitemapcrawler.fleet.worker.results import CrawlDied, keep_log, publish, record_of
from sitemapcrawler.words import counted

GRACE_S = 30.0
"""Seconds that a crawl may take longer than its `max_time`: it ends by itself within 15, and writes its files."""
KILL_S = 30.0
"""Seconds after which a crawl that was told to end is killed."""


class GivenUp(Exception):
    """A crawl that did not end even when it was told to, or whose worker died again and again: it is not worth another
    attempt."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is the same for all domains of a fleet."""

    output: str
    """URL of the folder that holds the data set."""
    arguments: dict[str, str]
    """Arguments of the spider."""
    settings: dict[str, tuple[Any, int]] = field(repr=False)
    """{name: (value, priority)} of settings."""
    max_time: float
    """Seconds that a crawl may take."""
    retries: int
    """Attempts at a domain after the first."""
    path: tuple[str, ...] = ()
    """Where the command finds modules."""


def crawl_domain(domain: Domain, plan: Plan, control: ControlLike, nursery: Nursery) -> DomainRecord:
    """Crawl a domain and put its results into their places, its own row last.

    CrawlDied, GivenUp or `OutputFailed` where there are none; then nothing of it can be taken for a result.
    """
    began = time.monotonic()
    output = Output(plan.output)
    attempt, tries = control.begin(domain.name)
    ended = False
    try:
        if tries > plan.retries + 1:  # Ray itself does not count those that it ends for want of memory
            raise GivenUp(f"its worker died {counted(tries - 1, 'time')}")
        with output.scratch() as folder, pulse(control, attempt) as state:
            job = Job(domain.name, plan.arguments, plan.settings, str(folder), plan.path)
            try:
                code = _crawl(job, attempt, plan, control, nursery, state)
                ended = code >= 0
                record = record_of(domain, folder, code, tries)
            except (CrawlDied, GivenUp, OutputFailed):
                keep_log(output, domain, folder)
                raise

            def check() -> None:
                if state.superseded or not control.counts(attempt):
                    raise Superseded("crawled by another worker")

            publish(output, domain, folder, record, began, check)
            return record
    finally:
        control.end(attempt, not ended)


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
            raise GivenUp(f"the crawl did not end within {max_time + GRACE_S + KILL_S:.0f} s, and was killed")
        if now > end:
            child.signal(signal.SIGTERM)
            end = kill
    conversation.hear()  # its last words came with its end
