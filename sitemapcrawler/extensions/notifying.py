"""Sends a message after an audit that has found something new, to the channels of the argument `notify`."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from sitemapcrawler.crawl.state import Audit
from sitemapcrawler.feeds.folder import PAGE
from sitemapcrawler.feeds.reporting import LOST, Reporting
from sitemapcrawler.items import ChangeRecord
from sitemapcrawler.replies.indexability import UNKNOWN, Indexability
from sitemapcrawler.report.model import MAX_CHANGED, Report
from sitemapcrawler.report.wording import health, listed, more_robots, partial, robots_since, true_dates
from sitemapcrawler.rules import Severity
from sitemapcrawler.rules.facts.sites import CHANGED, NEW_PROBLEM, REMOVED
from sitemapcrawler.rules.reach import places
from sitemapcrawler.spiders.sitemap import AuditSpider
from sitemapcrawler.urls.display import counted, inert

logger = logging.getLogger(__name__)


class Notifying:
    """Scrapy extension: at the end of a crawl with `notify`, one message with the verdict, what is new, and the path of
    the report. A channel that fails is one line in the log."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the end of the crawl. Raises NotConfigured unless the spider is an AuditSpider."""
        if not issubclass(crawler.spidercls, AuditSpider):
            raise NotConfigured
        extension = cls(crawler)
        crawler.signals.connect(extension.stopped, signals.engine_stopped)
        return extension

    async def stopped(self) -> None:
        """Send the message, once the report is in its place."""
        audit, reporting = Audit.of(self._crawler), self._crawler.get_extension(Reporting)
        if audit is None or not audit.params.notify or reporting is None:
            return
        lost = self._crawler.stats.get_value(LOST)
        report = reporting.report
        told = [f"The report is not written: {lost}."] if lost else news(report) if report is not None else []
        if not told:
            return
        site = ", ".join(map(str, audit.params.sites)) or "local files"
        headline = "no report" if lost or report is None else health(report).headline
        where = [] if lost else [f"Report: {reporting.folder / PAGE}"]
        for number, channel in enumerate(audit.params.notify, 1):
            if not await asyncio.to_thread(send, channel, inert(f"{site}: {headline}"), "\n".join([*told, *where])):
                logger.error("notify: no message could be sent to channel %d (%s)", number, channel.partition(":")[0])


def send(channel: str, title: str, text: str) -> bool:
    """Send a message as plain text by Apprise, which gives up after some seconds. Returns False if that fails, or
    unless the address says `redirect=yes`, if it redirects: most redirects lose the message."""
    apprise = import_module("apprise")
    for name in ("apprise", "urllib3"):  # their lines name addresses and paths, which are secrets
        logging.getLogger(name).setLevel(logging.CRITICAL)
    asset = apprise.AppriseAsset()
    asset.http_redirects = False
    sender = apprise.Apprise(asset=asset)
    return bool(sender.add(channel) and sender.notify(text, title, body_format=apprise.NotifyFormat.TEXT))


MOST = 5
"""Sentences of a message."""
MAX_RULES = 3
"""Rules that a sentence names, those with the most problems."""
MAX_TEXT = 500
"""Characters of a sentence."""
OF_DATES = frozenset((
    "lastmod-epoch", "lastmod-equals-fetch-time", "lastmod-future", "lastmod-vs-last-modified-header",
    "lastmod-vs-page-date",
))  # fmt: skip
"""Rules by which dates lose the trust of search engines, whose findings two audits can be compared by."""
FALL = 0.05
"""By how much the share of dates that prove true must fall to be news: on any site some pages change without a new
date."""
NOT_LOST = {None, *map(str, (Indexability.OK, *UNKNOWN))}
"""Values of `indexability` of pages that a search engine may index."""


def news(report: Report) -> list[str]:
    """Sentences about what is new since the baseline, the worst first, at most `MOST`; empty if nothing is.

    New are broken limits of the policy, errors, pages that can no longer be indexed, removed URLs, reasons to mistrust
    dates, and what a robots.txt says. An audit that ended early or has read nothing is news each time, since what it
    missed is unknown. Without a baseline all errors are new. Text of the site is inert.
    """
    found = [inert(text, MAX_TEXT) for text in _news(report)]
    more = len(found) - MOST
    return [*found[: MOST - 1], f"{more + 1} more kinds of changes are in the report."] if more > 0 else found


def _news(report: Report) -> Iterator[str]:
    changes = report.summary.changes
    if report.summary.partial:
        yield partial(report)
    if not report.listed:
        yield from health(report).sentences[:1]
    broken = [one for one in report.summary.breaches or () if one.limit and one.limit not in report.broken_before]
    if broken:
        first = f"{broken[0].limit}: {broken[0].message}"
        what = counted(len(broken), "policy limit is broken", "policy limits are broken")
        yield f"{what}{': ' if len(broken) == 1 else ', such as '}{first}."
    if changes is None:
        errors = places(report.summary.severity_reach).get(Severity.ERROR)
        if errors and not report.summary.partial:
            yield f"There is no earlier audit to compare with, and there are {errors}."
        return
    problems, changed = report.changed.get(NEW_PROBLEM, ()), report.changed.get(CHANGED, ())
    errors_now = changes.new_problems.get(Severity.ERROR, 0)
    yield from _told(errors_now, "new error", "new errors", [one for one in problems if one.severity == Severity.ERROR])
    lost, is_cut = [one for one in changed if _is_lost(one)], len(changed) >= MAX_CHANGED
    yield from _told(len(lost), "page can no longer be indexed", "pages can no longer be indexed", lost, is_cut)
    gone = report.changed.get(REMOVED, ())
    yield from _told(changes.removed, "URL is no longer listed", "URLs are no longer listed", gone)
    doubts, is_cut = [one for one in problems if one.rule in OF_DATES], len(problems) >= MAX_CHANGED
    yield from _told(len(doubts), "new reason to mistrust dates", "new reasons to mistrust dates", doubts, is_cut)
    true = report.summary.revisits
    if true is not None and true.true / true.compared < report.true_before - FALL:
        yield true_dates(true)
    said = robots_since(changes)
    if said:
        yield f"{said[0]} {more_robots(len(changes.robots) - 1)}" if len(said) > 1 else said[0]


def _told(number: int, one: str, many: str, examples: Sequence[ChangeRecord], at_least: bool = False) -> Iterator[str]:
    """One sentence about changes of a kind, with the rules of most of them and a place. `one`, `many`: what happened,
    behind the number."""
    if not number:
        return
    rules = [rule for rule, _ in Counter(change.rule for change in examples).most_common(MAX_RULES) if rule]
    named = f" ({listed(rules)})" if rules else ""
    place = next(filter(None, (change.url or change.sitemap or change.after for change in examples)), None)
    where = "" if place is None else f": {place}" if number == 1 else f", such as {place}"
    yield f"{'At least ' * at_least}{counted(number, one, many)}{named}{where}."


def _is_lost(change: ChangeRecord) -> bool:
    return change.what == "indexability" and change.before in NOT_LOST and change.after not in NOT_LOST
