"""Writes the files of a set: without duplicates, split at the limits of the protocol.

Entries are spooled first, so that an entry can still be completed when a later one repeats it, and so that the number
of files is known before their places are planned.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from lxml import etree

from sitemapcrawler.namespaces.extensions import HREFLANG, IMAGE, VIDEO
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.repair.changes import Action, Change, State
from sitemapcrawler.repair.edits import MAX_IMAGES, Draft, list_itself, rename_versions, split, text_of, written
from sitemapcrawler.repair.markup import EntryMarkup
from sitemapcrawler.repair.places import Place
from sitemapcrawler.repair.reading import DUPLICATE, OF_LIMITS, SELF, FileRepair, Kept, Rules
from sitemapcrawler.repair.seen import Seen

MAX_ENTRIES = 50_000  # https://www.sitemaps.org/protocol.html#index
MAX_BYTES = 52_428_800  # uncompressed; the same page
MAX_ARTICLES = 1_000  # https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
CROSS = "cross-duplicate-url"
LINK = '<xhtml:link rel="alternate" hreflang="" href=""/>'
"""A link to a language version, to estimate its bytes."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file that is to be written."""

    entries: int
    lastmod: str | None
    """Newest `lastmod_at` of its entries."""
    ended_by: str
    """The rule on a limit for which the next entries go to another file; empty for the last."""


@dataclass(slots=True)
class Spooled:
    """The kept entries of one file of the site."""

    number: int
    repair: FileRepair
    path: Path
    parts: list[Part] = field(default_factory=list)
    """The files that its entries need, once `SetWriter.settle` knows."""

    @property
    def sizes(self) -> Path:
        """File with a line for each entry: bytes, articles, lastmod, line, state."""
        return self.path.with_suffix(".sizes")


class SetWriter:
    """Writes the files of a set into a new folder."""

    def __init__(self, work: Path, folder: Path, rules: Rules, note: Callable[[Change], None]) -> None:
        """`work`: empty folder for temporary files; `folder`: the one to write to."""
        self._work = work
        self._folder = folder
        self._rules = rules
        self._note = note
        self._seen = Seen(work / "seen.sqlite")
        self._files: list[Spooled] = []
        self.states: Counter[str] = Counter()
        """Written entries by `State`."""
        self.written: list[str] = []
        """Paths of the files that were written, in order."""

    def close(self) -> None:
        self._seen.close()

    def spool(self, repair: FileRepair, entries: Iterable[Kept]) -> Spooled | None:
        """Spool the entries of a file. None if there are none left, or it is another kind of file. A file that lists
        nothing is written as it is."""
        number = len(self._files)
        spooled = Spooled(number, repair, self._work / f"{number}.spool")
        with spooled.path.open("wb") as file, spooled.sizes.open("w", encoding="ascii") as sizes:
            row = 0
            for entry in entries:
                if self._repeats(entry, number, row, repair):
                    continue
                data = self._bytes(entry, repair)
                file.write(data)
                date = entry.lastmod_at or "-"
                sizes.write(f"{len(data)} {entry.articles} {date} {entry.line or 0} {entry.state}\n")
                row += 1
        if not repair.is_listing or (repair.read and not row):
            return None
        self._files.append(spooled)
        return spooled

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
        repair.dropped += 1
        self._note(Change(Action.DROPPED, rule, entry.loc, " ".join(entry.text.split()), "", repair.url, entry.line))
        return True

    def settle(self) -> None:
        """Decide on what depends on the whole set, and how many files the entries of each need."""
        self._seen.judge_links(self._rules.only)
        for spooled in self._files:
            spooled.parts = [*self._cuts(spooled)]

    def write(self, spooled: Spooled, places: Sequence[Place]) -> None:
        """Write the entries of a file to its places, one for each part."""
        with spooled.path.open("rb") as file:
            entries = self._completed(spooled, file)
            for part, place in zip(spooled.parts, places, strict=True):
                with self.opened(place) as out:
                    out.write(self._head(spooled).encode())
                    out.writelines(islice(entries, part.entries))
                    out.write(self._end(spooled).encode())
        if len(places) > 1:
            new = " ".join(place.url for place in places)
            url = spooled.repair.url
            self._note(Change(Action.CHANGED, spooled.parts[0].ended_by, "", url, new, url))

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
                size, articles, lastmod, *_ = line.split()
                newest = max(dates.get(place, ""), lastmod.removeprefix("-"))
                yield int(size) + added.get(place, 0), int(articles), newest or None

    def _cuts(self, spooled: Spooled) -> Iterator[Part]:
        """Yield the files that the entries need."""
        around = len(self._head(spooled).encode()) + len(self._end(spooled))
        entries, articles, size, newest = 0, 0, around, None
        for one, news, lastmod in self._lines(spooled):
            full = (entries == MAX_ENTRIES, size + one > MAX_BYTES, articles + news > MAX_ARTICLES)
            if entries and any(full):
                yield Part(entries, newest, OF_LIMITS[full.index(True)])
                entries, articles, size, newest = 0, 0, around, None
            entries, articles, size = entries + 1, articles + news, size + one
            newest = max(filter(None, (newest, lastmod)), default=None)
        yield Part(entries, newest, "")

    @staticmethod
    def _head(spooled: Spooled) -> str:
        repair = spooled.repair
        return "" if repair.is_text else f"{repair.prolog}{repair.markup.root.tag}\n{repair.comments}"

    @staticmethod
    def _end(spooled: Spooled) -> str:
        return "" if spooled.repair.is_text else f"{spooled.repair.markup.root.end}\n"

    def _completed(self, spooled: Spooled, file: BinaryIO) -> Iterator[bytes]:
        """Yield the entries of a file, with what later ones add to them, and without links that are not returned."""
        additions, links = self._seen.additions(spooled.number), self._seen.links(spooled.number)
        waiting, link = next(additions, None), next(links, None)
        with spooled.sizes.open(encoding="ascii") as lines:
            for place, line in enumerate(lines):
                size, _, _, number, state = line.split()
                data = before = file.read(int(size))
                while waiting is not None and waiting[0] == place:
                    data = self._with_objects(spooled.repair, data, *waiting[1:])
                    waiting = next(additions, None)
                while link is not None and link[0] == place:
                    data = self._with_link(spooled.repair, data, int(number), *link[1:])
                    link = next(links, None)
                self.states[State.CHANGED if data != before and state == State.KEPT else state] += 1
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

    @contextmanager
    def opened(self, place: Place) -> Iterator[BinaryIO]:
        """Open a file of the set; a compressed one has no time stamp."""
        path = self._folder / place.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            file: BinaryIO = stack.enter_context(path.open("xb"))
            if place.is_compressed:
                file = cast("BinaryIO", stack.enter_context(gzip.GzipFile("", "wb", GZIP_LEVEL, file, 0)))
            yield file
        self.written.append(place.path)

    def copy(self, chunks: Iterable[bytes], place: Place) -> None:
        """Write a file as it stands."""
        path = self._folder / place.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.writelines(chunks)
        self.written.append(place.path)


GZIP_LEVEL = 6
