"""Sitemap namespaces: the protocol's own, extensions (image, video, news, hreflang), and the elements they come from.

May import `urls`. Start reading in `extensions.py`.
"""

from __future__ import annotations

from functools import lru_cache

from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import HREFLANG, NAMESPACES, Namespace
from sitemapcrawler.namespaces.media import MEDIA

__all__ = ["CORE", "MOBILE", "NAMESPACES", "PAGEMAP", "PREFIXES", "RECOGNISED", "Namespace", "find", "resembled"]

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
"""Namespace of the protocol. Source: https://www.sitemaps.org/protocol.html"""
MOBILE = "http://www.google.com/schemas/sitemap-mobile/1.0"
PAGEMAP = "http://www.google.com/schemas/sitemap-pagemap/1.0"
RECOGNISED = frozenset((MOBILE, PAGEMAP))
"""Allowed namespaces whose elements are kept in `extra`."""
PREFIXES = {
    **{namespace.prefix: namespace.uri for namespace in NAMESPACES.values()},
    "mobile": MOBILE,
    "PageMap": PAGEMAP,
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "media": MEDIA,
    "atom": "http://www.w3.org/2005/Atom",
    "dc": "http://purl.org/dc/elements/1.1/",
    "content": "http://purl.org/rss/1.0/modules/content/",
}
"""Prefix -> namespace in sitemaps and feeds that do not declare it."""


@lru_cache(maxsize=256)
def find(uri: str) -> Namespace | None:
    """Return the extension that a URI means, even if it is misspelt."""
    exact = NAMESPACES.get(uri)
    if exact is not None:
        return exact
    plain = uri.strip().lower()
    return next((namespace for namespace in NAMESPACES.values() if namespace.word in plain), None)


def resembled(element: Element) -> Namespace | None:
    """Return the extension that an element means by its name and content, although its namespace is another one."""
    if element.name == "link":
        return NAMESPACES[HREFLANG] if "hreflang" in element.attributes else None
    namespace = NAMESPACES.get(PREFIXES.get(element.name, ""))
    if namespace is None or not any(child.name in namespace.fields for child in element.children):
        return None
    return namespace
