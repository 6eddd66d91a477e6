"""Jobs in which something fails: a commit, the database, code of ours or of the user; and settings that are refused."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from sitemapcrawler.settings import ITEM_PIPELINES
from tests.crawl.crawling import DEADLINE_S, FEED, Crawl, command, crawl, start
from tests.crawl.documents import CORE, DECLARATION
from tests.crawl.job_kinds import Shop, log_of, patch, unpatch
from tests.crawl.job_site import PLAIN, JobSite
from tests.crawl.jobs import DATABASE, JOBDIR
from tests.crawl.site_server import SiteServer

pytestmark = pytest.mark.slow

WIDE = ("/one.xml",)
SMALL_MEMORY = 100
"""MB for DuckDB, the least: a thousand wide rows do not fit."""
WIDE_PAGES, WIDE_LINKS = 1_200, 200


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with JobSite() as site:
        yield Shop(site, tmp_path_factory)


# ---- killed where it writes what it says of itself

DEADLY_SET = """
import json, os, signal, types
from sitemapcrawler.jobs.store import database

def deadly(value):
    deadly.left -= 1
    if not deadly.left:
        os.kill(os.getpid(), signal.SIGKILL)
    return json.dumps(value)

def set_and_die(store, **values):
    database.json = types.SimpleNamespace(loads=json.loads, dumps=deadly) if values.get("state") == "running" else json
    set_(store, **values)

deadly.left, set_, database.Store.set = 2, database.Store.set, set_and_die
"""


def test_killed_in_the_commit_that_begins_a_run(shop: Shop) -> None:
    job = shop.half_done()
    before = len(shop.site.exchanges)
    patch(job, DEADLY_SET)
    with job.start() as running:
        assert running.process.wait(DEADLINE_S) == -signal.SIGKILL, running.log
    assert len(shop.site.exchanges) == before
    unpatch(job)
    done = job.complete(shop.undisturbed())
    assert "resuming the job" in done.log
    assert 0 < len(shop.site.exchanges) - before < len(shop.undisturbed().asked)


# ---- wide rows


def wide(site: SiteServer, path: str) -> Iterator[bytes]:
    """A urlset whose entries are as long as they come."""
    yield f'{DECLARATION}<urlset {CORE} xmlns:x="http://www.w3.org/1999/xhtml">'.encode()
    link = '<x:link rel="alternate" hreflang="de" href="https://{}.example/{}"/>'.format
    for number in range(WIDE_PAGES):
        name = blake2b(f"{path} {number}".encode(), digest_size=8).hexdigest()
        links = "".join(link(name, other) for other in range(WIDE_LINKS))
        yield f"<url><loc>{site.url(f'{path}/{number}')}</loc>{links}</url>\n".encode()
    yield b"</urlset>"


def digests(path: Path) -> Counter[bytes]:
    """Lines of url records of a feed, as digests."""
    with path.open("rb") as lines:
        return Counter(blake2b(line).digest() for line in lines if b'"type":"url"' in line)


def changes_in(path: Path) -> Counter[str]:
    with path.open("rb") as lines:
        return Counter(json.loads(line)["change"] for line in lines if b'"type":"url"' in line)


def test_wide_rows_of_a_finished_job_and_of_a_baseline(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {path: b"".join(wide(site, path)) for path in WIDE}
    arguments = {"sitemap": ",".join(map(site.url, WIDE)), "select": "none"}
    settings = {"JOBDIR": JOBDIR, "SITEMAP_STORE_MEMORY": SMALL_MEMORY}

    def run(name: str, settings: dict[str, object], **more: object) -> int:
        running = start(tmp_path, "-O", name, settings=settings, **arguments, **more)
        log = log_of(running)
        assert "Traceback" not in log, log
        assert not [line for line in log.splitlines() if DATABASE in line or "Memory" in line], log
        return int(running.process.returncode)

    assert run("first.jsonl", {**settings}) == 0
    asked = len(site.exchanges)
    assert run("again.jsonl", {**settings}) == 0
    assert len(site.exchanges) == asked
    first = digests(tmp_path / "first.jsonl")
    assert len(first) == first.total() == len(WIDE) * WIDE_PAGES
    assert digests(tmp_path / "again.jsonl") == first
    site.routes = {path: body + b"\n" for path, body in site.routes.items() if isinstance(body, bytes)}
    assert run("changes.jsonl", {"SITEMAP_STORE_MEMORY": SMALL_MEMORY}, baseline=JOBDIR) == 0
    assert changes_in(tmp_path / "changes.jsonl") == {"unchanged": len(WIDE) * WIDE_PAGES}


# ---- a database that cannot be read back

UNREADABLE = """
import duckdb
from sitemapcrawler.jobs.store.database import Store

