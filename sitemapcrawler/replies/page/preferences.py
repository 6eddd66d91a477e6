"""Usage preferences that a page states in its headers and `<meta>` elements.

Sources: `robots.usage.ATTACHMENT` (Content-Usage), https://www.w3.org/2022/tdmrep/ (TDM-Reservation),
https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag (`nosnippet` and `max-snippet:0` keep a page
from being input of AI Overviews and AI Mode). `noai` is a convention that began at DeviantArt in 2022.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sitemapcrawler.items import UrlRecord, UsageRecord
from sitemapcrawler.replies.page.metadata import EVERYBODY, MAX_VALUE, directives
from sitemapcrawler.robots.policy import Policy
from sitemapcrawler.robots.ruleset import path_of
from sitemapcrawler.robots.usage import NAMES, Preference, Use, combined, statement
from sitemapcrawler.urls import is_web
from sitemapcrawler.urls.display import quoted

RESERVATION, POLICY = "tdm-reservation", "tdm-policy"
META_NAMES = frozenset((RESERVATION, POLICY))
"""Names of `<meta>` elements, apart from robots."""
DIRECTIVES = {"noai": Use.TRAIN, "nosnippet": Use.INPUT, "max-snippet:0": Use.INPUT}
"""Robots directives that disallow a use. `noimageai` is about images alone, which have no record of preferences."""
RESERVED = {"0": True, "1": False}
"""{value of TDM-Reservation: whether mining, hence training, is allowed}."""
HEADERS = frozenset((*NAMES, RESERVATION, POLICY))
"""Headers in lower case, apart from X-Robots-Tag."""
_HINTS = ("noai", "snippet")
"""Parts of a value without which it has none of the directives."""


@dataclass(frozen=True, slots=True)
class PageUsage:
    """What a page states on the use of its content."""

    preferences: tuple[Preference, ...]
    faults: tuple[str, ...] = ()
    """Statements that say nothing, each in a sentence."""


def page_usage(headers: Mapping[str, Sequence[str]], metas: Iterable[Mapping[str, str]] = ()) -> PageUsage | None:
    """Read headers, with lower-case names, and `<meta>` elements; None if they state nothing."""
    stated = dict.fromkeys((*_of_headers(headers), *_of_metas(metas)))
    if not stated:
        return None
    faults = tuple(one for one in stated if isinstance(one, str))
    return PageUsage(tuple(one for one in stated if isinstance(one, Preference)), faults)


def _of_headers(headers: Mapping[str, Sequence[str]]) -> Iterator[Preference | str]:
    for value in headers.get("x-robots-tag", ()):
        yield from _of_robots(value, "X-Robots-Tag", prefixed=True)
    if HEADERS.isdisjoint(headers):
        return
    for dialect, name in NAMES.items():
        value = ", ".join(headers.get(dialect, ()))[:MAX_VALUE]
        if value:
            place, said = f"{name} header", statement(dialect, value)
            yield from (Preference(use, allowed, place) for use, allowed in said.preferences.items())
            yield from (f"{place} {quoted(value)}: {fault}" for fault in (*said.faults, *said.unknown))
    for name in (RESERVATION, POLICY):
        for value in headers.get(name, ()):
            yield from _of_tdm(name, value, f"{'TDM-Reservation' if name == RESERVATION else 'TDM-Policy'} header")


def _of_metas(metas: Iterable[Mapping[str, str]]) -> Iterator[Preference | str]:
    for meta in metas:
        name, value = meta.get("name", "").strip().lower(), meta.get("content", "")
        if name == EVERYBODY:
            yield from _of_robots(value, "meta robots")
        elif name in META_NAMES:
            yield from _of_tdm(name, value, f"meta {name}")


def _of_robots(value: str, place: str, prefixed: bool = False) -> Iterator[Preference]:
    """Yield what robots directives for all crawlers disallow."""
    value = value[:MAX_VALUE].lower()
    if not any(hint in value for hint in _HINTS):
        return
    for directive in directives(value, prefixed=prefixed):
        written = f"{directive.name}:{directive.value}" if directive.value else directive.name
        if not directive.agent and written in DIRECTIVES:
            yield Preference(DIRECTIVES[written], False, f"{place} {written}")


def _of_tdm(name: str, value: str, place: str) -> Iterator[Preference | str]:
    value = value.strip()[:MAX_VALUE]
    if name == POLICY:
        if not is_web(value):
            yield f"{place} {quoted(value)}: it is not an absolute URL"
    elif value in RESERVED:
        yield Preference(Use.TRAIN, RESERVED[value], place)
    else:
        yield f"{place} {quoted(value)}: the value is 0 or 1"


ALLOW, DISALLOW = "allow", "disallow"
MAX_KNOWN = 1_000  # sets of preferences whose record is kept; a robots.txt has some dozen


def set_usage(records: Sequence[UrlRecord], policy: Policy) -> None:
    """Set on records of one authority what the group `*` of its robots.txt states."""
    usage = policy.usage_of()
    if usage is None:
        return
    if not usage.by_path:
        alike = recorded(usage.preferences("/"))
        for record in records:
            record.usage = alike
        return
    for record in records:
        record.usage = recorded(usage.preferences(path_of(record.loc)))


@lru_cache(MAX_KNOWN)
def recorded(preferences: tuple[Preference, ...]) -> UsageRecord | None:
    """Return the record of preferences; None for none. Records share it."""
    found = {
        name: value
        for use, allowed, places in combined(preferences)
        for name, value in ((use, ALLOW if allowed else DISALLOW), (f"{use}_by", ", ".join(places)))
    }
    return UsageRecord(**found) if found else None


def preferences_of(record: UsageRecord | None) -> tuple[Preference, ...]:
    held = [(use, getattr(record, use), getattr(record, f"{use}_by")) for use in Use if record is not None]
    return tuple(Preference(use, value == ALLOW, place) for use, value, place in held if value)
