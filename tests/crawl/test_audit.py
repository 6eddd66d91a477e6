"""`audit`: one command from a site to a verdict and a folder with a report and tables."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from sitemapcrawler.commands import audit as audit_command
from sitemapcrawler.commands.audit import fold
from sitemapcrawler.feeds.folder import CACHE, NAMES
from sitemapcrawler.feeds.scratch import claim, prefix_of
from sitemapcrawler.options.targets import target as read_target
from tests.crawl.crawling import SETTINGS, run
from tests.crawl.documents import CORE, DECLARATION, entry, index, robots, urlset
from tests.crawl.reports import ALWAYS
from tests.crawl.site_server import Reply, Route, SiteServer, moved
from tests.crawl.verified import html


def audit(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Audit without delays."""
    return run(folder, "audit", *arguments, *SETTINGS)


@pytest.fixture(scope="module")
def shop() -> Iterator[SiteServer]:
    """A site that lists two pages, one that has moved, and one that is gone."""
    with SiteServer() as site:
        pages = {"/a": html(), "/b": html(body="Another page"), "/moved": moved("/a"), "/gone": Reply("", 404)}
        sitemap = site.url("/sitemap.xml")
        site.routes = {
            "/": html(),
            "/robots.txt": robots(sitemap),
            "/sitemap.xml": urlset(*map(site.url, pages)),
            "/plain.xml": urlset(site.url("/a"), site.url("/b")),
            **pages,
        }
        yield site


def folder_in(path: Path) -> Path:
    [found] = path.iterdir()
    return found


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return found


def test_audit_of_a_site_prints_the_verdict_and_writes_a_folder(shop: SiteServer, tmp_path: Path) -> None:
    done = audit(tmp_path, shop.url(""))
    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[-2] == f"{shop.url('')}: Needs repair"
    assert "2 of 4 URLs (50 %) are not indexable." in lines[-1]
    assert lines[0] == "Most important problems:"
    problems = lines[1 : lines.index("")]
    assert re.fullmatch(r"  Error +1 URL  .+ \(status-404\)", problems[0])
    assert (
        problems[1].strip() == "Remove these URLs from the sitemap, or restore the pages. See /gone in /sitemap.xml:6."
    )
    assert len(problems) <= 2 * 5 + 1
    folder = folder_in(tmp_path)
    host = shop.url("").removeprefix("http://").replace(":", "-").rstrip("/")
    assert folder.name == f"{host}-{date.today().isoformat()}"
    assert lines[-4:-2] == [f"Report: {folder.name}/report.html", ""]
    names = {path.name for path in folder.iterdir()}
    assert {"report.html", "summary.json", *ALWAYS} <= names <= NAMES | {CACHE}
    rows = {row["loc"]: row["indexability"] for row in csv.DictReader((folder / "urls.csv").read_text().splitlines())}
    assert rows == {
        shop.url("/a"): "ok",
        shop.url("/b"): "ok",
        shop.url("/moved"): "redirect",
        shop.url("/gone"): "not found",
    }


OFFER = "Compare with the audit of {day}: add --baseline {folder}\n"


def report_in(folder: Path, day: str, *domains: str, partial: str | None = None) -> None:
    """Write what tells an audit of a day from other folders."""
    folder.mkdir()
    held = {"type": "summary", "domains": domains, "started": f"{day}T08:00:00Z", "partial": partial, "urls": 3}
    (folder / "summary.json").write_text(json.dumps(held))
    for name in ("report.html", "urls.jsonl"):
        (folder / name).touch()


