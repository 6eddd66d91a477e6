"""The answers of Search Console in a file of JSON lines, which the argument `gsc_answers` names.

It outlives jobs: what was asked is not asked again before all else, and what Google allows in a day is counted across
runs. A line is written when its answer has come, so that a kill loses no more than the answers that are under way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec

from sitemapcrawler.items import IndexStatus, JsonObject
from sitemapcrawler.reader.dates import iso, parse
from sitemapcrawler.reader.index_status import RESULT, StatusReader

QUOTA = 2_000
"""URLs of a property in a day. Source: https://developers.google.com/webmaster-tools/limits#url-inspection"""
DAY_OF = "America/Los_Angeles"
"""Zone whose midnight begins a day of the quota."""
AT_ONCE = 20_000
"""Lines in memory."""
MAX_LINE = 2**20
"""Bytes of a line; longer ones are no answers."""

Known = tuple[str, IndexStatus, str | None]
"""A URL, its index status, and when it was inspected, ISO 8601 in UTC."""


class AnswerLine(msgspec.Struct, rename="camel", omit_defaults=True):
    """A line of the file: a row of URL Inspection, which the argument `compare` takes too."""

    inspection_url: str
    site_url: str = ""
    """The property."""
    asked: str = ""
    inspection_result: JsonObject | None = None
    error: str | None = None
    """Why there is no answer."""


_line = msgspec.json.Encoder().encode
_answer = msgspec.json.Decoder(AnswerLine).decode


class IndexAnswers:
    """The file of a property, which may be missing. Raises OSError."""

    def __init__(self, path: Path, site: str) -> None:
        """`site`: the property as Search Console names it."""
        self.site = site
        self._path = path
        self._today = _day(datetime.now(UTC))
        self.asked_today = 0
        """URLs of the property that were inspected on this day of the quota, once all lines are read."""

    @property
    def begin_of_day(self) -> datetime:
        """Start of this day of the quota."""
        return datetime(self._today.year, self._today.month, self._today.day, tzinfo=ZoneInfo(DAY_OF)).astimezone(UTC)

    def batches(self) -> Iterator[list[Known]]:
        """Yield what is known by the file. Lines that are broken or of other properties are skipped."""
        self.asked_today = 0
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            lines = iter(partial(file.readline, MAX_LINE), b"")
            while some := list(islice(lines, AT_ONCE)):
                yield [known for line in some if (known := self._known(line)) is not None]

    def _known(self, line: bytes) -> Known | None:
        try:
            found = _answer(line)
            asked = parse(found.asked)
            is_today = asked is not None and _day(asked) == self._today
        except (msgspec.MsgspecError, RecursionError, UnicodeError, OverflowError):
            return None
        if found.site_url != self.site or asked is None:
            return None
        self.asked_today += is_today
        status = StatusReader().status({RESULT: found.inspection_result})
        return found.inspection_url, status or IndexStatus(), iso(asked)

    def add(self, url: str, result: JsonObject | None, error: str | None = None) -> Known:
        """Append an answer. Returns what is known by it. `error`: why there is no answer."""
        asked = iso(datetime.now(UTC).replace(microsecond=0))
        line = _line(AnswerLine(url, self.site, asked, result, error)) + b"\n"
        with self._path.open("a+b") as file:  # a kill may have left half a line
            size = file.seek(0, 2)
            file.seek(max(0, size - 1))
            file.write(line if size == 0 or file.read(1) == b"\n" else b"\n" + line)
        self.asked_today += 1
        return url, StatusReader().status({RESULT: result}) or IndexStatus(), asked


def check(path: Path) -> None:
    """Raise ValueError, one line, if a file is there and has no answers, or cannot be written."""
    first = b""
    try:
        if not path.exists() and not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
            raise ValueError("cannot be written, there is no such folder, or no permission to write in it")
        if path.exists():
            with path.open("r+b") as file:
                first = file.readline(MAX_LINE)
    except OSError as error:
        raise ValueError(f"cannot be written, {error.strerror}") from None
    if first.strip():
        try:
            _answer(first)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            raise ValueError("is another file than one of answers of Search Console") from None


def _day(moment: datetime) -> date:
    return moment.astimezone(ZoneInfo(DAY_OF)).date()
