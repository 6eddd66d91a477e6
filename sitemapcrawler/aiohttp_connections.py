"""Connections of aiohttp that are checked where they are made, and how its failures are told.

Each socket is made for one address, the one that it is then connected to: behind the resolver and its cache, for every
address that is tried in turn or side by side, and for literals in every spelling.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from contextvars import ContextVar
from functools import partial
from typing import Any

from aiohttp import AddrInfoType, TCPConnector
from aiohttp import client_exceptions as failures
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from yarl import URL

from sitemapcrawler.aiohttp_protocol import HeadFirst
from sitemapcrawler.download.addresses import AddressRefused, Check
from sitemapcrawler.download.connections import max_idle

MARK = " ^"
"""Where aiohttp's parser stopped, on a line of its own below the bytes."""


class Attempt:
    """One request as its connections see it."""

    def __init__(self, url: URL, check: Check | None) -> None:
        """`check`: None behind a proxy, where the connection leads to the proxy."""
        self.url = url
        self.host = url.raw_host or ""
        self.port = url.port or 0
        self._check = check
        self.connected = False
        """True where a connection was made for it, False for one that was there before."""
        self._permitted = False
        self._refusal: AddressRefused | None = None

    def connect(self, address: str) -> None:
        """Raise AddressRefused where no connection may be made to an address."""
        try:
            if self._check is not None:
                self._check(self.host, self.port, address)
        except AddressRefused as refusal:
            self._refusal = refusal
            raise
        self._permitted = self.connected = True

    @property
    def refusal(self) -> AddressRefused | None:
        """Why nothing was connected to; None where an address was permitted, or no connection was needed."""
        return None if self._permitted else self._refusal


running_attempt: ContextVar[Attempt] = ContextVar("running_attempt")
"""aiohttp tells a socket's maker the address, but not the host; its tasks inherit this."""


def guarded_socket(target: AddrInfoType) -> socket.socket:
    """A socket for the one address that it will be connected to, or PermissionError."""
    family, kind, protocol, _, address = target
    try:
        running_attempt.get().connect(str(address[0]))
    except AddressRefused as refusal:  # an OSError has aiohttp try the host's other addresses
        raise PermissionError(str(refusal)) from refusal
    return socket.socket(family, kind, protocol)


class BoundedConnector(TCPConnector):
    """aiohttp's connector; the host that was asked first gives up its connections where too many hosts have some."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._max_idle = max_idle()

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        if len(self._conns) > self._max_idle:
            for idle, _ in self._conns.pop(next(iter(self._conns))):
                idle.close()


def guarded_connector(local: tuple[str, int] | None, limit: int, limit_per_host: int) -> TCPConnector:
    """Makes and keeps connections for requests that have a `running_attempt`. To be called in a running loop.

    `local`: address to connect from; limits in connections.
    """
    options: dict[str, Any] = {"limit": limit, "limit_per_host": limit_per_host}
    connector = BoundedConnector(local_addr=local, socket_factory=guarded_socket, **options)
    factory: Any = partial(HeadFirst, loop=asyncio.get_running_loop())
    connector._factory = factory  # there is no parameter
    return connector


def told(error: Exception, timed_out: str) -> Exception | None:
    """A failure of aiohttp as the failure of Scrapy that Twisted's handler would raise; None for other failures."""
    match error:
        case TimeoutError():
            return DownloadTimeoutError(timed_out)
        case failures.InvalidURL():
            return ValueError(f"invalid URL: {error}")
        case failures.ClientConnectorDNSError() | UnicodeError():  # a label that is empty, or too long for DNS
            return CannotResolveHostError(str(error))
        case failures.ClientSSLError():
            return DownloadFailedError(f"no TLS connection: {error.os_error.strerror or error.os_error}")
        case failures.ClientConnectorError():
            return _unconnected(error.os_error)
        case failures.ClientHttpProxyError():
            return DownloadFailedError(f"the proxy answered {error.status}: {error.message}")
        case failures.ClientResponseError():
            return DownloadFailedError(f"no HTTP: {' '.join(error.message.split()).removesuffix(MARK)}")
        case failures.ClientError():
            return DownloadFailedError(str(error) or type(error).__name__)
    return None


def _unconnected(error: OSError) -> Exception:
    if error.errno == errno.ETIMEDOUT:
        return DownloadTimeoutError(str(error))
    if error.errno == errno.ECONNREFUSED or f"[Errno {errno.ECONNREFUSED}]" in str(error):  # of several addresses
        return DownloadConnectionRefusedError(str(error))
    return DownloadFailedError(str(error))
