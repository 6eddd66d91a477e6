"""Creates database files atomically, checks them, and restricts what DuckDB may open."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sitemapcrawler.items import SCHEMA_VERSION
from sitemapcrawler.jobs.store.schema import literal, statements, tables
from sitemapcrawler.reader.duck import ALONE, CONFIG, duckdb

HOLDER = re.compile(r"PID (\d+)")

NO_THREAD = "can't start new thread"
"""Message of Python's error if the system refuses a thread."""
OUT_OF_MEMORY = "out of memory"
FULL = "No space left on device"
OF_PLACE = (FULL, "Read-only file system", "Permission denied")
"""Words of errors that come from the place of a database, in exceptions of any type: a commit raises others."""
NO_ROOM = re.compile("failed to (?:pin|allocate)|could not allocate", re.IGNORECASE)
"""DuckDB's messages about its memory limit."""


class StoreError(ValueError):
    """The database cannot be used. The message is one line, for users."""


def is_of_the_machine(error: Exception) -> bool:
    """True if disk, memory or threads are exhausted, False for an internal error."""
    return isinstance(error, (duckdb.Error, OSError, MemoryError)) or NO_THREAD in str(error)


def is_out_of_memory(error: duckdb.Error) -> bool:
    """True if DuckDB reached its memory limit. A failed commit says so only in its message."""
    return isinstance(error, duckdb.OutOfMemoryException) or NO_ROOM.search(str(error)) is not None


def in_words(error: Exception) -> str:
    """Message of DuckDB or the system as one short line."""
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    first = str(error).strip().partition("\n")[0]
    for words in OF_PLACE:
        if words in str(error):
            return words
    return re.sub(r"^\w+( \w+)* Error: ", "", first)


def is_locked(error: Exception) -> bool:
    """True if another process has the database open."""
    return "set lock on file" in str(error)


def refusal(path: object, error: Exception) -> StoreError:
    """Error for a database that could not be opened."""
    if is_locked(error):
        holder = HOLDER.search(str(error))
        who = f" (process {holder[1]})" if holder else ""
        return StoreError(f"{path} is in use by another program{who}; wait for its end or use another JOBDIR")
    if isinstance(error, (duckdb.OutOfMemoryException, MemoryError)):
        return StoreError(f"{path} cannot be used: {OUT_OF_MEMORY}; it is unchanged")
    is_of_place = isinstance(error, OSError) or any(words in str(error) for words in (*OF_PLACE, "Cannot open file"))
    advice = "use another JOBDIR" if is_of_place else "fresh=yes starts over"
    return StoreError(f"{path} cannot be used: {in_words(error)}; {advice}")


WAL = ".wal"
"""Suffix of a database's write-ahead log."""


class Foreign(StoreError):
    """The database has parts that no crawl creates."""


def confine(connection: duckdb.DuckDBPyConnection, folders: Iterable[Path] = (), files: Iterable[Path] = ()) -> None:
    """Restrict DuckDB to its own files, to those in `folders`, and to `files` with their logs. Cannot be undone for the
    connection's database. Times are shown in UTC, not in the zone of the machine. Raises duckdb.Error."""
    paths = [str(path) for file in files for path in (file, file.with_name(f"{file.name}{WAL}"))]
    connection.execute(f"SET allowed_directories = {_listed(map(str, folders))}")
    connection.execute(f"SET allowed_paths = {_listed(paths)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET TimeZone = 'UTC'")


@cache
def as_made() -> Mapping[str, str]:
    """{table or view: SQL} of a database as a crawl creates it."""
    with duckdb.connect(config=ALONE) as model:
        confine(model)
        for statement in statements():
            model.execute(statement)
        return _statements_of(model)


