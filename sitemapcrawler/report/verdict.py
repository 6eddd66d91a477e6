"""Whether a site is healthy, in words, and what the crawl cannot say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sitemapcrawler.items import READ
from sitemapcrawler.report.blocks import state
from sitemapcrawler.report.model import Report
from sitemapcrawler.report.wording import listed
from sitemapcrawler.words import counted

PARTIAL = {
    "max_urls": "it had the URLs that max_urls allows",
    "max_sitemaps": "it had asked for the files that max_sitemaps allows",
    "max_site_time": "a site gave too few pages for the time it took (SITEMAP_MAX_SITE_TIME)",
    "max_time": "the time that max_time allows was over",
    "shutdown": "it was told to stop",
    "store": "its database could not be written",
    "internal error": "it ran into an internal error, which the log tells",
}
"""Why a crawl ended early, by `partial` of the summary."""
LEFT_OUT = {
    "include": ("entry was", "entries were", "left out that the argument include does not match"),
    "exclude": ("entry was", "entries were", "left out that the argument exclude matches"),
    "since": ("entry was", "entries were", "left out as older than the argument since, or undated"),
    "max_urls": ("entry was", "entries were", "left out beyond max_urls"),
    "follow": ("file was", "files were", "left out that the argument follow does not match"),
    "addresses_refused": ("request was", "requests were", "not made, since an address is not public"),
    "max_depth": ("file was", "files were", "left out below max_depth indexes"),
    "max_sitemaps": ("file was", "files were", "left out beyond max_sitemaps"),
    "max_site_time": ("file was", "files were", "left out of a site that gave too few pages for the time it took"),
    "robots": ("URL was", "URLs were", "not judged by robots.txt, since none was asked for on that host"),
    "removed": ("URL", "URLs", "of the baseline may or may not have been removed"),
}
"""What was left out, by reason in the summary: one, many, and the rest of the sentence."""
UNCHECKED = {
    "blocked": "robots.txt forbids us to",
    "sampled-out": "not in the sample",
    "off-site": "on another host",
    "stopped": "the crawl ended, or left the host alone, before",
}
"""Why URLs were not asked for, by reason in the summary."""
NOT_REQUESTED = frozenset({*UNCHECKED, "unchecked"})
"""Keys of `replies` in the summary that count URLs no request was made for."""


UNREACHABLE = "unreachable"
"""Outcome of a robots.txt that gave no answer."""
MAX_RULES = 3
"""Rules named that could not judge everything: after one broken file they are many."""


class Level(StrEnum):
    """How a site does."""

    ERROR = "error"
    WARNING = "warning"
    OK = "ok"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The first thing a reader should know."""

    level: Level
    headline: str
    sentences: Sequence[str]


def verdict(report: Report) -> Verdict:
    """How the site does, as far as the crawl can tell."""
    if (nothing := _nothing(report)) is not None:
        return nothing
    troubles, unchecked = _troubles(report), _unchecked_pages(report)
    errors, warnings, infos = (report.summary.severities.get(name, 0) for name in ("error", "warning", "info"))
    scope = "in what was read" if report.summary.partial else "in any file"
    notes = [f"There {'is' if infos == 1 else 'are'} {counted(infos, 'note')} worth knowing."] if infos else []
    if errors:
        found = [counted(errors, "error")] + [
            counted(number, name) for number, name in ((warnings, "warning"), (infos, "note")) if number
        ]
        misread = "Search engines reject, ignore or misread what has an error."
        return Verdict(Level.ERROR, "Needs repair", [f"{listed(found)}.", *troubles, misread])
    if report.judged == 0:
        unknown = "No rules were applied, so nothing can be said about its health."
        return Verdict(Level.UNKNOWN, "Not judged", [unknown, *troubles])
    if warnings:
        found = [f"No errors {scope}; {counted(warnings, 'warning')}.", *troubles, *unchecked, *notes]
        works = "The sitemap files are valid, with warnings" if unchecked else "Works, with warnings"
        return Verdict(Level.WARNING, works, found)
    clean = [f"No errors and no warnings {scope}.", *troubles, *unchecked, *notes]
    if troubles:  # the rules that would have told were not among those that were chosen
        return Verdict(Level.WARNING, "Not everything works", clean)
    healthy = "The sitemap files are valid" if unchecked else "Healthy"
    return Verdict(Level.OK, f"{healthy} so far" if report.summary.partial else healthy, clean)


