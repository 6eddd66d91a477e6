"""Writes a set of sitemaps: without duplicates, split at the limits of the protocol, with an index.

Entries are spooled first, so that an entry can still be completed when a later one repeats it, and so that the number
of files is known before they get their names.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import quote, unquote, urlsplit
from xml.sax.saxutils import escape

from lxml import etree

from sitemapcrawler.namespaces import CORE
from sitemapcrawler.namespaces.extensions import HREFLANG, IMAGE, VIDEO
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.repair.changes import NAME as CHANGES
from sitemapcrawler.repair.changes import Action, Change
from sitemapcrawler.repair.edits import MAX_IMAGES, Draft, list_itself, rename_versions, split, text_of, written
from sitemapcrawler.repair.markup import EntryMarkup
from sitemapcrawler.repair.reading import DUPLICATE, OF_LIMITS, SELF, FileRepair, Kept, Rules
from sitemapcrawler.repair.seen import Seen

MAX_ENTRIES = 50_000  # https://www.sitemaps.org/protocol.html#index
MAX_BYTES = 52_428_800  # uncompressed; the same page
MAX_ARTICLES = 1_000  # https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
MANIFEST = ".sitemapcrawler-fix.json"
"""List of the files that were written to a folder: the only ones that the next run removes."""
CROSS = "cross-duplicate-url"
INDEX_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{CORE}">\n'
INDEX_END = "</sitemapindex>\n"


LINK = '<xhtml:link rel="alternate" hreflang="" href=""/>'
"""A link to a language version, to estimate its bytes."""


@dataclass(slots=True)
class Part:
    """A file that was written."""

    name: str
    entries: int
    lastmod: str | None
    """Newest `lastmod_at` of its entries."""
    is_text: bool = False


@dataclass(slots=True)
class Spooled:
    """The kept entries of one file of the site."""

    number: int
    repair: FileRepair
    name: str
    """Name that its file should have."""
    path: Path
    is_compressed: bool
    place: str | None = None
    """URL where it will live, if that is not the URL of its record."""
    parts: list[Part] = field(default_factory=list)

    @property
    def sizes(self) -> Path:
        """File with a line for each entry: bytes, articles, lastmod, line."""
        return self.path.with_suffix(".sizes")


class SetWriter:
    """Writes the files of a set into a new folder."""

    def __init__(self, work: Path, folder: Path, rules: Rules, note: Callable[[Change], None], compress: bool) -> None:
        """`work`: empty folder for temporary files; `folder`: the one to write to; `compress`: write all files as
        gzip."""
        self._work = work
        self._folder = folder
        self._rules = rules
        self._note = note
        self._compress = compress
        self._seen = Seen(work / "seen.sqlite")
        self.files: list[Spooled] = []
        """Files of the site that have been spooled."""
        self._taken = {CHANGES.casefold(), MANIFEST.casefold()}
        self.written: list[Part] = []
        """The files of the set but for its index, once they are written."""

    def close(self) -> None:
        self._seen.close()

    def take(
        self, repair: FileRepair, entries: Iterable[Kept], name: str, is_compressed: bool, place: str | None
    ) -> None:
        """Spool the entries of a file. `name`: that of its file on the site; `is_compressed`: it was gzip; `place`: URL
        where it will live."""
        number = len(self.files)
        spooled = Spooled(number, repair, name, self._work / f"{number}.spool", is_compressed, place)
        with spooled.path.open("wb") as file, spooled.sizes.open("w", encoding="ascii") as sizes:
            row = 0
            for entry in entries:
                if self._repeats(entry, number, row, repair):
                    continue
                data = self._bytes(entry, repair)
                file.write(data)
                sizes.write(f"{len(data)} {entry.articles} {entry.lastmod_at or '-'} {entry.line or 0}\n")
                row += 1
        if repair.is_listing and (row or not repair.read):
            self.files.append(spooled)

    @staticmethod
    def _bytes(entry: Kept, repair: FileRepair) -> bytes:
        text = entry.text.strip()
        if repair.is_text:
            element = repair.markup.parse([text])[0]
            assert element is not None
            text = Draft(element, "").loc
        return f"{text}\n".encode("utf-8", "replace")

    def _repeats(self, entry: Kept, number: int, place: int, repair: FileRepair) -> bool:
        """True for an entry that is left out because an earlier one has its URL."""
        earlier = self._seen.add(entry.loc, number, place, entry.is_bare, entry.versions)
        if earlier is None:
            return False
        file, at, was_bare = earlier
        if file == number and DUPLICATE in self._rules:
            rule, line = DUPLICATE, entry.line
        elif file != number and CROSS in self._rules and entry.is_bare and was_bare:
            rule, line = CROSS, None
        else:
            self._seen.add_again(entry.loc, number, place, entry.versions)
            return False
        self._seen.give_versions(entry.loc, entry.versions)
        if not entry.is_bare or entry.lastmod_at is not None:
            self._seen.add_to(file, at, line, entry.text, entry.lastmod_at)
        repair.kept -= 1
        repair.dropped += 1
        self._note(Change(Action.DROPPED, rule, entry.loc, " ".join(entry.text.split()), "", repair.url, entry.line))
        return True

    def finish(self) -> list[Part]:
        """Write the files of the set; return them in order."""
        self._seen.judge_links(self._rules.only)
        for spooled in self.files:
            cuts = [*self._cuts(spooled)]
            names = self._names(spooled, len(cuts))
            with spooled.path.open("rb") as file:
                entries = self._completed(spooled, file)
                for name, (number, lastmod, _) in zip(names, cuts, strict=True):
                    self._write(spooled, name, entries, number)
                    spooled.parts.append(Part(name, number, lastmod, spooled.repair.is_text))
            if len(cuts) > 1:
                self._note(Change(Action.CHANGED, cuts[0][2], "", spooled.name, " ".join(names), spooled.repair.url))
            self.written += spooled.parts
        return self.written

    def _lines(self, spooled: Spooled) -> Iterator[tuple[int, int, str | None]]:
        """Yield bytes, articles and lastmod of each entry, with what will be added to it."""
        added: dict[int, int] = {}
        dates: dict[int, str] = {}
        for entry, _, text, date in self._seen.additions(spooled.number):
            added[entry] = added.get(entry, 0) + len(text.encode("utf-8", "replace"))
            dates[entry] = max(dates.get(entry, ""), date or "")
        for entry, _, key, code in self._seen.links(spooled.number):
            added[entry] = added.get(entry, 0) + (len(f"{LINK}{key}{code}".encode()) if code is not None else 0)
        with spooled.sizes.open(encoding="ascii") as lines:
            for place, line in enumerate(lines):
                size, articles, lastmod, _ = line.split()
                newest = max(dates.get(place, ""), lastmod.removeprefix("-"))
                yield int(size) + added.get(place, 0), int(articles), newest or None

    def _cuts(self, spooled: Spooled) -> Iterator[tuple[int, str | None, str]]:
        """Yield the number of entries, the newest date, and the rule for which it ends, of each file to write."""
        around = len(self._head(spooled).encode()) + len(self._end(spooled))
        entries, articles, size, newest = 0, 0, around, None
        for one, news, lastmod in self._lines(spooled):
            full = (entries == MAX_ENTRIES, size + one > MAX_BYTES, articles + news > MAX_ARTICLES)
            if entries and any(full):
                yield entries, newest, OF_LIMITS[full.index(True)]
                entries, articles, size, newest = 0, 0, around, None
            entries, articles, size = entries + 1, articles + news, size + one
            newest = max(filter(None, (newest, lastmod)), default=None)
        yield entries, newest, ""

    @staticmethod
    def _head(spooled: Spooled) -> str:
        repair = spooled.repair
        return "" if repair.is_text else f"{repair.prolog}{repair.markup.root.tag}\n"

    @staticmethod
    def _end(spooled: Spooled) -> str:
        return "" if spooled.repair.is_text else f"{spooled.repair.markup.root.end}\n"

    def _names(self, spooled: Spooled, number: int) -> list[str]:
        """Names of the files that the entries of a file go to."""
        compressed = self._compress or spooled.is_compressed
        suffix = (".txt" if spooled.repair.is_text else ".xml") + (".gz" if compressed else "")
        stem = stem_of(spooled.name)
        wanted = [stem] if number == 1 else [f"{stem}-{count}" for count in range(1, number + 1)]
        return [self.free_name(one, suffix) for one in wanted]

    def free_name(self, stem: str, suffix: str) -> str:
        """Return a name that no other file of the set has, also where upper and lower case are the same."""
        number, name = 1, f"{stem}{suffix}"
        while name.casefold() in self._taken:
            number += 1
            name = f"{stem}-{number}{suffix}"
        self._taken.add(name.casefold())
        return name

    def _completed(self, spooled: Spooled, file: BinaryIO) -> Iterator[bytes]:
        """Yield the entries of a file, with what later ones add to them, and without links that are not returned."""
        additions, links = self._seen.additions(spooled.number), self._seen.links(spooled.number)
        waiting, link = next(additions, None), next(links, None)
        with spooled.sizes.open(encoding="ascii") as lines:
            for place, line in enumerate(lines):
                data = file.read(int(line.partition(" ")[0]))
                while waiting is not None and waiting[0] == place:
                    data = self._with_objects(spooled.repair, data, *waiting[1:])
                    waiting = next(additions, None)
                while link is not None and link[0] == place:
                    data = self._with_link(spooled.repair, data, int(line.rpartition(" ")[2]), *link[1:])
                    link = next(links, None)
                yield data

    def _with_link(
        self, repair: FileRepair, data: bytes, line: int, rule: str, page: str | None, code: str | None
    ) -> bytes:
        """Change, add or remove the links of an entry to a language version."""
        markup = repair.markup
        element = markup.parse([data.decode()])[0]
        if element is None:
            return data
        draft = Draft(element, repair.base)
        draft.rule = rule
        if rule == SELF:
            list_itself(draft, code)
        elif page is not None:
            rename_versions(draft, page, code)
        for _, old, new in draft.changes:
            self._note(Change(Action.CHANGED, rule, draft.loc, old, new, repair.url, line or None))
        return f"{markup.write(element)}\n".encode() if draft.changes else data

    def _with_objects(self, repair: FileRepair, data: bytes, line: int | None, text: str, lastmod: str | None) -> bytes:
        """Add the images and videos of a repeated entry to the first one, unless it has them, and its date if that is
        newer."""
        markup: EntryMarkup = repair.markup
        first, other = markup.parse([data.decode(), text])
        if first is None or other is None or repair.is_text:
            return data
        draft = Draft(first, "")
        draft.rule = DUPLICATE if line is not None else CROSS
        if lastmod is not None:
            self._set_newer(draft, Draft(other, "").field("lastmod"), lastmod)
        held = {etree.tostring(part, method="c14n", with_tail=False) for part in draft.parts}
        merged = (IMAGE, VIDEO) if draft.objects(HREFLANG) else (IMAGE, VIDEO, HREFLANG)
        images = len(draft.objects(IMAGE))
        for part in [one for one in other if isinstance(one.tag, str) and split(one)[0] in merged]:
            form = etree.tostring(part, method="c14n", with_tail=False)
            if form in held or (split(part)[0] == IMAGE and images >= MAX_IMAGES):
                continue
            held.add(form)
            images += split(part)[0] == IMAGE
            part.tail = None
            first.append(part)
            draft.note("", written(part))
        for rule, old, new in draft.changes:
            self._note(Change(Action.CHANGED, rule, draft.loc, old, new, repair.url, line))
        return f"{markup.write(first)}\n".encode() if draft.changes else data

    @staticmethod
    def _set_newer(draft: Draft, field: etree._Element | None, moment: str) -> None:
        """Set the date of an entry to that of a repeated one, if it is newer. `moment`: the same in UTC."""
        own, loc = draft.field("lastmod"), draft.field("loc")
        before = utc(text_of(own)) if own is not None else None
        if field is None or loc is None or (before is not None and before >= moment):
            return
        if own is None:
            own = etree.Element(field.tag)
            own.tail, loc.tail = loc.tail, None
            loc.addnext(own)
        draft.set_text(own, text_of(field))

    def _write(self, spooled: Spooled, name: str, entries: Iterator[bytes], number: int) -> None:
        with self._opened(name) as file:
            file.write(self._head(spooled).encode())
            for _ in range(number):
                file.write(next(entries))
            file.write(self._end(spooled).encode())

    def _opened(self, name: str) -> BinaryIO:
        """Open a file of the set; one that ends in `.gz` is compressed, without a time stamp."""
        raw = (self._folder / name).open("xb")
        if not name.endswith(".gz"):
            return raw
        return cast("BinaryIO", _Gzip(raw))

    def copy(self, path: Path, stem: str, suffix: str) -> str:
        """Copy a file into the set; return its name."""
        name = self.free_name(stem, suffix)
        shutil.copyfile(path, self._folder / name)
        return name

    def write_index(self, name: str, base: str, others: Collection[tuple[str, str | None]] = ()) -> list[str]:
        """Write the index of the files; return the names. `base`: URL of the folder; `others`: URL and lastmod of files
        that it lists as they are. More than one index is needed beyond 50,000 files."""
        rows = [(base + quote(part.name), part.lastmod) for part in self.written] + [*others]
        compressed = self._compress or name.endswith(".gz")
        stem, suffix = stem_of(name), ".xml.gz" if compressed else ".xml"
        chunks = [rows[start : start + MAX_ENTRIES] for start in range(0, len(rows), MAX_ENTRIES)]
        names = []
        for number, chunk in enumerate(chunks, 1):
            names.append(self.free_name(stem if len(chunks) == 1 else f"{stem}-{number}", suffix))
            with self._opened(names[-1]) as file:
                file.write(INDEX_HEAD.encode())
                for loc, lastmod in chunk:
                    dated = f"<lastmod>{shortest(lastmod)}</lastmod>" if lastmod else ""
                    file.write(f"<sitemap><loc>{escape(loc)}</loc>{dated}</sitemap>\n".encode("utf-8", "replace"))
                file.write(INDEX_END.encode())
        return names


class _Gzip(gzip.GzipFile):
    """A gzip file that closes the file below, and has no time and name in it, so that equal content gives equal
    files."""

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__("", "wb", 6, raw, 0)
        self._raw_file = raw

    def close(self) -> None:
        with closing(self._raw_file):
            super().close()


def shortest(moment: str) -> str:
    """Write a moment in UTC as a day if it is midnight."""
    return moment.removesuffix("T00:00:00Z")


MAX_STEM_BYTES = 150
"""Bytes of a name without its suffix; file systems allow 255 in all."""
UNSAFE = re.compile(r"[^\w.,+~@=() -]+")
"""Characters that do not go into the name of a file; `\\w` has the letters of all scripts."""
RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|\Z)", re.IGNORECASE)
"""Names that Windows does not allow."""
SUFFIXES = re.compile(r"(?:\.(?:xml|txt|gz|rss|atom|php|aspx?|html?))+\Z", re.IGNORECASE)
DEFAULT_STEM = "sitemap"


def name_of(url: str) -> str:
    """Return the last part of a URL's path with its query, as the site writes it."""
    parts = urlsplit(url)
    name = unquote(parts.path.rstrip("/").rpartition("/")[2])
    return f"{name}-{unquote(parts.query)}" if parts.query else name


def stem_of(name: str) -> str:
    """Return a safe name without its suffixes for a file that the site calls `name`: it stays in its folder, and is not
    hidden."""
    base = (
        SUFFIXES.sub("", name) if "-" not in name else re.sub(r"\.(?:php|aspx?|html?)(?=-)", "", SUFFIXES.sub("", name))
    )
    stem = UNSAFE.sub("-", unicodedata.normalize("NFC", base)).strip(" .-")
    while len(stem.encode()) > MAX_STEM_BYTES:
        stem = stem[:-1]
    stem = stem.strip(" .-") or DEFAULT_STEM
    return f"{DEFAULT_STEM}-{stem}" if RESERVED.match(stem) else stem


def manifest_of(folder: Path) -> list[str] | None:
    """Return the names that an earlier run wrote to a folder; None if none did. Names outside of it are ignored."""
    try:
        held = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    names = held.get("files") if isinstance(held, dict) else None
    if not isinstance(names, list):
        return None
    return [name for name in names if isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name]


def write_manifest(folder: Path, names: Iterable[str]) -> None:
    (folder / MANIFEST).write_text(json.dumps({"files": sorted(names)}, indent=1, ensure_ascii=True) + "\n", "ascii")
