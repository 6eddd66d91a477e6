"""Output in a folder, local or mounted at the same path on all machines, and the errors of all outputs."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from uuid import uuid4

from sitemapcrawler.feeds.scratch import lock_file, scratch
from sitemapcrawler.fleet.domains import FileSystem
from sitemapcrawler.urls.display import inert

MAX_REASON = 300
"""Maximum length of an error message in characters."""


class OutputFailed(OSError):
    """A file could not be written or read. The message is one line; the error can be pickled."""


def reason(error: Exception) -> str:
    """Error as short text: the system's message for an OSError, else its own."""
    if isinstance(error, OSError) and error.errno in errno.errorcode and error.strerror:
        text = str(error.strerror)
    else:
        text = str(error) or type(error).__name__
        if isinstance(error, FileNotFoundError) and " " not in text:  # only a path
            text = f"{text} not found"
    return inert(" ".join(text.split()), MAX_REASON)


@contextmanager
def failing_as(what: str) -> Iterator[None]:
    """Turn any error into OutputFailed with a prefix; fsspec's file systems raise errors of many libraries."""
    try:
        yield
    except OutputFailed:
        raise
    except Exception as error:
        raise OutputFailed(f"{what}: {reason(error)}") from None


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turn any error into ValueError with a prefix, for an output that is checked before it is used."""
    try:
        with failing_as(what):
            yield
    except OutputFailed as error:
        raise ValueError(str(error)) from None


PARTS = "_parts"
"""Folder for unfinished files."""
LOCK = "_lock"
HIDDEN = ("_", ".")
"""Prefixes of names that readers of data sets skip."""
NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP)
"""Errors of file systems without fsync."""
_PATTERN = re.compile(r"[*?\[\\]")
"""Characters that DuckDB treats as a pattern in a path."""


class Folder:
    """Files below a folder, published by rename. All machines must mount it at the same path.

    Names are relative, with `/`. Names that start with `_` or `.` are not results. Methods raise OutputFailed.
    """

    is_local = True

    def __init__(self, path: str) -> None:
        self.root = Path(path).absolute()
        self.url = str(self.root)
        """Absolute path of the folder; of an object store, the URL without a trailing slash."""
        if found := _PATTERN.search(self.url):
            raise ValueError(f"{self.url} has a {found[0]!r} in its name; accepted: a folder without * ? [ and \\")
        with suppress(OSError):  # `check` reports inaccessible folders
            for each in (self.root, *self.root.parents):
                if each.exists() and not each.is_dir():
                    raise ValueError(f"{each} is a file, and no folder")

    def open(self) -> tuple[FileSystem, str]:
        """fsspec file system of this process, and the path within it."""
        return import_module("fsspec").filesystem("file"), self.url

    def check(self) -> None:
        """Write and remove a probe file. Raises ValueError, one line, if that fails."""
        with refusing(f"{self.root} cannot be written to"):
            probe = self._parts() / uuid4().hex
            probe.write_bytes(b"probe")
            probe.unlink()

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Local temporary folder for one attempt; if the output is local, on the same file system."""
        with ExitStack() as stack:
            with failing_as(f"{self.root / PARTS} cannot be written to"):
                folder = stack.enter_context(scratch(self._parts()))
            yield folder

    def publish(self, file: Path, name: str) -> None:
        """Publish a file, replacing an earlier one. A local file is moved, and synced to disk."""
        target = self.root / name
        with failing_as(f"{target} cannot be written"):
            _to_disk(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
            _to_disk(target.parent)

    def read_bytes(self, name: str) -> bytes | None:
        """Content of a file; None if it does not exist."""
        with failing_as(f"{self.root / name} cannot be read"):
            try:
                return (self.root / name).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a small file, replacing an earlier one."""
        with failing_as(f"{self.root / name} cannot be written"):
            part = self._parts() / uuid4().hex
            try:
                part.write_bytes(data)
                self.publish(part, name)
            finally:
                part.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with failing_as(f"{self.root / name} cannot be removed"):
            (self.root / name).unlink(missing_ok=True)

    def names(self, folder: str) -> Iterator[str]:
        """Yield the names of all results below a folder, starting with the folder's name, in any order."""
        with failing_as(f"{self.root / folder} cannot be listed"):
            yield from _names(self.root / folder, f"{folder}/" if folder else "")

    def clean(self) -> None:
        """Remove unfinished files of killed runs. Must not run while another fleet does."""
        shutil.rmtree(self.root / PARTS, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the output. Raises ValueError if another fleet holds the lock."""
        with ExitStack() as stack:
            with failing_as(f"{self.root} cannot be written to"):
                self.root.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context((self.root / LOCK).open("ab"))
            try:
                lock_file(file)
            except BlockingIOError:
                raise ValueError(f"another fleet writes to {self.root}") from None
            yield

    def _parts(self) -> Path:
        parts = self.root / PARTS
        parts.mkdir(mode=0o700, parents=True, exist_ok=True)
        return parts


def _names(folder: Path, prefix: str) -> Iterator[str]:
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            if entry.name.startswith(HIDDEN):
                continue
            if entry.is_dir():
                yield from _names(Path(entry.path), f"{prefix}{entry.name}/")
            else:
                yield f"{prefix}{entry.name}"


def _to_disk(path: Path) -> None:
    """fsync a file or folder. A domain is done once its last file is published; the others must be on disk by then,
    even after a power failure."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in NOT_SYNCED:
            raise
    finally:
        os.close(file)
