"""The SQL of queries: rows read from JSON lines and written as such, retried with more memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import duckdb

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.store.files import is_out_of_memory
from sitemapcrawler.jobs.store.schema import (
    ENTRY,
    MORE,
    ODD,
    RECORDS,
    columns,
    items_of,
    json_line,
    json_object,
    literal,
    quoted,
    tables,
)

T = TypeVar("T")
AT_ONCE = 1000
"""Rows that are read together, as many as in a batch."""
FEW = 64
"""Rows that are read at once if more do not fit in memory."""
_MARK = re.compile("\x01([a-z]+) ([0-9]{1,18})\x01")
"""What stands in the JSON of a long list for its other items: field and number of the entry."""


def fetched(result: duckdb.DuckDBPyConnection) -> Iterator[list[Any]]:
    """The rows of a query, up to `AT_ONCE` at a time."""
    while rows := result.fetchmany(AT_ONCE):
        yield rows


def with_memory(query: Callable[[], T], more_memory: Callable[[], bool]) -> T:
    """What a query gives, which is begun anew as often as it can get more memory."""
    while True:
        try:
            return query()
        except duckdb.Error as error:
            if not (is_out_of_memory(error) and more_memory()):
                raise


def fetched_with_memory(
    cursor: duckdb.DuckDBPyConnection, query: str, more_memory: Callable[[], bool], parameters: Sequence[Any] = ()
) -> Iterator[list[Any]]:
    """The rows of a query, up to `AT_ONCE` at a time; with more memory where it does not begin without."""
    first = with_memory(lambda: cursor.execute(query, parameters).fetchmany(AT_ONCE), more_memory)
    if first:
        yield first
        yield from fetched(cursor)


def rows_of(
    cursor: duckdb.DuckDBPyConnection, more_memory: Callable[[], bool] = lambda: False
) -> Callable[[str, Sequence[Any]], Iterator[Any]]:
    """A function that runs SQL with parameters and yields its rows, retried with more memory."""

    def rows(sql: str, parameters: Sequence[Any]) -> Iterator[Any]:
        for batch in fetched_with_memory(cursor, sql, more_memory, parameters):
            yield from batch

    return rows


def prefix_of(column: str) -> str:
    """SQL for a URL up to its path."""
    return f"regexp_extract({column}, '^[^:/?#]+://[^/?#]*')"


def reading(held: Mapping[str, str], longest: int) -> str:
    """The SQL of a table function that reads JSON lines from files, whose paths are its parameter. `held`: {column: SQL
    type}; `longest`: bytes of a line at most."""
    typed = f"{{{', '.join(f'{literal(name)}: {literal(kind)}' for name, kind in held.items())}}}"
    return (
        f"read_json(?, format = 'newline_delimited', columns = {typed}, maximum_object_size = {longest}, "
        "auto_detect = false)"
    )


def line_of(table: str, prefix: str = "", absent: frozenset[str] = frozenset()) -> str:
    """The SQL of the JSON line of a row, for `completed`. `prefix`: of its columns, such as `s.`; `absent`:
    those that hold nothing."""
    split = frozenset(MORE) if ENTRY in tables()[table].keys() - absent else frozenset()
    text = json_line(RECORDS[table], prefix, absent, split)
    return f"coalesce({quoted(ODD)}, {text})" if ODD in tables()[table].keys() - absent else text


def completed(
    cursor: duckdb.DuckDBPyConnection, rows: Sequence[Any], column: int, database: str = "main"
) -> Iterator[Sequence[Any]]:
    """Rows whose `column` is the JSON of url records, few at a time where these have long lists: with the items that
    stand in tables of their own. Ends what the cursor is doing. Raises duckdb.Error."""
    if not any("\x01" in row[column] for row in rows):
        yield rows
        return
    for first in range(0, len(rows), FEW):
        few = rows[first : first + FEW]
        items = _items(cursor, [row[column] for row in few], database)
        yield [(*row[:column], _with_items(row[column], items), *row[column + 1 :]) for row in few]


def _items(cursor: duckdb.DuckDBPyConnection, lines: Sequence[str], database: str) -> dict[tuple[str, str], str]:
    """{(field, entry): JSON of its items, with a comma before each} of the marks in lines."""
    marks = {mark for line in lines for mark in _MARK.findall(line)}
    found: dict[tuple[str, str], str] = {}
    for field, table in MORE.items():
        item = items_of(UrlRecord, field)
        cursor.execute(
            f"SELECT {ENTRY}::VARCHAR, string_agg({json_object(item, columns(item))}, ',' ORDER BY rowid) "
            f"FROM {database}.{table} WHERE {ENTRY} IN (SELECT unnest(?)) GROUP BY ALL",
            [[int(entry) for name, entry in marks if name == field]],
        )
        found |= {(field, entry): f",{items}" for entry, items in cursor.fetchall()}
    return found


def _with_items(line: str, items: Mapping[tuple[str, str], str]) -> str:
    return _MARK.sub(lambda mark: items.get((mark[1], mark[2]), ""), line)
