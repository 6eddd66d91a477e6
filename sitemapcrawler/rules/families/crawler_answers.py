"""Rules on what crawlers get from the server, with the argument `fetch_as`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitemapcrawler.replies.crawler_answers import AnswerVerdict
from sitemapcrawler.robots.agents import Purpose, agent
from sitemapcrawler.rules.facts.site import SiteFacts, origin_of
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Of, SiteMessage, rule
from sitemapcrawler.urls.display import counted, quoted

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
    Good: the same answer for the crawler as for everybody, or `Disallow: /` for it
    """
    text = "is allowed by robots.txt, but refused by the server"
    doubt = "; the address of this crawl may be the reason, so check whether {crawler} itself gets through"
    yield from _messages(site, (AnswerVerdict.REFUSED, AnswerVerdict.NO_ANSWER), text, doubt)


@rule("crawler-gets-other-content", WARNING, CLOAKING, Of.SITE)
def crawler_gets_other_content(site: SiteFacts) -> Iterator[SiteMessage]:
    """A crawler gets a different page than this crawl. Only with `fetch_as`: a redirect, noindex, another canonical or
    main text, or far more or less of it.

    Requests the page twice under each name, so that counters, random order and brief failures do not count. A page that
    the server renders for crawlers only, or text for subscribers only, does.

    Why: Search engines call it cloaking, and may remove the site. A noindex for one crawler removes the pages from its
    index only.
    Fix: Send all crawlers and visitors the same page, unless the difference is intended and allowed.
    Bad: `X-Robots-Tag: noindex` where the user agent has `Googlebot`
    Good: the same text, canonical and robots directives for everybody
    """
    yield from _messages(site, (AnswerVerdict.OTHER,), "gets a different page than this crawl")


@rule("crawler-must-pay", INFO, PAYING, Of.SITE)
def crawler_must_pay(site: SiteFacts) -> Iterator[SiteMessage]:
    """A crawler must pay for pages. The server answers its requests with status 402. Only with `fetch_as`.

    Why: Crawlers that do not pay get nothing, so assistants of their operator do not cite the page.
    Fix: Let crawlers that bring visitors, such as search engines, pass without payment.
    Bad: status 402 for Googlebot
    Good: status 402 for crawlers that train models, if it is meant
    """
    yield from _messages(site, (AnswerVerdict.PAYMENT,), "is allowed by robots.txt, but must pay")
