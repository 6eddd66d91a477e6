"""Reads lists of URLs from other programs (CSV, JSON, JSON Lines, Parquet, plain text) for the argument `urls`.

May import the rest of `reader` and `urls`. Start reading in `read_list`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from sitemapcrawler import urls
from sitemapcrawler.reader.decode import decode, inflate
from sitemapcrawler.reader.faults import CUT_BYTES, Faults, Limits
from sitemapcrawler.urls.display import counted, quoted

if TYPE_CHECKING:
    import pyarrow.parquet

COLUMNS = ("loc", "url", "address")
"""Field names for the URL, in order of preference: this project's own, then those of other tools' exports."""
TYPE = "url"
"""Record type of a listed page. Findings, sitemaps and other records of a feed are skipped."""
LOST = "\ufffd"
"""Stands for lost bytes, and for the rest of a line that is too long."""
_SPOILT = re.compile(rf"[\t\r\n{LOST}]")
"""In no URL of a list: what `urls.resolve` removes separates two values."""


@dataclass(frozen=True, slots=True)
class ListedUrl:
    """A URL and its line."""

    loc: str
    """Absolute http or https URL."""
    line: int
    """Line, counted from 1: the first line of a table row or object, or the row number in Parquet."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A place in the list without a usable URL."""

    line: int | None
    """As in `ListedUrl`; None for the whole file."""
    problem: str
    """What is wrong, on one line, with the value."""


ListEntry = ListedUrl | Unread


def entry_of(text: str, line: int) -> ListEntry:
    """Return the entry for the text of a URL."""
    text = text.strip()
    if not text:
        return Unread(line, "there is no URL")
    loc = None if _SPOILT.search(text) else urls.resolve("", text)
    return Unread(line, f"{quoted(text)} is no http or https URL") if loc is None else ListedUrl(loc, line)


MAX_LINE = 16 * 2**20
"""Characters of a line, which may be a record with a thousand images; a longer line is cut."""
COMMENT = re.compile(r"(?:^|\s)#.*")
"""Comment, which starts the line or follows a blank, as in other list arguments; elsewhere `#` belongs to the URL."""


def lines_of(texts: Iterable[str], faults: Faults) -> Iterator[str]:
    """Yield the lines without their ends, cut to `MAX_LINE` characters and `LOST`; the last one only if it is complete.

    Raises ValueError if the first line is longer: no list begins like that, and a file without line ends may be huge.
    """
    parts: list[str] = []
    size, is_first = 0, True
    for text in texts:
        *lines, rest = text.split("\n")
        for line in lines:
            yield _line([*parts, line])
            parts, size, is_first = [], 0, False
        if size <= MAX_LINE:  # the rest of a longer line is skipped
            parts.append(rest)
        size += len(rest)
        if is_first and size > MAX_LINE:
            raise ValueError(f"has a first line of more than {MAX_LINE:,} characters")
    if size and faults.first(*CUT_BYTES) is None:
        yield _line(parts)


def _line(parts: Sequence[str]) -> str:
    line = "".join(parts)
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + LOST


def read_lines(lines: Iterable[str]) -> Iterator[ListEntry]:
    """Yield one URL per line; skip blank lines and comments."""
    for number, line in enumerate(lines, 1):
        text = COMMENT.sub("", line).strip()
        if len(text.split()) > 1:
            yield Unread(
                number, f"{quoted(text)} has blanks in it; one URL stands in a line, a blank of its own is %20"
            )
        elif text:
            yield entry_of(text, number)


BLANKS = re.compile(r"[ \t\n\r]*")
"""White space of JSON (RFC 8259, 2)."""
_decoder = json.JSONDecoder()


class BrokenJson(ValueError):
    """JSON that cannot be read further."""


