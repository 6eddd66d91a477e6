"""What a sitemap can be read from, besides the web: where it is, and its content piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from sitemapcrawler import urls

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Iterable[bytes]
"""A path, the content, a binary stream, or the content in pieces."""
CHUNK_BYTES = 1 << 16
"""Bytes read at a time."""


def place_of(source: Source, url: str | None) -> str:
    """The URL of a sitemap: the one given, the `file:` URL of a path, or empty. ValueError for what is no URL, or no
    path."""
    if url is not None:
        if not urls.is_web(url) and urls.local_path(url) is None:
            raise ValueError(f"url={url!r} is no absolute http, https or file URL")
        return url
    if not isinstance(source, (str, os.PathLike)):
        return ""
    path = os.fspath(source)
    if urls.is_web(path):
        raise ValueError(f"{path!r} is a URL, and nothing is fetched here: give the content, and this as url")
    if path.lstrip()[:1] == "<":
        raise ValueError("a text is a path: give the content of a sitemap as bytes")
    return urls.file_url(path)


def chunks_of(source: object) -> Iterator[bytes]:
    """The content of anything but a path, piece by piece. TypeError, perhaps later, for what holds no bytes."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _slices(memoryview(source).cast("B"))
    read = getattr(source, "read", None)
    if read is not None:
        return _reads(read)
    if isinstance(source, Iterable):
        return map(_binary, source)
    raise TypeError(f"a path, bytes, a binary stream or an iterable of bytes is needed, not {type(source).__name__}")


def _slices(data: memoryview) -> Iterator[bytes]:
    for start in range(0, len(data), CHUNK_BYTES):
        yield bytes(data[start : start + CHUNK_BYTES])


def _reads(read: Callable[[int], object]) -> Iterator[bytes]:
    while chunk := _binary(read(CHUNK_BYTES)):
        yield chunk


def _binary(chunk: object) -> bytes:
    if isinstance(chunk, (bytes, bytearray, memoryview)):
        return bytes(chunk)
    raise TypeError(f"bytes are needed, not {type(chunk).__name__}: open files with mode 'rb'")
