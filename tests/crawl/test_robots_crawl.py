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
from tests.ports import reserved_port

ROBOTS = "/robots.txt"
SITEMAP = "/sitemap.xml"
QUICK = {"DOWNLOAD_TIMEOUT": 5, "RETRY_TIMES": 0}
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
    "429": (Reply(DENIED, 429), "unavailable", "ok"),
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
    "long header": (Reply(DENIED, headers={"Set-Cookie": "a=" + 200_000 * "b"}), "parsed", "blocked"),
    "too long header": (Reply(OPEN, headers={"Set-Cookie": "a=" + 300_000 * "b"}), "unreachable", "failed"),
    "100,000 rules": (DENIED + "Disallow: /a/*/b\n" * 100_000, "parsed", "blocked"),
    "rules beyond 500 KiB": ("# nothing\n" * 60_000 + DENIED, "parsed", "ok"),
    "empty": ("", "parsed", "ok"),
    "redirect to nowhere": (Reply(status=302), "unavailable", "ok"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MEANINGS)
def test_what_an_answer_means(site: SiteServer, tmp_path: Path, name: str) -> None:
    reply, outcome, sitemap = MEANINGS[name]
    done = visited(site, tmp_path, reply)
    assert robots_of(done, site)["outcome"] == outcome
    assert done.sitemaps[site.url(SITEMAP)]["outcome"] == sitemap
    assert (asked_of(site, SITEMAP) > 0) == (sitemap == "ok")
    assert asked_of(site, ROBOTS) == 1


def test_too_many_requests_are_a_server_error_to_google(site: SiteServer, tmp_path: Path) -> None:
    image = site.url("/media/1.jpg")
    site.routes = {ROBOTS: Reply(status=429), SITEMAP: with_images(site.url("/page"), image)}
    done = crawl(tmp_path, settings=QUICK, sitemap=site.url(SITEMAP), agents="Googlebot,Bingbot,GPTBot,Google-Extended")
    [record] = done.of_type("url")
    assert record["blocked_for"] == ["Googlebot", "Google-Extended"]
    assert (record["indexable"], record["indexability"]) == (False, "blocked")
    assert robots_of(done, site)["agents"] == {"Googlebot": 1, "Google-Extended": 1}
    errors = [one for one in done.of_type("finding") if one["severity"] == "error"]
    assert [(one["rule"], one["sitemap"]) for one in errors] == [("robots-unreachable", site.url(ROBOTS))]
    assert blocked_assets(done) == []


def test_no_server_forbids_everything(site: SiteServer, tmp_path: Path) -> None:
    with reserved_port() as port:
        place = f"http://127.0.0.1:{port}{SITEMAP}"
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


# ---- odd files

CACHED = "<!-- WP Super Cache is installed but broken. -->"
VIEWER = '<html><head></head><body><pre style="word-wrap: break-word;">{}</pre></body></html>'


def robots_findings(done: Crawl, site: SiteServer) -> dict[str, str]:
    """The rules that found something in the site's robots.txt, and how severe that is."""
    own = [record for record in done.of_type("finding") if record["sitemap"] == site.url(ROBOTS)]
    return {record["rule"]: record["severity"] for record in own}


@pytest.mark.parametrize(
    "shape", [f"{CACHED}\n{{}}", f"{{}}{CACHED}\n", "<br />\n<b>Notice</b>: x\n<br />\n{}", VIEWER]
)
def test_sitemaps_of_a_robots_txt_with_markup_are_read_and_proven(site: SiteServer, tmp_path: Path, shape: str) -> None:
    body = robots(site.url("/maps/a.xml"), rules=["Disallow: /other"]).decode()
    site.routes = {ROBOTS: shape.format(f"# ours\n{body}"), "/maps/a.xml": urlset(site.url("/page"))}
    for arguments in ({"domain": site.url()}, {"sitemap": site.url("/maps/a.xml")}):
        done = crawl(tmp_path, **arguments)
        assert (done.code, done.summary["urls"], rules_of(done)) == (0, 1, [])
        rule = "robots-is-html" if shape == VIEWER else "robots-markup"
        assert robots_findings(done, site) == {rule: "warning"}


def test_page_in_place_of_robots_txt_names_no_sitemap(site: SiteServer, tmp_path: Path) -> None:
    html = "<html><head><script>\nsite = {\n  sitemap: '/maps/a.xml',\n}\n</script></head><body>Not found</body></html>"
    site.routes = {ROBOTS: Reply(html, headers={"Content-Type": "text/html"}), "/maps/a.xml": urlset(site.url("/page"))}
    done = crawl(tmp_path, domain=site.url())
    assert done.code == 4
    assert robots_findings(done, site) == {"robots-is-html": "warning"}
    assert asked_of(site, "/maps/a.xml") == 0


