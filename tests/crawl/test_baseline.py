"""A crawl beside an earlier one: what has changed since, and what need not be read again."""

from __future__ import annotations

import csv
import json
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import pyarrow.parquet as pq
import pytest

from sitemapcrawler.rules import Per, all_rules
from tests.crawl.crawling import FEED, LOOPBACK, Crawl, command, read_feed
from tests.crawl.days import (
    JOBDIR,
    NEWS,
    ONCE,
    RICH,
    Days,
    changes,
    known,
    on,
    outcomes,
    path_of,
    stubborn,
    urlset_of,
    xml,
)
from tests.crawl.documents import beginning, index, packed, robots
from tests.crawl.job_feeds import timeless
from tests.crawl.jobs import DATABASE, KEPT
from tests.crawl.site_server import Reply, Route, SiteServer, conditional, moved
from tests.crawl.test_jobs import contents

MONDAY, TUESDAY = "2024-05-06", "2024-05-07"
MODIFIED = "Mon, 06 May 2024 10:00:00 GMT"
FEEDS = (FEED, "urls.jsonl.gz", "urls.parquet", "urls.csv", "all.json")
MANY = 1200
"""Entries of a file that is more than a batch."""


def numbered(name: str, count: int) -> list[str]:
    return [f"/{name}/{number}" for number in range(count)]


def monday(site: SiteServer) -> dict[str, Route]:
    """The site on its first day."""

    def listing(**entries: str) -> bytes:
        return urlset_of(site, entries)

    def of(*paths: str) -> bytes:
        return urlset_of(site, on(MONDAY, paths))

    files: dict[str, Route] = {
        "/etag.xml": conditional(of(*numbered("etag", 5)), etag='"1"'),
        "/modified.xml": conditional(of(*numbered("modified", 3)), modified=MODIFIED),
        "/both.xml": conditional(of(*numbered("both", 4), "/pair", "/shared"), '"both"', MODIFIED),
        "/none.xml": xml(of(*numbered("none", 3), "/pair", "/private/none")),
        "/stubborn.xml": stubborn(of(*numbered("stubborn", 3), "/shared"), 'W/"odd, \xe4"'),
        "/packed.xml.gz": conditional(packed(of(*numbered("packed", 3))), etag='"gz"'),
        "/alias.xml": moved(site.url("/none.xml")),
        "/rich.xml": conditional(urlset_of(site, RICH), etag='"rich"'),
        "/news.xml": conditional(urlset_of(site, NEWS), etag='"news"'),
        "/many.xml": conditional(of(*numbered("many", MANY)), etag='"many"'),
        "/left.xml": xml(of(*numbered("left", 3))),
        "/broken.xml": xml(of(*numbered("broken", 2), "/broken/a&b").replace(b"&amp;", b"&")),
        "/deep.xml": conditional(index(site.url("/child.xml")), etag='"deep"'),
        "/missing.xml": Reply("", 404),
    }
    child: Route = xml(of(*numbered("child", 3)))
    named = robots(site.url("/index.xml"), rules=["Disallow: /private/", "User-agent: GPTBot", "Disallow: /both/"])
    return {"/robots.txt": named, "/index.xml": xml(index(*map(site.url, files))), "/child.xml": child, **files}


def tuesday(site: SiteServer) -> dict[str, Route]:
    """The site on the next day: entries and files come, change and go."""
    routes = monday(site)

    def of(*paths: str, **dates: str) -> bytes:
        return urlset_of(site, {**on(MONDAY, paths), **on(TUESDAY, [f"/{name}" for name in dates.values()])})

    routes["/etag.xml"] = conditional(of("/etag/0", "/etag/1", "/etag/new", a="etag/2"), etag='"2"')
    routes["/both.xml"] = conditional(of(*numbered("both", 4), "/etag/3", "/shared"), '"other"', MODIFIED)
    routes["/none.xml"] = xml(of(*numbered("none", 3), "/private/none"))
    routes["/stubborn.xml"] = stubborn(of(*numbered("stubborn", 3)), 'W/"odd, \xe4"')
    routes["/modified.xml"] = Reply("", 404)
    routes["/rich.xml"] = conditional(urlset_of(site, escaped(RICH | CHANGED_RICH)), etag='"richer"')
    routes["/news.xml"] = xml(urlset_of(site, CHANGED_NEWS))
    routes["/many.xml"] = conditional(of(*numbered("many", MANY)[1:]), etag='"fewer"')
    routes["/child.xml"] = xml(of("/child/0", "/child/1", b="child/2"))
    listed = [path for path in routes if path.endswith((".xml", ".gz")) and path not in ("/index.xml", "/child.xml")]
    routes["/index.xml"] = xml(index(*(site.url(path) for path in listed if path != "/left.xml")))
    return routes


