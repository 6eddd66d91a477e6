"""Completes the settings of any Scrapy project with what our spiders need. What the project or the user chose stays.

Each spider completes the copy of the settings that its crawl has (`Spider.update_settings`), so the other spiders of a
project run as before.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from scrapy.exceptions import NotConfigured, UsageError
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.project import data_path
from scrapy.utils.reactor import is_asyncio_reactor_installed, is_reactor_installed

from sitemapcrawler import settings as ours
from sitemapcrawler.crawl.configuring import add_contact
from sitemapcrawler.feeds.setup import OURS as EXPORTERS

logger = logging.getLogger(__name__)

OWN = "SITEMAP_"
"""Prefix of the settings that this project defines."""
MIDDLEWARES, EXTENSIONS, PIPELINES = "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES"
HANDLERS = "DOWNLOAD_HANDLERS"
HTTP2 = "H2DownloadHandler"
"""Scrapy's handler for HTTP/2."""
REACTOR, ASYNCIO = "TWISTED_REACTOR", "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
SCRAPY, PACKAGE = "scrapy.downloadermiddlewares", __name__.partition(".")[0]
RETRY = f"{SCRAPY}.retry.RetryMiddleware"
ROBOTS = f"{SCRAPY}.robotstxt.RobotsTxtMiddleware"
COMPRESSION = f"{SCRAPY}.httpcompression.HttpCompressionMiddleware"
HTTP_CACHE = f"{SCRAPY}.httpcache.HttpCacheMiddleware"
FEEDS = "scrapy.extensions.feedexport.FeedExporter"
REPLACEMENTS = {
    FEEDS: f"{PACKAGE}.feeds.whole.WholeFeedExporter",
    RETRY: f"{PACKAGE}.middlewares.adapted.StoppableRetryMiddleware",
    ROBOTS: f"{PACKAGE}.middlewares.adapted.RobotsMiddleware",
    COMPRESSION: f"{PACKAGE}.middlewares.adapted.CollectedBodyCompressionMiddleware",
    HTTP_CACHE: f"{PACKAGE}.middlewares.adapted.CollectedBodyCacheMiddleware",
}
"""{Scrapy's component: our replacement}"""
OF_PAGES: Mapping[str, Mapping[str, int | None]] = {
    EXTENSIONS: {
        name: ours.EXTENSIONS[name]
        for name in (
            f"{PACKAGE}.extensions.logs.InertLog",
            f"{PACKAGE}.download.bodies.BodyCollector",
            f"{PACKAGE}.extensions.stopping.Stopping",
            FEEDS,
        )
    },
    MIDDLEWARES: {
        name: ours.DOWNLOADER_MIDDLEWARES[name]
        for name in (
            ROBOTS,
            COMPRESSION,
            HTTP_CACHE,
            f"{PACKAGE}.middlewares.politeness.PolitenessMiddleware",
            f"{PACKAGE}.middlewares.credentials.CredentialsMiddleware",
        )
    },
    "SPIDER_MIDDLEWARES": {f"{PACKAGE}.pages.callbacks.EntryMiddleware": 900},
}
"""Components that page spiders need, and those of Scrapy's whose replacement they need."""
SCHEMES = ("http", "https", "file")
"""Schemes with guarded handlers in crawls of pages."""
RESET_FOR_PAGES = ("CONCURRENT_ITEMS", "DOWNLOAD_FAIL_ON_DATALOSS", "HTTPERROR_ALLOW_ALL", "LOG_FORMATTER")
"""Audit settings that are reset to Scrapy's defaults for pages and items."""
ORDERED = (MIDDLEWARES, "SPIDER_MIDDLEWARES", EXTENSIONS, PIPELINES)
"""Settings that give components a position; None disables one."""
OF_THE_PROJECT = ("BOT_NAME", "COMMANDS_MODULE", "LOG_LEVEL", "SPIDER_MODULES", "STATS_DUMP")
"""Settings about a whole project or process, which a spider leaves as they are."""
NEEDED: Mapping[str, object] = {
    "CONCURRENT_ITEMS": ours.CONCURRENT_ITEMS,
    "DEPTH_LIMIT": ours.DEPTH_LIMIT,
    "HTTPERROR_ALLOW_ALL": ours.HTTPERROR_ALLOW_ALL,
    "METAREFRESH_ENABLED": ours.METAREFRESH_ENABLED,
    "IMAGES_RESULT_FIELD": "image_files",  # by default, Scrapy's ImagesPipeline would overwrite `images` of our records
}
"""Settings without which an audit would lose records or their order. Those of a project are for its own spiders; a
custom setting of the spider and the command line still win."""

