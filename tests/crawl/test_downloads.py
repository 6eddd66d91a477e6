"""Real downloads from real servers on loopback: what a body keeps, what is refused, and how a stop ends them."""

from __future__ import annotations

import gzip
import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.crawl import misbehaving
from tests.crawl.downloading import JOB_TIME, Outcome, run
from tests.crawl.misbehaving import LARGE, PART, Exchange, Route, Server, redirect_to

LIMIT = len(LARGE) // 2


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def authorities(*servers: Server) -> list[tuple[str, int]]:
    return [("127.0.0.1", server.port) for server in servers]


def kept(result: dict[str, Any], data: bytes) -> bool:
    """Whether a body holds exactly these bytes."""
    assert result["true_digest"]
    return bool(result["size"] == len(data) and result["digest"] == digest(data))


# ---- bodies

UNUSUAL_PATH = "/a/../%7Eb%2f?q=%41+c"
"""Kept as it is listed: a server may tell it from its tidier forms."""
LONG_HEADER = "x" * 12_000


def odd_headers(server: Server, exchange: Exchange) -> None:
    exchange.send(
        f"HTTP/1.1 200 OK\r\nX-Odd: \xff\xfe\r\nX-Long: {LONG_HEADER}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")
    )


BODY_ROUTES: dict[str, Route] = {
    "/full": misbehaving.full,
    "/empty": misbehaving.empty,
    "/short": misbehaving.short,
    "/reset": misbehaving.reset,
    "/chunked-reset": misbehaving.chunked_reset,
    "/until-closed": misbehaving.until_closed,
    "/stall": misbehaving.stall,
    "/endless": misbehaving.endless,
    "/moved": redirect_to("/full"),
    "/moved-nowhere": redirect_to("/silent-end"),
    "/silent-end": lambda server, exchange: exchange.close(),
    "/flaky": misbehaving.flaky,
    "/busy": misbehaving.always_busy,
    "/gzip": misbehaving.gzipped,
    "/zstd": misbehaving.unknown_coding,
    "/plain": misbehaving.full,
    "/odd-headers": odd_headers,
    UNUSUAL_PATH: misbehaving.empty,
}


@pytest.fixture(scope="module")
def body_server() -> Iterator[Server]:
    with Server(BODY_ROUTES) as server:
        yield server


