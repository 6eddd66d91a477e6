"""Robots directives, canonicals and dates of a page, from elements and headers.

Sources: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag (of several directives the most
restrictive wins: `index` does not undo `noindex`),
https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls, RFC 6596
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from sitemapcrawler import urls
from sitemapcrawler.reader.dates import parse
from sitemapcrawler.robots.agents import AGENTS
from sitemapcrawler.urls.display import masked_url

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


MAX_HEADER_LINKS = 500  # of one answer; some name a hundred styles and scripts to load early
# Possessive, and no "<" inside a target, so that no header makes it slow.
_HEADER_LINK = re.compile(r'<([^<>]*+)>((?:[^",<]++|"(?:[^"\\]++|\\.)*+")*+)', re.DOTALL)
_PARAMETER = re.compile(r';\s*+([^\s=;,"]++)\s*+(?:=\s*+("(?:[^"\\]++|\\.)*+"|[^;,"\s]*+))?+', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """One link of a header."""

    target: str
    """The reference as written."""
    rel: tuple[str, ...]
    """Relation types, lower case."""
    parameters: dict[str, str]
    """By name in lower case; of two with one name the first counts."""


def header_links(headers: Iterable[str]) -> Iterator[HeaderLink]:
    """The links of Link headers, in order; what is none is passed over."""
    count = 0
    for header in headers:
        for found in _HEADER_LINK.finditer(header):
            count += 1
            if count > MAX_HEADER_LINKS:
                return
            parameters = _parameters(found[2])
            yield HeaderLink(found[1].strip(), tuple(parameters.get("rel", "").lower().split()), parameters)


def _parameters(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _PARAMETER.findall(text):
        plain = _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
        found.setdefault(name.lower(), plain)
    return found


OTHER_MEANING = ("hreflang", "lang", "media", "type")
"""Attributes and parameters with which a canonical stands for another language or device, and is none to Google."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """One canonical that a page names."""

    href: str
    """As written, passwords as `***`."""
    url: str | None
    """Absolute; None where it is no web URL."""
    place: Place
    """In the body it does not count."""


def element_canonical(attributes: Mapping[str, str], base: str, place: Place) -> Canonical | None:
    """The canonical that a `<link>` element names; None for another link, or one without a reference."""
    href = attributes.get("href", "").strip()
    if not href or "canonical" not in attributes.get("rel", "").lower().split():
        return None
    return None if any(name in attributes for name in OTHER_MEANING) else _canonical(href, base, place)


def header_canonicals(values: Iterable[str], url: str) -> Iterator[Canonical]:
    """The canonicals that Link headers of the page at `url` name."""
    for link in header_links(values):
        if "canonical" not in link.rel or any(name in link.parameters for name in OTHER_MEANING):
            continue
        anchor = link.parameters.get("anchor")
        about = urls.resolve(url, anchor) if anchor else url
        if link.target and about is not None and urls.visit_key(about) == urls.visit_key(url):
            yield _canonical(link.target, url, Place.HEADER)


def _canonical(href: str, base: str, place: Place) -> Canonical:
    return Canonical(masked_url(href), urls.resolve(base, href), place)


PUBLISHED, MODIFIED = "published", "modified"
META_DATES = {
    "article:published_time": PUBLISHED,  # https://ogp.me/#type_article
    "article:modified_time": MODIFIED,
    "og:updated_time": MODIFIED,  # older Open Graph, still written by plugins
    "datepublished": PUBLISHED,  # https://schema.org/datePublished as itemprop
    "datemodified": MODIFIED,
    "dcterms.created": PUBLISHED,  # https://www.dublincore.org/specifications/dublin-core/dcmi-terms/
    "dcterms.modified": MODIFIED,
    "last-modified": MODIFIED,
}
"""Name, property or itemprop of a `<meta>`, lower case -> what its content is the date of."""
PAGE_TYPES = ("Article", "Page", "Posting", "Report", "Recipe", "Guide")
"""How the types of schema.org end that stand for a page; a comment's or a product review's date is not the page's."""
MAX_JSON = 128 * 2**10  # characters of one JSON-LD script; Yoast's have 5,000
MAX_NODES = 500  # nodes of one graph that are looked at


@dataclass(frozen=True, slots=True)
class PageDate:
    """One date of a page."""

    kind: str
    """published or modified."""
    written: str
    """As written."""
    source: str
    """Name of the `<meta>`, or `json-ld`."""

    @property
    def moment(self) -> datetime | None:
        """In UTC; None where it is no date."""
        return parse(self.written)


def meta_dates(attributes: dict[str, str]) -> Iterator[PageDate]:
    """The date in a `<meta>`, if it has one."""
    for name in ("property", "name", "itemprop"):
        kind = META_DATES.get(attributes.get(name, "").strip().lower())
        written = attributes.get("content", "").strip()
        if kind is not None and written:
            yield PageDate(kind, written[:100], attributes[name].strip().lower())
            return


def json_ld_dates(script: str) -> Iterator[PageDate]:
    """The dates of the page itself in a JSON-LD script: of its top nodes, or those of its graph."""
    for node in _nodes(script):
        if not _is_page_type(node.get("@type")):
            continue
        for key, kind in (("datePublished", PUBLISHED), ("dateModified", MODIFIED)):
            written = node.get(key)
            if isinstance(written, str) and written.strip():
                yield PageDate(kind, written.strip()[:100], "json-ld")


def _nodes(script: str) -> list[dict[str, Any]]:
    if len(script) > MAX_JSON or '"date' not in script:
        return []
    try:
        read = msgspec.json.decode(script)
    except (msgspec.DecodeError, UnicodeError, RecursionError):  # the last: brackets without end
        return []
    graph = read.get("@graph", read) if isinstance(read, dict) else read
    nodes = graph if isinstance(graph, list) else [graph]
    return [node for node in nodes[:MAX_NODES] if isinstance(node, dict)]


def _is_page_type(types: Any) -> bool:
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and name.endswith(PAGE_TYPES) for name in names)
