"""How long a server asks to be left alone. Source: RFC 9110, 10.2.3"""

from __future__ import annotations

import re
from datetime import datetime

from sitemapcrawler.reply.http_date import http_date

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
