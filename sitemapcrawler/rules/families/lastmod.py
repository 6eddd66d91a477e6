"""Rules on lastmod: format, plausibility over a whole file, and comparison with the listed page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache

from sitemapcrawler.reader.dates import DATE_LENGTH, iso, parse
from sitemapcrawler.reader.formats import URLSET
from sitemapcrawler.replies import ReplyKind
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


@rule("lastmod-invalid", ERROR, W3C, LASTMODS, per=Per.ENTRY("have a date in another format"), also=OTHERS)
def lastmod_invalid(entry: EntryFacts) -> Iterator[Message]:
    """The date is not in W3C Datetime format. In a feed, not in the format that the feed requires: once per feed, and a
    warning if the date is unambiguous.

    Why: Search engines ignore a date that they cannot read, or misread it (05/06/2026).
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
        yield Message(
            f"{quoted(text)} has characters around the date that are not XML whitespace", element.line, value=text
        )


def _illegal_date(entry: EntryFacts) -> Message:
    standard, moment = standard_of(entry), entry.record.lastmod_at
    read = f"; it was read as {moment}" if moment else ""
    in_feed = is_in_feed(entry)
    severity = WARNING if moment and in_feed else None
    text = f"is not in {standard} format, such as {EXAMPLES[standard]}{read}"
    return _date_message(entry, text, severity, Per.FILE if in_feed else None)


@rule("lastmod-xsd-only-invalid", WARNING, SCHEMA, LASTMODS, per=Per.FILE("have a date that the schema does not allow"))
def lastmod_xsd_only_invalid(entry: EntryFacts) -> Iterator[Message]:
    """The date is valid, but violates the schema. It is a W3C Datetime without a day, or with a time without
    seconds.

    Why: Validators that use the schema reject the file.
    Fix: Write the full date; if it has a time, include the seconds.
    Bad: `<lastmod>2026-01</lastmod>`, `<lastmod>2026-01-05T10:00Z</lastmod>`
    Good: `<lastmod>2026-01-05</lastmod>`, `<lastmod>2026-01-05T10:00:00Z</lastmod>`
    """
    if _has_form(entry, DateForm.COARSE, DateForm.NO_SECONDS) and not is_in_feed(entry):
        yield _date_message(
            entry, "is legal W3C Datetime, but the schema requires year, month and day, and seconds in a time"
        )


@rule("lastmod-no-timezone", WARNING, W3C, LASTMODS, per=Per.FILE("have a time without a time zone"))
def lastmod_no_timezone(entry: EntryFacts) -> Iterator[Message]:
    """The date has a time, but no time zone.

    Why: Without one, the time is ambiguous by up to 26 hours. W3C Datetime requires a time zone with every time, and
    Bing asks for it.
    Fix: Append the time zone to the time: `Z` for UTC, or an offset such as `+01:00`.
    Bad: `<lastmod>2026-01-05T10:00:00</lastmod>`
    Good: `<lastmod>2026-01-05T10:00:00+01:00</lastmod>`
    """
    if _has_form(entry, DateForm.NO_ZONE):
        yield _date_message(entry, "has a time without a time zone")


@rule("lastmod-empty", WARNING, LASTMOD, LASTMODS, per=Per.FILE("have an empty date"))
def lastmod_empty(entry: EntryFacts) -> Iterator[Message]:
    """The element for the date is empty.

    Why: An empty element is not valid; an entry without the element is.
    Fix: Remove the empty element, or write the date of the last change.
    Bad: `<url><loc>https://example.com/</loc><lastmod></lastmod></url>`
    Good: `<url><loc>https://example.com/</loc></url>`
    """
    if entry.record.lastmod:
        return
    element = date_of(entry)
    in_feed = is_in_feed(entry) and element is not None and not element.has_children
    if entry.record.lastmod == "" or in_feed:
        yield Message("the date is empty: omit the element", line_of(element), value="")


@rule("lastmod-impossible", ERROR, W3C, LASTMODS, also=OTHERS)
def lastmod_impossible(entry: EntryFacts) -> Iterator[Message]:
    """The date does not exist. It is well formed, but no such day, time or time zone exists, or the weekday is wrong.

    Why: Search engines cannot read it. Usual causes are empty database fields, and date arithmetic by hand.
    Fix: Write the real date of the last change, or omit `<lastmod>`.
    Bad: `<lastmod>0000-00-00</lastmod>`, `<lastmod>2026-02-30</lastmod>`, `<lastmod>2026-01-05T25:00:00Z</lastmod>`
    Good: `<lastmod>2026-02-28</lastmod>`, or no date
    """
    found = _written_date(entry)
    if found is not None and found.form is DateForm.IMPOSSIBLE:
        yield _date_message(entry, f"is not a date: {found.why}")


