"""Files with a broken prolog, crawled from an index that has one itself: all is read, and each file has an error."""

from __future__ import annotations

import gzip
from pathlib import Path

from tests.crawl.crawling import crawl
from tests.crawl.documents import CORE, DECLARATION, entry, index, rss, urlset
from tests.crawl.site_server import Answering, Exchange, SiteServer

PAGE = "https://pages.example/"
LINK = '<xhtml:link rel="alternate" hreflang="de" href="https://pages.example/de"/>'


def undeclared(document: bytes) -> bytes:
    """The document without its declaration."""
    return document.removeprefix(DECLARATION.encode())


def in_pieces(body: bytes) -> Answering:
    """A route that sends the body byte by byte at its start."""

    def route(exchange: Exchange) -> None:
        exchange.head(Content_Length=len(body))
        for place in range(60):
            exchange.send(body[place : place + 1])
        exchange.send(body[60:])

    return route


FILES: dict[str, tuple[bytes, str]] = {
    "/comment.xml": (b"<!-- a plugin -->\n" + urlset(f"{PAGE}comment"), "doc-leading-content"),
    "/twice.xml.gz": (gzip.compress(DECLARATION.encode() + urlset(f"{PAGE}twice")), "doc-leading-content"),
    "/wide.xml": (
        f"<!-- a -- b --><urlset {CORE}>{entry(f'{PAGE}wide')}</urlset>".encode("utf-16"),
        "doc-xml-malformed",
    ),
    "/rss.xml": (b'<?xml encoding="UTF-8"?>' + undeclared(rss(f"{PAGE}rss")), "doc-xml-malformed"),
    "/atom.xml": (
        f'\ufeff\ufeff<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{PAGE}atom"/></entry></feed>'.encode(),
        "doc-leading-content",
    ),
    "/behind.xml": (urlset(f"{PAGE}behind") + f"<!-- -- {entry(f'{PAGE}hidden')} -->".encode(), "doc-xml-malformed"),
    "/xlink.xml": (
        f'<urlset {CORE} xmlns:xhtml="http://www.w3.org/1999/xlink">{entry(f"{PAGE}xlink", LINK)}</urlset>'.encode(),
        "xml-ext-namespace-wrong",
    ),
}


def test_every_entry_is_read_and_every_file_has_an_error(tmp_path: Path) -> None:
    with SiteServer() as site:
        site.routes = {path: in_pieces(body) for path, (body, _) in FILES.items()}
        listed = undeclared(index(*map(site.url, FILES)))
        site.routes["/index.xml"] = "<?xml version=“1.0”?>".encode() + listed
        done = crawl(tmp_path, sitemap=site.url("/index.xml"))
        expected = {site.url(path): rule for path, (_, rule) in FILES.items()} | {
            site.url("/index.xml"): "doc-xml-malformed"
        }
    assert sorted(done.locs()) == sorted(
        PAGE + name for name in ["comment", "twice", "wide", "rss", "atom", "behind", "xlink"]
    )
    found = [(finding["sitemap"], finding["rule"], finding["severity"]) for finding in done.of_type("finding")]
    for sitemap, rule in expected.items():
        assert found.count((sitemap, rule, "error")) == 1
        assert done.sitemaps[sitemap]["outcome"] == ("ok" if rule.startswith("xml-") else "recovered")
