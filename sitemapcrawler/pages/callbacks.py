"""Which callback a page gets, and the sitemap entry that it takes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence

from scrapy import Spider
from scrapy.http import Response

from sitemapcrawler.crawl.params import ArgumentError
from sitemapcrawler.items import UrlEntry

Callback = Callable[..., object]
Rules = Sequence[tuple[str | re.Pattern[str], str | Callback]]
"""(regular expression, callback or its name), in order."""
ENTRY = "entry"
"""Name of the parameter of a callback that gets the entry."""
ACCEPTED = 'a list of pairs such as [("/shop/", "parse_shop")]'


class PageRules:
    """Chooses the callback of a page: that of the first rule whose expression is found in the URL."""

    def __init__(self, spider: Spider, rules: Rules, default: Callback) -> None:
        """`default`: callback of all pages if there are no rules. Raises ArgumentError for an invalid rule."""
        self._rules = [_compiled(spider, rule) for rule in _pairs(rules)]
        self._default = default

    def callback(self, url: str) -> Callback | None:
        """Return the callback of a page; None if no rule matches, so that the page is skipped."""
        if not self._rules:
            return self._default
        return next((callback for expression, callback in self._rules if expression.search(url)), None)


def _pairs(rules: object) -> Sequence[object]:
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise ArgumentError("rules", rules, "is not a list", ACCEPTED)
    return rules


def _compiled(spider: Spider, rule: object) -> tuple[re.Pattern[str], Callback]:
    match rule:
        case (str() | re.Pattern() as expression, callback):
            pass
        case _:
            raise ArgumentError("rules", rule, "is not a pair of an expression and a callback", ACCEPTED)
    if isinstance(callback, str):
        callback = getattr(spider, callback, None)
    if not callable(callback):
        raise ArgumentError("rules", rule, "names no method of the spider", ACCEPTED)
    try:
        return re.compile(expression), callback
    except re.error as error:
        raise ArgumentError("rules", rule, f"is not a regular expression: {error}", ACCEPTED) from None


def takes_entry(callback: Callback) -> bool:
    """True for a callback with a parameter `entry`, or with `**kwargs`."""
    parameters = _parameters(callback)
    return any(one.name == ENTRY or one.kind is one.VAR_KEYWORD for one in parameters)


def needs_entry(callback: Callback) -> bool:
    """True for a callback that fails without `entry`."""
    return any(one.name == ENTRY and one.default is one.empty for one in _parameters(callback))


def _parameters(callback: Callback) -> Sequence[inspect.Parameter]:
    try:
        return [*inspect.signature(callback).parameters.values()]
    except (TypeError, ValueError):  # not every callable written in C has a signature
        return []


def bare_entry(response: Response) -> UrlEntry:
    """The entry of a page that no sitemap has led to: its URL alone."""
    return UrlEntry(response.meta.get("redirect_urls", [response.url])[0])


class EntryMiddleware:
    """Spider middleware: a callback that needs `entry` gets one with the URL alone if its request has none.

    So contracts, `scrapy parse` and followed links can use the callbacks of pages.
    """

    def process_spider_input(self, response: Response) -> None:
        """Add the entry to the keyword arguments of the callback."""
        request = response.request
        if request is None or request.callback is None or ENTRY in request.cb_kwargs:
            return
        if needs_entry(request.callback):
            request.cb_kwargs[ENTRY] = bare_entry(response)
