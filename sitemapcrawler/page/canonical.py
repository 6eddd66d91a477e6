"""Canonicals: of `<link>` elements and of Link headers.

Source: https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls, RFC 6596
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sitemapcrawler import urls
from sitemapcrawler.page.directives import Place
from sitemapcrawler.page.links import links
from sitemapcrawler.userinfo import masked_url

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
