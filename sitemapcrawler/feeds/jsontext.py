"""Values as JSON text: by msgspec, and by Scrapy's own encoder for what msgspec cannot hold."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from scrapy.utils.serialize import ScrapyJSONEncoder

from sitemapcrawler.feeds.rows import Rows


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)  # nothing is decoded with it
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


ESCAPES = "sitemapcrawler-json"
"""Error handler for encoding JSON: a character the encoding cannot hold becomes `\\uXXXX`."""
codecs.register_error(ESCAPES, _escaped)

UNHOLDABLE = (UnicodeEncodeError, OverflowError)
"""What msgspec says of a lone surrogate, and of a number of more than 64 bits."""


class JsonText:
    """Writes records (by way of their `rows`) and other values, compact.

    `options`: arguments of `json.JSONEncoder`; where there are any, that one writes everything.
    """

    def __init__(self, rows: Rows, options: Mapping[str, Any] | None = None) -> None:
        self._rows = rows
        self._fast = None if options else msgspec.json.Encoder(enc_hook=str)
        self._slow = ScrapyJSONEncoder(**{"ensure_ascii": False, "separators": (",", ":"), **(options or {})})

    def lines(self, records: Sequence[Any]) -> bytes:
        """One line of UTF-8 for each record, with its end; none for records without any of the fields."""
        rows = self._rows.of(records)
        if self._fast:
            try:
                return self._fast.encode_lines(rows)
            except UNHOLDABLE:
                pass
        return b"".join(map(self._row, rows))

    def _row(self, row: Any) -> bytes:
        if self._fast:
            try:
                return self._fast.encode(row) + b"\n"
            except UNHOLDABLE:
                pass
        return self.line(msgspec.to_builtins(row, enc_hook=str))

    def line(self, value: Any) -> bytes:
        """One line of UTF-8, with its end, for anything Scrapy can write."""
        text = self._slow.encode(value)
        if "NaN" in text or "Infinity" in text:  # no JSON: null instead, as msgspec has it
            text = self._slow.encode(json.loads(text, parse_constant=lambda name: None))
        return text.encode("utf-8", ESCAPES) + b"\n"

    def pretty(self, line: bytes, indent: int) -> bytes:
        """A line of JSON over several lines, without an end."""
        try:
            return msgspec.json.format(line, indent=indent)
        except msgspec.DecodeError:  # the escape of a lone surrogate
            return json.dumps(json.loads(line), indent=indent, ensure_ascii=False).encode("utf-8", ESCAPES)

    def text(self, value: Any) -> str:
        """A list, an object or a dataclass, without its null and empty fields."""
        return self._row(self._rows.plain(value)).decode()[:-1]
