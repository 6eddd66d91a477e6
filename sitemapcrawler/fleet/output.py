"""Output of a fleet: a folder, or a prefix in a bucket of S3 or Google Cloud Storage.

Credentials and endpoints come from the environment. s3fs and botocore read `AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_PROFILE`, `AWS_REGION`, `AWS_ENDPOINT_URL` (MinIO, R2 and others) and `~/.aws`. gcsfs
reads `GOOGLE_APPLICATION_CREDENTIALS`, the login of `gcloud auth application-default login`, and
`STORAGE_EMULATOR_HOST`, which needs no credentials. Both fall back to the metadata service of their cloud.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sitemapcrawler import urls
from sitemapcrawler.feeds.scratch import lock_file, scratch
from sitemapcrawler.urls.display import inert

S3, GCS = "s3", "gs"
PACKAGES: Mapping[str, tuple[str, str]] = MappingProxyType({S3: ("s3fs", "s3"), GCS: ("gcsfs", "gcs")})
"""{scheme: (package that it needs, extra of this project that installs it)}."""
PLACES = "a folder, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"
MAX_REASON = 300
"""Maximum length of an error message in characters."""
PARTITION, SUFFIX = "bucket=", ".parquet"
PARTS, LOCK = "_parts", "_lock"
"""Folder for unfinished files, and the file that a fleet locks."""
PART_BYTES = 16 * 2**20
"""Size in bytes of the parts of a large upload, which are held in memory. S3 requires at least 5 MiB except for the
last part, GCS a multiple of 256 KiB. Sources: S3's quotas of multipart uploads, GCS's resumable uploads."""
PARTS_AT_ONCE = 4
EMULATOR = "STORAGE_EMULATOR_HOST"
NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP)
"""Errors of file systems without fsync."""
_PATTERN = re.compile(r"[*?\[\\]")
"""Characters that DuckDB treats as a pattern in a path."""


class OutputFailed(OSError):
    """A file could not be written or read. The message is one line; the error can be pickled."""


def reason(error: Exception) -> str:
    """Error as short text: the system's message for an OSError, else its own."""
    if isinstance(error, OSError) and error.errno in errno.errorcode and error.strerror:
        text = str(error.strerror)
    else:
        text = str(error) or type(error).__name__
        if isinstance(error, FileNotFoundError) and " " not in text:  # only a path
            text = f"{text} not found"
    return inert(" ".join(text.split()), MAX_REASON)


@contextmanager
def failing_as(what: str) -> Iterator[None]:
    """Turn any error into OutputFailed with a prefix; fsspec's file systems raise errors of many libraries."""
    try:
        yield
    except OutputFailed:
        raise
    except Exception as error:
        raise OutputFailed(f"{what}: {reason(error)}") from None


