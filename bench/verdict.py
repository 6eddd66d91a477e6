"""Results of a reader, compared with the expected ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit, urlunsplit

from bench.hard import SITE, Input

SAFE = "%/:=&?~#+!$,;'@()*[]"
"""ASCII characters that stay unescaped in compared URLs."""


@dataclass
class Found:
    """Result of a reader for one input."""

    version: str = ""
    pages: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    """Sitemaps that its indexes list."""
    error: str = ""
    """Exception that ended it; for Scrapy's spider, those of its callbacks."""


@dataclass(frozen=True)
class Score:
    """Score of a reader, in distinct URLs."""

    right: int
    wrong: int
    lost: int
    error: str

    @property
    def verdict(self) -> str:
        """Verdict in one word; an exception that cost nothing is ignored."""
        if self.error and (self.lost or not self.right):
            return "crash"
        return "wrong" if self.wrong else "lost" if self.lost else "right"

    def __str__(self) -> str:
        counts = f"{self.right}"
        counts += f", {self.wrong} wrong" if self.wrong else ""
        counts += f", {self.lost} lost" if self.lost else ""
        return f"{counts} ({self.error})" if self.verdict == "crash" else counts


def key(url: object) -> str:
    """Normalise a URL for comparison: characters beyond ASCII as UTF-8 in %XX, scheme and host in lower case."""
    text = quote(str(url), safe=SAFE)
    try:
        parts = urlsplit(text)
    except ValueError:
        return text
    if text.strip() != text:
        return text
    fragment = parts.fragment.replace("#", "%23")
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path, parts.query, fragment))


def score(given: Input, origin: str, found: Found) -> Score:
    """Compare the found URLs with the expected ones."""
    there = {key(url.replace(SITE, origin)) for url in (given.right if given.children is None else given.children)}
    own = {key(origin + path) for path in given.answers}
    listed = {key(url) for url in (found.pages if given.children is None else found.children)}
    listed -= own if given.children is not None else set()
    return Score(len(listed & there), len(listed - there), len(there - listed), found.error)
