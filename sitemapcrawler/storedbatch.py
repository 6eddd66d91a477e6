"""Url records that come from the job's database: as JSON lines, which feeds of that kind write as they are."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from sitemapcrawler.items import UrlBatch, UrlRecord

_decode = msgspec.json.Decoder(UrlRecord).decode


class StoredBatch(UrlBatch):
    """A batch whose records are made when somebody asks for them."""

    def __init__(self, sitemap: str, rows: Sequence[str]) -> None:
        """`rows`: JSON of url records."""
        super().__init__(sitemap, [], settled=True)
        self._count = len(rows)
        self._urls: list[UrlRecord] | None = None
        self.lines = "\n".join([*rows, ""]).encode()

    @property
    def urls(self) -> list[UrlRecord]:
        """The records."""
        if self._urls is None:
            self._urls = [decoded(line) for line in (self.lines or b"").splitlines()]
        return self._urls

    @urls.setter
    def urls(self, urls: list[UrlRecord]) -> None:
        self._urls, self._count, self.lines = urls, len(urls), None

    def __len__(self) -> int:
        return self._count if self._urls is None else len(self._urls)


def decoded(line: bytes | str) -> UrlRecord:
    """The record of a line."""
    try:
        record = _decode(line)
    except msgspec.DecodeError:  # a lone surrogate
        record = msgspec.convert(json.loads(line), UrlRecord)
    return record.mark_stored()
