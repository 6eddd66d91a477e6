"""Runs a program of this package in a child process, which ends when its caller is interrupted or dies.

A crawl needs Twisted's reactor, which a process can start once, and which a notebook's event loop excludes. The child
is a program of its own, so scripts need no `if __name__ == "__main__"`. Its arguments go through standard input, where
other users of the machine cannot read them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NoReturn

BAD_ARGUMENT = 2
"""Exit code for an invalid argument; standard error says in one line what is accepted."""
GRACE_S = 5.0
"""Seconds that a child may take to stop in order before it is killed."""
PREFIX = "sitemapcrawler: "
"""Beginning of the commands' error messages."""
LOGGED = re.compile(r"^\S+ \S+ \[[\w.]+\] ERROR: (.+)$", re.MULTILINE)
"""An error in Scrapy's log."""


class TemporaryFolder:
    """A temporary folder that is removed when nothing refers to this object any more, and at the end of the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="sitemapcrawler-child-"))
        self._removal = weakref.finalize(self, shutil.rmtree, self.path, True)

    def remove(self) -> None:
        self._removal()


@dataclass(frozen=True, slots=True)
class Ended:
    """A child that has ended."""

    code: int
    """Exit code; -N if signal N ended it."""
    output: str
    errors: str

    @property
    def complaint(self) -> str:
        """Why a program failed: the first error of its log, which others follow from, else the last line of standard
        error, else the exit code or signal."""
        if logged := LOGGED.search(self.errors):
            return logged[1]
        last = self.errors.rstrip().rpartition("\n")[2].removeprefix(PREFIX)
        how = f"exit code {self.code}" if self.code >= 0 else f"signal {-self.code}"
        return last or f"its process ended with {how}"


def run(module: str, arguments: Sequence[str], folder: Path) -> Ended:
    """Run `main(arguments)` of a module in a child process, to its end. Temporary files of the child go into `folder`.

    An exception such as KeyboardInterrupt ends the child before it propagates. Raises OSError if no process can be
    started.
    """
    output, errors = folder / "stdout", bytearray()
    paths = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 - the empty path is the working directory
    places = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.PIPE,  # the disk of a file may be full, which is then the error
            env={**os.environ, **places, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,  # Ctrl-C reaches the caller alone
        )
    reader = threading.Thread(target=_read, args=(process, errors), daemon=True)
    reader.start()
    try:
        _send(process, {"module": module, "arguments": list(arguments), "folder": str(folder)})
        process.wait()
    finally:
        _end(process)
    reader.join(GRACE_S)  # a program that the child started may still have it open
    return Ended(process.returncode, output.read_text("utf-8", "replace"), bytes(errors).decode("utf-8", "replace"))


def _read(process: subprocess.Popen[bytes], errors: bytearray) -> None:
    """Collect standard error."""
    assert process.stderr is not None
    with process.stderr as stream:
        for line in stream:
            errors += line


def _send(process: subprocess.Popen[bytes], job: dict[str, object]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it has ended; standard error says why
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the child's input, upon which it stops, and kill it if it does not, or at a second interrupt."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(2 * GRACE_S)
    except BaseException as error:
        _kill(process.pid)
        process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise


def _kill(process_id: int) -> None:
    """Kill a child that leads a process group of its own, with its children."""
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process_id, signal.SIGKILL)
        else:
            os.kill(process_id, signal.SIGTERM)  # Windows, where this kills


def main() -> None:
    """Run the program that the caller names on standard input, and stop it when the caller closes its end."""
    job = json.loads(sys.stdin.buffer.readline())
    lifeline = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    left = threading.Event()
    threading.Thread(target=_watch, args=(lifeline, left, job["folder"]), daemon=True).start()
    try:
        import_module(job["module"]).main(job["arguments"])
    finally:
        if left.is_set():
            shutil.rmtree(job["folder"], ignore_errors=True)


def _watch(lifeline: int, left: threading.Event, folder: str) -> NoReturn:
    """Stop this process when the caller has closed its end of a pipe. The result has no reader then."""
    while os.read(lifeline, 1):
        pass
    left.set()
    shutil.rmtree(folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE_S)
    shutil.rmtree(folder, ignore_errors=True)
    _kill(os.getpid())
    raise AssertionError("a killed process runs on")


if __name__ == "__main__":
    main()