@rule("lastmod-epoch", WARNING, LASTMOD, LASTMODS, per=Per.FILE("have a clock's zero value as their date"))
def lastmod_epoch(entry: EntryFacts) -> Iterator[Message]:
    """The date is a clock's zero value. Programs write a date such as 1970-01-01 if the real one is unknown.

    Why: It is not the date of the page. A date in January 1970 usually comes from seconds read as milliseconds.
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
    """The date is in the future. It is later than the fetch in every time zone, by more than clocks usually differ.

    Why: A page cannot have changed in the future. Bing rejects such dates, and search engines trust the site's other
    dates less.
    Fix: Write the date of the last change, not of a planned one. Check the server's clock and time zone.
    Bad: `<lastmod>2099-01-01</lastmod>`
    Good: `<lastmod>2026-01-05</lastmod>`
    """
    found = _written_date(entry)
    if found is not None and is_future(found, entry.record.lastmod_at, entry.file.fetched_at):
        fetched = iso(entry.file.fetched_at.replace(microsecond=0))
        yield _date_message(entry, f"is in the future: the file was fetched at {fetched}")


def is_future(found: Written, moment: str | None, fetched_at: datetime) -> bool:
    """True for a date later than the fetch of its file in every time zone, by more than clocks usually differ.

    `moment`: the date in UTC; None if unknown."""
    return found.is_date and (moment or f"{found.day}T00:00:00Z") > _latest(fetched_at)[found.zoned]


@lru_cache(maxsize=8)
def _latest(fetched_at: datetime) -> tuple[str, str]:
    """Latest dates that do not count as future: (without zone, with zone)."""
    return iso(fetched_at + EAST + CLOCKS), iso(fetched_at + CLOCKS)


@rule("lastmod-too-old", INFO, LASTMOD, LASTMODS, per=Per.FILE("have a date before 2005"))
def lastmod_too_old(entry: EntryFacts) -> Iterator[Message]:
    """The date is from before 2005, when sitemaps began.

    Why: It may be right for an archive. Often it is the date of the page's subject, or of a file.
    Fix: Check that the page last changed on this date; otherwise correct or omit it.
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

    Why: Yandex accepts at most 100 bytes.
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

    Why: A date alone is legal, and right if you know no more. Bing prefers a time and time zone as well: they tell
    whether the page changed since this morning's crawl.
    Fix: Add the time and its time zone, if known.
    Bad: `<lastmod>2026-01-05</lastmod>` where the time is known
    Good: `<lastmod>2026-01-05T10:00:00+01:00</lastmod>`
    """
    dates = _dates(file)
    if dates.date_only and file.format.protocol_entry:
        yield Message(share(dates.date_only, dates.dated, DATE_NOUNS, ("has no time", "have no time")))


@rule("lastmod-missing", INFO, LASTMOD, Of.WHOLE, per=Per.SITE("have entries without a date"))
def lastmod_missing(file: FileFacts) -> Iterator[Message]:
    """Entries have no date. News articles do not count: they have a date of their own.

    If a site has several files and some of their entries have a date, `cross-lastmod-coverage` replaces this finding.

    Why: Search engines revisit a changed page sooner if they learn of the change. No date is better than a wrong one.
    Fix: Add a `<lastmod>` with the date of each page's last change, if known.
    Bad: `<url><loc>https://example.com/</loc></url>`
    Good: `<url><loc>https://example.com/</loc><lastmod>2026-01-05</lastmod></url>`
    """
    tally = file.tally
    if tally.undated and file.format.has_dates:
        yield Message(share(tally.undated, tally.entries, ENTRY_NOUNS, ("has no date", "have no date")))


@rule("lastmod-all-identical", INFO, BING_ALIKE, Of.WHOLE, per=Per.SITE("have the same day in all dates"))
def lastmod_all_identical(file: FileFacts) -> Iterator[Message]:
    """All dates are on the same day. Checked in files with at least 20 dates; news sitemaps and feeds, which list
    recent pages, do not count.

    Why: Such dates describe the file, not its pages, and search engines learn to ignore the site's dates. It
    does no other harm, and is common with static site generators, so it is a note.
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
    yield Message(f"all {tally.dated:,} dates are on one day, {day}", value=day)


