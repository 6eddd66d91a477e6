"""Signals to a job while it starts, while it runs a rule on the whole site, and while it writes its feeds."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.crawl import forks, patched
from tests.crawl.crawling import FEED, LOG, SOON_S
from tests.crawl.job_kinds import Shop, log_of, patch, unpatch
from tests.crawl.job_site import PLAIN, JobSite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with JobSite() as site:
        yield Shop(site, tmp_path_factory)


# ---- signals where nothing is asked any more

SLOW_RULE = """
from dataclasses import replace
from pathlib import Path
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.registry import RULES

def slow(site):
    Path("slow").touch()
    yield from site.query("SELECT sum(hash(range)) FROM range(10000000000000)")

all_rules()
known = RULES["cross-duplicate-url"]
slow.__module__ = known.check.__module__
RULES[known.id] = replace(known, check=slow)
"""
SLOW_MARKS = """
from pathlib import Path
from sitemapcrawler.rules.judge import Judge

def slow(judge, site):
    Path("slow").touch()
    list(site.query("SELECT sum(hash(range)) FROM range(10000000000000)"))

Judge.mark_entries = slow
"""
ENDLESS_ROWS = """
from sitemapcrawler.jobs import job as jobs
from sitemapcrawler.jobs.store.database import Store

def endless(*args):
    while True:
        yield from tagged_lines(*args)

jobs.STOP_S, tagged_lines, Store.tagged_lines = 2.0, Store.tagged_lines, endless
"""
SLOW_ROWS = """
import time
from pathlib import Path
from sitemapcrawler.jobs import job as jobs

def slow(*args):
    for batch in url_batches(*args):
        Path("slow").touch()
        yield batch
        time.sleep(0.5)

jobs.STOP_S, url_batches, jobs.url_batches = 1.0, jobs.url_batches, slow
"""


@pytest.mark.parametrize(
    "slow",
    [SLOW_RULE, SLOW_MARKS],
    ids=["in a query", "marking entries"],
)
def test_stopped_in_a_rule_on_the_whole_site(shop: Shop, slow: str) -> None:
    expected, job = shop.undisturbed(), shop.job()
    patch(job, slow)
    with job.start() as running:
        running.wait_until((job.folder / "slow").exists)
        before = running.seconds
        running.process.send_signal(signal.SIGTERM)
        done = running.finish()
    assert done.seconds - before < SOON_S
    assert done.code == 3, done.log
    assert done.summary["partial"] == "shutdown"
    assert Counter(done.locs()) == Counter(expected.crawl.locs())
    unpatch(job)
    shop.site.forget()
    job.complete(expected)
    assert set(PLAIN).isdisjoint(exchange.path for exchange in shop.site.exchanges)


def test_stopped_while_a_finished_job_writes_its_feed(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.finished()
    (job.folder / FEED).write_text("earlier\n")
    patch(job, ENDLESS_ROWS)
    with job.start() as running:
        running.wait_until(lambda: any(part.stat().st_size for part in job.parts))
        before = running.seconds
        running.process.send_signal(signal.SIGTERM)
        done = running.finish()
    assert done.seconds - before < SOON_S
    assert done.code == 3, done.log
    assert done.summary["partial"] == "shutdown"
    assert set(done.locs()) == set(expected.crawl.locs())
    assert job.parts == []
    unpatch(job)
    job.complete(expected)


def test_stopped_while_a_finished_job_joins_language_versions(shop: Shop) -> None:
    job = shop.finished()
    patch(job, SLOW_ROWS)
    with job.start("-O", "alternates.csv") as running:
        running.wait_until((job.folder / "slow").exists)
        running.process.send_signal(signal.SIGTERM)
        done = running.finish()
    assert done.code == 3, done.log
    assert "not all records were written in time" in done.log
    assert "Traceback" not in done.log, done.log
    unpatch(job)
    job.complete(shop.undisturbed())


# ---- signals before the crawl runs

AT_IMPORT = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Deadly(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{name})

sys.meta_path.insert(0, Deadly())
"""
BEFORE_THE_ENGINE = {
    "making the crawler": ("scrapy.crawler", "Crawler._create_engine"),
    "opening the job": ("sitemapcrawler.jobs.job", "Job.begin"),
    "starting the reactor": ("twisted.internet.asyncioreactor", "AsyncioSelectorReactor.startRunning"),
    "before the crawl": ("scrapy.crawler", "AsyncCrawlerProcess.crawl"),
}
AT_CALL = """
import os, signal
from importlib import import_module

owner, method = {place!r}.split(".")
owner = getattr(import_module({module!r}), owner)

def stopped(*args, call=getattr(owner, method), **kwargs):
    os.kill(os.getpid(), signal.{name})
    return call(*args, **kwargs)

setattr(owner, method, stopped)
"""
TWICE = """
import os, signal

kill = os.kill
os.kill = lambda *what: (kill(*what), kill(*what))
"""


@pytest.mark.parametrize(
    ("module", "name"), [("twisted.internet.asyncioreactor", "SIGTERM"), ("sitemapcrawler.commands.crawl", "SIGTERM")]
)
def test_signal_during_imports_ends_in_a_line(shop: Shop, module: str, name: str) -> None:
    job, before = shop.job(), shop.site.connections
    patch(job, AT_IMPORT.format(module=module, name=name))
    with forks.fresh():
        log = log_of(running := job.start())
    assert running.process.returncode == -signal.Signals[name]
    assert log == "sitemapcrawler: stopped before the end\n"
    assert shop.site.connections == before
    assert {path.name for path in job.folder.iterdir()} <= {LOG, patched.CODE}


@pytest.mark.parametrize("moment", BEFORE_THE_ENGINE)
def test_signal_before_the_engine_runs_stops_in_order(shop: Shop, moment: str) -> None:
    job, (module, place) = shop.job(), BEFORE_THE_ENGINE[moment]
    patch(job, AT_CALL.format(module=module, place=place, name="SIGTERM"))
    done = job.run()
    assert done.code == 3, done.log
    assert "Traceback" not in done.log
    assert done.summary["partial"] == "shutdown"
    assert job.parts == []


def test_second_signal_before_the_engine_runs_ends_at_once(shop: Shop) -> None:
    job, (module, place) = shop.job(), BEFORE_THE_ENGINE["opening the job"]
    (job.folder / FEED).write_text("earlier\n")
    patch(job, AT_CALL.format(module=module, place=place, name="SIGTERM") + TWICE)
    log = log_of(running := job.start())
    assert running.process.returncode == 3, log
    assert "twice" in log
    assert "Traceback" not in log
    assert (job.folder / FEED).read_text() == "earlier\n"
    unpatch(job)
    job.complete(shop.undisturbed())
