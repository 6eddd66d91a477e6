"""The job of a crawl: stores its results, and restores those of earlier runs."""

from __future__ import annotations

import logging
import os
import shutil
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from scrapy.crawler import Crawler

from sitemapcrawler.download.policies import fetched
from sitemapcrawler.download.shared import FINISHED, Stop, stopping
from sitemapcrawler.envelopes import FinalBatch, RecordBatch, decoded
from sitemapcrawler.feeds.folder import CONTENTS, EARLIER_CACHE
from sitemapcrawler.feeds.setup import holds
from sitemapcrawler.items import (
    MAX_SITE_TIME,
    AlternateRecord,
    AnswerRecord,
    ChangeRecord,
    ComparedList,
    Coverage,
    CrawlerFetches,
    FindingRecord,
    IndexCounts,
    LinkGraph,
    PageRecord,
    RenderedRecord,
    Revisits,
    RobotsChange,
    SummaryRecord,
)
from sitemapcrawler.jobs import changes, content_history, history
from sitemapcrawler.jobs.changes import Compared
from sitemapcrawler.jobs.committing import Committer
from sitemapcrawler.jobs.comparing import Comparison, policies_before
from sitemapcrawler.jobs.counting import count_access, count_usage, reaches, with_answers
from sitemapcrawler.jobs.coverage import Lists
from sitemapcrawler.jobs.gatherer import Gatherer, Interrupter
from sitemapcrawler.jobs.index_status import IndexStatuses, Inspection
from sitemapcrawler.jobs.links import Links, LinkScope
from sitemapcrawler.jobs.listing import Listing
from sitemapcrawler.jobs.page_choice import SampleDraw, drawn
from sitemapcrawler.jobs.protocols import Arguments, Crawl
from sitemapcrawler.jobs.recording import Recorder
from sitemapcrawler.jobs.restoring import (
    Asked,
    files_done,
    read_back,
    restore,
    spooled_batches,
    url_batches,
    with_returns,
)
from sitemapcrawler.jobs.rewriting import Marks, mark_files, rewrite
from sitemapcrawler.jobs.segments import WHOLE, measure, proven_dates, set_segments, set_segments_of_changes
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.baseline import RESPELLED
from sitemapcrawler.jobs.store.files import in_words
from sitemapcrawler.jobs.store.queries import rows_of, with_memory
from sitemapcrawler.jobs.store.schema import RECORDS, iso
from sitemapcrawler.jobs.store.spool import Spool
from sitemapcrawler.policy import NO_BASELINE, Limit, Measured
from sitemapcrawler.reader.duck import duckdb
from sitemapcrawler.report.model import Report, Run
from sitemapcrawler.robots.addresses import read_ranges
from sitemapcrawler.robots.policy import deciding_lines
from sitemapcrawler.rules.facts.revisits import revisits
from sitemapcrawler.rules.facts.robots_changes import robots_changes
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.site_links import returned
from sitemapcrawler.rules.facts.sites import CURRENT, REMOVED, UNCHANGED
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import Of
from sitemapcrawler.urls.display import counted
from sitemapcrawler.urls.segments import Segment

logger = logging.getLogger(__name__)

T = TypeVar("T")
Part = TypeVar("Part")
Frontier = TypeVar("Frontier", Links, Lists)
Gathered = AnswerRecord | ChangeRecord | PageRecord | RenderedRecord
STORE_LOST = "store"
"""Stop reason if the database can no longer be written or read."""
STOP_S = 13.0
"""Seconds from a signal to the end of feeds: two less than a stopped crawl may take in total."""


@dataclass(frozen=True, slots=True)
class OpenedJob:
    """The database of a crawl that has not begun."""

    store: Store
    folder: Path | None
    """JOBDIR; None for a temporary database."""
    comparison: Comparison | None
    only_changes: bool
    """True to leave entries that are unchanged since the baseline out of the feeds."""
    reports: bool
    lists_all: bool = False
    earlier: Sequence[Run] = ()
    """Earlier runs, the oldest first."""
    segments: Sequence[Segment] = ()
    policy: Sequence[Limit] = ()


