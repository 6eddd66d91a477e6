"""The report folder of a crawl: feeds, `summary.json` and `report.html`, replaced once all of them are complete."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import IO, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from sitemapcrawler.download.body_cache import BodyCache
from sitemapcrawler.feeds.folder import (
    CACHE,
    CACHE_PART,
    CONTENTS,
    FEEDS,
    FORMATS,
    INCOMPLETE,
    NAMES,
    OF_EXTENSIONS,
    ON_DEMAND,
    PAGE,
    REPORT_FILES,
    SUMMARY,
    TABLES,
    folder,
)
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.feeds.scratch import scratch
from sitemapcrawler.feeds.setup import FILTER, REPORT, components_in, exporter_of
from sitemapcrawler.feeds.storages import (
    AtomicFileStorage,
    FeedFile,
    FeedLost,
    check_complete,
    create,
    null_file,
    replace,
    set_mode,
)
from sitemapcrawler.feeds.uris import local_path
from sitemapcrawler.report.model import Report

logger = logging.getLogger(__name__)

INDENT = 2
"""Spaces per level in the summary."""
REPORT_FOLDER = "SITEMAP_REPORT_FOLDER"
"""Setting that `add_feeds` makes: the folder of the report."""
LOST = "sitemap/report_lost"
"""Stat: why there is no report."""


def publish(parts: Mapping[Path, Path], unwanted: Iterable[Path] = (), swap: Callable[[], None] = lambda: None) -> None:
    """Rename complete files to their places, {place: file}, in this order, and remove the unwanted ones. `swap`: called
    when the last place is empty, to replace folders.

    The last place is emptied first: a file there means that all others are complete. A kill therefore leaves the
    earlier files, the new ones, or some without the last one. Raises FeedLost if a file cannot be replaced; nothing has
    changed then, unless the file system failed midway.
    """
    for place in (*unwanted, *parts):
        if place.is_dir():
            raise FeedLost(f"{place} could not be replaced: {os.strerror(errno.EISDIR)}")
    for place, part in parts.items():
        if not part.exists():
            raise FeedLost(f"{place} could not be replaced: {part} has been deleted in the meantime")
        set_mode(place, part)
    last = [*parts][-1]
    for place in (last, *unwanted):
        try:
            place.unlink(missing_ok=True)
        except OSError as error:
            raise FeedLost(f"{place} could not be replaced: {error.strerror}") from None
    swap()
    for place, part in parts.items():
        replace(place, part)


class ReportStorage(AtomicFileStorage):
    """Storage for `report:` and the name of a feed in the report folder; `Reporting` publishes all feeds together."""

    lost = True  # the log then does not list this feed as written
    _reporting: Reporting

    def open(self, spider: Spider) -> FeedFile:
        """Create the folder, and return the file to write to."""
        reporting = spider.crawler.get_extension(Reporting)
        assert reporting is not None
        self._spider, self._reporting = spider, reporting
        return reporting.create(self.path.partition(":")[2])

    def store(self, file: IO[bytes]) -> None:
        """Pass the file to the report."""
        assert isinstance(file, FeedFile)
        check_complete(file, self._spider)
        self._reporting.add(file)


class Reporting:
    """Scrapy extension: writes the report of a crawl. An earlier report in the folder stays until all new files are
    complete. If one of them cannot be written or renamed, one line in the log says so."""

    def __init__(self, crawler: Crawler, folder: Path) -> None:
        self.folder = folder
        self.report: Report | None = None
        """Content of the page; None until the crawl has ended, or if it cannot be determined."""
        self._stats = crawler.stats
        self._feeds = report_feeds(crawler.settings)
        self._is_new = not any(folder.glob("*"))
        self._had_page = (folder / PAGE).exists()
        self._folders: list[Path] = []
        """Folders created for the report, innermost first."""
        self._created: list[FeedFile] = []
        self._complete: dict[str, Path] = {}
        self._bodies = BodyCache.of(crawler)
        self._temporary = ExitStack()
        self._new_cache: Path | None = None
        """Where the cache of the report is collected; None if that is impossible."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the extension. Raises NotConfigured if no report was requested."""
        folder = crawler.settings.get(REPORT_FOLDER)
        if folder is None:
            raise NotConfigured
        reporting = cls(crawler, Path(folder))
        crawler.signals.connect(reporting.begin, signals.spider_opened)
        crawler.signals.connect(reporting.finish, signals.feed_exporter_closed)
        return reporting

    @property
    def names(self) -> list[str]:
        """Names of the files other than the page."""
        created = {file.target.name for file in self._created}
        feeds = (name for name in self._feeds if name in created or not _is_optional(name))
        return [SUMMARY, *feeds, *created & {CONTENTS}]

    def begin(self) -> None:
        """Prepare the cache of the report. A crawl with a job has its own, which is copied."""
        with suppress(OSError):  # the feeds say so
            self._create_folder()
            self._new_cache = self._temporary.enter_context(scratch(self.folder, CACHE_PART)) / CACHE
            if self._bodies.place is None:
                self._bodies.earlier.insert(0, self.folder / CACHE)
                self._bodies.place = self._new_cache

    def _create_folder(self) -> None:
        if not self.folder.exists():
            self._folders = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)

    def create(self, name: str) -> FeedFile:
        """Create a report file under a temporary name. If that fails, return one that discards everything."""
        target = self.folder / name
        try:
            self._create_folder()
            self._created.append(create(target, self._fail))
            return self._created[-1]
        except OSError as error:
            return null_file(target, error, self._fail)

    def add(self, file: FeedFile) -> None:
        """Close a file, and keep it until all others are complete."""
        failure = file.finish()
        if failure is not None or file.part is None:
            self._fail(file.target, failure or OSError(errno.EIO, os.strerror(errno.EIO)))
        else:
            self._complete[file.target.name] = file.part

    def keep_contents(self, table: Path) -> None:
        """Add the table of contents, a Parquet file that is copied. Raises OSError if that cannot be read."""
        file = self.create(CONTENTS)
        with table.open("rb") as source:
            shutil.copyfileobj(source, file)
        self.add(file)

    def finish(self) -> None:
        """Write the summary and the page, and publish all files."""
        try:
            if self.report is not None and not self._is_lost:
                self._keep_baseline(self.report)
                json = JsonText(Rows())
                self._write(SUMMARY, json.pretty(json.lines([self.report.summary]), INDENT) + b"\n")
                self._write(PAGE, self._page(self.report))
            if not self._is_lost and self._complete.keys() != {*self.names, PAGE}:
                self._lose("the crawl did not finish")
            if not self._is_lost:
                # The page comes last: if it exists, all other files do.
                parts = {self.folder / name: self._complete[name] for name in (*self.names, PAGE)}
                publish(parts, [self.folder / name for name in sorted(NAMES - self._complete.keys())], self._swap_cache)
                logger.info("wrote %s", self.folder / PAGE)
        except OSError as error:
            self._lose(str(error).partition(";")[0])
        except Exception:
            logger.exception("internal error")
            self._lose("internal error")
        finally:
            self._temporary.close()
            self._discard()

    def _keep_baseline(self, report: Report) -> None:
        """Publish beside a folder with the baseline of this crawl, if the next one could not be compared with this one.
        Raises FeedLost if that place holds something else."""
        baseline = Path(report.arguments.get("baseline", "")).resolve()
        summary = report.summary
        is_whole = summary.partial is None and summary.only is None and summary.urls
        if self.folder in (baseline, baseline.parent) and not is_whole:
            try:
                self.folder = Path(folder(f"{self.folder}{INCOMPLETE}"))
            except ValueError as error:
                raise FeedLost(f"{self.folder}{INCOMPLETE} {error}") from None

    def _swap_cache(self) -> None:
        """Replace the cache of the report. Without one, what needs it is fetched again."""
        place, new = self.folder / CACHE, self._new_cache
        if new is None:
            shutil.rmtree(place, ignore_errors=True)
            return
        try:
            if self._bodies.storage is not None and self._bodies.place not in (None, new):
                self._bodies.storage.copy_to(new)
            if place.exists():
                place.rename(new.with_name("earlier"))
            if new.exists():
                new.rename(place)
        except OSError as error:
            logger.warning("%s could not be replaced: %s", place, error.strerror or error)

    @property
    def _is_lost(self) -> bool:
        return self._stats.get_value(LOST) is not None

    def _page(self, report: Report) -> bytes:
        # Imported here: a crawl without a report needs no templates and charts.
        from sitemapcrawler.report.page import page

        return page(report).encode("utf-8", "replace")

    def _write(self, name: str, content: bytes) -> None:
        file = self.create(name)
        file.write(content)
        self.add(file)

    def _discard(self) -> None:
        """Remove files that were not renamed, and empty folders created for a lost report."""
        for file in self._created:
            file.folder.close()
        for created in self._folders if self._is_lost else ():
            with suppress(OSError):  # another program uses it
                created.rmdir()

    def _fail(self, target: Path, error: OSError) -> None:
        self._lose(error.strerror or str(error))

    def _lose(self, why: str) -> None:
        """Log once that there is no report, and whether an earlier one is kept."""
        if not self._is_lost:
            self._stats.set_value(LOST, why)
            is_kept = not self._had_page or (self.folder / PAGE).exists()
            earlier = "the previous file is kept" if is_kept else "the earlier one is incomplete"
            logger.error("the report %s is not written: %s%s", self.folder, why, "" if self._is_new else f"; {earlier}")


