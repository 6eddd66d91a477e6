"""The spider run by a command: all that it was told checked before a crawler exists, how it ended as an exit code."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.settings import BaseSettings
from scrapy.utils.conf import arglist_to_dict

from sitemapcrawler import settings as ours
from sitemapcrawler.audit.argument_values import shown
from sitemapcrawler.audit.configuring import choose, contact_of
from sitemapcrawler.audit.params import Params
from sitemapcrawler.commands.targets import STDIN
from sitemapcrawler.download.addresses import AddressGuard
from sitemapcrawler.early_stops import stop_in_order
from sitemapcrawler.extensions.logs import MAX_LINE
from sitemapcrawler.feeds.reporting import LOST, check_report
from sitemapcrawler.feeds.setup import check_columns, check_places, prepare_feeds
from sitemapcrawler.jobs.opening import check_job
from sitemapcrawler.middlewares.credentials import auth_of
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.urls.display import inert

NOT_STARTED = FEED_LOST = 1
BAD_ARGUMENT, STOPPED, NOTHING_READ = 2, 3, 4
"""Exit codes besides 0: finished."""
ITEMS = ("auto", "batches", "records")
"""Values of SITEMAP_ITEMS."""
LEAST = {"SITEMAP_STORE_MEMORY": 100, "SITEMAP_STORE_THREADS": 1}
"""The least that DuckDB works with."""
SWITCHES = ("SITEMAP_STORE", "SITEMAP_PROGRESS")
"""Settings that are True or False, and that nothing else checks."""
CHATTY = (
    "scrapy.utils.log",
    "scrapy.addons",
    "scrapy.middleware",
    "scrapy.crawler",
    "scrapy.core.engine",
    "scrapy.extensions.feedexport",
)
"""Loggers of Scrapy whose INFO tells of its own parts; `-L` shows them."""
TOLD_ELSEWHERE = "scrapy.downloadermiddlewares.retry"
"""A logger that calls an error what a record tells."""


def open_stderr() -> None:
    """Where standard error is closed, let it go nowhere: a feed would take its place, and what is written there."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # as long as the process


def check(settings: BaseSettings, arguments: Mapping[str, Any] | None) -> None:
    """ValueError, one line, for a setting, a feed or an argument that cannot work. The feeds are completed.

    `arguments` are those of our spider, None where another one runs.
    """
    check_settings(settings)
    prepare_feeds(settings)
    choose(settings)
    AddressGuard(networks=settings.getlist("SITEMAP_ALLOW_NETWORKS"))
    auth_of(settings)
    contact_of(settings)
    if arguments is not None:
        check_columns(settings)
        params = Params.parse(arguments)
        check_places(settings, params.named_files)
        check_report(settings, params.report)
        check_job(settings, params)


def check_settings(settings: BaseSettings) -> None:
    """ValueError, one line, for a setting of ours that cannot be used."""
    if settings["SITEMAP_ITEMS"] not in ITEMS:
        raise ValueError(f"setting SITEMAP_ITEMS={settings['SITEMAP_ITEMS']!r}: accepted: {', '.join(ITEMS)}")
    for name, default in vars(ours).items():
        if name.startswith("SITEMAP_") and type(default) in (int, float):
            try:
                settings.getfloat(name)
            except (TypeError, ValueError):
                raise ValueError(f"setting {name}={settings[name]!r}: accepted: a number") from None
    for name, least in LEAST.items():
        if settings.getfloat(name) < least:
            raise ValueError(f"setting {name}={settings[name]!r}: accepted: a number from {least}")
    for name in SWITCHES:
        try:
            settings.getbool(name)
        except ValueError:
            raise ValueError(f"setting {name}={settings[name]!r}: accepted: True, False") from None
    check_log(settings)


def check_log(settings: BaseSettings) -> None:
    """ValueError, one line, for a log that Scrapy cannot write. None is left behind, since more is checked."""
    level, levels = settings["LOG_LEVEL"], logging.getLevelNamesMapping()
    if level not in levels and not isinstance(level, int):
        raise ValueError(f"setting LOG_LEVEL={level!r}: accepted: {', '.join(levels)}")
    if settings["LOG_FILE"]:
        try:
            _try_to_append(Path(settings["LOG_FILE"]))
        except OSError as error:
            raise ValueError(f"the log {settings['LOG_FILE']} cannot be written: {error.strerror}") from None


def _try_to_append(path: Path) -> None:
    """OSError for a file that cannot be appended to, or made; one that is not there is not there afterwards."""
    was_there = path.exists() or path.is_symlink()
    path.open("ab").close()
    if not was_there:
        path.unlink()


