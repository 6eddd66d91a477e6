"""Functions in processes of their own, by the forkserver of multiprocessing (Linux, macOS).

A process starts within milliseconds, and safely beside threads. It ends with the process that started it, however that
one ends. It does not import the program's main module, so that scripts need no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock, Thread
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

logger = logging.getLogger(__name__)

RAISED = 70
"""Exit code of a function that raises an exception; EX_SOFTWARE of sysexits.h."""
ORPHANED = 71
"""Exit code of a process whose parent or server is gone; EX_OSERR of sysexits.h."""
LOOK_S = 1.0
"""Seconds between two checks of a process whether its server lives. Its parent's end is noticed at once."""
STATUS = Path("/proc/self/status")
_starting = Lock()


def own_memory(name: str) -> int:
    """Bytes of this process that Linux states under a name, such as `VmHWM`; 0 on other systems.

    Source: proc_pid_status(5)
    """
    with suppress(OSError):
        found = re.search(rf"^{name}:\s+(\d+) kB$", STATUS.read_text(encoding="ascii", errors="replace"), re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    return 0


def context() -> ForkServerContext:
    """Makes memory and pipes that are passed to a function. Raises ValueError on Windows."""
    return multiprocessing.get_context("forkserver")


@contextmanager
def running(
    function: Callable[..., int], *arguments: object, preload: str = "", folder: str | None = None
) -> Iterator[BaseProcess]:
    """Run a function in a process of its own; what it returns is the exit code. Kills the process at the end of the
    context if it still runs. Raises OSError or EOFError if it cannot start.

    `function` and `arguments` are pickled. `preload`: module that the server imports before it forks its first process.
    `folder`: for the server's socket, which stays there if the parent is killed; default: the temporary folder.
    """
    process = context().Process(target=_work, args=(function, arguments))
    with _starting, _unseen(folder):
        context().set_forkserver_preload([preload] if preload else [])
        process.start()
    try:
        yield process
    finally:
        if process.exitcode is None:
            process.kill()
            process.join()
        process.close()


@contextmanager
def _unseen(folder: str | None) -> Iterator[None]:
    """Hide the main module, which the process would import, and undo what multiprocessing changes."""
    main, temporary = sys.modules["__main__"], tempfile.tempdir
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    sys.modules["__main__"] = ModuleType("__main__")
    tempfile.tempdir = folder or temporary
    try:
        yield
    finally:
        sys.modules["__main__"], tempfile.tempdir = main, temporary
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)  # Python 3.11 unblocks SIGINT and SIGTERM


def _work(function: Callable[..., int], arguments: tuple[object, ...]) -> None:
    """Body of the process. Skips the cleanup of what the server has set up."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl-C is the parent's, which decides
    Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    code = RAISED
    try:
        code = function(*arguments)
    except BaseException:
        logger.exception("a process failed")
    finally:
        for flush in (logging.shutdown, sys.stdout.flush, sys.stderr.flush):
            with suppress(OSError, ValueError):
                flush()
        os._exit(code)


def _end_with_parent(server: int) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    while parent.is_alive() and os.getppid() == server:
        parent.join(LOOK_S)
    os._exit(ORPHANED)
