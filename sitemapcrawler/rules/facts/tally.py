"""What rules over a whole file count while its entries pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import DATE_LENGTH, iso
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.rules.facts.written import EAST
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


ENTRIES, DATES = ("entry", "entries"), ("date", "dates")
"""Nouns for `share`."""


def share(part: int, whole: int, what: tuple[str, str], does: tuple[str, str]) -> str:
    """A count with its share: `3 of 4 dates (75 %) have no time`. `what`, `does`: noun and verb, one and many."""
    return f"{part:,} of {counted(whole, *what)} ({percent(part, whole)}) {does[part != 1]}"
