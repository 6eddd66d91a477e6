"""The command validate as a user runs it: what it prints, its exit code, and that a file costs no request."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
import yaml

from sitemapcrawler.urls.display import counted
from tests.crawl import forks
from tests.crawl.crawling import AT_HOME, DEADLINE_S, LOOPBACK, NO_DELAYS, ROOT, crawl
from tests.crawl.documents import index, packed, page, robots, urlset
from tests.crawl.forks import environment
from tests.crawl.mounts import small
from tests.crawl.site_server import SiteServer
from tests.ports import reserved_port

SETTINGS = [part for name, value in (NO_DELAYS | AT_HOME | LOOPBACK).items() for part in ("-s", f"{name}={value}")]
HOME = "https://pages.example"
SHELL = {"closed input": '"$@" <&-', "closed output": '"$@" >&-', "head": '"$@" | head -n 1'}
"""What a shell does with a command."""
ANSI = re.compile(rb"\x1b\[[0-9;]*m")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sitemapcrawler.cli", "validate", *arguments]


def validate(
    folder: Path,
    *arguments: str,
    sent: bytes | None = None,
    stdout: IO[bytes] | int = subprocess.PIPE,
    **variables: str,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a folder to its end. It leaves no file behind, and no traceback."""
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    done = forks.run(
        command(*SETTINGS, *arguments),
        cwd=folder,
        env={**environment(), "TMPDIR": str(scratch), **variables},
        input=sent or b"",
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=DEADLINE_S,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert list(scratch.iterdir()) == []
    return done


def told(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """The lines of the output, where nothing was logged."""
    assert done.stderr == b"", done.stderr.decode()
    return done.stdout.decode().splitlines()


def places(done: subprocess.CompletedProcess[bytes]) -> list[list[str]]:
    """Place, severity and rule of each line, without the summary."""
    return [line.split(" ")[:3] for line in told(done)[:-1]]


def write(folder: Path, **documents: bytes) -> None:
    for name, body in documents.items():
        (folder / name.replace("_", ".")).write_bytes(body)


def urls_of(*locs: str) -> bytes:
    return urlset(*locs).replace(b"</loc></url>", b"</loc><lastmod>2026-01-05T10:00:00Z</lastmod></url>")


# Files


def test_files_are_judged_together_and_shown_as_they_were_named(tmp_path: Path, site: SiteServer) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path, b_xml=urls_of(site.url("/1"), "/2"), i_xml=index(site.url("/child.xml")))
    write(tmp_path / "sub", a_xml=urls_of(site.url("/1"), site.url("/3")))
    done = validate(tmp_path, "sub/../b.xml", "sub/a.xml", "./i.xml", "--ignore", "loc-port,loc-ip-host,doc,lastmod")
    assert told(done) == [
        "sub/../b.xml:4 error loc-relative '/2' is not absolute: it does not begin with http:// or https:// and a host",
        f"sub/../b.xml:3 warning cross-duplicate-url '{site.url('/1')}' is listed in 'sub/a.xml' too",
        f"./i.xml:3 warning index-child-missing no file 'child.xml' beside the index, which lists"
        f" '{site.url('/child.xml')}'",
        "./i.xml info index-lastmod-missing 1 of 1 sitemap has no lastmod",
        "./i.xml info index-only-one-child the index lists a single sitemap",
        "3 files, 4 URLs: errors on 1 URL, warnings on 1 URL in 3 files, notes in 1 file",
        "not read: 1 sitemap that an index lists, but not found on disk; a local file leads to no request",
    ]
    assert done.returncode == 1
    assert site.connections == 0


def test_file_is_judged_where_it_will_live(tmp_path: Path, site: SiteServer) -> None:
    listed = [site.url("/maps/a.xml"), site.url("/maps/gone.xml"), site.url("/else.xml")]
    write(tmp_path, i_xml=index(*listed), a_xml=urls_of(site.url("/maps/1"), "2", site.url("/3"), f"{HOME}/4"))
    done = validate(tmp_path, "i.xml", "--base-url", site.url("/maps/"), "--format", "json")
    records = json.loads(done.stdout)
    assert {
        (record["rule"], record["sitemap"].rpartition("/")[2]) for record in records if record["type"] == "finding"
    } == {
        ("index-child-missing", "i.xml"),
        ("index-child-outside-dir", "i.xml"),
        ("index-lastmod-missing", "i.xml"),
        ("loc-relative", "a.xml"),
        ("loc-outside-sitemap-dir", "a.xml"),
        ("loc-offsite", "a.xml"),
    }
    [relative] = [record for record in records if record.get("rule") == "loc-relative"]
    assert relative["url"] == site.url("/maps/2")
    files = [record for record in records if record["type"] == "sitemap"]
    assert [file["sitemap"] for file in files] == [(tmp_path / name).as_uri() for name in ("i.xml", "a.xml")]
    assert records[-1]["skipped"]["offline"] == 2
    assert site.connections == 0
    assert done.returncode == 1


def test_index_before_publishing_names_what_is_missing_beside_it(tmp_path: Path, site: SiteServer) -> None:
    (tmp_path / "public" / "sub").mkdir(parents=True)
    home = "https://example.com"
    listed = (f"{home}/a.xml", f"{home}/sub/b.xml.gz", f"{home}/Case.xml", f"{home}/gone.xml")
    write(tmp_path / "public", i_xml=index(*listed), a_xml=urls_of(f"{home}/1"), case_xml=urls_of(f"{home}/2"))
    (tmp_path / "public/sub/b.xml.gz").write_bytes(packed(urls_of(f"{home}/sub/3")))
    for options, files, shown in (((), 1, 0), (("--base-url", f"{home}/"), 3, 2)):
        done = validate(tmp_path, "public/i.xml", *options, "--ignore", "index-lastmod-missing")
        lines = told(done)
        assert [line.partition(" beside")[0] for line in lines[:2]] == [
            "public/i.xml:5 error index-child-missing no file 'Case.xml'",
            "public/i.xml:6 error index-child-missing no file 'gone.xml'",
        ]
        assert lines[0].endswith("; 'case.xml' exists, but most servers are case-sensitive")
        assert lines[2] == f"{counted(files, 'file')}, {counted(shown, 'URL')}: errors in 1 file"
        assert done.returncode == 1


def test_clean_file_from_standard_input(tmp_path: Path) -> None:
    done = validate(tmp_path, "-", "--base-url", f"{HOME}/", sent=packed(urls_of(f"{HOME}/1", f"{HOME}/2")))
    assert told(done) == ["1 file, 2 URLs: nothing found"]
    assert done.returncode == 0


def test_what_is_no_sitemap_is_a_finding(tmp_path: Path) -> None:
    write(tmp_path, empty_xml=b"", page_xml=page(), robots_txt=page())
    done = validate(tmp_path, "-", "empty.xml", "page.xml", "robots.txt", "--fail-on", "warning", sent=b"")
    assert places(done) == [
        ["<stdin>", "error", "doc-empty-body"],
        ["empty.xml", "error", "doc-empty-body"],
        ["page.xml", "error", "doc-is-html"],
        ["robots.txt", "warning", "robots-is-html"],
    ]
    assert done.returncode == 1


def test_report_goes_to_a_file(tmp_path: Path) -> None:
    write(tmp_path, a_xml=urls_of("/1"))
    done = validate(tmp_path, "a.xml", "--format", "sarif", "--output", "out 5%.report", "--fail-on", "never")
    assert told(done) == ["1 file, 1 URL: errors on 1 URL"]
    assert done.returncode == 0
    [result] = json.loads((tmp_path / "out 5%.report").read_bytes())["runs"][0]["results"]
    [location] = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "a.xml"
    assert result["ruleId"] == "loc-relative"


ROBOTS = b"""\
User-agent: *
Disalow: /private
Sitemap: /s.xml
Sitemap: ftp://example.com/s.xml
"""


def test_local_robots_txt_is_judged_by_its_lines(tmp_path: Path) -> None:
    names = ("robots.txt", "old-Robots.txt")
    for name in names:
        (tmp_path / name).write_bytes(ROBOTS)
    done = validate(tmp_path, *names)
    assert sorted(places(done)) == sorted(
        place
        for name in names
        for place in (
            [f"{name}:4", "error", "security-scheme-refused"],
            [f"{name}:2", "warning", "robots-field-misspelt"],
            [f"{name}:3", "warning", "robots-sitemap-relative"],
        )
    )
    assert told(done)[-1] == "2 files, 0 URLs: errors in 2 files, warnings in 2 files"
    assert done.returncode == 1


def test_robots_txt_is_judged_where_it_will_live(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_bytes(b"User-agent: *\nSitemap: http://example.com/s.xml\nSitemap: /t.xml\n")
    for place, code in (("https://example.com/", 0), ("https://example.com/robots.txt", 1)):
        done = validate(tmp_path, "robots.txt", "--base-url", place, "--fail-on", "warning" if code else "error")
        assert [rule for _, _, rule in places(done)] == ["robots-sitemap-http", "robots-sitemap-relative"]
        assert told(done)[1].endswith("'Sitemap: /t.xml' is not absolute; https://example.com/t.xml would be")
        assert done.returncode == code


@pytest.mark.slow
@pytest.mark.parametrize("module", ["sitemapcrawler.cli", "scrapy"])
def test_interrupt_while_standard_input_is_read_ends_with_a_line(module: str) -> None:
    words = [sys.executable, "-m", module, "validate", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(b" " * 2**20)  # more than a pipe holds: it is being read
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, output, errors) == (-signal.SIGINT, b"", b"sitemapcrawler: stopped before the end\n")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["validate", "-"], ["inspect", "URL"]])
def test_full_disk_for_temporary_files_is_one_line_and_no_fault_of_the_site(
    words: list[str], site: SiteServer, tmp_path: Path
) -> None:
    site.routes = {"/big.xml": urlset(*(f"https://pages.example/{'x' * 80}{number}" for number in range(20_000)))}
    (tmp_path / "big.xml").write_bytes(site.routes["/big.xml"])
    (tmp_path / "disk").mkdir()
    named = [word.replace("URL", site.url("/big.xml")) for word in words]
    with small(tmp_path / "disk", "300k") as disk, (tmp_path / "big.xml").open("rb") as sent:
        done = subprocess.run(
            [*disk.within(tmp_path), sys.executable, "-m", "sitemapcrawler.cli", *named, *SETTINGS],
            env={**environment(), "TMPDIR": str(disk.folder)},
            stdin=sent,
            capture_output=True,
            text=True,
            check=False,
            timeout=DEADLINE_S,
        )
        assert disk.names() == set()
    [line] = done.stderr.splitlines()
    assert "No space left on device" in line and "cannot be read" not in line
    assert done.returncode == (3 if words[0] == "inspect" else 2)
    assert "error" not in done.stdout and "on the site" not in done.stdout


