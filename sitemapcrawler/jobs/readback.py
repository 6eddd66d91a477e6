"""What earlier runs of a job have found, and what was taken over from the baseline, read back from the database."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from sitemapcrawler.items import UrlBatch, UrlRecord
from sitemapcrawler.jobs.comparing import REMOVED, UNCHANGED
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.loading import taken_in
from sitemapcrawler.jobs.store.schema import RECORDS
from sitemapcrawler.jobs.storing import Writer

_decode = msgspec.json.Decoder(UrlRecord).decode


class StoredBatch(UrlBatch):
    """A batch whose records are made when somebody asks for them."""

    def __init__(self, sitemap: str, rows: Sequence[str]) -> None:
        """`rows`: JSON of url records."""
        super().__init__(sitemap, [], settled=True)
        self._count = len(rows)
        self._urls: list[UrlRecord] | None = None
        self.lines = "\n".join([*rows, ""]).encode()

    @property
    def urls(self) -> list[UrlRecord]:
        """The records."""
        if self._urls is None:
            self._urls = [decoded(line) for line in (self.lines or b"").splitlines()]
        return self._urls

    @urls.setter
    def urls(self, urls: list[UrlRecord]) -> None:
        self._urls, self._count, self.lines = urls, len(urls), None

    def __len__(self) -> int:
        return self._count if self._urls is None else len(self._urls)


def decoded(line: bytes | str) -> UrlRecord:
    """The record of a line."""
    try:
        record = _decode(line)
    except msgspec.DecodeError:  # a lone surrogate
        record = msgspec.convert(json.loads(line), UrlRecord)
    return record.mark_stored()


PARTS = ("sitemaps", "findings", "robots")
"""Tables of the records that are few, in the order of feeds."""
OK = 200


@dataclass(frozen=True, slots=True)
class Done:
    """A file that an earlier run has read, or has asked for in vain."""

    digest: str
    answered: bool
    """True where the server gave it, whatever it was."""
    alias: bool
    """True where its redirects led to a file that was read already."""
    hit: bool
    """False for a guess that was no sitemap."""
    index: bool
    final_url: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """Which records are to be read back."""

    run: int
    """The run that asks: it has sent its own."""
    finished: bool
    """True for a finished job, which sends all there are."""
    holding: bool
    """True where url records were held back, and sent again by this run."""
    only_changes: bool
    """True where what has not changed since the baseline is left out."""

    @property
    def earlier(self) -> str:
        """SQL: true for the rows of files that this run has not read."""
        return "TRUE" if self.finished else f"sitemap IN (SELECT sitemap FROM files WHERE run < {self.run})"

    @property
    def urls(self) -> str:
        """SQL: true for the url records to be read back."""
        removed = f"change = '{REMOVED}'"
        wanted = f"({removed})" if self.holding and not self.finished else f"({self.earlier} OR {removed})"
        return f"{wanted} AND change <> '{UNCHANGED}'" if self.only_changes else wanted

    def others(self, table: str) -> str:
        """SQL: true for the records of another table to be read back."""
        if table == "robots" and not self.finished:  # they are made anew
            return "FALSE"
        condition = self.earlier
        if table == "sitemaps" and not self.finished:  # of those that were taken over they have been sent
            condition += f" AND sitemap NOT IN (SELECT sitemap FROM files WHERE run = {taken_in(self.run)})"
        if self.only_changes and table == "findings":
            condition += (
                " AND (url IS NULL OR whole_site OR NOT EXISTS (SELECT 1 FROM urls one WHERE one.sitemap = "
                f"findings.sitemap AND one.loc = findings.url AND one.change = '{UNCHANGED}'))"
            )
        return condition


async def read_back(store: Store, writer: Writer, asked: Asked) -> AsyncIterator[Any]:
    """The records, as they go to the feeds: batches of URLs, files, findings, robots files."""
    async for batch in writer.each(partial(url_batches, store, asked.urls)):
        yield batch
    for table in PARTS:
        decode: Callable[[str], Any] = msgspec.json.Decoder(RECORDS[table]).decode
        async for lines in writer.each(partial(store.lines, table, asked.others(table))):
            for record in map(decode, lines):
                yield record.mark_stored()


def url_batches(store: Store, condition: str) -> Iterator[StoredBatch]:
    """The url records that meet an SQL condition, file by file."""
    for rows in store.tagged_lines("urls", "sitemap", condition):
        if rows[0][0] == rows[-1][0]:  # the rows of a file stand together
            yield StoredBatch(rows[0][0], [line for _, line in rows])
            continue
        for sitemap, alike in groupby(rows, itemgetter(0)):
            yield StoredBatch(sitemap, [line for _, line in alike])


def files_done(store: Store) -> dict[str, Done]:
    """The files of earlier runs, by URL."""
    rows = store.execute(
        "SELECT f.sitemap, f.digest, f.tally->>'missed', f.tally->>'answered', f.tally->>'alias', "
        "s.status, s.format, s.final_url FROM files f LEFT JOIN sitemaps s USING (sitemap)"
    )
    return {
        sitemap: Done(
            digest or "",
            answered == "true" if missed else status == OK or sitemap.startswith("file:"),
            alias == "true",
            not missed,
            format == "xml-index",
            final_url,
        )
        for sitemap, digest, missed, answered, alias, status, format, final_url in rows
    }
