"""Hosts with letters beyond ASCII: asked for under the name that browsers make of them (UTS 46), in every role.

By the older mapping of Scrapy's requests (IDNA 2003), `straße.test` would be `strasse.test`, which may be a stranger's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import launch, start
from tests.crawl.documents import index, page, robots, urlset
from tests.crawl.site_server import Reply, SiteServer, moved
from tests.nameserver import NameServer, asking_it
from tests.namespace import add_address
from tests.security.commands import program, spider

HERE, STRANGER = "93.184.216.34", "93.184.216.35"
SENT = {
    "stra\u00dfe.test": "xn--strae-oqa.test",
    "STRA\u00dfE.Test": "xn--strae-oqa.test",
    "fa\u00df\u3002test": "xn--fa-hia.test",
    "\u2615.test": "xn--53h.test",
    "xn--53h.test": "xn--53h.test",
    "\uff45\uff58.test": "ex.test",
    "xn--a.test": "xn--a.test",
    "B\u00dcCHER.test": "xn--bcher-kva.test",
}
"""{host as written: host as sent}"""
OTHERS = ("strasse.test", "fass.test")
"""What IDNA 2003 makes of them."""
HTML = Reply(page(), headers={"Content-Type": "text/html"})
SETTINGS = {"RETRY_TIMES": 0, "DOWNLOAD_TIMEOUT": 10, "SITEMAP_MAX_ROBOTS": 50}


@pytest.fixture(scope="module", autouse=True)
def names(alone: None) -> Iterator[None]:
    """Two machines, and names that lead to them."""
    add_address(HERE, 1)
    add_address(STRANGER, 2)
    found = {name: [[HERE]] for name in SENT.values()} | {name: [[STRANGER]] for name in OTHERS}
    with NameServer(found):
        yield


@pytest.fixture
def machines() -> Iterator[tuple[SiteServer, SiteServer]]:
    """The server of the hosts as sent, and a stranger's on the same port."""
    with SiteServer(host=HERE) as site, SiteServer(host=STRANGER, port=site.server_address[1]) as stranger:
        yield site, stranger


@pytest.mark.slow
def test_every_request_goes_to_the_host_that_browsers_ask(
    machines: tuple[SiteServer, SiteServer], tmp_path: Path
) -> None:
    site, stranger = machines
    port = site.server_address[1]
    moves = moved(f"http://stra\u00dfe.test:{port}/moved")
    site.routes = {
        "/robots.txt": robots(f"http://stra\u00dfe.test:{port}/index.xml"),
        "/index.xml": index(*(f"http://{host}:{port}/{number}.xml" for number, host in enumerate(SENT))),
        **{
            f"/{number}.xml": urlset(*(f"http://{host}:{port}/{number}{at}" for at in ("", "-moves")))
            for number, host in enumerate(SENT)
        },
        **{f"/{number}": HTML for number in range(len(SENT))},
        **{f"/{number}-moves": moves for number in range(len(SENT))},
        "/moved": HTML,
    }
    arguments = {"domain": f"http://Stra\u00dfe.test:{port}", "verify": "get", "verify_offsite": "yes"}
    done = start(tmp_path, settings=SETTINGS, within=asking_it(tmp_path, patience=5), **arguments).finish()
    assert stranger.connections == 0
    hosts = {exchange.path: exchange.headers["host"] for exchange in site.exchanges}
    for number, sent in enumerate(SENT.values()):
        assert hosts[f"/{number}.xml"] == hosts[f"/{number}"] == f"{sent}:{port}"
    assert hosts["/moved"] == f"xn--strae-oqa.test:{port}"
    kinds = {record["loc"]: record["reply"]["kind"] for record in done.of_type("url")}
    assert kinds == {
        f"http://{host}:{port}/{number}{at}": kind
        for number, host in enumerate(SENT)
        for at, kind in (("", "ok"), ("-moves", "redirected"))
    }
    asked = {exchange.headers["host"] for exchange in site.exchanges if exchange.path == "/robots.txt"}
    assert asked == {f"{sent}:{port}" for sent in SENT.values()}


@pytest.mark.slow
def test_redirect_of_a_sitemap_and_a_spider_of_pages_go_there_too(
    machines: tuple[SiteServer, SiteServer], tmp_path: Path
) -> None:
    site, stranger = machines
    port = site.server_address[1]
    moves = moved(f"http://stra\u00dfe.test:{port}/pages.xml")
    locs = [f"http://{host}:{port}/{number}" for number, host in enumerate(SENT)]
    site.routes = {
        "/sitemap.xml": moves,
        "/pages.xml": urlset(*locs),
        **{f"/{number}": HTML for number in range(len(SENT))},
    }
    sitemap = f"http://fa\u00df.test:{port}/sitemap.xml"
    within = asking_it(tmp_path, patience=5)
    commands = program("inspect", sitemap, settings=SETTINGS), spider(tmp_path, own_requests=True, sitemap=sitemap)
    inspected, crawled = [launch(tmp_path, [*within, *words]).finish() for words in commands]
    assert stranger.connections == 0
    assert f"URLs        {len(SENT)}" in inspected.output
    for number, (loc, sent) in enumerate(zip(locs, SENT.values(), strict=True)):
        assert f"GOT {loc!a} http://{sent}:{port}/{number}" in crawled.output
