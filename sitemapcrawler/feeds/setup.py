"""Feed set-up: completes the FEEDS setting, and checks formats, places, columns and names before any request."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object

from sitemapcrawler import settings as ours
from sitemapcrawler import urls
from sitemapcrawler.feeds.exporters import FeedOptions, RecordExporter, Undeclared, are_extensions_items
from sitemapcrawler.feeds.folder import FEEDS, ON_DEMAND
from sitemapcrawler.feeds.uris import is_stream, local_path, scheme_of
from sitemapcrawler.items import EXTENSIONS, RECORDS, UrlBatch, UrlRecord
from sitemapcrawler.namespaces import plugins

SCHEMES = ("", "file", "stdout", "s3", "gs", "ftp", "ftps")
"""URI schemes of the FEED_STORAGES setting."""

REPORT = "report"
"""URI scheme of the feeds of the argument `report`."""

GZIP = "scrapy.extensions.postprocessing.GzipPlugin"
FILTER = "sitemapcrawler.feeds.exporters.RecordFilter"

Feeds = Mapping[str | Path, FeedOptions]
"""The FEEDS setting: {URI or path: options}."""
Exporters = Mapping[str, str | type]
"""The FEED_EXPORTERS setting: {format: import path or class}."""
OURS: Exporters = {name: path for name, path in ours.FEED_EXPORTERS.items() if path is not None}
DOUBLE = {".indexnow.json": "indexnow"}
"""{end of a name with two suffixes: format}."""
PACKAGE = "sitemapcrawler."
"""Import path prefix of our own components."""
MAX_PART = 100
"""Maximum bytes of a value within a file name; file names are limited to 255."""
HASH_DIGITS = 8
"""Hexadecimal digits of the hash that tells shortened values apart."""
_UNSAFE = re.compile(r"[^\w.,+-]+")


def named_formats(targets: Iterable[str] | None, exporters: Exporters = OURS) -> list[str]:
    """Add the format to values of `-o` or `-O`, also where Scrapy finds none: `urls.csv.gz:csv`. Raises ValueError, one
    line, for an unknown format."""
    return [_named_format(target, exporters) for target in targets or ()]


def prepared(
    feeds: Feeds, exporters: Exporters = OURS, schemes: Collection[str] = SCHEMES
) -> dict[str | Path, dict[str, object]]:
    """Complete and check the FEEDS setting. Raises ValueError, one line, for a feed that cannot work. `exporters`:
    FEED_EXPORTERS; `schemes`: names in FEED_STORAGES; both without those that are None."""
    for uri, options in feeds.items():
        if not isinstance(options, Mapping):
            raise ValueError(f"setting FEEDS: {uri}: accepted: a dictionary of options")
    completed = {uri: _completed(str(uri), options, exporters) for uri, options in feeds.items()}
    check_feeds(completed, exporters, schemes)
    return completed


def check_feeds(feeds: Feeds, exporters: Exporters = OURS, schemes: Collection[str] = SCHEMES) -> None:
    """Raise ValueError, one line, for a feed whose format, encoding, place or append mode cannot work."""
    for uri, options in feeds.items():
        name = format_of(uri, options)
        _check_format(str(uri), name, exporters)
        _check_exporter(str(uri), name, options, exporter_of(name, exporters))
        _check_encoding(options.get("encoding"))
        try:
            _check_place(uri, schemes)
        except OSError as error:
            raise ValueError(f"{uri} cannot be written: {error.strerror}") from error
        _check_appending(uri, options, exporters)


def format_of(uri: str | Path, options: Mapping[str, object]) -> str:
    """Return the format of a feed, from its options or its suffix."""
    return str(options.get("format") or _suffix(str(uri)))


def _named_format(target: str, exporters: Exporters) -> str:
    uri, _, name = target.rpartition(":")
    named = bool(uri) and not {"/", "."}.intersection(name)
    if not named:
        name = _suffix(target)
    _check_format(target, name, exporters)
    return target if named else f"{target}:{name}"


def _suffix(uri: str) -> str:
    name = uri.removesuffix(".gz").lower()
    return DOUBLE.get("".join(Path(name).suffixes[-2:]), Path(name).suffix.removeprefix("."))


def _completed(uri: str, options: FeedOptions, exporters: Exporters) -> dict[str, object]:
    """Add the format (by suffix), gzip for `.gz` and a filter for `item_classes`. Drops an `overwrite` that standard
    output would warn about."""
    completed = {"format": _suffix(uri), **options}
    if uri.endswith(".gz"):
        completed.setdefault("postprocessing", [GZIP])
    if options.get("item_classes"):
        completed.setdefault("item_filter", FILTER)
        if exporter_of(completed["format"], exporters).selects_records:
            kwargs = {"item_classes": list(options["item_classes"]), **completed.get("item_export_kwargs", {})}
            completed["item_export_kwargs"] = kwargs
    if scheme_of(uri) == "stdout":
        completed.pop("overwrite", None)
    return completed


def exporter_of(name: str, exporters: Exporters) -> type[RecordExporter]:
    """Return the exporter of a format; for one without our declarations, or for an unknown format, `Undeclared`. Raises
    ValueError, one line, for a class that cannot be imported."""
    exporter = imported(exporters[name], f"setting FEED_EXPORTERS: {name}") if name in exporters else Undeclared
    return exporter if isinstance(exporter, type) and issubclass(exporter, RecordExporter) else Undeclared


def imported(path: str | type, where: str) -> object:
    """Import the component that a setting names by path; a class is returned as it is. Raises ValueError, one line,
    that begins with `where`."""
    try:
        return load_object(path)
    except Exception as error:  # a user's module may raise anything
        raise ValueError(f"{where}: {error}") from None


def _check_format(uri: str, name: str, exporters: Exporters) -> None:
    if name not in exporters:
        problem = f"feed format {name} is not supported" if name else f"feed {uri} names no format"
        usual = {exporter_of(name, exporters).suffix or name for name in exporters}
        raise ValueError(f"{problem}; use {', '.join(sorted(usual))}")


def _check_exporter(uri: str, name: str, options: FeedOptions, exporter: type[RecordExporter]) -> None:
    if exporter.is_compressed and (uri.endswith(".gz") or GZIP in options.get("postprocessing", ())):
        raise ValueError(f"{uri} cannot be gzip: {name} is already compressed; omit .gz")
    for path in options.get("item_classes") or ():
        _loaded(uri, path)
    for option in ("item_filter", "uri_params", "postprocessing"):
        given = options.get(option) or ()
        for path in given if isinstance(given, (list, tuple)) else [given]:
            imported(path, f"{option} of {uri}")
    try:
        exporter.check_options(options.get("item_export_kwargs") or {})
    except ImportError:
        if not exporter.requires:
            raise
        raise ValueError(f"feed format {name} needs {exporter.requires}: pip install {exporter.requires}") from None
    except Exception as error:  # pyarrow raises errors of many types
        raise ValueError(f"item_export_kwargs of {uri} cannot work: {error}") from None


def _check_encoding(encoding: str | None) -> None:
    try:
        "".encode(encoding or "utf-8")
    except LookupError:
        raise ValueError(f"character encoding {encoding} is not known; use utf-8") from None


def _check_place(uri: str | Path, schemes: Collection[str]) -> None:
    path = local_path(uri)
    if path is None:
        if (scheme := scheme_of(str(uri))) not in schemes:
            raise ValueError(f"{uri} cannot be written: no storage is known for {scheme}:")
    elif str(uri).endswith("/") or path.is_dir():
        raise ValueError(f"{uri} is a folder; name a file in it")
    elif not is_stream(path):
        folder = next(parent for parent in path.resolve().parents if parent.exists())
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ValueError(f"{uri} cannot be written: no permission to write in {folder}")


def _check_appending(uri: str | Path, options: Mapping[str, object], exporters: Exporters) -> None:
    path = local_path(uri)
    name = format_of(uri, options)
    appendable = exporter_of(name, exporters).is_appendable
    if path and not options.get("overwrite") and not appendable and not is_stream(path):
        raise ValueError(f"{name} cannot be appended to; use -O (overwrite: True in FEEDS)")


def _others_may_change_items(settings: BaseSettings) -> bool:
    """True if a pipeline or spider middleware is not ours."""
    return any(
        not str(getattr(part, "__module__", part)).startswith(PACKAGE)
        for setting in ("ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
        for part, order in settings.getdict(setting).items()
        if order is not None
    )


def check_columns(settings: BaseSettings) -> None:
    """Raise ValueError, one line, for a feed with an unknown field, or a record type that its format cannot hold.

    Fields are not checked if a feed may hold the user's own items: by its `item_classes`, or because a pipeline or
    spider middleware of the user may change items.
    """
    foreign = _others_may_change_items(settings)
    exporters = components_in(settings, "FEED_EXPORTERS")
    for uri, options in settings.getdict("FEEDS").items():
        name = format_of(uri, options)
        exporter = exporter_of(name, exporters)
        kinds = _kinds(str(uri), name, exporter, options.get("item_classes") or ())
        if exporter.has_fields and kinds and not foreign:
            _check_fields(str(uri), exporter.fields_of(kinds), _named(kinds), options, settings)


def _kinds(uri: str, format: str, exporter: type[RecordExporter], classes: Iterable[object]) -> Collection[type]:
    """Return the record types that a feed holds; empty if it also holds the user's own items."""
    given = list(map(partial(_loaded, uri), classes))
    kinds = RECORDS if given else exporter.default_types
    wanted = [kind for kind in kinds if not given or any(_holds(one, kind) for one in given)]
    held = [kind for kind in wanted if kind in exporter.record_types]
    if wanted and not held:
        names = ", ".join(kind.__name__ for kind in wanted)
        types = " and ".join(kind().type for kind in exporter.record_types)
        raise ValueError(f"{uri} cannot hold {names}: {format} holds {types} records alone; use jsonl or parquet")
    if any(all(not _holds(one, kind) for kind in RECORDS) for one in given):
        return ()
    return [UrlRecord] if exporter.is_table and UrlRecord in held else held


