"""How far the dates of each file, and of all of them, can be trusted, gathered while they are verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sitemapcrawler.asking import Outcome
from sitemapcrawler.items import Lastmods, SitemapRecord, UrlRecord
from sitemapcrawler.reply import Kind, Ok
from sitemapcrawler.rules.facts import Counted, FileFacts
from sitemapcrawler.trust import Trust

NO_EVIDENCE = ("dated", "compared", "headers_alike")
"""What `trust.Evidence` holds besides counts of dates that something speaks against."""


class Trusts:
    """The evidence of each file that is being read, and the sum of those that were."""

    def __init__(self) -> None:
        self._files: dict[str, Trust] = {}
        self._all = Trust()
        self._entries = 0

    def count(self, records: Sequence[UrlRecord], file: FileFacts) -> None:
        """Count the dates of entries."""
        self._files.setdefault(file.url, Trust()).count(records, file.tally, file.fetched_at)

    def compare(self, record: UrlRecord, outcome: Outcome, file: FileFacts | Counted | None) -> None:
        """Compare the date of an entry with what its page and server say."""
        reply = outcome.reply
        if record.lastmod is None or not isinstance(reply, Ok) or reply.kind is not Kind.OK:
            return
        trust = self._files.get(file.url, self._all) if file is not None else self._all
        changed = outcome.page.modified if outcome.page is not None else None
        trust.compare(record.lastmod, datetime.now(UTC), reply.last_modified, changed)

    def conclude(self, record: SitemapRecord, file: FileFacts) -> None:
        """Say in the record of a file how far its dates can be trusted."""
        trust = self._files.pop(file.url, None)
        if trust is not None:
            trust.close(file.tally, record.format)
            record.lastmod = lastmods(trust, file.tally.entries)
            state = {"entries": file.tally.entries, **trust.state()}
            if (told := getattr(record, "told", None)) is not None:
                told.trust = state
            self.restore(state)

    def restore(self, state: dict[str, Any]) -> None:
        """Add a file whose evidence was kept."""
        self._entries += state["entries"]
        self._all.merge(Trust.of(state))

    @property
    def all(self) -> Lastmods | None:
        """The same of all files together; None without entries."""
        return lastmods(self._all, self._entries)


def lastmods(trust: Trust, entries: int) -> Lastmods | None:
    """What a record says of the dates of so many entries."""
    if not entries:
        return None
    known = trust.evidence()
    counts = {name: count for name, count in asdict(known).items() if name not in NO_EVIDENCE and count}
    return Lastmods(known.dated / entries, known.compared, known.trusted, counts)
