"""A list of pages, or the records of an audit, as sitemaps to repair: a new set is made of its rows.

The rows that can be listed are written as sitemaps for `SiteRepair`, one entry a line, by folder or segment if
requested; the others get a row in the list of changes. Start reading in `PageList`.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple, TextIO
from urllib.parse import quote, unquote, urlsplit
from xml.sax.saxutils import escape, quoteattr

import msgspec

from sitemapcrawler import urls
from sitemapcrawler.feeds.columns import cell_reader
from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.declared import Namespace
from sitemapcrawler.namespaces.element import nested
from sitemapcrawler.namespaces.extensions import (
    HREFLANG_EXTENSION,
    IMAGE_EXTENSION,
    NEWS_EXTENSION,
    VIDEO_EXTENSION,
)
from sitemapcrawler.reader.lists import NO_PAGE, TABLES, VERDICTS, ListedUrl, listed_url
from sitemapcrawler.reader.rows import REST_UNREAD, TEXT, Row, Unread, read_rows
from sitemapcrawler.repair.change_list import Action, Change
from sitemapcrawler.repair.places import SAFE, Names, made_up
from sitemapcrawler.repair.sources import Source
from sitemapcrawler.repair.streaming import FORBIDDEN, Lost
from sitemapcrawler.urls.segments import OTHER, Segment, finder

FIELDS = {"lastmod": ("lastmod", "lastmodified"), "changefreq": ("changefreq",), "priority": ("priority",)}
"""Elements of an entry -> names of the columns that they are taken from, the preferred one first."""
ALTERNATES = HREFLANG_EXTENSION.field
EXTENSIONS = (IMAGE_EXTENSION, VIDEO_EXTENSION, NEWS_EXTENSION)
"""Namespaces whose objects are elements in an entry, and columns in a list."""
COLUMNS = (
    *(name for names in FIELDS.values() for name in names), *(one.field for one in EXTENSIONS), ALTERNATES, *NO_PAGE,
)  # fmt: skip
SITEMAP, LINE, CHANGE = "sitemap", "line", "change"
"""Columns of the records of an audit: where an entry stands, and whether it still does."""
PREFIXES = "".join(f' xmlns:{one.prefix}="{one.uri}"' for one in (*EXTENSIONS, HREFLANG_EXTENSION))
ROOT = f'<urlset xmlns="{CORE}"{PREFIXES}>'
ELEMENTS = {
    one.prefix: {
        field.name: field.metadata.get("read") is nested for field in fields(one.kind) if field.name != "extra"
    }
    for one in EXTENSIONS
}
"""{prefix: {name of an element: True if its parts are elements too, and no attributes}}."""
UNREADABLE, NO_PAGE_ROW = "list-row-unreadable", "list-row-not-indexable"
"""In place of a rule, for a row that is not listed: it has no URL or cannot be read; it says that it is no page to
index."""
LOST_BY = {
    "3": "hreflang-target-redirect",
    "redirect": "hreflang-target-redirect",
    "canonicalised": "hreflang-target-noncanonical",
    "noindex": "hreflang-target-noindex",
}
"""Start of a value that says that a row is no page to index -> rule on links to it as a language version."""
MAX_FOLDERS = 100
"""Folders with a sitemap of their own, each of which is an open file."""
MAX_COUNTED = 100_000
"""Folders that are counted to find the largest ones, in some 10 MB."""
INDEX, PAGES, AT_ROOT, OTHERS = "sitemap", "sitemap-pages", "sitemap-root", "sitemap-others"
"""Names of files without suffix: the index; all pages; those in no folder; those of the smallest folders."""
BETWEEN_IMAGES = re.compile(r"[;|\s]+|,(?:\s+|(?=https?://))")
"""Between two images; a comma may be a part of a URL."""
BETWEEN_ALTERNATES = re.compile(r"[,|]\s*+(?=[A-Za-z][\w-]*+=(?:https?:/)?/)|(?<![;\s])[;\s]++(?=[A-Za-z][\w-]*+=)")
"""Between two language versions such as `de=https://example.com/de; en=https://example.com/en`."""
NUMBER = re.compile(r"[0-9]+")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
"""Name of an element or attribute without a prefix."""


class _Page(NamedTuple):
    """A row that can be listed."""

    file: str
    """URL of the file that has it: the list, or the sitemap of a record."""
    line: int
    """Row of the list, or line of the sitemap; 0 if it is not known."""
    loc: str
    cells: Mapping[str, object]


class PageList:
    """The sitemaps that are made of a list, and what their lines are in the list."""

    def __init__(
        self,
        path: Path,
        base: str,
        work: Path,
        by_folder: bool = False,
        suffix: str = ".xml",
        segments: Sequence[Segment] = (),
        replaces: Sequence[str] = (),
    ) -> None:
        """`base`: URL of the folder where the files will stand, with a slash at its end; `work`: folder for temporary
        files; `suffix`: of the files; `segments`: those with a sitemap of their own; `replaces`: of the records of an
        audit, whose verdicts decide what is listed, the sitemaps that it has read. Raises ValueError, one line, if no
        row can be listed, and OSError."""
        self._path = path
        self._base = base
        self._work = work
        self._suffix = suffix
        self._spool = work / "refused.jsonl"
        self._rows: dict[str, array[int]] = {}
        """{URL of a temporary sitemap: for each of its lines, the place of the file in `files`, and the line}."""
        self.files: list[str] = []
        """URLs of the files with pages to list: the list, or sitemaps of an audit."""
        self.replaces = replaces
        """URLs of the sitemaps that the set takes the place of."""
        self.lacking: Sequence[tuple[str, str]] = ()
        """(URL, reason) of the sitemaps that could not be read to their end, which it does not take the place of."""
        self.is_named = False
        """True if robots.txt names the index of the set already."""
        self.url = urls.file_url(str(path))
        self.index = f"{base}{INDEX}{suffix}"
        """URL of the index of the set."""
        self.unread_columns: set[str] = set()
        """Columns of images, videos, articles or language versions with other values, which are left out."""
        self.unread = 0
        """1 if the rest of the list could not be read."""
        if segments:
            self.sources = self._written(_by_segment(segments))
        else:
            files: dict[str | None, str] = self._folders() if by_folder else {None: PAGES}
            self.sources = self._written(partial(_file_of, files=files))

    def located(self, url: str, line: int | None) -> tuple[str, int | None]:
        """Return the file and its line, or the list and its row, for a line of a temporary sitemap."""
        rows = self._rows.get(url)
        if rows is None:
            return url, line
        if line is None:
            return self.url, None
        file, place = rows[2 * line - 2 : 2 * line]
        return self.files[file], place or None

    def refused(self) -> Iterator[Change]:
        """Yield a change for each row that is not listed."""
        with self._spool.open("rb") as file:
            yield from (msgspec.json.decode(line, type=Change) for line in file)

    def lost(self) -> Iterator[Lost]:
        """Yield the pages that do not work, or are not indexable, by the word of the list."""
        for change in self.refused():
            column, _, value = change.old.lower().partition(": ")
            if change.rule == NO_PAGE_ROW and column in VERDICTS:
                rule = next((LOST_BY[begin] for begin in LOST_BY if value.startswith(begin)), "hreflang-target-status")
                yield Lost(urls.resolve(self._base, change.url) or change.url, rule, is_judged=False)

    def _folders(self) -> dict[str | None, str]:
        """Return the name of the file of each folder that has one of its own; None: of all the others."""
        sizes = Counter[str]()
        for page in self._entries():
            folder = _folder_of(page.loc) if isinstance(page, _Page) else AT_NO_FOLDER
            if folder.depth > 1 and (folder.name in sizes or len(sizes) < MAX_COUNTED):
                sizes[folder.name] += 1
        names = Names(())
        files: dict[str | None, str] = {"": names.free(AT_ROOT, ""), None: names.free(OTHERS, "")}
        names.claim(INDEX)
        for name, _ in sizes.most_common(MAX_FOLDERS):
            files[name] = names.free(f"{INDEX}-{made_up(name)}", name)
        return files

    def _written(self, file_of: Callable[[str], str]) -> list[Source]:
        """Write the sitemaps and the rows that are not listed. `file_of`: returns the name of the file of a page."""
        sources: dict[str, Source] = {}
        numbers: dict[str, int] = {}
        first = ""
        with ExitStack() as stack:
            spool = stack.enter_context(self._spool.open("wb"))
            opened: dict[str, TextIO] = {}
            for page in self._entries():
                if isinstance(page, Change):
                    first = first or page.old
                    self.unread |= page.action == Action.UNREAD
                    spool.write(msgspec.json.encode(page) + b"\n")
                    continue
                name = file_of(page.loc)
                if name not in opened:
                    path = self._work / f"list-{len(opened)}.xml"
                    opened[name] = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
                    opened[name].write(ROOT)
                    place = f"{self._base}{quote(name, SAFE)}{self._suffix}"
                    source = Source(urls.file_url(str(path)), path, place=place, target=place)
                    sources[name] = source
                    self._rows[source.url] = array("Q")
                opened[name].write(f"{self._entry(page)}\n")
                self._rows[sources[name].url].extend((numbers.setdefault(page.file, len(numbers)), page.line))
            for file in opened.values():
                file.write("</urlset>\n")
        if not sources:
            raise ValueError(f"no row can be listed; {first}" if first else "lists no URL")
        self.files = [*numbers]
        return list(sources.values())

    def _entries(self) -> Iterator[_Page | Change]:
        """Yield the rows that can be listed, and the changes for the others. Raises ValueError and OSError."""
        with self._path.open("rb") as file:
            is_table = self._path.name.lower().removesuffix(".gz").endswith(TABLES)
            columns = (*COLUMNS, SITEMAP, LINE) if self.replaces else COLUMNS
            found = read_rows(file, str(self._path), columns, cell_reader, guesses=is_table)
            if found.log is not None:
                raise ValueError("is an access log; accepted: a list of pages")
            for row in found.rows:
                yield self._page(row, found.format == TEXT)

    def _page(self, row: Row | Unread, is_text: bool) -> _Page | Change:
        if isinstance(row, Row) and (why := self._why_no_page(row.cells)):
            return self._refused(NO_PAGE_ROW, row.url if isinstance(row.url, str) else "", why, row)
        listed = row if isinstance(row, Unread) else listed_url(row, is_text, self._base)
        if not isinstance(listed, ListedUrl):
            return self._refused(UNREADABLE, "", listed.problem, row, listed.problem.endswith(REST_UNREAD))
        assert isinstance(row, Row)
        if FORBIDDEN.search(listed.loc):
            return self._refused(UNREADABLE, listed.loc, "the URL has a control character", row)
        file, line = self._place(row)
        return _Page(file, line or 0, listed.loc, row.cells)

    def _why_no_page(self, cells: Mapping[str, object]) -> str:
        """The column that says that a row is no page to index, and its value; empty if none does. Of a record, only
        whether the entry was removed: verdicts decide on the others."""
        for name in (CHANGE,) if self.replaces else NO_PAGE:
            value = cells.get(name)
            if value not in (None, "") and NO_PAGE[name](str(value).strip().lower()):
                return f"{name}: {value}"
        return ""

    def _place(self, row: Row | Unread) -> tuple[str, int | None]:
        """The file that has a row, and its line there."""
        if self.replaces and isinstance(row, Row):
            sitemap, line = row.cells.get(SITEMAP), row.cells.get(LINE)
            return str(sitemap or self.url), line if isinstance(line, int) else None
        return self.url, row.line

    def _refused(self, rule: str, url: str, why: str, row: Row | Unread, is_rest: bool = False) -> Change:
        file, line = self._place(row)
        return Change(Action.UNREAD if is_rest else Action.DROPPED, rule, url, why, "", file, line)

    def _entry(self, page: _Page) -> str:
        """The row as an entry, on one line."""
        parts = [f"<url><loc>{escape(page.loc)}</loc>"]
        if page.cells:
            for name, columns in FIELDS.items():
                text = next((text for column in columns if (text := _text(page.cells.get(column)))), "")
                parts += [f"<{name}>{escape(text)}</{name}>"] if text else []
            for namespace in EXTENSIONS:
                parts += self._extensions(namespace, page.cells.get(namespace.field))
            parts += self._alternates(page.cells.get(ALTERNATES))
        return "".join([*parts, "</url>"])

    def _extensions(self, namespace: Namespace, value: object) -> Iterator[str]:
        """The images, videos or articles of a page as elements."""
        for one in self._objects(namespace.field, value, BETWEEN_IMAGES):
            if isinstance(one, dict):
                stated = {name: one.get(name) for name in ELEMENTS[namespace.prefix]}
            elif namespace is IMAGE_EXTENSION:
                stated = {"loc": one}
            else:
                self.unread_columns.add(namespace.field)
                continue
            if parts := "".join(self._elements(namespace.prefix, stated)):
                name = f"{namespace.prefix}:{namespace.prefix}"
                yield f"<{name}>{parts}</{name}>"

    def _elements(self, prefix: str, stated: Mapping[str, object]) -> Iterator[str]:
        """The parts of an object as elements: a text, a dictionary of `value` and attributes or of parts, or a list."""
        for name, value in stated.items():
            for one in value if isinstance(value, list) else (value,):
                parts: Mapping[str, object] = one if isinstance(one, dict) else {"value": one}
                if ELEMENTS[prefix].get(name):
                    text, attributes = "".join(self._elements(prefix, parts)), ""
                else:
                    text = _text(parts.get("value"))
                    text = escape(self._without_login(text) if name.endswith("loc") else text)
                    attributes = _attributes({key: part for key, part in parts.items() if key != "value"})
                if (text or attributes) and NAME.fullmatch(name):
                    yield f"<{prefix}:{name}{attributes}>{text}</{prefix}:{name}>"

    def _alternates(self, value: object) -> Iterator[str]:
        for one in self._objects(ALTERNATES, value, BETWEEN_ALTERNATES):
            if isinstance(one, dict):
                if one.get("rel"):
                    continue  # in a record: a link that is no alternate
                stated = dict(others) if isinstance(others := one.get("attributes"), dict) else {}
                code, href = _text(one.get("hreflang")), _text(one.get("href"))
            else:
                code, _, href = (part.strip() for part in _text(one).partition("="))
                stated = {}
            stated |= {"hreflang": code, "href": self._without_login(href), "rel": ""}
            if code or href:
                yield f'<xhtml:link rel="alternate"{_attributes(stated)}/>'

    def _objects(self, column: str, value: object, between: re.Pattern[str]) -> Iterable[object]:
        """The values of a cell: a list or one object, the same as JSON, or a text with separators. A number is left
        out."""
        if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                value = None
        if isinstance(value, (int, float)) or (isinstance(value, str) and NUMBER.fullmatch(value.strip())):
            self.unread_columns.add(column)
            return ()
        if isinstance(value, str):
            return filter(None, between.split(value.strip()))
        return value if isinstance(value, list) else [value] if isinstance(value, dict) else ()

    def _without_login(self, url: str) -> str:
        """The absolute URL, without user name and password."""
        return urls.resolve(self._base, url) or url


class _Folder(NamedTuple):
    """The first folder of a URL's path; without a name at the root."""

    name: str
    depth: int
    """Names in the path: `/blog/` has one, `/blog/post` two."""


