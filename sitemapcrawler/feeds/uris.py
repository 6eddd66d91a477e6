"""Where feeds go: the scheme and the local path of a URI, and what stands there."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PureWindowsPath
from urllib.parse import urlsplit

from w3lib.url import file_uri_to_path


def scheme_of(uri: str) -> str:
    """Return the scheme of a feed's URI; empty for a path. Raises ValueError, one line, for a URI that Scrapy cannot
    split."""
    try:
        return urlsplit(uri).scheme
    except ValueError as error:
        raise ValueError(f"{uri} cannot be written: {error}") from None


def local_path(uri: str | Path) -> Path | None:
    """Return the path of a local feed; None for others (standard output, S3, FTP, ...)."""
    if isinstance(uri, Path):
        return uri
    scheme = scheme_of(uri)
    if scheme == "file":
        return Path(file_uri_to_path(uri))
    return None if scheme and not PureWindowsPath(uri).is_absolute() else Path(uri)


def is_foreign_link(path: Path) -> bool:
    """True for a symbolic link of a user other than root and the current one. In a shared folder such as /tmp, it may
    point to any file of ours."""
    is_link = os.path.islink(path)  # noqa: PTH114  # Path.is_symlink raises without permission
    return is_link and hasattr(os, "geteuid") and path.lstat().st_uid not in (0, os.geteuid())


def is_stream(path: Path) -> bool:
    """True for a device, a named pipe or a descriptor such as /dev/stdout, which cannot be replaced."""
    if is_foreign_link(path):
        return False
    if path.is_relative_to("/dev/fd") or path in (Path("/dev/stdout"), Path("/dev/stderr")):
        return True
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
