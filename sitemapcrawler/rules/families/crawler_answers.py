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
    """The server refuses a crawler that robots.txt allows. Only with `fetch_as`, and only on pages that we get. An
    error for a search engine.

    An error, the page of a firewall, and no answer within 30 seconds count as refused. The request has the user agent
    of the crawler, and comes from our address: a firewall that knows the addresses of the crawler may refuse it as a
    forgery, and let the crawler itself pass.

    Why: what a crawler does not get is neither found nor cited, whatever robots.txt says.
    Fix: Check the log of the firewall for the crawler. Let its published addresses pass, or deny it in robots.txt.
    Bad: robots.txt allows GPTBot, and the firewall answers it with status 403
    Good: the same answer for the crawler as for everybody, or `Disallow: /` for it
    """
    text = "is allowed by robots.txt, and refused by the server"
    doubt = "; our address may be the reason, so check whether {crawler} itself gets through"
    yield from _messages(site, (AnswerVerdict.REFUSED, AnswerVerdict.NO_ANSWER), text, doubt)


@rule("crawler-gets-other-content", WARNING, CLOAKING, Of.SITE)
def crawler_gets_other_content(site: SiteFacts) -> Iterator[SiteMessage]:
    """A crawler gets a different page than we do. Only with `fetch_as`: a redirect, noindex, another canonical or main
    text, or far more or less of it.

    The crawler and we are asked twice, so that counters, random order and a bad moment are no difference. A page that
    the server renders for crawlers alone, or a text that only subscribers see, is one.

    Why: search engines call it cloaking, and may remove the site; noindex for one crawler removes its pages alone.
    Fix: Answer all crawlers and visitors with the same page, unless the difference is meant and allowed.
    Bad: `X-Robots-Tag: noindex` where the user agent has `Googlebot`
    Good: the same text, canonical and robots directives for everybody
    """
    yield from _messages(site, (AnswerVerdict.OTHER,), "gets a different page than we do")


@rule("crawler-must-pay", INFO, PAYING, Of.SITE)
def crawler_must_pay(site: SiteFacts) -> Iterator[SiteMessage]:
    """A crawler must pay for pages. The server answers it with status 402. Only with `fetch_as`.

    Why: crawlers that do not pay get nothing, and answers of their operator do not cite the page.
    Fix: Let crawlers that bring visitors pass without paying, such as those of search engines.
    Bad: status 402 for Googlebot
    Good: status 402 for crawlers that train models, if it is meant
    """
    yield from _messages(site, (AnswerVerdict.PAYMENT,), "is allowed by robots.txt, and must pay")
