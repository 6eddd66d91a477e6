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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import gettempdir
from typing import IO, TYPE_CHECKING, Any, Self

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
from sitemapcrawler.report.todo import leads_to, next_step, why
from sitemapcrawler.report.wording import DAY as LENGTH_OF_DAY
from sitemapcrawler.report.wording import PARTIAL, REPLIES, SKIPPED, by_severity
from sitemapcrawler.report.wording import SEVERITIES as REPORT_SEVERITIES
from sitemapcrawler.report.wording import compared as compared_in_words
from sitemapcrawler.report.wording import graph as graph_in_words
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.sites import ADDED, CHANGED, REMOVED, UNCHANGED
from sitemapcrawler.rules.registry import RULES, title_of
from sitemapcrawler.urls.display import CUT, counted, elapsed, percent

if TYPE_CHECKING:
    import xlsxwriter
    from scrapy.crawler import Crawler
    from xlsxwriter.format import Format
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


FIRST_YEAR = 1900
"""First year of a date in Excel."""


def _day_or_moment(written: str | None, at: str | None) -> str | date | None:
    """A date or a time in UTC as Excel holds it; as written if it has none. `at`: `written` as ISO 8601 in UTC."""
    if at is None or int(at[:4]) < FIRST_YEAR:
        return written
    moment = datetime.fromisoformat(at).replace(tzinfo=None)
    return moment.date() if written is not None and len(written.strip()) <= LENGTH_OF_DAY else moment


ALL_CRAWLERS = "all crawlers"
"""Cell for URLs that robots.txt blocks for each of the judged crawlers."""


def _blocked_for(judged: int, url: UrlRecord) -> object:
    """Crawlers that a URL is blocked for. `judged`: number of crawlers that it was judged for."""
    if url.blocked_for is None:
        return None
    return ALL_CRAWLERS if 1 < judged == len(url.blocked_for) else url.blocked_for or "none"


def _pages(judged: int) -> Sequence[Column]:
    """Columns of the sheet URLs. `judged`: see `_blocked_for`."""
    values: dict[str, Callable[[UrlRecord], object]] = {
        "lastmod": lambda url: _day_or_moment(url.lastmod, url.lastmod_at),
        "blocked_for": partial(_blocked_for, judged),
    }
    shown = (replace(URLS[0], name="url"), *(column for column in URLS[1:] if column.width))
    return tuple(replace(column, value=values.get(column.name, column.value)) for column in shown)


