"""Finds the table of pages in a ZIP file as Search Console exports it, beside its tables of dates, queries and filters.

The reports on pages that are not indexed have their reason in a table of its own, in the language of the user.
"""

from __future__ import annotations

import csv
import zlib
from collections import deque
from typing import BinaryIO, NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

from sitemapcrawler.urls.display import quoted

SIGNATURE = b"PK\x03\x04"
"""Start of a ZIP file. Source: APPNOTE.TXT, 4.3.7"""
OFFICE = "[Content_Types].xml"
"""A file of every Excel workbook. Source: ECMA-376-2, 10.1.2.3"""
MAX_FILES = 20
"""Files of an archive that are considered; an export of Search Console has at most nine."""
HEAD = 4096
"""Bytes of a file that decide what it is."""
OF_ISSUE = 2
"""Columns of the table of pages of an issue (URL and last crawl), and columns and rows of the one with its reason."""
CHUNK = 64 * 1024
"""Bytes read at a time."""
UNREADABLE = (BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error)
"""What zipfile raises for a damaged file, an unknown compression, and one that needs a password."""


class Zipped(NamedTuple):
    """The table of pages in an archive."""

    file: BinaryIO
    reason: str
    """Why Google does not index these pages, if it is the table of an issue."""


def table_of(file: BinaryIO) -> Zipped:
    """Find the table of pages in an open ZIP file, which has to stay open. Raises ValueError, one line, if there is
    none."""
    try:
        archive = ZipFile(file)
        names = [one for one in archive.infolist() if one.filename.lower().endswith(".csv")][:MAX_FILES]
        if any(one.filename == OFFICE for one in archive.infolist()):
            raise ValueError("is a spreadsheet; save it as CSV")
        heads = {one.filename: _head(archive, one) for one in names}
        found = next((name for name, rows in heads.items() if _has_pages(rows)), None)
        if found is None:
            raise ValueError(f"has no table of pages; it contains {', '.join(map(quoted, heads)) or 'no CSV files'}")
        issues = (rows[-1][1] for rows in heads.values() if _states_issue(rows)) if _is_of_issue(heads[found]) else ()
        with archive.open(found) as member:  # its end has the checksum
            deque(iter(lambda: member.read(CHUNK), b""), maxlen=0)
        return Zipped(archive.open(found), next(iter(issues), ""))  # type: ignore[arg-type]  # reads as a file does
    except UNREADABLE as error:
        raise ValueError(f"is an archive that cannot be read: {error}") from None


def _head(archive: ZipFile, name: ZipInfo) -> list[list[str]]:
    """The first rows of a table."""
    with archive.open(name) as member:
        text = member.read(HEAD).decode("utf-8-sig", "replace")
    return [row for row in csv.reader(text.splitlines()) if row]


def _has_pages(rows: list[list[str]]) -> bool:
    """True for a table with a URL in the first column of its first row: others name a filter or a date there."""
    return len(rows) > 1 and rows[1][0].startswith(("http://", "https://"))


def _is_of_issue(rows: list[list[str]]) -> bool:
    return len(rows[0]) == OF_ISSUE


def _states_issue(rows: list[list[str]]) -> bool:
    """True for the table of names and values that ends with the issue, below the sitemap: that of two days ends with a
    number."""
    is_pairs = len(rows) == 1 + OF_ISSUE and {*map(len, rows)} == {OF_ISSUE}
    return is_pairs and not _has_pages(rows) and not rows[-1][1].strip().isdecimal()
