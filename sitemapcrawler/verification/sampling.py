"""Draws the sample of URLs to verify.

A sample of a fixed size is known only after everything is read, so the records of its candidates wait.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
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


FEW = 10
"""URLs of each segment that a sample has at least, if it has them. They are at most half of the sample, or one each."""


class _Ranks:
    """The smallest of all ranks that were added."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._negated: list[int] = []  # heapq is a min-heap
        self.limit = RANKS
        """No rank above it is held; the largest one, once there are enough."""

    def __len__(self) -> int:
        return len(self._negated)

    def add(self, place: int) -> int | None:
        """Add a rank; return the one that leaves, this or another, or None."""
        out = None
        if len(self._negated) < self._count:
            heapq.heappush(self._negated, -place)
        else:
            out = -heapq.heappushpop(self._negated, -place)
        if len(self._negated) == self._count:
            self.limit = -self._negated[0]
        return out

    def first(self, count: int) -> list[int]:
        return heapq.nsmallest(count, (-place for place in self._negated))


class Smallest(Generic[T]):
    """Draws a fixed number of distinct URLs: those with the smallest ranks of all URLs offered.

    Those that belong to segments are drawn as a stratified sample: of each segment the `FEW` with the smallest ranks,
    and of all others those with the smallest ranks, which is proportional to the segments on average. Keeps a payload
    with each URL. Memory: as many URLs and payloads as are drawn, and `FEW` for each segment.
    """

    def __init__(self, count: int, seed: int = 0) -> None:
        self._count = count
        self._seed = seed
        self._held: dict[int, tuple[str, T, str | None]] = {}
        self._all = _Ranks(count)
        self._of_segment: defaultdict[str | None, _Ranks] = defaultdict(lambda: _Ranks(FEW))
        self._left_out = False

    def __len__(self) -> int:
        """Number of URLs that are drawn."""
        return len(self._all)

    def offer(self, url: str, payload: T, segment: str | None = None) -> list[T]:
        """Offer a URL. Returns the payloads that can no longer be drawn, this one or earlier ones; see `others`.

        For a URL that is already held, the first payload stays and the new one is returned: see `find`.
        """
        place = rank(url, self._seed)
        if place in self._held:
            return [payload]
        if place > self._all.limit and place > self._of_segment[segment].limit:
            self._left_out = True
            return [payload]
        self._held[place] = (url, payload, segment)
        out, of_segment = self._all.add(place), self._of_segment[segment].add(place)
        self._left_out |= out is not None
        gone = {one for one in (out, of_segment) if one is not None and self._is_out(one)}
        return [self._held.pop(one)[1] for one in gone]

    def _is_out(self, place: int) -> bool:
        """True if a rank that has left one of the sets is in none."""
        return place > self._all.limit and place > self._of_segment[self._held[place][2]].limit

    def find(self, url: str) -> T | None:
        """The payload held with a URL; None if the URL is not held."""
        held = self._held.get(rank(url, self._seed))
        return None if held is None else held[1]

    def chosen(self) -> list[tuple[str, T]]:
        """The URLs drawn so far with their payloads, in order of rank, which is random."""
        return [self._held[place][:2] for place in sorted(self._chosen())]

    def others(self) -> list[T]:
        """The payloads held that are not drawn in the end."""
        return [self._held[place][1] for place in self._held.keys() - self._chosen()]

    def _chosen(self) -> set[int]:
        number = len(self._of_segment)
        least = min(FEW, max(1, self._count // (2 * number))) if 0 < number <= self._count else 0
        first = {place for ranks in self._of_segment.values() for place in ranks.first(least)}
        return {*first, *sorted(self._held.keys() - first)[: len(self) - len(first)]}

    @property
    def complete(self) -> bool:
        """True if every distinct URL offered is drawn."""
        return not self._left_out

    @property
    def distinct(self) -> int:
        """Number of distinct URLs offered: exact if `complete`, else an estimate.

        The estimate is off by a factor of 1 ± 1 / sqrt(count - 2). Source: Bar-Yossef et al., Counting Distinct
        Elements in a Data Stream, 2002.
        """
        held = len(self)
        return held if self.complete else max(held + 1, (held - 1) * RANKS // (1 + self._all.limit))


MAX_REPEATS = 100_000
"""Limit on further records of candidate URLs that wait with them; beyond it, records are released."""


class Holding:
    """Holds the records of the URLs that may be drawn into the sample."""

    def __init__(self, count: int, seed: int) -> None:
        self.listed: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
        """Records offered, by sitemap and segment."""
        self._drawn: Smallest[list[Note]] = Smallest(count, seed)
        self._repeats = 0

    def __len__(self) -> int:
        """URLs drawn."""
        return len(self._drawn)

    @property
    def population(self) -> int:
        """Distinct URLs offered; an estimate unless all of them are drawn."""
        return min(self._drawn.distinct, self._by_segment.total())

    @property
    def _by_segment(self) -> Counter[str | None]:
        return sum(self.listed.values(), Counter())

    def shares(self) -> dict[str | None, Fraction]:
        """Share of each segment in the records offered."""
        found = self._by_segment
        return {segment: Fraction(number, found.total()) for segment, number in found.items()}

    def offer(self, notes: Sequence[Note]) -> list[Note]:
        """Hold records back, with their notes; returns those that cannot be drawn, or of which too many wait."""
        released: list[Note] = []
        for note in notes:
            key = urls.visit_key(note.record.loc)
            alike = self._drawn.find(key)
            if alike is None:
                for out in self._drawn.offer(key, [note], note.record.segment):
                    released += out
            elif self._repeats < MAX_REPEATS:
                self._repeats += 1
                alike.append(note)
            else:
                released.append(note)
            self.listed[note.record.sitemap][note.record.segment] += 1
        return released

    def draw(self) -> dict[str, list[Note]]:
        """The records of the sample: {sitemap: notes on its records in order}."""
        return by_file(note for _, alike in self._drawn.chosen() for note in alike)

    def others(self) -> list[Note]:
        """The records held that are not in the sample."""
        return [note for alike in self._drawn.others() for note in alike]


def by_file(notes: Iterable[Note]) -> dict[str, list[Note]]:
    """{sitemap: notes on its records in order}."""
    found: dict[str, list[Note]] = {}
    for note in notes:
        found.setdefault(note.record.sitemap, []).append(note)
    return {url: sorted(alike, key=attrgetter("place")) for url, alike in found.items()}
