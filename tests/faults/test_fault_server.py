"""A site of which every second file and most pages fail, each in a known way: a crawl ends with all that could be had, and
says of the rest what it was. Every record is compared with what had to come, and every request with what was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from tests.constants import constants
from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import index, urlset
from tests.crawl.verified import counted
from tests.faults.fault_server import FaultServer
from tests.faults.plan import FAULTS, NO_ANSWER, Fault, Plan, difference

pytestmark = pytest.mark.slow

PAGES = 240
RETRIES = 1
PLAN = Plan(seed=7, share=0.85, retries=RETRIES, faults={name: replace(one, weight=1) for name, one in FAULTS.items()})
SETTINGS: dict[str, object] = {
    **LOOPBACK,
    "CONCURRENT_REQUESTS": 48,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 48,
    "DOWNLOAD_TIMEOUT": 3,
    "RETRY_TIMES": RETRIES,
    **constants({"crawl.configuring.FETCH_AHEAD": 48, "middlewares.politeness.MAX_PAUSE": 0.2}),
    "SITEMAP_MAX_HOST_ERRORS": 0,
    "AUTOTHROTTLE_MAX_DELAY": 0.2,
}
REDIRECTS = 10
"""REDIRECT_MAX_TIMES of this project."""
LISTED = 300
"""Pages of each file that is read for itself."""
OF_FILES = {
    **dict.fromkeys(("ok", "slow", "drops", "long", "moved", "no-head"), "ok"),
    **dict.fromkeys(("once-500", "once-reset", "once-garbage", "once-stall", "once-429", "once-503"), "ok"),
    **dict.fromkeys(("reset-in-body", "short", "cut-chunk", "cut-gzip", "stall-in-body"), "truncated"),
}
"""What becomes of a file with a fault; failed where nothing stands here."""


@dataclass
class Day:
    """A crawl on a bad day."""

    crawl: Crawl
    server: FaultServer
    verify: str

    def seen(self, path: str) -> int:
        """Requests for a path that the server saw."""
        return sum(count for (_, asked), count in self.server.requests.items() if asked == path)


def fault_of(number: int) -> Fault:
    """The fault of a page."""
    return PLAN.faults.get(PLAN.fault(number) or "", Fault())


@pytest.fixture(scope="module", params=["head", "get"])
def pages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """Pages that fail, verified by HEAD and by GET."""
    with FaultServer() as server:
        locs = [server.url(PLAN.path(number), PLAN.place(number)) for number in range(PAGES)]
        server.files = {"/sitemap.xml": urlset(*locs)}
        arguments = {"sitemap": server.url("/sitemap.xml"), "verify": request.param, "verify_offsite": "yes"}
        done = crawl(tmp_path_factory.mktemp("pages"), settings=SETTINGS, **arguments)
        yield Day(done, server, request.param)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """Files that fail."""
    with FaultServer() as server:
        names = ["ok", *FAULTS]
        listed = {name: [f"http://pages.example/{name}/{number}" for number in range(LISTED)] for name in names}
        server.files = {f"/{name}/{name}.xml": urlset(*listed[name]) for name in names}
        server.files |= {f"/ok/{name}.xml": urlset(*listed[name]) for name in names if name.startswith("moved")}
        places = {name: server.url(f"/{name}/{name}.xml", fault.place) for name, fault in FAULTS.items()}
        server.files |= {"/index.xml": index(server.url("/ok/ok.xml"), *places.values())}
        done = crawl(tmp_path_factory.mktemp("files"), settings=SETTINGS, sitemap=server.url("/index.xml"))
        yield Day(done, server, "get")


def test_every_page_has_one_record_that_says_what_came(pages: Day) -> None:
    records = pages.crawl.of_type("url")
    numbers = [int(record["loc"].rpartition("/")[2]) for record in records]
    assert sorted(numbers) == list(range(PAGES))
    told = [
        difference(PLAN, number, record["reply"], pages.verify) for number, record in zip(numbers, records, strict=True)
    ]
    assert not any(told), told
    assert {PLAN.fault(number) for number in numbers} == {None, *FAULTS}, "each fault is there"


def test_no_page_is_asked_more_often_than_its_record_says(pages: Day) -> None:
    for record in pages.crawl.of_type("url"):
        number = int(record["loc"].rpartition("/")[2])
        paths = {path for _, path in pages.server.requests if path.endswith(f"/{number}")}
        seen = sum(map(pages.seen, paths))
        by_library = sum(pages.server.sent_again[path] for path in paths) if fault_of(number).silent else 0
        assert seen - by_library <= record["reply"].get("attempts", 0) <= seen + 1, record


def test_counts_agree_with_the_records(pages: Day) -> None:
    summary = pages.crawl.summary
    assert (pages.crawl.code, summary.get("partial"), summary["urls"]) == (0, None, PAGES)
    assert summary["replies"] == counted(pages.crawl.of_type("url"))
    assert summary["bad"]["checked"] == PAGES


def test_every_file_has_one_record_and_what_came_of_it(files: Day) -> None:
    records = files.crawl.sitemaps
    assert len(records) == len(FAULTS) + 2
    for name, fault in {"ok": Fault(), **FAULTS}.items():
        url = files.server.url(f"/{name}/{name}.xml", fault.place)
        record = records[url]
        outcome = OF_FILES.get(name, "failed")
        assert record["outcome"] == outcome, record
        assert ("error" in record) == (outcome != "ok"), record
        rows = files.crawl.locs(url)
        listed = [f"http://pages.example/{name}/{number}" for number in range(LISTED)]
        assert rows == listed[: len(rows)], "in order, and nothing twice"
        assert len(rows) == record["url_count"]
        least = {"ok": LISTED, "truncated": LISTED // 3, "failed": 0}[outcome]
        assert least <= len(rows) <= {"failed": 0}.get(outcome, LISTED)


def test_files_that_pass_are_asked_again_and_no_more_often_than_allowed(files: Day) -> None:
    for name, fault in FAULTS.items():
        seen = files.seen(f"/{name}/{name}.xml")
        retried = fault.once or fault.get in (*NO_ANSWER, "refused") or name == "status-500"
        again = files.server.sent_again[f"/{name}/{name}.xml"] if fault.silent else 0
        most = 1 + RETRIES if retried and fault.get != "refused" else 1
        assert seen - again <= (1 + REDIRECTS if name == "loop" else most), name
        assert seen or fault.get == "refused", name


def test_a_bad_day_is_told_and_ends_well(files: Day) -> None:
    summary = files.crawl.summary
    assert (files.crawl.code, summary.get("partial")) == (0, None)
    outcomes = Counter(record["outcome"] for record in files.crawl.sitemaps.values())
    expected = Counter(OF_FILES.get(name, "failed") for name in ("ok", "ok", *FAULTS))
    assert outcomes == expected
    assert (
        summary["urls"]
        == len(files.crawl.of_type("url"))
        == sum(one["url_count"] for one in files.crawl.sitemaps.values() if one["format"] != "xml-index")
    )
    unread = [record["sitemap"] for record in files.crawl.sitemaps.values() if record["outcome"] == "failed"]
    told = {finding["sitemap"] for finding in files.crawl.of_type("finding") if finding["severity"] == "error"}
    assert set(unread) <= told
