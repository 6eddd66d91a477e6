"""One URL and its redirects, as a machine without I/O: told what a server said, it says what to ask next.

chase = Chase(url, head=True)
step = chase.begin()
while isinstance(step, Ask):
    ...                                # ask step.url by step.method
    step = chase.answered(status, headers) or chase.failed(kind, why)
step                                   # is the Reply
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitemapcrawler import urls
from sitemapcrawler.items import Hop
from sitemapcrawler.page import Headers, PageFacts
from sitemapcrawler.reply.kinds import (
    AddressRefused,
    Cut,
    Failed,
    HttpError,
    Kind,
    Ok,
    Reason,
    Redirected,
    RedirectLoop,
    Reply,
    Unchecked,
)
from sitemapcrawler.reply.location import NoTarget, OtherScheme, target

MAX_REDIRECTS = 10  # hops; as many as Google's crawlers follow
REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""Statuses that are followed. 300 lets the visitor choose, 304 answers a question that was not asked, 305 is deprecated
since it would hand the request to a stranger, 306 is not used. Source: RFC 9110, 15.4"""
GET_INSTEAD = frozenset((400, 403, 404, 405, 501))
"""Statuses by which servers refuse HEAD, also for pages that they give to GET."""
NOTHING = frozenset((Kind.TIMEOUT, Kind.RESET, Kind.TRUNCATED))
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
        cut: Kind | None = None,
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

    def failed(self, kind: Kind | Reason, why: str, *, attempts: int = 1, elapsed_ms: int = 0) -> Ask | Reply:
        """No server answered. `kind`: see `failures.kind_of`; `why`: one sentence."""
        if isinstance(kind, Reason):
            return self.left_out(kind)
        if kind is Kind.ADDRESS_REFUSED:
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
    Kind.TRUNCATED: "the connection ended before the body did",
    Kind.TOO_LARGE: "the body is larger than the limit",
}


def _indexing(page: PageFacts | None) -> dict[str, Any]:
    if page is None:
        return {}
    # Where the head was not read to its end, silence is no consent.
    noindex = True if page.noindex else (False if page.complete else None)
    return {"noindex": noindex, "noindex_agents": page.noindex_agents, "canonical": page.canonical}
