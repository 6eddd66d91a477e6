"""Parser for dates, by the standard that applies to each element, and corrections of other values with one meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from sitemapcrawler.reader.dates import FARTHEST_ZONE, MONTHS, WEEKDAYS, parse

MAX_BYTES = 100
"""Maximum length of a date, frequency or priority in bytes. Source: Yandex,
https://yandex.com/support/webmaster/en/controlling-robot/sitemap.html"""
EAST, WEST = timedelta(hours=14), timedelta(hours=12)
"""Offsets of the time zones where a day begins first and ends last."""


class Standard(StrEnum):
    """Standard that a date must follow."""

    W3C = "W3C Datetime"
    """For sitemaps, and for Dublin Core and Atom 0.3 in feeds."""
    RFC3339 = "RFC 3339"
    """For Atom 1.0 (RFC 4287, 3.3)."""
    RFC822 = "RFC 822"
    """For RSS 2.0, which also allows four-digit years."""


class DateForm(StrEnum):
    """Notation of a date."""

    LEGAL = "legal"
    NO_ZONE = "legal but for the missing time zone"
    COARSE = "legal, but without the day that XML Schema requires"
    NO_SECONDS = "legal, but without the seconds that XML Schema requires"
    ZONED_DAY = "a day with a time zone, which XML Schema allows and W3C Datetime does not"
    IMPOSSIBLE = "legal in form, but there is no such moment"
    OTHER = "not legal"
    TOO_LONG = "longer than `MAX_BYTES`"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Written:
    """A parsed date."""

    form: DateForm
    why: str = ""
    """Why the date is impossible."""
    day: str = ""
    """The day, `YYYY-MM-DD`; the first of the month or year if it names no day; empty for none."""
    zoned: bool = False
    """True if the date names its zone."""
    is_date: bool = False
    """True if the date names a day that exists."""


ISO = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.[0-9]+)?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?|(?P<day_zone>Z|[+-][0-9]{2}:[0-9]{2}))?)?)?"
)
"""Formats of https://www.w3.org/TR/NOTE-datetime (which includes RFC 3339) and XML Schema, with an optional zone."""
RFC822 = re.compile(
    rf"(?:(?P<weekday>{'|'.join(WEEKDAYS)})\s*,\s*)?(?P<day>[0-9]{{1,2}})\s+(?P<name>{'|'.join(MONTHS)})\s+"
    r"(?P<year>[0-9]{4}|[0-9]{2})\s+(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?"
    r"(?:\s+(?:(?P<zone>[+-][0-9]{4}|UT|GMT|Z|[ECMP][SD]T)|[A-Z]))?(?:\s*\([^()]*\))?",
    re.IGNORECASE | re.ASCII,
)
"""RFC 822, 5. A zone of one letter has no meaning (RFC 2822, 4.3)."""
NO_DATE = re.compile(r"0000-00-00|-0001-11-30|(?:Wed, )?30 Nov -0001")
"""The empty date of MySQL, and PHP's notation of it."""


@lru_cache(maxsize=1024)
def written(text: str, standard: Standard) -> Written:
    """Parse a date without surrounding whitespace. Cached, since several rules call it and dates repeat."""
    if not text:
        return Written(DateForm.EMPTY)
    if size_of(text) > MAX_BYTES:
        return Written(DateForm.TOO_LONG)
    if NO_DATE.match(text):
        return Written(DateForm.IMPOSSIBLE, "it is the empty date of a database")
    found = (RFC822 if standard is Standard.RFC822 else ISO).fullmatch(text)
    parts = {name: part for name, part in found.groupdict().items() if part} if found else {}
    form = _form(parts, standard)
    if form is DateForm.OTHER:
        return Written(form)
    day = _day(parts)
    why = "there is no such day" if day is None else _wrong(parts, day)
    if day is None or why:
        return Written(DateForm.IMPOSSIBLE, why)
    if form is DateForm.ZONED_DAY:
        return Written(form)
    return Written(form, "", day.isoformat(), "zone" in parts, True)


