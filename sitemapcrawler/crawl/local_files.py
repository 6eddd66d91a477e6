"""Local files: sitemaps in a folder or beside a local index, and the list of URLs of the argument `urls`."""

from __future__ import annotations

import logging
import os
import posixpath
import stat
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from sitemapcrawler import urls
from sitemapcrawler.crawl.frontier import Selection
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.feeds.columns import cell_reader
from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.formats import FILE_SUFFIXES, LIST, TEXT, UNKNOWN, URLSET, InputFormat, format_named
from sitemapcrawler.reader.lists import ListedUrl, read_list
from sitemapcrawler.reader.rows import Unread
from sitemapcrawler.robots.text import MAX_SITEMAP_BYTES, decode, read_sitemaps
from sitemapcrawler.rules.facts.given import Counted, MissingFile
from sitemapcrawler.urls.grammar import folder_of

MAX_HOMES = 20
"""URL folders tried as the location of an index whose URL is unknown."""

MAX_TRIED = 1000
"""Sitemaps checked on disk to choose among these folders."""


@dataclass(frozen=True, slots=True)
class Published:
    """A folder of local files that is published as a whole."""

    folder: str
    """Absolute path."""
    url: str | None
    """URL of the folder, which ends in `/`; None if unknown."""

    def holds(self, path: str) -> bool:
        return Path(path).is_relative_to(self.folder)


def file_beside(index: str, place: str | None, url: str, published: Published | None = None) -> str | None:
    """The `file:` URL of the sitemap `url` in the folder of its index or below; None if there is no such file.

    `index`: `file:` URL of the index; `place`: the URL where it will live, None if unknown. `published`: folder to look
    in instead, if it holds the index; without its URL, its files are assumed to start at the root of the host. Never
    returns a file outside the folder, whatever the URL or symbolic links say.
    """
    here, key = urls.local_path(index), urls.visit_key(url)
    if here is None or url.partition("?")[0] != url:
        return None
    if published is not None and published.holds(here):
        folder, base = Path(published.folder), published.url or f"{urls.origin(url)}/"
    else:
        folder, base = Path(here).parent, f"{urls.origin(place)}{folder_of(place)}" if place is not None else ""
    if urls.origin(base) is None or not key.startswith(home := urls.visit_key(base)):
        return None
    try:
        # Resolve `..` textually, as URLs do, so that the checked path is the named one whatever links precede it.
        path = Path(os.path.normpath(folder / os.fsdecode(unquote_to_bytes(key.removeprefix(home)))))
        inside = path.resolve().is_relative_to(folder.resolve()) and _may_be_file(path)
    except (OSError, ValueError):
        return None
    return urls.file_url(str(path)) if inside else None


def _may_be_file(path: Path) -> bool:
    """True also for a file in a folder that must not be read, which reading reports. Raises OSError."""
    try:
        return path.is_file()
    except PermissionError:
        return True


def missing_files(
    index: str, place: str | None, listed: Sequence[tuple[str, int | None]], published: Published | None = None
) -> list[MissingFile]:
    """The sitemaps that a local index lists and that have no file beside it, in order.

    `index`: its `file:` URL; `place`: the URL where it will live; `listed`: URL and line of each sitemap. Without
    `place`, the index is assumed to live in the URL folder that matches the most files. `published`: folder to look in
    instead of that of the index, if it holds the index. Sitemaps on another host, outside the folder or with a query
    are ignored. Names must match in case, as on most servers.
    """
    here = urls.local_path(index)
    if here is None or not Path(here).parent.is_dir() or not Path(here).is_file() or here.startswith("/dev/"):
        return []
    whole = published if published is not None and published.holds(here) else None
    folder = Path(here).parent if whole is None else Path(whole.folder)
    search = _Search(folder)
    keys = [urls.visit_key(url) for url, _ in listed]
    if place is None:
        homes = _homes(keys)
    else:
        homes = [_home(place) if whole is None or whole.url is None else urls.visit_key(whole.url)]
    home, _ = _best(homes, keys, search, folder)
    found = []
    for (url, line), key in zip(listed, keys, strict=True):
        path = _path(key, home, folder)
        if path and not search.holds(path):
            found.append((line, url, _readable(path), search.hint(path)))
    certain = whole is not None or place is not None
    certain = certain or len(found) < sum(_path(key, home, folder) is not None for key in keys)
    return [MissingFile(*one, certain or bool(one[-1])) for one in found]


