"""How people read what we print: untrusted text made safe, and numbers, sizes and durations in words.

Passwords are masked, control characters and CI commands escaped, and the length is limited. User information (RFC 3986,
3.2.1; 7.5) is removed from untrusted text before it goes anywhere, in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable

HIDDEN = "***"
"""Replaces user information."""
MAX_LOOKED_AROUND = 2048
"""Characters searched around a part of a text for the start of its URL and the end of its password."""
MAX_TYPED = 4096
"""Characters of a command line argument that are shown if it holds a password."""

# What browsers accept in front of a host, besides the grammar's two slashes: backslashes, and none after http(s).
_URL = re.compile(r"(\s*+(?:(?:[a-z][a-z0-9+.-]*+:)?+[\\/]{2,}+|https?:[\\/]*+))([^/?#]*@)?", re.IGNORECASE)
"""A text that is one URL: everything up to the last @ counts, since a password may hold any character."""
_BEHIND = re.compile(r"(\s[\"'(<]*+(?:[a-z][a-z0-9+.-]*+:)?+[\\/]{2,}+)[^\\/?#\s<>]*@", re.IGNORECASE)
"""Another URL after a blank."""
_IN_TEXT = re.compile(r"((?<![\\/])[\\/]{2,}+)([^\\/?#\s<>]*)@")
_IN_BYTES = re.compile(rb"(?<![/?&=])(https?:[\\/]++)[^\\/?#\s<>]*@", re.IGNORECASE)
_TYPED = re.compile(r"(?<![^\s,'\"=/])[^\s,/@:'\"]+:[^\s@]*@")
"""`user:password@` on a command line, whatever the password holds."""


def masked(text: str) -> str:
    """Replace the user information of each URL in a text with `***`."""
    return _IN_TEXT.sub(rf"\g<1>{HIDDEN}@", text) if "@" in text else text


def masked_url(url: str) -> str:
    """Do the same for a text that should be one URL. Its path and query are kept: they identify the page."""
    return _without(url, f"{HIDDEN}@", masked) if "@" in url else url


def masked_part(text: str, begin: int, end: int) -> str:
    """Do the same for part of a text, which may begin or end within a password."""
    visible, at = "", begin
    first, last = max(0, begin - MAX_LOOKED_AROUND), end + MAX_LOOKED_AROUND
    for found in _IN_TEXT.finditer(text, first, last) if "@" in text[begin:last] else ():
        start, stop = found.span(2)
        if start < end and stop > begin:
            visible += text[at:start] + HIDDEN
            at = stop
    return (visible + text[at:end])[: end - begin]


def masked_argument(text: str) -> str:
    """Do the same for a command line argument, where a host may lack its scheme and nothing is escaped."""
    return _TYPED.sub(f"{HIDDEN}@", masked_url(text[:MAX_TYPED])) if "@" in text else text


def removed(url: str) -> str:
    """Remove the user information of a text that should be one URL."""
    return _without(url, "", lambda text: _IN_TEXT.sub(r"\g<1>", text)) if "@" in url else url


def _without(url: str, instead: str, otherwise: Callable[[str], str]) -> str:
    found = _URL.match(url)
    if found is None:
        return otherwise(url)
    return found[1] + (instead if found[2] else "") + _BEHIND.sub(rf"\g<1>{instead}", url[found.end() :])


def masked_bytes(body: bytes) -> bytes:
    """Mask http and https URLs in a file of any ASCII-compatible encoding, except within path or query of another."""
    return _IN_BYTES.sub(rb"\g<1>***@", body) if b"@" in body else body


MAX_SHOWN = 100
"""Characters of a value in a message."""
MAX_TEXT = 1000
"""Characters of a message. Above 2,048, GitLab drops the finding.
Source: https://docs.gitlab.com/user/application_security/detect/sarif/#limits"""
MAX_URL = 2048
"""Characters of a listed URL. Source: https://www.sitemaps.org/protocol.html#locdef"""
CUT = "..."
"""Replaces the rest of a text that is too long."""
_COMMAND = re.compile(r"##(?=\w*\[)")
"""Sources: https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands (`##vso[`), ActionCommand.cs of
https://github.com/actions/runner (`##[`)"""


def quoted(value: str | None) -> str:
    """Quote a value, masked, with invisible characters escaped, cut to `MAX_SHOWN`; `''` for None."""
    value = masked_url(value or "")
    return repr(value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + CUT)


def inert(text: str, limit: int = MAX_TEXT) -> str:
    r"""Reduce untrusted text to one line of visible characters.

    Control characters, those that change the writing direction, and anything else invisible or not encodable become
    escapes (`\u202e`). So do CI commands (`##vso[`), which a CI server obeys anywhere in a line.
    """
    line = text[: limit + 1]
    if not line.isprintable():
        line = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)
    if "##" in line:
        line = _COMMAND.sub(r"#\\x23", line)
    return line if len(line) <= limit else line[: limit - len(CUT)] + CUT


SIZES = ("bytes", "kB", "MB", "GB", "TB")
"""Units of a size, in steps of 1,000 (SI)."""
MINUTE, HOUR = 60, 3600
"""Seconds."""
LONG_H, DAY_H = 10, 24
"""Hours from which minutes are omitted, and hours of a day."""


def first_line(error: BaseException) -> str:
    """First line of an error's message, or its type if the message is empty."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


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


def shortened(text: str, width: int, dots: str = CUT) -> str:
    """Cut a text to `width` characters, before its middle. The end identifies the host's domain, or a URL's file."""
    if len(text) <= width:
        return text
    kept = max(0, width - len(dots))
    start = kept // 3
    return (text[:start] + dots + text[len(text) - (kept - start) :])[: max(0, width)]
