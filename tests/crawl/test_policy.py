"""Segments and the policy of a site, from the command line and a file to every output."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest

from sitemapcrawler.options.configuration import TABLES
from sitemapcrawler.policy import KEYS
from tests.crawl.crawling import SETTINGS, Crawl, crawl, run
from tests.crawl.documents import dated, index, robots, urlset
from tests.crawl.site_server import Reply, Route, SiteServer
from tests.crawl.verified import html

PAGE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")
SHOP = [f"/shop/{number}" for number in range(8)]
BLOG = [f"/blog/{number}" for number in range(4)]
HIDDEN, GONE, REMOVED = ("/shop/0", "/shop/1"), "/blog/0", ("/shop/6", "/shop/7")
TABLE = """
[segments]
shop = "/shop/**"
blog = "/blog/"
"""
KEPT = """
[policy]
max-removed = 2
min-urls = "80%"
max-not-indexable = "30%"
must-list = ["/$", "/shop/5"]
must-not-list = "/intern/"
max-errors = 3
[policy.shop]
max-removed = "25%"
max-errors = {status-404 = 0}
[policy.blog]
max-not-indexable = 1
"""
BROKEN = """
[policy]
max-removed = "10%"
min-urls = 12
must-list = "/terms"
must-not-list = "/shop/2"
min-lastmod-trust = "50%"
max-errors = {status-404 = 0, page = "10%"}
[policy.shop]
max-not-indexable = 1
[policy.blog]
max-removed = 0
"""
BREACHES = [
    "max-removed=10%: 2 of 13 URLs (15.38 %) are no longer listed",
    "min-urls=12: 11 URLs are listed, 13 before",
    "must-list=/terms: no listed URL matches",
    "must-not-list=/shop/2: 1 URL is listed, such as SITE/shop/2",
    "min-lastmod-trust=50%: nothing is known of the dates",
    "max-errors.status-404=0: 1 URL has findings of status-404",
    "max-errors.page=10%: 2 URLs have errors of page (18.18 %)",
    "shop.max-not-indexable=1: 2 of 6 URLs (33.33 %) are not indexable",
]


def routes(server: SiteServer, removed: Iterable[str] = (), spoiled: bool = False) -> dict[str, Route]:
    """A site with a shop and a blog. `removed`: pages that are not listed; `spoiled`: two pages of the shop are noindex,
    and one of the blog is gone."""
    pages: dict[str, Route] = {path: html(body=f"Page {path}") for path in ("/", *SHOP, *BLOG)}
    if spoiled:
        pages |= {path: html("<meta name=robots content=noindex>", body=path) for path in HIDDEN}
        pages[GONE] = Reply("", 404)
    files = {"/a.xml": ["/", *(path for path in SHOP if path not in removed)], "/b.xml": BLOG}
    return {
        **pages,
        "/robots.txt": robots(server.url("/sitemap.xml")),
        "/sitemap.xml": index(*map(server.url, files)),
        **{name: urlset(*map(server.url, paths)) for name, paths in files.items()},
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteServer]:
    """The site on its second day: two pages of the shop are no longer listed."""
    with SiteServer() as server:
        server.routes = routes(server, spoiled=True)
        yield server


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SiteServer, str]]:
    """The site on its second day, and the audit of the first."""
    folder = tmp_path_factory.mktemp("yesterday")
    with SiteServer() as server:
        server.routes = routes(server)
        run(folder, "audit", server.url("/"), "--out", "first", *SETTINGS)
        server.routes = routes(server, REMOVED, spoiled=True)
        yield server, str(folder / "first")


def segments_of(done: Crawl) -> dict[str, tuple[int, ...]]:
    fields = ("urls", "indexable", "not_indexable", "errors")
    return {one["segment"]: tuple(one[name] for name in fields) for one in done.summary.get("segments", ())}


def named(done: Crawl) -> Counter[str | None]:
    return Counter(row.get("segment") for row in done.of_type("url"))


def test_finished_job_counts_again_with_other_segments_and_requests_nothing(site: SiteServer, tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"settings": {"JOBDIR": "job"}, "domain": site.url(), "verify": "get"}
    done = crawl(tmp_path, **arguments, segments="shop=/shop/**,blog=/blog/")
    assert segments_of(done) == {"shop": (8, 6, 2, 2), "blog": (4, 3, 1, 1), "other": (1, 1, 0, 0)}
    assert named(done) == {"shop": 8, "blog": 4, "other": 1}
    assert "breaches" not in done.summary
    connections = site.connections
    done = crawl(tmp_path, **arguments, segments="odd=*1$", policy="odd.max-not-indexable=0,min-urls=13")
    assert segments_of(done) == {"odd": (2, 1, 1, 1), "other": (11, 9, 2, 2)}
    assert named(done) == {"odd": 2, "other": 11}
    assert done.code == 1
    [breach] = done.summary["breaches"]
    assert breach == {"limit": "odd.max-not-indexable=0", "message": "1 of 2 URLs (50 %) is not indexable"}
    done = crawl(tmp_path, **arguments, policy="min-urls=13")
    assert (done.code, done.summary["breaches"], segments_of(done), named(done)) == (0, [], {}, {None: 13})
    assert site.connections == connections


@pytest.mark.slow
def test_finished_job_still_knows_which_dates_of_a_segment_proved_true(tmp_path: Path) -> None:
    with SiteServer() as server:
        for job, day in (("first", "2026-05-01"), ("second", "2026-05-09")):
            pages = {server.url(path): day if path == SHOP[0] else "2026-05-01" for path in (*SHOP, *BLOG)}
            server.routes = routes(server) | {"/b.xml": dated(pages), "/sitemap.xml": index(server.url("/b.xml"))}
            arguments: dict[str, Any] = {"domain": server.url(), "verify": "get", "settings": {"JOBDIR": job}}
            arguments |= {} if job == "first" else {"baseline": "first", "policy": "shop.min-lastmod-trust=90%"}
            crawl(tmp_path, **arguments, segments="shop=/shop/,blog=/blog/")
        messages = []
        for segments in ("shop=/shop/,blog=/blog/", "shop=/shop/"):
            messages += [one["message"] for one in crawl(tmp_path, **arguments, segments=segments).summary["breaches"]]
    assert messages == ["at most 87.5 % of the dates can be trusted", "nothing is known of the dates"]


def test_crawl_that_ends_at_a_limit_counts_what_it_has_read_and_breaks_its_policy(
    site: SiteServer, tmp_path: Path
) -> None:
    done = crawl(tmp_path, domain=site.url(), segments="shop=/shop/", max_urls="5", policy="min-urls=0")
    assert done.code == 1
    assert {name: urls for name, (urls, *_) in segments_of(done).items() if urls} == named(done)
    assert named(done).total() == 5
    why = "the crawl ended early (max_urls), so the policy was not checked"
    assert done.summary["breaches"] == [{"limit": "", "message": why}]
    assert f"policy: {why}" in done.log


# The commands


def checked(
    command: str, days: tuple[SiteServer, str], folder: Path, table: str, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run a command on the second day of the site with a configuration file."""
    site, first = days
    (folder / "sitemapcrawler.toml").write_text(TABLE + table)
    target = {
        "audit": [site.url("/"), "--out", "today", "--baseline", first, "--fail-on", "never"],
        "validate": [site.url("/"), "--verify", "get", "--baseline", first, "--fail-on", "never"],
        "crawl": [
            "sitemap",
            "-a",
            f"domain={site.url()}",
            "-a",
            "verify=get",
            "-a",
            f"baseline={first}",
            "-O",
            "all.jsonl",
        ],
    }[command]
    return run(folder, command, *target, *words, *SETTINGS)


