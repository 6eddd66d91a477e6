"""Scrapy extension that escapes untrusted text in every log record.

Scrapy, Twisted and this project log URLs, header lines and error texts that quote them. So a filter checks each record
right before a handler writes it; records with only visible text pass unchanged.
"""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

from sitemapcrawler.urls.display import inert, masked

MAX_LINE = 4096
"""Maximum length of a message in characters: two URLs of the maximum length. A listed URL may have a million."""
MAX_LINES = 200
"""Maximum lines of a traceback: its message may have any number."""
INDENT = "  "
"""Indentation of traceback lines, so that none looks like the start of another record."""
TABLES = (
    "scrapy.addons",
    "scrapy.crawler",
    "scrapy.extensions.periodic_log",
    "scrapy.middleware",
    "scrapy.statscollectors",
    "scrapy.utils.log",
)
"""Scrapy's loggers of multi-line messages (settings, components, stats), in which all text is quoted."""

_traces = logging.Formatter()


class InertLog:
    """Adds the filter to all log handlers."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Add the filter now, and again on `spider_opened`: Scrapy may have replaced its handler."""
        extension = cls()
        extension.opened()
        crawler.signals.connect(extension.opened, signals.spider_opened)
        return extension

    def opened(self) -> None:
        guard_log()


def guard_log() -> None:
    """Make all handlers of the root logger, and the last-resort handler, write escaped text only. Those of files and
    streams end at an error, such as a full disk, instead of a traceback for each record."""
    for handler in (*logging.root.handlers, logging.lastResort):
        if handler is not None:
            handler.addFilter(make_inert)
            if isinstance(handler, logging.StreamHandler) and type(handler).handleError is logging.Handler.handleError:
                handler.handleError = partial(_end_log, handler)  # type: ignore[method-assign]  # of one handler


def _end_log(handler: logging.Handler, record: logging.LogRecord) -> None:
    if not isinstance(error := sys.exception(), OSError):
        logging.Handler.handleError(handler, record)
        return
    handler.setLevel(logging.CRITICAL + 1)
    with suppress(OSError, AttributeError):  # full as well, or closed
        sys.stderr.write(f"sitemapcrawler: the log ends here: {error.strerror or error}\n")


def make_inert(record: logging.LogRecord) -> bool:
    """Log filter: message on one line, traceback indented, credentials masked. Passes every record."""
    if record.exc_info and record.exc_info[0] is not None:
        record.exc_text = _indented(record.exc_info)
    try:
        message = record.getMessage()
    except Exception:  # mismatched arguments, which logging itself reports
        return True
    is_table = record.name in TABLES
    lines = message.split("\n") if is_table or _shows_item(record) else [message]
    shown = [_inert_line(line) for line in lines[: None if is_table else MAX_LINES]]
    text = ("\n" if is_table else f"\n{INDENT}").join(shown)
    if text != message:
        record.msg, record.args = text, None
    return True


def _shows_item(record: logging.LogRecord) -> bool:
    """True for a message of Scrapy's log formatter with an item on lines of its own."""
    return isinstance(record.msg, str) and "\n" in record.msg and bool(record.args)


def inert_traceback(error: Exception) -> str:
    """An error as one line and its indented traceback, credentials masked."""
    return f"{_inert_line(f'{type(error).__name__}: {error}')}\n{_indented((type(error), error, error.__traceback__))}"


def _indented(raised: tuple[type[BaseException], BaseException, TracebackType | None]) -> str:
    lines = _traces.formatException(raised).split("\n")[:MAX_LINES]
    return "\n".join(INDENT + _inert_line(line) for line in lines)


def _inert_line(line: str) -> str:
    """The escaped line, credentials in URLs masked: those of feeds (`ftp://user:password@...`) are the user's own."""
    return inert(masked(line), MAX_LINE)
