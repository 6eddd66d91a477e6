"""What rules over a whole file count while its entries pass, and which entries need a closer look.

Nearly all entries of large files are clean. One expression, compiled for each file, tells such a URL in one test: same
host, inside the directory, nothing that any rule about URLs could name. Only the others meet the rules one by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.urls import origin

OLDEST = "2005-06-01T00:00:00Z"
"""When sitemaps began (Google announced them on 2005-06-02); an older lastmod is unlikely."""
FETCH_WINDOW = timedelta(minutes=5)
"""Before the fetch: entries dated inside were dated by the request (`lastmod-equals-fetch-time`)."""
FREQUENT = frozenset(("always", "hourly", "daily"))
STALE = timedelta(days=365)
"""Age of a lastmod that contradicts a frequency of a day or less."""
MAX_LENGTH = 2047
"""Characters of a URL: "less than 2,048". Source: https://www.sitemaps.org/protocol.html"""
MAX_TRACKED = 1_000_000
"""Entries of one file that are compared for repetition: twenty times what the protocol allows."""
UNUSUAL = r"(?:sid|session|token|password|passwd|pwd|email|e-mail|auth|key|secret|phpsessid|jsessionid|utm_\w+)"
"""Parameter names that rules look at."""
CLEAN = (
    r"(?!(?:[^?]*/\.{1,2}(?:[/?]|\Z))|[^?]*//|.*[?&;]%s=)"
    r"(?:[A-Za-z0-9\-._~!$'()*+,;=:@/]|%%(?!0[0-9A-F])[0-9A-F]{2})*+"
    r"(?:\?(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%%(?!0[0-9A-F])[0-9A-F]{2})*+)?"
)
"""Path and query of a URL that no rule can name: no dot segments, empty segments, escapes in lower case, fragments."""
NEVER = re.compile(r"(?!)")


class Tally:
    """Counts over the entries of one file. `FILE` rules read its attributes when the file is complete."""

    def __init__(self, url: str, fetched_at: datetime) -> None:
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
        self.compared = True
        """False where there were more than `MAX_TRACKED` entries."""
        self._now = iso(fetched_at)
        self._window = iso(fetched_at - FETCH_WINDOW)
        self._stale = iso(fetched_at - STALE)
        self._clean = clean_pattern(url)
        self._seen: set[int] = set()

    def take(self, urls: Sequence[UrlRecord]) -> Iterator[tuple[UrlRecord, bool]]:
        """Count entries and give those that need a closer look, and whether each repeats an earlier one."""
        self._count(urls)
        repeated = self._repeated(urls)
        for record in urls:
            again = record.loc in repeated and self._again(record.loc, repeated)
            if again or not self._is_clean(record):
                yield record, again

    def _is_clean(self, record: UrlRecord) -> bool:
        moment = record.lastmod_at
        return (
            self._clean(record.loc) is not None
            and len(record.loc) <= MAX_LENGTH
            and (OLDEST <= moment <= self._now if moment is not None else record.lastmod is None)
            and not record.recovered
            and getattr(record, "element", None) is None
        )

    def _repeated(self, urls: Sequence[UrlRecord]) -> dict[str, bool]:
        """{URL: whether it stood in an earlier batch} for those that may be repeated; empty for nearly all batches."""
        hashes = {hash(record.loc) for record in urls}
        if len(hashes) == len(urls) and self._seen.isdisjoint(hashes):
            repeated = {}
        else:
            times = Counter(record.loc for record in urls)
            repeated = {url: hash(url) in self._seen for url in times if times[url] > 1 or hash(url) in self._seen}
        if len(self._seen) < MAX_TRACKED:
            self._seen |= hashes
        else:
            self.compared = False
        return repeated

    @staticmethod
    def _again(url: str, repeated: dict[str, bool]) -> bool:
        earlier, repeated[url] = repeated[url], True
        return earlier

    def _count(self, urls: Sequence[UrlRecord]) -> None:
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


def clean_pattern(url: str) -> Callable[[str], re.Match[str] | None]:
    """The test for clean URLs that a file at `url` may list."""
    place = origin(url)
    if place is None:
        return NEVER.fullmatch
    directory = re.sub(r"[?#].*", "", url[len(place) :]).rpartition("/")[0] + "/"
    return re.compile(re.escape(place + directory) + CLEAN % UNUSUAL).fullmatch