def escaped(entries: Mapping[str, str]) -> dict[str, str]:
    """The same pages, spelled as `loc-non-ascii` advises."""
    return {quote(path, safe="/?=&"): more for path, more in entries.items()}


CHANGED_RICH = {
    "/rich/core": RICH["/rich/core"].replace("0.80", "0.9").replace("weekly", "daily"),
    "/rich/images": RICH["/rich/images"].replace("&amp;", "and"),
    "/rich/video": RICH["/rich/video"].replace("a=1", "a=0"),
    "/rich/links": RICH["/rich/links"].replace('"de"', '"fr"'),
}
CHANGED_NEWS = {path: more.replace(">N<", ">M<") for path, more in NEWS.items()}
CHANGES = {
    "/etag/2": "changed lastmod",
    "/etag/4": "removed",
    "/etag/new": "added",
    "/pair": "removed",
    **dict.fromkeys(numbered("modified", 3) + numbered("left", 3), "removed"),
    "/rich/core": "changed changefreq priority",
    "/rich/images": "changed images",
    "/rich/video": "changed videos",
    "/news/page": "changed news",
    "/rich/links": "changed alternates",
    "/many/0": "removed",
    "/child/2": "changed lastmod",
}
"""What has become of pages from Monday to Tuesday; `/etag/3` has moved, `/shared` is listed once instead of twice."""


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Days]:
    """The site and its first day."""
    with SiteServer() as site:
        days = Days(site, tmp_path_factory.mktemp("week"))
        site.routes = monday(site)
        assert days.crawl("monday", *FEEDS).code == 0
        yield days


@pytest.fixture
def first(week: Days) -> Crawl:
    """The first day, whose site is the one that is served."""
    week.site.routes = monday(week.site)
    return week.recorded("monday")


@pytest.fixture(scope="module")
def still(week: Days) -> Crawl:
    """The next day, where nothing has changed."""
    week.site.routes = monday(week.site)
    before = contents(week.folder / "monday")
    done = week.crawl("still", before=f"monday/{JOBDIR}")
    assert contents(week.folder / "monday") == before, "a baseline is only read"
    assert {path.name for path in week.job("still").parent.iterdir()} == KEPT
    return done


@pytest.fixture(scope="module")
def changed(week: Days) -> Crawl:
    """The next day, where much has changed."""
    week.site.routes = tuesday(week.site)
    return week.crawl("changed", *FEEDS, before=f"monday/{JOBDIR}/{DATABASE}")


# ---- nothing has changed


def test_files_are_revalidated(week: Days, first: Crawl, still: Crawl) -> None:
    assert still.code == 0
    found = outcomes(still)
    assert found.pop("/alias.xml") == outcomes(first)["/alias.xml"]
    assert found.pop("/missing.xml") == ("failed", 404)
    assert found == dict.fromkeys(found, ("unchanged", 200)), "whether the server says so, or sends the same again"
    assert "14 of 16 files unchanged since the baseline" in still.log


def test_validators_are_those_of_the_day_before(week: Days, first: Crawl, still: Crawl) -> None:
    names = "if-none-match", "if-modified-since"
    sent = {one.path: tuple(one.headers.get(name) for name in names) for one in week.asked["still"]}
    assert sent["/etag.xml"] == ('"1"', None)
    assert sent["/modified.xml"] == (None, MODIFIED)
    assert sent["/both.xml"] == ('"both"', MODIFIED)
    assert sent["/index.xml"] == sent["/none.xml"] == sent["/robots.txt"] == (None, None)
    assert all(
        value == (None, None)
        for value in [tuple(one.headers.get(name) for name in names) for one in week.asked["monday"]]
    )
    assert Counter(week.paths("still")) == Counter(week.paths("monday"))


