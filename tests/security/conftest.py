"""Sites here send a crawl to addresses of other networks: every test runs in a network namespace that has nothing but
`lo`, so that what the guard lets pass by mistake goes nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.crawl import conftest as shared
from tests.crawl.crawling import Crawl, command, launch
from tests.crawl.site_server import SiteServer
from tests.namespace import alone_or_skipped
from tests.security.hostile_site import fill


@pytest.fixture(scope="module", autouse=True)
def alone() -> Iterator[None]:
    """The namespace, for a module."""
    with alone_or_skipped():
        yield


site, refusal = shared.site, shared.refusal


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """What one crawl of the hostile site has written: every feed, a report, and a log with all that Scrapy says; with
    a locale that knows ASCII alone."""
    folder = tmp_path_factory.mktemp("written")
    formats = ("csv", "json", "jsonl", "parquet", "sarif", "junit")
    options = [word for name in formats for word in ("-O", f"out.{name}")]
    feeds = json.dumps({"cells.csv": {"fields": ["loc", "lastmod", "extra", "issues", "reply", "target"]}})
    settings = {"LOG_LEVEL": "DEBUG", "RETRY_TIMES": 1, "STATS_DUMP": True, "LOG_FILE": "file.log", "FEEDS": feeds}
    with alone_or_skipped(), SiteServer() as site:
        fill(site)
        argv = command(
            *options,
            "-L",
            "DEBUG",
            settings=settings,
            domain=site.url(),
            verify="get",
            agents="search,evil",
            report="r",
        )
        with launch(folder, ["env", "LC_ALL=C", "PYTHONUTF8=0", "PYTHONIOENCODING=ascii", *argv]) as running:
            return running.finish()