FORMER: Mapping[str, str] = {
    "SITEMAP_BATCH_SIZE": "a batch has at most 1,000 url records; SITEMAP_ITEMS=records passes them one by one",
    "SITEMAP_CSV_CELLS": "FEED_EXPORT_FIELDS chooses fields; .jsonl and .parquet have all of them",
    "SITEMAP_FETCH_AHEAD": "8 sitemaps are fetched ahead; CONCURRENT_REQUESTS limits all requests",
    "SITEMAP_MAX_CRAWL_DELAY": "a Crawl-delay is obeyed up to 60 s; DOWNLOAD_DELAY makes the crawl slower",
    "SITEMAP_MAX_DEPTH": "elements of an entry are read 32 deep; the argument max_depth limits nested indexes",
    "SITEMAP_MAX_ELEMENT": "an entry has at most 1,048,576 characters; SITEMAP_MAX_BYTES limits a file",
    "SITEMAP_MAX_ENTRIES": "a file has at most 10,000,000 entries; SITEMAP_MAX_BYTES limits it too",
    "SITEMAP_MAX_RATIO": "a file unpacks to at most 300 times its size; SITEMAP_MAX_BYTES limits it too",
    "SITEMAP_MAX_RETRY_AFTER": "a Retry-After is obeyed up to 120 s; RETRY_TIMES limits how often a page is requested",
    "SITEMAP_MAX_SITEMAPS": "use the argument max_sitemaps",
    "SITEMAP_PAGES_WAITING": "at most 1,000 requests wait; JOBDIR keeps them on disk",
    "SITEMAP_PROGRESS_INTERVAL": "use Scrapy's LOGSTATS_INTERVAL",
    "SITEMAP_READ_AT_ONCE": "2 files are read at a time",
    "SITEMAP_STORE_THREADS": "the database uses 2 threads; SITEMAP_STORE_MEMORY limits its memory",
    "SITEMAP_WORKERS": "one process reads all files",
}
"""{former setting: what to use instead}."""


SIMILAR = 0.8
"""Least ratio of `difflib` at which a name is a misspelt one of ours; a project has settings of its own."""


def refuse_unknown(settings: BaseSettings) -> None:
    """Raise ValueError, one line, for a setting that no longer exists, or whose name is misspelt."""
    known = [name.removeprefix(OWN) for name in vars(ours) if name.startswith(OWN)]
    for name in settings:
        if name in FORMER:
            raise ValueError(f"setting {name}={settings[name]!r}: no longer exists: {FORMER[name]}")
        word = name.removeprefix(OWN)
        if word not in (name, *known) and (near := get_close_matches(word, known, 1, SIMILAR)):
            raise ValueError(f"setting {name}={settings[name]!r}: unknown, did you mean {OWN}{near[0]}?")


def complete_for_audit(settings: BaseSettings) -> None:
    """Add the settings that audits need, unless the project's settings are built on ours. Elsewhere, records are single
    items by default: pipelines, extensions and exporters of a project do not know batches."""
    _add_defaults(settings)
    _place_http_cache(settings)
    if _has_audit(settings):
        return
    for name, value in NEEDED.items():
        if (settings.getpriority(name) or 0) < SETTINGS_PRIORITIES["spider"]:
            settings.set(name, value, "spider")
    for name, value in vars(ours).items():
        if name.isupper() and not name.startswith(OWN) and name not in OF_THE_PROJECT:
            _complete(settings, name, value)
    if settings["SITEMAP_ITEMS"] == "auto":
        settings.set("SITEMAP_ITEMS", "records", _above(settings, "SITEMAP_ITEMS"))


