"""Regular expressions that users write as text, on a command line or in a file, searched in linear time by RE2.

Python's own engine can take exponential time, during which the process reacts to no signal. RE2 comes with google-re2;
where that has no wheel, DuckDB's copy of the same engine takes its place, a hundred times slower.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import ModuleType

re2: ModuleType | None
try:
    re2 = import_module("re2")
except ImportError:
    re2 = None

SYNTAX = "a regular expression in RE2 syntax, which has no lookahead and no back references"
"""Accepted values, for messages. Source: https://github.com/google/re2/wiki/Syntax"""
MAX_MEMORY = 2**19
"""Memory of an expression in bytes, which also bounds its time: 20,000 instructions of RE2 take at most 0.2 s for a URL
of 2,000 characters. A list of 400 paths has 12,000."""
_OPEN_REPEAT = re.compile(r"\{,\d+\}")
"""A repetition of Python that RE2 reads as text."""
Search = Callable[[str], bool]


@dataclass(frozen=True)
class Expression:
    """A regular expression. Raises ValueError, one line, for a text that RE2 cannot compile.

    Python code may pass an expression that it has compiled itself, which is searched by Python.
    """

    source: str | re.Pattern[str]

    def __post_init__(self) -> None:
        _ = self.matches

    def __str__(self) -> str:
        return self.source if isinstance(self.source, str) else self.source.pattern

    @cached_property
    def matches(self) -> Search:
        """Returns True if the expression is found anywhere in a text."""
        source = self.source
        if not isinstance(source, str):
            return lambda text: source.search(text) is not None
        if found := _OPEN_REPEAT.search(source):
            raise ValueError(f"RE2: invalid repetition: {found[0]}, write {{0{found[0][1:]}")
        return _of_duckdb(source) if re2 is None else _of_re2(re2, source)


def _of_re2(re2: ModuleType, pattern: str) -> Search:
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    try:
        search = re2.compile(_bytes(pattern), options).search
    except re2.error as error:
        raise ValueError(f"RE2: {error.args[0].decode('utf-8', 'replace')}") from None
    return lambda text: search(_bytes(text)) is not None


def _of_duckdb(pattern: str) -> Search:
    duckdb = import_module("duckdb")
    connection = duckdb.connect(config={"threads": 1})

    def search(text: str) -> bool:
        values = [_bytes(value).decode() for value in (text, pattern)]
        # A cursor of its own for each search, since threads share the connection.
        (found,) = connection.cursor().execute("SELECT regexp_matches(?, ?)", values).fetchone()
        return bool(found)

    try:
        search("")
    except duckdb.InvalidInputException as error:
        raise ValueError(f"RE2: {str(error).partition(': ')[2]}") from None
    return search


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
