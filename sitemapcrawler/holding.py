"""Records that may be in a sample of a given number wait until everything is read: only then is it known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sitemapcrawler import urls
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.sampling import Smallest

MAX_REPEATS = 100_000
"""Further records of URLs that may be in the sample, which wait with them; beyond that they are let go."""


class Holding:
    """Holds the records of the URLs that may be drawn."""

    def __init__(self, count: int, seed: int) -> None:
        self.listed: Counter[str] = Counter()
        """Records that were offered, by sitemap."""
        self._drawn: Smallest[list[UrlRecord]] = Smallest(count, seed)
        self._repeats = 0

    def __len__(self) -> int:
        """URLs that are held."""
        return len(self._drawn)

    @property
    def population(self) -> int:
        """Distinct URLs that were offered; an estimate where not all of them are held."""
        return min(self._drawn.distinct, self.listed.total())

    def offer(self, records: Sequence[UrlRecord]) -> list[UrlRecord]:
        """Hold records back; gives the ones that will not be drawn any more, these or earlier ones."""
        released: list[UrlRecord] = []
        for record in records:
            key = urls.visit_key(record.loc)
            alike = self._drawn.find(key)
            if alike is None:
                released += self._drawn.offer(key, [record]) or ()
            elif self._repeats < MAX_REPEATS:
                self._repeats += 1
                alike.append(record)
            else:
                released.append(record)
        self.listed.update(record.sitemap for record in records)
        return released

    def draw(self) -> dict[str, list[UrlRecord]]:
        """The records of the sample: {sitemap: its records by line}."""
        by_file: dict[str, list[UrlRecord]] = {}
        for _, alike in self._drawn.chosen():
            for record in alike:
                by_file.setdefault(record.sitemap, []).append(record)
        return {url: sorted(records, key=lambda record: record.line or 0) for url, records in by_file.items()}
