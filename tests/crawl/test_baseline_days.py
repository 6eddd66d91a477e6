"""Sites of a few files on two days or more: what else may change besides the files, and whom to believe."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from zlib import crc32

from tests.crawl.crawling import LOOPBACK
from tests.crawl.days import (
    JOBDIR,
    ONCE,
    Days,
    changes,
    conditional,
    dated_index,
    on,
    outcomes,
    path_of,
    urlset_of,
    xml,
)
from tests.crawl.documents import index, robots
from tests.crawl.site_server import Reply, SiteServer, moved

MONDAY, TUESDAY = "2024-05-06", "2024-05-07"
ONE_BY_ONE = {"SITEMAP_FETCH_AHEAD": 1, "SITEMAP_READ_AT_ONCE": 1}


def test_guess_that_is_not_answered_has_lost_nothing(site: SiteServer, tmp_path: Path) -> None:
    days = Days(site, tmp_path)
    site.routes = {
        "/sitemap.xml": urlset_of(site, on(MONDAY, ["/a", "/b"])),
        "/sitemap_index.xml": index(site.url("/c.xml")),
    }
    site.routes["/c.xml"] = urlset_of(site, on(MONDAY, ["/c"]))
    assert sorted(map(path_of, days.crawl("one").locs())) == ["/a", "/b", "/c"]
    site.routes["/sitemap.xml"] = Reply("", 503)
    done = days.crawl("two", before=f"one/{JOBDIR}", keep=False, settings=ONCE)
    assert changes(done) == {}
    assert done.summary["skipped"]["removed"] == 2


def test_robots_of_another_host_that_a_file_lists(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    days, settings = Days(site, tmp_path), {"SITEMAP_MAX_ROBOTS": 10, **LOOPBACK}
    pages = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{other.url('/page')}</loc></url></urlset>"
    site.routes = {"/robots.txt": robots(site.url("/a.xml")), "/a.xml": conditional(pages.encode(), etag='"1"')}
    other.routes = {"/robots.txt": robots(rules=["Disallow: /secret"])}
    one = days.crawl("one", settings=settings)
    same = days.crawl("same", before=f"one/{JOBDIR}", settings=settings)
    assert changes(same) == {}
    assert {record["robots"] for record in same.of_type("robots")} == {
        record["robots"] for record in one.of_type("robots")
    }
    other.routes = {"/robots.txt": robots(rules=["Disallow: /page"])}
    done = days.crawl("two", before=f"one/{JOBDIR}", settings=settings)
    assert changes(done) == {"/page": "changed blocked_for"}
    assert set(done.summary["agents"].values()) == {1}


def test_robots_of_the_host_that_a_redirect_leads_to(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    days = Days(site, tmp_path)
    site.routes = {"/robots.txt": moved(other.url("/robots.txt"), 301)}
    other.routes = {"/a.xml": conditional(urlset_of(other, on(MONDAY, ["/page"])), etag='"1"')}
    other.routes["/robots.txt"] = robots(other.url("/a.xml"))
    assert days.crawl("one", settings=LOOPBACK).code == 0
    same = days.crawl("same", before=f"one/{JOBDIR}", settings=LOOPBACK)
    assert outcomes(same)["/a.xml"][0] == "unchanged"
    other.routes["/robots.txt"] = robots(other.url("/a.xml"), rules=["Disallow: /page"])
    done = days.crawl("two", before=f"one/{JOBDIR}", settings=LOOPBACK)
    assert changes(done) == {"/page": "changed blocked_for"}


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
    assert outcomes(done) == {"/a.xml": ("ok", 200)}
    assert changes(done) == {
        "/gone": "changed reply.kind reply.status",
        "/moved": "changed reply.kind reply.final_url",
        "/hidden": "changed reply.noindex",
    }
    sampled = days.crawl("three", before=f"one/{JOBDIR}", keep=False, verify="get", sample=1)
    assert len(sampled.of_type("url")) == 4
    assert len(changes(sampled)) <= 1


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


def test_finding_that_has_passed_though_the_file_is_the_same(site: SiteServer, tmp_path: Path) -> None:
    days, file, rule = Days(site, tmp_path), site.url("/a.xml"), "index-lastmod-older-than-child"
    site.routes = {"/a.xml": conditional(urlset_of(site, on(TUESDAY, ["/a"])), etag='"1"')}
    site.routes |= {"/robots.txt": robots(site.url("/index.xml")), "/index.xml": xml(dated_index({file: "2024-01-01"}))}
    assert rule in days.crawl("one").summary["rules"]
    site.routes["/index.xml"] = xml(dated_index({file: TUESDAY}))
    done = days.crawl("two", before=f"one/{JOBDIR}")
    assert rule not in done.summary["rules"]
    assert changes(done) == {}
    assert outcomes(days.crawl("three", before=f"two/{JOBDIR}", keep=False))["/a.xml"] == ("unchanged", 304)


def test_dates_of_an_index_are_believed_until_it_lies(site: SiteServer, tmp_path: Path) -> None:
    days = Days(site, tmp_path)
    children = {of_turn(site, turn): MONDAY for turn in range(10)}
    names = list(children)

    def crawl_on(day: int, **pages: str) -> dict[str, tuple[str, int | None]]:
        for path, page in pages.items():
            site.routes[f"/{path}.xml"] = xml(urlset_of(site, on(MONDAY, [page])))
        site.routes["/index.xml"] = xml(dated_index({site.url(path): date for path, date in children.items()}))
        done = days.crawl(str(day), before=f"{day - 1}/{JOBDIR}" if day else None)
        assert done.code == 0
        listed = {row["loc"] for row in done.of_type("url") if row.get("change") != "removed"}
        assert len(listed) == 10
        return {path: outcome for path, outcome in outcomes(done).items() if path != "/index.xml"}

    def bare(paths: list[str], page: str) -> dict[str, str]:
        return {path[1:-4]: f"/{page}{path}" for path in paths}

    site.routes = {"/robots.txt": robots(site.url("/index.xml"))}
    assert set(crawl_on(0, **bare(names, "first")).values()) == {("ok", 200)}

    children |= dict.fromkeys(names[:4], TUESDAY)
    told = crawl_on(1, **bare(names[:4], "second"))
    assert Counter(told.values()) == {("ok", 200): 4, ("unchanged", 200): 6}

    children |= dict.fromkeys(names[4:6], TUESDAY)
    told = crawl_on(2, **bare(names[4:6], "third"))
    assert Counter(told.values()) == {("ok", 200): 2, ("unchanged", 200): 8}, "four changes were not enough"

    children[names[9]] = TUESDAY
    told = crawl_on(3, **bare(names[9:], "fourth"), **bare(names[5:6], "a lie nobody looks at"))
    assert told[names[9]] == ("ok", 200)
    assert told[names[2]] == ("unchanged", 200), "one in ten is looked at all the same"
    assert Counter(told.values()) == {("ok", 200): 1, ("unchanged", 200): 1, ("unchanged", None): 8}
    assert set(days.paths("3")) == {"/robots.txt", "/index.xml", names[9], names[2]}

    told = crawl_on(4, **bare(names[3:4], "a lie that is noticed"))
    assert told[names[3]] == ("ok", 200)
    assert Counter(told.values()) == {("ok", 200): 1, ("unchanged", None): 9}

    told = crawl_on(5)
    assert told[names[5]] == ("ok", 200)
    assert Counter(told.values()) == {("ok", 200): 1, ("unchanged", 200): 9}


def of_turn(site: SiteServer, turn: int) -> str:
    """A path that is looked at on the day of that number."""
    paths = (f"/{number}-{turn}.xml" for number in range(1000))
    return next(path for path in paths if crc32(site.url(path).encode()) % 10 == turn)
