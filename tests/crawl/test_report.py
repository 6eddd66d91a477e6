"""The argument `report`: a folder with the whole audit, whatever becomes of the crawl."""

from __future__ import annotations

import json
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitemapcrawler.report.folder import FEEDS, NAMES, PAGE, SUMMARY
from tests.crawl.crawling import FEED, Crawl
from tests.crawl.job_feeds import difference, rows
from tests.crawl.job_site import JobSite
from tests.crawl.jobs import Job
from tests.crawl.modelled import WITHIN
from tests.crawl.reports import Folder, languages

REPORT = "out/report"
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
    found = sum((rows(folder.path / f"{name}.jsonl") for name in FEEDS), Counter())
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
    kinds = [one.reply.kind for one in model.bad if one.reply]
    assert kinds == sorted(kinds, key=lambda kind: kind == "redirected")
    assert {"http-error", "redirected"} == set(kinds)
    counted = {one.code: (one.links, one.unreturned) for one in model.languages}
    assert counted == {code: numbers for code, *numbers in map(tuple, languages(folder.listed()))} or counted
    assert [one.unlisted for one in model.languages if one.code == "de"] == [8]


def test_finished_job_writes_the_report_again_with_its_page(copy: Job) -> None:
    before = report(copy).model
    (copy.folder / REPORT / "urls.parquet").unlink()
    copy.within = ()
    done = copy.run()
    folder = report(copy)
    assert (done.code, copy.site.forget()) == (0, [])
    assert f"wrote {folder.path / PAGE}" in done.log
    assert "report:" not in done.log
    assert folder.names == NAMES
    assert not (told := same_rows(folder, copy.folder / FEED)), told
    text = (folder.path / PAGE).read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert all(rule.rule in text for rule in before.rules)


def test_job_that_is_stopped_and_goes_on_has_a_report_each_time(shop: JobSite, audited: Job, tmp_path: Path) -> None:
    shop.forget()
    job = Job(shop, tmp_path, AUDIT, within=WITHIN)
    with job.start() as running:
        shop.wait_for_requests(60, lambda: running.process.poll() is None)
        running.process.send_signal(signal.SIGTERM)
        stopped = running.finish()
    assert stopped.code == 3, stopped.log
    model = report(job).check()
    assert model.summary.partial == "shutdown"
    assert model.summary.urls > 0
    assert not (told := same_rows(report(job), tmp_path / FEED)), told
    done = job.run()
    assert done.code == 0, done.log
    model, expected = report(job).check(), report(audited).model
    assert model.summary.partial is None
    assert (model.months, model.statuses, model.languages) == (expected.months, expected.statuses, expected.languages)
    assert [one.rule for one in model.rules] == [one.rule for one in expected.rules]
    assert not (told := same_rows(report(job), tmp_path / FEED)), told


def test_report_is_a_baseline(shop: JobSite, audited: Job, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(report(audited).path, before)
    path = before / "urls.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[5:]))
    (before / "urls.parquet").unlink()
    done = compare(shop, tmp_path, before)
    assert done.code == 0, done.log
    model = Folder(tmp_path / REPORT).check()
    assert model.changes["added"] > 0
    summary = json.loads((before / SUMMARY).read_bytes())
    (before / SUMMARY).write_text(json.dumps({**summary, "partial": "max_time"}))
    refused = compare(shop, tmp_path, before)
    assert refused.code == 2
    assert "is not complete (max_time)" in refused.log


def compare(site: JobSite, folder: Path, baseline: Path) -> Crawl:
    """A crawl that is compared with a report."""
    return Job(site, folder, {"report": REPORT, "baseline": baseline}, {"JOBDIR": ""}, within=WITHIN).run()
