"""`sitemapcrawler.audit()`: records and data frames from a script or a notebook."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import sitemapcrawler
from sitemapcrawler import AuditError, AuditResult, FindingRecord, RecordTable, RobotsRecord, SitemapRecord, UrlEntry
from sitemapcrawler.feeds.folder import CACHE, NAMES
from sitemapcrawler.items import EXTENSIONS, SCHEMA_VERSION, AlternateRecord, ImageRecord, extension_records
from tests.crawl.crawling import AT_HOME, DEADLINE_S, NO_DELAYS
from tests.crawl.documents import dated, index, robots
from tests.crawl.forks import environment
from tests.crawl.reports import ALWAYS
from tests.crawl.site_server import Reply, SiteServer, moved
from tests.crawl.verified import html

SETTINGS: dict[str, object] = {**NO_DELAYS, **AT_HOME}
HOSTILE = "/<script>alert(1)</script>"
SCRIPT = """
import asyncio, json, sys
import sitemapcrawler

async def main():
    audit = sitemapcrawler.audit(sys.argv[1], verify="head", settings=json.loads(sys.argv[2]))
    print(audit.verdict, len(audit.urls))

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def shop() -> Iterator[SiteServer]:
    """A site that lists two pages, one that has moved, one that is gone, and one whose name is HTML."""
    with SiteServer() as site:
        pages = {"/a": html(), "/b": html(body="Another page"), "/moved": moved("/a"), "/gone": Reply("", 404)}
        sitemap = site.url("/sitemap.xml")
        urls = [*map(site.url, pages), site.url(HOSTILE).replace("<", "&lt;")]
        site.routes = {
            "/": html(),
            "/robots.txt": robots(sitemap),
            "/sitemap.xml": dated(dict.fromkeys(urls, "2024-05-01T12:00:00+02:00")),
            **pages,
        }
        yield site


@pytest.fixture(scope="module")
def result(shop: SiteServer) -> AuditResult:
    return sitemapcrawler.audit(shop.url(""), settings=SETTINGS)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary files are made."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def test_records_are_typed(shop: SiteServer, result: AuditResult) -> None:
    assert (result.verdict, result.log) == ("Needs repair", "")
    assert "3 of 5 URLs (60 %) are not indexable." in result.reasons
    verdict = json.loads((result.folder / "summary.json").read_text())["verdict"]
    assert (verdict["level"], verdict["headline"], " ".join(verdict["sentences"])) == (
        "error", result.verdict, result.reasons,
    )  # fmt: skip
    assert (result.summary.urls, result.summary.sitemaps, result.summary.partial) == (5, 1, None)
    urls = list(result.urls)
    assert {type(url) for url in urls} == {UrlEntry}
    assert [url.indexability for url in urls] == ["ok", "ok", "redirect", "not found", "not found"]
    assert {url.lastmod_at for url in urls} == {datetime(2024, 5, 1, 10, tzinfo=UTC)}
    assert urls[0].reply is not None
    assert urls[0].reply.status == 200
    assert urls[2].reply is not None
    assert [hop.url for hop in urls[2].reply.redirects] == [shop.url("/moved")]
    for table, kind in (
        (result.findings, FindingRecord),
        (result.sitemaps, SitemapRecord),
        (result.robots, RobotsRecord),
    ):
        assert {type(record) for record in table} == {kind}
        assert len(table) == len(list(table))
    assert sum(finding.rule == "status-404" for finding in result.findings) == 2
    assert "<title>" in result.report.read_text()


GOOD_FILES = ("mixed.xml", "foreign-namespaces.xml", "video-all-elements.xml")


