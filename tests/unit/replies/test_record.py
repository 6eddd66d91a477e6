"""Replies as rows of a feed."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import get_args

import msgspec
import pytest

from sitemapcrawler.items import Hop
from sitemapcrawler.replies import (
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
    ReplyRecord,
    Unchecked,
    record,
    status_error,
)

URL = "https://e.com/"
REPLIES: dict[str, Reply] = {
    "ok": Ok(final_status=200, final_url=URL, noindex=False, noindex_agents=("bingbot",), canonical=URL),
    "redirected": Redirected(final_status=200, final_url=URL, redirects=(Hop(301, "http://e.com/"),)),
    "http-error": HttpError(final_status=404, final_url=URL, error="HTTP status 404"),
    "timeout": Failed(kind=ReplyKind.TIMEOUT, final_url=URL, error="no answer in time"),
    "dns": Failed(kind=ReplyKind.DNS, final_url=URL, error="x"),
    "tls": Failed(kind=ReplyKind.TLS, final_url=URL, error="x"),
    "refused": Failed(kind=ReplyKind.REFUSED, final_url=URL, error="x"),
    "reset": Failed(kind=ReplyKind.RESET, final_url=URL, error="x"),
    "truncated": Cut(kind=ReplyKind.TRUNCATED, final_status=200, final_url=URL, error="x"),
    "too-large": Cut(kind=ReplyKind.TOO_LARGE, final_status=200, final_url=URL, error="x"),
    "redirect-loop": RedirectLoop(final_status=302, final_url=URL, error="x"),
    "address-refused": AddressRefused(final_url="file:///etc/passwd", error="x"),
    "unchecked": Unchecked(reason=Reason.SAMPLED_OUT),
}


def test_every_kind_and_every_class_is_there() -> None:
    assert set(REPLIES) == set(ReplyKind)
    assert {type(reply) for reply in REPLIES.values()} == set(get_args(Reply))


@pytest.mark.parametrize("kind", REPLIES)
def test_record_has_what_the_reply_has_and_nulls(kind: str) -> None:
    reply = replace(REPLIES[kind], attempts=2, elapsed_ms=30)
    flat = record(reply)
    assert (flat.kind, type(flat.kind)) == (kind, str)
    own = {field.name for field in fields(reply)} - {"location"}  # which only rules use
    assert own <= {field.name for field in fields(ReplyRecord)}
    for field in fields(ReplyRecord):
        expected = getattr(reply, field.name) if field.name in own | {"status"} else field.default
        assert field.name == "kind" or getattr(flat, field.name) == expected


def test_what_was_never_asked_has_no_times() -> None:
    flat = record(Unchecked(reason=Reason.BLOCKED))
    assert (flat.attempts, flat.elapsed_ms) == (None, None)


def test_reason_is_plain_text() -> None:
    flat = record(REPLIES["unchecked"])
    assert (flat.reason, type(flat.reason)) == ("sampled-out", str)
    assert record(REPLIES["ok"]).reason is None


def test_record_is_written_as_json() -> None:
    written = msgspec.json.decode(msgspec.json.encode(record(REPLIES["redirected"])))
    assert (written["status"], written["final_status"]) == (301, 200)
    assert written["redirects"] == [{"status": 301, "url": "http://e.com/"}]


FIRST = (Hop(301, "http://e.com/"),)


@pytest.mark.parametrize(
    ("reply", "answers", "error"),
    [
        (REPLIES["ok"], (200, 200), None),
        (REPLIES["redirected"], (301, 200), None),
        (HttpError(final_status=404, final_url=URL, redirects=FIRST, error="HTTP status 404"), (301, 404), None),
        (REPLIES["truncated"], (200, 200), "truncated"),
        (REPLIES["timeout"], (None, None), "timeout"),
        (Failed(kind=ReplyKind.DNS, final_url=URL, redirects=FIRST, error="x"), (301, None), "dns"),
        (RedirectLoop(final_status=302, final_url=URL, redirects=FIRST, error="x"), (301, 302), "redirect-loop"),
        (AddressRefused(final_url=URL, redirects=FIRST, error="x"), (301, None), "address-refused"),
        (REPLIES["unchecked"], (None, None), "sampled-out"),
        (Unchecked(reason=Reason.BLOCKED, redirects=FIRST), (301, None), "blocked"),
    ],
)
def test_status_is_that_of_the_first_answer(
    reply: Reply, answers: tuple[int | None, int | None], error: str | None
) -> None:
    flat = record(reply)
    assert ((flat.status, flat.final_status), status_error(flat)) == (answers, error)


def test_kinds_and_reasons_are_those_of_the_feed() -> None:
    assert [str(kind) for kind in ReplyKind] == list(REPLIES)
    assert [str(reason) for reason in Reason] == ["blocked", "sampled-out", "off-site", "stopped"]
