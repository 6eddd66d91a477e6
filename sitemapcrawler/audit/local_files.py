"""Local files: sitemaps beside a local index, and the list of URLs of the argument `urls`."""

from __future__ import annotations

import logging
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote_to_bytes

from sitemapcrawler import urls
from sitemapcrawler.audit.frontier import Selection
from sitemapcrawler.feeds.cells import Cells
from sitemapcrawler.items import FreshBatch, SitemapEnd, SitemapRecord, UrlRecord
from sitemapcrawler.reader.formats import LIST
from sitemapcrawler.reader.lists import ListedUrl, Unread, read_list
from sitemapcrawler.rules.facts.given import Counted, MissingFile
from sitemapcrawler.urls.grammar import folder_of

MAX_HOMES = 20
"""URL folders tried as the location of an index whose URL is unknown."""

MAX_TRIED = 1000
"""Sitemaps checked on disk to choose among these folders."""


def file_beside(index: str, place: str, url: str) -> str | None:
    """The `file:` URL of the sitemap `url` in the folder of its index or below; None if there is no such file.

    `index`: `file:` URL of the index; `place`: the URL where it will live. Never returns a file outside the folder,
    whatever the URL or symbolic links say.
    """
    here, start = urls.local_path(index), urls.origin(place)
    if here is None or start is None or url.partition("?")[0] != url:
        return None
    home = urls.visit_key(start + folder_of(place))
    key = urls.visit_key(url)
    if not key.startswith(home):
        return None
    folder = Path(here).parent
    try:
        # Resolve `..` textually, as URLs do, so that the checked path is the named one whatever links precede it.
        path = Path(os.path.normpath(folder / os.fsdecode(unquote_to_bytes(key.removeprefix(home)))))
        inside = path.resolve().is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError):
        return None
    return urls.file_url(str(path)) if inside else None


def missing_files(index: str, place: str | None, listed: Sequence[tuple[str, int | None]]) -> list[MissingFile]:
    """The sitemaps that a local index lists and that have no file beside it, in order.

    `index`: its `file:` URL; `place`: the URL where it will live; `listed`: URL and line of each sitemap. Without
    `place`, the index is assumed to live in the URL folder that matches the most files. Sitemaps on another host,
    outside the folder or with a query are ignored. Names must match in case, as on most servers.
    """
    here = urls.local_path(index)
    if here is None or not Path(here).parent.is_dir() or not Path(here).is_file() or here.startswith("/dev/"):
        return []
    search = _Search(Path(here).parent)
    keys = [urls.visit_key(url) for url, _ in listed]
    homes = _homes(keys) if place is None else [_home(place)]
    tried = keys[:MAX_TRIED]
    home = max(homes, key=lambda home: sum(search.holds(path) for key in tried if (path := _path(key, home, here))))
    found = []
    for (url, line), key in zip(listed, keys, strict=True):
        path = _path(key, home, here)
        if path and not search.holds(path):
            found.append((line, url, _readable(path), search.hint(path)))
    certain = place is not None or len(found) < sum(_path(key, home, here) is not None for key in keys)
    return [MissingFile(*one, certain or bool(one[-1])) for one in found]


def _home(place: str) -> str:
    return urls.visit_key(f"{urls.origin(place)}{folder_of(place)}")


def _homes(keys: Sequence[str]) -> list[str]:
    """URL folders with sitemaps of the most frequent origin, those nearest to the root first."""
    origins = Counter(start for key in keys if (start := urls.origin(key)) is not None)
    if not origins:
        return ["file:"]
    [(start, _)] = origins.most_common(1)
    folders: dict[str, None] = {}
    for key in keys:
        if key.startswith(f"{start}/") and len(folders) < MAX_HOMES:
            above = PurePosixPath(key[len(start) :].partition("?")[0]).parents
            folders |= dict.fromkeys(start + str(folder).rstrip("/") + "/" for folder in above)
    return sorted(folders, key=lambda folder: folder.count("/"))[:MAX_HOMES]


def _path(key: str, home: str, index: str) -> str | None:
    """Path of a listed URL's file relative to the folder of the index; None if outside."""
    if (local := urls.local_path(key)) is not None:  # a relative URL in an index whose URL is unknown
        path = os.path.relpath(local, Path(index).parent)
    elif key.startswith(home) and "?" not in key:
        path = os.path.normpath(os.fsdecode(unquote_to_bytes(key.removeprefix(home))))
    else:
        return None
    outside = path.startswith("/") or path.partition("/")[0] in (".", "..")
    return None if outside or "\0" in path else path


