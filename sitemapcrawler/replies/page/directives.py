"""Who may not index a page: robots `<meta>` elements and X-Robots-Tag headers.

Source: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
Of several, all hold: the more restrictive one wins, and `index` takes no `noindex` back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from sitemapcrawler.robots.agents import AGENTS

EVERYBODY = "robots"
"""The name of a `<meta>` that is for all crawlers."""
META_AGENTS = frozenset(agent.name.lower() for agent in AGENTS) | frozenset(
    ("googlebot-news", "googlebot-image", "googlebot-video", "msnbot", "bingbot", "slurp", "teoma", "yandex",
     "baiduspider", "duckduckbot", "seznambot", "yeti", "naverbot", "applebot")
)  # fmt: skip
"""Crawlers whose name is looked for in `<meta name>`; any other name is no crawler's: it may be `description`."""
VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
"""Directives with a colon and a value."""
KNOWN = VALUED | frozenset(
    ("all", "index", "noindex", "follow", "nofollow", "none", "noarchive", "nocache", "nosnippet", "noimageindex",
     "notranslate", "indexifembedded", "nositelinkssearchbox", "noodp", "noydir", "noai", "noimageai")
)  # fmt: skip
NOINDEX = frozenset(("noindex", "none"))
MAX_VALUE = 2_000  # characters of one content or header; real ones have some dozen
MAX_DIRECTIVES = 100  # of one content or header
_AGENT = re.compile(r"[a-z0-9_*][a-z0-9_.*-]{0,60}")
_WORDS = re.compile(r"[\s;]+")


class Place(StrEnum):
    """Where a page says something of itself."""

    HEAD = "head"
    HEADER = "header"
    BODY = "body"
    """Behind the end of the head."""


class Directive(NamedTuple):
    """One word to crawlers, with its value."""

    agent: str
    """Crawler in lower case; empty for all."""
    name: str
    """Lower case."""
    value: str
    """Of one with a colon; empty for others."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A page that shall not be in an index, or not any more after a date."""

    agent: str
    """Crawler in lower case; empty for all."""
    place: Place
    written: str
    """The content of the element or header, cut to a length that can be told."""
    until: str | None = None
    """The date of `unavailable_after` as written; None for `noindex` and `none`."""


def denials(written: str, place: Place, agent: str = "") -> Iterator[Denial]:
    """What a content (`agent`: its name) or a header forbids."""
    for directive in directives(written[:MAX_VALUE], agent, prefixed=place is Place.HEADER):
        if directive.name in NOINDEX:
            yield Denial(directive.agent, place, written[:200])
        elif directive.name == "unavailable_after":
            yield Denial(directive.agent, place, written[:200], directive.value)


def directives(written: str, agent: str = "", prefixed: bool = False) -> list[Directive]:
    """Directives in order. `prefixed`: a name with a colon is a crawler, and what follows is for that one."""
    found: list[Directive] = []
    for part in written.split(",")[:MAX_DIRECTIVES]:
        name, colon, rest = part.partition(":")
        name = name.strip().lower()
        if prefixed and colon and name not in KNOWN and _AGENT.fullmatch(name):
            agent, part = ("" if name in {"*", EVERYBODY} else name), rest
            name, colon, rest = rest.partition(":")
            name = name.strip().lower()
        if colon and name in VALUED:
            found.append(Directive(agent, name, rest.strip()))
        elif found and found[-1].name == "unavailable_after" and not KNOWN & set(_WORDS.split(name)):
            found[-1] = found[-1]._replace(value=f"{found[-1].value},{part}".strip())  # the comma was in the date
        else:
            found.extend(Directive(agent, word, "") for word in _WORDS.split(part.strip().lower()) if word)
    return found
