"""Inputs of a target: split into pieces, and limited in size and time.

An input is the document itself, so every document is an input. Other parameters of a check derive from its checksum.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from zlib import crc32

from sitemapcrawler.reader.rows import MAGIC

MEANS = (1, 3, 20, 300)
"""Mean bytes of a piece."""
MAX_S = 5.0
"""Seconds of processor time for an input of up to `MAX_BYTES`; none needs a tenth of it."""
MAX_BYTES = 64 * 1024


class TooSlow(AssertionError):
    """An input takes more time than its size explains."""


def chance(data: bytes) -> random.Random:
    """Return a random generator that is seeded with the input."""
    return random.Random(crc32(data))


def cut(data: bytes) -> Iterator[bytes]:
    """Split the input into pieces of any size, some of them empty."""
    sizes = chance(data)
    mean = sizes.choice(MEANS)
    start = 0
    while start < len(data):
        end = start + int(sizes.expovariate(1 / mean) + 0.5)
        yield data[start:end]
        start = end


@contextmanager
def in_time() -> Iterator[None]:
    """Raise TooSlow if the block takes too long. Measures processor time, so a busy machine changes nothing."""
    begin = time.process_time()
    yield
    taken = time.process_time() - begin
    if taken > MAX_S:
        raise TooSlow(f"{taken:.1f} s of processor time")


class InPieces(BytesIO):
    """File that returns less than requested, as a pipe does."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._chance = chance(data)

    def read(self, size: int | None = -1) -> bytes:
        """Return at least one byte, except at the end."""
        return super().read(self._chance.randint(1, 40))


def is_parquet(data: bytes) -> bool:
    """True for a file that pyarrow reads, which must seek in it; or may be one, if it arrives in pieces."""
    return data.startswith(MAGIC) or (data[:1] == MAGIC[:1] and len(data) > 1)
