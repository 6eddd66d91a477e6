"""What a crawl is compared with: databases and feeds of all kinds, also those that cannot be used."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sitemapcrawler.items import Hop, ReplyRecord, UrlRecord
from sitemapcrawler.jobs.store import Store, StoreError
from sitemapcrawler.jobs.store.baseline import PASSING, Baseline, differences
from sitemapcrawler.jobs.store.loading import plain_line
from sitemapcrawler.namespaces.extensions import Video
from sitemapcrawler.rules import all_rules
from tests.unit.jobs.baselines import HOME, KINDS, A, B, job, jsonl, lines, opened, page, parquet, rich, video

Made = Callable[[Path, Sequence[UrlRecord]], Path]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Made:
    """Makes each kind of baseline."""
    return KINDS[request.param]


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


def test_every_kind_holds_the_same(tmp_path: Path, kind: Made) -> None:
    entries = [rich("/a"), page("/b", B), rich("/c", videos=[Video(), video("x")], images=(), extra=None)]
    with opened(kind(tmp_path, entries)) as baseline:
        assert baseline.urls == 3
        assert sorted(baseline.listed_files()) == [A, B]
        assert baseline.hosts() == {"example.com"}
        now = {row["loc"]: row for row in removed(baseline)}
    expected = [json.loads(line) for line in lines(entries).splitlines()]
    of_the_crawl = ("reply", "blocked_for", "issues", "changed_fields")
    assert now == {
        row["loc"]: {**{name: value for name, value in row.items() if name not in of_the_crawl}, "change": "removed"}
        for row in expected
    }


def test_removed_url_is_a_row_once(tmp_path: Path, kind: Made) -> None:
    path = kind(tmp_path, [page("/a"), page("/b"), page("/b", lastmod="2"), page("/b", B), page("/c", B)])
    with opened(path) as baseline:
        put(baseline, page("/a", B))
        found = removed(baseline)
    assert sorted((row["loc"], row["change"]) for row in found) == [
        (f"{HOME}/b", "removed"),
        (f"{HOME}/c", "removed"),
    ]


def test_what_was_removed_before_is_not_removed_again(tmp_path: Path, kind: Made) -> None:
    with opened(kind(tmp_path, [page("/a", change="removed"), page("/b")])) as baseline:
        assert baseline.urls == 1
        assert [row["loc"] for row in removed(baseline)] == [f"{HOME}/b"]


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


# ---- files that need not be read again


def test_files_of_a_job(tmp_path: Path) -> None:
    path = job(tmp_path, [page("/a"), page("/b", B)])
    with duckdb.connect(path) as connection:
        connection.execute("UPDATE sitemaps SET etag = '\"1\"', last_modified = 'Mon' WHERE sitemap = ?", [A])
    with opened(path) as baseline:
        assert sorted(baseline.files) == [A, B]
        assert baseline.files[A].digest == f"digest of {A}"
        assert baseline.files[A].validators == {"If-None-Match": '"1"', "If-Modified-Since": "Mon"}
        assert baseline.files[B].validators == {}
        assert json.loads(baseline.files[A].line)["sitemap"] == A


READ_AGAIN = {
    "failed": "UPDATE sitemaps SET outcome = 'failed'",
    "truncated": "UPDATE sitemaps SET outcome = 'truncated'",
    "an alias": "UPDATE sitemaps SET format = 'unknown'",
    "with news, which grow old": "UPDATE sitemaps SET counts = struct_pack(images := 0, videos := 0, news := 1, alternates := 0)",
    "with a finding that may have passed": "INSERT INTO findings (sitemap, rule) SELECT sitemap, 'lastmod-future' FROM sitemaps",
}


@pytest.mark.parametrize("what", READ_AGAIN)
def test_file_that_is_read_again(tmp_path: Path, what: str) -> None:
    path = job(tmp_path, [page("/a"), page("/b", B)])
    with duckdb.connect(path) as connection:
        connection.execute(f"{READ_AGAIN[what]} WHERE sitemap = ?", [A])
        connection.execute("INSERT INTO findings (rule) VALUES ('lastmod-future'), ('loc-offsite')")
        connection.execute("INSERT INTO findings (rule, sitemap) VALUES ('loc-offsite', ?)", [B])
    with opened(path) as baseline:
        assert list(baseline.files) == [B]


def test_rules_of_findings_that_may_pass_exist() -> None:
    assert set(PASSING) <= {rule.id for rule in all_rules()}


@pytest.mark.parametrize("kind", KINDS)
def test_plain_reply_is_held_alike(tmp_path: Path, kind: str) -> None:
    asked = page("/a", reply=ReplyRecord("ok", status=200, final_status=200, final_url=f"{HOME}/a", noindex=False))
    with opened(KINDS[kind](tmp_path, [asked, page("/b")])) as baseline:
        [(_, reply)] = baseline.texts([asked.loc])[asked.loc]
        assert json.loads(reply) == {
            "kind": "ok", "status": 200, "final_status": 200, "final_url": asked.loc, "noindex": False,
        }  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "database"])
def test_feed_of_an_earlier_version_is_refused_since_its_status_is_the_last_answer(tmp_path: Path, kind: str) -> None:
    moved = page("/a", reply=ReplyRecord("redirected", status=200, final_url=f"{HOME}/b"))
    with pytest.raises(StoreError, match=r"\A[^\n]*status was the last answer; crawl again[^\n]*\Z"):
        opened(KINDS[kind](tmp_path, [moved, page("/b")])).__enter__()


@pytest.mark.parametrize("kind", KINDS)
def test_redirects_without_a_last_answer_are_of_this_version(tmp_path: Path, kind: str) -> None:
    hops = [Hop(301, f"{HOME}/a")]
    lost = page("/a", reply=ReplyRecord("timeout", status=301, final_url=f"{HOME}/b", redirects=hops))
    with opened(KINDS[kind](tmp_path, [lost])) as baseline:
        assert baseline.urls == 1


# ---- feeds that others have written


def test_feed_of_blank_lines_and_other_records(tmp_path: Path) -> None:
    path = tmp_path / "urls.jsonl"
    path.write_bytes(b"\n" + lines([page("/a")]) + b'\n\r\n{"type":"finding","rule":"x"}\n{"type":"later","loc":3}\n')
    with opened(path) as baseline:
        assert baseline.urls == 1


def test_feed_without_a_last_line_end(tmp_path: Path) -> None:
    path = tmp_path / "urls.jsonl"
    path.write_bytes(lines([page("/a"), page("/\ud800")])[:-1])
    with opened(path) as baseline:
        assert baseline.urls == 2


def test_gzip_feed_with_a_lone_surrogate(tmp_path: Path) -> None:
    path = tmp_path / "urls.jsonl.gz"
    path.write_bytes(gzip.compress(lines([page("/a"), page("/\ud800")])))
    with opened(path) as baseline:
        assert baseline.urls == 2


def test_feed_with_a_long_line(tmp_path: Path) -> None:
    with opened(jsonl(tmp_path, [page("/a", changefreq="x" * 3_000_000)])) as baseline:
        assert baseline.urls == 1


@pytest.mark.parametrize("feed", ["urls.jsonl", "urls.jsonl.gz", "urls.parquet"])
def test_feed_of_nothing(tmp_path: Path, feed: str) -> None:
    path = tmp_path / feed
    if feed.endswith("parquet"):
        parquet(tmp_path, [])
    else:
        path.write_bytes(gzip.compress(b"") if feed.endswith("gz") else b"")
    with opened(path) as baseline:
        assert baseline.urls == 0
        assert removed(baseline) == []


@pytest.mark.parametrize("kind", [pa.string(), pa.timestamp("us", "UTC"), pa.timestamp("ms", "Asia/Tokyo")], ids=str)
def test_parquet_feed_of_some_columns(tmp_path: Path, kind: pa.DataType) -> None:
    path, moment = tmp_path / "urls.parquet", "2024-05-01T22:30:00.500000Z"
    times = pa.array([moment])
    times = times if kind == times.type else times.cast(pa.timestamp("us", "UTC")).cast(kind)
    pq.write_table(pa.table({"loc": [f"{HOME}/a"], "sitemap": [A], "lastmod_at": times, "mine": [1]}), path)
    with opened(path) as baseline:
        assert baseline.urls == 1
        assert removed(baseline)[0]["lastmod_at"] == moment


def test_plain_line_of_text_that_looks_like_objects() -> None:
    line = lines([page("/a", lastmod='":[{', changefreq='"news":{"extra":"')])
    assert json.loads(plain_line(line)) == json.loads(line)


# ---- what cannot be used


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_a_little(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.7)])


def emptied(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def text(path: Path) -> None:
    path.write_text("This is no baseline.\n" * 500)


def without_a_table(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("DROP TABLE urls")


def of_another_version(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("UPDATE job SET value = '99' WHERE name = 'version'")


def with_a_tally_of_another_form(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("""UPDATE files SET tally = '{"found":{"rules":[]}}'""")


def with_counts_of_another_form(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("""INSERT INTO job VALUES ('of_site', '{"rules":{"cross-x":1}}')""")


BROKEN: dict[str, Sequence[Callable[[Path], None]]] = {
    "database": (
        cut,
        cut_a_little,
        emptied,
        text,
        without_a_table,
        of_another_version,
        with_a_tally_of_another_form,
        with_counts_of_another_form,
    ),
    "jsonl": (cut, emptied, text),
    "jsonl.gz": (cut, emptied, text),
    "parquet": (cut, cut_a_little, emptied, text),
}


@pytest.mark.parametrize(
    ("name", "change"),
    [(name, change) for name, changes in BROKEN.items() for change in changes],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_baseline_that_cannot_be_used_is_refused_and_kept(
    tmp_path: Path, name: str, change: Callable[[Path], None]
) -> None:
    path = KINDS[name](tmp_path, [rich(f"/{number}") for number in range(500)])
    change(path)
    before = path.read_bytes()
    store = Store.temporary()
    try:
        with pytest.raises(StoreError, match=r"^baseline ") as refusal:
            Baseline(store, path)
    finally:
        store.close()
    said = str(refusal.value)
    assert "\n" not in said
    assert path.name in said
    assert "JOBDIR" not in said
    assert "fresh" not in said
    assert path.read_bytes() == before


def test_database_of_this_very_job_is_refused(tmp_path: Path) -> None:
    path = job(tmp_path, [page()])
    store = Store.open(tmp_path)
    try:
        with pytest.raises(StoreError, match="this very job"):
            Baseline(store, tmp_path / "." / path.name)
    finally:
        store.close()


def test_database_under_another_name_is_that_very_job_too(tmp_path: Path) -> None:
    path = job(tmp_path, [page()])
    link = tmp_path / "link.duckdb"
    link.symlink_to(path)
    store = Store.open(tmp_path)
    try:
        with pytest.raises(StoreError, match="this very job"):
            Baseline(store, link)
    finally:
        store.close()


HOLD = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print(flush=True); sys.stdin.read()"
"""A process that has a database open until its input ends."""


def test_database_in_use_is_refused(tmp_path: Path) -> None:
    path = job(tmp_path, [page()])
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        store = Store.temporary()
        try:
            with pytest.raises(StoreError, match="in use"):
                Baseline(store, path)
        finally:
            store.close()
            holder.communicate()


def test_two_crawls_may_have_one_baseline(tmp_path: Path) -> None:
    path = job(tmp_path, [page()])
    open_it = f"{HOLD.replace('sys.argv[1]', 'sys.argv[1], read_only=True')}"
    with subprocess.Popen(
        [sys.executable, "-c", open_it, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with opened(path) as baseline:
            assert baseline.urls == 1
        holder.communicate()


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


def test_baseline_is_not_changed(tmp_path: Path, kind: Made) -> None:
    path = kind(tmp_path, [rich(f"/{number}") for number in range(50)])
    before = {one: one.read_bytes() for one in tmp_path.iterdir()}
    with opened(path) as baseline:
        put(baseline, rich("/1"))
        assert len(removed(baseline)) == 49
        baseline.entries(A)
    assert {one: one.read_bytes() for one in tmp_path.iterdir()} == before


def test_database_with_a_quote_in_its_path(tmp_path: Path, kind: Made) -> None:
    folder = tmp_path / 'it\'s "new" *[1]'
    folder.mkdir()
    with opened(kind(folder, [page()])) as baseline:
        assert baseline.urls == 1


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


def test_other_hosts_that_a_file_lists(tmp_path: Path) -> None:
    entries = [
        page("/a"),
        UrlRecord(loc="https://www.example.com/a?b", sitemap=A),
        UrlRecord(loc="https://www.example.com", sitemap=A),
        UrlRecord(loc="https://example.com.evil.example/", sitemap=A),
        UrlRecord(loc="https://gone.example/", sitemap=A, change="removed"),
        page("/b", B),
    ]
    with opened(job(tmp_path, entries)) as baseline:
        found = {sitemap: sorted(hosts) for sitemap, hosts in baseline.foreign_prefixes().items()}
    assert found == {A: ["https://example.com.evil.example", "https://www.example.com"]}


def test_differences_of_numbers_in_other_words() -> None:
    assert differences('{"priority":1}', "", ('{"priority":1.0}', "")) == []
    assert differences('{"priority":0.5}', "", ('{"priority":0.50}', "")) == []
    assert differences('{"lastmod":"1"}', '{"status":200}', ("{}", '{"status":404}')) == ["lastmod", "reply.status"]
