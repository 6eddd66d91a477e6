"""What a process of ours looks like from outside while it runs: its sockets, its children, its files. Linux tells in
/proc."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from tests.processes import below

LISTENING, UNCONNECTED = "0A", "07"
"""States of sockets in /proc/net/tcp and /proc/net/udp: proc_net_tcp(5)."""


@dataclass
class Seen:
    """What was seen, at all looks together."""

    looks: int = 0
    listening: set[str] = field(default_factory=set)
    """Addresses with ports where somebody could connect."""
    children: set[str] = field(default_factory=set)
    """Command lines of processes that it started."""
    modes: dict[str, int] = field(default_factory=dict)
    """{path below the folders that are watched: mode}, of folders and files, the last that was seen."""
    nameless: set[int] = field(default_factory=set)
    """Modes of open files that have no name any more."""

    def look(self, pid: int, *folders: Path) -> None:
        """Take another look at a process, and at what lies in folders."""
        self.looks += 1
        for process in (pid, *(process.pid for process in below(pid))):
            self.listening |= set(listening(process))
            self.nameless |= set(_nameless(process))
            if process != pid:
                self.children.add(command_line(process))
        for folder in folders:
            self.modes |= {str(path.relative_to(folder)): mode for path, mode in _modes(folder)}


def working_in(folder: Path) -> set[str]:
    """Command lines of all processes whose working folder this is."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if link.readlink() == folder:
                found.add(command_line(int(link.parent.name)))
    return found


def command_line(pid: int) -> str:
    """How a process was started; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def listening(pid: int) -> Iterator[str]:
    """Addresses, `host:port`, on which a process takes connections or datagrams. A socket for datagrams that cannot be
    connected is unconnected until it is closed: it counts if it is still there at a second look."""
    yield from _sockets(pid, "tcp", LISTENING)
    yield from set(_sockets(pid, "udp", UNCONNECTED)) & set(_sockets(pid, "udp", UNCONNECTED))


def _sockets(pid: int, protocol: str, state: str) -> Iterator[str]:
    own = {name for _, name in _descriptors(pid)}
    for table in (protocol, f"{protocol}6"):
        with suppress(OSError):
            for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                cells = row.split()
                if cells[3] == state and f"socket:[{cells[9]}]" in own:
                    yield _address(cells[1])


def _address(text: str) -> str:
    host, _, port = text.partition(":")
    words = [bytes.fromhex(host[start : start + 8])[::-1] for start in range(0, len(host), 8)]
    found = ip_address(b"".join(words))
    return f"{getattr(found, 'ipv4_mapped', None) or found}:{int(port, 16)}"


def _descriptors(pid: int) -> Iterator[tuple[Path, str]]:
    with suppress(OSError):
        for one in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                yield one, str(one.readlink())


def _nameless(pid: int) -> Iterator[int]:
    for one, name in _descriptors(pid):
        if re.search(r"/(?:tmp\w*|#\d+) \(deleted\)$", name):
            with suppress(OSError):
                yield stat.S_IMODE(one.stat().st_mode)


def _modes(folder: Path) -> Iterator[tuple[Path, int]]:
    for place, folders, files in os.walk(folder):  # `Path.rglob` fails where a folder goes meanwhile
        for path in map(Path(place).joinpath, folders + files):
            with suppress(OSError):
                yield path, stat.S_IMODE(path.lstat().st_mode)
