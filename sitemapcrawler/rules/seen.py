"""Which URLs of a file came before, known again by 64 bits: about 10 bytes each where there are many."""

from __future__ import annotations

from collections.abc import Set

MAX_LEGAL = 50_000
"""URLs of one file by the protocol; up to here a plain set is fastest. Source: https://www.sitemaps.org/protocol.html"""
MAX_SEEN = 1_000_000
"""URLs that are remembered: twenty times as many."""
BUCKET_BITS = 16
REST_BYTES = 6
"""Bytes of a hash beside the bits that name its bucket."""
MASK = (1 << 64) - 1


class Seen:
    """The hashes of URLs. Two URLs of a file with the same hash are as likely as 1 in 10^7 with a million of them."""

    def __init__(self) -> None:
        self.full = False
        """True where there were more than `MAX_SEEN`: the further ones were not remembered."""
        self._recent: set[int] = set()
        self._count = 0
        self._buckets: list[bytes] = []

    def add(self, hashes: Set[int]) -> Set[int]:
        """Remember hashes; those that were known."""
        if self._buckets:
            return self._add_to_buckets(hashes)
        known = self._recent & hashes
        self._recent |= hashes
        if len(self._recent) > MAX_LEGAL:
            self._buckets = [b""] * (1 << BUCKET_BITS)
            self._add_to_buckets(self._recent)
            self._recent = set()
        return known

    def _add_to_buckets(self, hashes: Set[int]) -> Set[int]:
        buckets, known = self._buckets, set()
        for number in hashes:
            bits = number & MASK
            at, rest = bits >> (8 * REST_BYTES), (bits & (1 << 8 * REST_BYTES) - 1).to_bytes(REST_BYTES, "big")
            if _holds(buckets[at], rest):
                known.add(number)
            elif self._count < MAX_SEEN:
                buckets[at] += rest
                self._count += 1
            else:
                self.full = True
        return known


def _holds(bucket: bytes, rest: bytes) -> bool:
    found = bucket.find(rest)
    while found > 0 and found % REST_BYTES:  # across two entries
        found = bucket.find(rest, found + 1)
    return found >= 0
