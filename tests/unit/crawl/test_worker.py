"""A worker process finds what the crawl's own process finds: the same records, findings, counts and verdicts."""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec
import pytest
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from sitemapcrawler import settings as ours
from sitemapcrawler.crawl import configuring
from sitemapcrawler.crawl.children import Children
from sitemapcrawler.crawl.configuring import choose, limits, new_workers, worker_count
from sitemapcrawler.crawl.frontier import Frontier, Selection, Visit
from sitemapcrawler.crawl.judging import Judging
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.reading import Reading
from sitemapcrawler.crawl.scrapy_cloud import THEIR_STORAGE
from sitemapcrawler.crawl.verdicts import Verdicts
from sitemapcrawler.crawl.worker import FAILED, LEFT, READ, AskedHosts, Batch, End, Link, Setup, Task, Worker
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.policies import own_agent
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.items import records
from sitemapcrawler.reader.formats import FORMATS
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.robots import Policy
from sitemapcrawler.robots.agents import agent
from sitemapcrawler.rules import Rule
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import RULES
from tests.crawl.documents import entry, index, urlset

LARGEST = "19-urlset.xml.gz"
"""Takes two seconds, and is like the others."""
REAL = [path for path in sorted((Path(__file__).parents[4] / "shared/real").glob("[0-9]*")) if path.name != LARGEST]
URL = "https://museum.example/sitemap.xml"
ROBOTS = b"User-agent: *\nDisallow: /private\n\nUser-agent: GPTBot\nDisallow: /\n"
ORIGIN = "https://museum.example"
LISTED = [f"{ORIGIN}/{number}" for number in range(250)]
PAGES = urlset(*LISTED)
BATCH = 100
"""Entries of a batch, of which there are 1,000 in a crawl."""

EMPTY: tuple[object, ...] = (None, [], {}, ())


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemapcrawler.crawl.reading.BATCH_SIZE", BATCH)


class Told(Link):
    """Stands for the connection of a worker: knows one robots.txt, and keeps what is sent."""

    def __init__(self, ends: bool = False) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self.ends = ends

    def send(self, *message: object) -> None:
        self.sent.append(message)

    def receive(self) -> object:
        kind, *_, origins = self.sent[-1]
        assert kind == "hosts"
        known = {ORIGIN: Policy.from_response(f"{ORIGIN}/robots.txt", 200, ROBOTS)}
        return pickle.loads(pickle.dumps({origin: (known.get(origin), False) for origin in origins}))

    def begun(self) -> bool:
        return self.ends


def settings_of(**chosen: object) -> Settings:
    settings = Settings()
    settings.setmodule(ours)
    settings.setdict(chosen)
    return settings


def setup_of(**arguments: object) -> Setup:
    settings, params = settings_of(), Params.parse({"domain": "museum.example", **arguments})
    choice = choose(settings, params)
    return Setup(params, choice, 100, limits(settings), own_agent(settings), logging.INFO)


def answer(body: bytes | None) -> FetchResult:
    collected = Body()
    if body is not None:
        collected.restart()
        collected.write(body)
    return FetchResult(URL, URL, collected, 200)


def by_worker(body: bytes, setup: Setup, link: Told | None = None) -> tuple[str, list[Batch | End]]:
    """The outcome and the results of a worker that reads a file, all of which have passed through pickles."""
    task = Task(Visit(URL, "robots"), answer(None), b"digest", {})
    setup, task = pickle.loads(pickle.dumps((replace(setup, choice=replace(setup.choice, all_rules=())), task)))
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as results:
        file.write(body)
        file.flush()
        outcome = asyncio.run(Worker(link or Told(), setup).read(task, file, results))
        results.seek(0)
        return outcome, list(loaded(results))


def loaded(results: Any) -> Iterator[Batch | End]:
    while True:
        try:
            yield pickle.load(results)
        except EOFError:
            return


