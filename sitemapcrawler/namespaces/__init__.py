"""Sitemap extensions (image, video, news, hreflang), one module each, and the XML element they are read from.

May import `urls`. Start reading in `element.py`, then `news.py`, the shortest complete extension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sitemapcrawler.namespaces import hreflang, image, news, video
from sitemapcrawler.namespaces.element import Element

MOBILE = "http://www.google.com/schemas/sitemap-mobile/1.0"
PAGEMAP = "http://www.google.com/schemas/sitemap-pagemap/1.0"
RECOGNISED = frozenset((MOBILE, PAGEMAP))
"""Namespaces whose elements are kept in `extra` as they stand, and that are no fault."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """How the elements of one namespace become part of a url record."""

    uri: str
    prefix: str
    """Its usual prefix."""
    field: str
    read: Callable[[Element], Any]


NAMESPACES = {
    namespace.uri: namespace
    for namespace in (
        Namespace(image.URI, "image", "images", image.read),
        Namespace(video.URI, "video", "videos", video.read),
        Namespace(news.URI, "news", "news", news.read),
        Namespace(hreflang.URI, "xhtml", "alternates", hreflang.read),
    )
}
PREFIXES = {
    **{namespace.prefix: namespace.uri for namespace in NAMESPACES.values()},
    "mobile": MOBILE,
    "PageMap": PAGEMAP,
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "media": "http://search.yahoo.com/mrss/",
    "atom": "http://www.w3.org/2005/Atom",
    "dc": "http://purl.org/dc/elements/1.1/",
    "content": "http://purl.org/rss/1.0/modules/content/",
}
"""What a prefix means in sitemaps and feeds where its declaration is missing."""
WORDS = {"sitemap-image": image.URI, "sitemap-video": video.URI, "sitemap-news": news.URI, "xhtml": hreflang.URI}
"""What tells a namespace apart where its URI is written wrong: another scheme, host, version or a slash too many."""

PARTS = {"image": image.FIELDS, "video": video.FIELDS, "news": news.FIELDS}
"""Element of an extension -> its parts."""


@lru_cache(maxsize=256)
def find(uri: str) -> Namespace | None:
    """The namespace that a URI means, also where it is not written exactly."""
    exact = NAMESPACES.get(uri)
    if exact is not None:
        return exact
    plain = uri.strip().lower()
    return next((NAMESPACES[meant] for word, meant in WORDS.items() if word in plain), None)


def resembled(element: Element) -> Namespace | None:
    """The extension that an element must mean by its name and content although its namespace is another one."""
    if element.name == "link":
        return NAMESPACES[hreflang.URI] if "hreflang" in element.attributes else None
    parts = PARTS.get(element.name)
    if parts is None or not any(child.name in parts for child in element.children):
        return None
    return NAMESPACES[PREFIXES[element.name]]
