"""Crawls with worker processes: the results are those of one process, whatever happens to the workers."""

from __future__ import annotations

import copy
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.site import OF_FILES
from sitemapcrawler.rules.registry import ON_THE_SITE
from tests.crawl.crawling import FEED, LOOPBACK, Crawl, Running, command, crawl, launch, start
from tests.crawl.documents import entry, index, packed, robots, rss, text, urlset
from tests.crawl.job_feeds import difference, rows
from tests.crawl.site_server import SiteServer, stalled
from tests.processes import GONE, Process, below, status_of, wait_for_end

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes by /proc")
WORKERS = {"SITEMAP_WORKERS": 2}
ONE = {"SITEMAP_WORKERS": 0}
JOB = {"JOBDIR": "job"}
MODULE = "sitemapcrawler.crawl.worker"
LARGE = 70_000
"""Bytes from which a file goes to a worker, and some more."""
RICH = (
    '<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
)
LONG = "x" * 450
FILES, ENTRIES = 8, 2_000
"""Files of a large site, and entries of each: they take a worker about a second."""
ENDS_S = 15
"""Seconds after a signal within which a stopped crawl has ended."""


def rich(site: SiteServer, name: str, count: int) -> bytes:
    """A urlset of entries with an image and two languages, as those that take long to read."""
    entries = []
    for number in range(count):
        loc = site.url(f"/{name}/{number}")
        links = "".join(
            f'<xhtml:link rel="alternate" hreflang="{code}" href="{loc}"/>' for code in ("de", "en", "x-default")
        )
        image = f"<image:image><image:loc>{loc}.jpg</image:loc></image:image>"
        entries.append(entry(loc, f"<lastmod>2024-05-0{number % 9 + 1}</lastmod>{image}{links}"))
    return f"{RICH}{''.join(entries)}</urlset>".encode()


def locs(site: SiteServer, name: str, count: int = 150) -> list[str]:
    """Long URLs, of which few make a large file."""
    return [site.url(f"/{name}/{LONG}{number}") for number in range(count)]


def serve(site: SiteServer, files: dict[str, bytes], rules: tuple[str, ...] = ()) -> None:
    site.routes = dict(files)
    site.routes["/index.xml"] = index(*map(site.url, files))
    site.routes["/robots.txt"] = robots(site.url("/index.xml"), rules=rules)


