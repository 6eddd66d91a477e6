"""Verifies the URLs of a batch concurrently, and decides which to skip; verifies the pages that take the place of
listed ones: canonicals, and where redirects and refreshes lead."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from sitemapcrawler import urls
from sitemapcrawler.download.answers import reason
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.items import ReplyRecord, Target, UrlRecord
from sitemapcrawler.jobs.links import FoundBy
from sitemapcrawler.jobs.recording import Recorder
from sitemapcrawler.reader.repair import UNREADABLE
from sitemapcrawler.replies import REACHED, Reason, ReplyKind, at_end
from sitemapcrawler.replies.indexability import RobotsVerdicts, judged
from sitemapcrawler.robots import Agent
from sitemapcrawler.rules.facts.given import Counted, FileFacts
from sitemapcrawler.urls import bare_host, host_of
from sitemapcrawler.urls.segments import Segment
from sitemapcrawler.verification.asking import Asker, Verification
from sitemapcrawler.verification.sampling import Sample, ShareDraw


@dataclass(frozen=True, slots=True)
class VerificationScope:
    """Which listed URLs are verified."""

    hosts: frozenset[str] = frozenset()
    """Hosts named by the user."""
    offsite: bool = False
    """True to verify URLs on other hosts as well."""
    assets: bool = False
    """True to request images and video files as well."""
    sample: Sample | None = None
    """The sample to verify; None for all URLs."""
    seed: int = 0
    segments: Sequence[Segment] = ()
    """Parts of the site that a sample of a fixed size has pages of."""


class Admission:
    """Decides which records' URLs are not requested, and why."""

    def __init__(self, scope: VerificationScope, policies: Policies, own: Agent | None) -> None:
        """`own`: our own agent; None if robots.txt is not obeyed."""
        self._policies = policies
        self._own = own
        self._scope = scope
        share = scope.sample.share if scope.sample is not None else None
        self._share = None if share is None else ShareDraw(share, scope.seed)

    async def refuse(self, records: Sequence[UrlRecord], file: FileFacts | Counted | None) -> dict[int, Reason]:
        """{`id` of a record: reason} for the records whose URLs are not requested.

        Without a sample, robots.txt is left to the request itself.
        """
        unreadable = (record for record in records if record.recovered and UNREADABLE in record.loc)
        refused = {id(record): Reason.UNREADABLE for record in unreadable}
        for origin, alike in by_origin([record for record in records if id(record) not in refused]):
            if isinstance(file, FileFacts) and self.is_offsite(f"{origin}/", file):
                refused.update((id(record), Reason.OFF_SITE) for record in alike)
            elif self._scope.sample is not None:
                refused.update(await self._draw(origin, alike))
        return refused

    def is_offsite(self, url: str, file: FileFacts) -> bool:
        """True for a URL on a host that is neither the file's own nor named by the user.
        A robots.txt may prove the file's right to list it. Local files may list any host."""
        if self._scope.offsite or file.authority is None:
            return False
        place = urls.authority(url)
        own = {found[0] for home in file.places if (found := urls.authority(home)) is not None}
        return place is not None and place[0] not in own | self._scope.hosts and not file.proven(url)

    async def _draw(self, origin: str, records: Sequence[UrlRecord]) -> dict[int, Reason]:
        refused: dict[int, Reason] = {}
        if self._share is not None:
            out = (record for record in records if not self._share.takes(urls.visit_key(record.loc)))
            refused.update((id(record), Reason.SAMPLED_OUT) for record in out)
        policy = self._policies.at(origin)
        if policy is None and len(refused) < len(records) and self._own is not None:
            policy = await self._policies.obtain(origin)
        # Hosts that did not answer stay in the sample.
        if policy is not None and policy.status is not None and self._own is not None:
            denied = (record for record in records if not policy.allows(record.loc, self._own))
            refused.update((id(record), Reason.BLOCKED) for record in denied)
        return refused


Ask = Callable[[str], Awaitable[Verification]]
logger = logging.getLogger(__name__)
STOPPED = Verification(ReplyRecord(reason=Reason.STOPPED.value))


