"""Records on their way into the job's database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

import msgspec

from sitemapcrawler.comparing import UNCHANGED, Comparison
from sitemapcrawler.frontier import Visit
from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, UrlBatch, UrlRecord
from sitemapcrawler.jsontext import JsonText
from sitemapcrawler.last_rows import LastRows
from sitemapcrawler.reading import Told
from sitemapcrawler.reply.step import Step
from sitemapcrawler.restoring import tally_of
from sitemapcrawler.rows import Rows
from sitemapcrawler.store.loading import FileRows
from sitemapcrawler.storing import Writer

OF_A_STEP = ("status", "failure", "why", "attempts", "elapsed_ms", "soft_404")
"""What of a request has a column of its own."""


class Recorder:
    """Takes records, and gives those of a file to the writer when it has been read."""

    def __init__(self, writer: Writer, comparison: Comparison | None) -> None:
        self.gives_lines = True
        """Whether batches keep the JSON lines that were made of them: nobody changes their records afterwards."""
        self._writer = writer
        self._spool = writer.store.spool
        self._comparison = comparison
        self._reading: dict[str, FileRows] = {}
        self.last_rows = LastRows(writer.store)
        self.unfinished: list[FileRows] | None = None
        """Files that are to be read again in another run, and count for the report of this one, the first with the rows
        of all; None where they are forgotten at once."""
        self._spoilt: set[str] = set()
        self._json = JsonText(Rows())
        self._reply_line = msgspec.json.Encoder(enc_hook=str).encode

    async def urls(self, batch: UrlBatch) -> None:
        """Take url records; the batch keeps their JSON lines, where none has findings."""
        if batch.listed is None and not batch.settled:
            await self._judge(batch.urls)
            lines = self._json.lines(batch.urls)
            self._keep(batch.sitemap, batch.urls, lines)
        else:
            if batch.listed is not None:
                self.listed(batch.sitemap, batch.listed)
            lines = await self._finally(batch.urls)
        if self._only_changes:
            batch.urls = [record for record in batch.urls if record.change != UNCHANGED]
        elif not batch.judged and self.gives_lines:
            batch.lines = lines

    async def url(self, record: UrlRecord, holding: bool) -> bool:
        """Take one url record; False where it does not go to the feeds. `holding`: it is one of those that were
        `listed`."""
        if holding:
            await self._finally([record])
        else:
            await self._judge([record])
            self._keep(record.sitemap, [record], self._json.lines([record]))
        return not (self._only_changes and record.change == UNCHANGED)

    def listed(self, sitemap: str, records: Sequence[UrlRecord]) -> None:
        """Take url records of which some are held back: they come again when more is known of them."""
        self._keep(sitemap, records, self._json.lines(records))
        for record in records:
            record.told = len(getattr(record, "findings", ()))

    async def _finally(self, records: Sequence[UrlRecord]) -> bytes:
        """Take url records that were `listed` before, in their last form; as JSON lines."""
        await self._judge(records)
        lines = self._json.lines(records) if records else b""
        with self._writer.guarded():
            self.last_rows.settle(records, lines)
        return lines

    async def file(self, record: SitemapRecord, complete: bool) -> None:
        """Take the record of a file, which comes after those of its URLs. `complete`: False where it is to be read
        again in another run."""
        rows = self._rows(record.sitemap)
        del self._reading[record.sitemap]
        told = getattr(record, "told", None) or Told()
        if self._comparison is not None:
            self._comparison.forget(record.sitemap)
            if told.taken and complete:
                self._comparison.take()
        whole = complete and record.sitemap not in self._spoilt
        if not whole and self.unfinished is None:
            rows.discard()
            return
        with self._writer.guarded():
            rows.record.write(self._json.lines([record]), 1)
            rows.findings.write(*self._findings([record]))
        rows.tally = told.tally if told.taken else tally_of(record, told)
        if not whole and self.unfinished is not None:
            self._hold(rows, self.unfinished)
            return
        rows.digest, rows.children, rows.taken = told.digest, told.children, told.taken
        await self._writer.add(rows)

    def _hold(self, rows: FileRows, unfinished: list[FileRows]) -> None:
        """Keep the rows of a file for the report: after an internal error that may be all files of a site, so that they
        cost no descriptors each."""
        unfinished.append(rows)
        if rows is not unfinished[0]:
            with self._writer.guarded():
                unfinished[0].absorb(rows)

    @property
    def rest(self) -> list[FileRows]:
        """What was read of files that are to be read again."""
        return [*(self.unfinished or ()), *self._reading.values()]

    def spoil(self, sitemap: str) -> None:
        """Some records of a file were lost: it is to be read again in another run."""
        self._spoilt.add(sitemap)

    async def missed(self, visit: Visit, answered: bool, status: int | None) -> None:
        """Take that a guess was no sitemap."""
        rows = self._rows(visit.url)
        del self._reading[visit.url]
        rows.tally = {"missed": True, "answered": answered, "status": status}
        await self._writer.add(rows)

    def reply(self, key: str, method: str, step: Step) -> None:
        """Take what came of a request for a listed URL."""
        row = {
            "url": key,
            "method": method,
            "asked_at": _now(),
            **{name: getattr(step, name) for name in OF_A_STEP},
            "step": step,
        }
        with suppress(UnicodeEncodeError):  # a lone surrogate: it is asked again
            self._writer.reply(self._reply_line(row) + b"\n")

    def policy(self, origin: str, answer: dict[str, Any]) -> None:
        """Take what came of asking for a robots.txt."""
        self._writer.put("policies", {"origin": origin, "asked_at": _now(), "answer": answer})

    def last(self, record: FindingRecord | RobotsRecord) -> None:
        """Take a record of the whole crawl."""
        with self._writer.guarded():
            self.last_rows.add(record)

    def close(self) -> None:
        """Forget what was not committed."""
        self.last_rows.discard()
        for rows in self.rest:
            rows.discard()

    @property
    def _only_changes(self) -> bool:
        return self._comparison is not None and self._comparison.only_changes

    async def _judge(self, records: Sequence[UrlRecord]) -> None:
        """Say what became of entries since the baseline."""
        if self._comparison is not None:
            for sitemap, alike in groupby(records, attrgetter("sitemap")):
                await self._comparison.judge(self._writer, sitemap, list(alike))

    def _keep(self, sitemap: str, records: Sequence[UrlRecord], lines: bytes) -> None:
        rows = self._rows(sitemap)
        with self._writer.guarded():
            rows.urls.write(lines, len(records))
            rows.findings.write(*self._findings(records))

    def _rows(self, sitemap: str) -> FileRows:
        rows = self._reading.get(sitemap)
        if rows is None:
            rows = self._reading[sitemap] = FileRows(sitemap, self._spool(), self._spool(), self._spool())
        return rows

    def _findings(self, records: Sequence[Any]) -> tuple[bytes, int]:
        found = [finding for record in records for finding in getattr(record, "findings", ())]
        return (self._json.lines(found) if found else b"", len(found))


def _now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat()
