"""Which fault each page of a site has, by a hash of its number, and what a crawl has to say of it: so every record of a
crawl can be compared, and every request that the server saw."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate
from typing import Any

RETRIED = frozenset((408, 429, 500, 502, 503, 504, 522, 524))
"""Statuses that Scrapy asks again for (RETRY_HTTP_CODES)."""
HEAD_REFUSED = frozenset((400, 403, 404, 405, 501))
"""Statuses after which a page is asked by GET."""
NO_ANSWER = ("reset", "timeout")
"""Kinds after which a page is asked by GET, too."""
OFTEN, SELDOM = 25, 1
"""Weights of faults; what has a crawl wait is seldom."""
OF_THE_BUSY = 20
"""One in so many pages that work is at the busy address."""
SCALE = 1 << 64


@dataclass(frozen=True, slots=True)
class Fault:
    """A way to answer, and what it comes to."""

    head: str = "ok"
    """Kind of reply by HEAD."""
    get: str = "ok"
    """Kind of reply by GET."""
    status: int | None = 200
    """Status of the last answer; None where none comes."""
    once: bool = False
    """True where only the first request for a page has it."""
    silent: bool = False
    """True where no whole head comes: on a connection that was used before, HTTP libraries send again by themselves."""
    hops: int = 0
    """Redirects on the way."""
    place: str = "main"
    """Which of the server's addresses the page has."""
    weight: int = OFTEN


FAULTS: dict[str, Fault] = {
    "reset": Fault("reset", "reset", None, silent=True),
    "closed": Fault("reset", "reset", None, silent=True),
    "closed-in-head": Fault("reset", "reset", None, silent=True),
    "reset-in-head": Fault("reset", "reset", None, silent=True),
    "garbage": Fault("reset", "reset", None),
    "reset-in-body": Fault(get="truncated"),
    "short": Fault(get="truncated"),
    "cut-chunk": Fault(get="truncated"),
    "cut-gzip": Fault(),
    "long": Fault(),
    "slow": Fault(),
    "drops": Fault(),
    "status-500": Fault("http-error", "http-error", 500),
    "status-404": Fault("http-error", "http-error", 404),
    "status-410": Fault("http-error", "http-error", 410),
    "no-head": Fault(),
    "once-500": Fault(once=True),
    "once-reset": Fault(once=True, silent=True),
    "once-garbage": Fault(once=True),
    "moved": Fault("redirected", "redirected", hops=1),
    "moved-to-reset": Fault("reset", "reset", None, silent=True, hops=1),
    "moved-to-500": Fault("http-error", "http-error", 500, hops=1),
    "loop": Fault("redirect-loop", "redirect-loop", 302, hops=1),
    "refused": Fault("refused", "refused", None, place="closed"),
    "stall": Fault("timeout", "timeout", None, weight=SELDOM),
    "stall-in-head": Fault("timeout", "timeout", None, weight=SELDOM),
    "stall-in-body": Fault(get="timeout", weight=SELDOM),
    "once-stall": Fault(once=True, weight=SELDOM),
    "once-429": Fault(once=True, place="busy", weight=SELDOM),
    "once-503": Fault(once=True, place="busy", weight=SELDOM),
}
"""By name, which is a part of the page's URL."""


@dataclass(frozen=True)
class Plan:
    """The faults of a site."""

    seed: int = 0
    share: float = 0.05
    """Of pages that have one."""
    retries: int = 2
    """RETRY_TIMES of the crawl."""
    faults: Mapping[str, Fault] = None  # type: ignore[assignment]  # FAULTS; a dataclass takes no dictionary

    def __post_init__(self) -> None:
        if self.faults is None:
            object.__setattr__(self, "faults", FAULTS)

    @cached_property
    def _names(self) -> list[str]:
        return list(self.faults)

    @cached_property
    def _bounds(self) -> list[int]:
        return list(accumulate(fault.weight for fault in self.faults.values()))

    def fault(self, number: int) -> str | None:
        """The name of a page's fault; None for a page that works."""
        digest = blake2b(f"{self.seed} {number}".encode(), digest_size=16).digest()
        if int.from_bytes(digest[:8]) >= self.share * SCALE:
            return None
        return self._names[bisect(self._bounds, int.from_bytes(digest[8:]) % self._bounds[-1])]

    def place(self, number: int) -> str:
        """Which of the server's addresses a page has. The busy one has pages that work, too: a host of which every
        second answer is that it has too much to do is asked once in half a minute."""
        name = self.fault(number)
        if name is None:
            return "main" if number % OF_THE_BUSY else "busy"
        return self.faults[name].place

    def path(self, number: int) -> str:
        """The path of a page, which names its fault for those who read logs."""
        return f"/{self.fault(number) or 'ok'}/{number}"

    def attempts(self, fault: Fault, verify: str) -> tuple[int, int]:
        """The least and the most requests that a reply may tell of."""
        kind = fault.head if verify == "head" else fault.get
        if kind == "refused":  # the robots.txt of that host could not be had, and its pages are not asked
            return 0, 0
        tries = 1
        if kind in NO_ANSWER or (kind == "http-error" and fault.status in RETRIED):
            tries = 1 + self.retries
        refused = kind in NO_ANSWER or (kind == "http-error" and fault.status in HEAD_REFUSED)
        if verify == "head" and refused:
            tries *= 2
        hops = fault.hops if kind != "redirect-loop" else 0
        return tries + hops, tries + hops + fault.once


def difference(plan: Plan, number: int, reply: Mapping[str, Any], verify: str) -> str | None:
    """What is wrong with a reply; None where it says what the plan does."""
    name = plan.fault(number)
    fault = plan.faults[name] if name is not None else Fault()
    kind = fault.head if verify == "head" else fault.get
    status = None if kind == "timeout" else fault.status
    wanted = {"kind": kind, "final_status": status, "hops": fault.hops}
    told = {**{name: reply.get(name) for name in ("kind", "final_status")}, "hops": len(reply.get("redirects", ()))}
    if told != wanted:
        return f"{name}: {told} instead of {wanted}: {reply.get('error')}"
    least, most = plan.attempts(fault, verify)
    if name == "no-head" and verify == "head":
        least = most = 2
    attempts = reply.get("attempts") or 0
    return None if least <= attempts <= most else f"{name}: {attempts} attempts instead of {least} to {most}"