def test_everything_that_was_known_is_told_again(first: Crawl, still: Crawl) -> None:
    assert len(first.of_type("finding")) > 10
    for kind in ("url", "finding", "sitemap", "robots", "summary"):
        assert counted(still, kind, known) == counted(first, kind, known), kind
    assert {record["change"] for record in still.of_type("url")} == {"unchanged"}
    assert still.summary["agents"]["GPTBot"] == 4
    [told] = still.of_type("robots")
    assert told["agents"]["GPTBot"] == 4


def counted(done: Crawl, kind: str, shortened: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Counter[str]:
    """The records of a type, without what may differ."""
    return Counter(json.dumps(shortened(record), sort_keys=True) for record in done.of_type(kind))


@pytest.mark.slow
def test_feed_as_a_baseline(week: Days, first: Crawl) -> None:
    """One of rows; `unit/jobs/store/test_baseline.py` reads all kinds."""
    done = week.crawl("beside", before="monday/urls.csv", keep=False)
    assert done.code == 0
    assert changes(done) == {}
    assert len(done.of_type("url")) == len(first.of_type("url"))
    assert "unchanged" not in {outcome for outcome, _ in outcomes(done).values()}
    assert "unchanged" not in done.log, "it does not say what the files were"
    assert done.summary["rules"] == first.summary["rules"]


# ---- much has changed


def test_changes_are_told(changed: Crawl) -> None:
    assert changed.code == 0
    assert changes(changed) == CHANGES
    assert "removed" not in changed.summary.get("skipped", {})


def test_unchanged_index_leads_to_a_child_that_changed(changed: Crawl) -> None:
    found = outcomes(changed)
    assert found["/deep.xml"] == found["/packed.xml.gz"] == ("unchanged", 200)
    assert found["/child.xml"] == ("ok", 200)


def test_every_feed_has_the_changes(week: Days, changed: Crawl) -> None:
    rows = changed.of_type("url")
    told = Counter((row["loc"], row["sitemap"], row["change"], *row.get("changed_fields", ())) for row in rows)
    folder = week.folder / "changed"
    with (folder / "urls.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert told == Counter(
        (row["loc"], row["sitemap"], row["change"], *filter(None, row["changed_fields"].split("; "))) for row in cells
    )
    for other in (pq.read_table(folder / "urls.parquet").to_pylist(), json.loads((folder / "all.json").read_bytes())):
        found = [row for row in other if row.get("type", "url") == "url"]
        assert told == Counter(
            (row["loc"], row["sitemap"], row["change"], *(row.get("changed_fields") or ())) for row in found
        )


def test_rules_say_of_the_site_what_a_fresh_crawl_says(week: Days, changed: Crawl) -> None:
    """What is listed no more is not part of the site, and what was taken over is."""
    week.site.routes = tuesday(week.site)
    fresh = week.crawl("fresh", keep=False)
    of_changes = ("cross-removed-url", "cross-added-url", "cross-count-drop")
    found = {rule: count for rule, count in changed.summary["rules"].items() if rule not in of_changes}
    assert found == fresh.summary["rules"]
    assert set(changed.summary["rules"]) - set(found) == {"cross-removed-url", "cross-added-url"}
    assert changed.summary["agents"] == fresh.summary["agents"]
    assert changed.of_type("robots") == fresh.of_type("robots")
    assert listed(changed) == Counter(fresh.locs())


def listed(done: Crawl) -> Counter[str]:
    """Pages that are listed now."""
    return Counter(record["loc"] for record in done.of_type("url") if record["change"] != "removed")


def test_only_changes(week: Days, changed: Crawl) -> None:
    week.site.routes = tuesday(week.site)
    settings = {"SITEMAP_ITEMS": "records"}
    name = "only"
    done = week.crawl(name, *FEEDS, before=f"monday/{JOBDIR}", keep=False, only="changes", settings=settings)
    assert done.code == 0
    assert changes(done) == CHANGES
    assert len(done.of_type("url")) == len(CHANGES)
    assert done.summary["urls"] == sum(record["change"] != "removed" for record in done.of_type("url"))
    for name_of_count in ("rules", "severities", "agents", "skipped"):
        assert done.summary.get(name_of_count) == changed.summary.get(name_of_count), name_of_count
    folder = week.folder / name
    with (folder / "urls.csv").open(encoding="utf-8", newline="") as file:
        assert {path_of(row["loc"]) for row in csv.DictReader(file)} == set(CHANGES)
    assert pq.read_table(folder / "urls.parquet").num_rows == len(CHANGES)
    whole = json.loads((folder / "all.json").read_bytes())
    assert Counter(row["type"] for row in whole) == Counter(row["type"] for row in done.records)
    assert about(done.of_type("finding")) == about(changed.of_type("finding")) & {None, *CHANGES}
    assert len(about(changed.of_type("finding"))) > len(about(done.of_type("finding"))) > 3


def about(findings: list[dict[str, Any]]) -> set[str | None]:
    """Paths of the pages that findings are about; None for those on files and sites."""
    of_entries = {rule.id for rule in all_rules() if rule.per is Per.ENTRY}
    return {path_of(one["url"]) if "url" in one and one["rule"] in of_entries else None for one in findings}


# ---- what cannot be said


def test_urls_of_files_that_failed_are_not_removed(week: Days, first: Crawl) -> None:
    site = week.site
    site.routes["/none.xml"] = Reply("", 500)
    site.routes["/etag.xml"] = xml(beginning(site.url("/etag/0"), site.url("/etag/1")))
    site.routes["/both.xml"] = xml(urlset_of(site, on(MONDAY, [*numbered("both", 3), "/shared", "/pair"])))
    files = [
        path for path in site.routes if path.endswith((".xml", ".gz")) and path not in ("/index.xml", "/child.xml")
    ]
    site.routes["/index.xml"] = xml(index(*(site.url(path) for path in files if path != "/left.xml")))
    done = week.crawl("failing", before=f"monday/{JOBDIR}", settings=ONCE)
    assert outcomes(done)["/etag.xml"][0] == "truncated"
    assert changes(done) == {"/both/3": "removed", "/etag/0": "changed lastmod", "/etag/1": "changed lastmod"}
    left = 3 + 4 + 3  # of /etag.xml, /none.xml (where /pair is listed by another one) and /left.xml
    assert done.summary["skipped"]["removed"] == left
    with duckdb.connect(week.job("failing"), read_only=True) as connection:
        held = dict(
            connection.execute("SELECT sitemap, count(*) FROM urls WHERE change <> 'removed' GROUP BY 1").fetchall()
        )
    assert held == Counter(record["sitemap"] for record in done.of_type("url") if record["change"] != "removed")
    assert not held.keys() & {site.url("/none.xml"), site.url("/left.xml")}


def test_site_that_is_down_has_lost_nothing(week: Days, first: Crawl, other: SiteServer) -> None:
    week.site.routes["/robots.txt"] = Reply("", 503)
    other.routes["/sitemap.xml"] = urlset_of(other, {"/page": ""})
    domains = f"{week.site.url()},{other.url()}"
    done = week.crawl("down", before=f"monday/{JOBDIR}", keep=False, domain=domains, settings=ONCE | LOOPBACK)
    assert [(path_of(row["loc"]), row["change"]) for row in done.of_type("url")] == [("/page", "added")]
    assert done.summary["skipped"]["removed"] == len(set(first.locs()))


# ---- files that must be read again


def test_robots_that_changed(week: Days, first: Crawl) -> None:
    site = week.site
    site.routes["/robots.txt"] = robots(site.url("/index.xml"), rules=["Disallow: /private/", "Disallow: /child/0"])
    done = week.crawl("other robots", before=f"monday/{JOBDIR}", keep=False)
    told = [*numbered("both", 4), "/child/0", "/private/page", "/private/none"]  # GPTBot has no group of its own now
    assert changes(done) == dict.fromkeys(told, "changed blocked_for")
    assert outcomes(done)["/both.xml"] == ("unchanged", 200), "its entries are judged again"


# ---- a crawl that is killed


@pytest.fixture(scope="module")
def killed(week: Days, changed: Crawl) -> Path:
    """The folder of the second day, killed half way."""
    site = week.site
    site.routes = tuesday(site)
    with week.start("killed", before=f"monday/{JOBDIR}", settings={"DOWNLOAD_DELAY": 0.3}) as running:
        running.wait_until(lambda: len(site.exchanges) >= 9)
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
    return week.folder / "killed"


@pytest.mark.slow
def test_killed_crawl_goes_on(week: Days, changed: Crawl, killed: Path) -> None:
    week.site.routes = tuesday(week.site)
    shutil.copytree(killed, week.folder / "resumed")
    done = week.crawl("resumed", before=f"monday/{JOBDIR}")
    assert done.code == 0
    assert len(week.paths("resumed")) < len(week.asked["changed"])
    for kind in ("url", "finding", "sitemap", "robots", "summary"):
        assert counted(done, kind, timeless) == counted(changed, kind, timeless), kind


# ---- baselines that are refused


def words(week: Days, settings: Mapping[str, object] | None = None, **arguments: Any) -> list[str]:
    """The words of a crawl of the site with a job of its own; `None`: without that argument."""
    given = {name: value for name, value in {"domain": week.site.url(), **arguments}.items() if value is not None}
    return command(settings={"JOBDIR": JOBDIR, **(settings or {})}, **given)[3:]


@pytest.fixture
def refused(week: Days, first: Crawl, refusal: Callable[..., str]) -> Callable[..., str]:
    """Returns the only line of a crawl that is refused; nothing is requested, and its baseline stays as it is."""

    def line(before: str, **more: Any) -> str:
        kept, asked = contents((week.folder / before).parent), week.site.connections
        text = refusal(*words(week, **{"baseline": week.folder / before, **more}))
        assert contents((week.folder / before).parent) == kept
        assert week.site.connections == asked
        return text

    return line


FOREIGN = {"domain": "http://other.example:1"}
REFUSED: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "job of another site": (f"monday/{JOBDIR}/{DATABASE}", FOREIGN, ("other.example", "force=yes")),
    "without a database of its own": (
        f"monday/{JOBDIR}/{DATABASE}",
        {"settings": {"JOBDIR": "", "SITEMAP_STORE": "False"}},
        ("SITEMAP_STORE",),
    ),
    "cut feed": ("bad/cut.jsonl", {}, ("cut.jsonl",)),
    "summary with a malformed part": ("bad/odd.jsonl", {}, ("odd.jsonl cannot be used: ", "$.graph")),
    "table of something else": ("bad/prices.csv", {}, ("prices.csv", "no column loc")),
    "table of another site": ("monday/urls.csv", FOREIGN, ("other.example", "force=yes")),
    "another kind of file": ("monday/all.json", {}, ("baseline",)),
    "changes without one": ("monday", {"baseline": None, "only": "changes"}, ("only",)),
    "force without one": ("monday", {"baseline": None, "force": "yes"}, ("force",)),
}
"""{situation: (baseline, further parameters, what the line says)}"""


