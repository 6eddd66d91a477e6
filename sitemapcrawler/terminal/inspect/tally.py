"""What the entries of sitemaps come to: counts of their dates, their extensions and their languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sitemapcrawler.items import Counts, UrlRecord
from sitemapcrawler.terminal.inspect.dates import Dates

MAX_VALUES = 1000
"""Different values that are counted by name: more than there are language codes in use."""
MAX_VALUE = 200
"""Characters that are kept of a value."""


class Bounded:
    """Counts values by name, as far as there are no more than `MAX_VALUES` of them."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.others = 0
        """Values that were counted together, since there were too many different ones before them."""

    def add(self, values: Iterable[str]) -> None:
        """Count values."""
        for value in values:
            name = value[:MAX_VALUE]
            if name in self.counts or len(self.counts) < MAX_VALUES:
                self.counts[name] += 1
            else:
                self.others += 1

    def ranked(self) -> list[tuple[str, int]]:
        """(value, count), the most frequent first; those of the same count by name."""
        return sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))


NO_CODE = "(none)"
"""Stands for the language of an alternate that names none."""
CORE = "schemas/sitemap/0."
"""Part of the URI of the protocol's own namespace, in all the forms it has had.
Source: https://www.sitemaps.org/protocol.html, and Google's before it (`.../schemas/sitemap/0.84`)"""


def is_core(uri: str) -> bool:
    """True for the namespace of the protocol itself, however it is written."""
    return CORE in uri


class Tally:
    """Counts url records, batch by batch."""

    def __init__(self) -> None:
        self.urls = 0
        self.unreadable = 0
        """Entries with a lastmod that is no date."""
        self.dates = Dates()
        self.counts = Counts()
        """Images, videos, news articles and language versions."""
        self.carriers = Counts()
        """URLs that carry at least one of them."""
        self.languages = Bounded()
        """Language versions by their code, as written."""
        self.namespaces = Bounded()
        """URLs that carry elements of a namespace that is none of the known ones, by its URI."""

    @property
    def undated(self) -> int:
        """Entries without a lastmod that can be read."""
        return self.urls - self.dates.total

    def add(self, urls: Sequence[UrlRecord]) -> None:
        """Count the records of a batch."""
        self.urls += len(urls)
        moments = [record.lastmod_at for record in urls if record.lastmod_at is not None]
        self.dates.add(moments)
        if len(moments) < len(urls):
            self.unreadable += sum(1 for record in urls if record.lastmod and record.lastmod_at is None)
        for record in urls:
            if record.images or record.alternates or record.news is not None or record.videos:
                self._count_objects(record)
            if record.extra is not None:
                self.namespaces.add(uri for uri in record.extra if uri and not is_core(uri))

    def _count_objects(self, record: UrlRecord) -> None:
        numbers = {
            "images": len(record.images),
            "videos": len(record.videos),
            "news": int(record.news is not None),
            "alternates": len(record.alternates),
        }
        for name, number in numbers.items():
            if number:
                setattr(self.counts, name, getattr(self.counts, name) + number)
                setattr(self.carriers, name, getattr(self.carriers, name) + 1)
        self.languages.add(alternate.hreflang or NO_CODE for alternate in record.alternates)
