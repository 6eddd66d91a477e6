"""Whether a search engine can index a listed URL, and why not."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.items import Hop, ReplyRecord, UrlRecord
from sitemapcrawler.replies import ReplyKind
from sitemapcrawler.replies.indexability import Indexability, set_indexability
from tests.unit.tables import cases

LOC = "https://example.com/a"
MOVED = [Hop(301, LOC)]


def reply(kind: str = "ok", status: int | None = 200, noindex: bool | None = False, **fields: Any) -> ReplyRecord:
    """A reply to the URL; its page was read, and forbids nothing."""
    return ReplyRecord(kind, status=status, final_status=status, noindex=noindex, **{"final_url": LOC, **fields})


@pytest.mark.parametrize(
    ("made", "expected"),
    cases(
        ([reply(), reply(canonical=LOC), reply(canonical=f"{LOC}#top"), reply(canonical="HTTPS://EXAMPLE.com:443/%61"),
          reply(noindex_agents=["bingbot"])], "ok"),
        ([reply(canonical="https://example.com/b"), reply(canonical="http://example.com/a")], "canonicalised"),
        ([reply(noindex=True), reply(noindex=True, canonical="https://example.com/b"),
          reply(noindex_agents=["googlebot"]), reply(noindex=None, noindex_agents=["googlebot"])], "noindex"),
        ([reply(soft_404="it says so", noindex=True)], "soft 404"),
        ([reply(shell=True), reply(shell=True, refresh="https://example.com/b")], "unknown"),
        ([reply("redirected", shell=True, redirects=MOVED),
          reply("redirected", redirects=MOVED, final_url="https://example.com/b"),
          reply("http-error", 404, redirects=MOVED), reply("unchecked", None, redirects=MOVED, reason="off-site"),
          reply("redirect-loop", 302), reply("http-error", 300),
          reply(refresh="https://example.com/b", canonical=LOC)], "redirect"),
        ([reply("http-error", 404), reply("http-error", 410)], "not found"),
        ([reply("http-error", 401), reply("http-error", 451)], "client error"),
        ([reply("http-error", 429), reply("http-error", 503)], "server error"),
        ([reply("timeout", None), reply("dns", None), reply("truncated"),
          reply("address-refused", None)], "unreachable"),
        ([reply("too-large", noindex=None), reply(noindex=None)], "page not read"),
        ([reply("unchecked", None, None, reason="sampled-out"), reply("unchecked", None, None, reason="blocked"),
          reply("unchecked", None, None, reason="off-site"), None], "not checked"),
    ),
)  # fmt: skip
def test_reply_decides(made: ReplyRecord | None, expected: str) -> None:
    record = UrlRecord(LOC, reply=made, blocked_for=["Bingbot", "GPTBot"])
    set_indexability(record)
    assert record.indexability == expected
    assert record.indexable is {"ok": True, "unknown": None, "page not read": None, "not checked": None}.get(
        expected, False
    )


@pytest.mark.parametrize("kind", [*ReplyKind])
def test_every_kind_of_reply_has_one(kind: ReplyKind) -> None:
    record = UrlRecord(LOC, reply=reply(kind, noindex=None))
    set_indexability(record)
    assert record.indexability in [*Indexability]
    assert (record.indexability == Indexability.NOT_READ) == (kind in (ReplyKind.OK, ReplyKind.TOO_LARGE))


@pytest.mark.parametrize(
    "made",
    [
        None, reply(), reply("http-error", 404), reply("timeout", None, attempts=3),
        reply("unchecked", None, reason="blocked"), reply("unchecked", None, reason="off-site", redirects=MOVED),
    ],
)  # fmt: skip
def test_search_engine_learns_nothing_of_a_blocked_url(made: ReplyRecord | None) -> None:
    record = UrlRecord(LOC, reply=made, blocked_for=["Googlebot"])
    set_indexability(record)
    assert (record.indexability, record.indexable) == ("blocked", False)


def test_another_search_engine_may_decide() -> None:
    record = UrlRecord(LOC, reply=reply(noindex_agents=["bingbot"]), blocked_for=["Googlebot"])
    set_indexability(record, "Bingbot")
    assert record.indexability == "noindex"


@pytest.mark.parametrize("kind", ["timeout", "dns", "tls", "refused", "address-refused"])
def test_a_host_whose_robots_txt_gets_no_answer_is_unreachable_and_not_blocked(kind: str) -> None:
    record = UrlRecord(LOC, reply=ReplyRecord(kind, final_url=LOC), blocked_for=["Googlebot", "Bingbot"])
    set_indexability(record)
    assert (record.indexability, record.indexable) == ("unreachable", False)


@pytest.mark.parametrize("why", ["off-site", "unreadable", "stopped"])
def test_a_page_of_another_site_and_one_that_was_left_out_are_not_judged(why: str) -> None:
    record = UrlRecord(LOC, reply=reply("unchecked", None, reason=why), blocked_for=["Googlebot", "Bingbot"])
    set_indexability(record)
    assert (record.indexability, record.indexable) == ("not checked", None)
