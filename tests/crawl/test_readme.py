"""The commands of README.md and the rows in docs/records.md, tried on the demo site in a copy of the project.

`make test` is not run, since it would run this file; `make docs`, `pip install .` and the set-up of `.venv` need the internet.
"""

from __future__ import annotations

import ast
import csv
import gzip
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from demo.server import serving
from tests.crawl.programs import run_shown, write_programs

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("records.md", "formats.md"))
COPIED = ("Makefile", "README.md", "demo", "docs", "pyproject.toml", "scrapy.cfg", "sitemapcrawler")
COMMAND = re.compile(r"(?:make|scrapy|sitemapcrawler) (?!test|docs)\w.*")
SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>https://example.com/shop/</loc><lastmod>2026-11-20</lastmod></url>
  <url><loc>/about</loc><lastmod>last Tuesday</lastmod></url>
</urlset>
"""
"""What the shown check of a folder judges."""
DOMAINS = re.compile(r"(?<!//)example\.com")
SHOWN = re.compile(r"<!-- (\w+) output.*?-->\n((?:    .*\n)+)")
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOG_START = re.compile(r"\S+ \S+ \[[\w.]+\] [A-Z]+: ")
"""Timestamp, logger and level of a line."""


@dataclass
class Done:
    """What a command left."""

    code: int
    output: str
    """Standard output and error."""
    folder: Path

    def rows(self, name: str) -> list[dict[str, str]]:
        """Of a CSV feed."""
        with (self.folder / name).open(encoding="utf-8", newline="") as table:
            return list(csv.DictReader(table))

    def records(self, name: str) -> list[dict[str, Any]]:
        """Of a JSON lines feed."""
        return [json.loads(line) for line in (self.folder / name).read_text(encoding="utf-8").splitlines()]


@dataclass
class Project:
    """A copy of the project in which the set-up is done: the programs in its `.venv` call this interpreter."""

    folder: Path

    def run(self, command: str, folder: Path | None = None) -> Done:
        """Run a command, in the project's folder unless told."""
        place = folder or self.folder
        shutil.rmtree(place / "out", ignore_errors=True)
        (place / "urls.csv").unlink(missing_ok=True)
        if command.startswith("make"):
            done = run_shown(command, place, self.folder / ".venv" / "bin", self.folder)
        else:
            done = run_shown(command, place, self.folder / ".venv" / "bin")
        return Done(done.returncode, done.stdout + done.stderr, place)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, folder / name)
    write_programs(folder / ".venv" / "bin")
    for stamp in (".python", ".crawl"):
        (folder / ".venv" / stamp).touch()
    return Project(folder)


@pytest.fixture(scope="module")
def demo(project: Project) -> Done:
    """`make crawl`, without a domain."""
    return project.run("make crawl")


@pytest.fixture
def base() -> Iterator[str]:
    with serving() as url:
        yield url


def commands() -> list[str]:
    """Each command of README.md once, in lines of their own and inside sentences; a fleet's is for a bucket, and is read
    by tests/unit/fleet/test_command.py."""
    lines = [line.partition(" #")[0].strip() for line in README.splitlines() if line.startswith("    ")]
    lines = [line for line in lines if not line.startswith("scrapy fleet")]
    return [text for text in dict.fromkeys([*lines, *re.findall(r"`([^`\n]+)`", README)]) if COMMAND.fullmatch(text)]


def outputs() -> dict[str, list[str]]:
    """{command: lines} of the outputs that README.md shows."""
    return {name: [line.strip() for line in block.splitlines()] for name, block in SHOWN.findall(README)}


def portless(text: str) -> str:
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)


def comparable(text: str) -> list[str]:
    """Lines without what depends on the length of the port: sizes, and the width of columns."""
    lines = re.sub(r"[\d.]+ kB", "SIZE", portless(text)).splitlines()
    return [" ".join(line.split()) for line in lines]


def examples(language: str) -> list[str]:
    return [block[2] for block in FENCED.finditer(REFERENCE) if block[1] == language]


