"""Reads lists of URLs for the argument `urls`.

May import the rest of `reader` and `urls`. Start reading in `read_list`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from sitemapcrawler import urls
from sitemapcrawler.reader.rows import LOST, TEXT, CellReader, Row, Unread, as_written, read_rows
from sitemapcrawler.urls.display import quoted

TYPE = "url"
"""Record type of a listed page. Findings, sitemaps and other records of a feed are skipped."""
TABLES = (".csv", ".tsv")
"""Suffixes of files that are tables, also without a known name of a column."""
_SPOILT = re.compile(rf"[\t\r\n{LOST}]")
"""In no URL of a list: what `urls.resolve` removes separates two values."""


class ListedUrl(NamedTuple):
    """A URL and its line."""

    loc: str
    """Absolute http or https URL."""
    line: int
    """As in `Row`."""


def read_list(file: BinaryIO, path: str = "", cells: CellReader = as_written) -> Iterator[ListedUrl | Unread]:
    """Yield the URLs that an open file lists, in order and with duplicates, and the places that cannot be read.

    `path` and `cells`: as for `read_rows`. Raises ValueError with a one-line message before the first entry if the file
    is not a list, and OSError if it cannot be read.
    """
    is_table = path.lower().removesuffix(".gz").endswith(TABLES)
    found = read_rows(file, path, ("type",), cells, guesses=is_table)
    if found.log is not None:
        raise ValueError("is an access log, which the argument compare takes")
    for row in found.rows:
        if isinstance(row, Unread):
            yield row
        elif row.cells.get("type") in (None, "", TYPE):
            yield listed_url(row, found.format == TEXT)


def listed_url(row: Row, is_text: bool, base: str = "") -> ListedUrl | Unread:
    """Return the URL of a row. `base`: URL that paths, which begin with a slash, are resolved against."""
    if row.problem:
        return Unread(row.line, row.problem)
    if not isinstance(row.url, str):
        return Unread(row.line, "the row has no loc")
    text = row.url.strip()
    if not text:
        return Unread(row.line, "there is no URL")
    if is_text and len(text.split()) > 1:
        what = "contains whitespace; a line has one URL, in which a space is %20"
        return Unread(row.line, f"{quoted(text)} {what}")
    if _SPOILT.search(text):
        return Unread(row.line, f"{quoted(text)} has characters that no URL has")
    loc = urls.resolve(base if text.startswith("/") else "", text)
    return Unread(row.line, f"{quoted(text)} is not an http or https URL") if loc is None else ListedUrl(loc, row.line)