def check_own(connection: duckdb.DuckDBPyConnection, names: Collection[str] = ()) -> None:
    """Raise Foreign if tables or views differ from those that a crawl creates, or if there are macros. `names`: tables
    and views to check, default all. Ignores additional ones, which are never read. Raises duckdb.Error."""
    held = _statements_of(connection)
    for name, sql in as_made().items():
        if name in (names or as_made()) and held.get(name) != sql:
            raise Foreign(f"{name} is {'not as a crawl creates it' if name in held else 'missing'}")
    [(macros,)] = connection.execute("SELECT count(*) FROM duckdb_functions() WHERE NOT internal").fetchall()
    if macros:
        raise Foreign("it holds macros")


def _statements_of(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """{table or view: SQL} of the main schema."""
    rows = connection.execute(
        "SELECT table_name, sql FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal UNION ALL "
        "SELECT view_name, sql FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
    )
    return dict(rows.fetchall())


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(literal, texts))}]"


NEW = ".new"
"""Suffix of a file that is being created."""
JOB_FIELDS = {"arguments": dict, "run": int, "pid": int, "state": str, "summary": dict, "segments": list}
"""Values that a job stores, with their types. Each may be missing or null."""


def create(path: Path) -> None:
    """Create a database atomically."""
    with _making(path) as part, duckdb.connect(part, config=CONFIG) as connection:
        confine(connection)
        create_tables(connection)
        connection.execute("CHECKPOINT")  # closing does it too, but does not report a full disk


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables and views of a crawl in an empty database. Raises duckdb.Error."""
    connection.begin()  # one transaction takes two thirds of the time
    for statement in statements():
        connection.execute(statement)
    connection.execute("INSERT INTO job VALUES ('version', ?)", [json.dumps(SCHEMA_VERSION)])
    connection.commit()


@contextmanager
def _making(path: Path) -> Iterator[Path]:
    """Provide a path in a private folder. The file moves to `path` when it is complete."""
    with TemporaryDirectory(prefix=f".{path.name}.", suffix=NEW, dir=path.parent) as folder:
        part = Path(folder, path.name)
        yield part
        try:
            os.link(part, path)  # fails if another process has created it meanwhile
        except FileExistsError:
            raise StoreError(f"{path} is in use by another program; wait for its end or use another JOBDIR") from None
        except OSError:  # a file system without links
            part.replace(path)


JobTable = Mapping[str, Any]  # Any: values are JSON, and who reads one knows its type
"""{name: value} of the table `job`."""


def check(path: Path, thorough: bool = False) -> JobTable:
    """Return the table `job` of a database, without changing it. `thorough`: read every row. Raises StoreError."""
    try:
        with duckdb.connect(path, read_only=True, config=CONFIG) as connection:
            confine(connection)
            job = _read_job(connection, path)
            check_own(connection)
            for table in tables():
                connection.execute(f"SELECT {'bit_xor(hash(held))' if thorough else '0'} FROM {table} held LIMIT 1")
                connection.fetchall()
            return job
    except Foreign as error:
        raise StoreError(f"{path} is not the database of a crawl, {error}; use another JOBDIR") from None
    except (OSError, duckdb.Error) as error:
        raise refusal(path, error) from None


def _read_job(connection: duckdb.DuckDBPyConnection, path: Path) -> dict[str, object]:
    check_own(connection, ["job"])
    rows = connection.execute("SELECT name, value FROM job").fetchall()
    try:
        job = {name: json.loads(value) for name, value in rows}
    except (ValueError, TypeError, RecursionError):
        raise Foreign("its metadata is not JSON") from None
    odd = _malformed(job)
    if job.get("version") != SCHEMA_VERSION:
        raise StoreError(
            f"{path} is of version {job.get('version')}, this is version {SCHEMA_VERSION}; "
            "use the sitemapcrawler that wrote it, or another JOBDIR"
        )
    if odd:
        raise Foreign(f"its metadata is not as a crawl writes it ({odd[0]})")
    return job


def _malformed(job: JobTable) -> list[str]:
    """Names of values that no crawl stores in this form."""
    odd = [name for name, kind in JOB_FIELDS.items() if job.get(name) is not None and type(job[name]) is not kind]
    if job.get("run") is not None and job.get("arguments") is None:
        odd.append("arguments")
    return odd
