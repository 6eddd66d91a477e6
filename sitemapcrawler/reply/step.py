"""One request of a chase, in a form that can be kept: what came of it, whoever needs to know."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from sitemapcrawler.page import PageFacts
from sitemapcrawler.reply.chase import Ask, Chase
from sitemapcrawler.reply.kinds import Kind, Reason, Reply

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
    """Kind or reason of a failure."""
    why: str = ""
    """The failure in one sentence."""
    attempts: int = 1
    """Requests that were sent, retries included."""
    elapsed_ms: int = 0
    """Milliseconds that the server took."""
    page: PageFacts | None = None
    """What the page says of itself, where that was read."""
    soft_404: str | None = None
    """Why the page is none although its status is 200."""
    cut: str | None = None
    """truncated or too-large, where the body is not whole."""

    def tell(self, chase: Chase) -> Ask | Reply:
        """Tell a chase what came of what it asked for."""
        if self.status is None:
            failure = self.failure or Kind.RESET
            kind = Reason(failure) if failure in list(Reason) else Kind(failure)
            return chase.failed(kind, self.why, attempts=self.attempts, elapsed_ms=self.elapsed_ms)
        cut = None if self.cut is None else Kind(self.cut)
        own = {"attempts": self.attempts, "elapsed_ms": self.elapsed_ms}
        return chase.answered(self.status, self.headers, **own, page=self.page, cut=cut)


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Step).decode
