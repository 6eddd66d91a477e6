"""Rules on lastmod: format, plausibility over a whole file, and comparison with the listed page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache

from sitemapcrawler.reader.dates import DATE_LENGTH, iso, parse
from sitemapcrawler.reader.formats import URLSET
from sitemapcrawler.replies import Answer, Ok
from sitemapcrawler.replies.page.metadata import MODIFIED
from sitemapcrawler.rules.facts.given import EntryFacts, FileFacts, ReplyFacts
from sitemapcrawler.rules.facts.objects import date_of, is_in_feed, line_of, standard_of, text_of
from sitemapcrawler.rules.facts.replied import fault_of
from sitemapcrawler.rules.facts.revisits import REVISITS
from sitemapcrawler.rules.facts.site import ALONE, SiteFacts, on_entry
from sitemapcrawler.rules.facts.suspects import OLDEST
from sitemapcrawler.rules.facts.tally import (
    CLOCKS,
    DATE_NOUNS,
    ENTRY_NOUNS,
    FETCH_WINDOW,
    FETCHED_SHARE,
    JANUARY_1970,
    MIN_FETCHED,
    MIN_IDENTICAL,
    ZEROS,
    Match,
    Tally,
    header_date,
    match,
    share,
)
from sitemapcrawler.rules.facts.written import EAST, MAX_BYTES, DateForm, Standard, Written, size_of, written
from sitemapcrawler.rules.registry import ERROR, INFO, LASTMODS, WARNING, Message, Of, Per, Severity, SiteMessage, rule
from sitemapcrawler.urls.display import quoted

LASTMOD = "https://www.sitemaps.org/protocol.html#lastmoddef"
W3C = "https://www.w3.org/TR/NOTE-datetime"
SCHEMA = "https://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd"
BING = "https://blogs.bing.com/webmaster/July-2025/Keeping-Content-Discoverable-with-Sitemaps-in-AI-Powered-Search"
YANDEX = "https://yandex.com/support/webmaster/en/controlling-robot/sitemap.html"
EXAMPLES = {
    Standard.W3C: "2026-01-05 or 2026-01-05T10:00:00+00:00",
    Standard.RFC3339: "2026-01-05T10:00:00Z",
    Standard.RFC822: "Mon, 05 Jan 2026 10:00:00 +0000",
}
OTHERS = {"Search Console": "Invalid date"}


def _written_date(entry: EntryFacts) -> Written | None:
    text = entry.record.lastmod
    return None if text is None else written(text, standard_of(entry))


def _has_form(entry: EntryFacts, *forms: DateForm) -> bool:
    found = _written_date(entry)
    return found is not None and found.form in forms


def _date_message(entry: EntryFacts, said: str, severity: Severity | None = None, per: Per | None = None) -> Message:
    """Make a message about the date of an entry; `said` follows the date."""
    value = entry.record.lastmod or ""
    return Message(f"{quoted(value)} {said}", line_of(date_of(entry)), value=value, severity=severity, per=per)


@rule("lastmod-invalid", ERROR, W3C, LASTMODS, per=Per.ENTRY("have a date in another notation"), also=OTHERS)
def lastmod_invalid(entry: EntryFacts) -> Iterator[Message]:
    """The date is not written as W3C Datetime. In a feed, it is not written as the feed's format wants it (a warning
    if it is clear); once for a feed, whose program writes all of its dates alike.

    Why: a search engine that cannot read a date goes without it, or takes it for another one (05/06/2026).
    Fix: Write the date as `YYYY-MM-DD`, or as `YYYY-MM-DDThh:mm:ss+hh:mm` with its time zone; in RSS as
    `Mon, 05 Jan 2026 10:00:00 +0000`.
    Bad: `<lastmod>05/06/2026</lastmod>`, `<lastmod>2026-01-05T10:00:00+0100</lastmod>`
    Good: `<lastmod>2026-01-05</lastmod>`, `<lastmod>2026-01-05T10:00:00+01:00</lastmod>`
    """
    if _has_form(entry, DateForm.OTHER, DateForm.ZONED_DAY):
        yield _illegal_date(entry)
    element = date_of(entry) if _has_form(entry, DateForm.LEGAL) and not is_in_feed(entry) else None
    if element is not None and text_of(element) != element.text:
        text = text_of(element)
        yield Message(f"{quoted(text)} has more around the date than XML takes for blanks", element.line, value=text)


def _illegal_date(entry: EntryFacts) -> Message:
    standard, moment = standard_of(entry), entry.record.lastmod_at
    read = f"; it was read as {moment}" if moment else ""
    in_feed = is_in_feed(entry)
    severity = WARNING if moment and in_feed else None
    text = f"is not written as {standard}, such as {EXAMPLES[standard]}{read}"
    return _date_message(entry, text, severity, Per.FILE if in_feed else None)


@rule("lastmod-xsd-only-invalid", WARNING, SCHEMA, LASTMODS, per=Per.FILE("have a date that the schema does not allow"))
def lastmod_xsd_only_invalid(entry: EntryFacts) -> Iterator[Message]:
    """The date is valid, but not by the schema. It is W3C Datetime without a day, or with a time without seconds.

    Why: validators that use the schema refuse the file.
    Fix: Write the full date; a time needs seconds.
    Bad: `<lastmod>2026-01</lastmod>`, `<lastmod>2026-01-05T10:00Z</lastmod>`
    Good: `<lastmod>2026-01-05</lastmod>`, `<lastmod>2026-01-05T10:00:00Z</lastmod>`
    """
    if _has_form(entry, DateForm.COARSE, DateForm.NO_SECONDS) and not is_in_feed(entry):
        yield _date_message(
            entry, "is legal W3C Datetime, but the schema wants year, month and day, and a time with seconds"
        )


@rule("lastmod-no-timezone", WARNING, W3C, LASTMODS, per=Per.FILE("have a time without a time zone"))
def lastmod_no_timezone(entry: EntryFacts) -> Iterator[Message]:
    """The date has a time, but no time zone.

    Why: it may mean moments up to 26 hours apart; W3C Datetime wants a zone with every time, and Bing asks for it.
    Fix: Append the time zone to the time: `Z` for UTC, or an offset such as `+01:00`.
    Bad: `<lastmod>2026-01-05T10:00:00</lastmod>`
    Good: `<lastmod>2026-01-05T10:00:00+01:00</lastmod>`
    """
    if _has_form(entry, DateForm.NO_ZONE):
        yield _date_message(entry, "has a time without a time zone")


@rule("lastmod-empty", WARNING, LASTMOD, LASTMODS, per=Per.FILE("have an empty date"))
def lastmod_empty(entry: EntryFacts) -> Iterator[Message]:
    """The element for the date is empty.

    Why: an empty element is not valid; an entry without the element is.
    Fix: Remove the empty element, or write the date of the last change.
    Bad: `<url><loc>https://example.com/</loc><lastmod></lastmod></url>`
    Good: `<url><loc>https://example.com/</loc></url>`
    """
    if entry.record.lastmod:
        return
    element = date_of(entry)
    in_feed = is_in_feed(entry) and element is not None and not element.has_children
    if entry.record.lastmod == "" or in_feed:
        yield Message("the date is empty: leave the element out", line_of(element), value="")


@rule("lastmod-impossible", ERROR, W3C, LASTMODS, also=OTHERS)
def lastmod_impossible(entry: EntryFacts) -> Iterator[Message]:
    """The date does not exist. It is well formed, but there is no such day, time or time zone.

    Why: search engines cannot read it. It comes from empty database fields, and from counting with days and months.
    Fix: Write the real date of the last change, or omit `<lastmod>`.
    Bad: `<lastmod>0000-00-00</lastmod>`, `<lastmod>2026-02-30</lastmod>`, `<lastmod>2026-01-05T25:00:00Z</lastmod>`
    Good: `<lastmod>2026-02-28</lastmod>`, or no date
    """
    found = _written_date(entry)
    if found is not None and found.form is DateForm.IMPOSSIBLE:
        yield _date_message(entry, f"is no date: {found.why}")


@rule("lastmod-epoch", WARNING, LASTMOD, LASTMODS, per=Per.FILE("have the zero of a clock as their date"))
def lastmod_epoch(entry: EntryFacts) -> Iterator[Message]:
    """The date is the zero of a clock. The real one is not known, as with 1970-01-01.

    Why: it is no date of the page. One in January 1970 comes from seconds taken for milliseconds.
    Fix: Omit `<lastmod>` where the date of the last change is unknown.
    Bad: `<lastmod>1970-01-01T00:00:00+00:00</lastmod>`, `<lastmod>0001-01-01T00:00:00Z</lastmod>`
    Good: the real date, or none
    """
    found = _written_date(entry)
    zero = _zero(entry, found) if found is not None and found.is_date else None
    if zero is not None:
        yield _date_message(entry, f"is {zero}, not the date of a page")


def _zero(entry: EntryFacts, found: Written) -> str | None:
    """Name of the clock zero that a date equals, as written or in UTC; None if there is none."""
    moment = entry.record.lastmod_at or ""
    zero = ZEROS.get(moment[: len("1970-01-01")]) or ZEROS.get(found.day)
    return zero or ("near the zero of Unix time" if moment.startswith(JANUARY_1970) else None)


@rule("lastmod-future", WARNING, BING, LASTMODS)
def lastmod_future(entry: EntryFacts) -> Iterator[Message]:
    """The date is in the future. It is later than the fetch in every time zone, and by more than clocks differ.

    Why: nothing was modified in the future. Bing rejects such dates, and all dates of the site become less credible.
    Fix: Write the date of the last change, not of a planned one. Check clock and time zone of the server.
    Bad: `<lastmod>2099-01-01</lastmod>`
    Good: `<lastmod>2026-01-05</lastmod>`
    """
    found = _written_date(entry)
    if found is None or not found.is_date:
        return
    latest = _latest(entry.file.fetched_at)[found.zoned]
    if (entry.record.lastmod_at or f"{found.day}T00:00:00Z") > latest:
        fetched = iso(entry.file.fetched_at.replace(microsecond=0))
        yield _date_message(entry, f"is in the future: the file was fetched at {fetched}")


@lru_cache(maxsize=8)
def _latest(fetched_at: datetime) -> tuple[str, str]:
    """Latest dates that do not count as future: (without zone, with zone)."""
    return iso(fetched_at + EAST + CLOCKS), iso(fetched_at + CLOCKS)


@rule("lastmod-too-old", INFO, LASTMOD, LASTMODS, per=Per.FILE("have a date before 2005"))
def lastmod_too_old(entry: EntryFacts) -> Iterator[Message]:
    """The date is from before 2005, when sitemaps began.

    Why: it may be right, for an archive; often it is the date of what the page is about, or of a file.
    Fix: Check that this is when the page last changed; else write that date or omit it.
    Bad: `<lastmod>1998-07-12</lastmod>` for a page about a match of that day
    Good: the day on which the page was last changed
    """
    found = _written_date(entry)
    if found is None or not found.is_date or _zero(entry, found):
        return
    if (entry.record.lastmod_at or f"{found.day}T00:00:00Z") < OLDEST:
        yield _date_message(entry, f"is before {OLDEST[:4]}, when sitemaps began")


@rule("lastmod-over-100-bytes", ERROR, YANDEX, LASTMODS)
def lastmod_over_100_bytes(entry: EntryFacts) -> Iterator[Message]:
    """The date is longer than 100 bytes.

    Why: Yandex accepts no more.
    Fix: Write only the date into `<lastmod>`.
    Bad: `<lastmod>` with a sentence in it
    Good: `<lastmod>2026-01-05</lastmod>`
    """
    if _has_form(entry, DateForm.TOO_LONG):
        yield _date_message(entry, f"has {size_of(entry.record.lastmod or '')} bytes; {MAX_BYTES} are allowed")


BING_ALIKE = "https://blogs.bing.com/webmaster/february-2023/The-Importance-of-Setting-the-lastmod-Tag-in-Your-Sitemap"


def _dates(file: FileFacts) -> Tally:
    """Date counts of the file's entries or children."""
    return file.child_tally if file.format.is_index else file.tally


