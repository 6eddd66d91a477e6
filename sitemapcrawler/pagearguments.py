"""The arguments of a spider of pages: those of `params` that say which pages, given as arguments or as attributes."""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Mapping
from datetime import date

from scrapy import Spider

from sitemapcrawler.params import ARGUMENTS, ArgumentError, Params

logger = logging.getLogger(__name__)

ACCEPTED = (
    "domain",
    "sitemap",
    "probe",
    "include",
    "exclude",
    "follow",
    "since",
    "max_urls",
    "max_sitemaps",
    "max_depth",
    "max_time",
)
"""Arguments that say which pages are crawled."""
LIKENESS = 0.8
"""How much a name must be like one of these to be taken for a slip (`difflib`, 0 to 1)."""
LOGGERS = ("asyncio", "twisted")
"""Loggers that tell of an exception which Scrapy's commands do not wait for."""


def page_params(spider: Spider, given: Mapping[str, object]) -> Params:
    """The arguments of a spider, from its attributes, which what was `given` has become. ArgumentError for one that
    cannot be used, and for one that asks for an audit, unless the spider itself knows the name."""
    own = {*dir(type(spider)), *inspect.signature(type(spider).__init__).parameters}
    for name in given.keys() - own:
        _check_name(name, given[name])
    values = {name: _text(value) for name in ACCEPTED if _is_set(value := getattr(spider, name, None))}
    if not {"domain", "sitemap"} & values.keys():
        raise ArgumentError("domain", None, "neither domain nor sitemap is given", "hosts or URLs, or sitemap")
    return Params.parse(values)


def told_in_a_line(record: logging.LogRecord) -> bool:
    """Log filter: a bad argument is its one line, since where Scrapy met it says nothing."""
    if record.exc_info and isinstance(record.exc_info[1], ArgumentError):
        record.msg, record.args, record.exc_info = "%s", (str(record.exc_info[1]),), None
    return True


def _check_name(name: str, value: object) -> None:
    if name in ACCEPTED:
        return
    if any(name == argument.name for argument in ARGUMENTS):
        raise ArgumentError(name, value, "is for an audit, and this spider crawls pages", ", ".join(ACCEPTED))
    near = difflib.get_close_matches(name, ACCEPTED, 1, LIKENESS)
    if near:
        logger.warning("argument %s is left to the spider; did you mean %s?", name, near[0])


def _is_set(value: object) -> bool:
    """False for no value, and for a method that happens to have the name of an argument."""
    return value is not None and not callable(value)


def _text(value: object) -> object:
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    return value.isoformat() if isinstance(value, date) else value
