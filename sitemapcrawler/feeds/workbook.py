"""Feed format xlsx: a workbook with a sheet for each record type, for people who filter and sort in a spreadsheet.

Text of crawled sites is untrusted input: it is always written as text, never as a formula, and becomes a hyperlink only
if it is a plain http(s) URL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import gettempdir
from typing import IO, TYPE_CHECKING, Any, Self

from scrapy.utils.misc import load_object

from sitemapcrawler.download.shared import Stop
from sitemapcrawler.feeds.columns import URLS, Column, is_texts, of_fields
from sitemapcrawler.feeds.exporters import FeedOptions, RecordExporter, is_ours, with_extensions
from sitemapcrawler.feeds.jsontext import JsonText, Rows, names
from sitemapcrawler.feeds.scratch import OF_A_CRAWL, scratch
from sitemapcrawler.feeds.worksheets import (
    LEFT_MOMENT,
    NUMBER,
    PERCENT,
    UNWRITTEN,
    Percent,
    Plain,
    SheetTable,
    Spool,
    cell_text,
    paper,
)
from sitemapcrawler.items import (
    EXTENSIONS,
    AnswerRecord,
    ChangeCounts,
    ChangeRecord,
    Coverage,
    CrawlerAccess,
    FileRevisits,
    FindingRecord,
    IndexCounts,
    LinkGraph,
    PageRecord,
    RenderedRecord,
    Revisits,
    RobotsRecord,
    SegmentCounts,
    Share,
    SitemapRecord,
    SummaryRecord,
    UrlRecord,
    records,
)
from sitemapcrawler.replies import status_error
from sitemapcrawler.report.todo import leads_to, next_step, why
from sitemapcrawler.report.wording import (
    ALL_CRAWLERS,
    NOT_INDEXABLE_MEANS,
    PARTIAL,
    REPLIES,
    SKIPPED,
    WHAT_CHANGED,
    by_severity,
    by_share,
    differing,
    lacking,
    listed,
)
from sitemapcrawler.report.wording import DAY as LENGTH_OF_DAY
from sitemapcrawler.report.wording import SEVERITIES as REPORT_SEVERITIES
from sitemapcrawler.report.wording import compared as compared_in_words
from sitemapcrawler.report.wording import graph as graph_in_words
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.index_reasons import advice_on
from sitemapcrawler.rules.facts.robots_changes import verdicts_in_words
from sitemapcrawler.rules.facts.sites import ADDED, CHANGED, REMOVED, SOLVED_PROBLEM, UNCHANGED
from sitemapcrawler.rules.registry import RULES, title_of
from sitemapcrawler.urls.display import counted, elapsed, percent

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

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


def _blocked_for(judged: int, url: UrlRecord) -> object:
    """Crawlers that a URL is blocked for. `judged`: number of crawlers that it was judged for."""
    if url.blocked_for is None:
        return None
    return ALL_CRAWLERS if 1 < judged == len(url.blocked_for) else url.blocked_for or "none"


def _value_of(name: str, judged: int, change: ChangeRecord) -> object:
    """The value `before` or `after` a change. `name`: which one; `judged`: see `_blocked_for`."""
    text: str | None = getattr(change, name)
    if change.what != "blocked_for" or text is None:
        return text
    return ALL_CRAWLERS if 1 < judged == len(text.split(", ")) else text


def _blocked_urls(judged: int, robots: RobotsRecord) -> str:
    """Number of URLs that are blocked, by crawler. If each crawler is blocked somewhere, those with the most frequent
    number share one name. `judged`: number of crawlers that URLs were judged for."""
    counts = robots.agents
    if not 1 < judged == len(counts):
        return _counts(counts)
    [(number, alike)] = Counter(counts.values()).most_common(1)
    others = {name: blocked for name, blocked in counts.items() if blocked != number}
    rest = "all other crawlers" if others else ALL_CRAWLERS
    return _counts({**others, rest: number} if alike > 1 else counts)


def _severity(change: ChangeRecord) -> str | None:
    """Severity of a problem; that of a solved one has no colour."""
    return Plain(change.severity) if change.severity and change.change == SOLVED_PROBLEM else change.severity


def _robots_of(judged: int) -> Sequence[Column]:
    """Columns of the sheet Robots. `judged`: see `_blocked_urls`."""
    return _valued(ROBOTS, {"blocked_urls": partial(_blocked_urls, judged)})


def _pages(judged: int) -> Sequence[Column]:
    """Columns of the sheet URLs. `judged`: see `_blocked_for`."""
    values: dict[str, Callable[[UrlRecord], object]] = {
        "lastmod": lambda url: _day_or_moment(url.lastmod, url.lastmod_at),
        "blocked_for": partial(_blocked_for, judged),
    }
    shown = (replace(URLS[0], name="url"), *(column for column in URLS[1:] if column.width))
    return _valued(shown, values)


def _changes_of(judged: int) -> Sequence[Column]:
    """Columns of the sheet Changes. `judged`: see `_blocked_for`."""
    values = {name: partial(_value_of, name, judged) for name in ("before", "after")}
    return _valued(CHANGES, values)


def _valued(
    columns: Sequence[Column],
    values: Mapping[str, Callable[[Any], object]],  # Any: as in `Column.value`, a record of the sheet
) -> Sequence[Column]:
    """Columns with other values, by name of the column."""
    return tuple(replace(column, value=values.get(column.name, column.value)) for column in columns)


NOT_INDEXABLE = (
    Column("url", 90, "loc", is_link=True),
    Column("why", 30, why),
    Column("status", 8, lambda url: url.reply and url.reply.status),
    Column("target", 50, leads_to),
    *of_fields(sitemap=48, line=7),
    Column("what_to_do", 55, next_step),
)
PROBLEMS = (
    *of_fields(severity=10, rule=28),
    Column("title", 44, lambda finding: title_of(finding.rule)),
    Column("message", 60, "message"),
    Column("url", 90, "url", is_link=True),
    *of_fields(value=30, sitemap=50, line=9),
    Column("fix", 60, lambda finding: _fix(finding.rule)),
)
SITEMAPS = (
    Column("sitemap", 60, "sitemap", is_link=True),
    *of_fields(format=12, status=10, outcome=12, url_count=11, bytes=12),
    Column("lastmod_min", 20, lambda file: _day_or_moment(None, file.lastmod_min)),
    Column("lastmod_max", 20, lambda file: _day_or_moment(None, file.lastmod_max)),
    *of_fields(found_by=12, parent=50, final_url=40),
    Column("replies", 30, lambda file: _counts(file.replies)),
    Column("problems", 40, "issues"),
    Column("error", 50, "error"),
)
ROBOTS = (
    Column("robots", 50, "robots", is_link=True),
    *of_fields(status=10, outcome=14, sitemaps=60, crawl_delay=12, urls=10),
    Column("blocked_urls", 40, lambda robots: _counts(robots.agents)),
    Column("problems", 40, "issues"),
    Column("error", 50, "error"),
)
LINKED = (
    Column("url", 90, "url", is_link=True),
    *of_fields(listed=8, depth=8, inlinks=9, nofollow_inlinks=16, outlinks=9, status=10),
    Column("status_error", 14, status_error),
    *of_fields(indexability=16, linked_from=60, final_status=12, final_url=40, sitemap=50),
)
ANSWERED = (
    *of_fields(crawler=20, verdict=16, note=50),
    Column("url", 90, "url", is_link=True),
    *of_fields(status=10, firewall=14, price=14, location=40, words=9, our_words=11, elapsed_ms=12, user_agent=60),
)
RENDERED = (
    Column("url", 90, "url", is_link=True),
    *of_fields(result=12, note=40, changed=30, words=9, rendered_words=16, links=9, rendered_links=15, added_links=12),
    *of_fields(noindex=10, rendered_noindex=18, canonical=40, rendered_canonical=40, title=40, rendered_title=40),
    *of_fields(h1=40, rendered_h1=40, hreflang=10, rendered_hreflang=18, requests=10, failed=9, blocked=40),
    *of_fields(elapsed_ms=12),
)
CHANGES = (
    Column("change", 16, "change"),
    Column("url", 90, "url", is_link=True),
    Column("what", 40, lambda change: title_of(change.rule) if change.rule else change.what),
    *of_fields(before=40, after=40),
    Column("severity", 10, _severity),
    *of_fields(rule=28, segment=16, sitemap=50, line=9),
)
COVERAGE = (
    Column("folder", 30, lambda row: row[0]),
    Column("list", 30, lambda row: row[1]),
    Column("in_list_and_sitemaps", 20, lambda row: row[2]),
    Column("only_in_list", 12, lambda row: row[3]),
    Column("only_in_sitemaps", 16, lambda row: row[4]),
)
SEGMENTS = (
    *of_fields(segment=30, urls=10),
    Column("indexable_share", 16, lambda one: None if one.share is None else Percent(one.share)),
    *of_fields(indexable=10, not_indexable=14, unknown=10),
    Column("urls_with_errors", 16, "errors"),
    Column("urls_with_warnings", 18, "warnings"),
    *of_fields(added=8, removed=9, new_problems=13, solved_problems=15, remaining_problems=18, dated=8),
    Column("trusted_dates", 14, lambda one: None if one.trusted is None else Percent(one.trusted)),
)
_json = JsonText(Rows())
TEXT_WIDTH, URL_WIDTH = 30, 60
"""Widths of columns of extensions, in characters."""
LINKED_FIELDS = ("loc", "image_loc", "content_loc", "href")
"""Fields of extensions that become hyperlinks."""


def _flat(name: str, record: object) -> object:
    """Value of a field; JSON text of an object or a list of objects, as in CSV."""
    value = getattr(record, name)
    if isinstance(value, (str, int)) or is_texts(value):
        return value
    return _json.text(value) if value else None


def _columns_of(extension: type) -> Sequence[Column]:
    """Columns of the objects of url records: their fields."""
    held = [one.name for one in fields(extension)][1:]
    links = {name: name in LINKED_FIELDS for name in held}
    return tuple(
        Column("url" if name == "loc" else name, URL_WIDTH if is_link else TEXT_WIDTH, partial(_flat, name), is_link)
        for name, is_link in links.items()
    )


PROBLEMS_FOUND = "Problems"
"""Name of the sheet of findings."""
SUMMARY = "Summary"
"""Name of the sheet with the totals."""
SUMMARY_WIDTHS = (36, 20, 14, 70, 70)
"""Of its columns, in characters."""
SUMMARY_NUMBERS = ("URLs", "files", "entries", "found", "listed")
"""Headings of its columns of numbers."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet with a row for each record of a type."""

    name: str
    kind: type
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
        Sheet(SEGMENTED, SegmentCounts, SEGMENTS, is_optional=True),
        Sheet("Not indexable", UrlRecord, NOT_INDEXABLE, lambda url: url.indexable is False, is_optional=True),
        Sheet(SUMMARY, SummaryRecord, ()),
        Sheet("URLs", UrlRecord, _pages(judged)),
        Sheet(PROBLEMS_FOUND, FindingRecord, PROBLEMS),
        Sheet("Changes", ChangeRecord, _changes_of(judged), is_optional=True),
        Sheet("Links", PageRecord, LINKED, is_optional=True),
        Sheet("Answers", AnswerRecord, ANSWERED, is_optional=True),
        Sheet("Rendered", RenderedRecord, RENDERED, is_optional=True),
        Sheet(COVERED, Coverage, COVERAGE, is_optional=True),
        *(Sheet(one.field.capitalize(), kind, _columns_of(kind), is_optional=True) for kind, one in EXTENSIONS.items()),
        Sheet("Sitemaps", SitemapRecord, SITEMAPS),
        Sheet("Robots", RobotsRecord, _robots_of(judged)),
    )


