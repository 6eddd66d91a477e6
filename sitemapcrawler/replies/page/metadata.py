"""Reads robots directives, canonicals and dates of a page from elements and headers.

Sources: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag (the most restrictive of several
directives wins: `index` does not undo `noindex`),
https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls, RFC 6596
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

import msgspec

from sitemapcrawler import urls
from sitemapcrawler.reader.dates import parse
from sitemapcrawler.robots.agents import AGENTS
from sitemapcrawler.urls.display import masked_url

EVERYBODY = "robots"
"""`<meta>` name that addresses all crawlers."""
META_AGENTS = frozenset(agent.name.lower() for agent in AGENTS) | frozenset(
    ("googlebot-news", "googlebot-image", "googlebot-video", "msnbot", "bingbot", "slurp", "teoma", "yandex",
     "baiduspider", "duckduckbot", "seznambot", "yeti", "naverbot", "applebot")
)  # fmt: skip
"""Crawlers recognised in `<meta name>`; any other name, such as `description`, is not a crawler's."""
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
    """Where a page makes a statement."""

    HEAD = "head"
    HEADER = "header"
    BODY = "body"
    """After the end of the head."""


class Directive(NamedTuple):
    """One robots directive."""

    agent: str
    """Crawler in lower case; empty for all."""
    name: str
    """Lower case."""
    value: str
    """Text after the colon; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A directive against indexing a page that is in effect."""

    agent: str
    """Crawler in lower case; empty for all."""
    place: Place
    written: str
    """Content of the element or header, at most 200 characters."""
    until: str | None = None
    """Past date of `unavailable_after` as written; None for `noindex` and `none`."""


def denials(written: str, place: Place, agent: str = "") -> Iterator[Denial]:
    """Yield what the content of a header, or of a `<meta>` for `agent`, forbids now."""
    for directive in directives(written[:MAX_VALUE], agent, prefixed=place is Place.HEADER):
        if directive.name in NOINDEX:
            yield Denial(directive.agent, place, written[:200])
        elif directive.name == "unavailable_after" and _is_past(directive.value):
            yield Denial(directive.agent, place, written[:200], directive.value)


def _is_past(date: str) -> bool:
    moment = parse(date)
    return moment is not None and moment < datetime.now(UTC)


def directives(written: str, agent: str = "", prefixed: bool = False) -> list[Directive]:
    """Parse directives in order. `prefixed`: a crawler's name and a colon may precede directives for that crawler."""
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
            found[-1] = found[-1]._replace(value=f"{found[-1].value},{part}".strip())  # a comma within the date
        else:
            found.extend(Directive(agent, word, "") for word in _WORDS.split(part.strip().lower()) if word)
    return found


MAX_HEADER_LINKS = 10_000
"""Links read of one response; some preload hundreds of styles and scripts before they name the canonical."""
# Possessive, and no "<" inside a target, so that matching stays fast for any header.
_HEADER_LINK = re.compile(r'<([^<>]*+)>((?:[^",<]++|"(?:[^"\\]++|\\.)*+")*+)', re.DOTALL)
_PARAMETER = re.compile(r';\s*+([^\s=;,"]++)\s*+(?:=\s*+("(?:[^"\\]++|\\.)*+"|[^;,"\s]*+))?+', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """One link of a Link header."""

    target: str
    """Reference as written."""
    rel: tuple[str, ...]
    """Relation types, lower case."""
    parameters: dict[str, str]
    """By name in lower case; the first of a repeated name counts."""


def header_links(headers: Iterable[str]) -> Iterator[HeaderLink]:
    """Yield the links of Link headers, in order; skip malformed ones."""
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
"""Attributes and parameters that tie a canonical to another language or device. Google then ignores it."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """A canonical that a page declares."""

    href: str
    """As written, with passwords masked."""
    url: str | None
    """Absolute; None if it is not a web URL."""
    place: Place
    """A canonical in the body does not count."""


def element_canonical(attributes: Mapping[str, str], base: str, place: Place) -> Canonical | None:
    """Return the canonical of a `<link>` element, or None for another link or one without a reference."""
    href = attributes.get("href", "").strip()
    if not href or "canonical" not in attributes.get("rel", "").lower().split():
        return None
    return None if any(name in attributes for name in OTHER_MEANING) else _canonical(href, base, place)


def header_canonicals(values: Iterable[str], url: str) -> Iterator[Canonical]:
    """Yield the canonicals in the Link headers of the page at `url`."""
    for link in header_links(values):
        if "canonical" not in link.rel or any(name in link.parameters for name in OTHER_MEANING):
            continue
        anchor = link.parameters.get("anchor")
        about = urls.resolve(url, anchor) if anchor else url
        if link.target and about is not None and urls.visit_key(about) == urls.visit_key(url):
            yield _canonical(link.target, url, Place.HEADER)


def header_alternates(values: Iterable[str], url: str) -> Iterator[tuple[str, str]]:
    """Yield code and absolute URL of each language version in the Link headers of the page at `url`."""
    for link in header_links(values):
        code = link.parameters.get("hreflang", "").strip()
        target = urls.resolve(url, link.target) if code and "alternate" in link.rel else None
        if target is not None:
            yield code, target


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
"""Lower-case name, property or itemprop of a `<meta>` -> what its date means."""
PAGE_TYPES = ("Article", "Page", "Posting", "Report", "Recipe", "Guide")
"""Suffixes of schema.org types that describe a page. The date of a comment or product review is not the page's."""
MAX_JSON = 128 * 2**10  # characters of one JSON-LD script; Yoast's have 5,000
MAX_NODES = 500  # nodes read of one graph


@dataclass(frozen=True, slots=True)
class PageDate:
    """A date that a page states."""

    kind: str
    """published or modified."""
    written: str
    source: str
    """Name of the `<meta>`, or `json-ld`."""

    @property
    def moment(self) -> datetime | None:
        """The date in UTC; None if it is invalid."""
        return parse(self.written)


def meta_dates(attributes: dict[str, str]) -> Iterator[PageDate]:
    """Yield the date of a `<meta>`, if it has one."""
    for name in ("property", "name", "itemprop"):
        kind = META_DATES.get(attributes.get(name, "").strip().lower())
        written = attributes.get("content", "").strip()
        if kind is not None and written:
            yield PageDate(kind, written[:100], attributes[name].strip().lower())
            return


def json_ld_dates(script: str) -> Iterator[PageDate]:
    """Yield the page's own dates from a JSON-LD script: from its top nodes or its graph."""
    for node in _nodes(script):
        if not _is_page_type(node.get("@type")):
            continue
        for key, kind in (("datePublished", PUBLISHED), ("dateModified", MODIFIED)):
            written = node.get(key)
            if isinstance(written, str) and written.strip():
                yield PageDate(kind, written.strip()[:100], "json-ld")


def _nodes(script: str) -> list[dict[str, object]]:
    if len(script) > MAX_JSON or '"date' not in script:
        return []
    try:
        read = msgspec.json.decode(script)
    except (msgspec.DecodeError, UnicodeError, RecursionError):  # RecursionError: deep nesting
        return []
    graph = read.get("@graph", read) if isinstance(read, dict) else read
    nodes = graph if isinstance(graph, list) else [graph]
    return [node for node in nodes[:MAX_NODES] if isinstance(node, dict)]


def _is_page_type(types: object) -> bool:
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and name.endswith(PAGE_TYPES) for name in names)
