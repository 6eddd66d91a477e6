"""Counts over the entries of a file, and how far its lastmod dates can be trusted.

Two kinds of evidence: what the dates reveal by themselves (`count`, `close`), and what the requested pages say of their
age (`compare`). A `Trust` takes the same memory whatever the file, and those of files add up to the site's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import DATE_LENGTH, iso, parse
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.rules.facts.suspects import OLDEST
from sitemapcrawler.rules.facts.written import EAST, WEST, DateForm, Standard, span, written
from sitemapcrawler.words import counted, percent

FETCH_WINDOW = timedelta(minutes=5)
"""Before the fetch, and after it since clocks differ: what is dated inside was dated by the request."""
YEAR = timedelta(days=365)
STALE = {"always": YEAR, "hourly": YEAR, "daily": YEAR, "weekly": YEAR, "monthly": 2 * YEAR}
"""Age of a lastmod that contradicts a frequency: it was missed 24 times at least."""
MIDNIGHT = "T00:00:00Z"
"""What the reader adds to a date without a time."""
MAX_PRIORITIES = 3
"""Different priorities that are kept: two are enough to see that they differ."""
MAX_PUBLICATIONS = 100
"""Names of publications that are kept."""
MAX_TITLES = 5_000
"""Titles of articles that are kept: five times as many as a file may have."""
MAX_TITLE = 200
"""Characters of a title that are compared."""


class Tally:
    """Counts over the entries of one file. `FILE` rules read its attributes when the file is complete."""

    def __init__(self, fetched_at: datetime) -> None:
        self.entries = 0
        self.undated = 0
        """Entries without a lastmod, be it an empty one; but for news articles, which have a date of their own."""
        self.dated = 0
        """Entries with a lastmod that can be read."""
        self.oldest: str | None = None
        """The first of these dates, ISO 8601 in UTC."""
        self.newest: str | None = None
        """The last one."""
        self.date_only = 0
        """How many have no time."""
        self.at_fetch = 0
        """How many have one, and it lies within `FETCH_WINDOW` of the fetch."""
        self.prioritised = 0
        """Entries with a priority that is a number."""
        self.priorities: set[float] = set()
        """Their values, no more than tell that there are several."""
        self.frequencies = 0
        """Entries with a changefreq."""
        self.contradicting = 0
        """Entries that should have changed many times since their lastmod (`STALE`)."""
        self.news = 0
        """Entries with a news article."""
        self.publications: Counter[str] = Counter()
        """Names of news publications, of the first `MAX_PUBLICATIONS` only."""
        self.titles: Counter[str] = Counter()
        """Titles of articles, of the first `MAX_TITLES` only."""
        self._latest_day = iso(fetched_at + EAST)[:DATE_LENGTH]
        self._from, self._until = iso(fetched_at - FETCH_WINDOW), iso(fetched_at + FETCH_WINDOW)
        self._stale = {frequency: iso(fetched_at - age) for frequency, age in STALE.items()}
        self._latest_stale = max(self._stale.values())

    def count(self, urls: Sequence[UrlRecord]) -> None:
        """Count entries."""
        self.count_dates(urls)
        priorities = [record.priority for record in urls]
        self.prioritised += len(urls) - priorities.count(None)
        if len(self.priorities) < MAX_PRIORITIES:
            self.priorities |= {priority for priority in set(priorities) if priority is not None}
        frequencies = [record.changefreq for record in urls]
        present = len(urls) - frequencies.count(None) - frequencies.count("")
        self.frequencies += present
        if present and self.oldest is not None and self.oldest < self._latest_stale:
            self._count_contradictions(urls)
        articles = [record for record in urls if record.news is not None]
        if articles:
            self._count_news(articles)

    def count_dates(self, entries: Sequence[UrlRecord] | Sequence[ChildRecord]) -> None:
        """Count entries and their dates alone; children of an index have nothing else."""
        self.entries += len(entries)
        written = [entry.lastmod for entry in entries]
        self.undated += written.count(None)
        moments = [entry.lastmod_at for entry in entries if entry.lastmod_at is not None]
        if not moments:
            return
        self.dated += len(moments)
        oldest, newest = min(moments), max(moments)
        self.oldest = oldest if self.oldest is None else min(oldest, self.oldest)
        self.newest = newest if self.newest is None else max(newest, self.newest)
        if DATE_LENGTH in set(map(len, filter(None, written))):
            self._count_days(entries)
        if newest >= self._from:
            self._count_fetched(entries)

    def is_future(self, day: str) -> bool:
        """True for a day (`YYYY-MM-DD`) that has not begun anywhere at the fetch."""
        return day > self._latest_day

    def _count_days(self, entries: Sequence[UrlRecord] | Sequence[ChildRecord]) -> None:
        self.date_only += sum(
            1 for entry in entries if entry.lastmod is not None and entry.lastmod_at == entry.lastmod + MIDNIGHT
        )

    def _count_fetched(self, entries: Sequence[UrlRecord] | Sequence[ChildRecord]) -> None:
        self.at_fetch += sum(
            1
            for entry in entries
            if entry.lastmod_at is not None
            and self._from <= entry.lastmod_at <= self._until
            and entry.lastmod_at != f"{entry.lastmod}{MIDNIGHT}"
        )

    def _count_contradictions(self, urls: Sequence[UrlRecord]) -> None:
        stale = self._stale
        self.contradicting += sum(
            1
            for record in urls
            if record.lastmod_at is not None
            and record.changefreq in stale
            and record.lastmod_at < stale[record.changefreq]
        )

    def _count_news(self, articles: Sequence[UrlRecord]) -> None:
        self.news += len(articles)
        for article in articles:
            self.undated -= article.lastmod is None
            title = (article.news.title or "")[:MAX_TITLE] if article.news else ""
            if title and (title in self.titles or len(self.titles) < MAX_TITLES):
                self.titles[title] += 1
            name = (article.news.publication or {}).get("name") if article.news else None
            if name and (name in self.publications or len(self.publications) < MAX_PUBLICATIONS):
                self.publications[name] += 1


ENTRY_NOUNS, DATE_NOUNS = ("entry", "entries"), ("date", "dates")
"""Nouns for `share`."""


def share(part: int, whole: int, what: tuple[str, str], does: tuple[str, str]) -> str:
    """A count with its share: `3 of 4 dates (75 %) have no time`. `what`, `does`: noun and verb, one and many."""
    return f"{part:,} of {counted(whole, *what)} ({percent(part, whole)}) {does[part != 1]}"


CLOCKS = timedelta(minutes=5)
"""Two clocks may differ by this much before a date counts as later than the fetch."""

ZEROS = {
    "1970-01-01": "the zero of Unix time",
    "1969-12-31": "the zero of Unix time, seen from America",
    "0001-01-01": "the zero of Go and .NET",
    "1601-01-01": "the zero of Windows file times",
    "1899-12-30": "the zero of spreadsheets",
    "1900-01-01": "the zero of some databases",
}
"""Days that stand for no date."""

JANUARY_1970 = "1970-01-"

MIN_IDENTICAL = 20
"""Dated entries that must all have one day. A smaller site may well have been changed on one day."""

MIN_FETCHED = 5
"""Dated entries that must be there to tell that dates come from the request."""

FETCHED_SHARE = 9, 10
"""How many of how many dated entries must lie near the fetch."""


CAPACITY = 64
"""Values that are counted at once: a count may be short by 1 in 65 of all."""


class Frequent:
    """Counts values, the frequent ones nearly exactly, the others not at all; what others counted can be added.

    Source: Agarwal et al., Mergeable Summaries, 2012, on the counters of J. Misra and D. Gries, 1982.
    """

    def __init__(self) -> None:
        self.total = 0
        """Values counted."""
        self._counts: Counter[str] = Counter()

    def count(self, values: Iterable[str]) -> None:
        """Count values."""
        self._add(Counter(values))

    def merge(self, other: Frequent) -> None:
        """Add what another one has counted."""
        self._add(other._counts, other.total)

    def state(self) -> tuple[int, dict[str, int]]:
        """What was counted, to be kept: (total, counts)."""
        return self.total, dict(self._counts)

    @classmethod
    def from_state(cls, state: tuple[int, dict[str, int]]) -> Self:
        """One that has counted so."""
        made = cls()
        made._add(Counter(state[1]), state[0])
        return made

    @property
    def most(self) -> int:
        """How often the most frequent value occurred: no more than it did, and short of it by `total` / 65 at most."""
        return max(self._counts.values(), default=0)

    def _add(self, counts: Counter[str], total: int | None = None) -> None:
        self.total += counts.total() if total is None else total
        self._counts.update(counts)
        if len(self._counts) > CAPACITY:
            cut = sorted(self._counts.values(), reverse=True)[CAPACITY]
            self._counts = Counter({value: count - cut for value, count in self._counts.items() if count > cut})


DAY = timedelta(days=1)

TOLERANCE = DAY
"""Two dates of one change may differ by so much: a page may be built, or leave a cache, the next night."""

NEARLY_ALL = 9, 10
"""How many of how many dates must share an hour to be of one batch. An hour, since a program that dates all pages by
its own run takes minutes, while the articles of one day, in a file for that day, are spread over it."""

HOUR_LENGTH = len("2024-05-01T10")

MIN_COMPARED = 5
"""Dates that must be compared before they stand for those that were not."""


class Match(StrEnum):
    """How a lastmod stands to another date of the same page."""

    AGREES = "agrees"
    OLDER = "older"
    """It is more than `TOLERANCE` before the other one."""
    NEWER = "newer"
    """It is more than `TOLERANCE` after it."""


@dataclass(slots=True)
class Evidence:
    """What speaks for and against the dates of a file or a site; each count is one of entries."""

    dated: int = 0
    """Those with a lastmod that can be read."""
    future: int = 0
    """Dates later than the fetch, wherever they were written."""
    epoch: int = 0
    """Dates that are the zero of some clock."""
    at_fetch: int = 0
    """Dates made by the request: nearly all dates of their file are the time of the fetch."""
    identical: int = 0
    """Dates made in one batch: nearly all dates of their file, or of the site, lie in one hour."""
    compared: int = 0
    """Dates compared with the page's own date of change, or else with its Last-Modified header."""
    older_than_header: int = 0
    newer_than_header: int = 0
    older_than_page: int = 0
    newer_than_page: int = 0
    headers_alike: bool = False
    """True where nearly all headers lie in one hour, that of a deployment: then they do not speak against dates
    before it."""

    @property
    def trusted(self) -> float | None:
        """Share of the dates, from 0 to 1, that can be trusted at most; None without dates."""
        if not self.dated:
            return None
        odd = self.future + self.epoch + self.at_fetch + self.identical
        sound = max(0, self.dated - odd) / self.dated
        mute = self.older_than_header if self.headers_alike else 0
        wrong = self.older_than_header + self.newer_than_header + self.older_than_page + self.newer_than_page - mute
        witnesses = self.compared - mute
        if witnesses < min(MIN_COMPARED, self.dated):
            return sound
        # The same dates tend to fail both ways, so that the shares are not multiplied.
        return min(sound, 1 - wrong / witnesses)


