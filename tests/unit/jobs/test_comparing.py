"""What became of an entry since an earlier crawl, and which files list less or are the same."""

from __future__ import annotations

import asyncio
import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.jobs.comparing import Comparison
from sitemapcrawler.jobs.store import StoreError
from sitemapcrawler.namespaces.extensions import Alternate, Image, News
from tests.unit.jobs.baselines import (
    HOME,
    KINDS,
    A,
    B,
    compared,
    job,
    jsonl,
    judged,
    page,
    reply,
    rich,
    table,
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


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job of two files."""
    return job(tmp_path_factory.mktemp("plain"), [page("/a"), page("/b", B)])


# ---- entries

DIFFERENCES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "another date": ({"lastmod": "2024-05-02"}, ("lastmod",)),
    "the same date in other words": ({"lastmod": "Wed, 01 May 2024 00:00:00 +0000"}, ()),
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
    "moved to another page": (
        {"reply": reply(kind="redirected", final_url=HOME, title="Home", content_hash="1-" + 32 * "1")},
        ("reply.kind", "reply.final_url"),
    ),
    "not to be indexed": ({"reply": reply(noindex=True)}, ("reply.noindex",)),
    "head not read": ({"reply": reply(noindex=None, noindex_agents=(), canonical=None)}, ()),
    "gone, and without a head": ({"reply": reply(noindex=None, canonical=None, status=404)}, ("reply.status",)),
    "not to be indexed by others": ({"reply": reply(noindex_agents=())}, ("reply.noindex_agents",)),
    "another canonical": ({"reply": reply(canonical=HOME)}, ("reply.canonical",)),
    "a page that is none": ({"reply": reply(soft_404="title")}, ("reply.soft_404",)),
    "another title": ({"reply": reply(title="Other")}, ("reply.title",)),
    "no main heading": ({"reply": reply(h1=None)}, ("reply.h1",)),
    "other content": ({"reply": reply(content_hash="1-" + 32 * "1", words=9)}, ("reply.content_hash",)),
    "content by another version": ({"reply": reply(content_hash="2-" + 32 * "1")}, ()),
    "content not read": ({"reply": reply(content_hash=None)}, ()),
    "slower": ({"reply": reply(elapsed_ms=999, attempts=3, etag="x", last_modified="y")}, ()),
    "not asked": ({"reply": reply(kind="unchecked", status=None, final_url=None)}, ()),
    "without a reply": ({"reply": None}, ()),
    "another line": ({"line": 99, "issues": ["lastmod-future"], "recovered": True, "loc_raw": "page"}, ()),
    "two fields": ({"changefreq": None, "lastmod": "2025"}, ("lastmod", "changefreq")),
}
"""What is else today, and the fields that are said to have changed."""


ODD_TEXTS = ["\u2028", "\u2029", "\u0085", "\x0b\x0c\x1c\x1d\x1e", "\0", "\ufeff", "\U0001f600", "'\"\\/</", "\t\n"]
UNREAD = {"noindex": None, "canonical": None, "noindex_agents": ()}
"""Of a reply whose head was not read."""


def odd(text: str, number: int = 0) -> UrlRecord:
    return page(f"/{text}/{number}", changefreq=text, lastmod=f"a{text}", extra={text: [tree(text)]})


def multilingual(path: str, last: str = "/last") -> UrlRecord:
    """An entry with more language versions than stand in its row."""
    links = [Alternate(f"x-{n}", f"{HOME}/version-{n}") for n in range(200)]
    return page(path, alternates=[*links, Alternate("de", HOME + last)])


Said = tuple[str, list[str]]
SITUATIONS: dict[str, tuple[list[UrlRecord], list[tuple[UrlRecord, Said]]]] = {
    "new": ([page("/old")], [(page(path), ADDED) for path in ("/OLD", "/old/", "/new")] + [(page("/new", B), ADDED)]),
    "in another file": (
        [page("/m1", lastmod="1"), page("/m2", B, lastmod="2")],
        [(page("/m1", B, lastmod="1"), UNCHANGED), (page("/m2", lastmod="3"), changed("lastmod"))],
    ),
    "in a file of another name": (
        [page("/n1"), page("/n2")],
        [(page("/n1", f"{HOME}/new.xml"), UNCHANGED), (page("/n3", f"{HOME}/new.xml"), ADDED)],
    ),
    "listed twice": (
        [page("/twice", lastmod="1"), page("/twice", lastmod="2", changefreq="daily")],
        [
            (page("/twice", lastmod="2", changefreq="daily"), UNCHANGED), (page("/twice", lastmod="1"), UNCHANGED),
            (page("/twice", lastmod="3"), changed("lastmod")),
            (page("/twice", lastmod="3", changefreq="daily"), changed("lastmod")),
        ],
    ),
    "as the second of two but for its reply": (
        [rich("/second", lastmod="1"), rich("/second")], [(rich("/second", reply=None), UNCHANGED)]
    ),
    "listed twice now": ([page("/two")], [(page("/two", sitemap), UNCHANGED) for sitemap in (A, A, B)]),
    "removed, and back again": ([page("/r", change="removed")], [(page("/r"), ADDED)]),
    "changed the day before": (
        [page("/c1", change="changed", changed_fields=["lastmod"]), page("/c2", change="added")],
        [(page("/c1"), UNCHANGED), (page("/c2"), UNCHANGED)],
    ),
    "head read for the first time": (
        [rich(path, reply=reply(**UNREAD)) for path in ("/h1", "/h2", "/h3")],
        [
            (rich("/h1"), UNCHANGED), (rich("/h2", reply=reply(noindex=True)), UNCHANGED),
            (rich("/h3", reply=reply(**{**UNREAD, "canonical": HOME})), changed("reply.canonical")),
        ],
    ),
    "long lists": (
        [multilingual("/long/a"), multilingual("/long/b"), multilingual("/long/c")],
        [
            (multilingual("/long/a"), UNCHANGED), (multilingual("/long/b", "/other"), changed("alternates")),
            (page("/long/c"), changed("alternates")),
        ],
    ),
    "a lone surrogate": ([], [(page("/\ud800"), ADDED)]),
}  # fmt: skip
"""{what: (entries before, those of today and what is said of them)}."""
for what, (fields, names) in DIFFERENCES.items():
    said = changed(*names) if names else UNCHANGED
    SITUATIONS[what] = ([rich(f"/{what}")], [(rich(f"/{what}", **fields), said)])
    SITUATIONS[f"{what}, back again"] = ([rich(f"/{what}/back", **fields)], [(rich(f"/{what}/back"), said)])
    SITUATIONS[f"{what}, as before"] = (
        [rich(f"/{what}/same", **fields)], [(rich(f"/{what}/same", **fields), UNCHANGED)]
    )  # fmt: skip
for text in ODD_TEXTS:
    SITUATIONS[ascii(text)] = ([odd(text)], [(odd(text), UNCHANGED), (odd(text, 1), ADDED)])


@pytest.fixture(scope="module", params=KINDS)
def comparison(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Comparison]:
    """A crawl of today beside a baseline of each kind, with the entries of all situations."""
    before = [record for records, _ in SITUATIONS.values() for record in records]
    with compared(KINDS[request.param](tmp_path_factory.mktemp("all"), before)) as comparison:
        yield comparison


@pytest.fixture(scope="module")
def found(comparison: Comparison) -> dict[str, list[tuple[str | None, list[str]]]]:
    """{what: what is said of the entries of today}."""
    today = [copy.deepcopy(record) for _, pairs in SITUATIONS.values() for record, _ in pairs]
    said = iter(asyncio.run(judged(comparison, *today)))
    return {what: [next(said) for _ in pairs] for what, (_, pairs) in SITUATIONS.items()}


@pytest.mark.parametrize("what", SITUATIONS)
def test_entry_beside_a_baseline(found: dict[str, list[tuple[str | None, list[str]]]], what: str) -> None:
    assert found[what] == [said for _, said in SITUATIONS[what][1]]


def test_removed_entry_keeps_its_long_list(comparison: Comparison) -> None:
    rows = [json.loads(line) for lines in comparison.baseline.missing([A]) for line in lines if "/long/" in line]
    assert [len(row["alternates"]) for row in rows] == [201] * 3


def test_entries_that_are_carried_keep_their_long_lists(tmp_path: Path) -> None:
    with compared(job(tmp_path, [multilingual("/a"), page("/b", B)])) as comparison:
        comparison.baseline.carry([A])
        comparison.baseline.carry([A])
        store = comparison.baseline._store
        assert store.execute("SELECT len(alternates) FROM carried") == [(201,), (201,)]


def test_many_entries(tmp_path: Path) -> None:
    path = job(tmp_path, [page(f"/{number}", lastmod=str(number)) for number in range(2500)])
    found = told(path, *(page(f"/{n}", lastmod=str(n - n % 1000 // 999)) for n in range(10, 2510)))
    assert Counter(change for change, _ in found) == {"unchanged": 2488, "changed": 2, "added": 10}


# ---- what one side does not have


CELLS: dict[str, tuple[dict[str, Any], Said]] = {
    "the same": ({}, UNCHANGED),
    "another date": ({"lastmod": "2024-05-02"}, changed("lastmod")),
    "no date": ({"lastmod": None}, changed("lastmod")),
    "changefreq": ({"changefreq": "=1+1"}, changed("changefreq")),
    "priority": ({"priority": 0.81}, changed("priority")),
    "robots.txt denies it to nobody": ({"blocked_for": []}, changed("blocked_for")),
    "what a table does not hold": ({"images": (), "news": None, "extra": None, "reply": None}, UNCHANGED),
}
"""{what is else today: (fields, what is said)}."""


@pytest.mark.parametrize("what", CELLS)
def test_entry_beside_a_table(tmp_path: Path, what: str) -> None:
    fields, said = CELLS[what]
    path = "/a;=1"  # a cell that a spreadsheet would run
    assert told(table(tmp_path, [rich(path), rich("/b", **fields)]), rich(path, **fields), page("/new")) == [
        said,
        ADDED,
    ]
    assert told(table(tmp_path, [rich(path, **fields)]), rich(path, **fields)) == [UNCHANGED]


def test_feed_without_a_field_is_not_compared_by_it(tmp_path: Path) -> None:
    path = tmp_path / "urls.csv"
    path.write_text(f"loc,sitemap\n{HOME}/a,{A}\n")
    assert told(path, rich("/a"), rich("/b")) == [UNCHANGED, ADDED]
    path = tmp_path / "urls.parquet"
    pq.write_table(pa.table({"loc": [f"{HOME}/a"], "sitemap": [A], "priority": [0.8]}), path)
    assert told(path, rich("/a")) == [UNCHANGED]
    assert told(path, rich("/a", priority=0.5)) == [changed("priority")]


PARTLY: dict[str, tuple[list[UrlRecord], UrlRecord, dict[str, Any], Said]] = {
    "replies before": ([rich()], rich(reply=reply(status=404)), {"verify": "off"}, UNCHANGED),
    "replies today": ([rich(reply=None)], rich(reply=reply(status=404)), {}, UNCHANGED),
    "verdicts before": ([rich()], rich(blocked_for=None), {"agents": "none"}, UNCHANGED),
    "verdicts today": ([rich(blocked_for=None)], rich(blocked_for=["CCBot"]), {}, UNCHANGED),
}
"""{what only one side has: (before, today, arguments, what is said)}."""


@pytest.mark.parametrize("what", PARTLY)
def test_what_one_side_has_alone_is_not_compared(tmp_path: Path, what: str) -> None:
    before, today, arguments, said = PARTLY[what]
    assert told(job(tmp_path, before), today, **arguments) == [said]


def test_titles_that_an_earlier_version_did_not_store_are_not_compared(tmp_path: Path) -> None:
    path = job(tmp_path, [rich(reply=reply(title=None, h1=None, content_hash=None))])
    assert told(path, rich(), rich(reply=reply(canonical=HOME))) == [UNCHANGED, changed("reply.canonical")]


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"reply": reply(status=404, title="Not found", content_hash="1-" + 32 * "1")}, "status"),
        ({"reply": reply(noindex=True, canonical=HOME)}, "indexability"),
        ({"blocked_for": [], "reply": reply(content_hash="1-" + 32 * "1")}, "content"),
        ({"blocked_for": [], "priority": 0.1, "lastmod": "2025"}, "robots"),
        ({"reply": reply(canonical=HOME, title="Other")}, "canonical"),
        ({"reply": reply(h1="Other", content_hash="1-" + 32 * "1")}, "title"),
        ({"reply": reply(content_hash="1-" + 32 * "1"), "lastmod": "2025"}, "content"),
        ({"priority": 0.1, "lastmod": "2025"}, "entry"),
        ({"lastmod": "2025"}, "lastmod"),
        ({}, None),
    ],
)
def test_change_has_the_most_telling_name(tmp_path: Path, fields: dict[str, Any], word: str | None) -> None:
    record = rich(**fields)
    told(job(tmp_path, [rich()]), record)
    assert record.what_changed == word


def test_verdicts_of_other_agents_are_not_compared(tmp_path: Path) -> None:
    path = job(tmp_path, [rich()], arguments={"domain": HOME, "agents": "ai"})
    assert told(path, rich(blocked_for=["Bingbot"]), agents="search") == [UNCHANGED]
    assert told(path, rich(blocked_for=["CCBot"]), agents="ai") == [changed("blocked_for")]


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


def test_baseline_of_another_site_is_compared_where_forced(comparison: Comparison) -> None:
    path = comparison.baseline.path
    with pytest.raises(StoreError, match="force=yes"):
        told(path, page("/old"), domain="other.example")
    assert told(path, page("/old"), domain="other.example", force="yes") == [UNCHANGED]


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


# ---- files that may be missing


@pytest.fixture(scope="module")
def beside(plain: Path) -> Iterator[Comparison]:
    with compared(plain) as comparison:
        yield comparison


def files(comparison: Comparison, narrowed: bool = False, **outcomes: tuple[str, int | None]) -> set[str]:
    """Names of files that may list less now, and of which it can be said, after a crawl with these outcomes."""
    store = comparison.baseline._store
    store.execute("DELETE FROM sitemaps")
    for name, (outcome, status) in outcomes.items():
        store.execute(
            "INSERT INTO sitemaps (sitemap, outcome, status) VALUES (?, ?, ?)", [f"{HOME}/{name}.xml", outcome, status]
        )
    known, others = comparison.judged_files(store, narrowed)
    assert sorted(known + others) == [A, B]
    return {url.removeprefix(f"{HOME}/")[0] for url in known}


OUTCOMES: dict[str, tuple[dict[str, tuple[str, int | None]], bool, set[str]]] = {
    "all read": ({"a": ("ok", 200), "b": ("recovered", 200)}, False, {"a", "b"}),
    "one unchanged": ({"a": ("unchanged", 200), "b": ("ok", 200)}, False, {"a", "b"}),
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
def test_files_that_list_nothing_else(beside: Comparison, what: str) -> None:
    outcomes, narrowed, expected = OUTCOMES[what]
    assert files(beside, narrowed, **outcomes) == expected


@pytest.mark.parametrize(("status", "expected"), [(404, {"a", "b"}), (410, {"a", "b"}), (500, {"a"}), (None, {"a"})])
def test_guess_that_is_no_sitemap_any_more(plain: Path, status: int | None, expected: set[str]) -> None:
    """A guess that misses has no record; a server that cannot answer does not say that the file is gone."""
    with compared(plain) as comparison:
        tally = {"missed": True, "answered": False, "status": status}
        comparison.baseline._store.insert_rows("files", [{"sitemap": B, "run": 1, "digest": "", "tally": tally}])
        assert files(comparison, a=("ok", 200)) == expected
