"""Crawls that cannot start end with one line, whatever starts them: our commands, Scrapy's, or a script."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.exceptions import UsageError

LOGGERS = ("asyncio", "twisted")
"""Loggers that report exceptions which Scrapy's commands do not wait for."""


class Refused(UsageError, ValueError):
    """A crawl cannot start: an argument, a setting, a feed or a job is invalid. The message is one line.

    Scrapy's commands show a UsageError as an error of their command line.
    """


@contextmanager
def refusing() -> Iterator[None]:
    """Context in which a spider checks what it was given: a ValueError becomes Refused, which is logged as one line."""
    try:
        yield
    except ValueError as error:
        for name in LOGGERS:
            logging.getLogger(name).addFilter(in_one_line)
        raise Refused(str(error)) from error


def in_one_line(record: logging.LogRecord) -> bool:
    """Log filter that reduces a Refused exception to its message, without a traceback. Passes every record."""
    if record.exc_info and isinstance(record.exc_info[1], Refused):
        record.msg, record.args, record.exc_info = "%s", (str(record.exc_info[1]),), None
    return True
