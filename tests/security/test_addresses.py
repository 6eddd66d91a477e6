"""Every request of a crawl, whatever leads to it, in every spelling of an address: none reaches what nobody named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.crawl.crawling import Crawl, crawl, launch
from tests.crawl.documents import CORE, DECLARATION, index, page, pages, robots, urlset
from tests.crawl.site_server import Reply, SiteServer, moved
from tests.namespace import add_address
from tests.security.commands import program, spider

METADATA = "169.254.169.254"
PRIVATE = "10.0.0.1"
HOSTS = (
    "127.0.0.1", "127.1", "127.0.1", "0", "0.0.0.0", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001",
    "0x7f.0.0x0.01", "127.0.0.1.", "0x7f.1.", "LOCALHOST", "localhost.", "[::1]", "[::]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[0:0:0:0:0:0:0:1]", "[::1%25lo]",
    "[fe80::1%25lo]", "[fe80::1%lo]", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "127\uff0e0\uff0e0\uff0e1",
    "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "public.test@127.0.0.1",
    "user:pass@127.0.0.1", "public.test:80@127.0.0.1", "public.test\\@127.0.0.1", "127.0.0.1\\@public.test",
    "@127.0.0.1", METADATA, "2852039166", "[::ffff:a9fe:a9fe]", PRIVATE, "0xa000001", "[::ffff:10.0.0.1]",
)  # fmt: skip
"""Ways to write the host of a server nobody named."""
UNREAD = ("http:///127.0.0.1:{port}/u0", "http:127.0.0.1:{port}/u1", "http:/127.0.0.1:{port}/u2",
          "http:\\\\127.0.0.1:{port}\\u3", "HTTP://127.0.0.1:{port}/u4", "http://127.0.0.1:0{port}/u5",
          "\thttp://127.0.\n0.1:{port}/u6", "//127.0.0.1:{port}/u7", "http://127.0.0.1:/u8", "http://127.0.0.1:0/u9",
          "http://127.0.0.1:65536/u10", "http://127.0.0.1:{port}#@public.test/u11", "http://127.0.0.1:{port}?@public.test")  # fmt: skip
"""Other ways to write a URL of it."""
SCHEMES = ("file:///etc/passwd", "ftp://127.0.0.1:{port}/x", "gopher://127.0.0.1:{port}/_x", "data:text/plain,x",
           "javascript:alert(1)", "unix:/run/docker.sock", "http+unix://%2Frun%2Fdocker.sock/x", "ws://127.0.0.1:{port}/x",
           "dict://127.0.0.1:{port}/x", "jar:http://127.0.0.1:{port}/x!/", "view-source:http://127.0.0.1:{port}/")  # fmt: skip
SETTINGS = {"DOWNLOAD_TIMEOUT": 5, "RETRY_TIMES": 0, "SITEMAP_MAX_ROBOTS": 100, "DNS_TIMEOUT": 2}


@dataclass
class Attack:
    """A crawl of sites whose every part names a server nobody allowed."""

    crawl: Crawl
    site: SiteServer
    canaries: list[SiteServer]

    @property
    def port(self) -> int:
        return int(self.canaries[0].server_address[1])

    def kinds(self) -> dict[str, str]:
        return {record["loc"]: record["reply"]["kind"] for record in self.crawl.of_type("url")}


@pytest.fixture(scope="module")
def canaries(alone: None) -> Iterator[list[SiteServer]]:
    """Servers on one port of loopback, of the metadata service, and of a network inside, that nobody named."""
    add_address(METADATA, 1)
    add_address(PRIVATE, 2)
    with ExitStack() as stack:
        first = stack.enter_context(SiteServer())
        port = first.server_address[1]
        others = [stack.enter_context(SiteServer(host=host, port=port)) for host in ("::1", METADATA, PRIVATE)]
        yield [first, *others]


def site_that_attacks(site: SiteServer, port: int) -> None:
    """Have every part of a site name the canaries."""
    canary = f"http://127.0.0.1:{port}"
    spelt = [f"http://{host}:{port}/{number}" for number, host in enumerate(HOSTS)]
    spelt += [url.format(port=port) for url in (*UNREAD, *SCHEMES)]
    gone = {f"/go/{number}": moved(url.strip()) for number, url in enumerate(spelt) if url.isascii()}
    files = {f"/file/{number}.xml": reply for number, reply in enumerate(gone.values())}
    assets = "".join(
        f"<url><loc>{site.url(f'/asset/{number}')}</loc><image:image><image:loc>{canary}/a{number}</image:loc>"
        f"</image:image><video:video><video:thumbnail_loc>{canary}/t</video:thumbnail_loc>"
        f"<video:content_loc>{canary}/c</video:content_loc></video:video></url>"
        for number in range(2)
    )
    spaces = (
        'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
        'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    )
    refresh = f'<meta http-equiv="refresh" content="0; url={canary}/refresh"><link rel="canonical" href="{canary}/c">'
    head = {"Content-Type": "text/html", "Link": f'<{canary}/link>; rel="canonical"', "Refresh": f"0; url={canary}/r"}
    site.routes = {
        "/robots.txt": robots(
            "/index.xml",
            *(url for url in spelt if "\n" not in url),
            rules=["License: /license.xml", "Schemamap: /map.xml"],
        ),
        "/llms.txt": "".join(
            f"- [x]({url})\n" for url in (f"{canary}/llms", f"http://127.1:{port}/l", site.url("/go/1"))
        ),
        "/license.xml": moved(f"{canary}/license"),
        "/map.xml": urlset(*spelt[:5], f"{canary}/schema"),
        "/index.xml": index("/pages.xml", "/assets.xml", *map(site.url, files), *spelt),
        "/pages.xml": urlset(*spelt, *map(site.url, gone), site.url("/refresh")),
        "/assets.xml": f"{DECLARATION}<urlset {CORE} {spaces}>{assets}</urlset>",
        "/refresh": Reply(page(refresh), headers=head),
        **gone,
        **files,
    }
    site.otherwise = Reply(page(), headers={"Content-Type": "text/html"})


@pytest.fixture(scope="module")
def attack(canaries: list[SiteServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attack]:
    port = canaries[0].server_address[1]
    with SiteServer() as site, SiteServer() as moving, SiteServer() as homeless:
        site_that_attacks(site, port)
        moving.routes = {
            "/robots.txt": moved(f"http://127.0.0.1:{port}/robots.txt"),
            "/": moved(f"http://127.1:{port}/"),
        }
        homeless.routes = {"/": moved(f"http://127.0.0.1:{port}/home")}
        homeless.otherwise = moved(f"http://0x7f.1:{port}/probe")
        domains = f"{site.url()},{moving.url()},{homeless.url()}"
        done = crawl(
            tmp_path_factory.mktemp("attack"),
            domain=domains,
            verify="get",
            verify_offsite="yes",
            verify_assets="yes",
            settings=SETTINGS,
        )
        yield Attack(done, site, canaries)


def test_no_request_reaches_a_server_that_nobody_named(attack: Attack) -> None:
    assert [canary.connections for canary in attack.canaries] == [0, 0, 0, 0]
    assert {"/refresh", "/llms.txt", "/license.xml", "/map.xml"} <= set(attack.site.paths)
    assert attack.crawl.code == 0


def test_no_page_or_asset_was_had_from_it(attack: Attack) -> None:
    kinds = attack.kinds()
    answered = {url for url, kind in kinds.items() if kind in ("ok", "redirected")}
    relative = {attack.site.url(f"/go/{len(HOSTS) + number}") for number in (1, 2)}  # `http:x` is, behind http
    assert answered == relative | {attack.site.url(path) for path in ("/refresh", "/asset/0", "/asset/1")}
    plain = {f"http://127.0.0.1:{attack.port}/0", f"http://[::1]:{attack.port}/15", attack.site.url("/go/0")}
    assert {kinds[url] for url in plain} == {"address-refused"}


def test_each_refusal_is_a_finding_and_counted(attack: Attack) -> None:
    findings = attack.crawl.of_type("finding")
    refused = {finding["value"] for finding in findings if finding["rule"] == "security-address-refused"}
    roles = {"/0", "/a0", "/a1", "/t", "/c", "/robots.txt"}
    assert {f"http://127.0.0.1:{attack.port}{path}" for path in roles} <= refused
    assert attack.site.url("/file/0.xml") in refused
    assert attack.crawl.summary["skipped"]["addresses_refused"] > len(HOSTS)


def test_refused_sitemap_has_a_record_that_says_why(attack: Attack) -> None:
    named, moved_there = f"http://127.0.0.1:{attack.port}/0", attack.site.url("/file/0.xml")
    for record in map(attack.crawl.sitemaps.__getitem__, (named, moved_there)):
        assert (record["outcome"], record["url_count"]) == ("failed", 0)
        assert "not public" in record["error"] and "SITEMAP_ALLOW_NETWORKS" in record["error"]
    assert "status" not in attack.crawl.sitemaps[named]
    assert attack.crawl.sitemaps[named]["found_by"] == "robots"
    assert attack.crawl.sitemaps[moved_there]["hops"] == [{"status": 302, "url": moved_there}]


@pytest.mark.parametrize("scheme", ["ftp", "file", "gopher", "data", "javascript", "unix", "ws"])
def test_redirect_to_another_scheme_is_a_finding(attack: Attack, scheme: str) -> None:
    findings = [one for one in attack.crawl.of_type("finding") if one["severity"] == "error"]
    messages = [one["message"] for one in findings if one["rule"] == "status-redirect"]
    assert any(message.startswith(f"HTTP status 302: a redirect to {scheme}:") for message in messages), messages


def test_site_that_moves_home_is_told(attack: Attack) -> None:
    robots = [one for one in attack.crawl.of_type("robots") if "not public" in one.get("error", "")]
    assert robots
    findings = [one for one in attack.crawl.of_type("finding") if one["rule"] == "security-address-refused"]
    assert {one["robots"] for one in robots} <= {one["value"] for one in findings}
    assert not any(
        "not public" in one["message"] for one in attack.crawl.of_type("finding") if "robots-" in one["rule"]
    )


@pytest.mark.slow
def test_other_commands_and_a_spider_of_pages_reach_nothing(
    canaries: list[SiteServer], tmp_path_factory: pytest.TempPathFactory
) -> None:
    port = canaries[0].server_address[1]
    with SiteServer() as site:
        site_that_attacks(site, port)
        del site.routes["/robots.txt"]
        site.routes["/sitemap.xml"] = site.routes["/pages.xml"]
        commands = [
            program("inspect", site.url("/file/0.xml"), settings=SETTINGS),
            program("validate", site.url("/index.xml"), site.url("/file/0.xml"), settings=SETTINGS),
            spider(tmp_path_factory.mktemp("spider"), domain=site.url()),
        ]
        running = [launch(tmp_path_factory.mktemp("command"), command) for command in commands]
        inspected, validated, crawled = [one.finish() for one in running]
    assert [canary.connections for canary in canaries] == [0, 0, 0, 0]
    assert "not public" in inspected.log + inspected.output
    assert inspected.code == 4
    assert "security-address-refused" in validated.output
    assert "GOT" in crawled.output
    assert "AddressForbidden" in crawled.output


def test_named_authority_is_that_host_on_that_port_and_nothing_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    with SiteServer() as named, SiteServer() as other:
        port = other.server_address[1]
        own = named.server_address[1]
        spellings = [
            f"http://127.0.0.1:{port}/port.xml",
            f"http://localhost:{own}/name.xml",
            f"http://127.1:{own}/s.xml",
        ]
        same = f"HTTP://127.0.0.1:{own}/same.xml"
        named.routes = {"/index.xml": index(*spellings, same), "/same.xml": urlset(*pages("same", 1))}
        done = crawl(tmp_path_factory.mktemp("named"), sitemap=named.url("/index.xml"), settings=SETTINGS)
        assert other.connections == 0
        assert named.paths == ["/index.xml", "/same.xml"]
        assert [done.sitemaps[url]["outcome"] for url in spellings] == ["failed"] * 3
