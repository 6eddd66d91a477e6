"""Resolvers: one for the process, which refuses addresses, and one for each crawl, with its DNS settings.

Scrapy's default resolver returns only IPv4 addresses, and its other one has no timeout. Both are chosen once per
process, before any spider is known, so each crawl has a `DualStackResolver` of its own, with Scrapy's DNS_TIMEOUT,
DNSCACHE_ENABLED and DNSCACHE_SIZE. A resolver set by the user (TWISTED_DNS_RESOLVER) takes precedence.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.datatypes import LocalCache
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver, IHostResolution, IResolutionReceiver
from twisted.internet.threads import deferToThreadPool
from twisted.python.failure import Failure
from zope.interface import implementer  # type: ignore[import-untyped] # ships no types

logger = logging.getLogger(__name__)

RESOLVER_SETTINGS = ("TWISTED_DNS_RESOLVER", "DNS_RESOLVER")
"""Settings that name a resolver; the second is Scrapy's old name for the first."""
FAMILIES = {socket.AF_INET: IPv4Address, socket.AF_INET6: IPv6Address}

TwistedObject = Any  # Any: its interfaces state no types that mypy reads
Address = IPv4Address | IPv6Address
Choose = Callable[[Sequence[str]], Sequence[str]]
"""Selects the addresses of a host that may be connected to."""


def is_chosen(settings: BaseSettings) -> bool:
    """True if the user set a resolver."""
    return any((settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"] for name in RESOLVER_SETTINGS)


@implementer(IHostResolution)
class Resolution:
    """One lookup. It cannot be cancelled, because getaddrinfo cannot."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Do nothing; the result is ignored."""


@implementer(IHostnameResolver)
class DualStackResolver:
    """Resolves names with the system's getaddrinfo in reactor threads: IPv4 and IPv6, in the system's order.

    A name that is not resolved within DNS_TIMEOUT seconds has no addresses. Resolved names are cached for the crawl.
    """

    def __init__(self, reactor: TwistedObject, settings: BaseSettings) -> None:
        self._reactor = reactor
        self._timeout = settings.getfloat("DNS_TIMEOUT")
        size = settings.getint("DNSCACHE_SIZE") if settings.getbool("DNSCACHE_ENABLED") else 0
        self._cache: LocalCache[str, list[Address]] | None = LocalCache(size) if size > 0 else None

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: TwistedObject,  # noqa: N803 - Twisted's name
        hostName: str,  # noqa: N803 - the same
        portNumber: int = 0,  # noqa: N803 - the same
        addressTypes: Sequence[type[object]] | None = None,  # noqa: N803 - the same
        transportSemantics: str = "TCP",  # noqa: N803 - the same
    ) -> Resolution:
        """Pass the addresses, if any, to the receiver. Ignores the arguments: resolves for TCP over any family."""
        resolution = Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        cached = self._cache.get(hostName) if self._cache is not None else None
        if cached is not None:
            _tell(resolutionReceiver, cached, portNumber)
            return resolution
        lookup = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), addresses_of, hostName)
        lookup.addCallback(self._keep, hostName)
        lookup.addTimeout(self._timeout, self._reactor)
        lookup.addErrback(_unresolved, hostName)
        lookup.addCallback(lambda found: _tell(resolutionReceiver, found, portNumber))
        return resolution

    def _keep(self, found: list[Address], name: str) -> list[Address]:
        if self._cache is not None:
            self._cache[name] = found
        return found


def addresses_of(host: str) -> list[Address]:
    """Addresses of a host in the order to try them. Raises OSError, or UnicodeError for an invalid name."""
    found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    return [FAMILIES[family]("TCP", *place) for family, _, _, _, place in found if family in FAMILIES]


def _unresolved(failure: Failure, name: str) -> list[Address]:
    logger.debug("%s is not resolved: %s", name, failure.value or failure.type)
    return []


def _tell(receiver: TwistedObject, addresses: Sequence[Address], port: int) -> None:
    for address in addresses:
        receiver.addressResolved(type(address)("TCP", address.host, port))
    receiver.resolutionComplete()


class Lookup:
    """The lookup of one connection."""

    def __init__(self, choose: Choose, resolver: TwistedObject = None) -> None:
        """`resolver`: IHostnameResolver, by default that of the process."""
        self.choose = choose
        self.resolver = resolver
        self.began = False
        """True once a resolver was called."""


@implementer(IHostnameResolver)
class GuardedResolver:
    """The resolver of a process that has crawls: chooses addresses for the lookups of connections that crawls make.
    It passes those of others, and of connections to proxies, on."""

    def __init__(self, resolver: TwistedObject) -> None:
        """`resolver`: the IHostnameResolver of the process before."""
        self._resolver = resolver
        self._serving: Lookup | None = None

    @classmethod
    def of(cls, reactor: TwistedObject) -> GuardedResolver:
        """That of a reactor. Installed around its own when a connection is made, since Scrapy installs one of its own
        when a process starts, which may be after its first crawl."""
        if not isinstance(reactor.nameResolver, cls):
            reactor.installNameResolver(cls(reactor.nameResolver))
        installed = reactor.nameResolver
        assert isinstance(installed, cls)
        return installed

    @contextmanager
    def serving(self, lookup: Lookup) -> Iterator[None]:
        """Context of a call that looks a host up for a crawl. It must not wait: other lookups could come in between."""
        self._serving = lookup
        try:
            yield
        finally:
            self._serving = None

    def resolveHostName(self, resolutionReceiver: object, *args: object, **options: object) -> object:  # noqa: N802, N803 - Twisted's names
        """Pass the addresses to the receiver; for a crawl, the chosen ones, once all are known."""
        lookup = self._serving
        if lookup is None:
            return self._resolver.resolveHostName(resolutionReceiver, *args, **options)
        lookup.began = True
        resolver = lookup.resolver or self._resolver
        return resolver.resolveHostName(_Chosen(resolutionReceiver, lookup.choose), *args, **options)


@implementer(IResolutionReceiver)
class _Chosen:
    def __init__(self, receiver: TwistedObject, choose: Choose) -> None:
        self._receiver = receiver
        self._choose = choose
        self._found: list[TwistedObject] = []

    def resolutionBegan(self, resolution: object) -> None:  # noqa: N802 - Twisted's name
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: object) -> None:  # noqa: N802 - Twisted's name
        self._found.append(address)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        chosen = set(self._choose([address.host for address in self._found]))
        for address in self._found:
            if address.host in chosen:
                self._receiver.addressResolved(address)
        self._receiver.resolutionComplete()
