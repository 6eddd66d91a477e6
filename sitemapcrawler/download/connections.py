"""Connections that are checked where they are made.

What a name resolves to is only known at the moment of connecting, and may be another address a second later. So the
check sits in `connectTCP`, behind the resolver: names, literals in every spelling and rebinding names all pass it. All
addresses of a name are checked before that, where the resolver gives them: one may rule out the others.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import _ResponseReader, _ScrapyAgent
from scrapy.http import Headers
from scrapy.utils._download_handlers import normalize_bind_address
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.interfaces import (
    IReactorPluggableNameResolver,
    IReactorTCP,
    IReactorTime,
    IStreamClientEndpoint,
)
from twisted.web.client import URI, Agent, HTTPConnectionPool
from twisted.web.iweb import IAgentEndpointFactory
from zope.interface import implementer  # type: ignore[import-untyped] # ships no types

from sitemapcrawler.download.addresses import AddressCheck, AddressForbidden, Check
from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.resolver import Choose, ChoosyResolver
from sitemapcrawler.download.slots import TOO_MUCH, too_much

# Private, alike in Scrapy 2.18 and 2.19, and the only place where the endpoint of a request and the buffer of its body
# can be chosen. Without the agent nothing connects; without the buffer bodies take more memory, and none is lost.


MAX_HEAD = 256 * 2**10  # bytes; browsers take as much
TOO_LONG = f"more than {MAX_HEAD} bytes of headers"
_IN_HEAD = ("STATUS", "HEADER")


def limited(protocol: Any) -> Any:
    """The HTTP11ClientProtocol of a connection, which now counts the bytes of each head and ends with one too long."""
    receive = protocol.dataReceived
    running, taken = None, 0

    def data_received(data: bytes) -> None:
        nonlocal running, taken
        # Private, alike since Twisted 10: each answer has a parser of its own, and its state says what it waits for.
        parser = getattr(protocol, "_parser", None)
        if parser is not running:
            running, taken = parser, 0
        taken += len(data) if getattr(parser, "state", None) in _IN_HEAD else 0
        if taken > MAX_HEAD:
            protocol.transport.abortConnection()
        else:
            receive(data)

    protocol.dataReceived = data_received
    return protocol


MAX_IDLE = 256
"""Connections that wait in one pool, at most."""
SHARE = 8
"""One file descriptor of so many may be an idle connection of a pool, of which a crawl has two."""


def max_idle() -> int:
    """How many connections may wait in one pool."""
    with suppress(ImportError):  # Windows has no such module, and no such limit
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            return max(1, min(MAX_IDLE, soft // SHARE))
    return MAX_IDLE


class BoundedPool(HTTPConnectionPool):
    """Twisted's pool; the connection that has waited longest makes room for another. Each times its answers."""

    def __init__(self, reactor: Any) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]  # Twisted has no types for it
        self._max_idle = max_idle()

    @classmethod
    def like(cls, other: HTTPConnectionPool) -> BoundedPool:
        """An empty one that makes the same connections, and as many for a host."""
        pool = cls(other._reactor)
        pool.maxPersistentPerHost = other.maxPersistentPerHost
        pool._factory = other._factory
        return pool

    @property
    def idle(self) -> int:
        """Connections that wait."""
        return len(self._timeouts)

    def _newConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802 - Twisted's name
        return super()._newConnection(key, endpoint).addCallback(timed)

    def _putConnection(self, key: Any, connection: Any) -> None:  # noqa: N802 - Twisted's name
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]  # as above
        if self.idle > self._max_idle:
            timeout = next(iter(self._timeouts.values()))  # they stand in the order in which they began to wait
            longest = timeout.args
            timeout.cancel()
            self._removeConnection(*longest)

    def _removeConnection(self, key: Any, connection: Any) -> None:  # noqa: N802 - Twisted's name
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]  # as above
        if not self._connections[key]:
            del self._connections[key]


def installed_reactor() -> Any:
    """The reactor that runs. Scrapy installs it late, and importing it any earlier would install another."""
    from twisted.internet import reactor

    return reactor


def host_and_port(url: str) -> tuple[str, int]:
    """Where Twisted connects to for a URL: its own reading, since another parser could find another host."""
    uri: Any = URI
    parsed = uri.fromBytes(url.encode("ascii"))
    return parsed.host.decode("ascii"), parsed.port


