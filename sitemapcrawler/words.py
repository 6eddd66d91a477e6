"""Formats numbers, sizes, durations and long texts for people."""

from __future__ import annotations

SIZES = ("bytes", "kB", "MB", "GB", "TB")
"""Units of a size, in steps of 1,000 (SI)."""
MINUTE, HOUR = 60, 3600
"""Seconds."""
LONG_H, DAY_H = 10, 24
"""Hours from which minutes are omitted, and hours of a day."""
DOTS = "..."
"""Replaces the part of a text that was cut."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """Format a number with its noun: `1 file`, `2,000 files`, `3 entries`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def percent(part: float, whole: float = 1.0) -> str:
    """Format a share: `67 %`, `4.2 %`; `<0.1 %` and `>99.9 %` instead of an inexact 0 or 100."""
    if not whole:
        return "0 %"
    value = 100 * part / whole
    if 0 < value < 0.1:
        return "<0.1 %"
    if 99.9 < value < 100:
        return ">99.9 %"
    return f"{value:.0f} %" if value in (0, 100) or 10 <= value < 99.5 else f"{value:.1f} %"


def size(number: int) -> str:
    """Format a number of bytes: `812 bytes`, `25.3 kB`, `520 MB`."""
    if number < 1000:
        return counted(number, "byte")
    value, unit = float(number), 0
    while round(value) >= 1000 and unit < len(SIZES) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:,.{int(round(value, 1) < 100)}f} {SIZES[unit]}"


def duration(seconds: float) -> str:
    """Format an approximate duration: `40 s`, `12 min`, `3 h 20 min`, `5 days`."""
    if round(seconds) < MINUTE:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / MINUTE), 60)
    if not hours:
        return f"{minutes} min"
    if hours < LONG_H:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours} h" if hours < 2 * DAY_H else f"{round(seconds / HOUR / DAY_H):,} days"


def elapsed(seconds: float) -> str:
    """Format a measured duration: `4.2 s`, `3 min 20 s`; from one hour on like `duration`."""
    if round(seconds, 1) < MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole // MINUTE} min {whole % MINUTE} s" if whole < HOUR else duration(whole)


def shortened(text: str, width: int, dots: str = DOTS) -> str:
    """Cut a text to `width` characters, before its middle. The end identifies the host's domain, or a URL's file."""
    if len(text) <= width:
        return text
    kept = max(0, width - len(dots))
    start = kept // 3
    return (text[:start] + dots + text[len(text) - (kept - start) :])[: max(0, width)]
