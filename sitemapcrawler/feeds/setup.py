"""The feeds a crawl is asked for: what they lack is filled in, what cannot work is found before any request."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from w3lib.url import file_uri_to_path

from sitemapcrawler.feeds.findings import check_options
from sitemapcrawler.feeds.links import check_links

FORMATS = ("csv", "json", "jsonl", "jsonlines", "jl", "junit", "parquet", "sarif")
"""Feed formats of the FEED_EXPORTERS setting."""
ALIASES = frozenset({"jsonlines", "jl"})
"""Other names of `jsonl`: understood, not advertised."""
APPENDABLE = frozenset({"csv", "jsonl", "jsonlines", "jl"})
"""Formats that a later crawl can add rows to."""

MIXED = frozenset({"json", "jsonl", "jsonlines", "jl"})
"""Formats that hold records of several types."""
FINDINGS = frozenset({"junit", "sarif"})
"""Formats that hold the findings."""

SCHEMES = ("", "file", "stdout", "s3", "gs", "ftp", "ftps")
"""URI schemes of the FEED_STORAGES setting."""

REPORT = "report"
"""The scheme of feeds that the argument `report` asks for."""

GZIP = "scrapy.extensions.postprocessing.GzipPlugin"
FILTER = "sitemapcrawler.feeds.exporters.RecordFilter"

Feeds = Mapping[Any, Mapping[str, Any]]
"""The FEEDS setting: {URI or path: options}."""


def named_formats(targets: Iterable[str] | None, formats: Collection[str] = FORMATS) -> list[str]:
    """Values of `-o` or `-O`, each with its format named, also where Scrapy sees none: `urls.csv.gz:csv`.

    ValueError, one line, for a format that is not written.
    """
    return [_named_format(target, formats) for target in targets or ()]


def prepared(
    feeds: Feeds, formats: Collection[str] = FORMATS, schemes: Collection[str] = SCHEMES
) -> dict[Any, dict[str, Any]]:
    """The FEEDS setting ready for use: completed and checked. ValueError, one line, for a feed that cannot work.

    `formats` and `schemes` are the names in FEED_EXPORTERS and FEED_STORAGES that are not None.
    """
    completed = {uri: _completed(str(uri), options) for uri, options in feeds.items()}
    check_feeds(completed, formats, schemes)
    return completed


def check_feeds(feeds: Feeds, formats: Collection[str] = FORMATS, schemes: Collection[str] = SCHEMES) -> None:
    """ValueError, one line, for a feed whose format, character encoding, place or appending cannot work."""
    for uri, options in feeds.items():
        name = format_of(uri, options)
        _check_format(str(uri), name, formats)
        if name == "parquet":
            _check_parquet(str(uri), options)
        elif name in FINDINGS:
            _check_findings(str(uri), options)
        _check_encoding(options.get("encoding"))
        try:
            _check_place(uri, schemes)
        except OSError as error:
            raise ValueError(f"{uri} cannot be written: {error.strerror}") from error
        _check_appending(uri, options)


def local_path(uri: str | Path) -> Path | None:
    """The path of a feed on this machine; None for one that goes elsewhere (standard output, S3, FTP, ...)."""
    if isinstance(uri, Path):
        return uri
    scheme = urlsplit(uri).scheme
    if scheme == "file":
        return Path(file_uri_to_path(uri))
    return None if scheme else Path(uri)


def format_of(uri: str | Path, options: Mapping[str, Any]) -> str:
    """Format of a feed: the one its options name, or that of its suffix."""
    return str(options.get("format") or _suffix(str(uri)))


def is_stream(path: Path) -> bool:
    """True for a device, a named pipe or a descriptor such as /dev/stdout: nothing that can be replaced."""
    if path.is_relative_to("/dev/fd") or path in (Path("/dev/stdout"), Path("/dev/stderr")):
        return True
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _named_format(target: str, formats: Collection[str]) -> str:
    uri, _, name = target.rpartition(":")
    named = bool(uri) and not {"/", "."}.intersection(name)
    if not named:
        name = _suffix(target)
    _check_format(target, name, formats)
    return target if named else f"{target}:{name}"


def _suffix(uri: str) -> str:
    return Path(uri.removesuffix(".gz")).suffix.removeprefix(".").lower()


def _completed(uri: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """With its format (by suffix), `.gz` compressed, `item_classes` that reach into batches, and without the
    `overwrite` that standard output warns about."""
    completed = {"format": _suffix(uri), **options}
    if uri.endswith(".gz"):
        completed.setdefault("postprocessing", [GZIP])
    if options.get("item_classes"):
        completed.setdefault("item_filter", FILTER)
        if completed["format"] in (*MIXED, "parquet"):
            kwargs = {"item_classes": list(options["item_classes"]), **completed.get("item_export_kwargs", {})}
            completed["item_export_kwargs"] = kwargs
    if urlsplit(uri).scheme == "stdout":
        completed.pop("overwrite", None)
    return completed


def _check_format(uri: str, name: str, formats: Collection[str]) -> None:
    if name not in formats:
        problem = f"feed format {name} is not written" if name else f"feed {uri} names no format"
        raise ValueError(f"{problem}; use {', '.join(sorted(set(formats) - ALIASES))}")


def _check_parquet(uri: str, options: Mapping[str, Any]) -> None:
    """By writing a row to nowhere: only that tells what pyarrow makes of `item_export_kwargs`."""
    if uri.endswith(".gz") or GZIP in options.get("postprocessing", ()):
        raise ValueError(f"{uri} cannot be gzip: parquet is compressed inside; leave .gz out")
    # Imported here: Scrapy's exporters are of no use to the rest of this module.
    from sitemapcrawler.feeds.parquet import try_options

    try:
        try_options(options.get("item_export_kwargs") or {})
    except ImportError:
        raise ValueError("feed format parquet needs pyarrow: pip install pyarrow") from None
    except Exception as error:  # pyarrow raises whatever comes
        raise ValueError(f"item_export_kwargs of {uri} cannot work: {error}") from None


def _check_findings(uri: str, options: Mapping[str, Any]) -> None:
    try:
        check_options(options.get("item_export_kwargs") or {})
    except ValueError as error:
        raise ValueError(f"item_export_kwargs of {uri} cannot work: {error}") from None


def _check_encoding(encoding: str | None) -> None:
    try:
        "".encode(encoding or "utf-8")
    except LookupError:
        raise ValueError(f"character encoding {encoding} is not known; use utf-8") from None


def _check_place(uri: str | Path, schemes: Collection[str]) -> None:
    path = local_path(uri)
    if path is None:
        if (scheme := urlsplit(str(uri)).scheme) not in schemes:
            raise ValueError(f"{uri} cannot be written: no storage is known for {scheme}:")
    elif str(uri).endswith("/") or path.is_dir():
        raise ValueError(f"{uri} is a folder; name a file in it")
    elif not is_stream(path):
        check_links(path)
        folder = next(parent for parent in path.resolve().parents if parent.exists())
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ValueError(f"{uri} cannot be written: no permission to write in {folder}")


def _check_appending(uri: str | Path, options: Mapping[str, Any]) -> None:
    path = local_path(uri)
    name = format_of(uri, options)
    if path and not options.get("overwrite") and name not in APPENDABLE and not is_stream(path):
        raise ValueError(f"{name} cannot be appended to; use -O (overwrite: True in FEEDS)")
