"""The size of the sample of URLs to verify, and which URLs belong to it: those with the smallest ranks.

A share is drawn while files are read; a number, when everything is read, in the database (`jobs.page_choice`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b

from sitemapcrawler import urls

MAX_COUNT = 100_000
"""Maximum fixed sample size: its records are in memory, and it estimates a share to within 0.3 points."""
MAX_SEED = 10**12 - 1
"""Twelve digits, as for every number among the arguments."""
RANK_BYTES = 16
RANKS = 1 << 8 * RANK_BYTES
"""Number of ranks: collisions do not occur in practice."""
SALT_BYTES = blake2b.SALT_SIZE
_COUNT = re.compile(r"[0-9]{1,12}")
_SHARE = re.compile(r"([0-9]{0,12}(?:\.[0-9]{1,12})?)\s?%")


def rank(url: str, seed: int) -> int:
    """Pseudo-random rank of a URL, uniform from 0 to below `RANKS`; `seed` from 0 to `MAX_SEED`."""
    salt = seed.to_bytes(SALT_BYTES, "big")
    drawn = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=RANK_BYTES, salt=salt, person=b"sample")
    return int.from_bytes(drawn.digest(), "big")


def page_number(url: str, seed: int) -> int:
    """Number of 64 bits by which the database draws a page. Two pages share one with a probability of 3 in a hundred
    million, among a million."""
    return rank(urls.visit_key(url), seed) >> 64


@dataclass(frozen=True, slots=True)
class Sample:
    """Size of the sample of distinct URLs: either `count` or `share` is set."""

    count: int | None = None
    """Number of URLs; all if there are fewer."""
    share: Fraction | None = None
    """Expected share of the URLs, above 0 and up to 1."""

    @classmethod
    def parse(cls, text: str) -> Sample:
        """Parse `500` or `2.5%`. Raises ValueError, which does not quote the text."""
        found = _SHARE.fullmatch(text)
        if found is not None and any(map(str.isdigit, found[1])):
            percent = Fraction(found[1])
            if not 0 < percent <= 100:
                raise ValueError("not a share of the URLs: it must be above 0 % and at most 100 %")
            return cls(share=percent / 100)
        if not _COUNT.fullmatch(text):
            raise ValueError("neither a number nor a share")
        if int(text) == 0:
            raise ValueError("verifies nothing; verify=off does that")
        if int(text) > MAX_COUNT:
            raise ValueError(f"more than {MAX_COUNT}; take a share, such as 10%")
        return cls(count=int(text))

    @property
    def is_whole(self) -> bool:
        """True if all URLs are drawn, however many there are."""
        return self.share == 1

    def __str__(self) -> str:
        """The argument that yields this sample."""
        if self.share is None:
            return str(self.count)
        # Percentages are read with up to twelve decimals, so this is exact.
        return f"{int(self.share * 10**14) / 10**12:.12f}".rstrip("0").rstrip(".") + "%"


class ShareDraw:
    """Draws a share of the URLs, each independently."""

    def __init__(self, share: Fraction, seed: int = 0) -> None:
        self._below = int(share * RANKS)
        self._seed = seed

    def takes(self, url: str) -> bool:
        return rank(url, self._seed) < self._below
