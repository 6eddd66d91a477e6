"""Local files to repair: where each will live, and which files an index lists."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sitemapcrawler import urls
from sitemapcrawler.crawl.local_files import Published, assumed_home, file_beside
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.repair.sources import Source
from sitemapcrawler.urls.grammar import folder_of

MISSING = "index-child-missing"
NO_FILE = "listed in the index, and no such file"


class LocalFiles:
    """The files of a folder, or one file with those beside it that it lists."""

    def __init__(self, files: Sequence[str], folder: str | None, base: str | None) -> None:
        """`files`: `file:` URLs; `folder`: the one that they are in, None for a single file; `base`: URL of the folder,
        with a slash at its end, or of the single file; None if unknown."""
        paths = [Path(urls.local_path(url) or "") for url in files]
        self._folder = Path(folder).resolve() if folder is not None else paths[0].absolute().parent
        self._home = base if base is None or base.endswith("/") else f"{urls.origin(base)}{folder_of(base)}"
        self._indexes: list[Source] = []
        """Indexes that were read while the URL of the folder was unknown."""
        self.sources = [Source(url, path) for url, path in zip(files, paths, strict=True)]
        for source in self.sources:
            inside = self._inside(source)
            if base is not None:
                source.place = base + inside if base.endswith("/") else base
            source.target = source.place or f"/{inside}"

    def _inside(self, source: Source) -> str:
        """The path of a file in the folder, as part of a URL."""
        assert source.path is not None
        path = source.path.parent.resolve() / source.path.name
        return urls.file_url(f"/{os.path.relpath(path, self._folder.resolve())}").removeprefix("file:///")

    def children(self, index: Source, listed: Sequence[ChildRecord]) -> list[Source]:
        """The files that an index lists. Without any of them, it is repaired alone."""
        home = self._home_of(index, listed)
        if home is None:
            return []
        published = Published(str(self._folder.resolve()), home)
        found, missing = [], []
        for one in listed:
            beside = file_beside(index.url, index.place, one.loc, published)
            if beside is not None:
                found.append(Source(beside, Path(urls.local_path(beside) or ""), place=one.loc, target=one.loc))
            else:
                missing.append(Source(one.loc, error=NO_FILE, rule=MISSING))
        return [*found, *missing] if found else []

    def _home_of(self, index: Source, listed: Sequence[ChildRecord]) -> str | None:
        """URL of the folder: as named, or assumed from the first index that lists files in it."""
        self._indexes.append(index)
        if self._home is None:
            self._home = assumed_home(str(self._folder), [one.loc for one in listed])
            for source in self.sources if self._home is not None else ():
                source.target = f"{self._home}{self._inside(source)}"
        if self._home is not None:
            for one in self._indexes:  # also those that were read before
                one.place = one.place or one.target
            self._indexes.clear()
        return self._home
