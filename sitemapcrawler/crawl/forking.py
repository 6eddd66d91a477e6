"""Fork servers: processes that have imported everything, and fork a child for each connection that they are sent.

`ForkServer` is the side of the process that needs children; `requested` and `become` are that of the server. The
forkserver of multiprocessing is unsuitable: if the process is killed, its children keep the server alive and survive
too, and its socket stays in the temporary folder.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NoReturn

logger = logging.getLogger(__name__)

DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux's prctl(2)."""


class ForkServer:
    """A module that runs as a fork server: `python -m module FD`, where FD is one end of a socket pair. Each byte sent
    there carries the child's end of a connection. It starts with the first child, and again if it has died."""

    def __init__(self, module: str, own_session: bool = False) -> None:
        """`own_session`: signals from the terminal do not reach the server and its children."""
        self._module = module
        self._own_session = own_session
        self._process: subprocess.Popen[bytes] | None = None
        self.control: socket.socket | None = None
        """Our end of the socket pair; None if the server does not run."""

    def fork(self) -> Connection:
        """Start a child; returns our end of its connection. Raises OSError."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        assert self.control is not None
        ours, theirs = socket.socketpair()
        link = Connection(ours.detach())
        with theirs:
            try:
                socket.send_fds(self.control, [b"+"], [theirs.fileno()])
            except OSError:
                link.close()
                raise
        return link

    def close(self, patience: float = 0.0) -> None:
        """End the server. `patience`: seconds that it gets to end by itself before it is killed, upon which the kernel
        kills its children."""
        if self.control is not None:
            self.control.close()
            self.control = None
        if self._process is not None:
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _start(self) -> None:
        self.control, theirs = socket.socketpair()
        paths = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 - the empty path is the working directory
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", self._module, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=self._own_session,
            )


def requested(control: socket.socket) -> Iterator[int]:
    """Yield the child's end of each connection that the server is sent, until the other end of `control` is closed."""
    gc.collect()
    gc.freeze()  # a collection writes to every object, and would copy the memory shared with the children
    while True:
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not word:
            return
        yield descriptors[0]


def become(work: Callable[[], int], parent: int, failed: int) -> NoReturn:
    """Do the work of a forked child, and exit with the code that it returns. `failed`: the code if it fails, or if the
    parent has ended already."""
    code = failed
    try:
        die_with(parent, failed)
        code = work()
    except BaseException:
        logger.exception("a forked process failed")
    finally:
        leave(code)


def die_with(parent: int, code: int) -> None:
    """Make the kernel kill this process when its parent ends (Linux). Elsewhere, the closed connection ends it.
    `code`: exit code if the parent has ended already."""
    with suppress(AttributeError, OSError):  # not Linux
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        leave(code)


def leave(code: int) -> NoReturn:
    """Exit at once: flush logs and standard streams, but skip the cleanup of what the parent has set up."""
    for flush in (logging.shutdown, *(stream.flush for stream in (sys.stdout, sys.stderr) if stream is not None)):
        with suppress(OSError, ValueError):
            flush()
    os._exit(code)