@pytest.mark.slow
def test_policy_that_is_kept_changes_nothing(days: tuple[SiteServer, str], tmp_path: Path) -> None:
    done = checked("audit", days, tmp_path, KEPT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search("policy (?!is kept)", done.stdout + done.stderr, re.IGNORECASE)


def broken_limits(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines on limits of a run that fails by them."""
    assert done.returncode == 1
    return re.findall(r"^.*policy:? +(\S+=.*)$", done.stdout + done.stderr, re.IGNORECASE | re.MULTILINE)


def test_each_broken_limit_is_a_line_and_fails_the_run(days: tuple[SiteServer, str], tmp_path: Path) -> None:
    lines = broken_limits(checked("crawl", days, tmp_path, BROKEN))
    assert lines == [breach.replace("SITE", days[0].url()) for breach in BREACHES]


def test_broken_limits_of_an_audit_are_in_its_output_report_workbook_and_summary(
    days: tuple[SiteServer, str], tmp_path: Path
) -> None:
    done = checked("audit", days, tmp_path, BROKEN)
    assert broken_limits(done) == [breach.replace("SITE", days[0].url()) for breach in BREACHES]
    assert "8 policy limits are broken, or could not be checked." in done.stdout
    summary = json.loads((tmp_path / "today" / "summary.json").read_text())
    breaches = [f"{one['limit']}: {one['message']}" for one in summary["breaches"]]
    assert breaches == [breach.replace("SITE", days[0].url()) for breach in BREACHES]
    assert summary["verdict"]["level"] == "error"
    page = (tmp_path / "today" / "report.html").read_text()
    assert page.count("<li><code>") == len(BREACHES)
    sheet = openpyxl.load_workbook(tmp_path / "today" / "audit.xlsx")["Summary"]
    limits = [row[1] for row in sheet.iter_rows(values_only=True) if row[0] == "Broken limit"]
    assert limits == [breach.partition(": ")[0] for breach in BREACHES]
    segments = {one["segment"]: one for one in summary["segments"]}
    assert (segments["shop"]["removed"], segments["shop"]["urls"], segments["blog"]["removed"]) == (2, 6, 0)
    urls = duckdb.read_parquet(str(tmp_path / "today" / "urls.parquet"))
    assert Counter(urls.select("segment", "change").fetchall())[("shop", "removed")] == 2


@pytest.mark.slow
def test_changes_are_told_by_segment(tmp_path: Path) -> None:
    fields = ("new_problems", "solved_problems", "remaining_problems", "added", "removed")
    with SiteServer() as server:
        arguments: dict[str, Any] = {"domain": server.url(), "verify": "get"}
        server.routes = routes(server, ["/shop/7"], spoiled=True)
        crawl(tmp_path, settings={"JOBDIR": "first"}, **arguments)
        server.routes = routes(server, ["/shop/6"], spoiled=True) | {GONE: html(body="Back"), BLOG[3]: Reply("", 404)}
        arguments |= {"settings": {"JOBDIR": "second"}, "baseline": "first"}
        for segments, counts in (
            ("shop=/shop/,blog=/blog/", {"shop": (0, 0, 2, 1, 1), "blog": (1, 1, 0, 0, 0), "other": (0, 0, 0, 0, 0)}),
            ("shop=/shop/,blog=/blog/", {"shop": (0, 0, 2, 1, 1), "blog": (1, 1, 0, 0, 0), "other": (0, 0, 0, 0, 0)}),
            ("gone=/blog/0", {"gone": (0, 1, None, 0, 0), "other": (1, 0, None, 1, 1)}),  # not compared again
        ):
            done = crawl(tmp_path, report="report", segments=segments, **arguments)
            found = {one["segment"]: tuple(map(one.get, fields)) for one in done.summary["segments"]}
            assert found == counts
            shown = {(one["change"], one["segment"]) for one in done.of_type("change") if one.get("rule")}
            assert shown == {("new problem", [*counts][1]), ("solved problem", "blog" if "blog" in counts else "gone")}
            page = (tmp_path / "report" / "report.html").read_text()
            [table] = re.findall(r"<caption[^>]*>Changes by segment.*?</table>", page, re.DOTALL)
            assert len(re.findall("<th scope=.?row", table)) == len(counts)


@pytest.mark.parametrize(
    ("format", "pattern"),
    [("github", r"^::error title=policy::(.*)$"), ("sarif", r'"text":"([^"]*)"},"descriptor":{"id":"policy"}')],
)
def test_broken_limits_are_in_formats_of_findings(
    days: tuple[SiteServer, str], tmp_path: Path, format: str, pattern: str
) -> None:
    """Of lines and of documents; `unit/feeds/` writes all formats."""
    done = checked("validate", days, tmp_path, BROKEN, "--format", format, "--quiet")
    assert done.returncode == 1
    found = [text.replace("%25", "%").partition(": ")[0] for text in re.findall(pattern, done.stdout, re.MULTILINE)]
    assert found == [breach.partition(": ")[0] for breach in BREACHES]
    assert done.stderr.count("policy: ") == (0 if format == "github" else len(BREACHES))


def test_limit_that_needs_a_baseline_is_broken_without_one(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, domain=site.url(), policy="max-removed=100%")
    assert (done.code, "policy: max-removed=100%: this needs a baseline, which is missing" in done.log) == (1, True)


def test_files_are_checked_without_a_request(tmp_path: Path) -> None:
    (tmp_path / "sitemap.xml").write_bytes(urlset("https://e.com/a", "https://e.com/b"))
    words = ("validate", "sitemap.xml", "--fail-on", "never", "-a")
    assert run(tmp_path, *words, "policy=min-urls=2,must-list=/a$").returncode == 0
    done = run(tmp_path, *words, "policy=min-urls=3,max-errors.status-404=0")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-3:-1] == [
        "crawl error policy min-urls=3: 2 URLs are listed",
        "crawl error policy max-errors.status-404=0: pages were not requested (use verify=get)",
    ]


# What is refused before any request


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[policy]\nmax-removd = 1", "policy.max-removd = 1: unknown key, did you mean max-removed?"),
        ("[policy.shp]\nmin-urls = 1", "no segment is named shp; accepted: blog, other, shop"),
        ("[policy.max-errors]\nstatus-40 = 1", "did you mean status-4"),
        ("[policy]\nmust-list = '@/etc/passwd'", "does not begin with /, * or https://"),
    ],
)
def test_wrong_policy_is_refused_in_one_line(
    tmp_path: Path, refusal: Callable[..., str], text: str, problem: str
) -> None:
    (tmp_path / "sitemapcrawler.toml").write_text(TABLE + text)
    assert problem in refusal("validate", "http://127.0.0.1:9/sitemap.xml")


def test_policy_without_a_database_is_refused(tmp_path: Path, refusal: Callable[..., str]) -> None:
    line = refusal("validate", "http://127.0.0.1:9/", "-a", "policy=min-urls=1", "-s", "SITEMAP_STORE=False")
    assert "argument policy='min-urls=1': needs a database" in line


@pytest.mark.parametrize("text", ["exclude = '/shop/'", "ignore = 'status'", "max-urls = 1", "verify = 'off'"])
def test_file_cannot_switch_off_what_the_command_line_demands(
    tmp_path: Path, refusal: Callable[..., str], text: str
) -> None:
    (tmp_path / "sitemapcrawler.toml").write_text(f"{text}\n[policy]\nmin-urls = 0")
    line = refusal("audit", "http://127.0.0.1:9/", "-a", "policy=max-errors=0")
    assert "limits what the policy of the command line checks" in line


# The page


def test_page_has_every_key_and_its_example_is_accepted() -> None:
    example = tomllib.loads(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0])
    for key, value in example["policy"].items():
        for name, one in value.items() if isinstance(value, dict) else [(None, value)]:
            text = f"{key}.{name}" if name else key
            for each in one if isinstance(one, list) else [one]:
                assert str(TABLES["policy"](f"{text}={each}")) == f"{text}={each}"
    rows = re.findall(r"^\| `(\S+)` \|", PAGE.partition("## Limits")[2].partition("## ")[0], re.MULTILINE)
    assert sorted(rows) == sorted(KEYS)
    [argument] = re.findall(r"`-a policy=(\S+)`", PAGE)
    assert [str(TABLES["policy"](item)) for item in argument.split(",")] == argument.split(",")
