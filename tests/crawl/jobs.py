"""Jobs that are killed at chosen moments and go on, and what must be the same as without."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sitemapcrawler.feeds.folder import CACHE
from tests.crawl.crawling import FEED, Crawl, Running, start
from tests.crawl.job_feeds import difference, rows
from tests.crawl.job_site import SITEMAPS, JobSite

JOBDIR = "jobs/shop"
DATABASE = "audit.duckdb"
KEPT = {DATABASE, "history.jsonl", CACHE}
"""What a finished job leaves in its folder."""
LOOK_S = 0.001
"""Seconds between two looks for the moment of a kill."""
VERIFIED = {"verify": "get", "ignore": "status-slow"}
"""How slow an answer was is for the machine to say, and differs from run to run."""
YOUNG_S = 2.5
"""Age in seconds up to which a reply may be asked for again after a kill: DESIGN, Jobs, says one; a busy machine may be
late."""
FEEDS = (FEED, "urls.csv", "all.json", "urls.parquet", "findings.sarif")
"""One of each format."""


@dataclass(frozen=True)
class Moment:
    """When to disturb a run: after so many requests to the server, and so many seconds more."""

    requests: int
    delay_s: float = 0.0


@dataclass(frozen=True)
class Kill:
    """The end of a run."""

    at: float
    """Seconds of the monotonic clock."""
    known: frozenset[str]
    """Paths of pages that were answered in this run at least `YOUNG_S` before, and of files that were read by then."""


@dataclass(frozen=True)
class Undisturbed:
    """A run that nobody disturbed."""

    crawl: Crawl
    rows: Mapping[str, Counter[str]]
    """By feed."""
    asked: tuple[str, ...]
    """Paths in order."""
    tail_s: float
    """From the last request to the end."""

    def moment(self, share: float) -> Moment:
        """The moment when this share of the requests has been made."""
        return Moment(max(1, round(len(self.asked) * share)))

    def after_the_last_request(self, share: float) -> Moment:
        """The moment when everything has been asked, and this share of the time from there to the end is over."""
        return Moment(len(self.asked), self.tail_s * share)


@dataclass
class Job:
    """One command with a JOBDIR, to be run again and again in a folder of its own."""

    site: JobSite
    folder: Path
    arguments: Mapping[str, Any] = field(default_factory=lambda: VERIFIED)
    settings: Mapping[str, object] = field(default_factory=dict)
    feeds: Sequence[str] = (FEED,)
    within: Sequence[str] = ()
    """What stands before the command."""
    kills: list[Kill] = field(default_factory=list)
    """Its kills so far."""

    def start(self, *options: str, settings: Mapping[str, object] | None = None, **more: Any) -> Running:
        """Start the command; `options`, `settings` and `more` arguments differ from the usual ones."""
        feeds = options or [part for feed in self.feeds for part in ("-O", feed)]
        chosen = {"JOBDIR": JOBDIR, **self.settings, **(settings or {})}
        arguments = {"domain": self.site.url(), **self.arguments, **more}
        begin = partial(start, within=self.within)
        return begin(self.folder, *feeds, settings=chosen, **arguments)

    def run(self, *options: str, settings: Mapping[str, object] | None = None, **more: Any) -> Crawl:
        """Run the command to its end."""
        return self.start(*options, settings=settings, **more).finish()

    def kill(self, moment: Moment) -> bool:
        """Start the command and kill it at a moment; False where it had ended by itself before."""
        before = len(self.site.exchanges)
        with self.start() as running:
            self.wait(running, moment, before)
            lived = self.end(running)
        self.site.settle()
        return lived

    def kill_settled(self, moment: Moment) -> bool:
        """The same, but nothing is answered after the moment, and the kill comes when all that was has been kept."""
        before = len(self.site.exchanges)
        with self.start() as running:
            self.wait(running, moment, before)
            self.site.gate.clear()
            read = frozenset(path for path in SITEMAPS if f"{self.site.url(path)}: " in running.log)
            time.sleep(YOUNG_S)  # so that no reply is young when the kill comes
            lived = self.end(running, read)
        self.site.gate.set()
        return lived

    def kill_when(self, condition: Callable[[], bool]) -> bool:
        """Start the command and kill it as soon as a condition holds; False where it had ended by itself before."""
        with self.start() as running:
            while running.process.poll() is None and not condition():
                time.sleep(LOOK_S)  # between two looks
            return self.end(running)

    def wait(self, running: Running, moment: Moment, before: int = 0) -> None:
        """Return at a moment of a run, or at its end; `before` it there had been so many requests."""
        if self.site.wait_for_requests(before + moment.requests, lambda: running.process.poll() is None):
            time.sleep(moment.delay_s)  # the moment itself: a time after an event

    def end(self, running: Running, read: Collection[str] = ()) -> bool:
        """Kill a run; False where it had ended by itself before. `read`: paths of files that it has surely kept."""
        running.process.kill()
        lived = running.process.wait() < 0
        now, begin = time.monotonic(), self.kills[-1].at if self.kills else 0.0
        old = {one.path for one in self.site.exchanges if one.sent and begin < one.at < now - YOUNG_S}
        self.kills.append(Kill(now, frozenset(old.difference(SITEMAPS).union(read))))
        assert "Traceback" not in running.log, running.log
        return lived

    @property
    def database(self) -> Path:
        """The database of the job."""
        return self.folder / JOBDIR / DATABASE

    @property
    def left(self) -> set[str]:
        """Names in the folder of the job."""
        return {path.name for path in self.database.parent.iterdir()}

    @property
    def parts(self) -> list[Path]:
        """Feeds in their temporary folders."""
        return list(self.folder.glob(".feed@*"))

    def rows(self) -> dict[str, Counter[str]]:
        """The rows of each feed."""
        return {feed: rows(self.folder / feed) for feed in self.feeds}

    def differences(self, expected: Mapping[str, Counter[str]]) -> str:
        """How the feeds differ from those of another run, for a person; empty where they do not."""
        found = self.rows()
        told = {feed: difference(expected[feed], found[feed]) for feed in self.feeds}
        return "\n".join(f"{feed}: {text}" for feed, text in told.items() if text)

    def complete(self, expected: Undisturbed) -> Crawl:
        """Run the command to its end, and check that nothing shows that it was disturbed before."""
        done = self.run()
        assert done.code == expected.crawl.code, done.log
        assert not (told := self.differences(expected.rows)), told
        assert self.left == KEPT
        return done

    def undisturbed(self) -> Undisturbed:
        """Run the command as a job that nobody disturbs. Nothing of it is left."""
        self.site.forget()
        done = self.run()
        ended, found, asked = time.monotonic(), self.rows(), self.site.forget()
        shutil.rmtree(self.folder / JOBDIR)
        for feed in self.feeds:
            (self.folder / feed).unlink()
        return Undisturbed(done, found, tuple(one.path for one in asked), ended - asked[-1].at)
