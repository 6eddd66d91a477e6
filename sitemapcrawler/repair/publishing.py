"""Publishes a folder as a whole: until the new one is complete, the one before stays as it is.

The new folder is written in a temporary one beside its place (`feeds.scratch`), and changes places with the one before
in one step, where the system can do that (Linux). Elsewhere the one before is renamed first, and the next run puts it
back if this one is killed meanwhile.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from sitemapcrawler.feeds.scratch import is_abandoned, prefix_of, scratch

MANIFEST = ".sitemapcrawler-fix.json"
"""List of the files that were written to a folder: the only ones that the next run removes."""
BEFORE = "before"
"""Name of the folder that is replaced, in the temporary one."""
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
            raise FolderError("is not a folder")
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


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Create an empty folder beside `out`, which is removed at the end unless it was published. Removes what killed
    runs have left there. Raises OSError."""
    out.parent.mkdir(parents=True, exist_ok=True)
    name = f".{out.name}"
    for left in out.parent.glob(f"{glob.escape(prefix_of(name))}*/{BEFORE}"):
        if is_abandoned(left.parent) and not out.exists():
            left.rename(out)
    with scratch(out.parent, name) as folder:
        part = folder / "new"
        part.mkdir()
        yield part


def publish(part: Path, out: Path) -> None:
    """Put a complete folder into its place. Files in the one before that no run wrote are in the new one too. Raises
    OSError or FolderError; the folder is then as before."""
    before = part.with_name(BEFORE)
    if not out.exists():
        part.rename(out)
        return
    clash = next((path for path in _others(out, part) if os.path.lexists(part / path)), None)
    if clash is not None:
        raise FolderError(f"holds {str(clash)!r}, which was not written by `fix`; accepted: another folder")
    _keep_others(out, part)
    if _exchange(part, out):
        before = part
    else:
        out.rename(before)
        try:
            part.rename(out)
        except OSError:
            before.rename(out)
            raise
    with suppress(OSError):
        _keep_others(before, out)  # those that came meanwhile


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


def _keep_others(before: Path, new: Path) -> None:
    """Link what no run wrote to a folder into the new one, or copy it where the system has no links. Raises OSError."""
    for path in _others(before, new):
        if not os.path.lexists(new / path):
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            if (before / path).is_dir() and not (before / path).is_symlink():
                shutil.copytree(before / path, new / path, symlinks=True, copy_function=_link)
            else:
                _link(before / path, new / path)


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(source, target, follow_symlinks=False)


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
