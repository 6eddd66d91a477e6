"""Google's image namespace. Source: https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sitemapcrawler.namespaces.element import Element, Fields, fill, text

URI = "http://www.google.com/schemas/sitemap-image/1.1"


@dataclass(slots=True)
class Image:
    """One `<image:image>`; every value as written, white space stripped."""

    loc: str | None = None
    """URL of the image."""
    caption: str | None = None
    """Caption (retired 2022-08-06)."""
    geo_location: str | None = None
    """Place (retired 2022-08-06)."""
    title: str | None = None
    """Title (retired 2022-08-06)."""
    license: str | None = None
    """URL of the licence (retired 2022-08-06)."""
    extra: list[dict[str, Any]] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


FIELDS: Fields = dict.fromkeys(("loc", "caption", "geo_location", "title", "license"), text)


def read(element: Element) -> Image | None:
    """The image an `<image:image>` states; None for another element of the namespace."""
    if element.name != "image":
        return None
    image = Image()
    fill(image, element, FIELDS)
    return image
