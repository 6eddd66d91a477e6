"""Rules on what crawlers requested, by access logs in the argument `compare`."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.robots.agents import BY_NAME, SEARCH
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.rules.registry import INFO, WARNING, Of, SiteMessage, rule
from sitemapcrawler.urls.display import counted, quoted

BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
LARGE = "https://developers.google.com/crawling/docs/crawl-budget"
RFC_9309 = "https://www.rfc-editor.org/rfc/rfc9309.html#section-2.2"
MIN_DAYS = 7
"""Days that logs must span before a missing request says anything. No source states a limit; search engines request
most sitemaps at least once a week."""
GOOGLEBOT = "googlebot"
ENGINES = [name for name, agent in BY_NAME.items() if agent.group == SEARCH]
OBEYING = [name for name, agent in BY_NAME.items() if agent.obeys]
SPAN = "SELECT min(since), max(until), date_diff('day', min(since), max(until)) FROM compared_lists"
DENIED = """
    SELECT crawler, any_value(number), arg_max(loc, last), max(last)::DATE, bool_and(verified) FROM fetched_problems
    WHERE kind = 'denied' AND crawler IN (SELECT unnest($1)) GROUP BY crawler ORDER BY crawler"""
ERRORS = """
    SELECT loc, list(crawler ORDER BY crawler), max(status), max(last)::DATE, verified FROM fetched_problems
    WHERE kind = 'error' AND crawler IN (SELECT unnest($1)) GROUP BY loc, verified
    ORDER BY max(last) DESC, loc, verified"""
NEVER = f"""
    SELECT sitemap, coalesce(fetched, 0), number
    FROM (SELECT sitemap, count(DISTINCT loc) AS number FROM urls WHERE {CURRENT} GROUP BY sitemap)
    LEFT JOIN (FROM fetched_files WHERE crawler = $1) USING (sitemap)
    WHERE coalesce(fetched, 0) < coalesce(nullif(listed, 0), number) ORDER BY sitemap"""
"""SQL: files with pages that a crawler has not requested. Parameter: the crawler."""
NO_SITEMAP = """
    SELECT sitemap FROM sitemaps s
    WHERE outcome NOT IN ('failed', 'blocked') AND NOT EXISTS (
        FROM fetched_files f WHERE f.sitemap = s.sitemap AND f.requests > 0 AND f.crawler IN (SELECT unnest($1)))
    ORDER BY sitemap"""


def _span(site: SiteFacts) -> str:
    """The time of the logs, in words; empty if it is too short, or there are none."""
    if not site.has_rows("compared_lists"):
        return ""
    [(since, until, days)] = site.query(SPAN)
    return f"from {since:%Y-%m-%d} to {until:%Y-%m-%d}" if days is not None and days >= MIN_DAYS else ""


@rule("crawler-gets-errors", WARNING, LARGE, Of.SITE)
def crawler_gets_errors(site: SiteFacts) -> Iterator[SiteMessage]:
    """A search engine got an error for a listed URL. Found in the access logs that `compare` names: the status of the
    last request is 400 or more.

    Why: Search engines drop pages that answer 404, and crawl a site that answers 5xx or 429 less.
    Fix: Remove the entry if the page is gone; otherwise find out why the server refuses or fails.
    Bad: `"GET /lamps HTTP/1.1" 503` for Googlebot, and `/lamps` in the sitemap
    Good: `"GET /lamps HTTP/1.1" 200`
    """
    for url, crawlers, status, day, verified in site.query(ERRORS, ENGINES):
        names = ", ".join(BY_NAME[name].name for name in crawlers)
        yield SiteMessage(f"{names} got {status} on {day}{_doubt(verified)}", url=url, value=str(status))


@rule("crawler-fetches-denied", WARNING, RFC_9309, Of.SITE)
def crawler_fetches_denied(site: SiteFacts) -> Iterator[SiteMessage]:
    """A crawler requested listed pages that robots.txt denies it. Found in the access logs that `compare` names.

    Judged by today's robots.txt; crawlers may use a copy for a day. Crawlers whose operators say that they may ignore
    robots.txt do not count.

    Why: The crawler ignores robots.txt, another program uses its name, or the rules have changed since.
    Fix: Verify its addresses with `crawler_addresses`; then block it at the server, or allow the pages.
    Bad: `Disallow: /private/` for GPTBot, and its request for `/private/plan` in the log
    Good: requests for allowed pages alone
    """
    for crawler, number, url, day, verified in site.query(DENIED, OBEYING):
        pages = counted(number, "listed page")
        text = f"{BY_NAME[crawler].name} requested {pages} that robots.txt denies it, such as {quoted(url)} on {day}"
        yield SiteMessage(f"{text}{_doubt(verified)}", value=BY_NAME[crawler].name)


@rule("crawler-never-fetched", INFO, LARGE, Of.SITE)
def crawler_never_fetched(site: SiteFacts) -> Iterator[SiteMessage]:
    """Googlebot has not requested some of the listed pages. The access logs that `compare` names must span seven days
    and contain requests of Googlebot.

    Why: Google does not index a page that it has not fetched, or shows an old version. Links and correct dates make
    Googlebot come sooner.
    Fix: Link to these pages from pages that are fetched often, and keep `lastmod` correct.
    Bad: 40 of the 50 pages of a sitemap in no log of a month
    Good: each page fetched at least once after it has changed
    """
    if not (span := _span(site)) or not site.has_rows(f"fetched_files WHERE crawler = '{GOOGLEBOT}' AND fetched > 0"):
        return
    for sitemap, fetched, number in site.query(NEVER, GOOGLEBOT):
        text = f"Googlebot requested {fetched:,} of {counted(number, 'listed page')} {span}"
        yield SiteMessage(text, sitemap=sitemap, value=str(number - fetched))


@rule("crawler-sitemap-never-fetched", INFO, BUILD, Of.SITE)
def crawler_sitemap_never_fetched(site: SiteFacts) -> Iterator[SiteMessage]:
    """No search engine has requested the sitemap. The access logs that `compare` names must span seven days and contain
    requests of search engines for listed pages.

    Why: Search engines do not know the file or no longer fetch it, so they learn nothing from it.
    Fix: Name it in robots.txt or an index, and submit it in Search Console and Bing Webmaster Tools.
    Bad: a sitemap that robots.txt does not name, in no log of a month
    Good: a request of Googlebot for the sitemap every few days
    """
    engines = ", ".join(f"'{name}'" for name in ENGINES)
    if not (span := _span(site)) or not site.has_rows(f"fetched_files WHERE crawler IN ({engines}) AND fetched > 0"):
        return
    for (sitemap,) in site.query(NO_SITEMAP, ENGINES):
        yield SiteMessage(f"no search engine requested the file {span}", sitemap=sitemap)


def _doubt(verified: bool) -> str:
    """What makes a message uncertain; empty if nothing does."""
    return "" if verified else "; recognised by name only"
