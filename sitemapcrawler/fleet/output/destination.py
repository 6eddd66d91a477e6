"""Output of a fleet: a local folder, or a prefix in a bucket (S3, Google Cloud Storage or another store of fsspec).

Credentials and endpoints come from the environment. s3fs and botocore read `AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_PROFILE`, `AWS_REGION`, `AWS_ENDPOINT_URL` (MinIO, R2 and others) and `~/.aws`. gcsfs
reads `GOOGLE_APPLICATION_CREDENTIALS`, the login of `gcloud auth application-default login`, and
`STORAGE_EMULATOR_HOST`, which needs no credentials. Both fall back to the metadata service of their cloud.
"""

from __future__ import annotations

import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from math import ceil
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

from sitemapcrawler import urls
from sitemapcrawler.feeds.scratch import scratch
from sitemapcrawler.fleet.domains import FileSystem
from sitemapcrawler.fleet.output.folders import HIDDEN, PARTS, Folder, OutputFailed, failing_as, reason, refusing

__all__ = ["Output", "OutputFailed", "output_at"]

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://.*", re.IGNORECASE | re.DOTALL)


S3, GCS = ("s3", "s3a"), ("gs", "gcs")
"""Schemes of the two stores that the tests cover."""
WHOLE = (*S3, *GCS, "abfs", "abfss", "az", "oss", "oci", "memory")
"""Schemes of stores with atomic uploads. Elsewhere a file is uploaded, then moved."""
PACKAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {**dict.fromkeys(S3, ("s3fs", "s3")), **dict.fromkeys(GCS, ("gcsfs", "gcs"))}
)
"""Package required by a scheme, and this project's extra that installs it."""
PART_BYTES = 16 * 2**20
"""Size in bytes of the parts of a large upload, which are held in memory. S3 requires at least 5 MiB except for the
last part, GCS a multiple of 256 KiB. Sources: S3's quotas of multipart uploads, GCS's resumable uploads."""
PARTS_AT_ONCE = 4
MAX_PARTS = 10_000  # per upload; source: S3's quotas
EMULATOR = "STORAGE_EMULATOR_HOST"
"""Environment variable with the address of a Google Cloud Storage emulator, which needs no credentials."""


