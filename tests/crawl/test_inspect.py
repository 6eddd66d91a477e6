"""The command `inspect`, run as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.crawl import documents, forks
from tests.crawl.crawling import DEADLINE_S, NO_DELAYS, SOON_S, options, program, run
from tests.crawl.forks import environment
from tests.crawl.site_server import Reply, SiteServer, moved, stalled
from tests.crawl.terminal import Terminal

PAGES = 3_000
"""Pages of the large file: several batches, and more than a pipe holds."""
OPTIONS = options(NO_DELAYS)
HTML = {"Content-Type": "text/html"}


def command(*arguments: str) -> list[str]:
    return program("inspect", *arguments, *OPTIONS)


def inspect(*arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    return run(cwd, "inspect", *arguments, *OPTIONS, **variables)


@contextmanager
def reading(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start it; its output and its log are pipes."""
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with forks.start(command(*arguments), env=environment(), **piped) as process:
        yield process


def at(site: SiteServer, *paths: str) -> list[str]:
    return [site.url(path) for path in paths]


@pytest.fixture(scope="module")
def museum() -> Iterator[SiteServer]:
    """A site with a tree of sitemaps, of which some are broken."""
    with SiteServer() as site:
        extended = (
            f'{documents.DECLARATION}<urlset {documents.CORE} xmlns:xhtml="http://www.w3.org/1999/xhtml"'
            ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:shop="urn:shop">'
            "<url><loc>https://pages.example/shop</loc><lastmod>2024-05-01</lastmod>"
            '<xhtml:link rel="alternate" hreflang="de" href="https://pages.example/de"/>'
            "<image:image><image:loc>https://pages.example/a.png</image:loc></image:image>"
            "<image:image><image:loc>https://pages.example/b.png</image:loc></image:image>"
            "<shop:price>3</shop:price></url></urlset>"
        )
        site.routes = {
            "/robots.txt": documents.robots(site.url("/index.xml")),
            "/index.xml": documents.index(
                *at(
                    site, "/large.xml.gz", "/sub/index.xml", "/extended.xml", "/missing.xml", "/moved.xml", "/page.html"
                )
            ),
            "/large.xml.gz": documents.packed(documents.urlset(*documents.pages("large", PAGES))),
            "/sub/index.xml": documents.index(*at(site, "/sub/a.xml", "/index.xml")),
            "/sub/a.xml": documents.dated({"https://pages.example/1": "2019-01-01", "https://pages.example/2": ""}),
            "/extended.xml": extended,
            "/moved.xml": moved("/target.xml", 301),
            "/target.xml": documents.beginning(*documents.pages("cut", 2)),
            "/page.html": Reply(documents.page(), headers=HTML),
        }
        yield site


# A whole site.


