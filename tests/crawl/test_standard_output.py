"""Standard output that is closed or full: commands say so in one line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.crawl import documents, forks
from tests.crawl.crawling import DEADLINE_S, program
from tests.crawl.forks import environment

COMMANDS = {
    "audit": ("audit", "a.xml", "--no-pages", "--fail-on", "never", "--out", "out"),
    "inspect": ("inspect", "a.xml", "--urls"),
    "fix": ("fix", "a.xml", "--base-url", "https://example.com/", "--out", "out"),
    "rules of fix": ("fix", "--list-rules"),
}
FULL = "sitemapcrawler: standard output cannot be written: No space left on device"
REPORT = f"{FULL}; the report is in out"


@pytest.fixture(autouse=True)
def sitemap(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(documents.urlset(*documents.pages("a", 2)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["audit", "inspect"])
def test_closed_output_is_one_line(tmp_path: Path, name: str) -> None:
    line = ["sh", "-c", 'exec "$@" >&-', "sh", *program(*COMMANDS[name])]
    done = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=DEADLINE_S)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "sitemapcrawler: standard output is closed\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("name", COMMANDS)
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path, name: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = forks.run(
            program(*COMMANDS[name]),
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE_S,
        )
    assert (done.returncode, done.stderr) == (1, f"{REPORT if name == 'audit' else FULL}\n")
