"""Canonicals: of `<link>` elements and of Link headers.

Source: https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls, RFC 6596
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sitemapcrawler import urls
from sitemapcrawler.replies.page.directives import Place
from sitemapcrawler.urls.display import masked_url

MAX_LINKS = 500  # of one answer; some name a hundred styles and scripts to load early
# Possessive, and no "<" inside a target, so that no header makes it slow.
_LINK = re.compile(r'<([^<>]*+)>((?:[^",<]++|"(?:[^"\\]++|\\.)*+")*+)', re.DOTALL)
_PARAMETER = re.compile(r';\s*+([^\s=;,"]++)\s*+(?:=\s*+("(?:[^"\\]++|\\.)*+"|[^;,"\s]*+))?+', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a header."""

    target: str
    """The reference as written."""
    rel: tuple[str, ...]
    """Relation types, lower case."""
    parameters: dict[str, str]
    """By name in lower case; of two with one name the first counts."""


def links(headers: Iterable[str]) -> Iterator[Link]:
    """The links of Link headers, in order; what is none is passed over."""
    count = 0
    for header in headers:
        for found in _LINK.finditer(header):
            count += 1
            if count > MAX_LINKS:
                return
            parameters = _parameters(found[2])
            yield Link(found[1].strip(), tuple(parameters.get("rel", "").lower().split()), parameters)


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


def of_element(attributes: Mapping[str, str], base: str, place: Place) -> Canonical | None:
    """The canonical that a `<link>` element names; None for another link, or one without a reference."""
    href = attributes.get("href", "").strip()
    if not href or "canonical" not in attributes.get("rel", "").lower().split():
        return None
    return None if any(name in attributes for name in OTHER_MEANING) else _canonical(href, base, place)


def of_headers(values: Iterable[str], url: str) -> Iterator[Canonical]:
    """The canonicals that Link headers of the page at `url` name."""
    for link in links(values):
        if "canonical" not in link.rel or any(name in link.parameters for name in OTHER_MEANING):
            continue
        anchor = link.parameters.get("anchor")
        about = urls.resolve(url, anchor) if anchor else url
        if link.target and about is not None and urls.visit_key(about) == urls.visit_key(url):
            yield _canonical(link.target, url, Place.HEADER)


def _canonical(href: str, base: str, place: Place) -> Canonical:
    return Canonical(masked_url(href), urls.resolve(base, href), place)
