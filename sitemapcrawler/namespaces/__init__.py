"""The sitemap's own extensions, one module each: a URI, a dataclass and a `read` function.

To add one: write its module, give `UrlRecord` a field, and name both in `NAMESPACES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sitemapcrawler.element import Element
from sitemapcrawler.namespaces import hreflang, image, news, video


@dataclass(frozen=True, slots=True)
class Namespace:
    """How the elements of one namespace become part of a url record."""

    uri: str
    field: str
    read: Callable[[Element], Any]


NAMESPACES = {
    namespace.uri: namespace
    for namespace in (
        Namespace(image.URI, "images", image.read),
        Namespace(video.URI, "videos", video.read),
        Namespace(news.URI, "news", news.read),
        Namespace(hreflang.URI, "alternates", hreflang.read),
    )
}
