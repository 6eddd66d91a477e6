"""What asking for one URL came to: a sum type with a class for each kind, which has just the fields of that kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from sitemapcrawler.items import Hop


class Kind(StrEnum):
    """The kinds of reply."""

    OK = "ok"
    REDIRECTED = "redirected"
    HTTP_ERROR = "http-error"
    TIMEOUT = "timeout"
    DNS = "dns"
    TLS = "tls"
    REFUSED = "refused"
    RESET = "reset"
    TRUNCATED = "truncated"
    TOO_LARGE = "too-large"
    REDIRECT_LOOP = "redirect-loop"
    ADDRESS_REFUSED = "address-refused"
    UNCHECKED = "unchecked"


class Reason(StrEnum):
    """Why a URL was not checked."""

    BLOCKED = "blocked"
    """robots.txt forbids it to us."""
    SAMPLED_OUT = "sampled-out"
    """It is not in the sample."""
    OFF_SITE = "off-site"
    STOPPED = "stopped"
    """The crawl ended before its turn, or its host was left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """What every reply has: the way to it."""

    hops: tuple[Hop, ...] = ()
    """The redirects on the way, in order."""
    attempts: int = 0
    """Requests that were sent: hops, retries, and GET after HEAD included."""
    elapsed_ms: int = 0
    """Milliseconds that the servers took, all requests together."""
    head_status: int | None = None
    """Status that HEAD got where GET got another; 0 where HEAD got no answer, and GET did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Trail):
    """An answer with a status."""

    status: int
    """HTTP status of the last answer."""
    final_url: str
    """URL that gave it."""
    content_type: str | None = None
    """Content-Type header as sent."""
    last_modified: str | None = None
    """Last-Modified header as sent."""
    etag: str | None = None
    """ETag header as sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached(Answer):
    """A status of 200 to 299."""

    noindex: bool | None = None
    """Whether the page wants to be in no index; None where its head was not read."""
    noindex_agents: tuple[str, ...] = ()
    """Crawlers that it tells so by name."""
    canonical: str | None = None
    """URL under which it wants to be indexed, absolute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ok(Reached):
    """The listed URL itself answers so."""

    kind: ClassVar[Kind] = Kind.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirected(Reached):
    """Another URL does, behind one or more redirects."""

    kind: ClassVar[Kind] = Kind.REDIRECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpError(Answer):
    """Any other status; 3xx where it leads nowhere."""

    kind: ClassVar[Kind] = Kind.HTTP_ERROR
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut(Answer):
    """An answer of 200 to 299 whose body is not whole."""

    kind: Kind
    """truncated: the connection ended before the body did; too-large: the body is larger than we take."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectLoop(Answer):
    """Redirects that come back to a URL of before, or do not end. `status` is that of the last redirect."""

    kind: ClassVar[Kind] = Kind.REDIRECT_LOOP
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Trail):
    """No answer, or none that can be told of."""

    kind: Kind
    """timeout, dns, tls, refused (no connection) or reset (a connection that ended without an answer); truncated and
    too-large where not even the status is known."""
    final_url: str
    """URL that gave none."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRefused(Trail):
    """A URL that is never asked: of another scheme than http and https, or at an address that is not public."""

    kind: ClassVar[Kind] = Kind.ADDRESS_REFUSED
    final_url: str
    """That URL: the listed one, or the target of the last redirect."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked(Trail):
    """A URL that was not asked, or whose redirect was not followed."""

    kind: ClassVar[Kind] = Kind.UNCHECKED
    reason: Reason


Reply = Ok | Redirected | HttpError | Cut | RedirectLoop | Failed | AddressRefused | Unchecked
