"""A crawl that verifies ends soon after a signal, and every record says what came of its URL."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import LOOPBACK, SOON_S, Running, start
from tests.crawl.documents import index, page, urlset
from tests.crawl.site_server import SiteServer, stalled
from tests.crawl.verified import Verified, counted

pytestmark = pytest.mark.slow

PAGES = [f"/page/{number}" for number in range(200)]
HANGING = PAGES[10:]
SHORT = {"SITEMAP_STOP_GRACE": 0.3}
STUCK_S = 3
"""The same of the crawl that is stuck."""
DELAY_S = 20
SLOW = {"DOWNLOAD_DELAY": DELAY_S, "ROBOTSTXT_OBEY": False, **LOOPBACK}


@dataclass
class Stopped(Verified):
    """A crawl that got a signal."""

    seconds: float
    """From the signal to its end."""


def stopped(running: Running, site: SiteServer, paths: Sequence[str], count: int) -> Stopped:
    """The crawl, ended by SIGTERM after it has asked for so many of these pages."""
    running.wait_until(lambda: sum(asked in paths for asked in site.paths) >= count)
    running.process.send_signal(signal.SIGTERM)
    before = running.seconds
    done = running.finish()
    return Stopped(site, done, done.seconds - before)


def hanging(folder: Path, site: SiteServer, settings: Mapping[str, object], **arguments: Any) -> Stopped:
    """A crawl of two files whose pages never answer, but for the first ten; stopped when it is stuck."""
    site.routes = dict.fromkeys(PAGES, page()) | dict.fromkeys(HANGING, stalled())
    site.routes |= {"/1.xml": urlset(*map(site.url, PAGES[:100])), "/2.xml": urlset(*map(site.url, PAGES[100:]))}
    site.routes["/index.xml"] = index("/1.xml", "/2.xml")
    running = start(folder, settings=settings, sitemap=site.url("/index.xml"), **arguments)
    return stopped(running, site, HANGING, 1 if settings.get("SITEMAP_ITEMS") else 4)


@pytest.fixture(scope="module")
def delayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stopped]:
    """With twenty seconds between two requests. The first is for a page: the list is a file, and robots.txt is not asked."""
    folder = tmp_path_factory.mktemp("delayed")
    with SiteServer() as site:
        site.routes = dict.fromkeys(PAGES, page())
        (folder / "list.xml").write_bytes(urlset(*map(site.url, PAGES)))
        running = start(folder, settings=SLOW, sitemap=str(folder / "list.xml"), verify="head", agents="none")
        yield stopped(running, site, PAGES, 1)


@pytest.fixture(scope="module")
def stuck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stopped]:
    """With answers that do not come. `test_stopping.py` waits as long as the settings of users do."""
    with SiteServer() as site:
        yield hanging(tmp_path_factory.mktemp("stuck"), site, {"SITEMAP_STOP_GRACE": STUCK_S}, verify="get")


@pytest.fixture(params=["delayed", "stuck"])
def visit(request: pytest.FixtureRequest) -> Stopped:
    """Each of them."""
    found: Stopped = request.getfixturevalue(request.param)
    return found


def test_ends_in_time(visit: Stopped) -> None:
    assert visit.seconds < SOON_S
    assert visit.crawl.code == 3
    assert visit.crawl.summary["partial"] == "shutdown"


def test_every_record_is_there_once(visit: Stopped) -> None:
    assert visit.crawl.summary["urls"] == len(visit.crawl.of_type("url"))
    assert len(visit.crawl.locs()) == len(set(visit.crawl.locs())) >= 100
    for record in visit.crawl.of_type("sitemap"):
        assert record["format"] == "xml-index" or len(visit.crawl.locs(record["sitemap"])) == record["url_count"]


def test_replies_tell_what_was_asked(visit: Stopped) -> None:
    records = visit.crawl.of_type("url")
    for record in records:
        path = record["loc"].removeprefix(visit.url("/"))
        if not visit.asked(f"/{path}"):
            assert record["reply"] == {"kind": "unchecked", "reason": "stopped"}
        elif f"/{path}" not in HANGING or record["reply"]["kind"] == "ok":
            assert record["reply"]["status"] == 200
        else:
            assert record["reply"]["reason"] == "stopped"
    assert visit.crawl.summary["replies"] == counted(records)


def test_delay_does_not_hold_the_end_up(delayed: Stopped) -> None:
    assert delayed.seconds < DELAY_S / 2
    assert delayed.crawl.locs() == [delayed.url(path) for path in PAGES]
    assert delayed.crawl.summary["replies"]["stopped"] >= len(PAGES) - 2


def test_running_requests_get_some_seconds(stuck: Stopped) -> None:
    assert stuck.seconds > STUCK_S / 2
    assert stuck.crawl.locs(stuck.url("/1.xml")) == [stuck.url(path) for path in PAGES[:100]]
    assert sum(path in HANGING for path in stuck.site.paths) == 4


def test_stop_before_the_sample_is_drawn_leaves_all_out_of_it(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {
        "/1.xml": urlset(*map(site.url, PAGES)),
        "/2.xml": stalled(),
        "/index.xml": index("/1.xml", "/2.xml"),
    }
    running = start(tmp_path, settings=SHORT, sitemap=site.url("/index.xml"), verify="head", sample="150")
    running.wait_until(lambda: "/2.xml" in site.paths)
    running.process.send_signal(signal.SIGTERM)
    done = running.finish()
    assert (done.code, done.summary["partial"]) == (3, "shutdown")
    assert {record["reply"].get("reason") for record in done.of_type("url")} <= {"sampled-out"}
    assert done.summary["replies"] == counted(done.of_type("url"))
    assert not set(site.paths).intersection(PAGES)


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [(SHORT | {"SITEMAP_ITEMS": "records"}, {"verify": "head"}), (SHORT, {"verify": "head", "sample": "150"})],
    ids=["records", "sample"],
)
def test_records_that_wait_are_let_go(
    site: SiteServer, tmp_path: Path, settings: dict[str, object], arguments: dict[str, str]
) -> None:
    visit = hanging(tmp_path, site, settings, **arguments)
    test_ends_in_time(visit)
    test_every_record_is_there_once(visit)
    counts = visit.crawl.summary["replies"]
    assert counts == counted(visit.crawl.of_type("url"))
    assert counts["stopped"] >= 80
    assert set(counts) <= {"ok", "stopped", "sampled-out"}
