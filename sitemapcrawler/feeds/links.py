"""Links that somebody else has put where files are written: following one would write over a file of the user's."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MAX_LINKS = 40
"""Links on one path, as Linux follows them. Source: path_resolution(7)"""


def planted(path: Path) -> Path | None:
    """The first link on a path that must not be followed: it stands in a folder that everybody may write to, such as
    /tmp, and belongs neither to us nor to the owner of that folder. None without one.

    The kernel has the same rule, but not for programs that read where a link leads, as those must that replace files.
    Source: https://docs.kernel.org/admin-guide/sysctl/fs.html#protected-symlinks
    """
    here, found, followed = Path("/"), [*reversed(path.absolute().parts)], 0
    while found and followed <= MAX_LINKS:
        part = found.pop()
        here = here.parent if part == ".." else here / part
        if not os.path.islink(here):  # noqa: PTH114 - that of a Path raises where we may not look, nor write then
            continue
        if _is_strange(here):
            return here
        followed += 1
        found += reversed(here.readlink().parts)
        here = here.parent
    return None


def _is_strange(link: Path) -> bool:
    folder = link.parent.stat()
    shared = bool(folder.st_mode & stat.S_IWOTH)
    return shared and hasattr(os, "geteuid") and link.lstat().st_uid not in (os.geteuid(), folder.st_uid)


def check_links(path: Path) -> None:
    """OSError, one line, for a path with a link that must not be followed."""
    link = planted(path)
    if link is not None:
        raise PermissionError(errno.EACCES, f"{link} is a link that somebody else has put there")
