"""What the feeds of a crawl can hold: record types and fields, checked before any request."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from sitemapcrawler.feeds.setup import MIXED, format_of
from sitemapcrawler.items import FindingRecord, RobotsRecord, SitemapRecord, SummaryRecord, UrlBatch, UrlRecord

RECORDS = (UrlRecord, SitemapRecord, RobotsRecord, FindingRecord, SummaryRecord)
"""Every type of record."""
PACKAGE = "sitemapcrawler."
"""Start of the import path of our own components."""
TABLES = ("csv", "parquet")
"""Formats that hold records of one type."""


def check_columns(settings: BaseSettings) -> None:
    """ValueError, one line, for a feed that names a record type its format does not hold, or an unknown field.

    Feeds that may hold items of the user's own keep their fields: those with `item_classes` that are no records, and
    all feeds where a pipeline or spider middleware of the user's may change the items.
    """
    foreign = any(
        not str(getattr(part, "__module__", part)).startswith(PACKAGE)
        for setting in ("ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
        for part, order in settings.getdict(setting).items()
        if order is not None
    )
    for uri, options in settings.getdict("FEEDS").items():
        name = format_of(uri, options)
        if name in (*TABLES, *MIXED):
            kinds = _kinds(str(uri), name, options.get("item_classes") or ())
            if kinds and not foreign:
                _check_fields(str(uri), kinds, options, settings)


def _kinds(uri: str, format: str, classes: Iterable[Any]) -> Collection[type]:
    """Types of record that a feed holds; empty where it also holds items of the user's own."""
    given = list(map(partial(_loaded, uri), classes))
    held = [kind for kind in RECORDS if not given or any(_holds(one, kind) for one in given)]
    if format == "csv" and held and UrlRecord not in held:
        names = ", ".join(kind.__name__ for kind in held)
        raise ValueError(f"{uri} cannot hold {names}: csv holds url records alone; use jsonl or parquet")
    if any(all(not _holds(one, kind) for kind in RECORDS) for one in given):
        return ()
    return [UrlRecord] if format in TABLES and UrlRecord in held else held


def _loaded(uri: str, path: Any) -> type:
    try:
        kind = load_object(path)
    except (ImportError, NameError, ValueError, TypeError) as error:
        raise ValueError(f"item_classes of {uri}: {error}") from None
    if not isinstance(kind, type):
        raise ValueError(f"item_classes of {uri}: {path} is no class")
    return kind


def _holds(given: type, kind: type) -> bool:
    return issubclass(kind, given) or (kind is UrlRecord and issubclass(UrlBatch, given))


def _check_fields(uri: str, kinds: Collection[type], options: Mapping[str, Any], settings: BaseSettings) -> None:
    where, fields = "fields", options.get("fields")
    if "fields" not in options:
        where = "setting FEED_EXPORT_FIELDS"
        try:
            fields = settings.getdictorlist("FEED_EXPORT_FIELDS")
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    if fields is None:
        return
    if isinstance(fields, str) or not isinstance(fields, Iterable):
        raise ValueError(f"{where} of {uri}: accepted: a list of fields, or {{field: title}}")
    known = list(dict.fromkeys(field.name for kind in kinds for field in dataclasses.fields(kind)))
    for name in fields:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            meant = f", did you mean {near[0]}?" if near else f"; accepted: {', '.join(known)}"
            raise ValueError(f"{where}: no field {str(name)!r} in {_named(kinds)} of {uri}{meant}")


def _named(kinds: Collection[type]) -> str:
    return f"the {next(iter(kinds))().type} records" if len(kinds) == 1 else "any record"