class Output:
    """Files below a prefix in a bucket, which appear whole or not at all. `Folder` has those of a folder.

    Names are relative, with `/`. Methods raise OutputFailed. Two fleets with the same prefix repeat each other's work,
    and the later result stays.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._temporary = Path(tempfile.gettempdir())

    @cached_property
    def fs(self) -> Any:  # Any: fsspec ships no types
        """File system of fsspec."""
        # Listings must not be cached: other processes write there too.
        options: dict[str, object] = {"use_listings_cache": False, "skip_instance_cache": True}
        if self.url.startswith(S3):
            return import_module("s3fs").S3FileSystem(**options)
        if EMULATOR in os.environ:
            options["token"] = "anon"
        logging.getLogger("gcsfs").setLevel(logging.CRITICAL)  # it logs errors that it also raises
        # The package's default file system uses gRPC, which does not survive a fork.
        return import_module("gcsfs.core").GCSFileSystem(**options)

    def check(self) -> None:
        """Write and remove a file. Raises ValueError, one line, if that fails."""
        try:
            self.write_bytes("_probe", b"probe")
            self.remove("_probe")
        except OutputFailed as error:
            raise ValueError(str(error)) from None

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Local temporary folder for one attempt; if the output is local, on the same file system."""
        with ExitStack() as stack:
            with failing_as(f"{self._temporary} cannot be written to"):
                self._temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder = stack.enter_context(scratch(self._temporary))
            yield folder

    def publish(self, file: Path, name: str) -> None:
        """Publish a file, replacing an earlier one. A local file is moved, and synced to disk."""
        with failing_as(f"{self.url}/{name} cannot be written"):
            self._put(file, name)

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a small file, replacing an earlier one."""
        with self.scratch() as folder:
            part = folder / "part"
            with failing_as(f"{self.url}/{name} cannot be written"):
                part.write_bytes(data)
            self.publish(part, name)

    def read_bytes(self, name: str) -> bytes | None:
        """Content of a file; None if it does not exist."""
        with failing_as(f"{self.url}/{name} cannot be read"):
            try:
                return bytes(self.fs.cat_file(self._at(name)))
            except (FileNotFoundError, NotADirectoryError):
                return None

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with failing_as(f"{self.url}/{name} cannot be removed"), suppress(FileNotFoundError):
            self.fs.rm_file(self._at(name))

    def partitions(self, table: str) -> Iterator[list[str]]:
        """Yield the names of the files in each partition of a table, sorted. Names that start with `_` or `.` are no
        results."""
        for bucket in self._listed(table):
            if bucket.startswith(PARTITION):
                files = self._listed(f"{table}/{bucket}")
                yield [f"{table}/{bucket}/{name}" for name in files if name.endswith(SUFFIX) and name[0] not in "._"]

    def paths(self, names: Sequence[str], folder: Path) -> list[str]:
        """Local paths of files, which are copied to `folder` in one call, in place of earlier ones."""
        here = [str(folder / f"{at}{SUFFIX}") for at in range(len(names))]
        with failing_as(f"{self.url} cannot be read"):
            self.fs.get([self._at(name) for name in names], here)
        return here

    def clean(self) -> None:
        """Remove unfinished files of killed runs. Must not run while another fleet does. A bucket does it by its own
        rules."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the output. Raises ValueError if another fleet holds the lock. A bucket has none."""
        yield

    def _at(self, name: str) -> str:
        return f"{self.url.rpartition('://')[2]}/{name}"

    def _listed(self, folder: str) -> list[str]:
        with failing_as(f"{self.url}/{folder} cannot be listed"):
            try:
                listed = self.fs.ls(self._at(folder), detail=False)
            except (FileNotFoundError, NotADirectoryError):
                return []
        return sorted(path.rstrip("/").rpartition("/")[2] for path in listed)

    def _put(self, file: Path, name: str) -> None:
        options = {"max_concurrency": PARTS_AT_ONCE} if self.url.startswith(S3) else {}
        self.fs.put_file(str(file), self._at(name), chunksize=PART_BYTES, **options)


class Folder(Output):
    """Files below a folder, published by rename. All machines must mount it at the same path."""

    def __init__(self, path: str) -> None:
        self.root = Path(path).absolute()
        super().__init__(str(self.root))
        self._temporary = self.root / PARTS
        if found := _PATTERN.search(self.url):
            raise ValueError(f"{self.url} has a {found[0]!r} in its name; accepted: a folder without * ? [ and \\")

    @cached_property
    def fs(self) -> Any:  # Any: as above
        return import_module("fsspec").filesystem("file")

    def paths(self, names: Sequence[str], folder: Path) -> list[str]:
        return list(map(self._at, names))

    def clean(self) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        with ExitStack() as stack:
            with failing_as(f"{self.root} cannot be written to"):
                self.root.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context((self.root / LOCK).open("ab"))
            try:
                lock_file(file)
            except BlockingIOError:
                raise ValueError(f"another fleet writes to {self.root}") from None
            yield

    def _put(self, file: Path, name: str) -> None:
        target = self.root / name
        _to_disk(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        file.replace(target)
        _to_disk(target.parent)


def _to_disk(path: Path) -> None:
    """fsync a file or folder. A domain is done once its last file is published; the others must be on disk by then,
    even after a power failure."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in NOT_SYNCED:
            raise
    finally:
        os.close(file)


def output_at(url: str) -> Output:
    """Return the output at a path or URL. Sends no request. Raises ValueError, one line, for any other
    text."""
    scheme, mark, place = url.partition("://")
    if url and not mark and "\0" not in url:
        return Folder(url)
    if scheme.lower() == "file" and (path := urls.local_path(url)) is not None:
        return Folder(path)
    if scheme not in PACKAGES or not place.partition("/")[0]:
        raise ValueError(f"{inert(url) or repr(url)} is not a place for results; accepted: {PLACES}")
    package, extra = PACKAGES[scheme]
    if find_spec(package) is None:
        raise ValueError(f"{scheme}:// needs {package}: pip install 'scrapy-sitemapcrawler[{extra}]'")
    return Output(url)
