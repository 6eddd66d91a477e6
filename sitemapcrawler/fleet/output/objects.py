"""An output on an object store, as fsspec has it: a prefix of a bucket of S3 or Google Cloud Storage, or alike."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from sitemapcrawler.fleet.output.folders import HIDDEN, PARTS, OutputFailed, reason, telling
from sitemapcrawler.jobs.scratch import scratch

S3, GCS = ("s3", "s3a"), ("gs", "gcs")
"""Schemes of the two that this is tested with."""
WHOLE = (*S3, *GCS, "abfs", "abfss", "az", "oss", "oci", "memory")
"""Schemes of stores where an object is there as a whole or not at all; elsewhere a file is moved into its place."""
PACKAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {**dict.fromkeys(S3, ("s3fs", "s3")), **dict.fromkeys(GCS, ("gcsfs", "gcs"))}
)
"""Package that a scheme needs, and the extra that brings it."""
PART_BYTES = 16 * 2**20
"""Bytes of a part of a large upload: each is held in memory. 5 MiB at least but for the last one, and a multiple of 256
KiB. Sources: S3's quotas of multipart uploads, GCS's resumable uploads."""
PARTS_AT_ONCE = 4
MAX_PARTS = 10_000  # of one upload, S3's quotas
EMULATOR = "STORAGE_EMULATOR_HOST"
"""Environment variable with the address of a stand-in for Google Cloud Storage, which asks for no credentials."""

logger = logging.getLogger(__name__)


class ObjectStore:
    """Objects under a prefix. `Output` says what its methods do.

    The file system is made in the process that uses it first: its threads and connections do not survive a fork.
    """

    is_local = False

    def __init__(self, url: str) -> None:
        scheme, _, path = url.partition("://")
        self.protocol = scheme.lower()
        self.url = f"{self.protocol}://{path.rstrip('/')}"
        if self.protocol in (*S3, *GCS) and not path.partition("/")[0]:
            raise ValueError(f"{url} names no bucket")
        _check_package(self.protocol)
        # By process. What the parent opened is kept: its end would close connections that are not this process's.
        self._opened: dict[int, tuple[Any, str]] = {}

    def open(self) -> tuple[Any, str]:
        """The file system of this process, and the path in it."""
        process = os.getpid()
        if process not in self._opened:
            self._opened[process] = _opened(self.protocol, self.url)
        return self._opened[process]

    @property
    def fs(self) -> Any:
        """That file system."""
        return self.open()[0]

    def check(self) -> None:
        probe = self._at(f"_probe-{uuid4().hex}")
        with telling(f"{self.url} cannot be written to"):
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
            with telling(f"{parent} cannot be written to"):
                folder = stack.enter_context(scratch(parent))
            yield folder

    def publish(self, file: Path, name: str) -> None:
        with telling(f"{self.url}/{name} cannot be written"):
            self._put(file, self._at(name))

    def remove(self, name: str) -> None:
        with telling(f"{self.url}/{name} cannot be removed"), suppress(FileNotFoundError):
            self.fs.rm_file(self._at(name))

    def read_bytes(self, name: str) -> bytes | None:
        with telling(f"{self.url}/{name} cannot be read"):
            try:
                return bytes(self.fs.cat_file(self._at(name)))
            except FileNotFoundError:
                return None

    def write_bytes(self, name: str, data: bytes) -> None:
        if self.protocol in WHOLE:
            with telling(f"{self.url}/{name} cannot be written"):
                self.fs.pipe_file(self._at(name), data)
            return
        with self.scratch() as folder:
            (folder / "part").write_bytes(data)
            self.publish(folder / "part", name)

    def names(self, folder: str) -> Iterator[str]:
        with telling(f"{self.url}/{folder} cannot be listed"):
            yield from self._names(self._at(folder), f"{folder}/" if folder else "")

    def clean(self) -> None:
        if self.protocol in S3:
            try:
                self._abort_uploads()
            except Exception as error:  # of botocore, s3fs and what they use
                logger.info("%s: uploads left incomplete cannot be aborted: %s", self.url, reason(error))

    @contextmanager
    def lock(self) -> Iterator[None]:
        yield

    def _names(self, path: str, prefix: str) -> Iterator[str]:
        # Not by fsspec's walk, which leaves out what it cannot list.
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
        """Options of an upload."""
        part = max(PART_BYTES, ceil(size / MAX_PARTS / 2**18) * 2**18)
        if self.protocol in S3:
            return {"chunksize": part, "max_concurrency": PARTS_AT_ONCE}
        return {"chunksize": part} if self.protocol in GCS else {}

    def _abort_uploads(self) -> None:
        bucket, _, prefix = self.open()[1].partition("/")
        query = {"Bucket": bucket, "Prefix": f"{prefix}/" if prefix else ""}
        more: dict[str, str] = {}
        while True:
            page = self.fs.call_s3("list_multipart_uploads", **query, **more)
            for upload in page.get("Uploads", []):
                with suppress(FileNotFoundError):
                    named = {"Key": upload["Key"], "UploadId": upload["UploadId"]}
                    self.fs.call_s3("abort_multipart_upload", Bucket=bucket, **named)
            if not page.get("IsTruncated"):
                return
            more = {"KeyMarker": page["NextKeyMarker"], "UploadIdMarker": page["NextUploadIdMarker"]}


def _opened(protocol: str, url: str) -> tuple[Any, str]:
    # What was listed once is not kept: others write there as well.
    options: dict[str, Any] = {"use_listings_cache": False, "skip_instance_cache": True}
    if protocol not in GCS:
        opened: tuple[Any, str] = import_module("fsspec.core").url_to_fs(url, **options)
        return opened
    if EMULATOR in os.environ:
        options["token"] = "anon"
    logging.getLogger("gcsfs").setLevel(logging.CRITICAL)  # it logs a traceback of what it raises as well
    # The larger file system of the same package speaks gRPC, which does not survive a fork.
    return import_module("gcsfs.core").GCSFileSystem(**options), url.partition("://")[2]


def _check_package(protocol: str) -> None:
    """ValueError where nothing knows a scheme, or its package is missing."""
    package, extra = PACKAGES.get(protocol, ("", ""))
    try:
        import_module("fsspec").get_filesystem_class(protocol)
    except ImportError as error:
        if error.name == "fsspec":
            package, extra = "fsspec", "fleet"
        needs = f"{package}: pip install '.[{extra}]'" if package else f"a package: {reason(error)}"
        raise ValueError(f"{protocol}:// needs {needs}") from None
    except ValueError:
        accepted = "a folder, s3://bucket/path, gs://bucket/path"
        raise ValueError(f"{protocol}:// is not known; accepted: {accepted}") from None
