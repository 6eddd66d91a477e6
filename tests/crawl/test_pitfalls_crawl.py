"""What sites really serve, crawled: wrong names and types, odd robots.txt, redirects, tangled indexes, soft 404s.

The documents stand in `tests/data/hard/`; in them `http://site.example` is the site of the test, and
`http://other.example` another one.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests import hard_documents
from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import index, packed, robots, urlset
from tests.crawl.many_sites import Program, Sites, visited
from tests.crawl.site_server import Exchange, Reply, Route, SiteServer, moved, once, stalled

DATA = Path(__file__).parents[1] / "data" / "hard"
SETTINGS = {"DOWNLOAD_TIMEOUT": 5, "RETRY_TIMES": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}
PAGE = "https://pages.example/"
PLAIN = [f"{PAGE}one", f"{PAGE}two"]
"""What plain.xml lists."""


def document(name: str, site: SiteServer | None = None, other: str = "") -> bytes:
    """A document of `DATA`, its placeholders filled in, whatever it is encoded in."""
    body = (DATA / name).read_bytes()
    for placeholder, url in {"http://site.example": site.url() if site else "", "http://other.example": other}.items():
        for encoding in ("utf-8", "utf-16-le"):
            body = body.replace(placeholder.encode(encoding), url.encode(encoding)) if url else body
    return body


@dataclass
class Visit:
    """A crawl and the site it went to."""

    crawl: Crawl
    site: SiteServer

    def record(self, path: str) -> dict[str, Any]:
        """The sitemap record of a path."""
        return self.crawl.sitemaps[self.site.url(path)]

    def locs(self, path: str) -> list[str]:
        """The pages that a file lists."""
        return self.crawl.locs(self.site.url(path))


# ---- names, types, compression, walls, soft 404s: one file each


@dataclass(frozen=True)
class Case:
    """An answer, and what is to become of it."""

    route: Route
    locs: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """Fields of the sitemap record."""
    error: str = ""
    """Expression that the error matches; empty: there is none."""


def typed(body: bytes | str, content_type: str, **headers: str) -> Reply:
    body = document(body) if isinstance(body, str) else body
    named = {"Content-Type": content_type} if content_type else {}
    return Reply(body, headers=named | {name.replace("_", "-"): value for name, value in headers.items()})


def read(route: Route, format: str = "xml-urlset", locs: list[str] = PLAIN, **facts: Any) -> Case:
    return Case(route, locs, {"outcome": "ok", "status": 200, "format": format, **facts})


def failed(route: Route, error: str, status: int | None = 200, format: str = "unknown") -> Case:
    return Case(route, [], {"outcome": "failed", "status": status, "format": format}, error)


def known_agents_only(exchange: Exchange) -> None:
    """As firewalls do: 403 for whoever does not call himself a browser."""
    browser = exchange.headers["user-agent"].startswith("Mozilla/")
    body = document("plain.xml") if browser else b"<html><title>403 Forbidden</title></html>"
    exchange.head(200 if browser else 403, Content_Length=len(body))
    exchange.send(body)


XML = document("plain.xml")
GZ = packed(XML)
GOOD = [f"{PAGE}good"]
RETRY_AFTER = 2  # seconds, within what a crawl of a few files takes
BUSY = Reply("Too many requests", 429, {"Retry-After": str(RETRY_AFTER)})

CASES: dict[str, Case] = {
    # scrapy#951, scrapy#2063, scrapy#2389, ultimate-sitemap-parser#89
    "/plain.xml.gz": read(typed(XML, "application/x-gzip")),
    "/packed.xml": read(typed(GZ, "text/xml"), bytes=len(XML), bytes_fetched=len(GZ)),
    "/packed": read(typed(GZ, "gzip")),
    "/packed.php?download=1": read(typed(GZ, "binary/octet-stream")),
    "/packed.xml.gz": read(typed(GZ, "application/gzip"), bytes=len(XML), bytes_fetched=len(GZ)),
    "/encoded.xml": read(typed(GZ, "application/xml", Content_Encoding="gzip"), bytes=len(XML)),
    "/encoded.xml.gz": read(typed(GZ, "application/x-gzip", Content_Encoding="gzip")),
    "/encoded-x.xml.gz": read(typed(GZ, "application/x-gzip", Content_Encoding="x-gzip")),
    "/encoded-twice.xml.gz": read(typed(packed(GZ), "application/x-gzip", Content_Encoding="gzip"), bytes=len(XML)),
    "/packed-twice.xml.gz": read(typed(packed(GZ), "application/x-gzip")),
    "/said-to-be-encoded.xml": read(typed(XML, "application/xml", Content_Encoding="gzip")),
    # scrapy#2900, scrapy#6293, crawler-commons#144
    "/sitemap": read(typed(XML, "text/html")),
    "/sitemap.php": read(typed(XML, "text/html; charset=UTF-8")),
    "/sitemap.aspx": read(typed(XML, "text/html; charset=utf-16")),
    "/sitemap_products_1.xml?from=1&to=2": read(typed(XML, "text/html")),
    "/index.php?option=com_xmap&view=xml": read(typed(XML, "application/json")),
    "/sitemap.png": read(typed(XML, "image/png")),
    "/sitemap.html": read(typed(XML, "")),
    "/list.xml": read(typed("list.txt", "application/xml"), "text"),
    "/list": read(typed("list.txt", "text/html"), "text"),
    "/feed": read(typed("rss.xml", "text/html"), "rss"),
    "/feed.php?format=atom": read(typed("atom.xml", "text/plain"), "atom", [f"{PAGE}blog/one"]),
    "/url-list.txt": read(typed(XML, "text/plain")),
    # crawler-commons#144, crawler-commons#234
    "/byte-order-mark.xml": read(typed("byte-order-mark.xml", "text/xml; charset=iso-8859-1"), locs=GOOD),
    "/utf-16.xml": read(
        typed("utf-16.xml", "text/xml; charset=utf-8"), locs=[f"{PAGE}caf\u00e9", *GOOD], encoding="utf-16-le"
    ),
    "/latin-1.xml": read(
        typed("latin-1.xml", "text/xml; charset=utf-8"), locs=[f"{PAGE}caf\u00e9", *GOOD], encoding="iso8859-1"
    ),
    "/blank-lines-first.xml": read(typed("blank-lines-first.xml", "text/html"), locs=GOOD),
    # crawler-commons#24, crawler-commons#148
    "/cut-by-time.xml": Case(
        stalled(document("cut-in-url.xml")), GOOD, {"outcome": "truncated", "status": 200}, "time"
    ),
    "/cut-by-time.xml.gz": Case(
        stalled(packed(document("cut-in-url.xml"))[:-8]), GOOD, {"outcome": "truncated", "status": 200}, "time|gzip"
    ),
    "/cut-by-time.txt": Case(
        stalled(f"{PAGE}good\n{PAGE}category/long-".encode()), GOOD, {"outcome": "truncated", "format": "text"}, "time"
    ),
    # the sitemap that is none
    "/no-such-page.xml": failed(typed("page.html", "text/html"), "HTML", format="html"),
    "/no-such-page.xml.gz": failed(typed(packed(document("page.html")), "application/gzip"), "HTML", format="html"),
    "/jetpack.xml": failed(typed("error.xml", "application/xml"), "no sitemap"),
    "/no-content.xml": failed(Reply("", 204), "204", 204),
    "/no-bytes.xml": failed(typed(b"", "application/xml"), "empty"),
    "/no-entries.xml": read(typed("empty-urlset.xml", "application/xml"), locs=[], url_count=0),
    # firewalls; crawlee#2123
    "/challenge.xml": failed(typed("challenge.html", "text/html"), "HTML", format="html"),
    "/known-agents-only.xml": failed(known_agents_only, "403", 403),
    "/busy-once.xml": read(once(BUSY, XML)),
    "/busy.xml": failed(BUSY, "429", 429),
}


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with SiteServer() as site:
        site.routes = {path: case.route for path, case in CASES.items()}
        site.routes["/index.xml"] = index(*map(site.url, CASES))
        folder = tmp_path_factory.mktemp("pitfalls")
        yield Visit(crawl(folder, sitemap=site.url("/index.xml"), settings=SETTINGS), site)


@pytest.mark.parametrize("path", CASES)
def test_file_is_what_its_content_says(visit: Visit, path: str) -> None:
    case, record = CASES[path], visit.record(path)
    assert {fact: record.get(fact) for fact in case.facts} == case.facts, record
    assert visit.locs(path) == case.locs
    if case.error:
        assert re.search(case.error, record["error"], re.IGNORECASE)
    else:
        assert "error" not in record


def test_nothing_stops_the_crawl(visit: Visit) -> None:
    assert visit.crawl.code == 0
    assert len(visit.crawl.sitemaps) == len(CASES) + 1
    assert "partial" not in visit.crawl.summary


def test_busy_server_is_left_alone_for_as_long_as_it_asks(visit: Visit) -> None:
    first, second = (exchange.at for exchange in visit.site.exchanges if exchange.path == "/busy-once.xml")
    assert second - first >= RETRY_AFTER


def test_firewall_that_knows_the_agent_lets_it_in(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/known-agents-only.xml": known_agents_only}
    named = {**SETTINGS, "USER_AGENT": "Mozilla/5.0 (compatible; our-own-monitoring)"}
    done = crawl(tmp_path, sitemap=site.url("/known-agents-only.xml"), settings=named)
    assert done.locs() == PLAIN


# ---- the hard documents, as local files that will live at their URL


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    folder = tmp_path_factory.mktemp("hard")
    (folder / "list.txt").write_text("".join(f"{hard_documents.FOLDER / name}\n" for name in hard_documents.CASES))
    return crawl(folder, sitemap="@list.txt", base_url=hard_documents.URL.rpartition("/")[0] + "/", offline="yes")


@pytest.mark.parametrize("name", hard_documents.CASES)
def test_hard_document_is_read_as_by_the_reader(hard: Crawl, name: str) -> None:
    case, url = hard_documents.CASES[name], (hard_documents.FOLDER / name).as_uri()
    file, rows = hard.sitemaps[url], [row for row in hard.of_type("url") if row["sitemap"] == url]
    assert (file["format"], file["outcome"], file["url_count"]) == (case.format, case.outcome, len(case.locs))
    assert [row["loc"] for row in rows if row["recovered"]] == case.repaired
    assert case.format == "xml-index" or [row["loc"] for row in rows] == case.locs
    assert set(case.rules) <= {rule for record in (file, *rows) for rule in record.get("issues", ())}


# ---- robots.txt, by a crawl that visits all sites


def named_by(robots_name: str, content_type: str = "text/plain") -> Program:
    """A site with this robots.txt; the folder it may forbid holds a sitemap too."""

    def program(site: SiteServer) -> None:
        site.routes = {
            "/robots.txt": typed(document(robots_name, site), content_type),
            "/sitemap.xml": urlset(site.url("/page")),
            "/private/sitemap.xml": urlset(site.url("/private/page")),
        }

    return program


def walled(site: SiteServer) -> None:
    site.otherwise = typed("challenge.html", "text/html")


SITES: dict[str, Program] = {
    "mark before Sitemap": named_by("robots-bom.txt"),
    "mark before the first group": named_by("robots-bom-group.txt"),
    "UTF-16": named_by("robots-utf-16.txt"),
    "loose": named_by("robots-loose.txt"),
    "HTML type": named_by("robots-loose.txt", "text/html"),
    "page in place of robots.txt": named_by("page.html", "text/html"),
    "challenge everywhere": walled,
}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    with visited(tmp_path_factory.mktemp("sites"), SITES, settings=SETTINGS) as found:
        yield found


@pytest.mark.parametrize("name", [name for name in SITES if name != "challenge everywhere"])
def test_sitemap_is_found_and_read(sites: Sites, name: str) -> None:
    assert sites.record(name, "/sitemap.xml")["outcome"] == "ok"
    site = sites.servers[name]
    assert sites.crawl.locs(site.url("/sitemap.xml")) == [site.url("/page")]


@pytest.mark.parametrize("name", ["mark before the first group", "UTF-16"])
def test_odd_encoding_of_robots_loses_no_rule(sites: Sites, name: str) -> None:
    assert sites.record(name, "/private/sitemap.xml")["outcome"] == "blocked"
    assert "/private/sitemap.xml" not in sites.servers[name].paths


def test_challenge_everywhere_is_no_sitemap(sites: Sites) -> None:
    assert sites.of("challenge everywhere") == []


# ---- redirects


@pytest.fixture(scope="module")
def redirected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Visit, SiteServer]]:
    with SiteServer() as site, SiteServer() as www:
        site.routes = {
            "/moved.xml": moved(www.url("/moved.xml"), 301),
            "/renamed.xml": moved("/sitemap-2024.php?part=1"),
            "/sitemap-2024.php?part=1": typed("plain.xml", "text/html"),
            "/home.xml": moved("/"),
            "/": typed("page.html", "text/html"),
            "/seen.xml": typed("child.xml", "text/xml"),
            "/known-path.xml": moved("/seen.xml"),
            "/loop.xml": moved("/loop-2.xml"),
            "/loop-2.xml": moved("/loop.xml"),
        }
        www.routes = {"/moved.xml": document("relative-loc.xml")}
        names = ("moved", "renamed", "home", "seen", "known-path", "loop")
        sitemaps = ",".join(site.url(f"/{name}.xml") for name in names)
        settings = {**SETTINGS, "SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
        yield Visit(crawl(tmp_path_factory.mktemp("redirected"), sitemap=sitemaps, settings=settings), site), www


def test_sitemap_that_moved_to_another_authority(redirected: tuple[Visit, SiteServer]) -> None:
    visit, www = redirected
    assert visit.record("/moved.xml")["final_url"] == www.url("/moved.xml")
    assert visit.locs("/moved.xml") == [www.url("/relative"), *GOOD]


def test_sitemap_that_moved_to_another_name(redirected: tuple[Visit, SiteServer]) -> None:
    visit, _ = redirected
    assert visit.record("/renamed.xml")["hops"] == [{"status": 302, "url": visit.site.url("/renamed.xml")}]
    assert visit.locs("/renamed.xml") == PLAIN


def test_sitemap_that_leads_home_is_no_sitemap(redirected: tuple[Visit, SiteServer]) -> None:
    record = redirected[0].record("/home.xml")
    assert (record["outcome"], record["format"], record["status"]) == ("failed", "html", 200)


def test_sitemap_that_leads_to_one_already_seen_adds_no_rows(redirected: tuple[Visit, SiteServer]) -> None:
    visit, _ = redirected
    assert [*visit.locs("/seen.xml"), *visit.locs("/known-path.xml")] == [f"{PAGE}child"]
    assert visit.record("/known-path.xml")["final_url"] == visit.site.url("/seen.xml")


def test_redirects_in_a_circle_end(redirected: tuple[Visit, SiteServer]) -> None:
    record = redirected[0].record("/loop.xml")
    assert (record["outcome"], record.get("url_count", 0)) == ("failed", 0)
    assert "redirect" in record["error"]


def test_site_that_moved_as_a_whole_is_found_where_it_is(site: SiteServer, other: SiteServer, tmp_path: Path) -> None:
    def elsewhere(exchange: Exchange) -> None:
        exchange.head(301, Location=other.url(exchange.path), Content_Length=0)

    site.otherwise = elsewhere
    other.routes = {"/robots.txt": robots("/map.xml"), "/map.xml": document("plain.xml")}
    settings = {**SETTINGS, "SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
    done = crawl(tmp_path, domain=site.url(), settings=settings)
    assert list(done.sitemaps) == [other.url("/map.xml")]
    assert done.locs() == PLAIN


# ---- indexes

WIDE = 300  # children
AT_ONCE = 4  # requests, the default for one host


class Counter:
    """A route that notes how many of its answers are being given at once."""

    def __init__(self) -> None:
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def __call__(self, exchange: Exchange) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        body = urlset(f"{PAGE}wide{exchange.path}")
        exchange.head(Content_Length=len(body))
        with self._lock:
            self._now -= 1
        exchange.send(body)


@dataclass
class Indexes(Visit):
    """The crawl over all indexes."""

    cdn: str
    """Origin of the other host."""
    wide: Counter


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexes]:
    with SiteServer() as site, SiteServer() as cdn:
        cdn_url = f"http://localhost:{cdn.server_address[1]}"
        names = ("tangled-index.xml", "inner-index.xml", "page.html", "child.xml", "plain.xml", "url-in-index.xml",
                 "sitemap-in-urlset.xml")  # fmt: skip
        site.routes = {f"/{name}": document(name, site, cdn_url) for name in names}
        site.routes["/robots.txt"] = robots("/tangled-index.xml")
        cdn.routes = {"/child.xml": urlset(f"{PAGE}cdn")}
        for start, levels in {"/deep": 8, "/deeper": 12}.items():
            for level in range(levels):
                site.routes[f"{start}/{level}.xml"] = index(f"{level + 1}.xml")
            site.routes[f"{start}/{levels}.xml"] = urlset(f"{PAGE}end{start}")
        counter = Counter()
        site.routes["/wide.xml"] = index(*(f"/wide/{number}" for number in range(WIDE)))
        site.routes |= {f"/wide/{number}": counter for number in range(WIDE)}
        starts = ["/tangled-index.xml", "/deep/0.xml", "/deeper/0.xml", "/wide.xml", "/url-in-index.xml",
                  "/sitemap-in-urlset.xml"]  # fmt: skip
        settings = {"SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8,::1/128"}
        done = crawl(tmp_path_factory.mktemp("indexes"), sitemap=",".join(map(site.url, starts)), settings=settings)
        yield Indexes(done, site, cdn_url, counter)


def test_index_that_names_itself_and_its_parent_is_read_once(indexes: Indexes) -> None:
    asked = [path for path in indexes.site.paths if not path.startswith("/wide/")]
    assert sorted(asked) == sorted(set(asked))
    assert indexes.record("/inner-index.xml")["depth"] == 1
    assert indexes.record("/inner-index.xml")["url_count"] == 4


@pytest.mark.parametrize(("path", "format"), [("/robots.txt", "unknown"), ("/page.html", "html")])
def test_child_that_is_a_page_or_robots_is_no_sitemap(indexes: Indexes, path: str, format: str) -> None:
    record = indexes.record(path)
    assert (record["outcome"], record["format"], record["found_by"]) == ("failed", format, "index")
    assert indexes.locs(path) == []


def test_child_on_another_host_is_read(indexes: Indexes) -> None:
    record = indexes.crawl.sitemaps[f"{indexes.cdn}/child.xml"]
    assert (record["outcome"], record["offsite"]) == ("ok", True)
    assert indexes.crawl.locs(f"{indexes.cdn}/child.xml") == [f"{PAGE}cdn"]


def test_eight_levels_are_read_to_the_end(indexes: Indexes) -> None:
    assert indexes.locs("/deep/8.xml") == [f"{PAGE}end/deep"]
    assert indexes.record("/deep/8.xml")["depth"] == 8


def test_more_than_ten_levels_are_not_followed_and_counted(indexes: Indexes) -> None:
    assert indexes.record("/deeper/10.xml")["depth"] == 10
    assert "/deeper/11.xml" not in indexes.site.paths
    assert indexes.crawl.summary["skipped"]["max_depth"] == 1


def test_wide_index_is_read_whole_by_a_few_requests_at_once(indexes: Indexes) -> None:
    found = [loc for loc in indexes.crawl.locs() if loc.startswith(f"{PAGE}wide/")]
    assert sorted(found) == sorted(f"{PAGE}wide/wide/{number}" for number in range(WIDE))
    assert 1 <= indexes.wide.most <= AT_ONCE


def test_page_in_an_index_is_a_page_and_a_sitemap_in_a_urlset_a_sitemap(indexes: Indexes) -> None:
    assert indexes.locs("/url-in-index.xml") == indexes.locs("/sitemap-in-urlset.xml") == GOOD
    assert indexes.locs("/child.xml") == [f"{PAGE}child"]


# ---- duplicates


def test_every_listing_of_a_page_is_a_row_with_its_own_metadata(site: SiteServer, tmp_path: Path) -> None:
    for name in ("a", "b"):
        site.routes[f"/{name}.xml"] = document(f"duplicates-{name}.xml")
    done = crawl(tmp_path, sitemap=f"{site.url('/a.xml')},{site.url('/b.xml')}")
    rows = [
        (record["sitemap"][-5:], record.get("lastmod"), record.get("priority"), record.get("changefreq"))
        for record in done.of_type("url")
        if record["loc"] == f"{PAGE}same"
    ]
    assert sorted(rows, key=str) == [
        ("a.xml", "2023-01-01", None, None),
        ("a.xml", "2024-05-01", 0.8, None),
        ("b.xml", None, None, "daily"),
    ]
    assert sorted(set(done.locs()) - {f"{PAGE}same"}) == [f"{PAGE}a", f"{PAGE}b", f"{PAGE}same?utm_source=mail"]
    assert done.summary["urls"] == 6