def _readable(path: str) -> str:
    """The path for display: percent-encoded if it is not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return quote(os.fsencode(path))
    return path


class _Search:
    """Finds files by the exact spelling of their names, even on case-insensitive file systems."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = cache(_names_in)

    def holds(self, path: str) -> bool:
        """True if the path is a file."""
        return self._walk(path)[1] is None

    def hint(self, path: str) -> str:
        """A hint at what exists in place of a missing file; empty if nothing is similar."""
        folder, name = self._walk(path)
        if name is None or not folder.resolve().is_relative_to(self._folder.resolve()):
            return ""
        names, named = self._names(folder), _readable(name)
        if name in names:
            return f"{named!r} is {'a folder there' if (folder / names[name]).is_dir() else 'not a regular file'}"
        for other in names:
            if other.casefold() == name.casefold():
                return f"{_readable(other)!r} is there, but most servers are case-sensitive"
        if name.endswith(".gz") and name.removesuffix(".gz") in names:
            return f"{named.removesuffix('.gz')!r} is there, not compressed"
        return f"{named + '.gz'!r} is there" if f"{name}.gz" in names else ""

    def _walk(self, path: str) -> tuple[Path, str | None]:
        """Where a path ends: the deepest folder, and the name missing in it; None if the file exists."""
        folder = self._folder
        *folders, last = Path(unicodedata.normalize("NFC", path)).parts
        for name in folders:
            real = self._names(folder).get(name)
            if real is None or not (folder / real).is_dir():
                return folder, name
            folder /= real
        real = self._names(folder).get(last)
        return folder, None if real is not None and (folder / real).is_file() else last


def _names_in(folder: Path) -> dict[str, str]:
    """{name in NFC, as in URLs: name on disk}; empty if the folder cannot be read."""
    try:
        return {unicodedata.normalize("NFC", file.name): file.name for file in folder.iterdir()}
    except OSError:
        return {}


logger = logging.getLogger(__name__)

MAX_TOLD = 10
"""Limit on unreadable lines that are logged one by one."""


class Listing:
    """Yields the URLs of a list as records in batches, then a record of the list."""

    def __init__(self, selection: Selection, batch_size: int, stopped: Callable[[], bool]) -> None:
        self._selection = selection
        self._batch_size = batch_size
        self._stopped = stopped

    def read(self, url: str) -> Iterator[FreshBatch | SitemapEnd]:
        path = Path(urls.local_path(url) or "")
        record = SitemapEnd(url)
        record.format = LIST.name
        try:
            record.bytes = record.bytes_fetched = path.stat().st_size
            with path.open("rb") as file:
                yield from self._batches(readable(read_list(file, path.name, _cells), record), record)
        except (OSError, ValueError) as error:
            record.outcome, record.error = "truncated" if record.url_count else "failed", str(error)
        if not record.url_count:
            record.outcome, record.error = "failed", record.error or "lists no URL"
        yield record

    def _batches(self, listed: Iterator[ListedUrl], record: SitemapRecord) -> Iterator[FreshBatch]:
        file = Counted(record.sitemap)
        while batch := list(islice(listed, self._batch_size)):
            if self._stopped() or self._selection.full:
                return
            records = [UrlRecord(one.loc, sitemap=record.sitemap, line=one.line) for one in batch]
            record.url_count += len(records)
            kept = self._selection.keep(records)
            if kept:
                yield FreshBatch(record.sitemap, kept, file=file)


def _cells(delimiter: str) -> Callable[[str], str]:
    return Cells(delimiter).armed


def readable(entries: Iterator[ListedUrl | Unread], record: SitemapRecord) -> Iterator[ListedUrl]:
    """The URLs of a list; problems are logged and noted in its record."""
    unread = 0
    for entry in entries:
        if isinstance(entry, ListedUrl):
            yield entry
            continue
        unread += 1
        place = "" if entry.line is None else f"line {entry.line}: "
        if unread <= MAX_TOLD:
            logger.warning("%s: %s%s", record.sitemap, place, entry.problem)
        record.outcome = "recovered"
        first = record.error or f"{place}{entry.problem}"
        record.error = first if unread == 1 else f"{first.partition(' (and ')[0]} (and {unread - 1} more)"
