"""Verifies the pages that take the place of listed ones: canonicals, and where redirects and refreshes lead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sitemapcrawler.items import ReplyRecord, Target
from sitemapcrawler.jobs.links import FoundBy
from sitemapcrawler.jobs.recording import Recorder
from sitemapcrawler.replies import REACHED, Reason, ReplyKind, at_end
from sitemapcrawler.replies.indexability import RobotsVerdicts, judged
from sitemapcrawler.rules.facts.given import Counted, FileFacts
from sitemapcrawler.urls import bare_host
from sitemapcrawler.verification.asking import Asker, Verification
from sitemapcrawler.verification.verifying import Admission, Verifier

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
