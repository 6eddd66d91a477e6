"""How a date is written, and between which moments it lies."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.rules.facts.written import DateForm, Standard, span, written
from tests.unit.tables import cases


@pytest.mark.parametrize(
    ("text", "form"),
    cases(
        (["2024-05-01", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.5+05:30",
          "2024-05-01T10:00:00+14:00"], DateForm.LEGAL),
        (["2024-05-01T10:00-03:00"], DateForm.NO_SECONDS),
        (["2024-05-01T10:00:00"], DateForm.NO_ZONE),
        (["2024-05-01T10:00", "2024-05-01T10:00:00 Z", "2024-05Z", "yesterday"], DateForm.OTHER),
        (["2024-05", "2024"], DateForm.COARSE),
        (["2024-05-01+02:00", "2024-05-01Z"], DateForm.ZONED_DAY),
        (["2024-05-01+15:00", "2024-02-30Z", "2024-13-01", "2024-05-01T10:00:00+14:01",
          "2024-05-01T10:00:00-02:60"], DateForm.IMPOSSIBLE),
        ([""], DateForm.EMPTY),
    ),
)  # fmt: skip
def test_the_form_of_a_date_in_a_sitemap(text: str, form: DateForm) -> None:
    assert written(text, Standard.W3C).form is form


def test_a_day_with_a_zone_is_no_date_of_a_feed() -> None:
    assert written("2024-05-01Z", Standard.RFC3339).form is DateForm.OTHER


def test_a_day_lasts_until_it_is_over_everywhere() -> None:
    day = (datetime(2026, 5, 31, 10, tzinfo=UTC), datetime(2026, 6, 2, 12, tzinfo=UTC))
    assert span("2026-06-01") == span("2026-06-01Z") == day
    assert span("2026-06-01T12:00:00") == (datetime(2026, 5, 31, 22, tzinfo=UTC), datetime(2026, 6, 2, tzinfo=UTC))
    moment = datetime(2026, 6, 1, 10, tzinfo=UTC)
    assert span("2026-06-01T12:00:00+02:00") == span("2026-06-01T12:00+02:00") == (moment, moment)


@pytest.mark.parametrize("text", ["2026-06", "2026", "1 June 2026", "0001-01-01", "9999-12-31T23:30:00-01:00", "", "x"])
def test_what_names_no_day_that_there_is_has_no_span(text: str) -> None:
    assert span(text) is None


@given(st.text(max_size=30) | st.from_regex(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)?)?", fullmatch=True))
def test_the_span_of_a_date_is_in_order(text: str) -> None:
    when = span(text)
    assert when is None or when[0] <= when[1]
    assert when is None or written(text, Standard.W3C).form not in (DateForm.OTHER, DateForm.IMPOSSIBLE, DateForm.EMPTY)
