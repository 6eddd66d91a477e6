"""What became of an entry since an earlier crawl, and which files need not be read again."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.crawl.params import Params
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.comparing import check_site, may_take
from sitemapcrawler.jobs.store import Store, StoreError
from sitemapcrawler.jobs.store.baseline import Baseline
from sitemapcrawler.namespaces.extensions import Alternate, Image, News
from tests.unit.jobs.baselines import (
    HOME,
    KINDS,
    PROGRAM,
    A,
    B,
    compared,
    job,
    jsonl,
    judged,
    page,
    reply,
    rich,
    tree,
    video,
)

UNCHANGED, ADDED = ("unchanged", []), ("added", [])


def changed(*fields: str) -> tuple[str, list[str]]:
    return "changed", list(fields)


def told(path: Path, *records: UrlRecord, **arguments: Any) -> list[tuple[str | None, list[str]]]:
    """What is said of entries beside a baseline."""
    with compared(path, **arguments) as comparison:
        return asyncio.run(judged(comparison, *records))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    """Makes each kind of baseline."""
    return KINDS[request.param]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job of two files."""
    return job(tmp_path_factory.mktemp("plain"), [page("/a"), page("/b", B)])


# ---- entries

DIFFERENCES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "another date": ({"lastmod": "2024-05-02"}, ("lastmod",)),
    "the same date in other words": ({"lastmod": "2024-05-01T00:00:00Z"}, ("lastmod",)),
    "no date": ({"lastmod": None}, ("lastmod",)),
    "changefreq": ({"changefreq": "weekly"}, ("changefreq",)),
    "priority": ({"priority": 0.81}, ("priority",)),
    "no priority": ({"priority": None}, ("priority",)),
    "an image less": ({"images": [Image(loc="x")]}, ("images",)),
    "images in another order": ({"images": rich().images[::-1]}, ("images",)),
    "no images": ({"images": ()}, ("images",)),
    "an attribute of a video": ({"videos": [video("autoplay=0"), *rich().videos[1:]]}, ("videos",)),
    "no news": ({"news": None}, ("news",)),
    "news of another title": ({"news": News({"name": "Paper", "language": "en"}, "2024-05-01", "Other")}, ("news",)),
    "another language version": ({"alternates": [Alternate("de-AT", f"{HOME}/de")]}, ("alternates",)),
    "another element": ({"extra": {"urn:x": [tree("2")]}}, ("extra",)),
    "no elements": ({"extra": None}, ("extra",)),
    "robots.txt denies it to another one": ({"blocked_for": ["GPTBot", "CCBot"]}, ("blocked_for",)),
    "robots.txt denies it to nobody": ({"blocked_for": []}, ("blocked_for",)),
    "not judged by robots.txt": ({"blocked_for": None}, ()),
    "gone": ({"reply": reply(kind="http-error", status=404)}, ("reply.kind", "reply.status")),
    "moved": ({"reply": reply(kind="redirected", final_url=HOME)}, ("reply.kind", "reply.final_url")),
    "not to be indexed": ({"reply": reply(noindex=True)}, ("reply.noindex",)),
    "head not read": ({"reply": reply(noindex=None, noindex_agents=(), canonical=None)}, ()),
    "gone, and without a head": ({"reply": reply(noindex=None, canonical=None, status=404)}, ("reply.status",)),
    "not to be indexed by others": ({"reply": reply(noindex_agents=())}, ("reply.noindex_agents",)),
    "another canonical": ({"reply": reply(canonical=HOME)}, ("reply.canonical",)),
    "a page that is none": ({"reply": reply(soft_404="title")}, ("reply.soft_404",)),
    "slower": ({"reply": reply(elapsed_ms=999, attempts=3, etag="x", last_modified="y")}, ()),
    "not asked": ({"reply": reply(kind="unchecked", status=None, final_url=None)}, ()),
    "without a reply": ({"reply": None}, ()),
    "another line": ({"line": 99, "issues": ["lastmod-future"], "recovered": True, "loc_raw": "page"}, ()),
    "two fields": ({"changefreq": None, "lastmod": "2025"}, ("lastmod", "changefreq")),
}
"""What is else today, and the fields that are said to have changed."""


def entries_of(differences: bool) -> list[UrlRecord]:
    """An entry for each difference, with it or without."""
    return [rich(f"/{what}", **fields if differences else {}) for what, (fields, _) in DIFFERENCES.items()]


EXPECTED = {what: changed(*fields) if fields else UNCHANGED for what, (_, fields) in DIFFERENCES.items()}