class Trust:
    """Gathers the evidence of one file while it passes, or that of a site from its files."""

    def __init__(self) -> None:
        self._evidence = Evidence()
        self._hours = Frequent()
        self._header_hours = Frequent()

    def count(self, urls: Sequence[UrlRecord], tally: Tally, fetched_at: datetime) -> None:
        """Count the dates of entries that `tally` has counted before."""
        latest = iso(fetched_at + CLOCKS)
        if (tally.newest or "") > latest or (tally.oldest or OLDEST) < OLDEST:
            urls = [record for record in urls if record.lastmod_at and not self._is_odd(record, latest)]
        self._hours.count([record.lastmod_at[:HOUR_LENGTH] for record in urls if record.lastmod_at])

    def compare(
        self, lastmod: str, asked_at: datetime, last_modified: str | None = None, page_date: str | None = None
    ) -> None:
        """Compare the lastmod of an entry, as written, with what its reply says: the date of change in the page, or
        else the Last-Modified header. Texts that are no dates say nothing."""
        changed = header_date(last_modified, asked_at)
        if changed is not None:
            self._header_hours.count([changed[:HOUR_LENGTH]])
        for name, date in (("page", page_date), ("header", changed)):
            found = match(lastmod, date) if date else None
            if found is not None:
                self._note(found, name)
                return

    def close(self, tally: Tally, format: str) -> None:
        """Conclude from the dates of a whole file; `format` as in its record. Feeds and news list the latest: their
        dates are alike for a good reason."""
        evidence = self._evidence
        evidence.dated = tally.dated
        near, of = FETCHED_SHARE
        if tally.dated >= MIN_FETCHED and tally.at_fetch * of >= tally.dated * near:
            evidence.at_fetch = tally.at_fetch
            self._hours = Frequent()
        elif tally.news or format != "xml-urlset":
            self._hours = Frequent()
        evidence.identical = _of_one_hour(self._hours)

    def merge(self, other: Trust) -> None:
        """Add the evidence of a file that was closed."""
        for part in fields(Evidence):
            total = getattr(self._evidence, part.name) + getattr(other._evidence, part.name)
            setattr(self._evidence, part.name, total)
        self._hours.merge(other._hours)
        self._header_hours.merge(other._header_hours)

    def state(self) -> dict[str, Any]:
        """All of it, to be kept."""
        return {
            "evidence": {name: value for name, value in asdict(self._evidence).items() if value},
            "hours": self._hours.state(),
            "header_hours": self._header_hours.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """One that was kept."""
        made = cls()
        made._evidence = Evidence(**state["evidence"])
        made._hours, made._header_hours = (
            Frequent.from_state(state["hours"]),
            Frequent.from_state(state["header_hours"]),
        )
        return made

    def evidence(self) -> Evidence:
        """The evidence so far."""
        identical = max(self._evidence.identical, _of_one_hour(self._hours))
        return replace(self._evidence, identical=identical, headers_alike=_of_one_hour(self._header_hours) > 0)

    def _is_odd(self, record: UrlRecord, latest: str) -> bool:
        """Count a date that cannot be true by itself; False for any other."""
        moment = record.lastmod_at or ""
        if moment[:DATE_LENGTH] in ZEROS or moment.startswith(JANUARY_1970):
            self._evidence.epoch += 1
            return True
        bounds = _bounds(record.lastmod or "") if moment > latest else None
        future = bounds is not None and iso(bounds[0]) > latest
        self._evidence.future += future
        return future

    def _note(self, found: Match, name: str) -> None:
        self._evidence.compared += 1
        if found is not Match.AGREES:
            counter = f"{found}_than_{name}"
            setattr(self._evidence, counter, getattr(self._evidence, counter) + 1)


def match(lastmod: str, other: str) -> Match | None:
    """How a lastmod stands to another date, both as written: a day is 24 hours in a zone that is not known. None where
    one of them is no date, or names no day."""
    own, others = _bounds(lastmod), _bounds(other)
    if own is None or others is None:
        return None
    if others[0] - own[1] > TOLERANCE:
        return Match.OLDER
    return Match.NEWER if own[0] - others[1] > TOLERANCE else Match.AGREES


def header_date(last_modified: str | None, asked_at: datetime) -> str | None:
    """A Last-Modified header as ISO 8601 in UTC; None where it says nothing: no date, the time of the request (or
    later), or the zero of some clock."""
    moment = parse(last_modified) if last_modified else None
    if moment is None or moment >= asked_at - FETCH_WINDOW:
        return None
    text = iso(moment)
    return None if text[:DATE_LENGTH] in ZEROS or text.startswith(JANUARY_1970) else text


def _bounds(text: str) -> tuple[datetime, datetime] | None:
    """The earliest and the latest moment that a date may mean, in whatever way it is written."""
    if written(text, Standard.W3C).form is not DateForm.OTHER:
        return span(text)
    moment = parse(text)
    return None if moment is None else (moment - EAST, moment + DAY + WEST)


def _of_one_hour(hours: Frequent) -> int:
    """How many dates lie in the hour of nearly all of them; 0 where there is none."""
    near, of = NEARLY_ALL
    return hours.most if hours.total >= MIN_IDENTICAL and hours.most * of >= hours.total * near else 0
