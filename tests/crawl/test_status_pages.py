"""With verify=get the head of each page is read, and no more of it than needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.crawl.documents import packed
from tests.crawl.site_server import Exchange, Reply, Route, garbage, moved
from tests.crawl.verified import PATIENT, SITEMAP, WORDS, Verified, html, verifying

HUGE = 40 * 2**20
"""Bytes of a body that nobody needs in full."""
BUFFERED = 16 * 2**20
"""Bytes that a server may get rid of although the client reads no more: the buffers of the system."""


def large(content_type: str, start: bytes = b"") -> Route:
    """An answer of `HUGE` bytes."""

    def route(exchange: Exchange) -> None:
        exchange.closed = True
        exchange.head(Content_Type=content_type, Content_Length=HUGE)
        exchange.send(start)
        while exchange.method == "GET" and exchange.sent < HUGE:
            exchange.send(b" " * 2**16)

    return route


def meta(name: str, content: str) -> str:
    return f'<meta name="{name}" content="{content}">'


def canonical(href: str) -> str:
    return f'<link rel="canonical" href="{href}">'


HEAD = f"<html><head><title>Large</title>{canonical('/large-canonical')}</head><body>".encode()
NOT_INDEXED = f"<!doctype html><title>x</title>{meta('robots', 'noindex')}{canonical('/other')}<p>{WORDS}".encode()
PAGES: dict[str, Route] = {
    "/plain": html(),
    "/noindex": html(meta("robots", "noindex, nofollow")),
    "/noindex-agent": html(meta("googlebot", "noindex")),
    "/header": html(X_Robots_Tag="noindex"),
    "/header-agent": html(X_Robots_Tag="otherbot: noindex"),
    "/canonical": html(canonical("/other#part")),
    "/canonical-header": html(Link='</other>; rel="canonical"'),
    "/canonical-long-header": html(Link="</style.css>; rel=preload, " * 4000 + '</other>; rel="canonical"'),
    "/canonical-missing": html(canonical("/not-there")),
    "/canonical-of-error": html(canonical("/other"), meta("robots", "noindex"), status=404),
    "/refresh": html('<meta http-equiv="refresh" content="0; url=/other">'),
    "/moved": moved("/noindex"),
    "/gzip": Reply(packed(HEAD), headers={"Content-Type": "text/html", "Content-Encoding": "gzip"}),
    "/text": Reply(HEAD, headers={"Content-Type": "text/plain"}),
    "/odd-type": Reply(NOT_INDEXED, headers={"Content-Type": "text/html,charset=utf-8"}),
    "/type-twice": garbage(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
        + NOT_INDEXED
    ),
    "/type-of-data": Reply(b'{"a": 1}', headers={"Content-Type": "json"}),
    "/type-missing": Reply(b"%PDF-1.7"),
    "/large": large("text/html", HEAD),
    "/large-head": large("text/html", b"<html><head><title>Large</title>"),
    "/pdf": large("application/pdf"),
    "/video": large("video/mp4"),
    "/small-pdf": Reply(b"x" * 1000, headers={"Content-Type": "application/pdf", "X-Robots-Tag": "noindex"}),
}
HIDDEN: dict[str, Route] = {"/": html(body="Home " * 60), "/other": html(), "/large-canonical": html()}


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verified]:
    folder = tmp_path_factory.mktemp("pages")
    with verifying(folder, PAGES, hidden=HIDDEN, settings=PATIENT, verify="get") as found:
        yield found


def test_pages_are_asked_by_get_and_once(visit: Verified) -> None:
    asked = Counter((exchange.method, exchange.path) for exchange in visit.site.exchanges)
    assert {request for request, count in asked.items() if count > 1} == set()
    assert {method for method, _ in asked} == {"GET"}


def test_site_that_knows_what_it_has_is_asked_for_one_witness(visit: Verified) -> None:
    known = {*PAGES, *HIDDEN, SITEMAP, "/robots.txt", "/not-there"}
    [nonsense] = [path for path in visit.site.paths if path not in known]
    assert nonsense[1:].isalpha() and len(nonsense) > 10
    assert visit.asked("/") == []


SAID: dict[str, tuple[bool, str | None]] = {
    **dict.fromkeys(["/plain", "/noindex-agent", "/header-agent", "/text", "/pdf"], (False, None)),
    **dict.fromkeys(["/noindex", "/header", "/moved", "/small-pdf"], (True, None)),
    **dict.fromkeys(["/canonical", "/canonical-header", "/canonical-long-header"], (False, "/other")),
    **dict.fromkeys(["/odd-type", "/type-twice"], (True, "/other")),
    **dict.fromkeys(["/gzip", "/large"], (False, "/large-canonical")),
    "/canonical-missing": (False, "/not-there"),
}
"""Whether a page says noindex, and its canonical. How that may be written is tried in `unit/replies/page/`."""
UNKNOWN = ["/type-of-data", "/type-missing"]
"""It is not known that these are no pages."""


@pytest.mark.parametrize("path", SAID)
def test_what_a_page_says(visit: Verified, path: str) -> None:
    noindex, wanted = SAID[path]
    reply = visit.reply(path)
    found = reply.get("canonical")
    assert (reply["noindex"], found and found.partition("#")[0]) == (noindex, wanted and visit.url(wanted))


@pytest.mark.parametrize("path", UNKNOWN)
def test_page_that_was_not_read_is_not_called_indexable(visit: Verified, path: str) -> None:
    [record] = [record for record in visit.crawl.of_type("url") if record["loc"] == visit.url(path)]
    assert (record.get("indexable"), record["indexability"]) == (None, "page not read")
    assert "noindex" not in record["reply"]


def test_agents_that_are_told_by_name(visit: Verified) -> None:
    assert visit.reply("/noindex-agent")["noindex_agents"] == ["googlebot"]
    assert visit.reply("/header-agent")["noindex_agents"] == ["otherbot"]
    assert "noindex_agents" not in visit.reply("/noindex")


def test_canonical_is_asked_whether_it_works(visit: Verified) -> None:
    assert visit.asked("/not-there") == ["GET"]
    assert visit.asked("/other") == ["GET"]


def test_error_page_says_nothing_of_its_url(visit: Verified) -> None:
    reply = visit.reply("/canonical-of-error")
    assert (reply["kind"], reply["status"]) == ("http-error", 404)
    assert not {"canonical", "noindex"} & reply.keys()


def test_refresh_is_no_redirect(visit: Verified) -> None:
    assert visit.reply("/refresh")["kind"] == "ok"
    assert visit.reply("/refresh")["final_url"] == visit.url("/refresh")


@pytest.mark.parametrize("path", ["/large", "/pdf", "/video"])
def test_large_body_is_not_fetched_in_full(visit: Verified, path: str) -> None:
    assert visit.reply(path)["kind"] == "ok"
    assert visit.reply(path)["attempts"] == 1
    [exchange] = visit.exchanges(path)
    assert exchange.sent < BUFFERED


def test_head_without_an_end_is_read_to_a_limit(visit: Verified) -> None:
    reply = visit.reply("/large-head")
    assert reply["kind"] == "ok"
    assert "noindex" not in reply  # it may stand in what was not read
    assert visit.exchanges("/large-head")[0].sent < BUFFERED


def test_memory_holds_no_body(visit: Verified) -> None:
    assert visit.crawl.summary["peak_mb"] < 200  # the database of the rules on the whole site included
    assert set(visit.crawl.summary["replies"]) == {"ok", "redirected", "http-error"}
    assert visit.crawl.code == 0
