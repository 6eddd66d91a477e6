"""What rules over a whole file count while its entries pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import iso

FETCH_WINDOW = timedelta(minutes=5)
"""Before the fetch: entries dated inside were dated by the request (`lastmod-equals-fetch-time`)."""
FREQUENT = frozenset(("always", "hourly", "daily"))
STALE = timedelta(days=365)
"""Age of a lastmod that contradicts a frequency of a day or less."""


class Tally:
    """Counts over the entries of one file. `FILE` rules read its attributes when the file is complete."""

    def __init__(self, fetched_at: datetime) -> None:
        self.entries = 0
        self.dated = 0
        """Entries with a lastmod that can be read."""
        self.date_only = 0
        """Of these, the ones without a time."""
        self.at_fetch = 0
        """Of these, the ones dated within `FETCH_WINDOW` before the fetch."""
        self.days: Counter[str] = Counter()
        """Days of lastmod, of the first three only."""
        self.priorities: Counter[float] = Counter()
        """Priorities, of the first three values only."""
        self.frequencies = 0
        """Entries with a changefreq."""
        self.contradicting = 0
        """Entries said to change at least daily whose lastmod is older than `STALE`."""
        self.news = 0
        """Entries with a news article."""
        self.publications: Counter[str] = Counter()
        """Names of news publications, of the first hundred only."""
        self._now = iso(fetched_at)
        self._window = iso(fetched_at - FETCH_WINDOW)
        self._stale = iso(fetched_at - STALE)

    def count(self, urls: Sequence[UrlRecord]) -> None:
        """Count entries."""
        self.entries += len(urls)
        moments = [record.lastmod_at for record in urls if record.lastmod_at is not None]
        self.dated += len(moments)
        self.date_only += sum(
            1 for record in urls if record.lastmod is not None and len(record.lastmod) <= len("2024-05-01")
        )
        if moments and max(moments) >= self._window:
            self.at_fetch += sum(1 for moment in moments if self._window <= moment <= self._now)
        if len(self.days) < 3:
            self.days.update(moment[:10] for moment in moments)
        if len(self.priorities) < 3:
            self.priorities.update(record.priority for record in urls if record.priority is not None)
        self.frequencies += sum(1 for record in urls if record.changefreq)
        self.contradicting += sum(
            1
            for record in urls
            if record.changefreq in FREQUENT and record.lastmod_at is not None and record.lastmod_at < self._stale
        )
        for record in urls:
            if record.news is not None:
                self._count_news(record)

    def _count_news(self, record: UrlRecord) -> None:
        self.news += 1
        name = (record.news.publication or {}).get("name") if record.news else None
        if name and len(self.publications) < 100:
            self.publications[name] += 1
