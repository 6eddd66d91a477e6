"""The command `validate`: from its options to arguments and a feed, from what came of the run to an exit code."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scrapy.settings import BaseSettings

from sitemapcrawler.argument_values import shown
from sitemapcrawler.configuring import prepare_feeds
from sitemapcrawler.findings import MAX_URL, inert
from sitemapcrawler.items import LIMITS, UNREAD, FindingRecord, RobotsRecord, SitemapRecord, SummaryRecord
from sitemapcrawler.rules import Severity
from sitemapcrawler.running import without_options
from sitemapcrawler.targets import Targets

CLEAN, FOUND, NOT_RUN = 0, 1, 2
"""Exit codes."""
READ, STOPPED, NOTHING_READ = 0, 3, 4
"""Exit codes of `running.exit_code` after which findings decide, of STOPPED where the user named the limit that was
reached; all others say that the run is not to be relied on."""
FORMATS = ("text", "json", "sarif", "junit")
"""The first is the default."""
METHODS = ("head", "get", "off")
"""What --verify takes; the first is meant where nothing is said."""
THRESHOLDS: dict[str, tuple[Severity, ...]] = {
    "error": (Severity.ERROR,),
    "warning": (Severity.ERROR, Severity.WARNING),
    "never": (),
}
"""Severities that fail a run, by the value of --fail-on; the first is the default."""
LINES = "sitemapcrawler.lines.LinesExporter"
RECORDS = (SitemapRecord, RobotsRecord, FindingRecord, SummaryRecord)
"""What the format json holds: everything but the URLs."""
NAMED = {"domain", "sitemap", "urls"}
"""Arguments of the spider that are named without -a."""

logger = logging.getLogger("sitemapcrawler")


def arguments_of(targets: Targets, options: Mapping[str, str | None], given: Mapping[str, str]) -> dict[str, str]:
    """Arguments of the spider. `options`: those of the command, None where they are not given; `given`: by -a, which
    count before these. Files alone are read without a network, unless something asks for one. ValueError, one line."""
    if taken := NAMED & given.keys():
        raise ValueError(f"-a {min(taken)}=: what is to be validated is named without -a")
    arguments = {**{name: value for name, value in options.items() if value is not None}, **given}
    for name, named in (("domain", targets.sites), ("sitemap", targets.sitemaps)):
        if named:
            arguments[name] = ",".join(named)
    if targets.names and arguments.get("verify", "off") == "off":
        arguments.setdefault("agents", "none")
        if targets.local and arguments["agents"] == "none":
            arguments.setdefault("offline", "yes")
    return arguments


def check_choice(option: str, value: str, accepted: Collection[str]) -> None:
    """ValueError, one line, for a word that an option does not take."""
    if value not in accepted:
        raise ValueError(f"{option} {shown(value)}: accepted: {', '.join(accepted)}")


def named_in(arguments: Sequence[str]) -> list[str]:
    """What a command line names beside its options; behind `--` whatever stands there. ValueError where something
    looks like an option, or nothing is there."""
    named = without_options(arguments)
    if not named:
        raise ValueError("name a URL, a file, a domain, or - for standard input; -h lists the options")
    return named


def set_feed(settings: BaseSettings, place: str, format: str, **options: Any) -> None:
    """Have the run write one feed. `format`: one of FORMATS; `options`: those of the exporter of text. ValueError, one
    line, where it cannot be written."""
    feed: dict[str, Any] = {"format": format, "overwrite": True}
    if format == "text":
        settings.set("FEED_EXPORTERS", {**settings.getdict("FEED_EXPORTERS"), "text": LINES}, "cmdline")
        feed |= {"encoding": options.pop("encoding"), "item_export_kwargs": options}
    elif format == "json":
        # ASCII alone, which no terminal and no character set can spoil.
        feed |= {"item_classes": RECORDS, "indent": 0, "encoding": "ascii"}
    settings.set("FEEDS", {place: feed}, "cmdline")
    prepare_feeds(settings)


@dataclass
class Outcome:
    """What came of a run, gathered while it lasts."""

    summary: SummaryRecord | None = None
    unreached: dict[str, str] = field(default_factory=dict)
    """{URL that the user named: why its host gave no answer}."""
    reached: bool = False
    """True where something answered, whatever it was."""
    read: bool = False
    """True where a file could be read, at least in part."""
    why_not: str | None = None
    """The first file that could not be read, and why."""
    named: Collection[str] = ()
    """Names of the arguments of the spider that were given."""

    def take(self, item: Any) -> None:
        """Look at an item that goes to the feeds."""
        if isinstance(item, SummaryRecord):
            self.summary = item
        elif isinstance(item, SitemapRecord):
            silent = item.status is None and item.outcome == "failed" and not item.sitemap.startswith("file:")
            self.reached = self.reached or not silent
            self.read = self.read or item.outcome not in UNREAD
            if not self.read and self.why_not is None:
                self.why_not = f"{inert(item.sitemap, MAX_URL)}: {inert(item.error or item.outcome)}"
            if silent and item.found_by == "argument":
                self.unreached[item.sitemap] = item.error or "no answer"

    def exit_code(self, code: int, lost: bool, fail_on: str) -> int:
        """The exit code of the command. `code`: that of the crawl; `lost`: a site gave no answer."""
        if self.summary is None or lost or self.unreached or not self.reached:
            return NOT_RUN
        asked_for = code == STOPPED and self.summary.partial in {*LIMITS}.intersection(self.named)
        if code not in (READ, NOTHING_READ) and not asked_for:
            return NOT_RUN
        if any(self.summary.severities.get(name) for name in THRESHOLDS[fail_on]):
            return FOUND
        return CLEAN if self.read or self._says_why else NOT_RUN

    @property
    def _says_why(self) -> bool:
        """True where findings tell what is wrong: where nothing can be read, some rule calls that an error."""
        return self.summary is not None and bool(self.summary.severities.get(Severity.ERROR))

    def explain(self, lost: bool) -> None:
        """Log what kept the run from doing what it was asked, as far as the log does not have it."""
        for url, reason in self.unreached.items():
            logger.error("%s: %s", inert(url, MAX_URL), inert(reason))
        if self.summary is not None and not self.summary.sitemaps and not lost:
            logger.error("%s: no sitemap was found", ", ".join(map(inert, self.summary.domains)))
        if self.why_not and not (self.read or self.unreached or self._says_why):
            logger.error("nothing could be read; %s", self.why_not)
