"""The report of a crawl: its feeds, its summary and its page, put into their folder together or not at all."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import IO, Any, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from sitemapcrawler.feeds.folder import FEEDS, FORMATS, NAMES, PAGE, PARQUET, SUMMARY
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.feeds.setup import FILTER, REPORT, local_path, names_in
from sitemapcrawler.feeds.storages import (
    AtomicFileStorage,
    FeedFile,
    FeedLost,
    check_readable,
    create,
    lost,
    replace,
    set_mode,
    unused,
)
from sitemapcrawler.report.model import Report


class Torn(FeedLost):
    """Some files could not be moved, and what stood in their places could not all be put back."""


def put(parts: Mapping[Path, Path], unwanted: Iterable[Path] = ()) -> None:
    """Move files that are whole, {place: file}, in this order, and remove what is unwanted.

    The last place is empty meanwhile: where a file stands there, all others stand, too. FeedLost where one cannot be
    moved; then everything stands as it did before. `Torn` where that could not be done: what is missing stands beside
    its place, under a name of `feedfile.unused`.
    """
    aside: dict[Path, Path] = {}
    moved: list[Path] = []
    try:
        for place in reversed([*unwanted, *parts]):
            _set_aside(place, aside, parts.get(place))
        for place, part in parts.items():
            replace(place, part)
            moved.append(place)
    except FeedLost as error:
        _put_back(aside, moved, error)
        raise
    for earlier in aside.values():
        with suppress(OSError):  # it costs room, and no more
            earlier.unlink()


def _set_aside(place: Path, aside: dict[Path, Path], part: Path | None) -> None:
    try:
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if part is not None:
            set_mode(place, part)
        if place.exists() or place.is_symlink():
            aside[place] = place.rename(next(name for name in unused(place) if not name.exists()))
    except OSError as error:
        raise FeedLost(f"{place} could not be replaced: {error.strerror}") from None


def _put_back(aside: Mapping[Path, Path], moved: Iterable[Path], cause: FeedLost) -> None:
    undo: list[Callable[[], object]] = [place.unlink for place in moved if place not in aside]
    undo += [partial(earlier.replace, place) for place, earlier in reversed([*aside.items()])]
    failed = False
    for step in undo:
        try:
            step()
        except OSError:
            failed = True
    if failed:
        raise Torn(str(cause)) from None


logger = logging.getLogger(__name__)

INDENT = 2
"""Of the summary, for people."""
TORN = "not all that stood there before could be put back: the rest has a dot before its names"
"""Said of an earlier report."""
LOST = "sitemap/report_lost"
"""Name in the stats: why there is no report."""


class ReportStorage(AtomicFileStorage):
    """`report:` and the name of a feed in the folder of a report: written beside its place, where `Reporting` puts it
    with all others."""

    lost = True  # for the log, which names feeds that are in their place
    _reporting: Reporting

    def open(self, spider: Spider) -> FeedFile:
        """The file to write to; the folder is made where it is missing."""
        self._spider, self._reporting = spider, _of(spider.crawler)
        return self._reporting.create(self.path.partition(":")[2])

    def store(self, file: IO[bytes]) -> None:
        """Give the file to the report."""
        assert isinstance(file, FeedFile)
        check_readable(file, self._spider)
        self._reporting.take(file)


class Reporting:
    """Writes the report of a crawl. What stands in its folder stays as it is until all that is new is whole. Where some
    of it cannot be written or moved, one line says so, and everything is put back; where that fails, it is said too."""

    def __init__(self, crawler: Crawler, folder: Path) -> None:
        self.folder = folder
        self.report: Report | None = None
        """What the page is to show; None until the crawl has ended, and where that cannot be told."""
        self._stats = crawler.stats
        self._feeds = report_feeds(crawler.settings)
        self._is_new = not folder.exists()
        self._folders: list[Path] = []
        """What was made for it, the innermost first."""
        self._made: list[FeedFile] = []
        self._whole: dict[str, FeedFile] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The report of this crawl; NotConfigured where none was asked for."""
        params = getattr(crawler.spider, "params", None)
        if params is None or params.report is None:
            raise NotConfigured
        made = cls(crawler, Path(params.report))
        crawler.signals.connect(made.finish, signals.feed_exporter_closed)
        return made

    @property
    def names(self) -> list[str]:
        """Names of what stands beside the page."""
        return [SUMMARY, *self._feeds]

    def create(self, name: str) -> FeedFile:
        """A file of the report, under a temporary name. One that cannot be made takes all and keeps nothing."""
        target = self.folder / name
        try:
            self._make_folder()
            self._made.append(create(target, self._fail))
            return self._made[-1]
        except OSError as error:
            return lost(target, error, self._fail)

    def _make_folder(self) -> None:
        if not self.folder.exists():
            self._folders = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)

    def take(self, file: FeedFile) -> None:
        """Finish a file, and keep it until all others are whole."""
        failure = file.finish()
        if failure is not None:
            self._fail(file.target, failure)
        else:
            self._whole[file.target.name] = file

    def finish(self) -> None:
        """Write the summary and the page, and put everything into its place."""
        try:
            if self.report is not None and not self._is_lost:
                self._write(SUMMARY, JsonText(Rows()).pretty(_line(self.report), INDENT) + b"\n")
                self._write(PAGE, self._page(self.report))
            if not self._is_lost and self._whole.keys() != {*self.names, PAGE}:
                self._lose("the crawl did not come to its end")
            if not self._is_lost:
                self._put()
        except Torn as error:
            self._lose(_words(error), TORN)
        except OSError as error:
            self._lose(_words(error))
        except Exception:
            logger.exception("internal error")
            self._lose("internal error")
        finally:
            self._discard()

    @property
    def _is_lost(self) -> bool:
        return self._stats.get_value(LOST) is not None

    def _page(self, report: Report) -> bytes:
        # Imported here: templates and charts are of no use to a crawl without a report.
        from sitemapcrawler.report.page import page

        return page(report).encode("utf-8", "replace")

    def _write(self, name: str, content: bytes) -> None:
        file = self.create(name)
        file.write(content)
        self.take(file)

    def _put(self) -> None:
        """Move all files into their places: the page comes last, so that it has all with it."""
        parts = {}
        for name in (*self.names, PAGE):
            part = self._whole[name].part
            assert part is not None
            parts[self.folder / name] = part
        of_other_formats = sorted(NAMES - self._whole.keys())
        put(parts, [self.folder / name for name in of_other_formats])
        logger.info("wrote %s", self.folder / PAGE)

    def _discard(self) -> None:
        """Remove what was not moved."""
        for file in self._made:
            if file.part is not None:  # which is gone where it was moved
                with suppress(OSError):  # the folder may have been locked
                    file.part.unlink(missing_ok=True)
        for folder in self._folders if self._is_lost else ():
            with suppress(OSError):  # somebody uses it
                folder.rmdir()

    def _fail(self, target: Path, error: OSError) -> None:
        self._lose(error.strerror or str(error))

    def _lose(self, why: str, left: str = "what stood there before is kept") -> None:
        """Say once that there will be no report. `left`: what is true of an earlier one."""
        if not self._is_lost:
            self._stats.set_value(LOST, why)
            told = "" if self._is_new else f"; {left}"
            logger.error("the report %s is not written: %s%s", self.folder, why, told)


