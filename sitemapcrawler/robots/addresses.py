"""The address ranges that operators publish for their crawlers, read from files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_address, ip_network
from pathlib import Path, PurePath

from sitemapcrawler.robots.agents import AGENTS, Agent

Network = IPv4Network | IPv6Network
PREFIXES = ("ipv4Prefix", "ipv6Prefix")
"""Members of the objects in `prefixes`. Source: https://developers.google.com/static/crawling/ipranges/common-crawlers.json"""
COMMENT = "#"


def crawlers_of(file_name: str) -> list[Agent]:
    """The crawlers whose ranges a file has by its name: that of the crawler, or of the operator's file."""
    name = PurePath(file_name)
    return [
        agent
        for agent in AGENTS
        if agent.name.lower() == name.stem.lower() or (agent.addresses and PurePath(agent.addresses).name == name.name)
    ]


def read_ranges(paths: Iterable[str]) -> Ranges:
    """Read files of address ranges. Raises ValueError, one line, if one cannot be used."""
    found: dict[str, list[Network]] = {}
    for path in map(Path, paths):
        if not (crawlers := crawlers_of(path.name)):
            raise ValueError(
                f"{path.name} is not named after a crawler: use its name (Googlebot.json), or its operator's file name"
            )
        try:
            networks = parse_ranges(path.read_text("utf-8-sig"))
        except OSError as error:
            raise ValueError(f"{path.name} cannot be read, {error.strerror or error}") from None
        except ValueError as error:
            raise ValueError(f"{path.name} {'is not UTF-8' if isinstance(error, UnicodeError) else error}") from None
        for crawler in crawlers:
            found.setdefault(crawler.name.lower(), []).extend(networks)
    return Ranges(found)


def parse_ranges(text: str) -> list[Network]:
    """Parse a file of an operator, or a text with one range or address per line. Raises ValueError, one line."""
    found = list(_of_json(text) if text.lstrip().startswith("{") else map(_network, _lines(text)))
    if not found:
        raise ValueError("has no address ranges")
    return found


def _of_json(text: str) -> Iterator[Network]:
    try:
        prefixes = json.loads(text)["prefixes"]
        values = [prefix[key] for prefix in prefixes for key in PREFIXES if key in prefix]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError('is not a JSON object with "prefixes"') from None
    yield from map(_network, values)


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if word := line.partition(COMMENT)[0].strip():
            yield word


def _network(text: object) -> Network:
    try:
        return ip_network(text if isinstance(text, str) else "", strict=False)
    except ValueError:
        raise ValueError(f"has {str(text)[:50]!r}, which is not an address range") from None


class Ranges:
    """Tells by its address whether a request comes from the crawler that it names."""

    def __init__(self, networks: Mapping[str, list[Network]]) -> None:
        """`networks`: ranges by crawler, its name in lower case."""
        self._networks = networks
        self.crawlers = list(networks)
        """Crawlers whose ranges are known."""

    @cached_property
    def _collapsed(self) -> Mapping[str, tuple[list[Network], list[Network]]]:
        return {
            name: (
                [*collapse_addresses(one for one in networks if isinstance(one, IPv4Network))],
                [*collapse_addresses(one for one in networks if isinstance(one, IPv6Network))],
            )
            for name, networks in self._networks.items()
        }

    def has(self, crawler: str, address: str | None) -> bool | None:
        """Whether an address, the first of several, is one of the crawler's; None if its ranges are unknown. `crawler`:
        in lower case."""
        known = self._collapsed.get(crawler)
        if known is None:
            return None
        try:
            parsed = ip_address(_without_port((address or "").partition(",")[0]))
        except ValueError:
            return False
        parsed = getattr(parsed, "ipv4_mapped", None) or parsed
        return any(parsed in network for network in known[parsed.version == 6])


def _without_port(address: str) -> str:
    """`192.0.2.1` of `192.0.2.1:443`, `2001:db8::1` of `[2001:db8::1]:443`."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address
