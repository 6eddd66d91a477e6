"""Which robots.txt holds for which URL: that of its scheme, host and port (RFC 9309, 2.3)."""

from __future__ import annotations

from collections.abc import Sequence

from sitemapcrawler import urls
from sitemapcrawler.robots.paths import ROBOTS_PATH


def robots_url(url: str) -> str | None:
    """URL of the robots.txt that holds for a URL; None for what is no http or https URL."""
    start = urls.origin(url)
    return None if start is None else start + ROBOTS_PATH


def by_robots(batch: Sequence[str]) -> dict[str | None, Sequence[int]]:
    """The URL of each robots.txt that holds for a batch of URLs, with the numbers of those URLs.

    Made for batches of one host, as sitemaps are; URLs that have no robots.txt stand under None.
    """
    if not batch:
        return {}
    start = _start(batch[0])
    text = "\n" + "\n".join(batch)
    if text.count("\n" + start + "/") == text.count("\n") == len(batch):
        return {robots_url(start): range(len(batch))}
    found: dict[str | None, list[int]] = {}
    known: dict[str, str | None] = {}
    for number, url in enumerate(batch):
        start = _start(url)
        if start not in known:
            known[start] = robots_url(start)
        found.setdefault(known[start], []).append(number)
    return dict(found)


def _start(url: str) -> str:
    """Scheme and authority as written, or of another text enough to tell it from those."""
    scheme, mark, rest = url.partition("://")
    for delimiter in "/?#":
        rest = rest.partition(delimiter)[0]
    return scheme + mark + rest
