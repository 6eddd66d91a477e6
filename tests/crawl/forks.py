"""Starts the programs under test. Python programs of this project are forked from a server that has already imported what
they need, which saves more than a second of processor time each.

A forked program is a process of its own: its directory, environment, umask, streams, process group, network namespace and
signal handlers are those that `subprocess` would give it, and it ends as the interpreter does. Two servers with different
hash seeds take turns, so that two crawls in a row order their sets differently. Two more, for programs that write
reports, are forked from these and have prepared what reports need, which saves another second. The children of the package
(`sitemapcrawler.api.child`) are forked too: those of forked programs, and within `children` those of the tests. Programs
are started afresh where variables that Python reads at its start differ (`PYTHONUTF8`, `LC_ALL`, ...), and within `fresh`.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import io
import itertools
import json
import os
import pkgutil
import re
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

CHILD = [sys.executable, "-P", "-m", "sitemapcrawler.api.child"]
"""Command of a child: most of them write reports."""
OF_CHILD = ("PYTHONPATH", "PYTHONIOENCODING")
"""Variables that a child gets from its caller. The first becomes its path; streams are in UTF-8 anyway."""
PROGRAMS = ("sitemapcrawler.cli", "scrapy", "tests.crawl.download_job", "tests.crawl.modelled", "tests.crawl.patched")
"""Modules that are forked when `python -m` runs them."""
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "GLIBC_")
"""Beginnings of the variables that count only when an interpreter starts."""
HASH_SEEDS = ("1", "2")
"""PYTHONHASHSEED of each server."""
REPORTS = ["reports"]
"""Instead of a command: makes a server for programs that write reports of a child."""
FOR_REPORTS = re.compile(r"^audit$|^report=|\.(parquet|xlsx)\b")
"""Words of commands that write tables and reports. What these need takes 100 MB, which would count for crawls whose memory
is measured."""
LED_BY = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Starts a program whose session gets Ctrl-C from the terminal that is its standard input."""
MAX_REQUEST = 1 << 20  # bytes
REACTOR = "twisted.internet.reactor"
"""Must not be imported before the fork: processes cannot share a reactor."""
STREAMS = 3
ROOT = Path(__file__).parents[2]
NETWORK = "/proc/thread-self/ns/net"
ENTER = ["nsenter", "--mount"]
"""Begins a command that runs another in the mount namespace of a process."""


# ---- tests


def environment() -> dict[str, str]:
    """The environment of a crawl: the package importable, no proxy, and no project that Scrapy has found before."""
    left_out = ("_proxy", "scrapy_settings_module")
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith(left_out)}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))}