def test_commands_of_all_kinds_are_found() -> None:
    assert {command.split()[0] for command in commands()} == {"make", "sitemapcrawler"}
    assert set(outputs()) == {"audit", "validate", "demo"}


def shows_output(command: str) -> bool:
    return command == "make crawl" or command.split()[1] in outputs()


@pytest.mark.slow
@pytest.mark.parametrize("command", [command for command in commands() if not shows_output(command)])
def test_crawl_lists_the_urls_of_the_site(project: Project, base: str, tmp_path: Path, command: str) -> None:
    of_the_site = DOMAINS.sub(base.removeprefix("http://"), command)
    done = project.run(of_the_site, None if command.startswith("make") else tmp_path)
    assert done.code == 0, done.output
    assert len(done.rows("out/urls.csv" if command.startswith("make") else "urls.csv")) > 100


def test_make_test_runs_the_tests(project: Project) -> None:
    done = project.run("make --dry-run test")
    assert done.code == 0, done.output
    assert "-m pytest" in done.output


def test_shown_output_of_a_crawl_is_printed(demo: Done) -> None:
    *shown, closing = outputs()["demo"]
    assert demo.code == 0, demo.output
    printed = [LOG_START.sub("", line) for line in portless(demo.output).splitlines()]
    assert [line for line in shown if line not in printed] == [], demo.output
    assert printed[-1].startswith(closing), demo.output


def test_shown_output_of_an_audit_is_printed(project: Project, base: str, tmp_path: Path) -> None:
    [command] = [command for command in commands() if "audit" in command]
    done = project.run(command.replace("example.com", base), tmp_path)
    assert done.code == 1, done.output
    printed = [line.strip() for line in portless(done.output).splitlines()]
    assert [line for line in outputs()["audit"] if line not in printed] == [], done.output


@pytest.mark.parametrize(("page", "command"), [("commands.md", "inspect BASE --expand"), ("fix.md", "fix BASE")])
def test_shown_output_of_a_page_is_printed(
    project: Project, base: str, tmp_path: Path, page: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    shown = next(block for block in re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S) if "127.0.0.1:8000" in block)
    done = project.run(f"sitemapcrawler {command.replace('BASE', base)}", tmp_path)
    printed = comparable(done.output)
    lines = [line for line in comparable(shown) if not line.startswith("$") and line != "..."]
    assert [line for line in lines if line not in printed] == [], done.output


def test_shown_output_of_validate_is_printed(project: Project, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "sitemap.xml").write_text(SITEMAP)
    [command] = [command for command in commands() if "validate" in command]
    done = project.run(command, tmp_path)
    assert done.code == 1
    assert [line for line in outputs()["validate"] if line not in done.output.splitlines()] == [], done.output


@pytest.mark.parametrize("example", examples("json"))
def test_example_is_a_row_of_the_demo_crawl(demo: Done, example: str) -> None:
    wanted = json.loads(example)
    rows = [json.loads(portless(json.dumps(record))) for record in demo.records("out/records.jsonl")]
    assert any(all(row.get(name) == value for name, value in wanted.items()) for row in rows), rows


def test_feeds_of_the_example_hold_the_types_they_name(project: Project, base: str) -> None:
    feeds = ast.literal_eval(
        next(text for text in examples("python") if "urls.jsonl.gz" in text).partition("=")[2].strip()
    )
    option = shlex.quote(f"FEEDS={json.dumps(feeds)}")
    done = project.run(f"scrapy crawl sitemap -a domain={base} -s {option}")
    assert done.code == 0, done.output
    with gzip.open(project.folder / "out" / "urls.jsonl.gz", "rt", encoding="utf-8") as file:
        urls = [json.loads(line) for line in file]
    assert [record["type"] for record in urls].count("url") > 100
    assert {record["type"] for record in urls} <= {"url", "finding"}
    files = done.records("out/files.jsonl")
    assert len(files) > 10 and set().union(*files) == {"sitemap", "outcome", "url_count", "error"}
