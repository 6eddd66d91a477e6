"""What DuckDB may do: open no file but those it is given, load no extension, reach no network.

A database that somebody else has made holds more than rows: a view may read any file of this machine, and a macro may
take the place of a function that our own queries call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from sitemapcrawler.jobs.store.columns import literal
from sitemapcrawler.jobs.store.errors import StoreError
from sitemapcrawler.jobs.store.schema import statements

ALONE: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,  # a name in SQL that no table has never means a variable of ours
}
"""Settings of every connection. Source: https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview"""
WAL = ".wal"
"""Suffix of the log beside a database."""


class Foreign(StoreError):
    """A database with parts that no crawl has made. The text is one line."""


def confine(connection: duckdb.DuckDBPyConnection, folders: Iterable[Path] = (), files: Iterable[Path] = ()) -> None:
    """Have DuckDB open nothing from now on but its own files, what lies in `folders`, and `files` with their logs; in
    one process, for ever. Raises what DuckDB raises."""
    paths = [str(path) for file in files for path in (file, file.with_name(f"{file.name}{WAL}"))]
    connection.execute(f"SET allowed_directories = {_listed(map(str, folders))}")
    connection.execute(f"SET allowed_paths = {_listed(paths)}")
    connection.execute("SET enable_external_access = false")


@cache
def as_made() -> Mapping[str, str]:
    """{table or view: its SQL} of a database that a crawl has made."""
    with duckdb.connect(config=ALONE) as model:
        confine(model)
        for statement in statements():
            model.execute(statement)
        return _made(model)


def check_own(connection: duckdb.DuckDBPyConnection, names: Collection[str] = ()) -> None:
    """Foreign where tables and views are not as a crawl makes them, or macros could change what queries mean. `names`:
    those to look at, without any all. What somebody has added is never read. Raises what DuckDB raises."""
    held = _made(connection)
    for name, sql in as_made().items():
        if name in (names or as_made()) and held.get(name) != sql:
            raise Foreign(f"{name} is {'not as a crawl makes it' if name in held else 'missing'}")
    [(macros,)] = connection.execute("SELECT count(*) FROM duckdb_functions() WHERE NOT internal").fetchall()
    if macros:
        raise Foreign("it holds macros")


def _made(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """{table or view: its SQL}, of the main schema."""
    rows = connection.execute(
        "SELECT table_name, sql FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal UNION ALL "
        "SELECT view_name, sql FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
    )
    return dict(rows.fetchall())


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(literal, texts))}]"
