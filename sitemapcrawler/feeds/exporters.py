"""Feed formats JSON, CSV and Parquet: the exporters of the FEED_EXPORTERS setting.

Each accepts batches and single records, and writes one row per record, with one write per item. JSON and CSV write
other items (of users' own pipelines) as Scrapy's exporters do.
"""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self, cast

from itemadapter import ItemAdapter, is_item
from scrapy.exporters import BaseItemExporter
from scrapy.extensions.feedexport import ItemFilter
from scrapy.utils.misc import load_object
from scrapy.utils.python import to_unicode

from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds.columns import URLS, Cells, Column, is_texts, lines_of, values_of
from sitemapcrawler.feeds.jsontext import ESCAPES, JsonText, Rows, is_record, names
from sitemapcrawler.feeds.storages import Outlet
from sitemapcrawler.items import EXTENSIONS, RECORDS, Envelope, FindingRecord, UrlRecord, extension_records, records

if TYPE_CHECKING:
    import pyarrow as pa
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

FeedOptions = Mapping[str, Any]  # Any: users write them, and they are unchecked
BYTE_ORDER_MARKED = ("utf-8-sig", "utf_8_sig")
"""Encodings with a byte order mark, which JSON does not allow (RFC 8259, 8.1)."""
OF_SCRAPY = ("encoding", "export_empty_fields", "fields_to_export", "indent")
"""Keyword arguments of all of Scrapy's exporters. Source: https://docs.scrapy.org/en/latest/topics/exporters.html"""
ROW_GROUP = 50_000
"""Rows per row group, the unit in which readers skip and share work. As many as one sitemap may list: enough to
compress well, few enough to hold in memory. Source: https://www.sitemaps.org/protocol.html#index"""
ROW_GROUP_BYTES = 64 * 1024 * 1024
"""Bytes in memory at which a smaller row group is written, such as one of pages with many images."""
ROWS_AT_ONCE = 1000
"""Records converted to columns together; converting them one by one takes ninety times as long."""
JOIN = "; "
"""Between the texts of a list in a CSV cell."""


def are_extensions_items(settings: BaseSettings) -> bool:
    """True if the objects of url records are items of their own, so that feeds do not make them."""
    return bool(settings["SITEMAP_ITEMS"] == "objects")


class RecordFilter(ItemFilter):
    """Feed filter by `item_classes` that are record types; accepts an item if it has rows of these types."""

    def accepts(self, item: object) -> bool:
        if not self.item_classes or super().accepts(item):
            return True
        if isinstance(item, NotedBatch):
            held = (UrlRecord, FindingRecord) if item.judged else (UrlRecord,)
            if any(issubclass(kind, self.item_classes) for kind in held):
                return True
        return is_ours(item) and bool(rows_of(item, *self.item_classes))


