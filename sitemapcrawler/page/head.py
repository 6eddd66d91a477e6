"""The head of an HTML page, read while it arrives, and not a byte more than needed.

Two things end a head. By the standard it ends before the first thing that may not stand in it, be it an `<img>` or a
word of text, and Google reads its metadata no further than that. Its author means `</head>` or `<body>`. Both are told:
the tags behind the first end are kept apart.
Sources: https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead,
https://developers.google.com/search/docs/crawling-indexing/valid-page-metadata
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

from sitemapcrawler.page.charset import FALLBACK, PRESCAN, charset
from sitemapcrawler.page.inflate import Inflater
from sitemapcrawler.page.markup import Token, Tokens

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
class Head:
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
        self._head = Head()

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

    def close(self, whole: bool = True) -> Head:
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
            self._take(token)
            if self._is_far_behind():
                self._ended = True
                return

    def _take(self, token: Token) -> None:
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
