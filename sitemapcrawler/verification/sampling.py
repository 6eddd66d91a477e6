"""Draws the sample of URLs to verify.

A sample of a fixed size is known only after everything is read, so the records of its candidates wait.
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
from sitemapcrawler.reader.notes import Note

MAX_COUNT = 100_000
"""Maximum fixed sample size: its records wait in memory, and it estimates a share to within 0.3 points."""
MAX_SEED = 10**12 - 1
"""Twelve digits, as for every number among the arguments."""
RANK_BYTES = 16
RANKS = 1 << 8 * RANK_BYTES
"""Number of ranks: collisions do not occur in practice."""
SALT_BYTES = blake2b.SALT_SIZE
_COUNT = re.compile(r"[0-9]{1,12}")
_SHARE = re.compile(r"([0-9]{0,12}(?:\.[0-9]{1,12})?)\s?%")

T = TypeVar("T")


def rank(url: str, seed: int) -> int:
    """Pseudo-random rank of a URL, uniform from 0 to below `RANKS`; `seed` from 0 to `MAX_SEED`."""
    salt = seed.to_bytes(SALT_BYTES, "big")
    drawn = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=RANK_BYTES, salt=salt, person=b"sample")
    return int.from_bytes(drawn.digest(), "big")


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
                raise ValueError("no share of the URLs: above 0 % and up to 100 % there is one")
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


class Smallest(Generic[T]):
    """Draws a fixed number of distinct URLs: those with the smallest ranks of all URLs offered.

    Keeps a payload with each URL. Memory: at most as many URLs and payloads as are drawn.
    """

    def __init__(self, count: int, seed: int = 0) -> None:
        self._count = count
        self._seed = seed
        self._held: dict[int, tuple[str, T]] = {}
        self._worst: list[int] = []  # negated ranks: heapq is a min-heap
        self._left_out = False

    def __len__(self) -> int:
        return len(self._held)

    def offer(self, url: str, payload: T) -> T | None:
        """Offer a URL. Returns a payload that can no longer be drawn, this one or an earlier one, or None.

        For a URL that is already held, the first payload stays and the new one is returned: see `find`.
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
        """The payload held with a URL; None if the URL is not held."""
        held = self._held.get(rank(url, self._seed))
        return None if held is None else held[1]

    def chosen(self) -> list[tuple[str, T]]:
        """The URLs drawn so far with their payloads, in order of rank, which is random."""
        return [self._held[place] for place in sorted(self._held)]

    @property
    def complete(self) -> bool:
        """True if every distinct URL offered is held."""
        return not self._left_out

    @property
    def distinct(self) -> int:
        """Number of distinct URLs offered: exact if `complete`, else an estimate.

        The estimate is off by a factor of 1 ± 1 / sqrt(count - 2). Source: Bar-Yossef et al., Counting Distinct
        Elements in a Data Stream, 2002.
        """
        held = len(self._held)
        if self.complete:
            return held
        return max(held + 1, (held - 1) * RANKS // (1 - self._worst[0]))


MAX_REPEATS = 100_000
"""Limit on further records of candidate URLs that wait with them; beyond it, records are released."""


class Holding:
    """Holds the records of the URLs that may be drawn into the sample."""

    def __init__(self, count: int, seed: int) -> None:
        self.listed: Counter[str] = Counter()
        """Records offered, by sitemap."""
        self._drawn: Smallest[list[Note]] = Smallest(count, seed)
        self._repeats = 0

    def __len__(self) -> int:
        """URLs held."""
        return len(self._drawn)

    @property
    def population(self) -> int:
        """Distinct URLs offered; an estimate unless all of them are held."""
        return min(self._drawn.distinct, self.listed.total())

    def offer(self, notes: Sequence[Note]) -> list[Note]:
        """Hold records back, with their notes; returns those that cannot be drawn, or of which too many wait."""
        released: list[Note] = []
        for note in notes:
            key = urls.visit_key(note.record.loc)
            alike = self._drawn.find(key)
            if alike is None:
                released += self._drawn.offer(key, [note]) or ()
            elif self._repeats < MAX_REPEATS:
                self._repeats += 1
                alike.append(note)
            else:
                released.append(note)
        self.listed.update(note.record.sitemap for note in notes)
        return released

    def draw(self) -> dict[str, list[Note]]:
        """The records of the sample: {sitemap: notes on its records in order}."""
        return by_file(note for _, alike in self._drawn.chosen() for note in alike)


def by_file(notes: Iterable[Note]) -> dict[str, list[Note]]:
    """{sitemap: notes on its records in order}."""
    found: dict[str, list[Note]] = {}
    for note in notes:
        found.setdefault(note.record.sitemap, []).append(note)
    return {url: sorted(alike, key=attrgetter("place")) for url, alike in found.items()}