class RecordExporter(BaseItemExporter):
    """Base class of feed formats. Its attributes declare what a format can do; the checks of feeds follow from them.

    The setting FEED_EXPORTERS names the class; the key is the suffix of the files. Exporters that are not subclasses
    work too, but their feeds are never appended to, and their fields are not checked.
    """

    suffix: ClassVar[str] = ""
    """Usual suffix. Other keys of the class in FEED_EXPORTERS are aliases, which messages leave out."""
    record_types: ClassVar[tuple[type, ...]] = RECORDS
    default_types: ClassVar[tuple[type, ...]] = tuple(kind for kind in RECORDS if kind not in EXTENSIONS)
    """The same of a feed without `item_classes`: url records hold their objects."""
    is_table: ClassVar[bool] = False
    """True if a file holds one record type: url records, or the one type in `item_classes`."""
    has_fields: ClassVar[bool] = True
    """True if `fields` names fields of records; unknown ones are refused."""
    selects_records: ClassVar[bool] = False
    """True if the constructor accepts `item_classes`, the record types to write."""
    is_appendable: ClassVar[bool] = False
    """True if a later crawl can append to a file."""
    is_compressed: ClassVar[bool] = False
    """True if files are compressed, so that gzip is refused."""
    requires: ClassVar[str] = ""
    """Optional package that it imports."""
    needs_baseline: ClassVar[bool] = False
    """True if it holds what has changed since an earlier crawl."""
    makes_extensions = True
    """False if the objects of url records come as items of their own."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **kwargs: object) -> Self:
        """Create an exporter that makes the records of `items.EXTENSIONS` unless they are items."""
        exporter = cls(file, **kwargs)  # type: ignore[call-arg,arg-type]  # exporters take a file, and options of a feed
        exporter.makes_extensions = not are_extensions_items(crawler.settings)
        return exporter

    @classmethod
    def check_options(cls, options: FeedOptions) -> None:
        """Raise an exception if `item_export_kwargs` cannot work, ImportError if the optional package is missing."""

    @classmethod
    def fields_of(cls, kinds: Iterable[type]) -> list[str]:
        """Return what `fields` may name if a feed holds these record types."""
        return list(dict.fromkeys(field.name for kind in kinds for field in dataclasses.fields(kind)))


class Undeclared(RecordExporter):
    """Stands for an exporter that is not a subclass, such as one of Scrapy's own."""

    has_fields = False


class JsonLinesExporter(RecordExporter):
    """`jsonl`, `jsonlines`, `jl`: one JSON object per line, all record types; null and empty fields are omitted.

    Characters that `encoding` (default UTF-8) cannot encode become `\\uXXXX` escapes, lone surrogates U+FFFD.
    """

    suffix = "jsonl"
    selects_records = True
    is_appendable = True

    def __init__(
        self,
        file: IO[bytes],
        item_classes: Sequence[type | str] = (),
        **kwargs: Any,  # Any: as in Scrapy
    ) -> None:
        """`item_classes`: record types to write; default: all. `kwargs`: those of Scrapy's exporters."""
        super().__init__(**kwargs)
        self._classes = tuple(_loaded(item_classes))
        encoding = "utf-8" if self.encoding in BYTE_ORDER_MARKED else self.encoding
        self.outlet = Outlet(file, encoding, ESCAPES)
        self._json = JsonText(Rows(self.fields_to_export, self.export_empty_fields))
        altered = self.fields_to_export or self.export_empty_fields
        self._takes_lines = not altered and (not self._classes or UrlRecord in self._classes)

    @classmethod
    def check_options(cls, options: FeedOptions) -> None:
        """Raise TypeError for unknown options."""
        cls(io.BytesIO(), **options)

    def export_item(self, item: object) -> None:
        """Write the item's records, one per line."""
        self.outlet.write_utf8(self._lines(item))

    def _lines(self, item: object) -> bytes:
        if isinstance(item, NotedBatch) and item.lines is not None and self._takes_lines:
            return item.lines
        if is_ours(item):
            return self._json.lines(rows_of(item, *self._classes, extensions=self.makes_extensions))
        return self._json.line(dict(self.get_serialized_fields(item)))


class JsonExporter(JsonLinesExporter):
    """`json`: one array of all records. `indent` as in Scrapy: None: one line, 0: one line per record, else pretty."""

    suffix = "json"
    is_appendable = False

    def __init__(self, file: IO[bytes], item_classes: Sequence[type | str] = (), **kwargs: object) -> None:
        super().__init__(file, item_classes, **kwargs)
        self._newline = b"" if self.indent is None else b"\n"
        self._separator = b""

    def start_exporting(self) -> None:
        """Open the array."""
        self.outlet.write_utf8(b"[" + self._newline)

    def export_item(self, item: object) -> None:
        """Write the item's records as array elements."""
        lines = self._lines(item)
        if not lines:
            return
        between = b"," + self._newline
        if self.indent:
            elements = b"".join(self._json.pretty(line, self.indent) + between for line in lines.splitlines())
        else:
            elements = lines.replace(b"\n", between)
        self.outlet.write_utf8(self._separator)
        self.outlet.write_utf8(memoryview(elements)[: -len(between)])  # a slice of bytes would copy the batch
        self._separator = between

    def finish_exporting(self) -> None:
        """Close the array."""
        self.outlet.write_utf8(self._newline + b"]" + self._newline)


