"""Dates as sitemaps and feeds write them: W3C Datetime, and the other dialects of the web where they are unambiguous.

A missing month, day or time is the first of its kind, a missing zone is UTC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

from sitemapcrawler.reader.dialects import DIALECTS, MONTHS, RFC2822_ZONES, WEEKDAYS, ZONES, simplified

MAX_LENGTH = 100
"""Characters. Source: Yandex takes 100 bytes, https://yandex.com/support/webmaster/en/controlling-robot/sitemap"""
FIRST_YEAR, LAST_YEAR = 1900, 2100
"""Years taken from the dialects. Others are of another calendar (2567 Buddhist, 1403 Persian) or a program's zero."""
W3C = re.compile(
    r"\d{4}(?:-\d\d(?:-\d\d(?P<time>T(?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d+)?)?(?P<zone>Z|[+-]\d\d:\d\d)?)?)?)?",
    re.ASCII,
)
"""The profiles of https://www.w3.org/TR/NOTE-datetime; the zone is optional here since many leave it out."""
PLAIN = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?", re.ASCII)
"""The shapes that nearly all sitemaps use."""
FARTHEST_ZONE = 14 * 60
"""Minutes from UTC; no place is farther. Source: XML Schema, part 2, 3.2.7.3"""
NEW_YEAR = "0000-01-01"
MICROSECONDS = 6
DATE_LENGTH = len("2024-05-01")
ZONE_AT = len("2024-05-01T10:00:00")
NO_HOUR = "T24"
"""An hour that W3C Datetime does not have, and `datetime` takes since Python 3.13."""


def utc(value: str) -> str | None:
    """`value` as ISO 8601 in UTC (`2024-05-01T10:00:00Z`); None where it is no date, or may be more than one."""
    if PLAIN.fullmatch(value):
        return utc_of_plain(value)
    moment = parse(value)
    return None if moment is None else iso(moment)


def iso(moment: datetime) -> str:
    """A moment as ISO 8601 in UTC; fractions of a second only where there are any."""
    return moment.astimezone(UTC).isoformat()[: -len("+00:00")] + "Z"


def utc_of_plain(value: str) -> str | None:
    """`utc` for a value whose shape is known: `YYYY-MM-DD`, or with `Thh:mm:ss` and a zone, no fraction."""
    if NO_HOUR in value:
        return None
    try:
        if len(value) == DATE_LENGTH:
            datetime.fromisoformat(value)
            return value + "T00:00:00Z"
        if value[-1] == "Z":
            datetime.fromisoformat(value)
            return value
        local, zone = value[:ZONE_AT], value[ZONE_AT:]
        moment = datetime.fromisoformat(local)
        return local + "Z" if zone == "+00:00" else (moment - _plain_offset(zone)).isoformat() + "Z"
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=256)
def _plain_offset(zone: str) -> timedelta:
    """The offset of a zone such as `+02:00`. Kept, since a file has one or two of them and there is no time to lose."""
    return _offset({"offset": zone})


def parse(value: str) -> datetime | None:
    """The moment `value` names, in UTC; None where it names none, or may name more than one."""
    found = _read(value)
    return None if found is None else found[1]


def dialect(value: str) -> str | None:
    """The way in which a date is written: `w3c`, `w3c-no-zone` or a name in `DIALECTS`; None where `parse` has none."""
    found = _read(value)
    return None if found is None else found[0]


def _read(value: str) -> tuple[str, datetime] | None:
    if len(value) > MAX_LENGTH:
        return None
    try:
        return _w3c(value.strip()) or _other(simplified(value))
    except (ValueError, LookupError, OverflowError):
        return None


def _w3c(value: str) -> tuple[str, datetime] | None:
    match = W3C.fullmatch(value)
    if match is None:
        return None
    if match["zone"] not in (None, "Z"):
        _offset({"offset": match["zone"]})
    moment = datetime.fromisoformat(value + NEW_YEAR[len(value) :])
    if moment.tzinfo is not None:
        return "w3c", moment.astimezone(UTC)
    return "w3c-no-zone" if match["time"] else "w3c", moment.replace(tzinfo=UTC)


def _other(text: str) -> tuple[str, datetime] | None:
    for name, pattern in DIALECTS:
        match = pattern.fullmatch(text)
        if match is not None:
            return name, _moment({part: found for part, found in match.groupdict().items() if found is not None})
    return None


def _moment(written: Mapping[str, str]) -> datetime:
    """The moment in the groups of a pattern. Raises ValueError or LookupError where there is none."""
    if "epoch" in written:
        return _since_epoch(int(written["epoch"])) + _fraction(written)
    local = datetime.combine(_date(written), _time(written), UTC)
    return local + _fraction(written) - _offset(written)


def _since_epoch(seconds: int) -> datetime:
    moment = datetime.fromtimestamp(seconds, UTC)
    if moment.year > LAST_YEAR:
        raise ValueError("too far in the future for a time stamp")
    return moment


def _fraction(written: Mapping[str, str]) -> timedelta:
    digits = written.get("fraction", "")[:MICROSECONDS]
    return timedelta(microseconds=int(digits.ljust(MICROSECONDS, "0")))


def _date(written: Mapping[str, str]) -> date:
    month, day = _month_and_day(written)
    found = date(_year(written["year"]), month, day)
    if "weekday" in written and WEEKDAYS[written["weekday"]] != found.weekday():
        raise ValueError("a date on another weekday")
    return found


def _year(digits: str) -> int:
    """The year; one of two or three digits, which only RFC 2822 and RFC 850 have, is read as RFC 2822, 4.3, says."""
    year = int(digits)
    if len(digits) < len("2024"):
        year += 2000 if len(digits) == len("24") and year < 50 else 1900
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError("no year of today's calendar")
    return year


def _month_and_day(written: Mapping[str, str]) -> tuple[int, int]:
    if "name" in written:
        return MONTHS[written["name"]], int(written["day"])
    if "month" in written:
        return int(written["month"]), int(written["day"])
    one, other = int(written["one"]), int(written["other"])
    if one == other or other > 12:
        return one, other
    if one > 12:
        return other, one
    raise ValueError("either may be the day")


def _time(written: Mapping[str, str]) -> time:
    hour = int(written.get("hour", 0))
    if "half" in written:
        if not 1 <= hour <= 12:
            raise ValueError("no hour of half a day")
        hour = hour % 12 + (12 if written["half"] == "p" else 0)
    return time(hour, int(written.get("minute", 0)), int(written.get("second", 0)))


def _offset(written: Mapping[str, str]) -> timedelta:
    if "rfc2822_zone" in written:
        return timedelta(hours=RFC2822_ZONES[written["rfc2822_zone"]])
    if "offset" not in written:
        return timedelta(hours=ZONES[written.get("zone", "z")])
    digits = written["offset"][1:].replace(":", "")
    minutes = int(digits[2:] or 0)
    if minutes > 59 or int(digits[:2]) * 60 + minutes > FARTHEST_ZONE:
        raise ValueError("no such offset")
    return timedelta(hours=int(digits[:2]), minutes=minutes) * (-1 if written["offset"][0] == "-" else 1)
