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
        self._waiting: list[tuple[Source, Sequence[ChildRecord]]] = []
        """Indexes that were read while the URL of the folder was unknown, with what they list."""
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
        """The files that an index lists, and those of the indexes before it, if it tells where the folder will live."""
        self._waiting.append((index, listed))
        if self._home is None:
            self._home = assumed_home(str(self._folder), [one.loc for one in listed])
            for source in self.sources if self._home is not None else ():
                source.target = f"{self._home}{self._inside(source)}"
        if self._home is None:
            return []
        waiting, self._waiting = self._waiting, []
        return [child for one, its in waiting for child in self._listed(one, its, self._home)]

    def _listed(self, index: Source, listed: Sequence[ChildRecord], home: str) -> list[Source]:
        """The files that an index lists. Without any of them, it is repaired alone."""
        index.place = index.place or index.target
        published = Published(str(self._folder.resolve()), home)
        found, missing = [], []
        for one in listed:
            loc = urls.resolve(index.place or home, one.loc) or one.loc
            beside = file_beside(index.url, index.place, loc, published)
            if beside is not None:
                found.append(Source(beside, Path(urls.local_path(beside) or ""), place=loc, target=loc))
            else:
                missing.append(Source(loc, error=NO_FILE, rule=MISSING))
        return [*found, *missing] if found else []
