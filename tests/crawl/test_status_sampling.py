"""A sample is the same in any order and with any number of workers, it is all that is asked, and it tells of the whole."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.constants import constants
from tests.crawl.crawling import Crawl, command, crawl
from tests.crawl.documents import index, page, robots, urlset
from tests.crawl.site_server import Reply, SiteServer
from tests.crawl.verified import PATIENT, counted

PAGES = [f"/page/{number}" for number in range(60)]
PRIVATE = [f"/private/{number}" for number in range(10)]
FILES = {
    "/1.xml": [*PAGES[:30], PAGES[0], *PRIVATE],
    "/2.xml": [*PAGES[20:50], "/gone"],
    "/3.xml": list(reversed(PAGES[45:])),
}
LISTED = Counter(path for listed in FILES.values() for path in listed)
ASKABLE = LISTED.keys() - set(PRIVATE)
COUNT = 5
WAYS: dict[str, dict[str, object]] = {
    "one at a time": {"CONCURRENT_REQUESTS": 1},
    "many at once": {"CONCURRENT_REQUESTS": 16, **constants({"crawl.reading.BATCH_SIZE": 7})},
    "records": {"SITEMAP_ITEMS": "records"},
}


@dataclass
class Drawn:
    """A crawl that verified a sample."""

    crawl: Crawl
    asked: Counter[str]
    """Paths of pages, and how often each was asked."""
    replies: dict[str, list[dict[str, Any]]]
    """Replies by path, but for the time they took."""

    def paths(self, reason: str | None) -> set[str]:
        """The paths whose replies have this reason; None: that were asked."""
        return {path for path, replies in self.replies.items() if replies[0].get("reason") == reason}


class Draws:
    """Crawls of one site; each is made once."""

    def __init__(self, site: SiteServer, factory: pytest.TempPathFactory) -> None:
        self._site = site
        self._factory = factory
        self._made: dict[tuple[str, str, int], Drawn] = {}

    @property
    def index(self) -> str:
        return self._site.url("/index.xml")

    def draw(self, sample: str, way: str, seed: int = 0) -> Drawn:
        """A crawl in one of the `WAYS`."""
        key = (sample, way, seed)
        if key not in self._made:
            self._made[key] = self._crawl(sample, PATIENT | WAYS[way], seed)
        return self._made[key]

    def _crawl(self, sample: str, settings: dict[str, object], seed: int) -> Drawn:
        site = self._site
        site.exchanges.clear()
        folder = self._factory.mktemp("drawn")
        done = crawl(folder, settings=settings, sitemap=self.index, verify="head", sample=sample, seed=seed)
        replies: dict[str, list[dict[str, Any]]] = {}
        for record in done.of_type("url"):
            path = record["loc"].removeprefix(site.url())
            replies.setdefault(path, []).append({**record["reply"], "elapsed_ms": 0})
        return Drawn(done, Counter(path for path in site.paths if not path.endswith(".xml")), replies)


@pytest.fixture(scope="module")
def draws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Draws]:
    with SiteServer() as site:
        site.routes = {**dict.fromkeys(PAGES, page()), "/gone": Reply("", 410)}
        site.routes |= {name: urlset(*map(site.url, paths)) for name, paths in FILES.items()}
        site.routes |= {"/robots.txt": robots(rules=["Disallow: /private"]), "/index.xml": index(*FILES)}
        yield Draws(site, tmp_path_factory)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """Each of the `WAYS`."""
    return str(request.param)


@pytest.mark.parametrize("sample", ["50%", str(COUNT)])
def test_sample_is_all_that_is_asked(draws: Draws, sample: str, way: str) -> None:
    drawn = draws.draw(sample, way)
    assert set(drawn.asked.values()) == {1}
    assert drawn.asked.keys() == drawn.paths(None)
    assert drawn.paths("blocked") == set(PRIVATE)
    assert drawn.paths("sampled-out") == ASKABLE - drawn.asked.keys()


@pytest.mark.parametrize("sample", ["50%", str(COUNT)])
def test_sample_is_the_same_in_any_way(draws: Draws, sample: str, way: str) -> None:
    assert draws.draw(sample, way).replies == draws.draw(sample, "one at a time").replies


@pytest.mark.parametrize("sample", ["50%", str(COUNT)])
def test_every_record_is_there_once(draws: Draws, sample: str, way: str) -> None:
    drawn = draws.draw(sample, way)
    assert {path: len(replies) for path, replies in drawn.replies.items()} == LISTED
    for replies in drawn.replies.values():
        assert all(reply == replies[0] for reply in replies)
    assert drawn.crawl.summary["urls"] == LISTED.total()
    assert drawn.crawl.summary["replies"] == counted(drawn.crawl.of_type("url"))


def test_number_is_kept(draws: Draws, way: str) -> None:
    assert len(draws.draw(str(COUNT), way).asked) == COUNT


def test_share_is_kept_about(draws: Draws) -> None:
    assert 10 <= len(draws.draw("50%", "one at a time").asked) <= len(ASKABLE) - 10


def test_smaller_sample_is_a_part_of_a_larger_one(draws: Draws) -> None:
    assert draws.draw(str(COUNT), "one at a time").asked.keys() < draws.draw("50%", "one at a time").asked.keys()


def test_another_seed_draws_another_sample(draws: Draws) -> None:
    other = draws.draw("50%", "many at once", seed=7)
    assert other.asked.keys() != draws.draw("50%", "many at once").asked.keys()
    assert set(other.asked.values()) == {1}


def test_number_above_all_is_all(draws: Draws) -> None:
    drawn = draws.draw("1000", "many at once")
    assert drawn.asked.keys() == ASKABLE
    bad = drawn.crawl.summary["bad"]
    assert (bad["population"], bad["checked"], bad["bad"]) == (len(ASKABLE), len(ASKABLE), 1)
    assert bad["low"] == bad["share"] == bad["high"] == 1 / len(ASKABLE)
    assert drawn.crawl.locs() != []


@pytest.mark.parametrize("sample", ["50%", str(COUNT)])
def test_summary_tells_of_the_whole(draws: Draws, sample: str, way: str) -> None:
    drawn = draws.draw(sample, way)
    bad = drawn.crawl.summary["bad"]
    assert bad["checked"] == len(drawn.asked)
    assert bad["bad"] == ("/gone" in drawn.asked)
    assert bad["share"] == bad["bad"] / bad["checked"]
    assert bad["low"] <= bad["share"] < bad["high"]
    assert bad["low"] <= 1 / len(ASKABLE) <= bad["high"] or "/gone" in drawn.asked
    assert len(ASKABLE) / 4 < bad["population"] < 4 * len(ASKABLE)


def test_crawl_with_a_sample_ends_as_usual(draws: Draws, way: str) -> None:
    for sample in ("50%", str(COUNT)):
        done = draws.draw(sample, way).crawl
        assert (done.code, done.records[-1]["type"]) == (0, "summary")
        assert "partial" not in done.summary


def test_each_file_is_told_its_part_of_the_sample(draws: Draws, way: str) -> None:
    done = draws.draw(str(COUNT), way).crawl
    told = {record["sitemap"]: record for record in done.of_type("finding") if record["rule"] == "status-sampled"}
    asked = Counter(record["sitemap"] for record in done.of_type("url") if record["reply"]["kind"] != "unchecked")
    assert told.keys() == asked.keys()
    assert all(told[sitemap]["message"].startswith(f"{number} of ") for sitemap, number in asked.items())


def test_sample_has_pages_of_each_segment_and_weighs_them(draws: Draws, tmp_path: Path) -> None:
    segments = "gone=/gone,few=*/1$,few=*/2$,private=/private/"
    done = crawl(tmp_path, sitemap=draws.index, verify="head", sample="9", segments=segments)
    assert (
        Counter(row["loc"].removeprefix(draws.index.removesuffix("/index.xml")) for row in done.of_type("url"))
        == LISTED
    )
    asked = Counter(row["segment"] for row in done.of_type("url") if row["reply"]["kind"] != "unchecked")
    assert asked["gone"] == 1 and asked["few"] >= 1 and asked["other"] >= 4 and not asked["private"]
    bad = done.summary["bad"]
    assert (bad["checked"], bad["bad"]) == (9, 1)
    assert bad["low"] < bad["share"] < 0.02 < bad["high"]  # and not one of nine
    [told] = [
        one["message"]
        for one in done.of_type("finding")
        if one["rule"] == "status-sampled" and "/2.xml" in one["sitemap"]
    ]
    assert "did not answer 200: 3.2 % of 31" in told


def test_number_needs_the_database_and_a_share_does_not(
    draws: Draws, tmp_path: Path, refusal: Callable[..., str]
) -> None:
    settings = {**PATIENT, "SITEMAP_STORE": "False"}
    words = command(settings=settings, domain="127.0.0.1:1", verify="head", sample="5")
    assert "argument sample='5': needs a database; accepted: SITEMAP_STORE=True" in refusal(*words[3:])
    done = crawl(tmp_path, settings=settings, sitemap=draws.index, verify="head", sample="50%")
    assert (done.code, done.summary["replies"]) == (0, draws.draw("50%", "many at once").crawl.summary["replies"])


def test_rows_of_a_stopped_sample_name_their_segments(draws: Draws, tmp_path: Path) -> None:
    done = crawl(
        tmp_path,
        sitemap=draws.index,
        verify="head",
        sample="9",
        segments="even=*0$,even=*2$,even=*4$,even=*6$,even=*8$",
        max_urls="20",
    )
    assert done.summary["partial"] == "max_urls"
    rows = list(done.of_type("url"))
    assert len(rows) == done.summary["urls"] > 9
    assert all(row["segment"] == ("even" if row["loc"].endswith(tuple("02468")) else "other") for row in rows)


@pytest.mark.parametrize("items", ["batches", "records"])
def test_rows_are_in_the_order_of_their_file(site: SiteServer, tmp_path: Path, items: str) -> None:
    names = [hashlib.md5(str(number).encode()).hexdigest() for number in range(120)]
    files = {"/1.xml": names[:60], "/2.xml": names[60:]}
    site.otherwise = Reply(page())
    site.routes = {"/robots.txt": robots(*map(site.url, files)), "/gone": Reply(b"", 404)} | {
        file: urlset(*(site.url(f"/{name}") for name in listed)).replace(b"\n", b"") for file, listed in files.items()
    }
    settings = {**PATIENT, "JOBDIR": "job", "SITEMAP_ITEMS": items, **constants({"crawl.reading.BATCH_SIZE": 7})}
    done = crawl(tmp_path, settings=settings, domain=site.url(), verify="head", sample=COUNT)
    with duckdb.connect(tmp_path / "job" / "audit.duckdb", read_only=True) as database:
        rows = database.execute("SELECT sitemap, loc, reply.kind FROM urls ORDER BY rowid").fetchall()
    assert Counter(kind for _, _, kind in rows) == {"ok": COUNT, "unchecked": len(names) - COUNT}
    for file, listed in files.items():
        expected = [site.url(f"/{name}") for name in listed]
        assert [loc for sitemap, loc, _ in rows if sitemap == site.url(file)] == expected
        assert done.locs(site.url(file)) == expected