def span(text: str) -> tuple[datetime, datetime] | None:
    """Return the earliest and latest moment a date of a video or article may mean if its zone is missing.

    Returns None if the date is invalid or names no day.
    """
    form, moment = written(text, Standard.W3C).form, parse(text)
    if moment is None:
        return None
    try:
        if form is DateForm.ZONED_DAY or (form is DateForm.LEGAL and "T" not in text):
            return moment - EAST, moment + timedelta(days=1) + WEST
        if form is DateForm.NO_ZONE:
            return moment - EAST, moment + WEST
    except OverflowError:
        return None
    return (moment, moment) if form in (DateForm.LEGAL, DateForm.NO_SECONDS) else None


def size_of(text: str) -> int:
    """Size of a text in UTF-8, in bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


def _form(parts: Mapping[str, str], standard: Standard) -> DateForm:
    timed, exact, zoned = "hour" in parts, "second" in parts, "zone" in parts
    if standard is Standard.W3C:
        if "day_zone" in parts:
            return DateForm.ZONED_DAY
        if parts and not timed:
            return DateForm.LEGAL if "day" in parts else DateForm.COARSE
        if timed and zoned and not exact:
            return DateForm.NO_SECONDS
    elif standard is Standard.RFC822:
        exact = timed
    if not exact:
        return DateForm.OTHER
    return DateForm.LEGAL if zoned else DateForm.NO_ZONE


def _day(parts: Mapping[str, str]) -> date | None:
    month = MONTHS.index(parts["name"].lower()) + 1 if "name" in parts else int(parts.get("month", 1))
    year = int(parts["year"])
    if len(parts["year"]) == len("24"):
        year += 2000 if year < 50 else 1900  # RFC 2822, 4.3
    try:
        return date(year, month, int(parts.get("day", 1)))
    except ValueError:
        return None


def _wrong(parts: Mapping[str, str], day: date) -> str:
    """Describe what is wrong with weekday, time or zone; empty if they are valid."""
    if "weekday" in parts and WEEKDAYS.index(parts["weekday"].lower()) != day.weekday():
        return f"{day} is a {day:%A}"
    if int(parts.get("hour", 0)) > 23 or int(parts.get("minute", 0)) > 59 or int(parts.get("second", 0)) > 59:
        return "there is no such time of day"
    zone = parts.get("zone") or parts.get("day_zone", "")
    if zone[:1] in ("+", "-"):
        hours, minutes = int(zone[1:3]), int(zone[-2:])
        if minutes > 59 or hours * 60 + minutes > FARTHEST_ZONE:
            return "there is no such time zone"
    return ""


YES_NO = {
    "yes": "yes", "true": "yes", "1": "yes", "y": "yes", "no": "no", "false": "no", "0": "no", "n": "no",
}  # fmt: skip
MAX_DURATION_S = 28_800
"""Maximum duration of a video. Source: https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps"""
_GROUPED = re.compile(r"\d{1,3}(?:[,.' ]\d{3})+", re.ASCII)
_CLOCK = re.compile(r"(?:(\d{1,2}):)?([0-5]?\d):([0-5]\d)", re.ASCII)
_PERIOD = re.compile(r"(?=.)(?:PT(?=\d))?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?", re.ASCII | re.IGNORECASE)
"""ISO 8601: `PT1H2M3S`."""
_FRACTION = re.compile(r"()()(\d+)\.\d+", re.ASCII)
_DECIMAL_COMMA = re.compile(r"\d,\d+", re.ASCII)


def yes_or_no(value: str) -> str | None:
    """Return yes or no for the truth values of programs; None for any other word."""
    return YES_NO.get(value.strip().lower())


def seconds(value: str) -> str | None:
    """Return the whole seconds of a duration such as `1:02:03`, `PT1H2M3S` or `2459.1`; None if it is not allowed."""
    text = value.strip()
    found = _CLOCK.fullmatch(text) or _PERIOD.fullmatch(text) or _FRACTION.fullmatch(text)
    if found is None:
        return None
    total = int(found[1] or 0) * 3600 + int(found[2] or 0) * 60 + int(found[3] or 0)
    return str(total) if 0 < total <= MAX_DURATION_S else None


def ungrouped(value: str) -> str | None:
    """Return a number without separators of thousands; None if it has none."""
    return re.sub(r"\D", "", value) if _GROUPED.fullmatch(value.strip()) else None


def decimal_point(value: str) -> str | None:
    """Return a number with a point for its comma; None if it has none."""
    return value.replace(",", ".") if _DECIMAL_COMMA.fullmatch(value.strip()) else None
