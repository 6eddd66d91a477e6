"""robots.txt in real crawls: asked once, obeyed by RFC 9309, judged for every URL, and proof for other hosts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import index, page, robots, text, urlset
from tests.crawl.many_sites import Program, Sites, visited
from tests.crawl.site_server import Reply, Route, SiteServer, cut, endless, garbage, moved, reset, stalled

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


def robots_of(done: Crawl, site: SiteServer) -> dict[str, Any]:
    """The record of the site's robots.txt."""
    [record] = [record for record in done.of_type("robots") if record["robots"] == site.url(ROBOTS)]
    return record


# ---- what an answer means: RFC 9309, 2.3.1

MEANINGS: dict[str, tuple[Route, str, str]] = {
    "rules that forbid": (DENIED, "parsed", "blocked"),
    "204": (Reply(status=204), "parsed", "ok"),
    "403": (Reply(DENIED, 403), "unavailable", "ok"),
    "500": (Reply(OPEN, 500), "unreachable", "blocked"),
    "reset": (reset(), "unreachable", "failed"),
    "no answer in time": (stalled(), "unreachable", "failed"),
    "no HTTP": (garbage(b"hello"), "unreachable", "failed"),
    "cut short": (cut(DENIED.encode()), "unreachable", "failed"),
    "UTF-16": (DENIED.encode("utf-16"), "parsed", "blocked"),
    "HTML": (page(), "parsed", "ok"),
    "endless": (endless(DENIED.encode(), b"# more\n" * 10_000), "parsed", "blocked"),
    "long header": (Reply(DENIED, headers={"Set-Cookie": "a=" + 200_000 * "b"}), "parsed", "blocked"),
    "too long header": (Reply(OPEN, headers={"Set-Cookie": "a=" + 300_000 * "b"}), "unreachable", "failed"),
    "six redirects": (moved("/hop1", 301), "too-many-redirects", "ok"),
}
"""robots.txt, its outcome and that of the sitemap; the others are tried in `unit/robots/`."""
HOPS: dict[str, Route] = {f"/hop{number}": moved(f"/hop{number + 1}") for number in range(1, 6)} | {"/hop6": DENIED}
MEDIA: dict[str, tuple[str, bool]] = {
    "Googlebot": ("User-agent: Googlebot\nDisallow: /media/\n", True),
    "its own group allows": ("User-agent: *\nDisallow: /media/\n\nUser-agent: Googlebot-Image\nAllow: /\n", False),
}
"""robots.txt, and whether it denies /media/ to Google's crawler of images."""
VIDEO_RULES = "User-agent: Googlebot-Video\nDisallow: /media/\n\nUser-agent: Googlebot-Image\nDisallow: /media/*.jpg$\n"
OWN_GROUP = "User-agent: sitemapcrawler\nDisallow: /a.xml\n\nUser-agent: *\nDisallow: /b.xml\n"
IMAGES = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
VIDEOS = 'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'


def with_images(page: str, *images: str, video: str = "") -> str:
    """A sitemap of one page with images, and with a video where its file is given."""
    listed = "".join(f"<image:image><image:loc>{url}</image:loc></image:image>" for url in images)
    held = f"<video:title>A</video:title><video:description>A</video:description><video:content_loc>{video}</video:content_loc>"
    held = f"<video:video><video:thumbnail_loc>{video}.jpg</video:thumbnail_loc>{held}</video:video>" if video else ""
    core = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    return f"<urlset {core} {IMAGES} {VIDEOS}><url><loc>{page}</loc>{listed}{held}</url></urlset>"


def meaning(reply: Route) -> Program:
    """A site with this robots.txt and a sitemap of one page."""

    def program(site: SiteServer) -> None:
        site.routes = {ROBOTS: reply, SITEMAP: urlset(site.url("/page")), **HOPS}

    return program


def media(rules: Route, *images: str, video: str = "") -> Program:
    """A site with this robots.txt and a sitemap of one page with images and a video."""

    def program(site: SiteServer) -> None:
        places = [site.url(image) if image.startswith("/") else image for image in images]
        listed = with_images(site.url("/page"), *places, video=video and site.url(video))
        site.routes = {ROBOTS: rules, SITEMAP: listed}

    return program