def test_google_reads_fields_that_others_skip(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: "User-agent: *\nDisallowed: /page\n", SITEMAP: urlset(site.url("/page"))}
    done = crawl(tmp_path, domain=site.url(), agents="search")
    [record] = done.of_type("url")
    assert record["blocked_for"] == ["Googlebot"]
    assert robots_findings(done, site) == {
        "robots-field-misspelt": "warning",
        "robots-no-sitemap": "info",
        "robots-parsers-disagree": "info",
    }


def test_robots_txt_without_a_sitemap_matters_more_where_there_is_none(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: robots()}
    done = crawl(tmp_path, domain=site.url())
    assert robots_findings(done, site) == {"robots-no-sitemap": "warning"}
    site.routes[SITEMAP] = urlset()
    for arguments in ({"domain": site.url()}, {"sitemap": site.url(SITEMAP)}):
        done = crawl(tmp_path, agents="none", **arguments)
        assert robots_findings(done, site) == {"robots-no-sitemap": "info"}


def test_verdicts_that_protego_does_not_share(site: SiteServer, tmp_path: Path) -> None:
    rules = ["Disallow: /denied", "Disallow: /?u=/x", "Disallow: /price$"]
    listed = [site.url(path) for path in ("/denied/1", "/?u=%2Fx1", "/?u=%2Fx2", "/price$1", "/other")]
    site.routes = {ROBOTS: robots(site.url(SITEMAP), rules=rules), SITEMAP: urlset(*listed)}
    done = crawl(tmp_path, domain=site.url())
    found = [one for one in done.of_type("finding") if one["rule"] == "robots-parsers-disagree"]
    assert [(one["line"], one["message"]) for one in found] == [
        (
            4,
            f"'Disallow: /?u=/x': RFC 9309 denies '{listed[1]}' to Googlebot, protego allows it: Scrapy requests it, "
            "and other listed URLs",
        ),
        (5, f"'Disallow: /price$': RFC 9309 allows '{listed[3]}' to Googlebot, protego denies it: Scrapy skips it"),
    ]


IMAGES = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
VIDEOS = 'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'


def with_images(page: str, *images: str, video: str = "") -> str:
    """A sitemap of one page with images, and with a video where its file is given."""
    listed = "".join(f"<image:image><image:loc>{url}</image:loc></image:image>" for url in images)
    held = f"<video:title>A</video:title><video:description>A</video:description><video:content_loc>{video}</video:content_loc>"
    held = f"<video:video><video:thumbnail_loc>{video}.jpg</video:thumbnail_loc>{held}</video:video>" if video else ""
    core = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    return f"<urlset {core} {IMAGES} {VIDEOS}><url><loc>{page}</loc>{listed}{held}</url></urlset>"


def blocked_assets(done: Crawl) -> list[tuple[str, str]]:
    """Rule and value of what is said of assets and robots.txt."""
    rules = ("image-blocked-by-robots", "video-asset-blocked")
    return [(finding["rule"], finding["value"]) for finding in done.of_type("finding") if finding["rule"] in rules]


@pytest.mark.parametrize(
    ("rules", "blocked"),
    [
        ("User-agent: *\nDisallow: /media/\n", True),
        ("User-agent: Googlebot\nDisallow: /media/\n", True),
        ("User-agent: Googlebot-Image\nDisallow: /media/\n\nUser-agent: *\nDisallow:\n", True),
        ("User-agent: *\nDisallow: /media/\n\nUser-agent: Googlebot\nDisallow:\n", False),
        ("User-agent: *\nDisallow: /media/\n\nUser-agent: Googlebot-Image\nAllow: /\n", False),
    ],
)
def test_images_are_judged_without_a_request(site: SiteServer, tmp_path: Path, rules: str, blocked: bool) -> None:
    site.routes = {ROBOTS: rules, SITEMAP: with_images(site.url("/page"), site.url("/media/1.jpg"), site.url("/2.jpg"))}
    done = crawl(tmp_path, sitemap=site.url(SITEMAP))
    assert blocked_assets(done) == ([("image-blocked-by-robots", site.url("/media/1.jpg"))] if blocked else [])
    assert site.paths == [SITEMAP]
    assert "image-blocked-by-robots" not in done.summary["skipped"]


