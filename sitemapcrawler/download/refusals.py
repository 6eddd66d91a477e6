"""Where a request must not go: the check that every connection of every download handler passes."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NoReturn

from scrapy.crawler import Crawler

from sitemapcrawler.download.addresses import (
    NETWORKS_SETTING,
    AddressGuard,
    authority,
    is_public,
    parse_address,
    why_refused,
)

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

    def usable(self, host: str, port: int, addresses: Sequence[str]) -> list[str]:
        """Those of all addresses of `host` that may be connected to. AddressRefused where there are some and none may.

        A name with a public address and one that is not is refused as a whole, in any order and even where the user
        named it: which of them is reached would be up to its name server. SITEMAP_ALLOW_NETWORKS allows such a name.
        """
        home = [address for address in addresses if not is_public(address)]
        if len(home) < len(addresses):
            refused = [address for address in home if not self._guard.in_networks(address)]
            if refused:
                what = f"is at {refused[0]}, which is not public ({why_refused(refused[0])}), and at public addresses"
                self._refuse(host, port, what, naming_helps=False)
        usable, refusal = [], None
        for address in addresses:
            try:
                self(host, port, address)
                usable.append(address)
            except AddressRefused as error:
                refusal = error
        if refusal is not None and not usable:
            raise refusal
        return usable

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

    def _refuse(self, host: str, port: int, what: str, naming_helps: bool = True) -> NoReturn:
        self._crawler.stats.inc_value(COUNT)
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        is_named = self._guard.is_named(host, port)
        named = f"name {place} in the arguments, or " if naming_helps and not is_named else ""
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
