"""Address checks at the moment of connecting.

A name may resolve to another address a second later. So the check is in `connectTCP`, behind the resolver: names,
literals in any spelling and rebinding names all go through it. The addresses of a name are also checked together when
the resolver returns them, since one may rule out the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import _ResponseReader, _ScrapyAgent
from scrapy.http import Headers
from scrapy.utils._download_handlers import normalize_bind_address
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.interfaces import IReactorPluggableNameResolver, IReactorTCP, IReactorTime, IStreamClientEndpoint
from twisted.web._newclient import HEADER, HTTPClientParser
from twisted.web.client import URI, Agent, HTTPConnectionPool
from twisted.web.iweb import UNKNOWN_LENGTH, IAgentEndpointFactory
from zope.interface import implementer  # type: ignore[import-untyped] # ships no types

from sitemapcrawler.download.addresses import AddressCheck, AddressForbidden, Check
from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.resolver import Choose, ChoosyResolver, TwistedObject
from sitemapcrawler.download.slots import TOO_MUCH, too_much
from sitemapcrawler.replies.kinds import cause_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

# Private API, identical in Scrapy 2.18 and 2.19, and the only way to choose a request's endpoint and body buffer. If
# the agent breaks, no connection is made; if the buffer breaks, bodies take more memory, but none is lost. Twisted's
# parser is private too; if it breaks, headers of more than 16 KiB a line are not read.


FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:")
"""Start of a header field: a token and a colon. Blanks between them are removed. Source: RFC 9112, 5"""
MAX_HEAD = 256 * 2**10
"""Bytes of the status line and headers of one response, interim ones (103) included; the limit of Chrome."""


class HeadTooLong(Exception):
    """A response has more than `MAX_HEAD` bytes of headers. Not retried: the next one has as many."""

    def __init__(self) -> None:
        super().__init__(f"more than {MAX_HEAD:,} bytes of response headers")


class LimitedParser(HTTPClientParser):
    """Reads a response with at most `MAX_HEAD` bytes of headers, and raises HeadTooLong beyond. Twisted's own parser
    closes the connection at a line of more than 16 KiB, without a reason. Skips lines that are no header fields, as
    browsers do; Twisted fails."""

    MAX_LENGTH = MAX_HEAD
    """Bytes that the next line may have."""
    _is_skipping = False
    """True after a line that was skipped, so that its continuations are skipped too."""

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        self.MAX_LENGTH -= len(line) + len(self.delimiter)
        if self.state != HEADER or self._is_usable(line.rstrip(b"\r")):
            super().lineReceived(line)  # type: ignore[no-untyped-call]  # Twisted has no types for it

    def headerReceived(self, name: bytes, value: bytes) -> None:  # noqa: N802 - Twisted's name
        super().headerReceived(name.rstrip(), value)  # type: ignore[no-untyped-call]  # as above

    def _is_usable(self, line: bytes) -> bool:
        """True for a header field, the continuation of one, and the empty line after the last."""
        if line.startswith((b" ", b"\t")):
            return self._partialHeader is not None and not self._is_skipping
        self._is_skipping = line != b"" and FIELD.match(line) is None
        return not self._is_skipping

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        raise HeadTooLong


def limited(protocol: TwistedObject) -> TwistedObject:
    """Make an HTTP11ClientProtocol parse responses with `LimitedParser`, and abort its connection after HeadTooLong."""
    send = protocol.request

    def request(asked: object) -> object:
        answered = send(asked)
        if protocol._parser is not None:  # None if the connection cannot send it
            protocol._parser.__class__ = LimitedParser
        return answered.addErrback(abort)

    def abort(failure: TwistedObject) -> object:
        if isinstance(cause_of(failure.value), HeadTooLong):
            protocol.transport.abortConnection()
        return failure

    protocol.request = request
    return protocol


MAX_IDLE = 256
"""Limit on idle connections per pool."""
SHARE = 8
"""Divisor of the file descriptor limit: a pool, of which a crawl has two, may use one in eight for idle connections."""


def max_idle() -> int:
    """Limit on idle connections per pool, given the limit on file descriptors."""
    with suppress(ImportError):  # no such module, and no such limit, on Windows
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            return max(1, min(MAX_IDLE, soft // SHARE))
    return MAX_IDLE


class BoundedPool(HTTPConnectionPool):
    """Connection pool with a limit on idle connections, which evicts the oldest. It limits the headers of responses."""

    def __init__(self, reactor: object) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]  # Twisted has no types for it
        self._max_idle = max_idle()

    @classmethod
    def like(cls, other: HTTPConnectionPool) -> BoundedPool:
        """An empty pool with the same factory and limit per host."""
        pool = cls(other._reactor)
        pool.maxPersistentPerHost = other.maxPersistentPerHost
        pool._factory = other._factory
        return pool

    @property
    def idle(self) -> int:
        """Number of idle connections."""
        return len(self._timeouts)

    def _newConnection(self, key: object, endpoint: TwistedObject) -> TwistedObject:  # noqa: N802 - Twisted's name
        return super()._newConnection(key, endpoint).addCallback(limited)

    def _putConnection(self, key: object, connection: object) -> None:  # noqa: N802 - Twisted's name
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]  # as above
        if self.idle > self._max_idle:
            timeout = next(iter(self._timeouts.values()))  # in order of becoming idle
            longest = timeout.args
            timeout.cancel()
            self._removeConnection(*longest)

    def _removeConnection(self, key: object, connection: object) -> None:  # noqa: N802 - Twisted's name
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]  # as above
        if not self._connections[key]:
            del self._connections[key]


def installed_reactor() -> TwistedObject:
    """The running reactor. Imported late: importing it before Scrapy installs its own would install another."""
    from twisted.internet import reactor

    return reactor


def host_and_port(url: str) -> tuple[str, int]:
    """Host and port that Twisted connects to for a URL; another parser could find a different host."""
    uri: TwistedObject = URI
    parsed = uri.fromBytes(url.encode("ascii"))
    return parsed.host.decode("ascii"), parsed.port


@implementer(IReactorTCP, IReactorTime, IReactorPluggableNameResolver)
class GuardedReactor:
    """The reactor as one request sees it: refuses TCP connections to addresses that fail the check."""

    def __init__(
        self, reactor: TwistedObject, host: str, check: Check, resolver: TwistedObject = None, choose: Choose = tuple
    ) -> None:
        """`host`: as in the URL; `resolver`: IHostnameResolver, by default the reactor's; `choose`: address filter."""
        self._reactor = reactor
        self._host = host
        self._check = check
        self.nameResolver = ChoosyResolver(resolver or reactor.nameResolver, choose)

    def connectTCP(self, host: str, port: int, *args: object, **options: object) -> object:  # noqa: N802 - Twisted's name
        """Connect to an address, or raise AddressForbidden. Names are refused: they would be resolved again."""
        self._check(self._host, port, host)
        return self._reactor.connectTCP(host, port, *args, **options)

    def __getattr__(self, name: str) -> object:
        return getattr(self._reactor, name)


