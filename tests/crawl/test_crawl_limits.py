"""Indexes, and what the arguments leave out: each file is read once, and every limit holds exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.constants import constants
from tests.crawl.crawling import LOOPBACK, SOON_S, Crawl, crawl
from tests.crawl.documents import CORE, dated, index, page, pages, robots, text, urlset
from tests.crawl.site_server import Exchange, SiteServer, moved, stalled


@dataclass
class Tree:
    """A crawl of a site with every kind of index."""

    crawl: Crawl
    site: SiteServer
    other: SiteServer

    def record(self, path: str) -> dict[str, object]:
        """The record of a file of the site."""
        return self.crawl.sitemaps[self.site.url(path)]


def plant(site: SiteServer, other: SiteServer) -> None:
    """An index with a loop, repeated children, a second level and a third one, and children elsewhere."""
    at = site.url
    site.routes = {
        "/robots.txt": robots(at("/top.xml"), at("/again.xml")),
        "/top.xml": index(
            at("/top.xml"),
            at("/a.xml"),
            at("/middle.xml"),
            at("/a.xml"),
            at("/a.xml#part"),
            at("/a.xml").replace("http:", "HTTP:"),
            "/relative.xml",
            other.url("/elsewhere.xml"),
            at("/robots.txt"),
            at("/page.html"),
            at("/mixed.xml"),
            at("/query.xml?from=1&to=2"),
            at("/query.xml?from=3&to=4"),
        ),
        "/a.xml": urlset(at("/pages/a"), at("/pages/a"), at("/pages/shared")),
        "/again.xml": index(at("/a.xml"), at("/deep.xml")),
        "/middle.xml": index(at("/top.xml"), at("/middle.xml"), at("/deep.xml")),
        "/deep.xml": index(at("/bottom.txt"), at("/top.xml")),
        "/bottom.txt": text(at("/pages/bottom"), at("/pages/shared")),
        "/relative.xml": urlset("/pages/relative"),
        "/page.html": page(),
        "/mixed.xml": f"<sitemapindex {CORE}><sitemap><loc>{at('/late.xml')}</loc></sitemap>"
        f"<url><loc>{at('/pages/mixed')}</loc></url></sitemapindex>",
        "/late.xml": f"<urlset {CORE}><url><loc>{at('/pages/late')}</loc></url>"
        f"<sitemap><loc>{at('/latest.xml')}</loc></sitemap></urlset>",
        "/latest.xml": urlset(at("/pages/latest")),
        "/query.xml?from=1&to=2": urlset(at("/pages/1")),
        "/query.xml?from=3&to=4": urlset(at("/pages/3")),
    }
    other.routes = {
        "/elsewhere.xml": index(other.url("/theirs.xml"), at("/a.xml"), at("/back.xml")),
        "/theirs.xml": urlset(other.url("/pages/theirs")),
    }
    site.routes["/back.xml"] = urlset(at("/pages/back"))


def left_out(done: Crawl) -> dict[str, int]:
    """What arguments left out, without the rules that could not check because of it."""
    return {name: count for name, count in done.summary["skipped"].items() if "-" not in name}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    with SiteServer() as site, SiteServer() as other:
        plant(site, other)
        yield Tree(crawl(tmp_path_factory.mktemp("tree"), domain=site.url(), settings=LOOPBACK), site, other)


def test_each_file_is_asked_for_once(tree: Tree) -> None:
    asked = Counter(tree.site.paths) + Counter(tree.other.paths)
    expected = {*tree.site.routes, *tree.other.routes} - {"/robots.txt"}
    assert asked == Counter(expected)


def test_each_file_has_one_record(tree: Tree) -> None:
    files = {tree.site.url(path) for path in tree.site.routes} | {tree.other.url(path) for path in tree.other.routes}
    assert set(tree.crawl.sitemaps) == files
    assert tree.crawl.code == 0


def test_depth_and_parent_say_where_a_file_was_named(tree: Tree) -> None:
    facts = {path: tree.record(path) for path in ("/top.xml", "/relative.xml", "/back.xml")}
    assert [(record["found_by"], record["depth"]) for record in facts.values()] == [
        ("robots", 0),
        ("index", 1),
        ("index", 2),
    ]
    assert [record["parent"] for record in facts.values()] == [
        tree.site.url("/robots.txt"),
        tree.site.url("/top.xml"),
        tree.other.url("/elsewhere.xml"),
    ]


def test_every_listed_page_is_a_row_however_often_it_is_listed(tree: Tree) -> None:
    names = ["a", "a", "shared", "bottom", "shared", "relative", "mixed", "late", "latest", "1", "3", "back"]
    expected = Counter([*(tree.site.url(f"/pages/{name}") for name in names), tree.other.url("/pages/theirs")])
    assert Counter(tree.crawl.locs()) == expected
    assert tree.crawl.summary["urls"] == expected.total()


# ---- depth


def chain(site: SiteServer, length: int) -> None:
    """Indexes that name the next one each; the last names a urlset."""
    site.routes = {f"/{number}.xml": index(site.url(f"/{number + 1}.xml")) for number in range(length)}
    site.routes[f"/{length}.xml"] = urlset(*pages("end", 1))


def test_depth_is_limited(site: SiteServer, tmp_path: Path) -> None:
    chain(site, 5)
    done = crawl(tmp_path, sitemap=site.url("/0.xml"), max_depth=3)
    assert [record["depth"] for record in done.of_type("sitemap")] == [0, 1, 2, 3]
    assert site.paths == ["/0.xml", "/1.xml", "/2.xml", "/3.xml"]
    assert left_out(done) == {"max_depth": 1}


def test_index_that_grows_for_ever_ends(site: SiteServer, tmp_path: Path) -> None:
    def generated(exchange: Exchange) -> None:
        body = index(*(site.url(f"{exchange.path}/{number}") for number in range(4)))
        exchange.head(Content_Length=len(body))
        exchange.send(body)

    site.otherwise = generated
    site.routes["/robots.txt"] = robots()
    done = crawl(tmp_path, sitemap=site.url("/index"), max_sitemaps=30)
    assert len(done.sitemaps) == len(site.paths) == 30
    assert done.code == 3


# ---- max_sitemaps


def family(site: SiteServer, children: int = 5, entries: int = 5) -> None:
    """An index of urlsets."""
    names = [f"/{number}.xml" for number in range(1, children + 1)]
    site.routes = {name: urlset(*pages(name[1:-4], entries)) for name in names}
    site.routes["/index.xml"] = index(*map(site.url, names))


def test_max_sitemaps_counts_the_index_and_takes_the_first_children(site: SiteServer, tmp_path: Path) -> None:
    family(site)
    done = crawl(tmp_path, sitemap=site.url("/index.xml"), max_sitemaps=3, agents="none")
    assert sorted(site.paths) == ["/1.xml", "/2.xml", "/index.xml"]
    assert set(done.sitemaps) == set(map(site.url, site.paths))
    assert (done.code, done.summary["partial"]) == (3, "max_sitemaps")
    assert left_out(done) == {"max_sitemaps": 3}


# ---- max_urls


def test_max_urls_is_exact(site: SiteServer, tmp_path: Path) -> None:
    family(site)
    done = crawl(
        tmp_path, sitemap=site.url("/index.xml"), max_urls=7, settings=constants({"crawl.reading.BATCH_SIZE": 3})
    )
    assert len(done.locs()) == done.summary["urls"] == 7
    assert {record["sitemap"] for record in done.of_type("url")} <= set(done.sitemaps)
    assert (done.code, done.summary["partial"]) == (3, "max_urls")


def test_limits_that_are_not_reached_change_nothing(site: SiteServer, tmp_path: Path) -> None:
    family(site)
    done = crawl(tmp_path, sitemap=site.url("/index.xml"), max_urls=26, max_sitemaps=6, max_time=60)
    assert (len(done.sitemaps), len(done.locs())) == (6, 25)
    assert done.code == 0
    assert "partial" not in done.summary


def test_max_urls_does_not_wait_for_slow_files(site: SiteServer, tmp_path: Path) -> None:
    family(site)
    site.routes |= {f"/{number}.xml": stalled() for number in (2, 3, 4, 5)}
    settings = {"SITEMAP_STOP_GRACE": 0.5}
    done = crawl(tmp_path, sitemap=site.url("/index.xml"), max_urls=2, settings=settings)
    assert len(done.locs()) == 2
    assert done.seconds < SOON_S
    assert done.code == 3


# ---- filters


def test_filters_together(site: SiteServer, tmp_path: Path) -> None:
    days = {f"https://pages.example/shop/{number}": "2024-05-01T00:00:00Z" for number in range(1, 4)}
    before = {"https://pages.example/shop/4": "2024-04-30", "https://pages.example/shop/5": ""}
    site.routes = {
        "/index.xml": index(*map(site.url, ("/de/a.xml", "/en/a.xml", "/de/b.xml"))),
        "/de/a.xml": dated(days | before | {"https://pages.example/blog/1": "2024-05-02"}),
        "/de/b.xml": dated({"https://pages.example/shop/old": "2024-05-02"}),
        "/en/a.xml": urlset(*pages("shop", 9)),
    }
    chosen = {"follow": "/de/", "include": "^https://[^/]+/shop/", "exclude": "old|/2$", "since": "2024-05-01"}
    done = crawl(tmp_path, sitemap=site.url("/index.xml"), select="none", agents="none", **chosen)
    assert done.locs() == ["https://pages.example/shop/1", "https://pages.example/shop/3"]
    assert "/en/a.xml" not in site.paths
    assert done.summary["skipped"] == {"include": 1, "exclude": 2, "follow": 1, "since": 2}
    assert done.sitemaps[site.url("/de/a.xml")]["url_count"] == 6
    assert done.code == 0


# ---- max_time


@pytest.mark.slow
def test_max_time_ends_the_crawl_with_what_it_has(site: SiteServer, tmp_path: Path) -> None:
    family(site, children=8)
    site.routes |= {f"/{number}.xml": stalled() for number in range(3, 9)}
    settings = {"SITEMAP_STOP_GRACE": 0.5}
    done = crawl(tmp_path, sitemap=site.url("/index.xml"), max_time=6, settings=settings)
    assert (done.code, done.summary["partial"]) == (3, "max_time")
    assert sorted(done.locs()) == sorted([*pages("1", 5), *pages("2", 5)])
    assert 6 <= done.summary["elapsed_s"] < SOON_S


# ---- several sites


def test_several_domains_and_sitemaps_in_one_crawl(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    for server, name in ((site, "a"), (other, "b")):
        server.routes = {"/robots.txt": robots("/s.xml"), "/s.xml": urlset(server.url(f"/{name}"))}
    other.routes["/named.xml"] = urlset(other.url("/named"))
    done = crawl(tmp_path, domain=f"{site.url()}, {other.url()}", sitemap=other.url("/named.xml"))
    assert {url: record["found_by"] for url, record in done.sitemaps.items()} == {
        site.url("/s.xml"): "robots",
        other.url("/s.xml"): "robots",
        other.url("/named.xml"): "argument",
    }
    assert sorted(done.locs()) == sorted([site.url("/a"), other.url("/b"), other.url("/named")])
    assert done.summary["domains"] == [site.url(), other.url()]


def test_redirected_children_that_end_at_the_same_file_are_read_once(site: SiteServer, tmp_path: Path) -> None:
    at = site.url
    site.routes = {
        "/index.xml": index(at("/old.xml"), at("/new.xml"), at("/older.xml")),
        "/old.xml": moved(at("/new.xml"), 301),
        "/older.xml": moved("/old.xml", 301),
        "/new.xml": urlset(*pages("new", 2)),
    }
    done = crawl(tmp_path, sitemap=at("/index.xml"))
    assert done.locs() == pages("new", 2)
    assert done.code == 0
