"""IP addresses that a crawl may connect to. Pure functions and tables: no DNS, no network.

Sources: the IANA registries of special-purpose addresses (iana.org/assignments/iana-ipv4-special-registry and
iana-ipv6-special-registry), copied because `ipaddress.is_private` changes between Python versions. Cloud metadata
services (Alibaba, Azure, Oracle, AWS and Google beside 169.254.169.254) are in these ranges, except for Azure's public
address (learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NoReturn

from scrapy.crawler import Crawler

from sitemapcrawler.download.shared import Named

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Authority = tuple[str, int]
"""Host and port; the host is normalised by `authority`."""

NETWORKS_SETTING = "SITEMAP_ALLOW_NETWORKS"

METADATA = "metadata"
REFUSED_IPV4: dict[str, str] = {
    "100.100.100.200/32": METADATA,
    "168.63.129.16/32": METADATA,
    "192.0.0.192/32": METADATA,
    "0.0.0.0/8": "unspecified",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared (carrier-grade NAT)",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "reserved",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
"""{CIDR network: kind of address}"""

REFUSED_IPV6: dict[str, str] = {
    "fd00:ec2::254/128": METADATA,
    "fd20:ce::254/128": METADATA,
    "::/128": "unspecified",
    "::1/128": "loopback",
    "fc00::/7": "unique-local",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
    "2001::/23": "reserved",
    "2001:db8::/32": "documentation",
    "3fff::/20": "documentation",
}
"""{CIDR network: kind of address}. Addresses outside `GLOBAL_UNICAST` are refused as well."""

NO_HOME = frozenset(("unspecified", "link-local", "multicast", METADATA))
"""Kinds of address refused even for a named host: the owner of a name controls what it resolves to."""
MAX_PUBLIC = 10_000
"""Limit on remembered named hosts with a public address."""
GLOBAL_UNICAST = IPv6Network("2000::/3")  # RFC 4291, 2.4, and IANA's ipv6-address-space: nothing else is allocated
IPV4_COMPATIBLE = IPv6Network("::/96")  # RFC 4291, 2.5.5.1
NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052, 2.1

_REFUSED: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), kind) for network, kind in (REFUSED_IPV4 | REFUSED_IPV6).items()
)


def parse_address(text: str) -> Address | None:
    """Parse an IP address, with or without brackets; None for names and short forms such as `127.1` or `0x7f.1`."""
    try:
        return ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def authority(host: str, port: int) -> Authority:
    """Normalised host and port: lower case, no brackets, no trailing dot."""
    bare = host.lower().removeprefix("[").removesuffix("]").removesuffix(".")
    address = parse_address(bare)
    return (bare if address is None else str(address), port)


def embedded(address: Address) -> tuple[Address, ...]:
    """The IPv4 addresses embedded in an IPv6 address, otherwise the address itself."""
    if isinstance(address, IPv4Address):
        return (address,)
    if address.teredo is not None:
        return address.teredo
    inside = address.ipv4_mapped or address.sixtofour
    if inside is None and (address in NAT64 or (address in IPV4_COMPATIBLE and int(address) > 1)):
        inside = IPv4Address(int(address) & 0xFFFFFFFF)
    return (address,) if inside is None else (inside,)


def why_refused(ip: str | Address) -> str | None:
    """The kind of a non-public address ("loopback", "private", ...), "unreadable" if invalid; None if it is public."""
    address = parse_address(ip) if isinstance(ip, str) else ip
    if address is None:
        return "unreadable"
    return next((kind for each in embedded(address) if (kind := _kind(each))), None)


def is_public(ip: str | Address) -> bool:
    return why_refused(ip) is None


def _kind(address: Address) -> str | None:
    named = next((kind for network, kind in _REFUSED if address in network), None)
    if named is None and isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return "reserved"
    return named


class AddressGuard:
    """Decides which connections are allowed: to public addresses, and to what the user named or allowed."""

    def __init__(self, named: Collection[Authority] = (), networks: Iterable[str] = ()) -> None:
        """`named`: authorities the user named, normalised; may grow. `networks`: CIDR networks. Raises ValueError for
        an invalid network."""
        self._named = named
        self._public: set[str] = set()
        self._networks = tuple(_network(text) for text in networks)

    def is_named(self, host: str, port: int) -> bool:
        """True if the user named this authority."""
        return authority(host, port) in self._named

    def allows(self, host: str, port: int, ip: str) -> bool:
        """True if a connection to `ip`, resolved from `host`, is allowed on `port`.
        A name seen at a public address may not resolve to a private one later, as in DNS rebinding."""
        if is_public(ip):
            if len(self._public) < MAX_PUBLIC and self.is_named(host, port):
                self._public.add(authority(host, port)[0])
            return True
        return self.in_networks(ip) or (self.is_named(host, port) and self._may_be_home(host, port, ip))

    def _may_be_home(self, host: str, port: int, ip: str) -> bool:
        name, _ = authority(host, port)
        if parse_address(name) is not None:
            return True
        return why_refused(ip) not in NO_HOME and name not in self._public

    def in_networks(self, ip: str) -> bool:
        """True if `ip` is in a network that the user allowed."""
        address = parse_address(ip)
        if address is None:
            return False
        return self._covers(address) or all(is_public(each) or self._covers(each) for each in embedded(address))

    def _covers(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def _network(text: str) -> Network:
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise ValueError(f"{NETWORKS_SETTING}: {text!r} is not a network such as 10.0.0.0/8 ({error})") from None


COUNT = "sitemap/addresses_refused"
"""Stat: number of refused requests and connection attempts."""
HOME_NAMES = re.compile(
    r"(?:.*\.)?(?:localhost|localdomain|local|internal|intranet|home\.arpa)\.?|metadata(?:\.goog)?\.?|.*[^a-z0-9._\[\]:-].*",
    re.IGNORECASE | re.DOTALL,
)
"""Names that resolve to a resolver's own machine or network (RFC 6761, RFC 6762, RFC 8375; ICANN for `internal`),
including `metadata.google.internal`, and invalid names, which a proxy may interpret in any way."""
MAX_ALLOWED = 10_000
"""Limit on remembered allowed addresses; they stay allowed for the crawl."""


class AddressForbidden(Exception):
    """A connection to the address of a host is refused. The one-line message says how to allow it."""


class AddressCheck:
    """Refuses non-public addresses to a crawl.

    Exceptions: `Named.authorities` (may grow) and SITEMAP_ALLOW_NETWORKS.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ValueError for an invalid network in SITEMAP_ALLOW_NETWORKS."""
        self._crawler = crawler
        self._allowed: set[tuple[str, int, str]] = set()
        self._guard = AddressGuard(Named.of(crawler).authorities, crawler.settings.getlist(NETWORKS_SETTING))

    def __call__(self, host: str, port: int, address: str) -> None:
        """Raise AddressForbidden if `host` must not be reached on `port` at `address`."""
        if (host, port, address) in self._allowed:
            return
        if not self._guard.allows(host, port, address):
            self._refuse(host, port, f"is at {address}, which is not public ({why_refused(address)})")
        if len(self._allowed) < MAX_ALLOWED:
            self._allowed.add((host, port, address))

    def usable(self, host: str, port: int, addresses: Sequence[str]) -> list[str]:
        """The addresses of `host` that may be connected to. Raises AddressForbidden if it has only others.

        A name with both public and non-public addresses is refused even if the user named it: its name server could
        choose which one is reached. SITEMAP_ALLOW_NETWORKS allows such a name.
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
            except AddressForbidden as error:
                refusal = error
        if refusal is not None and not usable:
            raise refusal
        return usable

    def literal(self, host: str, port: int) -> None:
        """Raise AddressForbidden for a refused address written in the URL, in any spelling; names pass."""
        address = spelt(host)
        if address is not None:
            self(host, port, address)

    def behind_proxy(self, host: str, port: int) -> None:
        """Check a host behind a proxy: like `literal`, and refuses names that resolve to the proxy's own network."""
        self.literal(host, port)
        if HOME_NAMES.fullmatch(host) and not self._guard.is_named(host, port):
            self._refuse(host, port, "is a name of a machine or its network, which is not public")

    def _refuse(self, host: str, port: int, what: str, naming_helps: bool = True) -> NoReturn:
        self._crawler.stats.inc_value(COUNT)
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        is_named = self._guard.is_named(host, port)
        named = f"name {place} in the arguments, or " if naming_helps and not is_named else ""
        raise AddressForbidden(f"{place} {what}: {named}allow its network with {NETWORKS_SETTING}")


@lru_cache(maxsize=1024)
def spelt(host: str) -> str | None:
    """The address that a URL's host spells, including legacy forms (`127.1`, `0x7f.1`, `2130706433`) and a root dot.
    None for a name."""
    if parse_address(host) is not None:
        return host
    host = host.removesuffix(".")
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, ValueError):
        return None
