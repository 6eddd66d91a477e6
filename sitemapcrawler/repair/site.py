"""Repairs the sitemaps of a site, file by file, and writes them as a set with its list of changes."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from sitemapcrawler import urls
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.repair import folder
from sitemapcrawler.repair.changes import NAME, Action, Change, ChangeList
from sitemapcrawler.repair.edits import w3c
from sitemapcrawler.repair.reading import FileRepair, Rules, Verified
from sitemapcrawler.repair.writing import SetWriter, name_of, shortest, stem_of, write_manifest
from sitemapcrawler.rules.facts.suspects import MAX_LENGTH
from sitemapcrawler.terminal.signals import postponed
from sitemapcrawler.urls.grammar import Standing, fault_of, folder_of, standing

CHUNK_BYTES = 1 << 16
GZIP = b"\x1f\x8b"
HEAD_BYTES = 16 * 1024
"""Bytes in which the root of a file is looked for."""
INDEX = re.compile(rb"<(?:[\w.-]+:)?sitemapindex[\s>]")
UNREAD = "doc-fetch-failed"
MISSING = "index-child-missing"
DEFAULT_INDEX = "sitemap_index"


@dataclass(slots=True)
class Source:
    """One file to repair."""

    url: str
    """URL of the file, as records name it."""
    path: Path | None = None
    """Its content on this machine; None if it could not be read."""
    place: str | None = None
    """URL where a local file will live; None if unknown, and for files on the web."""
    base: str | None = None
    """URL after redirects."""
    error: str = ""
    """Why it could not be read."""
    rule: str = UNREAD
    """The rule that says so."""

    @property
    def name(self) -> str:
        """Name of the file on its site."""
        return name_of(self.place or self.url)

    @property
    def web_url(self) -> str | None:
        return next((url for url in (self.place, self.url) if url is not None and urls.is_web(url)), None)


@dataclass(slots=True)
class Repaired:
    """Result of a run."""

    files: list[str] = field(default_factory=list)
    """Names of the files that were written, the index first."""
    sources: int = 0
    """Files that were read."""
    unread: int = 0
    """Files that could not be read, or not to their end."""
    read: int = 0
    """Entries that were read."""
    kept: int = 0
    """Entries that were written."""
    dropped: int = 0
    """Entries that were left out."""
    changes: ChangeList | None = None


Children = Callable[[Source, list[ChildRecord]], list[Source]]
"""Returns the files that an index lists and that are to be repaired too."""


class SiteRepair:
    """Repairs the files of one site into a folder."""

    def __init__(
        self,
        rules: Rules,
        children: Children,
        verified: Verified | None = None,
        base_url: str | None = None,
        compress: bool = False,
    ) -> None:
        """`children`: finds the files of an index; `base_url`: URL of the folder that is written, None to find out."""
        self._rules = rules
        self._children = children
        self._verified = verified
        self._base_url = base_url
        self._compress = compress
        self._indexes: list[tuple[Source, list[ChildRecord]]] = []
        self._loose: list[tuple[str, str | None]] = []
        self._copies: list[tuple[str, str | None]] = []
        self._web: list[str] = []

    def run(self, sources: Collection[Source], out: Path | None, parent: Path) -> Repaired:
        """Repair files and publish the folder `out`; None for a dry run. `parent`: folder for temporary files. Raises
        OSError or FolderError."""
        result = Repaired()
        with ExitStack() as stack:
            work = Path(stack.enter_context(TemporaryDirectory(dir=parent)))
            target = stack.enter_context(_staged(out, work))
            table = stack.enter_context((target / NAME).open("x", encoding="utf-8", newline=""))
            result.changes = changes = ChangeList(table)
            writer = SetWriter(work, target, self._rules, changes.add, self._compress)
            stack.callback(writer.close)
            self._read(sources, writer, result)
            writer.finish()
            is_alone = result.sources == len(self._indexes) and not result.unread
            result.files = [*self._index(writer, changes, is_alone), *(part.name for part in writer.written),
                            *(name for name, _ in self._copies)]  # fmt: skip
            table.close()
            if out is not None and (result.files or result.sources):
                write_manifest(target, [NAME, *result.files])
                with postponed():
                    folder.publish(target, out)
        return result

    def _read(self, sources: Collection[Source], writer: SetWriter, result: Repaired) -> None:
        changes = result.changes
        assert changes is not None
        # Indexes first: they know where local files will live.
        waiting = deque(sorted(sources, key=lambda source: not _is_index(source)))
        known = {urls.visit_key(source.url): source for source in sources}
        while waiting:
            source = waiting.popleft()
            if source.path is None:
                changes.add(Change(Action.UNREAD, source.rule, source.url, source.error, "", source.url))
                result.unread += 1
                continue
            before = changes.number(Action.UNREAD)
            try:
                repair = self._repair(source, writer, changes)
                if repair.error and format_named(repair.record.format).is_feed:
                    changes.add(Change(Action.CHANGED, repair.error, "", repair.record.format, "urlset", source.url))
                    repair = self._repair(source, writer, changes, converts=True)
            except OSError as error:
                changes.add(Change(Action.UNREAD, UNREAD, source.url, error.strerror or str(error), "", source.url))
                result.unread += 1
                continue
            result.sources += 1
            result.read, result.kept = result.read + repair.read, result.kept + repair.kept
            result.dropped += repair.dropped
            format = format_named(repair.record.format)
            if format.is_index:
                self._indexes.append((source, repair.children))
                for child in self._children(source, repair.children):
                    same = known.setdefault(urls.visit_key(child.url), child)
                    same.place = same.place or child.place
                    if same is child:
                        waiting.append(child)
            elif format.is_feed and not repair.is_listing:
                self._copies.append((self._copy(source, writer), repair.record.lastmod_max))
            elif not format.is_sitemap:
                why = repair.record.error or "no sitemap"
                rule = "doc-is-html" if format.name == "html" else "xml-root-unknown"
                changes.add(Change(Action.UNREAD, rule, source.url, why, "", source.url))
            result.unread += changes.number(Action.UNREAD) > before
            if source.web_url is not None and not format.is_index:
                self._web.append(source.web_url)

    def _repair(self, source: Source, writer: SetWriter, changes: ChangeList, converts: bool = False) -> FileRepair:
        assert source.path is not None
        with source.path.open("rb") as file:
            is_compressed = file.read(len(GZIP)) == GZIP and source.name.lower().endswith(".gz")
            file.seek(0)
            repair = FileRepair(source.url, self._rules, changes.add, source.place, self._verified, source.base,
                                converts)  # fmt: skip
            chunks = iter(lambda: file.read(CHUNK_BYTES), b"")
            writer.take(repair, repair.entries(chunks), source.name, is_compressed, source.place)
        return repair

    def _copy(self, source: Source, writer: SetWriter) -> str:
        """Copy a feed, which has other readers too, as it stands."""
        assert source.path is not None
        suffix = next((one for one in (".xml.gz", ".rss", ".atom") if source.name.lower().endswith(one)), ".xml")
        return writer.copy(source.path, stem_of(source.name), suffix)

    def _index(self, writer: SetWriter, changes: ChangeList, is_alone: bool) -> list[str]:
        """Write the index, if the site has one or needs one. `is_alone`: nothing else is part of the run, so that the
        index still lists the same files."""
        needed = any(len(spooled.parts) > 1 for spooled in writer.files)
        if not self._indexes and not needed:
            return []
        if is_alone:
            self._list_again(changes)
        if not (writer.written or self._copies or self._loose):
            return []
        base = self._base()
        if base is None and (writer.written or self._copies):
            raise ValueError("the set needs an index, and the URL of its files is not known; --base-url names it")
        name = self._indexes[0][0].name if self._indexes else DEFAULT_INDEX
        others = [(f"{base}{quote(name)}", lastmod) for name, lastmod in self._copies]
        names = writer.write_index(name, base or "", [*others, *self._loose])
        self._note_children(writer, changes, base or "")
        return names

    def _list_again(self, changes: ChangeList) -> None:
        """List the files of an index as it does, each once."""
        seen: set[str] = set()
        for source, children in self._indexes:
            for child in children:
                url, where = child.loc_raw or child.loc, (source.url, child.line)
                if rule := _unlistable(child, source, seen):
                    changes.add(Change(Action.DROPPED, rule, url, url, "", *where))
                    continue
                seen.add(child.loc)
                lastmod = w3c(child.lastmod) if child.lastmod else None
                if url != child.loc:
                    changes.add(Change(Action.CHANGED, "index-child-relative", url, url, child.loc, *where))
                if child.lastmod != lastmod:
                    old = child.lastmod or ""
                    changes.add(Change(Action.CHANGED, "lastmod-invalid", url, old, lastmod or "", *where))
                self._loose.append((child.loc, lastmod))

    def _note_children(self, writer: SetWriter, changes: ChangeList, base: str) -> None:
        """Note what the index says of a file that it did not say before."""
        written = {urls.visit_key(url): spooled.parts for spooled in writer.files
                   for url in (spooled.repair.url, spooled.place) if url}  # fmt: skip
        for source, children in self._indexes:
            for child in children:
                parts = written.get(urls.visit_key(child.loc))
                if parts is None:
                    continue
                where = (source.url, child.line)
                new = [base + quote(part.name) for part in parts]
                if new != [child.loc]:
                    rule = "limit-urls-exceeded" if len(new) > 1 else "index-child-outside-dir"
                    changes.add(Change(Action.CHANGED, rule, child.loc, child.loc, " ".join(new), *where))
                newest = max((part.lastmod for part in parts if part.lastmod), default=None)
                if newest is not None and newest != child.lastmod_at:
                    rule = "index-lastmod-older-than-child" if child.lastmod else "index-lastmod-missing"
                    changes.add(Change(Action.CHANGED, rule, child.loc, child.lastmod or "", shortest(newest), *where))

    def _base(self) -> str | None:
        """URL of the folder that is written: as named, that of the index, or that of the files."""
        if self._base_url is not None:
            return self._base_url
        of_index = self._indexes[0][0].web_url if self._indexes else None
        place = of_index or min(self._web, key=lambda url: folder_of(url).count("/"), default=None)
        return None if place is None else f"{urls.origin(place)}{folder_of(place)}"


def _unlistable(child: ChildRecord, index: Source, seen: Collection[str]) -> str | None:
    """The rule for which an index cannot list a file; None if it can. `seen`: URLs that it lists already."""
    home = index.web_url
    if not urls.is_web(child.loc):
        return "loc-bad-scheme"
    if fault_of(child.loc) is not None or len(child.loc) > MAX_LENGTH:
        return "loc-invalid-uri"
    if child.loc in seen:
        return "index-child-duplicate"
    if home is not None and urls.visit_key(child.loc) == urls.visit_key(home):
        return "index-self-reference"
    if home is not None and standing(child.loc, home) is Standing.OTHER_AUTHORITY:
        return "index-child-offsite"
    return None


def _is_index(source: Source) -> bool:
    """True for a file that begins like an index."""
    if source.path is None:
        return False
    with suppress(OSError, EOFError, zlib.error), source.path.open("rb") as file:
        is_compressed = file.peek(len(GZIP)).startswith(GZIP)
        with gzip.open(file) if is_compressed else nullcontext(file) as opened:
            return INDEX.search(opened.read(HEAD_BYTES)) is not None
    return False


@contextmanager
def _staged(out: Path | None, work: Path) -> Iterator[Path]:
    """A new folder for the set: beside its place, or in `work` for a dry run. Removed unless it was published."""
    if out is None:
        target = work / "set"
        target.mkdir()
        yield target
        return
    target = folder.create(out)
    try:
        yield target
    finally:
        folder.discard(target)
