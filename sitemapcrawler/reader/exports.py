"""Reads the URLs in what other programs export, for the argument `compare`: crawls, Search Console, analytics, logs.

A file is recognised by its content. Of tables, the column is found by its name, or by what is in it. Start reading in
`read_export`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO

from sitemapcrawler.reader.decode import decode, inflate
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.lists import (
    ARCHIVE,
    CHUNK,
    DELIMITERS,
    LIMITS,
    MAGIC,
    MAX_HEADER,
    ROWS,
    BrokenJson,
    JsonArray,
    Unread,
    cells_of,
    lines_of,
    open_parquet,
    peek,
    rows_of,
)
from sitemapcrawler.urls.display import quoted

COLUMNS = (
    "loc", "url", "address", "page", "top pages", "pages", "page url", "page location", "full page url", "landing page",
    "landing page + query string", "page path", "page path + query string", "page path and screen class",
    "page path + query string and screen class", "url path", "path", "uri", "request uri", "link",
)  # fmt: skip
"""Names of columns with the URL, in order of preference, in small letters: this project's own, those of Screaming Frog,
Search Console, GA4 and others."""
LEAD = 20
"""Lines before the header of a table: GA4 writes comments there, Screaming Frog once wrote a title."""
LOG_LINE = re.compile(
    r'(?P<lead>[^"\[\n]*)\[[^\]\n]{10,40}\] "(?P<method>[A-Z]+) (?P<target>\S+)(?: HTTP/[0-9.]+)?" '
    r"(?P<status>[0-9]{3})\b"
)
"""A line of an access log in the common or combined format, perhaps with the virtual host in front.

Source: https://httpd.apache.org/docs/current/logs.html#accesslog
"""
READING, SERVED = ("GET", "HEAD"), ("200", "304")
ASSET = re.compile(
    r"[^?#]*\.(?:avif|bmp|css|eot|gif|ico|jpe?g|js|json|map|mjs|mp[34]|ogg|otf|png|rss|svg|ttf|txt|wasm|web[mp]|woff2?|xml"
    r"|zip|gz)(?:[?#]|\Z)",
    re.IGNORECASE,
)
"""The URL of a style sheet, script, image or other file that is no page."""
VIRTUAL_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*\.[A-Za-z]{2,}(?::[0-9]+)?")
TRACKING = re.compile(
    r"(?<=[?&])(?:utm_\w+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|li_fat_id|mc_[ce]id|_ga|_gl"
    r"|srsltid)=[^&#]*(?:&|(?=#|\Z))"
)
"""Parameters that advertisements, newsletters and analytics add to the URL of a page."""
WEB = re.compile(r"https?://", re.IGNORECASE)
NOT_INDEXABLE = "non-indexable"
OTHER_RECORDS = ("sitemap", "robots", "finding", "summary")
"""Types of records in this project's own feeds that are no pages."""
SAYING = ("type", "status code", "indexability", "content type")
"""Columns that say whether a row is a page to index."""
FIGURE = re.compile(r"[0-9.,:%TZ+ -]*")
"""A number or a date."""

UNREAD = ""
"""In place of a URL: a row that has none."""
LEFT_OUT = "-"
"""Stands before the URL of a row that is no page, or no page to index by the word of the list."""


@dataclass
class Export:
    """A list that was recognised."""

    format: str
    """What it is, for people."""
    rows: Iterator[str]
    """The URL of each row, absolute or beginning with a slash, without fragment and tracking parameters, perhaps with
    `LEFT_OUT` before it; or `UNREAD`."""


def read_export(file: BinaryIO, name: str = "") -> Export:
    """Recognise an open file. `name`: the file's name. Raises ValueError, one line, if no URLs can be found in it, and
    OSError; what is broken behind its beginning becomes `UNREAD`."""
    start = file.read(CHUNK)
    if start.startswith(MAGIC):
        return _parquet(file)
    faults = Faults()
    _, texts = decode(inflate(chain([start], iter(lambda: file.read(CHUNK), b"")), LIMITS, faults), faults)
    head, stream = peek(texts)
    if not head:
        raise ValueError("is empty")
    if head.startswith("<"):
        raise ValueError("is XML or HTML; accepted: CSV, JSON lines, Parquet, text or an access log")
    if head.startswith((ARCHIVE, MAGIC.decode())):
        raise ValueError("is an archive or a spreadsheet; save it as CSV, or unpack it")
    if head.startswith("["):
        return Export("JSON", _array(stream))
    lines: Iterator[str] = lines_of(stream, faults)
    if head.startswith("{"):
        return Export("JSON lines", map(_of_object, filter(str.strip, lines)))
    first = list(islice(lines, LEAD))
    if any(LOG_LINE.match(line) for line in first):
        return Export("access log", _log(chain(first, lines)))
    return _table(first, lines) or _text(first, chain(first, lines))


