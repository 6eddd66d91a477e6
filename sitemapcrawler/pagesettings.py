"""The settings of a spider of pages: what it needs is added to the user's, who comes first everywhere.

An audit wires the whole project for its records. Of that wiring a spider of pages takes back what would change how
pages and items are handled.
"""

from __future__ import annotations

from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from sitemapcrawler import settings as ours

PACKAGE = __name__.partition(".")[0]
SCRAPY = "scrapy.downloadermiddlewares"
MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"
EXTENSIONS = tuple(f"{PACKAGE}.{name}" for name in ("logs.InertLog", "bodies.BodyCollector", "extensions.Stopping"))
ADDED = (f"{PACKAGE}.politeness.PolitenessMiddleware", f"{PACKAGE}.credentials.CredentialsMiddleware")
"""Middlewares that Scrapy has no like of."""
INSTEAD = {
    f"{SCRAPY}.robotstxt.RobotsTxtMiddleware": f"{PACKAGE}.obeying.RobotsMiddleware",
    f"{SCRAPY}.httpcompression.HttpCompressionMiddleware": f"{PACKAGE}.compression.CollectedBodyCompressionMiddleware",
}
"""{middleware of Scrapy: ours in its place}"""
HANDLERS = ("http", "https", "file")
"""Schemes whose handlers are guarded."""
OF_AN_AUDIT = ("CONCURRENT_ITEMS", "DOWNLOAD_FAIL_ON_DATALOSS", "HTTPERROR_ALLOW_ALL", "LOG_FORMATTER")
"""Settings that this project chooses for its records, and that pages and items have as Scrapy has them."""


def complete(settings: BaseSettings) -> None:
    """Add what a spider of pages needs to its settings."""
    for name, value in vars(ours).items():
        if name.startswith("SITEMAP_") and name not in settings:
            settings.set(name, value, "default")
    if not _is_chosen(settings, "ROBOTSTXT_OBEY"):
        settings.set("ROBOTSTXT_OBEY", True, "addon")
    _take_back(settings)
    for name in EXTENSIONS:
        _add(settings, "EXTENSIONS", name, ours.EXTENSIONS[name])
    for name in ADDED:
        _add(settings, MIDDLEWARES, name, ours.DOWNLOADER_MIDDLEWARES[name])
    for theirs, instead in INSTEAD.items():
        _replace(settings, theirs, instead)
    guarded = {scheme: ours.DOWNLOAD_HANDLERS[scheme] for scheme in HANDLERS}
    _set(settings, "DOWNLOAD_HANDLERS", {**guarded, **settings.getdict("DOWNLOAD_HANDLERS")})


def is_guarded(settings: BaseSettings) -> bool:
    """False where the user's own handlers connect, which check no address."""
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    return all(handlers[scheme] == ours.DOWNLOAD_HANDLERS[scheme] for scheme in ("http", "https"))


def _take_back(settings: BaseSettings) -> None:
    pipelines = [name for name, place in _named(settings, "ITEM_PIPELINES").items() if name in ours.ITEM_PIPELINES]
    if not pipelines:
        return
    for name in pipelines:
        _switch(settings, "ITEM_PIPELINES", name, None)
    _switch(settings, "EXTENSIONS", f"{PACKAGE}.extensions.ClosingLine", None)
    _switch(settings, MIDDLEWARES, f"{PACKAGE}.retrying.StoppableRetryMiddleware", None)
    _switch(settings, MIDDLEWARES, f"{SCRAPY}.retry.RetryMiddleware", 550)
    for name in OF_AN_AUDIT:
        if settings[name] == getattr(ours, name):
            settings.set(name, getattr(default_settings, name), _above(settings, name))


def _add(settings: BaseSettings, name: str, component: str, place: int | None) -> None:
    """Add a component, unless the user has placed it, or has switched it off."""
    if component not in _named(settings, name):
        _switch(settings, name, component, place)


def _replace(settings: BaseSettings, theirs: str, instead: str) -> None:
    """Put a middleware in the place of Scrapy's, wherever the user has that, unless it is switched off."""
    chosen = _named(settings, MIDDLEWARES)
    place = chosen.get(theirs, ours.DOWNLOADER_MIDDLEWARES[instead])
    if instead not in chosen and place is not None:
        _switch(settings, MIDDLEWARES, theirs, None)
        _switch(settings, MIDDLEWARES, instead, place)


def _switch(settings: BaseSettings, name: str, component: str, place: int | None) -> None:
    others = {key: value for key, value in settings.getdict(name).items() if _name(key) != component}
    _set(settings, name, {**others, component: place})


def _named(settings: BaseSettings, name: str) -> dict[str, Any]:
    """{name of a component: its place}. No component is imported, which may need what is not there yet."""
    return {_name(key): place for key, place in settings.getdict(name).items()}


def _name(component: Any) -> str:
    return component if isinstance(component, str) else f"{component.__module__}.{component.__qualname__}"


def _set(settings: BaseSettings, name: str, entries: dict[Any, Any]) -> None:
    settings.set(name, entries, _above(settings, name))


def _above(settings: BaseSettings, name: str) -> int:
    """A priority that lasts: Scrapy's commands set all that they know once more, as it was, after the spider did."""
    return max((settings.getpriority(name) or 0) + 1, SETTINGS_PRIORITIES["spider"])


def _is_chosen(settings: BaseSettings, name: str) -> bool:
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]