def test_difference_is_named(tmp_path: Path, kind: Any) -> None:
    found = told(kind(tmp_path, entries_of(False)), *entries_of(True))
    assert dict(zip(DIFFERENCES, found, strict=True)) == EXPECTED


def test_difference_back_again_is_named_too(tmp_path: Path, kind: Any) -> None:
    found = told(kind(tmp_path, entries_of(True)), *entries_of(False))
    assert dict(zip(DIFFERENCES, found, strict=True)) == EXPECTED


def test_entries_without_a_difference_are_unchanged(tmp_path: Path, kind: Any) -> None:
    assert told(kind(tmp_path, entries_of(True)), *entries_of(True)) == [UNCHANGED] * len(DIFFERENCES)


ODD_TEXTS = [
    "\u2028",
    "\u2029",
    "\u0085",
    "\x0b\x0c\x1c\x1d\x1e",
    "\0",
    "\ufeff",
    "\U0001f600",
    "'\"\\/</",
    "\t\n",
]


def odd_entry(text: str, number: int) -> UrlRecord:
    return page(f"/{text}/{number}", changefreq=text, lastmod=f"a{text}", extra={text: [tree(text)]})


def test_odd_text_is_unchanged(tmp_path: Path, kind: Any) -> None:
    entries = [odd_entry(text, number) for text in ODD_TEXTS for number in range(2)]
    path = kind(tmp_path, entries)
    found = told(path, *copy.deepcopy(entries))
    assert dict(zip([record.loc for record in entries], found, strict=True)) == {
        record.loc: UNCHANGED for record in entries
    }


@pytest.mark.parametrize("text", ODD_TEXTS, ids=ascii)
def test_new_entry_with_an_odd_text_is_added(plain: Path, text: str) -> None:
    assert told(plain, odd_entry(text, 1), page("/a")) == [ADDED, UNCHANGED]


def test_lone_surrogate_is_added(plain: Path) -> None:
    assert told(plain, page("/\ud800"), page("/a")) == [ADDED, UNCHANGED]


def test_new_entry_is_added(tmp_path: Path, kind: Any) -> None:
    path = kind(tmp_path, [page("/a")])
    assert told(path, page("/a"), page("/b"), page("/A"), page("/a/"), page("/c", B)) == [UNCHANGED, *[ADDED] * 4]


def test_entry_that_moved_to_another_file_is_unchanged(tmp_path: Path, kind: Any) -> None:
    path = kind(tmp_path, [page("/a", lastmod="1"), page("/b", B, lastmod="2")])
    assert told(path, page("/a", B, lastmod="1"), page("/b", lastmod="3")) == [UNCHANGED, changed("lastmod")]


def test_file_of_another_name(tmp_path: Path) -> None:
    path = job(tmp_path, [page("/a"), page("/b")])
    assert told(path, page("/a", f"{HOME}/new.xml"), page("/c", f"{HOME}/new.xml")) == [UNCHANGED, ADDED]


def test_entry_that_was_listed_twice(tmp_path: Path, kind: Any) -> None:
    path = kind(tmp_path, [page(lastmod="1"), page(lastmod="2", changefreq="daily")])
    now = [
        page(lastmod="2", changefreq="daily"),
        page(lastmod="1"),
        page(lastmod="3"),
        page(lastmod="3", changefreq="daily"),
    ]
    assert told(path, *now) == [UNCHANGED, UNCHANGED, changed("lastmod"), changed("lastmod")]


def test_entry_that_is_listed_twice_now(tmp_path: Path) -> None:
    assert told(job(tmp_path, [page()]), page(), page(), page(sitemap=B)) == [UNCHANGED] * 3


def test_entry_that_was_removed_is_added_again(tmp_path: Path, kind: Any) -> None:
    path = kind(tmp_path, [page("/a"), page("/b", change="removed")])
    assert told(path, page("/a"), page("/b")) == [UNCHANGED, ADDED]


def test_change_of_the_day_before_is_none_of_today(tmp_path: Path, kind: Any) -> None:
    path = kind(tmp_path, [page("/a", change="changed", changed_fields=["lastmod"]), page("/b", change="added")])
    assert told(path, page("/a"), page("/b")) == [UNCHANGED] * 2


