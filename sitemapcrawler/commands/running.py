"""What the commands share: options, and errors on standard error."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from scrapy.settings import BaseSettings
from scrapy.utils.conf import arglist_to_dict

from sitemapcrawler.audit.argument_values import quoted
from sitemapcrawler.commands.targets import STDIN
from sitemapcrawler.extensions.logs import MAX_LINE
from sitemapcrawler.running import BAD_ARGUMENT
from sitemapcrawler.urls.display import inert

TOLD_ELSEWHERE = "scrapy.downloadermiddlewares.retry"
"""A logger that calls an error what a record tells."""


def open_stderr() -> None:
    """Where standard error is closed, let it go nowhere: a feed would take its place, and what is written there."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # as long as the process


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
            raise ValueError(f"option {quoted(text)} is not known; -h lists all")
    return [*arguments[:end], *arguments[end + 1 :]]


def spider_arguments(pairs: list[str]) -> dict[str, str]:
    """The arguments of the spider that options `-a` give. ValueError, one line, for what is no pair."""
    try:
        return arglist_to_dict(pairs)
    except ValueError:
        raise ValueError("-a takes NAME=VALUE") from None


def leave_out_retries() -> None:
    """Leave out of the log what a command tells by itself: that a URL was asked in vain."""
    logging.getLogger(TOLD_ELSEWHERE).addFilter(lambda record: False)


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
