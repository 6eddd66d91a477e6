"""Verifies a listed URL: decides on the next request, and interprets redirects and Retry-After.

A `Chase` decides; a `Step` is the result of one of its requests, in a form that can be stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from sitemapcrawler import urls
from sitemapcrawler.items import Hop, ReplyRecord
from sitemapcrawler.replies.kinds import Reason, ReplyKind
from sitemapcrawler.replies.page import Headers, PageFacts, joined
from sitemapcrawler.urls import browsers
from sitemapcrawler.urls.display import masked_url

MAX_EXCERPT = 200  # characters of a value in a message
MAX_HEADER = 2_000
"""Characters of a header that a record keeps; real ones have some dozen. Servers may send 256 KiB with each page."""


class NoTarget(ValueError):
    """A Location that leads nowhere. The message gives the reason."""


def target(location: str | None, base: str) -> str:
    """Return the absolute http or https URL that a redirect from `base` leads to, without user and password.

    Blanks around a Location are ignored, blanks and letters within become %XX, host names become ASCII, and a backslash
    is a slash. Raises NoTarget, also for another scheme, and for a missing or empty Location, which would mean the same
    URL.
    """
    if location is None or not location.strip():
        raise NoTarget("a redirect without a Location")
    try:
        scheme, found = browsers.target_of(location, base)
    except ValueError:
        raise NoTarget(f"a redirect to {_excerpt(location)}, which is not a URL") from None
    if scheme not in browsers.WEB:
        raise NoTarget(f"a redirect to {_excerpt(location)}, which is not http or https")
    if not urls.is_web(found):
        raise NoTarget(f"a redirect to {_excerpt(location)}, whose host cannot be requested")
    return found


def _excerpt(text: str) -> str:
    text = masked_url(" ".join(text.split()))
    return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}..."


MAX_REDIRECTS = 10  # hops; as many as Google's crawlers follow
REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""Statuses that are followed. 300 offers a choice, 304 answers conditional requests only, 305 is deprecated because it
hands the request to a third party, 306 is unused. Source: RFC 9110, 15.4"""
GET_INSTEAD = frozenset((400, 403, 404, 405, 501))
"""Statuses with which servers refuse HEAD, even for pages that GET returns."""
NOTHING = frozenset((ReplyKind.TIMEOUT, ReplyKind.RESET, ReplyKind.TRUNCATED))
"""Failures of HEAD after which GET may succeed. For an unreachable host it would not."""
Fields = dict[str, Any]  # Any: the record states the types
"""{field: value} of a reply."""
NO_ANSWER = 0
"""`head_status` if HEAD was not answered."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The next request to send."""

    url: str
    method: str
    """HEAD or GET."""


