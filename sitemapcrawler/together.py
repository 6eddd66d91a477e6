"""Files put into their places together: all of them, or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from sitemapcrawler.feedfile import unused
from sitemapcrawler.storages import FeedLost, replace, set_mode


class Torn(FeedLost):
    """Some files could not be moved, and what stood in their places could not all be put back."""


def put(parts: Mapping[Path, Path], unwanted: Iterable[Path] = ()) -> None:
    """Move files that are whole, {place: file}, in this order, and remove what is unwanted.

    The last place is empty meanwhile: where a file stands there, all others stand, too. FeedLost where one cannot be
    moved; then everything stands as it did before. `Torn` where that could not be done: what is missing stands beside
    its place, under a name of `feedfile.unused`.
    """
    aside: dict[Path, Path] = {}
    moved: list[Path] = []
    try:
        for place in reversed([*unwanted, *parts]):
            _set_aside(place, aside, parts.get(place))
        for place, part in parts.items():
            replace(place, part)
            moved.append(place)
    except FeedLost as error:
        _put_back(aside, moved, error)
        raise
    for earlier in aside.values():
        with suppress(OSError):  # it costs room, and no more
            earlier.unlink()


def _set_aside(place: Path, aside: dict[Path, Path], part: Path | None) -> None:
    try:
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if part is not None:
            set_mode(place, part)
        if place.exists() or place.is_symlink():
            aside[place] = place.rename(next(name for name in unused(place) if not name.exists()))
    except OSError as error:
        raise FeedLost(f"{place} could not be replaced: {error.strerror}") from None


def _put_back(aside: Mapping[Path, Path], moved: Iterable[Path], cause: FeedLost) -> None:
    undo: list[Callable[[], object]] = [place.unlink for place in moved if place not in aside]
    undo += [partial(earlier.replace, place) for place, earlier in reversed([*aside.items()])]
    failed = False
    for step in undo:
        try:
            step()
        except OSError:
            failed = True
    if failed:
        raise Torn(str(cause)) from None
