"""What a job is: one database, one process at a time, one set of arguments; and what is refused without harm."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.crawl.crawling import FEED, LOG, Crawl, command, crawl
from tests.crawl.documents import urlset
from tests.crawl.job_site import MISSING, PLAIN, JobSite
from tests.crawl.jobs import DATABASE, FEEDS, JOBDIR, KEPT, VERIFIED, Job, Moment, Undisturbed
from tests.crawl.mounts import read_only, without_overrides
from tests.crawl.site_server import SiteServer

Refused = Callable[..., str]


@pytest.fixture(scope="module")
def shop() -> Iterator[JobSite]:
    with JobSite() as site:
        yield site


@pytest.fixture(scope="module")
def known(shop: JobSite, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The job, once and undisturbed, with feeds of every format."""
    return Job(shop, tmp_path_factory.mktemp("known"), feeds=FEEDS).undisturbed()


@pytest.fixture(scope="module")
def finished(shop: JobSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a crawl whose job is finished; tests work on copies."""
    folder = tmp_path_factory.mktemp("finished")
    assert Job(shop, folder).run().code == 0
    return folder


@pytest.fixture
def job(shop: JobSite, finished: Path, tmp_path: Path) -> Job:
    """A finished job of the test's own."""
    shutil.copytree(finished / JOBDIR, tmp_path / JOBDIR)
    shop.forget()
    return Job(shop, tmp_path)


@pytest.fixture
def refused(refusal: Callable[..., str]) -> Callable[..., str]:
    """Runs the command of a job that must be refused, and returns its only line: no request is made, and nothing is
    changed."""

    def run(job: Job, settings: Mapping[str, object] | None = None, **more: Any) -> str:
        before, connections = contents(job.folder), job.site.connections
        if job.within:
            done = job.run(settings=settings, **more)
            assert (done.code, done.output) == (2, "")
            [line] = done.log.splitlines()
        else:
            arguments = {"domain": job.site.url(), **job.arguments, **more}
            line = refusal(*command(settings={"JOBDIR": JOBDIR, **(settings or {})}, **arguments)[3:])
        assert job.site.connections == connections
        assert contents(job.folder) == before
        return line

    return run


def contents(folder: Path) -> dict[str, bytes | None]:
    """All files of a folder, the log left out; None for folders."""
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.name != LOG}
    return {name: None if path.is_dir() else path.read_bytes() for name, path in paths.items()}


# ---- the folder


def test_folder_holds_the_database_and_its_history(job: Job) -> None:
    assert job.left == KEPT


