"""Finds the sitemaps of sites: runs the discovery methods of each in order, and requests the pages that they need."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sitemapcrawler import urls
from sitemapcrawler.crawl.argument_values import Start
from sitemapcrawler.crawl.frontier import Frontier, Visit
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.replies.discovery import (
    ARGUMENT,
    HTML_BYTES,
    HTML_LINK,
    Clue,
    Method,
    from_html,
    methods,
)
from sitemapcrawler.robots.policy import Policy, RobotsOutcome
from sitemapcrawler.urls.display import counted

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Site:
    """An origin under discovery."""

    origin: str
    robots: str
    """Final URL of its robots.txt."""
    methods: deque[Method]
    """Methods that have not run."""
    found: int = 0
    """Sitemaps found so far."""
    guesses: deque[Visit] = field(default_factory=deque)
    """Guesses of the running method that were not queued yet."""
    probes: set[str] = field(default_factory=set)
    """Guesses queued and not answered yet."""
    silent: int = 0
    """Guesses in a row that got no answer."""
    waiting: bool = False
    """True while the page of a method is requested."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page to request for a discovery method."""

    site: Site
    method: Method

    @property
    def url(self) -> str:
        """Its URL."""
        return f"{self.site.origin}{self.method.page}"


MAX_SILENT = 3
"""Guesses in a row without an answer, after retries, that end the guessing: each may take minutes."""


class Sites:
    """The sites of a crawl. `probe` is the argument of that name: auto, always or never.

    Guesses are tried in order, one at a time, up to the first sitemap: then the rest need not be sent, and which one is
    found does not depend on the speed of the server. With `always` they are all tried, at once.
    """

    def __init__(self, frontier: Frontier, probe: str) -> None:
        self.home_links: set[str] = set()
        """What the home pages that were read name, whether or not it was found before."""
        self._frontier = frontier
        self._guesses, self._everything = probe != "never", probe == "always"
        self._sites: dict[str, Site] = {}
        self._contents: dict[tuple[str | None, bytes], bool] = {}

    def __iter__(self) -> Iterator[Site]:
        return iter(self._sites.values())

    def entered(self, origin: str) -> bool:
        """True for a site whose robots.txt has been read."""
        return origin in self._sites

    def enter(self, url: str, named: Sequence[str]) -> Site | None:
        """Queue the sitemaps that the robots.txt at `url` names, or else guesses; None for a known site."""
        origin = urls.origin(url)
        if origin is None or origin in self._sites:
            return None
        chosen = (method for method in methods() if not method.guesses or self._guesses)
        site = self._sites[origin] = Site(origin, url, deque(chosen))
        self._add(site, site.methods.popleft(), Clue(url, named=named))
        self._advance(site)
        return site

    def read(self, page: SitePage, url: str, content: bytes) -> None:
        """Queue the sitemaps that a page names; `url` is its final URL."""
        site, method = page.site, page.method
        owner = self._sites.get(urls.origin(url) or "")
        added = self._add(site, method, Clue(url, content, found=owner.found if owner is not None else 0))
        if method is HTML_LINK:
            added += self.add_linked(url, (), from_html(content, url).files)
        text = method.heading.format(parent=f"the {method.label}")
        logger.info("%s: %s %s", url, counted(added, "sitemap"), text)

    def add_linked(self, home: str, named: Iterable[str], files: Iterable[str]) -> int:
        """Queue what the home page of a known site links to and nothing else has named: sitemaps, and files that may be
        sitemaps by their names, which otherwise leave no record. Returns their number."""
        site = self._sites.get(urls.origin(home) or "")
        if site is None or not self._guesses:
            return 0
        sitemaps = [url for url in named if self._frontier.add(Visit(url, HTML_LINK.name, home))]
        guesses = [url for url in files if self._frontier.add(Visit(url, HTML_LINK.name, home, probe=True))]
        site.found += len(sitemaps)
        site.probes.update(guesses)
        return len(sitemaps) + len(guesses)

    def next_page(self, site: Site) -> SitePage | None:
        """Return the page to request for a site, once; None if no method needs one now."""
        if not self._is_due(site):
            return None
        site.waiting = True
        return SitePage(site, site.methods.popleft())

    def end_page(self, site: Site) -> None:
        """Note that the page of a site was read, or could not be, and run the next methods."""
        site.waiting = False
        self._advance(site)

    def _is_due(self, site: Site) -> bool:
        busy = site.guesses or site.probes or site.waiting
        return bool(site.methods and not busy and (self._everything or not site.found))

    def _advance(self, site: Site) -> None:
        """Run the methods that need no page, up to one that does, or that guesses."""
        while self._is_due(site) and site.methods[0].page is None:
            self._add(site, site.methods.popleft(), Clue(site.robots, found=site.found))
            self._guess(site)

    def _guess(self, site: Site) -> None:
        """Queue the next guess, or all of them; drop them once one was right, or the site does not answer."""
        if not self._everything and (site.found or site.silent >= MAX_SILENT):
            site.guesses.clear()
        while site.guesses and (self._everything or not site.probes):
            guess = site.guesses.popleft()
            if self._frontier.add(guess):
                site.probes.add(guess.url)

    def _add(self, site: Site, method: Method, clue: Clue) -> int:
        """Queue what a method finds, and return the number of URLs."""
        found = list(method.find(clue))
        if method is HTML_LINK:
            self.home_links.update(found)
        for url in found:
            if not method.guesses:
                site.found += 1
                self._frontier.add(Visit(url, method.name, clue.url))
            else:
                site.guesses.append(Visit(url, method.name, probe=True))
        return len(found)

    def was_read(self, visit: Visit, final_url: str, digest: bytes) -> bool:
        """True for a sitemap read already: reached by redirect, or a duplicate within a site where one is a guess."""
        redirected = urls.visit_key(final_url) != urls.visit_key(visit.url)
        if redirected and not self._frontier.mark(final_url):
            return True
        content = urls.origin(final_url), digest
        if content in self._contents:
            return visit.probe or self._contents[content]
        self._contents[content] = visit.probe
        return False

    def read_before(self, visit: Visit, final_url: str | None, digest: bytes) -> None:
        """Note a file that an earlier run of the job has read."""
        self.was_read(visit, final_url or visit.url, digest)

    def settle(self, visit: Visit, hit: bool, silent: bool = False) -> Site | None:
        """Note whether a guess was a sitemap, and queue the next one. Returns its site, or None if the visit was no
        guess. `silent`: without an answer."""
        site = self._sites.get(urls.origin(visit.url) or "") if visit.probe else None
        if site is None:
            return None
        site.probes.discard(visit.url)
        site.found += hit
        site.silent = site.silent + 1 if silent else 0
        self._guess(site)
        self._advance(site)
        return site


