"""Where the results of a fleet go: a folder, or a prefix of a bucket, reached by fsspec.

Credentials and addresses come from the environment as the libraries read them: s3fs and botocore `AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_PROFILE`, `AWS_REGION`, `AWS_ENDPOINT_URL` (also that of MinIO, R2 and others) and the
files in `~/.aws`; gcsfs `GOOGLE_APPLICATION_CREDENTIALS`, what `gcloud auth application-default login` has left, and
`STORAGE_EMULATOR_HOST`, which is asked without credentials; each the metadata service of its cloud after that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Any

from sitemapcrawler import urls
from sitemapcrawler.fleet.output.folders import Folder, OutputFailed
from sitemapcrawler.fleet.output.objects import ObjectStore

__all__ = ["Output", "OutputFailed"]

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://.*", re.IGNORECASE | re.DOTALL)


class Output:
    """The place that files are put to, each as a whole: a name is there with all of its bytes, or it is not.

    Names are relative, with `/`. What begins with `_` or `.` is no result. It can be pickled, and used after a fork.
    OutputFailed is raised for whatever goes wrong later than `check`.
    """

    def __init__(self, url: str) -> None:
        """`url`: a folder, or a URL that fsspec knows. ValueError, one line, where it cannot be used; nothing is asked
        of any server yet."""
        self._place = _place(url)
        self.url = self._place.url
        """The folder's absolute path, or the URL without a slash at its end."""
        self.is_local = self._place.is_local
        """Whether it is a folder: on several machines, the same one, mounted at the same path."""

    def __reduce__(self) -> tuple[type[Output], tuple[str]]:
        return Output, (self.url,)

    def check(self) -> None:
        """Write a file and remove it. ValueError, one line, where that cannot be done."""
        try:
            self._place.check()
        except OutputFailed as error:
            raise ValueError(str(error)) from None

    def scratch(self) -> AbstractContextManager[Path]:
        """A folder of this machine for one attempt, removed at its end: beside the results where these are local."""
        return self._place.scratch()

    def publish(self, file: Path, name: str) -> None:
        """Put a whole file to its place, over what may be there. Of a folder it is moved, and on the disk after it."""
        self._place.publish(file, _checked(name))

    def remove(self, name: str) -> None:
        """Remove a file; nothing where there is none."""
        self._place.remove(_checked(name))

    def read_bytes(self, name: str) -> bytes | None:
        """What a file holds; None where there is none."""
        return self._place.read_bytes(_checked(name))

    def write_bytes(self, name: str, data: bytes) -> None:
        """Put a small file to its place, over what may be there."""
        self._place.write_bytes(_checked(name), data)

    def names(self, folder: str) -> Iterator[str]:
        """Names of the results below a folder, which begin with that folder, in any order; none where there is no such
        folder. One folder is listed at a time."""
        return self._place.names(_checked(folder) if folder else "")

    def clean(self) -> None:
        """Remove what killed runs have left: parts of files, uploads that were not completed. Not beside a fleet that
        runs. What a store cannot tell, it removes by itself after some time, where its owner has it so."""
        self._place.clean()

    def filesystem(self) -> tuple[Any, str]:
        """The file system as fsspec, pyarrow and DuckDB take it, of this process alone; and the path in it."""
        return self._place.open()

    def lock(self) -> AbstractContextManager[None]:
        """Keep other fleets out. ValueError where one writes there. In a bucket nobody is kept out: two fleets that
        write to the same prefix do work twice, and the later result stands."""
        return self._place.lock()


def _place(url: str) -> Folder | ObjectStore:
    is_url = _URL.fullmatch(url)
    if not url or "\0" in url or (is_url is None and "://" in url):
        raise ValueError(f"{url!r} is no folder and no URL")
    if is_url is None:
        return Folder(url)
    if is_url[1].lower() != "file":
        return ObjectStore(url)
    path = urls.local_path(url)
    if path is None:
        raise ValueError(f"{url!r} is no folder of this machine")
    return Folder(path)


def _checked(name: str) -> str:
    """A name that leads out of the output, or to itself, is a ValueError."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or str(path) != name or name == ".":
        raise ValueError(f"{name!r} is no name of a file")
    return name
