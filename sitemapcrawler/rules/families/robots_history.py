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
    """The rules of robots.txt changed. Since the previous crawl. A warning if listed URLs are newly blocked for a
    search engine, an error if Googlebot or Bingbot may no longer fetch anything.

    Changes of comments, order, whitespace, and how groups and escapes are written do not count.

    Why: A line copied from a test system can block a site for weeks before its pages drop out of the index.
    Fix: Check that the change is intended. Remove rules that block pages which people should find.
    Bad: `Disallow: /shop/` since yesterday, and 340 listed URLs below it
    Good: a rule that blocks what no sitemap lists
    """
    for change in site.robots_changes:
        if change.rules_added or change.rules_removed:
            severity = WARNING if ENGINES & change.blocked.keys() else None
            closed = [name for name in change.closed if name in LARGEST]
            text = (f"{' and '.join(closed)} may no longer fetch anything; " if closed else "") + effects_in_words(
                change
            )
            yield SiteMessage(text, severity=ERROR if closed else severity, sitemap=change.robots)


@rule("robots-sitemaps-changed", INFO, GOOGLE, Of.REVISIT)
def robots_sitemaps_changed(site: SiteFacts) -> Iterator[SiteMessage]:
    """robots.txt names other sitemaps. Compared with the previous crawl.

    Why: Search engines read the sitemaps that robots.txt names. None of them reads one that was dropped by mistake.
    Fix: Check that the removed sitemaps are no longer needed; name the others again.
    Bad: `Sitemap: https://example.com/news.xml` missing since yesterday
    Good: the same sitemaps, and new ones
    """
    for change in site.robots_changes:
        if text := sitemaps_in_words(change):
            yield SiteMessage(text, sitemap=change.robots)