def broken(method):
    def rows(*args, **kwargs):
        for number, part in enumerate(method(*args, **kwargs)):
            if number == {after}:
                raise duckdb.IOException("IO Error: Could not read from file")
            yield part[:3]
        raise duckdb.IOException("IO Error: Could not read from file")
    return rows

Store.{method} = broken(Store.{method})
"""
UNREAD = {"urls after some": ("tagged_lines", 1), "files": ("lines", 1)}


@pytest.mark.parametrize(("finished", "what"), [(True, "files"), (False, "urls after some")])
def test_records_that_cannot_be_read_back_leave_the_earlier_feed(shop: Shop, finished: bool, what: str) -> None:
    job, (method, after) = shop.finished() if finished else shop.half_done(), UNREAD[what]
    (job.folder / FEED).write_text("earlier\n")
    patch(job, UNREADABLE.format(method=method, after=after))
    log = log_of(running := job.start())
    assert running.process.returncode == 1, log
    assert "Traceback" not in log, log
    assert (job.folder / FEED).read_text() == "earlier\n"
    assert job.parts == []
    [line] = [line for line in log.splitlines() if DATABASE in line]
    assert "cannot be read" in line
    unpatch(job)
    job.complete(shop.undisturbed())


# ---- an error before the last records

TORN_END = """
from sitemapcrawler.jobs.job import Job

def no_memory(self):
    raise MemoryError

Job.urls = no_memory
"""


def test_error_before_the_last_records_leaves_the_earlier_feed(shop: Shop) -> None:
    job = shop.job()
    (job.folder / FEED).write_text("earlier\n")
    patch(job, TORN_END)
    log = log_of(running := job.start())
    assert running.process.returncode == 1, log
    assert (job.folder / FEED).read_text() == "earlier\n"
    assert "was not written: an error left records out; the previous file is kept" in log
    assert job.parts == []
    unpatch(job)
    job.complete(shop.undisturbed())


# ---- killed where a finished job writes its feed

DEADLY_STORE = """
import os, signal
from sitemapcrawler.feeds.storages import AtomicFileStorage

