"""Compressed bodies: same result as zlib, within limits. Sitemaps and pages have a reader each."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable

from fuzz.inputs import chance, cut, in_time
from sitemapcrawler.reader.decode import MAGIC, inflate
from sitemapcrawler.reader.faults import MAX_GZIP_LAYERS, Faults, Limits
from sitemapcrawler.replies.page.body import Inflater

SEEDS = ("tests/data/*/*.gz",)
SMALL = Limits(max_bytes=1000, max_ratio=10)
LIMIT = 1 << 16
"""Maximum bytes of a page."""
CODINGS = ("gzip", "x-gzip", "GZIP ", "deflate", "identity", "", None, "br", "zstd", "gzip, gzip", "gzip,identity")
PLAIN = ("identity", "", None)
"""Codings that mean no compression."""
OPTIONAL = 0x1E
"""Flags of optional fields in a gzip header. Source: RFC 1952, 2.3.1"""
DAMAGED = ("doc-gzip-error", "doc-truncated")


def check(data: bytes) -> None:
    """Check the input as a compressed body, and as content to compress."""
    limits = chance(data).choice((Limits(), SMALL))
    plain, faults = _inflated([data], limits)
    assert (plain, faults) == _inflated(cut(data), limits), "the pieces make a difference"
    assert len(plain) <= limits.max_bytes
    if limits is not SMALL:
        _check_against_zlib(data, plain, faults)
        _check_layers(data)
    for coding in CODINGS:
        _check_page(data, coding)


def _inflated(chunks: Iterable[bytes], limits: Limits) -> tuple[bytes, list[str]]:
    faults = Faults()
    with in_time():
        plain = b"".join(inflate(chunks, limits, faults))
    return plain, sorted(map(repr, faults))


def _check_against_zlib(data: bytes, plain: bytes, faults: list[str]) -> None:
    """Check that one layer which zlib accepts is read without a fault."""
    try:
        expected = gzip.decompress(data) if data.startswith(MAGIC) else data
    except (OSError, EOFError, zlib.error):
        return
    if not expected.startswith(MAGIC):
        assert plain == expected
        assert not any(rule in fault for fault in faults for rule in DAMAGED), faults


def _check_layers(data: bytes) -> None:
    """Check that compressed content comes back, up to the allowed number of layers."""
    if data[:1] == MAGIC[:1]:
        return
    packed = data
    for _ in range(MAX_GZIP_LAYERS):
        packed = gzip.compress(packed, 1, mtime=0)
        plain, _ = _inflated(cut(packed), Limits())
        assert plain == data
    plain, faults = _inflated([gzip.compress(packed, 1, mtime=0)], Limits())
    assert not plain
    assert "layers" in faults[0]


def _check_page(data: bytes, coding: str | None) -> None:
    """Check that a page's body stays within the limit, and that pieces give at least as much as the whole."""
    whole = Inflater(coding).feed(data, LIMIT)
    assert len(whole) <= LIMIT
    inflater, parts = Inflater(coding), b""
    with in_time():
        for piece in cut(data):
            parts += inflater.feed(piece, LIMIT - len(parts))
    assert len(parts) <= LIMIT
    if coding is not None and _has_fields(data):
        return
    # Damage discards the data that came with it, which is less in pieces.
    assert parts.startswith(whole), "less in pieces"
    is_plain = coding in PLAIN and not data.startswith(MAGIC)
    assert whole == parts or (_is_damaged(data) and not is_plain)


def _is_damaged(data: bytes) -> bool:
    """True for data that is not compressed, or not to its end."""
    try:
        gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return True
    return False


def _has_fields(data: bytes) -> bool:
    """True for a gzip header with optional fields, which isal may fail to read in pieces."""
    return data.startswith(MAGIC) and len(data) > 3 and data[3] & OPTIONAL != 0
