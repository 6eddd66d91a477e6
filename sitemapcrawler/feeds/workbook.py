"""Feed format xlsx: a workbook with a sheet for each record type, for people who filter and sort in a spreadsheet.

Text of crawled sites is untrusted input: it is always written as text, never as a formula, and becomes a hyperlink only
if it is a plain http(s) URL. Limits of Excel are those of
https://support.microsoft.com/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3
"""

from __future__ import annotations

import errno
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from tempfile import gettempdir
from typing import IO, TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from sitemapcrawler.feeds.columns import URLS, Column
from sitemapcrawler.feeds.exporters import RecordExporter, is_ours
from sitemapcrawler.feeds.jsontext import names
from sitemapcrawler.feeds.scratch import OF_A_CRAWL, scratch
from sitemapcrawler.feeds.setup import FeedOptions
from sitemapcrawler.items import (
    ChangeCounts,
    ChangeRecord,
    Coverage,
    FindingRecord,
    LinkGraph,
    PageRecord,
    RobotsRecord,
    Share,
    SitemapRecord,
    SummaryRecord,
    UrlRecord,
    records,
)
from sitemapcrawler.replies import status_error
from sitemapcrawler.report.wording import PARTIAL, REPLIES, SKIPPED, by_severity
from sitemapcrawler.report.wording import SEVERITIES as REPORT_SEVERITIES
from sitemapcrawler.report.wording import compared as compared_in_words
from sitemapcrawler.report.wording import graph as graph_in_words
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.registry import RULES
from sitemapcrawler.urls.display import CUT, counted, elapsed, percent

if TYPE_CHECKING:
    import xlsxwriter
    from xlsxwriter.worksheet import Worksheet

