"""Figures, dates and addresses as people read them, and text of strangers as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from sitemapcrawler.urls import is_web
from sitemapcrawler.urls.display import inert
from sitemapcrawler.words import counted, elapsed, percent, size

READING = {
    "ok": "complete",
    "recovered": "with repairs",
    "truncated": "cut short",
    "failed": "not at all",
    "blocked": "forbidden",
    "unchanged": "unchanged, from before",
}
"""How far a file was read, by outcome."""
FORMATS = {
    "xml-urlset": "XML",
    "xml-index": "index",
    "rss": "RSS",
    "atom": "Atom",
    "text": "text",
    "html": "HTML",
    "list": "list of URLs",
}
"""Formats of files."""
HAPPENED = {
    "ok": "answered",
    "redirected": "redirects to",
    "http-error": "HTTP error",
    "timeout": "no answer in time",
    "dns": "host not found",
    "tls": "no secure connection",
    "refused": "connection refused",
    "reset": "connection broke off",
    "truncated": "answer broke off",
    "too-large": "answer too large",
    "redirect-loop": "redirects without end",
    "address-refused": "address is not asked",
    "unchecked": "not asked",
}
"""What asking for one URL came to, by kind of reply."""
REPLIES = HAPPENED | {
    "ok": "answered with a page at once",
    "redirected": "redirected to another URL",
    "http-error": "answered with an HTTP error",
    "blocked": "not asked: robots.txt forbids us to",
    "sampled-out": "not asked: not in the sample",
    "off-site": "not asked: on another host",
    "stopped": "not asked: the crawl ended, or left the host alone, before",
}
"""What asking for many came to, by kind, unchecked ones by their reason."""
ROBOTS = {
    "parsed": "read",
    "unavailable": "not there: everything is allowed",
    "too-many-redirects": "too many redirects: everything is allowed",
    "unreachable": "no answer: everything is denied",
}
"""What asking for a robots.txt came to, by outcome."""
EVIDENCE = {
    "future": "in the future",
    "epoch": "the zero of a clock",
    "at_fetch": "made by the request itself",
    "identical": "made in one batch",
    "older_than_header": "older than the server says",
    "newer_than_header": "newer than the server says",
    "older_than_page": "older than the page says",
    "newer_than_page": "newer than the page says",
}
"""What speaks against dates, by kind of evidence."""
SEVERITIES = {"error": "Error", "warning": "Warning", "info": "Note"}
LEFT_OUT = "Not computed: the crawl was stopped, or there was no room for it. The crawl can be run on, or again."


MAX_TEXT = 400
"""Characters of any other text; the files beside the page have the rest."""
MAX_LINK = 1000
"""Characters of an address that is a link; what is longer is no page that somebody wants to open."""
MAX_SHOWN = 160
"""Characters shown of an address: two lines on a wide screen, five on a phone."""
MAX_LISTED = 12
"""Words of a list that a sentence names."""
_CODE = re.compile("`([^`]+)`")
_SENTENCE_END = re.compile(r"\. (?=[A-Z`])")


def shown(value: Any) -> Any:
    """What a template writes for a value: texts are made inert, whoever they come from."""
    return inert(value, MAX_TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value


def number(value: float) -> str:
    """`1,234,567`."""
    return f"{value:,}"


def moment(text: str | None, clock: bool = True) -> Markup | str:
    """`3 May 2024, 10:00 UTC` of an ISO 8601 time, the day alone as it is written; whatever else stays as it is."""
    if not text:
        return ""
    try:
        at = datetime.fromisoformat(text)
        words = f"{at.day} {at:%b} {at.year}"
        if clock:
            at = at.astimezone(UTC) if at.tzinfo else at
            words = f"{at.day} {at:%b} {at.year}, {at:%H:%M} UTC"
    except (ValueError, OverflowError):
        return text
    return Markup("<time datetime='{}'>{}</time>").format(at.isoformat(), words)


def address(url: str | None, origin: str = "", line: int | None = None, column: int | None = None) -> Markup:
    """A link for http and https, which tells the other side nothing; whatever else is text.

    Addresses on `origin` are shown without it; a line and a column stand behind, as compilers have it.
    """
    if not url:
        return Markup("")
    label = url[len(origin) :] if origin and url.startswith(origin + "/") else url
    place = "".join(f":{at}" for at in (line, column) if at is not None)
    text = escape(inert(label, MAX_SHOWN))
    if place:
        text += Markup("<span class=at>{}</span>").format(place)
    if not may_be_opened(url):
        return Markup("<span class=url>{}</span>").format(text)
    return Markup('<a class=url rel="noreferrer noopener" href="{}">{}</a>').format(url, text)


def sentences(text: str) -> list[str]:
    """The first sentence without its full stop, and the rest, if any."""
    return [part for part in _SENTENCE_END.split(text.removesuffix("."), 1) if part]


def coded(text: str) -> Markup:
    """Text of a rule's documentation: what stands between backticks is code."""
    text = str(escape(inert(text, MAX_TEXT)))
    return Markup(_CODE.sub(r"<code>\1</code>", text))


def may_be_opened(url: str) -> bool:
    """True for a URL of the web that a click may open: not too long, and without what cannot be seen."""
    return len(url) <= MAX_LINK and url.isprintable() and is_web(url)


def beside(name: str) -> str:
    """Reference to a file in the folder of the page."""
    return quote(name, safe="", errors="replace")


def listed(words: Sequence[str], most: int = MAX_LISTED) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 98 more`."""
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most:,} more"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


FILTERS = {
    function.__name__: function
    for function in (number, counted, percent, size, elapsed, moment, address, coded, sentences, beside, listed)
}
"""What templates may call."""
