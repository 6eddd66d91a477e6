"""Draws the sample of URLs to verify.

A sample of a given number is only known once everything is read, so the records of its candidates wait.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from operator import attrgetter
from typing import Generic, TypeVar

from sitemapcrawler import urls
from sitemapcrawler.items import UrlRecord

MAX_COUNT = 100_000
"""URLs drawn by number, at most: they wait in memory, and tell a share to 0.3 points at worst."""
MAX_SEED = 10**12 - 1
"""Of twelve digits, as every number among the arguments."""
RANK_BYTES = 16
RANKS = 1 << 8 * RANK_BYTES
"""Ranks there are: two URLs of one rank do not occur."""
SALT_BYTES = blake2b.SALT_SIZE
_COUNT = re.compile(r"[0-9]{1,12}")
_SHARE = re.compile(r"([0-9]{0,12}(?:\.[0-9]{1,12})?)\s?%")

T = TypeVar("T")


def rank(url: str, seed: int) -> int:
    """Where a URL stands among all, evenly from 0 to below `RANKS`; `seed` from 0 to `MAX_SEED`."""
    salt = seed.to_bytes(SALT_BYTES, "big")
    drawn = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=RANK_BYTES, salt=salt, person=b"sample")
    return int.from_bytes(drawn.digest(), "big")


@dataclass(frozen=True, slots=True)
class Sample:
    """How many of the distinct URLs are verified: one of the two is set."""

    count: int | None = None
    """So many; all where there are fewer."""
    share: Fraction | None = None
    """This share of them, above 0 and up to 1, give or take chance."""

    @classmethod
    def parse(cls, text: str) -> Sample:
        """Read `500` or `2.5%`; ValueError, without the text, where it is neither."""
        found = _SHARE.fullmatch(text)
        if found is not None and any(map(str.isdigit, found[1])):
            percent = Fraction(found[1])
            if not 0 < percent <= 100:
                raise ValueError("no share of the URLs: above 0 % and up to 100 % there is one")
            return cls(share=percent / 100)
        if not _COUNT.fullmatch(text):
            raise ValueError("neither a number nor a share")
        if int(text) == 0:
            raise ValueError("verifies nothing; verify=off does that")
        if int(text) > MAX_COUNT:
            raise ValueError(f"more than {MAX_COUNT}; take a share, such as 10%")
        return cls(count=int(text))

    def __str__(self) -> str:
        """The argument that gives this sample."""
        if self.share is None:
            return str(self.count)
        # Twelve decimals of a percentage are written without loss, as they were read.
        return f"{int(self.share * 10**14) / 10**12:.12f}".rstrip("0").rstrip(".") + "%"


class ShareDraw:
    """Draws a share of the URLs, each on its own."""

    def __init__(self, share: Fraction, seed: int = 0) -> None:
        self._below = int(share * RANKS)
        self._seed = seed

    def takes(self, url: str) -> bool:
        """True for a URL that is drawn."""
        return rank(url, self._seed) < self._below


class Smallest(Generic[T]):
    """Draws a number of distinct URLs: those of the smallest ranks, which are known after the last one is offered.

    A payload waits with each URL. Memory: no more URLs and payloads than are drawn.
    """

    def __init__(self, count: int, seed: int = 0) -> None:
        self._count = count
        self._seed = seed
        self._held: dict[int, tuple[str, T]] = {}
        self._worst: list[int] = []  # ranks, negative: heapq has the smallest first
        self._left_out = False

    def __len__(self) -> int:
        return len(self._held)

    def offer(self, url: str, payload: T) -> T | None:
        """Offer a URL; the payload that will not be drawn any more, this one or an earlier one; None for none.

        Of a URL that is held already the first payload stays and the new one is given back: see `find`.
        """
        place = rank(url, self._seed)
        if place in self._held:
            return payload
        if len(self._held) < self._count:
            heapq.heappush(self._worst, -place)
            self._held[place] = (url, payload)
            return None
        self._left_out = True
        if place > -self._worst[0]:
            return payload
        out = -heapq.heapreplace(self._worst, -place)
        self._held[place] = (url, payload)
        return self._held.pop(out)[1]

    def find(self, url: str) -> T | None:
        """The payload that waits with a URL; None where the URL is not held."""
        held = self._held.get(rank(url, self._seed))
        return None if held is None else held[1]

    def chosen(self) -> list[tuple[str, T]]:
        """The URLs drawn of those offered so far, with their payloads, in the order of their ranks: by chance."""
        return [self._held[place] for place in sorted(self._held)]

    @property
    def complete(self) -> bool:
        """True where every distinct URL offered is held."""
        return not self._left_out

    @property
    def distinct(self) -> int:
        """How many distinct URLs were offered: exact where `complete`, else estimated, off by a factor of
        1 ± 1 / sqrt(count - 2). Source: Bar-Yossef et al., Counting Distinct Elements in a Data Stream, 2002."""
        held = len(self._held)
        if self.complete:
            return held
        return max(held + 1, (held - 1) * RANKS // (1 - self._worst[0]))


MAX_REPEATS = 100_000
"""Further records of URLs that may be in the sample, which wait with them; beyond that they are let go."""


class Holding:
    """Holds the records of the URLs that may be drawn."""

    def __init__(self, count: int, seed: int) -> None:
        self.listed: Counter[str] = Counter()
        """Records that were offered, by sitemap."""
        self._drawn: Smallest[list[UrlRecord]] = Smallest(count, seed)
        self._repeats = 0
        self.left: list[UrlRecord] = []
        """Records that were held back, and are not in the sample after all."""

    def __len__(self) -> int:
        """URLs that are held."""
        return len(self._drawn)

    @property
    def population(self) -> int:
        """Distinct URLs that were offered; an estimate where not all of them are held."""
        return min(self._drawn.distinct, self.listed.total())

    def offer(self, records: Sequence[UrlRecord]) -> list[UrlRecord]:
        """Hold records back; gives those that are not: they cannot be drawn, or too many wait."""
        released: list[UrlRecord] = []
        for record in records:
            key = urls.visit_key(record.loc)
            alike = self._drawn.find(key)
            if alike is None:
                mine = [record]
                out = self._drawn.offer(key, mine)
                if out is mine or len(self.left) >= MAX_REPEATS:
                    released += out or ()
                else:
                    self.left += out or ()
            elif self._repeats < MAX_REPEATS:
                self._repeats += 1
                alike.append(record)
            else:
                released.append(record)
        self.listed.update(record.sitemap for record in records)
        return released

    def draw(self) -> dict[str, list[UrlRecord]]:
        """The records of the sample: {sitemap: its records in order}."""
        return by_file(record for _, alike in self._drawn.chosen() for record in alike)


def by_file(records: Iterable[UrlRecord]) -> dict[str, list[UrlRecord]]:
    """{sitemap: its records in order}."""
    found: dict[str, list[UrlRecord]] = {}
    for record in records:
        found.setdefault(record.sitemap, []).append(record)
    return {url: sorted(alike, key=attrgetter("place")) for url, alike in found.items()}
