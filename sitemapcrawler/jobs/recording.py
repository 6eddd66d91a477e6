"""Passes a crawl's records on to the job's database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter

import msgspec

from sitemapcrawler.envelopes import (
    FileResult,
    FileTally,
    FinalBatch,
    FreshBatch,
    NotedBatch,
    SitemapEnd,
)
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import AnswerRecord, FindingRecord, RenderedRecord, RobotsRecord, UrlRecord
from sitemapcrawler.jobs.committing import Committer
from sitemapcrawler.jobs.comparing import Comparison
from sitemapcrawler.jobs.links import FoundBy, LinkRows, found_row
from sitemapcrawler.jobs.rewriting import NewValues, rewrite
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.loading import FileRows
from sitemapcrawler.jobs.store.queries import reading
from sitemapcrawler.jobs.store.schema import TYPE, WHOLE_SITE, tables
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.reader.notes import Note
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.rules.facts.site import numbered
from sitemapcrawler.rules.facts.sites import UNCHANGED
from sitemapcrawler.rules.registry import RULES, Per

FINAL = (
    "reply", "target", "indexable", "indexability", "usage", "issues", "change", "changed_fields", "what_changed",
)  # fmt: skip
"""Columns of url records that are final when the URL is verified."""


class LastRows:
    """Records about the whole crawl, and url records of a sample in their final form, until they are inserted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables = {table: store.spool() for table in ("findings", "robots")}
        self._urls = store.spool()
        self._json = JsonText(Rows())

    def add_robots(self, record: RobotsRecord) -> None:
        """Add a robots.txt record. Raises OSError if the disk is full."""
        self._tables["robots"].write(self._json.lines([record]), 1)

    def add_finding(self, line: bytes) -> None:
        """Add a finding about the whole crawl, as a JSON line. Raises OSError if the disk is full."""
        self._tables["findings"].write(b'%b,"%b":true}\n' % (line[:-2], WHOLE_SITE.encode()), 1)

    def settle(self, notes: Sequence[Note], lines: bytes, findings: bytes, count: int) -> None:
        """Add the final form of url records that were written before. `lines`: their JSON; `findings`: the JSON of
        `count` new findings. Raises OSError if the disk is full."""
        placed = zip(lines.splitlines(), notes, strict=True)
        self._urls.write(b"".join(b'%b,"number":%d}\n' % (line[:-1], note.number) for line, note in placed), len(notes))
        self._tables["findings"].write(findings, count)

    def put_robots(self) -> None:
        """Insert the robots.txt records, in the writing thread and a transaction of the caller. Replaces those of an
        earlier run that was killed. Raises duckdb.Error, OSError."""
        self._store.execute("DELETE FROM robots")
        self._store.insert("robots", [self._tables["robots"]])

    def show_urls(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Show url records in their final form to one cursor, in a temporary table that hides `main.urls`, which a
        resumed run needs unchanged. Raises duckdb.Error, OSError."""
        if self._urls.rows:
            columns = self._verified(cursor.execute).replacing
            cursor.execute(
                f"CREATE OR REPLACE TEMP TABLE urls AS SELECT u.* REPLACE ({columns}) FROM main.urls u "
                "LEFT JOIN temp.verified ON verified.row = u.rowid ORDER BY u.rowid"
            )

    def put(self) -> None:
        """Insert all records, in the writing thread and a transaction of the caller. Raises duckdb.Error, OSError."""
        self.put_robots()
        self._store.insert("findings", [self._tables["findings"]])
        if self._urls.rows:
            rewrite(self._store, [self._verified(self._store.execute)])

    def _verified(self, execute: Callable[[str, Sequence[object]], object]) -> NewValues:
        """The final form of url records, in a temporary table of one connection."""
        types = tables()["urls"]
        source = reading({name: types[name] for name in ("sitemap", *FINAL)} | {"number": "BIGINT"}, self._urls.longest)
        execute(f"CREATE OR REPLACE TEMP TABLE verified_numbers AS FROM {source}", [[str(self._urls.flush())]])
        execute(
            "CREATE OR REPLACE TEMP TABLE verified AS SELECT row, v.* EXCLUDE (number) FROM temp.verified_numbers v "
            f"JOIN ({numbered('SELECT sitemap FROM temp.verified_numbers')}) USING (sitemap, number)",
            [],
        )
        columns = {name: f"CASE WHEN verified.row IS NULL THEN u.{name} ELSE verified.{name} END" for name in FINAL}
        return NewValues("verified", columns)

    def discard(self) -> None:
        """Drop the records."""
        for spool in (*self._tables.values(), self._urls):
            spool.discard()


OF_A_STEP = ("status", "failure", "why", "attempts", "elapsed_ms", "soft_404")
"""Fields of a request that have their own columns."""


class Recorder:
    """Collects records, and passes those of a file to the writer when it has been read."""

    def __init__(self, writer: Committer, comparison: Comparison | None, resumes: bool = True) -> None:
        """`resumes`: False if no run will resume the job, so that it need not keep replies."""
        self._writer = writer
        self._resumes = resumes
        self._spool = writer.store.spool
        self._comparison = comparison
        self._reading: dict[str, FileRows] = {}
        self.last_rows = LastRows(writer.store)
        self.unfinished: list[FileRows] = []
        """Files that another run must read again but the feeds and the report of this run include; the first holds the
        rows of all."""
        self.withheld = 0
        """Number of url records that the feeds write at the end."""
        self._spoilt: set[str] = set()
        self._repaired: defaultdict[str, set[str]] = defaultdict(set)
        """{file: repaired entries that are unchanged}, with `only=changes`: findings on these come with the file."""
        self._json = JsonText(Rows())
        self._links = LinkRows()
        self._reply_line = msgspec.json.Encoder(enc_hook=str).encode

    async def fresh(self, batch: FreshBatch) -> None:
        """Add url records that were read, and withhold them from the feeds, which write them when they are final."""
        if batch.urls:  # else they come when they are verified
            await self._judge(batch.urls)
            self._keep(batch.sitemap, self._json.lines(batch.urls), len(batch.urls), batch.notes.of(batch.urls))
            self._withhold(batch)

    async def final(self, batch: FinalBatch) -> None:
        """Add the final form of url records that were added before, with their new findings."""
        self.withheld -= sum(not self._only_changes or record.change != UNCHANGED for record in batch.urls)
        await self._judge(batch.urls)
        notes = [batch.notes.on(record) for record in batch.urls]
        new = batch.notes.findings(batch.urls)
        with self._writer.guarded():
            self.last_rows.settle(notes, self._json.lines(batch.urls), self._lines(new), len(new))
        self._withhold(batch)

    def _withhold(self, batch: NotedBatch) -> None:
        """Leave only those findings to the feeds that they write."""
        if self._only_changes:
            same = [record for record in batch.urls if record.change == UNCHANGED]
            self._repaired[batch.sitemap] |= {record.loc for record in same if record.recovered}
            batch.urls = [record for record in batch.urls if record.change != UNCHANGED]
        self.withheld += len(batch)
        batch.withhold()

    async def file(self, record: SitemapEnd, complete: bool) -> None:
        """Add the record of a file, after those of its URLs. `complete`: False if another run must read it again."""
        rows = self._rows(record.sitemap)
        del self._reading[record.sitemap]
        result = record.result
        if self._comparison is not None:
            self._comparison.end_file(record)
        with self._writer.guarded():
            rows.record.write(self._json.lines([record]), 1)
            rows.findings.write(self._lines(record.findings), len(record.findings))
            unwanted = self._repaired.pop(record.sitemap, ())
            record.findings = [
                finding
                for finding in record.findings
                if not (finding.url in unwanted and RULES[finding.rule].per is Per.ENTRY)
            ]
        rows.result = result
        if not complete or record.sitemap in self._spoilt:
            rows.result = FileResult(tally=result.tally)  # not known by its content
            self._hold(rows)
            return
        await self._writer.add(rows)

    def _hold(self, rows: FileRows) -> None:
        """Keep the rows of an incomplete file for the feeds and the report. They are merged into one spool to save file
        descriptors: after an internal error, all files of a site can be incomplete."""
        self.unfinished.append(rows)
        if rows is not self.unfinished[0]:
            with self._writer.guarded():
                self.unfinished[0].absorb(rows)

    @property
    def rest(self) -> list[FileRows]:
        """Rows of files that another run must read again."""
        return [*self.unfinished, *self._reading.values()]

    def spoil(self, sitemap: str) -> None:
        """Mark a file as incomplete, so that another run reads it again."""
        self._spoilt.add(sitemap)

    async def missed(self, url: str, answered: bool, status: int | None) -> None:
        """Add a guessed URL that was no sitemap."""
        rows = self._rows(url)
        del self._reading[url]
        rows.result.tally = FileTally(missed=True, answered=answered, status=status)
        await self._writer.add(rows)

    def reply(self, key: str, method: str, step: Step) -> None:
        """Add the result of a request for a listed URL, and the links of its page. `key`: `urls.request_key` of it."""
        self._add_links(key, method, step)
        if not self._resumes:
            return
        row = {
            "url": key,
            "method": method,
            "asked_at": _now(),
            **{name: getattr(step, name) for name in OF_A_STEP},
            "step": step.without_links(),
        }
        with suppress(UnicodeEncodeError):  # a lone surrogate: a resumed job repeats the request
            self._writer.reply(self._reply_line(row) + b"\n")

    def _add_links(self, key: str, method: str, step: Step) -> None:
        """Add the links of a page that was read."""
        if method == "GET":
            for table, row in self._links.rows(key, step):
                self._writer.put(table, row)

    def found(self, record: UrlRecord, by: FoundBy, modified: str | None) -> None:
        """Add a page that was requested without being listed. `by`: what led to it; `modified`: the date of change that
        it states."""
        self._writer.put("found", found_row(record, by, modified))

    def answer(self, record: AnswerRecord) -> None:
        """Add what a crawler gets for a page."""
        self._put("answers", record)

    def rendered(self, record: RenderedRecord) -> None:
        """Add what scripts make of a page."""
        self._put("rendered", record)

    def _put(self, table: str, record: AnswerRecord | RenderedRecord) -> None:
        row: dict[str, object] = msgspec.to_builtins(record)
        self._writer.put(table, {name: value for name, value in row.items() if name != TYPE})

    def policy(self, origin: str, answer: dict[str, object]) -> None:
        """Add the result of fetching a robots.txt."""
        self._writer.put("policies", {"origin": origin, "asked_at": _now(), "answer": answer})

    def last(self, record: FindingRecord | RobotsRecord) -> None:
        """Add a record about the whole crawl."""
        with self._writer.guarded():
            if isinstance(record, RobotsRecord):
                self.last_rows.add_robots(record)
            else:
                self.last_rows.add_finding(self._lines([record]))

    def close(self) -> None:
        """Drop what was not committed."""
        self.last_rows.discard()
        for rows in self.rest:
            rows.discard()

    @property
    def _only_changes(self) -> bool:
        return self._comparison is not None and self._comparison.only_changes

    async def _judge(self, records: Sequence[UrlRecord]) -> None:
        """Compare entries with the baseline."""
        if self._comparison is not None:
            for sitemap, alike in groupby(records, attrgetter("sitemap")):
                await self._comparison.judge(self._writer, sitemap, list(alike))

    def _keep(self, sitemap: str, lines: bytes, count: int, notes: Sequence[Note]) -> None:
        """Add url records, as JSON lines, with their findings."""
        rows = self._rows(sitemap)
        found = [finding for note in notes for finding in note.findings]
        with self._writer.guarded():
            rows.urls.write(lines, count)
            rows.findings.write(self._lines(found), len(found))

    def _rows(self, sitemap: str) -> FileRows:
        rows = self._reading.get(sitemap)
        if rows is None:
            rows = self._reading[sitemap] = FileRows(sitemap, self._spool(), self._spool(), self._spool())
        return rows

    def _lines(self, findings: Sequence[FindingRecord]) -> bytes:
        """Findings as JSON lines; most batches have none."""
        return self._json.lines(findings) if findings else b""


def _now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat()
