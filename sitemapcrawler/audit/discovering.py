"""Finding the sitemaps of sites: what robots.txt and the home page name is queued, whatever asks for it then."""

from __future__ import annotations

import logging

from sitemapcrawler import urls
from sitemapcrawler.audit import discovery
from sitemapcrawler.audit.argument_values import Start
from sitemapcrawler.audit.frontier import Visit
from sitemapcrawler.audit.sites import Site, Sites
from sitemapcrawler.download.answers import Answer
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.robots.policy import Outcome, Policy

logger = logging.getLogger(__name__)

MAX_MOVES = 5
"""Sites one behind the other that home pages lead to. Two are common (to another name, to www), and a server can make
up new ones without end."""


class Discovery:
    """Queues the sitemaps of the sites of a crawl."""

    def __init__(self, sites: Sites, policies: Policies) -> None:
        self._sites = sites
        self._policies = policies
        self._moves: dict[str, int] = {}

    async def enter(self, start: Start) -> Site | None:
        """Queue the sitemaps that the robots.txt of a start names; the site of the authority that gave it, if new."""
        *others, last = start.url_candidates
        for origin in others:
            policy = await self._policies.of(origin, retry=False)
            if policy is not None and policy.status is not None:
                return self._enter(policy)
            logger.warning("%s: %s; trying http", origin, policy and policy.reason)
        policy = await self._policies.of(last)
        return None if policy is None else self._enter(policy)

    def _enter(self, policy: Policy) -> Site | None:
        if policy.outcome is Outcome.UNREACHABLE:  # which forbids everything
            logger.error("%s: %s", policy.url, policy.reason)
            return None
        return self._sites.enter(self._policies.final_url(policy), [sitemap.url for sitemap in policy.sitemaps])

    async def named_by(self, url: str, place: str | None = None) -> tuple[Visit, list[str]]:
        """A robots.txt that the user named, by its URL or as a local file, and the sitemaps it names. `place`: the URL
        at which the file will live; without it, relative URLs in the file are left out."""
        policy = await self._policies.load(url, place)
        if policy is None or policy.outcome is not Outcome.PARSED:
            return Visit(url, "argument", place=place), []
        local = url.startswith("file:")
        robots = Visit(url if local else self._policies.final_url(policy), "argument", place=place)
        found = [one.url for one in policy.sitemaps if not (local and place is None and one.relative)]
        if not found:
            logger.error("%s: names no sitemap that can be read", url)
        return robots, found

    async def look(self, home: Answer) -> Site | None:
        """Queue the sitemaps that a home page links to; where it redirects to another authority, enter that site, and
        return it if it is new."""
        moved = urls.origin(home.final_url)
        if moved is not None and moved != urls.origin(home.url) and not self._sites.entered(moved):
            return await self._follow(home.url, moved)
        if home.ok:
            page = home.content(discovery.HTML_BYTES)
            self._sites.links(home.final_url, discovery.from_html(page, home.final_url))
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