def test_files_of_videos_are_judged_without_a_request(site: SiteServer, tmp_path: Path) -> None:
    rules = "User-agent: Googlebot-Video\nDisallow: /media/\n\nUser-agent: Googlebot-Image\nDisallow: /media/*.jpg$\n"
    site.routes = {ROBOTS: rules, SITEMAP: with_images(site.url("/page"), video=site.url("/media/1.mp4"))}
    done = crawl(tmp_path, sitemap=site.url(SITEMAP))
    assert blocked_assets(done) == [("video-asset-blocked", site.url("/media/1.mp4.jpg"))]  # once for a file


def test_images_on_hosts_that_are_not_known_are_skipped(site: SiteServer, tmp_path: Path) -> None:
    image = "https://cdn.example/1.jpg"
    site.routes = {ROBOTS: OPEN, SITEMAP: with_images(site.url("/page"), image)}
    done = crawl(tmp_path, sitemap=site.url(SITEMAP))
    assert blocked_assets(done) == []
    assert done.summary["skipped"]["image-blocked-by-robots"] == 1
    assert "video-asset-blocked" not in done.summary["skipped"]


def test_an_image_that_is_requested_too_is_reported_once(site: SiteServer, tmp_path: Path) -> None:
    rules = "User-agent: *\nDisallow: /media/\n"
    listed = with_images(site.url("/page"), site.url("/media/1.jpg"))
    site.routes = {ROBOTS: rules, SITEMAP: listed, "/page": page()}
    done = crawl(tmp_path, sitemap=site.url(SITEMAP), verify="head", verify_assets="yes")
    assert blocked_assets(done) == [("image-blocked-by-robots", site.url("/media/1.jpg"))]


# ---- a robots.txt that is named as a sitemap, as Scrapy's own SitemapSpider takes it


def test_sitemaps_of_a_named_robots_txt_are_read(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: robots(site.url("/a.xml"), "/b.xml"), "/b.xml": urlset(site.url("/page"))}
    done = crawl(tmp_path, settings=LOOPBACK, sitemap=site.url(ROBOTS))
    assert (done.code, done.locs()) == (0, [site.url("/page")])
    assert {url: (one["found_by"], one["parent"], one["outcome"]) for url, one in done.sitemaps.items()} == {
        site.url("/a.xml"): ("robots", site.url(ROBOTS), "failed"),
        site.url("/b.xml"): ("robots", site.url(ROBOTS), "ok"),
    }
    assert robots_of(done, site)["issues"] == ["robots-sitemap-relative"]
    assert asked_of(site, ROBOTS) == 1
    site.routes = {ROBOTS: robots(site.url("/a.xml"))}
    done = crawl(tmp_path, settings=LOOPBACK, sitemap=site.url(ROBOTS), select="none")
    assert (done.code, done.sitemaps[site.url("/a.xml")]["status"]) == (4, 404)


def test_named_robots_txt_without_sitemaps_is_nothing_read(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: OPEN, SITEMAP: urlset(site.url("/page"))}
    done = crawl(tmp_path, settings=LOOPBACK, sitemap=site.url(ROBOTS))
    assert (done.code, done.sitemaps) == (4, {})
    assert f"{site.url(ROBOTS)}: no named sitemap can be read" in done.log
    site.routes = {}
    done = crawl(tmp_path, settings=LOOPBACK, sitemap=site.url(ROBOTS))
    assert (done.code, done.sitemaps, robots_of(done, site)["status"]) == (4, {}, 404)
    assert {exchange.path for exchange in site.exchanges} == {ROBOTS}


@pytest.mark.slow
def test_sitemaps_of_a_local_robots_txt(site: SiteServer, tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(robots(site.url("/a.xml"), "/b.xml"))
    site.routes = {"/a.xml": urlset(site.url("/page")), "/b.xml": urlset(site.url("/other"))}
    done = crawl(tmp_path, settings=LOOPBACK, sitemap=str(file))
    assert (done.code, done.locs()) == (0, [site.url("/page")])  # where the other is, is not known
    assert (done.sitemaps[site.url("/a.xml")]["parent"], len(done.sitemaps)) == (file.as_uri(), 1)
    done = crawl(tmp_path, settings=LOOPBACK, sitemap=str(file), base_url=site.url("/"))
    assert (done.code, sorted(done.locs())) == (0, [site.url("/other"), site.url("/page")])
    asked = len(site.exchanges)
    done = crawl(tmp_path, sitemap=str(file), offline="yes")
    assert (done.code, done.sitemaps, done.summary["skipped"]["offline"]) == (4, {}, 1)
    assert "names 1 sitemap, none of them fetched: offline=yes" in done.log
    (tmp_path / "b.xml").write_bytes(urlset(site.url("/beside")))
    done = crawl(tmp_path, sitemap=str(file), offline="yes", base_url=site.url("/"))
    assert (done.code, done.locs(), len(site.exchanges)) == (0, [site.url("/beside")], asked)
