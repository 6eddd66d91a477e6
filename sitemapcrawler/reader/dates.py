"""Parses dates as sitemaps and feeds write them: ISO 8601 and SQL, RFC 2822, English, and seconds since 1970.

A missing month, day or time defaults to the first; a missing zone to UTC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\ufeff"))
"""Zero-width space, the direction marks that some browsers write, and byte order mark."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""Numbered as by `datetime.date.weekday`."""

ZONES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3,
    "jst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
}  # fmt: skip
"""Unambiguous zone names -> offsets from UTC, in hours. Source: https://data.iana.org/time-zones/tzdb/"""
RFC2822_ZONES = {
    **ZONES, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
    "akst": -9, "akdt": -8, "hst": -10, "bst": 1,
}  # fmt: skip
"""Zone names that are unambiguous only in RFC 2822 (4.3), or with English names of months: CST is China's zone too, BST
that of Bangladesh. Military letters are omitted: they were used with either sign, so RFC 2822 reads them as UTC."""

NUMBER = "[0-9]{1,2}"
YEAR = r"(?P<year>[0-9]{4})"
SHORT_YEAR = r"(?P<year>[0-9]{2,4})"
MONTH = rf"(?P<month>{NUMBER})"
DAY = rf"(?P<day>{NUMBER})"
NTH = rf"{DAY}(?:st|nd|rd|th)?"
NAME = rf"(?P<name>{'|'.join(MONTHS)})"
WHOLE_NAME = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
"""The same with full names, which many feeds write although RFC 2822 allows only short ones."""
WEEKDAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
    r"\.?(?:, ?| )"
)
GAP = r"(?:[-/.,] ?| )"
OFFSET = r"(?P<offset>[+-][0-9]{2}(?::?[0-9]{2})?)"
NO_RANGE = "(?(second)|(?!-[0-9]{2}:))"
"""`10:00-12:00` may be the hours of an event, not a time and an offset."""
REGION = r"(?: ?\[[^\[\]]+\])?"
REMARK = r"(?: ?\([^()]*\))?"
FRACTION = r"(?:[.,](?P<fraction>[0-9]+))?"
CLOCK = rf"(?P<hour>{NUMBER}):(?P<minute>[0-9]{{2}})(?::(?P<second>[0-9]{{2}}){FRACTION})?"
COMPACT_CLOCK = r"(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?P<second>[0-9]{2})"
HALF = r"(?: ?(?P<half>[ap])\.? ?m\.?)?"
AT = r"(?: ?t ?|,? (?:at )?)"
"""Separator of date and time."""


def _zone(names: Mapping[str, int], group: str) -> str:
    return rf"(?: ?(?:(?:utc|gmt) ?|{NO_RANGE}){OFFSET}| ?(?P<{group}>{'|'.join(names)}))"


ZONE = _zone(ZONES, "zone")
RFC2822_ZONE = _zone(RFC2822_ZONES, "rfc2822_zone")
LATER = rf"(?:{AT}{CLOCK}{HALF}(?:{ZONE}{REGION}{REMARK})?)?"
ENGLISH_LATER = rf"(?:{AT}{CLOCK}{HALF}(?:{RFC2822_ZONE}{REGION}{REMARK})?)?"
DAY_AND_HOUR = "(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[01][0-9]|2[0-3])"
"""Ten digits that may also be year, month, day and hour."""

DIALECTS = [re.compile(pattern) for pattern in (
    # W3C Datetime with small deviations, SQL, days with a zone as in XML Schema, and the basic format of ISO 8601.
    rf"{YEAR}(?P<mark>[-/.]){MONTH}(?P=mark){DAY}{LATER}",
    rf"{YEAR}-{MONTH}-{DAY}(?:z|(?P<offset>[+-][0-9]{{2}}:[0-9]{{2}}))",
    rf"{YEAR}(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})(?:[t ]?{COMPACT_CLOCK}(?:{ZONE})?)?",
    # Seconds and milliseconds since 1970.
    rf"(?!{DAY_AND_HOUR}\b)(?P<epoch>[0-9]{{10}})(?:\.(?P<fraction>[0-9]+))?",
    r"(?P<epoch>[0-9]{10})(?P<fraction>[0-9]{3})",
    # Those of HTTP: RFC 2822 (with full names too), RFC 850 and asctime.
    rf"(?:{WEEKDAY})?{DAY} {NAME} {SHORT_YEAR} {CLOCK}{RFC2822_ZONE}{REMARK}",
    rf"(?:{WEEKDAY})?{DAY} {WHOLE_NAME} {SHORT_YEAR},? {CLOCK}{HALF}{RFC2822_ZONE}{REMARK}",
    rf"{WEEKDAY}{DAY}-{NAME}-(?P<year>[0-9]{{2}}) {CLOCK}{RFC2822_ZONE}",
    rf"{WEEKDAY}{NAME} {DAY} {CLOCK}{ZONE}? {YEAR}",
    # English in words, and in numbers whose values tell day and month apart: `one` and `other`, in either order.
    rf"(?:{WEEKDAY})?{NTH}{GAP}(?:of )?{WHOLE_NAME}{GAP}{YEAR}{ENGLISH_LATER}",
    rf"(?:{WEEKDAY})?{WHOLE_NAME}{GAP}{NTH}{GAP}{YEAR}{ENGLISH_LATER}",
    rf"{YEAR}{GAP}{WHOLE_NAME}{GAP}{NTH}{ENGLISH_LATER}",
    rf"(?P<one>{NUMBER})(?P<mark>[-/.])(?P<other>{NUMBER})(?P=mark){YEAR}{LATER}",
)]  # fmt: skip
"""Pattern of each notation, for `simplified` text. The first match decides."""

