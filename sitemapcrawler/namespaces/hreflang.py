"""xhtml:link: the language versions of a page."""

from __future__ import annotations

from dataclasses import dataclass, field

from sitemapcrawler.namespaces.element import Element

URI = "http://www.w3.org/1999/xhtml"


@dataclass(slots=True)
class Alternate:
    """One `<xhtml:link rel="alternate" hreflang="..." href="..."/>`."""

    hreflang: str | None = None
    """Language code as written."""
    href: str | None = None
    """URL of the language version as written, white space stripped."""
    rel: str | None = None
    """The `rel` attribute where it is not `alternate`; empty where it is missing."""
    attributes: dict[str, str] = field(default_factory=dict)
    """Other attributes, such as `type` or `media`."""


def read(link: Element) -> Alternate | None:
    """The alternate that a link states; None for a link that is no language version (canonical, mobile, AMP)."""
    attributes = dict(link.attributes)
    hreflang, href, rel = (attributes.pop(name, None) for name in ("hreflang", "href", "rel"))
    if link.name != "link" or (hreflang is None and ("media" in attributes or rel != "alternate")):
        return None
    return Alternate(hreflang, href and href.strip(), None if rel == "alternate" else rel or "", attributes)
