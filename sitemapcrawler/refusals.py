"""Where a request must not go: the check that every connection of every download handler passes."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from functools import lru_cache
from typing import NoReturn

from scrapy.crawler import Crawler

from sitemapcrawler.addresses import NETWORKS_SETTING, AddressGuard, authority, parse_address, why_refused

Check = Callable[[str, int, str], None]
"""Raises AddressRefused where a host (as in the URL) must not be reached on a port at an address."""
COUNT = "sitemap/addresses_refused"
"""Stat: requests, or attempts at one of a host's addresses, that were not made."""
HOME_NAMES = re.compile(
    r"(?:.*\.)?(?:localhost|localdomain|local|internal|intranet|home\.arpa)\.?|metadata(?:\.goog)?\.?|.*[^a-z0-9._\[\]:-].*",
    re.IGNORECASE | re.DOTALL,
)
"""Names that every resolver takes for its own machine or network (RFC 6761, RFC 6762, RFC 8375; ICANN for `internal`),
`metadata.google.internal` among them; and what is no name, of which nobody knows what a proxy makes."""
MAX_ALLOWED = 10_000
"""Addresses that are known to be allowed, at most: what is allowed stays so for the crawl."""


class AddressRefused(Exception):
    """No connection is made to the address of a host. One line, which says how it could be allowed."""


class AddressCheck:
    """The `Check` of a crawl: no address passes that is not public, unless the spider's `named_authorities` (a set of
    `addresses.authority` pairs, which may grow) or SITEMAP_ALLOW_NETWORKS allow it.
    """

    def __init__(self, crawler: Crawler) -> None:
        """ValueError for a bad network in SITEMAP_ALLOW_NETWORKS."""
        self._crawler = crawler
        self._allowed: set[tuple[str, int, str]] = set()
        self._guard = AddressGuard(networks=crawler.settings.getlist(NETWORKS_SETTING))

    def __call__(self, host: str, port: int, address: str) -> None:
        """Raise AddressRefused where `host` must not be reached on `port` at `address`."""
        if (host, port, address) in self._allowed:
            return
        self._learn(host, port)
        if not self._guard.allows(host, port, address):
            self._refuse(host, port, f"is at {address}, which is not public ({why_refused(address)})")
        if len(self._allowed) < MAX_ALLOWED:
            self._allowed.add((host, port, address))

    def literal(self, host: str, port: int) -> None:
        """Raise AddressRefused for an address that stands in the URL itself, in any spelling; names pass."""
        address = spelt(host)
        if address is not None:
            self(host, port, address)

    def behind_proxy(self, host: str, port: int) -> None:
        """The same, and for the names that lead home wherever they are resolved, since a proxy does that."""
        self.literal(host, port)
        self._learn(host, port)
        if HOME_NAMES.fullmatch(host) and not self._guard.is_named(host, port):
            self._refuse(host, port, "is a name of a machine or its network, which is not public")

    def _learn(self, host: str, port: int) -> None:
        if authority(host, port) in getattr(self._crawler.spider, "named_authorities", ()):
            self._guard.name((host, port))

    def _refuse(self, host: str, port: int, what: str) -> NoReturn:
        self._crawler.stats.inc_value(COUNT)
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        named = "" if self._guard.is_named(host, port) else f"name {place} in the arguments, or "
        raise AddressRefused(f"{place} {what}: {named}allow its network with {NETWORKS_SETTING}")


@lru_cache(maxsize=1024)
def spelt(host: str) -> str | None:
    """The address that a host of a URL spells: in full, or in the ways of old that connecting understands (`127.1`,
    `0x7f.1`, `2130706433`), with or without a root dot; None for a name."""
    if parse_address(host) is not None:
        return host
    host = host.removesuffix(".")
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, ValueError):
        return None
