"""Sitemap namespaces: the protocol's own, extensions (image, video, news, hreflang), and the elements they come from.

May import `urls`. Start reading in `declared.py`, then `extensions.py`; `schemas/` checks the structure of entries.
Plug-ins add a namespace with `register`.
"""

from __future__ import annotations

from sitemapcrawler.namespaces.declared import NAMESPACES, Namespace, declared, find, plugged, register
from sitemapcrawler.namespaces.element import Element, attributed, either, nested, text
from sitemapcrawler.namespaces.extensions import HREFLANG, MEDIA

__all__ = [
    "CORE",
    "MOBILE",
    "OWN",
    "PAGEMAP",
    "TREES",
    "Element",
    "Namespace",
    "attributed",
    "declared",
    "either",
    "find",
    "nested",
    "plugged",
    "register",
    "resembled",
    "shown",
    "text",
    "uri_of",
]

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
"""Namespace of the protocol. Source: https://www.sitemaps.org/protocol.html"""
OWN = tuple(NAMESPACES.values())
"""The extensions of this project, for which url records have a field each."""
MOBILE = "http://www.google.com/schemas/sitemap-mobile/1.0"
PAGEMAP = "http://www.google.com/schemas/sitemap-pagemap/1.0"
TREES = {
    "mobile": MOBILE,
    "PageMap": PAGEMAP,
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "media": MEDIA,
    "atom": "http://www.w3.org/2005/Atom",
    "dc": "http://purl.org/dc/elements/1.1/",
    "content": "http://purl.org/rss/1.0/modules/content/",
}
"""Prefix -> namespace known from sitemaps and feeds whose elements, if kept at all, are kept as trees in `extra`."""


def uri_of(prefix: str) -> str | None:
    """Return the namespace that a prefix means in sitemaps and feeds that do not declare it; None if unknown."""
    return next((namespace.uri for namespace in declared() if namespace.prefix == prefix), TREES.get(prefix))


def resembled(element: Element) -> Namespace | None:
    """Return the extension that an element means by its name and content, although its namespace is another one."""
    if element.name == "link":
        return find(HREFLANG) if "hreflang" in element.attributes else None
    namespace = next((namespace for namespace in declared() if namespace.prefix == element.name), None)
    if namespace is None or not any(child.name in namespace.fields for child in element.children):
        return None
    return namespace


def shown(uri: str) -> str:
    """Return a namespace as messages name it: in quotes if it begins or ends with blanks, `none` if it is empty."""
    return (uri if uri == uri.strip() else repr(uri)) or "none"