# Folders


def publish(folder: Path) -> Path:
    """A folder with an index, its sitemaps in other folders, one of which is missing, and a robots.txt."""
    public = folder / "public"
    (public / "maps" / "news").mkdir(parents=True)
    listed = (f"{HOME}/pages.xml", f"{HOME}/maps/news/list.php", f"{HOME}/maps/gone.xml")
    write(public, pages_xml=urls_of(f"{HOME}/1", "/2"), other_xml=b"<config/>", page_html=page())
    write(public, robots_txt=f"User-agent: *\nDisalow: /x\nSitemap: {HOME}/maps/index.xml\n".encode())
    write(public / "maps", index_xml=index(*listed))
    (public / "maps/news/list.php").write_bytes(urls_of(f"{HOME}/maps/news/3", f"{HOME}/4"))
    return public


RELATIVE = ["public/pages.xml:4", "error", "loc-relative"]
GONE = ["public/maps/index.xml:5", "error", "index-child-missing"]
MISSPELT = ["public/robots.txt:2", "warning", "robots-field-misspelt"]
OUTSIDE = ["public/maps/news/list.php:4", "info", "loc-outside-sitemap-dir"]


def test_folder_is_judged_as_it_will_be_published(tmp_path: Path, site: SiteServer) -> None:
    publish(tmp_path)
    done = validate(tmp_path, "public/", "--base-url", f"{HOME}/")
    found = [line.split(" ")[:3] for line in told(done)]
    assert [each for each in found if each in (RELATIVE, GONE, MISSPELT)] == [RELATIVE, GONE, MISSPELT]
    assert OUTSIDE in found, "a file below the folder lives below the URL of the folder"
    assert told(done)[-2].startswith("4 files, 4 URLs: ")
    assert (done.returncode, site.connections) == (1, 0)


