"""Rules on what has changed since an earlier crawl."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.quoting import shown
from sitemapcrawler.rules.registry import Needs, Severity, SiteMessage, rule
from sitemapcrawler.rules.site_facts import SiteFacts
from sitemapcrawler.rules.site_pages import LISTED

LOST = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/overview"
MIN_DROP = 0.1
"""Share of the URLs that must be gone. A site loses some pages every day."""


@rule("cross-count-drop", Severity.WARNING, LOST, Needs.BASELINE)
def cross_count_drop(site: SiteFacts) -> Iterator[SiteMessage]:
    """The site lists at least a tenth fewer URLs than in the crawl before.

    Why: a generator that stopped half way, or a section that dropped out, is seen nowhere else for weeks.
    Bad: 60,000 URLs today and 100,000 yesterday
    Good: about as many as before
    """
    before = site.baseline_urls or 0
    [(now,)] = list(site.query(f"SELECT count(*) FROM ({LISTED})"))
    if before and before - now >= before * MIN_DROP:
        yield SiteMessage(f"{now} URLs, {before} in the crawl before: {100 * (before - now) // before} % fewer")


@rule("cross-removed-url", Severity.INFO, LOST, Needs.BASELINE)
def cross_removed_url(site: SiteFacts) -> Iterator[SiteMessage]:
    """URLs of the crawl before are not listed any more. Once for a file, with their number.

    Why: they are to be gone or to redirect, or they were left out by mistake.
    Bad: a page that still sells, and is listed no more
    Good: a page that answers 404 or redirects
    """
    yield from _changed(site, "removed", "not listed any more")


@rule("cross-added-url", Severity.INFO, LOST, Needs.BASELINE)
def cross_added_url(site: SiteFacts) -> Iterator[SiteMessage]:
    """URLs are listed that were not in the crawl before. Once for a file, with their number.

    Why: worth knowing: a flood of them may be a filter or a calendar that was let in by mistake.
    Bad: a million URLs of search results
    Good: the new pages
    """
    yield from _changed(site, "added", "new")


def _changed(site: SiteFacts, change: str, said: str) -> Iterator[SiteMessage]:
    """One message for each file with such URLs. `said`: what they are."""
    files = "SELECT sitemap, count(*), min(loc) FROM urls WHERE change = ? GROUP BY sitemap ORDER BY sitemap"
    for sitemap, number, first in site.query(files, change):
        urls = f"{number} URLs are" if number > 1 else "1 URL is"
        yield SiteMessage(f"{urls} {said}, such as {shown(first)}", sitemap=sitemap, value=first)
