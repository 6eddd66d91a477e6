"""From a listed URL to its reply: which request comes next, what redirects and Retry-After mean.

A `Chase` decides; a `Step` is the result of one of its requests in a form that can be stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import ada_url
import msgspec

from sitemapcrawler import urls
from sitemapcrawler.items import Hop
from sitemapcrawler.replies.kinds import (
    AddressRefused,
    Cut,
    Failed,
    HttpError,
    Ok,
    Reason,
    Redirected,
    RedirectLoop,
    Reply,
    ReplyKind,
    Unchecked,
)
from sitemapcrawler.replies.page import Headers, PageFacts
from sitemapcrawler.urls.display import masked_url

MAX_EXCERPT = 200  # characters of a value in a message


class NoTarget(ValueError):
    """A Location that leads nowhere. The message says why."""


class OtherScheme(ValueError):
    """A Location that is no web URL. The message is the URL."""


def target(location: str | None, base: str) -> str:
    """The absolute http or https URL that a redirect from the URL `base` leads to, without user and password.

    A missing or empty one leads nowhere: it would be the URL itself. Blanks around it are not part of it, blanks and
    letters within become %XX, names of hosts become ASCII, a backslash is a slash. NoTarget, OtherScheme.
    """
    if location is None or not location.strip():
        raise NoTarget("a redirect without a Location")
    try:
        read = ada_url.URL(location, base)
    except ValueError:
        raise NoTarget(f"a redirect to {_excerpt(location)}, which is no URL") from None
    if read.protocol not in {"http:", "https:"}:
        raise OtherScheme(_excerpt(read.href))
    read.username = read.password = ""
    if not urls.is_web(read.href):
        raise NoTarget(f"a redirect to {_excerpt(location)}, a host that cannot be asked")
    return str(read.href)


def _excerpt(text: str) -> str:
    text = masked_url(" ".join(text.split()))
    return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}..."


MAX_REDIRECTS = 10  # hops; as many as Google's crawlers follow
REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""Statuses that are followed. 300 lets the visitor choose, 304 answers a question that was not asked, 305 is deprecated
since it would hand the request to a stranger, 306 is not used. Source: RFC 9110, 15.4"""
GET_INSTEAD = frozenset((400, 403, 404, 405, 501))
"""Statuses by which servers refuse HEAD, also for pages that they give to GET."""
NOTHING = frozenset((ReplyKind.TIMEOUT, ReplyKind.RESET, ReplyKind.TRUNCATED))
"""Ways in which servers do not answer HEAD. A host that cannot be reached is none of them: GET would fare no better."""
NO_ANSWER = 0
"""`head_status` where HEAD got none."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What to ask next."""

    url: str
    method: str
    """HEAD or GET."""


class Chase:
    """The way from a listed URL to its reply. `head`: ask by HEAD, and by GET where the server refuses that."""

    __slots__ = ("_attempts", "_elapsed_ms", "_head_status", "_hops", "_method", "_refused", "_seen", "_url")

    def __init__(self, url: str, head: bool) -> None:
        self._url = urls.without_user(url)
        self._method = "HEAD" if head else "GET"
        self._hops: list[Hop] = []
        self._seen = {urls.visit_key(url)}
        self._attempts = 0
        self._elapsed_ms = 0
        self._refused: int | None = None
        self._head_status: int | None = None

    def begin(self) -> Ask | Reply:
        """The first thing to ask; a URL that is none of the web is not asked."""
        if not urls.is_web(self._url):
            return AddressRefused(final_url=self._url, error="no http or https URL with a host that can be asked")
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
    ) -> Ask | Reply:
        """A server answered.

        `attempts`: requests that took, retries included. `page`: what the page says of itself, where that was read.
        `cut`: truncated or too-large for a body that is not whole, though it was wanted to its end.
        """
        self._count(attempts, elapsed_ms)
        if self._method == "HEAD" and status in GET_INSTEAD:
            return self._get_instead(status)
        self._compare(status)
        if status in REDIRECTS:
            return self._follow(status, headers)
        if not 200 <= status < 300:
            return HttpError(**self._answer(status, headers), error=f"HTTP status {status}")
        if cut is not None:
            return Cut(**self._answer(status, headers), kind=cut, error=_CUT.get(cut, cut.value))
        found = Redirected if self._hops else Ok
        return found(**self._answer(status, headers), **_indexing(page))

    def failed(self, kind: ReplyKind | Reason, why: str, *, attempts: int = 1, elapsed_ms: int = 0) -> Ask | Reply:
        """No server answered. `kind`: see `failures.kind_of`; `why`: one sentence."""
        if isinstance(kind, Reason):
            return self.left_out(kind)
        if kind is ReplyKind.ADDRESS_REFUSED:
            return AddressRefused(**self._trail(), final_url=self._url, error=why)
        self._count(attempts, elapsed_ms)
        if self._method == "HEAD" and kind in NOTHING:
            return self._get_instead(NO_ANSWER)
        self._compare(NO_ANSWER)
        return Failed(**self._trail(), kind=kind, final_url=self._url, error=why)

    def left_out(self, reason: Reason) -> Unchecked:
        """What was to be asked next was not, for a reason of ours: robots.txt forbids it, or the crawl ends."""
        return Unchecked(**self._trail(), reason=reason)

    def _follow(self, status: int, headers: Headers) -> Ask | Reply:
        try:
            url = target(next(iter(headers.get("location", ())), None), self._url)
        except NoTarget as fault:
            return HttpError(**self._answer(status, headers), error=f"HTTP status {status}: {fault}")
        except OtherScheme as refused:
            self._hops.append(Hop(status, self._url))
            return AddressRefused(**self._trail(), final_url=str(refused), error=f"a redirect to {refused}")
        self._hops.append(Hop(status, self._url))
        key = urls.visit_key(url)
        if key in self._seen:
            return RedirectLoop(**self._answer(status, headers), error=f"redirects lead back to {url}")
        if len(self._hops) > MAX_REDIRECTS:
            return RedirectLoop(**self._answer(status, headers), error=f"more than {MAX_REDIRECTS} redirects")
        self._seen.add(key)
        self._url = url
        return Ask(url, self._method)

    def _get_instead(self, refused: int) -> Ask:
        """From now on by GET: of a server that refuses HEAD once, nothing better is expected at the next hop."""
        self._refused, self._method = refused, "GET"
        return Ask(self._url, "GET")

    def _compare(self, status: int) -> None:
        if self._refused is not None and self._refused != status:
            self._head_status = self._refused
        self._refused = None

    def _count(self, attempts: int, elapsed_ms: int) -> None:
        self._attempts += attempts
        self._elapsed_ms += elapsed_ms

    def _trail(self) -> dict[str, Any]:
        return {
            "hops": tuple(self._hops),
            "attempts": self._attempts,
            "elapsed_ms": self._elapsed_ms,
            "head_status": self._head_status,
        }

    def _answer(self, status: int, headers: Headers) -> dict[str, Any]:
        names = ("content-type", "last-modified", "etag")
        content_type, last_modified, etag = (next(iter(headers.get(name, ())), None) for name in names)
        own = {"content_type": content_type, "last_modified": last_modified, "etag": etag}
        return {**self._trail(), "status": status, "final_url": self._url, **own}


