"""Pages that are not there and answer 200, which keeps them in sitemaps and indexes for years.

Source: https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors

The witness is the site itself: what does it answer to a path that cannot exist (`nonsense_url`)? A page that is the
same as that answer is none. Words alone never convict: they only add to other evidence.

What could cry wolf, and what is done about it:

- A site that answers every path alike: pages drawn by scripts, a login, a consent or a bot wall. Its home page looks
  like nonsense, too, and then nonsense is no witness (`witness`). Where the home page is drawn by the server and the
  others by scripts, those are empty frames: fewer than `MIN_WORDS` words are only taken where they say that nothing
  was found.
- Pages of one template with little of their own: titles must be equal, and nine in ten of the triples of words.
- The asked path repeated in the page, clocks, counters: the path is taken out, and digits are all alike.
- An article about the error 404: the phrase must be a whole part of the title or heading, and the page must be thin,
  want no index, or resemble the witness.
- Redirects: one to the place where nonsense is sent, too, mostly the home page, is a soft 404. Not so where the home
  page is sent there itself, and not for another spelling of that place (`/index.html`, http, www).

A fingerprint takes some 100 KiB at most, and a site has one or two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self
from urllib.parse import unquote, urljoin, urlsplit
from zlib import crc32

from sitemapcrawler import urls
from sitemapcrawler.page.facts import PageFacts
from sitemapcrawler.page.notfound import says_not_found
from sitemapcrawler.page.text import heading, visible, words

ALIKE = 0.9
"""Share of common triples of words (Jaccard) from which two pages are one."""
RESEMBLING = 0.5
"""The same, where the page says that nothing was found."""
MIN_WORDS = 30
"""Words of text below which a page is a frame that a script may fill. Header and footer of a real page have more."""
THIN = 100
"""Words below which a page that says that nothing was found has nothing else to say."""
SHINGLE = 3  # words; single ones are the same all over a site, and of ten a single changed one would weigh too much
MIN_ECHO = 5  # characters of a path that are worth taking out: a shorter one, `/a`, is in every text
_INDEX = re.compile(r"/(?:index|default)\.[a-z]{3,5}\Z")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What tells one page from another."""

    asked: str
    """URL that was asked for."""
    url: str
    """URL that gave the page."""
    title: tuple[str, ...]
    """Words of the title."""
    words: int
    """Number of words in the sample."""
    shingles: frozenset[int]
    """CRC-32 of each triple of words."""

    @classmethod
    def of(cls, page: PageFacts, asked: str) -> Self:
        """The fingerprint of a page (answered with 200, read with `sample`) that was asked for as `asked`."""
        text = words(_without_echo(visible(page.sample), asked))
        triples = zip(*(text[start:] for start in range(SHINGLE)), strict=False)
        shingles = frozenset(crc32(" ".join(triple).encode("utf-8", "replace")) for triple in triples)
        return cls(asked, page.url, _title(page, asked), len(text), shingles)

    @property
    def moved(self) -> bool:
        """True where a redirect led to a page of another name; one that adds a slash or `www` does not."""
        return _moved(self.asked, self.url) and self.asked.rpartition("/")[2] not in self.url

    def likeness(self, other: Fingerprint) -> float:
        """Share of common triples, 0 to 1; 1 where neither has any."""
        union = len(self.shingles | other.shingles)
        return len(self.shingles & other.shingles) / union if union else 1.0


def nonsense_url(url: str, seed: str) -> str:
    """A URL beside `url` that cannot exist, the same for the same `seed`: one word of letters, as pages have it."""
    letters = blake2b(f"{seed} {url}".encode("utf-8", "replace"), digest_size=10).hexdigest()
    return urljoin(url, letters.translate(str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")))


def witness(nonsense: Fingerprint, home: Fingerprint | None) -> Fingerprint | None:
    """The answer to nonsense, if it tells anything: None where the home page is the same, or is not known."""
    if home is None:
        return None
    if nonsense.moved:
        return None if _same(nonsense.url, home.url) and _moved(home.asked, home.url) else nonsense
    alike = nonsense.title == home.title and nonsense.likeness(home) >= ALIKE
    return None if alike else nonsense


def is_soft_404(page: PageFacts, asked: str, nonsense: Fingerprint | None = None) -> str | None:
    """Why a page that was answered with 200 is none, in one sentence; None where nothing says so.

    `page`: read with `sample`. `nonsense`: the `witness` of its site, None where that answers 404 as it should.
    """
    if nonsense is not None and nonsense.moved:
        if _moved(asked, page.url) and _same(page.url, nonsense.url):
            return f"redirected to {page.url}, where a path that does not exist leads, too"
        nonsense = None
    said = _says(page)
    same_title = nonsense is not None and nonsense.title == _title(page, asked)
    if said is None and not same_title:  # the usual case, at the price of a title
        return None
    own = Fingerprint.of(page, asked)
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
    """Path and query, in the spelling that redirects lead to."""
    key = urls.visit_key(url)
    return _INDEX.sub("", key.removeprefix(urls.origin(url) or "")).rstrip("/")


def _same(one: str, other: str) -> bool:
    return urls.visit_key(one) == urls.visit_key(other)


def _without_echo(text: str, asked: str) -> str:
    """The text without the URL or path that was asked for, which many error pages repeat."""
    try:
        path = urlsplit(asked).path
    except ValueError:
        return text
    for echo in (asked, path, unquote(path), path.rpartition("/")[2], unquote(path.rpartition("/")[2])):
        if len(echo) >= MIN_ECHO:
            text = text.replace(echo, " ")
    return text