def holds(settings: BaseSettings, kind: type) -> bool:
    """True if a feed holds records of a type of `items.EXTENSIONS`, or if they are items."""
    exporters = components_in(settings, "FEED_EXPORTERS")
    for uri, options in settings.getdict("FEEDS").items():
        exporter = exporter_of(format_of(uri, options), exporters)
        given = [_loaded(str(uri), path) for path in options.get("item_classes") or ()]
        if any(issubclass(kind, one) for one in given) if given else kind in exporter.default_types:
            return True
    return are_extensions_items(settings)


def _loaded(uri: str, path: str | type) -> type:
    kind = imported(path, f"item_classes of {uri}")
    if not isinstance(kind, type):
        raise ValueError(f"item_classes of {uri}: {path} is not a class")
    return kind


def _holds(given: type, kind: type) -> bool:
    return issubclass(kind, given) or (kind is UrlRecord and issubclass(UrlBatch, given))


def _check_fields(
    uri: str, known: Sequence[str], held: str, options: Mapping[str, object], settings: BaseSettings
) -> None:
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
    for name in fields:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            meant = f", did you mean {near[0]}?" if near else f"; accepted: {', '.join(known)}"
            raise ValueError(f"{where}: no field {str(name)!r} in {held} of {uri}{meant}")


