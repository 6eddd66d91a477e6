"""A child process: what it is given, what it leaves, and how it ends with its caller."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sitemapcrawler.api import child
from tests.processes import alive, wait_for_end

ROOT = Path(__file__).parents[3]
DEADLINE_S = 120
POLL_S = 0.02
PROGRAM = """
import os, sys, tempfile
def main(arguments):
    print(arguments, tempfile.gettempdir(), repr(sys.stdin.read()), "secret" in str(sys.argv))
    print("sitemapcrawler: done", file=sys.stderr)
    sys.exit(3)
"""
WAITING = """
import os, time, pathlib
def main(arguments):
    pathlib.Path(arguments[0]).write_text(str(os.getpid()))
    {ignored}
    while True:
        time.sleep(0.1)
"""
FULL_DISK = """
import resource, sys
def main(arguments):
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    sys.exit("sitemapcrawler: No space left on device")
"""
CALLER = """
import sys
from sitemapcrawler.api import child
from tests.processes import alive, wait_for_end
folder = child.TemporaryFolder()
print(folder.path, flush=True)
child.GRACE_S = 1
child.run("waiting", [sys.argv[1]], folder.path)
"""


def test_child_gets_its_arguments_and_leaves_its_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    folder = child.TemporaryFolder()
    ended = child.run("program", ["secret", "ä\n"], folder.path)
    assert ended.code == 3, ended.errors
    assert ended.output == f"{['secret', 'ä' + chr(10)]} {folder.path} '' False\n"
    assert ended.complaint == "done"
    folder.remove()
    assert not folder.path.exists()


def test_modules_of_the_working_directory_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong module')")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    folder = child.TemporaryFolder()
    assert child.run("program", [], folder.path).code == 3


def test_child_that_cannot_start_says_why() -> None:
    folder = child.TemporaryFolder()
    ended = child.run("no_such_module", [], folder.path)
    assert ended.code == 1
    assert ended.complaint == "ModuleNotFoundError: No module named 'no_such_module'"


def test_child_says_that_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "full_disk.py").write_text(FULL_DISK)
    monkeypatch.syspath_prepend(tmp_path)
    folder = child.TemporaryFolder()
    assert child.run("full_disk", [], folder.path).complaint == "No space left on device"


def test_first_error_of_the_log_says_why() -> None:
    log = (
        "2026-11-28 20:01:30 [sitemapcrawler.jobs.job] ERROR: audit.duckdb cannot be written: No space left on device\n"
        "2026-11-28 20:01:36 [sitemapcrawler.feeds.reporting] ERROR: the report is not written\n"
    )
    assert child.Ended(1, "", log).complaint == "audit.duckdb cannot be written: No space left on device"


def test_folder_goes_with_its_last_user() -> None:
    path = (folder := child.TemporaryFolder()).path
    assert path.is_dir()
    del folder
    assert not path.exists()


@contextmanager
def calling(tmp_path: Path, ignored: str) -> Iterator[tuple[subprocess.Popen[str], Path, int]]:
    """A caller whose child waits, the folder of the child, and its process id."""
    (tmp_path / "waiting.py").write_text(WAITING.format(ignored=ignored))
    told = tmp_path / "pid"
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, str(told)],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert caller.stdout is not None
        folder = Path(caller.stdout.readline().strip())
        until(lambda: told.exists() and told.read_text() != "")
        yield caller, folder, int(told.read_text())
    finally:
        caller.kill()
        caller.communicate()


def until(done: object) -> None:
    """Wait for what a process does by itself."""
    deadline = time.monotonic() + DEADLINE_S
    while not done():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


IGNORED = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("ignored", ["pass", IGNORED], ids=["in order", "killed"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_child_ends_with_its_caller(tmp_path: Path, number: signal.Signals, ignored: str) -> None:
    with calling(tmp_path, ignored) as (caller, folder, process_id):
        assert alive(process_id)
        caller.send_signal(number)
        _, errors = caller.communicate(timeout=DEADLINE_S)
        assert caller.returncode == -number
        assert ("KeyboardInterrupt" in errors) is (number == signal.SIGINT)
        wait_for_end(process_id)
        until(lambda: not folder.exists())
