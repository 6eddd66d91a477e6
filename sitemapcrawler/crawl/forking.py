"""What processes need that are forked for a part of the work: they end with their parent."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux's prctl(2)."""


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
