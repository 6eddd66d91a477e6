"""What can be wrong with a job's database, in one line each."""

from __future__ import annotations

import re

import duckdb

HOLDER = re.compile(r"PID (\d+)")

NO_THREAD = "can't start new thread"
"""What Python says where the system gives it none."""
OUT_OF_MEMORY = "out of memory"
NO_ROOM = re.compile("failed to (?:pin|allocate)|could not allocate", re.IGNORECASE)
"""How DuckDB's messages about its limit of memory begin."""


class StoreError(ValueError):
    """A database that cannot be used. The text is one line for a person."""


def is_of_the_machine(error: Exception) -> bool:
    """True where disk, memory or threads have come to their end, False for a fault of our own."""
    return isinstance(error, (duckdb.Error, OSError, MemoryError)) or NO_THREAD in str(error)


def is_out_of_memory(error: duckdb.Error) -> bool:
    """True where DuckDB came to its limit of memory. A commit that does so says it in words alone."""
    return isinstance(error, duckdb.OutOfMemoryException) or NO_ROOM.search(str(error)) is not None


def in_words(error: Exception) -> str:
    """What DuckDB or the system says, in one short line."""
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    first = str(error).strip().partition("\n")[0]
    for words in ("No space left on device", "Read-only file system", "Permission denied"):
        if words in str(error):
            return words
    return re.sub(r"^\w+( \w+)* Error: ", "", first)


def is_locked(error: Exception) -> bool:
    """True where another process holds the database."""
    return "set lock on file" in str(error)


def refusal(path: object, error: Exception) -> StoreError:
    """Why a database could not be opened."""
    if is_locked(error):
        holder = HOLDER.search(str(error))
        who = f" (process {holder[1]})" if holder else ""
        return StoreError(f"{path} is in use by another program{who}; wait for its end or use another JOBDIR")
    out_of_reach = isinstance(error, (OSError, duckdb.IOException)) and "Cannot open file" in str(error)
    if isinstance(error, (duckdb.OutOfMemoryException, MemoryError)):
        return StoreError(f"{path} cannot be used: {OUT_OF_MEMORY}; it is as it was")
    advice = "use another JOBDIR" if out_of_reach or isinstance(error, OSError) else "fresh=yes starts over"
    return StoreError(f"{path} cannot be used: {in_words(error)}; {advice}")
