"""Worksheets of tables whose rows wait in temporary files until all of them are known.

Limits of Excel are those of
https://support.microsoft.com/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3
"""

from __future__ import annotations

import math
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from sitemapcrawler.feeds.columns import Column
from sitemapcrawler.urls.display import CUT, counted

if TYPE_CHECKING:
    import xlsxwriter
    from xlsxwriter.worksheet import Worksheet

MAX_ROWS = 1_048_576
ROWS_OF_A_SHEET = MAX_ROWS - 2
"""Records on a worksheet: all rows but the header and a note at the end."""
UNWRITTEN = "missing: the crawl was stopped, with no time left to write them"
ROWS_AT_ONCE = 5_000
"""Rows in memory until they are written to temporary files, of usual length about five megabytes."""
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
Cells = Sequence[object]
"""The values of a row; None for an empty cell."""
PERCENT, DAY, MOMENT = "0.0%", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
"""Formats of numbers in cells."""
NUMBER = {"align": "right", "indent": 1}  # apart from the text in the next column
LEFT_MOMENT = {"num_format": MOMENT, "align": "left"}
SHADES = {"error": "#F8CBAD", "warning": "#FFE699", "info": "#DDEBF7"}
"""Colours of severities."""
A4 = 9
"""Number of a paper size in XlsxWriter."""
MIN_WIDTH = 6
"""Width of a column with short values, in characters."""
FILTER_WIDTH = 3
"""Width of the button of a filter in a header, in characters."""


class Percent(float):
    """A share that is shown as a percentage."""

    __slots__ = ()


class Plain(str):
    """Text that has no colour, though it names a severity."""

    __slots__ = ()


def paper(sheet: Worksheet) -> None:
    """Set up the page of a sheet: landscape A4, as wide as the sheet, its header on each page."""
    sheet.set_landscape()
    sheet.set_paper(A4)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)


class Spool:
    """Rows in temporary files, one for each group, until it is known how they are written."""

    def __init__(self, folder: Path) -> None:
        """`folder`: created with the first rows."""
        self._folder = folder
        self._waiting: dict[str, list[Cells]] = {}
        self._files: dict[str, Path] = {}
        self.counts: Counter[str] = Counter()
        """Rows by group."""

    def add(self, group: str, row: Cells) -> None:
        """Add a row. Raises OSError if the disk is full."""
        self._waiting.setdefault(group, []).append(row)
        self.counts[group] += 1
        if self.counts.total() % ROWS_AT_ONCE == 0:
            self._flush()

    def read(self, order: Iterable[str]) -> Iterator[Cells]:
        """Yield all rows, those of the groups in `order` first, in that order. Raises OSError."""
        self._flush()
        for group in dict.fromkeys((*order, *self._files)):
            if group in self._files:
                with self._files[group].open("rb") as file:
                    while file.peek(1):
                        yield from pickle.load(file)  # written by this process, in a folder of its own

    def _flush(self) -> None:
        for group, rows in self._waiting.items():
            if group not in self._files:
                self._folder.mkdir(exist_ok=True)
                self._files[group] = self._folder / str(len(self._files))
            with self._files[group].open("ab") as file:
                pickle.dump(rows, file)
        self._waiting.clear()


