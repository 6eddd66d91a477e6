"""Lists of pages beside the sitemap, with the replies to their links: input of the rules on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sitemapcrawler.replies import REACHED, ReplyKind, ReplyRecord
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.replies.link_files import LinkFileKind
from sitemapcrawler.replies.page import media_type

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