AtomicFileStorage.store = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_while_the_feed_of_a_finished_job_is_written(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.finished()
    patch(job, DEADLY_STORE)
    for left in (1, 1):  # the second run removes what the first has left, and leaves its own
        with job.start() as running:
            assert running.process.wait(DEADLINE_S) == -signal.SIGKILL, running.log
        assert len(job.parts) == left
    unpatch(job)
    job.complete(expected)
    assert job.parts == []


# ---- a pipeline of the user's

PIPELINE = """
from scrapy.exceptions import DropItem
from sitemapcrawler.items import UrlBatch

class Changing:
    def process_item(self, item):
        if getattr(item, "outcome", None) == "failed":
            raise DropItem("not wanted")
        if isinstance(item, UrlBatch):
            if item.sitemap.endswith("/list.txt"):
                raise DropItem("not wanted")
            kept = [record for record in item.urls if "/gone/" not in record.loc]
            if item.sitemap.endswith("/plain-1.xml"):
                item.urls = kept
            else:
                item.urls[:] = kept
            for record in item.urls:
                record.changefreq, record.lastmod = "never", f"of {record.loc}"
        return item
"""
PIPELINES = {"ITEM_PIPELINES": json.dumps({**ITEM_PIPELINES, "changing.Changing": 500}), "LOG_LEVEL": "ERROR"}


def test_pipeline_of_the_user_has_the_last_word(shop: Shop) -> None:
    whole = shop.undisturbed().crawl
    job = shop.job()
    job.settings = PIPELINES
    (job.folder / "changing.py").write_text(PIPELINE)
    live = job.undisturbed()
    kept = [
        one["loc"]
        for one in whole.of_type("url")
        if "/gone/" not in one["loc"] and not one["sitemap"].endswith("/list.txt")
    ]
    assert 0 < len(kept) < len(whole.locs())
    urls = live.crawl.of_type("url")
    assert sorted(record["loc"] for record in urls) == sorted(kept)
    assert {record["changefreq"] for record in urls} == {"never"}
    assert all(record["lastmod"] == f"of {record['loc']}" for record in urls)
    assert {record["outcome"] for record in live.crawl.of_type("sitemap")} == {"ok", "recovered"}
    assert job.kill_settled(live.moment(0.7))
    for run in ("resumed", "finished"):
        done = job.run()
        assert done.code == 0
        assert left_by_the_pipeline(done) == left_by_the_pipeline(live.crawl)
        assert done.summary["urls"] == len(whole.locs()), run  # counted in the database, which is before the pipeline
    temporary = crawl(job.folder, settings=PIPELINES, domain=shop.site.url())
    assert left_by_the_pipeline(temporary) == left_by_the_pipeline(live.crawl)


def left_by_the_pipeline(done: Crawl) -> Counter[str]:
    """Url and sitemap records of a feed, as text; findings ride on them at first, and are items of their own later."""
    found = [*done.of_type("url"), *done.of_type("sitemap")]
    return Counter(json.dumps(record, sort_keys=True) for record in found)


# ---- a sample, record by record


def test_sample_of_single_records(shop: Shop) -> None:
    kind = "sample of 20 by records"
    expected, job = shop.undisturbed(kind), shop.job(kind)
    assert job.kill(expected.moment(0.8))
    job.complete(expected)
    shop.site.forget()
    job.complete(expected)
    assert shop.site.exchanges == []
    verified = [record for record in expected.crawl.of_type("url") if record["reply"]["kind"] != "unchecked"]
    assert len(expected.crawl.of_type("url")) > len(verified) >= 20


# ---- code of ours that fails

FAILING = {
    "a callback, after some rows": """
from sitemapcrawler.crawl.reading import Reading

def failing(self, visit, answer):
    for number, item in enumerate(read(self, visit, answer)):
        if visit.url.endswith("/plain-2.xml") and number:
            raise RuntimeError("what nobody expected")
        yield item

read, Reading.read = Reading.read, failing
""",
    "a later pipeline": """
from sitemapcrawler.items import UrlBatch
from sitemapcrawler.pipelines.summary import SummaryPipeline

def failing(self, item):
    if isinstance(item, UrlBatch) and item.sitemap.endswith("/plain-2.xml"):
        raise RuntimeError("what nobody expected")
    return process(self, item)

process, SummaryPipeline.process_item = SummaryPipeline.process_item, failing
""",
}


@pytest.mark.parametrize("where", FAILING)
def test_file_in_which_our_code_failed_is_read_again(shop: Shop, where: str) -> None:
    expected, job = shop.undisturbed(), shop.job()
    patch(job, FAILING[where])
    log = log_of(running := job.start())
    assert running.process.returncode == 3, log
    assert "what nobody expected" in log
    assert PLAIN[1] in {exchange.path for exchange in shop.site.forget()}
    unpatch(job)
    done = job.complete(expected)
    assert "resuming the job" in done.log
    assert PLAIN[1] in {exchange.path for exchange in shop.site.forget()}


# ---- settings that cannot be

REFUSED: dict[str, tuple[dict[str, object], dict[str, object], str]] = {
    "nothing to begin anew": ({}, {"fresh": "yes"}, "fresh"),
    "no truth value": ({"SITEMAP_STORE": "nein"}, {}, "SITEMAP_STORE"),
    "no memory": ({"SITEMAP_STORE_MEMORY": 0}, {}, "SITEMAP_STORE_MEMORY"),
    "a question mark": ({"JOBDIR": "jobs/what?"}, {}, "JOBDIR"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_settings_that_cannot_be_are_refused_in_one_line(shop: Shop, refusal: Callable[..., str], what: str) -> None:
    settings, arguments, says = REFUSED[what]
    before = shop.site.connections
    assert says in refusal(*command(settings=settings, domain=shop.site.url(), **arguments)[3:])
    assert shop.site.connections == before