COVERED = "Coverage"
"""Name of the sheet of the lists that listed pages were compared with."""
SEGMENTED = "Segments"
"""Name of the sheet of segments."""
OF_SUMMARY = (Coverage, SegmentCounts)
"""Parts of the summary that have a sheet of their own."""
RECORDS = tuple(dict.fromkeys(sheet.kind for sheet in sheets() if sheet.kind not in OF_SUMMARY))
"""Record types that the workbook has."""


WRITE_S = 14.5
"""Seconds from a signal until no further rows are written: half a second less than a crawl may take to stop."""


class WorkbookExporter(RecordExporter):
    """`xlsx`: a workbook with the sheets of `sheets`; other items are not written.

    `fields` names columns: a sheet that has none of them is left out. `item_classes` names the record types to write.
    There are no other `item_export_kwargs`; `encoding`, `indent` and `export_empty_fields` have no effect. Rows go to
    temporary files, uncompressed, so memory does not grow with them.
    """

    suffix = "xlsx"
    default_types = RECORDS
    selects_records = True
    is_compressed = True

    def __init__(
        self,
        file: IO[bytes],
        item_classes: Sequence[type | str] = (),
        judged_agents: int = 0,
        is_late: Callable[[], bool] = lambda: False,
        **kwargs: object,
    ) -> None:
        """`item_classes`: record types to write; default: all. `judged_agents`: number of crawlers that URLs were
        judged for; `is_late`: true once no time is left for further rows."""
        super().__init__(dont_fail=True, **kwargs)
        all_rules()  # loads them: problems have title and advice of their rule
        self._file = file
        self._is_late = is_late
        classes = tuple(load_object(kind) for kind in item_classes)
        self._kinds = {kind for kind in RECORDS if not classes or issubclass(kind, classes)}
        self._sheets = sheets(judged_agents)
        self._book: Any = None  # Any: a Workbook once exporting has started
        self._tables: dict[str, SheetTable] = {}
        self._summary: SummaryRecord | None = None
        self._temporary = ExitStack()

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **kwargs: object) -> Self:
        """Create an exporter that knows for how many crawlers URLs are judged."""
        params = getattr(crawler.spider, "params", None)
        judged = len(getattr(params, "judged_agents", ()))
        late = partial(Stop.of(crawler).is_late, WRITE_S)
        return super().from_crawler(crawler, file, judged_agents=judged, is_late=late, **kwargs)

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
        folder = self._temporary.enter_context(scratch(Path(gettempdir()), OF_A_CRAWL))
        import xlsxwriter  # on first use: it takes 2 MB

        self._book = xlsxwriter.Workbook(self._file, {**_OPTIONS, "tmpdir": str(folder)})
        self._plan_tables(folder)

    def _plan_tables(self, folder: Path) -> None:
        titles = names(self.fields_to_export or ())
        for sheet in self._sheets:
            own = {column.name: column for column in sheet.columns}
            shown = {title: own[field] for field, title in titles.items() if field in own} if titles else own
            if shown and sheet.kind in {*self._kinds, *OF_SUMMARY}:
                spool = Spool(folder / sheet.name)
                self._tables[sheet.name] = SheetTable(sheet.name, shown, spool, keeps_empty=bool(titles))

    def export_item(self, item: object) -> None:
        """Take the item's records, one per row."""
        if not is_ours(item):
            return
        made = EXTENSIONS.keys() & self._kinds if self.makes_extensions else ()
        for record in (row for one in records(item) for row in with_extensions(one, made)):
            for sheet in self._sheets:
                if sheet.name in self._tables and sheet.has_row_of(record):
                    self._tables[sheet.name].add(record, record.rule if isinstance(record, FindingRecord) else "")
            if isinstance(record, SummaryRecord):
                self._summary = record

    def finish_exporting(self) -> None:
        """Write the sheets in order. Raises OSError if the disk is full."""
        with self._temporary:
            for name, rows in _rows_of(self._summary) if self._summary is not None else ():
                for row in rows if name in self._tables else ():
                    self._tables[name].add(row)
            overview = None
            for sheet in self._sheets:
                if sheet.name == SUMMARY and SummaryRecord in self._kinds:
                    overview = self._book.add_worksheet(SUMMARY)
                elif sheet.name in self._tables and (self._tables[sheet.name].rows or not self._may_lack(sheet)):
                    order = self._summary.reach if self._summary is not None else ()
                    note = _missing(sheet.name, self._summary)
                    self._tables[sheet.name].write(self._book, order, note, self._is_late)
            if overview is not None:
                self._write_summary(overview)
            from xlsxwriter.exceptions import FileCreateError

            try:
                self._book.close()
            except FileCreateError as error:  # a full disk: what it is made of is an OSError
                raise error.args[0] from None

    def _may_lack(self, sheet: Sheet) -> bool:
        """True for a sheet that is left out without rows: an optional one that is not the only one."""
        return sheet.is_optional and self._kinds != {sheet.kind}

    def _write_summary(self, overview: Worksheet) -> None:
        paper(overview)
        bold = self._book.add_format({"bold": True})
        above = self._book.add_format({"bold": True, **NUMBER})
        number = self._book.add_format({"num_format": "#,##0", **NUMBER})
        styles: dict[type, Format] = {Percent: self._book.add_format({"num_format": PERCENT, **NUMBER})}
        for place, width in enumerate(SUMMARY_WIDTHS):
            overview.set_column(place, place, width)
        overview.freeze_panes(1, 0)
        overview.write_string(0, 0, SUMMARY, bold)
        for row, cells in enumerate(summary_rows(self._summary, self._tables) if self._summary else (), 1):
            for place, cell in enumerate(cells):
                if isinstance(cell, str):
                    is_bold = len(cells) == 1 or isinstance(cells, Heading)
                    style = above if is_bold and cell in SUMMARY_NUMBERS else bold if is_bold else None
                    overview.write_string(row, place, cell_text(cell), style)
                elif isinstance(cell, datetime):
                    overview.write_datetime(row, place, cell, self._book.add_format(LEFT_MOMENT))
                elif cell is not None:
                    overview.write_number(row, place, cell, styles.get(type(cell), number))


