"""A folder for one attempt, which is removed at its end; and when the process was killed, by the next one.

A folder holds a file that its process has locked: where the lock is free, nobody uses it any more.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

PREFIX = "sitemapcrawler-fleet"
LOCK = ".lock"


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """A new and empty folder below `parent`, for its owner alone. OSError where it cannot be made."""
    prefix = f"{PREFIX}@{socket.gethostname()}@"
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
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and _is_left(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """Whether it is nobody's: one that is being made has no lock yet, and counts as somebody's."""
    with (folder / LOCK).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    making = folder / f"{LOCK}-new"
    with making.open("wb") as lock:
        lock_file(lock)
        making.rename(folder / LOCK)
        yield


def lock_file(file: IO[bytes]) -> None:
    """Lock a file for as long as it is open; nothing where the file system knows no locks. BlockingIOError where
    another has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass
