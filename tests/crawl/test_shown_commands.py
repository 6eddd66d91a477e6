"""Every command that a page of the documentation shows: tried here on a small site, tried by a test that is named here,
or not tried, with the reason."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import AT_HOME, LOOPBACK, NO_DELAYS, ROOT
from tests.crawl.documents import index, page, robots, urlset
from tests.crawl.programs import run_shown, write_program, write_programs
from tests.crawl.site_server import SiteServer

pytestmark = pytest.mark.slow

ELSEWHERE = {
    "README.md": "tests/crawl/test_readme.py",
    "docs/recipes.md": "tests/crawl/test_recipes.py",
    "docs/tutorial.md": "tests/crawl/test_tutorial.py",
    "docs/python.md": "tests/crawl/test_python_docs.py",
    "docs/extending.md": "tests/crawl/test_arguments.py",
}
"""Pages whose commands another test tries."""
NOT_TRIED = {
    r"pip install .*": "asks a registry",
    r"docker .*": "needs a container engine; tests/unit/test_release.py reads the Dockerfile, and CI builds it",
    r"make (test|lint|docs|fuzz|audit)\b.*": "is how this test runs, and what .ci/run does besides; each installs tools",
    r"make \w+": "is named as a subject; test_readme.py tries `make crawl`, and `make demo` ends at Ctrl-C",
    r"\.venv/bin/python -m (pytest|fuzz) .*": "runs other tests",
    r"python (tools/make_\w+\.py|-m tests\.unit\.rules\.test_bad_files)": "writes what is in the repository; tests compare it",
    r"python -m tools\.mutation .*": "runs other tests for hours",
    r"shub .*|curl .*app\.zyte\.com.*": "asks Zyte's servers, for an account; test_scrapy_cloud.py builds what is deployed",
    r"(scrapyd|scrapyd-deploy|curl) .*": "runs in tests/deploy/test_scrapyd.py, on a real server",
    r"jq .*indexnow\.org.*": "sends to search engines; tests/unit/feeds/test_indexnow.py reads the bodies",
    r"sitemapcrawler audit .* -a gsc=.*": "asks Google, for an account; test_search_console.py asks a server in its place",
    r"duckdb .*": "DuckDB's command line is installed apart; tests/crawl/test_database.py runs the queries",
    r"(scrapy|sitemapcrawler) fleet .*": "asks many sites; tests/unit/fleet/test_command.py reads it, tests/fleet/ runs others",
    r"scrapy (crawl|crawl sitemap|inspect|fleet)|sitemapcrawler (audit|crawl|fix|inspect|validate|fleet|COMMAND -h|validate --explain RULE)": "names a command, and is none",
}
"""{pattern of a command: why no test tries it}."""
SCRIPTS = {"docs/jobs.md": "tests/crawl/test_database.py"}
"""Pages with a script in a fence, and the test that runs it."""
PROGRAMS = r"(?:docker|sitemapcrawler|scrapy|scrapyd|scrapyd-deploy|shub|curl|make|pip|python|duckdb|jq|\.venv/bin/\w+)"
INDENTED = re.compile(rf"^    ({PROGRAMS} .*)$", re.MULTILINE)
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(rf"`({PROGRAMS} [^`\n]+)`")
HOSTS = re.compile(r"(?:https?://)?(?:example\.com|museum\.example|intranet\.example)")
OPTIONS = [part for name, value in {**NO_DELAYS, **AT_HOME, **LOOPBACK}.items() for part in ("-s", f"{name}={value}")]
RAN = (0, 1, 3)
"""Exit codes of a command that did what it says: 1 where `validate` has found errors, 3 where `fix` could not read a file."""


def pages() -> list[str]:
    """All pages but the catalogue, which is generated and shows no commands."""
    inside = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md") if path.name != "rules.md")
    return ["README.md", "CONTRIBUTING.md", *inside]


def shown(page: str) -> Iterator[str]:
    """The commands of a page: lines of blocks, and in sentences. Comments are left out."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for language, block in FENCED.findall(text):
        if language == "sh" and page not in SCRIPTS:
            yield from (line for line in block.splitlines() if line)
    prose = FENCED.sub("", text)
    for line in INDENTED.findall(prose):
        yield re.sub(r"\s+#.*", "", line)
    yield from INLINE.findall(prose)


