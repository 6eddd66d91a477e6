"""Sites of a few files on two days or more: what else may change besides the files, and whom to believe."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import duckdb
import pytest

from tests.constants import ONE_BY_ONE
from tests.crawl.crawling import FEED, LOOPBACK
from tests.crawl.days import (
    JOBDIR,
    Days,
    changes,
    dated_index,
    on,
    outcomes,
    path_of,
    urlset_of,
    xml,
)
from tests.crawl.documents import index, robots
from tests.crawl.site_server import Reply, SiteServer, conditional, moved

MONDAY, TUESDAY = "2024-05-06", "2024-05-07"


@pytest.mark.slow
def test_robots_of_another_host_that_a_file_lists(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    days, settings = Days(site, tmp_path), {"SITEMAP_MAX_ROBOTS": 10, **LOOPBACK}
    pages = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{other.url('/page')}</loc></url></urlset>"
    site.routes = {"/robots.txt": robots(site.url("/a.xml")), "/a.xml": conditional(pages.encode(), etag='"1"')}
    other.routes = {"/robots.txt": robots(rules=["Disallow: /secret"])}
    one = days.crawl("one", settings=settings)
    other.routes = {"/robots.txt": robots(rules=["Disallow: /page"])}
    done = days.crawl("two", before=f"one/{JOBDIR}", settings=settings)
    assert changes(done) == {"/page": "changed blocked_for"}
    assert {row["robots"] for row in done.of_type("robots")} == {row["robots"] for row in one.of_type("robots")}
    assert set(done.summary["agents"].values()) == {1}


@pytest.mark.slow
def test_verified_urls_are_asked_again(site: SiteServer, tmp_path: Path) -> None:
    days = Days(site, tmp_path)
    pages = {
        f"/{name}": f"<html><title>{name}</title><body>{name * 40}" for name in ("same", "gone", "moved", "hidden")
    }
    site.routes = {path: Reply(body, headers={"Content-Type": "text/html"}) for path, body in pages.items()}
    site.routes["/robots.txt"] = robots(site.url("/a.xml"))
    site.routes["/a.xml"] = conditional(urlset_of(site, on(MONDAY, pages)), etag='"1"')
    assert days.crawl("one", verify="get").code == 0
    site.routes |= {"/gone": Reply("", 404), "/moved": moved(site.url("/same"), 301)}
    hidden = "<html><head><meta name=robots content=noindex><title>hidden</title><body>" + "hidden" * 40
    site.routes["/hidden"] = Reply(hidden, headers={"Content-Type": "text/html"})
    done = days.crawl("two", before=f"one/{JOBDIR}", verify="get")
    assert outcomes(done) == {"/a.xml": ("unchanged", 200)}
    assert changes(done) == {
        "/gone": "changed reply.kind reply.status reply.final_status",
        "/moved": "changed reply.kind reply.status reply.final_url",
        "/hidden": "changed reply.noindex",
    }


def test_page_that_is_spelled_in_another_way_is_the_same(site: SiteServer, tmp_path: Path) -> None:
    """On the second day the site escapes its URLs, as `loc-non-ascii` advises; on the third it takes that back."""
    days, html = Days(site, tmp_path), {"Content-Type": "text/html"}
    raw, escaped, rest = "/kä?ü", "/k%C3%A4?%C3%BC", "<body><p>" + "The text of a page. " * 20
    site.routes = {path: Reply(f"<title>{path}</title>{rest}", headers=html) for path in (escaped, "/plain")}
    site.routes["/robots.txt"] = robots(site.url("/a.xml"))
    listings = ((raw, "/404/ä", "/gone/ä"), (escaped, "/404/%C3%A4", "/new/%C3%A4"), (raw, "/404/ä"))
    for day, listed in enumerate((*paths, "/plain") for paths in listings):
        site.routes["/a.xml"] = xml(urlset_of(site, on(f"2024-05-0{day + 1}", listed)))
        before = f"{day - 1}/{JOBDIR}" if day else None
        done = days.crawl(str(day), FEED, "changes.csv", before=before, verify="get")
        if day == 0:
            continue
        gone, come = {1: ("/gone/ä", ["/new/%C3%A4"]), 2: ("/new/%C3%A4", [])}[day]
        kept = dict.fromkeys((*listed[:2], "/plain"), "changed lastmod")
        assert changes(done) == {**kept, gone: "removed", **dict.fromkeys(come, "added")}
        with (tmp_path / str(day) / "changes.csv").open(encoding="utf-8", newline="") as file:
            rows = [(path_of(row["url"]), row["change"], row["rule"]) for row in csv.DictReader(file)]
        of_problems = [(gone, "solved problem", "status-404"), *((path, "new problem", "status-404") for path in come)]
        assert sorted(row for row in rows if row[2]) == sorted(of_problems)
        assert done.summary["changes"]["removed"] == 1
        with duckdb.connect(days.job(str(day)), read_only=True) as job:
            seen = dict(job.execute("SELECT url, first_seen = min(first_seen) OVER () FROM contents").fetchall())
            assert seen == {site.url(raw if day == 2 else escaped): True, site.url("/plain"): True}


def test_page_that_is_gone_comes_before_those_that_link_to_it(site: SiteServer, tmp_path: Path) -> None:
    days, html = Days(site, tmp_path), {"Content-Type": "text/html"}
    link = '<x:link xmlns:x="http://www.w3.org/1999/xhtml" rel="alternate" hreflang="{}" href="{}"/>'
    links = "".join(link.format(code, site.url(f"/{code}")) for code in ("de", "en"))
    site.routes = {path: Reply(f"<title>{path}</title><p>{path * 60}", headers=html) for path in ("/de", "/en")}
    site.routes["/robots.txt"] = robots(site.url("/a.xml"))
    listed = urlset_of(site, on(MONDAY, ["/de", "/en"]))
    site.routes["/a.xml"] = xml(listed.replace(b"</url>", f"{links}</url>".encode()))
    days.crawl("one", verify="get")
    site.routes["/de"] = Reply("", 404)
    days.crawl("two", FEED, "changes.csv", before=f"one/{JOBDIR}", verify="get")
    with (tmp_path / "two" / "changes.csv").open(encoding="utf-8", newline="") as file:
        assert [row["rule"] for row in csv.DictReader(file) if row["rule"]] == ["status-404", "hreflang-target-status"]


@pytest.mark.parametrize("status", [503, 429])
def test_problem_of_a_file_is_solved_only_if_that_is_known(site: SiteServer, tmp_path: Path, status: int) -> None:
    """The index lists a missing file; then the site is down or busy, then the index lists it no longer."""
    days = Days(site, tmp_path)
    site.routes = {"/robots.txt": robots(site.url("/index.xml")), "/a.xml": xml(urlset_of(site, on(MONDAY, ["/a"])))}
    site.routes["/index.xml"] = xml(index(site.url("/a.xml"), site.url("/missing.xml")))
    days.crawl("one")
    up = site.routes["/robots.txt"]
    site.routes["/robots.txt"] = Reply("", status)
    down = days.crawl("two", before=f"one/{JOBDIR}", settings={"RETRY_TIMES": 0}).summary["changes"]
    assert (down.get("solved_problems"), down["new_problems"]) == (None, {"error": 1})
    site.routes |= {"/robots.txt": up, "/index.xml": xml(index(site.url("/a.xml")))}
    assert days.crawl("three", before=f"one/{JOBDIR}").summary["changes"]["solved_problems"] == {"error": 1}


@pytest.mark.slow
def test_alias_that_comes_first_today(site: SiteServer, tmp_path: Path) -> None:
    """Which of two URLs is the file depends on who comes first; its pages are listed once all the same."""
    days = Days(site, tmp_path)
    site.routes = {"/a.xml": conditional(urlset_of(site, on(MONDAY, ["/page"])), etag='"a"'), "/b.xml": moved("/a.xml")}
    named = [site.url("/b.xml"), site.url("/index.xml")]
    site.routes |= {"/robots.txt": robots(*named), "/index.xml": xml(index(site.url("/a.xml")))}
    assert outcomes(days.crawl("one", settings=ONE_BY_ONE, agents="none"))["/b.xml"] == ("ok", 200)
    site.routes["/robots.txt"] = robots(*named[::-1])
    done = days.crawl("two", before=f"one/{JOBDIR}", keep=False, settings=ONE_BY_ONE, agents="none")
    assert set(days.paths("two")) >= {"/a.xml", "/b.xml"}
    assert [row["change"] for row in done.of_type("url")] == ["unchanged"]


@pytest.mark.slow
def test_finding_that_has_passed_though_the_file_is_the_same(site: SiteServer, tmp_path: Path) -> None:
    days, file, rule = Days(site, tmp_path), site.url("/a.xml"), "index-lastmod-older-than-child"
    site.routes = {"/a.xml": conditional(urlset_of(site, on(TUESDAY, ["/a"])), etag='"1"')}
    site.routes |= {"/robots.txt": robots(site.url("/index.xml")), "/index.xml": xml(dated_index({file: "2024-01-01"}))}
    assert rule in days.crawl("one").summary["rules"]
    site.routes["/index.xml"] = xml(dated_index({file: TUESDAY}))
    done = days.crawl("two", before=f"one/{JOBDIR}")
    assert rule not in done.summary["rules"]
    assert changes(done) == {}


@pytest.mark.slow
def test_files_are_requested_whatever_their_index_says(site: SiteServer, tmp_path: Path) -> None:
    """An index may keep the old date of a file that has changed."""
    days, listed = Days(site, tmp_path), {site.url(path): MONDAY for path in ("/a.xml", "/b.xml")}
    site.routes = {"/robots.txt": robots(site.url("/index.xml")), "/index.xml": xml(dated_index(listed))}
    for day in range(3):
        changing = conditional(urlset_of(site, on(MONDAY, [f"/{day}"])), etag=f'"{day}"')
        site.routes |= {"/a.xml": changing, "/b.xml": conditional(urlset_of(site, on(MONDAY, ["/b"])), etag='"b"')}
        done = days.crawl(str(day), before=f"{day - 1}/{JOBDIR}" if day else None)
        told = outcomes(done)
        assert told["/a.xml"] == ("ok", 200)
        assert told["/b.xml"] == (("unchanged", 200) if day else ("ok", 200))
        assert {"/a.xml", "/b.xml"} <= set(days.paths(str(day)))


def test_unchanged_file_is_judged_as_today(site: SiteServer, tmp_path: Path) -> None:
    """The server does not send it again, and it is judged by other rules than the day before, by a job or without one."""
    days = Days(site, tmp_path)
    body = urlset_of(site, on(MONDAY, ["/page", "/page?b=%zz"]))
    site.routes = {"/robots.txt": robots(site.url("/a.xml")), "/a.xml": conditional(body, etag='"1"')}
    assert days.crawl("one", select="doc").of_type("finding") == []
    fresh = days.crawl("fresh", keep=False)
    for day, keep in (("two", True), ("three", False)):
        done = days.crawl(day, before=f"one/{JOBDIR}", keep=keep)
        assert outcomes(done) == {"/a.xml": ("unchanged", 200)}
        assert [one.headers.get("if-none-match") for one in site.exchanges if one.path == "/a.xml"] == ['"1"']
        [file] = done.of_type("sitemap")
        assert (file["url_count"], file["bytes_fetched"]) == (2, len(body))
        assert changes(done) == {}
        assert done.summary["rules"] == fresh.summary["rules"]


def test_baseline_whose_cache_is_elsewhere(site: SiteServer, tmp_path: Path) -> None:
    days = Days(site, tmp_path)
    body = urlset_of(site, on(MONDAY, ["/page"]))
    site.routes = {"/robots.txt": robots(site.url("/a.xml")), "/a.xml": conditional(body, etag='"1"')}
    days.crawl("one")
    shutil.copy(days.job("one"), tmp_path / "copy.duckdb")
    done = days.crawl("two", before="copy.duckdb")
    assert outcomes(done) == {"/a.xml": ("unchanged", 200)}
    assert {one.headers.get("if-none-match") for one in site.exchanges} == {None}
    assert changes(done) == {}