def assumed_home(folder: str, listed: Sequence[str]) -> str | None:
    """The URL of a local folder, assumed from the sitemaps that an index in it lists: the URL folder for which most of
    them are there. None if none is."""
    keys = [urls.visit_key(url) for url in listed if urls.is_web(url)]
    if not keys:
        return None
    home, number = _best(_homes(keys), keys, _Search(Path(folder)), Path(folder))
    return home if number else None


def _best(homes: Sequence[str], keys: Sequence[str], search: _Search, folder: Path) -> tuple[str, int]:
    """The URL folder for which most of the listed sitemaps are there, and how many of the first ones are."""
    tried = keys[:MAX_TRIED]
    counts = {home: sum(search.holds(path) for key in tried if (path := _path(key, home, folder))) for home in homes}
    best = max(homes, key=lambda home: counts[home])
    return best, counts[best]


def _home(place: str) -> str:
    return urls.visit_key(f"{urls.origin(place)}{folder_of(place)}")


def _homes(keys: Sequence[str]) -> list[str]:
    """URL folders with sitemaps of the most frequent origin, those nearest to the root first."""
    origins = Counter(start for key in keys if (start := urls.origin(key)) is not None)
    if not origins:
        return ["file:"]
    [(start, _)] = origins.most_common(1)
    folders = {f"{start}/": None}  # a path without a file, as of `/?sitemap=pages`, has no other
    for key in keys:
        if key.startswith(f"{start}/") and len(folders) < MAX_HOMES:
            above = PurePosixPath(key[len(start) :].partition("?")[0]).parents
            folders |= dict.fromkeys(start + str(folder).rstrip("/") + "/" for folder in above)
    return sorted(folders, key=lambda folder: folder.count("/"))[:MAX_HOMES]


def _path(key: str, home: str, folder: Path) -> str | None:
    """Path of a listed URL's file relative to the folder; None if outside."""
    if (local := urls.local_path(key)) is not None:  # a relative URL in an index whose URL is unknown
        path = Path(os.path.relpath(local, folder)).as_posix()
    elif key.startswith(home) and "?" not in key:
        path = posixpath.normpath(os.fsdecode(unquote_to_bytes(key.removeprefix(home))))
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
        """True if the path is a file, or may be one in a folder that cannot be read."""
        try:
            folder, missing = self._walk(path)
        except PermissionError:
            return True
        return missing is None or not os.access(folder, os.R_OK)

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
                return f"{_readable(other)!r} exists, but most servers are case-sensitive"
        if name.endswith(".gz") and name.removesuffix(".gz") in names:
            return f"{named.removesuffix('.gz')!r} exists, not compressed"
        return f"{named + '.gz'!r} exists" if f"{name}.gz" in names else ""

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


SNIFFED_BYTES = 16 * 1024
"""Bytes of a file in a folder that decide whether it is a sitemap."""
FEED_SUFFIXES = (".rss", ".atom")
SITEMAP_SUFFIXES = (".xml", ".txt", ".xml.gz", ".txt.gz")
"""Suffixes of files that are validated whatever their content if `sitemap` is in the name: an empty one is wrong."""
ROBOTS_NAME = "robots.txt"
VISIBLE = (".well-known",)
"""Folders that are published although they are hidden (RFC 8615)."""


class FolderContent(NamedTuple):
    """What a folder holds that is to be checked."""

    files: list[str]
    """Paths of robots.txt and of the sitemaps, which begin with the path of the folder; robots.txt is first."""
    has_sitemaps: bool
    unreadable: list[str]
    """Why files or folders in it could not be read, a text with the path for each."""


def content_of(folder: str) -> FolderContent:
    """Find the robots.txt of a folder, and the sitemaps in it and below.

    A sitemap is a file that robots.txt names, that is named like one, or whose content is one: `.xml`, `.gz`, `.txt`,
    `.rss` and `.atom` files are sniffed. Of a file and its compressed copy (`a.xml`, `a.xml.gz`) only one counts.
    Feeds, which may be for readers only, count if robots.txt names them or there is no other sitemap. Hidden folders,
    and symbolic links that leave the folder, are ignored.
    """
    unreadable: list[str] = []
    paths = list(_files_below(folder, unreadable))
    robots = os.path.join(folder, ROBOTS_NAME)  # noqa: PTH118 - keeps `./` in front, which paths of pathlib lack
    named = _named_files(folder, robots, unreadable) if robots in paths else None
    found: dict[str, None] = {}
    feeds: dict[str, None] = {}
    for path in paths:
        try:
            if path != robots and (format := _format_of(path, _holds(named, path))).is_sitemap:
                (feeds if format.is_feed else found)[path] = None
        except OSError as error:
            unreadable.append(f"{path} cannot be read: {error.strerror or error}")
    found = found or feeds
    for path in [path for path in found if f"{path}.gz" in found]:
        del found[f"{path}.gz" if not _holds(named, f"{path}.gz") or _holds(named, path) else path]
    return FolderContent([*([robots] if named is not None else []), *found], bool(found), unreadable)


