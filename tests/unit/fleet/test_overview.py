"""The overview of a fleet: what its table of domains holds, and the sums of its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pyarrow.parquet as pq
import pytest

from sitemapcrawler.feeds.arrow import Columns
from sitemapcrawler.fleet import overview
from sitemapcrawler.fleet.domains import DOMAIN, FAILED, FINISHED, PARTIAL, UNREAD, DomainRecord
from sitemapcrawler.fleet.output import Output, output_at
from sitemapcrawler.fleet.overview import BadShare, Denied, Overview, Totals, Trouble, TroubleReason
from sitemapcrawler.fleet.summary_page import write_overview
from sitemapcrawler.items import SCHEMA_VERSION, Reach, SitemapRecord
from tests.unit.fleet.datasets import write_domain, write_tables

STARTED = "2026-05-20T10:00:00Z"
SHOP = DomainRecord(
    "shop.example",
    started=STARTED,
    elapsed_s=20.0,
    wall_s=21.5,
    peak_mb=150.0,
    bytes=5000,
    node="one",
    sitemaps=2,
    urls=1000,
    findings=6,
    severities={"error": 4, "info": 2},
    rules={"doc-dns-error": 4, "robots-missing": 1, "our-own": 1},
    reach={
        "doc-dns-error": Reach("error", 40, 41, 4),
        "robots-missing": Reach("info", 0, 0, 1),
        "our-own": Reach("warning", 1, 1, 1),
    },
    severity_reach={"error": Reach("error", 40, None, 4), "info": Reach("info", 0, None, 2)},
    agents={"GPTBot": 990, "CCBot": 3},
    skipped={"robots": 10},
    replies={"ok": 890, "http-error": 100},
    bad=90,
    checked=100,
    not_indexable=95,
    indexability_checked=105,
)
BLOG = DomainRecord(
    "http://blog.example:8080",
    PARTIAL,
    "max_time",
    attempts=2,
    node="two",
    started="2026-05-20T11:00:00Z",
    elapsed_s=60.0,
    wall_s=61.0,
    peak_mb=90.0,
    bytes=700,
    sitemaps=1,
    urls=7,
    findings=1,
    severities={"error": 1},
    rules={"doc-dns-error": 1, "robots-unreachable": 1},
    reach={"doc-dns-error": Reach("error", 1, 1, 1), "robots-unreachable": Reach("info", 0, 0, 1)},
    severity_reach={"error": Reach("error", 1, None, 1)},
    agents={"GPTBot": 1},
    bad=1,
    checked=1,
    not_indexable=0,
    indexability_checked=1,
)
GONE = DomainRecord("gone.example", UNREAD, error="HTTP status 410", sitemaps=1, started=STARTED, elapsed_s=2.0)
SILENT = DomainRecord(
    "silent.example",
    UNREAD,
    started=STARTED,
    elapsed_s=2.0,
    rules={"robots-unreachable": 1},
    reach={"robots-unreachable": Reach("error", 0, 0, 1)},
)
LIMITED = DomainRecord("limited.example", FINISHED, "max_urls", started=STARTED, elapsed_s=1.0, urls=10, sitemaps=1)
LOST = DomainRecord("https://lost.example", FAILED, error="lost.example: its process was ended by SIGKILL", attempts=3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of five domains, one that was begun, and what a writer that was killed left behind."""
    root = tmp_path_factory.mktemp("odd name")
    for record in (SHOP, BLOG, GONE, SILENT, LIMITED):
        write_domain(root, record)
    write_tables(root, "begun.example", sitemap=[SitemapRecord()])
    [row] = [path for path in root.glob("domain/*/*.parquet") if pq.read_table(path)[DOMAIN][0].as_py() == SHOP.domain]
    row.with_name(f".{row.name}.1.part").write_bytes(b"half a file")
    row.with_name(f".{row.name}").write_bytes(b"half a file")
    (root / "domain" / "_SUCCESS").touch()
    return root


