"""Publishes a folder as a whole: until the new one is complete, the one before stays as it is.

The new folder is written beside its place as `.NAME.PID.part`, becomes `.NAME.PID.new` when it is complete, and changes
places with the one before in one step, where the system can do that (Linux). Elsewhere the one before is renamed to
`.NAME.PID.old` first. What a killed run leaves behind, the next one removes or puts back.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

MANIFEST = ".sitemapcrawler-fix.json"
"""List of the files that were written to a folder: the only ones that the next run removes."""
PART, NEW, OLD = "part", "new", "old"
CURRENT_FOLDER = -100  # AT_FDCWD of fcntl.h
EXCHANGE = 2  # RENAME_EXCHANGE of linux/fs.h
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


class FolderError(ValueError):
    """A folder cannot be written. The message is one line."""


def check(out: Path) -> Path:
    """Return the folder to write to, links resolved. Raises FolderError if it holds anything that no earlier run wrote
    beside its own files, or cannot be written."""
    try:
        path = out.resolve()
        if path.exists() and not path.is_dir():
            raise FolderError("is no folder")
        if path.is_dir() and manifest_of(path) is None and any(path.iterdir()):
            raise FolderError("is not empty, and was not written by `fix`; accepted: a new or empty folder")
        if path == Path.cwd() or path in Path.cwd().parents:
            raise FolderError("is the working directory or above it; accepted: another folder")
        place = next(one for one in path.parents if one.exists())
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        raise FolderError(f"cannot be read, {getattr(error, 'strerror', None) or error}") from None
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise FolderError(f"cannot be written, no permission to write in {str(place)!r}")
    return path


def create(out: Path) -> Path:
    """Create the folder to write to, beside its place, after removing what killed runs have left."""
    out.parent.mkdir(parents=True, exist_ok=True)
    recover(out)
    part = _beside(out, PART)
    part.mkdir()
    return part


def discard(part: Path) -> None:
    """Remove a folder that was not published."""
    shutil.rmtree(part, ignore_errors=True)


def _beside(out: Path, state: str) -> Path:
    return out.with_name(f".{out.name}.{os.getpid()}.{state}")


def recover(out: Path) -> None:
    """Remove what killed runs have left beside a folder; put back a folder or files that are missing."""
    left = re.compile(rf"\.{re.escape(out.name)}\.(\d+)\.({PART}|{NEW}|{OLD})")
    found = [(match[2], path) for path in out.parent.iterdir() if (match := left.fullmatch(path.name))
             and not _is_running(int(match[1]))]  # fmt: skip
    for state, path in sorted(found, reverse=True):  # part, old, new
        if state == OLD and not out.exists():
            path.rename(out)
        else:
            if state != PART and out.is_dir():
                _move_others(path, out)
            _remove(path, state == PART)


def _is_running(pid: int) -> bool:
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def publish(part: Path, out: Path) -> None:
    """Put a complete folder into its place. Files in the one before that no run wrote move to the new one. Raises
    OSError; the folder is then as before."""
    new = part.with_name(part.name.removesuffix(PART) + NEW)
    part.rename(new)
    if not out.exists():
        new.rename(out)
        return
    clash = next((path for path in _others(out, new) if os.path.lexists(new / path)), None)
    if clash is not None:
        new.rename(part)
        raise FolderError(f"holds {str(clash)!r}, which was not written by `fix`; accepted: another folder")
    try:
        is_exchanged = _exchange(new, out)
    except OSError:
        new.rename(part)
        raise
    if is_exchanged:
        before = new
    else:
        before = part.with_name(part.name.removesuffix(PART) + OLD)
        out.rename(before)
        new.rename(out)
    _move_others(before, out)
    _remove(before)


def _others(folder: Path, other: Path) -> list[Path]:
    """Paths in a folder that no run of `fix` wrote: files, and folders in which neither it nor the `other` folder has a
    file of `fix`."""
    own = {PurePosixPath(name) for name in (MANIFEST, *(manifest_of(folder) or ()))}
    names = own.union(map(PurePosixPath, manifest_of(other) or ()))
    return [*_apart_from(own, {parent for name in names for parent in name.parents}, folder, Path())]


def _apart_from(
    own: Collection[PurePosixPath], folders: Collection[PurePosixPath], folder: Path, inside: Path
) -> Iterator[Path]:
    for path in sorted((folder / inside).iterdir()):
        found = inside / path.name
        if PurePosixPath(found) in folders and path.is_dir() and not path.is_symlink():
            yield from _apart_from(own, folders, folder, found)
        elif PurePosixPath(found) not in own:
            yield found


def _move_others(before: Path, out: Path) -> None:
    for path in _others(before, out):
        with suppress(OSError):
            if not os.path.lexists(out / path):
                (out / path).parent.mkdir(parents=True, exist_ok=True)
                (before / path).rename(out / path)
                os.removedirs((before / path).parent)


def _remove(folder: Path, is_ours: bool = False) -> None:
    """Remove what a run wrote to a folder, and the folder if nothing else is in it, or if all of it `is_ours`."""
    if is_ours:
        shutil.rmtree(folder, ignore_errors=True)
        return
    names = manifest_of(folder) or ()
    for name in (*names, MANIFEST):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)
    parents = {parent for name in (*names, MANIFEST) for parent in PurePosixPath(name).parents}
    for parent in sorted(parents, key=lambda parent: len(parent.parts), reverse=True):
        with suppress(OSError):  # others have files in it
            (folder / parent).rmdir()


def manifest_of(folder: Path) -> list[str] | None:
    """Return the paths that an earlier run wrote below a folder; None if none did. Paths outside of it are ignored."""
    try:
        held = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    names = held.get("files") if isinstance(held, dict) else None
    return [name for name in names if isinstance(name, str) and _is_inside(name)] if isinstance(names, list) else None


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and str(path) == name


def write_manifest(folder: Path, names: Iterable[str]) -> None:
    """List the paths that were written below a folder."""
    (folder / MANIFEST).write_text(json.dumps({"files": sorted(names)}, indent=1, ensure_ascii=True) + "\n", "ascii")


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False if the system cannot do that."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if rename(CURRENT_FOLDER, os.fsencode(one), CURRENT_FOLDER, os.fsencode(other), EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(other))
