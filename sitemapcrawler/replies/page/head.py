"""HTML tokenizer, and the head of a page read while it arrives, not a byte more than needed.

Source: https://html.spec.whatwg.org/multipage/parsing.html#tokenization
Scripting counts as enabled, as in browsers and for Google: the content of `<noscript>` is text. So is that of
`<template>`, which belongs to no document. Not implemented is a `<script>` that opens inside a comment inside a script
(the "double escaped" states): the script then ends early.

Two things end a head. By the standard it ends before the first thing that is not allowed in it, such as an `<img>` or a
word of text, and Google reads metadata no further than that. Its author means `</head>` or `<body>`. Both are reported:
the tags after the first end are kept apart.
Sources: https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead,
https://developers.google.com/search/docs/crawling-indexing/valid-page-metadata
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html.entities import html5
from typing import Any, NamedTuple, cast

from isal import isal_zlib
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from sitemapcrawler.reader.decode import ASCII, CHARACTER_SETS

BLANK = " \t\n\f\r"
"""White space of HTML; letters that look blank, NBSP for instance, are text."""
RAW_TEXT = frozenset(
    ("script", "style", "title", "textarea", "noscript", "template", "iframe", "noframes", "noembed", "xmp")
)
"""Elements whose content is not markup."""

_BLANKS = re.compile(rf"[{BLANK}\0]*+")
# A quote counts behind "=" only, and then up to the next one, ">" or not. Possessive, so that no markup makes it slow.
_TAG = re.compile(
    rf"""[{BLANK}\0]*+<(/?+[a-zA-Z][^{BLANK}/>]*+)((?:[^>=]++|=[{BLANK}]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^{BLANK}>]*+))*+)>"""
)
_ATTRIBUTE = re.compile(rf"""([^{BLANK}/>=]++)(?:[{BLANK}]*+=[{BLANK}]*+("[^"]*+"|'[^']*+'|[^{BLANK}>]++))?+""")
_REFERENCE = re.compile(
    r"&(?:#[0-9]{1,7}+(?![0-9]);?|#[xX][0-9a-fA-F]{1,6}+(?![0-9a-fA-F]);?|([a-zA-Z][a-zA-Z0-9]{1,31}(?:;|(?![a-zA-Z0-9=;]))))"
)
_COMMENT_END = re.compile(r"--!?>")
_DECLARATION_END = re.compile(">")
_EMPTY_COMMENT = re.compile(r"<!---?>")
_UNDECIDED = re.compile(r"<(?:!-?|/?(?:[a-zA-Z].*+)?)?\Z", re.DOTALL)
"""The end of a text that may become a tag or a comment."""
# Without IGNORECASE, which would make the search twenty times slower.
_CLOSINGS = {
    name: re.compile("</" + "".join(f"[{c}{c.upper()}]" for c in name) + rf"(?=[{BLANK}/>])") for name in RAW_TEXT
}


OVERLAP = 64
"""Characters in which the beginning of an end tag may have come already."""


class Token(NamedTuple):
    """A tag, or text outside of tags."""

    name: str
    """Lower case; of an end tag with the slash, `/head`; of text that is not blank, empty."""
    attributes: str = ""
    """As written."""
    text: str = ""
    """The content of a raw text element, as written."""


TEXT = Token("")


class Tokens:
    """The tokens of a document, whose text arrives in pieces. The time it takes is linear, whatever the text."""

    def __init__(self) -> None:
        self.cut = 0
        """Characters that were cut into tokens so far."""
        self._text = ""
        self._at = 0
        self._awaited: re.Pattern[str] | None = None
        self._wait = 0

    @property
    def remaining(self) -> str:
        """What is there and not cut yet."""
        return self._text[self._at :]

    def feed(self, text: str) -> Iterator[Token]:
        """The tokens that are complete now."""
        known = len(self._text) - self._at
        self._text, self._at = self.remaining + text, 0
        if self._is_incomplete(known):
            return
        while not isinstance(found := _next(self._text, self._at), Incomplete):
            token, end = found
            self.cut += end - self._at
            self._at = end
            if token is not None:
                yield token
        self._awaited = found.awaited
        self._wait = 2 * (len(self._text) - self._at)

    def _is_incomplete(self, known: int) -> bool:
        """True where a token is still without its end. To be sure it is read again, but only when it has doubled, so
        that it is not read over and over."""
        if len(self._text) >= self._wait:
            return False
        return self._awaited is None or self._awaited.search(self._text, max(known - OVERLAP, 0)) is None


class Incomplete(NamedTuple):
    """The end of the text comes before that of a token."""

    awaited: re.Pattern[str] | None
    """Without this in what comes it remains so."""


