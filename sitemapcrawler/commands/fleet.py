"""`scrapy fleet`: crawls thousands of domains into one data set, each in its own process."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.log import configure_logging

from sitemapcrawler.crawl.argument_values import quoted
from sitemapcrawler.crawl.arguments import AboveZero, Count, FromZero, value_of
from sitemapcrawler.crawl.params import ARGUMENTS, Use, names_of
from sitemapcrawler.crawl.setting_values import check_settings
from sitemapcrawler.extensions.logs import guard_log
from sitemapcrawler.fleet.domains import read_domains
from sitemapcrawler.fleet.output import PLACES
from sitemapcrawler.middlewares.credentials import import_environment
from sitemapcrawler.options.base import BaseCommand, complain, refuse, without_options
from sitemapcrawler.options.configuration import Config, read_config
from sitemapcrawler.pipelines.summary import LIMITED_BY
from sitemapcrawler.spiders.running import FEED_LOST, plan, quieten


class Option(NamedTuple):
    """Command option with a value."""

    name: str
    metavar: str
    help: str
    default: str | None = None
    kind: Any = str  # Any: a type
    accepted: str = ""

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    def value_of(self, text: str | None) -> object:
        """Parse the value; None if not given. Raises ValueError, one line."""
        try:
            return None if text is None else value_of(self.kind, text)
        except ValueError as error:
            raise ValueError(f"option {self.flag}={quoted(text)}: {error}; accepted: {self.accepted}") from None


CLUSTERS = "HOST:PORT, or auto: the one on this machine"
FROM_0, FROM_1, ABOVE_0 = "a whole number from 0", "a whole number from 1", "a number above 0"
States = Annotated[
    list[Literal["unread", "partial", "finished"]],
    BeforeValidator(lambda text: [state.strip() for state in text.split(",")]),
]
"""States in which a domain counts as done."""
OPTIONS = (
    Option("out", "FOLDER|URL", f"where results go: {PLACES}", accepted=PLACES),
    Option("address", "ADDRESS", f"join this Ray cluster ({CLUSTERS}); default: start one here", accepted=CLUSTERS),
    Option("workers", "N", "domains at once (default: one per core)", None, Count, FROM_1),
    Option("cpus", "N", "cores of a joined cluster reserved for each domain", "1", AboveZero, ABOVE_0),
    Option("per_address", "N", "domains at once that share an IP address; 0: any number", "4", FromZero, FROM_0),
    Option("max_time", "S", "time limit per domain, in seconds", "3600", AboveZero, ABOVE_0),
    Option("max_urls", "N", "limit of listed pages per domain (default: none)", None, Count, FROM_1),
    Option(
        "again",
        "STATES",
        "crawl finished domains in these states again: unread, partial, finished",
        None,
        States,
        "unread, partial, finished, separated by commas",
    ),
    Option(
        "retries",
        "N",
        "further attempts at a domain whose crawl died, or whose results could not be written",
        "2",
        FromZero,
        FROM_0,
    ),
)
NOT_HERE = {
    **dict.fromkeys(names_of(Use.TARGET), "after the command"),
    **dict.fromkeys(names_of(Use.ONE_SITE), "crawl, which audits one site"),
    **{option.name: option.flag for option in OPTIONS if option.name in ARGUMENTS},
}
"""Spider arguments that a fleet does not take with -a, and what to use instead."""
NEEDED = ("ray", "pyarrow", "fsspec")
"""Packages of the extra `fleet`."""


class Command(BaseCommand):
    """Crawls many domains, on this machine or on a Ray cluster."""

    requires_crawler_process = False
    passes = "an argument of all crawls, may be repeated"

    def syntax(self) -> str:
        return "[options] DOMAIN|@FILE... --out FOLDER|URL"

    def short_desc(self) -> str:
        return "Crawl many domains at once, here or on a Ray cluster, into one data set"

    def long_desc(self) -> str:
        return (
            f"{self.short_desc()}. Domains that the data set has already are skipped, so a stopped run resumes. "
            "Exit codes: 0 every domain has a result, 1 the output cannot be written or the cluster is gone, 2 wrong "
            "argument, 3 stopped before the end, 4 some domains have no result after several attempts."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        for option in OPTIONS:
            told = "" if option.default is None else f" (default: {option.default})"
            parser.add_argument(
                option.flag,
                dest=option.name,
                metavar=option.metavar,
                help=option.help + told,
            )

    def check(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> None:
        named = without_options(args)
        if lacking := [package for package in NEEDED if find_spec(package) is None]:
            raise ValueError(f"fleet needs {', '.join(lacking)}: pip install 'scrapy-sitemapcrawler[fleet]'")
        if opts.out is None:
            raise ValueError("--out is missing: the folder or URL of the data set")
        if settings.get("JOBDIR"):
            raise ValueError("setting JOBDIR: not for fleet, which resumes from its --out")
        config = read_config(settings)
        of_file = config.arguments({})
        for option in OPTIONS:
            typed = getattr(opts, option.name)
            text = of_file.get(option.name, option.default) if typed is None else typed
            setattr(opts, option.name, option.value_of(text))
        opts.arguments = arguments(opts, config)
        config.note_limits(settings, opts.arguments)
        opts.listed = read_domains(named)
        if not opts.listed.domains:
            raise ValueError("no domain is named; accepted: hosts, URLs, and @FILE, a list with one per line")
        import_environment(settings)
        check_settings(settings)
        plan(settings, {**opts.arguments, "domain": opts.listed.domains[0].name}).discard()

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the fleet, and set the exit code."""
        from sitemapcrawler.fleet.launching import FAILURES, run  # Ray is slow to import, and optional

        assert self.settings is not None
        configure_logging(self.settings)
        guard_log()
        if opts.loglevel is None:
            quieten()
        if limits := self.settings.get(LIMITED_BY):
            complain(f"limited by {limits}")
        try:
            self.exitcode = run(self.settings, passed(self.settings), opts)
        except ValueError as error:
            refuse(str(error))
        except FAILURES as error:
            complain(str(error))
            self.exitcode = FEED_LOST


def arguments(opts: argparse.Namespace, config: Config) -> dict[str, str]:
    """Return the arguments of each crawl, without `domain`; those of a file come last. Raises ValueError, one line, for
    one of `-a` that a fleet does not take."""
    found: dict[str, str] = opts.given
    for name, value in found.items():
        if name in NOT_HERE:
            raise ValueError(f"argument {name}={quoted(value)}: not for fleet; accepted: {NOT_HERE[name]}")
    found = config.arguments(found, without=NOT_HERE)
    found["max_time"] = f"{opts.max_time:.3f}"
    return found if opts.max_urls is None else {**found, "max_urls": str(opts.max_urls)}


def passed(settings: BaseSettings) -> dict[str, tuple[object, int]]:
    """Return the settings that are not Scrapy's own, for processes on other machines: {name: (value, priority)}."""
    found = {name: (settings[name], settings.getpriority(name) or 0) for name in settings}
    return {
        name: (dict(value) if isinstance(value, BaseSettings) else value, priority)
        for name, (value, priority) in found.items()
        if priority
    }
