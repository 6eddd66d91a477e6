"""Lists of pages beside the sitemap: llms.txt, and the terms of use (RSL) and lists of structured data (schemamap) that
robots.txt names. Takes their content, and fetches nothing.

Sources: https://llmstxt.org, https://rslstandard.org/rsl and, for schemamap,
https://developer.yoast.com/features/schema/schema-aggregator/api-reference/
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sitemapcrawler import urls
from sitemapcrawler.replies import REACHED, ReplyKind, ReplyRecord
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.replies.page import media_type

MAX_LINKS = 500
"""Links of one file that are checked. The format is meant for some dozens."""
MAX_BYTES = 2**20
"""Bytes of a file that are read."""


class LinkFileKind(StrEnum):
    """What a file is for."""

    LLMS = "llms.txt"
    """Markdown at `LLMS_PATH`: links for language models."""
    RSL = "RSL"
    """XML, named by a License line of robots.txt: terms of use of content."""
    SCHEMAMAP = "schemamap"
    """A sitemap of structured data, named by a Schemamap line of robots.txt."""


LLMS_PATH = "/llms.txt"
_FENCE = re.compile(r" {0,3}(```|~~~)")
_MARKDOWN = re.compile(
    r"(?<!!)\[[^\[\]\n]{0,500}\]\(\s{0,9}<?([^\s<>()]{1,2000}(?:\([^\s()]{0,200}\)[^\s<>()]{0,200})?)>?[^()\n]{0,500}\)"
)
"""A link, not an image. A title may follow the URL."""
_CONTENT = re.compile(r"<(?:\w{1,20}:)?content(?=\s)[^>]{0,4000}>")
_URL = re.compile(r"\surl\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)')")
_LOC = re.compile(r"<(?:\w{1,20}:)?loc>([^<]{1,4000})</")
_PATTERN = re.compile(r"[*$]")
"""What makes the URL of RSL content a pattern for many."""


@dataclass(frozen=True, slots=True)
class FileLink:
    """A link of such a file."""

    url: str
    """Absolute, without fragment."""
    line: int
    """Line of the file, counted from 1."""


def links_of_file(kind: LinkFileKind, text: str, base: str) -> list[FileLink]:
    """Return the first `MAX_LINKS` distinct links of a file to web addresses. `base`: its URL."""
    found: dict[str, FileLink] = {}
    for reference, line in _references(kind, text):
        url = urls.resolve(base, reference)
        url = url.partition("#")[0] if url is not None else None
        if url:
            found.setdefault(urls.visit_key(url), FileLink(url, line))
        if len(found) >= MAX_LINKS:
            break
    return list(found.values())


def _references(kind: LinkFileKind, text: str) -> Iterator[tuple[str, int]]:
    """Yield the references of a file as written, with their lines."""
    if kind is LinkFileKind.LLMS:
        yield from _markdown(text)
    elif kind is LinkFileKind.RSL:
        for element in _CONTENT.finditer(text):
            found = _URL.search(element[0])
            reference = html.unescape(found[1] or found[2] or "") if found is not None else ""
            if reference and not _PATTERN.search(reference):
                yield reference, _line(text, element)
    else:
        for element in _LOC.finditer(text):
            yield html.unescape(element[1]).strip(), _line(text, element)


def _markdown(text: str) -> Iterator[tuple[str, int]]:
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        is_code ^= _FENCE.match(line) is not None
        for found in _MARKDOWN.finditer(line) if not is_code else ():
            yield found[1], number


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


_TEXT = re.compile(r"[^?#]*\.(?:md|markdown|txt|json|jsonl|xml)(?:[?#].*)?", re.IGNORECASE)
"""A URL whose name says that it is no HTML page."""


@dataclass(frozen=True, slots=True)
class CheckedLink:
    """A link of such a file, with the reply to it."""

    url: str
    line: int
    reply: ReplyRecord
    indexability: str
    """As in a url record."""

    @property
    def is_html(self) -> bool:
        """True if it answers with an HTML page."""
        reply = self.reply
        kind = media_type(reply.content_type) if reply.kind in REACHED else None
        return kind is not None and kind.is_html

    @property
    def is_misplaced(self) -> bool:
        """True for an HTML page whose name is that of a text file."""
        return self.is_html and _TEXT.fullmatch(self.url) is not None

    @property
    def is_dead(self) -> bool:
        """True if it answers with an error or as a soft 404."""
        return self.reply.kind == ReplyKind.HTTP_ERROR or self.indexability in (
            Indexability.SOFT_404,
            Indexability.UNREACHABLE,
        )


@dataclass(frozen=True, slots=True)
class LinkFile:
    """llms.txt, or a file that robots.txt names."""

    url: str
    kind: LinkFileKind
    problem: str | None = None
    """Why the file cannot be read, such as `answers 404`; None if it can."""
    is_html: bool = False
    """True if it is an HTML page."""
    links: Sequence[CheckedLink] = ()