class CsvExporter(RecordExporter):
    """`csv`: one table of the URL records, or of the record type in `item_classes`; other types are not written.

    URL records have the columns of `feeds/columns.py`, other records their fields; `fields` may name both.
    Lists of texts are joined by `; `; other lists and objects are JSON text.

    Null and empty values become empty cells. Text that any spreadsheet would run as a formula gets a leading `'`
    (`columns.Cells`). Characters that the encoding lacks become backslash escapes. Appending writes no second header.
    """

    suffix = "csv"
    is_table = True
    selects_records = True
    is_appendable = True

    def __init__(
        self,
        file: IO[bytes],
        include_headers_line: bool = True,
        item_classes: Sequence[type | str] = (),
        **kwargs: Any,  # Any: as in Scrapy
    ) -> None:
        """`item_classes`: the record type to write; several must include `UrlRecord`, which is then written.
        `kwargs`: those of Scrapy's exporters."""
        super().__init__(**kwargs)
        self._record = record_of(_loaded(item_classes))
        own = {field.name: Column(field.name, 0, field.name) for field in dataclasses.fields(self._record)}
        flat = {column.name: column for column in URLS} if self._record is UrlRecord else own
        self._fields = list(flat)
        self._known = {**own, **flat}
        self._columns: list[Column] | None = None
        self.outlet = Outlet(file, self.encoding, "backslashreplace")
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text)
        self._cells = Cells()
        self._header_due = include_headers_line and not self.outlet.appending
        self._json = JsonText(Rows(keep_empty=self.export_empty_fields))

    @classmethod
    def check_options(cls, options: FeedOptions) -> None:
        """Raise ValueError for several record types, TypeError for unknown options."""
        cls(io.BytesIO(), **options)

    @classmethod
    def fields_of(cls, kinds: Iterable[type]) -> list[str]:
        """Return the names of flat columns and of fields."""
        kinds = list(kinds)
        flat = [column.name for column in URLS] if UrlRecord in kinds else []
        return list(dict.fromkeys([*flat, *super().fields_of(kinds)]))

    def export_item(self, item: object) -> None:
        """Write the item's records of its type, one per row."""
        if not is_ours(item):
            self._put_other(item)
        elif rows := rows_of(item, self._record, extensions=self.makes_extensions):
            self._put_records(rows)
        self._hand_over()

    def finish_exporting(self) -> None:
        """Write the header if there were no rows."""
        self._start(self._fields)
        self._hand_over()

    def _put_records(self, rows: Sequence[object]) -> None:
        if self._columns is None:
            absent = Column("", 0, lambda record: None)
            self._columns = [self._known.get(name, absent) for name in self._start(self._fields)]
        cells = [self._cells.column(values, self._structure, JOIN) for values in values_of(self._columns, rows)]
        if len(cells) > 1:
            self._text.write("\r\n".join([*lines_of(cells), ""]))
        else:
            self._writer.writerows(zip(*cells, strict=True))

    def _put_other(self, item: object) -> None:
        self._start(ItemAdapter(item).field_names())
        fields = self.get_serialized_fields(item, default_value="", include_empty=True)
        self._writer.writerow([self._cells.cell(value, self._other_structure) for _, value in fields])

    def _start(self, fields: Iterable[str]) -> dict[str, str]:
        """Return {field: title} of the columns; the first call fixes them and writes the header."""
        if not self.fields_to_export:
            self.fields_to_export = list(fields)
        columns = names(self.fields_to_export)
        if self._header_due:
            self._writer.writerow(map(self._cells.disarmed, columns.values()))
            self._header_due = False
        return columns

    def _structure(self, value: object) -> str:
        if is_texts(value):
            return self._cells.disarmed(JOIN.join(value))
        return self._cells.disarmed_json(self._json.text(value))

    def _other_structure(self, value: object) -> str:
        """Convert a value as Scrapy does, except that lists and objects become JSON text."""
        if is_texts(value):
            return self._cells.disarmed(",".join(value))
        if isinstance(value, (list, tuple, dict)) or is_item(value):
            return self._cells.disarmed_json(self._json.line(value).decode()[:-1])
        text = to_unicode(value, errors="backslashreplace") if isinstance(value, bytes) else str(value)
        return self._cells.disarmed(text)

    def _hand_over(self) -> None:
        self.outlet.write_text(self._text.getvalue())
        self._text.seek(0)
        self._text.truncate()


