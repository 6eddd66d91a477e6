"""The meta refresh, and the header of that name.

Source: https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps. w3lib's reader wants
`url=`, which browsers do without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sitemapcrawler import urls
from sitemapcrawler.page.markup import BLANK

MAX_DELAY = 10**9  # seconds: more than a browser waits
_TIME = re.compile(rf"[{BLANK}]*+(?:([0-9]++)[0-9.]*+|\.[0-9.]*+)(?:(?=[{BLANK};,])[{BLANK}]*+[;,]?+[{BLANK}]*+|\Z)")
_URL = re.compile(rf"(?:url[{BLANK}]*+=[{BLANK}]*+)?+(?:'([^']*+)|\"([^\"]*+)|(.*+))", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Refresh:
    """A page that sends its visitor on."""

    delay: int
    """Seconds."""
    url: str | None
    """Where to, absolute; None where that is the page itself, or no web URL."""


def refresh(content: str, base: str) -> Refresh | None:
    """What a refresh says; None where a browser does nothing. `base`: URL that its own is read against."""
    time = _TIME.match(content)
    if time is None:
        return None
    delay = min(int((time[1] or "0")[:10]), MAX_DELAY)
    found = _URL.match(content, time.end())
    reference = (found[1] or found[2] or found[3] or "").strip(BLANK) if found else ""
    return Refresh(delay, urls.resolve(base, reference))
