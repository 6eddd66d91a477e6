"""robots.txt in real crawls: asked once, obeyed by RFC 9309, judged for every URL, and proof for other hosts."""

from __future__ import annotations

import codecs
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import LOOPBACK, Crawl, crawl, start
from tests.crawl.documents import index, page, robots, text, urlset
from tests.crawl.site_server import Reply, Route, SiteServer, cut, endless, garbage, moved, reset, stalled

ROBOTS = "/robots.txt"
SITEMAP = "/sitemap.xml"
QUICK = {"DOWNLOAD_TIMEOUT": 1, "RETRY_TIMES": 0}
DENIED = "User-agent: *\nDisallow: /sitemap.xml\n"
OPEN = "User-agent: *\nDisallow: /other\n"
MIXED = """\
User-agent: *
Disallow: /private/
Allow: /private/open

User-agent: Googlebot
Disallow: /search

User-agent: GPTBot
User-agent: CCBot
Disallow: /
"""


def asked_of(site: SiteServer, path: str) -> int:
    """How often a path was asked for."""
    return sum(exchange.path == path for exchange in site.exchanges)


def visited(site: SiteServer, folder: Path, reply: Route, **arguments: Any) -> Crawl:
    """A crawl of the sitemap of a site with this robots.txt."""
    site.routes |= {ROBOTS: reply, SITEMAP: urlset(site.url("/page"))}
    return crawl(folder, settings=QUICK, sitemap=site.url(SITEMAP), **arguments)


def robots_of(done: Crawl, site: SiteServer) -> dict[str, Any]:
    """The record of the site's robots.txt."""
    [record] = [record for record in done.of_type("robots") if record["robots"] == site.url(ROBOTS)]
    return record


# ---- what an answer means: RFC 9309, 2.3.1

