"""IPv6 addresses in URLs that the user named; `security/test_ipv6.py` has other commands and names."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import crawl
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


def test_site_at_an_ipv6_address_is_crawled(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, domain=f"HTTP://[0:0::0:1]:{site.server_address[1]}/", verify="get")
    assert done.code == 0
    assert [record["reply"]["kind"] for record in done.of_type("url")] == ["ok", "http-error"]
    assert done.sitemaps.keys() >= {site.url("/sitemap.xml")}
    assert {exchange.headers["host"] for exchange in site.exchanges} == {site.place}


def test_sitemap_at_an_ipv6_address_is_read(site: SiteServer, tmp_path: Path) -> None:
    site.routes["/b,c.xml"] = urlset(*pages("b", 1))
    done = crawl(tmp_path, sitemap=f"{site.url('/sitemap.xml')},{site.url('/b,c.xml')}")
    assert (done.code, len(done.locs())) == (0, 3)
