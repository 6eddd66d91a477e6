"""A folder for one crawl, or one attempt at it, which is removed at its end; and when the process was killed, by the
next one.

A folder holds a file that its process has locked: where the lock is free, nobody uses it any more.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any

PREFIX = "sitemapcrawler-fleet"
OF_A_CRAWL = "sitemapcrawler"
"""The same for the temporary database of a crawl."""
LOCK = ".lock"


@contextmanager
def scratch(parent: Path, name: str = PREFIX) -> Iterator[Path]:
    """A new and empty folder below `parent`, for its owner alone. OSError where it cannot be made. `name`: what folders
    of the same kind begin with."""
    prefix = f"{name}@{socket.gethostname()}@"
    sweep(parent, prefix)
    folder = Path(mkdtemp(prefix=prefix, dir=parent))
    try:
        with _locked(folder):
            work = folder / "work"
            work.mkdir()
            yield work
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path, prefix: str) -> None:
    """Remove what killed processes of this machine have left. A lock of another machine says nothing here, since some
    shared file systems keep locks to each machine."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError, AttributeError):  # Windows has no user ids
            if folder.lstat().st_uid == os.getuid() and _is_left(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """Whether it is nobody's: one that is being made has no lock yet, and counts as somebody's."""
    with (folder / LOCK).open("rb") as lock:
        return lock_file(lock)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    making = folder / f"{LOCK}-new"
    with making.open("wb") as lock:
        lock_file(lock)
        making.rename(folder / LOCK)
        yield


def lock_file(file: IO[bytes]) -> bool:
    """Lock a file for as long as it is open; False where system or file system know no locks. BlockingIOError where
    another has it."""
    try:
        fcntl: Any = import_module("fcntl")  # Windows has none
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError):
        return False
    return True