AT_NO_FOLDER = _Folder("", 0)


def _folder_of(loc: str) -> _Folder:
    try:
        path = urlsplit(loc).path
    except ValueError:
        return AT_NO_FOLDER
    first, slash, rest = path.removeprefix("/").partition("/")
    return _Folder(unquote(first) if slash else "", 1 + bool(rest))


def _file_of(loc: str, files: Mapping[str | None, str]) -> str:
    """The file of a page: `/about/` is a page at the root, unless others are in that folder."""
    if "" not in files:
        return files[None]
    folder = _folder_of(loc)
    return files.get(folder.name) or files["" if folder.depth < 2 else None]


def _by_segment(segments: Sequence[Segment]) -> Callable[[str], str]:
    """Return what names the file of a page by its segment."""
    find, free = finder(segments), Names(()).free
    files = {name: free(f"{INDEX}-{name}", name) for name in dict.fromkeys([*(one.name for one in segments), OTHER])}
    return lambda loc: files[find(loc)]


def _attributes(stated: Mapping[str, object]) -> str:
    """The attributes that have a name and a text, each behind a blank."""
    texts = {name: _text(value) for name, value in stated.items() if NAME.fullmatch(name)}
    return "".join(f" {name}={quoteattr(text)}" for name, text in texts.items() if text)


def _text(value: object) -> str:
    """A value on one line, without characters that XML does not allow."""
    if value is None or isinstance(value, (dict, list)):
        return ""
    text = value.isoformat() if isinstance(value, date) else f"{value:g}" if isinstance(value, float) else str(value)
    return FORBIDDEN.sub("", " ".join(text.split()))
