"""How far the discovery of each site has come: robots.txt, then the common paths, then the home page."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sitemapcrawler import urls
from sitemapcrawler.audit import discovery
from sitemapcrawler.audit.discovery import HtmlLinks
from sitemapcrawler.audit.frontier import Frontier, Visit
from sitemapcrawler.words import counted

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Site:
    """One origin whose sitemaps are looked for."""

    origin: str
    found: int = 0
    """Sitemaps found so far."""
    probes: set[str] = field(default_factory=set)
    """Common paths that were asked for and not answered yet."""
    html: int = 0
    """Common paths answered with 200 and something that is no sitemap."""
    home_asked: bool = False

    def exhausted(self, always: bool) -> bool:
        """True once: when all common paths are answered and only the home page is left to look at."""
        if self.home_asked or self.probes or (self.found and not always):
            return False
        self.home_asked = True
        return True


class Sites:
    """The sites of a crawl. `probe` is the argument of that name: auto, always or never."""

    def __init__(self, frontier: Frontier, probe: str) -> None:
        self.missed = 0
        """Common paths without a sitemap, on all sites."""
        self._frontier = frontier
        self._probe = probe
        self._sites: dict[str, Site] = {}
        self._contents: dict[tuple[str | None, bytes], bool] = {}

    def __iter__(self) -> Iterator[Site]:
        return iter(self._sites.values())

    def entered(self, origin: str) -> bool:
        """True for a site whose robots.txt was looked at."""
        return origin in self._sites

    def enter(self, url: str, named: Iterable[str]) -> Site | None:
        """Queue the sitemaps that the robots.txt at `url` names, or else the common paths; None where that was
        done."""
        origin = urls.origin(url)
        if origin is None or origin in self._sites:
            return None
        site = self._sites[origin] = Site(origin)
        for sitemap in named:
            site.found += 1
            self._frontier.add(Visit(sitemap, "robots", url))
        if self._probe == "always" or (self._probe == "auto" and not site.found):
            for path in discovery.common_paths(origin):
                if self._frontier.add(Visit(path, "common-path", probe=True)):
                    site.probes.add(path)
        return site

    def links(self, page: str, links: HtmlLinks) -> None:
        """Queue what the home page `page` links to: sitemaps, or where the site has none at all, its feeds."""
        site = self._sites.get(urls.origin(page) or "")
        found = links.sitemaps or (links.feeds if site is None or not site.found else [])
        for url in found:
            self._frontier.add(Visit(url, "html-link", page))
        logger.info("%s: %s linked from the home page", page, counted(len(found), "sitemap"))

    def wants_home(self, site: Site) -> bool:
        """True once for a site whose home page is to be looked at now."""
        return site.exhausted(self._probe == "always")

    def is_known(self, visit: Visit, final_url: str, digest: bytes) -> bool:
        """True for a file that was read already: under the URL a redirect led to, or of two files of a site with the
        same content, one of them a guess."""
        redirected = urls.visit_key(final_url) != urls.visit_key(visit.url)
        if redirected and not self._frontier.mark(final_url):
            return True
        content = urls.origin(final_url), digest
        if content in self._contents:
            return visit.probe or self._contents[content]
        self._contents[content] = visit.probe
        return False

    def read_before(self, visit: Visit, final_url: str | None, digest: bytes) -> None:
        """A file was read in an earlier run of the job."""
        self.is_known(visit, final_url or visit.url, digest)

    def settle(self, visit: Visit, hit: bool, answered: bool) -> Site | None:
        """Note whether a guess held a sitemap; its site, None for what was no guess."""
        site = self._sites.get(urls.origin(visit.url) or "") if visit.probe else None
        if site is None:
            return None
        site.probes.discard(visit.url)
        site.found += hit
        site.html += answered and not hit
        self.missed += not hit
        if site.html == len(discovery.COMMON_PATHS):
            logger.info("%s answers every path with a page: its common paths say nothing", site.origin)
        return site