@pytest.fixture(scope="module")
def bodies(body_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    requests: dict[str, dict[str, Any]] = {
        path: {"url": body_server.url(path)} for path in BODY_ROUTES if path != "/plain"
    }
    requests["/stall"]["meta"] = {"download_timeout": 4, "dont_retry": True}
    requests["/endless"]["limit"] = LIMIT
    requests["too large"] = {"url": body_server.url("/full"), "limit": LIMIT}
    requests["just large enough"] = {"url": body_server.url("/full"), "limit": len(LARGE)}
    requests["head"] = {"url": body_server.url("/full"), "method": "HEAD"}
    requests["plain head"] = {"url": body_server.url("/plain"), "method": "HEAD", "plain": True}
    requests["plain too large"] = {"url": body_server.url("/plain"), "plain": True}
    requests["plain"] = {"url": body_server.url("/gzip"), "plain": True}
    requests["stalled twice"] = {"url": body_server.url("/stall"), "meta": {"download_timeout": 4}}
    return run(
        tmp_path_factory.mktemp("bodies"),
        requests=requests,
        named=authorities(body_server),
        settings={"DOWNLOAD_MAXSIZE": LIMIT},
    )


def test_full_body_is_collected_and_not_held_in_memory(bodies: Outcome) -> None:
    assert kept(bodies["/full"], LARGE)
    assert bodies["/full"]["in_memory"] == 0
    assert bodies["/full"]["flags"] == []
    assert bodies["/full"]["body_status"] == 200


def test_empty_body(bodies: Outcome) -> None:
    assert kept(bodies["/empty"], b"")
    assert bodies["/empty"]["status"] == 200


@pytest.mark.parametrize("path", ["/short", "/reset", "/chunked-reset"])
def test_broken_connection_keeps_what_came(bodies: Outcome, path: str) -> None:
    assert kept(bodies[path], PART)
    assert bodies[path]["status"] == 200
    assert bodies[path]["flags"] == ["dataloss"]


def test_body_that_ends_with_the_connection(bodies: Outcome) -> None:
    assert kept(bodies["/until-closed"], PART)
    assert bodies["/until-closed"]["flags"] == ["partial"]


@pytest.mark.parametrize("name", ["/stall", "stalled twice"])
def test_timeout_keeps_what_came(bodies: Outcome, body_server: Server, name: str) -> None:
    assert bodies[name]["error"] == "DownloadTimeoutError"
    assert kept(bodies[name], PART)
    assert bodies[name]["body_status"] == 200
    assert bodies[name]["body_url"] == body_server.url("/stall")
    assert bodies[name]["headers"] == ["Content-Length"]


def test_endless_body_is_cut_at_the_limit(bodies: Outcome, body_server: Server) -> None:
    assert kept(bodies["/endless"], LARGE[:LIMIT])
    assert bodies["/endless"]["overflowed"]
    assert bodies["/endless"]["flags"] == ["download_stopped"]
    assert body_server.ended["/endless"].wait(10)
    assert body_server.sent < 32 * LIMIT


def test_body_that_says_it_is_too_large_is_read_up_to_the_limit(bodies: Outcome) -> None:
    assert kept(bodies["too large"], LARGE[:LIMIT])
    assert bodies["too large"]["overflowed"]


def test_body_of_exactly_the_limit(bodies: Outcome) -> None:
    assert kept(bodies["just large enough"], LARGE)
    assert not bodies["just large enough"]["overflowed"]


def test_redirect_leaves_only_the_last_body(bodies: Outcome, body_server: Server) -> None:
    assert kept(bodies["/moved"], LARGE)
    assert bodies["/moved"]["url"] == bodies["/moved"]["body_url"] == body_server.url("/full")


def test_body_of_a_redirect_is_told_by_its_status(bodies: Outcome, body_server: Server) -> None:
    assert bodies["/moved-nowhere"]["error"] == "DownloadFailedError"
    assert bodies["/moved-nowhere"]["body_status"] == 302
    assert bodies["/moved-nowhere"]["body_url"] == body_server.url("/moved-nowhere")


def test_retry_leaves_only_the_last_body(bodies: Outcome) -> None:
    assert kept(bodies["/flaky"], PART)
    assert bodies["/flaky"]["body_status"] == 200


def test_error_has_its_body(bodies: Outcome) -> None:
    assert bodies["/busy"]["error"] == "HttpError"
    assert kept(bodies["/busy"], b"come back later")
    assert bodies["/busy"]["body_status"] == 503


def test_head_has_no_body(bodies: Outcome) -> None:
    assert kept(bodies["head"], b"")
    assert bodies["head"]["body_status"] == 200
    assert bodies["head"]["headers"] == ["Content-Length"]


def test_length_in_the_answer_to_head_is_no_size(bodies: Outcome) -> None:
    assert bodies["plain head"]["status"] == 200
    assert bodies["plain too large"]["error"] == "DownloadCancelledError"


def test_headers_of_odd_bytes_and_great_length(bodies: Outcome) -> None:
    assert bodies["/odd-headers"]["status"] == 200
    assert bodies["/odd-headers"]["headers"] == ["Content-Length", "X-Long", "X-Odd"]


def test_path_is_asked_for_as_it_is_written(bodies: Outcome, body_server: Server) -> None:
    assert bodies[UNUSUAL_PATH]["status"] == 200
    assert UNUSUAL_PATH in [exchange.path for exchange in body_server.exchanges]


def test_gzip_is_collected_as_it_came(bodies: Outcome) -> None:
    assert kept(bodies["/gzip"], gzip.compress(PART, mtime=0))
    assert bodies["/gzip"]["encoding"] == "gzip"


def test_unasked_coding_is_collected_as_it_came(bodies: Outcome) -> None:
    assert kept(bodies["/zstd"], PART)
    assert bodies["/zstd"]["encoding"] == "zstd"


def test_collected_requests_accept_gzip_only(bodies: Outcome, body_server: Server) -> None:
    collected = [each for each in body_server.exchanges if each.path not in ("/gzip", "/plain")]
    assert {each.headers["accept-encoding"] for each in collected} == {"gzip"}


def test_request_without_a_body_is_left_to_scrapy(bodies: Outcome) -> None:
    assert bodies["plain"]["in_memory"] == len(PART)
    assert bodies["plain"]["encoding"] == ""


def test_without_the_collector_no_body_is_lost(body_server: Server, tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        requests={"full": {"url": body_server.url("/full")}},
        named=authorities(body_server),
        settings={"EXTENSIONS": {}},
    )
    assert outcome["full"]["in_memory"] == len(LARGE)
    assert outcome["full"]["size"] == 0


# ---- addresses

SPELLINGS = ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "dotted.test.", "rebound.test"]
IPV6_SPELLINGS = ["[::1]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]"]
NAMES = {"dotted.test.": ["127.0.0.1"], "rebound.test": ["127.0.0.1"]}
RESOLVERS: list[dict[str, str]] = [
    {},
    {"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver"},
    {"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingHostnameResolver"},
]
"""Settings: our own resolver, and those of Scrapy that a user may choose."""