@implementer(IReactorTCP, IReactorTime, IReactorPluggableNameResolver)
class GuardedReactor:
    """The reactor as one request sees it: it makes no TCP connection to an address that the check raises for."""

    def __init__(self, reactor: Any, host: str, check: Check, resolver: Any = None, choose: Choose = tuple) -> None:
        """`reactor`: the true one; `host`: as the URL has it; `resolver`: an IHostnameResolver, the reactor's own by
        default; `choose`: which of a name's addresses are used, all by default."""
        self._reactor = reactor
        self._host = host
        self._check = check
        self.nameResolver = ChoosyResolver(resolver or reactor.nameResolver, choose)

    def connectTCP(self, host: str, port: int, *args: Any, **options: Any) -> Any:  # noqa: N802 - Twisted's name
        """Connect to the address `host`, or raise AddressForbidden; a name is refused, it would be resolved again."""
        self._check(self._host, port, host)
        return self._reactor.connectTCP(host, port, *args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)


@implementer(IStreamClientEndpoint)
class LazyEndpoint:
    """Makes an endpoint when there is something to connect: most requests go over a connection that is there."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def connect(self, protocol_factory: Any) -> Any:
        """Connect through the true endpoint, to a connection whose heads are limited."""
        return self._make().connect(protocol_factory).addCallback(limited)


class Turnstile:
    """A connection pool as one request sees it: `admit` is called just before the request is written, and may raise."""

    def __init__(self, pool: Any, admit: Callable[[], None]) -> None:
        self._pool = pool
        self._admit = admit

    def getConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802 - Twisted's name
        """A connection that was kept, or a new one. Where `admit` raises it is kept for another request."""
        return self._pool.getConnection(key, endpoint).addCallback(self._pass, key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def _pass(self, connection: Any, key: Any) -> Any:
        try:
            self._admit()
        except Exception:
            self._pool._putConnection(key, getattr(connection, "_clientProtocol", connection))
            raise
        again = getattr(connection, "_newConnection", None)
        if again is not None:  # the server may have closed it: then Twisted sends the request over a new one
            connection._newConnection = lambda: again().addCallback(self._pass, key)
        return connection


@implementer(IAgentEndpointFactory)
class GuardedAgent(_ScrapyAgent):
    """Downloads one request over connections that pass the check; behind a proxy, over whatever the proxy makes."""

    def __init__(
        self, check: AddressCheck, admit: Callable[[Request], None], resolver: Any = None, **options: Any
    ) -> None:
        """`admit`: called just before the request is sent; `resolver`: an IHostnameResolver, the reactor's own by
        default; `options`: those of Scrapy's agent."""
        super().__init__(**options)
        self._check_address = check
        self._admit = admit
        self._resolver = resolver
        self.refusal: AddressForbidden | None = None
        """Why nothing was connected to; None once an address was permitted."""

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        self._pool: Any = Turnstile(self._pool, lambda: self._admit(request))
        if request.meta.get("proxy"):
            self._check_address.behind_proxy(*host_and_port(request.url))
            return super()._get_agent(request, timeout)
        self._attempt_timeout = timeout
        self._bind = normalize_bind_address(request.meta.get("bindaddress") or self._bindAddress)
        agent: Any = Agent
        direct: Agent = agent.usingEndpointFactory(installed_reactor(), self, self._pool)
        return direct

    def endpointForURI(self, uri: Any) -> Any:  # noqa: N802 - Twisted's name
        """The guarded endpoint for a URL, with TLS for https. An address that stands in the URL is checked at once."""
        self._check_address.literal(uri.host.decode("ascii"), uri.port)
        return LazyEndpoint(lambda: self._endpoint(uri))

    def _endpoint(self, uri: Any) -> Any:
        host = uri.host.decode("ascii")
        choose = partial(self._usable, host, uri.port)
        reactor = GuardedReactor(installed_reactor(), host, self._check, self._resolver, choose)
        endpoint: Any = HostnameEndpoint(reactor, host, uri.port, self._attempt_timeout, self._bind)
        if uri.scheme == b"http":
            return endpoint
        contexts: Any = self._contextFactory
        # Certificates and SNI know no root dot (RFC 6066, 3).
        return wrapClientTLS(contexts.creatorForNetloc(uri.host.removesuffix(b"."), uri.port), endpoint)

    def _usable(self, host: str, port: int, addresses: Sequence[str]) -> Sequence[str]:
        try:
            return self._check_address.usable(host, port, addresses)
        except AddressForbidden as refusal:
            self.refusal = refusal
            return ()

    def _check(self, host: str, port: int, address: str) -> None:
        try:
            self._check_address(host, port, address)
        except AddressForbidden as refusal:
            self.refusal = refusal
            raise
        self.refusal = None

    @staticmethod
    def _headers_from_twisted_response(response: Any) -> Headers:
        """The headers, which Scrapy asks for twice, made once."""
        headers: Headers | None = getattr(response, "_sitemap_headers", None)
        if headers is None:
            headers = response._sitemap_headers = _ScrapyAgent._headers_from_twisted_response(response)
        return headers

    def _cb_latency(self, result: Any, request: Request, start_time: float) -> Any:
        keep_response_time(result, request)
        return super()._cb_latency(result, request, start_time)

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        status = int(txresponse.code)
        if status in TOO_MUCH:
            headers = self._headers_from_twisted_response(txresponse)
            self._crawler.signals.send_catch_log(too_much, request=request, status=status, headers=headers)
        body = request.meta.get(BODY_KEY)
        if isinstance(body, Body):
            body.url, body.status = request.url, status
            _discard_what_is_collected(txresponse, body)
        return super()._cb_bodyready(txresponse, request)