class Chase:
    """Requests that verify one URL. `head`: use HEAD, then GET if the server refuses it. `follow`: False to end at a
    redirect."""

    __slots__ = (
        "_attempts",
        "_elapsed_ms",
        "_follows",
        "_head_status",
        "_hops",
        "_method",
        "_refused",
        "_seen",
        "_url",
    )

    def __init__(self, url: str, head: bool, follow: bool = True) -> None:
        self._follows = follow
        self._url = urls.without_user(url)
        self._method = "HEAD" if head else "GET"
        self._hops: list[Hop] = []
        self._seen = {urls.visit_key(url)}
        self._attempts = 0
        self._elapsed_ms = 0
        self._refused: int | None = None
        self._head_status: int | None = None

    def begin(self) -> Ask | ReplyRecord:
        """Return the first request; a URL that is not http or https is refused."""
        if not urls.is_web(self._url):
            return self._unanswered(
                ReplyKind.ADDRESS_REFUSED, "not an http or https URL with a host that can be requested"
            )
        return Ask(self._url, self._method)

    def answered(
        self,
        status: int,
        headers: Headers,
        *,
        attempts: int = 1,
        elapsed_ms: int = 0,
        page: PageFacts | None = None,
        cut: ReplyKind | None = None,
    ) -> Ask | ReplyRecord:
        """Handle a response: return the next request, or the reply.

        `attempts`: requests sent, including retries. `page`: facts about the page, if it was read. `cut`: truncated or
        too-large if the body is incomplete, though all of it was wanted.
        """
        self._count(attempts, elapsed_ms)
        if self._method == "HEAD" and status in GET_INSTEAD:
            return self._get_instead(status)
        self._compare(status)
        if status in REDIRECTS:
            return self._follow(status, headers)
        if not 200 <= status < 300:
            return self._answer(ReplyKind.HTTP_ERROR, status, headers, {"error": f"HTTP status {status}"})
        if cut is not None:
            return self._answer(cut, status, headers, {"error": _CUT.get(cut, cut.value)})
        found = ReplyKind.REDIRECTED if self._hops else ReplyKind.OK
        return self._answer(found, status, headers, _indexing(page))

    def failed(
        self, kind: ReplyKind | Reason, why: str, *, attempts: int = 1, elapsed_ms: int = 0
    ) -> Ask | ReplyRecord:
        """Handle a request without a response. `kind`: see `kinds.kind_of`; `why`: one sentence."""
        if isinstance(kind, Reason):
            return self.left_out(kind)
        if kind is ReplyKind.ADDRESS_REFUSED:
            return self._unanswered(kind, why)
        self._count(attempts, elapsed_ms)
        if self._method == "HEAD" and kind in NOTHING:
            return self._get_instead(NO_ANSWER)
        self._compare(NO_ANSWER)
        return self._unanswered(kind, why)

    def left_out(self, reason: Reason) -> ReplyRecord:
        """End without sending the next request: robots.txt disallows it, or the crawl ends."""
        return self._reply(ReplyKind.UNCHECKED, {"reason": reason.value})

    def _follow(self, status: int, headers: Headers) -> Ask | ReplyRecord:
        try:
            url = target(next(iter(headers.get("location", ())), None), self._url)
        except NoTarget as fault:
            return self._answer(ReplyKind.HTTP_ERROR, status, headers, {"error": f"HTTP status {status}: {fault}"})
        if not self._follows:
            found = {"error": f"HTTP status {status}: the redirect was not followed", "refresh": url}
            return self._answer(ReplyKind.HTTP_ERROR, status, headers, found)
        self._hops.append(Hop(status, self._url))
        key = urls.visit_key(url)
        if key in self._seen:
            return self._answer(ReplyKind.REDIRECT_LOOP, status, headers, {"error": f"redirects lead back to {url}"})
        if len(self._hops) > MAX_REDIRECTS:
            why = f"more than {MAX_REDIRECTS} redirects"
            return self._answer(ReplyKind.REDIRECT_LOOP, status, headers, {"error": why})
        self._seen.add(key)
        self._url = url
        return Ask(url, self._method)

    def _get_instead(self, refused: int) -> Ask:
        """Switch to GET for good: a server that refuses HEAD once is likely to refuse it at the next hop."""
        self._refused, self._method = refused, "GET"
        return Ask(self._url, "GET")

    def _compare(self, status: int) -> None:
        if self._refused is not None and self._refused != status:
            self._head_status = self._refused
        self._refused = None

    def _count(self, attempts: int, elapsed_ms: int) -> None:
        self._attempts += attempts
        self._elapsed_ms += elapsed_ms

    def _reply(self, kind: ReplyKind, fields: Fields) -> ReplyRecord:
        status = self._hops[0].status if self._hops else fields.get("final_status")
        return ReplyRecord(
            kind.value,  # every format accepts plain text
            status=status,
            redirects=tuple(self._hops),
            attempts=self._attempts or None,
            elapsed_ms=self._elapsed_ms if self._attempts else None,
            head_status=self._head_status,
            **fields,
        )

    def _unanswered(self, kind: ReplyKind, why: str) -> ReplyRecord:
        return self._reply(kind, {"final_url": self._url, "error": why})

    def _answer(self, kind: ReplyKind, status: int, headers: Headers, fields: Fields) -> ReplyRecord:
        last_modified, etag = (next(iter(headers.get(name, ())), None) for name in ("last-modified", "etag"))
        own = {
            "final_status": status,
            "final_url": self._url,
            "content_type": _cut(joined(headers.get("content-type", ()))),
            "last_modified": _cut(last_modified),
            "etag": _cut(etag),
        }
        return self._reply(kind, own | fields)


