"""Arguments and settings of page spiders. The user's own settings always take precedence.

In a project configured for audits, disables the components that change how pages and items are handled.
"""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Mapping
from datetime import date

from scrapy import Spider
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from sitemapcrawler import settings as ours
from sitemapcrawler.crawl.configuring import add_contact
from sitemapcrawler.crawl.params import ARGUMENTS, ArgumentError, Params, Use, names_of

logger = logging.getLogger(__name__)

ACCEPTED = names_of(Use.PAGES)
"""Arguments that select the pages to crawl."""
LIKENESS = 0.8
"""Similarity (`difflib`, 0 to 1) from which an unknown name counts as a misspelled argument."""
LOGGERS = ("asyncio", "twisted")
"""Loggers that report exceptions which Scrapy's commands do not wait for."""


def page_params(spider: Spider, given: Mapping[str, object]) -> Params:
    """The arguments of a spider, read from its attributes; `given` are those passed to it.
    Raises ArgumentError for an invalid argument, and for one of audits that the spider does not define itself."""
    own = {*dir(type(spider)), *inspect.signature(type(spider).__init__).parameters}
    for name in given.keys() - own:
        _check_name(name, given[name])
    values = {name: _text(value) for name in ACCEPTED if _is_set(value := getattr(spider, name, None))}
    if not {"domain", "sitemap"} & values.keys():
        raise ArgumentError("domain", None, "neither domain nor sitemap is given", "hosts or URLs, or sitemap")
    return Params.parse(values)


def one_line_errors(record: logging.LogRecord) -> bool:
    """Log filter that reduces an ArgumentError to its one-line message, without a traceback."""
    if record.exc_info and isinstance(record.exc_info[1], ArgumentError):
        record.msg, record.args, record.exc_info = "%s", (str(record.exc_info[1]),), None
    return True


def _check_name(name: str, value: object) -> None:
    if name in ACCEPTED:
        return
    if name in ARGUMENTS:
        raise ArgumentError(name, value, "is for an audit, and this spider crawls pages", ", ".join(ACCEPTED))
    near = difflib.get_close_matches(name, ACCEPTED, 1, LIKENESS)
    if near:
        logger.warning("argument %s is left to the spider; did you mean %s?", name, near[0])


def _is_set(value: object) -> bool:
    """False for None, and for a method that shares the name of an argument."""
    return value is not None and not callable(value)


def _text(value: object) -> object:
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    return value.isoformat() if isinstance(value, date) else value


PACKAGE = __name__.partition(".")[0]
SCRAPY = "scrapy.downloadermiddlewares"
MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"
EXTENSIONS = tuple(
    f"{PACKAGE}.{name}"
    for name in ("extensions.logs.InertLog", "download.bodies.BodyCollector", "extensions.stopping.Stopping")
)
ADDED = (
    f"{PACKAGE}.middlewares.politeness.PolitenessMiddleware",
    f"{PACKAGE}.middlewares.credentials.CredentialsMiddleware",
)
"""Middlewares without a counterpart in Scrapy."""
INSTEAD = {
    f"{SCRAPY}.robotstxt.RobotsTxtMiddleware": f"{PACKAGE}.middlewares.robots.RobotsMiddleware",
    f"{SCRAPY}.httpcompression.HttpCompressionMiddleware": (
        f"{PACKAGE}.middlewares.adapted.CollectedBodyCompressionMiddleware"
    ),
}
"""{Scrapy's middleware: our replacement}"""
HANDLERS = ("http", "https", "file")
"""Schemes with guarded handlers."""
OF_AN_AUDIT = ("CONCURRENT_ITEMS", "DOWNLOAD_FAIL_ON_DATALOSS", "HTTPERROR_ALLOW_ALL", "LOG_FORMATTER")
"""Audit settings that are reset to Scrapy's defaults for pages and items."""


def complete(settings: BaseSettings) -> None:
    """Add the settings that page spiders need."""
    for name, value in vars(ours).items():
        if name.startswith("SITEMAP_") and name not in settings:
            settings.set(name, value, "default")
    if not _is_chosen(settings, "ROBOTSTXT_OBEY"):
        settings.set("ROBOTSTXT_OBEY", True, "addon")
    add_contact(settings)
    _undo_audit_wiring(settings)
    for name in EXTENSIONS:
        _add(settings, "EXTENSIONS", name, ours.EXTENSIONS[name])
    for name in ADDED:
        _add(settings, MIDDLEWARES, name, ours.DOWNLOADER_MIDDLEWARES[name])
    for theirs, instead in INSTEAD.items():
        _replace(settings, theirs, instead)
    guarded = {scheme: ours.DOWNLOAD_HANDLERS[scheme] for scheme in HANDLERS}
    _set(settings, "DOWNLOAD_HANDLERS", {**guarded, **settings.getdict("DOWNLOAD_HANDLERS")})


def is_guarded(settings: BaseSettings) -> bool:
    """False if custom handlers, which do not check addresses, make the connections."""
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    return all(handlers[scheme] == ours.DOWNLOAD_HANDLERS[scheme] for scheme in ("http", "https"))


def _undo_audit_wiring(settings: BaseSettings) -> None:
    pipelines = [name for name, place in _named(settings, "ITEM_PIPELINES").items() if name in ours.ITEM_PIPELINES]
    if not pipelines:
        return
    for name in pipelines:
        _switch(settings, "ITEM_PIPELINES", name, None)
    _switch(settings, "EXTENSIONS", f"{PACKAGE}.extensions.stopping.ClosingLine", None)
    _switch(settings, MIDDLEWARES, f"{PACKAGE}.middlewares.adapted.StoppableRetryMiddleware", None)
    _switch(settings, MIDDLEWARES, f"{SCRAPY}.retry.RetryMiddleware", 550)
    for name in OF_AN_AUDIT:
        if settings[name] == getattr(ours, name):
            settings.set(name, getattr(default_settings, name), _above(settings, name))


def _add(settings: BaseSettings, name: str, component: str, place: int | None) -> None:
    """Add a component, unless the user has set or disabled it."""
    if component not in _named(settings, name):
        _switch(settings, name, component, place)


def _replace(settings: BaseSettings, theirs: str, instead: str) -> None:
    """Replace one of Scrapy's middlewares, at the position the user gave it, unless it is disabled."""
    chosen = _named(settings, MIDDLEWARES)
    place = chosen.get(theirs, ours.DOWNLOADER_MIDDLEWARES[instead])
    if instead not in chosen and place is not None:
        _switch(settings, MIDDLEWARES, theirs, None)
        _switch(settings, MIDDLEWARES, instead, place)


def _switch(settings: BaseSettings, name: str, component: str, place: int | None) -> None:
    others = {key: value for key, value in settings.getdict(name).items() if _name(key) != component}
    _set(settings, name, {**others, component: place})


def _named(settings: BaseSettings, name: str) -> dict[str, int | None]:
    """{component: position}. Components are not imported: that may need what is not set up yet."""
    return {_name(key): place for key, place in settings.getdict(name).items()}


def _name(component: str | type) -> str:
    return component if isinstance(component, str) else f"{component.__module__}.{component.__qualname__}"


def _set(settings: BaseSettings, name: str, entries: Mapping[str, object]) -> None:
    settings.set(name, entries, _above(settings, name))


def _above(settings: BaseSettings, name: str) -> int:
    """A priority that lasts: Scrapy's commands set their settings again after the spider did."""
    return max((settings.getpriority(name) or 0) + 1, SETTINGS_PRIORITIES["spider"])


def _is_chosen(settings: BaseSettings, name: str) -> bool:
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]