@pytest.mark.slow
def test_entries_have_all_that_their_files_say(site: SiteServer, tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "data/good"
    site.routes = {f"/{name}": (folder / name).read_bytes() for name in GOOD_FILES}
    site.routes["/index.xml"] = index(*map(site.url, site.routes))
    told = ("images", "videos", "news", "alternates", "extra", "lastmod_at", "priority", "changefreq")
    audited: dict[str, list[list[object]]] = {}
    result = sitemapcrawler.audit(site.url("/index.xml"), verify="off", settings=SETTINGS)
    for kind, namespace in EXTENSIONS.items():
        table = getattr(result, namespace.field)
        rows = [replace(row, returns=None) if kind is AlternateRecord else row for row in table]
        assert rows == [row for url in result.urls for row in extension_records(url, [kind])]
        assert len(table) == table.to_arrow().num_rows > 0
        assert table.to_arrow().schema.equals(RecordTable(namespace.field, kind, tmp_path).to_arrow().schema)
    for url in result.urls:
        values = [getattr(url, field) or None for field in told]
        audited.setdefault(url.sitemap.rpartition("/")[2], []).append(values)
    assert audited == {
        name: [[getattr(url, field) or None for field in told] for url in sitemapcrawler.read_sitemap(folder / name)]
        for name in GOOD_FILES
    }


def test_tables_become_data_frames(shop: SiteServer, result: AuditResult) -> None:
    arrow, frame, polars = result.urls.to_arrow(), result.urls.to_pandas(), result.urls.to_polars()
    names = [one.name for one in fields(UrlEntry)]
    assert arrow.column_names == list(frame.columns) == polars.columns == names
    assert list(frame["loc"]) == polars["loc"].to_list() == [url.loc for url in result.urls]
    moment = datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert arrow["lastmod_at"][0].as_py() == polars["lastmod_at"][0] == frame["lastmod_at"][0] == moment
    assert str(frame["lastmod_at"].dtype) == "datetime64[us, UTC]"
    assert result.sitemaps.to_arrow()["lastmod_max"].to_pylist() == [moment]


def test_parquet_files_state_site_and_start(shop: SiteServer, result: AuditResult) -> None:
    for name in ("urls", "findings", "sitemaps", "robots"):
        stated = pq.read_metadata(result.folder / f"{name}.parquet").metadata
        assert (stated[b"site"], stated[b"started"]) == (shop.url().encode(), result.summary.started.encode())
        assert stated[b"schema_version"] == str(SCHEMA_VERSION).encode()


def test_other_tables_become_data_frames(result: AuditResult) -> None:
    assert (len(result.images), list(result.images), result.images.to_arrow().num_rows) == (0, [], 0)
    assert list(result.images.to_pandas().columns) == [one.name for one in fields(ImageRecord)]
    for table in (result.findings, result.sitemaps, result.robots):
        assert table.to_arrow().num_rows == len(table.to_pandas()) == table.to_polars().height == len(table)


@pytest.mark.parametrize("package", ["pyarrow", "pandas", "polars"])
def test_missing_package_is_named(result: AuditResult, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"need.* {package}.*: pip install .*pyarrow"):
        getattr(result.urls, "to_arrow" if package == "pyarrow" else f"to_{package}")()


def test_parquet_missing_from_an_earlier_audit_is_named(tmp_path: Path) -> None:
    (tmp_path / "urls.jsonl").write_bytes(b"")
    with pytest.raises(ImportError, match="before the audit"):
        RecordTable("urls", UrlEntry, tmp_path).to_arrow()


@pytest.mark.parametrize("name", ["urls", "images"])
@pytest.mark.parametrize("read", [len, list, RecordTable.to_arrow])
def test_removed_folder_is_named(name: str, read: Callable[[RecordTable[Any]], object], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{name}.jsonl"):
        read(RecordTable(name, ImageRecord if name == "images" else UrlEntry, tmp_path / "removed"))


def test_results_and_tables_say_what_they_are(shop: SiteServer, result: AuditResult) -> None:
    assert repr(result).startswith(f"<AuditResult {shop.url('')}: Needs repair, 5 URLs, 1 sitemap, ")
    assert repr(result.urls) == "<RecordTable urls: 5 records>"


def test_reading_takes_the_same_memory_for_any_number_of_records(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        with (tmp_path / "urls.jsonl").open("w") as file:
            file.writelines(
                f'{{"loc": "https://e.com/{n}", "lastmod_at": "2024-05-01T00:00:00Z"}}\n' for n in range(count)
            )
        table = RecordTable("urls", UrlEntry, tmp_path)
        tracemalloc.start()
        assert sum(1 for _ in table) == len(table) == count
        _, top = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return top

    peak(100)
    assert peak(5_000) < peak(1_000) + 2**16


@pytest.mark.slow
def test_folder_of_a_crawl_that_ends_at_a_limit_lasts_as_long_as_a_table(shop: SiteServer, temporary: Path) -> None:
    result = sitemapcrawler.audit(shop.url("/sitemap.xml"), max_urls=2, verify="off", settings=SETTINGS)
    assert result.summary.partial == "max_urls"
    urls = result.urls
    del result
    gc.collect()
    [folder] = temporary.iterdir()
    assert len(list(urls)) == 2
    del urls
    gc.collect()
    assert not folder.exists()


@pytest.mark.slow
def test_audit_that_cannot_replace_its_baseline_is_read_from_beside_it(shop: SiteServer, tmp_path: Path) -> None:
    given: dict[str, Any] = {"out": tmp_path / "a", "verify": "off", "settings": SETTINGS}
    first = sitemapcrawler.audit(shop.url("/sitemap.xml"), **given)
    second = sitemapcrawler.audit(shop.url("/sitemap.xml"), **given, baseline=str(tmp_path / "a"), max_urls=2)
    assert (second.folder, second.summary.partial) == (tmp_path / "a-incomplete", "max_urls")
    assert (first.folder, first.summary.partial) == (tmp_path / "a", None)
    assert (first.log, second.log) == ("", "")


def test_folder_of_the_caller_has_all_files(shop: SiteServer, temporary: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = sitemapcrawler.audit(
        shop.url("/sitemap.xml"),
        out=out,
        settings=SETTINGS,
        verify="off",
        include=re.compile("/[AB]$", re.IGNORECASE),
        since=date(2024, 1, 1),
        ignore=["status", "lastmod"],
        probe=None,
        findings="all",
        max_urls=7,
        verify_offsite=False,
    )
    assert [url.loc for url in result.urls] == [shop.url("/a"), shop.url("/b")]
    names = {one.name for one in out.iterdir()}
    assert {"report.html", "summary.json", "urls.jsonl", "urls.parquet", *ALWAYS} <= names <= NAMES | {CACHE}
    assert (result.folder, result.report) == (out, out / "report.html")
    assert not list(temporary.iterdir())


@pytest.mark.slow
def test_broken_policy_is_a_result(shop: SiteServer) -> None:
    limits = "min-urls=1000,max-errors=1000"
    result = sitemapcrawler.audit(shop.url("/sitemap.xml"), settings=SETTINGS, verify="off", policy=limits)
    assert len(result.urls) == 5
    assert [one.limit for one in result.summary.breaches or ()] == ["min-urls=1000"]
    assert "1 policy limit is broken" in result.reasons


@pytest.mark.parametrize(
    ("target", "arguments", "words"),
    [
        (7, {}, "target=7: accepted: a site, a URL or a file"),
        (Path("no-such.xml"), {}, "no-such.xml: no such file"),
        (
            "e.com",
            {"max_urls": {}},
            "argument max_urls={}: accepted: text, a number, True, False, a date, a list of texts",
        ),
        ("e.com", {"include": re.compile("a b", re.VERBOSE)}, "accepted: an expression of texts, without re.VERBOSE"),
        (
            "e.com",
            {"include": ["/a/", "/b/"]},
            "argument include=['/a/', '/b/']: accepted: one expression, such as '/a/|/b/'",
        ),
        ("e.com", {"report": "out"}, "argument report='out': accepted: out, the folder of the report"),
        ("e.com", {"settings": ["A"]}, "settings=['A']: accepted: a mapping of names to values"),
        ("e.com", {"out": 7}, "out=7: accepted: the path of a folder"),
        ("e.com", {"settings": {"SITEMAP_SEVERITIES": {"a": object()}}}, "accepted: an object that JSON can hold"),
        ("e.com", {"out": "/proc"}, "out=/proc: is not empty"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    target: Any, arguments: dict[str, Any], words: str, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        sitemapcrawler.audit(target, **arguments)
    assert "\n" not in str(error.value)
    assert not list(Path().iterdir())
    assert not list(temporary.iterdir())


@pytest.mark.slow
def test_site_without_a_readable_sitemap_is_an_error(shop: SiteServer, temporary: Path) -> None:
    with pytest.raises(AuditError, match=r"/none\.xml: Nothing could be read: HTTP status 404") as error:
        sitemapcrawler.audit(shop.url("/none.xml"), settings=SETTINGS)
    assert error.value.code == 4
    assert not list(temporary.iterdir())


@pytest.mark.slow
def test_script_without_a_main_guard_and_with_a_running_loop(shop: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = no.such.project\n")
    done = subprocess.run(
        [sys.executable, "script.py", shop.url("/sitemap.xml"), json.dumps(SETTINGS)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=DEADLINE_S,
    )
    assert (done.stdout, done.stderr) == ("Needs repair 5\n", "")


@pytest.mark.slow
def test_notebook_runs(shop: SiteServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient, nbformat = map(import_module, ("nbclient", "nbformat"))  # takes a second and a half
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    cells = [
        "import asyncio, sitemapcrawler\nassert asyncio.get_running_loop()",
        f"audit = sitemapcrawler.audit({shop.url('/sitemap.xml')!r}, verify='head', settings={SETTINGS!r})\naudit",
        "audit.urls.to_pandas().groupby('indexability').size().to_dict()",
        f"sitemapcrawler.read_sitemap({shop.url('/sitemap.xml')!r}, settings={SETTINGS!r})",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(notebook, timeout=DEADLINE_S, resources={"metadata": {"path": str(tmp_path)}})
    asyncio.run(client.async_execute())  # which closes its event loop; execute() leaves one open
    shown = [cell.outputs[-1].data if cell.outputs else {} for cell in notebook.cells]
    assert "Needs repair" in shown[1]["text/plain"]
    assert shown[2]["text/plain"] == "{'not found': 2, 'page not read': 2, 'redirect': 1}"
    assert "not read yet" in shown[3]["text/plain"]
