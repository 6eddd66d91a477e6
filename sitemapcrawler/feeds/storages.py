"""Feed storages: files that replace an earlier feed only when they are complete, and standard output.

A feed is written to a file in a temporary folder next to its place (`scratch`), which is then renamed. A crawl that is
killed at any moment leaves the earlier feed or the new one, and perhaps the folder, which the next feed beside it
removes.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scrapy.extensions.feedexport import FileFeedStorage
from scrapy.extensions.postprocessing import PostProcessingManager

from sitemapcrawler.download.shared import Stop
from sitemapcrawler.feeds.folder import FEED_PART
from sitemapcrawler.feeds.scratch import scratch
from sitemapcrawler.feeds.uris import is_foreign_link, is_stream
from sitemapcrawler.terminal.streams import is_terminal

if TYPE_CHECKING:
    from scrapy import Spider
    from typing_extensions import Buffer

logger = logging.getLogger(__name__)

NAME_IN_KEPT = 60
"""Characters of a feed's name in that of a complete file whose place cannot be written; names have up to 255 bytes."""
PRIVATE = 0o600
"""Mode of a temporary file."""
PERMISSIONS = 0o777
"""Mode bits that a new feed takes over; excludes set-user-ID and the like."""
KEPT = ".rows"
"""Suffix of a complete file whose place cannot be written."""
TAIL = 4
"""Bytes of the longest line end, that of UTF-32."""
STANDARD_OUTPUT = Path("standard output")
LIBRARIES = ("boto3", "botocore", "ftplib", "google", "requests", "urllib3")
"""Packages that raise the errors of Scrapy's storages on other machines."""
OnFailure = Callable[[Path, OSError], None]
"""Called once if a file cannot be written."""
_NOT_PLAIN = re.compile(r"[^\t\n\r -~]|\r(?!\n)")


class FeedLost(OSError):
    """A feed could not be written. The message is one line."""


class AtomicFileStorage(FileFeedStorage):
    """Storage for `file:` URIs and paths.

    An earlier feed stays until the new one is complete; with `overwrite` off, the new one starts with a copy of its
    rows. A link is followed, except one of another user, which the feed replaces. Devices and named pipes are written
    directly. If two crawls write to the same file at the same time, the one that ends later wins.
    """

    lost = False
    """True if the feed could not be written."""
    _spider: Spider | None = None

    def open(self, spider: Spider) -> FeedFile:
        """Create the folder, and return the file to write to. `store` reports errors."""
        path, self._spider = Path(self.path), spider
        try:
            return stream(path, self.write_mode) if is_stream(path) else self._part(place_of(path))
        except OSError as error:
            return null_file(path, error)

    def store(self, file: IO[bytes]) -> None:
        """Rename the file to its place. Raises FeedLost if it could not be written; the earlier feed then stays."""
        assert isinstance(file, FeedFile)
        check_complete(file, self._spider)
        shorten_lost_feeds()
        failure = file.finish()
        try:
            if failure:
                _refuse(file, failure)
            elif file.part:
                set_mode(file.target, file.part)
                replace(file.target, file.part)
        except FeedLost:
            self.lost = True
            raise
        finally:
            file.folder.close()

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


class StandardOutputStorage(AtomicFileStorage):
    """Storage for `stdout:` URIs, and `-`."""

    def open(self, spider: Spider) -> FeedFile:
        """Return standard output. `store` reports errors."""
        self._spider = spider
        try:
            return standard_output()
        except OSError as error:
            return null_file(STANDARD_OUTPUT, error)


def shorten_lost_feeds() -> None:
    """Replace the traceback that Scrapy logs of a feed that is not stored by one line, where the place is to blame and
    not the code."""
    logging.getLogger("scrapy.extensions.feedexport").addFilter(_shorten_lost_feed)


def _shorten_lost_feed(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, FeedLost):
        record.msg, record.args, record.exc_info = "%s", (str(error),), None
    elif isinstance(error, OSError) or type(error).__module__.partition(".")[0] in LIBRARIES:
        problem = f"{record.getMessage()}: {type(error).__name__}: {error}"
        record.msg, record.args, record.exc_info = "%s", (problem,), None
    return True


def check_complete(file: FeedFile, spider: Spider | None) -> None:
    """Fail the file if records of the crawl did not reach the feeds."""
    if spider is not None and (why := Stop.of(spider.crawler).records_lost):
        file.fail(OSError(errno.EIO, why))


def place_of(path: Path) -> Path:
    """Resolve a path to the file that it names, without following a last component that is another user's link."""
    return path.parent.resolve() / path.name if is_foreign_link(path) else path.resolve()


def replace(target: Path, part: Path) -> None:
    """Rename a complete file to its place. Raises FeedLost if that fails."""
    try:
        part.replace(target)
    except OSError as error:
        rows = f"the rows are in {_kept(target, part)}" if part.exists() else f"{part} has been deleted in the meantime"
        raise FeedLost(f"{target} could not be replaced: {error.strerror}; {rows}") from None


def _kept(target: Path, part: Path) -> Path:
    """Give a file that cannot be renamed to its place a name that no crawl removes."""
    kept = target.with_name(f".{target.name[:NAME_IN_KEPT]}.{os.getpid()}{KEPT}")
    with suppress(OSError):
        return part.replace(kept)
    return part


def set_mode(target: Path, part: Path) -> None:
    """Give a file the mode of the one that it replaces, or that of any new file."""
    with suppress(OSError):  # a file system without modes
        replaces = target.exists() and not target.is_symlink()
        part.chmod(target.stat().st_mode & PERMISSIONS if replaces else mode_of_new_files())


