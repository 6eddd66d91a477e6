"""Writes the files of a set: without duplicates, split at the limits of the protocol.

Entries are spooled first, since a later one may decide on an earlier one, and so that the number of files is known
before their places are planned.
"""

from __future__ import annotations

import gzip
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast
from xml.sax.saxutils import escape

import msgspec

from sitemapcrawler.reader.dates import iso
from sitemapcrawler.repair.change_list import Action, Change, State
from sitemapcrawler.repair.edits import CODE, Draft, correct_code, relink
from sitemapcrawler.repair.places import Place
from sitemapcrawler.repair.seen import DROPPED, RELINKED, UNLINKED, UNREPAIRED, Decision, Seen
from sitemapcrawler.repair.streaming import CROSS, OF_LIMITS, FileRepair, Kept, Lost, Origin, Rules, line_of

MAX_ENTRIES = 50_000  # https://www.sitemaps.org/protocol.html#index
MAX_BYTES = 52_428_800  # uncompressed; the same page
MAX_ARTICLES = 1_000  # https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
CHANGED, ADDED = "1", "2"
"""Marks of an entry that was changed, or is new, in `Spooled.sizes`."""
EXTENDING = ("image-", "video-", "news-", "hreflang-")
"""Families of rules that remove extensions from an entry."""
ORIGIN = msgspec.json.Decoder(Origin)
NO_MORE: tuple[int, list[Decision]] = (-1, [])
"""Stands for the decisions behind the last entry with one."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file that is to be written."""

    entries: int
    lastmod: str | None
    """Newest `lastmod_at` of its entries that is not in the future."""
    ended_by: str
    """The rule on a limit for which the next entries go to another file; empty for the last."""


@dataclass(slots=True)
class Spooled:
    """The kept entries of one file of the site."""

    number: int
    repair: FileRepair
    path: Path
    entries: int = 0
    parts: list[Part] = field(default_factory=list)
    """The files that its entries need, once `SetWriter.settle` knows."""

    @property
    def sizes(self) -> Path:
        """File with a line for each entry: bytes, those of comments, articles, lastmod, line, `CHANGED` or `ADDED`."""
        return self.path.with_suffix(".sizes")

    @property
    def origins(self) -> Path:
        """File with a line for each entry that was changed: its `Origin` as JSON."""
        return self.path.with_suffix(".origins")


@dataclass(slots=True)
class Written:
    """A spooled entry that was changed, or on which something was decided."""

    repair: FileRepair
    data: bytes
    line: int | None
    origin: Origin | None
    """None if it is as it was read."""
    state: str = State.KEPT

    @property
    def line_of_text(self) -> str:
        """The entry on one line, for the list of changes."""
        return line_of(self.data.decode())

    def draft(self) -> Draft:
        """The entry as elements; of a text file with its URL only."""
        text = self.data.decode().strip()
        if self.repair.is_text:
            text = f"<url><loc>{escape(text)}</loc></url>"
        element = self.repair.markup.parse([text])[0]
        assert element is not None
        return Draft(element, self.repair.base)

    def change(self, action: Action, rule: str, url: str, old: str, new: str) -> Change:
        """A row of the list of changes."""
        return Change(action, rule, url, old, new, self.repair.url, self.line)

    def dropped(self, rule: str) -> Change:
        """The row of a dropped entry, with its URL and text as they were read. `rule`: empty for that of its move; an
        entry that repeats another only since it has lost its extension has the rule of that loss."""
        origin = self.origin or Origin(self.draft().loc, self.line_of_text, self.line)
        if rule == CROSS:
            rule = next((why for why, _, new in origin.changes if not new and why.startswith(EXTENDING)), rule)
        return self.change(Action.DROPPED, rule or origin.move, origin.url, line_of(origin.text), "")


