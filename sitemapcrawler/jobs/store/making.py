"""Making a database, whole or not at all, and looking at one without changing it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from sitemapcrawler.jobs.store.confining import ALONE, Foreign, check_own, confine
from sitemapcrawler.jobs.store.errors import StoreError, refusal
from sitemapcrawler.jobs.store.schema import CURRENT, MORE, ODD, ODD_UNCHANGED, VERSION, statements, tables

MEMORY_MB = 128
"""Memory that DuckDB may use at first."""
CONFIG: dict[str, Any] = ALONE | {"threads": 1, "memory_limit": f"{MEMORY_MB}MB"}
"""How DuckDB works while the crawl does: beside it, not in its place."""
NEW = ".new"
"""Suffix of what is being made."""
SAID = {"arguments": dict, "run": int, "pid": int, "program": str, "state": str, "summary": dict,
        "of_site": dict}  # fmt: skip
"""What a job says of itself, and as what; each may be null, and is missing as long as there is nothing to say."""
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
        confine(connection)
        for statement in statements():
            connection.execute(statement)
        connection.execute("INSERT INTO job VALUES ('version', ?)", [json.dumps(VERSION)])
        connection.execute("CHECKPOINT")  # closing does so too, but says nothing of a full disk


@contextmanager
def _making(path: Path) -> Iterator[Path]:
    """Where to make a file that takes its place when it is whole: in a folder that nobody else may look into."""
    with TemporaryDirectory(prefix=f".{path.name}.", suffix=NEW, dir=path.parent) as folder:
        part = Path(folder, path.name)
        yield part
        try:
            os.link(part, path)  # which another process may have made meanwhile
        except FileExistsError:
            raise StoreError(f"{path} is in use by another program; wait for its end or use another JOBDIR") from None
        except OSError:  # a file system without links
            part.replace(path)


def create_from(path: Path, baseline: Path) -> None:
    """Make a database that begins with the entries of an earlier one, as unchanged ones: whole or not at all. What
    else that one says is left out, so that no file counts as read.

    A copy, since to copy rows takes a hundred times as long.
    """
    with _making(path) as part:
        shutil.copyfile(baseline, part)
        with duckdb.connect(part, config=CONFIG) as connection:
            confine(connection)
            check_own(connection)
            for table in tables().keys() - {*SEEDED, *MORE.values()}:
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
            confine(connection)
            job = _said(connection, path)
            check_own(connection)
            for table in tables():
                connection.execute(f"SELECT {'bit_xor(hash(held))' if thorough else '0'} FROM {table} held LIMIT 1")
                connection.fetchall()
            return job
    except Foreign as error:
        raise StoreError(f"{path} is no database of a crawl, {error}; use another JOBDIR") from None
    except (OSError, duckdb.Error) as error:
        raise refusal(path, error) from None


def _said(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    check_own(connection, ["job"])
    rows = connection.execute("SELECT name, value FROM job").fetchall()
    try:
        job = {name: json.loads(value) for name, value in rows}
    except (ValueError, TypeError, RecursionError):
        raise Foreign("what it says of itself is no JSON") from None
    odd = _odd(job)
    if job.get("version") != VERSION:
        raise StoreError(
            f"{path} is of version {job.get('version')}, this is version {VERSION}; "
            "use the sitemapcrawler that wrote it, or another JOBDIR"
        )
    if odd:
        raise Foreign(f"what it says of itself is not as a crawl says it ({odd[0]})")
    return job


def _odd(job: Mapping[str, Any]) -> list[str]:
    """Names of what no crawl says so of itself."""
    odd = [name for name, kind in SAID.items() if job.get(name) is not None and type(job[name]) is not kind]
    if job.get("run") is not None and job.get("arguments") is None:
        odd.append("arguments")
    of_site = job.get("of_site")
    if not odd and of_site is not None and not ("counts" in of_site and all(map(_are_counts, of_site.values()))):
        odd.append("of_site")
    return odd


def _are_counts(value: object) -> bool:
    return isinstance(value, dict) and all(type(count) is int for count in value.values())