def check_report(settings: BaseSettings, report: str | None) -> None:
    """Raise ValueError, one line, for a report that cannot be made with these settings."""
    if report is None:
        return
    given = f"argument report={report!r}"
    if not settings.getbool("SITEMAP_STORE"):
        raise ValueError(f"{given}: needs the database; accepted: SITEMAP_STORE=True")
    folder = Path(report)
    for uri in settings.getdict("FEEDS"):
        path = local_path(uri)
        if path is not None and folder in path.resolve().parents:
            raise ValueError(f"{given}: the feed {uri} would be in that folder; accepted: another place for it")
    log = settings.get("LOG_FILE")
    if log and folder in (Path(log).resolve(), *Path(log).resolve().parents):
        raise ValueError(f"{given}: the log {log} would be in that folder; accepted: another LOG_FILE")
    jobs = settings.get("SITEMAP_JOBDIR") or settings.get("JOBDIR")
    if jobs and folder in (Path(jobs).resolve(), *Path(jobs).resolve().parents):
        raise ValueError(f"{given}: the job would be in that folder; accepted: another JOBDIR")


def report_feeds(settings: BaseSettings) -> list[str]:
    """Return the names of the report feeds that `add_feeds` added."""
    return [str(uri).partition(":")[2] for uri in settings.getdict("FEEDS") if str(uri).startswith(f"{REPORT}:")]


