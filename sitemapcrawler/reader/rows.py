"""Reads lists of other programs as rows with named columns: CSV, JSON, JSON lines, Parquet, access logs, text.

A list is recognised by its content. In a ZIP file of Search Console, the table of pages is read: beside it are those of
dates, queries and filters, and for pages that are not indexed one with the reason, in the language of the user. `lists`
makes of the rows what the arguments `urls` and `compare` need. May import the rest of `reader` and `urls`. Start
reading in `read_rows`.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import escape
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import BinaryIO, Generic, NamedTuple, TypeVar
from zipfile import BadZipFile, ZipFile, ZipInfo

from sitemapcrawler.reader.access_logs import COMMON, LogFormat, log_format
from sitemapcrawler.reader.decode import decode, inflate
from sitemapcrawler.reader.duck import CONFIG, duckdb
from sitemapcrawler.reader.faults import CUT_BYTES, Faults, Limits
from sitemapcrawler.urls.display import first_line, quoted

T = TypeVar("T")
SEPARATORS = re.compile(r"[\s_\-\ufeff\"']+")
"""What differs between spellings of a column's name: blanks and the like between words, a mark or quotes around it."""


def plain_name(name: str) -> str:
    """The name of a column in lowercase without quotes and separators: `httpcode` for `HTTP Code` and `http_code`."""
    return SEPARATORS.sub("", name).lower()


COLUMNS = tuple(map(plain_name, (
    "loc", "url", "inspection url", "address", "page", "top pages", "pages", "page url", "page location",
    "full page url", "permalink", "landing page", "landing page + query string", "page path",
    "page path + query string", "page path and screen class", "page path + query string and screen class", "url path",
    "path", "pathname", "uri", "request uri", "link", "target page", "target url",
)))  # fmt: skip
"""Plain names of columns with the URL, in order of preference: this project's own, those of Screaming Frog, Search
Console, GA4 and others. Tables of backlinks have the page of the site as the target."""
KEYS = "keys"
"""Field with the dimensions of a row of Search Console's API.

Source: https://developers.google.com/webmaster-tools/v1/searchanalytics/query
"""
TEXT = "text"
"""A format of which callers ask."""
WEB = re.compile(r"https?://", re.IGNORECASE)
FIGURE = re.compile(r"[0-9.,:%TZ+ -]*")
"""A number or a date."""
COMMENT = re.compile(r"(?:^|\s)#.*")
"""Comment, which starts the line or follows a blank, as in other list arguments; elsewhere `#` belongs to the URL."""
BLANKS = re.compile(r"[ \t\n\r]*")
"""White space of JSON (RFC 8259, 2)."""
START = re.compile(r"""[\s"']*(?:https?:/)?/""", re.IGNORECASE)
"""The start of a line with a URL or a path."""
REST_UNREAD = "the rest was not read"
"""End of the problem of a list that is broken."""
LOST = "\ufffd"
"""Stands for lost bytes, and for the rest of a line that is too long."""
DELIMITERS = ",;\t|"
"""Comma by the standard (RFC 4180); semicolon where Excel uses decimal commas."""
SURE = ";\t"
"""Those after which a figure is hardly ever part of a URL: `/news,123` is one."""
LEAD = 20
"""Lines before the header of a table: GA4 writes comments there, Screaming Frog once wrote a title."""
FIRST_OBJECTS = 1_000
"""Objects of a list in JSON among which one must have a URL: feeds of all records have others in front."""
MAX_LINE = 16 * 2**20
"""Characters of a line, which may be a record with a thousand images; a longer line is cut."""
MAX_ROW = 10_000
"""Lines of a row of a table, whose cells may have line breaks."""
MAX_HEADER = 64 * 1024
"""Characters of a header."""
MAX_SHOWN = 20
"""Columns that a message names."""
CHUNK = 64 * 1024
"""Bytes read at a time."""
AT_ONCE = 10_000
"""Rows of a Parquet file that are read at a time."""
LIMITS = Limits(max_bytes=1 << 50, max_ratio=1 << 20)
"""Effectively unlimited: the file is the user's own, and it is streamed."""
NUMBER = "file_row_number"
"""Column that DuckDB adds, counted from 0."""
MAGIC = b"PAR1"
"""Start of a Parquet file. Source: https://parquet.apache.org/docs/file-format/"""
REASON = "coveragestate"
"""Column of the reason that an archive states for all rows of its table."""


