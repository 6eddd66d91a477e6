"""Whether a search engine can index a listed URL, and why not."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.items import Hop, ReplyRecord, UrlRecord
from sitemapcrawler.replies import ReplyKind
from sitemapcrawler.replies.indexability import Indexability, set_indexability

LOC = "https://example.com/a"
MOVED = [Hop(301, LOC)]


def reply(kind: str = "ok", status: int | None = 200, noindex: bool | None = False, **fields: Any) -> ReplyRecord:
    """A reply to the URL; its page was read, and forbids nothing."""
    return ReplyRecord(kind, status=status, final_status=status, noindex=noindex, **{"final_url": LOC, **fields})


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (reply(), "ok"),
        (reply(canonical=LOC), "ok"),
        (reply(canonical=f"{LOC}#top"), "ok"),
        (reply(canonical="HTTPS://EXAMPLE.com:443/a"), "ok"),
        (reply(noindex_agents=["bingbot"]), "ok"),
        (reply(canonical="https://example.com/b"), "canonicalised"),
        (reply(canonical="http://example.com/a"), "canonicalised"),
        (reply(noindex=True), "noindex"),
        (reply(noindex=True, canonical="https://example.com/b"), "noindex"),
        (reply(noindex_agents=["googlebot"]), "noindex"),
        (reply(noindex=None, noindex_agents=["googlebot"]), "noindex"),
        (reply(soft_404="it says so", noindex=True), "soft 404"),
        (reply(shell=True), "unknown"),
        (reply(shell=True, canonical="https://example.com/"), "unknown"),
        (reply("redirected", shell=True, redirects=MOVED), "redirect"),
        (reply("redirected", redirects=MOVED, final_url="https://example.com/b"), "redirect"),
        (reply("http-error", 404, redirects=MOVED), "redirect"),
        (reply("unchecked", None, redirects=MOVED, reason="off-site"), "redirect"),
        (reply("redirect-loop", 302), "redirect"),
        (reply("http-error", 300), "redirect"),
        (reply("http-error", 404), "not found"),
        (reply("http-error", 410), "not found"),
        (reply("http-error", 401), "client error"),
        (reply("http-error", 451), "client error"),
        (reply("http-error", 429), "server error"),
        (reply("http-error", 503), "server error"),
        (reply("timeout", None), "unreachable"),
        (reply("dns", None), "unreachable"),
        (reply("truncated"), "unreachable"),
        (reply("address-refused", None), "unreachable"),
        (reply("too-large", noindex=None), "page not read"),
        (reply(noindex=None), "page not read"),
        (reply("unchecked", None, None, reason="sampled-out"), "not checked"),
        (reply("unchecked", None, None, reason="blocked"), "not checked"),
        (reply("unchecked", None, None, reason="off-site"), "not checked"),
        (None, "not checked"),
    ],
)
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
        None,
        reply(),
        reply("http-error", 404),
        reply("timeout", None, attempts=3),
        reply("unchecked", None, reason="blocked"),
        reply("unchecked", None, reason="off-site", redirects=MOVED),
    ],
)
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


def test_a_page_of_another_site_is_not_judged() -> None:
    record = UrlRecord(LOC, reply=reply("unchecked", None, reason="off-site"), blocked_for=["Googlebot", "Bingbot"])
    set_indexability(record)
    assert (record.indexability, record.indexable) == ("not checked", None)
