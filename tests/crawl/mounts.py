"""File systems of a test's own, small or read-only, in a mount namespace that ends with the test.

Commands of this process do not see them: they are run with the prefix `within`. Tests are skipped where the system does
not let us mount.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawl.forks import entering

READY = "ready\n"
FILLER = "filler"
AS_ROOT = () if os.geteuid() == 0 else ("--user", "--map-root-user")
"""Options of unshare by which we may mount."""
INTO = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
"""Options of nsenter by which we get there."""
OVERRIDES = "-dac_override,-dac_read_search,-fowner"
"""What lets root write to a file whose mode forbids it."""


@dataclass(frozen=True)
class Mounted:
    """A folder where something is mounted that only commands `within` see."""

    folder: Path
    pid: int
    """Of the process that keeps the namespace."""

    def within(self, cwd: Path) -> list[str]:
        """What stands before a command that is to see it, run in the folder `cwd`."""
        return entering(self.pid, cwd, *INTO)

    def fill(self, left: int) -> None:
        """Take all room but `left` bytes."""
        disk = os.statvfs(self.seen)
        (self.seen / FILLER).write_bytes(bytes(disk.f_bavail * disk.f_frsize - left))

    def clear(self) -> None:
        """Make room."""
        (self.seen / FILLER).unlink()

    def names(self) -> set[str]:
        """What else is in the folder."""
        return {path.name for path in self.seen.iterdir()} - {FILLER}

    @property
    def seen(self) -> Path:
        """The folder as it can be seen from without."""
        return Path(f"/proc/{self.pid}/root{self.folder}")


@contextmanager
def small(folder: Path, size: str) -> Iterator[Mounted]:
    """An empty file system of this size, such as `4m`, at a folder."""
    with _mounted(folder, 'mount -t tmpfs -o size="$2" tmpfs "$1"', size) as mounted:
        yield mounted


@contextmanager
def read_only(folder: Path) -> Iterator[Mounted]:
    """A folder with all it holds, where nothing can be written."""
    with _mounted(folder, 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"') as mounted:
        yield mounted


@contextmanager
def _mounted(folder: Path, mount: str, *arguments: str) -> Iterator[Mounted]:
    needed = ("unshare", "nsenter", "mount")
    if missing := [name for name in needed if shutil.which(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    script = f"{mount} && echo {READY.strip()} && exec cat"  # cat ends with this process, and the mount with it
    command = ["unshare", *AS_ROOT, "--mount", "sh", "-c", script, "sh", str(folder), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as keeper:
        assert keeper.stdout and keeper.stderr and keeper.stdin
        if keeper.stdout.readline() != READY:
            pytest.skip(f"mounting is not permitted here: {keeper.stderr.read().strip()}")
        try:
            yield Mounted(folder, keeper.pid)
        finally:
            keeper.stdin.close()


def without_overrides() -> Sequence[str]:
    """What stands before a command that modes are to bind, also where root runs it."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv, or another user than root")
    return ("setpriv", f"--bounding-set={OVERRIDES}", f"--inh-caps={OVERRIDES}")