class Row(NamedTuple):
    """A row of a list."""

    line: int
    """Line, counted from 1: the first line of a table row or object, or the row number in Parquet."""
    url: object
    """What is in the place of the URL: a text as it is written, None if there is nothing, or any value of JSON."""
    cells: Mapping[str, object]
    """Values of the requested columns that the list has, by name in lowercase. Rows may share them."""
    problem: str = ""
    """Why the cells may be in wrong columns, on one line; empty if they are not."""


class Unread(NamedTuple):
    """A place in the list that cannot be used."""

    line: int | None
    """As in `Row`; None for the whole file."""
    problem: str
    """What is wrong, on one line, with the value."""


@dataclass
class Rows(Generic[T]):
    """A list that was recognised."""

    format: str
    """What it is, for people."""
    rows: Iterator[T]
    """In order; none of an access log."""
    log: LogFormat | None = None
    """Format of an access log; None for other lists."""
    lines: Iterable[str] = ()
    """Lines of an access log, some hundreds joined at a time."""


CellReader = Callable[[str], Callable[[str], str]]
"""Delimiter of a table -> what returns the value of a cell, without protection against spreadsheet formulas, which adds
apostrophes."""


def as_written(_: str) -> Callable[[str], str]:
    """Cells of a program that does not protect them."""
    return str


def read_rows(
    file: BinaryIO, path: str = "", columns: Collection[str] = (), cells: CellReader = as_written, guesses: bool = True
) -> Rows[Row | Unread]:
    """Recognise an open file, and return its rows. `path`: of the file, which DuckDB opens if it is Parquet.

    `columns`: plain names of columns to read besides the URL. `cells` reads the cells of a table.
    `guesses`: where no column has a known name, take one by what is in it, and refuse a file without any URL; else its
    lines are rows as they stand, unless all have figures behind a delimiter that is not part of a URL.
    Raises ValueError, one line, if the file is no list or no column has URLs, and OSError; what is broken behind its
    start becomes `Unread`.
    """
    start = file.read(CHUNK)
    if start.startswith(MAGIC):
        return Rows("Parquet", _parquet(path, columns))
    if start.startswith(SIGNATURE):
        table, reason = table_of(file)
        found = read_rows(table, "", columns, cells, guesses)
        return replace(found, rows=_with_reason(found.rows, reason)) if reason and REASON in columns else found
    faults = Faults()
    texts = decode(inflate(chain([start], iter(lambda: file.read(CHUNK), b"")), LIMITS, faults), faults)
    found = _recognised(texts, faults, columns, cells, guesses)
    return replace(found, rows=chain(found.rows, _cut(faults)))


def is_empty(path: str) -> bool:
    """True for an empty file, also as gzip; False for one that cannot be read."""
    with suppress(OSError), Path(path).open("rb") as file:
        return not any(inflate(iter(lambda: file.read(CHUNK), b""), LIMITS, Faults()))
    return False


