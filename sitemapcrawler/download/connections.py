"""Checked connections of Scrapy's handler: each one, whether for a new or a repeated request, is bound to its download.

A pool calls `connect` of an endpoint whenever it needs a connection, also later, when a server has closed a kept one.
Twisted's endpoints resolve the host in that call, literals too, and connect to exactly the addresses they get. So the
check is in the resolver, and `CheckedEndpoint` tells it for which download the call is.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Headers
from twisted.internet.defer import fail
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator, IStreamClientEndpoint
from twisted.web.client import URI, HTTPConnectionPool
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer  # type: ignore[import-untyped] # ships no types

from sitemapcrawler.download.addresses import AddressCheck, AddressForbidden
from sitemapcrawler.download.bodies import BODY_KEY, Body
from sitemapcrawler.download.private import keep_no_body
from sitemapcrawler.download.resolver import GuardedResolver, Lookup, TwistedObject
from sitemapcrawler.download.shared import too_much
from sitemapcrawler.replies.kinds import TOO_MUCH

MAX_IDLE = 256
"""Connections of a pool to be made before those that are idle are closed."""
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


def installed_reactor() -> TwistedObject:
    """The running reactor. Imported late: importing it before Scrapy installs its own would install another."""
    from twisted.internet import reactor

    return reactor


def host_and_port(url: str) -> tuple[str, int]:
    """Host and port that Twisted connects to for a URL; another parser could find a different host."""
    uri: TwistedObject = URI
    parsed = uri.fromBytes(url.encode("ascii"))
    return parsed.host.decode("ascii"), parsed.port


class Download:
    """One request on its way through a pool: what it may connect to, and where its body goes."""

    def __init__(self, request: Request, crawler: Crawler, check: AddressCheck, resolver: TwistedObject) -> None:
        """`resolver`: IHostnameResolver, or None for that of the process."""
        self._request = request
        self._crawler = crawler
        self._check = check
        self._resolver = resolver
        self._connection: TwistedObject = None
        self.is_direct = not request.meta.get("proxy")
        """False behind a proxy, which resolves names itself."""
        self.refusal: AddressForbidden | None = None
        """Why no connection was made."""

    def lookup(self, host: str, port: int) -> Lookup:
        """The lookup of a new connection. Raises AddressForbidden for a refused address as host, in any spelling."""

        def usable(addresses: Sequence[str]) -> Sequence[str]:
            self.refusal = None
            try:
                return self._check.usable(host, port, addresses)
            except AddressForbidden as refusal:
                self.refusal = refusal
                return ()

        self._check.literal(host, port)
        return Lookup(usable, self._resolver)

    def over(self, connection: TwistedObject) -> Download:
        """Use this connection."""
        self._connection = connection
        return self

    def request(self, sent: object) -> TwistedObject:
        """Send the request over the connection; returns a Deferred of Twisted's response."""
        return self._connection.request(sent).addCallback(self._begin)

    def _begin(self, response: TwistedObject) -> object:
        """Announce a status that asks for a pause, and have the body collected, if it is wanted so."""
        request, status = self._request, int(response.code)
        if status in TOO_MUCH:
            headers = Headers(dict(response.headers.getAllRawHeaders()))
            self._crawler.signals.send_catch_log(too_much, request=request, status=status, headers=headers)
        body = request.meta.get(BODY_KEY)
        if isinstance(body, Body):
            body.status = status
            deliver = response.deliverBody

            def deliver_body(reader: TwistedObject) -> None:
                if body.headers is not None:  # the collector is enabled and received this response
                    keep_no_body(reader)
                deliver(reader)

            response.deliverBody = deliver_body
        return response


STARTED: ContextVar[list[Download]] = ContextVar("started")
"""The download that a handler starts, until its pool takes it. It is not left there, since the event loop keeps the
context in which a connection was made as long as the connection is open."""


class GuardedPool(HTTPConnectionPool):
    """Connection pool of one handler, which passes each connection its download. Closes idle connections at times."""

    def __init__(self) -> None:
        super().__init__(installed_reactor(), persistent=True)  # type: ignore[no-untyped-call]  # Twisted has no types
        self._unclosed = 0
        self._max_idle = max_idle()

    def getConnection(self, key: TwistedObject, endpoint: object) -> TwistedObject:  # noqa: N802 - Twisted's name
        """A Deferred of a kept or new connection for the download in `STARTED`. Raises LookupError without one, and
        AddressForbidden for a refused address in the URL."""
        download = STARTED.get().pop()
        if download.is_direct:
            endpoint = CheckedEndpoint(endpoint, download, key, self)
        return super().getConnection(key, cast("IStreamClientEndpoint", endpoint)).addCallback(download.over)

    def count(self) -> None:
        """Count a new connection. Closes the idle ones once there may be too many: Twisted limits those of one host."""
        self._unclosed += 1
        if self._unclosed > self._max_idle:
            self._unclosed = 0
            self.closeCachedConnections()  # type: ignore[no-untyped-call]  # as above


@implementer(IStreamClientEndpoint)
class CheckedEndpoint:
    """Endpoint whose host is looked up for one download."""

    def __init__(self, endpoint: TwistedObject, download: Download, key: TwistedObject, pool: GuardedPool) -> None:
        """`key`: scheme, host, port, and what else tells the connections of a pool apart."""
        self._endpoint = endpoint
        self._download = download
        self._key = key
        self._pool = pool

    def connect(self, protocol_factory: object) -> TwistedObject:
        """A Deferred of a connection to an address that was checked. Fails if the endpoint would look up its host
        later, when that is not checked. Raises AddressForbidden for a refused address in the URL."""
        _, host, port, *_ = self._key
        lookup = self._download.lookup(host.decode("ascii"), port)
        self._pool.count()
        with GuardedResolver.of(installed_reactor()).serving(lookup):
            connecting = self._endpoint.connect(protocol_factory)
        if not lookup.began and not connecting.called:
            connecting.addErrback(lambda _: None).cancel()
            return fail(AddressForbidden("the address of a connection was not checked"))
        return connecting


@implementer(IPolicyForHTTPS)
class LazyPolicy:
    """TLS policy that prepares a connection when it is made: most requests use a kept one."""

    def __init__(self, policy: TwistedObject) -> None:
        self._policy = policy

    def creatorForNetloc(self, hostname: bytes, port: int) -> LazyCreator:  # noqa: N802 - Twisted's name
        """Certificates and SNI omit the root dot (RFC 6066, 3)."""
        return LazyCreator(self._policy, hostname.removesuffix(b"."), port)


@implementer(IOpenSSLClientConnectionCreator)
class LazyCreator:
    """Makes TLS connections to one host."""

    def __init__(self, policy: TwistedObject, hostname: bytes, port: int) -> None:
        self._policy = policy
        self._place = (hostname, port)

    def clientConnectionForTLS(self, protocol: object) -> object:  # noqa: N802 - Twisted's name
        return self._policy.creatorForNetloc(*self._place).clientConnectionForTLS(protocol)
