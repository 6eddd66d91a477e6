"""Rules on what has changed in robots.txt since the baseline."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.robots.agents import SEARCH, named
from sitemapcrawler.rules.facts.robots_changes import effects_in_words, sitemaps_in_words
from sitemapcrawler.rules.facts.robots_notes import GOOGLE, RFC
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Of, SiteMessage, rule

ENGINES = frozenset(agent.name for agent in named(SEARCH))
LARGEST = frozenset(("Googlebot", "Bingbot"))
"""Crawlers whose absence is never meant: those of the engines that most others and assistants build on."""


@rule("robots-rules-changed", INFO, f"{RFC}#section-2.2.2", Of.REVISIT)
def robots_rules_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """The rules of robots.txt changed. Since the crawl before; a warning if listed URLs are newly blocked for a search
    engine, an error if Googlebot or Bingbot may fetch nothing any more.

    Comments, order, white space, and how groups and escapes are written do not count.

    Why: a line that came along from a test system closes a site for weeks before its pages drop out of the index.
    Fix: Check that the change is meant. Remove rules that block pages which are to be found.
    Bad: `Disallow: /shop/` since yesterday, and 340 listed URLs below it
    Good: a rule that blocks what no sitemap lists
    """
    for change in site.robots_changes:
        if change.rules_added or change.rules_removed:
            severity = WARNING if ENGINES & change.blocked.keys() else None
            closed = [name for name in change.closed if name in LARGEST]
            text = (f"{' and '.join(closed)} may fetch nothing any more; " if closed else "") + effects_in_words(change)
            yield SiteMessage(text, severity=ERROR if closed else severity, sitemap=change.robots)


@rule("robots-sitemaps-changed", INFO, GOOGLE, Of.REVISIT)
def robots_sitemaps_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """robots.txt names other sitemaps. Other ones than in the crawl before.

    Why: search engines read the sitemaps that it names. One that was dropped by mistake is read by none of them.
    Fix: Check that the sitemaps that were removed are no longer needed, and name the others again.
    Bad: `Sitemap: https://example.com/news.xml` missing since yesterday
    Good: the same sitemaps, and new ones
    """
    for change in site.robots_changes:
        if text := sitemaps_in_words(change):
            yield SiteMessage(text, sitemap=change.robots)
