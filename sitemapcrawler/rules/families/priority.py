"""Rules on the priority of pages among those of their site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

from sitemapcrawler.rules.facts.fields import field, text_of
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.facts.objects import line_of
from sitemapcrawler.rules.facts.tally import ENTRIES, share
from sitemapcrawler.rules.facts.written import MAX_BYTES, size_of
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown

PRIORITY = "https://www.sitemaps.org/protocol.html#prioritydef"
GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
YANDEX = "https://yandex.com/support/webmaster/en/controlling-robot/sitemap.html"
DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
"""Source: XML Schema, part 2, 3.2.3"""
COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
DEFAULT = 0.5
"""The priority of a page that has none. Source: the protocol"""
MIN_ALIKE = 20
"""Entries that must all have one priority: it may be right for a few."""


def _written(entry: UrlFacts, fault: str) -> str | None:
    """The priority as written where it has this `fault_of`, else None; a number where the element is not at hand."""
    element, number = field(entry, "priority"), entry.record.priority
    if element is None and number is None:
        return None
    text = text_of(element) if element is not None else str(number)
    return text if fault_of(text) == fault else None


@lru_cache(maxsize=256)
def fault_of(text: str) -> str:
    """What is wrong with a priority: `long`, `invalid` or `range`; empty where nothing is. Kept, since they repeat."""
    if size_of(text) > MAX_BYTES:
        return "long"
    if not DECIMAL.fullmatch(text):
        return "invalid"
    return "" if 0 <= Decimal(text) <= 1 else "range"


def _line(entry: UrlFacts) -> int | None:
    return line_of(field(entry, "priority"))


@rule("priority-invalid", Severity.ERROR, PRIORITY, also={"Search Console": "Invalid tag value"})
def priority_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The priority is no decimal number with a point.

    Why: search engines that use it cannot read it; the schema does not allow it.
    Bad: `<priority>0,5</priority>`, `<priority>5e-1</priority>`, `<priority>high</priority>`, `<priority></priority>`
    Good: `<priority>0.5</priority>`
    """
    text = _written(entry, "invalid")
    if text is not None:
        said = f"{shown(text)} is no decimal number" if text else "the priority is empty"
        said += f": write {text.replace(',', '.')}" if COMMA.fullmatch(text) else ""
        yield Message(said, _line(entry), value=text)


@rule("priority-out-of-range", Severity.ERROR, PRIORITY, also={"Search Console": "Invalid tag value"})
def priority_out_of_range(entry: UrlFacts) -> Iterator[Message]:
    """The priority is a number below 0.0 or above 1.0.

    Why: what search engines make of it is not defined; the schema does not allow it.
    Bad: `<priority>10</priority>`
    Good: `<priority>1.0</priority>`
    """
    text = _written(entry, "range")
    if text is not None:
        yield Message(f"{shown(text)} is not between 0.0 and 1.0", _line(entry), value=text)


@rule("priority-over-100-bytes", Severity.ERROR, YANDEX)
def priority_over_100_bytes(entry: UrlFacts) -> Iterator[Message]:
    """The priority is longer than 100 bytes.

    Why: Yandex takes no more, and no priority needs as much.
    Bad: `<priority>` with a sentence, or a hundred digits, in it
    Good: `<priority>0.5</priority>`
    """
    text = _written(entry, "long")
    if text is not None:
        yield Message(f"{shown(text)} has {size_of(text)} bytes; {MAX_BYTES} are allowed", _line(entry), value=text)


@rule("priority-ignored", Severity.INFO, GOOGLE, Needs.FILE)
def priority_ignored(file: FileFacts) -> Iterator[Message]:
    """Entries have a priority, which Google and Bing ignore. Once for a file, with their number.

    Why: it costs bytes and work, and does nothing there. Yandex may use it for the order of its visits.
    Bad: `<priority>0.8</priority>`
    Good: no priority, or one for each page that differs as the pages do
    """
    if file.tally.prioritised:
        text = share(file.tally.prioritised, file.tally.entries, ENTRIES, ("has a priority", "have a priority"))
        yield Message(f"{text}, which Google and Bing ignore; Yandex may use it")


@rule("priority-all-same", Severity.INFO, PRIORITY, Needs.WHOLE)
def priority_all_same(file: FileFacts) -> Iterator[Message]:
    """All pages have one priority, and there are 20 or more. For 1.0 see priority-all-one.

    Why: a priority is relative to that of the site's other pages; one for all says nothing. A page without has 0.5.
    Bad: `<priority>0.8</priority>` for each page
    Good: no priority, or one for each page that differs as the pages do
    """
    value = _one_for_all(file)
    if value is not None and value != 1:
        yield Message(f"all {file.tally.entries:,} entries have the priority {value}", value=str(value))


@rule("priority-all-one", Severity.INFO, PRIORITY, Needs.WHOLE)
def priority_all_one(file: FileFacts) -> Iterator[Message]:
    """All pages have the highest priority, and there are 20 or more.

    Why: a priority is relative to that of the other pages of the site: with the highest for all, none has a high one.
    Bad: `<priority>1.0</priority>` for each page
    Good: no priority, or one for each page that differs as the pages do
    """
    if _one_for_all(file) == 1:
        yield Message(f"all {file.tally.entries:,} entries have the priority 1.0", value="1.0")


def _one_for_all(file: FileFacts) -> float | None:
    """The one priority of all pages; None where they differ, are few, or it is no legal one."""
    tally = file.tally
    if len(tally.priorities) != 1 or tally.prioritised < MIN_ALIKE:
        return None
    [value] = tally.priorities
    complete = tally.prioritised == tally.entries or value == DEFAULT
    return value if complete and 0 <= value <= 1 else None