class SetWriter:
    """Writes the files of a set into a new folder."""

    def __init__(
        self,
        work: Path,
        folder: Path,
        rules: Rules,
        note: Callable[[Change], None],
        count: Callable[[int, str], None] | None = None,
    ) -> None:
        """`work`: empty folder for temporary files; `folder`: the one to write to; `count`: is given the number of its
        file, and the URL, of each entry."""
        self._work = work
        self._folder = folder
        self._rules = rules
        self._now = iso(rules.at)
        self._note = note
        self._count = count
        self._seen = Seen(work / "seen.sqlite", rules)
        self.files: list[Spooled] = []
        """The files that have been spooled, by number."""
        self.states: Counter[str] = Counter()
        """Written entries by `State`."""
        self.written: list[str] = []
        """Paths of the files that were written, in order."""

    def close(self) -> None:
        self._seen.close()

    def spool(self, repair: FileRepair, entries: Iterable[Kept | Lost]) -> Spooled | None:
        """Spool the entries of a file. None if there are none left, or it is another kind of file. A file that lists
        nothing is written as it is."""
        number = len(self.files)
        spooled = Spooled(number, repair, self._work / f"{number}.spool")
        with (
            spooled.path.open("wb") as file,
            spooled.sizes.open("w", encoding="ascii") as sizes,
            spooled.origins.open("wb") as origins,
        ):
            row = 0
            for entry in entries:
                if isinstance(entry, Lost):
                    self._seen.lose(entry)
                    continue
                self._seen.add(number, row, entry)
                if self._count is not None:
                    self._count(number, entry.loc)
                comments = entry.comments.encode()
                data = comments + self._bytes(entry, repair)
                file.write(data)
                origin = entry.origin
                marks = f"{entry.articles} {self._past(entry)} {origin.line or 0} {CHANGED if origin.changes else 0}"
                sizes.write(f"{len(data)} {len(comments)} {marks}\n")
                if origin.changes:
                    origins.write(msgspec.json.encode(origin) + b"\n")
                row += 1
        if not repair.is_listing or (repair.read and not row):
            return None
        spooled.entries = row
        self.files.append(spooled)
        return spooled

    def lose(self, pages: Iterable[Lost]) -> None:
        """Remember pages that no entry may name as language versions."""
        for page in pages:
            self._seen.lose(page)

    def lists(self, url: str) -> bool:
        """True if an entry that was spooled is for this page."""
        return self._seen.has(url)

    def append(self, spooled: Spooled, entry: Kept) -> None:
        """Add an entry behind those of a file."""
        self._seen.add(spooled.number, spooled.entries, entry)
        spooled.entries += 1
        data = self._bytes(entry, spooled.repair)
        with spooled.path.open("ab") as file, spooled.sizes.open("a", encoding="ascii") as sizes:
            file.write(data)
            sizes.write(f"{len(data)} 0 0 {self._past(entry)} 0 {ADDED}\n")

    def _past(self, entry: Kept) -> str:
        """The date of an entry, `-` if it has none or one in the future, which an index must not take over."""
        date = entry.lastmod_at
        return "-" if date is None or date > self._now else date

    @staticmethod
    def _bytes(entry: Kept, repair: FileRepair) -> bytes:
        text = entry.text.strip()
        if repair.is_text:
            element = repair.markup.parse([text])[0]
            assert element is not None
            text = Draft(element, "").loc
        return f"{text}\n".encode("utf-8", "replace")

    def settle(self) -> None:
        """Decide on what depends on the whole set, and how many files the entries of each need."""
        self._seen.settle()
        for spooled in self.files:
            spooled.parts = [*self._cuts(spooled)]

    def write(self, spooled: Spooled, places: Sequence[Place]) -> None:
        """Write the entries of a file to its places, one for each part; without places, only note what is dropped."""
        with spooled.path.open("rb") as file:
            entries = self._completed(spooled, file)
            for part, place in zip(spooled.parts, places, strict=True):
                with self.opened(place) as out:
                    out.write(self._head(spooled).encode())
                    out.writelines(islice(entries, part.entries))
                    if not part.ended_by:
                        out.writelines(entries)  # comments; what is dropped behind the last entry is noted
                    out.write(self._end(spooled).encode())
            deque(entries, maxlen=0)  # without places, notes what is dropped
        if spooled.parts and not self._rules.is_new:
            self.note_split(spooled.repair.url, spooled.parts[0].ended_by, places)

    def note_split(self, url: str, rule: str, places: Sequence[Place]) -> None:
        """Note that a file becomes several, if it does, for a rule on limits."""
        if len(places) > 1:
            self._note(Change(Action.CHANGED, rule, "", url, " ".join(place.url for place in places), url))

    def _lines(self, spooled: Spooled) -> Iterator[tuple[int, int, str | None]]:
        """Yield bytes, articles and lastmod of each entry that stays. Links that are removed only make it smaller."""
        dropped = self._seen.dropped(spooled.number)
        next_one, left = next(dropped, None), 0
        with spooled.sizes.open(encoding="ascii") as lines:
            for place, line in enumerate(lines):
                size, comments, articles, lastmod, *_ = line.split()
                if place == next_one:
                    next_one = next(dropped, None)
                    left += int(comments)
                    continue
                yield int(size) + left, int(articles), lastmod.removeprefix("-") or None
                left = 0

    def _cuts(self, spooled: Spooled) -> Iterator[Part]:
        """Yield the files that the entries need; none if all are dropped."""
        tail = len(spooled.repair.tail.encode())
        around = len(self._head(spooled).encode()) + tail + len(self._end(spooled).encode())
        entries, articles, size, newest = 0, 0, around, None
        for one, news, lastmod in self._lines(spooled):
            full = (entries == MAX_ENTRIES, size + one > MAX_BYTES, articles + news > MAX_ARTICLES)
            if entries and any(full):
                yield Part(entries, newest, OF_LIMITS[full.index(True)])
                entries, articles, size, newest = 0, 0, around, None
            entries, articles, size = entries + 1, articles + news, size + one
            newest = max(filter(None, (newest, lastmod)), default=None)
        is_failed = spooled.repair.record.outcome == "failed"
        if entries or (not spooled.sizes.stat().st_size and not is_failed):
            yield Part(entries, newest, "")

    @staticmethod
    def _head(spooled: Spooled) -> str:
        repair = spooled.repair
        return "" if repair.is_text else f"{repair.prolog}{repair.markup.root.tag}\n"

    @staticmethod
    def _end(spooled: Spooled) -> str:
        repair = spooled.repair
        return "" if repair.is_text else f"{repair.markup.root.end}\n{repair.after}"

    def _completed(self, spooled: Spooled, file: BinaryIO) -> Iterator[bytes]:
        """Yield the entries of a file that stay, without links to pages that are gone, then the comments behind them.
        Those of an entry that is dropped stand in front of the next one."""
        left = b""
        decisions = self._seen.decisions(spooled.number)
        number, decided = next(decisions, NO_MORE)
        with spooled.sizes.open(encoding="ascii") as lines, spooled.origins.open("rb") as origins:
            for place, line in enumerate(lines):
                size, comments, _, _, at, is_changed = line.split()
                left += file.read(int(comments))
                data: bytes | None = file.read(int(size) - int(comments))
                state: str = State.ADDED if is_changed == ADDED else State.KEPT
                if place == number or is_changed == CHANGED:
                    assert data is not None
                    origin = ORIGIN.decode(origins.readline()) if is_changed == CHANGED else None
                    entry = Written(spooled.repair, data, int(at) or None, origin)
                    data = self._decided(entry, decided if place == number else ())
                    state = State.ADDED if is_changed == ADDED else entry.state
                if place == number:
                    number, decided = next(decisions, NO_MORE)
                if data is not None:
                    self.states[state] += 1
                    yield left + data
                    left = b""
        if left := left + spooled.repair.tail.encode():
            yield left

    def _decided(self, entry: Written, decisions: Sequence[Decision]) -> bytes | None:
        """Apply what was decided on an entry, and note all its changes. None if it is dropped."""
        for decision in decisions:
            if decision.action == DROPPED:
                entry.repair.dropped += 1
                self._note(entry.dropped(decision.rule))
                return None
        if entry.origin is not None:
            self._note_changes(entry, entry.origin.url, entry.origin.changes)
        before = entry.data
        self._relink(entry, [one for one in decisions if one.action in (UNLINKED, RELINKED)])
        problems = [one for one in decisions if one.action == UNREPAIRED]
        if problems and entry.data != before:
            solved = entry.repair.issues(before) - entry.repair.issues(entry.data)
            problems = [one for one in problems if one.rule not in solved]
        for problem in problems:
            entry.state = State.UNREPAIRED
            loc = entry.draft().loc
            self._note(entry.change(Action.UNREPAIRED, problem.rule, loc, problem.page or entry.line_of_text, ""))
        return entry.data

    def _relink(self, entry: Written, links: Sequence[Decision]) -> None:
        """Follow language versions that have moved, and remove links to those that are gone."""
        if not links:
            return
        draft = entry.draft()
        for link in links:
            draft.rule = link.rule
            relink(draft, link.page, self._seen.target_of(link.page) if link.action == RELINKED else None)
        if CODE in self._rules:  # a link that is gone may have had the right form of another one's code
            draft.rule = CODE
            correct_code(draft)
        if draft.changes:
            entry.data = f"{entry.repair.markup.write(draft.element)}\n".encode()
        self._note_changes(entry, draft.loc, draft.changes)

    def _note_changes(self, entry: Written, url: str, changes: Iterable[tuple[str, str, str]]) -> None:
        for rule, old, new in changes:
            entry.state = State.CHANGED
            self._note(entry.change(Action.CHANGED, rule, url, old, new))

    @contextmanager
    def opened(self, place: Place, is_compressed: bool | None = None) -> Iterator[BinaryIO]:
        """Open a file of the set. `is_compressed`: whether to compress what is written, as its place says unless given;
        without a time stamp."""
        path = self._folder / place.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            file: BinaryIO = stack.enter_context(path.open("xb"))
            if place.is_compressed if is_compressed is None else is_compressed:
                file = cast("BinaryIO", stack.enter_context(gzip.GzipFile("", "wb", GZIP_LEVEL, file, 0)))
            yield file
        self.written.append(place.path)

    def copy(self, chunks: Iterable[bytes], place: Place) -> None:
        """Write a file as it stands, compressed if its place is and it is not yet."""
        rest = iter(chunks)
        first = next(rest, b"")
        with self.opened(place, is_compressed=place.is_compressed and not first.startswith(GZIP)) as file:
            file.write(first)
            file.writelines(rest)


GZIP = b"\x1f\x8b"
GZIP_LEVEL = 6