def test_folder_without_a_base_url_is_read_as_a_whole(tmp_path: Path) -> None:
    publish(tmp_path)
    done = validate(tmp_path, "./public", "--min-severity", "warning")
    found = [[line.split(" ")[0].removeprefix("./"), *line.split(" ")[1:3]] for line in told(done)]
    assert found[:3] == [RELATIVE, GONE, MISSPELT]
    assert told(done)[1].startswith(
        "./public/maps/index.xml:5 error index-child-missing no file 'maps/gone.xml' beside"
    )
    assert told(done)[3].startswith("4 files, 4 URLs: errors on 1 URL in 2 files, warnings in 1 file, ")


def test_folder_with_what_cannot_be_read_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    write(tmp_path / "public", a_xml=urls_of(f"{HOME}/1"))
    for name in ("b.xml", "c.xml"):
        (tmp_path / "public" / name).symlink_to("gone.xml")
    done = validate(tmp_path, "public", "--fail-on", "never")
    assert done.stdout.decode().splitlines() == ["1 file, 1 URL: nothing found"]
    assert (
        done.stderr.decode() == "sitemapcrawler: public/b.xml cannot be read: No such file or directory (and 1 more)\n"
    )
    assert done.returncode == 2


# Less output


SWITCHED_OFF = 'select = "none"\nfail-on = "never"\nquiet = true\n'
SHOWN = {"info": 3, "warning": 2}
"""How many of three findings, from error to note, are shown from each severity on."""


