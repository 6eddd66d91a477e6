"""Formats, moments and URLs as people read them."""

from __future__ import annotations

from sitemapcrawler import urls
from sitemapcrawler.findings import MAX_URL, inert

FORMATS = {
    "xml-urlset": "urlset",
    "xml-index": "index",
    "rss": "RSS feed",
    "atom": "Atom feed",
    "text": "text",
    "html": "HTML page",
    "unknown": "unknown",
}
"""Formats of files."""
MIDNIGHT = "T00:00:00Z"


def moment(text: str) -> str:
    """`2024-05-01T10:00:00Z` as `2024-05-01 10:00`, midnight as its day."""
    if text.endswith(MIDNIGHT):
        return text.removesuffix(MIDNIGHT)
    return text[: len("2024-05-01T10:00")].replace("T", " ")


def day(text: str | None) -> str:
    """The day of a moment; empty for none."""
    return (text or "")[: len("2024-05-01")]


def place(url: str, parent: str | None = None) -> str:
    """A URL for the eye: inert, and without the origin that it shares with the file that names it."""
    origin = urls.origin(parent) if parent else None
    if origin is not None and urls.origin(url) == origin:
        rest = url.partition("://")[2]
        at = rest.find("/")
        return inert(rest[at:] if at >= 0 else "/", MAX_URL)
    return inert(url, MAX_URL)
