"""Rules on the dates of a whole file: how many there are, and whether they can be those of the pages."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.reader.dates import DATE_LENGTH
from sitemapcrawler.rules.facts import FileFacts
from sitemapcrawler.rules.lastmod import BING, LASTMOD, ZEROS
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.rules.tally import FETCH_WINDOW, Tally, share

BING_ALIKE = "https://blogs.bing.com/webmaster/february-2023/The-Importance-of-Setting-the-lastmod-Tag-in-Your-Sitemap"
SITEMAPS = ("xml-urlset", "xml-index")
MIN_IDENTICAL = 20
"""Dated entries that must all have one day. A smaller site may well have been changed on one day."""
MIN_FETCHED = 5
"""Dated entries that must be there to tell that dates come from the request."""
FETCHED_SHARE = 9, 10
"""How many of how many dated entries must lie near the fetch."""


def _dates(file: FileFacts) -> Tally:
    """The dates of what the file is a list of."""
    return file.child_tally if file.record.format == "xml-index" else file.tally


@rule("lastmod-date-only", Severity.INFO, BING, Needs.WHOLE)
def lastmod_date_only(file: FileFacts) -> Iterator[Message]:
    """Dates have no time. Once for a file, with their number and share.

    Why: a day is legal, and right where no more is known. Bing prefers date and time with a time zone, which say
    whether a page changed since it was read this morning.
    Bad: `<lastmod>2026-01-05</lastmod>` where the time is known
    Good: `<lastmod>2026-01-05T10:00:00+01:00</lastmod>`
    """
    dates = _dates(file)
    if dates.date_only and file.record.format in SITEMAPS:
        yield Message(f"{share(dates.date_only, dates.dated, 'dates')} have no time")


@rule("lastmod-missing", Severity.INFO, LASTMOD, Needs.WHOLE)
def lastmod_missing(file: FileFacts) -> Iterator[Message]:
    """Entries have no date. Once for a file, with the share of those that have one. News articles have their own.

    Why: search engines visit changed pages sooner when they learn of the change. No date is better than a wrong one.
    Bad: `<url><loc>https://example.com/</loc></url>`
    Good: `<url><loc>https://example.com/</loc><lastmod>2026-01-05</lastmod></url>`
    """
    tally = file.tally
    if tally.undated and file.record.format != "text":
        yield Message(f"{share(tally.entries - tally.undated, tally.entries, 'entries')} have a date")


@rule("lastmod-all-identical", Severity.WARNING, BING_ALIKE, Needs.WHOLE)
def lastmod_all_identical(file: FileFacts) -> Iterator[Message]:
    """All dates are of one day, and there are 20 or more. News sitemaps and feeds, which list the latest, are apart.

    Why: such dates are those of the file, not of the pages; search engines learn to ignore the dates of the site.
    Bad: each `<lastmod>` is the day on which the site was built
    Good: each `<lastmod>` is the day on which its page was last changed
    """
    tally = file.tally
    if file.record.format != "xml-urlset" or tally.news or tally.dated < MIN_IDENTICAL:
        return
    day = (tally.newest or "")[:DATE_LENGTH]
    if (tally.oldest or "")[:DATE_LENGTH] != day or day in ZEROS or tally.is_future(day) or _is_of_request(tally):
        return  # what is wrong with the dates is told already
    yield Message(f"all {tally.dated} dates are of one day, {day}", value=day)


@rule("lastmod-equals-fetch-time", Severity.WARNING, LASTMOD, Needs.WHOLE)
def lastmod_equals_fetch_time(file: FileFacts) -> Iterator[Message]:
    """Nine of ten dates or more, of at least five, are the time of the request.

    Why: the server writes the present time for the date, so every page looks changed at every visit. Search engines
    learn to ignore the dates of the site.
    Bad: `<lastmod><?= date('c') ?></lastmod>`
    Good: the time at which the page was last changed
    """
    dates = _dates(file)
    if _is_of_request(dates):
        minutes = FETCH_WINDOW.seconds // 60
        text = f"{share(dates.at_fetch, dates.dated, 'dates')} lie within {minutes} minutes of the fetch"
        yield Message(f"{text}: they seem to be made by the request", value=dates.newest)


def _is_of_request(dates: Tally) -> bool:
    near, of = FETCHED_SHARE
    return dates.dated >= MIN_FETCHED and dates.at_fetch * of >= dates.dated * near
