"""Temporary folders and tables of crawls. A folder is removed at the end, or by the next crawl if its process was
killed.

A process keeps its folder locked. If the lock is free, the folder is abandoned.
"""

from __future__ import annotations

import io
import os
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

PREFIX = "sitemapcrawler-fleet"
OF_A_CRAWL = "sitemapcrawler"
"""Prefix of folders with the temporary database, the rows of a workbook or the findings to print, of a crawl."""
MACHINE = 8
"""Hexadecimal digits that stand for the name of a machine, which may be too long for the path of a socket."""


def spool(table: str) -> sqlite3.Connection:
    """Create a table, by its SQL, for rows that may exceed the memory. Beyond 2 MB, SQLite moves them to a nameless
    file."""
    rows = sqlite3.connect("")
    rows.execute(table)
    return rows


@contextmanager
def scratch(parent: Path, name: str = PREFIX) -> Iterator[Path]:
    """Create an empty private folder below `parent`, and remove it at the end. `name`: prefix of such folders. Raises
    OSError if it cannot be created."""
    prefix = prefix_of(name)
    sweep(parent, prefix)
    with ExitStack() as stack:
        folder = _create(parent, prefix, stack)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _create(parent: Path, prefix: str, stack: ExitStack) -> Path:
    """Create a folder that is locked until the end of the stack."""
    while True:
        folder = Path(mkdtemp(prefix=prefix, dir=parent))
        with suppress(BlockingIOError, FileNotFoundError):  # another process takes it for abandoned: create another one
            with suppress(PermissionError):  # Windows opens no folders
                _lock(folder, stack)
            if folder.exists():
                return folder


def claim(folder: Path, stack: ExitStack) -> None:
    """Create a folder and lock it until the end of the stack, when it is removed if it is empty. Raises BlockingIOError
    if another process holds the lock, OSError if the folder cannot be created."""
    folder.mkdir(exist_ok=True)
    with suppress(PermissionError):  # Windows opens no folders
        _lock(folder, stack)
    stack.callback(_remove_empty, folder)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _lock(folder: Path, stack: ExitStack) -> bool:
    """Lock a folder until the end of the stack. Returns False if the system or file system has no locks. Raises
    BlockingIOError if another process holds the lock, OSError if the folder cannot be opened."""
    descriptor = os.open(folder, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    return lock_file(descriptor)


def prefix_of(name: str) -> str:
    """Prefix of the folders of this machine."""
    return f"{name}@{sha256(socket.gethostname().encode()).hexdigest()[:MACHINE]}@"


def sweep(parent: Path, prefix: str) -> None:
    """Remove folders left by killed processes of this machine. Those of other machines stay, since locks on some shared
    file systems are local to a machine."""
    for folder in parent.glob(f"{prefix}*"):
        with ExitStack() as stack:  # locked while it is removed: it may be new, and its process about to lock it
            if _is_abandoned(folder, stack):
                shutil.rmtree(folder, ignore_errors=True)


def is_abandoned(folder: Path) -> bool:
    """True for the folder of a killed process of this user."""
    with ExitStack() as stack:
        return _is_abandoned(folder, stack)


def _is_abandoned(folder: Path, stack: ExitStack) -> bool:
    with suppress(OSError, AttributeError):  # Windows has no user ids
        return folder.lstat().st_uid == os.getuid() and _lock(folder, stack)
    return False


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