@pytest.fixture(scope="module")
def expanded(museum: SiteServer) -> dict[str, Any]:
    """The document of the whole site."""
    done = inspect(museum.url(), "--expand", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_document_tells_files_and_how_they_were_found(expanded: dict[str, Any], museum: SiteServer) -> None:
    by_url = {record["sitemap"]: record for record in expanded["sitemaps"]}
    index = by_url[museum.url("/index.xml")]
    assert (index["found_by"], index["parent"], index["robots_line"]) == ("robots", museum.url("/robots.txt"), 1)
    assert [child["loc"] for child in index["children"]][:2] == at(museum, "/large.xml.gz", "/sub/index.xml")
    assert by_url[museum.url("/sub/a.xml")]["parent"] == museum.url("/sub/index.xml")
    assert {museum.url(path): by_url[museum.url(path)]["outcome"] for path in ("/missing.xml", "/moved.xml")} == {
        museum.url("/missing.xml"): "failed",
        museum.url("/moved.xml"): "truncated",
    }
    assert len(by_url) == len(expanded["sitemaps"]) == 8


def test_document_sums_up_all_pages(expanded: dict[str, Any]) -> None:
    urls = expanded["urls"]
    assert (urls["count"], urls["undated"]) == (PAGES + 2 + 1 + 2, PAGES + 1 + 2)
    assert urls["lastmods"] == {"unit": "day", "counts": {"2019-01-01": 1, "2024-05-01": 1}}
    assert (urls["counts"]["images"], urls["carriers"]["images"]) == (2, 1)
    assert (urls["languages"], urls["namespaces"]) == ({"de": 1}, {"urn:shop": 1})
    assert expanded["partial"] is None


@pytest.mark.parametrize("columns", [80, 200])
def test_terminal_shows_the_tree_within_its_width(museum: SiteServer, tmp_path: Path, columns: int) -> None:
    with Terminal(command(museum.place, "--expand", "--no-progress"), tmp_path, columns, lines=60) as terminal:
        assert terminal.finish() == 0
    text = terminal.written.decode()
    assert "\x1b[2m" in text
    screen = terminal.everything
    assert screen[0] == museum.place
    tree = [line for line in screen if line.startswith(("├", "│", "└", "    ├", "    │", "    └"))]
    assert len(tree) == 9
    assert any("/large.xml.gz" in line and "3,000 URLs" in line for line in tree)
    assert any("    │   └── /index.xml" in line and "read elsewhere" in line for line in tree)
    assert any("failed: HTTP status 404" in line for line in tree)
    assert len(screen) == text.count("\n"), "a line was too wide for the terminal"


def test_index_is_shown_without_reading_what_it_lists(museum: SiteServer) -> None:
    museum.exchanges.clear()
    done = inspect(museum.url("/index.xml"))
    assert (done.returncode, done.stderr, museum.paths) == (0, "", ["/index.xml"])
    assert "lists       6 sitemaps, not read without --expand" in done.stdout
    assert "├── /large.xml.gz\n" in done.stdout and "\x1b" not in done.stdout


def test_site_is_found_from_any_of_its_urls(museum: SiteServer) -> None:
    done = inspect(museum.url("/page.html"), "--discover", "--urls")
    assert (done.returncode, done.stdout, done.stderr) == (0, museum.url("/index.xml\n"), "")


def test_limits_and_settings_reach_the_crawl(museum: SiteServer) -> None:
    done = inspect(museum.url("/index.xml"), "--expand", "-a", "max_sitemaps=2", "-s", "SITEMAP_MAX_BYTES=1000")
    assert done.returncode == 3
    assert "17 URLs" in done.stdout and "left out    5 by max_sitemaps" in done.stdout


def test_sitemaps_that_robots_txt_does_not_name(site: SiteServer) -> None:
    site.routes["/"] = documents.page('<link rel="sitemap" href="/linked.xml">')
    site.routes["/linked.xml"] = documents.urlset(*documents.pages("linked", 1))
    done = inspect(site.place)
    assert done.returncode == 0
    assert f"linked from {site.url('/')}\n└── /linked.xml" in done.stdout


def test_robots_txt_is_shown_with_the_sitemaps_it_names(site: SiteServer, tmp_path: Path) -> None:
    url, file = site.url("/robots.txt"), tmp_path / "robots.txt"
    site.routes = {"/robots.txt": documents.robots("/a.xml"), "/a.xml": documents.urlset(*documents.pages("a", 3))}
    done = inspect(url)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"named in {url} └── /a.xml 3 URLs line 1 " in " ".join(done.stdout.split())
    file.write_bytes(documents.robots(site.url("/a.xml")))
    done = inspect(str(file), "--json", "-s", "SITEMAP_ALLOW_NETWORKS=127.0.0.0/8")
    [record] = json.loads(done.stdout)["sitemaps"]
    assert (record["sitemap"], record["parent"], record["robots_line"]) == (site.url("/a.xml"), file.as_uri(), 1)
    file.write_bytes(b"User-agent: *\n")
    done = inspect(str(file))
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == f"sitemapcrawler: {file}: names no sitemap to read\n"
    site.routes = {}
    done = inspect(url)
    assert (done.returncode, done.stderr) == (4, f"sitemapcrawler: {url}: HTTP status 404\n")


# URLs.


def test_urls_of_an_expanded_index_are_the_pages(museum: SiteServer) -> None:
    done = inspect(museum.url("/index.xml"), "--urls", "--expand")
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines), len(set(lines))) == (0, PAGES + 5, PAGES + 5)
    assert all(line.startswith("https://pages.example/") for line in lines)
    told = sorted(line.split(": ", 1)[1] for line in done.stderr.splitlines())
    assert told[0].startswith(museum.url("/missing.xml: HTTP status 404")) and len(told) == 3


def test_file_that_fails_again_and_again_is_told_once(site: SiteServer) -> None:
    site.routes["/index.xml"] = documents.index(*at(site, "/busy.xml", "/small.xml"))
    site.routes["/busy.xml"] = Reply(status=503)
    site.routes["/small.xml"] = documents.urlset(*documents.pages("small", 1))
    done = inspect(site.url("/index.xml"), "--urls", "--expand", "-s", "RETRY_TIMES=1")
    assert (done.returncode, done.stdout) == (0, "https://pages.example/small/1\n")
    assert done.stderr == f"sitemapcrawler: {site.url('/busy.xml')}: HTTP status 503\n"


@pytest.mark.slow
def test_slow_reader_slows_the_reading_and_not_the_downloads(site: SiteServer) -> None:
    paths = [f"/{number}.xml" for number in range(4)]
    site.routes |= {path: documents.urlset(*documents.pages(path[1:], 20_000)) for path in paths}
    site.routes["/index.xml"] = documents.index(*at(site, *paths))
    limits = ("-s", "DOWNLOAD_TIMEOUT=1", "-s", "RETRY_TIMES=0")
    with reading(site.url("/index.xml"), "--urls", "--expand", *limits) as process:
        assert process.stdout is not None and process.stderr is not None
        lines = [process.stdout.readline()]
        time.sleep(1.5)  # what the reader does, and longer than a download may take
        lines += process.stdout.readlines()
        assert (process.wait(DEADLINE_S), process.stderr.read()) == (0, b"")
    assert len(lines) == len(set(lines)) == 4 * 20_000