def _is_optional(name: str) -> bool:
    """True for a file that a report has only if there are rows."""
    return name.partition(".")[0] in OF_EXTENSIONS


def _written(settings: BaseSettings) -> list[str]:
    """Formats of a report that can be written, Parquet only if pyarrow is installed."""
    exporters = components_in(settings, "FEED_EXPORTERS")
    needed = {format: exporter_of(format, exporters).requires for format in FORMATS if format in exporters}
    return [format for format, package in needed.items() if not package or find_spec(package)]


def audit_files(settings: BaseSettings) -> list[str]:
    """Names of the feeds that the command `audit` writes: tables for people, and all records in the last one of
    `FORMATS` that can be written."""
    return [*TABLES, *(f"{feed}.{format}" for format in _written(settings)[-1:] for feed in FEEDS)]


def add_feeds(settings: BaseSettings, folder: str, on_demand: Collection[str] = ()) -> None:
    """Add the feeds of a report in a folder to the settings: those in `REPORT_FILES`, or all records in each of
    `FORMATS`. Options of other feeds do not apply to them. `on_demand`: those of `ON_DEMAND` that the crawl has."""
    feeds: dict[object, object] = settings.getdict("FEEDS")
    exporters = components_in(settings, "FEED_EXPORTERS")
    formats = _written(settings)
    for name in settings.getlist(REPORT_FILES) or [f"{feed}.{format}" for format, feed in product(formats, FEEDS)]:
        feed, _, format = name.partition(".")
        if feed in ON_DEMAND and feed not in on_demand:
            continue
        held = [FEEDS[feed]] if feed in FEEDS else None
        selected = {"item_classes": held} if held and exporter_of(format, exporters).selects_records else {}
        feeds[f"{REPORT}:{name}"] = {
            "format": format,
            "item_classes": held,
            "item_filter": FILTER,
            "item_export_kwargs": selected,
            "encoding": "utf-8",
            "fields": None,
            "indent": None,
            "store_empty": not _is_optional(name),
            "batch_item_count": 0,
            "uri_params": None,
            "overwrite": True,
        }
    settings.set("FEEDS", feeds, priority=settings.getpriority("FEEDS") or "project")
    settings.set(REPORT_FOLDER, folder, priority="spider")
