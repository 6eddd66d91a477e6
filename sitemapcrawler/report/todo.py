"""What to do about a URL that is not indexable, in words: why, where it leads, and the next step."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from sitemapcrawler.items import ReplyRecord, UrlRecord
from sitemapcrawler.replies import ReplyKind
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.replies.page.body import is_page
from sitemapcrawler.report.wording import REPLIES
from sitemapcrawler.rules.families.page_replies import PERMANENT
from sitemapcrawler.urls import bare_host

WHY: Mapping[str, str] = {
    Indexability.BLOCKED: "blocked by robots.txt",
    Indexability.UNREACHABLE: "no complete answer",
    Indexability.SERVER_ERROR: "server error",
    Indexability.NOT_FOUND: "page does not exist",
    Indexability.CLIENT_ERROR: "server refuses the request",
    Indexability.REDIRECT: "redirects",
    Indexability.SOFT_404: "error page without an error status",
    Indexability.NOINDEX: "page says noindex",
    Indexability.CANONICALISED: "page names another URL as canonical",
}
NEXT: Mapping[str, str] = {
    Indexability.BLOCKED: "Allow the URL in robots.txt, or remove the entry.",
    Indexability.UNREACHABLE: "Make the server answer, or remove the entry.",
    Indexability.SERVER_ERROR: "Fix the server error, or remove the entry.",
    Indexability.NOT_FOUND: "Remove the entry, or restore the page.",
    Indexability.CLIENT_ERROR: "Let everyone read the page, or remove the entry.",
    Indexability.REDIRECT: "Remove the entry, or fix the redirect.",
    Indexability.SOFT_404: "Remove the entry and answer 404, or restore the page.",
    Indexability.NOINDEX: "Remove the entry, or remove noindex from the page.",
    Indexability.CANONICALISED: "Remove the entry, or correct the canonical.",
}
"""What to do, by `indexability`, without a page that takes the place of the URL."""

TARGET_LISTED = frozenset(("page-canonical-other-listed-too", "status-redirect-target-listed-too"))
"""Rules of URLs whose target has an entry of its own."""
OTHER_LANGUAGE, TO_LOGIN = "page-canonical-other-language", "status-redirect-to-login"


def why(record: UrlRecord) -> str:
    """Why a URL is not indexable."""
    reply, value = record.reply or ReplyRecord(), record.indexability or ""
    words = WHY.get(value, value)
    if value == Indexability.UNREACHABLE or reply.kind == ReplyKind.REDIRECT_LOOP:
        return REPLIES.get(reply.kind, words)
    return f"{words}: {reply.soft_404}" if value == Indexability.SOFT_404 and reply.soft_404 else words


def leads_to(record: UrlRecord) -> str | None:
    """URL of the page that takes the place of a listed one; None if there is none."""
    if record.target is not None:
        return record.target.url
    reply = record.reply or ReplyRecord()
    return reply.canonical if record.indexability == Indexability.CANONICALISED else reply.refresh


def next_step(record: UrlRecord) -> str:
    """What to do about a URL that is not indexable."""
    target = record.target
    if record.reply and record.reply.final_status == HTTPStatus.TOO_MANY_REQUESTS:
        return "Raise the server's rate limit for crawlers, or audit again with a longer DOWNLOAD_DELAY."
    if target is None or record.indexability not in (Indexability.REDIRECT, Indexability.CANONICALISED):
        return NEXT.get(record.indexability or "", "")
    if TO_LOGIN in record.issues:
        return "Remove the entry, or let everyone read the page."
    if OTHER_LANGUAGE in record.issues:
        return "Let the page name itself as canonical: its target is the version in another language."
    if bare_host(target.url) != bare_host(record.loc):
        if record.indexability == Indexability.CANONICALISED:
            return "Correct the canonical, or remove the entry: the canonical is on another site."
        return "Remove the entry: it leads to another site."
    if target.indexable is False:
        return f"Remove the entry: its target is not indexable either ({target.indexability})."
    if record.indexability == Indexability.REDIRECT and record.reply and not is_page(record.reply.content_type):
        return "Remove the entry: it leads to an image, feed or other file, not to a page."
    if record.reply and any(hop.status not in PERMANENT for hop in record.reply.redirects[:1]):
        return "If the redirect is meant to stay, make it permanent and list the target; otherwise keep the entry."
    if TARGET_LISTED.intersection(record.issues):
        return "Remove the entry: its target is listed too."
    if target.indexable:
        return "List the target instead."
    return "List the target instead if it is indexable; it was not checked."
