"""The bytes of a robots.txt as numbered lines, and what kind of content they are."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum

MAX_BYTES = 500 * 2**10
"""What is parsed of a file. RFC 9309, 2.5 asks for at least 500 KiB; Google and Yandex read no more."""
MAX_SITEMAP_BYTES = 4 * MAX_BYTES
"""What is searched for Sitemap lines: a line that stands too far down is still true."""
BOM = "\ufeff"
"""The byte order mark as a character. At the start of a file it says nothing, further down it is part of the text."""
BLANKS = " \t\v\f\0\xa0"
"""What is no part of a field or a value at either end of it."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8[:2], "utf-8"),
    (codecs.BOM_UTF8[:1], "utf-8"),
)
"""Byte order marks, and halves of one: google/robotstxt skips those too."""
_SAMPLE = 1024  # bytes or characters that tell the kind of a file
TAG = re.compile(r"<(?:!--[^<>]*--|!doctype\b[^<>]*|\?[^<>]*|/?[a-z][a-z0-9]*(?:\s[^<>]*)?/?)>", re.IGNORECASE)
"""A tag, comment or declaration of HTML that ends on its line."""
MARKUP_START = re.compile(r"^[ \t]*<(?:!doctype|!--|\?|/?[a-z][a-z0-9]*[\s/>])", re.IGNORECASE | re.MULTILINE)
"""How a line of markup begins."""
_DOCUMENT = re.compile(
    r"^[ \t]*(?:<!--[^<>]*-->[ \t]*)*+<(?:!doctype|\?xml|/?(?:html|head|body|title|meta|link|script|style|pre)[\s/>])",
    re.IGNORECASE | re.MULTILINE,
)
"""Markup of a whole document, unlike a comment of a cache or a notice of PHP between the lines of a robots.txt."""
_CODE = re.compile(r"<(script|style|template|textarea)[\s>].*?(?:</\1[\s>]|\Z)", re.IGNORECASE | re.DOTALL)
"""What is no text of a page: `sitemap: "/x"` in a script names none."""
_AGENT = r"user[- ]agent[ \t]*+:[ \t]*+(?:\*[ \t]*+|[a-z][\w./ \t-]*+)(?:#|$)"
_AGENT_LINE = re.compile(rf"^[ \t]*{_AGENT}", re.IGNORECASE | re.MULTILINE)
"""The line that no page has by accident; Disallow and Sitemap may be words of a page."""
_FIELD = re.compile(
    rf"{_AGENT}|(?:dis)?allow[ \t]*:[ \t]*(?:[/*#]|$)|crawl-delay[ \t]*:[ \t]*\d|site-?map[ \t]*:[ \t]*https?://",
    re.IGNORECASE,
)
"""A line of robots.txt."""
_JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[\]{\"])")
_UNDECODED = re.compile("[\udc80-\udcff]")
_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f]")


class Content(StrEnum):
    """What a robots.txt holds."""

    TEXT = "text"
    EMPTY = "empty"
    MARKUP = "markup"
    """HTML or XML: an error page, a page for every path, or a robots.txt that something wrapped into a page. Not a
    robots.txt with single lines of markup."""
    JSON = "json"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be told of a robots.txt before its lines are read."""

    size: int = 0
    """Bytes, those beyond the limits included."""
    content: Content = Content.EMPTY
    encoding: str = "utf-8"
    """utf-8, utf-16-le or utf-16-be."""
    bom: bool = False
    """True where a byte order mark came first."""
    not_utf8: int | None = None
    """Number of the first line with bytes that are no UTF-8."""
    parsed: int = 0
    """Lines that are whole within the first `MAX_BYTES`, and are parsed."""
    wrapped: bool = False
    """True for markup with a User-agent line in it: a robots.txt that a prerenderer or an editor made a page of."""

    @property
    def too_large(self) -> bool:
        """True where the file is larger than what is parsed of it, `MAX_BYTES`."""
        return self.size > MAX_BYTES

    @property
    def cut_at(self) -> int | None:
        """The first line that is not parsed; None where all are."""
        return self.parsed + 1 if self.too_large else None


def decode(body: bytes, size: int | None = None) -> tuple[list[str], Facts]:
    """Lines and facts of a robots.txt of any content; `size` in bytes where `body` is only the beginning.

    The lines are those of the first `MAX_SITEMAP_BYTES`, without their ends (LF, CR or CRLF); a last one that the limit
    cut in two is left out. Bytes that were no UTF-8 are lone surrogates.
    """
    encoding, bom = encoding_of(body)
    size = max(len(body), size or 0)
    lines, text = _lines(body[bom:MAX_SITEMAP_BYTES], encoding, size > min(len(body), MAX_SITEMAP_BYTES))
    parsed = len(_lines(body[bom:MAX_BYTES], encoding, True)[0]) if size > MAX_BYTES else len(lines)
    bad = next((number for number, line in enumerate(lines, 1) if not line.isascii() and _UNDECODED.search(line)), None)
    content = _content(text)
    wrapped = content is Content.MARKUP and _AGENT_LINE.search(TAG.sub("\n", _CODE.sub("", text))) is not None
    return lines, Facts(size, content, encoding, bom > 0, bad, parsed, wrapped)


def without_code(lines: list[str]) -> list[str]:
    """The lines of a page, without the code of its scripts and styles."""
    return _CODE.sub(lambda code: "\n" * code[0].count("\n"), "\n".join(lines)).split("\n")


def escaped(text: str) -> str:
    """Bytes that were no UTF-8 as %XX, which is what they would be in a request."""
    return _UNDECODED.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text)


def _lines(data: bytes, encoding: str, cut: bool) -> tuple[list[str], str]:
    text = data.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if cut or not lines[-1]:
        lines.pop()
    return lines, text


def encoding_of(body: bytes) -> tuple[str, int]:
    """Encoding, and length of the byte order mark. UTF-16 without one shows in the zeros of its ASCII characters."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return encoding, len(mark)
    sample = body[:256]
    zeros_even, zeros_odd, many = sample[::2].count(0), sample[1::2].count(0), len(sample) // 4
    if zeros_odd > many and not zeros_even:
        return "utf-16-le", 0
    return ("utf-16-be" if zeros_even > many and not zeros_odd else "utf-8"), 0


def _content(text: str) -> Content:
    sample = text[:_SAMPLE]
    if not sample.strip(BLANKS + BOM + "\r\n"):
        return Content.BINARY if "\0" in sample else Content.EMPTY
    if len(_CONTROL.findall(sample)) > len(sample) // 20:
        return Content.BINARY
    if MARKUP_START.search(sample):
        return Content.MARKUP if _is_page(text, sample) else Content.TEXT
    return Content.JSON if _JSON.match(sample) else Content.TEXT


def _is_page(text: str, sample: str) -> bool:
    """True where a text with markup is a page; False where it is a robots.txt in which markup came by accident."""
    stripped = (line.strip(BLANKS + BOM) for line in sample.splitlines())
    first = next((line for line in stripped if line and not line.startswith("#")), "")
    if _FIELD.match(first):
        return False
    return _DOCUMENT.search(sample) is not None or not any(_FIELD.match(line.strip()) for line in text.splitlines())
