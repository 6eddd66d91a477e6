"""What a crawl is compared with: databases and feeds of all kinds, also those that cannot be used."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemapcrawler.items import Hop, ReplyRecord, UrlRecord
from sitemapcrawler.jobs.store import Store, StoreError
from sitemapcrawler.jobs.store.baseline import Baseline, differences, rough_spelling
from sitemapcrawler.jobs.store.loading import plain_line
from sitemapcrawler.namespaces.extensions import Video
from sitemapcrawler.rules.facts.languages import page_key
from tests.unit.jobs.baselines import (
    HOME,
    KINDS,
    A,
    B,
    job,
    jsonl,
    lines,
    opened,
    page,
    parquet,
    reply,
    rich,
    table,
    video,
)


def removed(baseline: Baseline, *files: str) -> list[dict[str, Any]]:
    """The rows of URLs that are listed no more, where all files of the baseline (or some) were read."""
    found = baseline.missing(files or baseline.listed_files())
    return [json.loads(line) for part in found for line in part]


def put(baseline: Baseline, *records: UrlRecord) -> None:
    """Let the crawl of today list entries."""
    spool = baseline._store.spool()
    spool.write(lines(records), len(records))
    baseline._store.insert("urls", [spool])


# ---- rows


ASKED = page("/asked", reply=ReplyRecord("ok", status=200, final_status=200, final_url=f"{HOME}/a", noindex=False))
LOST = page("/lost", reply=ReplyRecord("timeout", status=301, final_url=f"{HOME}/b", redirects=[Hop(301, f"{HOME}/a")]))
TWICE = [page("/twice"), page("/twice", lastmod="2"), page("/twice", B)]
HELD = [rich("/a"), page("/b", B), rich("/c", videos=[Video(), video("x")], images=(), extra=None), ASKED, LOST]
LISTED = [*HELD, *TWICE, page("/gone", change="removed")]


@dataclass
class Kept:
    """What a baseline of one kind says of `LISTED`, and what became of its folder."""

    files: list[str]
    hosts: set[str]
    texts: Mapping[str, Any]
    removed: list[dict[str, Any]]
    """Where today lists nothing."""
    removed_later: list[dict[str, Any]]
    """Where today lists one of them."""
    unchanged: bool
    """The files of the baseline are as they were."""


@pytest.fixture(scope="module", params=KINDS)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("kept") / 'it\'s "new" *[1]'
    folder.mkdir()
    path = KINDS[request.param](folder, LISTED)
    before = {one: one.read_bytes() for one in folder.iterdir()}
    with opened(path) as baseline:
        found = Kept(
            sorted(baseline.listed_files()),
            baseline.hosts(),
            baseline.texts([ASKED.loc]),
            removed(baseline),
            [],
            False,
        )
        put(baseline, page("/a", B))
        found.removed_later = removed(baseline)
        baseline.entries(A)
    found.unchanged = {one: one.read_bytes() for one in folder.iterdir()} == before
    return found


def test_every_kind_holds_the_same(kept: Kept) -> None:
    assert (kept.files, kept.hosts) == ([A, B], {"example.com"})
    now = {row["loc"]: row for row in kept.removed if "twice" not in row["loc"]}
    of_the_crawl = ("reply", "blocked_for", "issues", "changed_fields")
    assert now == {
        row["loc"]: {**{name: value for name, value in row.items() if name not in of_the_crawl}, "change": "removed"}
        for row in map(json.loads, lines(HELD).splitlines())
    }


def test_removed_url_is_a_row_once(kept: Kept) -> None:
    assert sorted((row["loc"], row["change"]) for row in kept.removed_later) == [
        (f"{HOME}{path}", "removed") for path in ("/asked", "/b", "/c", "/lost", "/twice")
    ]


def test_plain_reply_is_held_alike(kept: Kept) -> None:
    [(_, reply)] = kept.texts[ASKED.loc]
    assert json.loads(reply) == {
        "kind": "ok", "status": 200, "final_status": 200, "final_url": f"{HOME}/a", "noindex": False,
    }  # fmt: skip


def test_baseline_is_not_changed(kept: Kept) -> None:
    assert kept.unchanged


def test_only_files_that_are_known_to_the_end_miss_something(tmp_path: Path) -> None:
    with opened(job(tmp_path, [page("/a"), page("/b", B), page("/c", B)])) as baseline:
        assert [row["loc"] for row in removed(baseline, A)] == [f"{HOME}/a"]
        assert removed(baseline, f"{HOME}/other.xml") == []


def test_url_that_was_found_to_be_removed_before_a_crash_is_no_second_row(tmp_path: Path) -> None:
    with opened(job(tmp_path, [page("/a"), page("/b")])) as baseline:
        put(baseline, page("/b", change="removed"))
        assert [row["loc"] for row in removed(baseline)] == [f"{HOME}/a"]


def test_count_of_what_cannot_be_said(tmp_path: Path) -> None:
    path = job(
        tmp_path, [page("/a"), page("/b"), page("/b", lastmod="2"), page("/c", B), page("/d", B, change="removed")]
    )
    with opened(path) as baseline:
        assert baseline.count([A, B]) == 3
        assert baseline.count([A]) == 2
        assert baseline.count([]) == 0
        put(baseline, page("/a"), page("/c"))
        assert baseline.count([A, B]) == 1


def test_row_with_a_lone_surrogate(tmp_path: Path) -> None:
    entry = page("/\ud800", lastmod="a\udfff", blocked_for=["GPTBot"], change="added")
    for path in (job(tmp_path / "job", [entry]), jsonl(tmp_path, [entry])):
        with opened(path) as baseline:
            assert list(baseline.texts([f"{HOME}/\ufffd"])) == [f"{HOME}/\ufffd"]
            assert baseline.texts([entry.loc]) == {}
            [row] = removed(baseline)
        assert row == {
            "type": "url",
            "loc": f"{HOME}/\ufffd",
            "sitemap": A,
            "lastmod": "a\ufffd",
            "recovered": False,
            "change": "removed",
        }


def test_many_rows(tmp_path: Path) -> None:
    with opened(job(tmp_path, [page(f"/{number}") for number in range(2500)])) as baseline:
        assert len(baseline.entries(A).same) == len(baseline.entries(A).locs) == 2500
        assert len(removed(baseline)) == 2500
        assert not baseline.entries(B).same


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "database"])
def test_feed_of_an_earlier_version_is_refused_since_its_status_is_the_last_answer(tmp_path: Path, kind: str) -> None:
    moved = page("/a", reply=ReplyRecord("redirected", status=200, final_url=f"{HOME}/b"))
    with pytest.raises(StoreError, match=r"\A[^\n]*status was the last answer; crawl again[^\n]*\Z"):
        opened(KINDS[kind](tmp_path, [moved, page("/b")])).__enter__()


# ---- feeds that others have written


FEEDS: dict[str, tuple[str, bytes, int]] = {
    "blank lines and other records": (
        "urls.jsonl",
        b"\n" + lines([page("/a")]) + b'\n\r\n{"type":"finding","rule":"x"}\n{"type":"later","loc":3}\n',
        1,
    ),
    "no last line end": ("urls.jsonl", lines([page("/a"), page("/b")])[:-1], 2),
    "a long line": ("urls.jsonl", lines([page("/a", changefreq="x" * 3_000_000)]), 1),
    "nothing": ("urls.jsonl", b"", 0),
    "nothing, as gzip": ("urls.jsonl.gz", gzip.compress(b""), 0),
}
"""{what a feed has: (its name, its bytes, number of URLs)}."""


@pytest.mark.parametrize("what", FEEDS)
def test_feed_that_others_have_written(tmp_path: Path, what: str) -> None:
    name, data, urls = FEEDS[what]
    (tmp_path / name).write_bytes(data)
    with opened(tmp_path / name) as baseline:
        assert len(removed(baseline)) == urls


def test_parquet_feed_of_nothing(tmp_path: Path) -> None:
    with opened(parquet(tmp_path, [])) as baseline:
        assert removed(baseline) == []


@pytest.mark.parametrize("kind", [pa.string(), pa.timestamp("us", "UTC"), pa.timestamp("ms", "Asia/Tokyo")], ids=str)
def test_parquet_feed_of_some_columns(tmp_path: Path, kind: pa.DataType) -> None:
    path, moment = tmp_path / "urls.parquet", "2024-05-01T22:30:00.500000Z"
    times = pa.array([moment])
    times = times if kind == times.type else times.cast(pa.timestamp("us", "UTC")).cast(kind)
    pq.write_table(pa.table({"loc": [f"{HOME}/a"], "sitemap": [A], "lastmod_at": times, "mine": [1]}), path)
    with opened(path) as baseline:
        [row] = removed(baseline)
        assert row["lastmod_at"] == moment


def test_plain_line_of_text_that_looks_like_objects() -> None:
    line = lines([page("/a", lastmod='":[{', changefreq='"news":{"extra":"')])
    assert json.loads(plain_line(line)) == json.loads(line)


# ---- what cannot be used


def cut(share: float) -> Callable[[Path], None]:
    return lambda path: (path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)]), None)[1]


def emptied(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def text(path: Path) -> None:
    path.write_text("This is no baseline.\n" * 500)


def with_sql(statement: str) -> Callable[[Path], None]:
    def changed(path: Path) -> None:
        with duckdb.connect(path) as connection:
            connection.execute(statement)

    return changed


def damaged(path: Path) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes(range(7)) * 40 + data[middle + 280 :])


def with_checksum(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(data)


def without_field(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"sitemap":', b'"file":'))


def without_column(path: Path) -> None:
    if path.suffix == ".csv":
        path.write_bytes(path.read_bytes().replace(b",sitemap,", b",file,", 1))
    else:
        pq.write_table(pq.read_table(path).drop_columns(["sitemap"]), path)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "cut": cut(0.5),
    "cut a little": cut(0.7),
    "emptied": emptied,
    "text": text,
    "damaged in the middle": damaged,
    "with another checksum": with_checksum,
    "without a field": without_field,
    "without a column": without_column,
    "without a table": with_sql("DROP TABLE urls"),
    "of another version": with_sql("UPDATE job SET value = '99' WHERE name = 'version'"),
}
BROKEN = {
    "database": ["cut", "cut a little", "emptied", "text", "without a table", "of another version"],
    "jsonl": ["cut", "emptied", "text", "damaged in the middle", "without a field"],
    "jsonl.gz": ["cut", "emptied", "text", "damaged in the middle", "with another checksum"],
    "parquet": ["cut", "cut a little", "emptied", "text", "without a column"],
    "csv": ["cut", "emptied", "text", "damaged in the middle", "without a column"],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A baseline of each kind."""
    entries = [rich(f"/{number}") for number in range(500)]
    return {kind: make(tmp_path_factory.mktemp("whole"), entries) for kind, make in {**KINDS, "csv": table}.items()}


