"""Lists of URLs as JSON: lines of objects, or one array of them; an object may also be a URL alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sitemapcrawler.reader.lists.entry import COLUMNS, MAX_LINE, TYPE, Entry, Unread, entry
from sitemapcrawler.urls.display import shown

BLANKS = " \t\n\r"
"""White space of JSON: RFC 8259, 2."""
_decoder = json.JSONDecoder()


class Broken(ValueError):
    """JSON that cannot be read on."""


def read_objects(lines: Iterable[str]) -> Iterator[Entry]:
    """One object a line; blank lines are passed over."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield from _entries(json.loads(line), number)
            except (ValueError, RecursionError):
                yield Unread(number, f"{shown(line)} is no JSON")


def read_array(texts: Iterable[str]) -> Iterator[Entry]:
    """The elements of an array, one at a time, so that it never stands in memory as a whole."""
    array = _Array(texts)
    try:
        for value, line in array.elements():
            yield from _entries(value, line)
    except Broken as error:
        yield Unread(array.line, f"the JSON is broken, {error}: the rest was not read")


def _entries(value: Any, line: int) -> Iterator[Entry]:
    if isinstance(value, str):
        yield entry(value, line)
    elif not isinstance(value, dict):
        yield Unread(line, f"{shown(json.dumps(value))} is no object")
    elif value.get("type", TYPE) == TYPE:
        url = next((value[name] for name in COLUMNS if name in value), None)
        yield entry(url, line) if isinstance(url, str) else Unread(line, "the object has no loc")


class _Array:
    """Takes an array apart; `line` is where it has come to."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.line = 1
        self._texts = iter(texts)
        self._text = ""
        self._at = 0

    def elements(self) -> Iterator[tuple[Any, int]]:
        """The elements and their lines. Raises Broken."""
        self._take("[")
        if self._next() == "]":
            self._take("]")
        else:
            while True:
                mark = self._next()
                line = self.line
                yield self._element(), line
                mark = self._take(",]")
                if mark == "]":
                    break
        if self._next():
            raise Broken("there is more behind its end")

    def _element(self) -> Any:
        while True:
            try:
                value, end = _decoder.raw_decode(self._text, self._at)
                # A number may go on behind what has been read.
                if end < len(self._text) or not self._more():
                    break
            except (ValueError, RecursionError):
                if len(self._text) - self._at > MAX_LINE or not self._more():
                    raise Broken(f"{shown(self._text[self._at :])} is no JSON") from None
        self._advance(end)
        return value

    def _take(self, marks: str) -> str:
        mark = self._next()
        if not mark or mark not in marks:
            raise Broken(f"{' or '.join(marks)} is missing")
        self._advance(self._at + 1)
        return mark

    def _next(self) -> str:
        """The next character that is no blank; empty at the end."""
        while True:
            end = self._at
            while end < len(self._text) and self._text[end] in BLANKS:
                end += 1
            self._advance(end)
            if end < len(self._text):
                return self._text[end]
            if not self._more():
                return ""

    def _advance(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _more(self) -> bool:
        """Read as much again as waits, so that a long element is not tried too often; False at the end."""
        parts = [self._text[self._at :]]
        wanted = 2 * len(parts[0])
        for text in self._texts:
            parts.append(text)
            wanted -= len(text)
            if wanted <= 0:
                break
        self._text, self._at = "".join(parts), 0
        return len(parts) > 1