@rule("lastmod-date-only", INFO, BING, Of.WHOLE, per=Per.SITE("have dates without a time"))
def lastmod_date_only(file: FileFacts) -> Iterator[Message]:
    """Dates have no time.

    Why: a day is legal, and right where no more is known. Bing prefers date and time with a time zone, which say
    whether a page changed since it was read this morning.
    Fix: Write the time with its zone too, if it is known.
    Bad: `<lastmod>2026-01-05</lastmod>` where the time is known
    Good: `<lastmod>2026-01-05T10:00:00+01:00</lastmod>`
    """
    dates = _dates(file)
    if dates.date_only and file.format.protocol_entry:
        yield Message(share(dates.date_only, dates.dated, DATE_NOUNS, ("has no time", "have no time")))


@rule("lastmod-missing", INFO, LASTMOD, Of.WHOLE, per=Per.SITE("have entries without a date"))
def lastmod_missing(file: FileFacts) -> Iterator[Message]:
    """Entries have no date. News articles have their own.

    Reported once: `cross-lastmod-coverage` replaces it where some entries of a site with several files have a date.

    Why: search engines visit changed pages sooner when they learn of the change. No date is better than a wrong one.
    Fix: Add a `<lastmod>` with the date of each page's last change, where it is known.
    Bad: `<url><loc>https://example.com/</loc></url>`
    Good: `<url><loc>https://example.com/</loc><lastmod>2026-01-05</lastmod></url>`
    """
    tally = file.tally
    if tally.undated and file.format.has_dates:
        yield Message(share(tally.undated, tally.entries, ENTRY_NOUNS, ("has no date", "have no date")))