NOT_INDEXABLE = (
    Column("url", 48, "loc", is_link=True),
    Column("why", 30, why),
    Column("status", 8, lambda url: url.reply and url.reply.status),
    Column("target", 36, leads_to),
    Column("sitemap", 36, "sitemap"),
    Column("line", 7, "line"),
    Column("what_to_do", 55, next_step),
)
PROBLEMS = (
    Column("severity", 10, "severity"),
    Column("rule", 28, "rule"),
    Column("title", 44, lambda finding: title_of(finding.rule)),
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
    Column("lastmod_min", 20, lambda file: _day_or_moment(None, file.lastmod_min)),
    Column("lastmod_max", 20, lambda file: _day_or_moment(None, file.lastmod_max)),
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
    Column("what", 40, lambda change: title_of(change.rule) if change.rule else change.what),
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
"""Name of the sheet with the totals."""
SUMMARY_WIDTHS = (36, 20, 14, 70, 70)
"""Of its columns, in characters."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet with a row for each record of a type."""

    name: str
    kind: type
    """Type of the records."""
    columns: Sequence[Column]
    holds: Callable[[UrlRecord], bool] | None = None
    """True for a url record that it has a row for; None: all."""
    is_optional: bool = False
    """True if it is added with its first row."""

    def has_row_of(self, record: object) -> bool:
        """True for a record of its type that it has a row for."""
        if self.holds is not None:
            return isinstance(record, UrlRecord) and self.holds(record)
        return isinstance(record, self.kind)


def sheets(judged: int = 0) -> Sequence[Sheet]:
    """The sheets, in order. `judged`: number of crawlers that URLs were judged for."""
    return (
        Sheet("Not indexable", UrlRecord, NOT_INDEXABLE, lambda url: url.indexable is False, is_optional=True),
        Sheet(SUMMARY, SummaryRecord, ()),
        Sheet("URLs", UrlRecord, _pages(judged)),
        Sheet("Problems", FindingRecord, PROBLEMS),
        Sheet("Changes", ChangeRecord, CHANGES, is_optional=True),
        Sheet("Links", PageRecord, LINKED, is_optional=True),
        Sheet(COVERED, Coverage, COVERAGE, is_optional=True),
        Sheet("Sitemaps", SitemapRecord, SITEMAPS),
        Sheet("Robots", RobotsRecord, ROBOTS),
    )


COVERED = "Coverage"
"""Name of the sheet of the lists that listed pages were compared with."""
RECORDS = tuple(dict.fromkeys(sheet.kind for sheet in sheets() if sheet.kind is not Coverage))
"""Record types that the workbook has."""


class WorkbookExporter(RecordExporter):
    """`xlsx`: a workbook with the sheets of `sheets`; other items are not written.

    `fields` names columns: a sheet that has none of them is left out. `item_classes` names the record types to write.
    There are no other `item_export_kwargs`; `encoding`, `indent` and `export_empty_fields` have no effect. Rows go to
    temporary files, uncompressed, so memory does not grow with them.
    """

    suffix = "xlsx"
    selects_records = True
    is_compressed = True

    def __init__(
        self, file: IO[bytes], item_classes: Sequence[type | str] = (), judged_agents: int = 0, **kwargs: object
    ) -> None:
        """`item_classes`: record types to write; default: all. `judged_agents`: number of crawlers that URLs were
        judged for."""
        super().__init__(dont_fail=True, **kwargs)
        all_rules()  # loads them: problems have title and advice of their rule
        self._file = file
        classes = tuple(load_object(kind) for kind in item_classes)
        self._kinds = {kind for kind in RECORDS if not classes or issubclass(kind, classes)}
        self._sheets = sheets(judged_agents)
        self._book: Any = None  # Any: a Workbook once exporting has started
        self._overview: Any = None  # Any: a Worksheet if there is a summary
        self._titles: dict[str, Mapping[str, Column]] = {}
        self._tables: dict[str, SheetTable] = {}
        self._summary: SummaryRecord | None = None
        self._listed: Counter[str] = Counter()
        self._failed = False
        self._temporary = ExitStack()

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **kwargs: object) -> Self:
        """Create an exporter that knows for how many crawlers URLs are judged."""
        params = getattr(crawler.spider, "params", None)
        judged = len(getattr(params, "judged_agents", ()))
        return cls(file, judged_agents=judged, **kwargs)  # type: ignore[arg-type]  # options of a feed, see `check_options`

    @classmethod
    def check_options(cls, options: FeedOptions) -> None:
        """Raise ValueError for an unknown option."""
        if unknown := set(options) - {"item_classes", "export_empty_fields", "encoding", "indent", "fields_to_export"}:
            raise ValueError(f"xlsx has no option {min(unknown)}; accepted: item_classes")

    @classmethod
    def fields_of(cls, kinds: Iterable[type]) -> list[str]:
        """Return the names of the columns."""
        wanted = set(kinds)
        return list(dict.fromkeys(one.name for sheet in sheets() if sheet.kind in wanted for one in sheet.columns))

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
            paper(self._overview)
        for sheet in self._sheets:
            own = {column.name: column for column in sheet.columns}
            shown = {title: own[field] for field, title in titles.items() if field in own} if titles else own
            if shown and sheet.kind in {*self._kinds, Coverage}:
                self._titles[sheet.name] = shown
                if not sheet.is_optional:
                    self._table(sheet.name)

    def _table(self, name: str) -> SheetTable:
        """The table of a sheet, added by the first call."""
        if name not in self._tables:
            self._tables[name] = SheetTable(self._book, name, self._titles[name], hides=not self.fields_to_export)
        return self._tables[name]

    def export_item(self, item: object) -> None:
        """Write the item's records, one per row."""
        if self._failed or not is_ours(item):
            return
        with self._guarded():
            for record in records(item):
                for sheet in self._sheets:
                    if sheet.name in self._titles and sheet.has_row_of(record):
                        self._table(sheet.name).add(record)
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
                if self._summary is not None and self._summary.coverage is not None and COVERED in self._titles:
                    for row in coverage_rows(self._summary.coverage):
                        self._table(COVERED).add(row)
            self._order()
            self._book.close()

    def _order(self) -> None:
        """Put the sheets in order: those that were added with a row, or that continue another one, are the last."""
        parts = {name: table.finish() for name, table in self._tables.items()}
        if self._overview is not None:
            parts[SUMMARY] = [self._overview]
        ordered = [part for sheet in self._sheets for part in parts.get(sheet.name, ())]
        self._book.worksheets_objs[:] = ordered or self._book.worksheets()
        for number, sheet in enumerate(self._book.worksheets()):
            sheet.index = number

    def _write_summary(self) -> None:
        bold = self._book.add_format({"bold": True})
        styles: dict[type, Format] = {Percent: self._book.add_format({"num_format": PERCENT, "align": "left"})}
        for number, width in enumerate(SUMMARY_WIDTHS):
            self._overview.set_column(number, number, width)
        self._overview.freeze_panes(1, 0)
        self._overview.write_string(0, 0, SUMMARY, bold)
        listed = self._listed if "Problems" in self._tables else None
        last = 0
        for last, cells in enumerate(summary_rows(self._summary, listed) if self._summary else (), 1):
            for place, cell in enumerate(cells):
                style = bold if len(cells) == 1 or isinstance(cells, Heading) else styles.get(type(cell))
                if isinstance(cell, str):
                    self._overview.write_string(last, place, cell_text(cell), style)
                elif isinstance(cell, datetime):
                    self._overview.write_datetime(last, place, cell, self._book.add_format(LEFT_MOMENT))
                elif cell is not None:
                    self._overview.write_number(last, place, cell, style)
        printed(self._overview, last, SUMMARY_WIDTHS)

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