async def by_crawl(body: bytes, setup: Setup) -> tuple[list[Any], SitemapEnd | None, Verdicts]:
    """Rows, the end of the file and the verdicts of a crawl with one process."""
    params, judge = setup.params, Judge(setup.choice, setup.per_rule)
    link = Told()
    hosts = AskedHosts(link)
    verdicts = Verdicts(hosts, params.judged_agents, setup.own, judge)
    judging = Judging(judge, hosts, verdicts, not params.verify_assets)
    frontier = Frontier(100, 5, 1, 1)
    reading = Reading(
        Selection(params), frontier, setup.limits, Stop(get_crawler()), Children(frontier),
        judging=params.judges, every_child=setup.choice.sees_every_child, hosts=hosts,
    )  # fmt: skip
    rows: list[Any] = []
    end: SitemapEnd | None = None
    whole = answer(body)
    for item in reading.read(Visit(URL, "robots"), whole):
        if isinstance(item, FreshBatch):
            await judging.structure(item)
            await judging.robots(item)
            rows += records(item)
        elif isinstance(item, SitemapEnd):
            await judging.structure(item)
            end = item
    whole.body.close()
    return rows, end, verdicts


def encoded(rows: list[Any]) -> list[Any]:
    return [msgspec.to_builtins(row, enc_hook=str) for row in rows]


def rows_of(results: list[Batch | End]) -> list[Any]:
    rows: list[Any] = []
    for part in results:
        if isinstance(part, Batch) and part.records is None:
            assert part.lines.count(b"\n") == part.count
            rows += [msgspec.json.decode(line) for line in part.lines.splitlines()]
        elif isinstance(part, Batch):
            table = Notes.table(part.notes)
            rows += encoded([row for one in part.records or () for row in (one, *table.findings([one]))])
    return [filled(row) for row in rows]


def filled(row: dict[str, Any]) -> dict[str, Any]:
    """A row without empty fields, which lines leave out."""
    kept = {
        name: value
        for name, value in row.items()
        if value not in EMPTY or (name == "blocked_for" and value is not None)
    }
    return {name: _filled(value) for name, value in kept.items()}


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _filled(part) for name, part in value.items() if part not in EMPTY}
    return [_filled(part) for part in value] if isinstance(value, (list, tuple)) else value


