"""How long a server asks to be left alone. Source: RFC 9110, 10.2.3"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

MAX_LENGTH = 100  # characters; the longest form has 33
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})"
_TIME = r"(?P<hour>\d\d?):(?P<minute>\d\d):(?P<second>\d\d)"
# The day of the week says nothing that the rest does not, and is not compared. A zone is GMT, whatever it says.
_FORMS = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"[a-z]{{3}}, (?P<day>\d\d?) {_MONTH} (?P<year>\d{{4}}) {_TIME}(?: (?:GMT|UTC|Z|[+-]0000))?",
        rf"[a-z]{{6,9}}, (?P<day>\d\d?)-{_MONTH}-(?P<year>\d\d) {_TIME}(?: (?:GMT|UTC))?",
        rf"[a-z]{{3}} {_MONTH} (?P<day>\d\d?) {_TIME} (?P<year>\d{{4}})",
    )
)
"""IMF-fixdate, the form of RFC 850, and that of C's asctime. Source: RFC 9110, 5.6.7"""
LEAP_SECOND = 60


def http_date(text: str, now: datetime) -> datetime | None:
    """The moment that a header names, in UTC; None where it is no date.

    `now`, with a zone, tells the century of a year of two digits: one that seems more than 50 years away is past.
    """
    if len(text) > MAX_LENGTH:
        return None
    written = " ".join(text.split())
    found = next(filter(None, (form.fullmatch(written) for form in _FORMS)), None)
    if found is None:
        return None
    try:
        return _moment(found, now)
    except ValueError:
        return None


def _moment(found: re.Match[str], now: datetime) -> datetime:
    second = int(found["second"])
    leap = timedelta(seconds=second == LEAP_SECOND)
    year = _year(found["year"], now.year)
    month = _MONTHS.index(found["month"].lower()) + 1
    clock = int(found["hour"]), int(found["minute"]), second - leap.seconds
    try:
        return datetime(year, month, int(found["day"]), *clock, tzinfo=UTC) + leap
    except OverflowError:
        raise ValueError("after the last second there is") from None


def _year(digits: str, this_year: int) -> int:
    year = int(digits)
    if len(digits) > len("94"):
        return year
    year += this_year - this_year % 100
    return year - 100 if year > this_year + 50 else year


MAX_RETRY_AFTER = 600.0
"""Seconds. A server that asks for more is not waited for: WordPress asks for as much when it is being updated."""
# Fractions are none by the grammar, and sent all the same; so are several headers, which join with a comma.
_SECONDS = re.compile(r"\s*([+-]?)([0-9]+)(\.[0-9]*)?\s*(?:s|sec|seconds)?\s*(?:,.*)?", re.IGNORECASE | re.DOTALL)
_MANY_DIGITS = 12


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds from `now` (with a zone) that a Retry-After header asks for: 0 to `MAX_RETRY_AFTER`.

    A negative number and a date that is past are 0; what is neither number nor date is None.
    """
    found = _SECONDS.fullmatch(value[:1000])
    if found is not None:
        whole = found[2].lstrip("0")
        seconds = MAX_RETRY_AFTER if len(whole) > _MANY_DIGITS else float(f"{whole or 0}{(found[3] or '')[:9]}")
        return 0.0 if found[1] == "-" else min(seconds, MAX_RETRY_AFTER)
    moment = http_date(value, now)
    return None if moment is None else min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER)
