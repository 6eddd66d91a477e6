"""Standard output that is closed or full: commands say so in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl import documents
from tests.crawl.crawling import DEADLINE_S
from tests.crawl.forks import environment

COMMANDS = {
    "audit": ("audit", "a.xml", "--no-pages", "--fail-on", "never", "--out", "out"),
    "inspect": ("inspect", "a.xml", "--urls"),
    "fix": ("fix", "a.xml", "--base-url", "https://example.com/", "--out", "out"),
    "rules of fix": ("fix", "--list-rules"),
}
FULL = "sitemapcrawler: standard output cannot be written: No space left on device"
REPORT = f"{FULL}; the report is in out"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("state", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path, name: str, state: str) -> None:
    (tmp_path / "a.xml").write_bytes(documents.urlset(*documents.pages("a", 2)))
    line = ["sh", "-c", f'exec "$@" {state}', "sh", sys.executable, "-m", "sitemapcrawler.cli", *COMMANDS[name]]
    done = subprocess.run(
        line, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    full = REPORT if name == "audit" else FULL
    problem = full if state == ">/dev/full" else "sitemapcrawler: standard output is closed"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{problem}\n")
