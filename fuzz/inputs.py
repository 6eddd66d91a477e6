"""How a target is given its input: in pieces, within limits, and for how long.

An input is the document itself, so that every document is one. What else a check needs is drawn from its checksum.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from zlib import crc32

MEANS = (1, 3, 20, 300)
"""Bytes of a piece, on average."""
MAX_S = 2.0
"""Seconds of processor time that an input of at most `MAX_BYTES` may take: none needs a tenth of it."""
MAX_BYTES = 64 * 1024


class TooSlow(AssertionError):
    """An input takes more time than its size explains."""


def chance(data: bytes) -> random.Random:
    """Chance that is always the same for an input."""
    return random.Random(crc32(data))


def cut(data: bytes) -> Iterator[bytes]:
    """The input in pieces of any size, empty ones among them."""
    sizes = chance(data)
    mean = sizes.choice(MEANS)
    start = 0
    while start < len(data):
        end = start + int(sizes.expovariate(1 / mean) + 0.5)
        yield data[start:end]
        start = end


@contextmanager
def in_time() -> Iterator[None]:
    """Fails where what is done meanwhile takes too long. Processor time, so that a busy machine changes nothing."""
    begin = time.process_time()
    yield
    taken = time.process_time() - begin
    if taken > MAX_S:
        raise TooSlow(f"{taken:.1f} s of processor time")