class Verifier:
    """Requests URLs, a bounded number at once per crawl and per host.

    Hands the downloader no more requests than it can run, so that a stopping crawl can drop those that wait.
    """

    def __init__(self, asker: Asker, at_once: int, per_host: int, stop: Stop) -> None:
        self._asker = asker
        self._slots = asyncio.Semaphore(at_once)
        self._per_host = per_host
        self._hosts: dict[str, asyncio.Semaphore] = {}
        self._stop = stop
        self.checked: Counter[str] = Counter()
        """URLs verified, by host."""
        self.waiting: Counter[str] = Counter()
        """URLs waiting to be requested, by host."""
        self.replies: Counter[str] = Counter()
        """URLs verified, by kind of reply; unchecked ones by reason."""

    async def verify(
        self, urls: Iterable[str], asset: bool = False, again: bool = False, follow: bool = True
    ) -> dict[str, Verification]:
        """The outcome for each URL; those that a stop prevented are unchecked. `asset`: the URLs are images and video
        files. `again`: they were verified and counted before. `follow`: False to end at redirects of pages."""
        ask = self._asker.ask_asset if asset else partial(self._asker.ask, follow=follow)
        outcomes: dict[str, Verification] = {}
        by_host: dict[str, list[str]] = {}
        for url in dict.fromkeys(urls):
            by_host.setdefault(host_of(url), []).append(url)
        if not asset:
            self._asker.expect(chain.from_iterable(by_host.values()))
        if not again:
            self.waiting.update({host: len(listed) for host, listed in by_host.items()})
        work = [
            self._work(host, waiting, ask, outcomes, again)
            for host, urls in by_host.items()
            for waiting in [iter(urls)] * min(self._per_host, len(urls))
        ]
        await asyncio.gather(*work)
        return outcomes

    async def _work(
        self, host: str, waiting: Iterator[str], ask: Ask, outcomes: dict[str, Verification], again: bool
    ) -> None:
        """Request the URLs of a host in turn; several workers share the iterator."""
        turn = self._hosts.setdefault(host, asyncio.Semaphore(self._per_host))
        for url in waiting:
            async with turn, self._slots:
                outcomes[url] = STOPPED if self._stop.begun() else await self._ask(ask, url)
            if not again:
                self._count(host, outcomes[url])

    def _count(self, host: str, outcome: Verification) -> None:
        self.waiting[host] -= 1
        if not self.waiting[host]:
            del self.waiting[host]
        if outcome is not STOPPED:
            self.checked[host] += 1
            reply = outcome.reply
            self.replies[reply.reason or reply.kind] += 1

    @staticmethod
    async def _ask(ask: Ask, url: str) -> Verification:
        """The outcome for a URL; an unexpected error affects only that URL."""
        try:
            return await ask(url)
        except Exception as error:
            logger.exception("%s could not be asked", url)
            why = f"internal error: {reason(error)}"
            return Verification(ReplyRecord(ReplyKind.RESET.value, final_url=url, error=why))


def by_origin(records: Sequence[UrlRecord]) -> Iterator[tuple[str, Sequence[UrlRecord]]]:
    """Group records by authority; those without one are left out."""
    first = urls.origin(records[0].loc) if records else None
    home = f"{first}/"
    if first is not None and all(record.loc.startswith(home) for record in records):
        yield first, records
        return
    found: dict[str, list[UrlRecord]] = {}
    for record in records:
        origin = urls.origin(record.loc)
        if origin is not None:
            found.setdefault(origin, []).append(record)
    yield from found.items()


OFFSITE = Verification(ReplyRecord(reason=Reason.OFF_SITE.value))


class Targets:
    """Verifies each canonical and target of a refresh once, and judges where these and redirects lead."""

    def __init__(
        self, admission: Admission, verifier: Verifier, asker: Asker, verdicts: RobotsVerdicts, records: Recorder | None
    ) -> None:
        """`records`: keep each target that was requested, and what led to it."""
        self._admission, self._verifier, self._asker = admission, verifier, asker
        self._verdicts, self._records = verdicts, records

    async def verify(
        self, outcomes: Mapping[str, Verification], file: FileFacts | Counted | None
    ) -> Mapping[str, Verification]:
        """Outcomes for the successors of verified pages that are pages of the site. One that redirects is not followed,
        so that it costs one request. `outcomes`: by listed URL."""
        hosts = set(map(bare_host, outcomes))
        wanted = [
            url
            for outcome in outcomes.values()
            if (url := successor(outcome)) is not None
            if bare_host(url) in hosts or (isinstance(file, FileFacts) and not self._admission.is_offsite(url, file))
        ]
        return await self._verifier.verify(wanted, follow=False) if wanted else {}

    def judge(self, outcome: Verification, successors: Mapping[str, Verification]) -> Target | None:
        """The target of a listed URL; None if it is its own. `successors`: from `verify`."""
        url, reply = successor(outcome), outcome.reply
        if url is not None:
            asked = successors.get(url, OFFSITE)
            own = asked.reply
            if own.kind == ReplyKind.HTTP_ERROR and own.refresh is not None:
                own = replace(own, final_url=own.refresh)
            return self._judge(url.partition("#")[0], own, FoundBy.CANONICAL, modified(asked))
        if not reply.redirects or reply.final_url is None or reply.kind == ReplyKind.REDIRECT_LOOP:
            return None
        return self._judge(reply.final_url, at_end(reply), FoundBy.REDIRECT, modified(outcome))

    def _judge(self, url: str, reply: ReplyRecord, by: FoundBy, changed: str | None) -> Target:
        page = judged(url, reply, self._verdicts)
        if (
            self._records is not None
            and reply.reason not in (Reason.OFF_SITE, Reason.STOPPED)
            and self._asker.is_first_target(url)
        ):
            self._records.found(page, by, changed)
        return Target(url, reply.kind, reply.reason, reply.status, reply.final_url, page.indexable, page.indexability)


def modified(outcome: Verification) -> str | None:
    """The date of change that a page states, as written."""
    return outcome.page.modified if outcome.page is not None else None


def successor(outcome: Verification) -> str | None:
    """URL of the page that a page which answers names in its place, by an immediate refresh or its canonical. What a
    shell names is not the page's."""
    page = None if outcome.reply.shell else outcome.page
    if page is None or outcome.reply.kind not in REACHED:
        return None
    return page.successor
