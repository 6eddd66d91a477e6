"""The file that a feed is written to, under a temporary name until it is whole."""

from __future__ import annotations

import errno
import io
import itertools
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

logger = logging.getLogger(__name__)

NAME_IN_PART = 60
"""Characters of a feed's name that its temporary name repeats: file names end at 255 bytes."""
PRIVATE = 0o600
"""Mode of a file that is not whole yet."""
TAIL = 4
"""Bytes: the longest end of line, that of UTF-32."""
STANDARD_OUTPUT = Path("standard output")
"""What it is called."""
made: set[Path] = set()
"""Temporary files that this process has made."""
Tell = Callable[[Path, OSError], None]
"""Tells a person that a file cannot be written, and why."""


def tell(target: Path, error: OSError) -> None:
    """Log it."""
    logger.error("%s cannot be written: %s", target, error.strerror)


class FeedFile(io.BufferedWriter):
    """The file a feed is written to. After the first error it takes everything and writes nothing, it is told
    once, and `store` refuses the feed: a full disk shall not cost a traceback for every item.

    `target` is where the feed belongs; `part` is its temporary file, None where the target itself is written.
    `appending`: rows stand in it already, `tail` are their last bytes.
    """

    def __init__(self, raw: _Raw, target: Path, part: Path | None = None, tell: Tell = tell) -> None:
        super().__init__(raw)
        raw.target, raw.tell_of = target, tell
        self._raw = raw
        self.target = target
        self.part = part
        self.appending = False
        self.tail = b""

    @property
    def failure(self) -> OSError | None:
        """The first error; None so far."""
        return self._raw.failure

    def fail(self, error: OSError) -> None:
        """Write no more, for this reason."""
        self._raw.fail(error)

    def begin_with(self, earlier: Path) -> None:
        """Take over the rows of an earlier feed."""
        with earlier.open("rb") as source:
            shutil.copyfileobj(source, self)
            size = source.tell()
            source.seek(max(0, size - TAIL))
            self.tail = source.read()
        self.appending = size > 0

    def finish(self) -> OSError | None:
        """Write everything to the disk and close; the first error, None: there was none."""
        try:
            with self:
                self.flush()
                if self.part:
                    os.fsync(self.fileno())
        except OSError as error:
            return self.failure or error
        return self.failure


class _Raw(io.FileIO):
    target: Path
    tell_of: Tell
    failure: OSError | None = None

    def write(self, data: Buffer, /) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.fail(error)
        return memoryview(data).nbytes

    def fail(self, error: OSError) -> None:
        self.failure = error
        if not isinstance(error, BrokenPipeError):  # the reader of a pipe has what it wanted
            self.tell_of(self.target, error)


def stream(path: Path, mode: str) -> FeedFile:
    """A file that is written directly: a device or a named pipe. Raises OSError."""
    return FeedFile(_Raw(path, mode), path)


def standard_output() -> FeedFile:
    """Standard output, which stays open when the feed is closed. Raises OSError."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed")
    sys.stdout.flush()
    try:
        descriptor = os.dup(sys.stdout.fileno())
    except io.UnsupportedOperation:
        raise OSError(errno.EBADF, "it goes to a log") from None
    return FeedFile(_Raw(descriptor, "wb"), STANDARD_OUTPUT)


def lost(path: Path, error: OSError, tell: Tell = tell) -> FeedFile:
    """A file in place of one that cannot be made."""
    file = FeedFile(_Raw(os.devnull, "wb"), path, None, tell)
    file.fail(error)
    return file


def create(target: Path, tell: Tell = tell) -> FeedFile:
    """A file beside the target, for its owner alone, of a name that nobody uses: a killed crawl may have left one of
    the same process id. Raises OSError."""
    names = unused(target)
    while True:
        part = next(names)
        try:
            file = FeedFile(_Raw(part, "xb", opener=_private), target, part, tell)
        except FileExistsError:
            continue
        made.add(part)
        return file


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)


def unused(target: Path) -> Iterator[Path]:
    """Names beside the target for what this process has of it, without end; `parts_of` finds them."""
    part = target.with_name(f".{target.name[:NAME_IN_PART]}.{os.getpid()}.part")
    yield part
    for number in itertools.count(1):
        yield part.with_suffix(f".{number}.part")


def parts_of(target: Path, pid: int) -> list[Path]:
    """The temporary files of a feed that a process has left."""
    beginning = f".{target.name[:NAME_IN_PART]}.{pid}."
    return (
        [path for path in target.parent.glob("*.part") if path.name.startswith(beginning) and path.is_file()]
        if target.parent.is_dir()
        else []
    )
