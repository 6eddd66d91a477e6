"""Restores a crawl's state from its job's database: counts, robots.txt, replies, and records for the feeds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, islice
from operator import itemgetter

import msgspec

from sitemapcrawler import urls
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.envelopes import FinalBatch, RecordBatch
from sitemapcrawler.jobs.committing import Committer
from sitemapcrawler.jobs.protocols import Crawl, ReplyCounts, VerdictCounts
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.loading import read_tally
from sitemapcrawler.jobs.store.queries import AT_ONCE, fetched
from sitemapcrawler.jobs.store.schema import RECORDS, literal
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.rules import Per, all_rules
from sitemapcrawler.rules.facts.sites import CARRIED, CURRENT, REMOVED, UNCHANGED

MAX_RECALLED = 10_000
"""Disallowed URLs of the runs before, and others, of which the first of each host are compared with protego again."""
PREFIX = "regexp_extract(loc, '^[^:/?#]+://[^/?#]*')"
"""SQL for the part of a listed URL before its path."""
_step = msgspec.json.Decoder(Step).decode


def restore(store: Store, crawl: Crawl) -> None:
    """Restore the state of a crawl."""
    store.execute(f"DELETE FROM urls WHERE NOT ({CURRENT})")  # this run determines them again
    store.execute(f"DELETE FROM {CARRIED}")
    for (text,) in store.execute("SELECT tally FROM files"):
        crawl.add_file(read_tally(text))
    ((count,),) = store.execute("SELECT count(*) FROM urls")
    crawl.add_urls(count)
    restore_policies(store, crawl.policies)
    restore_verdicts(store, crawl.verdicts)
    if crawl.status is not None:
        restore_replies(store, crawl.status)
        restore_counts(store, crawl.status)


def restore_policies(store: Store, policies: Policies) -> None:
    """Restore the latest robots.txt of each authority."""
    newest = "row_number() OVER (PARTITION BY origin ORDER BY asked_at DESC) = 1"
    now = datetime.now(UTC).replace(tzinfo=None)
    rows = store.execute(f"SELECT origin, asked_at, answer FROM policies QUALIFY {newest} ORDER BY rowid")
    for origin, asked_at, answer in rows:
        policies.restore(origin, (now - asked_at).total_seconds(), json.loads(answer))


def restore_verdicts(store: Store, verdicts: VerdictCounts) -> None:
    """Restore how many URLs were checked and blocked per authority."""
    if not verdicts.agents:
        return
    denied: dict[str, Counter[str]] = {}
    for prefix, agent, count in store.execute(
        f"SELECT prefix, agent, count(*) FROM (SELECT {PREFIX} AS prefix, unnest(blocked_for) AS agent FROM urls) "
        "GROUP BY ALL"
    ):
        denied.setdefault(prefix, Counter())[agent] = count
    for prefix, judged, left, nobody in store.execute(
        f"SELECT {PREFIX}, count(blocked_for), count(*) - count(blocked_for), "
        f"count(*) FILTER (len(blocked_for) = ?) FROM urls GROUP BY 1",
        [len(verdicts.agents)],
    ):
        origin = urls.origin(f"{prefix}/")
        if origin is not None:
            verdicts.restore(origin, judged, left, nobody, denied.get(prefix, Counter()))
    some = f"SELECT loc, blocked_for FROM urls WHERE (len(blocked_for) > 0) = ? LIMIT {MAX_RECALLED}"
    for is_blocked in (True, False):
        verdicts.recall(store.execute(some, [is_blocked]))


def restore_replies(store: Store, status: ReplyCounts) -> None:
    """Restore the result of every request."""
    cursor = store.cursor().execute("SELECT method, url, step FROM replies ORDER BY asked_at")
    for rows in fetched(cursor):
        for method, key, step in rows:
            status.remember(method, key, _step(step))


def restore_counts(store: Store, status: ReplyCounts) -> None:
    """Restore the counts of replies."""
    status.counts.update(
        dict(
            store.execute(
                "SELECT coalesce(reply.reason, reply.kind), count(*) FROM urls WHERE reply IS NOT NULL GROUP BY 1"
            )
        )
    )
    status.indexability.update(
        dict(store.execute("SELECT indexability, count(*) FROM urls WHERE reply IS NOT NULL GROUP BY 1"))
    )
    cursor = store.cursor().execute(
        "SELECT loc, any_value(CASE WHEN reply.kind <> 'unchecked' "
        "THEN reply.kind <> 'ok' OR reply.soft_404 IS NOT NULL END), any_value(indexable) FROM urls "
        "WHERE reply.kind <> 'unchecked' OR (NOT indexable AND (reply.reason = 'blocked' OR len(reply.redirects) > 0)) "
        "GROUP BY 1"
    )
    for rows in fetched(cursor):
        for loc, bad, indexable in rows:
            status.count(loc, bad, indexable)


class _Place(msgspec.Struct):
    """The parts of a url record that tell whether and with which others it is written."""

    sitemap: str
    change: str | None = None


_place = msgspec.json.Decoder(_Place).decode


PARTS = ("sitemaps", "findings", "robots", "pages", "answers", "rendered", "changes")
"""Tables of all other records, in the order of feeds."""
OF_THE_END = ("robots", "pages", "answers", "rendered", "changes")
"""Those that each run sends at its end."""
IN_BATCHES = ("pages", "answers", "rendered", "changes")
"""Those of which many are sent at once."""
OK = 200
ALTERNATES = b'"alternates":'
"""Text in the JSON of each url record with language versions."""


@dataclass(frozen=True, slots=True)
class Done:
    """A file that an earlier run read or failed to fetch."""

    digest: str
    answered: bool
    """True if the server delivered it, whatever its content."""
    alias: bool
    """True if it redirects to a file that was already read."""
    hit: bool
    """False for a guessed URL that was no sitemap."""
    index: bool
    final_url: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """Selects the records to read back."""

    run: int
    """Current run, which has sent its own records."""
    finished: bool
    """True if an earlier run finished the job, so that this one sends all records."""
    only_changes: bool
    """True if entries that are unchanged since the baseline are left out."""

    @property
    def earlier(self) -> str:
        """SQL condition for rows of files that this run has not read."""
        return "TRUE" if self.finished else f"sitemap IN (SELECT sitemap FROM files WHERE run < {self.run})"

    @property
    def urls(self) -> str:
        """SQL condition for the url records to read back."""
        return self._unless_unchanged("TRUE")

    @property
    def earlier_urls(self) -> str:
        """SQL condition for the url records to read back that this run has not stored."""
        return self._unless_unchanged(self.earlier)

    def _unless_unchanged(self, condition: str) -> str:
        wanted = f"({condition} OR change = '{REMOVED}')"
        return f"{wanted} AND change IS DISTINCT FROM '{UNCHANGED}'" if self.only_changes else wanted

    def others(self, table: str) -> str:
        """SQL condition for the records of another table to read back."""
        if table in OF_THE_END:
            return "TRUE" if self.finished else "FALSE"
        condition = self.earlier
        if self.only_changes and table == "findings":
            condition += f" AND {of_changes()}"
        return condition


def of_changes() -> str:
    """SQL condition for the findings that `only=changes` keeps: none on an unchanged entry."""
    of_files = ", ".join(literal(rule.id) for rule in all_rules() if rule.per is not Per.ENTRY)
    return (
        f"(url IS NULL OR whole_site OR rule IN ({of_files}) OR NOT EXISTS (SELECT 1 FROM urls one "
        f"WHERE one.sitemap = findings.sitemap AND one.loc = findings.url AND one.change = '{UNCHANGED}'))"
    )


async def read_back(store: Store, writer: Committer, asked: Asked) -> AsyncGenerator[object]:
    """Yield records for the feeds that are no url records: files, findings and robots.txt."""
    for table in PARTS:
        decode: Callable[[str], object] = msgspec.json.Decoder(RECORDS[table]).decode
        async with aclosing(writer.each(partial(store.lines, table, asked.others(table)))) as parts:
            async for lines in parts:
                found = map(decode, lines)
                if table in IN_BATCHES:
                    yield RecordBatch(list(found))  # type: ignore[arg-type]  # the table holds these
                    continue
                for record in found:
                    yield record


def url_batches(store: Store, condition: str, cursor: duckdb.DuckDBPyConnection | None = None) -> Iterator[FinalBatch]:
    """Yield the url records that meet an SQL condition, file by file. `cursor`: as in `Store.tagged_lines`."""
    for rows in store.tagged_lines("urls", "sitemap", condition, cursor):
        if rows[0][0] == rows[-1][0]:  # rows of one file are adjacent
            yield FinalBatch.of_rows(rows[0][0], [line for _, line in rows])
            continue
        for sitemap, alike in groupby(rows, itemgetter(0)):
            yield FinalBatch.of_rows(sitemap, [line for _, line in alike])


def with_returns(batches: Iterable[FinalBatch], returned: Iterator[tuple[str | None]]) -> Iterator[FinalBatch]:
    """Yield batches whose language versions say whether they link back. `returned`: the answer for each of them."""
    for batch in batches:
        if batch.lines is not None and ALTERNATES in batch.lines:
            for url in batch.urls:
                for alternate in url.alternates:
                    (alternate.returns,) = next(returned)
        yield batch


def spooled_batches(lines: Iterable[str], only_changes: bool) -> Iterator[FinalBatch]:
    """Yield url records that are not in the database, given as JSON, in batches of one file each."""
    placed = ((_place(line), line) for line in lines)
    wanted = ((place.sitemap, line) for place, line in placed if not (only_changes and place.change == UNCHANGED))
    for sitemap, alike in groupby(wanted, itemgetter(0)):
        while rows := [line.rstrip("\n") for _, line in islice(alike, AT_ONCE)]:
            yield FinalBatch.of_rows(sitemap, rows)


def files_done(store: Store) -> dict[str, Done]:
    """Files of earlier runs, by URL."""
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
            format_named(format).is_index,
            final_url,
        )
        for sitemap, digest, missed, answered, alias, status, format, final_url in rows
    }
