"""Rules on what crawlers requested, by access logs in the argument `compare`, and on what they get, with `fetch_as`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitemapcrawler.replies.crawler_answers import AnswerVerdict
from sitemapcrawler.robots.agents import BY_NAME, SEARCH, Purpose, agent
from sitemapcrawler.rules.facts.site import SiteFacts, origin_of
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Of, SiteMessage, rule
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

    Why: Search engines drop pages that answer 404, and crawl a site less if it answers 5xx or 429.
    Fix: Remove the entry if the page is gone; otherwise find out why the server refuses or fails.
    Bad: `"GET /lamps HTTP/1.1" 503` for Googlebot, and `/lamps` in the sitemap
    Good: `"GET /lamps HTTP/1.1" 200`
    """
    for url, crawlers, status, day, verified in site.query(ERRORS, ENGINES):
        names = ", ".join(BY_NAME[name].name for name in crawlers)
        yield SiteMessage(f"{names} got {status} on {day}{_doubt(verified)}", url=url, value=str(status))


@rule("crawler-fetches-denied", WARNING, RFC_9309, Of.SITE)
def crawler_fetches_denied(site: SiteFacts) -> Iterator[SiteMessage]:
    """A crawler requested listed pages that robots.txt disallows. Found in the access logs that `compare` names.

    Judged by today's robots.txt; crawlers may use a copy for a day. Crawlers whose operators say that they may ignore
    robots.txt do not count.

    Why: The crawler ignores robots.txt, another program uses its name, or the rules have changed since.
    Fix: Verify its addresses with `crawler_addresses`; then block it at the server, or allow the pages.
    Bad: `Disallow: /private/` for GPTBot, and its request for `/private/plan` in the log
    Good: requests for allowed pages alone
    """
    for crawler, number, url, day, verified in site.query(DENIED, OBEYING):
        pages = counted(number, "listed page")
        text = f"{BY_NAME[crawler].name} requested {pages} that robots.txt disallows, such as {quoted(url)} on {day}"
        yield SiteMessage(f"{text}{_doubt(verified)}", value=BY_NAME[crawler].name)


@rule("crawler-never-fetched", INFO, LARGE, Of.SITE)
def crawler_never_fetched(site: SiteFacts) -> Iterator[SiteMessage]:
    """Googlebot has not requested some of the listed pages. The access logs that `compare` names must span seven days
    and contain requests of Googlebot.

    Why: Google does not index a page that it has not fetched, or shows an old version. Links and correct dates make
    Googlebot come sooner.
    Fix: Link to these pages from pages that are fetched often, and keep `lastmod` correct.
    Bad: no request for 40 of the 50 pages of a sitemap in the logs of a month
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
    Bad: a sitemap that robots.txt does not name, and no request for it in the logs of a month
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


VERIFYING = "https://developers.google.com/crawling/docs/crawlers-fetchers/verify-google-requests"
CLOAKING = "https://developers.google.com/search/docs/essentials/spam-policies#cloaking"
PAYING = "https://developers.cloudflare.com/ai-crawl-control/features/pay-per-crawl/what-is-pay-per-crawl/"
ORIGIN = origin_of("url")
GOTTEN = f"""
    SELECT crawler, {ORIGIN} AS origin, count(*) FILTER (list_contains($1, verdict)) AS number,
        count(*) FILTER (verdict <> '{AnswerVerdict.NOT_ASKED}') AS asked,
        mode(note) FILTER (list_contains($1, verdict)) AS usual, min(url) FILTER (list_contains($1, verdict)) AS first
    FROM answers GROUP BY ALL HAVING number > 0 ORDER BY crawler, origin"""
"""SQL for crawlers and hosts with some verdicts: pages with them, pages requested, the most frequent note, one page."""


def _messages(site: SiteFacts, verdicts: Sequence[AnswerVerdict], text: str, more: str = "") -> Iterator[SiteMessage]:
    """Yield a message for each crawler and host with one of some verdicts. `text`, `more`: what comes before and after
    the usual note."""
    if not site.has_rows("answers"):
        return
    for crawler, origin, number, asked, note, url in site.query(GOTTEN, list(map(str, verdicts))):
        known = agent(crawler)
        severe = ERROR if more and known.purpose is Purpose.SEARCH and known.group == "search" else None
        pages = f"{number} of {counted(asked, 'page')} of {quoted(origin)}"
        hint = more.format(crawler=crawler)
        yield SiteMessage(
            f"{crawler} {text} ({note}): {pages}, such as {quoted(url)}{hint}", value=crawler, severity=severe
        )


@rule("crawler-refused", WARNING, VERIFYING, Of.SITE)
def crawler_refused(site: SiteFacts) -> Iterator[SiteMessage]:
    """The server refuses a crawler that robots.txt allows. Only with `fetch_as`, and only for pages that this crawl can
    read. An error if it is a search engine.

    An error, a firewall's page and no answer within 30 seconds count as refused. The request has the crawler's user
    agent, but comes from your address. A firewall that knows the crawler's addresses may refuse it as a fake, and let
    the real crawler pass.

    Why: A page that a crawler cannot fetch is neither found nor cited, whatever robots.txt says.
    Fix: Check the firewall's log for the crawler. Let its published addresses pass, or disallow it in robots.txt.
    Bad: robots.txt allows GPTBot, and the firewall answers it with status 403
    Good: the same answer for the crawler as for other visitors, or `Disallow: /` for it
    """
    text = "is allowed by robots.txt, but refused by the server"
    doubt = "; the address of this crawl may be the reason, so check whether {crawler} itself gets through"
    yield from _messages(site, (AnswerVerdict.REFUSED, AnswerVerdict.NO_ANSWER), text, doubt)


@rule("crawler-gets-other-content", WARNING, CLOAKING, Of.SITE)
def crawler_gets_other_content(site: SiteFacts) -> Iterator[SiteMessage]:
    """A crawler gets a different page than this crawl. Only with `fetch_as`: a redirect, noindex, another canonical or
    main text, or far more or less of it.

    Requests the page twice under each name, so that counters, random order and brief failures do not count. Pages that
    the server renders for crawlers only, and text for subscribers only, do count.

    Why: Search engines call it cloaking, and may remove the site. A noindex for one crawler removes the pages from its
    index only.
    Fix: Send all crawlers and visitors the same page, unless the difference is intended and allowed.
    Bad: `X-Robots-Tag: noindex` where the user agent has `Googlebot`
    Good: the same text, canonical and robots directives for all visitors
    """
    yield from _messages(site, (AnswerVerdict.OTHER,), "gets a different page than this crawl")


@rule("crawler-must-pay", INFO, PAYING, Of.SITE)
def crawler_must_pay(site: SiteFacts) -> Iterator[SiteMessage]:
    """A crawler must pay for pages. The server answers its requests with status 402. Only with `fetch_as`.

    Why: Crawlers that do not pay get nothing, so their operators' assistants do not cite the page.
    Fix: Let crawlers that bring visitors, such as search engines, pass without payment.
    Bad: status 402 for Googlebot
    Good: status 402 for crawlers that train models, if intended
    """
    yield from _messages(site, (AnswerVerdict.PAYMENT,), "is allowed by robots.txt, but must pay")
