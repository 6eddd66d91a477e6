"""Retry-After and the dates of HTTP. RFC 9110, 10.2.3 and 5.6.7"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies import MAX_RETRY_AFTER, http_date, retry_after
from tests.unit.tables import cases

NOW = datetime(1994, 11, 6, 8, 47, 37, tzinfo=UTC)
THEN = NOW + timedelta(seconds=120)


@pytest.mark.parametrize(
    ("value", "seconds"),
    cases(
        (["120", " 120 ", "120, 60", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994"], 120.0),
        (["0", "-5", "-" + "9" * 999, "Sun, 06 Nov 1994 08:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"], 0.0),
        (["00007"], 7.0),
        (["1.5"], 1.5),
        (["30s"], 30.0),
        (["+5"], 5.0),
        (["3600", "9" * 5000, "Fri, 31 Dec 1999 23:59:59 GMT"], MAX_RETRY_AFTER),
    ),
)  # fmt: skip
def test_wait_is_between_nothing_and_the_limit(value: str, seconds: float) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize(
    "value", ["", " ", "soon", "-", ".", "1e3", "0x10", "1994-11-06T08:49:37Z", "12:30", "inf", "nan", "٣"]
)
def test_what_is_neither_number_nor_date_is_none(value: str) -> None:
    assert retry_after(value, NOW) is None


def test_now_may_be_in_any_zone() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=9)))
    assert retry_after("Sun, 06 Nov 1994 08:49:37 GMT", there) == 120.0


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "sun, 6 nov 1994 8:49:37 gmt",
        "Mon, 06 Nov 1994 08:49:37 GMT",  # it was a Sunday
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37",
    ],
)
def test_three_forms_of_a_date(text: str) -> None:
    assert http_date(text) == THEN


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Fri, 31 Dec 9999 23:59:60 GMT", "0", "-1", "x" * 10**6,
    ],
)  # fmt: skip
def test_what_is_no_date_is_none(text: str) -> None:
    assert http_date(text) is None


@given(
    st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d\d (Jan|Feb) \d{4} \d\d:\d\d:\d\d GMT"),
    st.datetimes(timezones=st.just(UTC)),
)
def test_nothing_raises(text: str, now: datetime) -> None:
    seconds = retry_after(text, now)
    assert seconds is None or 0 <= seconds <= MAX_RETRY_AFTER