@rule("lastmod-all-identical", INFO, BING_ALIKE, Of.WHOLE, per=Per.SITE("have the same day in all dates"))
def lastmod_all_identical(file: FileFacts) -> Iterator[Message]:
    """All dates are the same day. The file has 20 or more. News sitemaps and feeds, which list the latest, do not
    count.

    Why: such dates are those of the file, not of the pages; search engines learn to ignore the dates of the site.
    Nothing else comes of it, and static site generators write all dates so, hence a note.
    Fix: Write the date of each page's own last change, or omit `<lastmod>`.
    Bad: each `<lastmod>` is the day on which the site was built
    Good: each `<lastmod>` is the day on which its page was last changed
    """
    tally = file.tally
    if file.format is not URLSET or tally.news or tally.dated < MIN_IDENTICAL:
        return
    day = (tally.newest or "")[:DATE_LENGTH]
    if (tally.oldest or "")[:DATE_LENGTH] != day or day in ZEROS or tally.is_future(day) or _is_of_request(tally):
        return  # another rule already reports these dates
    yield Message(f"all {tally.dated:,} dates are of one day, {day}", value=day)


@rule("lastmod-equals-fetch-time", WARNING, LASTMOD, Of.WHOLE)
def lastmod_equals_fetch_time(file: FileFacts) -> Iterator[Message]:
    """The dates are the time of the request. Nine of ten are, or more, of at least five.

    Why: the server writes the present time for the date, so every page looks changed at every visit. Search engines
    learn to ignore the dates of the site.
    Fix: Write the time of each page's last change instead of the current time.
    Bad: `<lastmod><?= date('c') ?></lastmod>`
    Good: the time at which the page was last changed
    """
    dates = _dates(file)
    if _is_of_request(dates):
        minutes = FETCH_WINDOW.seconds // 60
        text = (
            f"{share(dates.at_fetch, dates.dated, DATE_NOUNS, ('lies', 'lie'))} within {minutes} minutes of the fetch"
        )
        yield Message(f"{text}: they seem to be made by the request", value=dates.newest)


