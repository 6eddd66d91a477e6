"""Media type of a response by its Content-Type header, as browsers read it.

Sources: https://fetch.spec.whatwg.org/#content-type-header, https://mimesniff.spec.whatwg.org/#parsing-a-mime-type
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from w3lib.encoding import http_content_type_encoding

HTML_TYPES = ("text/html", "application/xhtml+xml")
MEDIA = ("audio/", "font/", "image/", "video/")
"""Start of the types of media. Source: https://www.iana.org/assignments/media-types/"""
DATA = ("css", "javascript", "json", "xml")
"""End of the types of data, feeds, scripts and style sheets. Source: https://mimesniff.spec.whatwg.org/#mime-type-groups"""
MEANINGLESS = frozenset(("*/*", "unknown/unknown", "application/unknown"))
"""Types that stand for no type. Source: https://mimesniff.spec.whatwg.org/#determining-the-computed-mime-type-of-a-resource"""

_BLANK = r"[ \t\r\n]*+"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"  # RFC 9110, 5.6.2
_TYPE = re.compile(rf"{_BLANK}({_TOKEN}/{_TOKEN}){_BLANK}(?:;|\Z)")
_VALUE = re.compile(r'(?:[^",]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))++', re.DOTALL)
"""One of several values joined by commas; a comma within quotes does not count."""


class MediaType(NamedTuple):
    """A type such as `text/html; charset=utf-8`."""

    essence: str
    """Type and subtype in lower case: `text/html`."""
    charset: str | None = None
    """Python's name of the declared encoding; None without one, or for an unknown one."""

    @property
    def is_html(self) -> bool:
        return self.essence in HTML_TYPES

    @property
    def is_page(self) -> bool:
        """False for media, feeds and data; True for HTML, and documents such as PDFs."""
        return self.is_html or not (self.essence.startswith(MEDIA) or self.essence.endswith(DATA))


def media_type(content_type: str | None) -> MediaType | None:
    """Parse a Content-Type header, several values joined by commas included: the last valid one counts.

    None if the header is missing, malformed or meaningless, so that the content decides.
    """
    found = None
    for value in _VALUE.findall(content_type or ""):
        match = _TYPE.match(value)
        essence = match[1].lower() if match else ""
        if not essence or essence in MEANINGLESS:
            continue
        inherited = found.charset if found is not None and found.essence == essence else None
        found = MediaType(essence, http_content_type_encoding(value) or inherited)
    return found


def charset_of(content_type: str | None) -> str | None:
    """Python's name of the encoding that a Content-Type header declares; None without one."""
    found = media_type(content_type)
    return found and found.charset


def is_malformed(content_type: str | None) -> bool:
    """True for a header that is not exactly one media type. Source: RFC 9110, 8.3"""
    if not content_type:
        return False
    return len(_VALUE.findall(content_type)) != 1 or media_type(content_type) is None


def joined(values: Sequence[str]) -> str | None:
    """Combine the values of several headers of one name into one; None without any. Source: RFC 9110, 5.3"""
    return ", ".join(values) if values else None


def is_page(content_type: str | None) -> bool:
    """False if a body with this Content-Type is no page that a sitemap should list, but an image, feed or the like."""
    known = media_type(content_type)
    return known is None or known.is_page


def is_html(content_type: str | None) -> bool:
    """True if a body with this Content-Type is read as HTML: if it is the type of a page, or none at all."""
    known = media_type(content_type)
    return known is None or known.is_html
