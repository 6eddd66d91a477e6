"""What the entries of sitemaps come to: counts of their dates, their extensions and their languages."""

from __future__ import annotations

from collections.abc import Sequence

from sitemapcrawler.items import Counts, UrlRecord
from sitemapcrawler.overview.bounded import Bounded
from sitemapcrawler.overview.dates import Dates

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
