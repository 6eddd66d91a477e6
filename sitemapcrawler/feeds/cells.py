"""Table cells that a spreadsheet does not run as formulas (CSV injection)."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import NoneType
from typing import Any

SEPARATORS = ",;\t\r\n"
"""Characters at which spreadsheets split lines, depending on the country of the user."""
DELIMITER = ","
"""Default delimiter."""

_UNSEEN = r"""[\s\x00-\x20\x7f-\xa0\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"']*+"""
"""Invisible characters and quotes: a formula may follow them."""
_UNSEEN_WITHIN = rf"(?:(?![\t\r\n]){_UNSEEN[:-2]})*+"
"""The same behind a separator, up to the next one: the time that a text takes grows with its length alone."""
_SIGN = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
"""Begins a formula, also full-width. Source: https://owasp.org/www-community/attacks/CSV_Injection"""
_FORMULA = re.compile(rf"'*+[\t\r\n]|{_UNSEEN}{_SIGN}")
"""Also behind a `'` that was there before, so that each text has a cell of its own."""
_NUMBER = r"-[0-9]+(?:\.[0-9]+)?"
_JSON_NUMBER = rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?[,\]}}]"

_NUMBERS = frozenset({int, float, NoneType})
_TEXTS = frozenset({str, NoneType})


class Cells:
    """Makes the cells of a table.

    `delimiter`: what stands between them; None where cells are quoted in a way that spreadsheets do not know, so that
    they split cells at each of `SEPARATORS`. `written`: gives a text as the encoding of the table has it, where that
    leaves out or puts in characters.
    """

    def __init__(self, delimiter: str | None = DELIMITER, written: Callable[[str], str] | None = None) -> None:
        self._separators = [each for each in SEPARATORS if each != delimiter]
        between = f"([{''.join(self._separators)}])"
        self._inner = re.compile(rf"{between}(?={_UNSEEN_WITHIN}{_SIGN})(?!{_NUMBER}(?:[{SEPARATORS}]|$))")
        self._put_in = re.compile(rf"{between}'(?={_UNSEEN_WITHIN}{_SIGN})")
        self._inner_json = re.compile(rf"{between}({_UNSEEN_WITHIN})(?!{_JSON_NUMBER})({_SIGN})")
        self._written = written

    def disarmed(self, text: str) -> str:
        """The text, with a `'` where a spreadsheet would run it as a formula, be it as a whole or behind what it takes
        for the end of a cell; negative numbers stay."""
        if self._written:
            text = self._written(text)
        if self._is_split(text):
            text = self._inner.sub(r"\1'", text)
        return f"'{text}" if _FORMULA.match(text) and not re.fullmatch(_NUMBER, text) else text

    def armed(self, text: str) -> str:
        """The text that `disarmed` has made this one of; any other as it is."""
        shown = text.removeprefix("'")
        candidates = (self._put_in.sub(r"\1", shown), shown, self._put_in.sub(r"\1", text))
        return next((candidate for candidate in candidates if self.disarmed(candidate) == text), text)

    def disarmed_json(self, text: str) -> str:
        """JSON of the same meaning, with an escape for each sign that a spreadsheet would take for the beginning of a
        formula."""
        if self._written:
            text = self._written(text)
        return self._inner_json.sub(_escaped, text) if self._is_split(text) else text

    def cell(self, value: Any, structure: Callable[[Any], str]) -> Any:
        """Text (disarmed) or number for one value: nothing for null and what is empty, true or false, and what
        `structure` makes of a list or an object."""
        if isinstance(value, str):
            return self.disarmed(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        if isinstance(value, float):
            return ""
        return structure(value) if value else ""

    def column(self, values: Sequence[Any], structure: Callable[[Any], str]) -> Iterable[Any]:
        """The cells of one column; the same as `cell` for each value, faster."""
        kinds = set(map(type, values))
        if kinds <= _NUMBERS and (float not in kinds or math.isfinite(sum(filter(None, values)))):
            return values
        if kinds <= _TEXTS and not self._written and not self._is_split("".join(filter(None, values))):
            # No formula starts with a letter or digit.
            return [text if text is None or text[:1].isalnum() else self.disarmed(text) for text in values]
        return [self.cell(value, structure) for value in values]

    def _is_split(self, text: str) -> bool:
        return any(separator in text for separator in self._separators)


def cells_of(dialect: Any, encoding: str | None = None, errors: str | None = None) -> Cells:
    """The cells of a table in a dialect of `csv.writer`. `errors`: how it is encoded, None where what `encoding` cannot
    hold becomes backslash escapes."""
    is_usual = dialect.quoting != csv.QUOTE_NONE and dialect.quotechar == '"' and dialect.doublequote
    delimiter = dialect.delimiter if is_usual and dialect.escapechar is None else None
    return Cells(delimiter, partial(_written, encoding or "utf-8", errors) if errors else None)


def _written(encoding: str, errors: str, text: str) -> str:
    return text if text.isascii() else text.encode(encoding, errors).decode(encoding)


def _escaped(found: re.Match[str]) -> str:
    separator, unseen, sign = found.groups()
    return f"{separator}{unseen}\\u{ord(sign):04x}"
