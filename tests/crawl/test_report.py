"""The argument `report`: a folder with the whole audit, whatever becomes of the crawl."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitemapcrawler.feeds.folder import CONTENTS, FEEDS, FORMATS, OF_EXTENSIONS, ON_DEMAND, PAGE
from sitemapcrawler.jobs import history
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.report.trend import trend
from tests.crawl.crawling import DEADLINE_S, FEED, Crawl
from tests.crawl.forks import environment
from tests.crawl.job_feeds import difference, rows
from tests.crawl.job_site import LISTED, PLAIN, JobSite
from tests.crawl.jobs import JOBDIR, Job, Moment
from tests.crawl.modelled import WITHIN
from tests.crawl.mounts import small
from tests.crawl.reports import FILES, Folder, languages
from tests.crawl.test_arguments import CRAWLER_PROCESS

REPORT = "out/report"
NOT_IN_ALL = {*ON_DEMAND, *OF_EXTENSIONS}
"""Feeds whose rows a feed of all records lacks."""
AUDIT = {"verify": "get", "report": REPORT}


@pytest.fixture(scope="module")
def shop() -> Iterator[JobSite]:
    with JobSite() as site:
        yield site


@pytest.fixture(scope="module")
def audited(shop: JobSite, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A finished job with a report beside a feed of all records; tests do not write to its folder."""
    job = Job(shop, tmp_path_factory.mktemp("audited"), AUDIT, within=WITHIN)
    done = job.run()
    assert done.code == 0, done.log
    return job


@pytest.fixture
def copy(audited: Job, tmp_path: Path) -> Job:
    """The same job, to go on with; the server counts anew."""
    shutil.copytree(audited.folder, tmp_path, dirs_exist_ok=True)
    audited.site.forget()
    return Job(audited.site, tmp_path, AUDIT, within=WITHIN)


def report(job: Job) -> Folder:
    return Folder(job.folder / REPORT)


def same_rows(folder: Folder, feed: Path) -> str:
    """How the rows of a report differ from those of a feed of all records; empty where they do not."""
    found = sum((rows(folder.path / f"{name}.jsonl") for name in FEEDS if name not in NOT_IN_ALL), Counter())
    summaries = Counter({row: number for row, number in rows(feed).items() if '"type": "summary"' in row})
    return difference(rows(feed) - summaries, found)


def test_report_agrees_with_itself_and_with_other_feeds(audited: Job) -> None:
    folder = report(audited)
    model = folder.check()
    assert not (told := same_rows(folder, audited.folder / FEED)), told
    assert folder.summary == json.loads((audited.folder / FEED).read_bytes().splitlines()[-1])
    assert model.summary.partial is None
    assert {"GPTBot", "Googlebot"} <= set(model.judged_agents)
    assert {status for status, number in model.statuses.items() if number} > {"200", "404"}
    reasons = [one.indexability for one in model.not_indexable]
    assert reasons == sorted(reasons, key=[*Indexability].index)
    assert {"not found", "redirect"} <= set(reasons)
    counted = {one.code: (one.links, one.unreturned) for one in model.languages}
    assert counted == {code: (links, unreturned) for code, links, unreturned in languages(folder.listed())}
    assert [one.unlisted for one in model.languages if one.code == "de"] == [8]


@pytest.mark.slow
def test_finished_job_writes_the_report_again_with_its_page(copy: Job) -> None:
    before = report(copy).model
    (copy.folder / REPORT / "urls.parquet").unlink()
    copy.within = ()
    done = copy.run()
    folder = report(copy)
    assert (done.code, copy.site.forget()) == (0, [])
    assert f"wrote {folder.path / PAGE}" in done.log
    assert "report:" not in done.log
    assert folder.names == FILES | {CONTENTS} | {f"{feed}.{format}" for feed in folder.of_objects for format in FORMATS}
    assert not (told := same_rows(folder, copy.folder / FEED)), told
    text = (folder.path / PAGE).read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert all(rule.rule in text for rule in before.rules)


