"""Every failure that a network can produce gives a kind of reply, and the crawl goes on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawl.crawling import LOOPBACK, SOON_S, Crawl, start
from tests.crawl.documents import page, urlset
from tests.crawl.site_server import Exchange, Reply, Route, SiteServer, endless, garbage, moved, reset, stalled
from tests.crawl.verified import PATIENT, Verified, verifying
from tests.ports import reserved_port

HTML = "Content-Type: text/html\r\n"
START = f"HTTP/1.1 200 OK\r\n{HTML}".encode()
CHUNKED = START + b"Transfer-Encoding: chunked\r\n\r\n"
PART = page()[:60]
"""A page that ends within its head."""
UNKNOWN_HOST = "http://nohost.invalid/"
PROXIED = "http://shop.example"
"""A site behind a proxy."""
GIVEN = {"sitemap": f"{PROXIED}/sitemap.xml"}
MAX_TAKEN = 64 * 2**20
"""Bytes that a server may get rid of before the connection closes: most of them wait in the buffers of the system."""


@dataclass(frozen=True)
class Case:
    """A way to answer, and the kinds of reply that may come of it by HEAD and by GET."""

    route: Route
    head: str
    get: str


def half_a_head(exchange: Exchange) -> None:
    exchange.send(START)
    exchange.reset()


def silent_in_body(exchange: Exchange) -> None:
    exchange.head(Content_Type="text/html", Content_Length=1000)
    if exchange.method != "HEAD":
        exchange.send(PART)
        exchange.wait_until_client_goes()


def slow_forever(exchange: Exchange) -> None:
    """An answer of which a little comes from time to time, and never the end."""
    exchange.head(Content_Type="text/html", Transfer_Encoding="chunked")
    exchange.closed = True
    exchange.connection.settimeout(0.2)
    while exchange.method != "HEAD":
        exchange.send(b"1\r\n \r\n")
        try:
            exchange.connection.recv(1)
        except TimeoutError:
            continue
        return


def endless_head(exchange: Exchange) -> None:
    """More header lines than anybody takes."""
    exchange.closed = True
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    while exchange.sent < 2 * MAX_TAKEN:
        exchange.send(b"X-More: %b\r\n" % (b"x" * 10_000))
    exchange.wait_until_client_goes()


def html(body: bytes, **headers: str) -> Reply:
    return Reply(body, headers={"Content-Type": "text/html", **headers})


CASES: dict[str, Case] = {
    "/reset-before-head": Case(reset(), "reset", "reset"),
    "/reset-in-head": Case(half_a_head, "reset", "reset"),
    "/reset-in-body": Case(reset(PART), "ok", "truncated"),
    "/cut-in-chunk": Case(garbage(CHUNKED + b"ffff\r\n" + PART), "ok", "truncated"),
    "/bad-chunk": Case(garbage(CHUNKED + b"zz\r\n" + PART), "ok reset", "truncated reset"),
    "/silent": Case(stalled(), "timeout", "timeout"),
    "/silent-in-body": Case(silent_in_body, "ok", "timeout truncated"),
    "/slow-forever": Case(slow_forever, "ok", "timeout truncated"),
    "/endless-text": Case(endless(b"<html><body>", b"word " * 5000), "ok", "ok"),
    "/endless-headers": Case(endless_head, "reset", "reset"),
    "/long-line": Case(garbage(START + b"X-Long: " + b"x" * 2**20 + b"\r\n\r\n" + page()), "reset", "reset"),
    "/no-http": Case(garbage(b"220 ftp.example ready\r\n"), "reset", "reset"),
    "/bad-status": Case(garbage(b"HTTP/1.1 abc\r\n\r\n"), "reset", "reset"),
    "/bad-length": Case(garbage(START + b"Content-Length: many\r\n\r\n" + page()), "reset ok", "reset"),
    "/http-0.9": Case(garbage(page()), "reset", "reset"),
    "/odd-bytes": Case(garbage(START + b"ETag: \xff\xfe\x00\r\nLink: \xc3\r\n\r\n" + page()), "ok reset", "ok reset"),
    "/bad-gzip": Case(html(b"no gzip at all", **{"Content-Encoding": "gzip"}), "ok", "ok"),
    "/brotli": Case(html(b"\x1b\x03\x00\xf8" * 99, **{"Content-Encoding": "br"}), "ok", "ok"),
    "/unknown-charset": Case(Reply(page(), headers={"Content-Type": "text/html; charset=\u00fc"}), "ok", "ok"),
    "/last": Case(html(page()), "ok", "ok"),
}


@pytest.fixture(scope="module", params=["head", "get"])
def verify(request: pytest.FixtureRequest) -> str:
    """Both ways to ask."""
    return str(request.param)


@pytest.fixture(scope="module")
def closed_port() -> Iterator[str]:
    """A URL where nobody listens."""
    with reserved_port() as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def full_port() -> Iterator[str]:
    """A URL where somebody listens and takes no more connections: connecting to it takes for ever."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, ExitStack() as waiting:
        for _ in range(8):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