@pytest.mark.parametrize(("kind", "damage"), [(kind, damage) for kind, found in BROKEN.items() for damage in found])
def test_baseline_that_cannot_be_used_is_refused_and_kept(
    tmp_path: Path, whole: dict[str, Path], kind: str, damage: str
) -> None:
    path = Path(shutil.copy(whole[kind], tmp_path))
    DAMAGE[damage](path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"\Abaseline [^\n]*\Z") as refusal, opened(path):
        pytest.fail("it was opened")
    said = str(refusal.value)
    assert path.name in said
    assert "JOBDIR" not in said
    assert "fresh" not in said
    assert ".spool" not in said
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["", "link.duckdb"], ids=["its path", "a link"])
def test_database_of_this_very_job_is_refused(tmp_path: Path, name: str) -> None:
    path = job(tmp_path, [page()])
    if name:
        (tmp_path / name).symlink_to(path)
    with closing(Store.open(tmp_path)) as store, pytest.raises(StoreError, match="this job itself"):
        Baseline(store, tmp_path / "." / (name or path.name))


HOLD = "import duckdb, sys; held = duckdb.connect(sys.argv[1], read_only=bool(sys.argv[2])); print(flush=True); sys.stdin.read()"
"""A process that has a database open until its input ends."""


@contextmanager
def held(path: Path, read_only: str) -> Iterator[None]:
    """Another process has the database open."""
    command = [sys.executable, "-c", HOLD, str(path), read_only]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
        holder.communicate()


