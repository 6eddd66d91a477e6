"""The files of a data set, some at a time, where DuckDB can read them: those of object storage are copied first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

AT_ONCE = 500
"""Files that are read together: each of them is small, and holds one domain."""
PARTITION = "bucket="
SUFFIX = ".parquet"

Source = tuple[Any | None, str]
"""Where a data set is: a file system of fsspec, None for that of this machine, and the path of the folder in it."""


def batches(source: Source, table: str, folder: Path) -> Iterator[list[str]]:
    """Paths of the Parquet files of a table, up to `AT_ONCE` at a time, in order of their names. Files that were copied
    lie in `folder` until the next ones are asked for. OSError where the data set cannot be read."""
    system, root = source
    for bucket in _held(system, f"{root}/{table}"):
        if not _name(bucket).startswith(PARTITION):
            continue
        files = [path for path in _held(system, bucket) if _is_data(_name(path))]
        for start in range(0, len(files), AT_ONCE):
            paths = files[start : start + AT_ONCE]
            yield paths if system is None else _copied(system, paths, folder)


def _held(system: Any | None, folder: str) -> list[str]:
    """What lies in a folder; nothing where there is none."""
    try:
        if system is None:
            return sorted(map(str, Path(folder).iterdir()))
        system.invalidate_cache()  # it knows nothing of what others wrote, and would keep all names
        return sorted(_asked(system.ls, folder, detail=False))
    except FileNotFoundError:
        return []


def _copied(system: Any, paths: list[str], folder: Path) -> list[str]:
    """Copy files, in requests that run at the same time; those before are gone."""
    here = [str(folder / f"{at}{SUFFIX}") for at in range(len(paths))]
    _asked(system.get, paths, here)
    return here


def _asked(ask: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a file system answers; OSError for whatever its libraries raise."""
    try:
        return ask(*arguments, **options)
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _is_data(name: str) -> bool:
    """False for what a writer that was killed left behind."""
    return name.endswith(SUFFIX) and not name.startswith((".", "_"))
