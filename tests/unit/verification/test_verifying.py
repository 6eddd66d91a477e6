"""How many URLs are handed over to be asked, and how many were."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

import pytest
from scrapy.utils.test import get_crawler

from sitemapcrawler.download.policies import Policies
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.replies import Reason, ReplyKind, ReplyRecord
from sitemapcrawler.verification.asking import Verification
from sitemapcrawler.verification.verifying import Admission, VerificationScope, Verifier
from tests.unit.rules.replying import made

URLS = ["https://a.com/1", "https://a.com/2", "https://a.com/1", "https://b.com/1"]


class Asker:
    """Answers when it is let, and fails for the URLs of b.com."""

    def __init__(self) -> None:
        self.let = asyncio.Event()

    def expect(self, listed: Iterable[str]) -> None:
        assert sorted(listed) == sorted(set(URLS))

    async def ask(self, url: str, follow: bool) -> Verification:
        await self.let.wait()
        if "b.com" in url:
            raise KeyError(url)
        return Verification(ReplyRecord(reason=Reason.BLOCKED))


def verifier(asker: Any, stopped: bool = False) -> Verifier:
    stop = Stop(get_crawler())
    stop.reason = "shutdown" if stopped else None
    return Verifier(asker, 16, 4, stop)


def test_urls_wait_until_they_are_checked() -> None:
    async def verify() -> None:
        asker = Asker()
        verifying = verifier(asker)
        running = asyncio.ensure_future(verifying.verify(URLS))
        await asyncio.sleep(0)
        assert (verifying.waiting, verifying.checked) == (Counter({"a.com": 2, "b.com": 1}), Counter())
        assert verifying.replies == Counter()
        asker.let.set()
        await running
        assert (dict(verifying.waiting), verifying.checked) == ({}, Counter({"a.com": 2, "b.com": 1}))
        await verifying.verify(URLS, again=True)
        assert (dict(verifying.waiting), verifying.checked) == ({}, Counter({"a.com": 2, "b.com": 1}))
        assert verifying.replies == Counter({"blocked": 2, "reset": 1})

    asyncio.run(verify())


def test_replies_are_counted_as_they_come() -> None:
    class Turns:
        """Answers one URL whenever it is let."""

        def __init__(self) -> None:
            self.let = asyncio.Semaphore(0)

        def expect(self, listed: Iterable[str]) -> None:
            pass

        async def ask(self, url: str, follow: bool) -> Verification:
            await self.let.acquire()
            return Verification(made(ReplyKind.OK, final_status=200, final_url=url))

    async def verify() -> None:
        turns = Turns()
        verifying = verifier(turns)
        running = asyncio.ensure_future(verifying.verify(URLS))
        for number in range(1, 4):
            turns.let.release()
            await asyncio.sleep(0.01)
            assert verifying.replies == Counter(ok=number)
        await running

    asyncio.run(verify())


def test_urls_that_a_stop_came_before_are_not_checked() -> None:
    async def verify() -> None:
        verifying = verifier(Asker(), stopped=True)
        await verifying.verify(URLS)
        assert (dict(verifying.waiting), dict(verifying.checked)) == ({}, {})
        assert dict(verifying.replies) == {}

    asyncio.run(verify())


@pytest.mark.parametrize(("recovered", "refused"), [(True, ["unreadable"]), (False, [])])
def test_url_whose_bytes_could_not_be_read_is_not_requested(recovered: bool, refused: list[str]) -> None:
    records = [
        UrlRecord("https://a.com/1", recovered=True),
        UrlRecord("https://a.com/stra\ufffde", recovered=recovered),
    ]
    admission = Admission(VerificationScope(), cast(Policies, None), None)
    assert asyncio.run(admission.refuse(records, None)) == {id(records[1]): reason for reason in refused}
