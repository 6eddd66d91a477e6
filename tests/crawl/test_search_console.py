"""Crawls that ask Search Console for the index status of listed URLs: a fake one, on this machine."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.jobs.index_status import QUOTA
from sitemapcrawler.spiders.running import BAD_ARGUMENT
from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import robots, urlset
from tests.crawl.search_console import Answer, SearchConsole, inspected, refused
from tests.crawl.site_server import SiteServer

PATHS = [f"/{number}" for number in range(12)]
CRAWLED = "Crawled - currently not indexed"
ANSWERS = "answers.jsonl"


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer() as server:
        server.routes = {
            "/robots.txt": robots(server.url("/sitemap.xml")),
            "/sitemap.xml": urlset(*map(server.url, PATHS)),
        }
        yield server


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchConsole]:
    with SearchConsole() as server:
        for name, value in server.credentials(tmp_path).items():
            monkeypatch.setenv(name, value)
        yield server


def asked(folder: Path, site: SiteServer, api: SearchConsole, *options: str, **arguments: Any) -> Crawl:
    settings = {**LOOPBACK, "SITEMAP_GSC_ENDPOINT": api.address, "DOWNLOAD_SLOTS": "{}"}
    given = {"domain": site.url(), "gsc": site.url("/"), "gsc_answers": ANSWERS, "agents": "none"}
    return crawl(folder, *options, settings=settings, **given | arguments)


def google(done: Crawl) -> dict[str, Any]:
    """What the summary says, without what is zero."""
    return {name: value for name, value in done.summary["google"].items() if value}


def test_quota_that_is_used_up_leaves_the_rest_to_the_next_run(
    tmp_path: Path, site: SiteServer, api: SearchConsole
) -> None:
    api.quota, api.answers = 5, lambda url: inspected("NEUTRAL", CRAWLED) if url.endswith("1") else inspected()
    first = asked(tmp_path, site, api)
    before = set(api.urls)
    assert (first.code, len(before), first.summary["google"]["urls"]) == (0, 5, 5)
    assert (first.summary["google"]["not_asked"], first.summary["google"]["partial"]) == (7, "quota")
    assert first.log.count("not asked") == 1
    api.quota = QUOTA
    second = asked(tmp_path, site, api, verify="head", report="report")
    assert not before & set(api.urls[5:])
    assert google(second) == {"urls": 12, "indexed": 10, "not_indexed": 2, "reasons": {CRAWLED: 2}}
    assert {one["google"]["reason"] for one in second.of_type("url") if one["loc"].endswith("1")} == {CRAWLED}
    third = asked(tmp_path, site, api)
    assert (len(api.urls), google(third)) == (12, google(second)), "what was asked today is not asked again"
    assert {one["siteUrl"] for one in api.asked} == {site.url("/")}


def test_quota_of_a_day_counts_across_runs(tmp_path: Path, site: SiteServer, api: SearchConsole) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    line = {"inspectionUrl": "https://example.com/", "siteUrl": site.url("/"), "asked": now}
    (tmp_path / ANSWERS).write_text(f"{json.dumps(line)}\n" * (QUOTA - 3))
    done = asked(tmp_path, site, api)
    assert (len(api.asked), google(done)) == (3, {"urls": 3, "indexed": 3, "not_asked": 9, "partial": "quota"})


def test_answers_are_a_list_to_compare_with(tmp_path: Path, site: SiteServer, api: SearchConsole) -> None:
    asked(tmp_path, site, api, gsc_sample=4)
    assert len(api.asked) == 4
    asked(tmp_path, site, api, gsc_sample=4)
    assert len(api.asked) == 4, "the sample is the same in each run"
    done = crawl(tmp_path, domain=site.url(), compare=ANSWERS)
    assert google(done) == {"urls": 4, "indexed": 4}


def test_token_that_expires_is_replaced_once(tmp_path: Path, site: SiteServer, api: SearchConsole) -> None:
    api.valid = 2
    done = asked(tmp_path, site, api)
    assert (api.tokens, google(done)) == (2, {"urls": 12, "indexed": 12})


def without_token(api: SearchConsole) -> None:
    api.refuses_tokens = True


def with_refused_token(api: SearchConsole) -> None:
    api.valid = 99


def answering(*answer: Any) -> Callable[[SearchConsole], None]:
    def change(api: SearchConsole) -> None:
        api.answers = lambda url: answer  # type: ignore[assignment, return-value]  # a tuple of two

    return change


def answering_nothing(api: SearchConsole) -> None:
    """Errors, a redirect, and answers that cannot be read, in turn."""
    answers: list[Any] = [
        (500, b""), (302, b""), (200, b"\xff{garbage"), (200, b"[" * 100_000), (200, {"inspectionResult": "garbage"}),
        (200, b" " * 2**21),
    ]  # fmt: skip
    turn = itertools.cycle(answers)
    api.answers = lambda url: next(turn)


@pytest.mark.parametrize(
    ("change", "partial", "most"),
    [
        (without_token, "credentials", 0),
        (with_refused_token, "credentials", 0),
        (answering(*refused(403, "forbidden")), "permission", 8),
        (answering(*refused(403, "quotaExceeded")), "quota", 8),
        (answering(*refused(429)), "quota", 8),
        (answering_nothing, "no answer", 17),
    ],
    ids=["no token", "refused token", "no permission", "quota as 403", "quota", "no answer"],
)
def test_search_console_that_does_not_answer_costs_its_own_part_alone(
    tmp_path: Path,
    site: SiteServer,
    api: SearchConsole,
    change: Callable[[SearchConsole], None],
    partial: str,
    most: int,
) -> None:
    change(api)
    done = asked(tmp_path, site, api, report="report")
    assert (done.code, google(done)) == (0, {"not_asked": 12, "partial": partial})
    assert len(api.asked) <= most
    assert len(done.of_type("url")) == len(PATHS)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.name != "credentials.json"]
    assert not any(secret in data for data in [*written, done.log.encode()] for secret in (b"token-", b"secret of"))
    assert "12 URLs not inspected: " in (tmp_path / "report" / "report.html").read_text()


def odd(url: str) -> Answer:
    """Answers that say little, each in its own way."""
    number = int(url.rpartition("/")[2])
    answers: list[Answer] = [
        refused(400), refused(404), (200, {"inspectionResult": {}}),
        (200, {"inspectionResult": {"indexStatusResult": {"verdict": 1, "coverageState": ["x"], "lastCrawlTime": None}}}),
        (200, {"inspectionResult": {"indexStatusResult": "garbage"}}), inspected("NEW", "New reason", googleCanonical="?"),
    ]  # fmt: skip
    return answers[number % len(answers)]


def test_odd_answers_are_kept_as_they_can_be_read(tmp_path: Path, site: SiteServer, api: SearchConsole) -> None:
    api.answers = odd
    done = asked(tmp_path, site, api)
    assert (done.code, google(done)) == (0, {"urls": 4})
    reasons = {one["google"]["reason"] for one in done.of_type("url") if "google" in one}
    assert reasons == {"['x']", "New reason"}


def test_urls_of_other_properties_are_not_asked_for(tmp_path: Path, site: SiteServer, api: SearchConsole) -> None:
    done = asked(tmp_path, site, api, gsc="sc-domain:example.com")
    assert (api.asked, google(done)) == ([], {"partial": "other property"})


@pytest.mark.parametrize(
    ("settings", "arguments", "told"),
    [
        ({"SITEMAP_GSC_ENDPOINT": "https://example.com"}, {}, "SITEMAP_GSC_ENDPOINT"),
        ({}, {"gsc": "example.com"}, "argument gsc='example.com': is not the name of a property"),
        ({}, {"gsc_answers": "credentials.json"}, "is another file than one of answers"),
        ({}, {"gsc_answers": None}, "has no effect without gsc_answers"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_requested(
    tmp_path: Path, site: SiteServer, api: SearchConsole, settings: dict[str, str], arguments: dict[str, Any], told: str
) -> None:
    given = {"domain": site.url(), "gsc": site.url("/"), "gsc_answers": ANSWERS} | arguments
    done = crawl(tmp_path, settings=settings, **{name: value for name, value in given.items() if value is not None})
    assert (done.code, site.exchanges, api.asked) == (BAD_ARGUMENT, [], [])
    assert told in done.log
    assert "PRIVATE KEY" not in done.log
