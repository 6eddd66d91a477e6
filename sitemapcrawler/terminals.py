"""What a stream ends on: a terminal that a person looks at, or anything else."""

from __future__ import annotations

import os
from typing import Any

NOT_LIVE = ("", "dumb", "unknown")
"""Values of TERM that cannot move the cursor."""
NO = ("", "0", "false", "no")
"""Values of CI that say: not here."""


def can_be_live(stream: Any) -> bool:
    """True for a terminal that a person looks at and whose cursor can be moved."""
    if not is_terminal(stream) or os.environ.get("CI", "").lower() not in NO:
        return False
    if os.environ.get("TERM", "" if os.name != "nt" else "windows") in NOT_LIVE:
        return False
    return in_foreground(stream)


def is_terminal(stream: Any) -> bool:
    """True for a stream that ends on a terminal."""
    try:
        return os.isatty(stream.fileno())
    except (AttributeError, OSError, ValueError):  # none, closed, or not of the system
        return False


def in_foreground(stream: Any) -> bool:
    """False for a process that the shell runs in the background (`command &`)."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except (AttributeError, OSError):  # no job control here
        return True


def same_terminal(one: Any, other: Any) -> bool:
    """True for two streams that end on the same terminal."""
    if not is_terminal(one) or not is_terminal(other):
        return False
    return one is other or os.fstat(one.fileno()).st_rdev == os.fstat(other.fileno()).st_rdev