def _named(kinds: Collection[type]) -> str:
    return f"the {next(iter(kinds))().type} records" if len(kinds) == 1 else "any record"


class FeedNameParts(dict[str, object]):
    """Values for `%(name)s` in feed names; each text becomes a safe part of a file name, never a path."""

    def __getitem__(self, name: str) -> object:
        value = super().__getitem__(name)
        return value if isinstance(value, (int, float)) else part_of_name(str(value))


def part_of_name(text: str) -> str:
    """Convert a text to a part of a file name: letters, digits and `_ . , + -`. A text that is changed or cut ends with
    digits of its hash."""
    safe = _UNSAFE.sub("-", text).strip(".-")
    if safe == text and 0 < len(safe.encode()) <= MAX_PART:
        return safe
    digits = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
    start = safe.encode()[: MAX_PART - len(digits) - 1].decode(errors="ignore")
    return f"{start}-{digits}".lstrip("-")


def components_in(settings: BaseSettings, setting: str) -> dict[str, str | type]:
    """Return the components in a setting that are not None: {name: import path or class}."""
    return {name: path for name, path in settings.getwithbase(setting).items() if path is not None}


def add_exporters(settings: BaseSettings) -> None:
    """Add the exporters of installed plug-ins to FEED_EXPORTERS, whose own entries take precedence."""
    added = plugins.paths(plugins.EXPORTERS)
    if added:
        exporters = {**added, **settings.getdict("FEED_EXPORTERS")}
        settings.set("FEED_EXPORTERS", exporters, settings.getpriority("FEED_EXPORTERS") or "project")


