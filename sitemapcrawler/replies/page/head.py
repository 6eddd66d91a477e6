"""HTML tokenizer that reads the head of a page while it arrives, and stops as soon as possible.

Source: https://html.spec.whatwg.org/multipage/parsing.html#tokenization
Scripting counts as enabled, as in browsers and for Google, so the content of `<noscript>` is text. So is that of
`<template>`, which belongs to no document. A `<script>` inside a comment inside a script (the "double escaped" states)
is not implemented: the outer script ends early.

A head ends twice. By the standard it ends before the first thing not allowed in it, such as an `<img>` or a word of
text; Google reads no metadata after that. Its author means `</head>` or `<body>`. Tags between the two ends are
reported separately.
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
from typing import NamedTuple, Protocol, cast

from isal import isal_zlib
from w3lib.encoding import html_body_declared_encoding

from sitemapcrawler.reader.decode import ASCII, CHARACTER_SETS
from sitemapcrawler.replies.page.media_type import MediaType, media_type

BLANK = " \t\n\f\r"
"""White space of HTML. Other blank characters, such as NBSP, are text."""
RAW_TEXT = frozenset(
    ("script", "style", "title", "textarea", "noscript", "template", "iframe", "noframes", "noembed", "xmp")
)
"""Elements whose content is not markup."""

_BLANKS = re.compile(rf"[{BLANK}\0]*+")
# A quote counts only after "=", and then extends to the next quote, past any ">". Possessive, to keep matching fast.
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
"""End of a text that may become a tag or comment."""
# Without IGNORECASE, which makes the search twenty times slower.
_CLOSINGS = {
    name: re.compile("</" + "".join(f"[{c}{c.upper()}]" for c in name) + rf"(?=[{BLANK}/>])") for name in RAW_TEXT
}


OVERLAP = 64
"""Characters to search again for an end tag that is split between two chunks."""


class Token(NamedTuple):
    """A tag, or text outside tags."""

    name: str
    """Lower case; with the slash for an end tag (`/head`); empty for text that is not blank."""
    attributes: str = ""
    """As written."""
    text: str = ""
    """Content of a raw text element, or the text, as written."""

    @property
    def markup(self) -> str:
        """The text, or the tag."""
        return f"<{self.name}{self.attributes}>" if self.name else self.text


class Tokens:
    """Tokens of a document that arrives in chunks, in linear time for any text."""

    def __init__(self) -> None:
        self.cut = 0
        """Characters tokenized so far."""
        self._text = ""
        self._at = 0
        self._awaited: re.Pattern[str] | None = None
        self._wait = 0

    @property
    def remaining(self) -> str:
        """Text that has arrived but is not tokenized."""
        return self._text[self._at :]

    def feed(self, text: str) -> Iterator[Token]:
        """Append text and yield the tokens that are now complete."""
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
        """Return whether the next token has no end yet. It is parsed again when the text has doubled: linear time."""
        if len(self._text) >= self._wait:
            return False
        return self._awaited is None or self._awaited.search(self._text, max(known - OVERLAP, 0)) is None


class Incomplete(NamedTuple):
    """The text ends within a token."""

    awaited: re.Pattern[str] | None
    """Pattern that must occur in further text to end the token; None if any text may."""


def _next(text: str, at: int) -> tuple[Token | None, int] | Incomplete:
    """Return the token at a position, or None for a comment or blanks, and its end."""
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
    stop = after if after > 0 else len(text)
    return Token("", text=text[start:stop]), stop


def _raw(text: str, name: str, tag: re.Match[str]) -> tuple[Token, int] | Incomplete:
    closing = _CLOSINGS[name].search(text, tag.end())
    end = _DECLARATION_END.search(text, closing.end()) if closing else None
    if closing is None or end is None:
        return Incomplete(_CLOSINGS[name])
    return Token(name, tag[2], text[tag.end() : closing.start()]), end.end()


def attributes(text: str) -> dict[str, str]:
    """Parse attributes: lower-case name -> value, entities replaced. The first of a repeated name counts."""
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(text):
        plain = value[1:-1] if value[:1] in {'"', "'"} else value
        found.setdefault(name.lower(), _REFERENCE.sub(_character, plain) if "&" in plain else plain)
    return found


def _character(reference: re.Match[str]) -> str:
    """Replace a reference. As in attributes of HTML, `&copy=` and `&notit;` stay: they may be parameters of a URL."""
    name = reference[1]
    return html.unescape(reference[0]) if name is None else html5.get(name, reference[0])


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


ACCEPTED = "gzip, deflate"
"""Accept-Encoding to send if only the start of a body is read."""
_ANY_HEADER = 32 + 15  # zlib's wbits: gzip or zlib, by header
_NO_HEADER = -15  # raw deflate, which some servers send (RFC 9110, 8.4.1.2)
_TELLING = 2  # bytes that tell a zlib header from raw data (RFC 1950, 2.2)
_DAMAGE = cast("type[Exception]", isal_zlib.error)


class Inflater:
    """Inflates one body. Damaged data, and encodings not in `ACCEPTED`, give no bytes."""

    def __init__(self, content_encoding: str | None) -> None:
        names = [name.strip().lower() for name in (content_encoding or "").split(",")]
        self._codings = [name for name in names if name not in {"", "identity"}]
        self.readable = all(name in {"gzip", "x-gzip", "deflate"} for name in self._codings) and len(self._codings) < 2
        """False if the encoding is not in `ACCEPTED`, or the data is damaged."""
        self._inflater: isal_zlib.Decompress | None = None
        self._start = b""

    @property
    def is_whole(self) -> bool:
        """False if the data is damaged, or ends before its end."""
        return self.readable and (self._inflater is None or self._inflater.eof)

    def feed(self, data: bytes, limit: int) -> bytes:
        """Return the plain bytes of the next chunk, at most `limit`; the rest of the chunk is lost."""
        if not self._codings:
            return data[:limit]
        if not self.readable or not data or limit < 1:  # zlib reads 0 as no limit
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
            return self._inflater.decompress(data, limit)
        try:
            self._inflater = isal_zlib.decompressobj(_ANY_HEADER)
            return self._inflater.decompress(data, limit)
        except _DAMAGE:
            if self._codings != ["deflate"]:
                raise
            self._inflater = isal_zlib.decompressobj(_NO_HEADER)
            return self._inflater.decompress(data, limit)


HEAD_LIMIT = 512 * 2**10
"""Uncompressed bytes read in search of the end of the head. Heads with inlined styles and data reach some hundred KiB.
A page cut here has `complete` False, and nothing is reported as missing from it."""
BEHIND = 16 * 2**10
"""Characters read after what broke the head, to find what the author meant to be in it."""
SAMPLE = 16 * 2**10
"""Characters of markup after the head, used to compare pages (see fingerprint)."""
MAX_TAGS = 4_000
"""Tags kept of one head; 100 languages with a link each need far fewer."""

_ALLOWED = frozenset(
    ("html", "head", "title", "base", "basefont", "bgsound", "link", "meta", "noframes", "script", "style", "noscript",
     "template")
)  # fmt: skip
_KEPT = frozenset(("html", "base", "link", "meta", "title"))
_ENDS = frozenset(("/head", "body", "/body", "/html", "frameset"))
_LIKE_HTML = re.compile(
    rf"[{BLANK}]*+(?:<\?xml[^>]*+>[{BLANK}]*+)?+<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a"
    rf"|style|title|b|body|br|p)[{BLANK}>])",
    re.IGNORECASE,
)
"""Start of a page without a valid Content-Type, an XML declaration before it included.
Source: https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type"""
_JSON_LD = re.compile(r"ld\+json", re.IGNORECASE)


@dataclass(slots=True)
class HtmlHead:
    """Contents of a page's head."""

    encoding: str = FALLBACK
    """Python's name of the encoding used."""
    tags: list[Token] = field(default_factory=list)
    """html, base, link, meta, title, and JSON-LD scripts, in document order."""
    behind: list[Token] = field(default_factory=list)
    """The same tags after the end of the head, but before `</head>` or `<body>`."""
    broken_by: str | None = None
    """What ended the head early: an element name or `text`; None if it ended properly."""
    complete: bool = False
    """True if the whole head was read; False if a limit, a broken connection or damage cut it, or if it may not be HTML
    at all."""
    sample: str = ""
    """Markup after the head, what broke it included, at most `SAMPLE` characters."""
    sampled: bool = False
    """True if the sample has its full length, or extends to the end of the page."""
    whole: bool = False
    """True if the page was read to its end."""
    empty: bool = False
    """True if the page has no content but white space."""
    scripted: bool = False
    """True if the head has a script that runs."""