MAX_LENGTH = 100
"""Characters. Source: Yandex accepts 100 bytes, https://yandex.com/support/webmaster/en/controlling-robot/sitemap"""
FIRST_YEAR, LAST_YEAR = 1900, 2100
"""Years accepted in dialects. Others are of another calendar (2567 Buddhist, 1403 Persian) or a program's zero."""
W3C = re.compile(
    r"\d{4}(?:-\d\d(?:-\d\d(?:T(?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d+)?)?(?P<zone>Z|[+-]\d\d:\d\d)?)?)?)?",
    re.ASCII,
)
"""Profiles of https://www.w3.org/TR/NOTE-datetime, with the zone optional because many sitemaps omit it."""
PLAIN = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?", re.ASCII)
"""Shapes that nearly all sitemaps use."""
SPACED = re.compile(r"(?:19|20)\d\d-\d\d-\d\d (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d", re.ASCII)
"""The most frequent other shape: that of SQL."""
FARTHEST_ZONE = 14 * 60
"""Largest offset from UTC, in minutes. Source: XML Schema, part 2, 3.2.7.3"""
NEW_YEAR = "0000-01-01"
MICROSECONDS = 6
DATE_LENGTH = len("2024-05-01")
ZONE_AT = len("2024-05-01T10:00:00")
NO_HOUR = "T24"
"""Hour that W3C Datetime forbids, but `datetime` accepts since Python 3.13."""


def utc(value: str) -> str | None:
    """Convert a date to ISO 8601 in UTC (`2024-05-01T10:00:00Z`); None if it is invalid or ambiguous."""
    if PLAIN.fullmatch(value):
        return utc_of_plain(value)
    if SPACED.fullmatch(value):
        try:
            return f"{datetime.fromisoformat(value).isoformat()}Z"
        except ValueError:
            return None
    moment = parse(value)
    return None if moment is None else iso(moment)


def iso(moment: datetime) -> str:
    """Format a moment as ISO 8601 in UTC, with fractions of a second only if not zero."""
    return moment.astimezone(UTC).isoformat()[: -len("+00:00")] + "Z"


def utc_of_plain(value: str) -> str | None:
    """Do the same as `utc` for a value known to be `YYYY-MM-DD`, or `YYYY-MM-DDThh:mm:ss` with a zone."""
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
    """Return the offset of a zone such as `+02:00`. Cached for speed: a file has one or two of them."""
    return _offset({"offset": zone})


def parse(value: str) -> datetime | None:
    """Parse a date to a datetime in UTC; None if it is invalid or ambiguous."""
    if len(value) > MAX_LENGTH:
        return None
    try:
        return _w3c(value.strip()) or _other(simplified(value))
    except (ValueError, OverflowError):
        return None


def simplified(text: str) -> str:
    """Return `text` in lower case, without invisible characters, and with single blanks."""
    return " ".join(text.translate(INVISIBLE).split()).casefold()


def _w3c(value: str) -> datetime | None:
    match = W3C.fullmatch(value)
    if match is None:
        return None
    if match["zone"] not in (None, "Z"):
        _offset({"offset": match["zone"]})
    moment = datetime.fromisoformat(value + NEW_YEAR[len(value) :])
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _other(text: str) -> datetime | None:
    match = next((match for pattern in DIALECTS if (match := pattern.fullmatch(text))), None)
    return _moment({name: part for name, part in match.groupdict().items() if part is not None}) if match else None


def _moment(written: Mapping[str, str]) -> datetime:
    """Build the datetime from the groups of a pattern. Raises ValueError if there is none."""
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
    if "weekday" in written and WEEKDAYS.index(written["weekday"][:3]) != found.weekday():
        raise ValueError("a date on another weekday")
    return found


def _year(digits: str) -> int:
    """Return the year. Two or three digits, which only RFC 2822 and RFC 850 allow, are read by RFC 2822, 4.3."""
    year = int(digits)
    if len(digits) < len("2024"):
        year += 2000 if len(digits) == len("24") and year < 50 else 1900
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError("not a year of today's calendar")
    return year


def _month_and_day(written: Mapping[str, str]) -> tuple[int, int]:
    if "name" in written:
        return MONTHS.index(written["name"][:3]) + 1, int(written["day"])
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
            raise ValueError("not an hour of a 12-hour clock")
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
