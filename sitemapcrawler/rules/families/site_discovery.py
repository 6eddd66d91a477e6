"""Rules on how the files of a site are made known: robots.txt, indexes, and links of the home page."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.items import READ
from sitemapcrawler.jobs.store.sites import site_of as site_of_url
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.site_pages import SITES, WHOLE
from sitemapcrawler.rules.registry import Needs, Severity, SiteMessage, rule
from sitemapcrawler.urls import origin, site_of, visit_key
from sitemapcrawler.urls.display import shown
from sitemapcrawler.words import counted

SUBMIT = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#addsitemap"
PROTOCOL = "https://www.sitemaps.org/protocol.html#submit_robots"
SITEMAPS = ("xml-urlset", "xml-index", "text")
"""Formats of files that are nothing but sitemaps: a home page links to feeds for readers."""
NAMED = """
    SELECT unnest(sitemaps) FROM robots
    UNION ALL SELECT loc FROM children
    UNION ALL SELECT final_url FROM sitemaps
    WHERE found_by NOT IN ('common-path', 'html-link') AND final_url IS NOT NULL"""
"""SQL for the URLs that robots.txt and indexes name, and those that they lead to."""


OF_THE_SITE = f"""
    (final_url IS NULL OR final_url NOT IN (SELECT robots FROM robots))
    AND {site_of_url("robots")} IN (
        SELECT site FROM temp.site_sites UNION SELECT {site_of_url("sitemap")} FROM children)"""
"""SQL that is true for the robots.txt of a site of the crawl; of one that redirects to another one, that is told of."""


@rule("cross-orphan-sitemap", Severity.INFO, SUBMIT, Needs.WHOLE_SITE)
def cross_orphan_sitemap(site: SiteFacts) -> Iterator[SiteMessage]:
    """A sitemap that was found at a usual path is in no robots.txt, in no index, and not linked by the home page.

    Why: search engines do not look for it. They know it only where it was submitted by hand; or it is a leftover, and
    its URLs are out of date.
    Bad: `/sitemap.xml`, where robots.txt names `/sitemap_index.xml` only
    Good: a `Sitemap:` line in robots.txt, or an entry in the index that it names
    """
    for sitemap in _unnamed(site, "common-path"):
        yield SiteMessage("found by its usual name only: neither robots.txt nor an index names it", sitemap=sitemap)


@rule("cross-discovery-inconsistent", Severity.INFO, PROTOCOL, Needs.WHOLE_SITE)
def cross_discovery_inconsistent(site: SiteFacts) -> Iterator[SiteMessage]:
    """The home page links to a sitemap that robots.txt and the indexes do not name, though robots.txt names others. Or
    none of those that robots.txt names can be read, and others can.

    Why: search engines go by robots.txt. What only the other way leads to is unknown to them.
    Bad: `<link rel="sitemap" href="/sitemap-new.xml">`, and `Sitemap: https://example.com/sitemap-old.xml`
    Good: the same sitemaps in both
    """
    naming = {site_of(robots) for (robots,) in site.query("SELECT robots FROM robots WHERE len(sitemaps) > 0")}
    for sitemap in _unnamed(site, "html-link"):
        if site_of(sitemap) in naming:
            yield SiteMessage(
                "linked by the home page, and not named by robots.txt, which names others", sitemap=sitemap
            )
    whole = site.whole_sites
    for robots, number in [one for one in site.query(ALL_UNREAD, list(READ)) if site_of(one[0]) in whole]:
        others = site.query(FOUND, list(READ))
        other = next((url for (url,) in list(others) if origin(url) == origin(robots)), None)
        if other is not None:
            named = "the sitemap that it names" if number == 1 else f"none of the {number} sitemaps that it names"
            text = (
                f"{named} could {'not ' if number == 1 else ''}be read; {shown(other)}, which it does not name, could"
            )
            yield SiteMessage(text, sitemap=robots, value=other)


@rule("robots-lists-child-and-index", Severity.INFO, PROTOCOL, Needs.SITE)
def robots_lists_child_and_index(site: SiteFacts) -> Iterator[SiteMessage]:
    """robots.txt names an index, and files that the index lists. Once for a robots.txt.

    Why: no harm is done; each of them is known twice, and one place is forgotten when the other is changed.
    Bad: `Sitemap: https://example.com/index.xml` and `Sitemap: https://example.com/posts.xml`, which the index lists
    Good: the index alone
    """
    site.need(SITES)
    both = f"""
        WITH named AS (SELECT robots, unnest(sitemaps) AS sitemap FROM robots WHERE {OF_THE_SITE})
        SELECT n.robots, count(DISTINCT c.loc), min(c.loc), min_by(c.sitemap, c.loc)
        FROM named n JOIN children c ON c.loc = n.sitemap AND c.sitemap <> c.loc
        JOIN named i ON i.robots = n.robots AND i.sitemap = c.sitemap
        GROUP BY n.robots ORDER BY n.robots"""
    for robots, number, child, index in site.query(both):
        more = f" and {counted(number - 1, 'more file')}" if number > 1 else ""
        text = f"names {shown(child)}{more}, and {shown(index)}, which lists {'them' if more else 'it'}"
        yield SiteMessage(text, sitemap=robots, value=child)


ALL_UNREAD = f"""
    SELECT r.robots, count(*) FROM (SELECT robots, unnest(sitemaps) AS sitemap FROM robots WHERE {OF_THE_SITE}) r
    LEFT JOIN sitemaps s ON s.sitemap = r.sitemap
    GROUP BY r.robots
    HAVING count(s.outcome) = count(*) AND count(*) FILTER (s.outcome IN ? OR s.outcome = 'truncated') = 0
    ORDER BY r.robots"""
"""SQL for each robots.txt whose sitemaps were all asked for, in vain."""
FOUND = "SELECT sitemap FROM sitemaps WHERE found_by IN ('common-path', 'html-link') AND outcome IN ? ORDER BY sitemap"


def _unnamed(site: SiteFacts, found_by: str) -> list[str]:
    """Sitemaps that were found in this way and that nothing else names, in the order of their URLs."""
    site.need(WHOLE)
    found = """
        SELECT sitemap, final_url FROM sitemaps JOIN temp.site_sites USING (sitemap)
        WHERE found_by = ? AND outcome IN ? AND format IN ? AND site IN (SELECT site FROM temp.site_whole)"""
    rows = site.query(found, found_by, list(READ), list(SITEMAPS))
    unnamed = {sitemap: {visit_key(sitemap), visit_key(final or sitemap)} for sitemap, final in rows}
    keys = {key: sitemap for sitemap, places in unnamed.items() for key in places}
    for (url,) in site.query(NAMED) if keys else ():
        unnamed.pop(keys.get(visit_key(url), ""), None)
    return sorted(unnamed)