def _of(crawler: Crawler) -> Reporting:
    made = crawler.get_extension(Reporting)
    assert made is not None
    return made


def _words(error: OSError) -> str:
    return str(error).partition(";")[0]


def _line(report: Report) -> bytes:
    return JsonText(Rows()).lines([report.summary])


def check_report(settings: BaseSettings, report: str | None) -> None:
    """ValueError, one line, for a report that cannot be made with these settings."""
    if report is None:
        return
    given = f"argument report={report!r}"
    if not settings.getbool("SITEMAP_STORE"):
        raise ValueError(f"{given}: is made from the database; accepted: SITEMAP_STORE=True")
    folder = Path(report)
    for uri in settings.getdict("FEEDS"):
        path = local_path(uri)
        if path is not None and folder in path.resolve().parents:
            raise ValueError(f"{given}: the feed {uri} would stand in that folder; accepted: another place for it")
    log = settings.get("LOG_FILE")
    if log and folder in (Path(log).resolve(), *Path(log).resolve().parents):
        raise ValueError(f"{given}: the log {log} would stand in that folder; accepted: another LOG_FILE")
    jobs = settings.get("SITEMAP_JOBDIR") or settings.get("JOBDIR")
    if jobs and folder in (Path(jobs).resolve(), *Path(jobs).resolve().parents):
        raise ValueError(f"{given}: the job would stand in that folder; accepted: another JOBDIR")


def report_feeds(settings: BaseSettings) -> list[str]:
    """Names of the feeds of a report that `add_feeds` has added."""
    return [str(uri).partition(":")[2] for uri in settings.getdict("FEEDS") if str(uri).startswith(f"{REPORT}:")]


def add_feeds(settings: BaseSettings) -> None:
    """Add the feeds of a report to the FEEDS setting, Parquet where pyarrow is installed. Nothing that is set for other
    feeds holds for them."""
    feeds: dict[Any, Any] = settings.getdict("FEEDS")
    written = names_in(settings, "FEED_EXPORTERS")
    formats = [format for format in FORMATS if format in written and (format != PARQUET or find_spec("pyarrow"))]
    for format, feed in product(formats, FEEDS):
        feeds[f"{REPORT}:{feed}.{format}"] = {
            "format": format,
            "item_classes": [FEEDS[feed]],
            "item_filter": FILTER,
            "item_export_kwargs": {"item_classes": [FEEDS[feed]]},
            "encoding": "utf-8",
            "fields": None,
            "indent": None,
            "store_empty": True,
            "batch_item_count": 0,
            "uri_params": None,
            "overwrite": True,
        }
    settings.set("FEEDS", feeds, priority=settings.getpriority("FEEDS") or "project")
