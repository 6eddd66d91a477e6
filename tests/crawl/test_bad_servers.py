"""Whatever a server sends: every readable entry is in the feed, and a record says why the rest is not."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import (
    CORE,
    DECLARATION,
    URLSET_START,
    beginning,
    entry,
    index,
    packed,
    page,
    pages,
    rss,
    text,
    urlset,
)
from tests.crawl.site_server import (
    Exchange,
    Reply,
    Route,
    SiteServer,
    cut,
    endless,
    garbage,
    moved,
    once,
    reset,
    stalled,
)

MAXSIZE = 200_000
SETTINGS = {"DOWNLOAD_TIMEOUT": 5, "DOWNLOAD_MAXSIZE": MAXSIZE, "SITEMAP_MAX_BYTES": 12_000_000, "RETRY_TIMES": 1}
TWO = pages("page", 2)
FULL = urlset(*TWO)
HALF = beginning(*TWO)
GZIP = {"Content-Encoding": "gzip"}
XML = {"Content-Type": "application/xml"}


@dataclass(frozen=True)
class Case:
    """One way to answer, and what is to become of it."""

    route: Route
    outcome: str = "ok"
    status: int | None = 200
    pages: int | None = 2
    """Rows; None: any number from 1, the first ones of `TWO`."""
    error: str | None = None
    """Expression that the error matches; None: there is none, or it does not matter."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Further fields of the record."""
    rule: str | None = None
    """Rule that reports one error of the file; None where it does not matter."""