def same(body: bytes, **arguments: object) -> list[Batch | End]:
    """Read a file in both ways, compare everything, and return the results of the worker."""
    setup = setup_of(**arguments)
    outcome, results = by_worker(body, setup)
    rows, end, verdicts = asyncio.run(by_crawl(body, setup))
    if outcome == LEFT:
        assert end is not None and end.format == "xml-index"
        return results
    assert outcome == READ
    assert rows_of(results) == [filled(row) for row in encoded(rows)]
    [last] = [part for part in results if isinstance(part, End)]
    assert end is not None and results[-1] is last
    assert encoded([last.record]) == encoded([end])
    assert encoded(last.record.findings) == encoded(end.findings)
    assert last.record.result.tally == end.result.tally
    counted = Verdicts(AskedHosts(Told()), verdicts.agents, setup.own, Judge(setup.choice, 100))
    counted._policies.at(ORIGIN)
    counted.count(told for part in results if isinstance(part, Batch) for told in part.judged)
    assert (counted.blocked, last.skipped) == (verdicts.blocked, verdicts.skipped)
    return results


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_file_is_read_the_same(path: Path) -> None:
    same(path.read_bytes())


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"select": "none"},
        {"agents": "none"},
        {"include": "1"},
        {"findings": "all"},
        {"select": "none", "agents": "none"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "body",
    [
        PAGES,
        PAGES.replace(b"</loc>", b"</loc><lastmod>yesterday</lastmod>"),
        PAGES[: len(PAGES) // 2],
        PAGES.replace(b"/7", b"/private/7"),
        PAGES.replace(b"museum.example/9", b"elsewhere.example/9"),
        PAGES.replace(b"/8", b"/&8", 10),
        "\n".join(LISTED).encode(),
        b"<!doctype html><title>A page</title>",
        b"",
    ],
    ids=["plain", "dates", "cut", "blocked", "elsewhere", "broken", "text", "page", "empty"],
)
def test_file_is_read_the_same(body: bytes, arguments: dict[str, str]) -> None:
    same(body, **arguments)


def test_entries_without_findings_come_as_lines() -> None:
    parts = [part for part in same(PAGES) if isinstance(part, Batch)]
    assert [part.count for part in parts] == [100, 100, 50]
    assert all(part.records is None for part in parts)


def test_index_is_left_to_the_crawl() -> None:
    assert by_worker(index(*LISTED), setup_of())[0] == LEFT


def test_full_disk_leaves_the_file_to_the_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemapcrawler.crawl.reading.BATCH_SIZE", 1_000)  # more than buffers hold
    full = Path("/dev/full").open("wb")  # noqa: SIM115  # it cannot be closed without an error
    with tempfile.TemporaryFile() as file:
        file.write(urlset(*(f"{ORIGIN}/{number}" for number in range(1_000))))
        file.flush()
        task = Task(Visit(URL, "robots"), answer(None), b"", {})
        assert asyncio.run(Worker(Told(), setup_of()).read(task, file, full)) == FAILED
    with pytest.raises(OSError, match="No space"):
        full.close()


def test_stop_ends_the_file_and_keeps_what_was_read() -> None:
    outcome, results = by_worker(PAGES + b" " * 10**6, setup_of(), Told(ends=True))
    assert outcome == READ
    end = results[-1]
    assert isinstance(end, End)
    assert (end.record.outcome, end.record.error) == ("truncated", "the crawl was stopped")


def test_counts_of_one_file_are_not_those_of_the_next() -> None:
    """A worker judges many files with one judge."""
    body = urlset(f"{ORIGIN}/a", f"{ORIGIN}/a#b")
    worker = Worker(Told(), setup_of())
    tallies = []
    for _ in range(2):
        with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as results:
            file.write(body)
            file.flush()
            assert asyncio.run(worker.read(Task(Visit(URL, "robots"), answer(None), b"", {}), file, results)) == READ
            results.seek(0)
            tallies += [part.record.result.tally for part in loaded(results) if isinstance(part, End)]
    assert tallies[0] == tallies[1]
    assert tallies[0].found.counts["loc-fragment"] == 1


@pytest.mark.parametrize(("given", "number"), [(0, 0), ("0", 0), (3, 3), ("12", 12)])
def test_number_of_workers_is_that_of_the_setting(given: object, number: int) -> None:
    assert worker_count(settings_of(SITEMAP_WORKERS=given)) == number


@pytest.mark.parametrize(
    ("cores", "quota", "number"),
    [
        (1, None, 0),
        (2, None, 2),
        (8, None, 4),
        (8, "max 100000", 4),
        (8, "300000 100000", 3),
        (8, "150000 100000", 0),
        (8, "50000 100000", 0),
        (2, "800000 100000", 2),
    ],
)
def test_number_of_workers_follows_the_cores(
    cores: int, quota: str | None, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr(configuring, "QUOTA", tmp_path / "cpu.max")
    if quota is not None:
        configuring.QUOTA.write_text(f"{quota}\n")
    assert worker_count(settings_of()) == number
    assert worker_count(settings_of(EXTENSIONS={THEIR_STORAGE: 100})) == 0


@pytest.mark.parametrize("given", [-1, "", "many", 1.5, None])
def test_wrong_number_of_workers_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match=r"setting SITEMAP_WORKERS=.*: accepted: auto, or a number from 0"):
        worker_count(settings_of(SITEMAP_WORKERS=given))


class Pipeline:
    """A pipeline from elsewhere."""


def check(facts: object) -> None:
    """A rule from elsewhere."""


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        ({"verify": "head"}, {}),
        ({"max_urls": "10"}, {}),
        ({}, {"SITEMAP_WORKERS": 0}),
        ({}, {"ITEM_PIPELINES": {Pipeline: 500}}),
        ({}, {"ITEM_PIPELINES": {"shop.pipelines.Prices": 1}}),
        ({}, {"SPIDER_MIDDLEWARES": {"shop.middlewares.Prices": 1}}),
    ],
    ids=str,
)
def test_what_needs_each_entry_goes_without_workers(arguments: dict[str, str], chosen: dict[str, object]) -> None:
    assert made({}, {}) is not None
    assert made(arguments, chosen) is None


OWN_RULE = """
from sitemapcrawler.rules import Of, Severity, rule

@rule("shop-own", Severity.WARNING, "", Of.ENTRY)
def own(entry):
    '''An entry.'''
    yield
"""


