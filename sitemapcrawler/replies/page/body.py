"""Reads the body of a page while it arrives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sitemapcrawler.replies.page.encoding import FALLBACK, Inflater, charset, media_type
from sitemapcrawler.replies.page.tree import BLANK, shortened

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
