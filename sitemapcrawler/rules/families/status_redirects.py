"""Rules on listed URLs that redirect. Each has one finding, of the rule that says most."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.replies import HttpError, Reason, Redirected, RedirectLoop, Unchecked
from sitemapcrawler.rules.facts.given import ReplyFacts
from sitemapcrawler.rules.facts.replied import fault_of, statuses
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown

REDIRECTS = "https://developers.google.com/search/docs/crawling-indexing/301-redirects"
SOFT = "https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors"
BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
PERMANENT = frozenset((301, 308))
"""Source: RFC 9110, 15.4"""
MAX_HOPS = 4
"""Redirects that a message tells one by one; the record has all of them."""
WHY_NOT = {
    Reason.BLOCKED: "robots.txt forbids it to us",
    Reason.OFF_SITE: "it is on another host",
    Reason.STOPPED: "the crawl ended, or its host failed too often",
    Reason.SAMPLED_OUT: "it is not in the sample",
}
MOVED = {"Sitebulb": "Redirect (3XX) URL in XML Sitemaps", "Search Console": "URLs not followed"}


@rule("status-redirect", Severity.WARNING, REDIRECTS, Needs.REPLY, also=MOVED)
def status_redirect(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL redirects to another one. An error where its status is one of redirects, and leads nowhere.

    Why: a sitemap lists the URLs that are to be indexed, and that is the one that redirects lead to. Each redirect is a
    request more. The message says whether the redirect is permanent, and where it leads.
    Bad: `http://example.com/a`, which redirects to `https://example.com/a`
    Good: `https://example.com/a`
    """
    if fault_of(facts) != "status-redirect":
        return
    reply = facts.reply
    if isinstance(reply, HttpError):
        yield Message(f"{reply.error}: it leads nowhere", value=str(reply.status), severity=Severity.ERROR)
    else:
        yield _led(facts, f"redirects ({_kind(reply.hops[0].status)})")


@rule("status-redirect-chain", Severity.WARNING, REDIRECTS, Needs.REPLY, also=MOVED)
def status_redirect_chain(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL leads through two or more redirects.

    Why: Google's crawlers follow ten, others fewer; each is a request more, and any of them may fail. List the URL at
    the end, and let the redirects in between lead there at once.
    Bad: `http://example.com/a` to `https://example.com/a` to `https://www.example.com/a`
    Good: `https://www.example.com/a`
    """
    if fault_of(facts) == "status-redirect-chain":
        hops = facts.reply.hops
        told = ", ".join(f"{hop.status} at {shown(hop.url)}" for hop in hops[:MAX_HOPS])
        yield _led(facts, f"{len(hops)} redirects ({told}{', ...' if len(hops) > MAX_HOPS else ''})")


@rule("status-redirect-loop", Severity.ERROR, REDIRECTS, Needs.REPLY, also=MOVED)
def status_redirect_loop(facts: ReplyFacts) -> Iterator[Message]:
    """The redirects of a listed URL come back to where they were, or do not end.

    Why: nobody ever sees the page. Some such loops end for visitors with cookies, which search engines do not send.
    Bad: `/a` redirects to `/a/`, which redirects to `/a`
    Good: one of the two answers 200
    """
    reply = facts.reply
    if isinstance(reply, RedirectLoop):
        yield Message(f"{reply.error} (statuses {statuses(reply)})", value=reply.final_url)


@rule("status-redirect-offsite", Severity.WARNING, BUILD, Needs.REPLY, also=MOVED)
def status_redirect_offsite(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL redirects to another host; a leading `www.` apart.

    Why: the page is one of another site, whose own sitemap is to list it. Where nobody meant that, a domain was sold,
    or a link hijacked.
    Bad: `https://example.com/shop`, which redirects to `https://example.net/`
    Good: no entry for it here
    """
    if fault_of(facts) == "status-redirect-offsite":
        yield _led(facts, f"redirects ({statuses(facts.reply)}) to another host,")


@rule("status-redirect-to-home", Severity.WARNING, SOFT, Needs.REPLY, also=MOVED)
def status_redirect_to_home(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL redirects to the home page, or to that of a language.

    Why: mostly the page is gone, and the redirect hides it. Search engines take that for a page that does not exist.
    Bad: a deleted product, which redirects to `https://example.com/`
    Good: status 404 or 410, or a redirect to the page that took its place, and no entry
    """
    if fault_of(facts) == "status-redirect-to-home":
        yield _led(facts, f"redirects ({statuses(facts.reply)}) to the home page,")


def _kind(status: int) -> str:
    return f"{status}, {'permanent' if status in PERMANENT else 'temporary'}"


def _led(facts: ReplyFacts, moved: str) -> Message:
    """Where redirects lead. `moved`: what they are, in words that the URL follows."""
    reply = facts.reply
    if isinstance(reply, Unchecked):
        return Message(f"{moved}; where they lead was not asked: {WHY_NOT[reply.reason]}", value=reply.hops[-1].url)
    final = reply.final_url if isinstance(reply, Redirected) else ""
    to = "" if moved.endswith(",") else " to"
    return Message(f"{moved}{to} {shown(final)}{_denied(facts)}", value=final)


def _denied(facts: ReplyFacts) -> str:
    """A remark on a page that should not be listed either."""
    return ", and that page is not to be indexed (noindex)" if getattr(facts.reply, "noindex", None) else ""