@pytest.mark.parametrize(
    ("target", "out", "offered"),
    [
        ("museum.example", "museum.example-2026-11-26", ("2026-11-25", "museum.example-2026-11-25")),
        ("museum.example", "weekly", ("2026-11-25", "museum.example-2026-11-25")),
        ("other.example", "weekly", ("2026-11-24", "weekly")),
        ("https://museum.example/a.xml", "museum.example-2026-11-26", ("2026-11-20", "museum.example-2026-11-20-2")),
        ("https://museum.example/a.xml", "nowhere/else", None),
    ],
)
def test_newest_audit_of_the_target_is_offered(
    target: str, out: str, offered: tuple[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report_in(tmp_path / "museum.example-2026-11-20", "2026-11-20", "museum.example")
    report_in(tmp_path / "museum.example-2026-11-25", "2026-11-25", "museum.example")
    report_in(tmp_path / "museum.example-2026-11-25-2", "2026-11-25", "museum.example", partial="max_urls")
    report_in(tmp_path / "museum.example-2026-11-20-2", "2026-11-20")
    report_in(tmp_path / "weekly", "2026-11-24", "other.example")
    line = audit_command.offered(read_target(target), tmp_path / out)
    assert line == (offered and OFFER.format(day=offered[0], folder=offered[1]).rstrip())


def test_audit_of_an_earlier_version_is_not_offered(tmp_path: Path) -> None:
    report_in(tmp_path / "museum.example-2026-11-20", "2026-11-20", "museum.example")
    path = tmp_path / "museum.example-2026-11-20" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"rules": {"status-404": 1}}))
    assert audit_command.offered(read_target("museum.example"), tmp_path / "new") is None


def days(site: SiteServer, day: int) -> None:
    """A site on two days, with a plan for each page."""
    pages: dict[str, Route] = {path: html(body=path) for path in ("/same", "/found", "/lost", "/moves", "/dated", "/x")}
    broken = {
        1: {"/found": Reply("", 404), "/gone": Reply("", 404)},
        2: {"/lost": Reply("", 404), "/moves": moved("/x")},
    }
    pages["/same"] = html("<meta name=robots content=noindex>")
    pages |= {"/new": html(body="new")} if day == 2 else {}
    pages |= broken[day]
    dates = {path: "2026-01-05" if (path, day) == ("/dated", 2) else "2026-01-01" for path in pages}
    rows = "".join(entry(site.url(path), f"<lastmod>{date}</lastmod>") for path, date in dates.items())
    sitemap = f"{DECLARATION}<urlset {CORE}>{rows}</urlset>"
    site.routes = {"/": html(), "/robots.txt": robots(site.url("/sitemap.xml")), "/sitemap.xml": sitemap, **pages}


PLAN = [
    "/found: changed, indexability, not found, ok",
    "/found: changed, status, 404, 200",
    "/found: solved problem, status-404",
    "/gone: removed",
    "/gone: solved problem, status-404",
    "/lost: changed, indexability, ok, not found",
    "/lost: changed, status, 200, 404",
    "/lost: new problem, status-404",
    "/moves: changed, indexability, ok, redirect",
    "/moves: changed, status, 200, 302 to /x",
    "/moves: new problem, status-redirect",
    "/new: added",
    "/dated: changed, lastmod, 2026-01-01, 2026-01-05",
]
"""What has changed from the first day to the second."""
SUMS = "2 problems solved, 2 new; 1 URL added, 1 removed, 4 changed (status 3, lastmod only 1)."


@pytest.fixture(scope="module")
def first_day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SiteServer, Path]]:
    """The site, and the folder that holds the audit `first` of its first day."""
    folder = tmp_path_factory.mktemp("days")
    with SiteServer() as site:
        days(site, 1)
        audit(folder, site.url(""), "--out", "first")
        yield site, folder


@pytest.mark.slow
def test_next_day_says_what_has_changed_and_which_problems_are_solved(
    first_day: tuple[SiteServer, Path], tmp_path: Path
) -> None:
    site, earlier = first_day
    shutil.copytree(earlier / "first", tmp_path / "first")
    days(site, 2)
    second, home = tmp_path / "first", site.url("")
    done = audit(tmp_path, home, "--out", "first", "--baseline", "first", "--fail-on", "never")
    assert (done.returncode, done.stderr) == (0, ""), "whatever the errors"
    assert re.fullmatch(rf"Since the audit of [0-9-]{{10}}: {re.escape(SUMS)}", done.stdout.splitlines()[-1])
    rows = list(csv.DictReader((second / "changes.csv").read_text().splitlines()))
    told = [
        f"{row['url']}: {', '.join(filter(None, [row[name] for name in ('change', 'what', 'before', 'after', 'rule')]))}"
        for row in rows
    ]
    assert sorted(line.replace(home.rstrip("/"), "") for line in told) == sorted(PLAN)
    book = load_workbook(second / "audit.xlsx", read_only=True)
    assert book["Changes"].max_row == 1 + len(rows)
    counts = summary(second)["changes"]
    assert {name: counts[name] for name in ("added", "removed", "changed", "unchanged")} == {
        "added": 1, "removed": 1, "changed": 4, "unchanged": 2,
    }  # fmt: skip


