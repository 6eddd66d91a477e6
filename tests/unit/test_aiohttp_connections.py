"""Where aiohttp's sockets may go, and its failures in the words of Scrapy."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Iterator
from contextvars import Context
from typing import Any

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)

aiohttp = pytest.importorskip("aiohttp", minversion="3.12")  # socket_factory

from aiohttp import client_exceptions as failures  # noqa: E402 - may not be there
from aiohttp.abc import AbstractResolver, ResolveResult  # noqa: E402
from yarl import URL  # noqa: E402

from sitemapcrawler.aiohttp_connections import (  # noqa: E402
    Attempt,
    guarded_connector,
    guarded_socket,
    running_attempt,
    told,
)
from sitemapcrawler.download.addresses import AddressGuard, AddressRefused  # noqa: E402
from sitemapcrawler.download.answers import reason  # noqa: E402

KEY: Any = type("Key", (), {"host": "a.test", "port": 80, "ssl": True, "is_ssl": False})()


def guarded(url: str, *networks: str) -> Attempt:
    """The attempt of a request that may go to public addresses and to networks."""
    guard = AddressGuard(networks=networks)

    def check(host: str, port: int, address: str) -> None:
        if not guard.allows(host, port, address):
            raise AddressRefused(address)

    attempt = Attempt(URL(url, encoded=True), check)
    running_attempt.set(attempt)
    return attempt


def target(address: str, port: int = 80) -> Any:
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "127.0.0.1", "0.0.0.0", "127.1", "2130706433", "a.test", "::1", "fe80::1"]
)
def test_no_socket_is_made_for_what_is_not_public(address: str) -> None:
    attempt = guarded("http://a.test/")
    with pytest.raises(PermissionError):
        guarded_socket(target(address))
    assert isinstance(attempt.refusal, AddressRefused)


def test_socket_for_a_public_address() -> None:
    attempt = guarded("http://a.test/")
    with guarded_socket(target("93.184.216.34")) as made:
        assert (made.family, made.type) == (socket.AF_INET, socket.SOCK_STREAM)
    assert attempt.refusal is None


def test_socket_without_a_request_is_not_made() -> None:
    with pytest.raises(LookupError):
        Context().run(guarded_socket, target("93.184.216.34"))


def test_proxy_may_be_anywhere() -> None:
    running_attempt.set(Attempt(URL("http://a.test/"), None))
    guarded_socket(target("127.0.0.1")).close()


@pytest.mark.parametrize("addresses", [("10.0.0.1", "93.184.216.34"), ("93.184.216.34", "10.0.0.1")])
def test_failure_at_a_permitted_address_is_no_refusal(addresses: tuple[str, str]) -> None:
    attempt = guarded("http://a.test/")
    for address in addresses:
        try:
            guarded_socket(target(address)).close()
        except PermissionError:
            assert address == "10.0.0.1"
    assert attempt.refusal is None


class Names(AbstractResolver):
    """Answers in place of DNS."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=each, port=port, family=family, proto=0, flags=0)
            for each in self.addresses
        ]

    async def close(self) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


async def connect(url: str, *addresses: str) -> None:
    """Ask for a URL whose host has these addresses, and hear that no answer comes."""
    connector = guarded_connector(None, 8, 4)
    connector._resolver = Names(*addresses)
    async with aiohttp.ClientSession(connector=connector) as session:
        await session.get(URL(url, encoded=True), timeout=aiohttp.ClientTimeout(total=2))


def accepted(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def test_only_the_allowed_one_of_several_addresses_is_connected_to(listener: socket.socket) -> None:
    url = f"http://a.test:{listener.getsockname()[1]}/"

    async def scenario() -> Attempt:
        attempt = guarded(url, "127.0.0.1/32")
        with pytest.raises(TimeoutError):
            await connect(url, "127.0.0.2", "::1", "127.0.0.1", "127.0.0.3")
        return attempt

    assert asyncio.run(scenario()).refusal is None
    assert accepted(listener)


@pytest.mark.parametrize("host", ["a.test", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_refused_connections_are_refused_for_names_and_literals(listener: socket.socket, host: str) -> None:
    url = f"http://{host}:{listener.getsockname()[1]}/"

    async def scenario() -> Attempt:
        attempt = guarded(url)
        with pytest.raises(failures.ClientConnectorError):
            await connect(url, "127.0.0.1", "::1", "127.0.0.2")
        return attempt

    assert isinstance(asyncio.run(scenario()).refusal, AddressRefused)
    assert not accepted(listener)


def connector_error(error: OSError) -> Exception:
    return failures.ClientConnectorError(KEY, error)


UNREACHABLE = OSError(errno.ENETUNREACH, "Network is unreachable")
MIXED = OSError("Multiple exceptions: [Errno 101] Network is unreachable, [Errno 111] Connect call failed")
REQUEST: Any = type("Request", (), {"real_url": "http://a.test/"})()


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (TimeoutError(), DownloadTimeoutError, "no answer in time"),
        (failures.ServerTimeoutError("x"), DownloadTimeoutError, "no answer in time"),
        (connector_error(OSError(errno.ETIMEDOUT, "x")), DownloadTimeoutError, "no answer in time"),
        (failures.ClientConnectorDNSError(KEY, OSError("x")), CannotResolveHostError, "the host name cannot be resolved"),
        (UnicodeError("label too long"), CannotResolveHostError, "the host name cannot be resolved"),
        (connector_error(ConnectionRefusedError(errno.ECONNREFUSED, "x")), DownloadConnectionRefusedError, "the connection was refused"),
        (connector_error(MIXED), DownloadConnectionRefusedError, "the connection was refused"),
        (connector_error(UNREACHABLE), DownloadFailedError, "[Errno 101] Network is unreachable"),
        (failures.ClientConnectorSSLError(KEY, ssl.SSLError(1, "wrong version")), DownloadFailedError, "no TLS connection: wrong version"),
        (failures.ServerDisconnectedError(), DownloadFailedError, "Server disconnected"),
        (failures.ClientError(), DownloadFailedError, "ClientError"),
        (failures.ClientResponseError(REQUEST, (), status=400, message="Bad line:\n\n  b'x'\n    ^"), DownloadFailedError, "no HTTP: Bad line: b'x'"),
        (failures.ClientHttpProxyError(REQUEST, (), status=407, message="No"), DownloadFailedError, "the proxy answered 407: No"),
        (failures.InvalidURL("127.1", "is not canonical"), ValueError, "invalid URL: 127.1 - is not canonical"),
    ],
)  # fmt: skip
def test_failure_is_told_as_one_of_scrapy(error: Exception, kind: type[Exception], words: str) -> None:
    failure = told(error, "too late")
    assert type(failure) is kind
    assert reason(failure) == words


@pytest.mark.parametrize("error", [RuntimeError("x"), DownloadFailedError("x"), OSError("disk full")])
def test_failure_that_is_not_of_aiohttp_is_not_told(error: Exception) -> None:
    assert told(error, "too late") is None