@rule("lastmod-equals-fetch-time", WARNING, LASTMOD, Of.WHOLE)
def lastmod_equals_fetch_time(file: FileFacts) -> Iterator[Message]:
    """The dates are the time of the request. At least 90 % of them, in a file with five or more.

    Why: The server writes the current time as the date, so every page looks changed at every visit. Search engines
    learn to ignore the site's dates.
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
        yield Message(f"{text}: the server seems to write the time of the request", value=dates.newest)


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
    """lastmod and the page's Last-Modified header differ. By more than a day.

    The header does not count if it is the time of the request, or if the page itself names a date.

    Why: One of the two is wrong. Search engines check, and ignore the dates of a site if they are often wrong. If the
    header is newer on all pages, it may be the date of a deployment.
    Fix: Use the date of the last change for both `<lastmod>` and the Last-Modified header.
    Bad: `<lastmod>2026-01-05</lastmod>` and `Last-Modified: Tue, 03 Mar 2026 09:00:00 GMT`
    Good: both say when the page changed
    """
    lastmod, header = _comparable_lastmod(facts), facts.reply.last_modified
    if lastmod is None or header is None or _page_dates(facts):
        return
    moment = header_date(header, facts.asked_at)
    how = match(lastmod, moment) if moment is not None else None
    if moment is not None and how in APART and not _is_of_cache(facts, moment):
        yield _contradiction(how, lastmod, f"the Last-Modified header {quoted(header)}", header)


@rule("lastmod-vs-page-date", WARNING, ACCURATE, Of.REPLY, per=Per.FILE("have a date that the page contradicts"))
def lastmod_vs_page_date(facts: ReplyFacts) -> Iterator[Message]:
    """lastmod and the date on the page differ. By more than a day from the modification date that the page names.

    Checks `dateModified` in JSON-LD and microdata, `article:modified_time` and the like. If a page has several, one
    that agrees is enough.

    Why: One of the two is wrong. Search engines read both, and ignore lastmod if it is often wrong.
    Fix: Take `<lastmod>` and the page's `dateModified` from the same field of the CMS.
    Bad: `<lastmod>2026-03-03</lastmod>` and `"dateModified": "2021-07-09"`
    Good: both say when the page changed
    """
    lastmod = _comparable_lastmod(facts)
    dates = _page_dates(facts) if lastmod is not None else []
    found = [(match(lastmod or "", text), source, text) for text, source in dates]
    if found and all(how in APART for how, _, _ in found):
        how, source, text = found[0]
        yield _contradiction(how, lastmod or "", f"the modification date in the page {quoted(text)} ({source})", text)


def _comparable_lastmod(facts: ReplyFacts) -> str | None:
    """The lastmod of an entry whose URL returns its page; None if it is not comparable or already reported.

    Excludes dates of RSS items, which usually are publication dates and have another format.
    """
    record = facts.record
    if not record.lastmod or not record.lastmod_at or facts.reply.kind != ReplyKind.OK or fault_of(facts) is not None:
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
    """lastmod changed, but the page did not. Since the previous crawl.

    Compares the main content, title, main heading, canonical and noindex. The main content excludes images, structured
    data, menus, dates and the copyright year.

    Why: Google uses `<lastmod>` only if it is consistently and verifiably accurate. If dates change and the pages do
    not, it ignores all of the site's dates.
    Fix: Write the date on which the content last changed, not that of the last build, deployment or save.
    Bad: `<lastmod>` of last night for a page whose text is a year old
    Good: the date on which the text was edited
    """
    site.need(REVISITS)
    faults = "SELECT place, was AS what FROM temp.site_revisits WHERE moved"
    for fault in site.faults(faults, entries=ALONE):
        text = f"lastmod changed from {quoted(fault.what or '')}, but the page is the same as in the previous crawl"
        yield on_entry(fault, text, fault.what)


@rule("lastmod-same-content-changed", WARNING, ACCURATE, Of.REVISIT)
def lastmod_same_content_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """The page's content changed, but lastmod did not. Since the previous crawl; the date is older than that crawl.

    Why: Search engines revisit pages whose date has changed first, and the others later.
    Fix: Make the CMS update `<lastmod>` whenever the content changes.
    Bad: a new price list on a page dated two years ago
    Good: the date on which the text was edited
    """
    site.need(REVISITS)
    faults = "SELECT place, written AS what FROM temp.site_revisits WHERE stayed"
    for fault in site.faults(faults, entries=ALONE):
        text = f"lastmod is still {quoted(fault.what or '')}, but the content has changed since the previous crawl"
        yield on_entry(fault, text, fault.what)


MIN_TOGETHER = 10
"""Dates that moved together. An editor may save some pages at once."""
TOGETHER_MIN = 10
"""Minutes in which they lie: a generator or a deployment takes that long."""


@rule("lastmod-moved-together", INFO, ACCURATE, Of.REVISIT)
def lastmod_moved_together(site: SiteFacts) -> Iterator[SiteMessage]:
    """Most dates changed together, but the pages did not. At least 10 dates, to within 10 minutes of
    each other.

    `lastmod-moved-content-same` reports the pages; this is the likely cause.

    Why: The generator writes the time at which it runs, or a deployment updates the time of every file.
    Fix: Take `<lastmod>` from the content in the CMS, not from the clock or from file times.
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
        moved = f"{number:,} of {compared:,} compared dates changed to within {TOGETHER_MIN} minutes of each other"
        text = f"{moved}, such as {quoted(date)}; their pages stayed the same"
        yield SiteMessage(text, sitemap=sitemap, value=date)
