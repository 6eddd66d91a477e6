"""Feeds on this machine: written under a temporary name, moved into place when they are whole."""

from __future__ import annotations

import codecs
import contextlib
import errno
import glob
import io
import itertools
import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scrapy.extensions.feedexport import FileFeedStorage
from scrapy.extensions.postprocessing import PostProcessingManager

from sitemapcrawler.feeds.links import check_links
from sitemapcrawler.feeds.setup import is_stream
from sitemapcrawler.terminal.streams import is_terminal, silence

if TYPE_CHECKING:
    from scrapy import Spider

if TYPE_CHECKING:
    from typing_extensions import Buffer


FOR_ALL = 0o777
"""Modes without those by which a program runs as somebody else."""


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
            check_links(path)
            return stream(path, self.write_mode) if is_stream(path) else self._part(path.resolve())
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
                set_mode(file.target, file.part)
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


class StandardOutputStorage(AtomicFileStorage):
    """`stdout:` URIs, and `-`."""

    def open(self, spider: Spider) -> FeedFile:
        """Standard output. Errors are told by `store`, once."""
        self._spider = spider
        try:
            return standard_output()
        except OSError as error:
            return lost(STANDARD_OUTPUT, error)


def check_readable(file: FeedFile, spider: Spider | None) -> None:
    """Write no more where records of the crawl could not be read from its database."""
    if getattr(spider, "unreadable", False):
        file.fail(OSError(errno.EIO, "records of the job could not be read"))


def replace(target: Path, part: Path) -> None:
    """Move a file that is whole into its place; FeedLost where it cannot be moved."""
    try:
        part.replace(target)
    except OSError as error:
        rows = f"the rows are in {part}" if part.exists() else f"{part} has been deleted meanwhile"
        raise FeedLost(f"{target} could not be replaced: {error.strerror}; {rows}") from None


def set_mode(target: Path, part: Path) -> None:
    """Let a file have the mode of what it is to replace, or where there is nothing that of any new file."""
    with contextlib.suppress(OSError):  # a file system without modes
        part.chmod(target.stat().st_mode & FOR_ALL if target.exists() else mode_of_new_files())


def mode_of_new_files() -> int:
    """What the umask leaves of the mode of a file; the system tells it only to those who set another one."""
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask


def _discard(file: FeedFile, failure: OSError) -> None:
    if file.part:
        file.part.unlink(missing_ok=True)
    if not isinstance(failure, BrokenPipeError):
        kept = "; what stood there before is kept" if file.part else ""
        raise FeedLost(f"{file.target} was not written: {failure.strerror}{kept}")


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


_NOT_PLAIN = re.compile(r"[^\t\n\r -~]|\r(?!\n)")


class Outlet:
    r"""A feed's file, written in one encoding. On a terminal, what cannot be seen becomes escapes (`\u009b`), which in
    JSON mean the same; `painted`: not so, since the text has escape sequences of our own.

    `appending` is True where rows stand in the file already. When its reader has gone (`| head`), `deserted`
    becomes True, nothing more is written, and the crawl goes on.
    """

    def __init__(self, file: IO[bytes], encoding: str | None, errors: str, painted: bool = False) -> None:
        self._file = file
        self._target = _target(file)
        self._is_seen = not painted and is_terminal(self._target)
        self.appending = _appends(self._target)
        self.deserted = False
        self._is_utf8 = codecs.lookup(encoding or "utf-8").name == "utf-8"
        self._encoder = codecs.getincrementalencoder(encoding or "utf-8")(errors)
        if self.appending:
            self._encoder.setstate(0)  # no byte order mark
            self._end_line()

    def write_utf8(self, data: bytes | memoryview) -> None:
        """Write text that is UTF-8 so far."""
        if self._is_utf8 and not self._is_seen:
            self._write(data)
        else:
            self.write_text(str(data, "utf-8"))

    def write_text(self, text: str) -> None:
        """Write text."""
        self._write(self._encoder.encode(_NOT_PLAIN.sub(_seen, text) if self._is_seen else text))

    def finish(self) -> None:
        """Hand over what is buffered for standard output, while a reader that has gone can still be noticed."""
        if self._is_standard_output:
            self._attempt(self._target.flush)

    def _write(self, data: bytes | memoryview) -> None:
        if data and not self.deserted:
            self._attempt(self._file.write, data)

    def _attempt(self, action: Any, *arguments: Any) -> None:
        try:
            action(*arguments)
        except BrokenPipeError:
            self.deserted = True
            if self._is_standard_output:
                silence(self._target)

    @property
    def _is_standard_output(self) -> bool:
        """True where no storage of ours stands between."""
        return self._target is getattr(sys.stdout, "buffer", None)  # which is nothing where a log took its place

    def _end_line(self) -> None:
        """Feeds that another program wrote may lack the end of their last line."""
        tail: bytes = getattr(self._target, "tail", b"") if self._target is self._file else b""
        newline = self._encoder.encode("\n")
        if tail and not tail.endswith(newline):
            self._write(newline)


def _seen(found: re.Match[str]) -> str:
    char = found[0]
    return char if char.isprintable() else json.dumps(char)[1:-1].replace("\x7f", "\\u007f")


def _target(file: Any) -> Any:
    """The storage's file behind the plugins of `postprocessing`."""
    return file.file if isinstance(file, PostProcessingManager) else file


def _appends(file: Any) -> bool:
    """Our storage tells; of other files only those opened for appending, by their size: tell() counts gzip's header."""
    appending = getattr(file, "appending", None)
    if appending is None:
        return "a" in str(getattr(file, "mode", "")) and os.fstat(file.fileno()).st_size > 0
    return bool(appending)


_FIELD = re.compile(r"%(?:%|\(\w+\)[-#0 +]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[a-zA-Z])")


def parts_left(path: Path, pid: int) -> list[Path]:
    """The temporary files that a process has left of a feed, whatever was filled in when it began."""
    if not _FIELD.search(str(path)):
        return [] if is_stream(path) else parts_of(path.resolve(), pid)
    folder, name = map(_pattern, (str(path.parent.relative_to(path.anchor)), path.name))
    certain = name.partition("*")[0]
    return [*Path(path.anchor).glob(f"{folder}/.{certain[:NAME_IN_PART]}*.{pid}.*part")]


def _pattern(text: str) -> str:
    """What `glob` takes for all that a text may become."""
    literals, fields = _FIELD.split(text), _FIELD.findall(text)
    filled = ["%" if field == "%%" else "*" for field in fields]
    return "".join(glob.escape(one) + other for one, other in zip(literals, [*filled, ""], strict=True))
