"""Rules on lists from elsewhere, with the argument `compare`."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.rules.facts.site import FILES, PLACED, SiteFacts, on_entry
from sitemapcrawler.rules.facts.unlisted import MISSING, ONLY
from sitemapcrawler.rules.registry import INFO, WARNING, Of, SiteMessage, rule
from sitemapcrawler.urls.display import counted, quoted

BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
NOT_LISTED = f"""
    SELECT url, lists, rows, coalesce(indexable, false) AS verified FROM ({MISSING}) WHERE grouped IS NULL
    ORDER BY verified DESC, bit_count(lists) DESC, rows DESC, url"""
"""SQL for unlisted pages of lists that can be indexed, or may be: those in the most lists and rows first."""
NOT_LISTED_GROUPS = f"""
    SELECT grouped, count(*), min(url), bit_or(lists) FROM ({MISSING}) WHERE grouped IS NOT NULL
    GROUP BY grouped ORDER BY grouped"""
LISTED_ONLY = f"""
    SELECT min(u.place) AS place
    FROM ({PLACED}) u JOIN ({ONLY}) c ON c.loc = u.loc WHERE c.grouped IS NULL GROUP BY u.loc"""
LISTED_ONLY_GROUPS = f"""
    SELECT grouped, count(*), min(loc) FROM ({ONLY}) WHERE grouped IS NOT NULL GROUP BY grouped ORDER BY grouped"""


@rule("coverage-not-listed", WARNING, BUILD, Of.SITE)
def coverage_not_listed(site: SiteFacts) -> Iterator[SiteMessage]:
    """A page in a list is not in any sitemap. The argument `compare` names the lists.

    With `verify`, the page is requested, and reported if it can be indexed. It is a note if it was not requested, or if
    a sitemap that could not be read may list it. Pages that redirect, fail, forbid indexing or name another canonical
    do not count, nor do URLs of other sites. Feeds, files such as PDFs, and paginated pages, which a sitemap need not
    list, are one note per list.

    Why: People or search engines know the page, so it exists. Without a sitemap, search engines do not learn when it
    changes.
    Fix: Add the page to a sitemap, or set noindex if people should not find it.
    Bad: `https://example.com/prices` in an export of Search Console, and in no sitemap
    Good: an entry for `https://example.com/prices`
    """
    names = dict(site.query("SELECT number, name FROM compared_lists"))
    if not names:
        return
    for group, many, url, lists in list(site.query(NOT_LISTED_GROUPS)):
        text = f"{counted(many, group)} of {_named(names, lists)} {'is' if many == 1 else 'are'} in no sitemap"
        yield SiteMessage(f"{text}, such as {quoted(url)}", severity=INFO, value=url)
    for url, lists, rows, indexable in site.query(NOT_LISTED):
        having = _named(names, lists)
        have = f"{counted(rows, 'row')} of {having} {'has' if rows == 1 else 'have'} it"
        text = f"{quoted(url)} is in no sitemap, and {have}"
        known = site.is_known(url)
        doubts = [*(() if indexable else ("not verified",)), *(() if known else ("not all sitemaps were read",))]
        yield SiteMessage("; ".join([text, *doubts]), severity=INFO if doubts else None, url=url)


@rule("coverage-listed-only", INFO, BUILD, Of.SITE)
def coverage_listed_only(site: SiteFacts) -> Iterator[SiteMessage]:
    """No list to compare with has the listed page. The argument `compare` names the lists.

    A list may be incomplete: Search Console exports 1,000 rows at most. Pages that cannot be indexed do not count, nor
    those that a list marks as an error or as not indexable. Feeds, files such as PDFs, and paginated pages are one note
    each.

    Why: Judging by the lists, the page has neither visitors nor links; it may be out of date.
    Fix: Link to the page from others, or remove it from the sitemap if you no longer need it.
    Bad: `https://example.com/offer-2019` in the sitemap, and in neither the crawl nor the access log
    Good: a page that visitors and crawlers come to
    """
    if not site.has_rows("uncompared"):
        return
    site.need(FILES)
    for fault in site.faults(LISTED_ONLY):
        yield on_entry(fault, f"{quoted(fault.url)} is in none of the lists")
    for group, many, url in site.query(LISTED_ONLY_GROUPS):
        text = f"{counted(many, f'listed {group}')} {'is' if many == 1 else 'are'} in none of the lists"
        yield SiteMessage(f"{text}, such as {quoted(url)}", value=url)


def _named(names: dict[int, str], lists: int) -> str:
    """Names of lists. `lists`: a bit for each."""
    return ", ".join(name for number, name in sorted(names.items()) if lists >> number & 1)
