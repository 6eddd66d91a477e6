"""URL lists of other programs (CSV, JSON, JSON lines, plain text) for the argument `urls`.

May import the rest of `reader` and `urls`. Start reading here, in `read_list`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from sitemapcrawler.reader.decode import decode
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.gunzip import inflate
from sitemapcrawler.reader.limits import Limits
from sitemapcrawler.reader.lists.entry import Entry, Listed, Unread, lines_of, read_lines
from sitemapcrawler.reader.lists.objects import read_array, read_objects
from sitemapcrawler.reader.lists.tables import MAGIC, TABLES, is_header, read_parquet, read_table

__all__ = ["Entry", "Listed", "Unread", "read"]

CHUNK = 64 * 1024
"""Bytes read at a time."""
LIMITS = Limits(max_bytes=1 << 50, max_ratio=1 << 20)
"""None in effect: the file is the user's own, and it streams."""
ARCHIVE = "PK\x03\x04"
"""How a ZIP file begins, and so a spreadsheet of Excel. Source: APPNOTE.TXT, 4.3.7"""


def read(file: BinaryIO, name: str = "") -> Iterator[Entry]:
    """The URLs that an open file lists, in its order, each as often as it stands there; and what cannot be read.

    `file` is read from where it stands, which for Parquet is the start and seekable; `name` is its name. Before the
    first entry ValueError, one line, where the file as a whole is no such list. OSError where it cannot be read.
    """
    start = file.read(CHUNK)
    if start.startswith(MAGIC):
        yield from read_parquet(file)
        return
    faults = Faults()
    _, texts = decode(inflate(chain([start], iter(lambda: file.read(CHUNK), b"")), LIMITS, faults), faults)
    yield from _read_text(texts, name.lower().removesuffix(".gz"), faults)
    cut = faults.first(*CUT_BYTES)
    if cut is not None:
        yield Unread(None, f"{cut.message}: the rest was not read")


def _read_text(texts: Iterable[str], name: str, faults: Faults) -> Iterator[Entry]:
    start, texts = _peek(texts)
    if start.startswith("<"):
        raise ValueError("is XML or HTML; sitemaps are for the argument sitemap")
    if start.startswith((ARCHIVE, MAGIC.decode())):
        raise ValueError("is an archive or a spreadsheet; save it as CSV, or unpack it")
    if start.startswith("["):
        yield from read_array(texts)
        return
    lines = lines_of(texts, faults)
    if start.startswith("{"):
        yield from read_objects(lines)
        return
    first = start.partition("\n")[0]
    if name.endswith(TABLES) or is_header(first):
        yield from read_table(lines)
    else:
        yield from read_lines(lines)


def _peek(texts: Iterable[str]) -> tuple[str, Iterable[str]]:
    """What a text begins with, its first line at least, without blanks before it; and the whole text."""
    stream, read = iter(texts), ""
    for text in stream:
        read += text
        if "\n" in read.lstrip() or len(read) > CHUNK:
            break
    return read.lstrip(), chain([read], stream)
