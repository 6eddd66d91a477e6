"""Rules that hold the lastmod of an entry against what its page says, or else its server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from sitemapcrawler.reader.dates import DATE_LENGTH, iso, parse
from sitemapcrawler.replies import Ok
from sitemapcrawler.replies.page.dates import MODIFIED
from sitemapcrawler.rules.facts.given import ReplyFacts
from sitemapcrawler.rules.facts.replied import fault_of
from sitemapcrawler.rules.facts.tally import FETCH_WINDOW
from sitemapcrawler.rules.facts.trust import Match, header_date, match
from sitemapcrawler.rules.facts.written import Form, Standard, written
from sitemapcrawler.rules.families.lastmod import JANUARY_1970, ZEROS
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown

GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#additional-notes-about-xml-sitemaps"
"""Google uses lastmod where it is "consistently and verifiably accurate"."""
APART = (Match.OLDER, Match.NEWER)
AGE = re.compile(r"[0-9]{1,9}")
"""Seconds that an answer has been in caches. Source: RFC 9111, 5.1"""


@rule("lastmod-vs-last-modified-header", Severity.WARNING, GOOGLE, Needs.REPLY)
def lastmod_vs_last_modified_header(facts: ReplyFacts) -> Iterator[Message]:
    """The lastmod of an entry and the Last-Modified header of its page differ by more than a day.

    A header that is the time of the request says nothing, and no header does where the page has a date of its own.

    Why: one of the two is wrong, and search engines check. They ignore the dates of a site that are often wrong. Where
    the header is newer on all pages alike, it may be the date of a deployment.
    Bad: `<lastmod>2026-01-05</lastmod>` and `Last-Modified: Tue, 03 Mar 2026 09:00:00 GMT`
    Good: both say when the page changed
    """
    lastmod, header = _lastmod(facts), getattr(facts.reply, "last_modified", None)
    if lastmod is None or header is None or _page_dates(facts):
        return
    moment = header_date(header, facts.asked_at)
    how = match(lastmod, moment) if moment is not None else None
    if moment is not None and how in APART and not _is_of_cache(facts, moment):
        yield _apart(how, lastmod, f"the Last-Modified header {shown(header)}", header)


@rule("lastmod-vs-page-date", Severity.WARNING, GOOGLE, Needs.REPLY)
def lastmod_vs_page_date(facts: ReplyFacts) -> Iterator[Message]:
    """The lastmod of an entry and the date of change that its page names differ by more than a day.

    Looked at are `dateModified` of JSON-LD and of elements, `article:modified_time` and the like. Where a page has
    several, one that agrees is enough.

    Why: one of the two is wrong. Search engines read both, and ignore lastmod where it is often wrong.
    Bad: `<lastmod>2026-03-03</lastmod>` and `"dateModified": "2021-07-09"`
    Good: both say when the page changed
    """
    lastmod = _lastmod(facts)
    dates = _page_dates(facts) if lastmod is not None else []
    found = [(match(lastmod or "", text), source, text) for text, source in dates]
    if found and all(how in APART for how, _, _ in found):
        how, source, text = found[0]
        yield _apart(how, lastmod or "", f"the date of change in the page {shown(text)} ({source})", text)


def _lastmod(facts: ReplyFacts) -> str | None:
    """The lastmod of an entry whose URL gives its page; None for one that cannot be compared, or is told to be wrong.

    That of an RSS item is written in another way: mostly the date at which the page was published.
    """
    record = facts.record
    if not record.lastmod or not record.lastmod_at or not isinstance(facts.reply, Ok) or fault_of(facts) is not None:
        return None
    if written(record.lastmod, Standard.W3C).form in (Form.OTHER, Form.IMPOSSIBLE):
        return None
    zero = record.lastmod_at[:DATE_LENGTH] in ZEROS or record.lastmod_at.startswith(JANUARY_1970)
    return None if zero or record.lastmod_at > iso(facts.asked_at) else record.lastmod


def _page_dates(facts: ReplyFacts) -> list[tuple[str, str]]:
    """The dates of change that a page names, as written, and where; without those that the request made."""
    dates = facts.page.dates if facts.page is not None else ()
    changed = ((date.written, date.source) for date in dates if date.kind == MODIFIED)
    return [(text, source) for text, source in changed if header_date(text, facts.asked_at) is not None]


def _is_of_cache(facts: ReplyFacts, moment: str) -> bool:
    """True for a header that says when a cache fetched the page: that was the time of a request, too."""
    changed, fetched = parse(moment), []
    age = next(iter(facts.headers.get("age", ())), "").strip()
    if AGE.fullmatch(age):
        fetched.append(facts.asked_at - timedelta(seconds=int(age)))
    date = parse(next(iter(facts.headers.get("date", ())), ""))
    fetched += [date] if date is not None else []
    return changed is not None and any(changed + FETCH_WINDOW >= one for one in fetched)


def _apart(how: Match | None, lastmod: str, other: str, value: str) -> Message:
    newer = "the latter" if how is Match.OLDER else "lastmod"
    return Message(f"lastmod {shown(lastmod)} and {other} are more than a day apart; {newer} is newer", value=value)
