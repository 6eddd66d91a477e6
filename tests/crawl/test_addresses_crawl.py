"""Where a crawl goes: to what the user named and to public addresses, and only where robots.txt lets it."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import index, pages, robots, urlset
from tests.crawl.site_server import SiteServer, moved


def test_allowed_network_may_be_asked(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/index.xml": index(other.url("/a.xml"))}
    other.routes = {"/a.xml": urlset(*pages("other", 2))}
    done = crawl(tmp_path, sitemap=site.url("/index.xml"), settings={"SITEMAP_ALLOW_NETWORKS": "10.0.0.0/8,127.0.0.1"})
    assert done.locs(other.url("/a.xml")) == pages("other", 2)


# ---- robots.txt


@dataclass
class Obedience:
    """A crawl of a site whose robots.txt forbids some of its sitemaps, and of another one that forbids all."""

    crawl: Crawl
    site: SiteServer
    other: SiteServer


@pytest.fixture(scope="module")
def obedience(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Obedience]:
    with SiteServer() as site, SiteServer() as other:
        names = ["/private/a.xml", "/private/open.xml", "/go.xml", "/free.xml"]
        rules = ["Disallow: /private/", "Allow: /private/open.xml"]
        site.routes = {
            "/robots.txt": codecs.BOM_UTF8 + b"# rules\n" + robots(*map(site.url, names), rules=rules),
            "/private/a.xml": urlset(*pages("private", 1)),
            "/private/b.xml": urlset(*pages("private", 2)),
            "/private/open.xml": urlset(*pages("open", 1)),
            "/go.xml": moved("/private/b.xml"),
            "/free.xml": index(other.url("/theirs.xml")),
        }
        other.routes = {
            "/robots.txt": b"User-agent: *\nAllow: /\n\nUser-agent: sitemapcrawler\nDisallow: /\n",
            "/theirs.xml": urlset(*pages("theirs", 1)),
        }
        folder = tmp_path_factory.mktemp("obedience")
        yield Obedience(crawl(folder, domain=site.url(), settings=LOOPBACK), site, other)


def test_forbidden_sitemap_is_not_fetched_and_is_recorded(obedience: Obedience) -> None:
    record = obedience.crawl.sitemaps[obedience.site.url("/private/a.xml")]
    assert "/private/a.xml" not in obedience.site.paths
    assert (record["outcome"], record["found_by"], record["url_count"]) == ("blocked", "robots", 0)
    assert "robots.txt" in record["error"]
    assert "status" not in record


def test_redirect_to_a_forbidden_place_is_not_followed(obedience: Obedience) -> None:
    record = obedience.crawl.sitemaps[obedience.site.url("/go.xml")]
    assert "/private/b.xml" not in obedience.site.paths
    assert record["outcome"] == "blocked"
    assert record["hops"] == [{"status": 302, "url": obedience.site.url("/go.xml")}]


def test_other_authority_is_asked_for_its_own_rules(obedience: Obedience) -> None:
    assert obedience.other.paths == []
    assert obedience.crawl.sitemaps[obedience.other.url("/theirs.xml")]["outcome"] == "blocked"


def test_exception_to_a_rule_is_read(obedience: Obedience) -> None:
    assert obedience.crawl.locs() == pages("open", 1)
    assert obedience.crawl.code == 0


def test_site_that_forbids_everything_ends_with_4(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/robots.txt": robots("/a.xml", rules=["Disallow: /"]), "/a.xml": urlset(*pages("a", 1))}
    done = crawl(tmp_path, domain=site.url())
    assert site.paths == []
    assert done.sitemaps[site.url("/a.xml")]["outcome"] == "blocked"
    assert done.code == 4
