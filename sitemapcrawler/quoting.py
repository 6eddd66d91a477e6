"""Values of strangers as messages quote them."""

from __future__ import annotations

from sitemapcrawler.userinfo import masked_url

MAX_SHOWN = 100
"""Characters of a value that a message shows."""


def shown(value: str | None) -> str:
    """A value in quotes, without passwords, with escapes for what cannot be seen, and cut where it is long; `''` for
    none."""
    value = masked_url(value or "")
    return repr(value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "...")
