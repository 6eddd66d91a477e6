"""Jobs that tests and `bench.kills` disturb: their kinds, patches of the program, and what may be requested twice."""

from __future__ import annotations

import math
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.constants import ONE_BY_ONE, constants
from tests.crawl import patched
from tests.crawl.crawling import DEADLINE_S, FEED, Running
from tests.crawl.job_site import JobSite, behind
from tests.crawl.jobs import FEEDS, JOBDIR, VERIFIED, Job, Undisturbed

IN_ORDER = {**ONE_BY_ONE, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
"""Settings by which the order of the files, and so what `max_urls` takes, is always the same."""


FOUND_PAGES = Path(__file__).parents[1] / "data" / "compare" / "found.txt"
"""A list of pages of the site that no sitemap lists."""


@dataclass(frozen=True)
class Kind:
    """A kind of job."""

    arguments: Mapping[str, Any] = field(default_factory=lambda: VERIFIED)
    settings: Mapping[str, object] = field(default_factory=dict)
    feeds: tuple[str, ...] = (FEED,)
    has_baseline: bool = False
    """Whether it is compared with a job of the day before, of the same site."""

    def job(self, site: JobSite, folder: Path) -> Job:
        """A job of this kind that has not been started."""
        arguments = self.arguments
        if self.has_baseline:
            alone = {name: value for name, value in self.arguments.items() if name != "only"}
            before = Job(site, folder / "before", alone, self.settings)
            before.folder.mkdir()
            before.run()
            arguments = {**arguments, "baseline": before.folder / JOBDIR}
        return Job(site, folder, arguments, self.settings, self.feeds)


KINDS = {
    "verified": Kind(feeds=FEEDS),
    "only read": Kind({}),
    "sample of 20": Kind({**VERIFIED, "sample": "20"}),
    "a tenth": Kind({**VERIFIED, "sample": "10%"}),
    "60 urls": Kind({**VERIFIED, "max_urls": "60"}, IN_ORDER),
    "records": Kind(settings={"SITEMAP_ITEMS": "records"}),
    "links": Kind({**VERIFIED, "links": "site"}),
    "lists": Kind({**VERIFIED, "compare": str(FOUND_PAGES)}),
    "unchanged": Kind({}, has_baseline=True),
}
"""Kinds of jobs by name."""
MORE_KINDS = {
    "head": Kind({"verify": "head"}),
    "assets": Kind({**VERIFIED, "verify_assets": "yes"}),
    "filtered": Kind({**VERIFIED, "include": "/page/|/gone/", "since": "2024-05-10"}),
    "6 files": Kind({**VERIFIED, "max_sitemaps": "6"}, IN_ORDER),
    "no rules": Kind({**VERIFIED, "select": "none"}),
    "unchanged pages": Kind(has_baseline=True),
    "only changes": Kind({"only": "changes"}, has_baseline=True),
    "small batches": Kind(settings=constants({"crawl.reading.BATCH_SIZE": 5})),
    "sample of 20 by records": Kind({**VERIFIED, "sample": "20"}, {"SITEMAP_ITEMS": "records"}),
}
"""More of them, most of which only `bench.kills` has the time for."""


@dataclass
class Shop:
    """The site, and jobs that audit it."""

    site: JobSite
    factory: pytest.TempPathFactory
    default: str = "only read"
    """The kind of a job where none is named."""
    known: dict[str, Undisturbed] = field(default_factory=dict)
    killed: dict[str, Job] = field(default_factory=dict)
    done: Job | None = None

    def job(self, kind: str | None = None) -> Job:
        """A job of one of the kinds that has not been started."""
        self.site.forget()
        return (KINDS | MORE_KINDS)[kind or self.default].job(self.site, self.factory.mktemp("job"))

    def undisturbed(self, kind: str | None = None) -> Undisturbed:
        """The same, without disturbance."""
        kind = kind or self.default
        if kind not in self.known:
            self.known[kind] = self.job(kind).undisturbed()
        return self.known[kind]

    def half_done(self, kind: str | None = None) -> Job:
        """A job that was killed half way: a copy of the one of its kind."""
        kind = kind or self.default
        if kind not in self.killed:
            expected, killed = self.undisturbed(kind), self.job(kind)
            assert killed.kill_settled(expected.moment(0.6))
            self.killed[kind] = killed
        job = self.job(kind)
        shutil.copytree(self.killed[kind].folder, job.folder, dirs_exist_ok=True)
        return job

    def finished(self) -> Job:
        """A job of which nothing is left to do: a copy."""
        if self.done is None:
            self.done = self.job()
            self.done.complete(self.undisturbed())
        job = self.job()
        shutil.copytree(self.done.folder, job.folder, dirs_exist_ok=True)
        return job


def patch(job: Job, code: str) -> None:
    """From now on the command runs with changes to the program."""
    (job.folder / patched.CODE).write_text(code)
    job.within = patched.WITHIN


def unpatch(job: Job) -> None:
    """From now on the command runs as it is."""
    job.within = ()


def log_of(running: Running) -> str:
    """The log of a run, after its end; it may contain tracebacks."""
    with running:
        running.process.wait(DEADLINE_S)
    return running.log


def asked_again(job: Job, asked: Collection[str]) -> list[str]:
    """What was asked for once more though its answer was known well before a kill. A file may be read again that waited
    then for what an undisturbed job has `asked` for."""
    told: list[str] = []
    known: set[str] = set()
    finished: set[str] = set()
    of_the_site = {path for path in asked if not job.site.has(path)}
    for kill, end in zip(job.kills, [*(kill.at for kill in job.kills[1:]), math.inf], strict=True):
        known |= kill.known
        finished |= {path for path in kill.known if known.issuperset((behind(path) | of_the_site).intersection(asked))}
        run = (exchange.path for exchange in job.site.exchanges if kill.at < exchange.at < end)
        told += [path for path in run if path in finished and job.site.has(path)]
    return told