@pytest.mark.slow
@pytest.mark.parametrize(("format", "least"), [("text", "info"), ("text", "warning"), ("junit", "warning")])
def test_less_is_shown_in_every_format_and_the_exit_code_stays(tmp_path: Path, format: str, least: str) -> None:
    write(tmp_path, a_xml=urls_of("/1", "http://localhost/2"), i_xml=index(f"{HOME}/child.xml"))
    done = validate(tmp_path, "a.xml", "i.xml", "--format", format, "--min-severity", least, "--fail-on", "warning")
    rules = ["loc-relative", "index-child-missing", "index-lastmod-missing"]
    assert [rule for rule in rules if rule in done.stdout.decode()] == rules[: SHOWN[least]]
    assert done.returncode == 1


def test_rows_of_a_list_of_all_findings_are_hidden_too(tmp_path: Path) -> None:
    write(tmp_path, a_xml=urlset(f"{HOME}/1", f"{HOME}/2"))
    options = ("a.xml", "--select", "lastmod-missing", "-a", "findings=all", "--format", "json")
    shown = [
        [each for each in json.loads(validate(tmp_path, *options, "--min-severity", least).stdout) if "rule" in each]
        for least in ("info", "warning")
    ]
    assert [len(found) for found in shown] == [3, 0], "the file, and its entries"


def test_hidden_findings_still_fail_and_are_counted(tmp_path: Path) -> None:
    write(tmp_path, i_xml=index(f"{HOME}/child.xml"))
    options = ("i.xml", "--select", "index-child-missing", "--min-severity", "error", "--fail-on", "warning")
    done = validate(tmp_path, *options)
    assert told(done)[0] == "1 file, 0 URLs: warnings in 1 file"
    assert done.returncode == 1


@pytest.mark.slow
def test_quiet_run_prints_findings_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, a_xml=urls_of(f"{HOME}/1"), b_xml=urls_of("/1"))
    done = validate(tmp_path, "a.xml", "--quiet")
    assert (told(done), done.returncode) == ([], 0)
    done = validate(tmp_path, "b.xml", "-q")
    assert [line.split(" ")[:3] for line in told(done)] == [["b.xml:3", "error", "loc-relative"]]
    assert done.returncode == 1
    done = validate(tmp_path, "b.xml", "-q", "-o", "out.txt")
    assert (told(done), done.returncode) == ([], 1)
    assert len((tmp_path / "out.txt").read_text().splitlines()) == 1
    write(tmp_path, sitemapcrawler_toml=SWITCHED_OFF.encode())
    assert told(validate(tmp_path, "b.xml", "-q")) == [], "not even what a file has switched off"


# GitHub