@pytest.fixture(params=RESOLVERS, ids=["own", "threaded", "hostname"])
def resolver(request: pytest.FixtureRequest) -> dict[str, str]:
    return dict(request.param)


PAGE_ROUTES: dict[str, Route] = {
    "/": lambda server, exchange: exchange.answer(b"here"),
    "/broken": lambda server, exchange: exchange.close(),
}


@pytest.fixture
def canary() -> Iterator[Server]:
    """A server that nobody named, on IPv4 and, where the machine has it, on IPv6."""
    with ExitStack() as running:
        server = running.enter_context(Server(PAGE_ROUTES))
        with suppress(OSError):
            running.enter_context(Server(PAGE_ROUTES, server.port, "::1"))
        yield server


def test_unnamed_loopback_is_refused_in_every_spelling(
    canary: Server, tmp_path: Path, resolver: dict[str, str]
) -> None:
    hosts = SPELLINGS + IPV6_SPELLINGS
    requests = {host: {"url": canary.url("/", host)} for host in hosts}
    requests |= {f"https {host}": {"url": canary.url("/", host, "https")} for host in hosts}
    outcome = run(tmp_path, requests=requests, names=NAMES, settings=resolver)
    assert {name: result["error"] for name, result in outcome.items()} == dict.fromkeys(requests, "AddressForbidden")
    assert canary.connections == 0
    assert "retry/count" not in outcome.stats