def _holds(named: Collection[str] | None, path: str) -> bool:
    return named is not None and os.path.normpath(path) in named


def _files_below(folder: str, unreadable: list[str]) -> Iterator[str]:
    """Paths of the regular files in a folder and below, sorted."""

    def note(error: OSError) -> None:
        unreadable.append(f"{error.filename} cannot be read: {error.strerror}")

    inside = Path(folder).resolve()
    for here, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith(".") or name in VISIBLE)
        for name in sorted(names):
            path = Path(here, name)
            try:
                leaves = path.is_symlink() and not path.resolve().is_relative_to(inside)
                if not leaves and stat.S_ISREG(path.stat().st_mode):
                    yield os.path.join(here, name)  # noqa: PTH118 - keeps `./`
            except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links, before Python 3.13
                if name.lower().endswith(FILE_SUFFIXES):
                    reason = error.strerror if isinstance(error, OSError) else "a loop of symbolic links"
                    unreadable.append(f"{os.path.join(here, name)} cannot be read: {reason}")  # noqa: PTH118 - keeps `./`


def _named_files(folder: str, robots: str, unreadable: list[str]) -> set[str] | None:
    """Normalised paths of the sitemaps that a robots.txt names; None if it cannot be read.

    Its folder is published at the root of a host."""
    try:
        with Path(robots).open("rb") as file:
            lines, _ = decode(file.read(MAX_SITEMAP_BYTES))
    except OSError as error:
        unreadable.append(f"{robots} cannot be read: {error.strerror or error}")
        return None
    base = "https://localhost/robots.txt"
    keys = (urls.visit_key(sitemap.url) for sitemap in read_sitemaps(lines, base) if sitemap.url)
    paths = (_path(key, f"{urls.origin(key)}/", Path(folder)) for key in keys)
    return {os.path.normpath(Path(folder, path)) for path in paths if path}


def _format_of(path: str, is_named: bool) -> InputFormat:
    """The format of a file by its content. One that robots.txt names, or that is named like a sitemap, counts as a
    urlset whatever it holds. Raises OSError."""
    if not is_named and not path.lower().endswith(FILE_SUFFIXES + FEED_SUFFIXES):
        return UNKNOWN
    with Path(path).open("rb") as file:
        start = file.read(SNIFFED_BYTES)
    name = path.rpartition("/")[2].lower()
    if is_named or ("sitemap" in name and name.endswith(SITEMAP_SUFFIXES)):
        return URLSET
    document = Document(urls.file_url(path))
    for _ in document.read([start]):
        pass
    found = format_named(document.format)
    return UNKNOWN if found is TEXT and document.faults.first("txt-not-url-line") is not None else found


logger = logging.getLogger(__name__)

MAX_TOLD = 10
"""Limit on unreadable lines that are logged one by one."""


class Listing:
    """Yields the URLs of a list as records in batches, then a record of the list."""

    def __init__(self, selection: Selection, batch_size: int, stop: Stop) -> None:
        self._selection = selection
        self._batch_size = batch_size
        self._stop = stop

    def read(self, url: str) -> Iterator[FreshBatch | SitemapEnd]:
        path = Path(urls.local_path(url) or "")
        record = SitemapEnd(url)
        record.format = LIST.name
        record.facts = listed = Counted(record.sitemap)
        try:
            record.bytes = record.bytes_fetched = path.stat().st_size
            with path.open("rb") as file:
                yield from self._batches(readable(read_list(file, str(path), cell_reader), record), record, listed)
        except (OSError, ValueError) as error:
            record.outcome, record.error = "truncated" if record.url_count else "failed", str(error)
        if not record.url_count:
            record.outcome, record.error = "failed", record.error or "lists no URL"
        if record.outcome in ("truncated", "failed"):
            logger.warning("%s: %s", record.sitemap, record.error)
        yield record

    def _batches(self, listed: Iterator[ListedUrl], record: SitemapRecord, file: Counted) -> Iterator[FreshBatch]:
        while batch := list(islice(listed, self._batch_size)):
            if self._stop.begun() or self._selection.full:
                return
            records = [UrlRecord(one.loc, sitemap=record.sitemap, line=one.line) for one in batch]
            record.url_count += len(records)
            kept = self._selection.keep(records)
            file.entries += len(kept)
            if kept:
                yield FreshBatch(record.sitemap, kept, file=file)


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