def test_database_in_use_is_refused(tmp_path: Path) -> None:
    path = job(tmp_path, [page()])
    with held(path, read_only=""), pytest.raises(StoreError, match="in use"), opened(path):
        pytest.fail("it was opened")


def test_two_crawls_may_have_one_baseline(tmp_path: Path) -> None:
    path = job(tmp_path, [page()])
    with held(path, read_only="yes"), opened(path) as baseline:
        assert len(removed(baseline)) == 1


KILLED = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("SET checkpoint_threshold = '1GB'")
connection.execute("INSERT INTO urls (loc, sitemap) VALUES ('https://example.com/late', 'https://example.com/a.xml')")
os.kill(os.getpid(), 9)
"""


def test_database_with_a_log_beside_it(tmp_path: Path) -> None:
    """What a crash leaves: the newest rows stand in the log."""
    path = job(tmp_path, [page("/a")])
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    log = path.with_name(f"{path.name}.wal")
    before = path.read_bytes(), log.read_bytes()
    with opened(path) as baseline:
        assert sorted(row["loc"] for row in removed(baseline)) == [f"{HOME}/a", f"{HOME}/late"]
    assert (path.read_bytes(), log.read_bytes()) == before


# ---- sites and differences


@pytest.mark.parametrize(
    ("sitemap", "host"),
    [
        ("https://Example.com/a.xml", "example.com"),
        ("http://user:word@example.com:8080/a.xml", "example.com:8080"),
        ("http://[2001:db8::1]:80/a.xml", "[2001:db8::1]:80"),
        ("https://example.com?x", "example.com"),
        ("file:///srv/a.xml", "pages.example"),
    ],
)
def test_host_of_a_file(tmp_path: Path, sitemap: str, host: str) -> None:
    with opened(jsonl(tmp_path, [UrlRecord(loc="https://pages.example/a", sitemap=sitemap)])) as baseline:
        assert baseline.hosts() == {host}


def test_differences_of_numbers_in_other_words() -> None:
    assert differences('{"priority":1}', "", ('{"priority":1.0}', "")) == []
    assert differences('{"priority":0.5}', "", ('{"priority":0.50}', "")) == []
    assert differences('{"lastmod":"1"}', '{"status":200}', ("{}", '{"status":404}')) == ["lastmod", "reply.status"]


@pytest.mark.parametrize(
    ("before", "now", "are_others"),
    [("6-00", "7-00", True), ("7-00", "7-ff", False), (None, "7-00", False), ("7-00", None, False)],
)
def test_contents_that_another_version_hashed(
    tmp_path: Path, before: str | None, now: str | None, are_others: bool
) -> None:
    with opened(job(tmp_path, [page(reply=reply(content_hash=before))])) as baseline:
        put(baseline, page(reply=reply(content_hash=now)))
        assert baseline.has_other_hashes == are_others


# ---- spellings

ESCAPED = st.sampled_from(
    ["%41", "a", "é", "%c3%A9", "%E9", "%", "%2", "%2541", "日", "\\", "/", "?", "#", " ", "+", "%2F"]
)
HOSTS = (
    "http://example.com",
    "HTTP://EXAMPLE.com:80",
    "http://é.example",
    "http://xn--9ca.example",
    "http://example.com/",
)


@given(st.lists(st.lists(ESCAPED, max_size=4).map("".join), min_size=2, max_size=40))
@settings(deadline=None)
def test_two_spellings_of_a_page_have_the_same_rough_spelling(ends: list[str]) -> None:
    urls = [host + end for host in HOSTS for end in ends]
    urls += [quote(url, safe=":/?#%") for url in urls]
    rows = duckdb.execute(f"SELECT {rough_spelling('url')} FROM (SELECT unnest(?) AS url)", [urls]).fetchall()
    rough: dict[str, set[str]] = {}
    for url, (spelling,) in zip(urls, rows, strict=True):
        rough.setdefault(page_key(url), set()).add(spelling)
    assert all(len(spellings) == 1 for spellings in rough.values())