def is_ours(item: object) -> bool:
    """True for a record or a batch of records."""
    return isinstance(item, Envelope) or is_record(type(item))


def record_of(classes: Sequence[type]) -> type:
    """Return the record type of a table: the only one among `item_classes`, which may name other items too, or
    `UrlRecord`. Raises ValueError if there are several without it."""
    kinds = [kind for kind in classes if is_record(kind)]
    if len(kinds) > 1 and UrlRecord not in kinds:
        raise ValueError("a table has records of one type; name one of the item_classes")
    return kinds[0] if len(kinds) == 1 else UrlRecord


def _loaded(classes: Iterable[type | str]) -> list[type]:
    return [load_object(kind) for kind in classes]


def rows_of(item: object, *classes: type, extensions: bool = True) -> Sequence[object]:
    """Return the records that one of our items stands for, of these types if there are any; fast for a batch of URLs.
    `extensions`: make those of `items.EXTENSIONS` from url records."""
    if not classes:
        return records(item)
    made = [kind for kind in EXTENSIONS if extensions and issubclass(kind, classes)]
    rows: Sequence[object] | None = None
    if isinstance(item, NotedBatch):
        if classes == (UrlRecord,):
            return item.urls
        if not made and not item.judged and not issubclass(UrlRecord, classes):
            return ()
        rows = item.urls if len(made) == len(classes) else None
    rows = records(item) if rows is None else rows
    if made:
        rows = [row for record in rows for row in with_extensions(record, made)]
    return [row for row in rows if isinstance(row, classes)]


def with_extensions(record: object, kinds: Collection[type] = EXTENSIONS) -> Iterator[object]:
    """Yield a record; behind a url record, its objects as records of these types."""
    yield record
    if getattr(record, "type", None) == "url":
        yield from extension_records(cast("UrlRecord", record), kinds)