def many_kinds(site: SiteServer, elsewhere: SiteServer) -> dict[str, bytes]:
    """Files of all kinds, with faults of all kinds."""
    chance = Random(1)
    plain = urlset(*locs(site, "plain"))
    nested = index(*(site.url(path) for path in ("/below.xml", "/gone.xml")))
    return {
        "/plain.xml": plain,
        "/rich.xml": rich(site, "rich", 300),
        "/dates.xml": urlset(*locs(site, "dates", 1_200)).replace(b"</loc>", b"</loc><lastmod>2024-13-01</lastmod>"),
        "/again.xml": urlset(*locs(site, "plain", 100), *locs(site, "twice", 120), *locs(site, "twice", 40)),
        "/elsewhere.xml": urlset(*(elsewhere.url(f"/{number}{LONG}") for number in range(190))),
        "/blocked.xml": urlset(*locs(site, "private")),
        "/broken.xml": plain[: len(plain) // 2] + b"<url><loc>&oops;</url>" + plain[len(plain) // 2 :],
        "/cut.xml": plain[:LARGE],
        "/packed.xml.gz": packed(urlset(*(site.url(f"/{chance.randbytes(300).hex()}") for _ in range(300)))),
        "/urls.txt": text(*locs(site, "text")),
        "/feed.xml": rss(*locs(site, "feed")),
        "/page.xml": b"<!doctype html><title>Page</title>" + b"<p>Words.</p>" * 6_000,
        "/nested.xml": nested.replace(b"?>", b"?><!--" + b" " * LARGE + b"-->", 1),
        "/small.xml": urlset(site.url("/small")),
    }


def served_many(site: SiteServer, elsewhere: SiteServer) -> None:
    serve(site, many_kinds(site, elsewhere), ("Disallow: /private/",))
    site.routes["/below.xml"] = urlset(*locs(site, "below"))
    elsewhere.routes["/robots.txt"] = robots(site.url("/elsewhere.xml"), rules=("Disallow: /7",))


def order_of(found: Crawl) -> dict[str, list[str]]:
    """The rows of each file in their order."""
    rows: dict[str, list[str]] = {}
    for record in found.records:
        if record["type"] in ("url", "sitemap", "finding") and record.get("sitemap"):
            rows.setdefault(record["sitemap"], []).append(json.dumps(record, sort_keys=True))
    return rows


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        pytest.param({"select": "none"}, {"SITEMAP_ITEMS": "records"}, marks=pytest.mark.slow),
        ({"agents": "none", "findings": "all", "exclude": "1$", "since": "2024-05-03"}, {}),
    ],
    ids=["records", "chosen"],
)
def test_results_are_those_of_one_process(
    site: SiteServer, tmp_path: Path, arguments: dict[str, str], settings: dict[str, str]
) -> None:
    with SiteServer() as elsewhere:
        served_many(site, elsewhere)
        folders = [tmp_path / name for name in ("one", "two")]
        for folder in folders:
            folder.mkdir()
        feeds = (FEED, "urls.csv", "urls.parquet", "findings.sarif", "images.jsonl", "alternates.csv")
        options = [part for feed in feeds for part in ("-O", feed)]
        given = {**LOOPBACK, "SITEMAP_MAX_ROBOTS": 9, "LOG_LEVEL": "DEBUG", **settings}
        one, two = (
            crawl(folder, *options, settings={**given, **chosen}, domain=site.url(""), **arguments)
            for folder, chosen in zip(folders, (ONE, WORKERS), strict=True)
        )
    assert one.code == two.code
    for name in feeds:
        assert not (told := difference(rows(folders[0] / name), rows(folders[1] / name))), f"{name}: {told}"
    assert order_of(one) == order_of(two)
    assert one.sitemaps.keys() == two.sitemaps.keys() and len(one.sitemaps) == 17


WAYS: dict[str, tuple[dict[str, object], ...]] = {
    "at once": ({**ONE, "JOBDIR": "job"},),
    "with workers": ({**WORKERS, "JOBDIR": "job"},),
    "stopped and resumed": ({**ONE, "JOBDIR": "job", "CLOSESPIDER_ITEMCOUNT": 4}, {**ONE, "JOBDIR": "job"}),
    "with workers, stopped and resumed": (
        {**WORKERS, "JOBDIR": "job", "CLOSESPIDER_ITEMCOUNT": 4},
        {**WORKERS, "JOBDIR": "job"},
    ),
    "without a job": (ONE,),
    "without a database": ({**ONE, "SITEMAP_STORE": "False"},),
}
"""Settings of each run, by the way to crawl."""
COUNTS = ("rules", "severities", "reach", "severity_reach", "urls", "sitemaps")


@pytest.mark.slow
def test_each_way_to_crawl_counts_the_same(site: SiteServer, tmp_path: Path) -> None:
    chance = Random(1)
    on_the_site = ",".join(rule.id for rule in all_rules() if {*rule.of} <= {*ON_THE_SITE})  # they need a database
    found = {}
    with SiteServer() as elsewhere:
        kinds = many_kinds(site, elsewhere)
        files = {path: kinds[path] for path in chance.sample(sorted(kinds), 9)}
        for path in chance.sample(sorted(files), 2):
            files[path] = files[path][: chance.randint(100, len(files[path]))]
        serve(site, files, ("Disallow: /private/",))
        elsewhere.routes["/robots.txt"] = robots(rules=("Disallow: /7",))
        for way, runs in WAYS.items():
            folder = tmp_path / way
            folder.mkdir()
            for number, settings in enumerate(runs, 1):
                done = crawl(folder, settings={**LOOPBACK, **settings}, domain=site.url(""), ignore=on_the_site)
                assert (done.code == 3) is (number < len(runs)), done.log
            found[way] = {name: done.summary[name] for name in COUNTS}
    assert len(found["at once"]["rules"]) > 5
    stated = found.pop("without a database")
    assert all(reach["at_least"] is (rule in OF_FILES) for rule, reach in stated["reach"].items())
    for counts in (stated, exact := copy.deepcopy(found["at once"])):
        counts.pop("severity_reach")
        for rule in OF_FILES:  # whose entries are found in the database
            counts["reach"].pop(rule, None)
    assert stated == exact
    assert [way for way, counts in found.items() if counts != found["at once"]] == []


