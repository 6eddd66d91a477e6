"""Decoding of robots.txt to numbered lines, detection of its kind of content, and its Sitemap lines.

Sitemap lines belong to no group, so their position does not matter (RFC 9309, 2.2.4;
sitemaps.org/protocol.html#submit_robots).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from sitemapcrawler import urls
from sitemapcrawler.urls.display import masked, removed

MAX_BYTES = 500 * 2**10
"""Bytes of a file to parse. RFC 9309, 2.5 requires at least 500 KiB; Google and Yandex read no more."""
MAX_SITEMAP_BYTES = 4 * MAX_BYTES
"""Bytes to search for Sitemap lines, which are valid even beyond the limit for rules."""
MAX_LINE = 2083 * 8 - 1
"""Characters of a line to read, as in google/robotstxt; RFC 9309 sets no limit. A longer line is cut, not ignored."""
BOM = "\ufeff"
"""The byte order mark as a character. Has no meaning at the start of a file; elsewhere it is part of the text."""
BLANKS = " \t\v\f\0\xa0"
"""Stripped from both ends of a field or value."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8[:2], "utf-8"),
    (codecs.BOM_UTF8[:1], "utf-8"),
)
"""Byte order marks and partial ones, which google/robotstxt skips too."""
_SAMPLE = 1024  # bytes or characters that decide the kind of a file
TAG = re.compile(r"<(?:!--[^<>]*--|!doctype\b[^<>]*|\?[^<>]*|/?[a-z][a-z0-9]*(?:\s[^<>]*)?/?)>", re.IGNORECASE)
"""An HTML tag, comment or declaration on one line."""
MARKUP_START = re.compile(r"^[ \t]*<(?:!doctype|!--|\?|/?[a-z][a-z0-9]*[\s/>])", re.IGNORECASE | re.MULTILINE)
"""Start of a line of markup."""
_DOCUMENT = re.compile(
    r"^[ \t]*(?:<!--[^<>]*-->[ \t]*)*+<(?:!doctype|\?xml|/?(?:html|head|body|title|meta|link|script|style|pre)[\s/>])",
    re.IGNORECASE | re.MULTILINE,
)
"""Markup of a whole document, as opposed to a cache's comment or a PHP notice between the lines of a robots.txt."""
_FIELD = re.compile(
    r"user[- ]agent[ \t]*+:[ \t]*+(?:\*[ \t]*+|[a-z][\w./ \t-]*+)(?:#|$)"
    r"|(?:dis)?allow[ \t]*:[ \t]*(?:[/*#]|$)|crawl-delay[ \t]*:[ \t]*\d|site-?map[ \t]*:[ \t]*https?://",
    re.IGNORECASE,
)
_JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[\]{\"])")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f]")


