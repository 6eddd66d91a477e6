"""IPv6 addresses in URLs that the user named: every command and argument takes them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import NO_DELAYS, crawl, options, run
from tests.crawl.documents import page, pages, urlset
from tests.crawl.site_server import Reply, SiteServer


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A site on IPv6 loopback."""
    if not _has_ipv6():
        pytest.skip("needs ::1")
    with SiteServer(host="::1") as server:
        server.routes = {
            "/sitemap.xml": urlset(server.url("/page"), server.url("/gone")),
            "/page": Reply(page(), headers={"Content-Type": "text/html"}),
        }
        yield server


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.parametrize("written", ["[{host}]:{port}", "HTTP://[0:0::0:1]:{port}/"])
def test_site_at_an_ipv6_address_is_crawled(site: SiteServer, tmp_path: Path, written: str) -> None:
    domain = written.format(host="::1", port=site.server_address[1])
    done = crawl(tmp_path, domain=domain, verify="get")
    assert done.code == 0
    assert [record["reply"]["kind"] for record in done.of_type("url")] == ["ok", "http-error"]
    assert done.sitemaps.keys() >= {site.url("/sitemap.xml")}
    assert {exchange.headers["host"] for exchange in site.exchanges} == {site.place}


def test_sitemap_at_an_ipv6_address_is_read(site: SiteServer, tmp_path: Path) -> None:
    site.routes["/b,c.xml"] = urlset(*pages("b", 1))
    done = crawl(tmp_path, sitemap=f"{site.url('/sitemap.xml')},{site.url('/b,c.xml')}")
    assert (done.code, len(done.locs())) == (0, 3)


@pytest.mark.parametrize(("command", "target"), [("inspect", "{place}"), ("validate", "{url}")])
def test_commands_take_it_as_a_target(site: SiteServer, tmp_path: Path, command: str, target: str) -> None:
    done = run(tmp_path, command, target.format(url=site.url(), place=site.place), *options(NO_DELAYS))
    assert done.returncode in (0, 1), done.stderr
    assert "/sitemap.xml" in site.paths
    assert site.url("/sitemap.xml") in done.stdout + done.stderr
