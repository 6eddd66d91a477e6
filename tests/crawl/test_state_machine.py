"""Jobs on a site that changes, killed, stopped, resumed, begun anew and compared, in any order: the feed is the site."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.crawl.crawling import FEED, Running, start
from tests.crawl.documents import index, robots, urlset
from tests.crawl.jobs import KEPT
from tests.crawl.site_server import Answering, Exchange, Route, SiteServer, by_method

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("STATE_MACHINE_EXAMPLES", "2"))
"""Walks through the states; each starts some crawls, which take two seconds."""
DELAY_S = 0.02
"""Seconds that an answer takes, so that a kill has something to fall into."""
INDEX = "/index.xml"
FINISHED, STOPPED = 0, 3

pages = st.dictionaries(st.sampled_from("abcdef"), st.sets(st.integers(0, 30), min_size=1, max_size=12), min_size=2)


class Jobs(RuleBasedStateMachine):
    """The model is what each file lists; a job that ends must have written just that."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.site = SiteServer()
        self.site.__enter__()
        self.job = 1
        self.begun = self.finished = False
        self.baseline = ""
        self.publish({"a": {1, 2, 3}, "b": {3, 4}, "c": {5}})

    def teardown(self) -> None:
        self.site.__exit__(None, None, None)
        shutil.rmtree(self.folder)

    def publish(self, files: dict[str, set[int]]) -> None:
        """Let the site be another one."""
        self.files = {
            f"/{name}.xml": {self.site.url(f"/page/{page}") for page in listed} for name, listed in files.items()
        }
        bodies: dict[str, Route] = {
            "/robots.txt": robots(self.site.url(INDEX)),
            INDEX: index(*map(self.site.url, self.files)),
        }
        bodies |= {path: urlset(*sorted(locs)) for path, locs in self.files.items()}
        self.site.routes = {path: _slow(body) for path, body in bodies.items()}

    @property
    def place(self) -> Path:
        return self.folder / f"job-{self.job}"

    def start(self, **arguments: str) -> Running:
        self.site.exchanges.clear()
        if self.baseline:
            arguments["baseline"] = self.baseline
        self.begun = True
        (self.folder / FEED).unlink(missing_ok=True)
        return start(
            self.folder, settings={"JOBDIR": self.place.name}, domain=self.site.url(), probe="never", **arguments
        )

    def finish(self, **arguments: str) -> None:
        """Run the job to its end: the feed is the site, each record once, and nothing else is left."""
        done = self.start(**arguments).finish()
        assert done.code == FINISHED, done.log
        present = [record for record in done.of_type("url") if record.get("change") != "removed"]
        found = Counter((record["sitemap"], record["loc"]) for record in present)
        assert found == Counter((self.site.url(path), loc) for path, locs in self.files.items() for loc in locs)
        assert sorted(done.sitemaps) == sorted(map(self.site.url, [INDEX, *self.files]))
        assert done.summary["urls"] == len(done.of_type("url"))
        assert {path.name for path in self.place.iterdir()} == KEPT
        assert max(Counter(self.site.paths).values(), default=0) <= 1, "asked twice"
        self.finished = True

    def end(self, how: signal.Signals, requests: int) -> None:
        """Start the job, and end it after so many requests."""
        with self.start() as running:
            while running.process.poll() is None and len(self.site.exchanges) < requests:
                time.sleep(DELAY_S / 4)  # between two looks
            running.process.send_signal(how)
            code = running.process.wait()
            assert "Traceback" not in running.log, running.log
        self.site.settle()
        self.finished = code == FINISHED
        assert code in (FINISHED, STOPPED, -how)

    @precondition(lambda self: not self.finished)
    @rule(how=st.sampled_from((signal.SIGKILL, signal.SIGTERM)), requests=st.integers(0, 8))
    def disturb(self, how: signal.Signals, requests: int) -> None:
        self.end(how, requests)

    @precondition(lambda self: not self.finished)
    @rule()
    def run(self) -> None:
        self.finish()

    @precondition(lambda self: self.finished)
    @rule()
    def run_again(self) -> None:
        self.finish()
        assert self.site.paths == [], "a finished job asks for nothing"

    @precondition(lambda self: self.finished)
    @rule(files=pages)
    def begin_anew(self, files: dict[str, set[int]]) -> None:
        self.publish(files)
        self.finish(fresh="yes")

    @precondition(lambda self: self.finished)
    @rule(files=pages)
    def compare(self, files: dict[str, set[int]]) -> None:
        self.publish(files)
        self.baseline, self.job, self.finished = str(self.place), self.job + 1, False


def _slow(body: Route) -> Answering:
    answer = by_method(body, body)

    def wait(exchange: Exchange) -> None:
        time.sleep(DELAY_S)  # the server is slow
        answer(exchange)

    return wait


TestJobs = Jobs.TestCase
TestJobs.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=5,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
