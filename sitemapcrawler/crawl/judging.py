"""Judges what was read: by the rules on entries and files, and by robots.txt."""

from __future__ import annotations

from collections.abc import Sequence

from sitemapcrawler import urls
from sitemapcrawler.crawl.verdicts import Verdicts
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.envelopes import FreshBatch, SitemapEnd
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.rules.facts.given import Counted, FileFacts
from sitemapcrawler.rules.judge import Judge


class Judging:
    """Judges the batches and files of a crawl."""

    def __init__(self, judge: Judge, policies: Policies, verdicts: Verdicts, skips_assets: bool) -> None:
        """`skips_assets`: images and videos on hosts with an unknown robots.txt count as skipped, since nothing will
        request them."""
        self._judge = judge
        self._policies = policies
        self._verdicts = verdicts
        self._skips_assets = skips_assets

    async def structure(self, item: FreshBatch | SitemapEnd) -> None:
        """Run the rules on entries, or on a file at its end."""
        match item:
            case FreshBatch(is_judged=False, file=FileFacts() as file):
                await self._know_hosts(file, item.urls)
                self._judge.urls(item.urls, file, item.notes)
            case SitemapEnd(facts=FileFacts() as file):
                await self._know_hosts(file, file.children)
                item.findings += self._judge.file(item, file)
                item.result.tally.found = file.found
            case SitemapEnd(facts=Counted() as file):
                item.findings += self._judge.conclude(file)
                item.result.tally.found = file.found

    async def robots(self, batch: FreshBatch) -> None:
        """Set on each record the crawlers that robots.txt blocks, and run the rules on that."""
        await self._verdicts.judge(batch.urls, batch.file, batch.notes)
        if batch.file is not None:
            self._verdicts.judge_assets(batch.urls, batch.file, batch.notes, self._skips_assets)

    async def _know_hosts(self, file: FileFacts, listed: Sequence[UrlRecord | ChildRecord]) -> None:
        """Fetch the robots.txt of listed hosts: it may prove that the file may list their URLs."""
        home = urls.origin(file.place)
        if home is None:  # a local file may list anything, unless it will live elsewhere
            return
        if self._policies.at(home) is None:
            await self._policies.obtain(home)
        own = f"{home}/"
        strange = [record.loc for record in listed if not record.loc.startswith(own)]
        if strange:
            await self._policies.prepare(strange)