@pytest.mark.slow
def test_workers_read_the_large_files(large: SiteServer, tmp_path: Path) -> None:
    """Without this, the test above could compare one process with itself."""
    with started(large, tmp_path) as running:
        running.wait_until(lambda: len(workers(running)) == 2)
        running.wait_until(reading(running))
        seen = family(running)
        assert running.finish().code == 0
    assert len(seen) == 3
    wait_for_end(*seen)


def started(site: SiteServer, folder: Path, *options: str, **more: Any) -> Running:
    return start(folder, *options, settings={**WORKERS, **more.pop("settings", {})}, domain=site.url(""), **more)


def workers(running: Running) -> list[int]:
    """Processes that read files for a crawl, but for the one that forks them."""
    return [process.pid for process in _own(running) if process.parent != running.process.pid]


def family(running: Running) -> list[int]:
    """The workers of a crawl, and what forks them."""
    return [process.pid for process in _own(running)]


def _own(running: Running) -> list[Process]:
    return [process for process in below(running.process.pid) if MODULE in process.command]


def cpu_s(pid: int) -> float:
    """Processor time of a process, in seconds; 0 of one that has ended."""
    try:
        user, system = status_of(pid)[11:13]
    except GONE:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def kill(pids: list[int], number: int = signal.SIGKILL) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_until_a_file_fails(running: Running) -> None:
    """Kill each worker that has work to do, until a file is given up."""
    deadline = time.monotonic() + 60
    while "failed (the process that read it died, twice)" not in running.log:
        kill([pid for pid in workers(running) if cpu_s(pid) > 0.1])
        assert running.process.poll() is None and time.monotonic() < deadline, running.log
        time.sleep(0.01)  # new workers must have begun


def reading(running: Running) -> Callable[[], bool]:
    """True once a worker has work to do."""
    return lambda: any(cpu_s(pid) > 0.3 for pid in workers(running))


@pytest.fixture(scope="module")
def large() -> Iterator[SiteServer]:
    """A site whose files take a worker some time."""
    with SiteServer() as site:
        serve(site, {f"/{number}.xml": rich(site, str(number), ENTRIES) for number in range(FILES)})
        yield site