def test_database_can_be_queried(job: Job) -> None:
    with duckdb.connect(job.database, read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM sitemaps").fetchall() == [(15,)]
        counted = connection.execute("SELECT count(*), count(DISTINCT loc), count(reply.kind) FROM urls").fetchone()
    assert counted is not None
    assert counted[0] > counted[1] > 100
    assert counted[2] == counted[0]


def test_crawl_without_a_job_leaves_no_database(shop: JobSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    assert crawl(tmp_path, sitemap=shop.url(PLAIN[0])).code == 0
    assert {path.name for path in tmp_path.iterdir()} == {FEED, LOG, "temporary"}
    assert list(temporary.iterdir()) == []


def test_crawl_without_a_database(shop: JobSite, tmp_path: Path) -> None:
    done = crawl(tmp_path, sitemap=shop.url(PLAIN[0]), settings={"SITEMAP_STORE": "False"})
    assert done.code == 0
    assert {path.name for path in tmp_path.iterdir()} == {FEED, LOG}


# ---- a finished job


def test_job_without_a_database_is_refused(shop: JobSite, refused: Refused, tmp_path: Path) -> None:
    line = refused(Job(shop, tmp_path), settings={"SITEMAP_STORE": "False"})
    assert "SITEMAP_STORE" in line
    assert "JOBDIR" in line


def test_finished_job_asks_for_nothing_and_writes_feeds_that_were_not_asked_for_before(
    job: Job, known: Undisturbed
) -> None:
    connections = job.site.connections
    job.feeds = FEEDS
    (job.folder / FEED).write_text("earlier\n" * 100_000)
    done = job.complete(known)
    assert job.site.connections == connections
    assert re.search(r"finished.*fresh=yes", done.log)
    assert done.summary["started"]


def test_finished_job_that_read_nothing_starts_over(site: SiteServer, tmp_path: Path) -> None:
    def run() -> Crawl:
        return crawl(tmp_path, sitemap=site.url(MISSING), settings={"JOBDIR": JOBDIR})

    first = run()
    site.routes[MISSING] = urlset(site.url("/a"))
    again, asked = run(), len(site.exchanges)
    assert (first.code, again.code, run().code) == (4, 0, 0)
    assert [record["loc"] for record in again.of_type("url")] == [site.url("/a")]
    assert len(site.exchanges) == asked


# ---- fresh


@pytest.mark.slow
def test_fresh_starts_over(job: Job, known: Undisturbed) -> None:
    done = job.run(fresh="yes")
    assert done.code == 0
    assert not (told := job.differences(known.rows)), told
    assert sorted(exchange.path for exchange in job.site.exchanges) == sorted(known.asked)
    assert job.left == KEPT
    job.site.forget()
    job.complete(known)
    assert job.site.exchanges == []


@pytest.mark.slow
def test_fresh_takes_other_arguments_and_forgets_an_unfinished_job(
    shop: JobSite, known: Undisturbed, tmp_path: Path
) -> None:
    job = Job(shop, tmp_path)
    assert job.kill(known.moment(0.6))
    shop.forget()
    done = job.run(fresh="yes", verify="off")
    assert done.code == 0
    assert len(done.of_type("url")) == len(known.crawl.of_type("url"))
    assert all("reply" not in record for record in done.of_type("url"))
    assert "/robots.txt" in [exchange.path for exchange in shop.exchanges]
    assert job.left == KEPT


# ---- other arguments

OTHERS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "another value": ({"verify": "head"}, ("verify", "get", "head")),
    "another site": ({"domain": "http://other.example"}, ("domain", "http://127.0.0.1", "http://other.example")),
}
"""Arguments besides those of the job, and what the line says."""


@pytest.mark.parametrize("name", OTHERS)
def test_other_arguments_are_refused(job: Job, refused: Refused, name: str) -> None:
    more, says = OTHERS[name]
    line = refused(job, **more)
    assert all(word in line for word in says), line
    assert "fresh=yes" in line


@pytest.mark.slow
def test_other_arguments_of_an_unfinished_job_are_refused(shop: JobSite, known: Undisturbed, tmp_path: Path) -> None:
    job = Job(shop, tmp_path)
    assert job.kill(known.moment(0.5))
    for part in job.parts:
        shutil.rmtree(part)
    shop.forget()
    before = {name for name in contents(tmp_path) if not name.endswith(".wal")}
    done = job.run(verify="head")
    assert done.code == 2
    assert len(done.log.splitlines()) == 1
    assert shop.exchanges == []
    assert {name for name in contents(tmp_path) if not name.endswith(".wal")} == before
    job.complete(known)


def test_same_arguments_in_other_words_are_not_refused(job: Job, known: Undisturbed) -> None:
    same: dict[str, Any] = {"domain": f"{job.site.url()}/", "seed": "0", "probe": "auto"}
    of_this_run: dict[str, Any] = {"max_time": "600", "_job": "1", "fresh": "no"}
    assert job.run(**same, **of_this_run).code == 0
    assert not (told := job.differences(known.rows)), told
    assert job.site.exchanges == []


# ---- two processes


@pytest.mark.slow
def test_job_in_use_is_refused(shop: JobSite, known: Undisturbed, tmp_path: Path) -> None:
    shop.forget()
    job, second = Job(shop, tmp_path), tmp_path / "second"
    second.mkdir()
    with job.start() as running:
        job.wait(running, Moment(len(known.asked) // 4))
        shop.gate.clear()
        settings = {"JOBDIR": str(tmp_path / JOBDIR)}
        refusals = {
            fresh: crawl(second, settings=settings, domain=shop.url(), **VERIFIED, fresh=fresh)
            for fresh in ("no", "yes")
        }
        shop.gate.set()
        first = running.finish()
    told_in = {fresh: (done.code, len(done.log.splitlines()), "in use" in done.log) for fresh, done in refusals.items()}
    assert told_in == {"no": (2, 1, True), "yes": (2, 1, True)}
    assert {path.name for path in second.iterdir()} == {LOG}
    assert first.code == 0
    assert not (told := job.differences(known.rows)), told
    assert job.left == KEPT


# ---- databases that cannot be used


def of_another_version(path: Path) -> None:
    with duckdb.connect(path) as connection:
        [(rows,)] = connection.execute("UPDATE job SET value = '99' WHERE name = 'version'").fetchall()
        assert rows == 1


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.9)])


def written(data: bytes) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_bytes(data)

    return change


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


UNUSABLE: dict[str, tuple[Callable[[Path], None], str]] = {
    "another version": (of_another_version, "version"),
    "cut at the end": (cut, ""),
}
"""What is done to the database, and what the line says besides its name."""


@pytest.mark.parametrize("what", UNUSABLE)
def test_database_that_cannot_be_used_is_kept(job: Job, refused: Refused, what: str) -> None:
    change, says = UNUSABLE[what]
    change(job.database)
    line = refused(job)
    assert DATABASE in line
    assert says in line


def test_jobdir_that_is_a_file_is_refused(shop: JobSite, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / JOBDIR).write_text("mine")
    assert JOBDIR in refused(Job(shop, tmp_path))


# ---- what cannot be written


def test_read_only_file_system_is_refused(job: Job, refused: Refused) -> None:
    with read_only(job.folder / "jobs") as mounted:
        job.within = mounted.within(job.folder)
        assert JOBDIR in refused(job, fresh="yes")


def test_new_job_on_a_read_only_file_system_is_refused(shop: JobSite, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    with read_only(tmp_path / "jobs") as mounted:
        assert JOBDIR in refused(Job(shop, tmp_path, within=mounted.within(tmp_path)))


def test_new_job_in_a_folder_that_cannot_be_written_is_refused(shop: JobSite, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir(mode=0o555)
    assert JOBDIR in refused(Job(shop, tmp_path, within=without_overrides()))