def _is_of_request(dates: Tally) -> bool:
    near, of = FETCHED_SHARE
    return dates.dated >= MIN_FETCHED and dates.at_fetch * of >= dates.dated * near


ACCURATE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#additional-notes-about-xml-sitemaps"
"""Google uses lastmod if it is "consistently and verifiably accurate"."""

APART = (Match.OLDER, Match.NEWER)

AGE = re.compile(r"[0-9]{1,9}")
"""Value of the Age header in seconds. Source: RFC 9111, 5.1"""


@rule(
    "lastmod-vs-last-modified-header",
    WARNING,
    ACCURATE,
    Of.REPLY,
    per=Per.FILE("have a date that the Last-Modified header contradicts"),
)
def lastmod_vs_last_modified_header(facts: ReplyFacts) -> Iterator[Message]:
    """lastmod and the Last-Modified header differ. By more than a day, for the page of the entry.

    A header that is the time of the request says nothing, and no header does where the page has a date of its own.

    Why: one of the two is wrong, and search engines check. They ignore the dates of a site that are often wrong. Where
    the header is newer on all pages alike, it may be the date of a deployment.
    Fix: Take `<lastmod>` and the Last-Modified header from the same date: that of the last change.
    Bad: `<lastmod>2026-01-05</lastmod>` and `Last-Modified: Tue, 03 Mar 2026 09:00:00 GMT`
    Good: both say when the page changed
    """
    lastmod, reply = _comparable_lastmod(facts), facts.reply
    header = reply.last_modified if isinstance(reply, Answer) else None
    if lastmod is None or header is None or _page_dates(facts):
        return
    moment = header_date(header, facts.asked_at)
    how = match(lastmod, moment) if moment is not None else None
    if moment is not None and how in APART and not _is_of_cache(facts, moment):
        yield _contradiction(how, lastmod, f"the Last-Modified header {quoted(header)}", header)