class ObjectStore:
    """Objects under a prefix. See `Folder` for the methods. Has no lock: two fleets with the same prefix repeat each
    other's work, and the later result stays.

    Each process opens its own file system: threads and connections do not survive a fork.
    """

    is_local = False

    def __init__(self, url: str) -> None:
        scheme, _, path = url.partition("://")
        self.protocol = scheme.lower()
        self.url = f"{self.protocol}://{path.rstrip('/')}"
        if self.protocol in (*S3, *GCS) and not path.partition("/")[0]:
            raise ValueError(f"{url} names no bucket")
        _check_package(self.protocol)
        # By process. The parent's is kept, since closing it would close the parent's connections.
        self._opened: dict[int, tuple[FileSystem, str]] = {}

    def open(self) -> tuple[FileSystem, str]:
        """File system of this process, and the path within it."""
        process = os.getpid()
        if process not in self._opened:
            self._opened[process] = _open_filesystem(self.protocol, self.url)
        return self._opened[process]

    @property
    def fs(self) -> FileSystem:
        return self.open()[0]

    def check(self) -> None:
        with refusing(f"{self.url} cannot be written to"):
            probe = self._at(f"_probe-{uuid4().hex}")
            if self.fs.isfile(self._at("")):
                raise OutputFailed(f"{self.url} is a file, and no folder")
            if self.protocol not in WHOLE:
                self.fs.makedirs(self._at(""), exist_ok=True)
            self.fs.pipe_file(probe, b"probe")
            self.fs.rm_file(probe)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        parent = Path(tempfile.gettempdir())
        with ExitStack() as stack:
            with failing_as(f"{parent} cannot be written to"):
                folder = stack.enter_context(scratch(parent))
            yield folder

    def publish(self, file: Path, name: str) -> None:
        with failing_as(f"{self.url}/{name} cannot be written"):
            self._put(file, self._at(name))

    def read_bytes(self, name: str) -> bytes | None:
        with failing_as(f"{self.url}/{name} cannot be read"):
            try:
                return bytes(self.fs.cat_file(self._at(name)))
            except FileNotFoundError:
                return None

    def write_bytes(self, name: str, data: bytes) -> None:
        if self.protocol in WHOLE:
            with failing_as(f"{self.url}/{name} cannot be written"):
                self.fs.pipe_file(self._at(name), data)
            return
        with self.scratch() as folder:
            (folder / "part").write_bytes(data)
            self.publish(folder / "part", name)

    def remove(self, name: str) -> None:
        with failing_as(f"{self.url}/{name} cannot be removed"), suppress(FileNotFoundError):
            self.fs.rm_file(self._at(name))

    def names(self, folder: str) -> Iterator[str]:
        with failing_as(f"{self.url}/{folder} cannot be listed"):
            yield from self._names(self._at(folder), f"{folder}/" if folder else "")

    def clean(self) -> None:
        """A store removes what a killed upload left by its own rules."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        yield

    def _names(self, path: str, prefix: str) -> Iterator[str]:
        # fsspec's walk silently skips what it cannot list.
        try:
            listed = self.fs.ls(path, detail=True)
        except FileNotFoundError:
            return
        for entry in listed:
            name = entry["name"].rstrip("/").rpartition("/")[2]
            if name.startswith(HIDDEN) or entry["name"].strip("/") == path.strip("/"):
                continue
            if entry["type"] == "directory":
                yield from self._names(f"{path}/{name}", f"{prefix}{name}/")
            else:
                yield prefix + name

    def _at(self, name: str) -> str:
        root = self.open()[1]
        return f"{root}/{name}" if name else root

    def _put(self, file: Path, path: str) -> None:
        if self.protocol in WHOLE:
            self.fs.put_file(str(file), path, **self._upload(file.stat().st_size))
            return
        part = self._at(f"{PARTS}/{uuid4().hex}")
        self.fs.makedirs(self._at(PARTS), exist_ok=True)
        self.fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        self.fs.put_file(str(file), part)
        self.fs.mv(part, path)

    def _upload(self, size: int) -> dict[str, int]:
        part = max(PART_BYTES, ceil(size / MAX_PARTS / 2**18) * 2**18)
        if self.protocol in S3:
            return {"chunksize": part, "max_concurrency": PARTS_AT_ONCE}
        return {"chunksize": part} if self.protocol in GCS else {}


def _open_filesystem(protocol: str, url: str) -> tuple[FileSystem, str]:
    # Listings must not be cached: other processes write there too.
    options: dict[str, object] = {"use_listings_cache": False, "skip_instance_cache": True}
    if protocol not in GCS:
        opened: tuple[FileSystem, str] = import_module("fsspec.core").url_to_fs(url, **options)
        return opened
    if EMULATOR in os.environ:
        options["token"] = "anon"
    logging.getLogger("gcsfs").setLevel(logging.CRITICAL)  # it logs errors that it also raises
    # The package's default file system uses gRPC, which does not survive a fork.
    return import_module("gcsfs.core").GCSFileSystem(**options), url.partition("://")[2]


def _check_package(protocol: str) -> None:
    """Raise ValueError if a scheme is unknown or its package is missing."""
    package, extra = PACKAGES.get(protocol, ("", ""))
    try:
        import_module("fsspec").get_filesystem_class(protocol)
    except ImportError as error:
        if error.name == "fsspec":
            package, extra = "fsspec", "fleet"
        needs = f"{package}: pip install 'scrapy-sitemapcrawler[{extra}]'" if package else f"a package: {reason(error)}"
        raise ValueError(f"{protocol}:// needs {needs}") from None
    except ValueError:
        accepted = "a folder, s3://bucket/path, gs://bucket/path"
        raise ValueError(f"{protocol}:// is not known; accepted: {accepted}") from None


Output = Folder | ObjectStore
"""A folder or bucket in which files appear complete or not at all; `Folder` documents the methods."""


def output_at(url: str) -> Output:
    """Return a folder, or a place that a URL supported by fsspec names. Sends no request. Raises ValueError, one line,
    if the URL is invalid."""
    is_url = _URL.fullmatch(url)
    if not url or "\0" in url or (is_url is None and "://" in url):
        raise ValueError(f"{url!r} is no folder and no URL")
    if is_url is None:
        return Folder(url)
    if is_url[1].lower() != "file":
        return ObjectStore(url)
    path = urls.local_path(url)
    if path is None:
        raise ValueError(f"{url!r} is not a local folder")
    return Folder(path)