def add_progress_option(parser: argparse.ArgumentParser) -> None:
    """Add `--no-progress` to the options of a command that crawls."""
    parser.add_argument("--no-progress", action="store_true", help="show no live display of how far the crawl is")


def apply_progress_option(settings: BaseSettings, options: argparse.Namespace) -> None:
    """Switch the display off where the command line says so, or where a debugger will have the terminal."""
    if options.no_progress or getattr(options, "pdb", False):
        settings.set("SITEMAP_PROGRESS", False, priority="cmdline")


def without_options(arguments: Sequence[str]) -> list[str]:
    """What a command line names beside its options; behind `--` whatever stands there. ValueError, one line, where
    something looks like an option."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for text in arguments[:end]:
        if text.startswith("-") and text != STDIN:
            raise ValueError(f"option {shown(text)} is not known; -h lists all")
    return [*arguments[:end], *arguments[end + 1 :]]


def given(pairs: list[str]) -> dict[str, str]:
    """The arguments of the spider that options `-a` give. ValueError, one line, for what is no pair."""
    try:
        return arglist_to_dict(pairs)
    except ValueError:
        raise ValueError("-a takes NAME=VALUE") from None


def quieten() -> None:
    """Leave out of the log what Scrapy tells of its own parts."""
    for name in CHATTY:
        logging.getLogger(name).addFilter(is_news)  # a level would not outlive Scrapy's own set-up


def leave_out_retries() -> None:
    """Leave out of the log what a command tells by itself: that a URL was asked in vain."""
    logging.getLogger(TOLD_ELSEWHERE).addFilter(lambda record: False)


def is_news(record: logging.LogRecord) -> bool:
    """True for a log record that should be seen in any case: a warning, or the answer to Ctrl-C."""
    return record.levelno >= logging.WARNING or " shut" in str(record.msg)


def run(process: CrawlerProcessBase, crawler: Crawler, arguments: Mapping[str, Any]) -> int:
    """Crawl to the end; the exit code, which for other spiders than ours says only whether they could start."""
    stopped = stop_in_order(process, crawler)
    process.crawl(crawler, **arguments)
    with hangups_heard():
        process.start()
    if process.bootstrap_failed:
        return NOT_STARTED
    if crawler.spidercls.name != AuditSpider.name:
        return 0
    return exit_code(crawler.stats.get_stats(), stopped.is_set() or bool(getattr(crawler.spider, "stop_reason", None)))


@contextmanager
def hangups_heard() -> Iterator[None]:
    """While a terminal that goes away, which is SIGHUP, ends the crawl as SIGTERM does. Not where it is to be ignored
    (`nohup`)."""
    number = getattr(signal, "SIGHUP", None)  # Windows has none
    if number is None or signal.getsignal(number) is not signal.SIG_DFL:
        yield
        return
    signal.signal(number, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL)


def exit_code(stats: Mapping[str, Any], stopped: bool = False) -> int:
    """What a crawl that ran came to: lost feeds, a stop before the end, nothing read, or success."""
    lost = "sitemap/store_lost" in stats or LOST in stats
    if lost or any(name.startswith("feedexport/failed_count/") for name in stats):
        return FEED_LOST
    if stopped or stats.get("sitemap/partial"):
        return STOPPED
    return 0 if stats.get("sitemap/files_read") else NOTHING_READ


def refuse(message: str, settings: BaseSettings | None = None) -> NoReturn:
    """One line on standard error, and in the log file that settings name; exit code 2."""
    complain(message)
    if settings is not None and settings["LOG_FILE"]:
        _log(message, settings)
    sys.exit(BAD_ARGUMENT)


def _log(message: str, settings: BaseSettings) -> None:
    """Append to the log file as Scrapy would, which has not opened it yet: all that is seen of a job on a server."""
    line = logging.makeLogRecord({"name": "sitemapcrawler", "levelname": "ERROR", "msg": inert(message, MAX_LINE)})
    form = logging.Formatter(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"])
    log = Path(settings["LOG_FILE"])
    with suppress(OSError, LookupError), log.open("a", -1, settings["LOG_ENCODING"], "backslashreplace") as file:
        file.write(f"{form.format(line)}\n")


def complain(message: str) -> None:
    """One line on standard error; nothing where that is closed."""
    if sys.stderr is not None:
        print(f"sitemapcrawler: {inert(message, MAX_LINE)}", file=sys.stderr)
