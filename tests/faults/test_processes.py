"""What the machine does to a crawl: no memory, few descriptors, a killed process, a terminal that goes away, full disks."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import DEADLINE_S, FEED, crawl, read_feed, start
from tests.crawl.documents import index, pages, urlset
from tests.crawl.job_feeds import difference, rows
from tests.crawl.many_files import rows_of, serve_files
from tests.crawl.mounts import small
from tests.crawl.site_server import SiteServer, stalled

pytestmark = pytest.mark.slow

FILES, PAGES = 3, 3_000
MEMORY_MB = (450, 700, 900)
"""Address space of a process, from too little to begin with to too little for the end."""
DESCRIPTORS = 20
EARLIER = '{"type":"earlier"}\n'
QUICKLY = {"SITEMAP_STOP_GRACE": 0.3}


@pytest.fixture(scope="module")
def large() -> Iterator[SiteServer]:
    """A site of some files."""
    with SiteServer() as site:
        serve_files(site, FILES, lambda path: pages(path.strip("/."), PAGES))
        yield site


@pytest.fixture(scope="module")
def known(large: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """The rows of its feed."""
    return rows_of(large, tmp_path_factory.mktemp("known"))


def test_job_that_had_no_memory_goes_on_when_there_is_some(
    large: SiteServer, known: Counter[str], tmp_path: Path
) -> None:
    arguments = {"sitemap": large.url("/index.xml"), "settings": {"JOBDIR": "job"}}
    (tmp_path / FEED).write_text(EARLIER)
    codes = []
    for megabytes in MEMORY_MB:
        within = ["prlimit", f"--as={megabytes << 20}"]
        with start(tmp_path, within=within, **arguments) as running:
            codes.append(running.process.wait(DEADLINE_S))
        left = (tmp_path / FEED).read_text()
        assert left == EARLIER or read_feed(tmp_path / FEED)[-1]["type"] == "summary", "a feed is whole"
    assert any(codes), "the least of them is too little"
    done = start(tmp_path, **arguments).finish()
    assert done.code == 0, done.log
    assert not (told := difference(known, rows(tmp_path / FEED))), told


def test_few_descriptors_end_it_with_a_line_or_not_at_all(large: SiteServer, tmp_path: Path) -> None:
    within = ["prlimit", f"--nofile={DESCRIPTORS}"]
    done = start(tmp_path, within=within, sitemap=large.url("/index.xml")).finish()
    outcomes = Counter(one["outcome"] for one in done.sitemaps.values())
    if done.code == 0:
        assert outcomes == {"ok": FILES + 1}
    else:
        assert "Too many open files" in done.log


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_next_crawl_removes_what_a_killed_one_left(
    number: signal.Signals, large: SiteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with SiteServer() as site:
        site.routes = {"/1.xml": urlset(*pages("1", 3)), "/2.xml": stalled()}
        site.routes["/index.xml"] = index(site.url("/1.xml"), site.url("/2.xml"))
        heard = ["env", "--default-signal=HUP"]  # it may be ignored where these tests run (`nohup`)
        with start(tmp_path, within=heard, sitemap=site.url("/index.xml"), settings=QUICKLY) as running:
            site.wait_for("/2.xml")
            running.wait_until(lambda: "1.xml: ok" in running.log)
            assert len(list(temporary.iterdir())) == 1
            running.process.send_signal(number)
            code = running.process.wait(DEADLINE_S)
    if number == signal.SIGHUP:
        assert code == 3
        records = read_feed(tmp_path / FEED)
        assert [one["outcome"] for one in records if one["type"] == "sitemap"].count("ok") == 2
        assert records[-1]["partial"]
    else:
        assert code == -number
        assert len(list(temporary.iterdir())) == 1, "nobody could remove it"
        assert [left.name.partition("@")[0] for left in tmp_path.glob(".*")] == [".feed"]
        assert crawl(tmp_path, sitemap=large.url("/0.xml")).code == 0
    assert list(temporary.iterdir()) == list(tmp_path.glob(".*")) == []


def test_full_disk_for_temporary_files_costs_a_line(large: SiteServer, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with small(temporary, "6m") as disk:
        disk.fill(2_000_000)
        within = ["env", f"TMPDIR={temporary}", *disk.within(tmp_path)]
        done = start(tmp_path, within=within, sitemap=large.url("/index.xml")).finish()
        assert disk.names() == set()
    assert done.code == 1
    assert "No space left on device" in done.log
    assert done.summary["partial"] == "store"
    assert "on the site" not in done.log
    listed = Counter(record["sitemap"] for record in done.of_type("url"))
    assert {url: one["url_count"] for url, one in done.sitemaps.items() if one["url_count"] and url in listed} == listed


def test_full_disk_for_a_feed_leaves_the_earlier_one(large: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "feeds").mkdir()
    with small(tmp_path / "feeds", "2m") as disk:
        (disk.seen / FEED).write_text(EARLIER)
        disk.fill(300_000)
        options = ["-O", f"feeds/{FEED}", "-O", FEED]
        done = start(tmp_path, *options, within=disk.within(tmp_path), sitemap=large.url("/index.xml")).finish()
        assert (disk.seen / FEED).read_text() == EARLIER
        assert disk.names() == {FEED}
    assert done.code == 1
    assert done.log.count("No space left on device") <= 2
    assert done.summary["urls"] == len(done.locs()) == FILES * PAGES, "the other feed is whole"


def test_reader_that_goes_away_is_no_error(large: SiteServer, tmp_path: Path) -> None:
    within = ["sh", "-c", '"$@" | head -c 100', "sh"]
    done = start(tmp_path, "-O", "-:jsonlines", within=within, sitemap=large.url("/index.xml")).finish()
    assert done.output.startswith('{"type":')
    assert "Broken pipe" not in done.log
    assert f"{FILES + 1} files, {FILES * PAGES:,} URLs" in done.log


def test_home_and_temporary_folder_that_are_not_there(
    large: SiteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, "/nonexistent")
    within = ["sh", "-c", 'exec "$@" <&- >&-', "sh"]
    done = start(tmp_path, within=within, sitemap=large.url("/0.xml")).finish()
    assert (done.code, len(done.locs())) == (0, PAGES)
    assert os.environ["HOME"] == "/nonexistent"
