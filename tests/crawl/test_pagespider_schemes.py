"""Spiders of pages with Scrapy's own settings, whose handlers would take any scheme that a site names."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from urllib.parse import quote

import pytest

from tests.crawl.documents import index
from tests.crawl.projects import Done, run
from tests.crawl.site_server import SiteServer, moved

ALONE = """
    import sys

    from scrapy.crawler import CrawlerProcess

    from sitemapcrawler import SitemapSpider


    class Alone(SitemapSpider):
        name = "alone"

        def parse_page(self, response, entry):
            yield {"page": response.url}

        def sitemap_read(self, record):
            yield {"sitemap": record.sitemap, "outcome": record.outcome, "error": record.error}


    process = CrawlerProcess({
        "FEEDS": {"items.jsonl": {"format": "jsonlines"}},
        "SITEMAP_ALLOW_NETWORKS": ["127.0.0.0/8"],
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
    })
    process.crawl(Alone, domain=sys.argv[1])
    process.start()
"""
SECRET = "/secret"
"""A page that is known only to whoever reads what must not be read."""


def strange(server: SiteServer, listener: socket.socket, folder: Path, by: str) -> list[str]:
    """A URL of each scheme that a site may not lead to; `by` tells those of two places apart."""
    secret = folder / f"{by}.txt"
    secret.write_text(server.url(SECRET))
    place = "{}:{}".format(*listener.getsockname())
    return [
        f"ftp://{place}/{by}.txt",
        f"s3://{place}/{by}.txt",
        f"data:text/plain,{quote(server.url(SECRET), safe='')}%0A%23{by}",
        secret.as_uri(),
        f"javascript:{by}()",
    ]


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """Whom nobody may connect to. It answers nothing, so that whoever does has to be killed."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.fixture(scope="module")
def server(listener: socket.socket, tmp_path_factory: pytest.TempPathFactory) -> SiteServer:
    """A site that leads to strange schemes from an index, from robots.txt and by redirects."""
    server, folder = SiteServer(), tmp_path_factory.mktemp("files")
    redirects = {f"/{at}.xml": moved(url) for at, url in enumerate(strange(server, listener, folder, "moved"))}
    named = [server.url("/index.xml"), *strange(server, listener, folder, "robots")]
    listed = strange(server, listener, folder, "index")
    server.routes = {
        "/robots.txt": "".join(f"Sitemap: {url}\n" for url in named),
        "/index.xml": index(*listed, *map(server.url, redirects), server.url("/good.txt")),
        "/good.txt": server.url("/page"),
        "/page": "<!doctype html>",
        **redirects,
    }
    return server


@pytest.fixture(scope="module")
def done(server: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("alone")
    (folder / "alone.py").write_text(dedent(ALONE))
    with server:
        return run(folder, "-W", "error", "alone.py", server.url())


def test_nothing_but_the_web_is_read(done: Done, server: SiteServer, listener: socket.socket) -> None:
    assert done.values("page") == [server.url("/page")]
    assert SECRET not in server.paths
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_child_of_another_scheme_has_failed(done: Done, server: SiteServer) -> None:
    errors = {item["sitemap"]: item["error"] for item in done.items if item.get("outcome") == "failed"}
    listed = {url: error for url, error in errors.items() if "index" in url}
    assert [url.partition(":")[0] for url in listed] == ["ftp", "s3", "data", "file", "javascript"]
    assert set(listed.values()) == {"only http and https URLs are requested"}
    moved_away = {url for url in errors if url.startswith(server.url())}
    assert moved_away == {server.url(f"/{number}.xml") for number in range(5)}