@pytest.mark.slow
def test_report_shows_the_trend_of_a_job(copy: Job, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert len(report(copy).model.runs) == 1
    done = copy.run(fresh="yes")
    model = report(copy).model
    assert done.code == 0, done.log
    first, second = model.runs
    assert first.started <= second.started == model.summary.started
    assert (first.found, first.indexable, first.checkable) == (second.found, second.indexable, second.checkable)
    assert second.found == model.summary.severity_reach and second.partial is None
    assert model.summary.not_indexable is not None
    assert second.indexable == model.summary.not_indexable.checked - model.summary.not_indexable.bad
    found = trend(model)
    assert found is not None and [row.note for row in found.rows] == ["", ""]

    unverified = copy.run(fresh="yes", verify="off")
    third = report(copy).model.runs[-1]
    assert unverified.code == 0 and third.indexable is None
    assert len(history.read(copy.folder / JOBDIR)) == 3

    job = Job(copy.site, tmp_path_factory.mktemp("next"), AUDIT, within=WITHIN)
    done = job.run(baseline=copy.folder / JOBDIR)
    assert done.code == 0, done.log
    assert [run.started for run in report(job).model.runs[:-1]] == [first.started, second.started, third.started]
    assert len(history.read(job.folder / JOBDIR)) == 4, "a new job takes over the history of its baseline"


@pytest.mark.slow
def test_history_that_a_kill_has_lost_comes_back(copy: Job) -> None:
    file = copy.folder / JOBDIR / history.HISTORY
    [first] = history.read(file.parent)
    file.unlink()
    assert copy.run().code == 0, "the finished job adds its run"
    assert [run.started for run in history.read(file.parent)] == [first.started]


@pytest.mark.slow
def test_job_that_is_stopped_and_goes_on_has_a_report_each_time(shop: JobSite, audited: Job, tmp_path: Path) -> None:
    shop.forget()
    job = Job(shop, tmp_path, AUDIT, within=WITHIN)
    with job.start() as running:
        shop.wait_for_requests(60, lambda: running.process.poll() is None)
        running.process.send_signal(signal.SIGTERM)
        stopped = running.finish()
    assert stopped.code == 3, stopped.log
    assert history.read(tmp_path / JOBDIR) == [], "a stopped run is no finished run"
    model = report(job).check()
    assert model.summary.partial == "shutdown"
    assert model.summary.urls > 0
    assert not (told := same_rows(report(job), tmp_path / FEED)), told
    done = job.run()
    assert done.code == 0, done.log
    assert len(history.read(tmp_path / JOBDIR)) == 1
    model, expected = report(job).check(), report(audited).model
    assert model.summary.partial is None
    assert (model.months, model.statuses, model.languages) == (expected.months, expected.statuses, expected.languages)
    assert [one.rule for one in model.rules] == [one.rule for one in expected.rules]
    assert not (told := same_rows(report(job), tmp_path / FEED)), told


@pytest.mark.slow
def test_sample_of_single_records_that_is_stopped(shop: JobSite, tmp_path: Path) -> None:
    shop.forget()
    arguments = {**AUDIT, "verify": "head", "sample": 40}
    job = Job(shop, tmp_path, arguments, {"JOBDIR": "", "SITEMAP_ITEMS": "records"}, within=WITHIN)
    with job.start() as running:
        shop.wait_for_requests(35, lambda: running.process.poll() is None)
        shop.gate.clear()
        try:
            running.process.send_signal(signal.SIGTERM)
            running.wait_until(lambda: "SIGTERM" in running.log)
        finally:
            shop.gate.set()
        done = running.finish()
    model = report(job).check()
    assert done.code == 3, done.log
    assert model.summary.partial == "shutdown"
    assert model.summary.replies["stopped"] > 0
    assert not (told := same_rows(report(job), tmp_path / FEED)), told


@pytest.mark.slow
def test_killed_job_leaves_the_earlier_report_and_cleans_up_when_it_goes_on(copy: Job) -> None:
    earlier = contents(report(copy))
    shutil.rmtree(copy.folder / JOBDIR)
    assert copy.kill(Moment(40))
    left = contents(report(copy))
    assert {name: left[name] for name in earlier} == earlier
    assert len(left) > len(earlier)
    done = copy.run()
    assert done.code == 0, done.log
    assert report(copy).check().summary.partial is None


@pytest.mark.slow
def test_report_is_a_baseline(shop: JobSite, audited: Job, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(report(audited).path, before)
    path = before / "urls.jsonl"
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if b"/news.xml" not in line]
    path.write_bytes(b"".join(lines))
    (before / "urls.parquet").unlink()
    done = compare(shop, tmp_path, before)
    assert done.code == 0, done.log
    model = Folder(tmp_path / REPORT).check()
    assert model.summary.changes.added == len(LISTED["/news.xml"])
    done = compare(shop, tmp_path, tmp_path / REPORT, only="changes", select="none")
    assert done.code == 0, done.log
    assert Folder(tmp_path / REPORT).model == model, "the next crawl can be compared with it"
    beside = Folder(tmp_path / f"{REPORT}-incomplete")
    assert (beside.model.summary.only, beside.model.rules) == ("changes", [])
    assert beside.model.summary.changes.unchanged > 0
    assert {row["change"] for row in beside.rows("urls")} <= {"added", "changed", "removed"}
    refused = compare(shop, tmp_path, beside.path)
    assert refused.code == 2
    assert "is not complete (only=changes)" in refused.log
    assert Folder(tmp_path / REPORT).model == model


def compare(site: JobSite, folder: Path, baseline: Path, **arguments: str) -> Crawl:
    """A crawl that is compared with a report."""
    given = {"report": REPORT, "baseline": baseline, **arguments}
    return Job(site, folder, given, {"JOBDIR": ""}, within=WITHIN).run()


@pytest.mark.slow
def test_script_writes_a_report_where_nothing_is_judged(shop: JobSite, tmp_path: Path) -> None:
    arguments = (f"sitemap={shop.url(PLAIN[0])}", "select=none", "agents=none", "report=100%(time)s")
    settings = environment() | {"SCRAPY_SETTINGS_MODULE": "sitemapcrawler.settings"}
    command = [sys.executable, "-c", CRAWLER_PROCESS, *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=DEADLINE_S)
    folder = Folder(tmp_path / "100%(time)s")
    assert done.returncode == 0, done.stderr
    assert (folder.names, len(folder.rows("urls"))) == (FILES, len(LISTED[PLAIN[0]]))
    assert [row["outcome"] for row in folder.rows("sitemaps")] == ["ok"]
    assert folder.rows("findings") == []


@pytest.mark.slow
def test_full_disk_leaves_the_earlier_report(audited: Job, tmp_path: Path) -> None:
    job = Job(audited.site, tmp_path, {"report": "disk/report"}, {"JOBDIR": ""})
    (tmp_path / "disk").mkdir()
    with small(tmp_path / "disk", "4m") as disk:
        shutil.copytree(report(audited).path, disk.seen / "report")
        before = contents(Folder(disk.seen / "report"))
        disk.fill(60_000)
        job.within = disk.within(tmp_path)
        done = job.run()
        assert contents(Folder(disk.seen / "report")) == before
    assert done.code == 1, done.log
    [line] = [line for line in done.log.splitlines() if "ERROR" in line]
    assert "report is not written: No space left on device; the previous file is kept" in line


def contents(folder: Folder) -> dict[str, bytes]:
    """Every file of a report."""
    paths = (path for path in folder.path.rglob("*") if path.is_file())
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in paths}
