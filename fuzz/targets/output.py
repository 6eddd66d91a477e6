"""Untrusted text in a table or on a terminal: it survives a round trip through CSV, and none of it is run."""

from __future__ import annotations

import csv
import io
import re
import unicodedata

from fuzz.inputs import in_time
from sitemapcrawler.feeds.columns import Cells
from sitemapcrawler.urls.display import MAX_TEXT, inert

MAX_BYTES = 256
SIGNS = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
"""Start of a formula. Source: https://owasp.org/www-community/attacks/CSV_Injection"""


CELLS = Cells()


def check(data: bytes) -> None:
    """Check the input as a value of a row, and as the text of a finding."""
    text = data.decode("utf-8", "replace")
    with in_time():
        _check_cell(text)
        _check_terminal(text)


def _check_cell(text: str) -> None:
    cell = CELLS.disarmed(text)
    assert [each or "" for each in CELLS.column([text, None, text], repr)] == [cell, "", cell]
    assert CELLS.cell(text, repr) == cell
    for part in re.split(r"[;\t\r\n]", cell):
        visible = "".join(char for char in part if not char.isspace() and unicodedata.category(char) != "Cc")
        assert visible[:1] not in SIGNS or _is_number(part), "a formula"
    assert not cell.startswith(("\t", "\r", "\n"))
    assert CELLS.armed(cell) == text
    written = io.StringIO(newline="")
    csv.writer(written).writerow([cell, "next"])
    assert next(csv.reader(io.StringIO(written.getvalue(), newline=""))) == [cell, "next"]


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and float(text) <= 0 and text[1:2].isdigit()
    except ValueError:
        return False


def _check_terminal(text: str) -> None:
    shown = inert(text)
    assert shown.isprintable()
    assert len(shown) <= MAX_TEXT
    assert inert(shown) == shown