@rule("lastmod-vs-page-date", WARNING, ACCURATE, Of.REPLY, per=Per.FILE("have a date that the page contradicts"))
def lastmod_vs_page_date(facts: ReplyFacts) -> Iterator[Message]:
    """lastmod and the date on the page differ. By more than a day from the date of change that the page names.

    Checked are `dateModified` of JSON-LD and of elements, `article:modified_time` and the like. Where a page has
    several, one that agrees is enough.

    Why: one of the two is wrong. Search engines read both, and ignore lastmod where it is often wrong.
    Fix: Take `<lastmod>` and the page's `dateModified` from the same field of the CMS.
    Bad: `<lastmod>2026-03-03</lastmod>` and `"dateModified": "2021-07-09"`
    Good: both say when the page changed
    """
    lastmod = _comparable_lastmod(facts)
    dates = _page_dates(facts) if lastmod is not None else []
    found = [(match(lastmod or "", text), source, text) for text, source in dates]
    if found and all(how in APART for how, _, _ in found):
        how, source, text = found[0]
        yield _contradiction(how, lastmod or "", f"the date of change in the page {quoted(text)} ({source})", text)


def _comparable_lastmod(facts: ReplyFacts) -> str | None:
    """The lastmod of an entry whose URL returns its page; None if it is not comparable or already reported.

    Excludes dates of RSS items, which usually are publication dates and have another format.
    """
    record = facts.record
    if not record.lastmod or not record.lastmod_at or not isinstance(facts.reply, Ok) or fault_of(facts) is not None:
        return None
    if written(record.lastmod, Standard.W3C).form in (DateForm.OTHER, DateForm.IMPOSSIBLE):
        return None
    zero = record.lastmod_at[:DATE_LENGTH] in ZEROS or record.lastmod_at.startswith(JANUARY_1970)
    return None if zero or record.lastmod_at > iso(facts.asked_at) else record.lastmod


def _page_dates(facts: ReplyFacts) -> list[tuple[str, str]]:
    """Modification dates in the page as (text, source), without those generated by the request."""
    dates = facts.page.dates if facts.page is not None else ()
    changed = ((date.written, date.source) for date in dates if date.kind == MODIFIED)
    return [(text, source) for text, source in changed if header_date(text, facts.asked_at) is not None]


def _is_of_cache(facts: ReplyFacts, moment: str) -> bool:
    """True if a Last-Modified header states when a cache fetched the page, which is the time of a request as well."""
    changed, fetched = parse(moment), []
    age = next(iter(facts.headers.get("age", ())), "").strip()
    if AGE.fullmatch(age):
        fetched.append(facts.asked_at - timedelta(seconds=int(age)))
    date = parse(next(iter(facts.headers.get("date", ())), ""))
    fetched += [date] if date is not None else []
    return changed is not None and any(changed + FETCH_WINDOW >= one for one in fetched)