@pytest.fixture(scope="module")
def bad_baselines(week: Days) -> None:
    """Files in the folder `bad` that no crawl can have left."""
    folder = week.folder / "bad"
    folder.mkdir()
    data = (week.folder / "monday" / FEED).read_bytes()
    (folder / "cut.jsonl").write_bytes(data[: len(data) * 3 // 4 - 7])
    (folder / "prices.csv").write_text("name,price\nBall,5\n")
    records = read_feed(week.folder / "monday" / FEED)
    odd = (record | {"graph": [1]} if record["type"] == "summary" else record for record in records)
    (folder / "odd.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in odd))


@pytest.mark.parametrize("name", REFUSED)
def test_baseline_that_cannot_be_used(bad_baselines: None, refused: Callable[..., str], name: str) -> None:
    before, parameters, said = REFUSED[name]
    line = refused(before, **parameters)
    assert [word for word in said if word not in line] == [], line


def test_unfinished_baseline(killed: Path, refused: Callable[..., str]) -> None:
    assert list(killed.glob(f"{JOBDIR}/*.wal")), "a log stands beside it"
    line = refused(f"killed/{JOBDIR}/{DATABASE}")
    assert "not finished" in line
    assert "force=yes" in line


@pytest.mark.parametrize(("baseline", "fresh"), [(JOBDIR, "no"), ("bad.jsonl", "yes")])
def test_job_outlives_a_baseline_that_is_refused(
    week: Days, first: Crawl, refusal: Callable[..., str], tmp_path: Path, baseline: str, fresh: str
) -> None:
    shutil.copytree(week.folder / "monday" / JOBDIR, tmp_path / JOBDIR)
    (tmp_path / "bad.jsonl").write_text("nothing")
    before = contents(tmp_path)
    assert "baseline" in refusal(*words(week, baseline=baseline, fresh=fresh))
    assert contents(tmp_path) == before
