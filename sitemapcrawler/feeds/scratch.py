"""Temporary folders of crawls. Each is removed at the end, or by the next crawl if its process was killed.

A folder contains a file that its process keeps locked. If the lock is free, the folder is abandoned.
"""

from __future__ import annotations

import io
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

PREFIX = "sitemapcrawler-fleet"
OF_A_CRAWL = "sitemapcrawler"
"""Prefix of folders with the temporary database, the rows of a workbook or the findings to print, of a crawl."""
LOCK = ".lock"
MACHINE = 8
"""Hexadecimal digits that stand for the name of a machine, which may be too long for the path of a socket."""


@contextmanager
def scratch(parent: Path, name: str = PREFIX) -> Iterator[Path]:
    """Create an empty private folder below `parent`, and remove it at the end. `name`: prefix of such folders. Raises
    OSError if it cannot be created."""
    prefix = prefix_of(name)
    sweep(parent, prefix)
    folder = Path(mkdtemp(prefix=prefix, dir=parent))
    try:
        with _locked(folder):
            work = folder / "work"
            work.mkdir()
            yield work
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def prefix_of(name: str) -> str:
    """Prefix of the folders of this machine."""
    return f"{name}@{sha256(socket.gethostname().encode()).hexdigest()[:MACHINE]}@"


def sweep(parent: Path, prefix: str) -> None:
    """Remove folders left by killed processes of this machine. Those of other machines stay, since locks on some shared
    file systems are local to a machine."""
    for folder in parent.glob(f"{prefix}*"):
        if is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def is_abandoned(folder: Path) -> bool:
    """True for the folder of a killed process of this user. A folder without a lock file is still being created."""
    with suppress(OSError, AttributeError):  # Windows has no user ids
        if folder.lstat().st_uid == os.getuid():
            with (folder / LOCK).open("rb") as lock:
                return lock_file(lock)
    return False


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    making = folder / f"{LOCK}-new"
    with making.open("wb") as lock:
        if lock_file(lock):  # without locks the name is never checked, and Windows renames no open file
            making.rename(folder / LOCK)
        yield


def lock_file(file: IO[bytes] | io.FileIO | int) -> bool:
    """Lock a file, or that of a descriptor, until it is closed. Returns False if the system or file system has no
    locks. Raises BlockingIOError if another process holds the lock."""
    try:
        fcntl = import_module("fcntl")  # not on Windows
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError):
        return False
    return True