def leave_out_pipelines(settings: BaseSettings) -> None:
    """Leave out the pipelines of a project unless they are on the command line or beside ours, for commands that print
    what they read: pipelines for items of other spiders would drop it."""
    if not _has_audit(settings):
        settings.set(PIPELINES, {}, SETTINGS_PRIORITIES["cmdline"] - 1)


def _complete(settings: BaseSettings, name: str, value: object) -> None:
    if name in ORDERED:
        _add_components(settings, name, getattr(ours, name))
    elif isinstance(value, dict):
        _add_entries(settings, name, EXPORTERS if name == "FEED_EXPORTERS" else value)
    elif not _is_chosen(settings, name):
        settings.set(name, value, "addon")


def complete_for_pages(settings: BaseSettings) -> None:
    """Add the settings that page spiders need. In settings of an audit, the components that change how pages and items
    are handled are disabled. Raises ValueError, one line, for a setting that `refuse_unknown` refuses."""
    refuse_unknown(settings)
    refuse_http2(settings)
    refuse_reactor(settings)
    _add_defaults(settings)
    _place_http_cache(settings)
    if not _is_chosen(settings, "ROBOTSTXT_OBEY"):
        settings.set("ROBOTSTXT_OBEY", True, "addon")
    add_contact(settings)
    if _has_audit(settings):
        _undo_audit(settings)
    for setting, components in OF_PAGES.items():
        _add_components(settings, setting, components)
    _add_entries(settings, HANDLERS, {scheme: ours.DOWNLOAD_HANDLERS[scheme] for scheme in SCHEMES})


def refuse_http2(settings: BaseSettings) -> None:
    """Raise ValueError, one line, for Scrapy's handler for HTTP/2: no address of its connections is checked."""
    for scheme, handler in settings.getdict(HANDLERS).items():
        if str(getattr(handler, "__name__", handler)).endswith(HTTP2):
            raise ValueError(
                f"setting {HANDLERS}: {scheme}: {HTTP2} checks no address; accepted: {ours.DOWNLOAD_HANDLERS['https']}"
            )


def refuse_reactor(settings: BaseSettings) -> None:
    """Raise ValueError, one line, for a reactor without asyncio: a crawl would never end."""
    reactor = settings[REACTOR]
    if reactor != ASYNCIO and (reactor or not is_reactor_installed() or not is_asyncio_reactor_installed()):
        raise ValueError(f"setting {REACTOR}={reactor!r}: accepted: {ASYNCIO}")


def is_guarded(settings: BaseSettings) -> bool:
    """False if custom handlers, which do not check addresses, make the connections."""
    handlers = settings.getdict(HANDLERS)
    return all(handlers[scheme] == ours.DOWNLOAD_HANDLERS[scheme] for scheme in ("http", "https"))


def log_unguarded(settings: BaseSettings) -> None:
    """Log that a crawl connects to any address, if it does."""
    if not is_guarded(settings):
        logger.info("DOWNLOAD_HANDLERS names a handler that checks no address: private ones are not refused")


def _add_defaults(settings: BaseSettings) -> None:
    for name, value in vars(ours).items():
        if name.startswith(OWN) and name not in settings:
            settings.set(name, value, "default")


def _place_http_cache(settings: BaseSettings) -> None:
    """Place Scrapy's cache in `.scrapy` of the working directory, as Scrapy does without a project: our commands name
    a settings module, which Scrapy takes for a project, but mostly run without its scrapy.cfg."""
    folder = settings["HTTPCACHE_DIR"]
    if settings.getbool("HTTPCACHE_ENABLED") and folder:
        try:
            data_path(folder)
        except NotConfigured:
            settings.set("HTTPCACHE_DIR", str(Path(".scrapy", folder).absolute()), _above(settings, "HTTPCACHE_DIR"))


