"""Reads the body of a page while it arrives: media types, content codings, character sets.

Sources: https://mimesniff.spec.whatwg.org/#parsing-a-mime-type,
https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, cast

from isal import isal_zlib
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from sitemapcrawler.reader.decode import ASCII, CHARACTER_SETS
from sitemapcrawler.replies.page.tree import BLANK, shortened

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


PRESCAN = 1024  # bytes searched for <meta charset>, by the standard and here
FALLBACK = "cp1252"
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks. The standard has no UTF-32."""
WIDE = ("utf-16", "utf-32")


def charset(start: bytes, declared_type: MediaType | None) -> tuple[str, int]:
    """Return Python's name of a page's encoding, and the length of its byte order mark.

    `start`: the first `PRESCAN` bytes or more, or the whole page.
    Without a declaration, valid UTF-8 is read as such, which the standard allows.
    """
    for mark, name in BOMS:
        if start.startswith(mark):
            return name, len(mark)
    said = _usable(declared_type.charset) if declared_type is not None else None
    if said is not None:
        return said, 0
    # w3lib searches further than the standard.
    declared = _usable(html_body_declared_encoding(start[:PRESCAN]))
    if declared is not None and declared.startswith(WIDE):
        declared = "utf-8"  # a declaration that is readable byte by byte cannot be UTF-16 or UTF-32
    return declared or ("utf-8" if _is_utf8(start) else FALLBACK), 0


@lru_cache(maxsize=256)
def _usable(name: str | None) -> str | None:
    """Return the name if it is UTF-16 or an ASCII-compatible character set. Python has other codecs too."""
    if name is None or not CHARACTER_SETS.match(name):
        return None
    if name.startswith(WIDE):
        return {"utf-16": "utf-16-le"}.get(name, name) if name.startswith("utf-16") else None
    try:
        return name if ASCII.decode(name) == ASCII.decode("ascii") else None
    except (LookupError, UnicodeError):
        return None


def _is_utf8(start: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < PRESCAN)
    except UnicodeDecodeError:
        return False
    return True


_GZIP = 16 + 15  # zlib's wbits
_DAMAGE = cast("type[Exception]", isal_zlib.error)


class Inflater:
    """Inflates one body. Damaged data, and codings other than gzip, give no bytes."""

    def __init__(self, content_encoding: str | None) -> None:
        names = [name.strip().lower() for name in (content_encoding or "").split(",")]
        codings = [name for name in names if name not in {"", "identity"}]
        self.readable = len(codings) < 2 and {"gzip", "x-gzip"}.issuperset(codings)
        """False if the coding is unknown, or the data is damaged."""
        self._is_packed = bool(codings)
        self._inflater: isal_zlib.Decompress | None = None

    @property
    def is_whole(self) -> bool:
        """False if the data is damaged, or ends before its end."""
        return self.readable and (self._inflater is None or self._inflater.eof)

    def feed(self, data: bytes, limit: int) -> bytes:
        """Return the plain bytes of the next chunk, at most `limit`; the rest of the chunk is lost."""
        if not self._is_packed:
            return data[:limit]
        if not self.readable or not data or limit < 1:  # zlib reads 0 as no limit
            return b""
        if self._inflater is None:
            self._inflater = isal_zlib.decompressobj(_GZIP)
        try:
            return self._inflater.decompress(data, limit)
        except _DAMAGE:
            self.readable = False
            return b""


PAGE_LIMIT = 2 * 2**20
"""Uncompressed bytes read of a page; most have less than a tenth. Nothing is reported as missing from a longer one."""
_LIKE_HTML = re.compile(
    rf"[{BLANK}]*+(?:<\?xml[^>]*+>[{BLANK}]*+)?+<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a"
    rf"|style|title|b|body|br|p)[{BLANK}>])",
    re.IGNORECASE,
)
"""Start of a page without a valid Content-Type, an XML declaration before it included.
Source: https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type"""


@dataclass(frozen=True, slots=True)
class Html:
    """Text of a page, by default of one that was not read."""

    text: str = ""
    encoding: str = FALLBACK
    """Python's name of the encoding used."""
    whole: bool = False
    """True if the page was read to its end."""
    is_html: bool = False
    """False if the page has no valid Content-Type and does not begin like HTML."""
    is_long: bool = False
    """True if it has `PAGE_LIMIT` or more, so that its end was not read."""


class PageReader:
    """Collects one page from its body, in chunks of any size. `content_type` and `content_encoding`: the headers."""

    def __init__(self, content_type: str | None = None, content_encoding: str | None = None) -> None:
        self._type = media_type(content_type)
        self._inflater = Inflater(content_encoding)
        self._body = bytearray()

    @property
    def enough(self) -> bool:
        """True if no more of the body is needed, so that the download can stop."""
        return len(self._body) >= PAGE_LIMIT or not self._inflater.readable

    def feed(self, data: bytes) -> bool:
        """Read a chunk of the body; return `enough`."""
        self._body += self._inflater.feed(data, PAGE_LIMIT - len(self._body))
        return self.enough

    def close(self, whole: bool = True) -> Html:
        """Return the page, and forget it. `whole`: False if the body was cut by something other than `enough`."""
        body, self._body = bytes(self._body), bytearray()
        encoding, mark = charset(body, self._type)
        text = body[mark:].decode(encoding, "replace")
        short = shortened(text)
        is_long = len(body) >= PAGE_LIMIT
        whole = whole and self._inflater.is_whole and not is_long and len(short) == len(text)
        return Html(short, encoding, whole, self._type is not None or _LIKE_HTML.match(text) is not None, is_long)
