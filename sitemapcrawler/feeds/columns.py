"""Tables for people: the URLs of a crawl as flat columns, and cells that a spreadsheet does not run as formulas.

The formats csv and xlsx share the columns. Formulas in cells of untrusted text are known as CSV injection.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from types import NoneType
from typing import Any, TypeGuard

import msgspec

from sitemapcrawler.items import KEPT_WHEN_EMPTY, UrlRecord
from sitemapcrawler.namespaces import OWN, Namespace
from sitemapcrawler.reader.dates import DATE_LENGTH
from sitemapcrawler.replies import status_error
from sitemapcrawler.robots.usage import Use


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    """Header, and its name in `fields`."""
    width: int
    """In characters, at most, in the format xlsx; 0: not in that format."""
    value: str | Callable[[Any], object]  # Any: each table has a record type of its own
    """Name of a field, or function of a record. The value is text, a number, True, False, texts to join, or None for an
    empty cell."""
    is_link: bool = False
    """True if http(s) URLs become hyperlinks there."""
    needs: str = ""
    """Field without which the cell is empty: where it is null, or an empty list that feeds leave out. The function is
    then not called."""

    @property
    def value_of(self) -> Callable[[Any], object]:  # Any: as above
        """Returns the value of a record."""
        return attrgetter(self.value) if isinstance(self.value, str) else self.value


def of_fields(**widths: int) -> Sequence[Column]:
    """Columns of fields under their own names, by their widths."""
    return [Column(name, width, name) for name, width in widths.items()]


def _redirects(url: UrlRecord) -> Sequence[str] | None:
    """Status and URL of each redirect."""
    return None if url.reply is None else [f"{hop.status} {hop.url}" for hop in url.reply.redirects]


def _final_url(url: UrlRecord) -> str | None:
    """URL that a redirect led to."""
    return url.reply.final_url if url.reply is not None and url.reply.final_url != url.loc else None


def _noindex(url: UrlRecord) -> object:
    """True or False; the names of the crawlers if the page tells only some of them."""
    if url.reply is None or url.reply.noindex:
        return url.reply and True
    return url.reply.noindex_agents or url.reply.noindex


def _number(namespace: Namespace, url: UrlRecord) -> int | None:
    """Number of objects of a namespace."""
    return len(namespace.objects(url)) or None


def _blocked_for(url: UrlRecord) -> object:
    """Names of the crawlers; `none` if robots.txt allows all; None if it was not judged."""
    return None if url.blocked_for is None else url.blocked_for or "none"


def _usage(use: str, url: UrlRecord) -> object:
    """Preference on a use."""
    return url.usage and getattr(url.usage, use)


def _usage_by(url: UrlRecord) -> Sequence[str]:
    """What states each preference: `train: robots.txt line 12`."""
    places = {use: getattr(url.usage, f"{use}_by") for use in Use if url.usage is not None}
    return [f"{use}: {place}" for use, place in places.items() if place]


def _fetched(url: UrlRecord) -> Sequence[str]:
    """Crawlers with the day of their last request: `Googlebot 2026-11-20`."""
    return [f"{crawler} {time[:DATE_LENGTH]}" for crawler, time in (url.fetched or {}).items()]


URLS = (
    Column("loc", 90, "loc", is_link=True),
    Column("status", 10, lambda url: url.reply and url.reply.status, needs="reply"),
    Column("status_error", 14, lambda url: url.reply and status_error(url.reply), needs="reply"),
    *of_fields(indexable=11, indexability=16),
    Column("final_status", 12, lambda url: url.reply and url.reply.final_status, needs="reply"),
    Column("final_url", 40, _final_url, needs="reply"),
    Column("redirects", 40, _redirects, needs="reply"),
    Column("canonical", 40, lambda url: url.reply and url.reply.canonical, needs="reply"),
    Column("target", 40, lambda url: url.target and url.target.url, needs="target"),
    Column("target_indexability", 18, lambda url: url.target and url.target.indexability, needs="target"),
    Column("noindex", 10, _noindex, needs="reply"),
    Column("title", 40, lambda url: url.reply and url.reply.title, needs="reply"),
    Column("h1", 40, lambda url: url.reply and url.reply.h1, needs="reply"),
    Column("words", 9, lambda url: url.reply and url.reply.words, needs="reply"),
    Column("blocked_for", 20, _blocked_for, needs="blocked_for"),
    *(Column(use.value, 9, partial(_usage, use), needs="usage") for use in Use),
    Column("usage_by", 30, _usage_by, needs="usage"),
    Column("fetched", 30, _fetched, needs="fetched"),
    Column("google_verdict", 9, lambda url: url.google and url.google.verdict, needs="google"),
    Column("google_reason", 30, lambda url: url.google and url.google.reason, needs="google"),
    Column("google_canonical", 40, lambda url: url.google and url.google.canonical, needs="google"),
    Column("google_last_crawl", 22, lambda url: url.google and url.google.last_crawl, needs="google"),
    *of_fields(lastmod=22, changefreq=12, priority=9),
    *(Column(one.field, max(9, len(one.field) + 1), partial(_number, one), needs=one.field) for one in OWN),
    Column("segment", 16, "segment"),
    Column("problems", 40, "issues"),
    *of_fields(sitemap=50, line=9, change=11, what_changed=14, changed_fields=0),
    Column("elapsed_ms", 0, lambda url: url.reply and url.reply.elapsed_ms, needs="reply"),
    Column("error", 0, lambda url: url.reply and url.reply.error, needs="reply"),
    *of_fields(loc_raw=0, lastmod_at=0),
    Column("extra", 0, lambda url: url.extra and list(url.extra), needs="extra"),
    Column("recovered", 0, "recovered"),
)
"""Columns of url records, in order."""


def values_of(columns: Iterable[Column], rows: Sequence[Any]) -> Iterator[Sequence[Any]]:  # Any: as in `Column`
    """Yield the values of each column. `rows`: records of one type, at least one."""
    fields = _Fields(rows)
    for column in columns:
        if isinstance(column.value, str):
            yield fields[column.value]
        elif column.needs and _is_unset(column.needs, fields[column.needs]):
            yield [None] * len(rows)
        else:
            yield list(map(column.value, rows))


def _is_unset(field: str, values: Sequence[object]) -> bool:
    unset = (None,) if field in KEPT_WHEN_EMPTY else (None, ())
    return values[0] in unset and values.count(values[0]) == len(values)


class _Fields(dict[str, Sequence[Any]]):  # Any: as in `Column`
    """The values of each field."""

    def __init__(self, rows: Sequence[Any]) -> None:  # Any: as in `Column`
        self._rows = rows

    def __missing__(self, name: str) -> Sequence[Any]:  # Any: as in `Column`
        values = list(map(attrgetter(name), self._rows))
        self[name] = values
        return values


SEPARATORS = ",;\t\r\n"
"""Characters at which spreadsheets split lines into cells, depending on the user's locale."""
DELIMITER = ","
_QUOTED = ',"\r\n'
"""Characters for which `csv.writer` quotes a cell by default."""