def at_start(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that count when an interpreter starts."""
    return {name: value for name, value in env.items() if name.startswith(AT_START)}


def entering(pid: int, cwd: Path, *options: str) -> list[str]:
    """What stands before a command that is to see what a process has mounted, run in the folder `cwd`."""
    return [*ENTER, *options, "--target", str(pid), "sh", "-c", 'cd "$0" && exec "$@"', str(cwd)]


class _Client:
    """The servers of this process, started when the first program is."""

    forks = sys.platform == "linux"

    def __init__(self) -> None:
        self._servers: dict[tuple[bool, str], socket.socket] = {}
        self._seeds = {reports: itertools.cycle(HASH_SEEDS) for reports in (False, True)}
        self._variables = at_start(environment())
        self.mounts: str | None = None
        """The process whose mount namespace this program has entered."""

    def server(self, argv: Sequence[Any], env: Mapping[str, str]) -> socket.socket | None:
        """The server to fork a program; None for one that is started afresh."""
        is_child = argv == CHILD
        ours = is_child or (len(argv) > 2 and tuple(argv[:2]) == (sys.executable, "-m") and argv[2] in PROGRAMS)
        own = dict.fromkeys(OF_CHILD) if is_child else {}
        if not (self.forks and ours and at_start(env) | own == self._variables | own):
            return None
        reports = is_child or any(FOR_REPORTS.search(str(word)) for word in argv)
        return self._of_kind(reports, next(self._seeds[reports]))

    def adopt(self, server: socket.socket, mounts: str | None) -> None:
        """Use the server of another process, in a program that it has forked."""
        self.mounts = mounts
        self._servers = {(reports, seed): server for reports in (False, True) for seed in HASH_SEEDS}
        self._variables = at_start(os.environ)

    def _of_kind(self, reports: bool, seed: str) -> socket.socket:
        if (reports, seed) not in self._servers:
            self._servers[reports, seed] = self._start(reports, seed)
        return self._servers[reports, seed]

    def _start(self, reports: bool, seed: str) -> socket.socket:
        client, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        options: dict[str, Any] = {"cwd": ROOT, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        env = {**environment(), "PYTHONHASHSEED": seed}
        process: subprocess.Popen[Any]
        if reports:
            process = _Forked(REPORTS, self._of_kind(False, seed), server, env=env, **options)
        else:
            words = [sys.executable, "-m", "tests.crawl.forks", str(server.fileno())]
            process = subprocess.Popen(words, env=env, pass_fds=[server.fileno()], **options)
        process.returncode = 0  # it ends with this process, and nobody waits for it
        server.close()
        atexit.register(client.close)  # which ends the server
        return client


_client = _Client()


class _Forked(subprocess.Popen[Any]):
    """A program that a server forks. Overrides what in CPython 3.11 to 3.14 executes a child and waits for it."""

    def __init__(
        self,
        argv: Sequence[Any],
        server: socket.socket,
        given: socket.socket | None = None,
        mounts: str | None = None,
        **options: Any,
    ) -> None:
        """`given`: the socket that the program gets, by default that of the server. `mounts`: the process whose mount
        namespace it enters, by default the one that this program has entered."""
        self._server, self._given, self._mounts = server, given or server, mounts or _client.mounts
        super().__init__(argv, **options)

    def _execute_child(self, args: Sequence[str], *rest: Any) -> None:
        cwd, env = rest[4:6]
        pipes = rest[9:15]
        streams = [end if end != -1 else number for number, end in enumerate(pipes[i] for i in (0, 3, 5))]
        self._report, report = os.pipe()
        network = os.open(NETWORK, os.O_RDONLY)
        session, group = rest[-2:]
        request = {"argv": list(map(str, args)), "cwd": str(cwd or Path.cwd()), "env": dict(env), "umask": _umask()}
        request |= {"session": session, "group": group, "mounts": self._mounts}
        try:
            data = json.dumps(request).encode()
            socket.send_fds(self._server, [data], [*streams, network, self._given.fileno(), report])
        finally:
            os.close(network)
            os.close(report)
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self.pid = int(self._line())
        self._child_created = True

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            part = os.read(self._report, 1)
            assert part, "the fork server has ended"
            line += part
        return line

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        ready, _, _ = select.select([self._report], [], [], 0 if wait_flags else None)
        if not ready:
            return 0, 0
        status = int(self._line())
        os.close(self._report)
        return self.pid, status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode


def start(
    argv: Sequence[Any], *, env: Mapping[str, str], terminal: bool = False, **options: Any
) -> subprocess.Popen[Any]:
    """Start a program; options as for `subprocess.Popen`, of which `cwd`, streams, encodings, `start_new_session` and
    `process_group` work. `terminal`: in a new session, whose Ctrl-C comes from the terminal that is its standard input."""
    if list(argv[:3]) == [*ENTER, "--target"] and not terminal and (server := _client.server(argv[8:], env)):
        return _Forked(argv[8:], server, mounts=argv[3], env=env, **options | {"cwd": argv[7]})
    server = _client.server(argv, env)
    if terminal:
        options["start_new_session"] = True
    if server is None:
        return subprocess.Popen([sys.executable, "-c", LED_BY, *argv] if terminal else argv, env=env, **options)
    return _Forked(argv, server, env=env, **options)


def run(
    argv: Sequence[Any],
    *,
    env: Mapping[str, str],
    input: Any = None,
    timeout: float | None = None,
    capture_output: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, as `subprocess.run` does."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(argv, env=env, **options) as process:
        try:
            output, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(argv, process.returncode, output, errors)


@contextmanager
def fresh() -> Iterator[None]:
    """Start programs within as a user does: nothing is imported before."""
    before, _client.forks = _client.forks, False
    try:
        yield
    finally:
        _client.forks = before


class _Subprocess:
    """What `sitemapcrawler.api.child` uses of the module `subprocess`."""

    PIPE, TimeoutExpired = subprocess.PIPE, subprocess.TimeoutExpired
    Popen = staticmethod(start)


@contextmanager
def children() -> Iterator[None]:
    """Fork the children that this process starts within."""
    from sitemapcrawler.api import child

    with patch.object(child, "subprocess", _Subprocess):
        yield


def _umask() -> int:
    """This process's umask, read without setting it: servers of the test run in other threads. Source: proc(5)"""
    lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
    return next(int(line.split()[1], 8) for line in lines if line.startswith("Umask:"))


# ---- the server


def preload() -> None:
    """Import what a crawl needs, but for the reactor, and fill the caches that every crawl would fill."""
    from scrapy.settings import Settings
    from scrapy.utils.conf import build_component_list
    from scrapy.utils.misc import load_object
    from scrapy.utils.versions import get_versions

    from sitemapcrawler import settings as ours
    from sitemapcrawler.rules import all_rules
    from sitemapcrawler.rules.facts.languages import read_code

    commands = (
        module.name
        for package in ("scrapy.commands", "sitemapcrawler.commands")
        for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}.")
    )
    for module in (
        *commands,
        "duckdb",
        "scrapy.cmdline",
        "scrapy.core.downloader.contextfactory",
        "scrapy.core.engine",
        "scrapy.downloadermiddlewares.robotstxt",
        "scrapy.dupefilters",
        "scrapy.extensions.logstats",
        "scrapy.pqueues",
        "scrapy.spidermiddlewares.start",
        "scrapy.squeues",
        "scrapy.statscollectors",
        "sitemapcrawler.feeds.exporters",
        "sitemapcrawler.feeds.indexnow",
        "sitemapcrawler.feeds.workbook",
    ):
        with suppress(ImportError):
            import_module(module)
    settings = Settings()
    settings.setmodule(ours, "project")
    paths = [path for name in ("FEED_STORAGES", "DOWNLOAD_HANDLERS") for path in settings.getwithbase(name).values()]
    for name in ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES"):
        paths += build_component_list(settings.getwithbase(name))
    for path in filter(None, paths):
        with suppress(ImportError, NameError, AttributeError):
            load_object(path)
    all_rules()
    get_versions()  # the platform's name starts a program
    read_code("pt-Latn-BR")  # reads the lists of languages, scripts and countries