class Heading(tuple[str, ...]):
    """A row of headings."""

    __slots__ = ()


Row = Sequence[str | float | date | None]


def summary_rows(summary: SummaryRecord, tables: Mapping[str, SheetTable]) -> Iterator[Row]:
    """Yield the rows of the summary. `tables`: those of the other sheets, by name."""
    yield from _about(summary)
    yield from _section("Rows on the other sheets", _sheets(summary, tables))
    yield from _section("Problems by severity", _by_severity(summary))
    yield from _by_rule(summary, tables[PROBLEMS_FOUND].counts if PROBLEMS_FOUND in tables else None)
    replies = [(REPLIES.get(kind, kind), number) for kind, number in summary.replies.items()]
    yield from _section("Entries by reply", replies)
    yield from _section("Entries by indexability", summary.indexability.items())
    yield from _section("Since the baseline", _changes(summary.changes) if summary.changes is not None else ())
    yield from _section("Dates since the baseline", _revisits(summary.revisits) if summary.revisits is not None else ())
    yield from _section("Links", _graph(summary.graph) if summary.graph is not None else ())
    yield from _section("Lists", _coverage(summary.coverage) if summary.coverage is not None else ())
    yield from _section("Index status at Google", _google(summary.google) if summary.google is not None else ())
    yield from _section("Listed URLs that crawlers may fetch", _crawlers(summary.crawlers))
    yield from _section("Left out", [(why, n, None, _left_out(why, n)) for why, n in summary.skipped.items()])


