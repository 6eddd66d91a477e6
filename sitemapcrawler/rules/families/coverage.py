"""Rules on lists from elsewhere, with the argument `compare`."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.rules.facts.site import FILES, LISTED, ROW_BITS, SiteFacts, on_entry
from sitemapcrawler.rules.registry import Needs, Severity, SiteMessage, rule
from sitemapcrawler.urls.display import counted, quoted

BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
NOT_LISTED = """
    SELECT c.url, c.lists, c.rows, coalesce(f.indexable, false) AS indexable
    FROM compared c LEFT JOIN (SELECT DISTINCT ON (page) * FROM found) f USING (page)
    WHERE NOT c.listed
      AND (f.page IS NULL OR f.indexable OR (f.indexable IS NULL AND f.kind IN ('unchecked', 'ok')))
    ORDER BY indexable DESC, bit_count(c.lists) DESC, c.rows DESC, c.url"""
"""SQL for unlisted pages of lists that can be indexed, or may be: those in the most lists and rows first."""
LISTED_ONLY = f"""
    SELECT min((f.file << {ROW_BITS}) + u.row) AS place
    FROM ({LISTED}) u JOIN temp.site_files f USING (sitemap) JOIN uncompared c ON c.loc = u.loc
    GROUP BY u.loc"""


@rule("coverage-not-listed", Severity.WARNING, BUILD, Needs.SITE)
def coverage_not_listed(site: SiteFacts) -> Iterator[SiteMessage]:
    """A page in a list is not in any sitemap. The list is one of those that the argument `compare` names.

    With `verify`, the page is requested, and reported if it can be indexed. What was not requested is a note, and so is
    what a sitemap may list that could not be read. Pages that redirect, fail, forbid indexing or name another canonical
    are left out, and URLs of other sites.

    Why: people or search engines know the page, so it exists; search engines do not learn when it changes.
    Fix: Add the page to a sitemap, or set noindex if it is not meant to be found.
    Bad: `https://example.com/prices` in an export of Search Console, and in no sitemap
    Good: an entry for `https://example.com/prices`
    """
    names = dict(site.query("SELECT number, name FROM compared_lists"))
    for url, lists, rows, indexable in site.query(NOT_LISTED):
        having = ", ".join(name for number, name in sorted(names.items()) if lists >> number & 1)
        have = f"{counted(rows, 'row')} of {having} {'has' if rows == 1 else 'have'} it"
        text = f"{quoted(url)} is listed nowhere, and {have}"
        known = site.is_known(url)
        doubts = [*(() if indexable else ("not verified",)), *(() if known else ("not all sitemaps were read",))]
        yield SiteMessage("; ".join([text, *doubts]), severity=Severity.INFO if doubts else None, url=url)


@rule("coverage-listed-only", Severity.INFO, BUILD, Needs.SITE)
def coverage_listed_only(site: SiteFacts) -> Iterator[SiteMessage]:
    """No list has the listed page. The lists are those that the argument `compare` names.

    A list may be incomplete: Search Console exports 1,000 rows at most.

    Why: as far as the lists show, the page has neither visitors nor links; it may be out of date.
    Fix: Link to the page from others, or remove it from the sitemap if it is not needed any more.
    Bad: `https://example.com/offer-2019` in the sitemap, and in neither the crawl nor the access log
    Good: a page that visitors and crawlers come to
    """
    site.need(FILES)
    for fault in site.faults(LISTED_ONLY):
        yield on_entry(fault, f"{quoted(fault.url)} is in none of the lists")
