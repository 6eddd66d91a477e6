"""Looks up the addresses of hosts, many at once; the body of a Ray task."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

HOSTS = 1000
"""Hosts of one task."""
AT_ONCE = 100
"""Look-ups that one task runs at once. A name server that does not answer takes some ten seconds of each: timeout and
attempts of resolv.conf(5)."""


def addresses_of(hosts: Sequence[str]) -> list[tuple[str, ...]]:
    """Sorted addresses of each host; none if it cannot be looked up, which its crawl will report."""
    return asyncio.run(_look_up(hosts))


async def _look_up(hosts: Sequence[str]) -> list[tuple[str, ...]]:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(AT_ONCE))

    async def one(host: str) -> tuple[str, ...]:
        try:
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):  # the latter if a label is too long
            return ()
        return tuple(sorted({str(address[4][0]).partition("%")[0] for address in found}))

    return await asyncio.gather(*map(one, hosts))
