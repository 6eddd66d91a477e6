"""Gzip by content, as a stream, within limits."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import pytest

from sitemapcrawler.reader.decode import inflate
from sitemapcrawler.reader.faults import MAX_GZIP_LAYERS, RATIO_APPLIES_FROM, Faults, Limits
from tests.unit.reader.reading import END, GOOD, URLSET, pieces, read, url, urlset

PLAIN = (
    URLSET + "".join(url(f"https://e.com/{number}/{number * 7919 % 99991}") for number in range(2000)) + END
).encode()
RESERVED_BLOCK = b"\x07"
"""A last block of type 3, which RFC 1951, 3.2.3, calls an error."""
SIZES = (1, 2, 7, 511, 512, 513, 4096, 1 << 20)


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def unpack(data: bytes, size: int = 1 << 16, limits: Limits | None = None) -> tuple[bytes, dict[str, int]]:
    faults = Faults()
    plain = b"".join(inflate(pieces(data, size), limits or Limits(), faults))
    return plain, dict(faults.counts)


def with_name(data: bytes, name: bytes = b"sitemap.xml", comment: bytes = b"made by us", extra: bytes = b"ab") -> bytes:
    """A member whose header has every optional part (RFC 1952, 2.3)."""
    header = b"\x1f\x8b\x08\x1e" + b"\0" * 6 + len(extra).to_bytes(2, "little") + extra + name + b"\0" + comment + b"\0"
    body = zlib.compressobj(wbits=-15)
    return (
        header
        + (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
        + body.compress(data)
        + body.flush()
        + zlib.crc32(data).to_bytes(4, "little")
        + len(data).to_bytes(4, "little")
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(PLAIN, id="no gzip at all"),
        pytest.param(packed(PLAIN), id="one member"),
        pytest.param(packed(PLAIN[:9999]) + packed(PLAIN[9999:]), id="two members"),
        pytest.param(packed(b"") + packed(PLAIN), id="an empty member first"),
        pytest.param(gzip.compress(PLAIN, 0, mtime=0), id="stored"),
        pytest.param(with_name(PLAIN), id="all optional header fields"),
        pytest.param(with_name(PLAIN, extra=b""), id="an empty extra field"),
        pytest.param(packed(PLAIN) + b"\0" * 700, id="padding with zeros"),
        pytest.param(packed(PLAIN[:50]) + b"\0" * 9 + packed(PLAIN[50:]), id="padding between members"),
    ],
)
def test_what_is_not_damaged_comes_out_whole(data: bytes, size: int) -> None:
    assert unpack(data, size) == (PLAIN, {})


NOTED: dict[str, tuple[bytes, bytes, str]] = {
    "two layers": (packed(packed(PLAIN)), PLAIN, "doc-gzip-name-mismatch"),
    "a wrong checksum": (packed(PLAIN)[:-8] + b"\1\2\3\4" + packed(PLAIN)[-4:], PLAIN, "doc-gzip-error"),
    **{f"no last {end} bytes": (packed(PLAIN)[:-end], PLAIN, "doc-truncated") for end in (1, 4, 8)},
    **{f"{left} bytes of a header": (with_name(PLAIN)[:left], b"", "doc-truncated") for left in (3, 5, 9, 10, 12, 20)},
    "a header without end": (b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"x" * (1 << 20), b"", "doc-truncated"),
    "bytes behind the end": (packed(PLAIN) + b"<html>", PLAIN, "doc-trailing-content"),
}


@pytest.mark.parametrize(("data", "plain", "rule"), NOTED.values(), ids=NOTED)
def test_what_is_wrong_around_the_content_is_noted(data: bytes, plain: bytes, rule: str) -> None:
    assert unpack(data, 1 if len(data) < 100 else 4096) == (plain, {rule: 1})


def test_more_layers_than_the_limit_are_an_attack() -> None:
    data = PLAIN
    for _ in range(MAX_GZIP_LAYERS + 1):
        data = packed(data)
    out, counts = unpack(data)
    assert out == b""
    assert counts["doc-decompression-bomb"] == 1


@pytest.mark.parametrize("size", SIZES)
def test_a_cut_stream_gives_what_came_before_the_cut(size: int) -> None:
    data = packed(PLAIN)
    out, counts = unpack(data[: len(data) // 2], size)
    assert len(out) > len(PLAIN) // 3
    assert PLAIN.startswith(out)
    assert counts == {"doc-truncated": 1}


@pytest.mark.parametrize("size", SIZES)
def test_damage_gives_what_came_before_it_however_it_arrives(size: int) -> None:
    engine = zlib.compressobj(wbits=31)
    data = engine.compress(PLAIN) + engine.flush(zlib.Z_FULL_FLUSH) + RESERVED_BLOCK + b"x" * 3000
    out, counts = unpack(data, size)
    assert (out, counts) == unpack(data, len(data))
    assert counts == {"doc-gzip-error": 1}
    assert PLAIN.startswith(out)
    assert len(out) > len(PLAIN) // 4


def test_a_file_that_is_damaged_at_its_start_says_so() -> None:
    document = read(b"\x1f\x8b\x08" + b"\0" * 7 + RESERVED_BLOCK + b"x" * 3000).document
    assert document.outcome == "failed"
    assert "damaged" in (document.error or "")


def test_every_cut_of_a_short_file_is_noticed() -> None:
    data = packed(urlset(GOOD).encode())
    for end in range(3, len(data)):
        assert read(data[:end]).document.outcome in ("truncated", "failed")


def test_the_limit_on_bytes_keeps_what_came_before() -> None:
    limits = Limits(max_bytes=10_000)
    assert unpack(packed(PLAIN), limits=limits) == (PLAIN[:10_000], {"limit-bytes": 1})
    assert unpack(PLAIN, limits=limits) == (PLAIN[:10_000], {"limit-bytes": 1})
    assert unpack(PLAIN[:10_000], limits=limits) == (PLAIN[:10_000], {})


def test_a_short_file_that_is_all_repetition_is_no_bomb() -> None:
    data = b"\0" * (RATIO_APPLIES_FROM - 1)
    assert unpack(packed(data)) == (data, {})


def test_a_bomb_is_stopped_as_it_arrives() -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        engine = zlib.compressobj(9, wbits=31)
        while True:
            part = engine.compress(b"\0" * (1 << 20)) + engine.flush(zlib.Z_SYNC_FLUSH)
            taken += len(part)
            yield part

    faults = Faults()
    for _ in inflate(endless(), Limits(), faults):
        pass
    assert "doc-decompression-bomb" in faults
    assert taken < 1 << 18


def test_nothing_is_read_ahead_of_what_is_asked_for() -> None:
    """Memory: what is inflated is given on at once, not gathered."""
    data = packed(b"x" * 5_000_000)
    largest = max(map(len, inflate([data], Limits(), Faults())))
    assert largest < 1 << 20


def test_an_empty_piece_is_no_end() -> None:
    data = packed(PLAIN)
    parts = [b"", data[:5], b"", data[5:100], b"", b"", data[100:], b""]
    assert b"".join(inflate(parts, Limits(), Faults())) == PLAIN
