"""Feeds on this machine: written under a temporary name, moved into place when they are whole."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import logging
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scrapy.extensions.feedexport import FileFeedStorage

from sitemapcrawler.feeds import is_stream

if TYPE_CHECKING:
    from scrapy import Spider
    from typing_extensions import Buffer

logger = logging.getLogger(__name__)

NAME_IN_PART = 60
"""Characters of a feed's name that its temporary name repeats: file names end at 255 bytes."""
TAIL = 4
"""Bytes: the longest end of line, that of UTF-32."""
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


class FeedLost(OSError):
    """A feed could not be written. The text is one line."""


def told_briefly(record: logging.LogRecord) -> bool:
    """Log filter: a lost feed is its one line, since where Scrapy noticed it says nothing."""
    if record.exc_info and isinstance(record.exc_info[1], FeedLost):
        record.msg, record.args, record.exc_info = "%s", (str(record.exc_info[1]),), None
    return True


class AtomicFileStorage(FileFeedStorage):
    """`file:` URIs and paths. An earlier feed stays as it is until the new one is whole; with `overwrite` off, the
    new one begins with a copy of its rows.

    A link is followed. Devices and named pipes are written directly. Of two crawls that write to the same file at
    the same time, the one that ends later wins.
    """

    lost = False
    """True for a feed that could not be written."""
    _spider: Spider | None = None

    def open(self, spider: Spider) -> FeedFile:
        """The file to write to; its folder is made where it is missing. Errors are told by `store`, once."""
        path, self._spider = Path(self.path), spider
        try:
            return FeedFile(_Raw(path, self.write_mode), path) if is_stream(path) else self._part(path.resolve())
        except OSError as error:
            return lost(path, error)

    def store(self, file: IO[bytes]) -> None:
        """Move the file into place. FeedLost where it could not be written; the earlier feed stays then."""
        assert isinstance(file, FeedFile)
        check_readable(file, self._spider)
        logging.getLogger("scrapy.extensions.feedexport").addFilter(told_briefly)
        failure = file.finish()
        try:
            if failure:
                _discard(file, failure)
            elif file.part:
                replace(file.target, file.part)
        except FeedLost:
            self.lost = True
            raise

    def _part(self, target: Path) -> FeedFile:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        file = create(target)
        if self.write_mode == "ab" and target.exists():
            try:
                file.begin_with(target)
            except OSError as error:
                file.fail(error)
        return file


def parts_of(target: Path, pid: int) -> list[Path]:
    """The temporary files of a feed that a process has left."""
    beginning = f".{target.name[:NAME_IN_PART]}.{pid}."
    return (
        [path for path in target.parent.glob("*.part") if path.name.startswith(beginning) and path.is_file()]
        if target.parent.is_dir()
        else []
    )


def check_readable(file: FeedFile, spider: Spider | None) -> None:
    """Write no more where records of the crawl could not be read from its database."""
    if getattr(spider, "unreadable", False):
        file.fail(OSError(errno.EIO, "records of the job could not be read"))


def lost(path: Path, error: OSError, tell: Tell = tell) -> FeedFile:
    """A file in place of one that cannot be made."""
    file = FeedFile(_Raw(os.devnull, "wb"), path, None, tell)
    file.fail(error)
    return file


def create(target: Path, tell: Tell = tell) -> FeedFile:
    """A file beside the target, of a name that nobody uses: a killed crawl may have left one of the same process id.
    Raises OSError."""
    numbers = itertools.count(1)
    part = target.with_name(f".{target.name[:NAME_IN_PART]}.{os.getpid()}.part")
    while True:
        try:
            return FeedFile(_Raw(part, "xb"), target, part, tell)
        except FileExistsError:
            part = part.with_suffix(f".{next(numbers)}.part")


def replace(target: Path, part: Path) -> None:
    """Move a file that is whole into its place; FeedLost where it cannot be moved."""
    with contextlib.suppress(OSError):  # no earlier feed, or a file system without modes
        part.chmod(stat.S_IMODE(target.stat().st_mode))
    try:
        part.replace(target)
    except OSError as error:
        raise FeedLost(f"{target} could not be replaced: {error.strerror}; the rows are in {part}") from None


def _discard(file: FeedFile, failure: OSError) -> None:
    if file.part:
        file.part.unlink(missing_ok=True)
    if not isinstance(failure, BrokenPipeError):
        raise FeedLost(f"{file.target} was not written: {failure.strerror}; what stood there before is kept")