def _recognised(
    texts: Iterable[str], faults: Faults, columns: Collection[str], cells: CellReader, guesses: bool
) -> Rows[Row | Unread]:
    head, texts = _peek(texts)
    if not head:
        raise ValueError("is empty")
    if head.startswith("<"):
        raise ValueError("is XML or HTML; accepted: CSV, JSON, Parquet or text (the argument sitemap takes sitemaps)")
    if head.startswith((SIGNATURE.decode(), MAGIC.decode())):
        raise ValueError("is an archive inside an archive; unpack it")
    if head.startswith("["):
        objects = _Objects(columns)
        return Rows("JSON", objects.checked(_array(texts, objects), guesses))
    pieces = _pieces(texts, faults)
    lead = _lead(pieces)
    first = [*islice(_lines(lead), LEAD)]
    pieces = chain(lead, pieces)
    whole = _lines(pieces)
    log = log_format(first)
    if head.startswith("{") and log in (None, COMMON):
        _check_lines(first)
        objects = _Objects(columns)
        return Rows("JSON lines", objects.checked(_json_lines(whole, objects), guesses))
    if log is not None:
        return Rows(log.name, iter(()), log, pieces)
    header = _header(first, below_urls=guesses) or (_guessed(first) if guesses else _unnamed(first, SURE, distinct=2))
    if header is not None:
        return Rows(_kind(header.names, first), _table(whole, header, columns, cells(header.delimiter)))
    if guesses:
        _check_text(first)
    return Rows(TEXT, _text(whole))


def _with_reason(rows: Iterator[Row | Unread], reason: str) -> Iterator[Row | Unread]:
    for row in rows:
        yield row._replace(cells={**row.cells, REASON: reason}) if isinstance(row, Row) else row


def _cut(faults: Faults) -> Iterator[Unread]:
    cut = faults.first(*CUT_BYTES)
    if cut is not None:
        yield Unread(None, f"{cut.message}: {REST_UNREAD}")


def _peek(texts: Iterable[str]) -> tuple[str, Iterable[str]]:
    """Return the start of a text, at least its first line, without leading blanks; and the whole text."""
    stream, read = iter(texts), ""
    for text in stream:
        read += text
        if "\n" in read.lstrip() or len(read) > CHUNK:
            break
    return read.lstrip(), chain([read], stream)


def _pieces(texts: Iterable[str], faults: Faults) -> Iterator[str]:
    """Yield whole lines, joined, as many as a text has. One of more than `MAX_LINE` characters is cut and ends with
    `LOST`; the last one is yielded only if it is complete.

    Raises ValueError if the first line is longer: no list begins like that, and a file without line ends may be huge.
    """
    parts: list[str] = []
    size, is_first = 0, True
    for text in texts:
        whole, end, rest = text.rpartition("\n")
        if end:
            first, end, others = whole.partition("\n")
            yield f"{_line([*parts, first])}{end}{others}"
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


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    return chain.from_iterable(piece.split("\n") for piece in pieces)


def _lead(pieces: Iterator[str]) -> list[str]:
    """Take the pieces that decide what a list is: `LEAD` lines, fewer if they are huge."""
    taken: list[str] = []
    lines = size = 0
    while lines < LEAD and size <= MAX_LINE and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        lines += piece.count("\n") + 1
        size += len(piece)
    return taken


# Text


def _check_text(first: Iterable[str]) -> None:
    """Raise ValueError if no line begins with a URL or a path."""
    given = [line for line in first if line.strip() and not line.startswith("#")]
    if not any(START.match(line) for line in given):
        names = [name for line in given[:1] for name in re.split(f"[{DELIMITERS}]", line)]
        raise _no_column(names or ["comments alone"])


def _no_column(names: Sequence[str]) -> ValueError:
    return ValueError(f"has no column with URLs; its columns are {', '.join(map(quoted, names[:MAX_SHOWN]))}")


def _text(lines: Iterable[str]) -> Iterator[Row]:
    """Yield lines that are neither blank nor comments."""
    for number, line in enumerate(lines, 1):
        if text := COMMENT.sub("", line).strip():
            yield Row(number, text, {})


# Tables


@dataclass(frozen=True, slots=True)
class _Header:
    """Where the rows of a table begin, and its columns."""

    lines: int
    """Lines up to the first row."""
    names: Sequence[str]
    """In lowercase; empty ones if there is no header."""
    column: int
    """Index of the column with the URLs."""
    delimiter: str


def column_of(names: Iterable[str]) -> int | None:
    """Return the index of the column that has the URLs by its name, or None."""
    plain = list(map(plain_name, names))
    return next((plain.index(name) for name in COLUMNS if name in plain), None)


