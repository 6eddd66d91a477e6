"""Dates as sitemaps write them: W3C Datetime, and RFC 2822 in feeds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

W3C = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?)?)?)?", re.ASCII
)
"""Year, month, day, hour, minute, second, fraction, zone: https://www.w3.org/TR/NOTE-datetime; the zone is optional
here since many leave it out."""
PLAIN = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?", re.ASCII)
"""The shapes that nearly all sitemaps use."""
MICROSECONDS = 6
DATE_LENGTH = len("2024-05-01")


def utc(value: str) -> str | None:
    """`value` as ISO 8601 in UTC (`2024-05-01T10:00:00Z`); None where it is no date.

    A missing month, day or time is the first of its kind, a missing zone is UTC.
    """
    if PLAIN.fullmatch(value):
        return utc_of_plain(value)
    moment = parse(value)
    return None if moment is None else iso(moment)


def iso(moment: datetime) -> str:
    """A moment as ISO 8601 in UTC; fractions of a second only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def utc_of_plain(value: str) -> str | None:
    """`utc` for a value whose shape is known: `YYYY-MM-DD`, or with `Thh:mm:ss` and a zone, no fraction."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if len(value) == DATE_LENGTH:
        return f"{value}T00:00:00Z"
    return f"{value[:19]}Z" if value.endswith(("+00:00", "Z")) else iso(moment)


def parse(value: str) -> datetime | None:
    """The moment `value` names, with its zone."""
    try:
        return _w3c(value) or _rfc2822(value)
    except (ValueError, OverflowError):
        return None


def _w3c(value: str) -> datetime | None:
    match = W3C.fullmatch(value)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    micro = int((fraction or "0")[:MICROSECONDS].ljust(MICROSECONDS, "0"))
    date = int(year), int(month or 1), int(day or 1)
    return datetime(*date, int(hour or 0), int(minute or 0), int(second or 0), micro, UTC) - _offset(zone)


def _offset(zone: str | None) -> timedelta:
    if zone in (None, "Z"):
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 23 or minutes > 59:
        raise ValueError(f"no such offset: {zone}")
    return timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)


def _rfc2822(value: str) -> datetime | None:
    if not value[:1].isalnum() or ("," not in value[:12] and not value[:2].strip().isdigit()):
        return None
    moment = parsedate_to_datetime(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