def _next(text: str, at: int) -> tuple[Token | None, int] | Incomplete:
    """The token at a place, None for a comment or blanks, and its end."""
    tag = _TAG.match(text, at)
    if tag is not None:
        name = tag[1].lower()
        return _raw(text, name, tag) if name in RAW_TEXT else (Token(name, tag[2]), tag.end())
    blanks = _BLANKS.match(text, at)
    start = blanks.end() if blanks else at
    if text.startswith("<!--", start):
        end = _EMPTY_COMMENT.match(text, start) or _COMMENT_END.search(text, start + 4)
        return (None, end.end()) if end else Incomplete(_COMMENT_END)
    if start == len(text):
        return (None, start) if start > at else Incomplete(None)
    if _UNDECIDED.match(text, start):
        return Incomplete(None)
    if text.startswith(("<!", "<?", "</"), start):
        end = _DECLARATION_END.search(text, start)
        return (None, end.end()) if end else Incomplete(_DECLARATION_END)
    after = text.find("<", start + 1)
    return TEXT, after if after > 0 else len(text)


def _raw(text: str, name: str, tag: re.Match[str]) -> tuple[Token, int] | Incomplete:
    closing = _CLOSINGS[name].search(text, tag.end())
    end = _DECLARATION_END.search(text, closing.end()) if closing else None
    if closing is None or end is None:
        return Incomplete(_CLOSINGS[name])
    return Token(name, tag[2], text[tag.end() : closing.start()]), end.end()


def attributes(text: str) -> dict[str, str]:
    """Attributes by name in lower case, entities replaced; of two with one name the first counts."""
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(text):
        plain = value[1:-1] if value[:1] in {'"', "'"} else value
        found.setdefault(name.lower(), _REFERENCE.sub(_character, plain) if "&" in plain else plain)
    return found


def _character(reference: re.Match[str]) -> str:
    """In an attribute `&copy=` and `&notit;` stay as they are: a URL's parameters are no entities."""
    name = reference[1]
    return html.unescape(reference[0]) if name is None else html5.get(name, reference[0])


PRESCAN = 1024  # bytes in which <meta charset> is looked for, in the standard and here
FALLBACK = "cp1252"
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks; the standard knows no UTF-32."""
WIDE = ("utf-16", "utf-32")


def charset(start: bytes, content_type: str | None) -> tuple[str, int]:
    """Python's name of the encoding of a page that begins with `start`, and the length of its byte order mark.

    `start`: `PRESCAN` bytes or more, fewer where the page has no more.
    Where nothing is declared, text that is valid UTF-8 is taken as such: the standard allows to look.
    """
    for mark, name in BOMS:
        if start.startswith(mark):
            return name, len(mark)
    said = _usable(http_content_type_encoding(content_type)) if content_type else None
    if said is not None:
        return said, 0
    # w3lib looks further than the standard, hence the cut.
    declared = _usable(html_body_declared_encoding(start[:PRESCAN]))
    if declared is not None and declared.startswith(WIDE):
        declared = "utf-8"  # whoever reads the declaration byte by byte knows better
    return declared or ("utf-8" if _is_utf8(start) else FALLBACK), 0


@lru_cache(maxsize=256)
def _usable(name: str | None) -> str | None:
    """Python has codecs that are no character sets, and some that would make other markup of ASCII."""
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


ACCEPTED = "gzip, deflate"
"""What to send as Accept-Encoding, where a body is read by its first bytes."""
_ANY_HEADER = 32 + 15  # zlib's wbits: gzip or zlib, whichever the header says
_NO_HEADER = -15  # what some servers send as deflate; RFC 9110, 8.4.1.2 knows of them
_TELLING = 2  # bytes that tell a header of zlib from data without one: RFC 1950, 2.2
_DAMAGE = cast("type[Exception]", isal_zlib.error)


class Inflater:
    """Takes the bytes of one body. What is damaged, or in an encoding that is not `ACCEPTED`, gives nothing."""

    def __init__(self, content_encoding: str | None) -> None:
        names = [name.strip().lower() for name in (content_encoding or "").split(",")]
        self._codings = [name for name in names if name not in {"", "identity"}]
        self.readable = all(name in {"gzip", "x-gzip", "deflate"} for name in self._codings) and len(self._codings) < 2
        """False where the encoding is none of `ACCEPTED`, or the data is damaged."""
        self._inflater: Any = None
        self._start = b""

    def feed(self, data: bytes, limit: int) -> bytes:
        """The plain bytes of the next piece, at most `limit`; the rest of the piece is then lost."""
        if not self._codings:
            return data[:limit]
        if not self.readable or not data or limit < 1:  # zlib takes 0 for no limit
            return b""
        if self._inflater is None:
            data = self._start = self._start + data
            if len(data) < _TELLING:
                return b""
        try:
            return self._inflate(data, limit)
        except _DAMAGE:
            self.readable = False
            return b""

    def _inflate(self, data: bytes, limit: int) -> bytes:
        if self._inflater is not None:
            return cast("bytes", self._inflater.decompress(data, limit))
        try:
            self._inflater = isal_zlib.decompressobj(_ANY_HEADER)
            return cast("bytes", self._inflater.decompress(data, limit))
        except _DAMAGE:
            if self._codings != ["deflate"]:
                raise
            self._inflater = isal_zlib.decompressobj(_NO_HEADER)
            return cast("bytes", self._inflater.decompress(data, limit))


HEAD_LIMIT = 512 * 2**10
"""Bytes, uncompressed, after which the end of the head is not waited for: heads with inlined styles and data reach some
hundred KiB. A page that is cut here has `complete` False, and nothing of it is said to be missing."""
BEHIND = 16 * 2**10
"""Characters that are still read behind what broke the head, to see what the author meant to be in it."""
SAMPLE = 16 * 2**10
"""Characters of markup behind the head that tell one page from another (see soft404)."""
MAX_TAGS = 4_000
"""Tags kept of one head; 100 languages with a link each are far from it."""
HTML_TYPES = ("text/html", "application/xhtml+xml")

_ALLOWED = frozenset(
    ("html", "head", "title", "base", "basefont", "bgsound", "link", "meta", "noframes", "script", "style", "noscript",
     "template")
)  # fmt: skip
_KEPT = frozenset(("html", "base", "link", "meta", "title"))
_ENDS = frozenset(("/head", "body", "/body", "/html", "frameset"))
_JSON_LD = re.compile(r"ld\+json", re.IGNORECASE)


@dataclass(slots=True)
class HtmlHead:
    """What stands in the head of a page."""

    encoding: str = FALLBACK
    """Python's name of the encoding that the page was read in."""
    tags: list[Token] = field(default_factory=list)
    """html, base, link, meta, title, and JSON-LD scripts, in document order."""
    behind: list[Token] = field(default_factory=list)
    """The same, of what stands behind the end of the head, but in front of `</head>` or `<body>`."""
    broken_by: str | None = None
    """What ended the head: the name of an element, `text`, or None for a head that ends where it should."""
    complete: bool = False
    """True where all of the head was there; False where a limit, a broken connection or damage cut it."""
    sample: str = ""
    """Markup that follows, at most `SAMPLE` characters."""
    sampled: bool = False
    """True where the sample has its full length, or goes to the end of the page."""