_UNSEEN = r"""[\s\x00-\x20\x7f-\xa0\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"']*+"""
"""Invisible characters and quotes, which may precede a formula."""
_UNSEEN_WITHIN = rf"(?:(?![\t\r\n]){_UNSEEN[:-2]})*+"
"""The same after a separator, stopping at the next one, which keeps matching time linear."""
_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
"""Start of a formula, including full-width forms. Source: https://owasp.org/www-community/attacks/CSV_Injection"""
_FORMULA = re.compile(rf"'*+[\t\r\n]|{_UNSEEN}{_SIGN}")
"""Text to prefix with `'`. Leading `'` are skipped, so that no two texts give the same cell."""
_NUMBER = r"-[0-9]+(?:\.[0-9]+)?"
_JSON_NUMBER = rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?[,\]}}]"

_ONLY_IN_JSON = ("e", "0.0000", "null")
"""What a number may contain of which JSON and `str` differ: exponents, which begin elsewhere; NaN, infinity."""
_BETWEEN = "\x00"
"""Between texts that are searched together."""
_IN_QUESTION = re.compile(f"{_BETWEEN}[^0-9A-Za-z]")
"""The start of a text that may be a formula, or a NUL in one."""

_NUMBERS = frozenset({int, float, NoneType})
_SHOWN_IF_FALSE = frozenset({int, float, bool})
_TRUTHS = frozenset({bool, NoneType})
_TRUTH_CELLS = {True: "true", False: "false", None: ""}
_TEXTS = frozenset({str, NoneType})
_LISTS = frozenset({list, tuple})


class Constant(list[str]):
    """A column with one text throughout."""


