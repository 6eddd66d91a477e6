"""Dates and numbers: parsing never raises; results are in UTC, and parse to themselves."""

from __future__ import annotations

import re

from fuzz.inputs import in_time
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.entries import number
from sitemapcrawler.replies.chase import http_date

MAX_BYTES = 128
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII)


def check(data: bytes) -> None:
    """Check the input as a lastmod, as a priority and as a Last-Modified header."""
    text = data.decode("utf-8", "replace")
    with in_time():
        moment = utc(text)
    if moment is not None:
        assert ISO.fullmatch(moment), moment
        assert utc(moment) == moment
    value = number(text)
    assert value is None or value == value
    sent = http_date(text)
    assert sent is None or sent.utcoffset() is not None
