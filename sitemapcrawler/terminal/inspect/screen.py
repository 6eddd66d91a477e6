"""An inspection for people: fitted to the width of a terminal, in pipes as plain text without cuts."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sitemapcrawler.envelopes import SitemapEnd
from sitemapcrawler.items import UNREAD, SitemapRecord
from sitemapcrawler.reader.formats import INDEX, UNKNOWN, URLSET, format_named, long_format_label
from sitemapcrawler.replies.discovery import ROBOTS, way_named
from sitemapcrawler.terminal.inspect import labels
from sitemapcrawler.terminal.inspect.inspection import FileGroup, HistogramRow, Inspection, TreeEntry
from sitemapcrawler.terminal.inspect.labels import BAD, GOOD, ODD, PLAIN, Fact, meaning, outcome
from sitemapcrawler.urls.display import MAX_URL, counted, inert, shortened

STYLES = {GOOD: "green", ODD: "yellow", BAD: "bold red", PLAIN: ""}
LABEL = 12
"""Columns of the labels."""
GAP = 2
BAR = 40
"""Columns of the longest bar."""
PIPE = 80
"""Columns for aligned text if the width of the output is unknown."""
EIGHTHS = " ▏▎▍▌▋▊▉"
MAX_PROBLEMS = 10
"""Files with problems listed in addition to the tree."""
INDENT = " " * 4
LEAST_NAME = 30
"""Minimum columns of a file name."""


class Screen:
    """Draws for an output of `width` columns; 0 for unlimited width, where nothing is cut or folded. `unicode`: the
    output shows box-drawing and block characters. `colour`: it accepts escape sequences."""

    def __init__(self, width: int, unicode: bool, colour: bool) -> None:
        self._width = width
        self._unicode = unicode
        self._dots = "…" if unicode else "..."
        self._told: set[str] = set()
        """URLs of files whose line in the tree shows the whole problem."""
        self._console = Console(
            file=io.StringIO(),
            width=max(width, 1) if width else 10_000_000,
            force_terminal=colour,
            color_system="auto" if colour else None,
            no_color=not colour,
            legacy_windows=False,
            highlight=False,
        )

    def draw(self, inspection: Inspection) -> str:
        """Return the whole text."""
        with self._console.capture() as captured:
            for line in self._lines(inspection):
                line.rstrip()
                self._console.print(line, soft_wrap=True)
        return captured.get()

    def _lines(self, inspection: Inspection) -> Iterator[Text]:
        yield from self._folded(Text(inert(inspection.name, MAX_URL), "bold"), "")
        yield Text()
        single = inspection.single
        told = [*(labels.file_facts(single) if single is not None else labels.site_facts(inspection))]
        told += labels.index_facts(inspection)
        yield from self._block(told, [])
        lines = [*Outline(inspection, Guides() if self._unicode else ASCII).lines()]
        listed = inspection.listed
        if listed.urls and not inspection.tally.urls:
            yield from self._block([*labels.entry_facts(listed)][1:], listed.dates.bars())
        if lines:
            yield Text()
            yield from self._tree(lines)
            yield from self._problems(inspection, self._told)
        yield from self._sums(inspection, bool(lines))
        yield from self._block([*labels.limit_facts(inspection)], [])

    def _sums(self, inspection: Inspection, is_tree: bool) -> Iterator[Text]:
        """Totals of all entries."""
        told: list[Fact] = []
        if len(inspection.files.records) > 1:
            told += labels.files_facts(inspection)
        if inspection.tally.urls or (
            inspection.single is not None and not format_named(inspection.single.format).is_index
        ):
            told += [*labels.entry_facts(inspection.tally), *labels.extension_facts(inspection)]
        if told and is_tree:
            yield Text()
        yield from self._block(told, inspection.tally.dates.bars())

    def _problems(self, inspection: Inspection, told: set[str]) -> Iterator[Text]:
        """Files with problems that the tree does not show in full. `told`: URLs of those that it does."""
        hidden = [record for record in inspection.files.failed if record.sitemap not in told]
        if not hidden or (inspection.single is not None and len(inspection.files.records) == 1):
            return
        yield Text()
        for record in hidden[:MAX_PROBLEMS]:
            yield from self._folded(Text(labels.place(record.sitemap)), "")
            yield from self._folded(Text(labels.outcome(record), STYLES[labels.meaning(record)]), INDENT)
        if len(hidden) > MAX_PROBLEMS:
            yield Text(f"... and {counted(len(hidden) - MAX_PROBLEMS, 'more file')} with problems")

    def _block(self, told: Sequence[Fact], bars: Sequence[HistogramRow]) -> Iterator[Text]:
        """Facts, with a histogram below the fact `lastmod`."""
        for fact in told:
            yield from self._folded(Text(fact.text, STYLES[fact.meaning]), fact.label.ljust(LABEL))
            if fact.label == "lastmod" and len(bars) > 1:
                yield from (Text(" " * LABEL) + line for line in self._histogram(bars))

    def _folded(self, text: Text, label: str) -> Iterator[Text]:
        """Text after its label, on as many lines as needed."""
        room = self._width - len(label)
        lines = text.wrap(self._console, room, overflow="fold") if room > 0 else [text]
        for number, line in enumerate(lines):
            line.rstrip()
            yield Text.assemble((label if number == 0 else " " * len(label), "dim"), line)

    def _histogram(self, bars: Sequence[HistogramRow]) -> Iterator[Text]:
        names = max(len(bar.label) for bar in bars)
        counts = [f"{bar.count:,}" for bar in bars]
        numbers = max(map(len, counts))
        most = max(bar.count for bar in bars)
        room = min(BAR, (self._width or PIPE) - LABEL - names - numbers - 2 * GAP)
        for bar, count in zip(bars, counts, strict=True):
            drawn = self._bar(bar.count / most, room) if room > 0 else ""
            yield Text.assemble(
                (bar.label.rjust(names), "dim"), " " * GAP, count.rjust(numbers), " " * GAP, (drawn, "cyan")
            )

    def _bar(self, share: float, room: int) -> str:
        """Bar of at least one step, unless the share is 0."""
        if not self._unicode:
            return "#" * max(round(share * room), 1 if share else 0)
        eighths = max(round(share * room * len(EIGHTHS)), 1 if share else 0)
        whole, part = divmod(eighths, len(EIGHTHS))
        return "█" * whole + (EIGHTHS[part] if part else "")

    def _tree(self, lines: Sequence[Line]) -> Iterator[Text]:
        entries = [line for line in lines if not line.heading]
        counts = max((len(line.count) for line in entries), default=0)
        days = max((len(line.day) for line in entries), default=0)
        names = max((cell_len(line.stem + line.name) for line in entries), default=0)
        fixed = sum(columns + GAP for columns in (counts, days) if columns)
        if self._width:
            remarks = min(LEAST_NAME, max((len(line.remark) for line in entries), default=0))
            names = max(min(names, self._width - fixed - (remarks + GAP if remarks else 0)), LEAST_NAME)
        for line in lines:
            if line.heading:
                yield from self._folded(Text(line.name), "")
            else:
                yield self._row(line, names, counts, days)

    def _row(self, line: Line, names: int, counts: int, days: int) -> Text:
        text = Text.assemble((line.stem, "dim"), shortened(line.name, names - len(line.stem), self._dots))
        text.pad_right(max(0, names - text.cell_len))
        if counts:
            text.append(" " * GAP + line.count.rjust(counts))
        if days:
            text.append(" " * GAP + line.day.ljust(days), "dim")
        room = self._width - text.cell_len - GAP if self._width else len(line.remark)
        if line.remark and room > len(self._dots):
            whole = len(line.remark) <= room
            remark = line.remark if whole else line.remark[: room - len(self._dots)] + self._dots
            text.append(" " * GAP + remark, "dim" if line.meaning == GOOD else STYLES[line.meaning])
            if whole:
                self._told.add(line.url)
        return text


ALL = 40
"""Lines up to which a tree is shown whole."""
MOST, LEAST = 20, 4
"""Maximum entries shown per file of a larger tree: the more files, the fewer of each."""
USUAL = (URLSET.name, INDEX.name, UNKNOWN.name)
"""Formats that are not mentioned."""


class Guides(NamedTuple):
    """Lines that draw a tree."""

    branch: str = "├── "
    last: str = "└── "
    down: str = "│   "
    none: str = "    "


ASCII = Guides("|-- ", "`-- ", "|   ", "    ")


@dataclass(frozen=True, slots=True)
class Line:
    """Line of the tree."""

    stem: str
    name: str
    count: str = ""
    day: str = ""
    remark: str = ""
    meaning: str = PLAIN
    heading: bool = False
    url: str = ""
    """URL of the file; empty if it was not read."""


class Outline:
    """Draws the tree of an inspection."""

    def __init__(self, inspection: Inspection, guides: Guides) -> None:
        self._inspection = inspection
        self._guides = guides

    def lines(self) -> Iterator[Line]:
        """Yield all lines: what the target lists, or the files of a site, grouped by how they were found."""
        groups = self._inspection.files.groups
        count = sum(1 for group in groups for entry in group.entries for _ in entry.all())
        room = ALL if count > ALL else count * count  # enough on each level
        for group in groups:
            if self._inspection.is_site:
                yield Line("", self._way(group), heading=True)
                yield from self._entries(group.entries, group.parent, "", room, group)
            else:
                for entry in group.entries:
                    yield from self._entries(entry.below, entry.url, "", room)

    def _way(self, group: FileGroup) -> str:
        return way_named(group.found_by).heading.format(parent=labels.place(group.parent or ""))

    def _entries(
        self, entries: Sequence[TreeEntry], parent: str | None, stem: str, room: int, group: FileGroup | None = None
    ) -> Iterator[Line]:
        most = room if room > ALL else max(LEAST, min(MOST, room))
        shown = entries if len(entries) <= most + 1 else entries[:most]  # the line on the rest takes space too
        hidden = entries[len(shown) :]
        for number, entry in enumerate(shown):
            is_last = number == len(shown) - 1 and not hidden
            yield self._line(entry, parent, stem + (self._guides.last if is_last else self._guides.branch), group)
            below = stem + (self._guides.none if is_last else self._guides.down)
            yield from self._entries(entry.below, entry.url, below, room if room > ALL else room // len(shown))
        if hidden:
            yield self._rest(hidden, stem + self._guides.last)

    def _line(self, entry: TreeEntry, parent: str | None, stem: str, group: FileGroup | None) -> Line:
        name, record = labels.place(entry.url, parent), entry.record
        if record is None:
            return Line(stem, name, "", labels.day(entry.lastmod_at), "read elsewhere" if entry.elsewhere else "")
        remarks = [*self._line_of(record, group), *_remarks(record)]
        newest = labels.day(record.lastmod_max or entry.lastmod_at)
        return Line(stem, name, _count(record), newest, ", ".join(remarks), meaning(record), url=entry.url)

    def _line_of(self, record: SitemapRecord, group: FileGroup | None) -> Iterator[str]:
        if group is not None and record.found_by == ROBOTS.name and record.parent:
            line = self._inspection.line_of(record.parent, record.sitemap)
            if line is not None:
                yield f"line {line}"

    def _rest(self, hidden: Sequence[TreeEntry], stem: str) -> Line:
        records = [one.record for entry in hidden for one in entry.all() if one.record is not None]
        urls = sum(record.url_count for record in records if not format_named(record.format).is_index)
        count = counted(urls, "URL") if records else ""
        newest = max((record.lastmod_max or "" for record in records), default="")
        return Line(stem, f"... and {len(hidden):,} more", count, labels.day(newest))


def _count(record: SitemapRecord) -> str:
    if record.outcome in UNREAD:
        return ""
    return counted(record.url_count, "sitemap" if format_named(record.format).is_index else "URL")


def _remarks(record: SitemapRecord) -> Iterator[str]:
    if record.format not in USUAL and record.outcome != "failed":
        yield long_format_label(record.format)
    if isinstance(record, SitemapEnd) and record.result.tally.alias:
        yield f"already read as {labels.place(record.final_url or '', record.sitemap)}"
    elif record.outcome != "ok":
        yield outcome(record)