def _sheets(summary: SummaryRecord, tables: Mapping[str, SheetTable]) -> Iterator[Row]:
    """Yield the number of rows of each sheet, and what it lacks."""
    for name, table in tables.items():
        parts = f"on the sheets {', '.join(table.sheet_names)}" if len(table.sheet_names) > 1 else ""
        if table.rows:
            cut = f"{table.missing:,} of them {UNWRITTEN}" if table.missing else ""
            yield name, table.rows, None, "; ".join(filter(None, (parts, cut, _missing(name, summary))))


def _missing(name: str, summary: SummaryRecord | None) -> str:
    """What a sheet lacks; empty if nothing."""
    return lacking(summary) if name == PROBLEMS_FOUND and summary is not None else ""


def _crawlers(crawlers: Iterable[CrawlerAccess]) -> Iterator[Row]:
    """Yield how many listed URLs each crawler may fetch, and how many not."""
    for one in crawlers:
        if one.may_not_fetch:
            yield one.crawler, one.may_fetch, None, f"{one.may_not_fetch:,} blocked by robots.txt"


def _coverage(coverage: Coverage) -> Iterator[Row]:
    """Yield totals of the lists that the listed pages were compared with."""
    yield "Pages in a list but in no sitemap", coverage.not_listed, None, f"{coverage.not_verified:,} not verified"
    yield "Other such pages, which cannot be indexed", coverage.not_indexable
    yield "Listed pages in no list", coverage.listed_only
    if coverage.left_out:
        yield "Other listed pages, which lists have as an error or as not indexable", coverage.left_out
    for group in coverage.groups:
        yield f"Counted apart: {group.group}", group.not_listed, None, f"not listed; {group.listed_only:,} in no list"
    for one in coverage.lists:
        yield f"Pages in {one.name}", one.urls, None, compared_in_words(one)


