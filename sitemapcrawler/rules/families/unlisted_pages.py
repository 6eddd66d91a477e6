"""Rules on pages that no sitemap lists, and on listed ones that nothing else names: links of pages (the argument
`links`), and lists from elsewhere (`compare`)."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.rules.facts.site import FILES, PLACED, SiteFacts, on_entry
from sitemapcrawler.rules.facts.unlisted import MISSING, NOT_LINKED, ONLY, UNLISTED
from sitemapcrawler.rules.registry import INFO, WARNING, Of, SiteMessage, rule
from sitemapcrawler.urls import site_of
from sitemapcrawler.urls.display import counted, quoted

BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
LINKS = "https://developers.google.com/search/docs/crawling-indexing/links-crawlable"
LINKED = f"""
    SELECT url, inlinks, linked_from, indexable, reason FROM ({UNLISTED}) WHERE grouped IS NULL
    ORDER BY indexable DESC NULLS LAST, inlinks DESC, url"""
"""SQL for unlisted pages that can be indexed, or may be, those with the most links first."""
LINKED_GROUPS = f"""
    SELECT grouped, count(*), min_by(url, -inlinks) FROM ({UNLISTED}) WHERE grouped IS NOT NULL
    GROUP BY grouped ORDER BY grouped"""
ORPHANS = f"""
    SELECT min(u.place) AS place, any_value(p.nofollow_inlinks) AS number
    FROM ({PLACED}) u JOIN ({NOT_LINKED}) p ON p.url = u.loc GROUP BY p.url"""
UNVERIFIED = {
    "not-listed": "links=site requests it",
    "blocked": "robots.txt does not allow this crawl to request it",
    "left-out": "a filter or limit left it out",
}
"""Why a page is not verified, by `reason` of its record."""


@rule(
    "cross-not-in-sitemap",
    WARNING,
    BUILD,
    Of.WHOLE_SITE,
    also={"Screaming Frog": "URLs Not In Sitemap", "Lumar": "Primary Pages Not in Sitemaps"},
)
def cross_not_in_sitemap(site: SiteFacts) -> Iterator[SiteMessage]:
    """A linked, indexable page is not in any sitemap. Only with `links=yes` or `links=site`.

    With `links=yes`, unlisted pages are not requested, so the finding is a note; so is one on a page that an unreadable
    sitemap may list. Pages that robots.txt blocks, and those that redirect, fail, forbid indexing or name another
    canonical do not count, nor do links with `nofollow`.
    Feeds, files such as PDFs, and paginated pages, which a sitemap need not list, are one note each.

    Why: Search engines find it only through links, so later, and do not learn when it changes.
    Fix: Add the page to a sitemap, or set noindex if people should not find it.
    Bad: the home page links to `https://example.com/prices`, which no sitemap lists
    Good: an entry for `https://example.com/prices`
    """
    if not site.has_rows("pages"):
        return
    for group, many, url in list(site.query(LINKED_GROUPS)):
        text = f"{counted(many, f'linked {group}')} {'is' if many == 1 else 'are'} in no sitemap"
        yield SiteMessage(f"{text}, such as {quoted(url)}", severity=INFO, value=url)
    for url, inlinks, sources, indexable, reason in site.query(LINKED):
        if site_of(url) in site.discovered_sites:
            named = ", ".join(quoted(source) for source in sources)
            such = "" if inlinks <= len(sources) else "such as "
            text = (
                f"{quoted(url)} is in no sitemap; {counted(inlinks, 'page links', 'pages link')} to it: {such}{named}"
            )
            doubts = [] if site.is_known(url) else ["not all sitemaps were read"]
            if not indexable:
                doubts.append("not verified" + (f", {UNVERIFIED[reason]}" if reason in UNVERIFIED else ""))
            severity = INFO if doubts else None
            yield SiteMessage("; ".join([text, *doubts]), severity=severity, url=url, value=sources[0])


@rule("cross-orphan-url", WARNING, LINKS, Of.SITE, also={"Screaming Frog": "Orphan URLs"})
def cross_orphan_url(site: SiteFacts) -> Iterator[SiteMessage]:
    """No page that was read links to the listed page. Only with `links=yes` or `links=site`.

    Home pages, pages that cannot be indexed and those of other sites are not reported. A link to a URL that redirects
    to the page counts if that URL was requested; links with `nofollow` and links that scripts add do not.

    Why: Search engines consider a page without links unimportant, and visitors do not find it.
    Fix: Link to these pages from others, or remove them from the sitemap if they are out of date.
    Bad: `https://example.com/offer-2019` in the sitemap, and in no menu, list or text
    Good: a link from a page that can be reached from the home page
    """
    counts = list(site.query("SELECT count(outlinks), count(*) FROM pages"))
    read, known = counts[0]
    if not read:
        return
    site.need(FILES)
    whole = counted(read, "page was", "pages were") if read == known else f"{read:,} of {known:,} pages were"
    for fault in site.faults(ORPHANS):
        only = f", {counted(fault.number, 'page does', 'pages do')} with nofollow" if fault.number else ""
        yield on_entry(fault, f"no page links to {quoted(fault.url)}{only}; {whole} read")


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
    """A page of a compared list is in no sitemap. The argument `compare` names the lists.

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
        text = f"{quoted(url)} is in no sitemap, but in {counted(rows, 'row')} of {_named(names, lists)}"
        known = site.is_known(url)
        doubts = [*(() if indexable else ("not verified",)), *(() if known else ("not all sitemaps were read",))]
        yield SiteMessage("; ".join([text, *doubts]), severity=INFO if doubts else None, url=url)


@rule("coverage-listed-only", INFO, BUILD, Of.SITE)
def coverage_listed_only(site: SiteFacts) -> Iterator[SiteMessage]:
    """Listed page is in none of the compared lists. The argument `compare` names the lists.

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
