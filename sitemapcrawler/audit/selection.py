"""Which of the listed pages become records: the arguments include, exclude, since and max_urls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

from sitemapcrawler.audit.params import Params
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import parse


class Selection:
    """Applies the arguments to every list of records of a crawl and counts what they leave out."""

    def __init__(self, params: Params) -> None:
        self.skipped: Counter[str] = Counter()
        """Records left out, by argument."""
        self.count = 0
        """Records kept."""
        self.earlier = 0
        """Those of them that earlier runs of the job have kept."""
        self._max = params.max_urls
        self._tests: list[tuple[str, Callable[[UrlRecord], bool]]] = []
        if params.include is not None:
            include = params.include.search
            self._tests.append(("include", lambda record: include(record.loc) is not None))
        if params.exclude is not None:
            exclude = params.exclude.search
            self._tests.append(("exclude", lambda record: exclude(record.loc) is None))
        if params.since is not None:
            since = params.since.astimezone(UTC)
            self._tests.append(("since", lambda record: _at_or_after(record, since)))

    @property
    def full(self) -> bool:
        """True when max_urls has left something out."""
        return self.skipped["max_urls"] > 0

    def wants(self, record: UrlRecord) -> bool:
        """True for a record that the arguments do not leave out, `max_urls` aside."""
        return all(test(record) for _, test in self._tests)

    def keep(self, records: list[UrlRecord]) -> list[UrlRecord]:
        """The records that pass every test, no more of them than max_urls leaves."""
        for name, test in self._tests:
            kept = [record for record in records if test(record)]
            self.skipped[name] += len(records) - len(kept)
            records = kept
        if self._max is not None:
            left = self._max - self.count
            self.skipped["max_urls"] += max(0, len(records) - left)
            records = records[:left]
        self.count += len(records)
        return records


def _at_or_after(record: UrlRecord, since: datetime) -> bool:
    moment = parse(record.lastmod_at) if record.lastmod_at else None
    return moment is not None and moment >= since
