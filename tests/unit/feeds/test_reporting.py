"""The report's place among feeds and settings, and gathering it from a job while there is time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from scrapy.settings import Settings

from sitemapcrawler import settings
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.feeds.folder import CONTENTS, FEEDS, FORMATS, NAMES, ON_DEMAND, PAGE, REPORT_FILES, SUMMARY, TABLES
from sitemapcrawler.feeds.reporting import add_feeds, audit_files, check_report, report_feeds
from sitemapcrawler.feeds.setup import prepare_feeds
from sitemapcrawler.items import FindingRecord, RobotsRecord, SummaryRecord, UrlRecord
from sitemapcrawler.jobs import gatherer
from sitemapcrawler.jobs import report as queries
from sitemapcrawler.jobs.committing import Committer
from sitemapcrawler.jobs.gatherer import Gatherer, Interrupter
from sitemapcrawler.jobs.recording import Recorder
from sitemapcrawler.jobs.store import Store, spool
from sitemapcrawler.reader.notes import Note, Notes
from sitemapcrawler.report.model import Report
from sitemapcrawler.rules.facts.site import SiteFacts

COUNT = "SELECT count(*) FROM urls"
FILE = "https://e.com/s.xml"
ENDLESS = "SELECT count(*) FROM range(10000000000) a, range(10000000000) b WHERE hash(a.range, b.range) = 1"
SLACK_S = 20
"""More than an interrupted query needs to end on a busy machine, and less than `ENDLESS` does."""


def chosen(**changed: Any) -> Settings:
    """The settings of this project, some of them changed as a command line does."""
    made = Settings()
    made.setmodule(settings, priority="project")
    made.update(changed, priority="cmdline")
    return made


# Settings


def test_report_has_a_feed_for_each_type_of_record_beside_those_of_the_user() -> None:
    made = chosen(FEEDS={"urls.csv": {"format": "csv", "overwrite": True}}, FEED_EXPORT_FIELDS=["loc"])
    add_feeds(made, "report", ON_DEMAND)
    feeds = made.getdict("FEEDS")
    assert list(feeds) == ["urls.csv", *(f"report:{name}" for name in report_feeds(made))]
    assert {SUMMARY, PAGE, CONTENTS, *report_feeds(made)} == NAMES - {*TABLES}
    for uri, options in feeds.items():
        if uri != "urls.csv":
            feed, _, format = uri.removeprefix("report:").partition(".")
            assert (options["format"], options["item_classes"], options["fields"]) == (format, [FEEDS[feed]], None)


@pytest.mark.parametrize(("package", "suffix"), [(True, "parquet"), (None, "jsonl")])
def test_audit_writes_tables_and_all_records_once(
    monkeypatch: pytest.MonkeyPatch, package: bool | None, suffix: str
) -> None:
    monkeypatch.setattr("sitemapcrawler.feeds.reporting.find_spec", lambda name: package)
    made = chosen()
    made.set(REPORT_FILES, audit_files(made))
    add_feeds(made, "report", ON_DEMAND)
    assert report_feeds(made) == [*TABLES, *(f"{feed}.{suffix}" for feed in FEEDS)]
    assert {*report_feeds(made)} < NAMES


def test_feeds_without_pyarrow_are_lines_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemapcrawler.feeds.reporting.find_spec", lambda name: None)
    made = chosen()
    add_feeds(made, "report", ON_DEMAND)
    assert report_feeds(made) == [f"{feed}.jsonl" for feed in FEEDS]


def test_format_that_is_switched_off_is_left_out() -> None:
    made = chosen(FEED_EXPORTERS={**settings.FEED_EXPORTERS, "parquet": None})
    add_feeds(made, "report", ON_DEMAND)
    assert report_feeds(made) == [f"{feed}.jsonl" for feed in FEEDS]


def test_only_a_crawl_that_reads_links_has_their_feed() -> None:
    made = chosen()
    add_feeds(made, "report")
    assert report_feeds(made) == [f"{feed}.{suffix}" for suffix in FORMATS for feed in FEEDS if feed not in ON_DEMAND]


def test_files_of_objects_may_be_missing() -> None:
    made = chosen()
    add_feeds(made, "report")
    empty = {uri for uri, options in made.getdict("FEEDS").items() if not options["store_empty"]}
    assert empty == {
        f"report:{feed}.{suffix}" for suffix in FORMATS for feed in ("images", "videos", "news", "alternates")
    }


def test_scheme_of_the_report_is_not_for_users() -> None:
    with pytest.raises(ValueError, match=r"^report:urls.jsonl cannot be written: no storage is known for report:$"):
        prepare_feeds(chosen(FEEDS={"report:urls.jsonl": {"overwrite": True}}))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"SITEMAP_STORE": False}, "needs the database; accepted: SITEMAP_STORE=True"),
        ({"SITEMAP_STORE": "0"}, "needs the database; accepted: SITEMAP_STORE=True"),
        ({"FEEDS": {"{}/urls.jsonl": {}}}, "the feed {}/urls.jsonl would be in that folder; accepted: another place for it"),
        ({"FEEDS": {"file://{}/deep/a.csv": {}}}, "the feed file://{}/deep/a.csv would be in that folder; accepted: another place for it"),
        ({"LOG_FILE": "{}/crawl.log"}, "the log {}/crawl.log would be in that folder; accepted: another LOG_FILE"),
        ({"LOG_FILE": "{}"}, "the log {} would be in that folder; accepted: another LOG_FILE"),
        ({"SITEMAP_JOBDIR": "{}"}, "the job would be in that folder; accepted: another JOBDIR"),
        ({"JOBDIR": "{}/job"}, "the job would be in that folder; accepted: another JOBDIR"),
    ],
)  # fmt: skip
def test_what_cannot_go_with_a_report_is_refused(tmp_path: Path, changed: dict[str, Any], problem: str) -> None:
    place = str(tmp_path / "report")
    params = Params.parse({"domain": "e.com", "report": place})
    placed = {name: put(value, place) for name, value in changed.items()}
    with pytest.raises(ValueError) as caught:
        check_report(chosen(**placed), params.report)
    assert str(caught.value) == f"argument report={place!r}: {problem.format(place)}"
    check_report(chosen(**placed), None)


def put(value: Any, place: str) -> Any:
    """A setting with the place of the report in it."""
    if isinstance(value, dict):
        return {uri.format(place): options for uri, options in value.items()}
    return value.format(place) if isinstance(value, str) else value


def test_places_beside_a_report_are_accepted(tmp_path: Path) -> None:
    params = Params.parse({"domain": "e.com", "report": f"{tmp_path}/jobs/report"})
    feeds = {f"{tmp_path}/jobs/reports.jsonl": {}, "stdout:": {}, "s3://bucket/jobs/report/x.jsonl": {}}
    check_report(chosen(FEEDS=feeds, JOBDIR=f"{tmp_path}/jobs", LOG_FILE=f"{tmp_path}/jobs/log"), params.report)


def test_report_is_no_different_argument_of_a_job(tmp_path: Path) -> None:
    one = Params.parse({"domain": "e.com", "report": str(tmp_path / "one")})
    assert one.asks_for() == Params.parse({"domain": "e.com"}).asks_for()
    assert one.as_dict() == {"domain": "e.com", "report": str(tmp_path / "one")}


# Gathering


class Crawl:
    """A crawl that has ended, with nothing committed: of each of `files` an entry, a finding and its record are known.

    `spools`: how many files hold them.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.crawler: Any = SimpleNamespace(signals=SimpleNamespace(connect=self._connect))
        self.stop = Stop.of(self.crawler)
        self.failures: list[str] = []
        self.files = 1
        self.spools = 0
        self._stopping: Any = None

    async def report(
        self,
        committed: bool = False,
        stop_after: float | None = None,
        facts: SiteFacts | None = None,
    ) -> Report | None:
        writer = Committer(self.store, 1, self.failures.append)
        records = Recorder(writer, None)
        made = Gatherer(self.crawler, writer, records, 1)
        try:
            await self._fill(records)
            if facts is not None:
                made.keep(facts)
            if committed:
                await writer.flush()
                self.store.set(state="finished")
            if stop_after is not None:
                asyncio.get_running_loop().call_later(stop_after, self._stop)
            return await made.gather(SummaryRecord(replies={"ok": 1}), ["GPTBot"], ["urls.jsonl"])
        finally:
            records.close()

    async def count(self) -> int | None:
        """The number of url records, by `Gatherer.ask`."""
        writer = Committer(self.store, 1, self.failures.append)
        records = Recorder(writer, None)
        try:
            await self._fill(records)
            counted = Gatherer(self.crawler, writer, records, 1).ask(lambda rows: rows.execute(COUNT).fetchone())
            return next(iter(await counted or ()), None)
        finally:
            records.close()

    async def _fill(self, records: Recorder) -> None:
        for file in (FILE, *(f"https://e.com/{number}.xml" for number in range(1, self.files))):
            entry = UrlRecord("https://e.com/1", sitemap=file, lastmod_at="2024-05-01T00:00:00Z")
            note = Note(entry, findings=[FindingRecord("loc-relative", "error", "it is", file)])
            await records.fresh(FreshBatch(file, [entry], Notes.table([note])))
            await records.file(SitemapEnd(file), complete=False)
        self.spools = len([*self.store.spools.iterdir()])
        records.last(RobotsRecord("https://e.com/robots.txt"))

    def _connect(self, receiver: Any, signal: object) -> None:
        self._stopping = receiver

    def _stop(self) -> None:
        self.stopped("shutdown", time.monotonic())
        self._stopping()

    def stopped(self, reason: str, hurried_at: float | None = None) -> None:
        """Have the crawl end early."""
        self.stop.reason, self.stop.hurried_at = reason, hurried_at


