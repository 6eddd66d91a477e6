"""Pages of other hosts are asked where that is wanted or proven; images and videos wherever they are, where wanted."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import CORE, index, page, robots, urlset
from tests.crawl.site_server import Reply, SiteServer, reset
from tests.crawl.verified import SITEMAP

ROBOTS = "/robots.txt"
SETTINGS = LOOPBACK | {"SITEMAP_MAX_ROBOTS": 10, "RETRY_TIMES": 0}


def abroad(server: SiteServer, path: str = "") -> str:
    """The URL of a server as another host: by its name."""
    return server.url(path).replace("127.0.0.1", "localhost")


def publish(site: SiteServer, other: SiteServer, proof: str = "") -> None:
    """A site that lists a page of its own, and pages of another host. `proof`: file that this one names."""
    site.routes = {"/own": page(), "/maps/a.xml": urlset(site.url("/own"), abroad(other, "/x"), abroad(other, "/y"))}
    site.routes |= {SITEMAP: index("/maps/a.xml"), ROBOTS: robots()}
    other.routes = {"/x": page(), "/y": page(), "/list.xml": urlset(abroad(other, "/z"))}
    other.routes[ROBOTS] = robots(*([site.url(proof)] if proof else []), rules=["Disallow: /y"])


def verified(folder: Path, *sitemaps: str, **arguments: Any) -> Crawl:
    return crawl(folder, settings=SETTINGS, sitemap=",".join(sitemaps), verify="head", **arguments)


def reasons(done: Crawl, server: SiteServer) -> list[str]:
    """Reason or kind of the replies for pages of another host."""
    found = [record["reply"] for record in done.of_type("url") if record["loc"].startswith(abroad(server))]
    return [reply.get("reason") or reply["kind"] for reply in found]


def test_other_host_is_asked_where_it_names_the_file_or_its_index(tmp_path: Path) -> None:
    with ExitStack() as stack:
        proofs = ("", "/maps/a.xml", SITEMAP)
        sites, others = ([stack.enter_context(SiteServer()) for _ in proofs] for _ in range(2))
        for site, other, proof in zip(sites, others, proofs, strict=True):
            publish(site, other, proof)
        done = verified(tmp_path, *(site.url(SITEMAP) for site in sites))
    found = dict(zip(proofs, ((reasons(done, other), other.paths) for other in others), strict=True))
    assert found == {
        "": (["off-site", "off-site"], []),
        "/maps/a.xml": (["ok", "blocked"], ["/x"]),
        SITEMAP: (["ok", "blocked"], ["/x"]),
    }
    assert done.summary["replies"] == {"ok": 5, "off-site": 2, "blocked": 2}
    assert done.summary["bad"]["checked"] == 5


def test_other_host_is_asked_where_that_is_wanted(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    publish(site, other)
    done = verified(tmp_path, site.url(SITEMAP), verify_offsite="yes")
    assert reasons(done, other) == ["ok", "blocked"]
    assert other.paths == ["/x"]


def test_host_that_the_user_names_is_not_off_site(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    publish(site, other)
    done = verified(tmp_path, site.url(SITEMAP), abroad(other, "/list.xml"))
    assert Counter(reasons(done, other)) == {"ok": 1, "blocked": 1, "http-error": 1}
    assert Counter(other.paths) == {"/list.xml": 1, "/x": 1, "/z": 2}  # HEAD and GET of the missing one


def test_redirect_off_the_site_is_followed(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/moved": Reply("", 301, {"Location": abroad(other, "/x")}), SITEMAP: urlset(site.url("/moved"))}
    other.routes = {"/x": page()}
    done = verified(tmp_path, site.url(SITEMAP))
    [record] = done.of_type("url")
    assert (record["reply"]["kind"], record["reply"]["final_url"]) == ("redirected", abroad(other, "/x"))


# ---- what pages are made of

IMAGE = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
VIDEO = 'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'


def image(loc: str) -> str:
    return f"<image:image><image:loc>{loc}</image:loc></image:image>"


def video(thumbnail: str, content: str, player: str) -> str:
    texts = "<video:title>Title</video:title><video:description>Text</video:description>"
    urls = f"<video:content_loc>{content}</video:content_loc><video:player_loc>{player}</video:player_loc>"
    return f"<video:video><video:thumbnail_loc>{thumbnail}</video:thumbnail_loc>{texts}{urls}</video:video>"


def illustrated(site: SiteServer, cdn: SiteServer) -> bytes:
    """Pages with images and videos, here and on another host."""
    pages = {
        "/a": image(site.url("/a.png")) + image(abroad(cdn, "/b.png")) + image(abroad(cdn, "/private/c.png")),
        "/b": image(abroad(cdn, "/b.png")) + image(site.url("/missing.png")) + image(site.url("/reset.png")),
        "/c": video(abroad(cdn, "/thumb.jpg"), abroad(cdn, "/film.mp4"), site.url("/player")),
        "/private/d": image(site.url("/of-blocked.png")),
        "/gone": image(site.url("/of-gone.png")),
    }
    entries = "".join(f"<url><loc>{site.url(path)}</loc>{more}</url>" for path, more in pages.items())
    site.routes |= {path: page() for path in pages if path != "/gone"}
    return f"<urlset {CORE} {IMAGE} {VIDEO}>{entries}</urlset>".encode()


@pytest.mark.parametrize("verify", ["head", "get"])
def test_assets_are_asked_wherever_they_are(site: SiteServer, other: SiteServer, tmp_path: Path, verify: str) -> None:
    site.routes = {path: Reply(b"x") for path in ("/a.png", "/of-gone.png")} | {"/reset.png": reset()}
    other.routes = {path: Reply(b"x") for path in ("/b.png", "/thumb.jpg", "/film.mp4")}
    other.routes[ROBOTS] = site.routes[ROBOTS] = robots(rules=["Disallow: /private"])
    site.routes[SITEMAP] = illustrated(site, other)
    done = crawl(tmp_path, settings=SETTINGS, sitemap=site.url(SITEMAP), verify=verify, verify_assets="yes")
    assert done.code == 0
    abroad_asked = Counter((exchange.method, exchange.path) for exchange in other.exchanges)
    assert abroad_asked == {
        ("GET", ROBOTS): 1,
        ("HEAD", "/b.png"): 1,
        ("HEAD", "/thumb.jpg"): 1,
        ("HEAD", "/film.mp4"): 1,
    }
    here = {exchange.path for exchange in site.exchanges if exchange.method == "HEAD"}
    assert {"/a.png", "/missing.png", "/reset.png", "/of-gone.png"} <= here
    assert not {"/of-blocked.png", "/player", "/private/d"} & set(site.paths)
    assert done.summary["replies"] == {"ok": 3, "blocked": 1, "http-error": 1}
    assert done.summary["bad"]["checked"] == 4


def test_assets_are_not_asked_unless_wanted(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    site.routes = {ROBOTS: robots(rules=["Disallow: /private"])}
    site.routes[SITEMAP] = illustrated(site, other)
    done = verified(tmp_path, site.url(SITEMAP))
    assert set(site.paths) == {SITEMAP, "/a", "/b", "/c", "/gone"}
    assert other.connections == 0
    assert done.summary["replies"] == {"ok": 3, "blocked": 1, "http-error": 1}