class Cells:
    """Converts values to cells that a spreadsheet does not run as formulas.

    `delimiter`: cell separator of the table.
    """

    def __init__(self, delimiter: str = DELIMITER) -> None:
        self._separators = [each for each in SEPARATORS if each != delimiter]
        between = f"([{''.join(self._separators)}])"
        self._inner = re.compile(rf"{between}(?={_UNSEEN_WITHIN}{_SIGN})(?!{_NUMBER}(?:[{SEPARATORS}]|$))")
        self._put_in = re.compile(rf"{between}'(?={_UNSEEN_WITHIN}{_SIGN})")
        self._inner_json = re.compile(rf"{between}({_UNSEEN_WITHIN})(?!{_JSON_NUMBER})({_SIGN})")

    def disarmed(self, text: str) -> str:
        """Insert `'` where a spreadsheet would run the text, or what it takes for a cell of it, as a formula. Negative
        numbers stay unchanged."""
        if self._is_split(text):
            text = self._inner.sub(r"\1'", text)
        return f"'{text}" if _FORMULA.match(text) and not re.fullmatch(_NUMBER, text) else text

    def armed(self, text: str) -> str:
        """Reverse `disarmed`; any other text is returned unchanged."""
        shown = text.removeprefix("'")
        candidates = (self._put_in.sub(r"\1", shown), shown, self._put_in.sub(r"\1", text))
        return next((candidate for candidate in candidates if self.disarmed(candidate) == text), text)

    def disarmed_json(self, text: str) -> str:
        """Escape signs in JSON that a spreadsheet would take for the start of a formula; the value stays the same."""
        return self._inner_json.sub(_escaped, text) if self._is_split(text) else text

    def cell(self, value: object, structure: Callable[[object], str]) -> object:
        """Convert one value to disarmed text or a number. Null and empty values become an empty cell; `structure`
        converts lists and objects."""
        if isinstance(value, str):
            return self.disarmed(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, float):
            return ""
        return structure(value) if value else ""

    def column(
        self,
        values: Sequence[Any],  # Any: a feed may hold any item
        structure: Callable[[object], str],
        join: str | None = None,
    ) -> Sequence[object]:
        """Convert a column; same result as `cell` for each value, but faster. `join`: what `structure` joins lists of
        texts by, if it does."""
        first = next(iter(values), None)
        if (isinstance(first, (str, NoneType)) or first == ()) and values.count(first) == len(values) > 1:
            return Constant([self.disarmed(first) if first else ""] * len(values))
        try:
            return self._texts(values, _BETWEEN.join(["", *values]))
        except TypeError:
            kinds = set(map(type, values))
        if kinds <= _TEXTS:
            return self._texts(values, _BETWEEN.join(["", *filter(None, values)]))
        if kinds.isdisjoint(_SHOWN_IF_FALSE) and not any(values):
            return Constant([""] * len(values))
        if kinds <= _TRUTHS:
            if values.count(first) == len(values):
                return Constant([_TRUTH_CELLS[first]] * len(values))
            return [_TRUTH_CELLS[value] for value in values]
        if kinds <= _NUMBERS and (float not in kinds or math.isfinite(sum(filter(None, values)))):
            return values
        if join is not None and not kinds.isdisjoint(_LISTS):
            joined = [join.join(value) if is_texts(value) else value for value in values]
            return self.column(joined, structure)
        return [self.cell(value, structure) for value in values]

    def _texts(self, values: Sequence[Any], together: str) -> Sequence[object]:  # Any: texts and None
        if self._is_split(together):
            shown = {text: text and self.disarmed(text) for text in set(values)}
            return [shown[text] for text in values]
        if _IN_QUESTION.search(together) is None:
            return values
        # No formula starts with a letter or digit.
        return [text if text is None or text[:1].isalnum() else self.disarmed(text) for text in values]

    def _is_split(self, text: str) -> bool:
        return any(separator in text for separator in self._separators)


def cell_reader(delimiter: str) -> Callable[[str], str]:
    """What reads the cells of a table that may be one of ours."""
    return Cells(delimiter).armed


def quoted(values: Sequence[Any]) -> Sequence[str]:  # Any: texts, numbers and None
    """Quote a column of several as `csv.writer` does by default, but faster."""
    if isinstance(values, Constant):
        return Constant([_quoted(values[0])] * len(values))
    try:
        texts, together = values, "".join(values)
    except TypeError:
        if {int, float}.issuperset(map(type, values)):
            return _numbers(values)
        texts = ["" if value is None else str(value) for value in values]
        together = "".join(texts)
    if not any(character in together for character in _QUOTED):
        return texts
    return list(map(_quoted, texts))


def lines_of(columns: Sequence[Sequence[Any]]) -> list[str]:  # Any: as in `quoted`
    """Join columns to lines as `csv.writer` does by default."""
    parts: list[Sequence[str]] = []
    for column in map(quoted, columns):
        if parts and isinstance(column, Constant) and isinstance(parts[-1], Constant):
            parts[-1] = Constant([f"{parts[-1][0]},{column[0]}"] * len(column))
        else:
            parts.append(column)
    return list(map(",".join, zip(*parts, strict=True)))


def _numbers(values: Sequence[float]) -> list[str]:
    """`str` of each, three times as fast."""
    texts = msgspec.json.encode(values).decode()[1:-1]
    if any(mark in texts for mark in _ONLY_IN_JSON):
        return list(map(str, values))
    return texts.split(",")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(map(text.__contains__, _QUOTED)) else text


def is_texts(value: object) -> TypeGuard[Sequence[str]]:
    """True for a list of texts, also an empty one."""
    return isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value)


def _escaped(found: re.Match[str]) -> str:
    separator, unseen, sign = found.groups()
    return f"{separator}{unseen}\\u{ord(sign):04x}"
