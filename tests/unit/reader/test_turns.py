"""Whoever reads a document has a turn after a bounded part of it, even where no record comes of that."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from sitemapcrawler.reader import Document
from tests.crawl.documents import URLSET_START, packed

CHUNK = 4096
IN_A_TURN = 256 * 1024
"""Bytes, as they come, of which a turn may read no more."""
EMPTY = gzip.compress(b"", mtime=0)
START = URLSET_START.encode()

SILENT = {
    "empty gzip members": EMPTY * 50_000,
    "empty gzip members in gzip": packed(EMPTY * 50_000) + packed(EMPTY) * 25_000,
    "gzip members of a byte": gzip.compress(b" ", mtime=0) * 40_000,
    "blanks": b" " * 900_000,
    "entries that are lost": START + b"<url><loc>https://example.com/?a&b</url>" * 20_000,
    "comments": START + b"<!-- -->" * 100_000,
    "a comment": START + b"<!--" + b"x" * 2_000_000,
    "a declaration of document type": b"<!DOCTYPE urlset [" + b"<!-- -->" * 90_000,
    "empty lines": b"https://example.com/\n" + b"\n" * 1_000_000,
    "lines that are no URL": b"https://example.com/\n" + b"none\n" * 200_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("content", SILENT.values(), ids=SILENT)
def test_turn_takes_a_bounded_part_of_the_file(content: bytes) -> None:
    read = 0

    def chunks() -> Iterator[bytes]:
        nonlocal read
        for at in range(0, len(content), CHUNK):
            read += CHUNK
            yield content[at : at + CHUNK]

    before = 0
    for _ in Document("https://example.com/sitemap.xml").read(chunks()):
        assert read - before <= IN_A_TURN
        before = read
    assert before > len(content) - IN_A_TURN