class SheetTable:
    """Rows of one record type. They are written at the end, on as many sheets as they need, without empty columns."""

    def __init__(self, name: str, columns: Mapping[str, Column], spool: Spool, keeps_empty: bool = False) -> None:
        """`columns`: {title: column}. `keeps_empty`: write columns without values too."""
        self._name = name
        self._titles = columns
        self._spool = spool
        self._columns = [(place, column.value_of) for place, column in enumerate(columns.values())]
        self._keeps_empty = keeps_empty
        self.missing = 0
        """Rows that were not written for want of time."""
        self._lengths = [0] * len(columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._spool.counts.total()

    @property
    def counts(self) -> Mapping[str, int]:
        """Rows by group."""
        return self._spool.counts

    @property
    def sheet_names(self) -> list[str]:
        """Names of its sheets."""
        number = max(1, math.ceil(self.rows / ROWS_OF_A_SHEET))
        return [self._name, *(f"{self._name} {part}" for part in range(2, number + 1))]

    def add(self, record: object, group: str = "") -> None:
        """Add a record as a row. `group`: rows of a group are written together."""
        row: list[object] = []
        for place, value_of in self._columns:
            value = value_of(record)
            if isinstance(value, (list, tuple)):
                value = ", ".join(value)
            if value is None or value == "":
                row.append(None)
                continue
            row.append(value)
            if self._lengths[place] < (length := len(str(value))):
                self._lengths[place] = length
        self._spool.add(group, row)

    def write(
        self,
        book: xlsxwriter.Workbook,
        order: Iterable[str] = (),
        note: str = "",
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        """Write the sheets. `order`: groups in the order of their rows, the others follow; `note`: stands below the
        last row; `is_late`: true once no time is left for further rows. Sets `missing`."""
        filled = [place for place, length in enumerate(self._lengths) if length or self._keeps_empty]
        shown = filled or range(len(self._columns))
        columns = [(title, column, self._lengths[place]) for place, (title, column) in enumerate(self._titles.items())]
        rows = ([row[place] for place in shown] for row in self._spool.read(order))
        writer = SheetWriter(book, [Shown.of(*columns[place]) for place in shown])
        self.missing = self.rows
        for name, following in zip_longest(self.sheet_names, self.sheet_names[1:]):
            self.missing -= writer.write(name, islice(rows, ROWS_OF_A_SHEET), is_late)
            if self.missing and is_late():
                writer.note(f"{counted(self.missing, 'more row is', 'more rows are')} {UNWRITTEN}.")
                return
            writer.note(f"The rows continue on the sheet {following}." if following else note)


class Shown(NamedTuple):
    """A column of a sheet."""

    title: str
    width: int
    """In characters."""
    is_link: bool
    has_severities: bool

    @classmethod
    def of(cls, title: str, column: Column, length: int) -> Self:
        """`length`: of the longest value."""
        width = max(min(length, column.width), MIN_WIDTH, len(title) + FILTER_WIDTH)
        return cls(title, width + 1, column.is_link, column.name == "severity")


class SheetWriter:
    """Writes the rows of a table to sheets."""

    def __init__(self, book: xlsxwriter.Workbook, columns: Sequence[Shown]) -> None:
        self._book = book
        self._columns = columns
        self._bold = book.add_format({"bold": True})
        self._quoted = book.add_format({"quote_prefix": True})
        self._number = book.add_format(NUMBER)
        self._percent = book.add_format({"num_format": PERCENT, **NUMBER})
        self._day, self._moment = (book.add_format({**LEFT_MOMENT, "num_format": form}) for form in (DAY, MOMENT))
        self._shades = {severity: book.add_format({"bg_color": shade}) for severity, shade in SHADES.items()}
        self._link = book.get_default_url_format()
        self._links = 0

    def write(self, name: str, rows: Iterable[Cells], is_late: Callable[[], bool]) -> int:
        """Write a sheet with its header. Returns the number of rows, fewer than there are if it is late."""
        self._sheet = self._book.add_worksheet(name)
        paper(self._sheet)
        for place, column in enumerate(self._columns):
            self._sheet.set_column(place, place, column.width)
            self._sheet.write_string(0, place, cell_text(column.title), self._bold)
        self._sheet.freeze_panes(1, 0)
        self._row = 0
        for self._row, row in enumerate(rows, 1):
            for place, value in enumerate(row):
                if value is not None:
                    self._put(place, value)
            if self._row % ROWS_AT_ONCE == 0 and is_late():
                break
        self._sheet.autofilter(0, 0, self._row, len(self._columns) - 1)
        return self._row

    def note(self, text: str) -> None:
        """Write a line below the rows of the last sheet; an empty one is left out."""
        if text:
            self._sheet.write_string(self._row + 1, 0, text, self._bold)

    def _put(self, place: int, value: object) -> None:
        if isinstance(value, str):
            self._put_text(place, value)
        elif isinstance(value, bool):
            self._sheet.write_string(self._row, place, "yes" if value else "no")
        elif isinstance(value, (int, float)) and abs(value) < MAX_NUMBER:
            style = self._percent if isinstance(value, Percent) else self._number
            self._sheet.write_number(self._row, place, value, style)
        elif isinstance(value, date):
            day_or_moment = self._moment if isinstance(value, datetime) else self._day
            self._sheet.write_datetime(self._row, place, value, day_or_moment)
        elif not isinstance(value, float) or math.isfinite(value):
            self._put_text(place, str(value))

    def _put_text(self, place: int, value: str) -> None:
        text, column = cell_text(value), self._columns[place]
        if column.is_link and self._links < MAX_LINKS and (target := link_to(value)):
            self._links += 1
            self._sheet.write_url(self._row, place, target, self._link, text)
        elif text.startswith(_SIGNS):
            self._sheet.write_string(self._row, place, text, self._quoted)
        elif column.has_severities:
            shade = None if isinstance(value, Plain) else self._shades.get(text)
            self._sheet.write_string(self._row, place, text, shade)
        else:
            self._sheet.write_string(self._row, place, text)


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