def cleaned(url: str) -> str:
    """Return what a list has as URL without fragment and tracking parameters; `UNREAD` if it is neither a web URL nor a
    path."""
    url = url.strip().partition("#")[0]
    if not (url.startswith("/") or WEB.match(url)) or any(blank in url for blank in " \t\ufffd"):
        return UNREAD
    if "?" in url and TRACKING.search(url):
        url = TRACKING.sub("", url).rstrip("?&")
    return url


def column_of(names: Sequence[str]) -> int | None:
    """Return the index of the column that has the URLs by its name, or None."""
    plain = [" ".join(name.lower().split()).strip("\ufeff\"'") for name in names]
    return next((plain.index(name) for name in COLUMNS if name in plain), None)


def _log(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        found = LOG_LINE.match(line)
        if found is None:
            if line.strip():
                yield UNREAD
        else:
            lead, target = found["lead"].split(), found["target"]
            is_page = found["method"] in READING and found["status"] in SERVED and not ASSET.match(target)
            host = lead[0] if len(lead) > 3 and VIRTUAL_HOST.fullmatch(lead[0]) else None
            url = cleaned(f"//{host.partition(':')[0]}{target}" if host and target.startswith("/") else target)
            yield url if is_page else f"{LEFT_OUT}{url}"


def _table(first: list[str], lines: Iterator[str]) -> Export | None:
    """Read a table; None for a text that has no column of URLs."""
    for number, line in enumerate(first):
        if line.startswith("#") or len(line) > MAX_HEADER or WEB.search(line):
            continue
        for delimiter in DELIMITERS:
            names = cells_of(line, delimiter)
            if (column := column_of(names)) is not None:
                return Export(_kind(names, first), _cells(chain(first, lines), number + 1, names, column, delimiter))
    begin = [number for number, line in enumerate(first) if line.strip() and not line.startswith("#")]
    for at in begin[1:2]:  # a header with names in another language, and the row below it
        for delimiter in DELIMITERS:
            names, cells = (cells_of(first[place], delimiter) for place in (begin[0], at))
            column = next((place for place, cell in enumerate(cells) if WEB.match(cell)), None)
            if column is not None and len(names) == len(cells) > 1 and not WEB.search(first[begin[0]]):
                return Export("CSV", _cells(chain(first, lines), at, names, column, delimiter))
    return _bare_table(first, lines, begin)


def _bare_table(first: Sequence[str], lines: Iterator[str], begin: Sequence[int]) -> Export | None:
    """Read a table without a header: rows of equal length with URLs in one column and figures in another. A comma may
    also be part of a URL. `begin`: indexes of the lines that are not blank."""
    for delimiter in DELIMITERS:
        rows = [cells_of(first[number], delimiter) for number in begin]
        columns = [*zip(*rows, strict=False)] if len({len(row) for row in rows}) == 1 else []
        urls = [place for place, cells in enumerate(columns) if all(map(WEB.match, cells))]
        if urls and any(all(map(FIGURE.fullmatch, cells)) for cells in columns):
            return Export("CSV", _cells(chain(first, lines), 0, [""] * len(columns), urls[0], delimiter))
    return None


def _kind(names: Sequence[str], first: Sequence[str]) -> str:
    plain = {name.strip().lower() for name in names}
    if "address" in plain and plain & {"status code", "indexability", "content type", "content", "status"}:
        return "Screaming Frog"
    if "last crawled" in plain or {"clicks", "impressions"} <= plain:
        return "Search Console"
    if any(name.startswith(("page path", "landing page")) for name in plain) or first[0].startswith("#"):
        return "GA4"
    return "CSV"


def _cells(lines: Iterator[str], skipped: int, names: Sequence[str], column: int, delimiter: str) -> Iterator[str]:
    """Yield the URL of each row behind the header. `skipped`: lines up to it."""
    for _ in islice(lines, skipped):
        pass
    plain = [name.strip().lower() for name in names]
    places: dict[str, int] = {name: plain.index(name) for name in SAYING if name in plain}
    for row, _ in rows_of(lines, delimiter, skipped):
        if isinstance(row, Unread) or column >= len(row):
            yield UNREAD
            continue
        cells = {name: row[place].strip().lower() for name, place in places.items() if place < len(row)}
        url = cleaned(row[column].lstrip("'"))
        yield f"{LEFT_OUT}{url}" if _is_no_page(cells) else url


def _is_no_page(cells: dict[str, str]) -> bool:
    """True for a row that, by its own words, is no page or none to index. Empty cells say nothing."""
    kind, status, content = (cells.get(name, "") for name in ("type", "status code", "content type"))
    return (
        (kind in OTHER_RECORDS or cells.get("indexability") == NOT_INDEXABLE)
        or (status.isdecimal() and status != "200")
        or ("/" in content and "html" not in content)
    )


def _text(first: Sequence[str], lines: Iterable[str]) -> Export:
    """Read a text with one URL or path per line, perhaps with other values behind it."""
    given = [line for line in first if line.strip() and not line.startswith("#")]
    if not any(cleaned(_first_cell(line)) for line in given):
        cells = [name for line in given[:1] for name in re.split(f"[{DELIMITERS}]", line)]
        raise ValueError(f"has no column with URLs; there are {', '.join(map(quoted, cells[:20])) or 'comments alone'}")
    return Export("text", (cleaned(_first_cell(line)) for line in lines if line.strip() and not line.startswith("#")))


def _first_cell(line: str) -> str:
    """The value in which a line begins."""
    return (line.split(maxsplit=1) or [""])[0].strip("\"'")


def _of_object(line: str) -> str:
    try:
        return _of_value(json.loads(line))
    except (ValueError, RecursionError):
        return UNREAD


def _of_value(value: object) -> str:
    """The URL of an object; of a row of Search Console's API, the first of its keys that is one."""
    if isinstance(value, str):
        return cleaned(value)
    if not isinstance(value, dict):
        return UNREAD
    texts = {str(name): found for name, found in value.items()}
    names = list(texts)
    is_left_out = _is_no_page({name.lower(): found.lower() for name, found in texts.items() if isinstance(found, str)})
    keys = texts.get("keys")
    if isinstance(keys, list):
        return next((url for key in keys if isinstance(key, str) and WEB.match(key) and (url := cleaned(key))), UNREAD)
    column = column_of(names)
    found = texts[names[column]] if column is not None else None
    url = cleaned(found) if isinstance(found, str) else UNREAD
    return f"{LEFT_OUT}{url}" if is_left_out else url


def _array(texts: Iterable[str]) -> Iterator[str]:
    try:
        for value, _ in JsonArray(texts).elements():
            yield _of_value(value)
    except BrokenJson:
        yield UNREAD


def _parquet(file: BinaryIO) -> Export:
    table = open_parquet(file)
    names = table.schema_arrow.names
    column = column_of(names)
    if column is None:
        raise ValueError(f"has no column with URLs; there are {', '.join(map(quoted, names[:20]))}")
    chosen = [names[column], *(["type"] if "type" in names and names[column] != "type" else [])]

    def rows() -> Iterator[str]:
        try:
            for batch in table.iter_batches(ROWS, columns=chosen):
                kinds = batch.column("type").to_pylist() if len(chosen) > 1 else [None] * batch.num_rows
                for url, kind in zip(batch.column(chosen[0]).to_pylist(), kinds, strict=True):
                    is_left_out = kind is not None and _is_no_page({"type": str(kind)})
                    found = cleaned(url) if isinstance(url, str) else UNREAD
                    yield f"{LEFT_OUT}{found}" if is_left_out else found
        except (OSError, ValueError):  # includes pyarrow's own errors
            yield UNREAD

    return Export("Parquet", rows())
