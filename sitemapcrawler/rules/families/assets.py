"""URLs of images and videos: absolute, and valid by RFC 3986 or 3987."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from sitemapcrawler.urls.display import shown
from sitemapcrawler.urls.grammar import BLANK, Form, fault_of, form_of

WEB = ("http", "https")
USUAL = re.compile(
    r"https?://(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,3}[a-z]{2,24}"
    r"(?:/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*+)?"
    r"(?:\?(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*+)?"
)
"""A URL without fault, told in one test."""

BLANK_IN_HOST = re.compile(rf"[^:/]*:/*[^/?#]*?{BLANK.pattern}")


class Flaw(NamedTuple):
    """What is wrong with a URL."""

    kind: Literal["relative", "scheme", "invalid"]
    text: str
    """A sentence with the URL, shortened."""
    blank: bool = False
    """True if the URL is valid but for blanks behind its host."""


@lru_cache(maxsize=4096)
def flaw(url: str, schemes: tuple[str, ...] = WEB) -> Flaw | None:
    """What is wrong with the URL of an image or a video, white space around it stripped; None where nothing is.

    `scheme` is any other than `schemes`; what comes behind it is not looked at. Kept, since several rules ask.
    """
    if USUAL.fullmatch(url):
        return None
    form = form_of(url)
    if form in (Form.RELATIVE, Form.PROTOCOL_RELATIVE):
        return Flaw("relative", f"{shown(url)} is not absolute")
    scheme = url.partition(":")[0].lower()
    if scheme not in schemes:
        return Flaw("scheme", f"{shown(url)} has the scheme {scheme}, not {' or '.join(schemes)}")
    blank, fault = BLANK.search(url), fault_of("http" + url[len(scheme) :])
    if blank is not None:
        only = fault is None and not BLANK_IN_HOST.match(url)
        return Flaw("invalid", f"{shown(url)} has a blank (U+{ord(blank[0]):04X}) in it", only)
    return None if fault is None else Flaw("invalid", f"{shown(url)} is not valid: {fault}")