def test_rules_of_a_file_go_without_workers(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "own.py"
    path.write_text(OWN_RULE)
    try:
        assert made({}, {"SITEMAP_RULES": [str(path)]}) is None
    finally:
        del RULES["shop-own"], sys.modules[str(path)]


def test_what_was_added_in_this_process_goes_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """However it was added: workers may not know it."""
    known = choose(settings_of()).all_rules
    assert made({}, {}, (*known, replace(known[0], check=check))) is None
    with monkeypatch.context() as patched:
        patched.setitem(FORMATS, "catalogue", replace(FORMATS["text"], name="catalogue"))
        assert made({}, {}) is None
    monkeypatch.setattr(configuring, "plugged", lambda: ("prices",))
    assert made({}, {}) is None


def made(arguments: dict[str, str], chosen: dict[str, object], known: tuple[Rule, ...] = ()) -> object:
    settings, params = settings_of(**{"SITEMAP_WORKERS": 2, **chosen}), Params.parse({"domain": "e.com", **arguments})
    choice = choose(settings, params)
    nothing: Any = None
    reading = Reading(Selection(params), Frontier(1, 1, 1, 1), limits(settings), Stop(get_crawler()))
    choice = replace(choice, all_rules=known or choice.all_rules)
    return new_workers(settings, params, choice, reading, nothing, nothing, nothing, nothing)


class Recovering(Told):
    """Knows no robots.txt until `knows` is set, only that fetching it failed."""

    knows = False

    def receive(self) -> object:
        policy = Policy.from_response(f"{ORIGIN}/robots.txt", 200, ROBOTS)
        return {ORIGIN: (policy if self.knows else Policy.unreachable(policy.url, "timeout"), False)}


def test_host_that_answers_later_is_asked_about_again() -> None:
    link = Recovering()
    hosts = AskedHosts(link)
    assert not _allows(hosts.at(ORIGIN))
    link.knows = True
    assert not _allows(hosts.at(ORIGIN)), "all URLs of a batch are judged alike"
    hosts.forget_unknown()
    assert _allows(hosts.at(ORIGIN))
    hosts.forget_unknown()
    assert _allows(hosts.at(ORIGIN)) and len(link.sent) == 2


def test_what_the_crawl_has_learned_replaces_what_a_worker_knew() -> None:
    hosts = AskedHosts(Told())
    assert _allows(hosts.at(ORIGIN))
    hosts.learn({ORIGIN: (Policy.unreachable(f"{ORIGIN}/robots.txt", "timeout"), True)})
    assert not _allows(hosts.at(ORIGIN)) and hosts.failure(ORIGIN) is not None
    hosts.learn({ORIGIN: (None, False)})
    assert (hosts.at(ORIGIN), hosts.failure(ORIGIN)) == (None, None)


def _allows(policy: Policy | None) -> bool:
    return policy is not None and policy.allows(f"{ORIGIN}/page", agent("Googlebot"))


def test_hosts_of_a_batch_are_asked_about_at_once() -> None:
    link = Told()
    pages = urlset(*(f"https://host{number}.example/" for number in range(2 * BATCH)))
    assert by_worker(pages, setup_of(select="none"), link)[0] == READ
    assert len([message for message in link.sent if message[0] == "hosts"]) <= 2


def test_index_without_a_valid_sitemap_is_left_to_the_crawl_too() -> None:
    assert by_worker(index(), setup_of())[0] == LEFT


def test_entry_with_long_lists_passes() -> None:
    links = "".join(f'<xhtml:link rel="alternate" hreflang="de" href="{ORIGIN}/{n}"/>' for n in range(300))
    head = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    same(head + entry(f"{ORIGIN}/a", links).encode() + b"</urlset>")


NO_FORK = """
import os, sys
def fork(): raise BlockingIOError(11, "Resource temporarily unavailable")
os.fork = fork
from sitemapcrawler.crawl import worker
worker.main(int(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="passes descriptors")
def test_worker_that_cannot_be_forked_says_why() -> None:
    control, theirs = socket.socketpair()
    with control, theirs:
        command = [sys.executable, "-c", NO_FORK, str(theirs.fileno())]
        with subprocess.Popen(command, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE) as process:
            theirs.close()
            for _ in range(2):
                ours, given = socket.socketpair()
                socket.send_fds(control, [b"+"], [given.fileno()])
                given.close()
                with Connection(ours.detach()) as link:
                    kind, reason = link.recv()
                assert (kind, "temporarily unavailable" in reason) == ("cannot start", True)
            control.close()
            _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, b"")