def own_group(site: SiteServer) -> None:
    files = {name: urlset(site.url("/page")) for name in ("/a.xml", "/b.xml")} | {"/go.xml": moved("/a.xml")}
    site.routes = {ROBOTS: OWN_GROUP, SITEMAP: index(*map(site.url, files)), **files}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Sites whose sitemap is named."""
    programs = {name: meaning(reply) for name, (reply, _, _) in MEANINGS.items()}
    programs |= {f"images: {name}": media(rules, "/media/1.jpg", "/2.jpg") for name, (rules, _) in MEDIA.items()}
    programs |= {
        "video": media(VIDEO_RULES, video="/media/1.mp4"),
        "images elsewhere": media(OPEN, "https://cdn.example/1.jpg"),
        "own group": own_group,
        "429": media(Reply(status=429), "/media/1.jpg"),
    }
    with visited(tmp_path_factory.mktemp("named"), programs, SITEMAP, settings=QUICK) as sites:
        yield sites


@pytest.mark.slow
@pytest.mark.parametrize("name", MEANINGS)
def test_what_an_answer_means(named: Sites, name: str) -> None:
    _, outcome, sitemap = MEANINGS[name]
    [robots_txt], [file] = named.of(name, "robots"), named.of(name)
    assert (robots_txt["outcome"], file["outcome"]) == (outcome, sitemap)
    assert (asked_of(named.servers[name], SITEMAP) > 0) == (sitemap == "ok")
    assert asked_of(named.servers[name], ROBOTS) == 1


def test_rules_of_another_host_bind_the_first_one(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    other.routes = {ROBOTS: DENIED, SITEMAP: urlset(other.url("/page"))}
    site.routes = {ROBOTS: moved(other.url(ROBOTS)), SITEMAP: urlset(site.url("/page"))}
    done = crawl(tmp_path, settings=QUICK | LOOPBACK, sitemap=f"{site.url(SITEMAP)},{other.url(SITEMAP)}")
    assert [record["outcome"] for record in done.sitemaps.values()] == ["blocked", "blocked"]
    assert robots_of(done, site)["final_url"] == other.url(ROBOTS)
    assert site.paths == other.paths == []


@pytest.mark.slow
def test_too_many_requests_are_a_server_error_to_google(named: Sites) -> None:
    [record], [robots_txt] = named.of("429", "url"), named.of("429", "robots")
    denied = set(record["blocked_for"])
    assert {"Googlebot", "Google-Extended"} <= denied and not denied & {"Bingbot", "GPTBot"}
    assert (record["indexable"], record["indexability"]) == (False, "blocked")
    assert robots_txt["agents"] == dict.fromkeys(record["blocked_for"], 1)
    findings = named.of("429", "finding")
    errors = [one for one in findings if one["severity"] == "error"]
    assert [(one["rule"], one["sitemap"]) for one in errors] == [
        ("robots-unreachable", named.servers["429"].url(ROBOTS))
    ]
    assert blocked_assets(findings) == []


# ---- one fetch

PAGES = [f"/page/{number}" for number in range(3)]


def test_robots_is_asked_once_by_all_who_need_it(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    files = [f"/{number}.xml" for number in range(12)]
    site.routes = {name: urlset(*map(site.url, PAGES), *map(other.url, PAGES)) for name in files}
    site.routes[ROBOTS] = robots(*map(site.url, files))
    settings = LOOPBACK | {"SITEMAP_MAX_ROBOTS": 10}
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


# ---- judging


def test_every_url_says_whom_it_is_denied(site: SiteServer, tmp_path: Path) -> None:
    pages = ["/", "/private/a", "/private/open", "/search?q=1", ROBOTS]
    site.routes = {ROBOTS: MIXED, SITEMAP: urlset(*map(site.url, pages))}
    done = crawl(tmp_path, sitemap=site.url(SITEMAP), agents="Googlebot,Bingbot,GPTBot,Googlebot-News,botty")
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


# ---- obeying


def test_own_site_can_be_read_in_spite_of_robots(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: "User-agent: *\nDisallow: /\n", SITEMAP: urlset(site.url("/page"))}
    done = crawl(tmp_path, settings={"ROBOTSTXT_OBEY": False}, sitemap=site.url(SITEMAP))
    assert done.locs() == [site.url("/page")]
    assert "Bingbot" in done.of_type("url")[0]["blocked_for"]


@pytest.mark.slow
def test_own_group_is_obeyed(named: Sites) -> None:
    site = named.servers["own group"]
    files = {one["sitemap"]: one for one in named.of("own group")}
    blocked, moved_there = files[site.url("/a.xml")], files[site.url("/go.xml")]
    assert (blocked["outcome"], blocked["error"]) == ("blocked", "forbidden by robots.txt, line 2: Disallow: /a.xml")
    assert "doc-blocked-by-robots" in blocked["issues"] and "status" not in blocked
    assert (moved_there["outcome"], moved_there["hops"]) == ("blocked", [{"status": 302, "url": site.url("/go.xml")}])
    assert files[site.url("/b.xml")]["outcome"] == "ok"
    assert sorted(site.paths) == ["/b.xml", "/go.xml", SITEMAP]


# ---- proof of cross-submission


def rules_of(findings: list[dict[str, Any]]) -> list[str]:
    """The rules that found something on places and on what robots.txt blocks."""
    places = ("-offsite", "-outside-dir", "-outside-sitemap-dir", "-blocked-by-robots")
    return sorted({record["rule"] for record in findings if record["rule"].endswith(places)})


START = "/maps/start.xml"
SUBMITTED: dict[str, tuple[bool, bool, list[str]]] = {
    "host that names no file": (False, False, ["loc-offsite"]),
    "host that names the file": (True, False, []),
    "host that names the index": (True, True, []),
    "host that denies all": (False, True, ["index-child-offsite", "loc-offsite"]),
}
"""Whether another host names the first file, whether that is an index, and the rules that find something on places."""


def cross_submitted(other: SiteServer, named: bool, nested: bool) -> Program:
    """A site whose file, or index, lists pages of another host."""

    def program(site: SiteServer) -> None:
        listed = urlset(other.url("/page"))
        site.routes = {ROBOTS: robots(), START: listed}
        if nested:
            site.routes |= {START: index(site.url("/maps/a.xml"), other.url("/b.xml")), "/maps/a.xml": listed}
        denied = ["Disallow: /"] * (nested and not named)
        other.routes = {ROBOTS: robots(*[site.url(START)] * named, rules=denied), "/b.xml": text(other.url("/page/b"))}

    return program


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    with ExitStack() as stack:
        programs = {
            name: cross_submitted(stack.enter_context(SiteServer()), named, nested)
            for name, (named, nested, _) in SUBMITTED.items()
        }
        settings = LOOPBACK | {"SITEMAP_MAX_ROBOTS": 10}
        yield stack.enter_context(visited(tmp_path_factory.mktemp("submitted"), programs, START, settings=settings))


@pytest.mark.parametrize("name", SUBMITTED)
def test_host_that_names_a_file_lets_it_list_its_urls(submitted: Sites, name: str) -> None:
    assert rules_of(submitted.findings(name)) == SUBMITTED[name][2]


# ---- odd files

CACHED = "<!-- WP Super Cache is installed but broken. -->"


SHAPES: dict[str, tuple[str, dict[str, str]]] = {
    "comment before": (f"{CACHED}\n{{}}", {"robots-markup": "warning"}),
}
"""robots.txt around its lines, and what is found in it."""
PROTEGO_PATHS = ("/denied/1", "/?u=%2Fx1", "/?u=%2Fx2", "/price$1", "/other")


def shaped(shape: str) -> Program:
    """A site whose sitemap in a folder is named by a robots.txt of this shape."""

    def program(site: SiteServer) -> None:
        body = robots(site.url("/maps/a.xml"), rules=["Disallow: /other"]).decode()
        site.routes = {ROBOTS: shape.format(f"# ours\n{body}"), "/maps/a.xml": urlset(site.url("/page"))}

    return program


def protego_differs(site: SiteServer) -> None:
    rules = ["Disallow: /denied", "Disallow: /?u=/x", "Disallow: /price$"]
    site.routes = {ROBOTS: robots(site.url(SITEMAP), rules=rules), SITEMAP: urlset(*map(site.url, PROTEGO_PATHS))}


@pytest.fixture(scope="module")
def in_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Sites whose sitemap in a folder is named."""
    programs = {name: shaped(shape) for name, (shape, _) in SHAPES.items()}
    with visited(tmp_path_factory.mktemp("folders"), programs, "/maps/a.xml") as sites:
        yield sites


