"""Pages are read as far as they are judged: their head. What follows is not fetched, unless it is little."""

from __future__ import annotations

from typing import Any

from scrapy.http import Headers, Response

from sitemapcrawler.download.bodies import BODY_KEY
from sitemapcrawler.replies.page import SAMPLE, HeadReader, PageFacts, is_html, page_of
from sitemapcrawler.replies.page import Headers as PlainHeaders

DRAIN_BYTES = 64 * 1024
"""Bytes of a body that are fetched although nobody reads them: less than a new connection costs."""


class PageHead:
    """The part of the body that is needed of the answer to one request."""

    def __init__(self, wanted: bool) -> None:
        """`wanted`: False where the status is all that counts."""
        self._wanted = wanted
        self._reader: HeadReader | None = None
        self._left: int | None = None
        self._heard = False

    def meta(self) -> dict[str, Any]:
        """The request meta that reading in part needs: Scrapy's own limits would lose what came."""
        limits = {"download_maxsize": 0, "download_warnsize": 0, "download_fail_on_dataloss": False}
        # A cached answer without its body would pass as the page, when the page is asked for.
        return {BODY_KEY: self, **limits, **({} if self._wanted else {"dont_cache": True})}

    def begin(self, headers: Headers, length: object) -> bool:
        """An answer begins, after a retry again, with a body of `length` bytes where that is a number; True where
        none of it is needed."""
        self._heard = True
        self._left = length if isinstance(length, int) else None
        self._reader = self._new_reader(headers)
        return self._reader is None and self._is_much()

    def take(self, data: bytes) -> bool:
        """Hear of a part of the body; True where the rest is not needed."""
        if self._left is not None:
            self._left -= len(data)
        needed = self._reader is not None and not self._reader.enough and not self._reader.feed(data)
        return not needed and self._is_much()

    def facts(self, response: Response, headers: PlainHeaders, whole: bool) -> PageFacts | None:
        """What the page says of itself; None where that was not wanted. `headers`: those of the response that
        `page_of` looks at; `whole`: False where the body was cut short by something else than a reader that had
        enough."""
        if not self._wanted:
            return None
        if not self._heard:  # an answer from the cache
            self._reader = self._new_reader(response.headers)
            if self._reader is not None:
                self._reader.feed(response.body)
        head = None if self._reader is None else self._reader.close(whole)
        return page_of(head, headers, response.url)

    def _new_reader(self, headers: Headers) -> HeadReader | None:
        kind, encoding = (_text(headers.get(name)) for name in ("Content-Type", "Content-Encoding"))
        return HeadReader(kind, encoding, SAMPLE) if self._wanted and is_html(kind) else None

    def _is_much(self) -> bool:
        return self._left is None or self._left > DRAIN_BYTES


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")