@pytest.fixture(scope="module")
def written(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Overview, Path]:
    folder = tmp_path_factory.mktemp("folder's")
    also_there = DomainRecord(BLOG.domain, FAILED, error="an earlier attempt")
    return write_overview(output_at(str(data)), [LOST, also_there], folder), folder


def test_table_has_a_row_for_each_domain_in_order_of_their_names(written: tuple[Overview, Path]) -> None:
    table = pq.read_table(written[1] / "summary.parquet")
    expected = Columns(DomainRecord).schema
    assert table.schema.equals(expected)
    assert [field.metadata[b"description"] for field in table.schema] == [
        field.metadata[b"description"] for field in expected
    ]
    records = sorted([SHOP, BLOG, GONE, SILENT, LIMITED, LOST], key=lambda record: record.domain)
    assert table.equals(Columns(DomainRecord).table(records))
    stated = pq.read_metadata(written[1] / "summary.parquet").metadata
    assert (stated[b"schema_version"], stated[b"started"]) == (str(SCHEMA_VERSION).encode(), STARTED.encode())


def test_nothing_else_is_left_in_the_folder(written: tuple[Overview, Path]) -> None:
    assert sorted(path.name for path in written[1].iterdir()) == ["report.html", "summary.parquet"]


def test_sums(written: tuple[Overview, Path]) -> None:
    found = written[0]
    assert found.totals == Totals(
        domains=6,
        urls=1017,
        sitemaps=5,
        findings=7,
        bytes=5700,
        crawl_s=85.0,
        median_s=2.0,
        long_s=pytest.approx(58.4),
        peak_mb=150.0,
        repeated=2,
        bad=91,
        checked=101,
        not_indexable=95,
        indexability_checked=106,
        listing=3,
        with_errors=2,
        started=STARTED,
        ended="2026-05-20T11:01:01Z",
        nodes=2,
    )
    assert found.states == {UNREAD: 2, FAILED: 1, FINISHED: 1, "limited": 1, PARTIAL: 1}
    assert found.found == {"error": Reach("error", 41, None, 5), "info": Reach("info", 0, None, 2)}
    assert found.replies == {"ok": 890, "http-error": 100}
    assert [one.domain for one in found.largest] == [SHOP.domain, LIMITED.domain, BLOG.domain]
    assert [one.domain for one in found.slowest][:2] == [BLOG.domain, SHOP.domain]
    assert [(one.domain, one.errors) for one in found.erroneous] == [(SHOP.domain, 40), (BLOG.domain, 1)]


def test_domains_without_a_full_result_say_why(written: tuple[Overview, Path]) -> None:
    found = written[0]
    assert found.troubles == [
        Trouble(LOST.domain, FAILED, "lost.example: its process was ended by SIGKILL", 3, "", 0),
        Trouble(GONE.domain, UNREAD, "HTTP status 410", 1, "", 0),
        Trouble(SILENT.domain, UNREAD, "no sitemap was found", 1, "", 0),
        Trouble(BLOG.domain, PARTIAL, "max_time", 2, "two", 7),
        Trouble(LIMITED.domain, "limited", "max_urls", 1, "", 10),
    ]
    assert found.reasons[0] == TroubleReason(FAILED, "...: its process was ended by SIGKILL", 1, [LOST.domain])


def test_rules_by_severity_and_domains(written: tuple[Overview, Path]) -> None:
    error = written[0].rules[0]
    assert (error.rule, error.severity, error.domains, error.urls, error.files) == ("doc-dns-error", "error", 2, 41, 5)
    assert error.examples == {SHOP.domain: 40, BLOG.domain: 1}
    assert error.what
    assert {rule.rule for rule in written[0].rules[1:]} == {"our-own", "robots-unreachable", "robots-missing"}


