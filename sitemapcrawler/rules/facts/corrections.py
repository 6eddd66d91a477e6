"""Values of extensions that are written in another way than the rules require, with one meaning."""

from __future__ import annotations

import re

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