def _has_audit(settings: BaseSettings) -> bool:
    """True for settings in which the audit's pipelines are enabled, as in `sitemapcrawler.settings`."""
    return any(place is not None for name, place in _named(settings, PIPELINES).items() if name in ours.ITEM_PIPELINES)


def _undo_audit(settings: BaseSettings) -> None:
    for name in ours.ITEM_PIPELINES:
        _switch(settings, PIPELINES, name, None)
    _switch(settings, EXTENSIONS, f"{PACKAGE}.extensions.stopping.ClosingLine", None)
    _switch(settings, MIDDLEWARES, REPLACEMENTS[RETRY], None)
    _switch(settings, MIDDLEWARES, RETRY, ours.DOWNLOADER_MIDDLEWARES[REPLACEMENTS[RETRY]])
    for name in RESET_FOR_PAGES:
        if settings[name] == getattr(ours, name):
            settings.set(name, getattr(default_settings, name), _above(settings, name))


def _add_components(settings: BaseSettings, setting: str, components: Mapping[str, int | None]) -> None:
    """Add our components, unless the user has set or disabled them. One that replaces a component of Scrapy's takes the
    position that the user gave that."""
    for name, place in components.items():
        if name in REPLACEMENTS:
            _replace(settings, setting, name)
        elif name not in REPLACEMENTS.values() and name not in _named(settings, setting):
            _switch(settings, setting, name, place)


def _replace(settings: BaseSettings, setting: str, theirs: str) -> None:
    chosen, instead = _named(settings, setting), REPLACEMENTS[theirs]
    place = chosen.get(theirs, getattr(ours, setting)[instead])
    if instead not in chosen and place is not None:
        _switch(settings, setting, theirs, None)
        _switch(settings, setting, instead, place)


def _switch(settings: BaseSettings, setting: str, component: str, place: int | None) -> None:
    others = {key: value for key, value in settings.getdict(setting).items() if _name(key) != component}
    settings.set(setting, {**others, component: place}, _above(settings, setting))


def _add_entries(settings: BaseSettings, setting: str, entries: Mapping[str, object]) -> None:
    """Add entries to a setting that is a dictionary; those of the user win."""
    settings.set(setting, {**entries, **settings.getdict(setting)}, _above(settings, setting))


def _named(settings: BaseSettings, setting: str) -> dict[str, int | None]:
    """{component: position}. Components are not imported: that may need what is not set up yet."""
    return {_name(key): place for key, place in settings.getdict(setting).items()}


def _name(component: str | type) -> str:
    return component if isinstance(component, str) else f"{component.__module__}.{component.__qualname__}"


def _above(settings: BaseSettings, name: str) -> int:
    """A priority that lasts: when a crawl begins, Scrapy merges the settings of the process again."""
    return max((settings.getpriority(name) or 0) + 1, SETTINGS_PRIORITIES["spider"])


def _is_chosen(settings: BaseSettings, name: str) -> bool:
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]


LOGGERS = ("asyncio", "twisted")
"""Loggers that report exceptions which Scrapy's commands do not wait for."""


class Refused(UsageError, ValueError):
    """A crawl cannot start: an argument, a setting, a feed or a job is invalid. The message is one line.

    Scrapy's commands show a UsageError as an error of their command line.
    """


@contextmanager
def refusing() -> Iterator[None]:
    """Context in which a spider checks what it was given: a ValueError becomes Refused, which is logged as one line."""
    try:
        yield
    except ValueError as error:
        for name in LOGGERS:
            logging.getLogger(name).addFilter(in_one_line)
        raise Refused(str(error)) from error


def in_one_line(record: logging.LogRecord) -> bool:
    """Log filter that reduces a Refused exception to its message, without a traceback. Passes every record."""
    if record.exc_info and isinstance(record.exc_info[1], Refused):
        record.msg, record.args, record.exc_info = "%s", (str(record.exc_info[1]),), None
    return True
