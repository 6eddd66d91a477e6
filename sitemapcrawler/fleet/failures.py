"""What goes wrong with an output, as one line."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sitemapcrawler.findings import inert

MAX_REASON = 300
"""Characters of what a server said."""


class OutputFailed(OSError):
    """Something could not be written, read or removed. The text is one line; it can be pickled."""


def reason(error: Exception) -> str:
    """Why, in a few words: of an error of this machine those of the system, of any other its first words."""
    if isinstance(error, OSError) and error.errno in errno.errorcode and error.strerror:
        text = str(error.strerror)
    else:
        text = str(error) or type(error).__name__
        if isinstance(error, FileNotFoundError) and " " not in text:  # a mere path
            text = f"{text} not found"
    return inert(" ".join(text.split()), MAX_REASON)


@contextmanager
def telling(what: str) -> Iterator[None]:
    """OutputFailed in place of any error, with what was to be done: file systems raise errors of many libraries."""
    try:
        yield
    except OutputFailed:
        raise
    except Exception as error:
        raise OutputFailed(f"{what}: {reason(error)}") from None