def _google(found: IndexCounts) -> Iterator[Row]:
    """Yield what Google says of the listed URLs."""
    yield "Inspected URLs", found.urls
    yield "Indexed", found.indexed
    yield "Not indexed", found.not_indexed
    for reason, number in found.reasons.items():
        yield f"Not indexed: {reason or 'no reason is given'}", number, None, advice_on(reason)
    yield "Another URL is indexed instead", found.other_canonical
    yield "Not crawled since lastmod", found.not_crawled_since


def _rows_of(summary: SummaryRecord) -> Iterator[tuple[str, Iterable[object]]]:
    """Yield the rows of sheets that the summary has, by name of the sheet."""
    by_worst = sorted(summary.segments, key=by_share)
    yield SEGMENTED, by_worst
    yield COVERED, coverage_rows(summary.coverage) if summary.coverage is not None else ()


def coverage_rows(coverage: Coverage) -> Iterator[tuple[str, str, int | None, int, int | None]]:
    """Yield the rows of the sheet Coverage: each list as a whole, then each folder as a whole, and by list if there are
    several."""
    lists, only = "all lists", None
    if len(coverage.lists) == 1:
        lists, only = coverage.lists[0].name, coverage.listed_only
    for one in coverage.lists:
        yield "all folders", one.name, one.listed, one.not_listed, only
    for folder in coverage.folders:
        yield folder.folder, lists, folder.listed, folder.not_listed, folder.listed_only
        for name, missing in folder.by_list.items() if only is None else ():
            yield folder.folder, name, None, missing, None


