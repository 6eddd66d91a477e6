"""Checks the values of settings, Scrapy's and ours, before a crawl.

The default of a setting decides what it accepts: its type says how Scrapy reads the setting; if it is an import path,
the setting names a component.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Real
from pathlib import Path
from types import MappingProxyType

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.reactor import install_reactor, is_reactor_installed

from sitemapcrawler import settings as ours
from sitemapcrawler.crawl.wiring import refuse_http2, refuse_reactor, refuse_unknown
from sitemapcrawler.feeds.setup import imported

TLS_VERSIONS = (None, "TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3")
"""Source: https://docs.scrapy.org/en/latest/topics/settings.html#download-tls-min-version"""
CHOICES: Mapping[str, tuple[str | None, ...]] = {
    "SITEMAP_ITEMS": ("auto", "batches", "records", "objects"),
    "DOWNLOAD_TLS_MIN_VERSION": TLS_VERSIONS,
    "DOWNLOAD_TLS_MAX_VERSION": TLS_VERSIONS,
}
"""Values of settings that accept only these."""
LEAST = {"SITEMAP_STORE_MEMORY": 100, "CONCURRENT_ITEMS": 1}
"""Minimum values. DuckDB requires the first; without the second, no item passes the pipelines."""
DEFAULTS: Mapping[str, object] = MappingProxyType(
    {name: value for module in (default_settings, ours) for name, value in vars(module).items() if name.isupper()}
)
TYPES: Mapping[str, type] = {
    "AWS_MAX_POOL_CONNECTIONS": int,
    "DNS_TIMEOUT": float,
    "DOWNLOAD_TIMEOUT": float,
    "TELNETCONSOLE_ENABLED": bool,
}
"""Settings that Scrapy reads as another type than that of their default."""
ORDERED = ("ADDONS", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
"""Settings of the form {component: order}."""
NAMED = ("DOWNLOAD_HANDLERS", "FEED_EXPORTERS", "FEED_STORAGES")
"""Settings of the form {name: component}."""
HAS_REACTOR = "TWISTED_REACTOR_ENABLED"
ENDPOINT = "SITEMAP_GSC_ENDPOINT"
THIS_MACHINE = re.compile(r"http://(?:127\.0\.0\.1|\[::1\]):[0-9]{1,5}")
"""Address of a test server."""
_PATH = re.compile(r"(?:scrapy|sitemapcrawler|twisted)\.[\w.]+\.[A-Za-z]\w*")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for one in pair for text in _texts(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in _texts(one))


KNOWN = frozenset(text for value in DEFAULTS.values() for text in _texts(value) if _PATH.fullmatch(text))
"""Import paths of the components in defaults."""


def check_settings(settings: BaseSettings) -> None:
    """Check the values of all settings. Raises ValueError, one line."""
    changed = {name: value for name in settings if (value := settings[name]) != DEFAULTS.get(name)}
    refuse_unknown(settings)
    for name in changed:
        _check_type(name, settings)
    refuse_http2(settings)
    refuse_reactor(settings)
    for name, accepted in CHOICES.items():
        if settings[name] not in accepted:
            raise ValueError(_refusal(name, settings[name], ", ".join(filter(None, accepted))))
    for name, least in LEAST.items():
        if settings.getfloat(name) < least:
            raise ValueError(_refusal(name, settings[name], f"a number from {least}"))
    if not settings.getbool(HAS_REACTOR, True):
        raise ValueError(_refusal(HAS_REACTOR, settings[HAS_REACTOR], "True"))
    _check_endpoint(settings)
    check_log(settings)
    _check_components(settings, changed)


def _check_endpoint(settings: BaseSettings) -> None:
    """Refuse to send credentials anywhere but to Google, or to a test server that the command line names."""
    named = settings[ENDPOINT]
    by_command = (settings.getpriority(ENDPOINT) or 0) >= SETTINGS_PRIORITIES["cmdline"]
    if named != DEFAULTS[ENDPOINT] and not (by_command and THIS_MACHINE.fullmatch(str(named))):
        raise ValueError(f"setting {ENDPOINT}={named!r}: only the command line may name a loopback address")


def _check_type(name: str, settings: BaseSettings) -> None:
    """Read a setting as Scrapy does. Raises ValueError, one line, if that fails."""
    reader = _reader(name)
    if reader is None or settings[name] is None:
        return
    read, accepted = reader
    try:
        read(settings, name)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(_refusal(name, settings[name], accepted)) from None


def _number(settings: BaseSettings, name: str) -> None:
    if not math.isfinite(settings.getfloat(name)):
        raise ValueError


def _numbers(settings: BaseSettings, name: str) -> None:
    for item in settings.getlist(name):
        int(item)


Reader = tuple[Callable[[BaseSettings, str], object], str]
"""Reads a setting, and raises ValueError, TypeError or OverflowError for a wrong value; what is accepted."""
READERS: Mapping[type, Reader] = {
    bool: (BaseSettings.getbool, "True, False"),
    int: (BaseSettings.getint, "a whole number"),
    float: (_number, "a number"),
    list: (BaseSettings.getlist, "a list"),
    dict: (BaseSettings.getdict, "a dictionary, on the command line as JSON"),
}
"""{type of the default: how the setting is read}."""
NUMBERS: Reader = (_numbers, "whole numbers, separated by commas")


def _reader(name: str) -> Reader | None:
    """How a setting is read; None for a text, or a setting that is neither Scrapy's nor ours."""
    if name not in DEFAULTS:
        return None
    default = DEFAULTS[name]
    if name.endswith("_CODES") or (isinstance(default, list) and any(isinstance(item, int) for item in default)):
        return NUMBERS
    return READERS.get(TYPES.get(name, type(default)))


def check_dictionary(name: str, text: str) -> None:
    """Raise ValueError, one line, if the default of a setting is a dictionary and the text is no JSON of one."""
    if isinstance(DEFAULTS.get(name), dict):
        try:
            dict(json.loads(text))
        except (TypeError, ValueError):
            raise ValueError(_refusal(name, text, READERS[dict][1])) from None


def _refusal(name: str, value: object, accepted: str) -> str:
    return f"setting {name}={value!r}: accepted: {accepted}"


def check_log(settings: BaseSettings) -> None:
    """Check that Scrapy can write its log, and leave no file behind. Raises ValueError, one line."""
    levels = logging.getLevelNamesMapping()
    for name in (name for name in DEFAULTS if name.endswith("LOG_LEVEL")):
        if (level := settings[name]) not in levels and not isinstance(level, int):
            raise ValueError(_refusal(name, level, ", ".join(levels)))
    if settings["LOG_FILE"]:
        try:
            _try_to_append(Path(settings["LOG_FILE"]))
        except OSError as error:
            raise ValueError(f"the log {settings['LOG_FILE']} cannot be written: {error.strerror}") from None


def _try_to_append(path: Path) -> None:
    """Open a file for appending, and remove it again if it is new. Raises OSError."""
    was_there = path.exists() or path.is_symlink()
    path.open("ab").close()
    if not was_there:
        path.unlink()


def _check_components(settings: BaseSettings, changed: Iterable[str]) -> None:
    """Import the components that are in no default, as Scrapy will. Raises ValueError, one line, if that fails."""
    found = [pair for name in changed for pair in _components(name, settings) if not _is_known(pair[1])]
    if found and not is_reactor_installed():  # the module of a component may import another one
        install_reactor(settings["TWISTED_REACTOR"], settings["ASYNCIO_EVENT_LOOP"])
    for where, component in found:
        if not callable(imported(component, where)):
            raise ValueError(f"{where}: {component} is not a class or function")


def _components(name: str, settings: BaseSettings) -> Iterator[tuple[str, str | type]]:
    """Yield the components in a setting, each with its place for messages."""
    where, default = f"setting {name}", DEFAULTS.get(name)
    if name in ORDERED:
        for component, order in settings.getdict(name).items():
            if order is not None and not isinstance(order, Real):
                raise ValueError(f"{where}: {component} has the order {order!r}; accepted: a number, None")
            yield where, component
    elif name in NAMED:
        yield from ((f"{where}: {key}", one) for key, one in settings.getdict(name).items() if one is not None)
    elif isinstance(default, list) and not KNOWN.isdisjoint(default):
        yield from ((where, one) for one in settings.getlist(name))
    elif _is_known(default) and name != "REFERRER_POLICY" and settings[name] is not None:  # that may be a mere name
        yield f"{where}={settings[name]!r}", settings[name]


def _is_known(component: object) -> bool:
    return isinstance(component, str) and component in KNOWN