@pytest.fixture
def crawl() -> Iterator[Crawl]:
    store = Store.temporary()
    yield Crawl(store)
    store.close()


def test_what_a_stopped_crawl_has_not_committed_counts_and_stays_out_of_the_database(crawl: Crawl) -> None:
    made = asyncio.run(crawl.report())
    assert made is not None
    assert (made.months, made.robots_count, made.left_out) == ({"2024-05": 1}, 1, [])
    assert [(one.record.sitemap, one.errors) for one in made.files] == [(FILE, 1)]
    assert (made.judged_agents, made.feeds) == (["GPTBot"], ["urls.jsonl"])
    for table in ("urls", "sitemaps", "findings", "files", "robots"):
        assert crawl.store.execute(f"SELECT * FROM {table}") == []


def test_of_a_finished_job_only_the_database_counts(crawl: Crawl) -> None:
    made = asyncio.run(crawl.report(committed=True))
    assert made is not None
    assert (made.months, made.robots_count) == ({}, 0)


def test_rows_that_cannot_be_inserted_are_done_without(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl.store.execute("INSERT INTO urls (loc, lastmod_at) VALUES ('https://e.com/2', '2023-01-01T00:00:00Z')")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gatherer, "put_files", full)
    made = asyncio.run(crawl.report())
    assert made is not None
    assert (made.months, made.left_out, crawl.failures) == ({"2023-01": 1}, [], [])


