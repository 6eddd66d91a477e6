"""Reads what Google says of a URL: answers of its URL Inspection API, and tables that other programs make of them.

Sources: https://developers.google.com/webmaster-tools/v1/urlInspection.index/UrlInspectionResult (the API), and the
columns that Screaming Frog and Search Console export. Start reading in `StatusReader`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from sitemapcrawler import urls
from sitemapcrawler.items import IndexStatus
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.rows import plain_name

RESULT, STATUS = "inspectionresult", "indexstatusresult"
"""Objects of the API's answer, the second one in the first."""
NAMES: Mapping[str, Collection[str]] = {
    "verdict": ("verdict", "summary", "googleverdict"),
    "reason": ("coveragestate", "coverage", "googlereason"),
    "canonical": ("googlecanonical", "googleselectedcanonical"),
    "last_crawl": ("lastcrawltime", "lastcrawl", "lastcrawled", "googlelastcrawl"),
}
"""Plain names of columns by the field that they hold: of the API, of Screaming Frog, of Search Console, and of this
project's own feeds."""
WITHIN = tuple(f"{start}{STATUS}{mark}" for mark in (".", "") for start in (f"{RESULT}{mark}", ""))
"""Starts of columns that a program makes of the nested objects of an answer."""
COLUMNS: Mapping[str, str] = {
    start + name: field for field, names in NAMES.items() for name in names for start in ("", *WITHIN)
}
"""{column: field}."""
USUAL = frozenset(("verdict", "summary", "coverage", "lastcrawl"))
"""Columns that other lists may have too: one of them alone is no index status."""
VERDICTS: Mapping[str, str] = {
    **{name.lower(): name for name in ("PASS", "PARTIAL", "FAIL", "NEUTRAL")},
    "url is on google": "PASS",
    "url is on google but has issues": "PARTIAL",
    "url is not on google": "NEUTRAL",
}
"""Verdicts of the API, and its words in Search Console, in lowercase without commas."""
NO_VALUES = frozenset(("", "-", "n/a", "none", "null", "nan", "nat"))
"""What programs write where there is no value, in lowercase."""
MAX_REASON = 200
"""Characters of a reason; those of Google have fewer than 80."""
MAX_NO_VALUE = max(map(len, NO_VALUES))
GOOGLE_BEGAN = "1998-09-04"
"""A crawl before this day is a zero of some program."""


class StatusReader:
    """Makes an index status of the cells of a row. Most rows of a list have the same columns."""

    columns = frozenset((*COLUMNS, RESULT, STATUS))
    """Plain names of columns to read."""

    def __init__(self) -> None:
        self._names: Collection[object] = ()
        self._fields: Mapping[str, str] = {}

    def status(self, cells: Mapping[str, object], url: str = "") -> IndexStatus | None:
        """Return the index status that a row states; None if it has none. `url`: the row's own."""
        start, result, inner = "", cells.get(RESULT), cells.get(STATUS)
        if isinstance(result, Mapping):
            inner = result.get("indexStatusResult")
        if isinstance(inner, Mapping):
            cells, start = inner, f"{STATUS}."
        if self._names != (names := (start, *cells)):
            self._names, self._fields = names, _fields_of(start, cells)
        if not self._fields:
            return None
        found = {field: text for field, name in self._fields.items() if (text := _text(cells[name]))}
        if not found:
            return None
        canonical = found.get("canonical", "")
        status = IndexStatus(
            _verdict(found.get("verdict", "")),
            found.get("reason", "")[:MAX_REASON] or None,
            canonical if canonical == url and url.startswith("http") else urls.resolve("", canonical),
            _moment(found.get("last_crawl", "")),
        )
        return None if status == IndexStatus() else status


def _fields_of(start: str, names: Iterable[object]) -> Mapping[str, str]:
    """{field: the first column with it}; empty if these columns may be of another list. `start`: what stands before
    their names."""
    fields: dict[str, str] = {}
    for name in names:
        if isinstance(name, str) and (field := COLUMNS.get(start + plain_name(name))) is not None:
            fields.setdefault(field, name)
    return fields if start or len(fields) > 1 or not USUAL.issuperset(fields.values()) else {}


def _text(value: object) -> str:
    """A value on one line; empty if there is none."""
    if isinstance(value, str) and value.isascii() and value.isprintable():  # most are
        text = value.strip()
    else:
        text = "" if value is None else " ".join(str(value).encode("utf-8", "replace").decode().split())
    return "" if len(text) <= MAX_NO_VALUE and text.lower() in NO_VALUES else text


@lru_cache(maxsize=64)
def _verdict(text: str) -> str | None:
    return VERDICTS.get(text.lower().replace(",", ""))


def _moment(text: str) -> str | None:
    moment = utc(text)
    return None if moment is None or moment < GOOGLE_BEGAN else moment