class ParquetExporter(RecordExporter):
    """`parquet`: one table of the URL records, or of the record type in `item_classes`; other items are not written.

    Columns are the fields of the record in order, or `fields`; a field that it lacks is a column of nulls.
    `feeds/arrow.py` describes column types and conversions; each column carries its `description`. The file's metadata
    has `schema_version`, and what the attribute `file_metadata` of the spider states of the crawl. Keyword arguments
    (`item_export_kwargs`) are `row_group_size` in rows; `constants`, a mapping of leading columns to the text of all
    their rows; and those of `pyarrow.parquet.ParquetWriter`, such as `compression` (default: zstd) and
    `compression_level`. `encoding`, `indent` and `export_empty_fields` have no effect.

    Arguments are checked in `start_exporting`: if the constructor failed, Scrapy would reopen the storage for each
    item.
    """

    suffix = "parquet"
    is_table = True
    selects_records = True
    is_compressed = True
    requires = "pyarrow"

    def __init__(
        self,
        file: IO[bytes],
        row_group_size: int = ROW_GROUP,
        item_classes: Sequence[type | str] = (),
        constants: Mapping[str, str] = MappingProxyType({}),
        **kwargs: object,
    ) -> None:
        """`item_classes`: the record type to write; several must include `UrlRecord`, which is then written."""
        super().__init__(dont_fail=True, **kwargs)
        self.metadata: Mapping[str, str] = {}
        """What the file's metadata states besides the version of its columns."""
        self._file = file
        self._size = row_group_size
        self._constants = constants
        self._options = {name: value for name, value in kwargs.items() if name not in OF_SCRAPY}
        self._classes = _loaded(item_classes)
        self.record: type = self._classes[0] if len(self._classes) == 1 else UrlRecord
        self._waiting: list[object] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **kwargs: object) -> Self:
        """Create an exporter whose files state what the spider says of its crawl."""
        exporter = super().from_crawler(crawler, file, **kwargs)
        exporter.metadata = getattr(crawler.spider, "file_metadata", {})
        return exporter

    @classmethod
    def check_options(cls, options: FeedOptions) -> None:
        """Write one record to memory, the only way to find out whether pyarrow accepts the options. Raises what
        `start_exporting` raises."""
        exporter = cls(io.BytesIO(), **options)
        exporter.start_exporting()
        exporter.export_item(exporter.record())
        exporter.finish_exporting()

    def start_exporting(self) -> None:
        """Start the file. Raises ImportError without pyarrow, ValueError for a wrong argument or a file that already
        has rows, and what `ParquetWriter` raises for its arguments."""
        if getattr(self._file, "appending", False):
            raise ValueError("parquet cannot be appended to; use overwrite")
        if not isinstance(self._size, int) or self._size < 1:
            raise ValueError(f"row_group_size {self._size!r} is not a whole number above 0")
        if not isinstance(self._constants, Mapping) or not all(
            isinstance(text, str) for text in self._constants.values()
        ):
            raise ValueError(f"constants {self._constants!r} is not a mapping of columns to texts")
        record_of(self._classes)
        # Imported here: pyarrow is optional, and slow to import.
        import pyarrow as pa

        from sitemapcrawler.feeds.arrow import Columns, writer

        self._columns = Columns(self.record, self.fields_to_export or None, self._constants)
        self._join = pa.concat_tables
        self._keep(self._columns.schema.empty_table())
        options = {"compression": "zstd", **self._options}
        self._writer = writer(pa.PythonFile(Sink(self._file), mode="w"), self._columns.schema, self.metadata, **options)

    def export_item(self, item: object) -> None:
        """Add the item's records, and write full row groups."""
        self._waiting += rows_of(item, self.record, extensions=self.makes_extensions)
        if len(self._waiting) >= ROWS_AT_ONCE:
            self._convert(len(self._waiting) // ROWS_AT_ONCE * ROWS_AT_ONCE)

    def finish_exporting(self) -> None:
        """Write the remaining rows and the end of the file."""
        self._convert(len(self._waiting))
        self._write(self._rows)
        self._writer.close()

    def _convert(self, count: int) -> None:
        ready, self._waiting = self._waiting[:count], self._waiting[count:]
        for start in range(0, count, ROWS_AT_ONCE):
            table = self._columns.table(ready[start : start + ROWS_AT_ONCE])
            self._tables.append(table)
            self._rows += table.num_rows
            self._bytes += table.nbytes
            while self._rows >= self._size:
                self._write(self._size)
            if self._bytes >= ROW_GROUP_BYTES:
                self._write(self._rows)

    def _write(self, rows: int) -> None:
        """Write the first `rows` rows as a row group."""
        if rows:
            table = self._join(self._tables)
            self._writer.write_table(table.slice(0, rows), row_group_size=rows)
            self._keep(table.slice(rows))

    def _keep(self, table: pa.Table) -> None:
        self._tables = [table]
        self._rows, self._bytes = table.num_rows, table.nbytes


class Sink:
    """File object that pyarrow writes to. The storage closes the file."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        return self._file.write(data)

    def flush(self) -> None:
        """Do nothing: the storage flushes."""

    def close(self) -> None:
        """Do nothing: the storage closes."""
