"""Rules on listed URLs that answer with the status of an error."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.reply import HttpError
from sitemapcrawler.rules.facts import ReplyFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.rules.replied import count_of, fault_of, way

ERRORS = "https://developers.google.com/search/docs/crawling-indexing/http-network-errors"
"""Google: how HTTP status codes, and network and DNS errors affect search."""
ERROR_PAGE = {
    "Search Console": "URLs not accessible",
    "Screaming Frog": "Non-Indexable URLs in Sitemap",
    "Lumar": "Error Pages in Sitemaps",
}
NOT_FOUND = {**ERROR_PAGE, "Sitebulb": "Not Found (4XX) URL in XML Sitemaps"}
FORBIDDEN = {**ERROR_PAGE, "Sitebulb": "Forbidden (403) URL in XML Sitemaps"}


def answered(facts: ReplyFacts, rule: str, remark: str = "") -> Iterator[Message]:
    """A message with the status, where it is the one that this rule tells; `remark` follows it."""
    reply = facts.reply
    if isinstance(reply, HttpError) and fault_of(facts) == rule:
        yield Message(f"HTTP status {reply.status}{way(reply)}{remark}", value=str(reply.status))


@rule("status-401", Severity.ERROR, ERRORS, Needs.REPLY, also=ERROR_PAGE)
def status_401(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL answers 401: it wants a login.

    Why: search engines do not log in; the page is not indexed, and dropped where it was.
    Bad: pages for customers in the sitemap, or a test site that is still behind a password
    Good: pages that everybody may read
    """
    yield from answered(facts, "status-401", ": it wants a login")


@rule("status-403", Severity.ERROR, ERRORS, Needs.REPLY, also=FORBIDDEN)
def status_403(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL answers 403: the server refuses it to us. It may differ for search engines.

    Why: a page that is refused to search engines is not indexed. A firewall that knows their addresses may refuse it to
    us alone; the server's log or Search Console's URL inspection tells.
    Bad: a firewall that takes search engines for an attack
    Good: status 200 for everybody who may read the page
    """
    yield from answered(facts, "status-403", ": refused to us; it may differ for search engines")


@rule("status-404", Severity.ERROR, ERRORS, Needs.REPLY, also=NOT_FOUND)
def status_404(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL answers 404: there is no such page.

    Why: it is not indexed, and dropped where it was; the visit is wasted.
    Bad: a deleted product that is still in the sitemap
    Good: its entry is taken out
    """
    yield from answered(facts, "status-404", ": not found")


@rule("status-410", Severity.ERROR, ERRORS, Needs.REPLY, also=NOT_FOUND)
def status_410(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL answers 410: the page is gone for good.

    Why: as with 404; here the server even knows that the page is gone, only the sitemap does not.
    Bad: an entry for a page that answers 410
    Good: its entry is taken out
    """
    yield from answered(facts, "status-410", ": gone for good")


@rule("status-429", Severity.WARNING, "https://www.rfc-editor.org/rfc/rfc6585#section-4", Needs.REPLY)
def status_429(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL answers 429: too many requests. That is not the page's fault, and whether it works is not known.

    Why: the server wants fewer requests from us. To search engines 429 is a server error, at which they slow down.
    Bad: a limit that a few requests a second reach
    Good: a limit that lets crawlers through; for this crawl a longer DOWNLOAD_DELAY
    """
    tries = f" after {count_of(facts.reply.attempts, 'request')}: the server wants fewer; ask more slowly"
    yield from answered(facts, "status-429", tries)


@rule("status-4xx", Severity.ERROR, ERRORS, Needs.REPLY, also=NOT_FOUND)
def status_4xx(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL answers with another status from 400 to 499.

    Why: the page is not indexed, and dropped where it was, as with 404.
    Bad: 400 for a URL with a broken query, 451 for a page that may not be shown
    Good: status 200, or no entry
    """
    yield from answered(facts, "status-4xx")


@rule("status-5xx", Severity.ERROR, ERRORS, Needs.REPLY, also=ERROR_PAGE)
def status_5xx(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL answers with a status from 500 on: the server failed. Statuses that HTTP does not have count too.

    Why: search engines slow down for the whole site, and drop the page where it lasts.
    Bad: 500 from a template that fails, 503 from a server that is overloaded
    Good: status 200
    """
    yield from answered(facts, "status-5xx", ": the server failed")
