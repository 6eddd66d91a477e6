"""Numbers, sizes, moments and URLs as people read them."""

from __future__ import annotations

from sitemapcrawler import urls
from sitemapcrawler.findings import inert

KILO = 1000
MAX_URL = 2048
"""Characters of a URL that are shown. Source: https://www.sitemaps.org/protocol.html#locdef"""
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


def counted(number: int, noun: str, several: str | None = None) -> str:
    """`1 file`, `2,000 files`."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def size(number: int) -> str:
    """A number of bytes: `812 bytes`, `25.3 kB`, `1.2 MB`."""
    if number < 10 * KILO:
        return counted(number, "byte")
    amount, unit = number / KILO, "kB"
    for larger in ("MB", "GB"):
        if amount >= KILO:
            amount, unit = amount / KILO, larger
    return f"{amount:,.1f} {unit}"


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


def shortened(text: str, width: int, dots: str) -> str:
    """A text of at most `width` characters, cut in its middle, where URLs differ least."""
    if len(text) <= width:
        return text
    kept = max(0, width - len(dots))
    start = kept // 3
    return text[:start] + dots + text[len(text) - (kept - start) :]
