"""Rules on what Google says of listed URLs, by rows of URL Inspection in the argument `compare`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.rules.facts.index_reasons import advice_on
from sitemapcrawler.rules.facts.site import FILES, PLACED, SiteFacts, on_entry
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.rules.registry import WARNING, Of, SiteMessage, rule
from sitemapcrawler.urls.display import counted, quoted

PAGE_INDEXING = "https://support.google.com/webmasters/answer/7440203"
CANONICALS = "https://developers.google.com/search/docs/crawling-indexing/canonicalization"
REASONS = f"""
    SELECT reason, count(*) AS number, min(s.loc), histogram(u.indexability)
    FROM index_statuses s
    JOIN (SELECT loc, any_value(indexability) AS indexability FROM urls WHERE {CURRENT} GROUP BY loc) u USING (loc)
    WHERE NOT s.indexed GROUP BY reason ORDER BY number DESC, reason"""
"""SQL: reasons for which listed URLs are not indexed, each with a URL and what this crawl says of them."""
NOT_INDEXED = f"""
    SELECT u.place FROM ({PLACED}) u JOIN index_statuses s USING (loc) WHERE NOT s.indexed"""
OTHER_CANONICAL = f"""
    SELECT min(u.place) AS place, any_value(s.canonical) AS what,
           CASE WHEN bool_or(u.reply.canonical = s.canonical) THEN 1
                WHEN bool_or(u.reply.canonical = u.loc) THEN 2 END AS number
    FROM ({PLACED}) u JOIN index_statuses s USING (loc) WHERE s.other GROUP BY u.loc"""
"""SQL: listed URLs in place of which Google indexes another. `number`: a key of `DECLARED`, by the page's canonical."""
DECLARED: Mapping[int | None, str] = {1: "; the page names it too", 2: "; the page names itself"}


@rule(
    "listed-not-indexed",
    WARNING,
    PAGE_INDEXING,
    Of.SITE,
    also={"Search Console": "Why pages aren't indexed", "Screaming Frog": "URL Is Not on Google"},
)
def listed_not_indexed(site: SiteFacts) -> Iterator[SiteMessage]:
    """Google has not indexed listed URLs. Found in the URL Inspection results that `compare` names. Each reason is one
    finding, with advice and what this crawl found on its URLs.

    Why: People cannot find a page that is not indexed. The results show what Google saw at its last crawl, perhaps
    weeks ago.
    Fix: Work through the reasons, those with the most URLs first; each finding says what to do.
    Bad: 40 entries that Google has as `Not found (404)`
    Good: a sitemap of pages that are indexed, or will be
    """
    if not site.has_rows("index_statuses"):
        return
    site.need(FILES)
    site.mark(NOT_INDEXED)
    for reason, number, url, found in list(site.query(REASONS)):
        urls = f"{counted(number, 'listed URL')} {'is' if number == 1 else 'are'} not indexed"
        why = quoted(reason) if reason else "no reason is given"
        text = f"{urls}: {why}, such as {quoted(url)}{_found_here(found)}. {advice_on(reason or '')}"
        yield SiteMessage(text, value=reason or "")


def _found_here(found: Mapping[str, int] | None) -> str:
    """What this crawl says of the same URLs, as the end of a sentence; empty if it does not know."""
    words = {Indexability.OK: "indexable"}
    known = {value: number for value, number in (found or {}).items() if value != Indexability.NOT_CHECKED}
    most = sorted(known.items(), key=lambda one: (-one[1], one[0]))
    told = ", ".join(f"{number:,} {words.get(Indexability(value), value)}" for value, number in most)
    return f"; this crawl finds {told}" if told else ""


@rule("google-other-canonical", WARNING, CANONICALS, Of.SITE)
def google_other_canonical(site: SiteFacts) -> Iterator[SiteMessage]:
    """Google indexes another URL in place of the listed one. Found in the URL Inspection results that `compare` names.
    URLs that differ only in how host, port or escapes are written are the same.

    Why: The entry is wasted, since searchers get the other URL. Google considers the two pages the same, or trusts a
    redirect, a canonical or links more than the sitemap.
    Fix: List the URL that Google chose, or make redirects, canonicals and links point to the listed one.
    Bad: `http://example.com/a` in the sitemap, and `https://example.com/a` as Google's canonical
    Good: a sitemap of the URLs that Google chose
    """
    if not site.has_rows("index_statuses"):
        return
    site.need(FILES)
    for fault in site.faults(OTHER_CANONICAL):
        text = f"Google indexes {quoted(fault.what or '')} instead{DECLARED.get(fault.number, '')}"
        yield on_entry(fault, text, value=fault.what)
