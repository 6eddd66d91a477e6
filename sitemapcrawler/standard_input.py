"""Standard input as a file that can be read like any other."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

from sitemapcrawler.standard_output import CHUNK


def spool_input(limit: int = 0) -> None:
    """Have /dev/stdin name a file with all that comes by standard input, so that it can be read like any other. The
    file has no name of its own, and is gone with the process. ValueError, one line, where nothing can come.

    `limit`: bytes that are wanted; one more is read, to tell that there are more. 0: all.
    """
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    if sys.stdin.isatty():
        raise ValueError("standard input is a terminal; a pipe or a file is read")
    try:
        with tempfile.TemporaryFile() as file:
            for chunk in _chunks(sys.stdin.buffer, limit):
                file.write(chunk)
            file.flush()
            os.dup2(file.fileno(), sys.stdin.fileno())
    except OSError as error:
        raise ValueError(f"standard input cannot be read: {error.strerror}") from None
    except KeyboardInterrupt:
        raise ValueError("stopped while standard input was read") from None


def _chunks(source: IO[bytes], limit: int) -> Iterator[bytes]:
    left = limit + 1 if limit else sys.maxsize
    while left and (chunk := source.read(min(left, CHUNK))):
        left -= len(chunk)
        yield chunk