def _header(first: Sequence[str], below_urls: bool) -> _Header | None:
    """Find a header that names a column of URLs. `below_urls`: also below a line with a URL, which may be a title."""
    for number, line in enumerate(first, 1):
        if not below_urls and WEB.match(line.lstrip()):
            return None
        if len(line) > MAX_HEADER or WEB.search(line):
            continue
        for delimiter in DELIMITERS:
            names = _cells(line, delimiter)
            if (column := column_of(names)) is not None:
                return _Header(number, list(map(plain_name, names)), column, delimiter)
    return None


def _guessed(first: Sequence[str]) -> _Header | None:
    """Find a column by its content: of URLs or paths below a header in another language, or as `_unnamed` does."""
    for delimiter in DELIMITERS:
        for (_, names), (begin, below) in pairwise(_whole_rows(first, delimiter)):
            column = next((at for start in (WEB, START) for at, cell in enumerate(below) if start.match(cell)), None)
            if column is None:
                continue
            if len(names) == len(below) > 1 and not any(WEB.search(name) or START.match(name) for name in names):
                return _Header(begin - 1, list(map(plain_name, names)), column, delimiter)
            break
    return _unnamed(first, DELIMITERS)


def _unnamed(first: Sequence[str], delimiters: str, distinct: int = 1) -> _Header | None:
    """Find a column of URLs in rows without a header, which have equal lengths and figures in another column. A
    delimiter may also be part of a URL, as in `/list;1` and `/list;2`: at least `distinct` URLs must differ without."""
    for delimiter in delimiters:
        found = [row for _, row in _whole_rows(first, delimiter)]
        columns = [*zip(*found, strict=True)] if len({*map(len, found)}) == 1 else []
        urls = [place for place, cells in enumerate(columns) if all(map(WEB.match, cells))]
        has_figures = any(all(map(FIGURE.fullmatch, cells)) for cells in columns)
        if urls and has_figures and len({*columns[urls[0]]}) >= distinct:
            return _Header(0, [""] * len(columns), urls[0], delimiter)
    return None


def _whole_rows(first: Sequence[str], delimiter: str) -> list[tuple[int, list[str]]]:
    """The rows that can be read, each with its first line; their cells may have line breaks."""
    rows = _TableLines(iter(first), _Header(0, (), 0, delimiter)).rows()
    return [(line, row) for line, row in rows if not isinstance(row, str)]


def _kind(names: Collection[str], first: Sequence[str]) -> str:
    """The program that wrote a table, by its columns."""
    if "address" in names and {"statuscode", "indexability", "contenttype", "content", "status"} & {*names}:
        return "Screaming Frog"
    if "lastcrawled" in names or {"clicks", "impressions"} <= {*names}:
        return "Search Console"
    if any(name.startswith(("pagepath", "landingpage")) for name in names) or first[0].startswith(("# ", "#-")):
        return "GA4"
    return "CSV"


def _table(
    lines: Iterator[str], header: _Header, columns: Collection[str], read: Callable[[str], str]
) -> Iterator[Row | Unread]:
    """Yield the rows behind the header; skip blank ones and comments."""
    for _ in islice(lines, header.lines):
        pass
    width, column = len(header.names), header.column
    places = [(name, header.names.index(name)) for name in columns if name in header.names]
    for line, row in _TableLines(lines, header).rows():
        if isinstance(row, str):
            yield Unread(line, row)
            continue
        many = len(row)
        problem = "" if many <= width else f"the row has {many} cells, the header {width}"
        cells = {name: _read(row[place], read) for name, place in places if place < many}
        url = row[column] if column < many else None
        yield Row(line, url and _read(url, read), cells, problem)


def _read(cell: str, read: Callable[[str], str]) -> str:
    """The value of a cell; most need no reading."""
    return read(cell) if "'" in cell else cell


