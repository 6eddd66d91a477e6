"""The Parquet feed: records of one type as a table with nested columns, written in row groups as they fill."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import IO, Any

from scrapy.exporters import BaseItemExporter
from scrapy.utils.misc import load_object

from sitemapcrawler.feeds.outlet import Outlet
from sitemapcrawler.items import UrlBatch, UrlRecord, records

ROW_GROUP = 50_000
"""Rows of a row group, the unit that readers skip and share out. As many as one sitemap may list: enough to compress
well, and few enough to wait in memory. Source: https://www.sitemaps.org/protocol.html#index"""
ROW_GROUP_BYTES = 64 * 1024 * 1024
"""Bytes in memory at which a row group is written though it has fewer rows, those of pages with many images."""
ROWS_AT_ONCE = 1000
"""Records that become columns together: one by one, each takes ninety times as long."""


class ParquetExporter(BaseItemExporter):
    """`parquet`: one table of the url records, or of those that `item_classes` names; other types of record, and items
    that are none, are not written.

    Columns are the fields of the record in order, or `fields`; a field it does not have is a column of nulls. Their
    types and what becomes of null, empty lists and text are told in `feeds/arrow.py`; each column carries its
    `description`. Keyword arguments (`item_export_kwargs`) are `row_group_size` in rows, `constants`, a mapping of
    columns that stand before all others to the text that each row has there, and those of
    `pyarrow.parquet.ParquetWriter`, such as `compression` (zstd by default) and `compression_level`. `encoding`,
    `indent` and `export_empty_fields` change nothing.

    Nothing can fail before `start_exporting`: Scrapy would open the storage again for each item.
    """

    def __init__(
        self,
        file: IO[bytes],
        row_group_size: int = ROW_GROUP,
        item_classes: Sequence[type | str] = (),
        constants: Mapping[str, str] = MappingProxyType({}),
        **kwargs: Any,
    ) -> None:
        """`item_classes`: the type of record to write; of several, `UrlRecord` must be one, and is written."""
        super().__init__(dont_fail=True, **kwargs)
        self._file = file
        self._size = row_group_size
        self._constants = constants
        self._classes = [load_object(kind) for kind in item_classes]
        self.record: type = self._classes[0] if len(self._classes) == 1 else UrlRecord
        self._waiting: list[Any] = []

    def start_exporting(self) -> None:
        """Begin the file. ImportError without pyarrow, ValueError where rows stand in the file already, and what
        `ParquetWriter` raises for its arguments."""
        if getattr(self._file, "appending", False):
            raise ValueError("parquet cannot be appended to; use overwrite")
        if not isinstance(self._size, int) or self._size < 1:
            raise ValueError(f"row_group_size {self._size!r} is not a whole number above 0")
        if not isinstance(self._constants, Mapping) or not all(
            isinstance(text, str) for text in self._constants.values()
        ):
            raise ValueError(f"constants {self._constants!r} is no mapping of columns to their text")
        if len(self._classes) > 1 and UrlRecord not in self._classes:
            raise ValueError("a table has records of one type; name one of the item_classes")
        # Scrapy imports every exporter of the settings, and pyarrow may not be there.
        from sitemapcrawler.feeds.arrow import Columns, pa

        self._sink = Sink(self._file)
        self._columns = Columns(self.record, self.fields_to_export or None, self._constants)
        self._join = pa.concat_tables
        self._keep(self._columns.schema.empty_table())
        self._writer = import_module("pyarrow.parquet").ParquetWriter(
            pa.PythonFile(self._sink, mode="w"), self._columns.schema, **{"compression": "zstd", **self._kwargs}
        )

    def export_item(self, item: Any) -> None:
        """Take the records of the item; a row group that is full is written."""
        if isinstance(item, UrlBatch) and self.record is UrlRecord:
            self._waiting += item.urls
        elif not isinstance(item, UrlBatch) or item.judged:
            self._waiting += [record for record in records(item) if isinstance(record, self.record)]
        if len(self._waiting) >= ROWS_AT_ONCE:
            self._convert(len(self._waiting) // ROWS_AT_ONCE * ROWS_AT_ONCE)

    def finish_exporting(self) -> None:
        """Write what is left, and the end of the file."""
        self._convert(len(self._waiting))
        self._write(self._rows)
        self._writer.close()
        self._sink.finish()

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
        """Write a row group of the first rows."""
        if rows:
            table = self._join(self._tables)
            self._writer.write_table(table.slice(0, rows), row_group_size=rows)
            self._keep(table.slice(rows))

    def _keep(self, table: Any) -> None:
        self._tables = [table]
        self._rows, self._bytes = table.num_rows, table.nbytes


class Sink(Outlet):
    """A feed's file as pyarrow writes to it. It is never closed here: that is for the storage."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, "utf-8", "strict")

    def write(self, data: bytes) -> int:
        """Write bytes as they are."""
        self._write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing: the storage flushes."""

    def close(self) -> None:
        """Nothing: the storage closes."""


def try_options(options: Mapping[str, Any]) -> None:
    """Write one record to nowhere with these `item_export_kwargs`; raises what `ParquetExporter` raises."""
    exporter = ParquetExporter(io.BytesIO(), **options)
    exporter.start_exporting()
    exporter.export_item(exporter.record())
    exporter.finish_exporting()
