"""Shared parts of the commands: options, and errors on standard error."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NoReturn

from scrapy.commands import ScrapyHelpFormatter
from scrapy.settings import BaseSettings
from scrapy.utils.conf import arglist_to_dict

from sitemapcrawler.crawl.argument_values import quoted
from sitemapcrawler.crawl.params import ARGUMENTS
from sitemapcrawler.crawl.setting_values import check_dictionary
from sitemapcrawler.extensions.logs import MAX_LINE
from sitemapcrawler.options.targets import STDIN
from sitemapcrawler.spiders.running import BAD_ARGUMENT
from sitemapcrawler.urls.display import inert, masked

PROGRAM, SCRAPY = "sitemapcrawler", "scrapy"
RETRIES = "scrapy.downloadermiddlewares.retry"
"""Logger that reports as errors what records contain already."""
SITES = "sitemapcrawler.crawl.discovery"
"""Logger that reports sites that cannot be read, which verdicts and findings say as well."""


def open_stderr() -> None:
    """Redirect a closed standard error to the null device; else a feed could get its descriptor, and error messages."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # as long as the process


def prepare(parser: argparse.ArgumentParser) -> None:
    """Show the name of our program in the usage, unless `scrapy` runs the command, and report errors in one line."""
    if parser.usage and Path(sys.argv[0]).stem != SCRAPY:
        parser.usage = parser.usage.replace(SCRAPY, PROGRAM, 1)
    parser.error = refuse  # type: ignore[method-assign]  # instead of the usage


def check_pairs(pairs: Sequence[str]) -> None:
    """Exit with one line if a value of `-s` is no dictionary and its setting is one: Scrapy's message names neither.
    Call it before Scrapy sets the values."""
    for text in pairs:
        name, _, value = text.partition("=")
        try:
            check_dictionary(name, value)
        except ValueError as error:
            refuse(str(error))


def add_progress_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-progress", action="store_true", help="show no live display of how far the crawl is")


def describe_arguments(parser: argparse.ArgumentParser, names: Sequence[str], **defaults: str) -> None:
    """List spider arguments behind the options, each with what it accepts and its default. `defaults`: those of the
    command."""
    parser.formatter_class = ArgumentsHelp
    parts = ["Arguments (-a NAME=VALUE)", "-------------------------"]
    for name in names:
        argument = ARGUMENTS[name]
        default = defaults.get(name, argument.default_text)
        parts.append(f"{name}\t{argument.help}; {argument.accepted}{f' (default: {default})' if default else ''}")
    parser.epilog = "\n".join(parts)


class ArgumentsHelp(ScrapyHelpFormatter):
    """Help of a command whose epilog lists `name TAB text` lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\t" not in text:
            return super()._fill_text(text, width, indent)
        return "\n".join(chain.from_iterable(self._entry(line, width) for line in text.splitlines()))

    def _entry(self, line: str, width: int) -> list[str]:
        name, tab, text = line.partition("\t")
        if not tab:
            return [line]
        column = self._max_help_position
        wrapped = textwrap.wrap(text, max(width - column, 20))
        first = f"  {name}".ljust(column)
        lines = [first + wrapped[0]] if len(name) + 3 < column else [first, " " * column + wrapped[0]]
        return lines + [" " * column + more for more in wrapped[1:]]


def apply_progress_option(settings: BaseSettings, options: argparse.Namespace) -> None:
    """Disable the progress display if the command line says so, or for a debugger, which needs the terminal."""
    if options.no_progress or getattr(options, "pdb", False):
        settings.set("SITEMAP_PROGRESS", False, priority="cmdline")


def without_options(arguments: Sequence[str]) -> list[str]:
    """Return the positional arguments, and everything after `--`. Raises ValueError, one line, for an unknown
    option."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for text in arguments[:end]:
        if text.startswith("-") and text != STDIN:
            raise ValueError(f"option {quoted(text)} is not known; -h lists all")
    return [*arguments[:end], *arguments[end + 1 :]]


def spider_arguments(pairs: list[str]) -> dict[str, str]:
    """Parse the values of `-a` into spider arguments. Raises ValueError, one line, if one is not NAME=VALUE."""
    try:
        return arglist_to_dict(pairs)
    except ValueError:
        raise ValueError("-a takes NAME=VALUE") from None


def leave_out_retries() -> None:
    """Drop log messages about exhausted retries, which the command reports itself."""
    logging.getLogger(RETRIES).addFilter(lambda record: False)


def drop_reported() -> None:
    """Drop log messages about exhausted retries and sites that cannot be read, which the command reports itself."""
    leave_out_retries()
    logging.getLogger(SITES).addFilter(lambda record: False)


def refuse(message: str, settings: BaseSettings | None = None) -> NoReturn:
    """Exit with code 2 and one line on standard error, and in the log file that settings name."""
    complain(message)
    if settings is not None and settings["LOG_FILE"]:
        _log(message, settings)
    sys.exit(BAD_ARGUMENT)


def _log(message: str, settings: BaseSettings) -> None:
    """Append to the log file in Scrapy's format, before Scrapy opens it. On a server, only the log of a job is
    visible."""
    line = logging.makeLogRecord(
        {"name": "sitemapcrawler", "levelname": "ERROR", "msg": inert(masked(message), MAX_LINE)}
    )
    form = logging.Formatter(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"])
    log = Path(settings["LOG_FILE"])
    with suppress(OSError, LookupError), log.open("a", -1, settings["LOG_ENCODING"], "backslashreplace") as file:
        file.write(f"{form.format(line)}\n")


def complain(message: str) -> None:
    """Write one line to standard error, with credentials in URLs masked, unless it is closed."""
    if sys.stderr is not None:
        print(f"sitemapcrawler: {inert(masked(message), MAX_LINE)}", file=sys.stderr)
