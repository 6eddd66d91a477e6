"""Which canonicals are requested: those on a host of the site, with or without `www.`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, cast

import pytest

from sitemapcrawler.replies import ReplyKind
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.replies.page import read_page
from sitemapcrawler.verification.asking import Verification
from sitemapcrawler.verification.verifying import Targets
from tests.unit.rules.replying import made
from tests.unit.tables import cases

LISTED = "https://www.example.com/a"


class Verifier:
    """Keeps the URLs that it is to request."""

    def __init__(self) -> None:
        self.wanted: list[str] = []

    async def verify(self, urls: Iterable[str], follow: bool) -> dict[str, Verification]:
        assert not follow
        self.wanted += urls
        return {}


def verified(canonical: str) -> Verification:
    """The outcome for `LISTED`, a page with this canonical."""
    body = f'<html><head><link rel="canonical" href="{canonical}"></head></html>'.encode()
    page = read_page(body, {"content-type": ["text/html"]}, LISTED)
    return Verification(
        made(ReplyKind.OK, final_status=200, final_url=LISTED, canonical=page.canonical), Step(200, page=page)
    )


@pytest.mark.parametrize(
    ("canonical", "is_asked"),
    cases(
        (["https://www.example.com/b", "https://example.com/a", "http://www.example.com/a"], True),
        (["https://www.example.com/a#top", "https://other.example/a", "https://shop.example.com/a"], False),
    ),
)  # fmt: skip
def test_canonicals_on_a_host_of_the_site_are_requested(canonical: str, is_asked: bool) -> None:
    verifier, no = Verifier(), cast(Any, None)
    targets = Targets(no, cast(Any, verifier), no, no, None)
    asyncio.run(targets.verify({LISTED: verified(canonical)}, None))
    assert verifier.wanted == [canonical] * is_asked
