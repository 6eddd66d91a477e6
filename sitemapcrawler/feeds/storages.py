"""Feeds on this machine: written under a temporary name, moved into place when they are whole."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scrapy.extensions.feedexport import FileFeedStorage

from sitemapcrawler.feeds.feedfile import STANDARD_OUTPUT, FeedFile, create, lost, standard_output, stream
from sitemapcrawler.feeds.links import check_links
from sitemapcrawler.feeds.setup import is_stream

if TYPE_CHECKING:
    from scrapy import Spider


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
