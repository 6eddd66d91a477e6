"""Kinds of reply."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import ReplyRecord
from sitemapcrawler.replies import Reason, ReplyKind, status_error


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (ReplyRecord("ok"), None),
        (ReplyRecord("redirected"), None),
        (ReplyRecord("http-error"), None),
        (ReplyRecord("truncated"), "truncated"),
        (ReplyRecord("timeout"), "timeout"),
        (ReplyRecord("redirect-loop"), "redirect-loop"),
        (ReplyRecord(reason="blocked"), "blocked"),
    ],
)
def test_error_in_place_of_a_status(reply: ReplyRecord, error: str | None) -> None:
    assert status_error(reply) == error


def test_kinds_and_reasons_are_those_of_the_feed() -> None:
    assert " ".join(ReplyKind) == (
        "ok redirected http-error timeout dns tls refused reset truncated too-large redirect-loop address-refused unchecked"
    )
    assert [str(reason) for reason in Reason] == ["blocked", "sampled-out", "off-site", "unreadable", "stopped"]
