"""Inputs of a target: split into pieces, and limited in size and time.

An input is the document itself, so every document is an input. Other parameters of a check derive from its checksum.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from zlib import crc32

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