def test_workflow_commands_name_files_of_the_checkout(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    write(tmp_path / "site", a_xml=urls_of("/1%,:"))
    done = validate(tmp_path / "site", "a.xml", "--format", "github", GITHUB_WORKSPACE=str(tmp_path))
    (tmp_path / "site" / "scratch").rmdir()
    assert told(done) == [
        "::error file=site/a.xml,line=3,title=loc-relative::'/1%25,:' is not absolute: it does not begin with http:// or"
        " https:// and a host",
        "1 file, 1 URL: errors on 1 URL",
    ]
    assert done.returncode == 1


@pytest.mark.parametrize("format", ["text", "github"])
def test_file_names_are_never_workflow_commands(tmp_path: Path, format: str) -> None:
    (tmp_path / "::debug::").mkdir()
    for name in ("::add-mask::a.xml", " ::stop-commands::b.xml", "c\n::set-env name=x::y.xml", "##[error]d.xml"):
        (tmp_path / "::debug::" / name).write_bytes(urls_of("::error::/1", "\n::warning::"))
    write(tmp_path, **{"::group::e_xml": urls_of("/1")})
    done = validate(tmp_path, "::group::e.xml", "::debug::", "--format", format, "--min-severity", "error")
    lines = [line for line in (done.stdout + done.stderr).decode().splitlines() if line.lstrip().startswith("::")]
    assert "::error::/1" in done.stdout.decode() and "stop-commands" in done.stdout.decode()
    assert b"##[" not in done.stdout
    assert done.returncode == 1
    if format != "github":
        assert lines == []
        return
    assert lines
    assert all(re.fullmatch(r"::(error|warning|notice) (?:[a-z]+=[^:,]+,?)+::.*", line) for line in lines)


# Options in a file


def test_options_of_a_file_apply_and_the_command_line_wins(tmp_path: Path) -> None:
    (tmp_path / "repository" / "public").mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    config = f'[tool.sitemapcrawler]\nbase-url = "{HOME}/"\nbase-dir = "public"\nmin-severity = "error"\nquiet = true\n'
    (tmp_path / "repository" / "pyproject.toml").write_text(f'{config}ignore = ["lastmod"]\nfail-on = "never"\n')
    here = tmp_path / "repository" / "public"
    write(here, a_xml=urlset("/1", "https://else.example/2"))
    done = validate(here, "a.xml")
    *lines, summary, limits = told(done)
    found = [line.split(" ")[:3] for line in lines]
    assert found == [["a.xml:3", "error", "loc-relative"], ["a.xml:4", "error", "loc-offsite"]]
    assert summary == "1 file, 2 URLs: errors on 2 URLs"
    assert limits == "limited by ../pyproject.toml: ignore = lastmod, fail-on = never"
    assert done.returncode == 0
    done = validate(here, "a.xml", "--fail-on", "error", "--min-severity", "info", "--ignore", "loc", "--no-quiet")
    assert "lastmod-missing" in done.stdout.decode() and "loc-" not in done.stdout.decode()
    done = validate(here, "a.xml", "-q", "--fail-on", "error", "-a", "select=loc-offsite")
    assert ([line.split(" ")[2] for line in told(done)], done.returncode) == (["loc-offsite"], 1)


def test_file_that_switches_checks_off_is_named(tmp_path: Path) -> None:
    write(tmp_path, a_xml=urls_of("/relative"), sitemapcrawler_toml=SWITCHED_OFF.encode())
    done = validate(tmp_path, "a.xml", "--format", "json")
    assert done.returncode == 0
    assert "sitemapcrawler.toml: select = none, fail-on = never" in done.stdout.decode()


def test_wrong_option_in_a_file_is_one_line(tmp_path: Path, refusal: Callable[..., str]) -> None:
    write(tmp_path, a_xml=urls_of(f"{HOME}/1"), sitemapcrawler_toml=b'format = "xml"\n')
    problem = "sitemapcrawler.toml: format = 'xml': accepted: text, json, github, sarif, junit"
    assert refusal("validate", "a.xml") == f"sitemapcrawler: {problem}"
    assert validate(tmp_path, "a.xml", "--format", "text").returncode == 0


def test_crawl_takes_arguments_of_a_file(tmp_path: Path, refusal: Callable[..., str]) -> None:
    write(tmp_path, a_xml=urls_of(*(f"{HOME}/{number}" for number in range(9))))
    options = tmp_path / "sitemapcrawler.toml"
    options.write_text('max-urls = 3\nformat = "sarif"\nbase-url = "https://e.com/"\n')
    for more, count in (({}, 3), ({"max_urls": 5}, 5)):
        done = crawl(tmp_path, "-O", "urls.csv", sitemap="./a.xml", offline="yes", **more)
        assert done.code == 3, done.log
        assert len((tmp_path / "urls.csv").read_text().splitlines()) == count + 1
    options.write_text("max-url = 3\n")
    line = refusal("crawl", "sitemap", "-a", "sitemap=./a.xml", "-a", "offline=yes")
    assert line == "sitemapcrawler: sitemapcrawler.toml: max-url: unknown key, did you mean max-urls?"


# The web


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer() as site:
        site.routes = {
            "/robots.txt": robots(site.url("/s.xml"), rules=["Disallow: /private"]),
            "/s.xml": urls_of(site.url("/good"), site.url("/gone"), site.url("/private")),
            "/page": page(),
            "/good": page(),
            "/private": page(),
        }
        yield site


def test_site_is_discovered_and_its_urls_are_asked(server: SiteServer, tmp_path: Path) -> None:
    done = validate(tmp_path, server.url(), "--verify", "--select", "status,url", "--agents", "search")
    found = places(done)
    assert [server.url("/s.xml:4"), "error", "status-404"] in found
    assert [server.url("/s.xml:5"), "error", "url-blocked-by-robots"] in found
    assert "/gone" in server.paths and "/private" not in server.paths
    assert done.returncode == 1


@pytest.mark.slow
def test_robots_txt_of_a_server_is_judged_without_its_sitemaps(tmp_path: Path) -> None:
    with SiteServer() as site:
        url = site.url("/robots.txt")
        site.routes = {"/robots.txt": ROBOTS, "/s.xml": urls_of(site.url("/good"))}
        done = validate(tmp_path, url)
        assert [rule for _, _, rule in places(done)] == [
            "security-scheme-refused",
            "robots-field-misspelt",
            "robots-sitemap-relative",
        ]
        assert (places(done)[1][0], done.returncode, site.paths) == (f"{url}:2", 1, [])
        site.routes = {}
        done = validate(tmp_path, url)
        assert done.returncode == 2
        assert done.stderr.decode() == f"sitemapcrawler: nothing could be read; {url}: HTTP status 404\n"
    done = validate(tmp_path, url)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [f"sitemapcrawler: {url}: the connection was refused"]


def test_host_without_an_answer_is_one_line_and_no_verdict(tmp_path: Path) -> None:
    write(tmp_path, a_xml=urls_of(f"{HOME}/1"))
    with reserved_port() as port:
        url = f"http://127.0.0.1:{port}/s.xml"
        done = validate(tmp_path, "a.xml", url, "--fail-on", "never")
    assert done.stderr.decode().splitlines() == [
        f"sitemapcrawler: {url}: no answer to robots.txt: the connection was refused"
    ]
    assert done.stdout.decode().splitlines()[-1].startswith("2 files, 1 URL: ")
    assert done.returncode == 2


# What cannot work: one line, before anything is asked for or written

REFUSED: dict[str, tuple[list[str], str]] = {
    "nothing named": ([], "name a URL, a file, a folder, a domain, or -"),
    "missing file": (["missing.xml"], "missing.xml: no such file"),
    "unknown option": (["a.xml", "--fromat", "json"], "option '--fromat' is not known"),
    "option without its value": (["a.xml", "--format"], "--format: expected one argument"),
    "base folder": (["a.xml", "--base-dir", "nosuch"], "argument base_dir='nosuch': no such folder"),
    "rule": (["a.xml", "--select", "loc-relativ"], "did you mean loc-relative?"),
    "baseline": (["a.xml", "--baseline", "missing.jsonl"], "argument baseline='missing.jsonl'"),
    "setting": (["a.xml", "-s", "nonsense"], "use -s NAME=VALUE"),
    "output in a folder": (["a.xml", "--output", "."], "is a folder"),
    "rule to explain": (["--explain", "loc-relativ"], "no such rule; did you mean loc-relative"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("empty", "sub"):
        (tmp_path / name).mkdir()
    write(tmp_path, a_xml=urls_of(f"{HOME}/1"))
    write(tmp_path / "sub", b_xml=urls_of(f"{HOME}/2"))
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str, refusal: Callable[..., str]) -> None:
    arguments, says = REFUSED[name]
    assert says in refusal("validate", *arguments)


def in_shell(folder: Path, line: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a line of a shell says; the exit code is its own, not that of a pipe's end."""
    script = ["bash", "-c", f"set -o pipefail; {line}", "bash", *command(*arguments, *SETTINGS)]
    return subprocess.run(script, cwd=folder, env=environment(), capture_output=True, text=True, timeout=DEADLINE_S)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "code", "says"),
    [
        ("closed input", ["-"], 2, "sitemapcrawler: standard input is closed\n"),
        ("closed output", ["a.xml"], 2, "sitemapcrawler: standard output is closed; --output names a file\n"),
        ("head", ["a.xml"], 1, ""),
    ],
)
def test_streams_that_end_early(folder: Path, name: str, arguments: list[str], code: int, says: str) -> None:
    write(folder, a_xml=urls_of("/1", "/2", "/3"))
    done = in_shell(folder, SHELL[name], *arguments)
    assert (done.returncode, done.stderr) == (code, says)
    assert len(done.stdout.splitlines()) == (name == "head")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_output_that_cannot_be_written_is_one_line(folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = validate(folder, "a.xml", stdout=full)
    told = b"sitemapcrawler: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.slow
def test_names_survive_a_locale_without_utf_8(tmp_path: Path) -> None:
    (tmp_path / "caf\u00e9.xml").write_bytes(urls_of("/\u00e9"))
    done = validate(
        tmp_path, "caf\u00e9.xml", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii"
    )
    assert done.stdout.isascii()
    assert re.match(rb"caf\S+\.xml:3 error loc-relative '/\\xe9' is not absolute", done.stdout)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_are_for_terminals_that_want_them(tmp_path: Path, variables: dict[str, str], coloured: bool) -> None:
    reader, writer = pty.openpty()
    done = validate(tmp_path, "--explain", "doc-bom", stdout=writer, **{"TERM": "xterm", **variables})
    os.close(writer)
    with os.fdopen(reader, "rb") as terminal:
        output = terminal.read1(1 << 16)
    assert done.returncode == 0
    assert ANSI.sub(b"", output).startswith(b"doc-bom  ")
    assert (ANSI.search(output) is not None) == coloured


# pre-commit


@pytest.fixture(scope="module")
def hook() -> Any:
    """`tests/deploy/test_action.py` runs it."""
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert (hook["id"], hook["language"], hook["entry"]) == (
        "sitemapcrawler-validate", "python", "sitemapcrawler validate",
    )  # fmt: skip
    return hook


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("sitemap.xml", True),
        ("public/sitemap_index.xml", True),
        ("sitemap.txt", True),
        ("docs/sitemap.md", False),
        ("sitemaps/config.xml", False),
    ],
)
def test_hook_takes_files_that_are_named_like_sitemaps(hook: Any, name: str, taken: bool) -> None:
    assert (re.search(hook["files"], name) is not None) == taken


