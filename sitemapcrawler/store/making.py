"""Making a database, whole or not at all, and looking at one without changing it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from sitemapcrawler.store.errors import StoreError, refusal
from sitemapcrawler.store.schema import CURRENT, ODD, ODD_UNCHANGED, VERSION, statements, tables

CONFIG: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "threads": 1,
    "memory_limit": "128MB",
}
"""How DuckDB works while the crawl does: beside it, not in its place."""
SEEDED = ("urls", "findings", "children")
"""Tables that may begin with the rows of the baseline."""


def make(path: Path, baseline: Path | None) -> None:
    """Make a database, with the entries of another one where there is one. Raises what DuckDB raises."""
    if baseline is None:
        create(path)
    else:
        create_from(path, baseline)


def create(path: Path) -> None:
    """Make a database, whole or not at all."""
    with _making(path) as part, duckdb.connect(part, config=CONFIG) as connection:
        for statement in statements():
            connection.execute(statement)
        connection.execute("INSERT INTO job VALUES ('version', ?)", [json.dumps(VERSION)])
        connection.execute("CHECKPOINT")  # closing does so too, but says nothing of a full disk


@contextmanager
def _making(path: Path) -> Iterator[Path]:
    """Where to make a file that takes its place when it is whole."""
    part = path.with_name(f".{path.name}.{os.getpid()}.new")
    parts = (part, part.with_name(f"{part.name}.wal"))
    for left in parts:
        left.unlink(missing_ok=True)
    try:
        yield part
        try:
            os.link(part, path)  # which another process may have made meanwhile
        except FileExistsError:
            raise StoreError(f"{path} is in use by another program; wait for its end or use another JOBDIR") from None
        except OSError:  # a file system without links
            part.replace(path)
    finally:
        for left in parts:
            left.unlink(missing_ok=True)


def create_from(path: Path, baseline: Path) -> None:
    """Make a database that begins with the entries of an earlier one, as unchanged ones: whole or not at all. What
    else that one says is left out, so that no file counts as read.

    A copy, since to copy rows takes a hundred times as long.
    """
    with _making(path) as part:
        shutil.copyfile(baseline, part)
        with duckdb.connect(part, config=CONFIG) as connection:
            for table in tables().keys() - set(SEEDED):
                connection.execute(f"DELETE FROM {table}")
            connection.execute("DELETE FROM findings WHERE whole_site")
            connection.execute(f"DELETE FROM urls WHERE NOT ({CURRENT})")
            connection.execute("UPDATE urls SET change = 'unchanged'")
            connection.execute("UPDATE urls SET changed_fields = NULL WHERE changed_fields IS NOT NULL")
            connection.execute(f"UPDATE urls SET {ODD} = {ODD_UNCHANGED} WHERE {ODD} IS NOT NULL")
            connection.execute("INSERT INTO job VALUES ('version', ?), ('seeded', 'true')", [json.dumps(VERSION)])
            connection.execute("CHECKPOINT")


def check(path: Path, thorough: bool = False) -> dict[str, Any]:
    """What a job says of itself, without changing anything. StoreError where it is no database of ours. `thorough`:
    look at every row, too."""
    try:
        with duckdb.connect(path, read_only=True, config=CONFIG) as connection:
            said = connection.execute("SELECT name, value FROM job").fetchall()
            for table in tables():
                connection.execute(f"SELECT {'bit_xor(hash(held))' if thorough else '0'} FROM {table} held LIMIT 1")
                connection.fetchall()
    except duckdb.CatalogException:
        raise StoreError(f"{path} is no database of a crawl; use another JOBDIR") from None
    except (OSError, duckdb.Error) as error:
        raise refusal(path, error) from None
    job = {name: json.loads(value) for name, value in said}
    if job.get("version") != VERSION:
        raise StoreError(
            f"{path} is of version {job.get('version')}, this is version {VERSION}; "
            "use the sitemapcrawler that wrote it, or another JOBDIR"
        )
    return job