def test_many_entries(tmp_path: Path) -> None:
    path = job(tmp_path, [page(f"/{number}", lastmod=str(number)) for number in range(5000)])
    now = [page(f"/{number}", lastmod=str(number - number % 1000 // 999)) for number in range(10, 5010)]
    found = told(path, *now)
    assert {change: [one for one, _ in found].count(change) for change in ("unchanged", "changed", "added")} == {
        "unchanged": 4985,
        "changed": 5,
        "added": 10,
    }


# ---- what one side does not have


@pytest.mark.slow
def test_replies_are_compared_only_where_both_have_them(tmp_path: Path) -> None:
    gone = rich(reply=reply(status=404))
    assert told(job(tmp_path / "a", [rich()]), gone, verify="off") == [UNCHANGED]
    assert told(job(tmp_path / "b", [rich(reply=None)]), gone) == [UNCHANGED]
    assert told(job(tmp_path / "c", [rich()]), gone) == [changed("reply.status")]


def test_heads_are_compared_only_where_both_were_read(tmp_path: Path) -> None:
    unread = {"noindex": None, "canonical": None, "noindex_agents": ()}
    path = job(tmp_path, [rich("/a", reply=reply(**unread)), rich("/b", reply=reply(**unread))])
    now = [rich("/a"), rich("/b", reply=reply(noindex=True))]
    assert told(path, *now) == [UNCHANGED, UNCHANGED]
    assert told(path, rich("/a", reply=reply(**{**unread, "canonical": HOME}))) == [changed("reply.canonical")]


@pytest.mark.slow
def test_verdicts_are_compared_only_where_both_have_them(tmp_path: Path) -> None:
    denied = rich(blocked_for=["CCBot"])
    assert told(job(tmp_path / "a", [rich()]), rich(blocked_for=None), agents="none") == [UNCHANGED]
    assert told(job(tmp_path / "b", [rich(blocked_for=None)]), denied) == [UNCHANGED]
    assert told(job(tmp_path / "c", [rich()]), denied) == [changed("blocked_for")]


def test_verdicts_of_other_agents_are_not_compared(tmp_path: Path) -> None:
    path = job(tmp_path, [rich()], arguments={"domain": HOME, "agents": "ai"})
    assert told(path, rich(blocked_for=["Bingbot"]), agents="search") == [UNCHANGED]
    assert told(path, rich(blocked_for=["CCBot"]), agents="ai") == [changed("blocked_for")]


def test_verdicts_of_an_authority_that_did_not_answer(tmp_path: Path) -> None:
    path = job(tmp_path, [rich("/a", blocked_for=None), rich("/b")])
    assert told(path, rich("/a"), rich("/b", blocked_for=None)) == [UNCHANGED] * 2


# ---- of which site


@pytest.mark.parametrize(
    "named",
    ["example.com", "www.example.com", "http://EXAMPLE.com:8080", "shop.example.com", "other.example,example.com"],
)
def test_baseline_of_the_site(plain: Path, named: str) -> None:
    assert told(plain, page("/a"), domain=named) == [UNCHANGED]


@pytest.mark.parametrize("named", ["other.example", "https://notexample.com", "example.org"])
def test_baseline_of_another_site_is_refused(plain: Path, named: str) -> None:
    with pytest.raises(StoreError, match=r"is of example\.com, not of .*force=yes") as refusal:
        told(plain, page(), domain=named)
    assert "\n" not in str(refusal.value)


def test_baseline_of_another_site_is_compared_where_forced(tmp_path: Path, kind: Any) -> None:
    path = kind(tmp_path, [page()])
    with pytest.raises(StoreError, match="force=yes"):
        told(path, page(), domain="other.example")
    assert told(path, page(), domain="other.example", force="yes") == [UNCHANGED]


def test_baseline_of_files_elsewhere(tmp_path: Path) -> None:
    """Sitemaps may stand on a host that is not named anywhere; the next day is not refused for that."""
    stored = UrlRecord(loc=f"{HOME}/page", sitemap="https://storage.example/bucket/a.xml")
    assert told(job(tmp_path / "job", [stored]), copy.deepcopy(stored)) == [UNCHANGED]
    assert told(jsonl(tmp_path, [stored]), copy.deepcopy(stored)) == [UNCHANGED]


def test_baseline_of_a_site_that_redirects_elsewhere(tmp_path: Path) -> None:
    moved = UrlRecord(loc="https://new.example/page", sitemap="https://new.example/a.xml")
    assert told(job(tmp_path, [moved]), copy.deepcopy(moved)) == [UNCHANGED]


@pytest.mark.parametrize("named", ["http://[2001:db8::1]", "http://[2001:db8::1]:8000", "[2001:DB8:0::1]:8000"])
def test_baseline_of_an_address(tmp_path: Path, named: str) -> None:
    stored = UrlRecord(loc="http://[2001:db8::1]:8000/", sitemap="http://[2001:db8::1]:8000/a.xml")
    assert told(jsonl(tmp_path, [stored]), copy.deepcopy(stored), domain=named) == [UNCHANGED]


def test_baseline_of_another_address_is_refused(tmp_path: Path) -> None:
    stored = UrlRecord(loc="http://[2001:db8::1]:8000/", sitemap="http://[2001:db8::1]:8000/a.xml")
    with pytest.raises(StoreError, match="force=yes"):
        told(jsonl(tmp_path, [stored]), domain="http://[2001:db8::2]:8000")


def test_baseline_of_files_on_disk(tmp_path: Path) -> None:
    here = UrlRecord(loc=f"{HOME}/page", sitemap="file:///srv/a.xml")
    other = tmp_path / "b.xml"
    other.write_text("<urlset/>")
    path = jsonl(tmp_path, [here])
    assert told(path, page(), domain=None, sitemap=str(other)) == [UNCHANGED]
    assert told(path, page()) == [UNCHANGED]
    with pytest.raises(StoreError, match="force=yes"):
        told(path, domain="other.example")


def test_baseline_that_lists_nothing_is_of_any_site(tmp_path: Path) -> None:
    assert told(job(tmp_path, []), page(), domain="other.example") == [ADDED]


@pytest.mark.parametrize("state", ["running", None])
def test_baseline_that_was_not_finished_is_refused(tmp_path: Path, state: str | None) -> None:
    path = job(tmp_path, [page()], state=state)
    with pytest.raises(StoreError, match=r"not finished.*force=yes"):
        told(path, page())
    assert told(path, page(), force="yes") == [UNCHANGED]


def test_site_of_a_baseline_is_checked_before_anything_is_compared(tmp_path: Path) -> None:
    path = jsonl(tmp_path, [page()])
    store = Store.temporary(beside=[path])
    try:
        with pytest.raises(StoreError):
            check_site(Baseline(store, path), Params.parse({"domain": "other.example"}))
    finally:
        store.close()


# ---- files that need not be read


def taken(before: dict[str, str], program: str = PROGRAM, **now: str) -> bool:
    return may_take({"arguments": before, "program": program}, Params.parse({"domain": HOME, **now}), PROGRAM)


def test_files_may_be_taken_with_the_same_arguments() -> None:
    assert taken({"domain": HOME})
    assert taken({"domain": HOME, "exclude": "x", "agents": "ai"}, exclude="x", agents="ai")
    assert taken({"domain": "https://other.example", "probe": "never", "only": "changes"}, max_depth="3")
    assert taken({"domain": HOME}, max_time="60")


OTHERWISE = [
    ({"exclude": "x"}, {}),
    ({}, {"exclude": "x"}),
    ({"include": "x"}, {"include": "y"}),
    ({}, {"since": "2024-01-01"}),
    ({}, {"follow": "a"}),
    ({}, {"select": "lastmod"}),
    ({"ignore": "lastmod"}, {}),
    ({}, {"agents": "none"}),
    ({"max_urls": "5"}, {"max_urls": "5"}),
    ({"max_urls": "5"}, {}),
    ({"verify": "get"}, {"verify": "get"}),
    ({"verify": "head"}, {}),
]


@pytest.mark.parametrize(("before", "now"), OTHERWISE, ids=str)
def test_files_are_read_again_with_other_arguments(before: dict[str, str], now: dict[str, str]) -> None:
    assert not taken({"domain": HOME, **before}, **now)


def test_files_that_another_program_has_read_are_read_again() -> None:
    assert not taken({"domain": HOME}, program="another program")
    assert not may_take({"arguments": {"domain": HOME}}, Params.parse({"domain": HOME}), PROGRAM)


def test_files_of_a_feed_are_read_again() -> None:
    assert not may_take({}, Params.parse({"domain": HOME}), PROGRAM)


# ---- files that may be missing


def files(comparison: Any, narrowed: bool = False, **outcomes: tuple[str, int | None]) -> set[str]:
    """Names of files that may list less now, and of which it can be said, after a crawl with these outcomes."""
    store = comparison.baseline._store
    for name, (outcome, status) in outcomes.items():
        store.execute(
            "INSERT INTO sitemaps (sitemap, outcome, status) VALUES (?, ?, ?)", [f"{HOME}/{name}.xml", outcome, status]
        )
    known, others = comparison.judged_files(store, narrowed)
    assert sorted(known + others) == [url for url in (A, B) if outcomes.get(url[-5], ("", 0))[0] != "unchanged"]
    return {url.removeprefix(f"{HOME}/")[0] for url in known}


OUTCOMES: dict[str, tuple[dict[str, tuple[str, int | None]], bool, set[str]]] = {
    "all read": ({"a": ("ok", 200), "b": ("recovered", 200)}, False, {"a", "b"}),
    "unchanged, one not even asked": ({"a": ("unchanged", 304), "b": ("unchanged", None)}, False, set()),
    "one unchanged": ({"a": ("unchanged", 304), "b": ("ok", 200)}, False, {"b"}),
    "gone": ({"a": ("ok", 200), "b": ("failed", 404)}, False, {"a", "b"}),
    "gone for ever": ({"a": ("ok", 200), "b": ("failed", 410)}, False, {"a", "b"}),
    "broken": ({"a": ("ok", 200), "b": ("failed", 500)}, False, {"a"}),
    "no answer": ({"a": ("ok", 200), "b": ("failed", None)}, False, {"a"}),
    "forbidden": ({"a": ("ok", 200), "b": ("failed", 403)}, False, {"a"}),
    "blocked": ({"a": ("ok", 200), "b": ("blocked", None)}, False, {"a"}),
    "no sitemap any more": ({"a": ("ok", 200), "b": ("failed", 200)}, False, {"a"}),
    "cut": ({"a": ("truncated", 200), "b": ("ok", 200)}, False, {"b"}),
    "not listed": ({"a": ("ok", 200)}, False, {"a", "b"}),
    "not listed, by a file that failed perhaps": ({"a": ("ok", 200), "i": ("failed", 500)}, False, {"a"}),
    "not listed, where a limit left files out": ({"a": ("ok", 200)}, True, {"a"}),
    "the index is gone": ({"i": ("failed", 404), "a": ("ok", 200)}, False, {"a", "b"}),
    "nothing was found": ({}, False, set()),
    "nothing could be read": ({"i": ("failed", None)}, False, set()),
    "nothing is there any more": ({"i": ("failed", 404)}, False, set()),
}
"""Outcomes of files today, whether a limit left some out, and the files that are known to the end."""


@pytest.mark.parametrize("what", OUTCOMES)
def test_files_that_list_nothing_else(plain: Path, what: str) -> None:
    outcomes, narrowed, expected = OUTCOMES[what]
    with compared(plain) as comparison:
        assert files(comparison, narrowed, **outcomes) == expected


@pytest.mark.parametrize(("status", "expected"), [(404, {"a", "b"}), (410, {"a", "b"}), (500, {"a"}), (None, {"a"})])
def test_guess_that_is_no_sitemap_any_more(plain: Path, status: int | None, expected: set[str]) -> None:
    """A guess that misses has no record; a server that cannot answer does not say that the file is gone."""
    with compared(plain) as comparison:
        tally = {"missed": True, "answered": False, "status": status}
        comparison.baseline._store.insert_rows("files", [{"sitemap": B, "run": 1, "digest": "", "tally": tally}])
        assert files(comparison, a=("ok", 200)) == expected


def multilingual(path: str, last: str = "/last", **fields: Any) -> UrlRecord:
    """An entry with more language versions than stand in its row."""
    links = [Alternate(f"x-{n}", f"{HOME}/version-{n}") for n in range(200)]
    return page(path, alternates=[*links, Alternate("de", HOME + last)], **fields)


def test_long_lists_are_compared_to_their_end(tmp_path: Path, kind: Any) -> None:
    path = kind(tmp_path, [multilingual("/a"), multilingual("/b"), multilingual("/c")])
    found = told(path, multilingual("/a"), multilingual("/b", "/other"), page("/c"), verify=None)
    assert found == [UNCHANGED, changed("alternates"), changed("alternates")]


def test_removed_entry_keeps_its_long_list(tmp_path: Path, kind: Any) -> None:
    path = kind(tmp_path, [multilingual("/a"), multilingual("/b")])
    with compared(path) as comparison:
        [lines] = comparison.baseline.missing([A])
        assert [len(json.loads(line)["alternates"]) for line in lines] == [201, 201]


def test_entries_that_are_carried_keep_their_long_lists(tmp_path: Path) -> None:
    path = job(tmp_path, [multilingual("/a"), page("/b", B)])
    with compared(path) as comparison:
        comparison.baseline.carry([A])
        comparison.baseline.carry([A])
        store = comparison.baseline._store
        assert store.execute("SELECT len(alternates) FROM carried") == [(10,), (10,)]
        assert store.execute("SELECT count(*) FROM more_alternates") == [(191,)]