PERCENT, DAY, MOMENT = "0.0%", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
"""Formats of numbers in cells."""
LEFT_MOMENT = {"num_format": MOMENT, "align": "left"}
SHADES = {"error": "#F8CBAD", "warning": "#FFE699", "info": "#DDEBF7"}
"""Colours of severities."""
A4 = 9
"""Number of a paper size in XlsxWriter."""
PRINTED_ROWS = 150
"""Rows of a sheet that are printed: three pages. Longer sheets are to be filtered."""
PRINTED_WIDTH = 220
"""Characters in a row that are printed: landscape A4 then shrinks to about 60 %, which can still be read."""
MARGIN_INCHES = 0.4
"""Margins of a printed page."""


class Percent(float):
    """A share that is shown as a percentage."""

    __slots__ = ()


def paper(sheet: Worksheet) -> None:
    """Set up the page of a sheet: landscape A4, as wide as the sheet, its header on each page."""
    sheet.set_landscape()
    sheet.set_paper(A4)
    sheet.set_margins(*[MARGIN_INCHES] * 4)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)


def printed(sheet: Worksheet, rows: int, widths: Iterable[int]) -> None:
    """Print the first rows and columns of a sheet alone, and say so. `rows`: rows below the header; `widths`: of the
    columns, 0 for hidden ones."""
    total, columns = 0, 0
    for number, width in enumerate(widths):
        total += width
        if number and total > PRINTED_WIDTH:
            break
        columns = number
    sheet.print_area(0, 0, min(rows, PRINTED_ROWS), columns)
    part = f", rows 1 to {PRINTED_ROWS:,} of {rows:,}" if rows > PRINTED_ROWS else ""
    sheet.set_footer(f"&L&A{part}&RPage &P of &N")