def test_long_stopped_crawl_has_a_report_without_figures(crawl: Crawl) -> None:
    crawl.stopped("shutdown", 0.0)
    made = asyncio.run(crawl.report())
    assert made is not None
    assert {"files", "months", "languages"} < set(made.left_out)
    assert (made.files, made.summary) == ((), SummaryRecord(replies={"ok": 1}))


def test_many_files_that_are_to_be_read_again_take_few_descriptors(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", 10)
    crawl.files = 40
    made = asyncio.run(crawl.report())
    assert made is not None
    assert (made.months, len(made.files), made.left_out) == ({"2024-05": 40}, 40, [])
    assert {one.errors for one in made.files} == {1}
    assert crawl.spools <= 10


@pytest.mark.parametrize(("reason", "count"), [("max_urls", 1), ("max_time", 1), ("shutdown", None)])
def test_counts_are_of_all_records_or_unknown(crawl: Crawl, reason: str, count: int | None) -> None:
    crawl.stopped(reason, 0.0 if reason == "shutdown" else None)
    assert asyncio.run(crawl.count()) == count


@pytest.mark.parametrize("reason", ["max_urls", "max_time"])
def test_crawl_that_ended_at_a_limit_takes_its_time(crawl: Crawl, reason: str) -> None:
    crawl.stopped(reason)
    made = asyncio.run(crawl.report())
    assert made is not None
    assert (made.months, made.robots_count, made.left_out) == ({"2024-05": 1}, 1, [])


def test_crawl_that_is_stopped_while_it_ends_at_a_limit_is_in_a_hurry(crawl: Crawl) -> None:
    crawl.stopped("max_urls", time.monotonic() - gatherer.GATHER_S)
    made = asyncio.run(crawl.report())
    assert made is not None
    assert {"files", "months"} < set(made.left_out)


def stopped_report(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> Report:
    """The report on a crawl that is stopped while it gathers, which ends in time and leaves the database as it was."""
    monkeypatch.setattr(gatherer, "GATHER_S", 2.0)
    began = time.monotonic()
    made = asyncio.run(crawl.report(stop_after=0.1))
    assert time.monotonic() - began < SLACK_S
    assert made is not None
    assert crawl.store.execute("SELECT * FROM urls") == []
    return made


def test_stop_interrupts_inserting_though_its_first_call_comes_between_two_queries(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted, interrupt = Event(), Interrupter._interrupt

    def heard(self: Interrupter) -> None:
        interrupt(self)
        interrupted.set()

    def endless(store: Store, *_: object) -> None:
        interrupted.wait(SLACK_S)
        store.execute(ENDLESS)

    monkeypatch.setattr(Interrupter, "_interrupt", heard)
    monkeypatch.setattr(gatherer, "put_files", endless)
    assert {"files", "months", "languages"} < set(stopped_report(crawl, monkeypatch).left_out)
    assert crawl.failures == []


def test_tables_that_cannot_be_kept_for_the_report_do_not_cost_the_job(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: SiteFacts) -> dict[str, Any]:
        raise duckdb.OutOfMemoryException("no room")

    monkeypatch.setattr(gatherer, "languages", fails)
    facts: Any = SimpleNamespace(stopped=lambda: False)
    made = asyncio.run(crawl.report(facts=facts))
    assert made is not None
    assert made.left_out == []


def test_stop_interrupts_what_takes_too_long(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(site: SiteFacts) -> dict[str, Any]:
        return {"undated": list(site.query(ENDLESS))}

    monkeypatch.setattr(queries, "months", endless)
    made = stopped_report(crawl, monkeypatch)
    assert made.left_out == ["months", "urls", "changed", "languages", "entries"]
    assert len(made.files) == 1