_CUT = {
    ReplyKind.TRUNCATED: "the connection ended before the body did",
    ReplyKind.TOO_LARGE: "the body is larger than the limit",
}


def _indexing(page: PageFacts | None) -> dict[str, Any]:
    if page is None:
        return {}
    # Where the head was not read to its end, silence is no consent.
    noindex = True if page.noindex else (False if page.complete else None)
    return {"noindex": noindex, "noindex_agents": page.noindex_agents, "canonical": page.canonical}


HEADERS = ("location", "content-type", "last-modified", "etag", "date", "age")
"""The headers that replies and their rules are made of, in lower case."""


@dataclass(frozen=True, slots=True)
class Step:
    """An answer, or the failure that came instead."""

    status: int | None = None
    """HTTP status; None for a failure."""
    headers: dict[str, list[str]] = field(default_factory=dict)
    """Those of `HEADERS` that came."""
    failure: str | None = None
    """ReplyKind or reason of a failure."""
    why: str = ""
    """The failure in one sentence."""
    attempts: int = 1
    """Requests that were sent, retries included."""
    elapsed_ms: int = 0
    """Response time of all attempts that were answered, in milliseconds."""
    page: PageFacts | None = None
    """What the page says of itself, where that was read."""
    soft_404: str | None = None
    """Why the page is none although its status is 200."""
    cut: str | None = None
    """truncated or too-large, where the body is not whole."""

    def tell(self, chase: Chase) -> Ask | Reply:
        """Tell a chase what came of what it asked for."""
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
"""Seconds; a server that demands more is not waited for. WordPress demands as much while it is updated."""
# Fractions break the grammar and are sent all the same, as are several headers, which join with a comma.
_SECONDS = re.compile(r"\s*([+-]?)([0-9]+)(\.[0-9]*)?\s*(?:s|sec|seconds)?\s*(?:,.*)?", re.IGNORECASE | re.DOTALL)
_MANY_DIGITS = 12


def http_date(text: str) -> datetime | None:
    """The moment of a date in a header (RFC 9110, 5.6.7), in UTC; None for anything else."""
    if len(text) > MAX_DATE:
        return None
    try:
        moment = parsedate_to_datetime(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds from `now` (with a zone) that a Retry-After header demands (RFC 9110, 10.2.3): 0 to `MAX_RETRY_AFTER`.

    A negative number and a date that is past are 0; what is neither number nor date is None.
    """
    found = _SECONDS.fullmatch(value[:1000])
    if found is not None:
        whole = found[2].lstrip("0")
        seconds = MAX_RETRY_AFTER if len(whole) > _MANY_DIGITS else float(f"{whole or 0}{(found[3] or '')[:9]}")
        return 0.0 if found[1] == "-" else min(seconds, MAX_RETRY_AFTER)
    moment = http_date(value)
    return None if moment is None else min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER)
