"""The row of a domain, made from the files of its crawl."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sitemapcrawler.feeds.arrow import Columns
from sitemapcrawler.fleet import task
from sitemapcrawler.fleet.crawling import SUMMARY
from sitemapcrawler.fleet.domains import DOMAIN, TABLES, DomainRecord, domain
from sitemapcrawler.fleet.output import OutputFailed, output_at
from sitemapcrawler.fleet.task import publish, record_of, write_row
from sitemapcrawler.items import SCHEMA_VERSION, Reach, RobotsRecord, Share, SitemapRecord, SummaryRecord
from sitemapcrawler.spiders.running import NOTHING_READ

ROOT = Path(__file__).parents[3]
LONGEST_PATH = 104
"""Bytes of the path of a socket, with a zero at its end: on macOS; Linux allows 108. Source: unix(4), unix(7)"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /tmp")
def test_path_of_a_worker_s_socket_is_short_whatever_the_machine_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "worker-" * 9)
    with ExitStack() as kept:  # multiprocessing holds that of this process to its end
        monkeypatch.setattr(task, "_kept", kept)
        folder = Path(task.sockets.__wrapped__())
        assert folder.is_dir()
        assert len(f"{folder}/pymp-12345678/listener-12345678") < LONGEST_PATH
    assert not folder.exists()


def row(folder: Path, summary: SummaryRecord, code: int = 0, **records: Sequence[Any]) -> DomainRecord:
    """The row of a crawl that ended with this summary and code. `records`: of tables, which are empty otherwise."""
    for table, kind in TABLES.items():
        rows = Columns(kind, constants={DOMAIN: "shop.example"}).table(records.get(table, ()))
        pq.write_table(rows, folder / f"{table}.parquet")
    (folder / SUMMARY).write_text(json.dumps(asdict(summary)))
    return record_of(domain("shop.example"), folder, code, 1)


def test_row_of_an_earlier_crawl_does_not_outlive_its_tables(tmp_path: Path) -> None:
    made, output, each = row(tmp_path, SummaryRecord()), output_at(str(tmp_path / "out")), domain("shop.example")
    publish(output, each, tmp_path, made, 0)
    row(tmp_path, SummaryRecord())
    (tmp_path / "robots.parquet").unlink()
    with pytest.raises(OutputFailed):
        publish(output, each, tmp_path, made, 0)
    assert [*chain(*output.partitions(DOMAIN))] == []
    assert [*chain(*output.partitions("url"))] != []


def test_row_has_the_shares_of_the_summary(tmp_path: Path) -> None:
    bad, not_indexable = Share(900, 90, 9, 0.1, 0.05, 0.2), Share(1000, 100, 19, 0.19, 0.1, 0.3)
    made = row(tmp_path, SummaryRecord(urls=1000, bad=bad, not_indexable=not_indexable))
    assert (made.urls, made.bad, made.checked) == (1000, 9, 90)
    assert (made.not_indexable, made.indexability_checked) == (19, 100)


@pytest.mark.parametrize(("urls", "state", "error"), [(0, "unread", "the proxy failed"), (9, "partial", None)])
def test_domain_of_which_a_proxy_let_nothing_be_read_is_unread(
    urls: int, state: str, error: str | None, tmp_path: Path
) -> None:
    robots = [RobotsRecord(robots="https://shop.example/robots.txt", error="the proxy failed")]
    made = row(tmp_path, SummaryRecord(urls=urls, partial="proxy"), 3, robots=robots)
    assert (made.state, made.partial, made.error) == (state, "proxy", error)


def test_row_of_a_crawl_without_verification_has_no_shares(tmp_path: Path) -> None:
    made = row(tmp_path, SummaryRecord(urls=1000))
    assert (made.bad, made.checked, made.not_indexable, made.indexability_checked) == (None, None, None, None)


def test_row_has_what_each_rule_concerns(tmp_path: Path) -> None:
    reach = Reach("error", 9, 12, 2)
    made = row(tmp_path, SummaryRecord(reach={"status-404": reach}, severity_reach={"error": reach}))
    write_row(tmp_path / "row.parquet", made)
    [written] = pq.read_table(tmp_path / "row.parquet").to_pylist()
    assert written["reach"] == [("status-404", asdict(reach))]
    assert written["severity_reach"] == [("error", asdict(reach))]


def test_row_states_version_site_and_start_in_its_file(tmp_path: Path) -> None:
    made = row(tmp_path, SummaryRecord(started="2026-05-01T10:00:00Z"))
    write_row(tmp_path / "row.parquet", made)
    stated = pq.read_metadata(tmp_path / "row.parquet").metadata
    assert {name: text.decode() for name, text in stated.items()} == {
        b"schema_version": str(SCHEMA_VERSION),
        b"site": "shop.example",
        b"started": "2026-05-01T10:00:00Z",
    }
    assert pq.read_table(tmp_path / "row.parquet")["started"].to_pylist() == [datetime(2026, 5, 1, 10, tzinfo=UTC)]


def test_server_that_forks_crawls_has_imported_what_they_need_but_no_reactor() -> None:
    """Processes cannot share a reactor."""
    code = "import sys, sitemapcrawler.fleet.preload; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert {"duckdb", "scrapy.core.engine", "sitemapcrawler.spiders.sitemap"} <= modules
    assert "twisted.internet.reactor" not in modules


REFUSED = RobotsRecord(
    robots="https://shop.example/robots.txt", outcome="unreachable", error="the connection was refused"
)
HTML = SitemapRecord(sitemap="http://shop.example/sitemap.xml", outcome="failed", error="an HTML page, not a sitemap")


@pytest.mark.parametrize(
    ("robots", "sitemaps", "reason"),
    [
        ([REFUSED], [], "the connection was refused"),
        ([REFUSED, RobotsRecord(status=503, outcome="unreachable", error="HTTP status 503")], [], "HTTP status 503"),
        ([REFUSED, RobotsRecord(status=403, outcome="unavailable", error="HTTP status 403")], [], "HTTP status 403"),
        ([REFUSED, RobotsRecord(status=404, outcome="unavailable", error="HTTP status 404")], [], None),
        ([REFUSED, RobotsRecord(status=200)], [], None),
        ([REFUSED], [HTML], "an HTML page, not a sitemap"),
    ],
)
def test_reason_is_that_of_the_scheme_that_answers(
    tmp_path: Path, robots: list[RobotsRecord], sitemaps: list[SitemapRecord], reason: str | None
) -> None:
    made = row(tmp_path, SummaryRecord(), NOTHING_READ, robots=robots, sitemap=sitemaps)
    assert (made.state, made.error) == ("unread", reason)
