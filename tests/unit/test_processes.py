"""Functions in processes of their own, however they end, and whoever else ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from sitemapcrawler.processes import RAISED, context, running
from tests.crawl.forks import environment
from tests.processes import alive, parent_of, stop_server, wait_for_end, wait_for_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no forkserver")

HERE = "tests.unit.test_processes"
PATIENCE_S = 60


def returning(code: int) -> int:
    return code


def raising() -> int:
    raise ValueError("odd")


def waiting(told: Connection) -> int:
    told.send(os.getpid())
    threading.Event().wait()
    return 0


def imported() -> int:
    """Bits: the main module is that of the program; the module was imported by the server; SIGINT is blocked."""
    main = getattr(sys.modules["__main__"], "__file__", None) is not None
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return main + 2 * (HERE in sys.modules) + 4 * blocked


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    stop_server()
    yield
    stop_server()
    assert signal.SIGTERM in signal.pthread_sigmask(signal.SIG_SETMASK, before), "a start leaves the mask as it was"


@pytest.mark.parametrize("code", [0, 3])
def test_exit_code_is_what_the_function_returns(code: int) -> None:
    with running(returning, code) as process:
        process.join(PATIENCE_S)
        assert process.exitcode == code


def test_function_that_raises_has_a_code_of_its_own() -> None:
    with running(raising) as process:
        process.join(PATIENCE_S)
        assert process.exitcode == RAISED


def test_program_is_not_imported_and_ctrl_c_is_blocked() -> None:
    with running(imported, preload=HERE) as process:
        process.join(PATIENCE_S)
        assert process.exitcode == 2 + 4


def test_process_that_still_runs_at_the_end_is_killed() -> None:
    reader, writer = context().Pipe(duplex=False)
    with reader, writer, running(waiting, writer):
        pid = reader.recv()
        assert alive(pid)
    assert not alive(pid)


def test_process_ends_with_its_server_and_the_next_one_has_another() -> None:
    reader, writer = context().Pipe(duplex=False)
    with reader, writer, running(waiting, writer):
        pid = reader.recv()
        os.kill(parent_of(pid), signal.SIGKILL)
        wait_for_end(pid)
    with running(returning, 0) as process:
        process.join(PATIENCE_S)
        assert process.exitcode == 0


PROGRAM = f"""
from {HERE} import context, running, waiting
reader, writer = context().Pipe(duplex=False)
with running(waiting, writer, folder={{folder!r}}) as process:
    print(reader.recv(), flush=True)
    process.join()
"""


def test_process_and_server_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    program = PROGRAM.format(folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", program], env=environment(), stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        server = wait_for_process(parent.pid, "multiprocessing.forkserver").pid
        parent.kill()
    wait_for_end(pid, server)
    assert len(list(tmp_path.iterdir())) == 1, "the folder of the socket is where it was told to be"