@pytest.fixture(scope="module")
def visit(
    verify: str, closed_port: str, full_port: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Verified]:
    settings = PATIENT | {"DOWNLOAD_TIMEOUT": 5, "SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
    pages = {path: case.route for path, case in CASES.items()}
    folder = tmp_path_factory.mktemp("failures")
    others = [UNKNOWN_HOST, closed_port, full_port]
    with verifying(folder, pages, *others, settings=settings, verify=verify, verify_offsite="yes") as found:
        yield found


@pytest.mark.parametrize("path", CASES)
def test_kind(visit: Verified, verify: str, path: str) -> None:
    reply = visit.reply(path)
    kinds = CASES[path].head if verify == "head" else CASES[path].get
    assert reply["kind"] in kinds.split(), reply
    assert ("status" in reply) == (reply["kind"] in ("ok", "http-error", "truncated")), reply
    if reply["kind"] != "ok":
        assert 0 < len(reply["error"]) < 500
        assert reply["error"] == " ".join(reply["error"].split())


def test_host_that_is_not_there(visit: Verified, closed_port: str, full_port: str) -> None:
    assert visit.reply(UNKNOWN_HOST)["kind"] == "dns"
    assert visit.reply(closed_port)["kind"] == "refused"
    assert visit.reply(full_port)["kind"] == "timeout"


def test_crawl_goes_on_to_the_end(visit: Verified) -> None:
    assert visit.crawl.code == 0
    assert "partial" not in visit.crawl.summary
    assert len(visit.crawl.of_type("url")) == len(CASES) + 3
    assert "unchecked" not in visit.crawl.summary["replies"]
    assert visit.crawl.seconds < SOON_S


def test_endless_answers_are_cut(visit: Verified) -> None:
    for path in CASES:
        if path.startswith("/endless"):
            assert max(exchange.sent for exchange in visit.exchanges(path)) < MAX_TAKEN
    assert visit.crawl.summary["peak_mb"] < 200


def test_errors_are_told_apart_from_pages(visit: Verified) -> None:
    bad = visit.crawl.summary["bad"]
    assert bad["checked"] == len(CASES) + 3
    assert bad["bad"] == sum(record["reply"]["kind"] != "ok" for record in visit.crawl.of_type("url"))


@pytest.mark.parametrize(
    ("last", "replies", "arguments"),
    [
        pytest.param("a", {"ok": 1, "stopped": 2}, GIVEN | {"verify": "head"}, id="before a page"),
        pytest.param(
            "c",
            {"ok": 3},
            GIVEN | {"verify": "get", "fetch_as": "GPTBot"},
            id="before a page for a crawler",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "llms.txt",
            {"ok": 3},
            {"domain": PROXIED, "verify": "get"},
            id="before a file that robots.txt names",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_proxy_that_dies_ends_the_crawl_early_and_says_nothing_of_the_host(
    last: str, replies: dict[str, int], arguments: dict[str, str], tmp_path: Path
) -> None:
    pages = [f"{PROXIED}/{name}" for name in "abc"]
    named = f"Sitemap: {PROXIED}/sitemap.xml\nLicense: {PROXIED}/rsl.xml\n".encode()
    routes: dict[str, Route] = {f"{PROXIED}/robots.txt": named, f"{PROXIED}/sitemap.xml": urlset(*pages)}
    routes |= dict.fromkeys(pages, html(b"")) | {f"{PROXIED}/rsl.xml": b"<rsl/>"}

    def served_last(exchange: Exchange) -> None:
        proxy.shutdown()
        proxy.socket.close()
        exchange.head(Content_Type="text/html", Content_Length=0, Connection="close")
        exchange.close()

    def through_proxy() -> Crawl:
        settings = {"JOBDIR": "job", "RETRY_TIMES": 0, "CONCURRENT_REQUESTS": 1}
        within = ["env", f"http_proxy={proxy.url()}"]
        return start(tmp_path, settings=settings, within=within, **arguments).finish()

    with SiteServer(routes | {f"{PROXIED}/{last}": served_last}) as proxy:
        died = through_proxy()
    assert (died.code, died.summary["partial"]) == (3, "proxy")
    assert died.summary["replies"] == replies
    never = through_proxy()
    assert (never.code, never.summary["partial"]) == (3, "proxy")
    for crawl in (died, never):
        assert (
            not {"robots-unreachable", "status-connection", "beside-dead-link"} & crawl.summary.get("rules", {}).keys()
        )
    with SiteServer(routes) as proxy:
        resumed = through_proxy()
    assert (resumed.code, resumed.summary["replies"]) == (0, {"ok": 3})


def test_proxy_that_refuses_a_host_ends_the_crawl_early_only_if_it_has_sitemaps(tmp_path: Path) -> None:
    with SiteServer() as proxy, SiteServer() as site:
        proxy.otherwise = Reply("", 403)
        site.routes = {"/s.xml": urlset(site.url("/a"), site.url("/b")), "/a": moved("https://other.example/")}
        site.routes["/b"] = html(b"")
        within = ["env", f"https_proxy={proxy.url()}"]
        for sitemap, ended in ((site.url("/s.xml"), (0, None)), ("https://other.example/s.xml", (3, "proxy"))):
            given = {"sitemap": sitemap, "verify": "head"}
            crawl = start(tmp_path, settings=LOOPBACK | {"RETRY_TIMES": 0}, within=within, **given).finish()
            assert (crawl.code, crawl.summary.get("partial")) == ended
            assert "other.example:443" in proxy.paths
            assert not {"robots-unreachable", "status-connection"} & crawl.summary.get("rules", {}).keys()