def commands() -> list[str]:
    """Each command once, those of pages with tests of their own left out."""
    told = {command for page in pages() if page in ELSEWHERE for command in shown(page)}
    found = dict.fromkeys(command for page in pages() if page not in ELSEWHERE for command in shown(page))
    return [command for command in found if command not in told and not reason(command)]


def reason(command: str) -> str | None:
    """Why a command is not tried; None for one that is."""
    return next((why for pattern, why in NOT_TRIED.items() if re.fullmatch(pattern, command)), None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder with the programs and what commands start from, and the site's URL."""
    path = tmp_path_factory.mktemp("shown")
    write_programs(path / "bin")
    (path / "records.jsonl").write_text('{"type": "url", "loc": "https://example.com/"}\n')
    (path / "crawl.csv").write_text("Address\nhttps://example.com/\n")
    inspected = {
        "inspectionResult": {"indexStatusResult": {"verdict": "PASS"}},
        "inspectionUrl": "https://example.com/",
    }
    (path / "inspected.jsonl").write_text(json.dumps(inspected) + "\n")
    (path / "logs").mkdir()
    (path / "ranges").mkdir()
    (path / "ranges/googlebot.json").write_text('{"prefixes": [{"ipv4Prefix": "203.0.113.0/24"}]}')
    (path / "channels.txt").write_text("json://127.0.0.1:1/\n")
    (path / "access.log").write_text('203.0.113.9 - - [01/May/2026:10:00:00 +0000] "GET /visit HTTP/1.1" 200 5120\n')
    shutil.copy(path / "access.log", path / "logs")
    with SiteServer() as site:
        base = site.url("")
        site.routes = {
            "/robots.txt": robots(f"{base}/sitemap-index.xml"),
            "/sitemap-index.xml": index(f"{base}/pages.xml"),
            "/pages.xml": urlset(f"{base}/visit", f"{base}/gone"),
            "/visit": page(),
        }
        (path / "urls.csv").write_text(f"loc,lastmod\n{base}/visit,2026-05-01\n")
        (path / "sitemap.xml").write_bytes(urlset(f"{base}/visit"))
        (path / "sitemap.xml.gz").write_bytes(gzip.compress((path / "sitemap.xml").read_bytes()))
        monday = {"type": "url", "loc": f"{base}/visit", "sitemap": f"{base}/sitemap.xml"}
        held = {"summary.json": {"type": "summary", "domains": [base]}, "urls.jsonl": monday, "report.html": {}}
        shutil.copytree(path, path / "public", ignore=shutil.ignore_patterns("bin"))
        shutil.copytree(path / "public", path / "upload")
        (path / "monday").mkdir()
        for name, record in held.items():
            (path / "monday" / name).write_text(json.dumps(record))
        shutil.copytree(path / "monday", path / "yesterday")
        write_program(path / "bin" / "build-sitemap", "cat sitemap.xml")
        yield path, base


def on_the_site(command: str, base: str) -> str:
    """The command about the site of the test, whose index stands where examples have their sitemap."""
    text = re.sub(rf"{base}/\w+\.xml", f"{base}/sitemap-index.xml", HOSTS.sub(base, command))
    programs = re.compile(r"\b((?:sitemapcrawler|scrapy) \w+)")
    return programs.sub(lambda match: " ".join([match[1], *OPTIONS]), text)


def test_every_page_shows_what_is_tried() -> None:
    assert commands()
    tested = {page: test for page, test in {**ELSEWHERE, **SCRIPTS}.items() if (ROOT / page).exists()}
    assert [test for page, test in tested.items() if not (ROOT / test).exists()] == []
    everything = [command for page in pages() for command in shown(page)]
    unused = [pattern for pattern in NOT_TRIED if not any(re.fullmatch(pattern, command) for command in everything)]
    assert unused == []


@pytest.mark.parametrize("command", commands())
def test_command_does_what_it_says(command: str, folder: tuple[Path, str]) -> None:
    path, base = folder
    done = run_shown(on_the_site(command, base), path, path / "bin")
    assert done.returncode in RAN, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
