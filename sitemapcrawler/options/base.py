"""Shared parts of the commands: options, and errors on standard error."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import textwrap
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NoReturn

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.conf import arglist_to_dict

from sitemapcrawler.crawl.argument_values import quoted
from sitemapcrawler.crawl.params import ARGUMENTS
from sitemapcrawler.crawl.setting_values import check_dictionary
from sitemapcrawler.extensions.logs import MAX_LINE
from sitemapcrawler.options.configuration import Config
from sitemapcrawler.options.targets import STDIN
from sitemapcrawler.rules import Severity
from sitemapcrawler.spiders.running import BAD_ARGUMENT, FEED_LOST
from sitemapcrawler.terminal.streams import CLOSED
from sitemapcrawler.urls.display import inert, masked

PROGRAM, SCRAPY = "sitemapcrawler", "scrapy"
RETRIES = "scrapy.downloadermiddlewares.retry"
"""Logger that reports as errors what records contain already."""
SITES = "sitemapcrawler.crawl.site_discovery"
"""Logger that reports sites that cannot be read, which verdicts and findings say as well."""
THRESHOLDS: dict[str, tuple[Severity, ...]] = {
    "error": (Severity.ERROR,),
    "warning": (Severity.ERROR, Severity.WARNING),
    "never": (),
}
"""Severities that fail a run, by value of --fail-on; the first is the default."""


class BaseCommand(ScrapyCommand):
    """Base of our commands: arguments with `-a`, the live display, and errors in one line with exit code 2."""

    passes = "any argument of the spider"
    """Help of `-a`; `argparse.SUPPRESS` if the command refuses it."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        prepare(parser)
        parser.add_argument("-a", dest="spargs", action="append", default=[], metavar="NAME=VALUE", help=self.passes)
        add_progress_option(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the command line; `opts.given` has the arguments of `-a`."""
        assert self.settings is not None
        open_stderr()
        try:
            check_pairs(opts.set)
            super().process_options(args, opts)
            apply_progress_option(self.settings, opts)
            opts.given = spider_arguments(opts.spargs)
            self.check(args, opts, self.settings)
        except (ValueError, UsageError) as error:
            refuse(str(error))
        except OSError as error:
            refuse(f"{error.filename or 'a temporary file'}: {error.strerror}")

    def check(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> None:
        """Check what is special to the command, and prepare the run. Raises ValueError, one line, or OSError."""


def open_stderr() -> None:
    """Redirect a closed standard error to the null device; else a feed could get its descriptor, and error messages."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # as long as the process


def prepare(parser: argparse.ArgumentParser) -> None:
    """Show the name of our program in the usage, unless `scrapy` runs the command, and report errors in one line."""
    parser.formatter_class = CommandHelp
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
    parser.add_argument("--no-progress", action="store_true", help="show no live progress display")


def add_threshold_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-on",
        metavar="|".join(THRESHOLDS),
        help="exit with code 1 if there are findings of this severity or worse (default: error)",
    )


def describe_arguments(parser: argparse.ArgumentParser, names: Sequence[str], **defaults: str) -> None:
    """List spider arguments behind the options, each with what it accepts and its default. `defaults`: those of the
    command."""
    parts = ["Arguments (-a NAME=VALUE)", "-------------------------"]
    for name in names:
        argument = ARGUMENTS[name]
        default = defaults.get(name, argument.default_text)
        more = f" (default: {default})" if default else ""
        parts.append(f"{name}\t{argument.help}. Accepted: {argument.accepted}{more}")
    parser.epilog = "\n".join(parts)


class CommandHelp(ScrapyHelpFormatter):
    """Help of a command. Its epilog may list `name TAB text` lines."""

    def format_part_strings(self, part_strings: list[str]) -> list[str]:
        """Underline headings. Lines of an option, which are indented, may end with a colon too."""
        is_option = part_strings[:1] and part_strings[0].startswith(" ")
        return part_strings if is_option else super().format_part_strings(part_strings)

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


def require_output() -> None:
    """Exit with one line if standard output, which the command writes to, is closed."""
    if sys.stdout is None:
        complain(CLOSED)
        sys.exit(FEED_LOST)


def check_choice(option: str, value: str, accepted: Collection[str]) -> None:
    """Raise ValueError, one line, for a value that an option does not accept."""
    if value not in accepted:
        raise ValueError(f"{option} {quoted(value)}: accepted: {', '.join(accepted)}")


def chosen(option: str, typed: str | None, config: Config, accepted: Sequence[str]) -> str:
    """The value of an option: from the command line, the configuration file, or the first that is accepted. Raises
    ValueError, one line, for any other."""
    value, where = typed, f"--{option}"
    if value is None:
        value, where = str(config.options.get(option, accepted[0])), f"{config.path}: {option} ="
    check_choice(where, value, accepted)
    return value


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