def partial(report: Report) -> str:
    """Why the crawl does not cover all there is; empty where it does."""
    reason = report.summary.partial
    return f"The crawl ended early: {PARTIAL.get(reason, reason)}." if reason else ""


def gaps(report: Report) -> list[str]:
    """What the crawl did not check, a sentence each."""
    return [*_not_judged(report), *_not_asked(report), *_left_out(report)]


def _troubles(report: Report) -> list[str]:
    """What is bad whatever the rules say."""
    told = []
    if unread := sum(state(file) == "unread" for file in report.files):
        told.append(f"{counted(unread, 'file')} could not be read.")
    bad = report.summary.bad
    if bad and bad.bad:
        told.append(f"{bad.bad:,} of {counted(bad.checked, 'checked URL')} did not answer with a page at once.")
    return told


def _unchecked_pages(report: Report) -> list[str]:
    """Says that no page was requested; empty where one was."""
    summary = report.summary
    if (summary.bad and summary.bad.checked) or any(kind not in NOT_REQUESTED for kind in summary.replies):
        return []
    return ["No listed page was requested." if summary.replies else "Pages were not checked (-a verify=get)."]


def _nothing(report: Report) -> Verdict | None:
    """The verdict where there is nothing to judge."""
    if not report.summary.sitemaps and report.robots and all(one.outcome == UNREACHABLE for one in report.robots):
        return Verdict(Level.ERROR, "Nothing could be read", ["The site gives no answer."])
    if not report.summary.sitemaps:
        return Verdict(Level.ERROR, "No sitemap found", ["The crawl found no sitemap: no URL is listed for crawlers."])
    read = any(file.record.outcome in (*READ, "truncated") for file in report.files)
    if report.files and not read and not report.listed:
        return Verdict(
            Level.ERROR,
            "Nothing could be read",
            [f"{counted(report.summary.sitemaps, 'sitemap was', 'sitemaps were')} found; none could be read."],
        )
    return None


def _not_judged(report: Report) -> list[str]:
    told = []
    if report.judged == 0:
        told.append("No rules were applied (select=none).")
    elif report.judged and {"select", "ignore"} & report.arguments.keys():
        told.append(f"Only {counted(report.judged, 'rule was', 'rules were')} applied (select, ignore).")
    if not report.judged_agents:
        told.append("Whether robots.txt lets crawlers in was not judged (-a agents=search,ai judges it).")
    return told


def _not_asked(report: Report) -> list[str]:
    replies = report.summary.replies
    if not replies:
        return ["Whether the listed pages answer was not checked (-a verify=head, or verify=get)."]
    told = [
        f"{counted(replies[reason], 'URL was', 'URLs were')} not asked for: {why}."
        for reason, why in UNCHECKED.items()
        if replies.get(reason)
    ]
    if report.arguments.get("verify") == "head" and not _unchecked_pages(report):
        told.append("What the pages say (noindex, canonical, soft 404) was not checked (-a verify=get).")
    return told


def _left_out(report: Report) -> list[str]:
    skipped = report.summary.skipped
    told = [
        f"{counted(skipped[reason], one, many)} {rest}."
        for reason, (one, many, rest) in LEFT_OUT.items()
        if skipped.get(reason)
    ]
    if rules := sorted(skipped.keys() - LEFT_OUT.keys()):
        why = "since not everything was read or asked for"
        told.append(f"{counted(len(rules), 'rule')} could not judge everything, {why}: {listed(rules, MAX_RULES)}.")
    if report.summary.only == "changes":
        told.append("Only entries that changed since the baseline are listed (only=changes).")
    return told