@pytest.fixture(scope="module")
def domains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Sites whose sitemaps are to be found."""
    programs = {name: shaped(shape) for name, (shape, _) in SHAPES.items()} | {"protego differs": protego_differs}
    with visited(tmp_path_factory.mktemp("domains"), programs, agents="search") as sites:
        yield sites


def robots_findings(sites: Sites, name: str) -> dict[str, str]:
    """The rules that found something in the robots.txt of a site, and how severe that is."""
    robots_txt = sites.servers[name].url(ROBOTS)
    return {one["rule"]: one["severity"] for one in sites.of(name, "finding") if one["sitemap"] == robots_txt}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("found_by", ["domains", "in_folders"])
def test_sitemaps_of_a_robots_txt_with_markup_are_read_and_proven(
    request: pytest.FixtureRequest, name: str, found_by: str
) -> None:
    sites: Sites = request.getfixturevalue(found_by)
    assert sites.locs(name) == [sites.servers[name].url("/page")]
    assert rules_of(sites.of(name, "finding")) == []
    assert robots_findings(sites, name) == SHAPES[name][1]


def test_verdicts_that_protego_does_not_share(domains: Sites) -> None:
    listed = list(map(domains.servers["protego differs"].url, PROTEGO_PATHS))
    found = [one for one in domains.of("protego differs", "finding") if one["rule"] == "robots-parsers-disagree"]
    assert [(one["line"], one["message"]) for one in found] == [
        (
            4,
            f"'Disallow: /?u=/x': RFC 9309 disallows '{listed[1]}' for Googlebot, protego allows it: Scrapy requests it, "
            "and other listed URLs",
        ),
        (5, f"'Disallow: /price$': RFC 9309 allows '{listed[3]}' for Googlebot, protego disallows it: Scrapy skips it"),
    ]


def blocked_assets(findings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Rule and value of what is said of assets and robots.txt."""
    rules = ("image-blocked-by-robots", "video-asset-blocked")
    return [(finding["rule"], finding["value"]) for finding in findings if finding["rule"] in rules]


@pytest.mark.slow
@pytest.mark.parametrize("name", MEDIA)
def test_images_are_judged_without_a_request(named: Sites, name: str) -> None:
    site = named.servers[f"images: {name}"]
    expected = [("image-blocked-by-robots", site.url("/media/1.jpg"))] if MEDIA[name][1] else []
    assert blocked_assets(named.of(f"images: {name}", "finding")) == expected
    assert site.paths == [SITEMAP]


@pytest.mark.slow
def test_images_on_hosts_that_are_not_known_are_skipped(named: Sites) -> None:
    assert blocked_assets(named.of("images elsewhere", "finding")) == []
    assert named.crawl.summary["skipped"]["image-blocked-by-robots"] == 2, "there, and behind a 429"
    assert "video-asset-blocked" not in named.crawl.summary["skipped"]


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


@pytest.mark.slow
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
    assert "names 1 sitemap, not fetched: offline=yes" in done.log
    (tmp_path / "b.xml").write_bytes(urlset(site.url("/beside")))
    done = crawl(tmp_path, sitemap=str(file), offline="yes", base_url=site.url("/"))
    assert (done.code, done.locs(), len(site.exchanges)) == (0, [site.url("/beside")], asked)