def read_objects(lines: Iterable[str]) -> Iterator[ListEntry]:
    """Yield the URL of one JSON object per line; skip blank lines."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield from _entries(json.loads(line), number)
            except (ValueError, RecursionError):
                yield Unread(number, f"{quoted(line)} is no JSON")


def read_array(texts: Iterable[str]) -> Iterator[ListEntry]:
    """Yield the URLs of a JSON array, without holding the whole array in memory."""
    array = JsonArray(texts)
    try:
        for value, line in array.elements():
            yield from _entries(value, line)
    except BrokenJson as error:
        yield Unread(array.line, f"the JSON is broken, {error}: the rest was not read")


def _entries(value: object, line: int) -> Iterator[ListEntry]:
    if isinstance(value, str):
        yield entry_of(value, line)
    elif not isinstance(value, dict):
        yield Unread(line, f"{quoted(json.dumps(value))} is no object")
    elif value.get("type", TYPE) == TYPE:
        url = next((value[name] for name in COLUMNS if name in value), None)
        yield entry_of(url, line) if isinstance(url, str) else Unread(line, "the object has no loc")


class JsonArray:
    """Splits a JSON array into its elements. `line` is the current line."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.line = 1
        self._texts = iter(texts)
        self._text = ""
        self._at = 0

    def elements(self) -> Iterator[tuple[object, int]]:
        """Yield the elements and their lines. Raises BrokenJson."""
        self._mark_of("[")
        if self._next() == "]":
            self._mark_of("]")
        else:
            while True:
                mark = self._next()
                line = self.line
                yield self._element(), line
                mark = self._mark_of(",]")
                if mark == "]":
                    break
        if self._next():
            raise BrokenJson("there is more behind its end")

    def _element(self) -> object:
        while True:
            try:
                value, end = _decoder.raw_decode(self._text, self._at)
                # A number may continue in text that has not been read.
                if end < len(self._text) or not self._more():
                    break
            except (ValueError, RecursionError):
                if len(self._text) - self._at > MAX_LINE or not self._more():
                    raise BrokenJson(f"{quoted(self._text[self._at :])} is no JSON") from None
        self._advance(end)
        return value

    def _mark_of(self, marks: str) -> str:
        mark = self._next()
        if not mark or mark not in marks:
            raise BrokenJson(f"{' or '.join(marks)} is missing")
        self._advance(self._at + 1)
        return mark

    def _next(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            blanks = BLANKS.match(self._text, self._at)
            assert blanks is not None  # it matches nothing too
            end = blanks.end()
            self._advance(end)
            if end < len(self._text):
                return self._text[end]
            if not self._more():
                return ""

    def _advance(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _more(self) -> bool:
        """Double the unread text, so that a long element is not parsed too often; False at the end."""
        parts = [self._text[self._at :]]
        wanted = 2 * len(parts[0])
        for text in self._texts:
            parts.append(text)
            wanted -= len(text)
            if wanted <= 0:
                break
        self._text, self._at = "".join(parts), 0
        return len(parts) > 1


CellReader = Callable[[str], Callable[[str], str]]
"""Delimiter of a table -> function that removes the protection against spreadsheet formulas from a cell."""


def _as_written(delimiter: str) -> Callable[[str], str]:
    return str


TABLES = (".csv", ".tsv")
"""Suffixes of files that are read as tables, even if the header is unknown."""
DELIMITERS = ",;\t|"
"""Comma by the standard (RFC 4180); semicolon where Excel uses decimal commas."""
MAX_HEADER = 64 * 1024
"""Characters of a header."""
WEB = "://"
"""Occurs in a line of URLs, but not in a header."""


def is_header(line: str) -> bool:
    """Return whether a line is the header of a table with a column of URLs."""
    return len(line) <= MAX_HEADER and WEB not in line and column_of(_header(line)[0]) is not None


def column_of(names: Sequence[str]) -> int | None:
    """Return the index of the column that holds the URLs, or None."""
    names = [name.strip().lower() for name in names]
    return next((names.index(name) for name in COLUMNS if name in names), None)


def read_table(lines: Iterator[str], cells: CellReader = _as_written) -> Iterator[ListEntry]:
    """Yield the URLs of a table; skip blank lines and comments. Raises ValueError if no column holds URLs."""
    before, first = 0, ""
    for first in lines:
        before += 1
        if first.strip():
            break
    names, delimiter = _header(first)
    column = column_of(names)
    if column is None:
        raise ValueError(f"has no column loc; there are {', '.join(map(quoted, names[:20]))}")
    text_of = cells(delimiter)
    kinds = [name.strip().lower() for name in names]
    kind = kinds.index("type") if "type" in kinds else None
    for row, line in rows_of(lines, delimiter, before):
        if isinstance(row, Unread):
            yield row
        elif len(row) > len(names):
            yield Unread(line, f"the row has {counted(len(row), 'cell')}, the header {len(names)}")
        elif kind is None or len(row) <= kind or row[kind] in ("", TYPE):
            yield entry_of(text_of(row[column]), line) if column < len(row) else Unread(line, "the row has no loc")


def _header(line: str) -> tuple[list[str], str]:
    """Return the cells of a header and its delimiter: one that yields a column of URLs, else most columns."""
    found = [(cells_of(line, mark), mark) for mark in DELIMITERS]
    return max(found, key=lambda header: (column_of(header[0]) is not None, len(header[0])))


def cells_of(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line; none if it is blank, a comment or broken."""
    return next((row for row, _ in rows_of([line], delimiter, 0) if not isinstance(row, Unread)), [])


def rows_of(lines: Iterable[str], delimiter: str, before: int) -> Iterator[tuple[list[str] | Unread, int]]:
    """Yield the rows after the header, each with its first line."""
    limit = csv.field_size_limit(MAX_LINE)  # global; the default of 128 KiB is too small for the images of a page
    # Strict, so that an unclosed quote spoils one row instead of swallowing the following ones. Line ends are kept, so
    # that a cell over two lines is not joined.
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        while True:
            line = before + reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Unread(line, f"the row cannot be read: {error}"), line
                continue
            if any(row) and not row[0].startswith("#"):
                yield row, line
    finally:
        csv.field_size_limit(limit)


MAGIC = b"PAR1"
"""Source: https://parquet.apache.org/docs/file-format/"""
ROWS = 10_000


def read_parquet(file: BinaryIO) -> Iterator[ListEntry]:
    """Yield the URLs of a Parquet table. Raises ValueError if pyarrow or a column of URLs is missing, or on damage."""
    table = open_parquet(file)
    names = table.schema_arrow.names
    column = column_of(names)
    if column is None:
        raise ValueError(f"has no column loc; there are {', '.join(map(quoted, names[:20]))}")
    chosen = [names[column], *(["type"] if "type" in names else [])]
    done = 0
    try:
        for batch in table.iter_batches(ROWS, columns=chosen):
            kinds = batch.column("type").to_pylist() if "type" in chosen else [None] * batch.num_rows
            rows = zip(batch.column(chosen[0]).to_pylist(), kinds, strict=True)
            for row, (url, kind) in enumerate(rows, done + 1):
                if kind in (None, TYPE):
                    yield entry_of(url, row) if isinstance(url, str) else Unread(row, "the row has no loc")
            done += batch.num_rows
    except (OSError, ValueError) as error:  # includes pyarrow's own errors
        yield Unread(done + 1, f"{first_line(error)}: the rest was not read")


def open_parquet(file: BinaryIO) -> pyarrow.parquet.ParquetFile:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise ValueError("is Parquet, for which pyarrow is needed: pip install pyarrow") from None
    try:
        file.seek(0)
        return parquet.ParquetFile(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"is damaged Parquet: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


CHUNK = 64 * 1024
"""Bytes read at a time."""
LIMITS = Limits(max_bytes=1 << 50, max_ratio=1 << 20)
"""Effectively unlimited: the file is the user's own, and it is streamed."""
ARCHIVE = "PK\x03\x04"
"""Start of a ZIP file, such as an Excel spreadsheet. Source: APPNOTE.TXT, 4.3.7"""


def read_list(file: BinaryIO, name: str = "", cells: CellReader = _as_written) -> Iterator[ListEntry]:
    """Yield the URLs that an open file lists, in order and with duplicates, and the places that cannot be read.

    `file` is read from its current position; Parquet must be seekable and at its start. `name` is the file's name.
    `cells` removes the protection against spreadsheet formulas from CSV cells.
    Raises ValueError with a one-line message before the first entry if the file is not a list, and OSError if it cannot
    be read.
    """
    start = file.read(CHUNK)
    if start.startswith(MAGIC):
        yield from read_parquet(file)
        return
    faults = Faults()
    _, texts = decode(inflate(chain([start], iter(lambda: file.read(CHUNK), b"")), LIMITS, faults), faults)
    yield from _read_text(texts, name.lower().removesuffix(".gz"), faults, cells)
    cut = faults.first(*CUT_BYTES)
    if cut is not None:
        yield Unread(None, f"{cut.message}: the rest was not read")


def _read_text(texts: Iterable[str], name: str, faults: Faults, cells: CellReader) -> Iterator[ListEntry]:
    start, texts = peek(texts)
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
        yield from read_table(lines, cells)
    else:
        yield from read_lines(lines)


def peek(texts: Iterable[str]) -> tuple[str, Iterable[str]]:
    """Return the start of a text, at least its first line, without leading blanks; and the whole text."""
    stream, read = iter(texts), ""
    for text in stream:
        read += text
        if "\n" in read.lstrip() or len(read) > CHUNK:
            break
    return read.lstrip(), chain([read], stream)