@pytest.fixture(scope="module")
def expected(large: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """The rows of a crawl in one process."""
    done = crawl(tmp_path_factory.mktemp("one"), settings=ONE, domain=large.url(""))
    assert len(done.locs()) == FILES * ENTRIES
    return rows(done.folder / FEED)


@pytest.mark.slow
def test_file_of_a_worker_that_dies_is_read_again(large: SiteServer, expected: Counter[str], tmp_path: Path) -> None:
    with started(large, tmp_path) as running:
        running.wait_until(reading(running))
        kill(workers(running), signal.SIGSEGV)
        again = running.finish()
    assert again.code == 0
    assert "the process that read it died; another one reads it again" in again.log
    assert not difference(expected, rows(tmp_path / FEED))


@pytest.mark.slow
def test_file_that_kills_each_worker_is_reported_and_read_by_the_next_run(
    large: SiteServer, expected: Counter[str], tmp_path: Path
) -> None:
    with started(large, tmp_path, settings=JOB) as running:
        kill_until_a_file_fails(running)
        found = running.finish()
    assert found.code == 3, "results are missing"
    failed = [record for record in found.sitemaps.values() if record["outcome"] == "failed"]
    assert failed and all(record["error"] == "the process that read it died, twice" for record in failed)
    told = [one for one in found.of_type("finding") if one["rule"] == "internal-reading-failed"]
    assert {one["sitemap"] for one in told} == {record["sitemap"] for record in failed}
    read = found.sitemaps.keys() - {record["sitemap"] for record in failed} - {large.url("/index.xml")}
    assert all(len(found.locs(sitemap)) == ENTRIES for sitemap in read)
    check_resumed(large, expected, tmp_path)


def check_resumed(large: SiteServer, expected: Counter[str], folder: Path) -> None:
    """The next run of a job ends with the rows of a crawl in one process."""
    done = crawl(folder, settings={**WORKERS, **JOB}, domain=large.url(""))
    assert done.code == 0
    assert not difference(expected, rows(folder / FEED))


@pytest.mark.slow
def test_no_process_outlives_a_crawl_that_is_killed_and_its_job_goes_on(
    large: SiteServer, expected: Counter[str], tmp_path: Path
) -> None:
    with started(large, tmp_path, settings=JOB) as running:
        running.wait_until(reading(running))
        seen = family(running)
        running.process.kill()
        running.process.wait()
        wait_for_end(*seen)
    check_resumed(large, expected, tmp_path)


@pytest.mark.slow
def test_crawl_goes_on_when_the_processes_cannot_start(
    large: SiteServer, expected: Counter[str], tmp_path: Path
) -> None:
    with started(large, tmp_path) as running:
        running.wait_until(lambda: bool(family(running)))
        kill(family(running))
        assert running.finish().code == 0
    assert not difference(expected, rows(tmp_path / FEED))


@pytest.mark.slow
def test_stop_ends_the_workers_in_order_and_a_job_goes_on(
    large: SiteServer, expected: Counter[str], tmp_path: Path
) -> None:
    """As a terminal sends Ctrl-C, and some supervisors SIGTERM, to the whole group: workers wait for the crawl."""
    with launch(tmp_path, command(settings={**WORKERS, **JOB}, domain=large.url("")), group=True) as running:
        running.wait_until(reading(running))
        seen, before = family(running), running.seconds
        os.killpg(running.process.pid, signal.SIGTERM)
        stopped = running.finish()
    assert stopped.seconds - before < ENDS_S
    assert stopped.code == 3
    assert "died" not in stopped.log
    assert {record["outcome"] for record in stopped.sitemaps.values()} <= {"ok", "truncated", "failed"}
    assert len(stopped.locs()) < FILES * ENTRIES
    wait_for_end(*seen)
    check_resumed(large, expected, tmp_path)


@pytest.mark.slow
def test_stop_does_not_wait_for_workers_that_hang(large: SiteServer, tmp_path: Path) -> None:
    with started(large, tmp_path) as running:
        running.wait_until(reading(running))
        seen = family(running)
        kill(workers(running), signal.SIGSTOP)
        before = running.seconds
        running.process.terminate()
        stopped = running.finish()
    assert stopped.seconds - before < ENDS_S
    assert stopped.code == 3
    assert "the process that reads it does not end" in stopped.log
    wait_for_end(*seen)


def test_file_that_was_cut_short_is_read_as_far_as_it_came(site: SiteServer, tmp_path: Path) -> None:
    files = {f"/{number}.xml": urlset(*locs(site, str(number))) for number in range(5)}
    serve(site, files)
    site.routes["/4.xml"] = stalled(files["/4.xml"][:LARGE])
    found = crawl(tmp_path, settings={**WORKERS, "DOWNLOAD_TIMEOUT": 2, "RETRY_TIMES": 0}, domain=site.url(""))
    cut = found.sitemaps[site.url("/4.xml")]
    assert (cut["outcome"], cut["error"]) == ("truncated", "no answer in time")
    assert len(found.locs()) == 4 * 150 + cut["url_count"]


@pytest.mark.parametrize("files", [2, 8])
def test_local_files_are_read_by_workers_too(files: int, tmp_path: Path) -> None:
    names = [f"{number}.xml" for number in range(files)]
    for name in names:
        (tmp_path / name).write_bytes(urlset(*(f"https://e.com/{name}/{LONG}{number}" for number in range(150))))
    found = crawl(tmp_path, settings=WORKERS, sitemap=",".join(f"./{name}" for name in names), offline="yes")
    assert len(found.locs()) == files * 150
    assert {record["outcome"] for record in found.sitemaps.values()} == {"ok"}
