"""Reads the URLs in lists: for the argument `urls` (`read_list`), and in what other programs export, for the argument
`compare` (`read_export`): crawls, Search Console, analytics, logs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from glob import glob
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sitemapcrawler import urls
from sitemapcrawler.items import IndexStatus
from sitemapcrawler.reader.index_status import StatusReader
from sitemapcrawler.reader.rows import LOST, TEXT, WEB, CellReader, Row, Rows, Unread, as_written, is_empty, read_rows
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
    text = row.url.strip().strip("\"'" if is_text else "")
    if not text:
        return Unread(row.line, "there is no URL")
    if is_text and len(text.split()) > 1:
        what = "contains whitespace; a line has one URL, in which a space is %20"
        return Unread(row.line, f"{quoted(text)} {what}")
    if _SPOILT.search(text):
        return Unread(row.line, f"{quoted(text)} has characters that no URL has")
    loc = urls.resolve(base if text.startswith("/") else "", text)
    return Unread(row.line, f"{quoted(text)} is not an http or https URL") if loc is None else ListedUrl(loc, row.line)


SPOILT = re.compile('[ \t"\ufffd]')
"""In no URL: a quote is the end of a cell of a table that was not recognised."""
TRACKING = re.compile(
    r"(?<=[?&])(?:utm_\w+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|li_fat_id|mc_[ce]id|_ga|_gl"
    r"|srsltid)=[^&#]*(?:&|(?=#|\Z))"
)
"""Parameters that advertisements, newsletters and analytics add to the URL of a page."""
IS_ERROR = re.compile(r"(?!200\b)(?:0|[1-5][0-9]{2})(?: \D.*)?").fullmatch
"""Matches a status but 200, perhaps with its reason: `404 Not Found`."""
VERDICTS: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(
        ("status", "statuscode", "httpstatus", "httpstatuscode", "httpcode", "responsecode", "códigoderespuesta",
         "códigodeestado", "codederéponse", "codedestatut", "codehttp", "codicedirisposta", "codicedistato",
         "códigoderesposta", "códigodestatus"),
        IS_ERROR,
    ),
    **dict.fromkeys(
        ("indexability", "indexierbarkeit", "indexabilidad", "indexabilité", "indicizzabilità", "indexabilidade"),
        re.compile(
            "(?:nicht|non?|não)[ -].*|blocked|unreachable|server error|not found|client error|redirect|soft 404|noindex"
            "|canonicalised"
        ).fullmatch,
    ),
    **dict.fromkeys(("indexable", "isindexable", "isindexablepage"), ("false", "no", "0").__contains__),
}  # fmt: skip
"""Those of `NO_PAGE` that say whether the page works and can be indexed."""
NO_PAGE: Mapping[str, Callable[[str], object]] = {
    "type": ("sitemap", "robots", "finding", "summary").__contains__,
    **VERDICTS,
    "change": "removed".__eq__,
    **dict.fromkeys(
        ("contenttype", "inhaltstyp", "tipodecontenido", "typedecontenu", "tipodicontenuto", "tipodeconteúdo"),
        re.compile("(?:application|audio|font|image|model|text|video)/(?!.*html).*").fullmatch,
    ),
}
"""Columns of this project's own feeds and of other crawlers, Screaming Frog in the languages of its menus, that say
whether a row is a page to index: plain name -> what is true if a value, in lowercase, says that it is not."""
CLICKS = (
    "clicks", "klicks", "clics", "clic", "cliques", "klikken", "kliknięcia", "клики", "クリック数", "클릭수",
    "点击次数", "last28daysclicks", "last3monthsclicks",
)  # fmt: skip
"""Plain names of columns of Search Console, in several languages."""
COUNT = re.compile(r"[0-9]{1,12}|[0-9]{1,3}(?:[,.\s'\u2019][0-9]{3}){1,3}")
"""A whole number, perhaps with a separator of thousands."""
UNREAD = ""
"""In place of a URL: a row that has none."""
LEFT_OUT = "-"
"""Stands before the URL of a row that is no page, or no page to index by the word of the list."""


class ExportRow(NamedTuple):
    """A row of a list."""

    url: str
    """Absolute or beginning with a slash, without fragment and tracking parameters, perhaps with `LEFT_OUT` before it;
    or `UNREAD`."""
    status: IndexStatus | None = None
    """What Google says of the URL, if the row has it."""
    clicks: int | None = None
    """Clicks on it in search results, if the row has them."""


def files_of(path: str) -> list[str]:
    """The file at a path, or else the files that it stands for as a pattern with `*`, `?` or `[`, in order. Empty ones,
    such as a log that was just rotated, are left out unless all are."""
    if Path(path).is_file():
        return [path]
    found = sorted(one for one in glob(path) if Path(one).is_file())  # noqa: PTH207 - a pattern may be absolute
    return [one for one in found if not is_empty(one)] or found


def read_export(file: BinaryIO, path: str = "", cells: CellReader = as_written) -> Rows[ExportRow]:
    """Recognise an open file. `path` and `cells`: as for `read_rows`. Raises ValueError, one line, if no URLs can be
    found in it, and OSError; what is broken behind its start becomes `UNREAD`."""
    found = read_rows(file, path, (*NO_PAGE, *CLICKS, *StatusReader.columns), cells)
    return Rows(found.format, _read(found), found.log, found.lines)


def _read(found: Rows[Row | Unread]) -> Iterator[ExportRow]:
    statuses = StatusReader()
    for row in found.rows:
        if isinstance(row, Unread) or not isinstance(row.url, str):
            yield ExportRow(UNREAD)
        else:  # in a text, other values may stand behind the URL
            url = cleaned(row.url.split()[0].strip("\"'") if found.format == TEXT else row.url.lstrip("'"))
            clicks = next((str(row.cells[name] or "") for name in CLICKS if name in row.cells), "")
            yield ExportRow(
                f"{LEFT_OUT}{url}" if _is_no_page(row.cells) else url,
                statuses.status(row.cells, url),
                int(re.sub(r"\D", "", clicks)) if COUNT.fullmatch(clicks) else None,
            )


def cleaned(url: str) -> str:
    """Return what a list has as URL without fragment and tracking parameters; `UNREAD` if it is neither a web URL nor a
    path."""
    url = url.strip().partition("#")[0]
    if not (url.startswith("/") or WEB.match(url)) or SPOILT.search(url):
        return UNREAD
    if "?" in url:
        clean, many = TRACKING.subn("", url)
        return clean.rstrip("?&") if many else url
    return url


def _is_no_page(cells: Mapping[str, object]) -> bool:
    """True for a row that, by its own words, is no page or none to index. Empty cells say nothing."""
    known = ((NO_PAGE[name], value) for name, value in cells.items() if value and name in NO_PAGE)
    return any(says_no_page(str(value).strip().lower()) for says_no_page, value in known)