def _changes(found: ChangeCounts) -> Iterator[Row]:
    """Yield the sums of the changes since the baseline."""
    yield "Baseline of", _day_or_moment(None, found.since) or "unknown", None, "UTC"
    for name in (ADDED, REMOVED, CHANGED, UNCHANGED):
        yield f"URLs {name}", getattr(found, name)
    for name, number in found.what_changed.items():
        yield f"Changed: {WHAT_CHANGED.get(name, name)}", number
    for robots in found.robots:
        for one, text in zip(robots.verdicts, verdicts_in_words(robots), strict=True):
            yield f"URLs newly {one.change} by robots.txt", one.urls, None, f"{robots.robots}: {text}"
    for title, problems in (("Problems solved", found.solved_problems), ("New problems", found.new_problems)):
        yield title, sum(problems.values()), None, by_severity(problems)
    for reason, rules in found.not_compared.items():
        yield "Rules not compared", len(rules), None, f"{differing(reason)}: {listed(rules)}"


def _revisits(found: Revisits) -> Iterator[Row]:
    """Yield how many dates proved true, in all files and in those with the smallest share."""
    rows: list[tuple[str, Revisits | FileRevisits]] = [("All files", found)]
    rows += [(file.sitemap, file) for file in found.files]
    for name, one in rows:
        faults = f"{one.moved:,} changed, page the same; {one.stayed:,} stayed, content changed"
        yield name, one.true, one.true / one.compared, f"of {one.compared:,} are true; {faults}"


