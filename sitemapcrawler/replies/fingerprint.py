"""Fingerprints: features by which a page is compared with the site's answer to a made-up URL.

A fingerprint takes at most some 300 KiB, and a site has one or two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote, urlsplit
from zlib import crc32

from sitemapcrawler import urls
from sitemapcrawler.replies.page.facts import PageFacts
from sitemapcrawler.replies.page.shown_text import Shown, words

SHINGLE = 3  # words; single ones are the same all over a site, and one changed word would spoil ten long sequences
MIN_ECHO = 5  # characters; a shorter path, such as `/a`, occurs in every text
MAX_TOKENS = 4
"""Words of the markup in which two answers with the same text may differ: tokens of a session without digits."""
_INDEX = re.compile(r"/(?:index|default)\.[a-z]{3,5}\Z")
_NONCE = re.compile(r"""\bnonce\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Features that tell one page from another."""

    asked: str
    """Requested URL."""
    url: str
    """URL of the page, after redirects."""
    title: tuple[str, ...]
    about: frozenset[str]
    """Words of what the head says about the content, with canonical and language versions."""
    words: int
    """Words in the text."""
    shingles: frozenset[int]
    """CRC-32 of each word triple."""
    text: frozenset[str]
    """Words of the text, without tokens of digits and letters, which differ between responses."""
    markup: frozenset[str]
    """The same of the markup, with tags and scripts."""
    is_frame: bool
    """True if a script fills the page."""

    @classmethod
    def of_page(cls, page: PageFacts, asked: str) -> Self:
        """Compute the fingerprint of a page with status 200 that was requested as `asked`."""
        shown = page.shown or Shown()
        text = words(_without_echo(shown.text, asked))
        triples = zip(*(text[start:] for start in range(SHINGLE)), strict=False)
        shingles = frozenset(crc32(" ".join(triple).encode("utf-8", "replace")) for triple in triples)
        markup = words(_without_echo(_NONCE.sub(" ", shown.markup), asked))
        return cls(
            asked, page.url, title_of(page, asked), about(page, asked), len(text), shingles, _stable(text),
            _stable(markup), shown.is_frame,
        )  # fmt: skip

    @property
    def moved(self) -> bool:
        """True if a redirect led to a page of another name, not just to a slash or `www`."""
        return has_moved(self.asked, self.url) and self.asked.rpartition("/")[2] not in self.url

    @property
    def is_home(self) -> bool:
        return not _rest(self.asked)

    def likeness(self, other: Fingerprint) -> float:
        """Return the share of common triples, 0 to 1; 1 if neither page has any."""
        union = len(self.shingles | other.shingles)
        return len(self.shingles & other.shingles) / union if union else 1.0

    def equals(self, other: Fingerprint) -> bool:
        """True if nothing in the markup tells the two pages apart, not even a script with data."""
        return (
            (self.title, self.about, self.text) == (other.title, other.about, other.text)
            and len(self.markup ^ other.markup) <= MAX_TOKENS
        )  # fmt: skip


def title_of(page: PageFacts, asked: str) -> tuple[str, ...]:
    """Return the words of the title, without the requested URL."""
    return tuple(words(_without_echo(page.title or "", asked)))


def about(page: PageFacts, asked: str) -> frozenset[str]:
    """Return the words of what the head says about the content, without the requested URL."""
    linked = (canonical.url or canonical.href for canonical in page.canonicals)
    others = [url for url in (*linked, *(href for _, href in page.alternates)) if not same(url, asked)]
    return _stable(words(_without_echo(" ".join([page.about, *others]), asked)))


def has_moved(asked: str, url: str) -> bool:
    """True if a URL is not just another spelling of the requested one."""
    return _rest(asked) != _rest(url)


def same(one: str, other: str) -> bool:
    return urls.visit_key(one) == urls.visit_key(other)


def _stable(found: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in found if word == "0" or "0" not in word)


def _rest(url: str) -> str:
    """Return path and query, normalised like the targets of common redirects."""
    key = urls.visit_key(url)
    return _INDEX.sub("", key.removeprefix(urls.origin(url) or "")).rstrip("/")


def _without_echo(text: str, asked: str) -> str:
    """Remove the requested URL or path, which many error pages repeat."""
    try:
        path = urlsplit(asked).path
    except ValueError:
        return text
    for echo in (asked, path, unquote(path), path.rpartition("/")[2], unquote(path.rpartition("/")[2])):
        if len(echo) >= MIN_ECHO:
            text = text.replace(echo, " ")
    return text
