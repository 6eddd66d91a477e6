"""The file with answers of Search Console: kills, days of the quota, other properties, and what is asked for next."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sitemapcrawler.items import IndexStatus
from sitemapcrawler.jobs import index_status as index_answers
from sitemapcrawler.jobs.index_status import IndexAnswers, IndexStatuses, check
from sitemapcrawler.jobs.links import Links, LinkScope
from sitemapcrawler.jobs.store import Store

HOME, SITE = "https://www.example.com/", "sc-domain:example.com"
RESULT = {"indexStatusResult": {"verdict": "PASS"}}
LISTED = {"a": "2026-01-01", "b": "2026-03-01", "c": None, "d": "2026-02-01", "e": None}
"""Listed pages with their lastmod."""


class At(datetime):
    """A clock that stands."""

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]  # a fixed time
        return datetime(2026, 11, 27, 7, 30, tzinfo=UTC)  # before midnight in California


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(index_answers, "datetime", At)
    return tmp_path / "answers.jsonl"


@pytest.fixture
def store(store: Store) -> Store:
    for line, (name, lastmod) in enumerate(LISTED.items(), 1):
        row = [HOME + name, f"{HOME}sitemap.xml", line, lastmod]
        store.execute("INSERT INTO urls (loc, sitemap, line, lastmod_at) VALUES (?, ?, ?, ?)", row)
    Links(store, LinkScope([HOME], None, max_pages=0)).number_listed()  # type: ignore[arg-type]  # no robots.txt is asked
    return store


def line(url: str = f"{HOME}a", site: str = SITE, asked: str = "2026-11-27T07:00:00Z", **more: object) -> str:
    return json.dumps({"inspectionUrl": url, "siteUrl": site, "asked": asked, **more}) + "\n"


def known(path: Path) -> tuple[list[str], int]:
    """URLs with answers, and how many of them were asked for today."""
    answers = IndexAnswers(path, SITE)
    return [url.removeprefix(HOME) for some in answers.batches() for url, _, _ in some], answers.asked_today


def test_answers_are_read_back(path: Path) -> None:
    answers = IndexAnswers(path, SITE)
    assert (list(answers.batches()), answers.asked_today) == ([], 0)
    added = [answers.add(f"{HOME}a", RESULT), answers.add(f"{HOME}b", None, "status 400")]
    assert list(IndexAnswers(path, SITE).batches()) == [added]
    assert added == [
        (f"{HOME}a", IndexStatus("PASS"), "2026-11-27T07:30:00Z"), (f"{HOME}b", IndexStatus(), "2026-11-27T07:30:00Z"),
    ]  # fmt: skip
    assert known(path) == (["a", "b"], 2)


def test_half_a_line_of_a_killed_run_costs_itself_alone(path: Path) -> None:
    path.write_text(line() + line(f"{HOME}b")[:50])
    IndexAnswers(path, SITE).add(f"{HOME}c", RESULT)
    assert known(path) == (["a", "c"], 2)


@pytest.mark.parametrize(
    "broken",
    ["\n", "garbage\n", "[1]\n", "\xff\xfe\n", line(site="sc-domain:other.example"), line(asked="yesterday"),
     line(asked="0001-01-01T00:00:00Z"),
     '{"siteUrl": "x"}\n', "[" * 100_000 + "\n", "x" * 3_000_000 + "\n", '{"inspectionUrl": 1}\n'],
    ids=range(11),
)  # fmt: skip
def test_lines_that_are_no_answers_of_the_property_are_skipped(path: Path, broken: str) -> None:
    path.write_bytes((line() + broken + line(f"{HOME}b")).encode("latin-1"))
    assert known(path)[0] == ["a", "b"]


def test_day_of_the_quota_begins_at_midnight_in_california(path: Path) -> None:
    path.write_text(line(asked="2026-11-26T08:00:00Z") + line(asked="2026-11-26T07:59:59Z"))
    assert known(path)[1] == 1
    assert IndexAnswers(path, SITE).begin_of_day == datetime(2026, 11, 26, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "problem"),
    [("loc\nhttps://example.com/\n", "is another file"), ("{}\n", "is another file"), (None, "cannot be written")],
)
def test_other_files_are_not_extended(path: Path, content: str | None, problem: str) -> None:
    if content is None:
        path = path.parent / "missing" / path.name
    else:
        path.write_text(content)
    with pytest.raises(ValueError, match=problem):
        check(path)
    assert content is None or path.read_text() == content


def test_new_and_earlier_files_are_accepted(path: Path) -> None:
    check(path)
    assert not path.exists()
    path.write_text(line())
    check(path)


def wanted(statuses: IndexStatuses, site: str = SITE, most: int = 9, sample: int | None = None) -> str:
    """Names of the pages that are asked for, in order."""
    since = datetime(2026, 11, 27, 8, tzinfo=UTC)
    return "".join(url.removeprefix(HOME) for url in statuses.wanted(site, since, most, sample))


def test_most_important_pages_come_first_and_those_of_longest_ago_last(store: Store) -> None:
    statuses = IndexStatuses(store)
    assert wanted(statuses) == "bdace"
    statuses.add_clicks([(f"{HOME}e", 3), (f"{HOME}a", 2), (f"{HOME}a", 2)])
    assert wanted(statuses) == "aebdc"
    asked = {"a": "2026-11-20T00:00:00Z", "e": "2026-11-10T00:00:00Z", "b": "2026-11-27T09:00:00Z"}
    statuses.add([(HOME + name, IndexStatus("PASS"), time) for name, time in asked.items()])
    assert wanted(statuses) == "dcea"
    assert wanted(statuses, most=2) == "dc"
    assert statuses.never_asked(SITE, None) == (5, 2)


def test_rows_of_lists_are_no_answers(store: Store) -> None:
    statuses = IndexStatuses(store)
    statuses.add([(f"{HOME}b", IndexStatus("PASS"), None)])
    assert wanted(statuses) == "bdace"


def test_sample_is_the_same_each_time(store: Store) -> None:
    statuses = IndexStatuses(store)
    sample = wanted(statuses, sample=3)
    assert len(sample) == 3
    statuses.add([(HOME + sample[0], IndexStatus(), "2026-11-20T00:00:00Z")])
    assert sorted(wanted(statuses, sample=3)) == sorted(sample)
    assert statuses.never_asked(SITE, 3) == (3, 2)


@pytest.mark.parametrize(
    ("site", "number"),
    [
        ("sc-domain:example.com", 5), ("sc-domain:www.example.com", 5), ("sc-domain:ample.com", 0),
        ("https://www.example.com/", 5), ("https://www.example.com/a", 1), ("http://www.example.com/", 0),
        ("sc-domain:x' OR 'a'='a", 0),
    ],
)  # fmt: skip
def test_property_has_its_own_pages_alone(store: Store, site: str, number: int) -> None:
    assert IndexStatuses(store).never_asked(site, None) == (number, number)


def test_last_answer_replaces_earlier_ones_whatever_they_say(store: Store) -> None:
    statuses = IndexStatuses(store)
    indexed = IndexStatus("PASS", "Submitted and indexed", None, "2026-11-01T00:00:00Z")
    unknown = IndexStatus("NEUTRAL", "URL is unknown to Google")
    statuses.add([(f"{HOME}a", unknown, "2026-11-20T00:00:00Z"), (f"{HOME}a", indexed, "2026-11-10T00:00:00Z")])
    statuses.add([(f"{HOME}a", IndexStatus(), "2026-11-21T00:00:00Z")])
    assert statuses.sum_up().reasons == {"URL is unknown to Google": 1}
