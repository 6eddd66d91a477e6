"""Connections that are checked where they are made.

What a name resolves to is only known at the moment of connecting, and may be another address a second later. So the
check sits in `connectTCP`, behind the resolver: names, literals in every spelling and rebinding names all pass it.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from scrapy import Request

# Private, alike in Scrapy 2.18 and 2.19, and the only place where the endpoint of a request and the buffer of its body
# can be chosen. Without the agent nothing connects; without the buffer bodies take more memory, and none is lost.
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
from twisted.web.client import URI, Agent
from twisted.web.iweb import IAgentEndpointFactory
from zope.interface import implementer  # type: ignore[import-untyped] # ships no types

from sitemapcrawler.bodies import BODY_KEY, Body
from sitemapcrawler.head_limit import limited
from sitemapcrawler.refusals import AddressCheck, AddressRefused, Check


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

    def __init__(self, reactor: Any, host: str, check: Check) -> None:
        """`reactor`: the true one; `host`: as the URL has it."""
        self._reactor = reactor
        self._host = host
        self._check = check

    def connectTCP(self, host: str, port: int, *args: Any, **options: Any) -> Any:  # noqa: N802 - Twisted's name
        """Connect to the address `host`, or raise AddressRefused; a name is refused, it would be resolved again."""
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


@implementer(IAgentEndpointFactory)
class GuardedAgent(_ScrapyAgent):
    """Downloads one request over connections that pass the check; behind a proxy, over whatever the proxy makes."""

    def __init__(self, check: AddressCheck, **options: Any) -> None:
        """`options`: those of Scrapy's agent."""
        super().__init__(**options)
        self._check_address = check
        self.refusal: AddressRefused | None = None
        """Why nothing was connected to; None once an address was permitted."""

    def _get_agent(self, request: Request, timeout: float) -> Agent:
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
        reactor = GuardedReactor(installed_reactor(), host, self._check)
        endpoint: Any = HostnameEndpoint(reactor, host, uri.port, self._attempt_timeout, self._bind)
        if uri.scheme == b"http":
            return endpoint
        contexts: Any = self._contextFactory
        return wrapClientTLS(contexts.creatorForNetloc(uri.host, uri.port), endpoint)

    def _check(self, host: str, port: int, address: str) -> None:
        try:
            self._check_address(host, port, address)
        except AddressRefused as refusal:
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

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        body = request.meta.get(BODY_KEY)
        if isinstance(body, Body):
            body.url, body.status = request.url, int(txresponse.code)
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