class Content(StrEnum):
    """Kind of content of a robots.txt."""

    TEXT = "text"
    EMPTY = "empty"
    MARKUP = "markup"
    """HTML or XML: an error page, a page served for every path, or a robots.txt that a prerenderer turned into a page.
    Single lines of markup in a robots.txt do not count."""
    JSON = "json"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a robots.txt before parsing."""

    size: int = 0
    """Bytes of the whole file, even beyond the limits."""
    content: Content = Content.EMPTY
    encoding: str = "utf-8"
    """utf-8, utf-16-le or utf-16-be."""
    bom: bool = False
    """True if the file starts with a byte order mark."""
    not_utf8: int | None = None
    """The first line with bytes that are not UTF-8."""
    garbled: frozenset[int] = frozenset()
    """Lines with such bytes outside of comments."""
    parsed: int = 0
    """Number of lines to parse: those complete within the first `MAX_BYTES`."""

    @property
    def too_large(self) -> bool:
        """True if the file is larger than `MAX_BYTES`, so that only a part is parsed."""
        return self.size > MAX_BYTES

    @property
    def cut_at(self) -> int | None:
        """The first line that is not parsed; None if all are."""
        return self.parsed + 1 if self.too_large else None


def decode(body: bytes, size: int | None = None) -> tuple[list[str], Facts]:
    """Decode a robots.txt of any content. `size`: bytes of the whole file if `body` is only the start.

    Returns the lines within the first `MAX_SITEMAP_BYTES`, without line ends (LF, CR or CRLF) and without a last line
    that the limit cuts. Bytes that are not UTF-8 become %XX, as in a request.
    """
    encoding, bom = encoding_of(body)
    size = max(len(body), size or 0)
    lines, text = _lines(body[bom:MAX_SITEMAP_BYTES], encoding, size > min(len(body), MAX_SITEMAP_BYTES))
    parsed = len(_lines(body[bom:MAX_BYTES], encoding, True)[0]) if size > MAX_BYTES else len(lines)
    bad = dict(_lines_not_utf8(body[bom:MAX_SITEMAP_BYTES])) if encoding == "utf-8" else {}
    content = _content(text)
    first = next((line for line in bad if line <= len(lines)), None)
    garbled = frozenset(line for line, is_garbled in bad.items() if is_garbled)
    return lines, Facts(size, content, encoding, bom > 0, first, garbled, parsed)


def _percent(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"%{octet:02X}" for octet in error.object[error.start : error.end]), error.end


PERCENT = "sitemapcrawler-percent"
"""Error handler for UTF-8 decoding that replaces other bytes by %XX."""
codecs.register_error(PERCENT, _percent)


def _lines_not_utf8(data: bytes) -> Iterator[tuple[int, bool]]:
    """Yield the lines with bytes that are not UTF-8, each with whether such bytes occur outside of a comment."""
    try:
        data.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(_LINE_END.split(data), 1):
            if not _is_utf8(line):
                yield number, not _is_utf8(line.partition(b"#")[0])


def _is_utf8(line: bytes) -> bool:
    try:
        return line.isascii() or bool(line.decode())
    except UnicodeDecodeError:
        return False


def text_of(data: bytes, encoding: str) -> str:
    """Decode text in the encoding from `encoding_of`. Bytes that are not UTF-8 become %XX."""
    return data.decode(encoding, PERCENT if encoding == "utf-8" else "replace")


def _lines(data: bytes, encoding: str, cut: bool) -> tuple[list[str], str]:
    text = text_of(data, encoding)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if cut or not lines[-1]:
        lines.pop()
    return lines, text


def encoding_of(body: bytes) -> tuple[str, int]:
    """Return the encoding and the length of the byte order mark. Detects UTF-16 without a mark by its zero bytes."""
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
    """True if a text with markup is a page, False if it is a robots.txt with stray markup."""
    stripped = (line.strip(BLANKS + BOM) for line in sample.splitlines())
    first = next((line for line in stripped if line and not line.startswith("#")), "")
    if _FIELD.match(first):
        return False
    return _DOCUMENT.search(sample) is not None or not any(_FIELD.match(line.strip()) for line in text.splitlines())


MAX_SITEMAPS = 50_000  # limit of an index, sitemaps.org/protocol.html#index

SITEMAP_FIELDS = {
    "sitemap": "the name itself (sitemaps.org/protocol.html#submit_robots); Google takes whatever begins so: sitemaps",
    "site-map": "google/robotstxt, KeyIsSitemap",
    "site map": "as google/robotstxt reads `user agent`",
    "site_map": "the same with the other joint",
}
"""{start of a field name that is read as `Sitemap`: reason}."""
_SITEMAP_FIELD = re.compile(rf"(?:{'|'.join(SITEMAP_FIELDS)})[^\s:]{{0,20}}", re.IGNORECASE)
_NEXT_URL = re.compile(r"[\s,](?=https?://)", re.IGNORECASE)
_WEB_START = re.compile(r"https?://", re.IGNORECASE)
_QUOTES = "\"'<>`\xab\xbb\u2018\u2019\u201c\u201d"  # word processors insert the typographic ones


@dataclass(frozen=True, slots=True)
class RobotsSitemap:
    """A sitemap that a robots.txt names or tries to name."""

    url: str
    """Absolute http or https URL without fragment; empty if the value is invalid."""
    line: int
    """Line of robots.txt, counted from 1."""
    raw: str
    """The line as written without surrounding spaces; bytes that are not UTF-8 as %XX, passwords as `***`."""
    typo: bool = False
    """True if the line is not `Sitemap: URL`: other field name, missing colon, markup before it, or a bare URL."""
    relative: bool = False
    """True if the URL was relative."""
    comment: bool = False
    """True if a comment follows on the line."""
    first: int | None = None
    """The earlier line that names the same sitemap; None for the first."""


def read_sitemaps(lines: Iterable[str], base: str) -> list[RobotsSitemap]:
    """Return the Sitemap lines of a robots.txt, including repeated and invalid ones. `base`: its final URL."""
    found: list[RobotsSitemap] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not 0 < len(line) <= MAX_LINE or len(found) >= MAX_SITEMAPS:
            continue
        text = line.strip(BLANKS + BOM)
        markup = "<" in text and TAG.search(text)
        for sitemap in _of_markup(number, text, base) if markup else _of_line(number, text, base):
            first = seen.setdefault(urls.visit_key(sitemap.url), number) if sitemap.url else number
            found.append(sitemap if first == number else replace(sitemap, first=first))
    return found


def _of_markup(number: int, line: str, base: str) -> Iterator[RobotsSitemap]:
    """Yield sitemaps from the text between tags. Ignores bare URLs, which may occur in any page."""
    commented = False
    for place, piece in enumerate(TAG.split(line)):
        text = piece.strip(BLANKS)
        if _SITEMAP_FIELD.match(text) and not commented:
            for sitemap in _of_line(number, text, base):
                yield replace(sitemap, raw=masked(line), typo=sitemap.typo or place > 0)
        commented |= "#" in piece


def _of_line(number: int, line: str, base: str) -> Iterator[RobotsSitemap]:
    content, mark, _ = line.partition("#")
    comment = bool(mark) and content[-1:].isspace()
    found = _value(content.strip(BLANKS))
    if found is None:
        return
    value, typo = found
    raw = masked(line)
    for written in _NEXT_URL.split(value):
        reference = written.strip(BLANKS + BOM + _QUOTES + ",")
        if reference:
            url = urls.resolve(base, removed(reference)) or ""
            yield RobotsSitemap(url, number, raw, typo, _WEB_START.match(reference) is None, comment)


def _value(content: str) -> tuple[str, bool] | None:
    """Return the text after `Sitemap:` and whether the field was misspelt; None for any other line."""
    field = _SITEMAP_FIELD.match(content)
    if field is None:
        return (content, True) if _is_bare(content.strip(_QUOTES)) else None
    after = content[field.end() :]
    rest = after.lstrip(BLANKS)
    if rest.startswith(":"):
        return rest[1:], field[0].lower() != "sitemap"
    # As in google/robotstxt, a space replaces a missing colon if one word follows.
    forgotten = rest != after and len(rest.split()) == 1 and re.match(r"/|https?://", rest, re.IGNORECASE)
    return (rest, True) if forgotten else None


def _is_bare(text: str) -> bool:
    if _WEB_START.match(text) is None or any(character.isspace() for character in text):
        return False
    name = text.partition("?")[0].rpartition("/")[2].lower()
    return name.endswith((".xml", ".xml.gz")) or "sitemap" in name