def with_type(content_type: str) -> Reply:
    return Reply(FULL, headers={"Content-Type": content_type})


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A whole answer in chunks, closed by the server."""
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + framed + end


def bomb() -> bytes:
    """64 MiB of entries in about 64 KiB."""
    compressor = zlib.compressobj(wbits=31)
    entries = (*map(entry, TWO), *(entry(loc, f"<!--{' ' * 2**19}-->") for loc in pages("page", 130)[2:]))
    parts = [compressor.compress(text.encode()) for text in (URLSET_START, *entries, "</urlset>")]
    return b"".join([*parts, compressor.flush()])


def in_pieces(body: bytes) -> Route:
    """Send the first bytes one by one."""

    def route(exchange: Exchange) -> None:
        exchange.head(Content_Length=len(body))
        for place in range(60):
            exchange.send(body[place : place + 1])
        exchange.send(body[60:])

    return route


def undeclared(document: bytes) -> bytes:
    """The document without its declaration."""
    return document.removeprefix(DECLARATION.encode())


def damaged(body: bytes) -> bytes:
    return body[:-8] + bytes(8)


PAIRS = urlset(*pages("page", 5000))
RETRY_AFTER_S = 2
LONG_URL = "https://pages.example/" + "x" * 5000

GOOD: dict[str, Case] = {
    "/plain.xml.gz": Case(with_type("application/x-gzip")),
    "/gzip-under-another-name.xml": Case(packed(FULL)),
    "/gzip.xml.gz": Case(Reply(packed(FULL), headers={"Content-Type": "binary/octet-stream"})),
    "/encoded.xml": Case(Reply(packed(FULL), headers=GZIP)),
    "/encoded.xml.gz": Case(Reply(packed(packed(FULL)), headers=GZIP)),
    "/encoded-once.xml.gz": Case(Reply(packed(FULL), headers=GZIP)),
    "/encoded-x.xml.gz": Case(Reply(packed(FULL), headers={"Content-Encoding": "x-gzip"})),
    "/packed-twice.xml.gz": Case(packed(packed(FULL)), facts={"bytes": len(FULL)}),
    "/said-to-be-encoded.xml": Case(Reply(FULL, headers=GZIP)),
    "/members.gz": Case(packed(FULL[:150]) + packed(FULL[150:])),
    "/html-type.xml": Case(with_type("text/html; charset=iso-8859-1")),
    "/sitemap.php?from=1&to=2": Case(with_type("image/png")),
    "/wrong-charset.xml": Case(with_type("text/xml; charset=utf-16")),
    "/text.xml": Case(text(*TWO), facts={"format": "text"}),
    "/feed": Case(rss(*TWO), facts={"format": "rss"}),
    "/utf-16.xml": Case(FULL.decode().replace("UTF-8", "UTF-16").encode("utf-16"), facts={"format": "xml-urlset"}),
    "/chunked.xml": Case(garbage(chunked(FULL[:99], FULL[99:]))),
    "/long-header.xml": Case(Reply(FULL, headers={"Set-Cookie": "a=" + 200_000 * "b"})),
    "/until-closed.xml": Case(garbage(b"HTTP/1.1 200 OK\r\n\r\n" + FULL)),
    "/http-1.0.xml": Case(garbage(b"HTTP/1.0 200 OK\r\n\r\n" + FULL)),
    "/long-url.xml": Case(urlset(LONG_URL), pages=1),
    "/no-entries.xml": Case(urlset(), pages=0, facts={"url_count": 0}),
    "/etag.xml": Case(
        Reply(FULL, headers={"ETag": '"5"', "Last-Modified": "Wed, 01 May 2024 10:00:00 GMT"}),
        facts={"etag": '"5"', "last_modified": "Wed, 01 May 2024 10:00:00 GMT", "bytes_fetched": len(FULL)},
    ),
    "/busy-once.xml": Case(once(Reply("busy", 429, {"Retry-After": str(RETRY_AFTER_S)}), FULL)),
    "/reset-once.xml": Case(once(reset(), FULL)),
}
"""Read as if nothing were odd."""

CUT_SHORT: dict[str, Case] = {
    "/cut.xml": Case(cut(HALF), "truncated", error="connection|end"),
    "/reset-in-body.xml": Case(reset(HALF), "truncated", error="."),
    "/cut-in-chunk.xml": Case(garbage(chunked(HALF, end=b"ffff\r\n<url>")), "truncated", error="."),
    "/stalled.xml": Case(stalled(HALF), "truncated", error="time"),
    "/cut-whole-entries.xml": Case(
        cut((URLSET_START + "".join(map(entry, TWO))).encode()), "truncated", error="connection|end"
    ),
    "/cut.txt": Case(cut(text(*TWO) + b"https://pages.example/hal"), "truncated", error="."),
    "/cut.xml.gz": Case(packed(FULL)[:-12], "truncated", pages=None, error="gzip"),
    "/stalled.txt": Case(stalled(text(*TWO) + b"https://pages.example/hal"), "truncated", error="time"),
    "/stalled.xml.gz": Case(stalled(packed(PAIRS)[:9000]), "truncated", pages=None, error="."),
    "/damaged.xml.gz": Case(damaged(packed(FULL)), "truncated", error="checksum"),
    "/endless.xml": Case(
        endless((URLSET_START + "".join(map(entry, TWO))).encode(), b" " * 10_000),
        "truncated",
        error=str(MAXSIZE),
        facts={"bytes_fetched": MAXSIZE},
    ),
    "/bomb.xml.gz": Case(bomb(), "truncated", pages=None, error="times|bytes"),
    "/half-document.xml": Case(HALF, "truncated", error="."),
}
"""What was there is kept, and the record says that there was more."""

FAILED: dict[str, Case] = {
    "/404.xml": Case(Reply(page(), 404), "failed", 404, 0, "404"),
    "/403.xml": Case(Reply(page(), 403), "failed", 403, 0, "403"),
    "/500.xml": Case(Reply(page(), 500), "failed", 500, 0, "500"),
    "/999.xml": Case(Reply("", 999), "failed", 999, 0, "999"),
    "/204.xml": Case(Reply("", 204), "failed", 204, 0, "204"),
    "/302-to-nowhere.xml": Case(Reply("", 302), "failed", 302, 0, "302"),
    "/html.xml": Case(Reply(page(), headers=XML), "failed", 200, 0, "HTML", {"format": "html"}),
    "/error.xml": Case("<?xml version='1.0'?><error>none</error>", "failed", 200, 0, ".", {"format": "unknown"}),
    "/empty.xml": Case(b"", "failed", 200, 0, "empty"),
    "/empty.xml.gz": Case(packed(b""), "failed", 200, 0, "empty"),
    "/zeros.xml": Case(bytes(5000), "failed", 200, 0, "."),
    "/brotli.xml": Case(Reply(b"\x1b\x03\x00\xf8" * 99, headers={"Content-Encoding": "br"}), "failed", 200, 0, "."),
    "/silent.xml": Case(stalled(), "failed", None, 0, "time"),
    "/reset.xml": Case(reset(), "failed", None, 0, "."),
    "/closed.xml": Case(garbage(b""), "failed", None, 0, "."),
    "/too-long-header.xml": Case(
        Reply(FULL, headers={"Set-Cookie": "a=" + 300_000 * "b"}), "failed", None, 0, "^more than 262,144 bytes of"
    ),
    "/no-http.xml": Case(garbage(b"220 ftp.example ready\r\n"), "failed", None, 0, "."),
    "/bad-status.xml": Case(garbage(b"HTTP/1.1 abc\r\n\r\n"), "failed", None, 0, "."),
    "/bad-length.xml": Case(garbage(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n" + FULL), "failed", None, 0, "."),
    "/bad-chunk.xml": Case(
        garbage(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "failed", 200, 0, "."
    ),
    "/loop.xml": Case(moved("/loop-back.xml"), "failed", 302, 0, "redirect"),
    "/self.xml": Case(moved("/self.xml"), "failed", 302, 0, "redirect"),
}
"""Nothing could be read, and a record says why."""


def with_error(route: Route, rule: str) -> Case:
    """A file that is read as a whole, and has an error."""
    return Case(route, "recovered", error=".", rule=rule)


XLINK = f'<urlset {CORE} xmlns:xhtml="http://www.w3.org/1999/xlink">'
LINK = '<xhtml:link rel="alternate" hreflang="de" href="https://pages.example/de"/>'
ATOM_ENTRIES = "".join(f'<entry><link href="{loc}"/></entry>' for loc in TWO)
ATOM = f'\ufeff\ufeff<feed xmlns="http://www.w3.org/2005/Atom">{ATOM_ENTRIES}</feed>'
COMMENTED = b"<!-- a plugin -->\n" + FULL
BROKEN_PROLOG: dict[str, Case] = {
    "/comment.xml": with_error(COMMENTED, "doc-leading-content"),
    "/in-pieces.xml": with_error(in_pieces(COMMENTED), "doc-leading-content"),
    "/twice.xml.gz": with_error(packed(DECLARATION.encode() + FULL), "doc-leading-content"),
    "/atom.xml": with_error(ATOM.encode(), "doc-leading-content"),
    "/wide.xml": with_error(f"<!-- a -- b -->{undeclared(FULL).decode()}".encode("utf-16"), "doc-xml-malformed"),
    "/rss.xml": with_error(b'<?xml encoding="UTF-8"?>' + undeclared(rss(*TWO)), "doc-xml-malformed"),
    "/behind.xml": with_error(FULL + f"<!-- -- {entry(f'{TWO[0]}/hidden')} -->".encode(), "doc-xml-malformed"),
    "/xlink.xml": Case(f"{XLINK}{''.join(entry(loc, LINK) for loc in TWO)}</urlset>", rule="xml-ext-namespace-wrong"),
}
"""All is read, and the file has an error."""

CASES = GOOD | CUT_SHORT | FAILED | BROKEN_PROLOG
HELPERS: dict[str, Route] = {"/loop-back.xml": moved("/loop.xml"), "/last.xml": urlset("https://pages.example/last")}


@dataclass
class Visit:
    """A crawl of a site that answers in all these ways."""

    crawl: Crawl
    site: SiteServer


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with SiteServer() as site:
        site.routes = HELPERS | {path: case.route for path, case in CASES.items()}
        listed = index(*map(site.url, [*CASES, "/last.xml"]))
        site.routes["/index.xml"] = "<?xml version=“1.0”?>".encode() + undeclared(listed)
        folder = tmp_path_factory.mktemp("visit")
        settings = {**SETTINGS, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}
        done = crawl(folder, sitemap=site.url("/index.xml"), settings=settings)
        yield Visit(done, site)


def of(visit: Visit, path: str) -> dict[str, Any]:
    return visit.crawl.sitemaps[visit.site.url(path)]


@pytest.mark.parametrize("path", CASES)
def test_answer(visit: Visit, path: str) -> None:
    case = CASES[path]
    record = visit.crawl.sitemaps[visit.site.url(path)]
    found = visit.crawl.locs(visit.site.url(path))
    assert (record["outcome"], record.get("status")) == (case.outcome, case.status), record
    if case.pages is None:
        assert found and found == pages("page", 5000)[: len(found)]
    else:
        assert len(found) == case.pages
        assert path == "/long-url.xml" or found == TWO[: case.pages]
    assert {name: record.get(name) for name in case.facts} == case.facts
    if case.error is None:
        assert "error" not in record
    else:
        assert re.search(case.error, record["error"], re.IGNORECASE), record["error"]
    assert case.rule is None or errors_of(visit, path).count(case.rule) == 1


def errors_of(visit: Visit, path: str) -> list[str]:
    """The rules that report errors of a file."""
    url = visit.site.url(path)
    found = (one for one in visit.crawl.of_type("finding") if one.get("sitemap") == url)
    return [one["rule"] for one in found if one["severity"] == "error"]


def test_index_with_a_broken_prolog_is_read(visit: Visit) -> None:
    assert of(visit, "/index.xml")["outcome"] == "recovered"
    assert errors_of(visit, "/index.xml").count("doc-xml-malformed") == 1


def test_crawl_goes_on_to_the_end(visit: Visit) -> None:
    assert visit.crawl.code == 0
    assert visit.crawl.locs(visit.site.url("/last.xml")) == ["https://pages.example/last"]
    assert len(visit.crawl.sitemaps) == len(CASES) + 2
    assert "partial" not in visit.crawl.summary


def test_errors_are_one_line_each(visit: Visit) -> None:
    errors = [record["error"] for record in visit.crawl.of_type("sitemap") if "error" in record]
    assert len(errors) >= len(CUT_SHORT) + len(FAILED)
    assert all(error == " ".join(error.split()) and len(error) < 500 for error in errors)


def test_endless_body_is_not_fetched_further(visit: Visit) -> None:
    assert visit.site.exchange("/endless.xml").sent < 200 * MAXSIZE


def test_closing_line_counts_errors_and_warnings(visit: Visit) -> None:
    reach = visit.crawl.summary["severity_reach"]
    [line] = [line for line in visit.crawl.log.splitlines() if "URLs/s" in line]
    assert f"{len(CASES) + 2} files" in line
    for severity in ("error", "warning"):
        urls, files = reach[severity]["urls"], reach[severity]["files"]
        assert f"{severity}s on {urls:,} URLs in {files:,} files" in line


def test_only_what_could_be_sent_again_is_asked_for_again(visit: Visit) -> None:
    assert visit.site.paths.count("/404.xml") == 1
    assert visit.site.paths.count("/500.xml") == 2
    assert visit.site.paths.count("/cut.xml") == 1
    assert visit.site.paths.count("/too-long-header.xml") == 1


def test_busy_server_is_left_alone_for_as_long_as_it_asks(visit: Visit) -> None:
    first, second = (exchange.at for exchange in visit.site.exchanges if exchange.path == "/busy-once.xml")
    assert second - first >= RETRY_AFTER_S


def test_requests_accept_gzip_only(visit: Visit) -> None:
    assert visit.site.exchange("/plain.xml.gz").headers["accept-encoding"] == "gzip"
    assert visit.site.exchange("/plain.xml.gz").headers["user-agent"].startswith("sitemapcrawler/")


# ---- redirects

NOWHERE = ["file", "ftp", "no-port", "odd-bytes"]


@pytest.fixture(scope="module")
def redirected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with SiteServer() as site:
        secret = tmp_path_factory.mktemp("secret") / "secret.xml"
        secret.write_bytes(urlset("https://pages.example/secret"))
        site.routes = {
            "/one.xml": moved(site.url("/target-1.xml"), 301),
            "/two.xml": moved("/hop.xml", 307),
            "/hop.xml": moved("target-2.xml", 308),
            "/target-1.xml": urlset("relative"),
            "/target-2.xml": urlset(*TWO),
            "/home.xml": moved("/"),
            "/": page(),
            "/gone.xml": moved("/nowhere.xml"),
            "/file.xml": moved(secret.as_uri()),
            "/ftp.xml": moved("ftp://127.0.0.1/x.xml"),
            "/no-port.xml": moved("http://127.0.0.1:99999/x.xml"),
            "/odd-bytes.xml": garbage(b"HTTP/1.1 302 Found\r\nLocation: /\xff\xfe.xml\r\nContent-Length: 0\r\n\r\n"),
        }
        site.routes |= {f"/long-{number}.xml": moved(f"/long-{number + 1}.xml") for number in range(1, 20)}
        names = ["one", "two", "home", "gone", *NOWHERE, "long-1"]
        site.routes["/index.xml"] = index(*(site.url(f"/{name}.xml") for name in names))
        folder = tmp_path_factory.mktemp("redirected")
        yield Visit(crawl(folder, sitemap=site.url("/index.xml"), settings=SETTINGS), site)


@pytest.mark.parametrize(
    ("path", "hops", "end"),
    [
        ("/one.xml", [(301, "/one.xml")], ("/target-1.xml", "ok", 200, "xml-urlset")),
        ("/two.xml", [(307, "/two.xml"), (308, "/hop.xml")], ("/target-2.xml", "ok", 200, "xml-urlset")),
        ("/home.xml", [(302, "/home.xml")], ("/", "failed", 200, "html")),
        ("/gone.xml", [(302, "/gone.xml")], ("/nowhere.xml", "failed", 404, "unknown")),
    ],
)
def test_every_hop_is_recorded(
    redirected: Visit, path: str, hops: list[tuple[int, str]], end: tuple[str, str, int, str]
) -> None:
    url, record = redirected.site.url, of(redirected, path)
    assert record["hops"] == [{"status": status, "url": url(hop)} for status, hop in hops]
    final_url, *rest = end
    assert record["final_url"] == url(final_url)
    assert [record["outcome"], record["status"], record["format"]] == rest


def test_pages_are_read_at_the_end_of_the_redirects(redirected: Visit) -> None:
    url, locs = redirected.site.url, redirected.crawl.locs
    assert locs(url("/one.xml")) == [url("/relative")], "resolved against the last URL"
    assert locs(url("/two.xml")) == TWO


@pytest.mark.parametrize("name", NOWHERE)
def test_redirect_that_cannot_be_followed(redirected: Visit, name: str) -> None:
    record = of(redirected, f"/{name}.xml")
    assert record["outcome"] == "failed"
    assert record["error"]
    assert redirected.crawl.locs(redirected.site.url(f"/{name}.xml")) == []


def test_redirects_are_limited_and_all_told(redirected: Visit) -> None:
    record = of(redirected, "/long-1.xml")
    assert record["outcome"] == "failed"
    assert "redirect" in record["error"]
    assert 5 <= len(record["hops"]) <= 20
    assert record["hops"][0] == {"status": 302, "url": redirected.site.url("/long-1.xml")}


def test_bad_redirects_do_not_end_the_crawl(redirected: Visit) -> None:
    assert redirected.crawl.code == 0
    assert len(redirected.crawl.sitemaps) == 1 + len(NOWHERE) + 5
    assert "secret" not in str(redirected.crawl.locs())


# ---- children that nobody can ask for

UNASKABLE = [
    "http://nosuchhost.invalid/a.xml",
    "javascript:alert(1)",
    "ftp://127.0.0.1/a.xml",
    "file:///etc/passwd",
    "http://[/a.xml",
    "http://",
    "http://127.0.0.1:99999/a.xml",
    "http://a..b/a.xml",
    f"http://{'a' * 70}.example/a.xml",
    "http://pages example/a.xml",
    "http://b\u00fccher\u2024.invalid/a.xml",
    "C:\\sitemaps\\a.xml",
    "//",
    "?",
]
"""Locs of children; some are resolved against the index, and asked for there."""
LONG = [f"/{'z' * 3000}{number}.xml" for number in range(10)]
"""Paths of children that can be asked for."""


@pytest.fixture(scope="module")
def unaskable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with SiteServer() as site:
        site.routes = dict.fromkeys([*LONG, "/last.xml"], urlset(*TWO))
        site.routes["/index.xml"] = index(*UNASKABLE, "", *map(site.url, [*LONG, "/last.xml"]))
        folder = tmp_path_factory.mktemp("unaskable")
        yield Visit(crawl(folder, sitemap=site.url("/index.xml"), settings=SETTINGS), site)


def test_crawl_goes_on_after_children_that_cannot_be_asked(unaskable: Visit) -> None:
    assert unaskable.crawl.locs(unaskable.site.url("/last.xml")) == TWO
    assert unaskable.crawl.code == 0
    assert "partial" not in unaskable.crawl.summary


def test_long_urls_are_asked(unaskable: Visit) -> None:
    assert all(unaskable.crawl.locs(unaskable.site.url(path)) == TWO for path in LONG)


@pytest.mark.parametrize("loc", [loc for loc in UNASKABLE if loc not in ("//", "?")])
def test_child_that_cannot_be_asked_has_a_record_that_says_why(unaskable: Visit, loc: str) -> None:
    records = unaskable.crawl.sitemaps
    assert records[loc]["outcome"] == "failed"
    assert records[loc]["error"]
    assert records[loc]["parent"] == unaskable.site.url("/index.xml")
    assert "status" not in records[loc]


# ---- all is bad


def test_crawl_that_could_read_nothing_ends_with_4(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/html.xml": page(), "/empty.xml": b""}
    names = ["/html.xml", "/empty.xml", "/missing.xml"]
    done = crawl(tmp_path, sitemap=",".join(map(site.url, names)), settings=SETTINGS)
    assert done.code == 4
    assert [record["outcome"] for record in done.of_type("sitemap")] == ["failed"] * 3
    assert done.summary["urls"] == 0


def test_limits_are_settings(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/a.xml": urlset(*pages("page", 1000)), "/b.xml.gz": gzip.compress(urlset(*pages("page", 1000)))}
    settings = {"SITEMAP_MAX_BYTES": 20_000}
    done = crawl(tmp_path, sitemap=f"{site.url('/a.xml')},{site.url('/b.xml.gz')}", settings=settings)
    for record in done.of_type("sitemap"):
        assert (record["outcome"], record["bytes"]) == ("truncated", 20_000)
        assert "20000 bytes" in record["error"]
        assert done.locs(record["sitemap"]) == pages("page", record["url_count"])
        assert record["url_count"] > 100