@implementer(IStreamClientEndpoint)
class LazyEndpoint:
    """Endpoint that is built on first use: most requests reuse a connection."""

    def __init__(self, make: Callable[[], TwistedObject]) -> None:
        self._make = make

    def connect(self, protocol_factory: object) -> object:
        return self._make().connect(protocol_factory)


@implementer(IAgentEndpointFactory)
class GuardedAgent(_ScrapyAgent):
    """Downloads one request over checked connections; behind a proxy, over the proxy's."""

    def __init__(
        self,
        check: AddressCheck,
        resolver: TwistedObject = None,
        **options: Any,  # Any: those of Scrapy's agent, each of a type of its own
    ) -> None:
        """`resolver`: IHostnameResolver, by default the reactor's."""
        super().__init__(**options)
        self._check_address = check
        self._resolver = resolver
        self.refusal: AddressForbidden | None = None
        """Why no connection was made; None once an address was allowed."""

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        if request.meta.get("proxy"):
            self._check_address.behind_proxy(*host_and_port(request.url))
            return super()._get_agent(request, timeout)
        self._attempt_timeout = timeout
        self._bind = normalize_bind_address(request.meta.get("bindaddress") or self._bindAddress)
        agent: TwistedObject = Agent
        direct: Agent = agent.usingEndpointFactory(installed_reactor(), self, self._pool)
        return direct

    def endpointForURI(self, uri: URI) -> object:  # noqa: N802 - Twisted's name
        """The guarded endpoint for a URL, with TLS for https. Checks an address written in the URL immediately."""
        self._check_address.literal(uri.host.decode("ascii"), uri.port)
        return LazyEndpoint(lambda: self._endpoint(uri))

    def _endpoint(self, uri: URI) -> object:
        host = uri.host.decode("ascii")
        choose = partial(self._usable, host, uri.port)
        reactor = GuardedReactor(installed_reactor(), host, self._check, self._resolver, choose)
        endpoint: TwistedObject = HostnameEndpoint(reactor, host, uri.port, self._attempt_timeout, self._bind)
        if uri.scheme == b"http":
            return endpoint
        contexts: TwistedObject = self._contextFactory
        # Certificates and SNI omit the root dot (RFC 6066, 3).
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
    def _headers_from_twisted_response(response: TwistedObject) -> Headers:
        """The headers, cached: Scrapy needs them twice. Twisted has checked and grouped them already."""
        headers: Headers | None = getattr(response, "_sitemap_headers", None)
        if headers is None:
            headers = response._sitemap_headers = Headers()
            if response.length != UNKNOWN_LENGTH:
                headers[b"Content-Length"] = str(response.length)
            received = response.headers.getAllRawHeaders()
            dict.update(headers, {name.title(): values for name, values in received})
        return headers

    def _cb_bodyready(self, txresponse: TwistedObject, request: Request) -> TwistedObject:
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
    """Buffer that discards what is written."""

    def write(self, data: Buffer) -> int:
        return memoryview(data).nbytes


def _discard_what_is_collected(txresponse: TwistedObject, body: Body) -> None:
    deliver = txresponse.deliverBody

    def deliver_body(reader: _ResponseReader) -> None:
        if body.headers is not None:  # the collector is enabled and received this response
            reader._bodybuf = Discarding()
        deliver(reader)

    txresponse.deliverBody = deliver_body
