"""The report folder: names of its files, and checks of an existing folder."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from sitemapcrawler.items import (
    EXTENSIONS,
    AnswerRecord,
    ChangeRecord,
    FindingRecord,
    JsonObject,
    PageRecord,
    RenderedRecord,
    RobotsRecord,
    SitemapRecord,
    UrlRecord,
)
from sitemapcrawler.urls import has_scheme

PAGE = "report.html"
"""The report page. It is published last: if it exists, the report is complete."""
SUMMARY = "summary.json"
"""The summary record. It is published first."""
FEEDS: Mapping[str, type] = MappingProxyType(
    {
        "urls": UrlRecord,
        "sitemaps": SitemapRecord,
        "findings": FindingRecord,
        "robots": RobotsRecord,
        "pages": PageRecord,
        "answers": AnswerRecord,
        "rendered": RenderedRecord,
        "changes": ChangeRecord,
        **{namespace.field: kind for kind, namespace in EXTENSIONS.items()},
    }
)
"""Record type of each feed, by name without suffix."""
OF_EXTENSIONS = tuple(namespace.field for namespace in EXTENSIONS.values())
"""The feeds of objects of url records, which are missing where no page has such objects."""
OF_LINKS, OF_CRAWLERS, OF_SCRIPTS, OF_BASELINE = "pages", "answers", "rendered", "changes"
"""The feeds that only a crawl with the argument `links`, `fetch_as`, `render` or `baseline` has."""
ON_DEMAND = frozenset((OF_LINKS, OF_CRAWLERS, OF_SCRIPTS, OF_BASELINE))
"""All of them."""
FORMATS = ("jsonl", "parquet")
"""Feed formats, which are also the suffixes."""
TABLES = (
    "audit.xlsx", "urls.csv", "findings.csv", "pages.csv", "answers.csv", "rendered.csv", "changes.csv",
    *(f"{feed}.csv" for feed in OF_EXTENSIONS),
)  # fmt: skip
"""Tables for people, which the command `audit` writes."""
REPORT_FILES = "SITEMAP_REPORT_FILES"
"""Setting that the command and the function `audit` make: names of the feeds in the folder; empty for all records."""
BASELINES = ("urls.parquet", "urls.jsonl")
"""Files that a later crawl can be compared with, the preferred one first."""
CONTENTS = "contents.parquet"
"""The table `contents` of the crawl's database, for later crawls and `fix`; only where pages were read."""
NAMES = frozenset({PAGE, SUMMARY, CONTENTS, *TABLES, *(f"{feed}.{format}" for feed in FEEDS for format in FORMATS)})
"""All files of a report."""
INCOMPLETE = "-incomplete"
"""End of the name of the folder beside that of a report, for a crawl that must not replace its own baseline."""
CACHE = "cache"
"""Folder with the bodies of sitemaps, in that of a report or a job; see `download/body_cache.py`."""
EARLIER_CACHE = "cache.earlier"
"""Folder with the bodies of the job that `fresh` has discarded, in that of the new one until it is finished."""
CACHE_PART, FEED_PART = ".cache", ".feed"
"""Beginnings of the names of folders in which the bodies of a report are collected, and a feed is written."""
PART = re.compile(rf"(?:{re.escape(CACHE_PART)}|{re.escape(FEED_PART)})@.*")
"""Names of temporary folders of a report."""


def on_demand(arguments: Mapping[str, str]) -> set[str]:
    """Feeds of `ON_DEMAND` whose records a crawl with these arguments has."""
    has = {
        OF_LINKS: arguments.get("links", "no") != "no",
        OF_CRAWLERS: "fetch_as" in arguments,
        OF_SCRIPTS: "render" in arguments,
        OF_BASELINE: "baseline" in arguments,
    }
    return {feed for feed in ON_DEMAND if has[feed]}


def folder(text: str) -> str:
    """Return the path of a folder that a report may be written to, without creating it. Raises ValueError if the folder
    cannot be used."""
    if not text:
        raise ValueError("is empty")
    if has_scheme(text):
        raise ValueError("is a URL; accepted: a local folder")
    try:
        path = Path(text).resolve()
        if path.is_dir():
            _check_content(path)
            place = path
        else:
            place = next(one for one in (path, *path.parents) if one.exists())
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        raise ValueError(f"cannot be read, {getattr(error, 'strerror', None) or error}") from None
    if not place.is_dir():
        raise ValueError("is not a folder" if place == path else f"{str(place)!r} is not a folder")
    if not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        raise ValueError(f"cannot be written, no permission to write in {str(place)!r}")
    try:
        _try_to_create(path, place)
    except OSError as error:
        raise ValueError(f"cannot be written, {error.strerror}") from None
    return str(path)


def _try_to_create(path: Path, place: Path) -> None:
    """Create a folder below `place`, which exists, and remove it again. Permissions do not say that a folder of /proc,
    or a long name, cannot be written. Raises OSError."""
    created: list[Path] = []
    try:
        for missing in reversed([one for one in (path, *path.parents) if one != place and one.is_relative_to(place)]):
            missing.mkdir()
            created.append(missing)
    finally:
        for one in reversed(created):
            one.rmdir()


def summary_of(path: Path) -> JsonObject | None:
    """Return the summary in a report folder, if any."""
    try:
        held = json.loads((path / SUMMARY).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) and held.get("type") == "summary" else None


def unfinished(path: Path) -> str | None:
    """Return why the report in a folder is incomplete; None if it is complete or missing."""
    summary = summary_of(path)
    if summary is None:
        return None
    partial, only = summary.get("partial"), summary.get("only")
    missing = None if (path / PAGE).is_file() else f"{PAGE} is missing"
    return str(partial) if partial else f"only={only}" if only else missing


def complete_reports(place: Path) -> Iterator[tuple[Path, JsonObject]]:
    """Yield the complete reports right below a folder that can serve as a baseline, with their summaries."""
    with suppress(OSError):  # a folder that cannot be read
        for path in place.iterdir():
            summary = summary_of(path)
            if summary is None or (summary.get("rules") and not summary.get("reach")):  # of an earlier version
                continue
            if summary.get("urls") and unfinished(path) is None and any((path / name).is_file() for name in BASELINES):
                yield path, summary


def _check_content(path: Path) -> None:
    """Raise ValueError if a folder holds anything but an earlier report and temporary files."""
    held = {one.name: one.is_file() for one in path.iterdir() if not PART.fullmatch(one.name)}
    strange = sorted(
        name for name, is_file in held.items() if name not in NAMES or not is_file if (name, is_file) != (CACHE, False)
    )
    if strange:
        raise ValueError(f"is not empty, it contains {strange[0]!r}, which is not part of a report")
    if held and summary_of(path) is None:
        raise ValueError(f"is not empty, and contains no report: {SUMMARY} is missing or invalid")