def _contradiction(how: Match | None, lastmod: str, other: str, value: str) -> Message:
    newer = "the latter" if how is Match.OLDER else "lastmod"
    return Message(f"lastmod {quoted(lastmod)} and {other} are more than a day apart; {newer} is newer", value=value)


@rule("lastmod-moved-content-same", WARNING, ACCURATE, Of.REVISIT)
def lastmod_moved_content_same(site: SiteFacts) -> Iterator[SiteMessage]:
    """lastmod moved, and the page stayed the same. Since the crawl before.

    Checked are the main content, title, main heading, canonical and noindex. Images, structured data, menus, dates and
    the year of a copyright are no part of the main content.

    Why: Google uses `<lastmod>` only where it is consistently and verifiably accurate. If dates move by themselves, it
    ignores all of them.
    Fix: Write the date of the last change of the content, not of the last build, deployment or save.
    Bad: `<lastmod>` of last night for a page whose text is a year old
    Good: the date on which the text was edited
    """
    site.need(REVISITS)
    faults = "SELECT place, was AS what FROM temp.site_revisits WHERE moved"
    for fault in site.faults(faults, entries=ALONE):
        text = f"lastmod moved from {quoted(fault.what or '')}, and the page is the same as in the crawl before"
        yield on_entry(fault, text, fault.what)


@rule("lastmod-same-content-changed", WARNING, ACCURATE, Of.REVISIT)
def lastmod_same_content_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """The content of the page changed, and lastmod did not. Since the crawl before; the date is older than that.

    Why: search engines revisit pages whose date has moved; others wait for their turn.
    Fix: Let the CMS update `<lastmod>` whenever it saves the content.
    Bad: a new price list on a page dated two years ago
    Good: the date on which the text was edited
    """
    site.need(REVISITS)
    faults = "SELECT place, written AS what FROM temp.site_revisits WHERE stayed"
    for fault in site.faults(faults, entries=ALONE):
        text = f"lastmod is still {quoted(fault.what or '')}, and the content has changed since the crawl before"
        yield on_entry(fault, text, fault.what)


MIN_TOGETHER = 10
"""Dates that moved together. An editor may save some pages at once."""
TOGETHER_MIN = 10
"""Minutes in which they lie: a generator or a deployment takes that long."""


@rule("lastmod-moved-together", INFO, ACCURATE, Of.REVISIT)
def lastmod_moved_together(site: SiteFacts) -> Iterator[SiteMessage]:
    """Most dates of a file moved together without their pages. At least 10, to within 10 minutes of each other.

    `lastmod-moved-content-same` reports the pages; this is the likely cause.

    Why: the generator writes the time at which it runs, or a deployment touches all files.
    Fix: Take `<lastmod>` from the content in the CMS, not from the clock or from the time of files.
    Bad: `<lastmod>` of last night for all pages
    Good: the date of its last edit for each page
    """
    site.need(REVISITS)
    files = f"""
        SELECT sitemap, max_by(written, (number, written)), max(number), any_value(compared)
        FROM (
            SELECT *, count(*) FILTER (moved) OVER (
                PARTITION BY file ORDER BY moment RANGE BETWEEN CURRENT ROW AND INTERVAL {TOGETHER_MIN} MINUTE FOLLOWING
            ) AS number, count(*) OVER (PARTITION BY file) AS compared
            FROM temp.site_revisits)
        GROUP BY sitemap HAVING max(number) >= {MIN_TOGETHER} AND 2 * max(number) > any_value(compared)
        ORDER BY sitemap"""
    for sitemap, date, number, compared in list(site.query(files)):
        moved = (
            f"{number:,} of {compared:,} compared dates moved to within {TOGETHER_MIN} minutes, such as {quoted(date)}"
        )
        yield SiteMessage(f"{moved}; their pages stayed the same", sitemap=sitemap, value=date)