LATER: dict[str, tuple[str, ...]] = {
    "no pages": ("--no-pages",),
    "one family with links": ("-a", "select=loc", "-a", "links=yes"),
    "all families": (),
}
"""Audits of a site that does not change, each with the one before as its baseline."""


@pytest.fixture(scope="module")
def unchanged(first_day: tuple[SiteServer, Path]) -> dict[str, list[str]]:
    """The lines of each audit of `LATER`."""
    site, folder = first_day
    days(site, 1)
    names = ["first", *LATER]
    return {
        name: audit(folder, site.url(""), "--out", name, "--baseline", before, *LATER[name]).stdout.splitlines()
        for before, name in pairwise(names)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", LATER)
def test_what_one_of_two_audits_did_not_check_is_no_change(
    first_day: tuple[SiteServer, Path], unchanged: dict[str, list[str]], name: str
) -> None:
    folder, lines = first_day[1] / name, unchanged[name]
    assert len((folder / "changes.csv").read_text().splitlines()) == 1
    assert summary(folder)["changes"]["unchanged"] == 7
    [at] = [at for at, line in enumerate(lines) if line.startswith("Nothing has changed since the audit of ")]
    if name == "all families":
        assert "page-noindex-meta" in summary(folder)["rules"], "a rule that was not applied in the audit before"
        left_out = r"Problems that were not compared: .* and \d+ more \(applied by one crawl only\)\."
        assert re.fullmatch(left_out, "\n".join(lines[at + 1 :]))


NO_BASELINES: list[tuple[dict[str, Route], tuple[str, ...], int]] = [
    ({"/sitemap.xml": Reply("", 503)}, (), 4),
    ({"/sitemap.xml": urlset()}, (), 0),
    ({}, ("-a", "max_urls=1"), 3),
]
"""Nights on which the site is down, lists nothing, or is unchanged and read to a limit: its files, arguments, exit code."""


@pytest.mark.slow
def test_audit_that_is_no_baseline_stands_beside_the_one_it_would_replace(tmp_path: Path) -> None:
    folder, nightly = tmp_path / "nightly", ("--out", "nightly", "--no-pages")
    with SiteServer() as site:
        listed = robots(site.url("/1.xml"), site.url("/2.xml"))
        first = {
            "/robots.txt": listed,
            "/1.xml": urlset(site.url("/a")),
            "/2.xml": urlset(*map(site.url, ("/a", "/b"))),
        }
        site.routes = {**first}
        done = audit(tmp_path, site.url(""), *nightly, "--baseline", "./nightly")
        assert (done.returncode, done.stderr) == (0, ""), "the first one replaces nothing"
        assert "cross-duplicate-url" in summary(folder)["rules"]
        before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        for files, more, code in NO_BASELINES:
            site.routes = {**(files or first)}
            done = audit(tmp_path, site.url(""), *nightly, "--baseline", "nightly", *more)
            assert (done.returncode, "Report: nightly-incomplete/report.html" in done.stdout) == (code, True)
            assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        assert "cross-duplicate-url" not in (tmp_path / "nightly-incomplete" / "changes.csv").read_text()
        site.routes = {"/sitemap.xml": urlset(site.url("/a"))}
        assert audit(tmp_path, site.url(""), *nightly, "--baseline", "nightly").returncode == 0
    assert summary(folder)["changes"]["removed"] == 1


def test_audit_of_another_site_is_no_baseline(shop: SiteServer, tmp_path: Path) -> None:
    report_in(tmp_path / "other", "2026-11-25", "museum.example")
    (tmp_path / "other" / "urls.jsonl").write_text('{"type": "url", "loc": "https://a.b/", "sitemap": "https://a.b/s"}')
    done = audit(tmp_path, shop.url(""), "--baseline", "other")
    [line] = done.stderr.splitlines()
    assert done.returncode == 2
    assert "is of a.b, not of 127.0.0.1" in line


@pytest.mark.slow
def test_folder_of_the_day_that_a_killed_audit_left_is_taken_again(shop: SiteServer, tmp_path: Path) -> None:
    host = shop.url("").removeprefix("http://").replace(":", "-")
    folder = tmp_path / f"{host}-{date.today().isoformat()}"
    for name in (".cache", ".feed"):
        (folder / f"{prefix_of(name)}left").mkdir(parents=True)
    audit(tmp_path, shop.url("/plain.xml"), "--no-pages")
    assert folder_in(tmp_path) == folder
    assert {file.name for file in folder.iterdir()} >= {*ALWAYS, "report.html"}
    assert list(folder.glob(".*")) == []
    with ExitStack() as stack:
        claim(tmp_path / f"{folder.name}-2", stack)  # as an audit that has just begun
        audit(tmp_path, shop.url("/plain.xml"), "--no-pages")
    assert {path.name for path in tmp_path.iterdir()} == {folder.name, f"{folder.name}-3"}, "a whole one stays"


def test_chosen_folder_is_replaced(first_day: tuple[SiteServer, Path], tmp_path: Path) -> None:
    site, earlier = first_day
    shutil.copytree(earlier / "first", tmp_path / "results")
    day = summary(tmp_path / "results")["started"][:10]
    done = audit(tmp_path, site.url(""), "--no-pages", "--out", "results")
    assert "Report: results/report.html" in done.stdout.splitlines()
    assert (done.stdout.startswith(OFFER.format(day=day, folder="results")), done.stderr) == (True, "")
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_pages_are_not_requested_on_demand(shop: SiteServer, tmp_path: Path) -> None:
    before = len(shop.exchanges)
    done = audit(tmp_path, shop.url("/sitemap.xml"), "--no-pages")
    assert done.returncode == 0
    assert ": Sitemap files are valid" in done.stdout
    assert "Pages were not checked" in done.stdout
    assert not {exchange.path for exchange in shop.exchanges[before:]} & {"/a", "/b", "/moved", "/gone"}


def test_sample_requests_so_many_pages(shop: SiteServer, tmp_path: Path) -> None:
    before = len(shop.exchanges)
    audit(tmp_path, shop.url("/plain.xml"), "--sample", "1")
    assert len({exchange.path for exchange in shop.exchanges[before:]} & {"/a", "/b"}) == 1


def test_file_is_audited_as_if_it_were_served(shop: SiteServer, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "site.map.xml").write_bytes(urlset(shop.url("/a"), shop.url("/gone")))
    done = audit(here, "../site.map.xml", "-a", f"base_url={shop.url('/')}")
    assert done.returncode == 1
    assert "1 of 2 URLs (50 %) is not indexable." in done.stdout
    assert folder_in(here).name == f"site-{date.today().isoformat()}"


@pytest.mark.slow
def test_options_of_a_file_apply_and_the_command_line_wins(shop: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "sitemapcrawler.toml").write_text(
        'verify = "head"\nignore = ["status"]\nfail-on = "never"\nmax-urls = 2\n'
    )
    before = len(shop.exchanges)
    done = audit(tmp_path, shop.url("/sitemap.xml"), "--out", "first", "-a", "max_urls=4")
    assert done.returncode == 0, "fail-on of the file"
    assert "Limited by sitemapcrawler.toml: verify = head, ignore = status, fail-on = never." in done.stdout
    assert "status-" not in done.stdout
    asked = [exchange.method for exchange in shop.exchanges[before:] if exchange.path in ("/a", "/b")]
    assert asked and set(asked) == {"HEAD"}
    done = audit(tmp_path, shop.url("/sitemap.xml"), "-a", "max_urls=4", "-a", "ignore=lastmod", "--fail-on", "error")
    assert done.returncode == 1
    before = len(shop.exchanges)
    done = audit(tmp_path, shop.url("/sitemap.xml"), "-a", "ignore=none", "--fail-on", "error", "--no-pages")
    assert done.returncode == 3, "max-urls of the file"
    assert not {exchange.path for exchange in shop.exchanges[before:]} & {"/a", "/b"}


def test_private_address_that_a_file_names_is_not_requested(shop: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "site.xml").write_bytes(urlset(shop.url("/secret")))
    (tmp_path / "sitemapcrawler.toml").write_text(f'base-url = "{shop.url("/")}"\n')
    assert audit(tmp_path, "site.xml", "--out", "results").returncode == 0
    assert "/secret" not in shop.paths
    assert "address-refused" in (tmp_path / "results" / "urls.csv").read_text()
    audit(tmp_path, "site.xml", "--out", "again", "-a", f"base_url={shop.url('/sitemap.xml')}")
    assert "/secret" in shop.paths, "the command line may name it"


@pytest.mark.slow
def test_dead_site_is_one_problem_told_once(tmp_path: Path) -> None:
    with SiteServer() as site:
        site.routes = {"/robots.txt": Reply("", 503)}
        done = audit(tmp_path, site.place)
    assert done.returncode == 4
    assert done.stdout.splitlines()[-2].endswith(": Nothing could be read")
    assert done.stdout.count("HTTP status 503") == 1
    assert "Error    1 file  robots.txt cannot be fetched" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (0, "Repair the server, so that it answers."),
        (40, "Repair the server, so that it\n     answers."),
        (30, "Repair the server, so that it answers."),
    ],
)
def test_sentences_fold_between_words_unless_a_terminal_is_too_narrow(columns: int, shown: str) -> None:
    assert fold("Repair the server, so that it answers.", columns, " " * 5) == shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "audit takes one site, URL or file, and got none"),
        (
            ("a.example", "b.example"),
            "audit takes one site, URL or file, and got 2; for several sites: crawl sitemap -a",
        ),
        (("http://a.example,http://b.example",), "not a valid http or https URL; for several sites: crawl sitemap -a"),
        (("a.example", "--sample", "1", "--no-pages"), "--sample and --no-pages exclude each other"),
        (("a.example", "--baseline", "taken"), "argument baseline='taken': the folder contains none of "),
        (("a.example", "--out", "new", "--baseline", "gone"), "argument baseline='gone': no such file or folder"),
        (("a.example", "--out", "taken"), "--out taken: is not empty"),
        (("a.example", "--out", ""), "--out '': is empty"),
        (("a.example", "--out", "/proc/x/y"), "--out /proc/x/y: cannot be written, "),
        (("a.example", "--no-pages", "-a", "verify=head"), "--no-pages and -a verify=head exclude each other"),
        (("a.example", "-a", "domain=b.example"), "argument domain='b.example': not for audit"),
        (("a.example", "-a", "report=here"), "argument report='here': not for audit; accepted: --out DIR"),
        (("a.example", "--fail-on", "bad"), "--fail-on 'bad': accepted: error, warning, never"),
        (("./taken",), "./taken: is a folder; accepted: a file (sitemapcrawler validate checks folders)"),
    ],
)
def test_wrong_argument_is_refused_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], words: str, refusal: Callable[..., str]
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    assert words in refusal("audit", *arguments)
    assert list(tmp_path.glob("*-20*")) == []


