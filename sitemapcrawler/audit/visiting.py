"""Decides which sitemaps to request next: not those that the job has read or that are unchanged since the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sitemapcrawler.audit.discovery import Site, SitePage, Sites
from sitemapcrawler.audit.frontier import Frontier, Visit
from sitemapcrawler.audit.reading import Reading, is_page
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.items import SitemapRecord
from sitemapcrawler.jobs.comparing import NOT_MODIFIED
from sitemapcrawler.jobs.job import Job
from sitemapcrawler.jobs.restoring import Done
from sitemapcrawler.jobs.store.baseline import Earlier


class Visits:
    """The order in which a crawl requests its sitemaps."""

    def __init__(
        self,
        frontier: Frontier,
        sites: Sites,
        policies: Policies,
        reading: Reading,
        job: Job | None = None,
    ) -> None:
        self._frontier = frontier
        self._sites = sites
        self._policies = policies
        self._reading = reading
        self._job = job
        self.on_copied: Callable[[Mapping[str, object]], None] | None = None
        """Called with the counts of a file whose entries are copied, as an earlier crawl made them."""
        self._again: set[str] = set()

    def next(self, site: Site | None = None) -> Iterator[Visit | SitePage]:
        """Yield the sitemaps to request next, then the pages that name more of them.
        `site`: a site that may need such a page."""
        sites = [site]
        for visit in self._frontier.next_visits():
            if self._job is not None and visit.url in self._job.done:
                sites.append(self._pass_by(visit, self._job.done[visit.url]))
            else:
                yield visit
        for one in filter(None, sites):
            if (page := self._sites.next_page(one)) is not None:
                yield page

    def validators(self, visit: Visit) -> dict[str, str]:
        """Request headers that let the server answer 304 for an unchanged sitemap."""
        asked = self._job is not None and visit.url not in self._again
        earlier = self._job.earlier(visit, self._policies) if asked and self._job is not None else None
        return {} if earlier is None else earlier.validators

    def take_over(self, visit: Visit, answer: FetchResult) -> tuple[SitemapRecord, Site | None] | None:
        """The record of an unchanged sitemap and the site it is a guess for; None for any other sitemap."""
        earlier = self._job.unchanged(visit, answer, self._policies) if self._job is not None else None
        if earlier is None or self._sites.is_known(visit, answer.final_url, bytes.fromhex(earlier.digest)):
            return None
        return self._unchanged(visit, answer, earlier), self._pass_by(visit, done_of(earlier, answer.final_url))

    def asks_again(self, visit: Visit, answer: FetchResult) -> bool:
        """Return True once for a 304 response that cannot be reused: the sitemap must be requested again."""
        if answer.status != NOT_MODIFIED or visit.url in self._again:
            return False
        self._again.add(visit.url)
        return True

    def is_alias(self, visit: Visit, answer: FetchResult) -> bool:
        """True for a sitemap that was read already under another URL."""
        if not answer.ok:
            return False
        known = self._sites.is_known(visit, answer.final_url, answer.body.digest())
        return known and not is_page(answer)  # each file that redirects to a common HTML page is a problem of its own

    async def settle(self, visit: Visit, answer: FetchResult, hit: bool, complete: bool) -> Site | None:
        """Finish a sitemap. Returns the site it is a guess for.
        `hit`: it was a sitemap; `complete`: the crawl is not stopping."""
        self._frontier.done(visit)
        if visit.probe and not hit and complete and self._job is not None:
            await self._job.records.missed(visit, answer.ok, answer.status)
        return self._sites.settle(visit, hit, answer.ok)

    def _unchanged(self, visit: Visit, answer: FetchResult, earlier: Earlier) -> SitemapRecord:
        if self.on_copied is not None:
            self.on_copied(earlier.tally)
        return self._reading.unchanged(visit, answer, earlier)

    def _pass_by(self, visit: Visit, done: Done) -> Site | None:
        """Apply the effects of reading a file without reading it again."""
        if done.hit and done.answered and not done.alias:
            self._sites.read_before(visit, done.final_url, bytes.fromhex(done.digest))
        self._reading.indexes[visit.judged_with] += done.index
        if done.index and self._job is not None:
            for loc, lastmod_at in self._job.children(visit.url):
                self._reading.queue(visit, loc, lastmod_at)
        if visit.probe and done.hit:
            self._frontier.count_guess()
        self._frontier.done(visit)
        return self._sites.settle(visit, done.hit, done.answered)


def done_of(earlier: Earlier, final_url: str | None = None) -> Done:
    """The state of an unchanged file, as if an earlier run had read it."""
    return Done(earlier.digest, True, False, True, earlier.index, final_url)
