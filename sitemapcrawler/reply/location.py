"""Where a redirect leads. Source: RFC 9110, 10.2.2; read as browsers do, since they are what a redirect is made for."""

from __future__ import annotations

import ada_url

from sitemapcrawler import urls
from sitemapcrawler.userinfo import masked_url

MAX_TOLD = 200  # characters of a value in a message


class NoTarget(ValueError):
    """A Location that leads nowhere. The message says why."""


class OtherScheme(ValueError):
    """A Location that is no web URL. The message is the URL."""


def target(location: str | None, base: str) -> str:
    """The absolute http or https URL that a redirect from the URL `base` leads to, without user and password.

    A missing or empty one leads nowhere: it would be the URL itself. Blanks around it are not part of it, blanks and
    letters within become %XX, names of hosts become ASCII, a backslash is a slash. NoTarget, OtherScheme.
    """
    if location is None or not location.strip():
        raise NoTarget("a redirect without a Location")
    try:
        read = ada_url.URL(location, base)
    except ValueError:
        raise NoTarget(f"a redirect to {_told(location)}, which is no URL") from None
    if read.protocol not in {"http:", "https:"}:
        raise OtherScheme(_told(read.href))
    read.username = read.password = ""
    if not urls.is_web(read.href):
        raise NoTarget(f"a redirect to {_told(location)}, a host that cannot be asked")
    return str(read.href)


def _told(text: str) -> str:
    text = masked_url(" ".join(text.split()))
    return text if len(text) <= MAX_TOLD else f"{text[:MAX_TOLD]}..."