MAX_MOVES = 5
"""Limit on home pages that redirect to yet another site. Two in a row are common (renamed site, then www); a malicious
server can invent them without end."""


class Discovery:
    """Queues the sitemaps of the sites of a crawl."""

    def __init__(self, sites: Sites, policies: Policies) -> None:
        self.sites = sites
        self._policies = policies
        self._moves: dict[str, int] = {}

    async def enter(self, start: Start) -> Site | None:
        """Queue the sitemaps that a start's robots.txt names; returns the site that served it, if new."""
        *others, last = start.url_candidates
        for origin in others:
            policy = await self._policies.obtain(origin, retry=False)
            if policy is not None and policy.status is not None:
                return self._enter(policy)
            logger.warning("%s: %s; trying http", origin, policy and policy.reason)
        policy = await self._policies.obtain(last)
        return None if policy is None else self._enter(policy)

    async def enter_all(self, starts: Iterable[Start], at_once: int) -> AsyncGenerator[Site | None, None]:
        """Enter starts, `at_once` at a time; yields the results of `enter` in order of completion."""
        running: set[asyncio.Future[Site | None]] = set()
        waiting = iter(starts)
        while True:
            running |= {asyncio.ensure_future(self.enter(start)) for start in islice(waiting, at_once - len(running))}
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for finished in done:
                yield finished.result()

    def _enter(self, policy: Policy) -> Site | None:
        if policy.outcome is RobotsOutcome.UNREACHABLE:  # disallows everything
            logger.error("%s: %s", policy.url, policy.reason)
            return None
        return self.sites.enter(self._policies.final_url(policy), [sitemap.url for sitemap in policy.sitemaps])

    async def named_by(self, url: str, place: str | None = None) -> tuple[Visit, list[str]]:
        """Load a robots.txt that the user named, by URL or as a local file, and return the sitemaps it names.
        `place`: the URL where a local file will live; without it, relative URLs in the file are skipped."""
        policy = await self._policies.load(url, place)
        if policy is None or policy.outcome is not RobotsOutcome.PARSED:
            return Visit(url, ARGUMENT.name, place=place), []
        local = url.startswith("file:")
        robots = Visit(url if local else self._policies.final_url(policy), ARGUMENT.name, place=place)
        found = [one.url for one in policy.sitemaps if not (local and place is None and one.relative)]
        if not found:
            logger.error("%s: no named sitemap can be read", url)
        return robots, found

    async def read_page(self, page: SitePage, answer: FetchResult) -> Site | None:
        """Queue the sitemaps that a page names. Returns the site to continue with: a new one if its home page
        redirects there, which is entered, or else the same."""
        moved = urls.origin(answer.final_url) or page.site.origin
        if page.method is HTML_LINK and moved != page.site.origin and not self.sites.entered(moved):
            return await self._follow(answer.url, moved)
        if answer.ok:
            self.sites.read(page, answer.final_url, answer.content(HTML_BYTES))
        self.sites.end_page(page.site)
        return page.site

    async def _follow(self, home: str, moved: str) -> Site | None:
        moves = self._moves.get(urls.origin(home) or "", 0) + 1
        if moves > MAX_MOVES:
            logger.warning("%s moved, the last of %d sites in a row: not followed to %s", home, moves, moved)
            return None
        site = await self.enter(Start((moved,)))
        if site is not None:
            self._moves[site.origin] = moves
        return site