MAX_ROWS = 1_048_576
"""Rows of a worksheet, the header included."""
MAX_LINKS = 65_530
"""Hyperlinks of a worksheet. XlsxWriter keeps them in memory, so the sheets that continue another one have none."""
MAX_LINK = 2079
"""Length of a hyperlink in UTF-16 units. Source: https://xlsxwriter.readthedocs.io/worksheet.html#write_url"""
MAX_CELL = 32_767
"""Length of the text in a cell in UTF-16 units."""
MAX_NUMBER = 10**15
"""Numbers from here on are written as text: Excel keeps 15 digits."""
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 forbids, that do not survive it (carriage return), or that change the writing direction."""
_LINK = re.compile(r"https?://[^\s/?#\[\]@\\<>\"^`{|}]+(?:[/?#][^\s\\<>\"^`{|}]*)?", re.IGNORECASE)
"""URLs without user name or password, and without characters that XlsxWriter would escape but for brackets."""
_SIGNS = ("=", "+", "-", "@")
"""Start of a formula, if a user edits the cell."""
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "use_zip64": True,
}
"""Options of XlsxWriter: rows go to temporary files, and text stays text."""


def _counts(counts: Mapping[str, int]) -> str:
    """`GPTBot 120, CCBot 3`."""
    return ", ".join(f"{name} {number:,}" for name, number in counts.items())


def _fix(rule: str) -> str | None:
    """What to do about the findings of a rule; None if the rule does not say."""
    known = RULES.get(rule)
    return known.fix.replace("`", "") if known is not None and known.fix else None


def _title(rule: str) -> str:
    """The problem that a rule reports, in a few words."""
    known = RULES.get(rule)
    return known.title.replace("`", "") if known is not None else rule


PAGES = (replace(URLS[0], name="url"), *(column for column in URLS[1:] if column.width))
PROBLEMS = (
    Column("severity", 10, "severity"),
    Column("rule", 28, "rule"),
    Column("message", 80, "message"),
    Column("url", 60, "url", is_link=True),
    Column("value", 30, "value"),
    Column("sitemap", 50, "sitemap"),
    Column("line", 9, "line"),
    Column("fix", 60, lambda finding: _fix(finding.rule)),
)
SITEMAPS = (
    Column("sitemap", 60, "sitemap", is_link=True),
    Column("format", 12, "format"),
    Column("status", 10, "status"),
    Column("outcome", 12, "outcome"),
    Column("url_count", 11, "url_count"),
    Column("bytes", 12, "bytes"),
    Column("lastmod_min", 22, "lastmod_min"),
    Column("lastmod_max", 22, "lastmod_max"),
    Column("found_by", 12, "found_by"),
    Column("parent", 50, "parent"),
    Column("final_url", 40, "final_url"),
    Column("replies", 30, lambda file: _counts(file.replies)),
    Column("problems", 40, "issues"),
    Column("error", 50, "error"),
)
ROBOTS = (
    Column("robots", 50, "robots", is_link=True),
    Column("status", 10, "status"),
    Column("outcome", 14, "outcome"),
    Column("sitemaps", 60, "sitemaps"),
    Column("crawl_delay", 12, "crawl_delay"),
    Column("urls", 10, "urls"),
    Column("blocked_urls", 40, lambda robots: _counts(robots.agents)),
    Column("problems", 40, "issues"),
    Column("error", 50, "error"),
)
LINKED = (
    Column("url", 60, "url", is_link=True),
    Column("listed", 8, "listed"),
    Column("depth", 8, "depth"),
    Column("inlinks", 9, "inlinks"),
    Column("nofollow_inlinks", 16, "nofollow_inlinks"),
    Column("outlinks", 9, "outlinks"),
    Column("status", 10, "status"),
    Column("status_error", 14, status_error),
    Column("indexability", 16, "indexability"),
    Column("linked_from", 60, "linked_from"),
    Column("final_status", 12, "final_status"),
    Column("final_url", 40, "final_url"),
    Column("sitemap", 50, "sitemap"),
)
CHANGES = (
    Column("change", 16, "change"),
    Column("url", 60, "url", is_link=True),
    Column("what", 40, lambda change: _title(change.rule) if change.rule else change.what),
    Column("before", 40, "before"),
    Column("after", 40, "after"),
    Column("severity", 10, "severity"),
    Column("rule", 28, "rule"),
    Column("sitemap", 50, "sitemap"),
    Column("line", 9, "line"),
)
COVERAGE = (
    Column("folder", 30, lambda row: row[0]),
    Column("list", 30, lambda row: row[1]),
    Column("in_both", 12, lambda row: row[2]),
    Column("not_listed", 12, lambda row: row[3]),
    Column("listed_only", 12, lambda row: row[4]),
)
SUMMARY = "Summary"
"""Name of the first sheet."""
SUMMARY_WIDTHS = (36, 24, 16, 90)
"""Of its columns, in characters."""
TABLES: Mapping[type, tuple[str, Sequence[Column]]] = {
    UrlRecord: ("URLs", PAGES),
    FindingRecord: ("Problems", PROBLEMS),
    SitemapRecord: ("Sitemaps", SITEMAPS),
    RobotsRecord: ("Robots", ROBOTS),
    PageRecord: ("Links", LINKED),
    ChangeRecord: ("Changes", CHANGES),
}
"""{record type: name of its sheet, and columns}, in the order of the sheets."""
ON_DEMAND = frozenset((PageRecord, ChangeRecord))
"""Record types that only some crawls have. Their sheet is added with the first record."""


class WorkbookExporter(RecordExporter):
    """`xlsx`: a workbook with the sheets Summary, URLs, Problems, Sitemaps and Robots, with the argument `links`
    Links, with `baseline` Changes, and with `compare` Coverage; other items are not written.

    `fields` names columns: a sheet that has none of them is left out. `item_classes` names the record types to write.
    There are no other `item_export_kwargs`; `encoding`, `indent` and `export_empty_fields` have no effect. Rows go to
    temporary files, uncompressed, so memory does not grow with them.
    """

    suffix = "xlsx"
    selects_records = True
    is_compressed = True

    def __init__(self, file: IO[bytes], item_classes: Sequence[type | str] = (), **kwargs: object) -> None:
        """`item_classes`: record types to write; default: all."""
        super().__init__(dont_fail=True, **kwargs)
        all_rules()  # loads them: problems have the advice of their rule
        self._file = file
        classes = tuple(load_object(kind) for kind in item_classes)
        self._kinds = [kind for kind in (*TABLES, SummaryRecord) if not classes or issubclass(kind, classes)]
        self._book: Any = None  # Any: a Workbook once exporting has started
        self._overview: Any = None  # Any: a Worksheet if there is a summary
        self._tables: dict[type, SheetTable] = {}
        self._awaited: dict[type, tuple[str, Mapping[str, Column]]] = {}
        self._summary: SummaryRecord | None = None
        self._listed: Counter[str] = Counter()
        self._failed = False
        self._temporary = ExitStack()

    @classmethod
    def check_options(cls, options: FeedOptions) -> None:
        """Raise ValueError for an unknown option."""
        if unknown := set(options) - {"item_classes", "export_empty_fields", "encoding", "indent", "fields_to_export"}:
            raise ValueError(f"xlsx has no option {min(unknown)}; accepted: item_classes")

    @classmethod
    def fields_of(cls, kinds: Iterable[type]) -> list[str]:
        """Return the names of the columns."""
        return list(dict.fromkeys(column.name for kind in kinds if kind in TABLES for column in TABLES[kind][1]))

    def start_exporting(self) -> None:
        """Start the sheets. Raises ValueError for a file that has rows already."""
        if getattr(self._file, "appending", False):
            raise ValueError("xlsx cannot be appended to; use overwrite")
        with self._guarded():
            folder = self._temporary.enter_context(scratch(Path(gettempdir()), OF_A_CRAWL))
            import xlsxwriter  # on first use: it takes 2 MB

            self._book = xlsxwriter.Workbook(self._file, {**_OPTIONS, "tmpdir": str(folder)})
            self._add_sheets()

    def _add_sheets(self) -> None:
        titles = names(self.fields_to_export or ())
        if SummaryRecord in self._kinds:
            self._overview = self._book.add_worksheet(SUMMARY)
        for kind, (name, columns) in TABLES.items():
            own = {column.name: column for column in columns}
            shown = {title: own[field] for field, title in titles.items() if field in own} if titles else own
            if kind in self._kinds and shown and kind in ON_DEMAND:
                self._awaited[kind] = (name, shown)
            elif kind in self._kinds and shown:
                self._tables[kind] = SheetTable(self._book, name, shown)

    def export_item(self, item: object) -> None:
        """Write the item's records, one per row."""
        if self._failed or not is_ours(item):
            return
        with self._guarded():
            for record in records(item):
                table = self._tables.get(type(record)) or self._table_of(record)
                if table is not None:
                    table.add(record)
                if isinstance(record, FindingRecord):
                    self._listed[record.rule] += 1
                elif isinstance(record, SummaryRecord):
                    self._summary = record

    def finish_exporting(self) -> None:
        """Write the summary, and put the workbook together."""
        with self._temporary, self._guarded():
            if self._book is None:
                return
            if self._overview is not None:
                self._write_summary()
            if self._overview is not None and self._summary is not None and self._summary.coverage is not None:
                self._tables[Coverage] = table = SheetTable(self._book, "Coverage", {one.name: one for one in COVERAGE})
                for row in coverage_rows(self._summary.coverage):
                    table.add(row)
            sheets = [sheet for table in self._tables.values() for sheet in table.finish()]
            # Sheets that continue another one were added last.
            self._book.worksheets_objs[:] = [*filter(None, [self._overview]), *sheets] or self._book.worksheets()
            for number, sheet in enumerate(self._book.worksheets()):
                sheet.index = number
            self._book.close()

    def _table_of(self, record: object) -> SheetTable | None:
        """Return the sheet of a record of a subclass, such as the end of a file, or one that is only now needed."""
        if type(record) in self._awaited:
            self._tables[type(record)] = table = SheetTable(self._book, *self._awaited.pop(type(record)))
            return table
        return next((table for kind, table in self._tables.items() if isinstance(record, kind)), None)

    def _write_summary(self) -> None:
        bold = self._book.add_format({"bold": True})
        for number, width in enumerate(SUMMARY_WIDTHS):
            self._overview.set_column(number, number, width)
        self._overview.freeze_panes(1, 0)
        self._overview.write_string(0, 0, SUMMARY, bold)
        listed = self._listed if FindingRecord in self._tables else None
        for number, cells in enumerate(summary_rows(self._summary, listed) if self._summary else (), 1):
            for place, cell in enumerate(cells):
                style = bold if len(cells) == 1 or isinstance(cells, Heading) else None
                if isinstance(cell, str):
                    self._overview.write_string(number, place, cell_text(cell), style)
                elif cell is not None:
                    self._overview.write_number(number, place, cell, style)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Report a full disk for temporary files like one for the feed, if its storage is ours."""
        from xlsxwriter.exceptions import XlsxWriterException

        try:
            yield
        except (OSError, XlsxWriterException) as error:
            fail = getattr(self._file, "fail", None)
            if fail is None:
                raise
            if not self._failed:
                fail(error if isinstance(error, OSError) else OSError(errno.EIO, str(error)))
            self._failed = True


class SheetTable:
    """Rows of one record type, on as many sheets as they need. `columns`: {title: column}."""

    def __init__(self, book: xlsxwriter.Workbook, name: str, columns: Mapping[str, Column]) -> None:
        self._book = book
        self._name = name
        self._titles = columns
        self._columns = [(place, column.value_of, column.is_link) for place, column in enumerate(columns.values())]
        self._bold = book.add_format({"bold": True})
        self._quoted = book.add_format({"quote_prefix": True})
        self._link = book.get_default_url_format()
        self._sheets: list[Worksheet] = []
        self._links = 0
        self._start()

    def add(self, record: object) -> None:
        """Write a record as a row."""
        if self._row + 1 >= MAX_ROWS:
            self._filter()
            self._start()
        self._row += 1
        for place, value_of, is_link in self._columns:
            value = value_of(record)
            if isinstance(value, (list, tuple)):
                value = ", ".join(value)
            if value is None or value == "":
                continue
            if isinstance(value, str):
                self._put_text(place, value, is_link)
            elif isinstance(value, bool):
                self._sheet.write_string(self._row, place, "yes" if value else "no")
            elif isinstance(value, (int, float)) and abs(value) < MAX_NUMBER:
                self._sheet.write_number(self._row, place, value)
            elif not isinstance(value, float) or math.isfinite(value):
                self._put_text(place, str(value))

    def finish(self) -> list[Worksheet]:
        """End the last sheet. Returns all of them."""
        self._filter()
        return self._sheets

    def _put_text(self, place: int, value: str, is_link: bool = False) -> None:
        text = cell_text(value)
        if is_link and self._links < MAX_LINKS and (target := link_to(value)):
            self._links += 1
            self._sheet.write_url(self._row, place, target, self._link, text)
        else:
            self._sheet.write_string(self._row, place, text, self._quoted if text.startswith(_SIGNS) else None)

    def _start(self) -> None:
        """Start a sheet with its header."""
        number = len(self._sheets) + 1
        self._sheet = self._book.add_worksheet(self._name if number == 1 else f"{self._name} {number}")
        self._sheets.append(self._sheet)
        self._row = 0
        for place, (title, column) in enumerate(self._titles.items()):
            self._sheet.set_column(place, place, column.width)
            self._sheet.write_string(0, place, cell_text(title), self._bold)
        self._sheet.freeze_panes(1, 0)

    def _filter(self) -> None:
        self._sheet.autofilter(0, 0, self._row, len(self._columns) - 1)


def cell_text(text: str) -> str:
    """Return text that a cell can hold: forbidden and misleading characters as escapes, the rest behind `MAX_CELL`
    replaced by `...`."""
    if not text.isprintable():
        text = _UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    if len(text) > MAX_CELL // 2 and _utf16_length(text) > MAX_CELL:
        text = text.encode("utf-16-le")[: 2 * (MAX_CELL - len(CUT))].decode("utf-16-le", "ignore") + CUT
    # XlsxWriter would take this for XML of its own.
    return f"{text} " if text.startswith("<r>") and text.endswith("</r>") else text


def link_to(url: str) -> str | None:
    """Return the target of a hyperlink; None for a URL that cannot safely become one."""
    if len(url) > MAX_LINK or not url.isprintable() or not _LINK.fullmatch(url):
        return None
    target = url.replace("[", "%5B").replace("]", "%5D")
    return target if _utf16_length(target) <= MAX_LINK else None


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


class Heading(tuple[str, ...]):
    """A row of headings."""

    __slots__ = ()


Row = Sequence[str | float | None]


def summary_rows(summary: SummaryRecord, listed: Mapping[str, int] | None) -> Iterator[Row]:
    """Yield the rows of the summary. `listed`: findings in the workbook by rule; None if it has no sheet for them."""
    yield from _about(summary)
    found = sum(summary.severities.values())
    kept = None if listed is None else sum(listed.values())
    if kept is not None and kept < found:
        left_out = "unchanged entries (only=changes) and " if summary.only else ""
        why = f"{left_out}findings beyond the limit of each rule and file are counted, not listed (findings=all)"
        yield "Problems listed", kept, None, f"{found - kept:,} more: {why}"
    yield from _section("Problems by severity", _by_severity(summary))
    yield from _by_rule(summary, listed)
    yield from _section("Replies", [(REPLIES.get(kind, kind), number) for kind, number in summary.replies.items()])
    yield from _section("Indexability", summary.indexability.items())
    yield from _section("Since the baseline", _changes(summary.changes) if summary.changes is not None else ())
    yield from _section("Links", _graph(summary.graph) if summary.graph is not None else ())
    yield from _section("Lists", _coverage(summary.coverage) if summary.coverage is not None else ())
    yield from _section("URLs that robots.txt blocks, by crawler", summary.agents.items())
    yield from _section("Left out", [(why, n, None, _left_out(why, n)) for why, n in summary.skipped.items()])


def _coverage(coverage: Coverage) -> Iterator[Row]:
    """Yield totals of the lists that the listed pages were compared with."""
    yield "Pages in a list that no sitemap lists", coverage.not_listed, None, f"{coverage.not_verified:,} not verified"
    yield "Other such pages, which cannot be indexed", coverage.not_indexable
    yield "Listed pages that are in no list", coverage.listed_only
    if coverage.left_out:
        yield "Other listed pages, which lists have as an error or as not indexable", coverage.left_out
    for group in coverage.groups:
        yield f"Counted apart: {group.group}", group.not_listed, None, f"not listed; {group.listed_only:,} in no list"
    for one in coverage.lists:
        yield f"Pages in {one.name}", one.urls, None, compared_in_words(one)


def coverage_rows(coverage: Coverage) -> Iterator[tuple[str, str, int | None, int, int | None]]:
    """Yield the rows of the sheet Coverage: each list as a whole, then each folder, as a whole and by list."""
    for one in coverage.lists:
        yield "all", one.name, one.listed, one.not_listed, None
    for folder in coverage.folders:
        yield folder.folder, "all", folder.listed, folder.not_listed, folder.listed_only
        for name, missing in folder.by_list.items():
            yield folder.folder, name, None, missing, None


def _changes(found: ChangeCounts) -> Iterator[Row]:
    """Yield the sums of the changes since the baseline."""
    yield "Baseline of", (found.since or "unknown").replace("T", " ").replace("Z", " UTC")
    for name in ("added", "removed", "changed", "unchanged"):
        yield f"URLs {name}", getattr(found, name)
    for title, problems in (("Problems solved", found.solved_problems), ("New problems", found.new_problems)):
        yield title, sum(problems.values()), None, by_severity(problems)


def _graph(graph: LinkGraph) -> Iterator[Row]:
    """Yield totals of the link graph, and how complete it is."""
    yield "Pages that are linked and not listed", graph.unlisted
    for group, number in graph.groups.items():
        yield f"The same of the group: {group}", number
    yield "Listed pages that no page links to", graph.not_linked
    yield "Pages whose links were read", graph.read, None, " ".join(graph_in_words(graph))


def _by_severity(summary: SummaryRecord) -> Iterator[Row]:
    """Yield the number of URLs that have problems of each severity, with the other numbers in words."""
    for severity, reach in summary.severity_reach.items():
        yield severity, reach.urls, None, f"{counted(summary.severities.get(severity, 0), 'finding')} {reach.place}"


def _by_rule(summary: SummaryRecord, listed: Mapping[str, int] | None) -> Iterator[Row]:
    """Yield a section for each severity, the worst first, with its rules by number of URLs."""
    about = {rule.id: (rule.what.replace("`", ""), _fix(rule.id)) for rule in all_rules()}
    last = ("found", "listed" if listed is not None else "")
    heads = ("URLs", "files", "meaning", "what to do", "entries", *last)
    for severity, rules in groupby(summary.reach.items(), lambda item: item[1].severity):
        yield ()
        yield Heading((f"{REPORT_SEVERITIES[severity]}s by rule", *heads))
        for rule, reach in rules:
            counts = summary.rules.get(rule, 0), None if listed is None else listed.get(rule, 0)
            yield rule, reach.urls, reach.files, *about.get(rule, (None, None)), reach.entries, *counts


def _about(summary: SummaryRecord) -> Iterator[Row]:
    if summary.domains:
        yield "Site", ", ".join(summary.domains)
    yield "Started", summary.started.replace("T", " ").replace("Z", " UTC")
    yield "Duration", elapsed(summary.elapsed_s)
    yield "Sitemaps", summary.sitemaps
    yield "URLs", summary.urls
    if summary.bad is not None:
        yield "Bad URLs", percent(summary.bad.share), None, _share(summary.bad, "failed or redirected")
    if (share := summary.not_indexable) is not None:
        yield "Not indexable", percent(share.share), None, _share(share, "cannot be indexed")
    if summary.partial:
        yield "Ended early", "yes", None, PARTIAL.get(summary.partial, summary.partial)
    else:
        yield "Ended early", "no"
    if summary.limited_by:
        yield "Limited by", summary.limited_by, None, "a file of options leaves something out"
    if summary.only:
        yield "Listed URLs", summary.only, None, "URLs that have not changed since the baseline are left out"


def _share(share: Share, what: str) -> str:
    text = f"{share.bad:,} of {share.checked:,} checked URLs {what}"
    if share.low == share.high:
        return text
    return f"{text}; of all {share.population:,} probably {percent(share.low)} to {percent(share.high)}"


def _section(title: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield a heading and its rows; nothing without rows."""
    for number, row in enumerate(rows):
        if not number:
            yield ()
            yield Heading((title,))
        yield row


def _left_out(reason: str, number: int) -> str:
    one, many, rest = SKIPPED.get(reason, ("file", "files", "that the rule could not judge"))
    return f"{one if number == 1 else many} {rest}"