def mode_of_new_files() -> int:
    """Return the mode that the umask leaves to a new file. The umask can only be read by setting it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask


def _refuse(file: FeedFile, failure: OSError) -> None:
    if not isinstance(failure, BrokenPipeError):
        kept = "; the previous file is kept" if file.part else ""
        raise FeedLost(f"{file.target} was not written: {failure.strerror}{kept}")


def log_failure(target: Path, error: OSError) -> None:
    logger.error("%s cannot be written: %s", target, error.strerror)


class FeedFile(io.BufferedWriter):
    """File that a feed is written to. After the first error it accepts everything and writes nothing.

    The error is reported once, and `store` refuses the feed. A full disk therefore does not log a traceback for every
    item.

    `target`: place of the feed. `part`: its temporary file, None if the target is written directly; `folder`: removes
    the folder of that file. `appending`: it starts with rows of an earlier feed; `tail` holds their last bytes.
    """

    def __init__(self, raw: _Raw, target: Path, part: Path | None = None, on_failure: OnFailure = log_failure) -> None:
        super().__init__(raw)
        raw.target, raw.on_failure = target, on_failure
        self._raw = raw
        self.target = target
        self.part = part
        self.folder = ExitStack()
        self.appending = False
        self.tail = b""

    @property
    def failure(self) -> OSError | None:
        """First error, if any."""
        return self._raw.failure

    def fail(self, error: OSError) -> None:
        """Stop writing because of this error."""
        self._raw.fail(error)

    def begin_with(self, earlier: Path) -> None:
        """Copy the rows of an earlier feed. A link is not followed."""
        with io.FileIO(earlier, opener=_no_link) as source:
            shutil.copyfileobj(source, self)
            size = source.tell()
            source.seek(max(0, size - TAIL))
            self.tail = source.read()
        self.appending = size > 0

    def finish(self) -> OSError | None:
        """Write everything to the disk and close; return the first error."""
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
    on_failure: OnFailure
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
        if not isinstance(error, BrokenPipeError):  # the reader of a pipe has all it needs
            self.on_failure(self.target, error)


def stream(path: Path, mode: str) -> FeedFile:
    """Open a device or named pipe, which is written directly. Raises OSError."""
    return FeedFile(_Raw(path, mode), path)


def standard_output() -> FeedFile:
    """Duplicate standard output, which stays open when the feed is closed. Raises OSError."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed")
    sys.stdout.flush()
    try:
        descriptor = sys.stdout.fileno()
    except io.UnsupportedOperation:
        descriptor = -1  # as Twisted's logs had it before 26.10
    if descriptor < 0:
        raise OSError(errno.EBADF, "it goes to a log")
    return FeedFile(_Raw(os.dup(descriptor), "wb"), STANDARD_OUTPUT)


def null_file(path: Path, error: OSError, on_failure: OnFailure = log_failure) -> FeedFile:
    """Return a failed file that discards everything, in place of one that cannot be created."""
    file = FeedFile(_Raw(os.devnull, "wb"), path, None, on_failure)
    file.fail(error)
    return file


def create(target: Path, on_failure: OnFailure = log_failure) -> FeedFile:
    """Create a file of mode 0600 in a temporary folder next to the target, and remove those of killed processes. Raises
    OSError."""
    with ExitStack() as stack:
        part = stack.enter_context(scratch(target.parent, FEED_PART)) / "rows"
        file = FeedFile(_Raw(part, "xb", opener=_private), target, part, on_failure)
        file.folder = stack.pop_all()
        return file


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))  # Windows has no such flag


class Outlet:
    r"""Writes the text of an exporter to the file of a feed, in one encoding.

    On a terminal, invisible characters become escapes (`\u009b`), which mean the same in JSON. `painted` turns this
    off, for text with our own escape sequences. `appending`: the file starts with earlier rows.
    """

    def __init__(self, file: IO[bytes], encoding: str | None, errors: str, painted: bool = False) -> None:
        self._file = file
        target = target_of(file)
        self._to_terminal = not painted and is_terminal(target)
        self.appending = _appends(target)
        self._is_utf8 = codecs.lookup(encoding or "utf-8").name == "utf-8"
        self._encoder = codecs.getincrementalencoder(encoding or "utf-8")(errors)
        if self.appending:
            self._encoder.setstate(0)  # no byte order mark
            self._end_line(target)

    def write_utf8(self, data: bytes | memoryview) -> None:
        if self._is_utf8 and not self._to_terminal:
            self._write(data)
        else:
            self.write_text(str(data, "utf-8"))

    def write_text(self, text: str) -> None:
        self._write(self._encoder.encode(_NOT_PLAIN.sub(_escaped, text) if self._to_terminal else text))

    def _write(self, data: bytes | memoryview) -> None:
        if data:
            self._file.write(data)

    def _end_line(self, target: IO[bytes]) -> None:
        """Complete the last line of a feed that another program wrote."""
        tail: bytes = getattr(target, "tail", b"") if target is self._file else b""
        newline = self._encoder.encode("\n")
        if tail and not tail.endswith(newline):
            self._write(newline)


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return char if char.isprintable() else json.dumps(char)[1:-1].replace("\x7f", "\\u007f")


def target_of(file: IO[bytes]) -> IO[bytes]:
    """Return the storage's file behind the plugins of `postprocessing`."""
    return file.file if isinstance(file, PostProcessingManager) else file


def _appends(file: IO[bytes]) -> bool:
    """True if a file starts with earlier rows. Our storages say so; for others, the size decides, since tell() counts
    gzip's header."""
    appending = getattr(file, "appending", None)
    if appending is None:
        return "a" in str(getattr(file, "mode", "")) and os.fstat(file.fileno()).st_size > 0
    return bool(appending)