class Discarding(BytesIO):
    """Takes what is written, and keeps nothing."""

    def write(self, data: Any) -> int:
        return len(data)


def _discard_what_is_collected(txresponse: Any, body: Body) -> None:
    deliver = txresponse.deliverBody

    def deliver_body(reader: _ResponseReader) -> None:
        if body.headers is not None:  # the collector is enabled, and has heard of this answer
            reader._bodybuf = Discarding()
        deliver(reader)

    txresponse.deliverBody = deliver_body


RESPONSE_TIME_KEY = "sitemap_response_time"
"""Key in `Request.meta`: the response time of the last answer, in seconds."""
LAST_DATA = struct.Struct("=I4xI")
"""tcpi_last_data_sent and tcpi_last_data_recv, milliseconds ago, with tcpi_last_ack_sent between them."""
LAST_DATA_AT = 44
"""Bytes before them in `struct tcp_info`. Source: linux/tcp.h"""
MS = 1000


class Stopwatch:
    """Times the answers of one connection, which come one after the other."""

    counts = False
    """True once a kernel has counted: some that pass for Linux give zeros."""

    def __init__(self, protocol: Any) -> None:
        """`protocol`: Twisted's HTTP11ClientProtocol, connected."""
        self._protocol = protocol
        self._send, self._receive = protocol.request, protocol.dataReceived
        self._sent: float | None = None
        self._seconds = 0.0

    def request(self, request: Any) -> Any:
        """Send a request; its response gets the time as an attribute."""
        self._sent = time.monotonic()
        return self._send(request).addCallback(self._keep)

    def data_received(self, data: bytes) -> None:
        """Stop at the first byte of the answer, an interim one (103) included."""
        if self._sent is not None:
            self._seconds = self._shorter(time.monotonic() - self._sent)
            self._sent = None
        self._receive(data)

    def _keep(self, response: Any) -> Any:
        response.sitemap_response_time = self._seconds
        return response

    def _shorter(self, seconds: float) -> float:
        """What the kernel counted, where that is less than what this process did."""
        sent, received = last_data(self._protocol.transport)
        if sent or received:
            Stopwatch.counts = True
        return min(seconds, max(0, sent - received) / MS) if Stopwatch.counts else seconds


def timed(protocol: Any) -> Any:
    """The HTTP11ClientProtocol of a new connection, which times its answers from now on."""
    watch = Stopwatch(protocol)
    protocol.request, protocol.dataReceived = watch.request, watch.data_received
    return protocol


def last_data(transport: Any) -> tuple[int, int]:
    """How many milliseconds ago a connection sent and received data; zeros where the system does not say."""
    while (below := getattr(transport, "transport", None)) is not None:  # TLS
        transport = below
    try:
        info = transport.getHandle().getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LAST_DATA_AT + LAST_DATA.size)
        sent, received = LAST_DATA.unpack_from(info, LAST_DATA_AT)
    except (AttributeError, OSError, struct.error):
        return 0, 0
    return sent, received


def keep_response_time(response: Any, request: Request) -> None:
    """Hand the time over from the response of a timed connection to its request."""
    if (seconds := getattr(response, "sitemap_response_time", None)) is not None:
        request.meta[RESPONSE_TIME_KEY] = seconds


def pop_response_time(request: Request) -> float:
    """The response time of the last answer to a request, in seconds; Scrapy's latency from a handler without timing."""
    seconds: float | None = request.meta.pop(RESPONSE_TIME_KEY, None)
    return seconds if seconds is not None else request.meta.get("download_latency") or 0.0