MEANINGS: dict[str, tuple[Route, str, str]] = {
    "rules that allow": (OPEN, "parsed", "ok"),
    "rules that forbid": (DENIED, "parsed", "blocked"),
    "204": (Reply(status=204), "parsed", "ok"),
    "401": (Reply(DENIED, 401), "unavailable", "ok"),
    "403": (Reply(DENIED, 403), "unavailable", "ok"),
    "404": (Reply(DENIED, 404), "unavailable", "ok"),
    "410": (Reply(DENIED, 410), "unavailable", "ok"),
    "500": (Reply(OPEN, 500), "unreachable", "blocked"),
    "503": (Reply(OPEN, 503), "unreachable", "blocked"),
    "reset": (reset(), "unreachable", "failed"),
    "no answer in time": (stalled(), "unreachable", "failed"),
    "no HTTP": (garbage(b"hello"), "unreachable", "failed"),
    "cut short": (cut(DENIED.encode()), "unreachable", "failed"),
    "byte order mark": (codecs.BOM_UTF8 + DENIED.encode(), "parsed", "blocked"),
    "UTF-16": (DENIED.encode("utf-16"), "parsed", "blocked"),
    "lone CR": (DENIED.replace("\n", "\r"), "parsed", "blocked"),
    "NULs": (b"\0\0\n" + DENIED.encode() + b"\0", "parsed", "blocked"),
    "binary": (bytes(range(256)) * 40, "parsed", "ok"),
    "HTML": (page(), "parsed", "ok"),
    "JSON": ('{"error": "not found"}', "parsed", "ok"),
    "endless": (endless(DENIED.encode(), b"# more\n" * 10_000), "parsed", "blocked"),
    "100,000 rules": (DENIED + "Disallow: /a/*/b\n" * 100_000, "parsed", "blocked"),
    "rules beyond 500 KiB": ("# nothing\n" * 60_000 + DENIED, "parsed", "ok"),
    "empty": ("", "parsed", "ok"),
    "redirect to nowhere": (Reply(status=302), "unavailable", "ok"),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_what_an_answer_means(site: SiteServer, tmp_path: Path, name: str) -> None:
    reply, outcome, sitemap = MEANINGS[name]
    done = visited(site, tmp_path, reply)
    assert robots_of(done, site)["outcome"] == outcome
    assert done.sitemaps[site.url(SITEMAP)]["outcome"] == sitemap
    assert (asked_of(site, SITEMAP) > 0) == (sitemap == "ok")
    assert asked_of(site, ROBOTS) == 1


def test_no_server_forbids_everything(site: SiteServer, tmp_path: Path) -> None:
    with SiteServer() as gone:
        place = gone.url(SITEMAP)
    done = crawl(tmp_path, settings=QUICK, sitemap=place)
    assert done.sitemaps[place]["error"] == "no answer to robots.txt: the connection was refused"
    [record] = done.of_type("robots")
    assert (record["outcome"], record["error"]) == ("unreachable", "the connection was refused")
    assert done.code == 4


@pytest.mark.parametrize(("hops", "outcome", "sitemap"), [(5, "parsed", "blocked"), (6, "too-many-redirects", "ok")])
def test_five_redirects_are_followed(site: SiteServer, tmp_path: Path, hops: int, outcome: str, sitemap: str) -> None:
    site.routes = {f"/hop{number}": moved(f"/hop{number + 1}") for number in range(1, hops)}
    site.routes[f"/hop{hops}"] = DENIED
    done = visited(site, tmp_path, moved("/hop1", 301))
    assert robots_of(done, site)["outcome"] == outcome
    assert done.sitemaps[site.url(SITEMAP)]["outcome"] == sitemap


def test_rules_of_another_host_bind_the_first_one(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    other.routes = {ROBOTS: DENIED, SITEMAP: urlset(other.url("/page"))}
    site.routes = {ROBOTS: moved(other.url(ROBOTS)), SITEMAP: urlset(site.url("/page"))}
    done = crawl(tmp_path, settings=QUICK | LOOPBACK, sitemap=f"{site.url(SITEMAP)},{other.url(SITEMAP)}")
    assert [record["outcome"] for record in done.sitemaps.values()] == ["blocked", "blocked"]
    assert robots_of(done, site)["final_url"] == other.url(ROBOTS)
    assert site.paths == other.paths == []


# ---- one fetch

PAGES = [f"/page/{number}" for number in range(3)]


@pytest.mark.parametrize("items", ["batches", "records"])
def test_robots_is_asked_once_by_all_who_need_it(
    site: SiteServer, other: SiteServer, tmp_path: Path, items: str
) -> None:
    files = [f"/{number}.xml" for number in range(12)]
    site.routes = {name: urlset(*map(site.url, PAGES), *map(other.url, PAGES)) for name in files}
    site.routes[ROBOTS] = robots(*map(site.url, files))
    settings = LOOPBACK | {"SITEMAP_MAX_ROBOTS": 10, "SITEMAP_ITEMS": items}
    done = crawl(tmp_path, settings=settings, domain=site.url())
    assert done.summary["urls"] == 72
    assert (asked_of(site, ROBOTS), asked_of(other, ROBOTS)) == (1, 1)
    assert [record["robots"] for record in done.of_type("robots")] == [site.url(ROBOTS), other.url(ROBOTS)]
    assert {record["urls"] for record in done.of_type("robots")} == {36}


def test_hosts_beyond_the_limit_are_not_asked(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    site.routes = {SITEMAP: urlset(site.url("/a"), other.url("/b"))}
    settings = LOOPBACK | {"SITEMAP_MAX_ROBOTS": 0}
    done = crawl(tmp_path, settings=settings, sitemap=site.url(SITEMAP))
    assert other.connections == 0
    assert ["blocked_for" in record for record in done.of_type("url")] == [True, False]
    assert done.summary["skipped"]["robots"] == 1


def test_address_that_is_not_public_is_not_asked_for_its_robots(
    site: SiteServer, other: SiteServer, tmp_path: Path
) -> None:
    site.routes = {SITEMAP: urlset(site.url("/a"), other.url("/b"))}
    done = crawl(tmp_path, settings={"SITEMAP_MAX_ROBOTS": 10}, sitemap=site.url(SITEMAP))
    assert other.connections == 0
    assert "not public" in robots_of(done, other)["error"]


# ---- judging


def judged(site: SiteServer, folder: Path, **arguments: Any) -> Crawl:
    """A crawl of a site with a mixed robots.txt."""
    pages = ["/", "/private/a", "/private/open", "/search?q=1", ROBOTS]
    site.routes = {ROBOTS: MIXED, SITEMAP: urlset(*map(site.url, pages))}
    return crawl(folder, sitemap=site.url(SITEMAP), **arguments)


def test_every_url_says_whom_it_is_denied(site: SiteServer, tmp_path: Path) -> None:
    done = judged(site, tmp_path, agents="Googlebot,Bingbot,GPTBot,Googlebot-News,botty")
    assert [record["blocked_for"] for record in done.of_type("url")] == [
        ["GPTBot"],
        ["Bingbot", "GPTBot", "botty"],
        ["GPTBot"],
        ["Googlebot", "GPTBot", "Googlebot-News"],
        [],
    ]
    record = robots_of(done, site)
    assert record["agents"] == {"GPTBot": 4, "Bingbot": 1, "botty": 1, "Googlebot": 1, "Googlebot-News": 1}
    assert record["follows"] == {"Bingbot": "*", "Googlebot-News": "googlebot", "botty": "*"}
    assert done.summary["agents"] == record["agents"]


def test_groups_of_crawlers_are_judged_without_the_argument(site: SiteServer, tmp_path: Path) -> None:
    done = judged(site, tmp_path)
    assert {"GPTBot", "CCBot"} == set(done.of_type("url")[0]["blocked_for"])
    assert {"Bingbot", "YandexBot", "ClaudeBot"} < set(done.of_type("url")[1]["blocked_for"])


def test_nobody_is_judged_for_none(site: SiteServer, tmp_path: Path) -> None:
    done = judged(site, tmp_path, agents="none")
    assert not any("blocked_for" in record for record in done.of_type("url"))
    assert "agents" not in done.summary


# ---- obeying


def test_own_site_can_be_read_in_spite_of_robots(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: "User-agent: *\nDisallow: /\n", SITEMAP: urlset(site.url("/page"))}
    done = crawl(tmp_path, settings={"ROBOTSTXT_OBEY": False}, sitemap=site.url(SITEMAP))
    assert done.locs() == [site.url("/page")]
    assert "Bingbot" in done.of_type("url")[0]["blocked_for"]


def test_own_group_is_obeyed(site: SiteServer, tmp_path: Path) -> None:
    rules = "User-agent: sitemapcrawler\nDisallow: /a.xml\n\nUser-agent: *\nDisallow: /b.xml\n"
    files = {name: urlset(site.url("/page")) for name in ("/a.xml", "/b.xml")}
    site.routes = {ROBOTS: rules, "/index.xml": index(*map(site.url, files)), **files}
    done = crawl(tmp_path, sitemap=site.url("/index.xml"))
    blocked = done.sitemaps[site.url("/a.xml")]
    assert (blocked["outcome"], blocked["error"]) == ("blocked", "forbidden by robots.txt, line 2: Disallow: /a.xml")
    assert site.paths == ["/index.xml", "/b.xml"]
    assert "doc-blocked-by-robots" in blocked["issues"]


def test_crawl_that_waits_for_robots_can_be_stopped(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: stalled(), SITEMAP: urlset(site.url("/page"))}
    settings = {"SITEMAP_STOP_GRACE": 0.3}
    with start(tmp_path, settings=settings, domain=site.url(), sitemap=site.url(SITEMAP)) as running:
        running.wait_until(lambda: asked_of(site, ROBOTS) == 1)
        before = running.seconds
        running.process.send_signal(signal.SIGTERM)
        done = running.finish()
    assert done.code == 3
    assert done.seconds - before < 15
    assert done.summary["partial"] == "shutdown"


# ---- proof of cross-submission


def rules_of(done: Crawl) -> list[str]:
    """The rules that found something on places."""
    return sorted(
        {
            record["rule"]
            for record in done.of_type("finding")
            if record["rule"].endswith(("-offsite", "-outside-dir", "-outside-sitemap-dir"))
        }
    )


def test_host_that_names_the_file_lets_it_list_its_urls(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: robots(), "/maps/a.xml": urlset(other.url("/page"))}
    settings = LOOPBACK | {"SITEMAP_MAX_ROBOTS": 10}
    other.routes = {ROBOTS: robots()}
    denied = crawl(tmp_path, settings=settings, sitemap=site.url("/maps/a.xml"))
    assert rules_of(denied) == ["loc-offsite"]
    other.routes = {ROBOTS: robots(site.url("/maps/a.xml"))}
    proven = crawl(tmp_path, settings=settings, sitemap=site.url("/maps/a.xml"))
    assert rules_of(proven) == []


def test_proof_reaches_the_children_of_the_index(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    other.routes = {ROBOTS: robots(site.url("/maps/index.xml"))}
    site.routes = {
        ROBOTS: robots(),
        "/maps/index.xml": index(site.url("/maps/a.xml"), other.url("/b.xml")),
        "/maps/a.xml": urlset(other.url("/page")),
    }
    other.routes["/b.xml"] = text(other.url("/page/b"))
    settings = LOOPBACK | {"SITEMAP_MAX_ROBOTS": 10}
    done = crawl(tmp_path, settings=settings, sitemap=site.url("/maps/index.xml"))
    assert done.summary["urls"] == 2
    assert rules_of(done) == []


def test_own_robots_lifts_the_directory_rule(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/maps/a.xml": urlset(site.url("/page"))}
    done = crawl(tmp_path, sitemap=site.url("/maps/a.xml"))
    assert rules_of(done) == ["loc-outside-sitemap-dir"]
    site.routes[ROBOTS] = robots(site.url("/maps/a.xml"))
    done = crawl(tmp_path, domain=site.url())
    assert rules_of(done) == []
