"""Indexability: can a search engine index a listed URL, and if not, why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from http import HTTPStatus
from typing import Protocol
from urllib.parse import unquote

from sitemapcrawler import urls
from sitemapcrawler.items import ReplyRecord, UrlRecord
from sitemapcrawler.replies.kinds import Reason, ReplyKind

REFERENCE = "Googlebot"
"""Crawler that decides where none of the judged ones is a search engine's."""


class Indexability(StrEnum):
    """Whether a URL is indexable, and the first reason why not, in the order in which a search engine meets them."""

    OK = "ok"
    BLOCKED = "blocked"
    """robots.txt disallows it for the search engine, which learns nothing else about it."""
    UNREACHABLE = "unreachable"
    """No response: DNS, TLS, timeout, connection, or an address that is never requested."""
    SERVER_ERROR = "server error"
    """Status 5xx, or 429, which search engines treat alike.
    Source: https://developers.google.com/search/docs/crawling-indexing/http-network-errors"""
    NOT_FOUND = "not found"
    """Status 404 or 410."""
    CLIENT_ERROR = "client error"
    """Any other status that is no success."""
    REDIRECT = "redirect"
    """The redirect target is indexed instead, if at all. An immediate refresh counts as a redirect."""
    SOFT_404 = "soft 404"
    NOINDEX = "noindex"
    SHELL = "unknown"
    """The URL works, but its HTML is that of a made-up URL, which proves nothing."""
    CANONICALISED = "canonicalised"
    """The page names another URL as its canonical."""
    NOT_READ = "page not read"
    """The URL works, but what the page says is unknown, as with `verify=head`."""
    NOT_CHECKED = "not checked"
    """The URL was not requested."""


UNKNOWN = (Indexability.SHELL, Indexability.NOT_READ, Indexability.NOT_CHECKED)
"""Neither indexable nor not."""
MISSING = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
UNREACHED = frozenset((
    ReplyKind.TIMEOUT, ReplyKind.DNS, ReplyKind.TLS, ReplyKind.REFUSED, ReplyKind.RESET, ReplyKind.TRUNCATED,
    ReplyKind.ADDRESS_REFUSED,
))  # fmt: skip


def why_unread(
    sitemaps: Iterable[tuple[int | None, str | None]], robots: Sequence[tuple[int | None, str | None]]
) -> str:
    """Why no sitemap of a site could be read, from status and error of each sitemap and robots.txt: the first error of
    a sitemap, else that of the last robots.txt, the one over http where https fails. Empty if the site has none."""
    relevant = [*sitemaps, *(one for one in robots[-1:] if one[0] not in MISSING)]
    return next((error for _, error in relevant if error), "")


def set_indexability(record: UrlRecord, crawler: str = REFERENCE) -> None:
    """Set `indexable` and `indexability` of a record from its reply and from the verdict for a crawler."""
    reply = record.reply or ReplyRecord()
    # A host without an answer to robots.txt denies everything, but that is no rule of the site.
    without_robots = reply.kind in UNREACHED and not reply.attempts
    # No verdict on this site: a page of another one, an unknown URL, and what a stop or a host that fails left out.
    # Shares omit them.
    is_left_out = reply.reason in (Reason.OFF_SITE, Reason.UNREADABLE, Reason.STOPPED) and not reply.redirects
    blocked = crawler in (record.blocked_for or ()) and not without_robots and not is_left_out
    value = Indexability.BLOCKED if blocked else indexability(reply, crawler)
    record.indexability = value.value
    record.indexable = None if value in UNKNOWN else value is Indexability.OK


class RobotsVerdicts(Protocol):
    """What robots.txt says of URLs and files: `crawl.verdicts.Verdicts`, which documents it."""

    search_engine: str

    def is_blocked(self, url: str) -> bool: ...
    def asset_denied_to(self, url: str, role: str) -> list[str] | None: ...


def judged(url: str, reply: ReplyRecord, verdicts: RobotsVerdicts) -> UrlRecord:
    """The record of a page that no sitemap lists."""
    engine = verdicts.search_engine
    record = UrlRecord(loc=url, reply=reply, blocked_for=[engine] if verdicts.is_blocked(url) else [])
    set_indexability(record, engine)
    return record


def is_noindex(reply: ReplyRecord, crawler: str = REFERENCE) -> bool:
    """True for a page that tells the crawler, or all, not to index it."""
    return reply.noindex is True or crawler.lower() in reply.noindex_agents


def indexability(reply: ReplyRecord, crawler: str = REFERENCE) -> Indexability:
    """The indexability of a URL that the crawler may fetch."""
    if reply.redirects or reply.kind in (ReplyKind.REDIRECTED, ReplyKind.REDIRECT_LOOP):
        return Indexability.REDIRECT
    if reply.kind == ReplyKind.HTTP_ERROR:
        return _of_error(reply)
    if reply.kind in UNREACHED:
        return Indexability.UNREACHABLE
    if reply.kind == ReplyKind.UNCHECKED:
        return Indexability.NOT_CHECKED
    if reply.soft_404 is not None:
        return Indexability.SOFT_404
    if is_noindex(reply, crawler):
        return Indexability.NOINDEX
    if reply.shell:
        return Indexability.SHELL
    if reply.refresh is not None:
        return Indexability.REDIRECT
    if names_other(reply.canonical, reply.final_url):
        return Indexability.CANONICALISED
    return Indexability.NOT_READ if reply.noindex is None else Indexability.OK


def names_other(canonical: str | None, url: str | None) -> bool:
    """True if the canonical of the page at a URL is another page."""
    return canonical is not None and url is not None and canonical_key(canonical) != canonical_key(url)


def canonical_key(url: str) -> str:
    """Key that is equal for spellings search engines treat as one; escapes do not make another page."""
    return unquote(urls.visit_key(url), errors="surrogateescape")


def rough_key(url: str) -> str:
    """Key that is equal also for URLs that differ in scheme, `www`, case or a trailing slash."""
    place, slash, rest = canonical_key(url).partition("://")[2].lower().partition("/")
    return place.removeprefix("www.") + (slash + rest).rstrip("/?")


def _of_error(reply: ReplyRecord) -> Indexability:
    status = reply.final_status or 0
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return Indexability.REDIRECT
    if status in MISSING:
        return Indexability.NOT_FOUND
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
        return Indexability.SERVER_ERROR
    return Indexability.CLIENT_ERROR