def _cut(value: str | None) -> str | None:
    return None if value is None else value[:MAX_HEADER]


_CUT = {
    ReplyKind.TRUNCATED: "the connection ended before the body did",
    ReplyKind.TOO_LARGE: "the body is larger than the limit",
}


def _indexing(page: PageFacts | None) -> Fields:
    if page is None:
        return {}
    # If the head was not read to its end, a missing noindex proves nothing.
    noindex = True if page.noindex else (False if page.complete else None)
    content = page.content
    return {
        "noindex": noindex,
        "noindex_agents": page.noindex_agents,
        "canonical": page.canonical,
        "refresh": page.moved_to,
        "title": page.title or None,
        "h1": page.h1 or None,
        "words": content and content.words,
        "content_hash": content and content.content_hash,
        "simhash": content and content.simhash,
    }


HEADERS = ("location", "content-type", "last-modified", "etag", "date", "age")
"""Response headers that replies and their rules use, in lower case."""


@dataclass(frozen=True, slots=True)
class Step:
    """Result of one request: a response or a failure."""

    status: int | None = None
    headers: dict[str, list[str]] = field(default_factory=dict)
    """The `HEADERS` of the response."""
    failure: str | None = None
    """ReplyKind or Reason of a failure."""
    why: str = ""
    """The failure in one sentence."""
    attempts: int = 1
    """Requests sent, including retries."""
    elapsed_ms: int = 0
    """Response time of all answered attempts, in milliseconds."""
    page: PageFacts | None = None
    """Facts about the page, if it was read."""
    soft_404: str | None = None
    """Why the page is a soft 404, if it is."""
    shell: bool = False
    """True if the page has the markup of a made-up URL."""
    cut: str | None = None
    """truncated or too-large if the body is incomplete."""

    def without_links(self) -> Step:
        """Return the result without the links of the page, which are stored elsewhere."""
        if self.page is None or self.page.links is None:
            return self
        return replace(self, page=replace(self.page, links=None))

    def advance(self, chase: Chase) -> Ask | ReplyRecord:
        """Pass this result to a chase; return its next request or reply."""
        if self.status is None:
            failure = self.failure or ReplyKind.RESET
            kind = Reason(failure) if failure in list(Reason) else ReplyKind(failure)
            return chase.failed(kind, self.why, attempts=self.attempts, elapsed_ms=self.elapsed_ms)
        cut = None if self.cut is None else ReplyKind(self.cut)
        own = {"attempts": self.attempts, "elapsed_ms": self.elapsed_ms}
        return chase.answered(self.status, self.headers, **own, page=self.page, cut=cut)


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Step).decode


MAX_DATE = 100  # characters; the longest form of a date in a header has 33
MAX_RETRY_AFTER = 600.0
"""Seconds; longer delays are not waited for. WordPress sends as much during updates."""
# Fractions break the grammar but occur, as do several headers, which are joined with a comma.
_SECONDS = re.compile(r"\s*([+-]?)([0-9]+)(\.[0-9]*)?\s*(?:s|sec|seconds)?\s*(?:,.*)?", re.IGNORECASE | re.DOTALL)
_MANY_DIGITS = 12


def http_date(text: str) -> datetime | None:
    """Parse a date in a header (RFC 9110, 5.6.7) to UTC; None if it is invalid."""
    if len(text) > MAX_DATE:
        return None
    try:
        moment = parsedate_to_datetime(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def retry_after(value: str, now: datetime) -> float | None:
    """Parse a Retry-After header (RFC 9110, 10.2.3) to seconds from `now` (with a zone): 0 to `MAX_RETRY_AFTER`.

    A negative number or a past date gives 0, anything else None.
    """
    found = _SECONDS.fullmatch(value[:1000])
    if found is not None:
        whole = found[2].lstrip("0")
        seconds = MAX_RETRY_AFTER if len(whole) > _MANY_DIGITS else float(f"{whole or 0}{(found[3] or '')[:9]}")
        return 0.0 if found[1] == "-" else min(seconds, MAX_RETRY_AFTER)
    moment = http_date(value)
    return None if moment is None else min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER)
