"""Dates of videos and articles: how they are written, and between which moments they lie."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from sitemapcrawler.reader.dates import dialect, parse

W3C = "https://www.w3.org/TR/NOTE-datetime"
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
TO_THE_MINUTE = re.compile(r"[^T]+T\d\d:\d\d(?!:)[^T]*", re.ASCII)
LIKE_ONE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?", re.ASCII)
"""The shape of a date, whether or not there is such a day."""
EAST, WEST = timedelta(hours=14), timedelta(hours=12)
"""The zones where a day begins first and ends last."""


def form(value: str) -> str:
    """How a date is written: `day`, `second`, `minute` (W3C, with a zone), `second-no-zone`, `minute-no-zone`,
    `coarse` (no day), `day-zone` (legal by XML Schema alone), `impossible` (no such day, hour or zone) or `other`."""
    found = dialect(value)
    if found in ("w3c", "w3c-no-zone"):
        if "T" not in value:
            return "day" if DAY.fullmatch(value) else "coarse"
        precision = "minute" if TO_THE_MINUTE.fullmatch(value) else "second"
        return precision if found == "w3c" else f"{precision}-no-zone"
    if found is None and LIKE_ONE.fullmatch(value):
        return "impossible"
    return "day-zone" if found == "xsd-date" else "other"


def span(value: str) -> tuple[datetime, datetime] | None:
    """The earliest and the latest moment that a date may mean, whatever zone it leaves out; None for no such date."""
    shape, moment = form(value), parse(value)
    if moment is None or shape in ("coarse", "other"):
        return None
    try:
        if shape in ("day", "day-zone"):
            return moment - EAST, moment + timedelta(days=1) + WEST
        return (moment - EAST, moment + WEST) if shape.endswith("no-zone") else (moment, moment)
    except OverflowError:
        return None