def preload_reports() -> None:
    """Import what writes tables and reports, and fill the caches that every program would fill."""
    for module in ("pandas", "pyarrow.parquet", "pygal", "xlsxwriter"):  # pyarrow imports pandas
        with suppress(ImportError):
            import_module(module)
    with suppress(ImportError):
        import_module("apprise").Apprise.instantiate("json://localhost")  # imports each service
    from sitemapcrawler.feeds.arrow import Columns
    from sitemapcrawler.feeds.folder import FEEDS
    from sitemapcrawler.report import page

    for record in FEEDS.values():
        Columns(record)
    environment = page._environment(page.PACKAGE)
    for name in environment.list_templates(["j2"]):
        environment.get_template(name)


def serve(control: socket.socket) -> tuple[dict[str, Any], socket.socket]:
    """Fork whatever is requested, and report each child's process id and exit status. Returns in the children alone: the
    request, and the socket that was given with it."""
    reports: dict[int, int] = {}
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the tests
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    watched: list[socket.socket | int] = [control, wake]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if wake in ready:
            os.read(wake, MAX_REQUEST)
            _reap(reports)
        if control in ready:
            message, descriptors, _, _ = socket.recv_fds(control, MAX_REQUEST, STREAMS + 3)
            if not message:
                os._exit(0)
            child = os.fork()
            if not child:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, interrupt)
                for descriptor in (control.detach(), wake, waker, *reports.values(), descriptors.pop()):
                    os.close(descriptor)
                request: dict[str, Any] = json.loads(message)
                return request, _become(request, descriptors)
            reports[child] = descriptors.pop()
            for descriptor in descriptors:
                os.close(descriptor)
            os.write(reports[child], b"%d\n" % child)


