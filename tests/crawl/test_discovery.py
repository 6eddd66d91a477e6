"""How a crawl finds the sitemaps of a site: what it asks for, in which order, and what it says of that."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pytest

from tests.crawl.authority import CertificateAuthority
from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import index, packed, page, pages, robots, rss, text, urlset
from tests.crawl.many_sites import Program, Sites, visited
from tests.crawl.site_server import Exchange, Reply, SiteServer, garbage, moved
from tests.ports import reserved_port

COMMON = ("/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml", "/sitemap.xml.gz",
          "/sitemap.txt", "/sitemap.php", "/sitemap_index.xml.gz", "/sitemap-index.xml.gz", "/sitemapindex.xml.gz")  # fmt: skip
"""The common paths that the project promises; there may be more."""
ONE = urlset("https://pages.example/one")
NO_RETRIES = {"RETRY_TIMES": 0}
ONE_AT_A_TIME = {"CONCURRENT_REQUESTS": 1}
HTML = Reply(page(), headers={"Content-Type": "text/html"})

Writer = Callable[[str], bytes]
"""From the URL of a page to a sitemap that lists it."""


# ---- robots.txt

ROBOTS: dict[str, bytes] = {
    "inside a group": b"User-agent: *\nDisallow: /admin/\nSitemap: BASE/a.xml\nDisallow: /cart/\n",
    "UTF-16": codecs.BOM_UTF16_LE + "Sitemap: BASE/a.xml\r\n".encode("utf-16-le"),
    "relative": b"Sitemap: /a.xml\n",
    "upper-case scheme": b"Sitemap: HTTP://PLACE/a.xml\n",
    "URL alone": b"User-agent: *\nDisallow:\nBASE/a.xml\n",
    "named twice": b"Sitemap: BASE/a.xml\nsitemap: BASE/a.xml\nSitemap: /a.xml\n",
}
"""Each names /a.xml, and nothing else; BASE and PLACE stand for the site's origin and authority. All forms of such lines
are tried in `unit/robots/test_sitemap_lines.py`."""


def robots_program(body: bytes) -> Program:
    def program(server: SiteServer) -> None:
        filled = body
        for word, value in {"BASE": server.url(), "PLACE": server.place}.items():
            for encoding in ("utf-8", "utf-16-le"):
                filled = filled.replace(word.encode(encoding), value.encode(encoding))
        server.routes = {
            "/robots.txt": filled,
            "/a.xml": urlset(server.url("/page")),
            "/sitemap.xml": urlset(server.url("/common")),
        }

    return program


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    programs = {name: robots_program(body) for name, body in ROBOTS.items()}
    with visited(tmp_path_factory.mktemp("named"), programs) as sites:
        yield sites


@pytest.mark.parametrize("name", ROBOTS)
def test_sitemap_line_is_found(named: Sites, name: str) -> None:
    server = named.servers[name]
    assert named.found(name) == [("/a.xml", "robots")]
    assert named.locs(name) == [server.url("/page")]
    assert named.of(name)[0]["parent"] == server.url("/robots.txt")
    assert named.of(name)[0]["depth"] == 0
    assert server.paths == ["/a.xml"], "no common path"
    assert server.handshakes == 0, "a URL with http"


def test_crawl_of_many_sites_finishes(named: Sites) -> None:
    assert named.crawl.code == 0
    assert len(named.crawl.summary["domains"]) == len(ROBOTS)
    assert named.crawl.summary["sitemaps"] == named.crawl.summary["urls"] == len(ROBOTS)
    assert "partial" not in named.crawl.summary


# ---- common paths, home page, feeds


def only(path: str, robots_reply: bytes | Reply | None = None, write: Writer = urlset) -> Program:
    """A site with one sitemap, which lists its page /one."""

    def program(server: SiteServer) -> None:
        server.routes = {path: write(server.url("/one"))}
        if robots_reply is not None:
            server.routes["/robots.txt"] = robots_reply

    return program


def linking(*head: str, **files: Writer) -> Program:
    """A site whose home page has these elements in its head, with sitemaps that list its page /one."""

    def program(server: SiteServer) -> None:
        server.routes = {"/": Reply(page(*head), headers={"Content-Type": "text/html"})}
        server.routes |= {f"/{name}.xml": write(server.url("/one")) for name, write in files.items()}

    return program


def soft_404(body: bytes, content_type: str, *, with_robots: bool = True) -> Program:
    def program(server: SiteServer) -> None:
        server.otherwise = Reply(body, headers={"Content-Type": content_type})
        if not with_robots:
            server.routes["/robots.txt"] = Reply("", 404)

    return program


def same_file_twice(server: SiteServer) -> None:
    server.routes = {path: urlset(*pages("same", 2)) for path in ("/sitemap.xml", "/sitemap_index.xml")}


def redirect_to_known(server: SiteServer) -> None:
    server.routes = {
        "/sitemap.xml": moved(server.url("/sitemap_index.xml"), 301),
        "/wp-sitemap.xml": moved("/sitemap_index.xml"),
        "/sitemap_index.xml": urlset(*pages("known", 2)),
    }


def slow(server: SiteServer) -> None:
    """A sitemap at two common paths, the first of which takes its time."""
    body = urlset(server.url("/one"))

    def slowly(exchange: Exchange) -> None:
        exchange.connection.settimeout(0.5)
        with suppress(TimeoutError):
            exchange.connection.recv(1)  # nothing comes
        exchange.connection.settimeout(None)
        exchange.head(Content_Length=len(body))
        exchange.send(body)

    server.routes = {"/sitemap.xml": slowly, "/wp-sitemap.xml": body}


RSS_LINK = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
UNNAMED: dict[str, Program] = {
    "common /sitemap.xml": only("/sitemap.xml"),
    "common /wp-sitemap.xml": only("/wp-sitemap.xml"),
    "common /sitemap.xml.gz": only("/sitemap.xml.gz", write=lambda loc: packed(urlset(loc))),
    "common /sitemap.txt": only("/sitemap.txt", write=text),
    "robots forbidden": only("/sitemap.xml", Reply("no", 403)),
    "robots html": only("/sitemap.xml", Reply(page("\nSitemap: /no.xml\n"), headers={"Content-Type": "text/html"})),
    "robots without a sitemap": only("/sitemap.xml", robots(rules=["Disallow: /admin/"])),
    "same file twice": same_file_twice,
    "slow /sitemap.xml": slow,
    "redirect to known": redirect_to_known,
    "link": linking('<link rel="sitemap" type="application/xml" href="/linked.xml">', linked=urlset),
    "link with base": linking('<base href="/deep/">', '<link rel="sitemap" href="../linked.xml">', linked=urlset),
    "link before feed": linking(RSS_LINK, '<link rel="sitemap" href="/linked.xml">', linked=urlset, feed=rss),
    "link that is no sitemap": linking('<link rel="sitemap" href="/sitemap.html">'),
    "rss": linking(RSS_LINK, feed=rss),
    "soft 404": soft_404(page(), "text/html"),
    "soft 404 with true robots": soft_404(page(), "text/html", with_robots=False),
    "soft 404 as xml": soft_404(b"<?xml version='1.0'?><error>not found</error>", "application/xml"),
    "soft 404 empty": soft_404(b"", "text/plain"),
    "nothing": only("/nothing"),
}
FIRST, LINKED, FEED = ("/sitemap.xml", "common-path"), ("/linked.xml", "html-link"), ("/feed.xml", "html-link")
FOUND: dict[str, tuple[str, str]] = {
    **{name: (name.removeprefix("common "), "common-path") for name in UNNAMED if name.startswith("common ")},
    **{name: FIRST for name in UNNAMED if name.startswith(("robots ", "slow "))},
    **dict.fromkeys(("link", "link with base", "link before feed"), LINKED),
    "rss": FEED,
}
"""Path of the only sitemap of a site, which lists /one, and the way in which it is found."""
ASKED = {
    **{name: ["/sitemap.xml"] for name in UNNAMED if name.startswith(("robots ", "slow "))},
    "common /wp-sitemap.xml": ["/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml"],
}
"""What is requested of a site, in order: no common path after the first one that leads to a sitemap."""


@pytest.fixture(scope="module")
def unnamed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    with visited(tmp_path_factory.mktemp("unnamed"), UNNAMED) as sites:
        yield sites


@pytest.mark.parametrize("name", FOUND)
def test_sitemap_that_robots_txt_does_not_name_is_found(unnamed: Sites, name: str) -> None:
    assert unnamed.found(name) == [FOUND[name]]
    assert unnamed.locs(name) == [unnamed.servers[name].url("/one")]
    [record] = unnamed.of(name)
    home = unnamed.servers[name].url("/")
    assert (record.get("parent") == home) is (record["found_by"] == "html-link")
    assert (record["format"] == "rss") is (FOUND[name] == FEED)


@pytest.mark.parametrize("name", ASKED)
def test_common_paths_after_a_sitemap_are_skipped(unnamed: Sites, name: str) -> None:
    assert unnamed.servers[name].paths == ASKED[name]


def test_site_that_does_not_answer_is_asked_for_three_common_paths(site: SiteServer, tmp_path: Path) -> None:
    linking('<link rel="sitemap" href="/linked.xml">', linked=urlset)(site)
    site.routes["/robots.txt"] = robots()
    site.otherwise = garbage(b"no HTTP\r\n\r\n")
    done = crawl(tmp_path, domain=site.url(), settings=NO_RETRIES)
    assert site.paths == [*COMMON[:3], "/", "/linked.xml"]
    assert list(done.sitemaps) == [site.url("/linked.xml")]


@pytest.mark.parametrize("name", ["same file twice", "redirect to known"])
def test_common_path_that_leads_to_a_file_already_read_is_read_once(unnamed: Sites, name: str) -> None:
    assert len(unnamed.found(name)) == 1
    assert len(unnamed.locs(name)) == 2


def test_home_page_is_looked_at_after_the_common_paths(unnamed: Sites) -> None:
    paths = unnamed.servers["link"].paths
    assert max(map(paths.index, COMMON)) < paths.index("/") < paths.index("/linked.xml")


def test_linked_page_that_is_no_sitemap_has_a_record(unnamed: Sites) -> None:
    [record] = unnamed.of("link that is no sitemap")
    assert (record["found_by"], record["outcome"], record["status"]) == ("html-link", "failed", 404)


@pytest.mark.parametrize("name", [*(name for name in UNNAMED if name.startswith("soft 404")), "nothing"])
def test_guesses_that_find_nothing_leave_no_record(unnamed: Sites, name: str) -> None:
    assert unnamed.of(name) == []
    assert set(COMMON) <= set(unnamed.servers[name].paths)


def test_guesses_that_find_nothing_are_counted(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/sitemap.txt": text("https://pages.example/one")}
    settings = {"STATS_DUMP": 1}
    done = crawl(tmp_path, "-O", "records.jsonl", "--loglevel=INFO", domain=site.url(), settings=settings)
    counts = re.findall(r"'sitemap/[^']*(?:probe|guess|common)[^']*': (\d+)", done.log)
    assert len(site.paths) > 1
    assert counts == [str(len(site.paths) - 1)]
    assert len(done.sitemaps) == 1


def test_every_path_is_asked_for_once(unnamed: Sites) -> None:
    for name, server in unnamed.servers.items():
        counts = Counter(server.paths)
        if name == "redirect to known":
            continue  # two redirects lead to the file, and their ends are known only then
        assert counts and set(counts.values()) == {1}, name


def test_sites_without_a_sitemap_that_may_be_requested_end_with_4(tmp_path: Path) -> None:
    with ExitStack() as stack:
        *sites, forbidden = [stack.enter_context(SiteServer()) for _ in range(7)]
        html, by_robots, by_home, to, fro = sites[1:]
        html.otherwise = HTML
        by_robots.routes = {"/robots.txt": moved(forbidden.url("/robots.txt"))}
        by_home.routes = {"/": moved(forbidden.url("/"))}
        to.routes, fro.routes = {"/": moved(fro.url("/"))}, {"/": moved(to.url("/"))}
        domains = [*(site.url() for site in sites), f"http://127.0.0.1:{stack.enter_context(reserved_port())}"]
        done = crawl(tmp_path, domain=",".join(domains), settings=NO_RETRIES)
    assert forbidden.connections == 0
    assert len(to.paths) + len(fro.paths) < 100
    assert done.code == 4
    assert done.types == ["summary"]
    assert "0 files, 0 URLs" in done.log


# ---- probe


def test_probe_always_tries_the_common_paths_as_well(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {
        "/robots.txt": robots(site.url("/named.xml")),
        "/named.xml": urlset(*pages("named", 1)),
        "/sitemap.xml": urlset(*pages("common", 1)),
        "/sitemap_index.xml": moved(site.url("/named.xml"), 301),
        "/wp-sitemap.xml": urlset(*pages("named", 1)),
    }
    done = crawl(tmp_path, domain=site.url(), probe="always", settings=ONE_AT_A_TIME)
    assert {url: record["found_by"] for url, record in done.sitemaps.items()} == {
        site.url("/named.xml"): "robots",
        site.url("/sitemap.xml"): "common-path",
    }
    assert sorted(done.locs()) == [*pages("common", 1), *pages("named", 1)]
    assert done.code == 0


# ---- another authority


def robots_elsewhere(site: SiteServer, other: SiteServer) -> None:
    site.routes = {"/robots.txt": moved(other.url("/robots.txt"), 301), "/sitemap.xml": urlset(*pages("here", 1))}
    other.routes = {"/robots.txt": robots("/there.xml"), "/there.xml": urlset(*pages("there", 1))}


def home_elsewhere(site: SiteServer, other: SiteServer) -> None:
    site.routes = {"/": moved(other.url("/welcome"), 302)}
    other.routes = {"/robots.txt": robots("/there.xml"), "/there.xml": urlset(*pages("there", 1)), "/welcome": page()}


def link_elsewhere(site: SiteServer, other: SiteServer) -> None:
    site.routes = {"/": moved(other.url("/"), 301)}
    other.routes = {"/": page('<link rel="sitemap" href="/there.xml">'), "/there.xml": ONE}


ELSEWHERE = {
    "robots.txt": (robots_elsewhere, "robots", "/robots.txt"),
    "home page": (home_elsewhere, "robots", "/robots.txt"),
    "link of the home page": (link_elsewhere, "html-link", "/"),
}
"""{what redirects to another authority: (its two servers, how `/there.xml` is found, path of its parent)}"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawl, dict[str, SiteServer]]]:
    """A crawl of the sites, and the other server of each."""
    with ExitStack() as stack:
        domains, others = [], {}
        for name, (program, *_) in ELSEWHERE.items():
            site, others[name] = stack.enter_context(SiteServer()), stack.enter_context(SiteServer())
            program(site, others[name])
            domains.append(site.url())
        folder = tmp_path_factory.mktemp("elsewhere")
        yield crawl(folder, domain=",".join(domains), settings=LOOPBACK), others


