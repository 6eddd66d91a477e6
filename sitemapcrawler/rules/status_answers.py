"""Rules on listed URLs that answer 200: whether that is a page, of which kind, how fast, and to whom."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.page import is_html
from sitemapcrawler.reply import Failed, Ok, Redirected
from sitemapcrawler.reply.chase import NO_ANSWER
from sitemapcrawler.rules.facts import ReplyFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.rules.replied import fault_of, way
from sitemapcrawler.rules.status import ERROR_PAGE
from sitemapcrawler.rules.status_redirects import SOFT

INDEXABLE = "https://developers.google.com/search/docs/crawling-indexing/indexable-file-types"
SLOW_MS = 1_800
"""Milliseconds to the first byte of one answer that are too many: "poor" by https://web.dev/articles/ttfb, name look-up
and connection included, as they are here. Below it, distance and a cold cache would be told as faults."""


@rule("status-soft-404", Severity.WARNING, SOFT, Needs.REPLY, also=ERROR_PAGE)
def status_soft_404(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL answers as if there was a page, and there is none: it is a page of the kind `not found`, or empty.

    Why: search engines find out and drop it, but read it again and again first. The site itself is the witness: the
    page is compared with what the server gives for a path that cannot exist.
    Bad: status 200 with `Page not found`; a redirect to where every unknown URL is sent; 204 without content
    Good: status 404 or 410, and no entry
    """
    reply = facts.reply
    if isinstance(reply, Ok | Redirected) and fault_of(facts) == "status-soft-404":
        why = facts.soft_404 or "an answer without content"
        yield Message(f"HTTP status {reply.status}{way(reply)}, but no page: {why}", value=reply.final_url)


@rule("status-non-html", Severity.INFO, INDEXABLE, Needs.REPLY)
def status_non_html(facts: ReplyFacts) -> Iterator[Message]:
    """A listed URL is no HTML page.

    Why: documents such as PDF are indexed too. Feeds, images and data are not, or belong elsewhere in the sitemap.
    Bad: `https://example.com/api/products.json`
    Good: the page that shows what is in it; a PDF that visitors are to find
    """
    reply = facts.reply
    if isinstance(reply, Ok | Redirected) and reply.content_type and not is_html(reply.content_type):
        kind = reply.content_type.partition(";")[0].strip().lower()
        yield Message(f"Content-Type is {kind[:100] or 'empty'}: no HTML page", value=reply.content_type)


@rule("status-slow", Severity.INFO, "https://web.dev/articles/ttfb", Needs.REPLY)
def status_slow(facts: ReplyFacts) -> Iterator[Message]:
    """The server of a listed URL took more than 1.8 seconds for an answer to begin; of several requests, on average.

    Why: visitors wait, and search engines read fewer pages of a slow site. Once is nothing; many pages are something,
    and so is one that is slow at every visit.
    Bad: a page that is put together in four seconds
    Good: an answer that begins within 0.8 seconds
    """
    reply = facts.reply
    if not isinstance(reply, Ok | Redirected):
        return
    took = reply.elapsed_ms / max(1, reply.attempts)
    if took > SLOW_MS:
        of_several = f" on average of {reply.attempts} requests" if reply.attempts > 1 else ""
        text = f"{took / 1000:.1f} seconds to the answer{of_several}; more than {SLOW_MS / 1000:.1f} are slow"
        yield Message(text, value=f"{took:.0f}")


@rule("status-head-get-mismatch", Severity.INFO, "https://www.rfc-editor.org/rfc/rfc9110#name-head", Needs.REPLY)
def status_head_get_mismatch(facts: ReplyFacts) -> Iterator[Message]:
    """The server answers HEAD otherwise than GET.

    Why: HEAD must give the status that GET gives. Tools that check links by HEAD report the page as broken. What is
    told of the page comes from GET.
    Bad: 405 to HEAD and 200 to GET
    Good: the same status to both
    """
    reply = facts.reply
    if reply.head_status is None:
        return
    head = "no answer" if reply.head_status == NO_ANSWER else str(reply.head_status)
    got = [str(hop.status) for hop in reply.hops]
    got += ["no answer"] if isinstance(reply, Failed) else [str(reply.status)] if hasattr(reply, "status") else []
    yield Message(f"HEAD got {head}, GET got {', then '.join(got) or 'another answer'}", value=head)