def is_html(content_type: str | None) -> bool:
    """True for a Content-Type whose body is read as HTML; also where there is none."""
    return not content_type or content_type.partition(";")[0].strip().lower() in HTML_TYPES


class HeadReader:
    """Reads one page from the bytes of its body, in pieces of any size.

    `content_type` and `content_encoding`: the headers. `sample`: characters wanted of what follows the head.
    """

    def __init__(self, content_type: str | None = None, content_encoding: str | None = None, sample: int = 0) -> None:
        self._content_type = content_type
        self._wanted = min(sample, SAMPLE)
        self._inflater = Inflater(content_encoding)
        self._start: bytes | None = b""
        self._decoder = codecs.getincrementaldecoder(FALLBACK)("replace")
        self._tokens = Tokens()
        self._broken_at = 0
        self._taken = 0
        self._ended = False
        self._head = HtmlHead()

    @property
    def enough(self) -> bool:
        """True where nothing more of the body is needed: the download can end."""
        sampled = self._ended and len(self._head.sample) >= self._wanted
        return sampled or self._taken >= HEAD_LIMIT or not self._inflater.readable

    def feed(self, data: bytes) -> bool:
        """Read a piece of the body; `enough`."""
        plain = self._inflater.feed(data, HEAD_LIMIT - self._taken)
        self._taken += len(plain)
        if self._start is None:
            self._read(self._decoder.decode(plain))
        else:
            self._start += plain
            if len(self._start) >= PRESCAN:
                self._begin(self._start)
        return self.enough

    def close(self, whole: bool = True) -> HtmlHead:
        """The head. `whole`: False where the body was cut short by something other than `enough`."""
        if self._start is not None:
            self._begin(self._start)
        head = self._head
        cut = not whole or not self._inflater.readable or self._taken >= HEAD_LIMIT
        head.complete = len(head.tags) < MAX_TAGS if self._ended else not cut
        head.sampled = len(head.sample) == SAMPLE or (self._wanted > 0 and not cut)
        return head

    def _begin(self, start: bytes) -> None:
        self._start = None
        self._head.encoding, mark = charset(start, self._content_type)
        self._decoder = codecs.getincrementaldecoder(self._head.encoding)("replace")
        self._read(self._decoder.decode(start[mark:]))

    def _read(self, text: str) -> None:
        head, tokens = self._head, self._tokens
        if self._ended or head.broken_by is not None:
            head.sample += text[: SAMPLE - len(head.sample)]
        if self._ended:
            return
        for token in tokens.feed(text):
            if token.name in _ENDS:
                self._ended, head.sample = True, tokens.remaining[:SAMPLE]
                return
            self._add(token)
            if self._is_far_behind():
                self._ended = True
                return

    def _add(self, token: Token) -> None:
        head = self._head
        if token.name not in _ALLOWED and head.broken_by is None and not token.name.startswith("/"):
            head.broken_by = token.name or "text"
            self._broken_at, head.sample = self._tokens.cut, self._tokens.remaining[:SAMPLE]
        if token.name in _KEPT or (token.name == "script" and _JSON_LD.search(token.attributes)):
            (head.tags if head.broken_by is None else head.behind).append(token)

    def _is_far_behind(self) -> bool:
        head = self._head
        if len(head.tags) + len(head.behind) >= MAX_TAGS:
            return True
        return head.broken_by is not None and self._tokens.cut - self._broken_at > BEHIND