@pytest.mark.parametrize("name", ELSEWHERE)
def test_redirect_goes_on_at_the_other_authority(elsewhere: tuple[Crawl, dict[str, SiteServer]], name: str) -> None:
    done, others = elsewhere
    _, found_by, parent = ELSEWHERE[name]
    record = done.sitemaps[others[name].url("/there.xml")]
    assert (record["found_by"], record["parent"]) == (found_by, others[name].url(parent))
    assert len(done.sitemaps) == len(ELSEWHERE)
    assert done.code == 0


def test_common_paths_are_those_of_the_authority_robots_leads_to(
    site: SiteServer, other: SiteServer, tmp_path: Path
) -> None:
    site.routes = {"/robots.txt": moved(other.url("/robots.txt"), 308)}
    other.routes = {"/robots.txt": robots(), "/sitemap.xml": urlset(*pages("there", 1))}
    done = crawl(tmp_path, domain=f"{site.url()},{other.url()}")
    assert list(done.sitemaps) == [other.url("/sitemap.xml")]
    assert done.locs() == pages("there", 1)
    assert set(site.paths) & set(COMMON) == set()


# ---- https first


def test_bare_host_is_asked_by_https_first(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/robots.txt": robots("/a.xml"), "/a.xml": ONE}
    done = crawl(tmp_path, domain=site.place)
    assert site.handshakes >= 1
    assert list(done.sitemaps) == [site.url("/a.xml")]
    assert "http" in next(line for line in done.log.splitlines() if "WARNING" in line)
    assert done.code == 0


def test_bare_host_with_https_is_crawled_by_https_alone(tmp_path: Path) -> None:
    with SiteServer(tls=CertificateAuthority(tmp_path).self_signed("server")) as site:
        site.routes = {"/robots.txt": robots("/a.xml"), "/a.xml": index(site.url("/b.xml")), "/b.xml": ONE}
        done = crawl(tmp_path, domain=site.place)
    assert list(done.sitemaps) == [site.url("/a.xml"), site.url("/b.xml")]
    assert all(url.startswith("https://") for url in done.sitemaps)
    assert done.code == 0


# ---- files that the home page links to

LINK = '<a href="/extra.xml">More pages</a>'
HOMES: dict[str, tuple[str, bool]] = {
    "link": (LINK, True),
    "no link": ("", True),
    "other links": ('<a href="/rss.xml">RSS</a> <a href="https://other.example/extra.xml">Other</a>', True),
    "no sitemap": (f'{LINK}<a href="/data.xml">Data</a>', False),
}
"""{site: (links of its home page, whether robots.txt names a sitemap)}"""


def home_with(site: SiteServer, links: str, is_named: bool = True) -> None:
    """A site whose sitemap lists its home page, with these links, and whose /extra.xml lists a page more."""
    home = f"<html><head><title>Home</title></head><body><h1>Home</h1>{links}<p>{'Welcome. ' * 30}</p></body></html>"
    site.routes = {
        "/robots.txt": robots(*[site.url("/a.xml")] * is_named),
        "/a.xml": urlset(site.url("/"), site.url("/one")),
        "/extra.xml": urlset(site.url("/extra")),
        "/rss.xml": rss(site.url("/post")),
        "/data.xml": b"<?xml version='1.0'?><data/>",
        "/": Reply(home, headers={"Content-Type": "text/html"}),
        **{path: Reply(page(), headers={"Content-Type": "text/html"}) for path in ("/one", "/extra", "/post")},
    }


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    programs = {name: partial(home_with, links=links, is_named=named) for name, (links, named) in HOMES.items()}
    with visited(tmp_path_factory.mktemp("homes"), programs, verify="get") as sites:
        yield sites


def test_file_that_the_listed_home_page_links_to(homes: Sites) -> None:
    site, named = homes.servers["link"], ("/a.xml", "robots")
    assert homes.found("link") == [named, ("/extra.xml", "html-link")]
    assert homes.record("link", "/extra.xml")["parent"] == site.url("/")
    assert set(homes.locs("link")) == {site.url(path) for path in ("/", "/one", "/extra")}
    assert homes.found("no link") == homes.found("other links") == [named]
    sent = {name: Counter(one.path for one in server.exchanges) for name, server in homes.servers.items()}
    assert sent["link"]["/"] == sent["no link"]["/"] == 1
    more = [path for path in sent["link"] if path not in sent["no link"] and not path.startswith("/.")]
    assert [path for path in more if path in ("/extra.xml", "/extra")] == ["/extra.xml", "/extra"]
    assert not (sent["no link"].keys() | sent["other links"].keys()) & {"/extra.xml", "/rss.xml"}


def test_file_that_the_home_page_of_a_site_without_sitemaps_links_to(homes: Sites) -> None:
    assert homes.found("no sitemap") == [("/extra.xml", "html-link")]
    assert "/data.xml" in [one.path for one in homes.servers["no sitemap"].exchanges]  # no sitemap, and no record


@pytest.mark.parametrize(
    "arguments", [{"probe": "never"}, {"domain": None, "sitemap": "/a.xml"}], ids=["never", "sitemap"]
)
def test_links_of_the_home_page_that_are_not_wanted(
    site: SiteServer, tmp_path: Path, arguments: dict[str, str | None]
) -> None:
    home_with(site, LINK)
    given = {"domain": site.url(), **arguments}
    if arguments.get("sitemap"):
        given["sitemap"] = site.url("/a.xml")
    done = crawl(tmp_path, verify="get", **{name: value for name, value in given.items() if value is not None})
    assert list(done.sitemaps) == [site.url("/a.xml")]