def test_hook_takes_no_file_for_an_option(hook: Any, tmp_path: Path) -> None:
    (tmp_path / "-ositemap.xml").write_bytes(urls_of("/1"))
    done = validate(tmp_path, *hook["entry"].split()[2:], *hook["args"], "-ositemap.xml")
    assert [line.split(" ")[:3] for line in told(done)][:1] == [["-ositemap.xml:3", "error", "loc-relative"]]


def test_rule_of_a_user_is_explained(tmp_path: Path) -> None:
    (tmp_path / "shop_rules.py").write_text(
        "from sitemapcrawler.rules import Message, Of, Severity, rule\n\n"
        "@rule('shop-open', Severity.WARNING, 'our handbook', Of.ENTRY)\n"
        "def shop_open(facts):\n"
        "    'The shop is closed.'\n"
        "    yield Message('closed')\n"
    )
    done = validate(tmp_path, "--explain", "shop-open", "-s", "SITEMAP_RULES=shop_rules.py")
    assert done.returncode == 0
    assert b"The shop is closed." in done.stdout and b"our handbook" in done.stdout


def test_images_whose_robots_txt_is_not_known_are_said_to_be_skipped(tmp_path: Path) -> None:
    image = f"<image:image><image:loc>{HOME}/1.jpg</image:loc></image:image>"
    uri = "http://www.google.com/schemas/sitemap-image/1.1"
    entry = f"<url><loc>{HOME}/1</loc><lastmod>2026-01-05T10:00:00Z</lastmod>{image}</url>"
    core = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0"?><urlset xmlns="{core}" xmlns:image="{uri}">{entry}</urlset>'
    write(tmp_path, a_xml=text.encode())
    skipped = "image-blocked-by-robots skipped for 1 file with images: the robots.txt of their host is not known"
    assert told(validate(tmp_path, "a.xml")) == ["1 file, 1 URL: nothing found", skipped]