class SheetTable:
    """Rows of one record type, on as many sheets as they need. `columns`: {title: column}. `hides`: columns without
    values are hidden."""

    def __init__(self, book: xlsxwriter.Workbook, name: str, columns: Mapping[str, Column], hides: bool = True) -> None:
        self._book = book
        self._name = name
        self._titles = columns
        self._hides = hides
        self._columns = [
            (place, column.value_of, column.is_link, column.name == "severity")
            for place, column in enumerate(columns.values())
        ]
        self._filled: set[int] = set()
        self._bold = book.add_format({"bold": True})
        self._quoted = book.add_format({"quote_prefix": True})
        self._number = book.add_format({"align": "right", "indent": 1})  # apart from the text in the next column
        self._day, self._moment = (book.add_format({"num_format": form, "align": "left"}) for form in (DAY, MOMENT))
        self._shades = {severity: book.add_format({"bg_color": shade}) for severity, shade in SHADES.items()}
        self._link = book.get_default_url_format()
        self._sheets: list[Worksheet] = []
        self._rows: list[int] = []
        self._links = 0
        self._start()

    def add(self, record: object) -> None:
        """Write a record as a row."""
        if self._row + 1 >= MAX_ROWS:
            self._filter()
            self._start()
        self._row += 1
        for place, value_of, is_link, is_severity in self._columns:
            value = value_of(record)
            if isinstance(value, (list, tuple)):
                value = ", ".join(value)
            if value is None or value == "":
                continue
            self._filled.add(place)
            if isinstance(value, str):
                self._put_text(place, value, is_link, self._shades.get(value) if is_severity else None)
            elif isinstance(value, bool):
                self._sheet.write_string(self._row, place, "yes" if value else "no")
            elif isinstance(value, (int, float)) and abs(value) < MAX_NUMBER:
                self._sheet.write_number(self._row, place, value, self._number)
            elif isinstance(value, date):
                style = self._moment if isinstance(value, datetime) else self._day
                self._sheet.write_datetime(self._row, place, value, style)
            elif not isinstance(value, float) or math.isfinite(value):
                self._put_text(place, str(value))

    def finish(self) -> list[Worksheet]:
        """End the last sheet. Returns all of them."""
        self._filter()
        widths = [column.width for column in self._titles.values()]
        if self._hides and self._filled:
            widths = [width if place in self._filled else 0 for place, width in enumerate(widths)]
        for sheet, rows in zip(self._sheets, self._rows, strict=True):
            for place, column in enumerate(self._titles.values()):
                sheet.set_column(place, place, column.width, None, {"hidden": not widths[place]})
            printed(sheet, rows, widths)
        return self._sheets

    def _put_text(self, place: int, value: str, is_link: bool = False, style: Format | None = None) -> None:
        text = cell_text(value)
        if is_link and self._links < MAX_LINKS and (target := link_to(value)):
            self._links += 1
            self._sheet.write_url(self._row, place, target, self._link, text)
        else:
            self._sheet.write_string(self._row, place, text, self._quoted if text.startswith(_SIGNS) else style)

    def _start(self) -> None:
        """Start a sheet with its header."""
        number = len(self._sheets) + 1
        self._sheet = self._book.add_worksheet(self._name if number == 1 else f"{self._name} {number}")
        self._sheets.append(self._sheet)
        self._row = 0
        paper(self._sheet)
        for place, title in enumerate(self._titles):
            self._sheet.write_string(0, place, cell_text(title), self._bold)
        self._sheet.freeze_panes(1, 0)

    def _filter(self) -> None:
        self._rows.append(self._row)
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


Row = Sequence[str | float | date | None]


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
    yield "Baseline of", _day_or_moment(None, found.since) or "unknown", None, "UTC"
    for name in (ADDED, REMOVED, CHANGED, UNCHANGED):
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
    about = {rule.id: (title_of(rule.id), _fix(rule.id)) for rule in all_rules()}
    last = ("found", "listed" if listed is not None else "")
    heads = ("URLs", "files", "title", "what to do", "entries", *last)
    for severity, rules in groupby(summary.reach.items(), lambda item: item[1].severity):
        yield ()
        yield Heading((f"{REPORT_SEVERITIES[severity]}s by rule", *heads))
        for rule, reach in rules:
            counts = summary.rules.get(rule, 0), None if listed is None else listed.get(rule, 0)
            yield rule, reach.urls, reach.files, *about.get(rule, (None, None)), reach.entries, *counts


def _about(summary: SummaryRecord) -> Iterator[Row]:
    if summary.domains:
        yield "Site", ", ".join(summary.domains)
    yield "Started", _day_or_moment(None, summary.started or None), None, "UTC"
    yield "Duration", elapsed(summary.elapsed_s)
    yield "Sitemaps", summary.sitemaps
    yield "URLs", summary.urls, None, "a URL that is listed twice counts twice"
    if summary.bad is not None:
        yield "Bad URLs", Percent(summary.bad.share), None, _share(summary.bad, "failed or redirected")
    if (share := summary.not_indexable) is not None:
        yield "Not indexable", Percent(share.share), None, _share(share, "cannot be indexed")
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