class Job:
    """Database side of a crawl: recording, comparing, resuming and reporting."""

    def __init__(self, crawler: Crawler, opened: OpenedJob) -> None:
        self.store = store = opened.store
        self._only_changes = opened.only_changes
        self.comparison = opened.comparison
        self.folder = opened.folder
        """JOBDIR; None for a temporary database."""
        self.skipped: Counter[str] = Counter()
        """Number of URLs of the baseline that may or may not have been removed."""
        self.finished: bool = store.get("state") == FINISHED
        """True if an earlier run finished the job, so that no requests are needed."""
        self.run: int = (store.get("run") or 0) + 1
        self.done = files_done(store) if self.run > 1 else {}
        """Files of earlier runs, by URL."""
        self.coverage: Coverage | None = None
        """What lists have and no sitemap lists; None before it is compared."""
        self._lists: Lists | None = None
        self._compared: list[ComparedList] | None = None
        self.fetches: dict[str, CrawlerFetches] = {}
        """What crawlers requested by access logs, by their names in lower case."""
        self.statuses = IndexStatuses(store)
        """What Google says of URLs."""
        self.google: IndexCounts | None = None
        """The same counted; None if nothing is said, or before it is counted."""
        self.graph: LinkGraph | None = None
        """Totals of the link graph; None before it is counted."""
        self.revisits: Revisits | None = None
        """How many dates proved true since the baseline; None before they are compared."""
        self._proven: dict[str, float] = {}
        """Share of them by segment."""
        self.robots_changes: list[RobotsChange] = []
        """What has changed in each robots.txt since the baseline."""
        self._crawler = crawler
        self._earlier_runs = opened.earlier
        self._stop = Stop.of(crawler)
        self._writer = Committer(store, self.run, self._lost)
        self.records = Recorder(self._writer, self.comparison, opened.folder is not None)
        self._listing = Listing(store, self._only_changes) if opened.lists_all else None
        self._reports = opened.reports
        self._gatherer = Gatherer(crawler, self._writer, self.records, self.run)
        self._segments, self._policy = opened.segments, opened.policy
        self.measured: Measured | None = None
        """What the policy is compared with; None before it is counted, and without one."""
        self._marks: Marks | None = None
        self._uncompared: set[str] = set()
        self._shows_returns = holds(crawler.settings, AlternateRecord)
        self._giving = False
        self._interrupter = Interrupter()

    @property
    def resumed(self) -> bool:
        """True if earlier runs of the job exist."""
        return self.run > 1

    async def begin(self, crawl: Crawl) -> None:
        """Start the run, and restore the crawl's state from earlier runs."""
        if self.finished:
            self.store.set(pid=os.getpid())
            if not history.has(self._earlier_runs, summary := self.summary()):  # killed before it was added
                self._keep_history(crawl, summary)
            logger.info(
                "the job in %s is finished: nothing is requested again, its feeds are written from the database; "
                "fresh=yes starts over",
                self.folder,
            )
            return
        if self.folder is not None:
            self._crawler.signals.connect(self.records.policy, signal=fetched)
        asked = crawl.params.asks_for()
        self.store.set(arguments=asked, run=self.run, state="running", pid=os.getpid())
        if self.resumed:
            done = counted(len(self.done), "file is", "files are")
            logger.info("resuming the job in %s: %s done", self.folder, done)
            restore(self.store, crawl)
        if self.comparison is not None:
            await self._get_resources()

    def children(self, sitemap: str) -> list[tuple[str, str | None]]:
        """(URL, lastmod) of the children of an index that an earlier run has read."""
        query = f"SELECT loc, {iso('lastmod_at')} FROM children WHERE sitemap = ?"
        return self.store.cursor().execute(query, [sitemap]).fetchall()

    async def flush(self) -> None:
        """Wait until all files that were read are committed."""
        await self._writer.flush()

    async def settle(self, crawl: Crawl, narrowed: bool) -> None:
        """Finish reading: add the removed pages of the baseline. `narrowed`: a limit or filter left files out."""
        await self._get_resources(sparing=self.comparison is None and not self.resumed)
        if self.comparison is not None:
            await self._writer.run(self.comparison.baseline.respell)
            if not self.finished:
                await self._compare(self.comparison, crawl, narrowed)

    async def _compare(self, comparison: Comparison, crawl: Crawl, narrowed: bool) -> None:
        counts = f"SELECT count(*) FILTER (outcome = '{UNCHANGED}'), count(*) FROM sitemaps"
        [(same, total)] = self.store.execute(counts)
        if comparison.baseline.digests:  # a feed has none
            logger.info("%s of %s unchanged since the baseline", f"{same:,}", counted(total, "file"))
        judged: list[str] = []
        others = comparison.baseline.listed_files()
        if crawl.complete and crawl.partial in (None, MAX_SITE_TIME):
            lost = crawl.lost | crawl.narrowed
            judged, others = comparison.judged_files(self.store, narrowed, lost)
        if others:
            self.skipped[REMOVED] = comparison.baseline.count(others)
            self._uncompared = comparison.baseline.sites(others, complete=not crawl.lost)
            await self._writer.run(partial(comparison.baseline.carry, others))
        if not judged:
            return
        with self._writer.guarded():
            spool = self.store.spool()
            async for lines in self._writer.each(partial(comparison.baseline.missing, judged)):
                wanted = [line for line in lines if crawl.passes(decoded(line))]
                spool.write("".join(f"{line}\n" for line in wanted).encode(), len(wanted))
            await self._writer.run(partial(self._put_removed, spool))

    async def _get_resources(self, sparing: bool = False) -> None:
        settings = self._crawler.settings
        memory = settings.getint("SITEMAP_STORE_MEMORY")
        await self._writer.run(partial(self.store.resources, memory, sparing))

    def _put_removed(self, spool: Spool) -> None:
        with self.store.transaction():
            self.store.insert("urls", [spool])
        spool.discard()

    async def count_links(self, scope: LinkScope, why: str | None) -> AsyncIterator[RecordBatch]:
        """Count the links of all pages that were read, and yield a record of each page. Sets `graph`. `why`: what ended
        following links early, if anything."""
        links = Links(self.store, scope)
        await self._writer.flush()
        await self._writer.run(partial(with_memory, links.count, self.store.give_more_memory))
        self.graph = await self._writer.run(partial(links.graph, why))
        async for pages in self.gathered(PageRecord):
            yield pages

    async def compare(self, scope: LinkScope, params: Arguments, why: str | None) -> None:
        """Compare the listed pages with lists. Sets `coverage` and `fetches`. `why`: what ended requesting pages early,
        if anything."""
        lists = await self.load_lists(scope, params)
        await self._writer.flush()
        if self._compared is not None:
            compare = partial(lists.compare, self._compared, why)
            self.coverage = await self._writer.run(partial(with_memory, compare, self.store.give_more_memory))
            fetches = await self._writer.run(partial(with_memory, lists.fetches, self.store.give_more_memory))
            self.fetches = fetches or {}

    async def count_index(self, scope: LinkScope, inspection: Inspection | None) -> None:
        """Count what Google says of the listed URLs. Sets `google`. `inspection`: of Search Console."""
        if inspection is None and not self.statuses.has_any:
            return
        await self.follow(Links.number_listed, Links(self.store, scope))
        self.google = await self._writer.run(partial(with_memory, self.statuses.sum_up, self.store.give_more_memory))
        if self.google is not None and inspection is not None:
            self.google.not_asked, self.google.partial = inspection

    async def load_lists(self, scope: LinkScope, params: Arguments) -> Lists:
        """Read the lists to compare with into the database, once."""
        if self._lists is None:
            paths, ranges = list(map(Path, params.compare)), read_ranges(params.crawler_addresses)
            self._lists = lists = Lists(self.store, scope, paths, ranges, self.statuses)
            await self._writer.flush()
            self._compared = await self._writer.run(lists.load)
        return self._lists

    async def follow(self, work: Callable[[Part], T], part: Part) -> T | None:
        """Run `work` on a part of the database, such as the link graph, when everything is committed; None if the
        database failed."""
        await self._writer.flush()
        return await self._writer.run(partial(work, part))

    async def draw(self, count: int, segments: Sequence[Segment], number: Callable[[str], int]) -> SampleDraw | None:
        """Draw a sample when everything is committed; None if the database failed. Parameters as in `drawn`."""
        await self._get_resources(sparing=True)
        return await self.follow(partial(drawn, count=count, segments=segments, number=number), self.store)

    async def gathered(self, kind: type[Gathered]) -> AsyncIterator[RecordBatch]:
        """Yield all records of a type: pages, what crawlers get for them, what scripts make of them, or the differences
        from the baseline; those of earlier runs included."""
        await self._writer.flush()
        decode = msgspec.json.Decoder(kind).decode
        table = next(name for name, one in RECORDS.items() if one is kind)
        async for lines in self._writer.each(partial(self.store.lines, table)):
            yield RecordBatch(list(map(decode, lines)))  # type: ignore[arg-type]  # all are of one type

    async def findings(self, crawl: Crawl) -> AsyncIterator[FindingRecord]:
        """Yield the findings of whole-site rules. A stop interrupts the rules."""
        left_out = {name: count for name, count in crawl.left_out.items() if count}
        narrowed = crawl.narrowed
        find = partial(self._site_findings, crawl, left_out, narrowed, crawl.home_links)
        self._crawler.signals.connect(self._interrupter.begin, signal=stopping)
        try:
            async for finding in self._writer.each(find):
                yield finding
        finally:
            self._crawler.signals.disconnect(self._interrupter.begin, signal=stopping)
            self._interrupter.end()

    def _site_findings(
        self, crawl: Crawl, left_out: dict[str, int], narrowed: set[str], home_links: set[str]
    ) -> Generator[FindingRecord]:
        judge = crawl.judge
        baseline, since = (None, None) if self.comparison is None else (RESPELLED, self.comparison.baseline.started)
        with self.store.transaction():
            self.records.last_rows.put_robots()
        with self.store.analysis() as cursor:
            rows = rows_of(cursor, self.store.give_more_memory)
            with_memory(partial(self.records.last_rows.show_urls, cursor), self.store.give_more_memory)
            facts = SiteFacts(rows, left_out, narrowed, baseline, self._uncompared, self._stop.begun, home_links, since)
            with self._interrupter.interruptible(cursor):
                facts.link_files = crawl.link_files
                facts.robots_changes = self.robots_changes = self._changes_of_robots(crawl, facts)
                yield from judge.site(facts, (Of.SITE, Of.WHOLE_SITE))
                yield from judge.site(facts, (Of.BASELINE, Of.REVISIT))
                with suppress(duckdb.InterruptException):  # another run marks the entries
                    if not facts.stopped():
                        self.revisits = revisits(facts)
                        self._proven = proven_dates(facts, self._segments)
                    judge.mark_entries(facts)
                    if not facts.stopped() and facts.has_marks:
                        self._marks = Marks(self.store, cursor, facts.marks)
            if self._reports:
                self._gatherer.keep(facts)

    def _changes_of_robots(self, crawl: Crawl, facts: SiteFacts) -> list[RobotsChange]:
        if self.comparison is None:
            return []
        before = policies_before(self.comparison.baseline, crawl.policies)
        return robots_changes(facts, before, crawl.policies.by_origin, crawl.params.judged_agents)

    async def report(self, crawl: Crawl, summary: SummaryRecord, names: Sequence[str]) -> Report | None:
        """Gather the report; None if the database failed. `names`: files next to its page."""
        if not self._reports:
            return None
        await self._get_resources()
        agents = [agent.name for agent in crawl.params.judged_agents]
        report = await self._gatherer.gather(summary, agents, names)
        if report is not None:
            report.arguments = {name: text for name, text in crawl.params.as_dict().items() if name != "report"}
            report.judged = len(crawl.judge.selected)
            for one in report.denied:
                one.lines = deciding_lines(crawl.policies.at(one.url), one.url, one.agents)
            report.runs = self._runs(crawl, summary)
            before = self.comparison.baseline.summary if self.comparison is not None else None
            if before is not None and before.revisits is not None and before.revisits.compared:
                report.true_before = before.revisits.true / before.revisits.compared
            if before is not None:
                report.broken_before = frozenset(
                    one.limit for one in before.breaches or () if one.message != NO_BASELINE
                )
        return report

    async def keep_breaches(self, summary: SummaryRecord) -> None:
        """Store the broken limits of a finished job, for audits with it as baseline."""

        def keep() -> None:
            if self.store.get("state") == FINISHED:
                breaches = msgspec.to_builtins(summary.breaches)
                self.store.set(summary=self.store.get("summary") | {"breaches": breaches})

        await self._writer.run(keep)

    async def exported_contents(self) -> Path | None:
        """Write the table of contents. Returns the Parquet file, which goes with the job; None without contents,
        or if the database failed."""
        path = self.store.spools / CONTENTS
        export = partial(content_history.export, self.store, path, self.comparison is not None)
        return path if await self._writer.run(export) else None

    def _runs(self, crawl: Crawl, summary: SummaryRecord) -> list[Run]:
        """The history of the job, with this run at its end."""
        params = crawl.params
        asked = {name: text for name, text in params.asks_for().items() if name not in params.of_comparison}
        return history.merged(self._earlier_runs, [history.run_of(summary, asked)])

    async def finish(self, crawl: Crawl, summary: SummaryRecord) -> None:
        """Finish the job: commit the last records, set `reach` and `changes` of the summary, and add the run to the
        history."""
        await self.flush()
        if self._writer.error is None:
            finish = partial(self._finish, crawl.judge, summary, dict(summary.findings_left_out))
            await self._writer.run(partial(with_memory, finish, self.store.give_more_memory))
        if self._writer.error is None:
            self._keep_history(crawl, summary)
            if self.folder is not None:
                shutil.rmtree(self.folder / EARLIER_CACHE, ignore_errors=True)

    def _keep_history(self, crawl: Crawl, summary: SummaryRecord) -> None:
        """Add a finished run to the history in JOBDIR. A failure costs a row of the trend and is only logged."""
        if self.folder is not None:
            try:
                history.write(self.folder, self._runs(crawl, summary))
            except OSError as error:
                logger.warning("%s cannot be written: %s", self.folder / history.HISTORY, in_words(error))

    def _finish(self, judge: Judge, summary: SummaryRecord, unlisted: Mapping[str, int]) -> None:
        with self.store.transaction() as connection:
            self.records.last_rows.put()
            baseline = None if self.comparison is None else self.comparison.baseline
            since = None if baseline is None else baseline.started
            found = (
                self._marks.issues() if self._marks is not None else None,
                self._lists.fetched() if self._lists is not None and self.fetches else None,
                self.statuses.google() if self.google is not None else None,
                content_history.update(self.store, summary.started, baseline is not None, since),
            )
            rewrite(self.store, [values for values in found if values is not None])
            set_segments(connection, self._segments)
            site = SiteFacts(rows_of(connection))
            self._sum_up(site, connection, summary, unlisted, is_finished=True)
            remaining: dict[str, int] = {}
            if baseline is not None:
                summary.changes, remaining = changes.find(
                    self.store, baseline, Compared.of(judge, summary, baseline), self.robots_changes
                )
            set_segments_of_changes(connection)
            self._count_segments(site, summary)
            for one in summary.segments if baseline is not None else ():
                one.remaining_problems = remaining.get(one.segment, 0)
            texts = list(map(str, self._segments))
            self.store.set(state=FINISHED, summary=msgspec.to_builtins(summary), segments=texts)

    async def changes(self) -> AsyncIterator[RecordBatch]:
        """Yield the differences from the baseline, once the job is finished."""
        if self.comparison is not None:
            async for batch in self.gathered(ChangeRecord):
                yield batch

    def _sum_up(
        self,
        site: SiteFacts,
        connection: duckdb.DuckDBPyConnection,
        summary: SummaryRecord,
        unlisted: Mapping[str, int],
        is_finished: bool = False,
    ) -> None:
        """Count what the rules concern, and the rows that complete the list of findings; find them if the crawl ended
        early. `unlisted`: findings that became no records, by rule. Raises duckdb.Error, OSError."""
        summary.reach, summary.severity_reach = reaches(site, summary.rules, unlisted)
        count_access(site, summary.crawlers)
        summary.crawlers = with_answers(site, summary.crawlers)
        summary.rendered = dict(site.query("SELECT result, count(*) FROM rendered GROUP BY result ORDER BY result"))
        summary.usage = count_usage(site)
        if self._listing is not None:
            if is_finished:  # rows have other numbers before the transaction ends
                self._listing.count(connection)
            else:
                self._listing.fill(connection)
            summary.findings_left_out = dict(sorted((Counter(unlisted) + Counter(self._listing.left_out)).items()))

    def _count_segments(self, site: SiteFacts, summary: SummaryRecord) -> None:
        if not self._segments and not self._policy:
            return
        self.measured = measure(site, self._segments, self._policy, summary.rules, self._proven)
        if self._segments:
            summary.segments = [one for name, one in self.measured.counts.items() if name is not WHOLE]

    def _set_segments(self) -> bool:
        """Name the segments of all rows. Returns False if they have these names."""
        texts = list(map(str, self._segments))
        if self.store.get("segments") == texts:
            return False
        with self.store.transaction() as connection:
            set_segments(connection, self._segments)
            set_segments_of_changes(connection)
            self.store.set(segments=texts)
        return True

    async def count_again(self, summary: SummaryRecord) -> None:
        """Count segments and what the policy limits in a finished job: an earlier run may have had others. What only
        the comparison with the baseline says stays, and is unknown for other segments."""
        before = {one.segment: one for one in summary.segments}

        def count() -> None:
            if self._set_segments():
                before.clear()
            with self.store.analysis() as cursor:
                self._count_segments(SiteFacts(rows_of(cursor, self.store.give_more_memory)), summary)
            for one in summary.segments:
                earlier = before.get(one.segment)
                one.remaining_problems = earlier.remaining_problems if earlier is not None else None
                if summary.revisits is not None:
                    one.trusted = earlier.trusted if earlier is not None else None

        summary.segments = ()
        await self._writer.run(count)

    @property
    def left_out(self) -> Mapping[str, int]:
        """Rows that the list of all findings lacks, by rule."""
        return {} if self._listing is None else self._listing.left_out

    async def suspend(self, summary: SummaryRecord) -> None:
        """Sum up a crawl that ended early, and log how to resume. Rules on the whole site have not run; entries that
        rules on files concern are marked for the counts, the list and the report, but not in the database."""

        unlisted = dict(summary.findings_left_out)

        def sum_up(connection: duckdb.DuckDBPyConnection) -> None:
            with suppress(duckdb.Error, OSError):  # no room or time
                site = SiteFacts(rows_of(connection))
                self._sum_up(site, connection, summary, unlisted)
                self._count_segments(site, summary)

        def mark(connection: duckdb.DuckDBPyConnection) -> None:
            mark_files(connection, summary.rules)
            set_segments(connection, self._segments)

        self._gatherer.mark = mark
        await self._get_resources()
        if self._segments:
            await self._writer.run(self._set_segments)
        await self._gatherer.ask(sum_up)
        if self.folder is not None and self._writer.error is None:
            logger.info("stopped before the end; run the same command with JOBDIR=%s to resume", self.folder)

    def close(self) -> None:
        """Close the database."""
        self.records.close()
        if self._listing is not None:
            self._listing.discard()
        self._writer.close()

    @property
    def _asked(self) -> Asked:
        return Asked(self.run, self.finished, self._only_changes)

    @property
    def _has_earlier_rows(self) -> bool:
        """True if the database may hold rows that this run did not read: those of earlier runs or of the baseline."""
        return self.resumed or self.comparison is not None

    async def url_count(self) -> int:
        """Number of records of listed URLs that `urls` yields."""
        if not self._has_earlier_rows:
            return self.records.withheld
        condition = f"{self._asked.earlier_urls} AND {CURRENT}"
        rows = await self._writer.run(lambda: self.store.execute(f"SELECT count(*) FROM urls WHERE {condition}"))
        return self.records.withheld + (rows[0][0] if rows else 0)

    async def stored(self) -> AsyncIterator[object]:
        """Yield records that this run did not read, for the feeds: files and findings, and all others but url records
        if the job is finished. After a signal, only as many as there is time for."""
        if self._has_earlier_rows:
            async for record in self._in_time(read_back(self.store, self._writer, self._asked)):
                yield record

    def urls(self) -> AsyncIterator[object]:
        """Yield all url records for the feeds, in their final form if the crawl has come to its end. After a signal,
        as many as there is time for."""
        return self._in_time(self._writer.each(self._url_batches))

    def _url_batches(self) -> Generator[FinalBatch]:
        yield from self._final_batches()
        for file in self.records.rest:
            yield from spooled_batches(map(bytes.decode, file.urls.lines()), self._only_changes)

    def _final_batches(self) -> Iterator[FinalBatch]:
        """Yield the url records in the database."""
        is_finished = self.store.get("state") == FINISHED
        if not self._shows_returns or not is_finished or self._stop.early:
            cursor = self.store.cursor()
            if not is_finished:
                with_memory(partial(self.records.last_rows.show_urls, cursor), self.store.give_more_memory)
            yield from url_batches(self.store, self._asked.urls, cursor)
            return
        batches = url_batches(self.store, self._asked.urls)
        with self.store.analysis() as cursor:
            site = SiteFacts(rows_of(cursor, self.store.give_more_memory))
            yield from with_returns(batches, returned(site, self._asked.urls) if site.has("alternates") else iter(()))

    def _list(self, listing: Listing) -> None:
        if self.store.get("state") != FINISHED:  # the rows were found when the crawl ended
            return
        with self.store.cursor() as cursor:
            site = SiteFacts(rows_of(cursor, self.store.give_more_memory))
            with_memory(partial(listing.fill, cursor, site), self.store.give_more_memory)

    async def listed(self) -> AsyncIterator[object]:
        """Yield the rows that complete the list of findings, with `findings=all`. After a signal, as many as there
        is time for."""
        if self._listing is not None:
            await self._writer.run(partial(self._list, self._listing))
            async for batch in self._in_time(self._writer.each(self._listing.batches)):
                yield batch

    async def _in_time(self, items: AsyncGenerator[object]) -> AsyncIterator[object]:
        self._giving = True
        try:
            async with aclosing(items):
                async for item in items:
                    yield item
                    if self._stop.is_late(STOP_S):
                        keeps = "; the job keeps them" if self.folder is not None else ""
                        logger.warning("not all records were written in time%s", keeps)
                        break
        finally:
            self._giving = False

    def summary(self) -> SummaryRecord:
        """Summary of a finished job."""
        return msgspec.convert(self.store.get("summary"), SummaryRecord)

    def _lost(self, why: str) -> None:
        """End the crawl because the database can no longer be written or read."""
        doing = "read" if self._giving else "written"
        resumable = self.folder is not None and not self._giving
        advice = "; free some space and run the same command to resume" if resumable else ""
        logger.error("%s cannot be %s: %s%s", self.store.path, doing, why, advice)
        self._crawler.stats.set_value("sitemap/store_lost", why)
        if self._giving:
            self._stop.records_lost = "records of the job could not be read"
        self._stop.end(STORE_LOST)