def prepare_feeds(settings: BaseSettings) -> None:
    """Complete and check the FEEDS setting. Raises ValueError, one line, for a feed that cannot work."""
    add_exporters(settings)
    feeds = settings.getdict("FEEDS")
    if feeds:
        _check_encoding(settings["FEED_EXPORT_ENCODING"])
        schemes = components_in(settings, "FEED_STORAGES").keys() - {REPORT}
        feeds = prepared(feeds, components_in(settings, "FEED_EXPORTERS"), schemes)
        # Above those of the process, which Scrapy merges again when a crawl begins.
        settings.set("FEEDS", feeds, (settings.getpriority("FEEDS") or SETTINGS_PRIORITIES["project"]) + 1)


def choose_record_types(settings: BaseSettings, targets: Iterable[str], on_demand: Collection[str]) -> None:
    """Let feeds that `-o` or `-O` names after a record type hold it: tables (`findings.csv`, `out/sitemaps.parquet`),
    and for the objects of url records other formats too (`images.jsonl`). `item_classes` of a feed take precedence.

    `targets`: as from `named_formats`. `on_demand`: feeds of `ON_DEMAND` whose records the crawl has; without them,
    `pages.csv`, `answers.csv`, `rendered.csv` and `changes.csv` hold url records.
    """
    feeds: dict[str | Path, dict[str, object]] = settings.getdict("FEEDS")
    exporters = components_in(settings, "FEED_EXPORTERS")
    for target in targets:
        uri, _, name = target.rpartition(":")
        stem = Path(uri.removesuffix(".gz")).stem
        kind = UrlRecord if stem in ON_DEMAND and stem not in on_demand else FEEDS.get(stem, UrlRecord)
        exporter = exporter_of(name, exporters)
        picks = exporter.selects_records and (exporter.is_table or kind in EXTENSIONS)
        if uri in feeds and kind is not UrlRecord and picks:
            feeds[uri] = {"item_classes": [kind], **feeds[uri]}
    settings.set("FEEDS", feeds, priority=settings.getpriority("FEEDS") or "project")


def overwrite(settings: BaseSettings, job: str) -> None:
    """Overwrite feeds that are named after the job, as Scrapyd names them (`items/PROJECT/SPIDER/JOB.jl`). A resumed
    job writes everything again. Options of a feed take precedence."""
    feeds: dict[str | Path, dict[str, object]] = settings.getdict("FEEDS")
    for uri, options in feeds.items():
        path = local_path(uri)
        if path is not None and path.stem == job:
            feeds[uri] = {"overwrite": True, **options}
    settings.set("FEEDS", feeds, priority=settings.getpriority("FEEDS") or "project")


def check_baseline(settings: BaseSettings, baseline: str | None) -> None:
    """Raise ValueError, one line, for a feed that needs a baseline, without one."""
    exporters = components_in(settings, "FEED_EXPORTERS")
    for uri, options in settings.getdict("FEEDS").items() if baseline is None else ():
        if exporter_of(format_of(uri, options), exporters).needs_baseline:
            raise ValueError(f"{uri} needs the argument baseline, an earlier crawl with which to compare")


def check_places(settings: BaseSettings, read: Iterable[str]) -> None:
    """Raise ValueError, one line, for a feed that would overwrite an input file of the crawl. `read`: `file:` URLs."""
    files = {Path(name).resolve() for url in read if (name := urls.local_path(url)) is not None}
    for uri in settings.getdict("FEEDS"):
        path = local_path(uri)
        if path is not None and path.resolve() in files and not is_stream(path):
            raise ValueError(f"{uri} cannot be written: the crawl reads this file; name another one")
