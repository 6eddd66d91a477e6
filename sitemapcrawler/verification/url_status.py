"""Verifies the URLs of records: replies, findings, counts, trust in lastmod."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from math import prod
from typing import Protocol

from sitemapcrawler.envelopes import FinalBatch, FreshBatch, SitemapEnd
from sitemapcrawler.items import FindingRecord, JsonObject, Lastmods, ReplyRecord, Share, UrlRecord
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.jobs.page_choice import SampleDraw
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.notes import Note, Notes
from sitemapcrawler.replies import Reason, ReplyKind
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.replies.indexability import RobotsVerdicts, set_indexability
from sitemapcrawler.replies.page.preferences import preferences_of
from sitemapcrawler.replies.page.preferences import recorded as usage_recorded
from sitemapcrawler.robots.usage import Preference
from sitemapcrawler.rules.facts.given import AssetFacts, Counted, Drawn, FileFacts, ReplyFacts, assets
from sitemapcrawler.rules.facts.replied import Stratum, estimate, is_home, stratified
from sitemapcrawler.rules.facts.tally import Evidence, Trust
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.urls import site_of
from sitemapcrawler.urls.segments import finder
from sitemapcrawler.verification.asking import Asker, Verification
from sitemapcrawler.verification.sampling import page_number
from sitemapcrawler.verification.verifying import Admission, Targets, VerificationScope, Verifier, by_origin, modified

NO_EVIDENCE = ("dated", "compared", "headers_alike")
"""Fields of `tally.Evidence` that do not count suspicious dates."""


class Trusts:
    """Evidence on the `lastmod` values of each file being read, and totals per site."""

    def __init__(self) -> None:
        self._files: dict[str, Trust] = {}
        self._sites: dict[str, Trust] = {}
        self._site_of: dict[str, str] = {}
        self._entries = 0

    def count(self, records: Sequence[UrlRecord], file: FileFacts) -> None:
        """Count the dates of a file's entries."""
        self._files.setdefault(file.url, Trust()).count(records, file.tally, file.fetched_at)
        self._site_of[file.url] = file.site

    def compare(self, record: UrlRecord, outcome: Verification, file: FileFacts | Counted | None) -> None:
        """Compare the date of an entry with those of its page and server."""
        reply = outcome.reply
        if record.lastmod is None or reply.kind != ReplyKind.OK:
            return
        trust = self._files.get(record.sitemap) or self._of_site(
            self._site_of.get(record.sitemap) or site_of(record.sitemap)
        )
        trust.compare(record.lastmod, datetime.now(UTC), reply.last_modified, modified(outcome))

    def conclude(self, record: SitemapEnd, file: FileFacts) -> None:
        """Add the trust in its dates to the record of a finished file."""
        trust = self._files.pop(file.url, None)
        if trust is not None:
            trust.close(file.tally, record.format)
            record.lastmod = lastmods([trust.evidence()], file.tally.entries)
            state = {"entries": file.tally.entries, "site": file.site, **trust.state()}
            record.result.tally.trust = state
            self.restore(state)

    def restore(self, state: JsonObject) -> None:
        """Add the saved evidence of a file."""
        self._entries += state["entries"]
        self._of_site(state["site"]).merge(Trust.from_state(state))

    def _of_site(self, site: str) -> Trust:
        return self._sites.setdefault(site, Trust())

    @property
    def all(self) -> Lastmods | None:
        """Trust in the dates of all sites together; None without entries."""
        return lastmods([trust.evidence() for trust in self._sites.values()], self._entries)


def lastmods(known: Sequence[Evidence], entries: int) -> Lastmods | None:
    """Summary of the dates of `entries` entries, from the evidence on each part of them."""
    if not entries:
        return None
    dated = sum(each.dated for each in known)
    counts = sum((Counter(asdict(each)) for each in known), Counter())
    evidence = {name: count for name, count in counts.items() if name not in NO_EVIDENCE and count}
    trusted = [(each.trusted, each.dated) for each in known if each.trusted is not None]
    return Lastmods(
        dated / entries,
        counts["compared"],
        _mean(trusted, dated) if trusted and (counts["compared"] or evidence) else None,
        evidence,
    )