class Listener(Protocol):
    """Reads the text of a whole page besides its head."""

    def feed(self, text: str) -> None:
        """Read a chunk of text."""
        ...


class HeadReader:
    """Reads the head of one page from its body, in chunks of any size.

    `content_type` and `content_encoding`: the headers. `sample`: characters wanted after the head. `listener`: is given
    the text of the whole page, up to `limit` bytes. Without a valid type, only a page that begins like HTML is
    `complete`.
    """

    def __init__(
        self,
        content_type: str | None = None,
        content_encoding: str | None = None,
        sample: int = 0,
        listener: Listener | None = None,
        limit: int = HEAD_LIMIT,
    ) -> None:
        self._listener = listener
        self._limit = limit
        self._type = media_type(content_type)
        self._is_html = self._type is not None
        self._wanted = min(sample, SAMPLE)
        self._inflater = Inflater(content_encoding)
        self._start: bytes | None = b""
        self._decoder = codecs.getincrementaldecoder(FALLBACK)("replace")
        self._tokens = Tokens()
        self._broken_at = 0
        self._taken = 0
        self._ended = False
        self._blank = True
        self._head = HtmlHead()

    @property
    def enough(self) -> bool:
        """True if no more of the body is needed, so that the download can stop."""
        sampled = self._listener is None and self._ended and len(self._head.sample) >= self._wanted
        return sampled or self._taken >= self._limit or not self._inflater.readable

    def feed(self, data: bytes) -> bool:
        """Read a chunk of the body; return `enough`."""
        plain = self._inflater.feed(data, self._limit - self._taken)
        self._taken += len(plain)
        if self._start is None:
            self._read(self._decoder.decode(plain))
        else:
            self._start += plain
            if len(self._start) >= PRESCAN:
                self._begin(self._start)
        return self.enough

    def close(self, whole: bool = True) -> HtmlHead:
        """Return the head. `whole`: False if the body was cut by something other than `enough`."""
        if self._start is not None:
            self._begin(self._start)
        head = self._head
        if not self._ended and head.broken_by is None:
            head.sample = self._tokens.remaining[:SAMPLE]
        cut = not whole or not self._inflater.is_whole or self._taken >= self._limit
        head.complete = self._is_html and (len(head.tags) < MAX_TAGS if self._ended else not cut)
        head.sampled = len(head.sample) == SAMPLE or (self._wanted > 0 and not cut)
        head.whole = not cut
        head.empty = self._blank and not cut
        return head

    def _begin(self, start: bytes) -> None:
        self._start = None
        self._head.encoding, mark = charset(start, self._type)
        self._decoder = codecs.getincrementaldecoder(self._head.encoding)("replace")
        text = self._decoder.decode(start[mark:])
        self._is_html = self._is_html or _LIKE_HTML.match(text) is not None
        self._read(text)

    def _read(self, text: str) -> None:
        head, tokens = self._head, self._tokens
        self._blank = self._blank and (not text or text.isspace())
        if self._listener is not None:
            self._listener.feed(text)
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
            self._broken_at, head.sample = self._tokens.cut, (token.markup + self._tokens.remaining)[:SAMPLE]
        is_data = token.name == "script" and _JSON_LD.search(token.attributes) is not None
        head.scripted |= token.name == "script" and not is_data
        if token.name in _KEPT or is_data:
            (head.tags if head.broken_by is None else head.behind).append(token)

    def _is_far_behind(self) -> bool:
        head = self._head
        if len(head.tags) + len(head.behind) >= MAX_TAGS:
            return True
        return head.broken_by is not None and self._tokens.cut - self._broken_at > BEHIND
