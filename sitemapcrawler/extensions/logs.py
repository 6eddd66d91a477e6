"""Scrapy extension that escapes untrusted text in every log record.

URLs, header lines and error texts that quote them are logged by Scrapy, by Twisted and by us. So each record is looked
at right before a handler writes it; one that holds nothing but what can be seen is left alone.
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

from sitemapcrawler.urls.display import inert, masked

MAX_LINE = 4096
"""Characters of a message: two URLs as long as one may be. A listed URL may have a million."""
MAX_LINES = 200
"""Lines of a traceback: a message in it may have any number."""
INDENT = "  "
"""Before each line of a traceback, so that none looks like the beginning of another record."""
TABLES = (
    "scrapy.addons",
    "scrapy.crawler",
    "scrapy.extensions.periodic_log",
    "scrapy.middleware",
    "scrapy.statscollectors",
    "scrapy.utils.log",
)
"""Loggers of Scrapy that write its settings, parts and counts over several lines, each text in them quoted."""

_traces = logging.Formatter()


class InertLog:
    """Has the handlers of the log look at each record before they write it."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Begin now, and again when Scrapy has put its handler in place of an earlier one."""
        extension = cls()
        extension.opened()
        crawler.signals.connect(extension.opened, signals.spider_opened)
        return extension

    def opened(self) -> None:
        """Take the handlers there are."""
        guard_log()


def guard_log() -> None:
    """Have all handlers of the root logger, and the one of last resort, write inert text only."""
    for handler in (*logging.root.handlers, logging.lastResort):
        if handler is not None:
            handler.addFilter(make_inert)


def make_inert(record: logging.LogRecord) -> bool:
    """Log filter that lets each record pass: its message as one line, its traceback as indented lines, no passwords."""
    if record.exc_info and record.exc_info[0] is not None:
        record.exc_text = _indented(record.exc_info)
    try:
        message = record.getMessage()
    except Exception:  # an argument that does not fit, of which logging itself tells
        return True
    lines = message.split("\n") if record.name in TABLES else [message]
    shown = [_inert_line(line) for line in lines]
    if shown != lines:
        record.msg, record.args = "\n".join(shown), None
    return True


def inert_traceback(error: Exception) -> str:
    """What went wrong in one line, and its traceback in indented ones, no passwords."""
    return f"{_inert_line(f'{type(error).__name__}: {error}')}\n{_indented((type(error), error, error.__traceback__))}"


def _indented(raised: tuple[type[BaseException], BaseException, TracebackType | None]) -> str:
    lines = _traces.formatException(raised).split("\n")[:MAX_LINES]
    return "\n".join(INDENT + _inert_line(line) for line in lines)


def _inert_line(line: str) -> str:
    """The line without passwords of URLs: those of feeds (`ftp://user:password@...`) are the user's own."""
    return inert(masked(line), MAX_LINE)
