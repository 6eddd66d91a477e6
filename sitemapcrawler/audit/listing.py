"""Reading the list that the argument `urls` names, in place of sitemaps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from sitemapcrawler import urls
from sitemapcrawler.audit.selection import Selection
from sitemapcrawler.items import SitemapRecord, UrlBatch, UrlRecord
from sitemapcrawler.reader.lists import Listed, Unread, read
from sitemapcrawler.rules.facts.given import Counted

logger = logging.getLogger(__name__)

MAX_TOLD = 10
"""Lines that cannot be read, each with a log line of its own."""


class Listing:
    """Gives the URLs of a list as records in batches, and at the end a record of the list itself."""

    def __init__(self, selection: Selection, batch_size: int, stopped: Callable[[], bool]) -> None:
        self._selection = selection
        self._batch_size = batch_size
        self._stopped = stopped

    def read(self, url: str) -> Iterator[UrlBatch | SitemapRecord]:
        """Read the file that a `file:` URL names."""
        path = Path(urls.local_path(url) or "")
        record = SitemapRecord(url, format="list")
        try:
            record.bytes = record.bytes_fetched = path.stat().st_size
            with path.open("rb") as file:
                yield from self._batches(iter_known(read(file, path.name), record), record)
        except (OSError, ValueError) as error:
            record.outcome, record.error = "truncated" if record.url_count else "failed", str(error)
        if not record.url_count:
            record.outcome, record.error = "failed", record.error or "lists no URL"
        yield record

    def _batches(self, listed: Iterator[Listed], record: SitemapRecord) -> Iterator[UrlBatch]:
        file = Counted(record.sitemap)
        while batch := list(islice(listed, self._batch_size)):
            if self._stopped() or self._selection.full:
                return
            records = [UrlRecord(one.loc, sitemap=record.sitemap, line=one.line) for one in batch]
            record.url_count += len(records)
            kept = self._selection.keep(records)
            if kept:
                yield UrlBatch(record.sitemap, kept, file)


def iter_known(entries: Iterator[Listed | Unread], record: SitemapRecord) -> Iterator[Listed]:
    """The URLs of a list; what cannot be read is logged, and told in its record."""
    unread = 0
    for entry in entries:
        if isinstance(entry, Listed):
            yield entry
            continue
        unread += 1
        place = "" if entry.line is None else f"line {entry.line}: "
        if unread <= MAX_TOLD:
            logger.warning("%s: %s%s", record.sitemap, place, entry.problem)
        record.outcome = "recovered"
        first = record.error or f"{place}{entry.problem}"
        record.error = first if unread == 1 else f"{first.partition(' (and ')[0]} (and {unread - 1} more)"