def _mean(shares: Sequence[tuple[float, int]], dated: int) -> float:
    """Mean of shares, each with its number of dates. A single one stays exact."""
    return shares[0][0] if len(shares) == 1 else sum(map(prod, shares)) / dated


NOT_ASKED = {reason: ReplyRecord(reason=reason.value) for reason in Reason}
"""{reason: reply of a record that is not verified}; records share them."""


class Homes(Protocol):
    """Takes the sitemaps that home pages link to: `crawl.site_discovery.Sites`."""

    def add_linked(self, home: str, named: Iterable[str], files: Iterable[str]) -> int: ...


class Status:
    """Verifies the URLs of a crawl's records and attaches the replies."""

    def __init__(
        self,
        scope: VerificationScope,
        admission: Admission,
        verifier: Verifier,
        asker: Asker,
        judge: Judge,
        verdicts: RobotsVerdicts,
        targets: Targets,
        homes: Homes,
    ) -> None:
        self.counts: Counter[str] = Counter()
        """Records by kind of reply; unchecked ones by reason."""
        self.indexability: Counter[str] = Counter()
        """Records by indexability."""
        self.scope, self.admission = scope, admission
        self._targets, self._verdicts, self._homes = targets, verdicts, homes
        self.verifier, self._asker, self._judge = verifier, asker, judge
        self._size = (scope.sample.count if scope.sample is not None else None) or 0
        self._segment_of = finder(scope.segments) if scope.segments else lambda _: None
        self._sample: SampleDraw | None = None
        self.trusts = Trusts()
        """Trust in dates, by file and site."""
        self.home_links: set[str] = set()
        """Sitemaps that the home pages among the listed URLs link to."""
        self._searched: set[str] = set()
        self._checked: Counter[str | None] = Counter()
        """Checked URLs by segment, as a sample is drawn."""
        self._bad: Counter[str | None] = Counter()
        self._not_indexable: Counter[str | None] = Counter()
        """Checked URLs that are not indexable."""
        self._unknown = 0
        """Checked URLs that may be indexable or not."""
        self._blocked = 0
        """URLs that are not indexable and not checked, since robots.txt blocks them for us too."""
        self.offered = 0
        """Records verified or being verified."""

    async def judge(self, batch: FreshBatch) -> None:
        """Verify the URLs of a batch. With a sample of a fixed size, they are left out until it is drawn."""
        records, file = batch.urls, batch.file
        if isinstance(file, FileFacts):
            self.trusts.count(records, file)
        self.offered += len(records)
        refused = await self.admission.refuse(records, file)
        admitted = [record for record in records if id(record) not in refused]
        for one in records:
            if id(one) in refused:
                self._leave(one, refused[id(one)], file)
        if self.draws:
            for one in admitted:
                self._leave(one, Reason.SAMPLED_OUT, None)
        else:
            await self._ask(admitted, file, batch.notes)

    @property
    def draws(self) -> bool:
        """True if a sample of a fixed size is drawn once everything is read."""
        return self._size > 0

    def remember(self, method: str, key: str, step: Step) -> None:
        """Restore the result of a request from an earlier run. `key`: `urls.request_key` of its URL."""
        self._asker.remember(method, key, step)

    def count(self, url: str, bad: bool | None, indexable: bool | None) -> None:
        """Count a verified URL once. `bad` is None for one that is not indexable although the reply to it is unknown:
        it is blocked, or redirects to what is not requested."""
        if not self._asker.is_first(url):
            return
        if bad is None:
            self._blocked += 1
        else:
            segment = self._segment_of(url)
            self._checked[segment] += 1
            self._bad[segment] += bad
            self._not_indexable[segment] += indexable is False
            self._unknown += indexable is None

    def conclude(self, record: SitemapEnd, file: FileFacts) -> None:
        """Add the replies and the trust in dates to the record of a finished file."""
        record.replies = dict(file.replies)
        self.trusts.conclude(record, file)

    def close(self) -> None:
        self._asker.close()

    @property
    def candidates(self) -> int:
        """URLs that the sample will have as far as is known, to be requested once everything is read."""
        return min(self._size, self.counts[Reason.SAMPLED_OUT]) if self._sample is None else 0

    @property
    def by_host(self) -> tuple[Counter[str], Counter[str]]:
        """URLs verified, and URLs waiting to be, by host."""
        return self.verifier.checked, self.verifier.waiting

    @property
    def replies(self) -> Counter[str]:
        """URLs verified so far by kind of reply, unchecked ones by reason; `counts` follows batch by batch."""
        return self.verifier.replies

    async def draw(self, job: Job) -> AsyncIterator[tuple[FinalBatch, list[FindingRecord]]]:
        """Draw the sample and verify it. Yields its records file by file, in order, with the findings on each file."""
        number = partial(page_number, seed=self.scope.seed)
        self._sample = sample = await job.draw(self._size, self.scope.segments, number)
        if sample is not None:
            await self.verifier.verify(note.record.loc for notes in sample.notes.values() for note in notes)
            for url, notes in sample.notes.items():
                findings = await self._settle(Drawn(url), notes, sample.offered[url])
                yield FinalBatch(url, [note.record for note in notes], Notes.table(notes)), findings

    async def _settle(
        self, file: Drawn, notes: Sequence[Note], offered: Mapping[str | None, int]
    ) -> list[FindingRecord]:
        records = [note.record for note in notes]
        self.counts -= Counter({Reason.SAMPLED_OUT: len(records)})
        self.indexability -= Counter(record.indexability or "" for record in records)
        await self._ask(records, file, Notes.table(notes))
        file.by_segment = {segment: Counter({Reason.SAMPLED_OUT: number}) for segment, number in offered.items()}
        for record in records:
            replies = file.by_segment[self._segment_of(record.loc)]
            replies[Reason.SAMPLED_OUT] -= 1
            replies.update([kind_of(record.reply)] if record.reply is not None else ())
        return self._judge.drawn(file)

    @property
    def bad(self) -> Share | None:
        """The share of bad URLs; None if none was verified."""
        return self._share(self._bad) if self._checked else None

    @property
    def not_indexable(self) -> Share | None:
        """The share of URLs that are not indexable; None if none was verified and none is blocked."""
        if not self._checked and not self._blocked:
            return None
        asked = self._share(self._not_indexable) if self._checked else Share(0, 0, 0, 0.0, 0.0, 0.0)
        population = asked.population + self._blocked
        share, low, high = (
            (part * asked.population + self._blocked) / population for part in (asked.share, asked.low, asked.high)
        )
        checked = asked.checked + self._blocked
        return Share(population, checked, asked.bad + self._blocked, share, low, high, self._unknown)

    def _share(self, bad: Counter[str | None]) -> Share:
        """A share of the checked URLs; of all, estimated, if they are a sample."""
        checked = population = self._checked.total()
        weights: Mapping[str | None, Fraction] = {}
        if self.counts[Reason.STOPPED]:
            pass  # after a stop, the verified URLs are no random sample, so nothing is estimated
        elif self.scope.sample is not None and self.scope.sample.share is not None:
            population = round(checked / self.scope.sample.share)
        elif self._sample is not None:
            population, weights = self._sample.population, self._sample.shares()
        strata = [Stratum(bad[name], number, weights.get(name, 0)) for name, number in self._checked.items()]
        return stratified(strata, population) if weights else estimate(bad.total(), checked, population)

    def _leave(self, one: UrlRecord, reason: Reason, file: FileFacts | Counted | None) -> None:
        self._give(one, NOT_ASKED[reason], file)

    def _give(self, one: UrlRecord, reply: ReplyRecord, file: FileFacts | Counted | None) -> None:
        one.reply = reply
        set_indexability(one, self._verdicts.search_engine)
        self.counts[kind_of(reply)] += 1
        self.indexability[one.indexability or ""] += 1
        self._count(one, reply)
        if isinstance(file, FileFacts):
            file.replies[kind_of(reply)] += 1

    async def _ask(self, records: Sequence[UrlRecord], file: FileFacts | Counted | None, notes: Notes) -> None:
        outcomes = await self.verifier.verify((one.loc for one in records), again=self._sample is not None)
        canonicals = await self._targets.verify(outcomes, file)
        stated: dict[int, tuple[Preference, ...]] = {}
        for one in records:
            reply = outcomes[one.loc].reply
            one.target = self._targets.judge(outcomes[one.loc], canonicals)
            self._give(one, reply, file)
            self.trusts.compare(one, outcomes[one.loc], file)
            page = outcomes[one.loc].page
            if page is not None and page.usage is not None and reply.kind == ReplyKind.OK:
                stated[id(one)] = (*preferences_of(one.usage), *page.usage.preferences)
                one.usage = usage_recorded(stated[id(one)])
            if page is not None and page.sitemaps and is_home(page.url):
                self.home_links.update(page.sitemaps)
        if not self.draws:  # a sample is requested when all sitemaps are read
            self._search_homes(records)
        if file is not None:
            facts = (
                self._facts(one, outcomes[one.loc], canonicals, notes.element(one), stated.get(id(one), ()))
                for one in records
            )
            self._judge.replies(facts, file, notes)
            await self._ask_assets(records, outcomes, file, notes)

    def _search_homes(self, records: Sequence[UrlRecord]) -> None:
        """Search the home pages that were read with these records for sitemaps, each once."""
        for origin, _ in by_origin(records):
            page = self._asker.known_page(f"{origin}/") if origin not in self._searched else None
            if page is not None:
                self._searched.add(origin)
                self._homes.add_linked(page.url, page.sitemaps, page.files)

    def _count(self, one: UrlRecord, reply: ReplyRecord) -> None:
        """Count the URL of a record for the shares, each once."""
        if reply.kind != ReplyKind.UNCHECKED:
            bad = reply.kind != ReplyKind.OK or reply.soft_404 is not None
            self.count(one.loc, bad, one.indexable)
        elif one.indexable is False and (reply.reason == Reason.BLOCKED or reply.redirects):
            self.count(one.loc, None, False)

    def _facts(
        self,
        one: UrlRecord,
        outcome: Verification,
        canonicals: Mapping[str, Verification],
        element: Element | None,
        stated: Sequence[Preference],
    ) -> ReplyFacts:
        page = outcome.page
        canonical = canonicals.get(page.canonical) if page is not None and page.canonical else None
        targets = {other.href: self._asker.cached_reply(other.href) for other in one.alternates if other.href}
        return ReplyFacts(
            one,
            outcome.reply,
            datetime.now(UTC),
            page,
            outcome.last.headers if outcome.last is not None else {},
            canonical.reply if canonical is not None else None,
            {url: reply for url, reply in targets.items() if reply is not None},
            element,
            stated,
        )

    async def _ask_assets(
        self,
        records: Sequence[UrlRecord],
        outcomes: Mapping[str, Verification],
        file: FileFacts | Counted,
        notes: Notes,
    ) -> None:
        if not self.scope.assets:
            return
        wanted = [
            (one, role, url)
            for one in records
            if outcomes[one.loc].reply.kind != ReplyKind.UNCHECKED
            for role, url in assets(one)
        ]
        replies = await self.verifier.verify((url for _, _, url in wanted), asset=True)
        facts = (
            AssetFacts(
                one,
                url,
                role,
                reply,
                denied or (None if reply.redirects else denied),
                notes.element(one),
            )
            for one, role, url in wanted
            for reply, denied in ((replies[url].reply, self._verdicts.asset_denied_to(url, role)),)
        )
        self._judge.assets(facts, file, notes)


def kind_of(reply: ReplyRecord) -> str:
    """The kind of a reply, or the reason if it is unchecked."""
    return reply.reason or reply.kind
