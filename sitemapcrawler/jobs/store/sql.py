"""The SQL that reads rows: from files of JSON lines, and as JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import duckdb

from sitemapcrawler.jobs.store.columns import json_line, literal, quoted
from sitemapcrawler.jobs.store.errors import is_out_of_memory
from sitemapcrawler.jobs.store.schema import ODD, RECORDS, tables

T = TypeVar("T")
AT_ONCE = 1000
"""Rows that are read together, as many as in a batch."""


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
    """The SQL of the JSON line of a row. `prefix`: of its columns, such as `s.`; `absent`: those that hold nothing."""
    text = json_line(RECORDS[table], prefix, absent)
    return f"coalesce({quoted(ODD)}, {text})" if ODD in tables()[table].keys() - absent else text
