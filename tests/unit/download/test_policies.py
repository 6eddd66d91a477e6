"""Robots files that a job keeps: what comes back in the next run is what was known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.crawler import Crawler
from scrapy.signalmanager import SignalManager

from sitemapcrawler.download.addresses import AddressForbidden
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.policies import MAX_AGE_S, TOO_MANY, Policies, fetched, kept_of, policy_of, restored
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.items import Hop
from sitemapcrawler.robots.policy import Policy, RobotsOutcome
from sitemapcrawler.robots.text import MAX_BYTES, MAX_SITEMAP_BYTES

ORIGIN = "https://e.com"
URL = f"{ORIGIN}/robots.txt"
TEXT = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 2\nSitemap: /s.xml\n"


def answer(
    content: bytes = TEXT,
    status: int | None = 200,
    error: str | None = None,
    final: str = URL,
    limit: int = 0,
    failure: Exception | None = None,
) -> FetchResult:
    """What came of asking for a robots.txt."""
    body = Body(limit)
    body.write(content)
    hops = [Hop(301, URL)] if final != URL else []
    return FetchResult(URL, final, body, status, hops=hops, error=error, failure=failure)


def came(*what: Any, **more: Any) -> tuple[Policy, dict[str, Any]]:
    """The policy of an answer, and what a job keeps of it."""
    given = answer(*what, **more)
    policy = policy_of(given)
    kept = json.loads(json.dumps(kept_of(given, policy)))
    given.body.close()
    return policy, kept


LONG = TEXT + b"#" * MAX_SITEMAP_BYTES
KNOWN = {
    "parsed": came(),
    "empty": came(b""),
    "markup": came(b"<!doctype html><title>No robots</title>"),
    "bytes of all kinds": came(bytes(range(256)) + b"\nDisallow: /a"),
    "moved": came(final="https://www.e.com/robots.txt"),
    "not found": came(b"Not found", 404),
    "not allowed": came(b"", 403),
    "too many requests": came(b"", 429),
    "server error": came(b"Sorry", 503),
    "no answer": came(b"", None, "connection refused", failure=OSError()),
    "not requested": came(b"", None, "is at 10.0.0.1", failure=AddressForbidden()),
    "cut short": came(TEXT[:20], 200, "the body ends before its end"),
    "no redirect": came(b"", 302),
    "too many redirects": came(b"", 302, f"{TOO_MANY}: 5"),
    "longer than is read": came(LONG, 200, "larger than it may be", limit=MAX_SITEMAP_BYTES),
    "longer than counts": came(b"#" * MAX_BYTES + b"\n" + TEXT),
}


@pytest.mark.parametrize("name", KNOWN)
def test_policy_comes_back_as_it_was(name: str) -> None:
    policy, kept = KNOWN[name]
    assert restored(kept) == policy


def test_a_failure_of_ours_says_nothing_of_the_host() -> None:
    assert [name for name, (policy, _) in KNOWN.items() if policy.is_ours] == ["not requested"]


def test_answers_are_of_every_outcome() -> None:
    assert {policy.outcome for policy, _ in KNOWN.values()} == set(RobotsOutcome)


def test_policy_that_came_back_decides_alike() -> None:
    again = restored(KNOWN["moved"][1])
    assert not again.allows(f"{ORIGIN}/private/a", "Googlebot") and again.allows(f"{ORIGIN}/a", "Googlebot")
    assert [sitemap.url for sitemap in again.sitemaps] == ["https://www.e.com/s.xml"], "against who answered"


@given(st.binary(max_size=300), st.sampled_from([200, 204, 301, 400, 404, 429, 500, 503, None]), st.booleans())
def test_any_answer_comes_back(content: bytes, status: int | None, failed: bool) -> None:
    policy, kept = came(content, status, "broken" if failed else None)
    assert restored(kept) == policy


# In the next run


class Asked(Exception):
    """A request was made."""


def a_crawl(scenario: Callable[[Policies], Awaitable[None]]) -> None:
    """Run a scenario on the policies of a crawl that fails as soon as it asks for anything."""

    async def download_async(request: Any) -> None:
        raise Asked(request.url)

    crawler = SimpleNamespace(
        settings=SimpleNamespace(getint=lambda name: 500),
        engine=SimpleNamespace(download_async=download_async),
        signals=SignalManager(),
    )

    async def run() -> None:
        await scenario(Policies(cast(Crawler, crawler)))

    asyncio.run(run())


def listen(policies: Policies, listener: Callable[[str, dict[str, Any]], None]) -> None:
    """Tell what is fetched from now on."""
    policies.crawler.signals.connect(listener, signal=fetched, weak=False)


@pytest.mark.parametrize(
    ("name", "age_s", "asks"),
    [
        ("parsed", 0, False),
        ("parsed", MAX_AGE_S - 60, False),
        ("parsed", MAX_AGE_S + 60, True),
        ("not found", 60, False),
        ("server error", 60, False),
        ("no answer", 0, True),
        ("cut short", 0, True),
    ],
)
def test_policy_is_asked_for_again_where_it_is_old_or_did_not_answer(name: str, age_s: float, asks: bool) -> None:
    async def scenario(policies: Policies) -> None:
        heard: list[str] = []
        listen(policies, lambda origin, answer: heard.append(origin))
        policies.restore(ORIGIN, age_s, KNOWN[name][1])
        policy = await policies.obtain(f"{ORIGIN}/a")
        assert heard == ([ORIGIN] if asks else [])
        assert policy is not None and (asks or policy == KNOWN[name][0])

    a_crawl(scenario)


def test_policy_is_known_without_a_request() -> None:
    async def scenario(policies: Policies) -> None:
        policies.restore(ORIGIN, 10, KNOWN["moved"][1])
        policies.restore("http://other.example", 10, KNOWN["not found"][1])
        assert list(policies.by_origin) == [ORIGIN, "http://other.example"], "in their order"
        policy = policies.at(f"{ORIGIN}/a")
        assert policy is not None and policies.final_url(policy) == "https://www.e.com/robots.txt"
        assert policies.prove(f"{ORIGIN}/a", ["https://www.e.com/s.xml"])
        await policies.prepare([f"{ORIGIN}/b"])

    a_crawl(scenario)


def test_job_is_told_what_came_of_asking() -> None:
    async def scenario(policies: Policies) -> None:
        heard: dict[str, dict[str, Any]] = {}
        listen(policies, lambda origin, answer: heard.update({origin: answer}))
        policy = await policies.obtain(ORIGIN)
        assert policy is not None and policy.outcome is RobotsOutcome.UNREACHABLE
        assert heard.keys() == {ORIGIN} and restored(heard[ORIGIN]) == policy

    a_crawl(scenario)


def test_answer_that_a_stop_has_cut_off_is_not_told() -> None:
    async def scenario(policies: Policies) -> None:
        heard: list[str] = []
        listen(policies, lambda origin, answer: heard.append(origin))
        asking = asyncio.ensure_future(policies.obtain(ORIGIN))
        await asyncio.sleep(0)
        Stop.of(policies.crawler).reason = "shutdown"
        await asking
        assert heard == []

    a_crawl(scenario)