def test_default_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/proc")
    words = rf"a\.example-{date.today()}: cannot be written, .*; name a folder with --out$"
    with pytest.raises(ValueError, match=words):
        audit_command._out(read_target("a.example"), None, ExitStack())


@pytest.mark.slow
def test_files_before_publishing_ask_nothing_of_the_site(shop: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "index.xml").write_bytes(index(shop.url("/child.xml")))
    (tmp_path / "child.xml").write_bytes(urlset(shop.url("/a")))
    before = len(shop.exchanges)
    base = ("-a", f"base_url={shop.url('/')}")
    done = audit(tmp_path, "index.xml", "--no-pages", "--out", "offline", *base)
    assert (done.returncode, len(shop.exchanges)) == (0, before)
    assert ": Sitemap files are valid" in done.stdout
    [row] = csv.DictReader((tmp_path / "offline" / "urls.csv").read_text().splitlines())
    assert row["loc"] == shop.url("/a")
    audit(tmp_path, "index.xml", "--no-pages", "--out", "asking", "-a", "agents=Googlebot", *base)
    assert len(shop.exchanges) > before


def test_help_lists_every_argument_with_its_default(tmp_path: Path) -> None:
    shown = " ".join(audit(tmp_path, "-h").stdout.split())
    for words in (
        "verify Request every listed URL",
        "(default: get)",
        "max_depth Read at most this number of nested indexes. Accepted: a whole number from 0 (default: 10)",
    ):
        assert words in shown
    assert " domain the sites" not in shown
    assert "sitemapcrawler audit [options] SITE|URL|FILE" in shown
