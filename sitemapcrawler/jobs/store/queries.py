"""SQL that reads and writes rows as JSON lines, and retries with more memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sitemapcrawler.jobs.store.files import is_out_of_memory
from sitemapcrawler.jobs.store.schema import (
    RECORDS,
    TIME,
    json_line,
    literal,
    quoted,
)
from sitemapcrawler.reader.duck import duckdb

T = TypeVar("T")
AT_ONCE = 1000
"""Rows fetched at once, as many as in a batch."""
FEW = 64
"""Rows fetched at once if more do not fit into memory."""


Row = tuple[Any, ...]  # Any: the query gives its columns their types


def fetched(result: duckdb.DuckDBPyConnection) -> Iterator[list[Row]]:
    """Yield the rows of a query, up to `AT_ONCE` at a time."""
    while rows := result.fetchmany(AT_ONCE):
        yield rows


def with_memory(query: Callable[[], T], more_memory: Callable[[], bool]) -> T:
    """Run a query and return its result. Retries as long as more memory can be allocated."""
    while True:
        try:
            return query()
        except duckdb.Error as error:
            if not (is_out_of_memory(error) and more_memory()):
                raise


def fetched_with_memory(
    cursor: duckdb.DuckDBPyConnection, query: str, more_memory: Callable[[], bool], parameters: Sequence[object] = ()
) -> Iterator[list[Row]]:
    """Run a query and yield its rows, up to `AT_ONCE` at a time. Retries the start with more memory."""
    first = with_memory(lambda: cursor.execute(query, parameters).fetchmany(AT_ONCE), more_memory)
    if first:
        yield first
        yield from fetched(cursor)


def rows_of(
    cursor: duckdb.DuckDBPyConnection, more_memory: Callable[[], bool] = lambda: False
) -> Callable[[str, Sequence[object]], Iterator[object]]:
    """Return a function that runs SQL with parameters and yields its rows, retrying with more memory."""

    def rows(sql: str, parameters: Sequence[object]) -> Iterator[object]:
        for batch in fetched_with_memory(cursor, sql, more_memory, parameters):
            yield from batch

    return rows


def reading(held: Mapping[str, str], longest: int) -> str:
    """SQL for the rows of JSON lines in the files in its parameter. `held`: {column: SQL type}; `longest`: maximum
    length of a line in bytes. In a column of times, text that is no time is null: a plug-in's does not cost the row."""
    times = [quoted(name) for name, kind in held.items() if kind == TIME]
    columns = {name: "VARCHAR" if kind == TIME else kind for name, kind in held.items()}
    typed = f"{{{', '.join(f'{literal(name)}: {literal(kind)}' for name, kind in columns.items())}}}"
    source = (
        f"read_json(?, format = 'newline_delimited', columns = {typed}, maximum_object_size = {longest}, "
        "auto_detect = false)"
    )
    casts = ", ".join(f"try_cast({name} AS {TIME}) AS {name}" for name in times)
    return f"(SELECT * REPLACE ({casts}) FROM {source})" if times else source


def line_of(table: str, prefix: str = "", absent: frozenset[str] = frozenset()) -> str:
    """SQL for the JSON line of a row. `prefix`: of the columns, such as `s.`; `absent`: columns that are null in all
    rows."""
    return json_line(RECORDS[table], prefix, absent)