def _reap(reports: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while True:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            with suppress(BrokenPipeError):
                os.write(reports[child], b"%d\n" % status)
            os.close(reports.pop(child))


def _become(request: Mapping[str, Any], descriptors: list[int]) -> socket.socket:
    """Take over the streams, the network, the environment, the directory and the server that a request names. Returns the
    socket to that."""
    if request["session"]:
        os.setsid()
    elif request["group"] not in (None, -1):
        os.setpgid(0, request["group"])
    server = socket.socket(fileno=descriptors.pop())
    os.set_inheritable(server.fileno(), False)
    network = descriptors.pop()
    if os.fstat(network).st_ino != Path(NETWORK).stat().st_ino:
        _enter(network)
    os.close(network)
    if request["mounts"]:
        mounts = os.open(f"/proc/{request['mounts']}/ns/mnt", os.O_RDONLY)
        _enter(mounts)
        os.close(mounts)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if request["session"] and os.isatty(0):
        import fcntl  # not on Windows, as the next
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.umask(request["umask"])
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    _client.adopt(server, request["mounts"])
    time.tzset()
    tempfile.tempdir = None
    sys.stdin = sys.__stdin__ = _stream(0, "r")  # type: ignore[misc]  # Final
    sys.stdout = sys.__stdout__ = _stream(1, "w")  # type: ignore[misc]  # Final
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace")  # type: ignore[misc]  # Final
    return server


def _enter(namespace: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, 0):
        raise OSError(ctypes.get_errno(), "the namespace cannot be entered")


def _stream(number: int, mode: str, errors: str = "strict") -> io.TextIOWrapper:
    """A standard stream as the interpreter makes it."""
    binary: Any = open(number, f"{mode}b", closefd=False)  # noqa: SIM115 - as long as the process
    lines = number == 2 or os.isatty(number)
    return io.TextIOWrapper(binary, errors=errors, line_buffering=lines)


def main(descriptor: int) -> None:
    """Serve; in each child, serve again, or run its program as `python -m` does."""
    preload()
    request, server = _prepared(socket.socket(fileno=descriptor))
    if request["argv"] == REPORTS:
        preload_reports()
        request, _ = _prepared(server)
    if request["argv"] == CHILD:
        sys.path[:] = os.environ["PYTHONPATH"].split(os.pathsep)
        module, *arguments = CHILD[3:]
    else:
        sys.path[0] = request["cwd"]
        module, *arguments = request["argv"][2:]
    sys.argv = [module, *arguments]
    sys.modules.pop(module, None)
    sys.modules.pop("tests.crawl.forks", None)
    try:
        with children():
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        _leave(0)
    except SystemExit as end:
        if isinstance(end.code, int | None):
            _leave(end.code or 0)
        raise
    finally:
        gc.unfreeze()  # or the interpreter could not clear up, and libraries would tell of leaks


def _prepared(control: socket.socket) -> tuple[dict[str, Any], socket.socket]:
    """Serve with what has been imported."""
    assert REACTOR not in sys.modules
    gc.collect()
    gc.freeze()  # a collection would write to every object, and so copy the memory that all children share
    return serve(control)


def _leave(code: int) -> None:
    """End the process without clearing up memory: that would copy all that is shared with the server."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # the interpreter flushes again, and reports the failure as it does for a user
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
