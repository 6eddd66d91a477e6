"""Baselines that are cut, oddly named or moved, and days on which a file cannot be fetched."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.crawl.crawling import FEED, LOG, Crawl, command, crawl
from tests.crawl.days import JOBDIR, ONCE, Days, changes, dated_index, on, outcomes, urlset_of, xml
from tests.crawl.documents import robots
from tests.crawl.job_feeds import timeless
from tests.crawl.job_kinds import IN_ORDER
from tests.crawl.jobs import KEPT
from tests.crawl.site_server import Reply, Route, SiteServer, conditional

MONDAY, TUESDAY = "2024-05-06", "2024-05-07"
PAGES = 6


def routes(site: SiteServer, **later: str) -> dict[str, Route]:
    """The site; `later`: pages with another date, by name."""

    def of(name: str, count: int = PAGES) -> bytes:
        entries = on(MONDAY, [f"/{name}/{number}" for number in range(count)])
        entries |= {path: f"<lastmod>{date}</lastmod>" for path, date in later.items() if path.startswith(f"/{name}/")}
        return urlset_of(site, {path: more for path, more in entries.items() if later.get(path) != ""})

    files: dict[str, Route] = {"/same.xml": conditional(of("same"), etag='"1"'), "/other.xml": xml(of("other"))}
    odd = {site.url("/same.xml"): MONDAY, site.url("/other.xml"): "yesterday", "http://elsewhere.example/x.xml": MONDAY}
    return {
        "/robots.txt": robots(site.url("/index.xml"), rules=["Disallow: /same/1"]),
        "/index.xml": xml(dated_index(odd)),
        **files,
    }


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Days]:
    """The site and its first day."""
    with SiteServer() as site:
        days = Days(site, tmp_path_factory.mktemp("week"))
        site.routes = routes(site)
        assert days.crawl("monday").code == 0
        yield days


@pytest.fixture
def first(week: Days) -> Crawl:
    """The first day, whose site is the one that is served."""
    week.site.routes = routes(week.site)
    return week.recorded("monday")


def told(done: Crawl) -> Counter[str]:
    """All records without times."""
    return Counter(json.dumps(timeless(record), sort_keys=True) for record in done.records)


# ---- only changes


@pytest.mark.slow
def test_finished_job_has_the_same_changes_again(week: Days, first: Crawl) -> None:
    week.site.routes = routes(week.site, **{"/other/0": "", "/other/1": TUESDAY, "/other/new": TUESDAY})
    live = week.crawl("only", before=f"monday/{JOBDIR}", only="changes")
    assert changes(live) == {"/other/0": "removed", "/other/1": "changed lastmod", "/other/new": "added"}
    assert outcomes(live)["/same.xml"] == ("unchanged", 200)
    children = [one for one in live.of_type("finding") if one["sitemap"].endswith("/index.xml") and "url" in one]
    assert len(children) > 1
    assert not [one for one in live.of_type("finding") if one.get("url", "").endswith("/same/1")]
    assert [one for one in first.of_type("finding") if one.get("url", "").endswith("/same/1")]
    week.site.routes = {}
    again = week.crawl("only", before=f"monday/{JOBDIR}", only="changes")
    assert again.code == live.code == 0
    assert week.paths("only") == []
    assert told(again) - told(live) == Counter()
    assert told(live) - told(again) == Counter()


# ---- names


def test_feed_with_a_name_like_a_pattern(week: Days, first: Crawl) -> None:
    folder, name = week.folder / "named", "m*y[1].jsonl.gz"
    folder.mkdir()
    (folder / name).write_bytes(gzip.compress((week.folder / "monday" / FEED).read_bytes()))
    for decoy in ("monday1.jsonl.gz", "m*y1.jsonl.gz", "monday[1].jsonl.gz"):
        (folder / decoy).write_bytes(gzip.compress(b"{}\n"))
    done = week.crawl(folder.name, before=f"{folder.name}/{name}", keep=False)
    assert done.code == 0, done.log
    assert {record["change"] for record in done.of_type("url")} == {"unchanged"}
    assert sorted(done.locs()) == sorted(first.locs())


# ---- days on which a file cannot be fetched


@pytest.mark.slow
def test_days_without_a_file_lose_nothing(week: Days, first: Crawl) -> None:
    before = "monday"
    for name in ("one night", "another night"):
        week.site.routes = {**routes(week.site), "/other.xml": Reply("", 500)}
        done = week.crawl(name, before=f"{before}/{JOBDIR}", settings=ONCE)
        assert outcomes(done)["/other.xml"] == ("failed", 500)
        assert changes(done) == {}
        assert len(done.of_type("url")) == PAGES
        assert done.summary["skipped"]["removed"] == PAGES
        assert carried(week.job(name)) == sorted(week.site.url(f"/other/{number}") for number in range(PAGES))
        before = name
    week.site.routes = routes(week.site, **{"/other/0": "", "/other/1": TUESDAY, "/other/new": TUESDAY})
    done = week.crawl("after", before=f"{before}/{JOBDIR}")
    assert changes(done) == {"/other/0": "removed", "/other/1": "changed lastmod", "/other/new": "added"}
    found = Counter(record["change"] for record in done.of_type("url"))
    assert found["unchanged"] == 2 * PAGES - 2
    assert carried(week.job("after")) == []
    week.site.routes = {}
    again = week.crawl("after", before=f"{before}/{JOBDIR}")
    assert told(again) == told(done)


def carried(path: Path) -> list[str]:
    """What a job could not tell of."""
    with duckdb.connect(path, read_only=True) as connection:
        return sorted(loc for (loc,) in connection.execute("SELECT loc FROM carried").fetchall())


# ---- baselines that lack something


def cut_job(week: Days) -> str:
    done = week.crawl("cut", max_urls=3, settings=IN_ORDER)
    assert done.summary["partial"] == "max_urls"
    return f"cut/{JOBDIR}"


def feed_of_changes(week: Days) -> str:
    week.site.routes = routes(week.site, **{"/other/1": TUESDAY})
    week.crawl("changes", before=f"monday/{JOBDIR}", keep=False, only="changes")
    return f"changes/{FEED}"


LACKING = {"max_urls": cut_job, "only=changes": feed_of_changes}


@pytest.mark.slow
@pytest.mark.parametrize("says", LACKING)
def test_baseline_that_lacks_something_must_be_forced(
    week: Days, first: Crawl, refusal: Callable[..., str], tmp_path: Path, says: str
) -> None:
    path = week.folder / LACKING[says](week)
    week.site.routes = routes(week.site)
    connections = week.site.connections
    arguments: dict[str, Any] = {"domain": week.site.url(), "baseline": path}
    line = refusal(*command(settings={"JOBDIR": JOBDIR}, **arguments)[3:])
    assert says in line
    assert "force=yes" in line
    assert week.site.connections == connections
    forced = crawl(tmp_path, settings={"JOBDIR": JOBDIR}, force="yes", **arguments)
    assert forced.code == 0, forced.log
    assert Counter(forced.locs()) == Counter(first.locs())
    assert "added" in {record["change"] for record in forced.of_type("url")}


# ---- a link that moves on


def test_link_to_the_last_job_that_moves_on(week: Days, first: Crawl, tmp_path: Path) -> None:
    jobs, arguments = tmp_path / "jobs", {"domain": week.site.url(), "baseline": "jobs/last"}
    shutil.copytree(week.folder / "monday" / JOBDIR, jobs / "monday")
    (jobs / "last").symlink_to("monday")
    done = crawl(tmp_path, settings={"JOBDIR": "jobs/tuesday"}, **arguments)
    assert {record["change"] for record in done.of_type("url")} == {"unchanged"}
    (jobs / "last").unlink()
    (jobs / "last").symlink_to("tuesday")
    connections = week.site.connections
    again = crawl(tmp_path, settings={"JOBDIR": "jobs/tuesday"}, **arguments)
    assert again.code == 0, again.log
    assert told(again) == told(done)
    assert week.site.connections == connections
    assert {path.name for path in (jobs / "tuesday").iterdir()} == KEPT
    assert {path.name for path in tmp_path.iterdir()} == {"jobs", FEED, LOG}


COUNTING = r"""
from functools import wraps
from pathlib import Path

from sitemapcrawler.crawl.params import Params
from sitemapcrawler.jobs.store import Store, baseline


def count(owner, name):
    call = getattr(owner, name)

    @wraps(call)
    def counted(*given, **named):
        with Path("calls").open("a") as file:
            file.write(f"{name}\n")
        return call(*given, **named)

    setattr(owner, name, counted)


count(Params, "parse")
count(Store, "__init__")
count(baseline, "import_feed")
"""
"""A module of rules that notes what a crawl does before it starts; it is loaded before that."""


def test_arguments_job_and_baseline_are_read_once(week: Days, first: Crawl, tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(COUNTING)
    settings = {"SITEMAP_RULES": "counting.py", "JOBDIR": "job"}
    done = crawl(tmp_path, settings=settings, domain=week.site.url(), baseline=str(first.folder / FEED))
    assert done.code == 0
    assert changes(done) == {}
    assert sorted((tmp_path / "calls").read_text().split()) == ["__init__", "import_feed", "parse"]