def test_domains_with_a_rule_as_a_note_do_not_count_with_those_that_have_it_as_an_error(
    written: tuple[Overview, Path],
) -> None:
    """robots.txt of a site that is read over http is unreachable over https, which is a note."""
    spread = [rule for rule in written[0].rules if rule.rule == "robots-unreachable"]
    assert [(rule.severity, rule.domains, list(rule.examples)) for rule in spread] == [
        ("error", 1, [SILENT.domain]),
        ("info", 1, [BLOG.domain]),
    ]


def test_crawlers_that_are_denied_all_that_was_judged(written: tuple[Overview, Path]) -> None:
    assert written[0].denied == [
        Denied("GPTBot", domains=2, wholly=1, urls=991, examples=[SHOP.domain, BLOG.domain]),
        Denied("CCBot", domains=1, wholly=0, urls=3, examples=[SHOP.domain]),
    ]


def test_worst_share_is_the_one_that_is_certain(written: tuple[Overview, Path]) -> None:
    low, one_of_one = pytest.approx(0.8256, abs=0.001), pytest.approx(0.2065, abs=0.001)
    assert written[0].bad == [BadShare(SHOP.domain, 90, 100, low), BadShare(BLOG.domain, 1, 1, one_of_one)]


@pytest.fixture
def memory() -> Iterator[Any]:
    """A bucket in memory."""
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def in_bucket(memory: Any) -> Output:
    found = Output("s3://store")
    found.fs = memory
    return found


def test_object_storage_gives_the_same(
    written: tuple[Overview, Path], data: Path, memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "AT_ONCE", 1)
    for path in data.rglob("*.parquet"):
        memory.pipe(f"/store/{path.relative_to(data)}", path.read_bytes())
    found = write_overview(in_bucket(memory), [LOST], tmp_path)
    assert found == written[0]
    assert (tmp_path / "report.html").read_bytes() == (written[1] / "report.html").read_bytes()
    assert pq.read_table(tmp_path / "summary.parquet").equals(pq.read_table(written[1] / "summary.parquet"))


@pytest.mark.parametrize("error", [PermissionError("no"), RuntimeError("of a library")])
def test_object_storage_that_fails_leaves_nothing(
    error: Exception, memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise error

    memory.pipe("/store/domain/bucket=7/a.parquet", b"")
    monkeypatch.setattr(memory, "get", fail)
    with pytest.raises(OSError, match=str(error)):
        write_overview(in_bucket(memory), [], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_file_that_is_none_is_an_error_of_the_data_set(tmp_path: Path) -> None:
    broken = tmp_path / "domain" / "bucket=0" / "a.parquet"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"half a file")
    with pytest.raises(OSError, match=r"a\.parquet"):
        write_overview(output_at(str(tmp_path)), [], tmp_path)


@pytest.mark.parametrize("failed", [[], [LOST]], ids=["none", "all"])
def test_fleet_without_any_result(failed: list[DomainRecord], tmp_path: Path) -> None:
    found = write_overview(output_at(str(tmp_path / "missing")), failed, tmp_path)
    assert found.totals.domains == len(found.troubles) == len(failed)
    assert (found.rules, found.largest) == ([], [])
    table = pq.read_table(tmp_path / "summary.parquet")
    assert table.schema.equals(Columns(DomainRecord).schema)
    assert table.num_rows == len(failed)


ODD = (
    "b\u00fccher.example",
    "[2001:db8::1]:8080",
    'it\'s."example"',
    "=1+1",
    "a" * 253,
    "\u65e5\u672c.example",
    "-",
    "*",
)


def test_odd_names(tmp_path: Path) -> None:
    for domain in ODD:
        write_domain(tmp_path, replace(SHOP, domain=domain))
    found = write_overview(output_at(str(tmp_path)), [], tmp_path)
    assert {one.domain for one in found.largest} == set(ODD)
    assert pq.read_table(tmp_path / "summary.parquet")[DOMAIN].to_pylist() == sorted(ODD)
