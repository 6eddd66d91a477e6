"""Real downloads from real servers on loopback: what a body keeps, what is refused, and how a stop ends them."""

from __future__ import annotations

import gzip
import os
import socket
import socketserver
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from hashlib import blake2b
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.crawl.authority import CertificateAuthority
from tests.crawl.downloading import JOB_TIME, Outcome, run
from tests.crawl.site_server import (
    PATIENCE_S,
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

LARGE = bytes(range(256)) * 8192
"""2 MiB."""
PART = LARGE[:40_000]
"""What arrives of `LARGE` before something happens."""
LIMIT = len(LARGE) // 2


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def authorities(*servers: SiteServer) -> list[tuple[str, int]]:
    return [("127.0.0.1", server.port) for server in servers]


def kept(result: dict[str, Any], data: bytes) -> bool:
    """Whether a body holds exactly these bytes."""
    assert result["true_digest"]
    return bool(result["size"] == len(data) and result["digest"] == digest(data))


# ---- bodies

UNUSUAL_PATH = "/a/../%7Eb%2f?q=%41+c"
"""Kept as it is listed: a server may tell it from its tidier forms."""
ODD_HEADERS = b"HTTP/1.1 200 OK\r\nX-Odd: \xff\xfe\r\nX-Long: %b\r\nContent-Length: 0\r\n\r\n" % (b"x" * 12_000)
BUSY = Reply("come back later", 503)


BODY_ROUTES: dict[str, Route] = {
    "/full": LARGE,
    "/short": cut(PART),
    "/reset": reset(PART),
    "/until-closed": garbage(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + PART),
    "/stall": stalled(PART),
    "/endless": endless(LARGE, LARGE),
    "/moved": moved("/full"),
    "/moved-nowhere": moved("/silent-end"),
    "/silent-end": garbage(b""),
    "/flaky": once(BUSY, PART),
    "/busy": BUSY,
    "/gzip": Reply(gzip.compress(PART, mtime=0), headers={"Content-Encoding": "gzip"}),
    "/plain": LARGE,
    "/odd-headers": garbage(ODD_HEADERS),
    UNUSUAL_PATH: b"",
}


@pytest.fixture(scope="module")
def body_server() -> Iterator[SiteServer]:
    with SiteServer(BODY_ROUTES) as server:
        yield server


@pytest.fixture(scope="module")
def bodies(body_server: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    requests: dict[str, dict[str, Any]] = {
        path: {"url": body_server.url(path)} for path in BODY_ROUTES if path != "/plain"
    }
    requests["/stall"]["meta"] = {"download_timeout": 4, "dont_retry": True}
    requests["/endless"]["limit"] = LIMIT
    requests["too large"] = {"url": body_server.url("/full"), "limit": LIMIT}
    requests["just large enough"] = {"url": body_server.url("/full"), "limit": len(LARGE)}
    requests["head"] = {"url": body_server.url("/full"), "method": "HEAD"}
    requests["plain too large"] = {"url": body_server.url("/plain"), "plain": True}
    requests["plain"] = {"url": body_server.url("/gzip"), "plain": True}
    return run(
        tmp_path_factory.mktemp("bodies"),
        requests=requests,
        named=authorities(body_server),
        settings={"DOWNLOAD_MAXSIZE": LIMIT},
    )


CUT = {"status": 200, "flags": ["dataloss"]}
STALLED = {"error": "DownloadTimeoutError", "body_status": 200, "headers": ["Content-Length"]}
COLLECTED: dict[str, tuple[bytes | None, dict[str, Any]]] = {
    "/reset": (PART, CUT),
    "/until-closed": (PART, {"flags": ["partial"]}),
    "/stall": (PART, STALLED),
    "/endless": (LARGE[:LIMIT], {"overflowed": True, "flags": ["download_stopped"]}),
    "too large": (LARGE[:LIMIT], {"overflowed": True}),
    "just large enough": (LARGE, {"overflowed": False}),
    "/moved": (LARGE, {"url": "/full"}),
    "/moved-nowhere": (None, {"error": "DownloadFailedError", "body_status": 302}),
    "/flaky": (PART, {"body_status": 200}),
    "/busy": (b"come back later", {"error": "HttpError", "body_status": 503}),
    "/gzip": (gzip.compress(PART, mtime=0), {"encoding": "gzip"}),
    "/odd-headers": (b"", {"status": 200, "headers": ["Content-Length", "X-Long", "X-Odd"]}),
    UNUSUAL_PATH: (b"", {"status": 200}),
    "head": (b"", {"body_status": 200, "headers": ["Content-Length"]}),
    "plain": (None, {"in_memory": len(PART), "encoding": ""}),
    "plain too large": (None, {"error": "DownloadCancelledError"}),
}
"""{request: (its body, where it is of interest, and facts, with the paths of URLs)}"""


@pytest.mark.parametrize("name", COLLECTED)
def test_download(bodies: Outcome, body_server: SiteServer, name: str) -> None:
    body, facts = COLLECTED[name]
    result, origin = bodies[name], body_server.url("")
    assert body is None or kept(result, body)
    found = {fact: result.get(fact) for fact in facts}
    assert {fact: value.removeprefix(origin) if "url" in fact else value for fact, value in found.items()} == facts


def test_endless_body_is_cut_off_at_the_server(bodies: Outcome, body_server: SiteServer) -> None:
    assert body_server.exchange("/endless").over.wait(PATIENCE_S)
    assert body_server.exchange("/endless").sent < 32 * LIMIT


# ---- addresses

SPELLINGS = ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "dotted.test.", "rebound.test"]
IPV6_SPELLINGS = ["[::1]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]"]
NAMES = {"dotted.test.": ["127.0.0.1"], "rebound.test": ["127.0.0.1"]}
MANY = {"many.test": [f"127.0.0.{number}" for number in range(1, 10)]}
"""A name with more addresses than can be tried before the time is up."""
RESOLVERS: list[dict[str, str]] = [
    {},
    {"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver"},
    {"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingHostnameResolver"},
]
"""Settings: our own resolver, and those of Scrapy that a user may choose."""


@pytest.fixture(params=RESOLVERS, ids=["own", "threaded", "hostname"])
def resolver(request: pytest.FixtureRequest) -> dict[str, str]:
    return dict(request.param)


CLOSING = garbage(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere")
"""An answer after which the server closes the connection, without saying so."""
PAGE_ROUTES: dict[str, Route] = {"/": "here", "/broken": garbage(b"")}


@pytest.fixture
def canary() -> Iterator[SiteServer]:
    """A server that nobody named, on IPv4 and, where the machine has it, on IPv6."""
    with ExitStack() as running:
        server = running.enter_context(SiteServer(PAGE_ROUTES))
        with suppress(OSError):
            running.enter_context(SiteServer(PAGE_ROUTES, host="::1", port=server.port))
        yield server


def test_unnamed_loopback_is_refused_in_every_spelling(
    canary: SiteServer, tmp_path: Path, resolver: dict[str, str]
) -> None:
    hosts = SPELLINGS + IPV6_SPELLINGS
    requests = {host: {"url": canary.url("/", host)} for host in hosts}
    requests |= {f"https {host}": {"url": canary.url("/", host, "https")} for host in hosts}
    requests["many"] = {"url": canary.url("/", "many.test"), "meta": {"download_timeout": 0.5}}
    outcome = run(tmp_path, requests=requests, names=NAMES | MANY, settings=resolver)
    assert {name: result["error"] for name, result in outcome.items()} == dict.fromkeys(requests, "AddressForbidden")
    place = f"rebound.test:{canary.port}"
    assert outcome["rebound.test"]["message"] == (
        f"{place} is at 127.0.0.1, which is not public (loopback): "
        f"name {place} in the arguments, or allow its network with SITEMAP_ALLOW_NETWORKS"
    )
    assert canary.connections == 0
    assert "retry/count" not in outcome.stats


@pytest.mark.parametrize(
    ("resolver", "route"),
    [({}, Reply("here")), ({}, CLOSING), (RESOLVERS[-1], CLOSING)],
    ids=["kept", "closed", "other"],
)
def test_crawls_in_one_process_have_their_own_permissions(
    tmp_path: Path, resolver: dict[str, str], route: Route
) -> None:
    """Also on kept connections, and on those that replace one which the server has closed meanwhile."""
    with SiteServer({"/": route}) as server:
        url, home = server.url("/", "rebound.test"), ("rebound.test", server.port)
        requests = {str(number): {"url": url} for number in range(10)}
        outcome = run(
            tmp_path,
            requests=requests,
            names=NAMES,
            named=[home],
            settings=resolver | {"CONCURRENT_REQUESTS_PER_DOMAIN": 2},
            beside=[{"requests": requests}, {"requests": requests, "named": [home]}],
        )
        received = len(server.exchanges)
    unnamed, named = outcome.beside
    assert {result["status"] for result in (*outcome.values(), *named.values())} == {200}
    assert {result["error"] for result in unnamed.values()} == {"AddressForbidden"}
    assert received == 2 * len(requests)


def test_proxy_is_reached_and_an_address_in_the_url_still_refused(canary: SiteServer, tmp_path: Path) -> None:
    target = "http://rebound.test/"
    with SiteServer({target: PAGE_ROUTES["/"]}) as proxy:
        outcome = run(
            tmp_path,
            requests={
                "name": {"url": target, "meta": {"proxy": proxy.url("")}},
                "address": {"url": canary.url("/"), "meta": {"proxy": proxy.url("")}},
            },
        )
        assert outcome["name"]["status"] == 200
        assert outcome["address"]["error"] == "AddressForbidden"
        assert [exchange.path for exchange in proxy.exchanges] == [target]


def test_https_goes_through_the_tunnel_of_a_proxy(tmp_path: Path) -> None:
    certificate = CertificateAuthority(tmp_path).self_signed("server")
    with SiteServer(PAGE_ROUTES, tls=certificate) as server, Tunnel(server.port) as proxy:
        outcome = run(
            tmp_path,
            requests={
                "name": {"url": "https://site.test/", "meta": {"proxy": proxy.url}},
                "address": {"url": server.url("/", scheme="https"), "meta": {"proxy": proxy.url}},
            },
        )
    assert kept(outcome["name"], b"here")
    assert outcome["address"]["error"] == "AddressForbidden"
    assert proxy.asked == ["CONNECT site.test:443 HTTP/1.1"]


class Tunnel(socketserver.ThreadingTCPServer):
    """A proxy whose tunnels all lead to one port of this machine."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), Tunnelling)
        self.port = port
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.asked: list[str] = []
        Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class Tunnelling(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Tunnel)
        self.server.asked.append(self.rfile.readline().decode().strip())
        while self.rfile.readline().strip():
            pass
        with socket.create_connection(("127.0.0.1", self.server.port)) as there:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            back = Thread(target=passed_on, args=(there, self.connection))
            back.start()
            passed_on(self.connection, there)
            back.join()


def passed_on(source: socket.socket, target: socket.socket) -> None:
    """Pass on what arrives until the source ends."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


# ---- files


def test_only_named_files_are_read(tmp_path: Path) -> None:
    named, other, missing = tmp_path / "a sitemap [é].xml", tmp_path / "other.xml", tmp_path / "missing.xml"
    for path in (named, other):
        path.write_bytes(LARGE)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    outcome = run(
        tmp_path,
        requests={
            "named": {"url": named.as_uri()},
            "limited": {"url": named.as_uri(), "limit": LIMIT},
            "redirected": {"url": named.as_uri(), "meta": {"redirect_urls": ["http://a.test/"]}},
            "without a collector": {"url": named.as_uri(), "plain": True},
            "other": {"url": other.as_uri()},
            "host": {"url": named.as_uri().replace("file://", "file://localhost")},
            "missing": {"url": missing.as_uri()},
            "folder": {"url": tmp_path.as_uri()},
            "pipe": {"url": pipe.as_uri()},
        },
        files=[path.as_uri() for path in (named, missing, tmp_path, pipe)],
    )
    assert kept(outcome["named"], LARGE)
    assert (outcome["named"]["status"], outcome["named"]["in_memory"]) == (200, 0)
    assert kept(outcome["limited"], LARGE[:LIMIT])
    assert outcome["limited"]["overflowed"]
    errors = {name: result.get("error") for name, result in outcome.items()}
    refused = ["redirected", "without a collector", "other", "host"]
    assert {name: errors[name] for name in refused} == dict.fromkeys(refused, "SchemeRefused")
    unreadable = ["missing", "folder", "pipe"]
    assert {name: errors[name] for name in unreadable} == dict.fromkeys(unreadable, "FileUnreadable")
    assert outcome["missing"]["message"] == f"{missing}: No such file or directory"
    assert "retry/count" not in outcome.stats


# ---- TLS


def test_https_bodies(tmp_path: Path) -> None:
    with SiteServer(BODY_ROUTES, tls=CertificateAuthority(tmp_path).self_signed("server")) as server:
        wanted = {"/full": 0, "/short": 0, "/reset": 0, "/endless": LIMIT}
        requests = {path: {"url": server.url(path, scheme="https"), "limit": limit} for path, limit in wanted.items()}
        outcome = run(tmp_path, requests=requests, named=authorities(server))
        assert kept(outcome["/full"], LARGE)
        assert kept(outcome["/short"], PART)
        assert kept(outcome["/reset"], PART)
        assert kept(outcome["/endless"], LARGE[:LIMIT])
        assert server.exchange("/endless").over.wait(PATIENCE_S)
        assert server.exchange("/endless").sent < 32 * LIMIT


# ---- the end of a crawl


@pytest.fixture
def unreachable() -> Iterator[int]:
    """A port that neither accepts nor refuses connections."""
    with ExitStack() as waiting:
        listener = waiting.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = listener.getsockname()[1]
        for _ in range(8):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        yield port


def test_stop_cancels_what_runs(unreachable: int, tmp_path: Path) -> None:
    def stall_last(exchange: Exchange) -> None:
        server.wait_for("/silent")
        with deaf.accept()[0]:
            stalled(PART)(exchange)

    routes: dict[str, Route] = {"/stall": stall_last, "/silent": stalled()}
    with SiteServer(routes) as server, socket.create_server(("127.0.0.1", 0)) as deaf:
        deaf.settimeout(PATIENCE_S)
        requests = {
            "connecting": f"http://127.0.0.1:{unreachable}/",
            "shaking hands": f"https://127.0.0.1:{deaf.getsockname()[1]}/",
            "silent": server.url("/silent"),
            "stalled": server.url("/stall"),
        }
        outcome = run(
            tmp_path,
            requests={name: {"url": url} for name, url in requests.items()},
            named=[*authorities(server), deaf.getsockname(), ("127.0.0.1", unreachable)],
            settings={"SITEMAP_STOP_GRACE": 2, "DOWNLOAD_TIMEOUT": JOB_TIME},
            stop="/stall",
            after={"stalled": server.url("/stall")},
        )
        assert all(server.exchange(path).over.wait(PATIENCE_S) for path in routes)
        assert {exchange.path: exchange.was_reset for exchange in server.exchanges} == dict.fromkeys(routes, True)
    names = [*requests, "after stalled"]
    assert {name: outcome[name]["error"] for name in names} == dict.fromkeys(names, "DownloadCancelledError")
    assert kept(outcome["stalled"], PART)
    message = f"{requests['stalled']}: the crawl was stopped before the answer was complete"
    assert outcome["stalled"]["message"] == message
    assert outcome.stats["elapsed_time_seconds"] < JOB_TIME / 2
    assert "retry/count" not in outcome.stats


def test_download_that_ends_within_the_grace_is_kept(tmp_path: Path) -> None:
    with SiteServer({"/full": LARGE}) as server:
        outcome = run(
            tmp_path,
            requests={"full": {"url": server.url("/full")}},
            named=authorities(server),
            settings={"SITEMAP_STOP_GRACE": JOB_TIME},
            stop="/full",
        )
    assert kept(outcome["full"], LARGE)
    assert outcome.stats["elapsed_time_seconds"] < JOB_TIME / 2
