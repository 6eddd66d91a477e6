"""Dates: read in every notation that is clear, never read as another date."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemapcrawler.reader.dates import (
    FARTHEST_ZONE,
    MAX_LENGTH,
    RFC2822_ZONES,
    ZONES,
    iso,
    parse,
    utc,
    utc_of_plain,
)

DAY = "2024-01-05T00:00:00Z"
MORNING = "2024-01-05T10:00:00Z"
EVENING = "2024-01-05T22:00:00Z"
EARLIER = "2024-01-05T08:00:00Z"

WRITTEN = {
    "w3c": {
        "2024": "2024-01-01T00:00:00Z",
        "2024-05": "2024-05-01T00:00:00Z",
        "2024-01-05": DAY,
        "0001-01-01": "0001-01-01T00:00:00Z",
        "2024-01-05T10:00Z": MORNING,
        "2024-01-05T10:00+02:00": EARLIER,
        "2024-01-05T10:00:00Z": MORNING,
        "2024-01-05T10:00:00+00:00": MORNING,
        "2024-01-05T10:00:00-00:00": MORNING,
        "2024-01-05T10:00:00-12:00": EVENING,
        "2024-01-05T15:45:30+05:45": "2024-01-05T10:00:30Z",
        "2024-01-05T10:00:00.5Z": "2024-01-05T10:00:00.500000Z",
        "2024-01-05T10:00:00.123456789+02:00": "2024-01-05T08:00:00.123456Z",
        "2024-01-05T10:00:00.000Z": MORNING,
        "  2024-01-05T10:00:00Z\n": MORNING,
        "\u00a02024-01-05\u00a0": DAY,
    },
    "w3c-no-zone": {
        "2024-01-05T10:00": MORNING,
        "2024-01-05T10:00:00": MORNING,
        "2024-01-05T10:00:00.25": "2024-01-05T10:00:00.250000Z",
    },
    "iso": {
        "2024-1-5": DAY,
        "2024-01-05t10:00:00z": MORNING,
        "2024-01-05 10:00:00": MORNING,
        "2024-01-05   10:00": MORNING,
        "2024-01-05\u00a010:00": MORNING,
        "2024-01-05 T 10:00:00": MORNING,
        "2024-01-05, 10:00:00 a.m.": MORNING,
        "2024-01-05 9:00:00": "2024-01-05T09:00:00Z",
        "2024-01-05T10:00:00+0200": EARLIER,
        "2024-01-05T10:00:00+02": EARLIER,
        "2024-01-05T10:00:00 +02:00": EARLIER,
        "2024-01-05 10:00 -1200": EVENING,
        "2024-01-05 10:00:00 UTC": MORNING,
        "2024-01-05 10:00 GMT": MORNING,
        "2024-01-05 10:00:00 Z": MORNING,
        "2024-01-05 10:00:00 CEST": EARLIER,
        "2024-01-05 17:00:00 JST": EARLIER,
        "2024-01-05T10:00:00.000+0000": MORNING,
        "2024-01-05 10:00:00,5": "2024-01-05T10:00:00.500000Z",
        "2024-01-05T10:00:00+02:00[Europe/Berlin]": EARLIER,
    },
    "numbers from the year on": {
        "2024/01/05": DAY,
        "2024/1/5 10:00": MORNING,
        "2024.01.05": DAY,
        "20240105": DAY,
        "20240105T100000Z": MORNING,
        "20240105T120000+0200": MORNING,
        "20240105100000": MORNING,
    },
    "xsd-date": {
        "2024-01-05Z": DAY,
        "2024-01-05+02:00": "2024-01-04T22:00:00Z",
    },
    "epoch": {
        "1704448800": MORNING,
        "1704448800.25": "2024-01-05T10:00:00.250000Z",
        "1704448800123": "2024-01-05T10:00:00.123000Z",
    },
    "rfc2822": {
        "Fri, 05 Jan 2024 10:00:00 GMT": MORNING,
        "Fri, 5 Jan 2024 10:00 +0200": EARLIER,
        "Fri,  5 Jan 2024 10:00:00 +0000 (UTC)": MORNING,
        "5 Jan 2024 10:00:00 UT": MORNING,
        "Fri, 05 Jan 2024 10:00:00 EST": "2024-01-05T15:00:00Z",
        "Fri, 05 Jan 2024 10:00:00 AKST": "2024-01-05T19:00:00Z",
        "Fri, 05 Jul 2024 10:00:00 AKDT": "2024-07-05T18:00:00Z",
        "Fri, 05 Jan 2024 10:00:00 HST": "2024-01-05T20:00:00Z",
        "Fri, 05 Jul 2024 10:00:00 BST": "2024-07-05T09:00:00Z",
        "Fri, 05 Jan 2024 10:00:00 PDT": "2024-01-05T17:00:00Z",
        "Fri, 05 Jan 24 10:00:00 Z": MORNING,
        "Fri, 05 Jan 124 10:00:00 Z": MORNING,
        "05 Jan 99 10:00:00 Z": "1999-01-05T10:00:00Z",
        "Fri, 05 Jan 2024 02:00:00 MST": "2024-01-05T09:00:00Z",
    },
    "rfc850": {
        "Sunday, 06-Nov-94 08:49:37 GMT": "1994-11-06T08:49:37Z",
        "Friday, 05-Jan-24 10:00:00 GMT": MORNING,
    },
    "asctime": {
        "Fri Jan  5 10:00:00 2024": MORNING,
        "Fri Jan 05 10:00:00 UTC 2024": MORNING,
        "Fri Jan 05 10:00:00 +0200 2024": EARLIER,
    },
    "english in numbers": {
        "25/12/2024": "2024-12-25T00:00:00Z",
        "12/25/2024": "2024-12-25T00:00:00Z",
        "25-12-2024": "2024-12-25T00:00:00Z",
        "25.12.2024": "2024-12-25T00:00:00Z",
        "05/05/2024": "2024-05-05T00:00:00Z",
        "1/25/2024, 10:00:00 PM": "2024-01-25T22:00:00Z",
        "1/25/2024 12:00:00 AM": "2024-01-25T00:00:00Z",
        "1/25/2024 12:30 pm": "2024-01-25T12:30:00Z",
        "\u200e1\u200e/\u200e25\u200e/\u200e2024": "2024-01-25T00:00:00Z",
    },
    "english": {
        "5-Jan-2024": DAY,
        "05/Jan/2024": DAY,
        "2024-Jan-05": DAY,
        "Jan 5, 2024": DAY,
        "January 5th 2024": DAY,
        "5th of January, 2024": DAY,
        "5 January 2024 10:00": MORNING,
        "05 Jan 2024 10:00 PM": EVENING,
        "Fri, 05 January 2024 05:00:00 EST": MORNING,
        "5 January 2024, 11:00 BST": MORNING,
        "Friday, 5 January 2024 05:00 EST": MORNING,
        "5 January 2024 03:00:00 PDT": MORNING,
        "Fri, 05 January 2024 10:00:00 +0000": MORNING,
        "Fri, 05 January 2024 12:00:00 +0200": MORNING,
        "Fri, 05 January 24 05:00:00 EST": MORNING,
        "Fri, 05 January 24 10:00:00 GMT": MORNING,
        "Tue, 03 Sept 2024 06:00:00 EDT": "2024-09-03T10:00:00Z",
        "Tuesday, September 3, 2024 6:00 AM EDT": "2024-09-03T10:00:00Z",
        "January 5, 2024 at 2:00 am PST": MORNING,
        "Friday, January 5, 2024 at 10:00 PM": EVENING,
        "Fri Jan 05 2024": DAY,
        "Fri Jan 05 2024 10:00:00 GMT+0200 (CEST)": EARLIER,
        "Fri Jan 05 2024 10:00:00 GMT+0200 (Mitteleuropäische Sommerzeit)": EARLIER,
    },
}
NO_DATES = {
    "another language": [
        *("1. Mai 2024", "5 mai 2024", "5 de enero de 2024", "5 января 2024", "2024. január 5.", "5 Okt 2024"),
        *("Montag, 5 January 2024", "Fri, 05 Mai 2024 10:00:00 GMT", "5 January 2024 um 10:00", "2024年1月5日"),
    ],
    "empty": ["", " ", "\u00a0"],
    "words": ["yesterday", "today", "2 days ago", "never", "null", "N/A", "garbage", "January", "Friday"],
    "no such day": ["0000-00-00", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "30 Feb 2024", "20240230"],
    "no such day in order": ["25.25.2024", "25/25/2024", "2024/13/05", "2024年13月1日", "0000-00-00 00:00:00"],
    "no such time": [
        *("2024-01-01T25:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T10:60:00Z", "2024-01-01T10:00:61Z"),
        *("2024-01-01T24:00", "2024-01-01 24:00:00", "2024-01-01T10:00:00+24:00", "2024-01-01T10:00:00+0260"),
        *("2024-01-01T10:00:00+14:01", "2024-01-01T10:00:00.5-14:01", "2024-01-01T10:00+15:00"),
        *("2024-01-01T10:00+02:60", "2024-01-01 10:00:00 +1401", "2024-01-01T10:00:00-13:60"),
        *("1/25/2024 13:00 PM", "1/25/2024 0:30 AM", "2024-01-01T10", "2024-01-01T10:00:00 02:00"),
    ],
    "day or month first": ["01/02/2024", "1/2/2024 10:00:00 AM", "05-01-2024", "12/11/2024", "5.1.2024", "05.01.2024 10:00"],
    "a year of two digits": [
        "24-01-02", "25/12/24", "25.12.24", "5 Jan 24", "Jan 5, 24", "05-Jan-24 10:00:00", "24-Jan-05 10:00 GMT",
    ],
    "no year": ["5 January", "Jan 5", "05.01.", "10:00"],
    "a year of another calendar": ["5 January 2567", "25/12/2567", "1403/10/15", "5.1.1445", "25670105"],
    "a program's zero": ["13/13/0001", "1/1/0001 12:00:00 AM", "0", "-62135596800"],
    "no offset of a named place": ["2024-01-05T10:00:00[Europe/Berlin]", "2024-01-05 10:00 Europe/Berlin"],
    "a zone that several places use": [
        *(
            "2024-01-05 10:00:00 CST",
            "Fri Jan 05 10:00:00 CST 2024",
            "2024-07-05 10:00:00 BST",
            "Fri, 05 Jan 2024 10:00:00 IST",
        ),
        *("Fri, 05 Jan 2024 10:00:00 A", "1/25/2024 10:00 EST"),
    ],
    "another weekday": [
        *("Mon, 05 Jan 2024 10:00:00 GMT", "Monday, 05-Jan-24 10:00:00 GMT", "Mon Jan  5 10:00:00 2024"),
        *("Thu Jan 05 2024", "Monday, 5 January 2024"),
    ],
    "hours of an event": ["25.12.2024 10:00-12:00", "5 January 2024 10:00-12:00", "5 Jan 2024 10:00 -12:00"],
    "numbers": [
        "2024010210", "200102101010", "170406720", "4133980800", "9999999999999", "17044488001", "1704448800.", "1e9",
    ],
    "digits of other scripts": ["٢٠٢٤-٠١-٠٥", "２０２４-01-05", "2024-01-0²", "2024-01-05T10:00:00.٥Z"],
    "more than a date": [
        *("2024-01-05 foo", "2024-01-05T10:00:00Z foo", "foo 2024-01-05", "2024-01-05;", "2024-01/05", "2024/01.05", "2024-01-05 - 2024-02-05"),
        *("2024-01-052", "1704448800 s", "5 January 2024 !", "25.12.2024 (Christmas)", "Jan 5, 2024 Jan 6, 2024"),
    ],
    "a template": ["{{ page.date }}", "%Y-%m-%d", "YYYY-MM-DD", "$date"],
    "before the first or after the last year": ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"],
    "before the first or after the last year, in part": ["0001-01-01T00:00+01:00", "9999-12-31T23:59:59.9-01:00"],
}  # fmt: skip
CASES = [(value, moment) for values in WRITTEN.values() for value, moment in values.items()]


@pytest.mark.parametrize(("value", "moment"), CASES)
def test_notation_is_read(value: str, moment: str) -> None:
    assert utc(value) == moment


@pytest.mark.parametrize("situation", NO_DATES)
def test_value_that_names_no_certain_moment(situation: str) -> None:
    for value in NO_DATES[situation]:
        assert (utc(value), parse(value)) == (None, None), value


def test_longest_value() -> None:
    remark = "x" * (MAX_LENGTH - len("Fri, 05 Jan 2024 10:00:00 GMT ()"))
    assert utc(f"Fri, 05 Jan 2024 10:00:00 GMT ({remark})") == MORNING
    assert utc(f"Fri, 05 Jan 2024 10:00:00 GMT ({remark}x)") is None


def test_the_worst_texts_are_read_in_bounded_time() -> None:
    worst = [(piece * MAX_LENGTH)[:MAX_LENGTH] for piece in ("a", "a ", "'", "1 ", "1.", "a-", "mon, ", "1 de ", "é")]
    worst += [start.ljust(MAX_LENGTH, "a") for start in ("2024-01-05 10:00:00+02:00[", "5 jan 2024 10:00:00 gmt (")]
    worst += ["2024-01-05T10:00:00." + "9" * 10_000_000, " " * 10_000_000, "é" * 10_000_000]
    began = time.process_time()
    for text in worst * 5:
        assert utc(text) is None
    assert time.process_time() - began < 5


def test_iso_has_a_fraction_only_where_there_is_one() -> None:
    assert iso(datetime(2024, 1, 5, 12, tzinfo=timezone(timedelta(hours=2)))) == MORNING
    assert iso(datetime(2024, 1, 5, 10, 0, 0, 1, UTC)) == "2024-01-05T10:00:00.000001Z"
    assert iso(datetime(1, 1, 5, tzinfo=UTC)) == "0001-01-05T00:00:00Z"


@pytest.mark.parametrize("value", ["2024-02-30", "2024-01-05T24:00:00Z", "2024-01-05T24:00:00+00:00", "2024-13-05"])
def test_plain_shape_without_such_a_moment(value: str) -> None:
    assert utc_of_plain(value) is None


RECENT = st.datetimes(datetime(2002, 1, 1), datetime(2099, 12, 31), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)
OFFSETS = st.integers(-FARTHEST_ZONE, FARTHEST_ZONE).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=OFFSETS),
    st.sampled_from(["minutes", "seconds", "auto"]),
)
def test_any_w3c_moment_is_read_back(moment: datetime, precision: str) -> None:
    value = moment.isoformat(timespec=precision)
    moment = datetime.fromisoformat(value)
    assert parse(value) == moment
    assert utc(value) == iso(moment)
    assert precision != "seconds" or utc_of_plain(value) == iso(moment)


@given(st.dates())
def test_any_w3c_day_month_and_year_is_read_back(day: date) -> None:
    assert utc(f"{day}") == utc_of_plain(f"{day}") == f"{day}T00:00:00Z"
    assert utc(f"{day}"[:7]) == f"{day}"[:7] + "-01T00:00:00Z"
    assert utc(f"{day}"[:4]) == f"{day}"[:4] + "-01-01T00:00:00Z"


PIECES = st.sampled_from([piece for value, _ in CASES for piece in value.split()] + list("-/.,:+()[] '"))
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=())) | st.lists(PIECES).map("".join)


@given(ANY_TEXT | st.lists(PIECES).map(" ".join))
@example("\ud800")
@example("9" * MAX_LENGTH)
@example("a" * MAX_LENGTH)
@example("'" * MAX_LENGTH)
@example("a'" * (MAX_LENGTH // 2))
def test_any_text_is_a_date_or_none(text: str) -> None:
    moment = parse(text)
    assert utc(text) == (None if moment is None else iso(moment))


WHOLE: dict[str, Callable[[datetime], str]] = {
    "a blank for T": lambda moment: f"{moment:%Y-%m-%d %H:%M:%S}",
    "no colon in the zone": lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S%z}",
    "rfc 2822": format_datetime,
    "rfc 2822 of a server": lambda moment: format_datetime(moment, usegmt=True),
    "asctime": lambda moment: moment.ctime(),
    "javascript": lambda moment: f"{moment:%a %b %d %Y %H:%M:%S} GMT+0000 (UTC)",
    "twelve hours": lambda moment: f"{moment:%B %d, %Y %I:%M:%S %p}",
    "a cookie": lambda moment: f"{moment:%a, %d-%b-%Y %H:%M:%S} GMT",
    "a name of a month": lambda moment: f"{moment:%d-%b-%Y %H:%M:%S}",
    "ordinal": lambda moment: (
        f"{moment:%B} {moment.day}{'st' if moment.day in (1, 21, 31) else 'th'} {moment:%Y %H:%M:%S}"
    ),
    "single digits": lambda moment: f"{moment.year}-{moment.month}-{moment.day} {moment:%H:%M:%S}",
}


@given(RECENT, st.sampled_from(sorted(WHOLE)))
def test_a_moment_written_in_a_dialect_is_read_back(moment: datetime, name: str) -> None:
    assert parse(WHOLE[name](moment)) == moment


@given(RECENT, st.sampled_from(["%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"]))
def test_a_day_in_an_order_that_may_be_another_is_read_where_it_is_certain(moment: datetime, form: str) -> None:
    certain = moment.day > 12 or moment.day == moment.month
    assert parse(moment.strftime(form)) == (moment.replace(hour=0, minute=0, second=0) if certain else None)


@given(RECENT, st.integers(0, 999))
def test_an_epoch_is_read_back_or_may_be_a_date_and_hour(moment: datetime, milliseconds: int) -> None:
    seconds = int(moment.timestamp())
    assert parse(f"{seconds}{milliseconds:03}") == moment + timedelta(milliseconds=milliseconds)
    assert parse(f"{seconds}") in (moment, None)
    assert parse(f"{seconds}") == moment or str(seconds).startswith("20")


@given(RECENT, st.sampled_from(sorted(RFC2822_ZONES)))
def test_a_named_zone_of_rfc_2822_is_read_back(moment: datetime, zone: str) -> None:
    value = f"{moment:%a, %d %b %Y %H:%M:%S} {zone.upper()}"
    assert parse(value) == moment - timedelta(hours=RFC2822_ZONES[zone])


@given(RECENT, OFFSETS, st.sampled_from(["%d %b %Y %H:%M:%S %z", "%b %d, %Y %I:%M:%S %p %z", "%Y-%m-%d %H:%M:%S %z"]))
def test_any_offset_is_read_back(moment: datetime, zone: timezone, form: str) -> None:
    assert parse(moment.astimezone(zone).strftime(form)) == moment


@given(RECENT, st.sampled_from(sorted(ZONES)))
def test_a_name_of_one_zone_is_read_back_in_every_dialect(moment: datetime, zone: str) -> None:
    expected = moment - timedelta(hours=ZONES[zone])
    for form in ("%Y-%m-%d %H:%M:%S", "%b %d %Y %H:%M:%S", "%d %B %Y %H:%M:%S"):
        assert parse(f"{moment.strftime(form)} {zone.upper()}") == expected