def _graph(graph: LinkGraph) -> Iterator[Row]:
    """Yield totals of the link graph, and how complete it is."""
    yield "Pages that are linked but not listed", graph.unlisted
    for group, number in graph.groups.items():
        yield f"The same of the group: {group}", number
    yield "Listed pages that no page links to", graph.not_linked
    yield "Pages whose links were read", graph.read, None, " ".join(graph_in_words(graph))


def _by_severity(summary: SummaryRecord) -> Iterator[Row]:
    """Yield the number of URLs that have problems of each severity, with the other numbers in words."""
    for severity, reach in summary.severity_reach.items():
        number = None if reach.at_least else reach.urls
        yield severity, number, None, f"{counted(summary.severities.get(severity, 0), 'finding')} {reach.place}"


def _by_rule(summary: SummaryRecord, listed: Mapping[str, int] | None) -> Iterator[Row]:
    """Yield a section for each severity, the worst first, with its rules by number of URLs. Those that a rule reports
    with a lower severity have a column of their own."""
    about = {rule.id: (title_of(rule.id), _fix(rule.id)) for rule in all_rules()}
    last = ("found", "listed" if listed is not None else "")
    heads = ("URLs", "files", "title", "what to do", "entries", "lower severity", *last)
    for severity, rules in groupby(summary.reach.items(), lambda item: item[1].severity):
        yield ()
        yield Heading((f"{REPORT_SEVERITIES[severity]}s by rule", *heads))
        for rule, reach in rules:
            counts = summary.rules.get(rule, 0), None if listed is None else listed.get(rule, 0)
            urls, files, entries, milder = (None,) * 4 if reach.at_least else (
                reach.urls, reach.files, reach.entries, reach.milder
            )  # fmt: skip
            yield rule, urls, files, *about.get(rule, (None, None)), entries, milder, *counts


def _about(summary: SummaryRecord) -> Iterator[Row]:
    if summary.domains:
        yield "Site", ", ".join(summary.domains)
    yield "Started", _day_or_moment(None, summary.started or None), None, "UTC"
    yield "Duration", elapsed(summary.elapsed_s)
    yield "Sitemaps", summary.sitemaps
    yield "Entries", summary.urls, None, "a URL that is listed twice has two"
    if (share := summary.not_indexable) is not None:
        yield "Not indexable", Percent(share.share), None, _share(share)
    if summary.partial:
        yield "Ended early", "yes", None, PARTIAL.get(summary.partial, summary.partial)
    else:
        yield "Ended early", "no"
    if summary.breaches is not None:
        yield "Policy", "broken" if summary.breaches else "kept"
    for breach in summary.breaches or ():
        yield "Broken limit", breach.limit or None, None, breach.message
    if summary.limited_by:
        yield "Limited by", summary.limited_by, None, "a configuration file leaves something out"
    if summary.only:
        yield "Listed URLs", summary.only, None, "URLs that have not changed since the baseline are left out"


def _share(share: Share) -> str:
    """What is not indexable, and how sure the share is."""
    text = f"{share.bad:,} of {counted(share.checked, 'URL')}: {NOT_INDEXABLE_MEANS}"
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
    one, many, rest = SKIPPED.get(reason, ("file", "files", "that the rule could not check"))
    return f"{one if number == 1 else many} {rest}"
