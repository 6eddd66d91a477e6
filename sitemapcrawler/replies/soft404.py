"""Soft-404 detection: compares a page with the site's answer to a made-up path.

Source: https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors

The witness is the site's answer to a path that cannot exist (`nonsense_url`). A page equal to it is a soft 404. Error
phrases alone are not enough: they only support other evidence.

False positives, and how they are avoided:

- A site that answers every path alike: pages rendered by scripts, a login, a consent or bot wall. Its home page then
  resembles the answer to nonsense, which is not used (`witness`). If the server renders only the home page, the other
  pages are empty frames: a page of fewer than `MIN_WORDS` words must also say that nothing was found.
- Pages of one template with little text of their own: titles must be equal, and nine in ten word triples.
- The requested path repeated in the page, clocks, counters: the path is removed, and all digits are equal.
- An article about the error 404: the phrase must be a whole part of the title or heading, and the page must be thin,
  have noindex, or resemble the witness.
- Redirects: a redirect to where nonsense leads, usually the home page, is a soft 404. It is not if the home page
  itself redirects there, or if the target is another spelling of the URL (`/index.html`, http, www).

A fingerprint takes at most some 100 KiB, and a site has one or two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self
from urllib.parse import unquote, urljoin, urlsplit
from zlib import crc32

from sitemapcrawler import urls
from sitemapcrawler.replies.page.facts import PageFacts
from sitemapcrawler.replies.page.text import heading, visible, words
from sitemapcrawler.replies.phrases import says_not_found

ALIKE = 0.9
"""Share of common word triples (Jaccard) from which two pages count as equal."""
RESEMBLING = 0.5
"""The same for a page that says that nothing was found."""
MIN_WORDS = 30
"""Words of text below which a page may be a frame for scripts to fill. Header and footer of a real page have more."""
THIN = 100
"""Words below which a page that says that nothing was found has no other content."""
SHINGLE = 3  # words; single ones are the same all over a site, and one changed word would spoil ten long sequences
MIN_ECHO = 5  # characters; a shorter path, such as `/a`, occurs in every text
_INDEX = re.compile(r"/(?:index|default)\.[a-z]{3,5}\Z")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Features that tell one page from another."""

    asked: str
    """Requested URL."""
    url: str
    """URL of the page, after redirects."""
    title: tuple[str, ...]
    words: int
    """Words in the sample."""
    shingles: frozenset[int]
    """CRC-32 of each word triple."""

    @classmethod
    def of_page(cls, page: PageFacts, asked: str) -> Self:
        """Compute the fingerprint of a page with status 200, read with `sample`, that was requested as `asked`."""
        text = words(_without_echo(visible(page.sample), asked))
        triples = zip(*(text[start:] for start in range(SHINGLE)), strict=False)
        shingles = frozenset(crc32(" ".join(triple).encode("utf-8", "replace")) for triple in triples)
        return cls(asked, page.url, _title(page, asked), len(text), shingles)

    @property
    def moved(self) -> bool:
        """True if a redirect led to a page of another name, not just to a slash or `www`."""
        return _moved(self.asked, self.url) and self.asked.rpartition("/")[2] not in self.url

    def likeness(self, other: Fingerprint) -> float:
        """Return the share of common triples, 0 to 1; 1 if neither page has any."""
        union = len(self.shingles | other.shingles)
        return len(self.shingles & other.shingles) / union if union else 1.0


def nonsense_url(url: str, seed: str) -> str:
    """Return a URL beside `url` that cannot exist: one word of letters, reproducible by `seed`."""
    letters = blake2b(f"{seed} {url}".encode("utf-8", "replace"), digest_size=10).hexdigest()
    return urljoin(url, letters.translate(str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")))


def witness(nonsense: Fingerprint, home: Fingerprint | None) -> Fingerprint | None:
    """Return the answer to nonsense if it is usable, or None if the home page is the same or unknown."""
    if home is None:
        return None
    if nonsense.moved:
        return None if _same(nonsense.url, home.url) and _moved(home.asked, home.url) else nonsense
    alike = nonsense.title == home.title and nonsense.likeness(home) >= ALIKE
    return None if alike else nonsense


EMPTY = frozenset((204, 205))
"""Statuses without content. Source: RFC 9110, 15.3.5 and 15.3.6"""
NO_CONTENT = "an answer without content"


def is_soft_404(page: PageFacts, asked: str, nonsense: Fingerprint | None = None) -> str | None:
    """Return why a page with status 200 is a soft 404, in one sentence, or None.

    `page`: read with `sample`. `nonsense`: the `witness` of its site, None if the site correctly answers 404.
    """
    if nonsense is not None and nonsense.moved:
        if _moved(asked, page.url) and _same(page.url, nonsense.url):
            return f"redirected to {page.url}, where a path that does not exist leads, too"
        nonsense = None
    if page.empty:
        return NO_CONTENT
    said = _says(page)
    same_title = nonsense is not None and nonsense.title == _title(page, asked)
    if said is None and not same_title:  # the usual case, without a fingerprint
        return None
    own = Fingerprint.of_page(page, asked)
    likeness = own.likeness(nonsense) if nonsense is not None else 0.0
    if same_title and likeness >= ALIKE and (said or own.words >= MIN_WORDS):
        return "the same page as the site gives for a path that does not exist"
    return None if said is None else _supported(page, own, said, likeness)


def _supported(page: PageFacts, own: Fingerprint, said: str, likeness: float) -> str | None:
    if likeness >= RESEMBLING:
        return f"{said!r}, on a page much like the one for a path that does not exist"
    if page.noindex:
        return f"{said!r}, on a page that wants no index"
    return f"{said!r}, and nothing else: {own.words} words" if page.sampled and own.words < THIN else None


def _title(page: PageFacts, asked: str) -> tuple[str, ...]:
    return tuple(words(_without_echo(page.title or "", asked)))


def _says(page: PageFacts) -> str | None:
    title = heading(page.sample) if not says_not_found(page.title) else page.title
    return title if says_not_found(title) else None


def _moved(asked: str, url: str) -> bool:
    return _rest(asked) != _rest(url)


def _rest(url: str) -> str:
    """Return path and query, normalised like the targets of common redirects."""
    key = urls.visit_key(url)
    return _INDEX.sub("", key.removeprefix(urls.origin(url) or "")).rstrip("/")


def _same(one: str, other: str) -> bool:
    return urls.visit_key(one) == urls.visit_key(other)


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