class _TableLines:
    """The lines of a table, which the csv module takes one by one.

    A quote without an end costs its own row alone: the lines that the csv module takes for the rest of the cell are
    read one by one instead.
    """

    def __init__(self, lines: Iterator[str], header: _Header) -> None:
        self._lines = lines
        self._header = header
        self._number = header.lines
        """Of the last line taken."""
        self._again: list[str] = []
        """Lines that are taken a second time."""
        self._taken: list[str] = []
        """Lines of the current row."""
        self._has_more = True

    def rows(self) -> Iterator[tuple[int, list[str] | str]]:
        """Yield the first line of each row, and its cells or why it cannot be read."""
        limit = csv.field_size_limit(MAX_LINE)  # global; the default of 128 KiB is too small for the images of a page
        try:
            while self._has_more:
                line = self._number + 1
                try:
                    for row in csv.reader(self._fed(), delimiter=self._header.delimiter, strict=True):
                        if _has_cells(row):
                            yield line, row
                        line = self._number + 1
                        self._taken.clear()
                except csv.Error as error:
                    yield from self._line_by_line(line, str(error))
        finally:
            csv.field_size_limit(limit)

    def _fed(self) -> Iterator[str]:
        """Yield the next lines. Raises csv.Error for a row that is too long."""
        size = 0
        for line in chain(self._again, self._lines):
            size = len(line) + (size if self._taken else 0)
            self._number += 1
            self._taken.append(line)
            if size > MAX_LINE + len(LOST) or len(self._taken) > MAX_ROW:
                raise csv.Error(f"it has more than {MAX_LINE:,} characters or {MAX_ROW:,} lines")
            yield f"{line}\n"  # so that a cell over two lines is not joined
        self._has_more = False

    def _line_by_line(self, number: int, error: str) -> Iterator[tuple[int, list[str] | str]]:
        """Read the lines of a row with a wrong quote as a row each. The last one may be the start of a good row."""
        lines = self._taken[:-1] or self._taken
        self._again = self._taken[len(lines) :]
        self._number -= len(self._again)
        self._has_more = self._has_more or bool(self._again)
        self._taken = []
        for at, line in enumerate(lines, number):
            if not line.strip() or line.startswith("#"):
                continue
            row = _cells(line, self._header.delimiter) or line.split(self._header.delimiter)
            is_whole = len(row) == len(self._header.names) and '"' not in row[self._header.column]
            yield at, row if is_whole else f"the row cannot be read: {error}"


def _cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line; none if it is blank, a comment or broken."""
    limit = csv.field_size_limit(MAX_LINE)
    try:
        row = next(csv.reader([f"{line}\n"], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []
    finally:
        csv.field_size_limit(limit)
    return row if _has_cells(row) else []


def _has_cells(row: Sequence[str]) -> bool:
    """False for a blank line and a comment. A column of numbers may be named `#`."""
    return any(row) and not (row[0].startswith("#") and (row[0] != "#" or len(row) == 1))


# JSON

_decoder = json.JSONDecoder()


class _Objects:
    """Makes rows of JSON values. Most objects of a list have the same names."""

    def __init__(self, columns: Collection[str]) -> None:
        self._columns = columns
        self._names: Sequence[str] = ()
        self._url: str | None = None
        self._others: list[tuple[str, str]] = []

    def row(self, value: object, line: int) -> Row | Unread:
        """The row of a URL, or of an object; in one of Search Console's API, the URL is among its keys."""
        if isinstance(value, str):
            return Row(line, value, {})
        if not isinstance(value, dict):
            return Unread(line, f"{quoted(json.dumps(value))} is not an object")
        if self._names != (names := tuple(value)):
            self._choose(names)
        url = None if self._url is None else value[self._url]
        if isinstance(url, list):
            url = next((key for key in url if isinstance(key, str) and WEB.match(key)), None)
        return Row(line, url, {name: value[field] for name, field in self._others})

    def checked(self, rows: Iterator[Row | Unread], needs_urls: bool) -> Iterator[Row | Unread]:
        """The rows that this object makes. `needs_urls`: raise ValueError if the first `FIRST_OBJECTS` have no URL."""
        first = list(islice(rows, FIRST_OBJECTS)) if needs_urls else []
        if first and not any(isinstance(row, Row) and isinstance(row.url, str) for row in first):
            raise _no_column(self._names) if self._names else ValueError("has no objects with URLs")
        return chain(first, rows)

    def _choose(self, names: tuple[str, ...]) -> None:
        self._names, column = names, column_of(names)
        self._url = names[column] if column is not None else next((name for name in names if name == KEYS), None)
        self._others = [(plain, name) for name in names if (plain := plain_name(name)) in self._columns]