@pytest.mark.parametrize("count", [50_000, 1], ids=["while much is written", "while nothing is written"])
def test_reader_that_goes_ends_the_crawl_at_once(site: SiteServer, count: int) -> None:
    site.routes["/index.xml"] = documents.index(*at(site, "/pages.xml", "/stalled.xml"))
    site.routes["/pages.xml"] = documents.urlset(*documents.pages("pages", count))
    site.routes["/stalled.xml"] = stalled(b"<urlset>")
    with reading(site.url("/index.xml"), "--urls", "--expand") as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"https://pages.example/pages/1\n"
        process.stdout.close()
        started = time.monotonic()
        assert (process.wait(DEADLINE_S), process.stderr.read()) == (0, b"")
    assert time.monotonic() - started < SOON_S, "the stalled file was waited for"


def test_interrupted_inspection_shows_what_was_read(site: SiteServer) -> None:
    site.routes["/index.xml"] = documents.index(*at(site, "/small.xml", "/stalled.xml"))
    site.routes["/small.xml"] = documents.urlset(*documents.pages("small", 7))
    site.routes["/stalled.xml"] = stalled(b"<urlset>")
    with reading(site.url("/index.xml"), "--expand", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1") as process:
        site.wait_for("/stalled.xml")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, errors) == (3, b"")
    assert b"7 URLs" in output and b"stopped     before the end: shutdown" in output


# Files.


def test_file_asks_nothing_of_anybody(museum: SiteServer, tmp_path: Path) -> None:
    museum.exchanges.clear()
    before = museum.connections
    file = tmp_path / "local,.xml"
    file.write_bytes(documents.index(museum.url("/large.xml.gz")) + documents.urlset(museum.url("/page.html")))
    done = inspect(str(file), "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["kind"]) == (0, "file")
    assert document["sitemaps"][0]["children"] == [{"loc": museum.url("/large.xml.gz")}]
    assert (museum.exchanges, museum.connections) == ([], before)


# Bad input.


BAD_INPUT = {
    "page": ("museum", "/page.html", "an HTML page, not a sitemap; --discover looks for the sitemaps of its site"),
    "unknown host": ("", "nosuchhost.invalid", "the host name cannot be resolved"),
    "empty file": ("folder", "empty.xml", "an empty body"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_place_that_is_no_sitemap(museum: SiteServer, tmp_path: Path, name: str) -> None:
    where, path, problem = BAD_INPUT[name]
    (tmp_path / "empty.xml").touch()
    target = {"museum": museum.url(path), "folder": str(tmp_path / path)}.get(where, path)
    done = inspect(target, "-s", "RETRY_TIMES=0")
    assert (done.returncode, done.stdout, done.stderr) == (4, "", f"sitemapcrawler: {target}: {problem}\n")


def test_site_without_sitemaps(site: SiteServer) -> None:
    done = inspect(site.place)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"sitemapcrawler: {site.place}: no sitemap found: ") and done.stderr.count("\n") == 1
    site.routes = {"/robots.txt": Reply(status=403)}
    done = inspect(site.place)
    assert done.stderr == f"sitemapcrawler: {site.place}: no sitemap found; robots.txt answers with HTTP status 403\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "inspect takes one URL, file or domain, and got none"),
        (["--frobnicate", "a.example"], "option '--frobnicate' is not known"),
        (["."], ".: is a folder"),
        (["a.xml", "--discover"], "a.xml: is a file"),
        (["a.xml", "--urls", "--json"], "--urls and --json"),
        (["a.xml", "-a", "verify=head"], "argument verify='head': not for inspect"),
        (["a.xml", "-s", "SITEMAP_ALLOW_NETWORKS=x"], "x"),
        (["a.xml", "--logfile", "nosuch/log"], "the log nosuch/log cannot be written"),
    ],
)
def test_wrong_argument_is_one_line(
    arguments: list[str], problem: str, tmp_path: Path, refusal: Callable[..., str]
) -> None:
    (tmp_path / "a.xml").write_bytes(documents.urlset("https://pages.example/"))
    assert problem in refusal("inspect", *arguments)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "secret.xml"
    file.touch(0o000)
    done = inspect(str(file))
    assert (done.returncode, done.stderr) == (2, f"sitemapcrawler: {file}: cannot be read: Permission denied\n")


# Options in a file


def test_options_of_a_file_apply_and_the_command_line_wins(museum: SiteServer, tmp_path: Path) -> None:
    config = 'max-depth = 9\nexclude = "."\nselect = ["loc"]\nagents = "all"\nverify = "get"\n'
    (tmp_path / "sitemapcrawler.toml").write_text(config)
    target = museum.url("/sub/a.xml")
    assert inspect(target, "--urls", cwd=tmp_path).stdout == ""
    assert inspect(target, "--urls", "-a", "exclude=nothing", cwd=tmp_path).stdout == inspect(target, "--urls").stdout
    index = museum.url("/index.xml")
    assert inspect(index, cwd=tmp_path).stdout == inspect(index).stdout, "an index is expanded on demand only"
