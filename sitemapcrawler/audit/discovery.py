"""Finds the sitemaps of sites: robots.txt first, then common paths, then links of the home page.

A discovery method is a function from a server's response to absolute URLs. It fetches nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from sitemapcrawler import urls
from sitemapcrawler.audit.argument_values import Start
from sitemapcrawler.audit.frontier import Frontier, Visit
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.replies.page.head import Tokens, attributes
from sitemapcrawler.robots.policy import Policy, RobotsOutcome
from sitemapcrawler.robots.text import encoding_of, text_of
from sitemapcrawler.words import counted

# Most likely first. Each costs a request to a site that names no sitemap, hence at most 19.
COMMON_PATHS = (
    "/sitemap.xml",  # sitemaps.org's own example; Shopify, Wix, Squarespace, Drupal, Next.js
    "/sitemap_index.xml",  # WordPress with Yoast SEO or Rank Math
    "/sitemap-index.xml",  # Astro, Gatsby
    "/wp-sitemap.xml",  # WordPress itself, since 5.5
    "/sitemap.xml.gz",  # sitemap_generator (Ruby on Rails)
    "/sitemap_index.xml.gz",  # vBulletin with vBSEO; sitemap_generator before 4.0
    "/sitemap-index.xml.gz",  # sitemap.js, Gatsby with it
    "/sitemap.txt",  # sitemaps.org/protocol.html#otherformats
    "/sitemap.php",  # scripts of small PHP sites
    "/sitemapindex.xml",  # Vanilla Forums
    "/sitemapindex.xml.gz",
    "/sitemap/sitemap.xml",  # generators that write into a folder of their own
    "/sitemap/",
    "/sitemaps.xml",
    "/sitemap1.xml",  # first part of a numbered set without an index
    "/news-sitemap.xml",  # Yoast SEO News, Rank Math
    "/sitemap-news.xml",  # XML Sitemap & Google News (WordPress)
    "/sitemap_news.xml",
    "/video-sitemap.xml",  # Yoast SEO Video
)

HTML_BYTES = 2**20  # the head of a page, inlined scripts and styles included


@dataclass(frozen=True, slots=True)
class HtmlLinks:
    """Absolute URLs from the `<link>` elements of a page, without duplicates, in document order."""

    sitemaps: list[str]
    """`rel=sitemap`."""
    feeds: list[str]
    """`rel=alternate` of type RSS or Atom."""


def common_paths(origin: str) -> list[str]:
    """`COMMON_PATHS` on the origin of a URL; empty if the URL has none."""
    start = urls.origin(origin)
    return [] if start is None else [start + path for path in COMMON_PATHS]


def from_html(body: bytes, base: str) -> HtmlLinks:
    """Sitemaps and feeds that the page `body`, fetched from `base`, links to in `<link>` elements.

    Reads only the first `HTML_BYTES`. The charset is irrelevant: markup is ASCII, and other bytes of a URL stay %XX.
    """
    start = body[:HTML_BYTES]
    encoding, mark = encoding_of(start)
    found = Tokens().feed(text_of(start[mark:], encoding))
    tags = [(token.name, attributes(token.attributes)) for token in found if token.name in ("base", "link")]
    bases = [tag["href"] for name, tag in tags if name == "base" and "href" in tag]
    base = (urls.resolve(base, bases[0]) if bases else None) or base
    links = [tag for name, tag in tags if name == "link"]
    return HtmlLinks(_hrefs(filter(_is_sitemap_link, links), base), _hrefs(filter(_is_feed_link, links), base))


_FEED_TYPES = {"application/rss+xml", "application/atom+xml"}


def _is_sitemap_link(link: dict[str, str]) -> bool:
    return "sitemap" in link.get("rel", "").lower().split()


def _is_feed_link(link: dict[str, str]) -> bool:
    media_type = link.get("type", "").partition(";")[0].strip().lower()
    return "alternate" in link.get("rel", "").lower().split() and media_type in _FEED_TYPES


def _hrefs(links: Iterable[dict[str, str]], base: str) -> list[str]:
    found: dict[str, str] = {}
    for link in links:
        url = urls.resolve(base, link.get("href", ""))
        if url is not None:
            found.setdefault(urls.visit_key(url), url)
    return list(found.values())


logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Site:
    """An origin under discovery."""

    origin: str
    found: int = 0
    """Sitemaps found so far."""
    probes: set[str] = field(default_factory=set)
    """Common paths requested and not answered yet."""
    html: int = 0
    """Common paths answered with 200 and no sitemap."""
    home_asked: bool = False

    def exhausted(self, always: bool) -> bool:
        """Return True once: when all common paths are answered and only the home page is left to try."""
        if self.home_asked or self.probes or (self.found and not always):
            return False
        self.home_asked = True
        return True


class Sites:
    """The sites of a crawl. `probe` is the argument of that name: auto, always or never."""

    def __init__(self, frontier: Frontier, probe: str) -> None:
        self.missed = 0
        """Common paths without a sitemap, over all sites."""
        self._frontier = frontier
        self._probe = probe
        self._sites: dict[str, Site] = {}
        self._contents: dict[tuple[str | None, bytes], bool] = {}

    def __iter__(self) -> Iterator[Site]:
        return iter(self._sites.values())

    def entered(self, origin: str) -> bool:
        """True for a site whose robots.txt has been read."""
        return origin in self._sites

    def enter(self, url: str, named: Iterable[str]) -> Site | None:
        """Queue the sitemaps that the robots.txt at `url` names, or else the common paths; None for a known site."""
        origin = urls.origin(url)
        if origin is None or origin in self._sites:
            return None
        site = self._sites[origin] = Site(origin)
        for sitemap in named:
            site.found += 1
            self._frontier.add(Visit(sitemap, "robots", url))
        if self._probe == "always" or (self._probe == "auto" and not site.found):
            for path in common_paths(origin):
                if self._frontier.add(Visit(path, "common-path", probe=True)):
                    site.probes.add(path)
        return site

    def links(self, page: str, links: HtmlLinks) -> None:
        """Queue the sitemaps that the home page `page` links to, or its feeds if the site has no sitemap."""
        site = self._sites.get(urls.origin(page) or "")
        found = links.sitemaps or (links.feeds if site is None or not site.found else [])
        for url in found:
            self._frontier.add(Visit(url, "html-link", page))
        logger.info("%s: %s linked from the home page", page, counted(len(found), "sitemap"))

    def wants_home(self, site: Site) -> bool:
        """Return True once for a site whose home page is to be requested."""
        return site.exhausted(self._probe == "always")

    def is_known(self, visit: Visit, final_url: str, digest: bytes) -> bool:
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
        self.is_known(visit, final_url or visit.url, digest)

    def settle(self, visit: Visit, hit: bool, answered: bool) -> Site | None:
        """Note whether a guess was a sitemap. Returns its site, or None if the visit was no guess."""
        site = self._sites.get(urls.origin(visit.url) or "") if visit.probe else None
        if site is None:
            return None
        site.probes.discard(visit.url)
        site.found += hit
        site.html += answered and not hit
        self.missed += not hit
        if site.html == len(COMMON_PATHS):
            logger.info("%s answers every path with a page: its common paths say nothing", site.origin)
        return site


MAX_MOVES = 5
"""Limit on home pages that redirect to yet another site. Two in a row are common (renamed site, then www); a malicious
server can invent them without end."""


class Discovery:
    """Queues the sitemaps of the sites of a crawl."""

    def __init__(self, sites: Sites, policies: Policies) -> None:
        self._sites = sites
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

    async def enter_all(self, starts: Iterable[Start], at_once: int) -> AsyncIterator[Site | None]:
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
        return self._sites.enter(self._policies.final_url(policy), [sitemap.url for sitemap in policy.sitemaps])

    async def named_by(self, url: str, place: str | None = None) -> tuple[Visit, list[str]]:
        """Load a robots.txt that the user named, by URL or as a local file, and return the sitemaps it names.
        `place`: the URL where a local file will live; without it, relative URLs in the file are skipped."""
        policy = await self._policies.load(url, place)
        if policy is None or policy.outcome is not RobotsOutcome.PARSED:
            return Visit(url, "argument", place=place), []
        local = url.startswith("file:")
        robots = Visit(url if local else self._policies.final_url(policy), "argument", place=place)
        found = [one.url for one in policy.sitemaps if not (local and place is None and one.relative)]
        if not found:
            logger.error("%s: names no sitemap that can be read", url)
        return robots, found

    async def read_home(self, home: FetchResult) -> Site | None:
        """Queue the sitemaps that a home page links to; if it redirects to a new site, enter and return that one."""
        moved = urls.origin(home.final_url)
        if moved is not None and moved != urls.origin(home.url) and not self._sites.entered(moved):
            return await self._follow(home.url, moved)
        if home.ok:
            page = home.content(HTML_BYTES)
            self._sites.links(home.final_url, from_html(page, home.final_url))
        return None

    async def _follow(self, home: str, moved: str) -> Site | None:
        moves = self._moves.get(urls.origin(home) or "", 0) + 1
        if moves > MAX_MOVES:
            logger.warning("%s moved, the last of %d sites in a row: not followed to %s", home, moves, moved)
            return None
        site = await self.enter(Start((moved,)))
        if site is not None:
            self._moves[site.origin] = moves
        return site
