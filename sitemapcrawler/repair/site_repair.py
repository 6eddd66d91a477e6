"""Repairs the sitemaps of a site, file by file, and writes them as a set with its list of changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from sitemapcrawler import urls
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.repair import indexes, publishing, readme
from sitemapcrawler.repair.additions import Additions
from sitemapcrawler.repair.change_list import NAME, Action, Change, ChangeList, State
from sitemapcrawler.repair.indexes import Indexes
from sitemapcrawler.repair.markup import prolog_of
from sitemapcrawler.repair.page_list import PageList
from sitemapcrawler.repair.places import Place, Placed, SetFile, plan
from sitemapcrawler.repair.readme import Advice
from sitemapcrawler.repair.sources import Member, Row, Source, SourceError
from sitemapcrawler.repair.streaming import OF_LIMITS, Dated, FileRepair, MayList, Rules, Verified
from sitemapcrawler.repair.writing import MAX_ENTRIES, SetWriter


@dataclass(slots=True)
class Repaired:
    """Result of a run."""

    files: list[str] = field(default_factory=list)
    """Paths of the files that were written, in the folder to upload."""
    sources: int = 0
    """Files that were read."""
    unread: int = 0
    """Files that could not be read, or not to their end."""
    read: int = 0
    """Entries that were read: pages of sitemaps, and sitemaps of indexes."""
    kept: int = 0
    """Entries that stay as they are."""
    changed: int = 0
    """Entries that were written with a change."""
    unrepaired: int = 0
    """Entries that stay with a problem that is not repaired."""
    copied: int = 0
    """Entries of feeds that stay as they are, among those kept and not repaired."""
    dropped: int = 0
    """Entries that were left out."""
    added: int = 0
    """Pages that no sitemap listed and the set lists."""
    advice: Advice = field(default_factory=Advice)
    """What to do with the set."""
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
        compress: bool = False,
        may_list: MayList | None = None,
        pages: PageList | None = None,
        additions: Additions | None = None,
        dated: Dated | None = None,
    ) -> None:
        """`children`: finds the files of an index; `compress`: write all files as gzip; `may_list`: what an audit knows
        of other hosts; `pages`: the list that the files are made of, which get an index; `additions`: pages to add;
        `dated`: the dates of pages by their history."""
        self._rules = rules
        self._children = children
        self._verified = verified
        self._compress = compress
        self._may_list = may_list
        self._pages = pages
        self._additions = additions
        self._dated = dated
        self._members: list[Member] = []
        self._twins: list[Source] = []
        """Files that were not read, since they redirect to others of the set."""

    def run(
        self,
        sources: Collection[Source],
        out: Path | None,
        parent: Path,
        publishes: Callable[[], None] = lambda: None,
    ) -> Repaired:
        """Repair files and publish the folder `out`; None for a dry run. `parent`: folder for temporary files;
        `publishes`: called just before the new set is published, after which nothing may stop the run. Raises OSError
        or FolderError."""
        result = Repaired()
        with ExitStack() as stack:
            work = Path(stack.enter_context(TemporaryDirectory(dir=parent)))
            target = stack.enter_context(_staged(out, work))
            table = stack.enter_context((target / NAME).open("x", encoding="utf-8", newline=""))
            result.changes = changes = ChangeList(table, self._pages.located if self._pages is not None else None)
            count = self._additions.count if self._additions is not None else None
            writer = SetWriter(work, target / readme.FOLDER, self._rules, changes.add, count)
            stack.callback(writer.close)
            self._read(sources, writer, result)
            if self._pages is not None:
                writer.lose(self._pages.lost())
            if self._additions is not None:
                self._add_pages(self._additions, writer, result)
            self._write(writer, result)
            if self._pages is not None:
                self._count_list(self._pages, result)
            else:
                places = {one.source.url: one.placed.own.url for one in self._members if one.placed is not None}
                for (host, sitemap), number in changes.offsite.items():
                    result.advice.offsite[host, places.get(sitemap, sitemap)] += number
            table.close()
            if out is not None and result.sources:
                lines = "".join(f"{line}\n" for line in readme.lines_of(result.advice, result.files))
                (target / readme.NAME).write_text(lines, "utf-8")
                names = [NAME, readme.NAME, *(f"{readme.FOLDER}/{path}" for path in result.files)]
                publishing.write_manifest(target, names)
                publishes()
                publishing.publish(target, out)
        return result

    @staticmethod
    def _add_pages(additions: Additions, writer: SetWriter, result: Repaired) -> None:
        assert result.changes is not None
        for change in additions.place(writer):
            if change.action == Action.ADDED:
                result.advice.grown[change.sitemap] += 1
            result.changes.add(change)
        result.added = result.advice.grown.total()

    @staticmethod
    def _count_list(pages: PageList, result: Repaired) -> None:
        """Count the files and rows of a list. One without a page to list makes no set."""
        assert result.changes is not None
        for change in pages.refused():
            result.read += change.action == Action.DROPPED
            result.dropped += change.action == Action.DROPPED
            result.changes.add(change)
        result.unread = int(pages.unread)
        result.sources = len(pages.files) if result.files else 0

    def _read(self, sources: Collection[Source], writer: SetWriter, result: Repaired) -> None:
        """Read the files, and those that their indexes list."""
        # Indexes first: they know where local files will live.
        waiting = deque(sorted(sources, key=lambda source: not source.is_index()))
        known = {urls.visit_key(source.url): source for source in sources}
        done: set[str] = set()
        while waiting:
            member = Member(waiting.popleft())
            if urls.visit_key(member.source.lives_at) in done:
                self._twins.append(member.source)
                continue
            self._read_file(member, writer, result)
            self._members.append(member)
            done.update(_keys(member.source))
            if member.is_index and member.repair is not None:
                for child in self._children(member.source, member.repair.children):
                    same = known.setdefault(urls.visit_key(child.url), child)
                    same.place = same.place or child.place
                    if same is child:
                        waiting.append(child)

    def _read_file(self, member: Member, writer: SetWriter, result: Repaired) -> None:
        source, changes = member.source, result.changes
        assert changes is not None
        before = changes.number(Action.UNREAD)
        try:
            if source.path is None:
                raise SourceError(source.error)
            self._repair(member, writer, changes)
        except SourceError as error:
            member.repair = None
            changes.add(Change(Action.UNREAD, source.rule, source.url, str(error), "", source.url))
            if not source.unlistable:
                self._advise(source, str(error), result.advice)
        else:
            self._count(member, result)
            if changes.number(Action.UNREAD) > before and (why := member.repair and member.repair.record.error):
                result.advice.unread.append((source.url, why))
        result.unread += changes.number(Action.UNREAD) > before

    @staticmethod
    def _advise(source: Source, error: str, advice: Advice) -> None:
        if source.is_gone:
            advice.gone.append(source.url)
        else:
            advice.unread.append((source.url, error))

    def _repair(self, member: Member, writer: SetWriter, changes: ChangeList) -> None:
        """Repair the entries of a file. A feed stays as it is."""
        source = member.source
        member.repair = repair = FileRepair(
            source.url, self._rules, changes.add, source.place, self._verified, source.base, self._may_list,
            self._dated, source.charset,
        )  # fmt: skip
        member.spooled = writer.spool(repair, repair.entries(source.chunks()))
        format = format_named(repair.record.format)
        if not format.is_sitemap:
            rule = "doc-is-html" if format.name == "html" else "xml-root-unknown"
            why = repair.record.error or "no sitemap"
            changes.add(Change(Action.UNREAD, rule, source.url, why, "", source.url))
        member.is_copy = format.is_feed
        if member.is_copy:
            repair.read += repair.copied
            for change in repair.unfit:
                changes.add(change)

    @staticmethod
    def _count(member: Member, result: Repaired) -> None:
        repair = member.repair
        assert repair is not None
        result.sources += 1
        result.read += repair.read + len(repair.children)

    def _write(self, writer: SetWriter, result: Repaired) -> None:
        """Plan where the files go, and write them."""
        assert result.changes is not None
        writer.settle()
        by_url: dict[str, Member] = {}  # only now: an index that is read late may say where earlier files will live
        for member in self._members:
            for key in _keys(member.source):
                by_url.setdefault(key, member)
        for twin in self._twins:
            by_url.setdefault(urls.visit_key(twin.url), by_url[urls.visit_key(twin.lives_at)])
        listing = Indexes(by_url, self._rules, result.changes.add, writer.states, self._may_list)
        for index in (member for member in self._members if member.is_index):
            listing.choose(index)
        listed = {row.member for member in self._members for row in member.rows if row.member is not None}
        files = [_set_file(member, member in listed or self._pages is not None) for member in self._members]
        others = [row.child.loc for member in self._members for row in member.rows if not _is_in_set(row)]
        of_list = [SetFile(self._pages.index, int(any(file.parts for file in files)))] if self._pages else []
        places = plan([*files, *of_list], self._compress, others)
        for member, placed in zip(self._members, places, strict=False):
            member.placed = placed
        for member in self._members:
            if member.placed is not None:
                self._write_file(member, member.placed, listing, writer)
            elif member.spooled is not None:
                writer.write(member.spooled, ())
        if self._pages is not None and places[-1] is not None:
            self._write_index_of_list(places[-1].own, writer, result)
            made = {place.url for placed in places if placed is not None for place in (placed.own, *placed.parts)}
            result.advice.replaced = [url for url in self._pages.replaces if url not in made]
            result.advice.unread += self._pages.lacking
        result.files = writer.written
        states = writer.states
        result.kept, result.changed = states[State.KEPT], states[State.CHANGED]
        feeds = [member.repair for member in self._members if member.is_copy and member.repair is not None]
        result.copied, unfit = sum(feed.copied for feed in feeds), sum(len(feed.unfit) for feed in feeds)
        result.kept += result.copied - unfit
        result.unrepaired = states[State.UNREPAIRED] + unfit
        result.dropped = sum(member.repair.dropped for member in self._members if member.repair is not None)
        for member in self._members:
            _advise(member, member in listed, result, is_new=self._pages is not None)

    def _write_file(self, member: Member, placed: Placed, listing: Indexes, writer: SetWriter) -> None:
        repair = member.repair
        assert repair is not None
        if member.is_copy:
            writer.copy(member.source.chunks(), placed.own)
        elif member.spooled is not None:
            writer.write(member.spooled, placed.parts)
        if member.is_index:
            self._write_index(member, placed.parts, listing.entries(member), writer)
        elif placed.index is not None:
            with writer.opened(placed.own) as out:
                indexes.write(out, repair.prolog, indexes.ROOT, _index_of_parts(member, placed))

    def _write_index_of_list(self, place: Place, writer: SetWriter, result: Repaired) -> None:
        """Write the index of the files that are made of a list."""
        with writer.opened(place) as out:
            parts = (_index_of_parts(member, member.placed) for member in self._members if member.placed is not None)
            indexes.write(out, prolog_of(""), indexes.ROOT, chain.from_iterable(parts))
        if self._pages is not None and not self._pages.is_named:
            result.advice.added.append(place.url)

    @staticmethod
    def _write_index(
        member: Member, places: Sequence[Place], entries: Iterator[indexes.Listed], writer: SetWriter
    ) -> None:
        """Write an index, to several places if it lists more files than an index may."""
        repair = member.repair
        assert repair is not None
        for place in places:
            with writer.opened(place) as out:
                some = islice(entries, MAX_ENTRIES)
                tail = repair.tail if place is places[-1] else ""
                indexes.write(out, repair.prolog, repair.markup.root, some, tail, repair.after)
        writer.note_split(repair.url, OF_LIMITS[0], places)


def _keys(source: Source) -> Iterator[str]:
    """Visit keys of all URLs of a file."""
    return (urls.visit_key(url) for url in (source.url, source.place, source.lives_at) if url is not None)


def _is_in_set(row: Row) -> bool:
    return row.member is not None and row.member.is_written


def _set_file(member: Member, is_listed: bool) -> SetFile:
    parts = len(member.spooled.parts) if member.spooled is not None else int(member.is_written)
    if member.repair is not None and member.repair.error:  # a feed that stays on the server
        parts = 0
    if member.rows:
        parts = -(-sum(row.parts for row in member.rows) // MAX_ENTRIES)
    is_text = member.repair is not None and member.repair.is_text
    can_be_index = not (is_listed or is_text or member.is_index)
    suffix = ".txt" if is_text else ".xml"
    return SetFile(member.source.lives_at, parts, can_be_index, suffix, member.is_copy)


def _index_of_parts(member: Member, placed: Placed) -> Iterator[indexes.Listed]:
    """Yield the parts of a file that was split. Raises ValueError if they are not known."""
    assert member.spooled is not None
    for place, part in zip(placed.parts, member.spooled.parts, strict=True):
        if not urls.is_web(place.url):
            raise ValueError(indexes.NO_HOME)
        yield indexes.Listed(place.url, indexes.shortest(part.lastmod) if part.lastmod else None)


def _advise(member: Member, is_listed: bool, result: Repaired, is_new: bool) -> None:
    """Note what a user has to know of a file, and what differs from the site. `is_new`: no site has the file yet."""
    assert result.changes is not None
    url, advice, placed = member.source.lives_at, result.advice, member.placed
    if placed is None:
        if member.unlistable == member.emptied_by and not is_new:
            result.changes.add(Change(Action.EMPTIED, member.emptied_by, url, url, "", member.source.url))
            if all(sitemap != member.source.url for _, sitemap in result.changes.offsite):  # that has advice of its own
                advice.emptied.append(url)
        return
    upload = "/".join(filter(None, (readme.FOLDER, placed.own.root)))
    if upload not in dict(advice.uploads):
        advice.uploads.append((upload, f"{urls.origin(placed.own.url)}/" if urls.is_web(placed.own.url) else ""))
    if placed.own.url != url:
        result.changes.add(Change(Action.MOVED, "", url, url, placed.own.url, member.source.url))
        advice.moved.append((url, placed.own.url))
    if placed.index is None and not is_listed and not is_new:
        advice.added += [place.url for place in placed.parts[1:]]


@contextmanager
def _staged(out: Path | None, work: Path) -> Iterator[Path]:
    """A new folder for the set: beside its place, or in `work` for a dry run. Removed unless it was published."""
    if out is None:
        target = work / "set"
        target.mkdir()
        yield target
        return
    with publishing.staged(out) as target:
        yield target
