"""The kinds of jobs that tests and `bench.kills` disturb, and what a disturbed one may ask for again."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crawl.crawling import FEED
from tests.crawl.job_site import JobSite, behind
from tests.crawl.jobs import FEEDS, VERIFIED, Job

ONE_BY_ONE = {"SITEMAP_FETCH_AHEAD": 1, "SITEMAP_READ_AT_ONCE": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
"""Settings by which the order of the files, and so what `max_urls` takes, is always the same."""


@dataclass(frozen=True)
class Kind:
    """A kind of job."""

    arguments: Mapping[str, Any] = field(default_factory=lambda: VERIFIED)
    settings: Mapping[str, object] = field(default_factory=dict)
    feeds: tuple[str, ...] = (FEED,)

    def job(self, site: JobSite, folder: Path) -> Job:
        """A job of this kind that has not been started."""
        return Job(site, folder, self.arguments, self.settings, self.feeds)


KINDS = {
    "verified": Kind(feeds=FEEDS),
    "only read": Kind({}),
    "sample of 20": Kind({**VERIFIED, "sample": "20"}),
    "a tenth": Kind({**VERIFIED, "sample": "10%"}),
    "60 urls": Kind({**VERIFIED, "max_urls": "60"}, ONE_BY_ONE),
    "records": Kind(settings={"SITEMAP_ITEMS": "records"}),
}
"""Kinds of jobs by name."""
MORE_KINDS = {
    "head": Kind({"verify": "head"}),
    "assets": Kind({**VERIFIED, "verify_assets": "yes"}),
    "filtered": Kind({**VERIFIED, "include": "/page/|/gone/", "since": "2024-05-10"}),
    "6 files": Kind({**VERIFIED, "max_sitemaps": "6"}, ONE_BY_ONE),
    "no rules": Kind({**VERIFIED, "select": "none"}),
    "small batches": Kind(settings={"SITEMAP_BATCH_SIZE": 5}),
    "sample of 20 by records": Kind({**VERIFIED, "sample": "20"}, {"SITEMAP_ITEMS": "records"}),
}
"""More of them, which only `bench.kills` has the time for."""


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