def _check_lines(first: Iterable[str]) -> None:
    """Raise ValueError if neither of the first two lines is an object: it has several lines, perhaps around a list."""
    lines = [*islice(filter(str.strip, first), 2)]
    for line in lines:
        with suppress(ValueError, RecursionError):
            if isinstance(json.loads(line), dict):
                return
    if lines:
        raise ValueError("is a JSON object over several lines; accepted: a JSON array, or an object per line")


def _json_lines(lines: Iterable[str], objects: _Objects) -> Iterator[Row | Unread]:
    """Yield one JSON value per line; skip blank lines."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                yield Unread(number, f"{quoted(line)} is not JSON")
            else:
                yield objects.row(value, number)


def _array(texts: Iterable[str], objects: _Objects) -> Iterator[Row | Unread]:
    """Yield the elements of a JSON array up to a break. Its text is held in memory."""
    text = "".join(texts)
    line, begin, at = 1, 0, _behind_blanks(text, text.index("[") + 1)
    is_end = text.startswith("]", at)
    while not is_end:
        line += text.count("\n", begin, at)
        begin = at
        try:
            value, end = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield _broken(line, f"{quoted(text[at : at + MAX_LINE])} is not JSON")
            return
        yield objects.row(value, line)
        at = _behind_blanks(text, end)
        is_end = text.startswith("]", at)
        if not is_end:
            if not text.startswith(",", at):
                yield _broken(line, "a comma or the end is missing")
                return
            at = _behind_blanks(text, at + 1)
    if _behind_blanks(text, at + 1) < len(text):
        yield _broken(line, "there is text after its end")


def _behind_blanks(text: str, at: int) -> int:
    return BLANKS.match(text, at).end()  # type: ignore[union-attr]  # it also matches nothing


def _broken(line: int, why: str) -> Unread:
    return Unread(line, f"the JSON is broken, {why}: {REST_UNREAD}")


# Parquet


def _parquet(path: str, columns: Collection[str]) -> Iterator[Row | Unread]:
    """Return the rows of a Parquet file. Raises ValueError if it is damaged, or no column has URLs."""
    connection = duckdb.connect(config=CONFIG)
    # Old files do not say that their bytes are text. DuckDB takes a path for a pattern.
    source = "read_parquet(?, file_row_number = true, binary_as_string = true, hive_partitioning = false)"
    try:
        described = connection.execute(f"DESCRIBE SELECT * EXCLUDE {NUMBER} FROM {source}", [escape(path)]).fetchall()
        names = [name for name, *_ in described]
        column = column_of(names)
        if column is None:
            raise _no_column(names)
        others = [name for name in names if plain_name(name) in columns]
        chosen = ", ".join('"{}"'.format(name.replace('"', '""')) for name in [names[column], *others])
        connection.execute(f"SELECT {NUMBER} + 1, {chosen} FROM {source}", [escape(path)])
    except duckdb.Error as error:
        raise ValueError(f"is damaged Parquet: {first_line(error)}") from None
    return _fetched(connection, list(map(plain_name, others)))


def _fetched(result: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[Row | Unread]:
    """Yield the rows of a result: line, URL, and the columns with these names."""
    line = 0
    cells, before = dict[str, object](), list[object]()
    try:
        while rows := result.fetchmany(AT_ONCE):
            for line, url, *others in rows:
                if others != before:  # most rows have the same type
                    cells, before = dict(zip(names, others, strict=True)), others
                yield Row(line, url, cells)
    except duckdb.Error as error:
        yield Unread(line + 1, f"{first_line(error)}: {REST_UNREAD}")


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
