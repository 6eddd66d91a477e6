"""Processes as /proc tells of them: who lives, and who has started whom."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

PATIENCE_S = 60
"""Seconds after which a process that should have ended is taken to stay."""
LOOK_S = 0.01
"""Seconds between two looks at what /proc tells: nobody can be asked to wait for another's child."""
GONE = (FileNotFoundError, ProcessLookupError)


def status_of(pid: int) -> list[str]:
    """The fields of a process's state behind its name, the first of which is the state's letter: proc(5), `stat`."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def alive(pid: int) -> bool:
    """False for a process that has ended, also where nobody has asked for its end yet."""
    try:
        return status_of(pid)[0] != "Z"
    except GONE:
        return False


def parent_of(pid: int) -> int:
    """The process that has started a process."""
    return int(status_of(pid)[1])


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, from any of its threads."""
    return [process.pid for process in all_processes() if process.parent == pid]


def wait_for_end(*pids: int) -> None:
    """Return when processes have ended; fails where one stays."""
    deadline = time.monotonic() + PATIENCE_S
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline, f"{left} live"
        time.sleep(LOOK_S)  # between two looks


@dataclass(frozen=True)
class Process:
    """A process that was seen."""

    pid: int
    parent: int
    command: str

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    @property
    def alive(self) -> bool:
        """False once it has ended."""
        return alive(self.pid)


def all_processes() -> list[Process]:
    """Every process that runs now."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(*GONE):
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
            found.append(Process(int(folder.name), parent_of(int(folder.name)), command))
    return found


def below(pid: int) -> list[Process]:
    """All processes that a process has started, and those that these have started."""
    found = {process.pid: process for process in all_processes()}
    return [process for process in found.values() if _descends(process, pid, found)]


def stop_server() -> None:
    """End the server of `sitemapcrawler.processes`, if there is one; the next process has another."""
    import_module("multiprocessing.forkserver")._forkserver._stop()


def wait_for_process(pid: int, command: str) -> Process:
    """Return the process below another one whose command holds a text, when there is one."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := [process for process in below(pid) if command in process.command]):
        assert time.monotonic() < deadline, f"no {command} below {pid}"
        time.sleep(LOOK_S)  # between two looks
    return found[0]


def _descends(process: Process, pid: int, all_of: dict[int, Process]) -> bool:
    while process.parent != pid:
        if process.parent not in all_of:
            return False
        process = all_of[process.parent]
    return True