def test_allowed_network_is_reached_in_every_spelling(canary: Server, tmp_path: Path, resolver: dict[str, str]) -> None:
    settings = resolver | {"SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
    requests = {host: {"url": canary.url("/", host)} for host in SPELLINGS}
    outcome = run(tmp_path, requests=requests, names=NAMES, settings=settings)
    assert {host: result.get("status") for host, result in outcome.items()} == dict.fromkeys(SPELLINGS, 200)
    assert canary.connections > 0


def test_named_authority_is_reached_and_no_other_port(canary: Server, tmp_path: Path) -> None:
    routes = PAGE_ROUTES | {"/to-canary": redirect_to(canary.url("/")), "/to-file": redirect_to("file:///etc/hostname")}
    with Server(routes) as server:
        outcome = run(
            tmp_path,
            requests={
                "named": {"url": server.url("/")},
                "named name": {"url": server.url("/", "rebound.test")},
                "named address, other name": {"url": server.url("/", "localhost")},
                "other port": {"url": canary.url("/")},
                "redirect": {"url": server.url("/to-canary")},
                "redirect to file": {"url": server.url("/to-file"), "meta": {"handle_httpstatus_list": [302]}},
            },
            names=NAMES,
            named=[*authorities(server), ("rebound.test", server.port)],
        )
        refused = [name for name, result in outcome.items() if result.get("error") == "AddressForbidden"]
        assert sorted(refused) == ["named address, other name", "other port", "redirect"]
        assert outcome["named"]["status"] == outcome["named name"]["status"] == 200
        assert outcome["redirect to file"]["status"] == 302
    assert canary.connections == 0


def test_refusal_says_what_would_allow_it(canary: Server, tmp_path: Path) -> None:
    outcome = run(tmp_path, requests={"a": {"url": canary.url("/", "rebound.test")}}, names=NAMES)
    host = f"rebound.test:{canary.port}"
    assert outcome["a"]["message"] == (
        f"{host} is at 127.0.0.1, which is not public (loopback): "
        f"name {host} in the arguments, or allow its network with SITEMAP_ALLOW_NETWORKS"
    )


def test_proxy_is_reached_and_an_address_in_the_url_still_refused(canary: Server, tmp_path: Path) -> None:
    target = "http://rebound.test/"
    with Server({target: PAGE_ROUTES["/"]}) as proxy:
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


def test_name_with_many_refused_addresses_is_no_timeout(canary: Server, tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        requests={"a": {"url": canary.url("/", "many.test"), "meta": {"download_timeout": 0.5}}},
        names={"many.test": [f"127.0.0.{number}" for number in range(1, 10)]},
    )
    assert outcome["a"]["error"] == "AddressForbidden"
    assert canary.connections == 0


def test_name_with_one_allowed_address_is_reached_there(canary: Server, tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        requests={"a": {"url": canary.url("/", "mixed.test")}, "broken": {"url": canary.url("/broken", "mixed.test")}},
        names={"mixed.test": ["127.0.0.2", "127.0.0.1"]},
        settings={"SITEMAP_ALLOW_NETWORKS": "127.0.0.1/32"},
    )
    assert outcome["a"]["status"] == 200
    assert outcome["broken"]["error"] == "DownloadFailedError"


@pytest.mark.parametrize("url", ["data:,text", "ftp://127.0.0.1/", "s3://bucket/key"])
def test_other_schemes_are_refused(tmp_path: Path, url: str) -> None:
    assert run(tmp_path, requests={"a": {"url": url}})["a"]["error"] == "NotSupported"


def test_bad_network_lets_nothing_through(canary: Server, tmp_path: Path) -> None:
    settings = {"SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8,everything"}
    outcome = run(tmp_path, requests={"a": {"url": canary.url("/")}}, settings=settings)
    assert "'everything' is no network" in outcome["a"]["message"]
    assert canary.connections == 0


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


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    """A server's side of TLS, with a certificate made for this test."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    certificate = certificate.not_valid_before(now).not_valid_after(now + timedelta(days=1))
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def test_https_bodies(tls: ssl.SSLContext, tmp_path: Path) -> None:
    with Server(BODY_ROUTES, tls=tls) as server:
        wanted = {"/full": 0, "/short": 0, "/reset": 0, "/endless": LIMIT}
        requests = {path: {"url": server.url(path, scheme="https"), "limit": limit} for path, limit in wanted.items()}
        outcome = run(tmp_path, requests=requests, named=authorities(server))
        assert kept(outcome["/full"], LARGE)
        assert kept(outcome["/short"], PART)
        assert kept(outcome["/reset"], PART)
        assert kept(outcome["/endless"], LARGE[:LIMIT])
        assert server.ended["/endless"].wait(10)
        assert server.sent < 32 * LIMIT


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
    def stall_last(server: Server, exchange: Exchange) -> None:
        assert server.began["/silent"].wait(20)
        assert deaf.accepted.wait(20)
        misbehaving.stall(server, exchange)

    routes = {"/stall": stall_last, "/silent": misbehaving.silent}
    with Server(routes) as server, Server({}) as deaf:
        requests = {
            "connecting": f"http://127.0.0.1:{unreachable}/",
            "shaking hands": deaf.url("/", scheme="https"),
            "silent": server.url("/silent"),
            "stalled": server.url("/stall"),
        }
        outcome = run(
            tmp_path,
            requests={name: {"url": url} for name, url in requests.items()},
            named=[*authorities(server, deaf), ("127.0.0.1", unreachable)],
            settings={"SITEMAP_STOP_GRACE": 2, "DOWNLOAD_TIMEOUT": JOB_TIME},
            stop="/stall",
            after={"stalled": server.url("/stall")},
        )
        assert all(server.ended[path].wait(10) for path in routes)
        assert {exchange.path: exchange.was_reset for exchange in server.exchanges} == dict.fromkeys(routes, True)
    names = [*requests, "after stalled"]
    assert {name: outcome[name]["error"] for name in names} == dict.fromkeys(names, "DownloadCancelledError")
    assert kept(outcome["stalled"], PART)
    message = f"{requests['stalled']}: the crawl was stopped before the answer was complete"
    assert outcome["stalled"]["message"] == message
    assert outcome.stats["elapsed_time_seconds"] < JOB_TIME / 2
    assert "retry/count" not in outcome.stats


def test_download_that_ends_within_the_grace_is_kept(tmp_path: Path) -> None:
    with Server({"/full": misbehaving.full}) as server:
        outcome = run(
            tmp_path,
            requests={"full": {"url": server.url("/full")}},
            named=authorities(server),
            settings={"SITEMAP_STOP_GRACE": JOB_TIME},
            stop="/full",
        )
    assert kept(outcome["full"], LARGE)
    assert outcome.stats["elapsed_time_seconds"] < JOB_TIME / 2
