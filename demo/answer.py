"""What the demo site says to a request."""

from __future__ import annotations

from typing import NamedTuple

HTML = "text/html; charset=utf-8"


class Answer(NamedTuple):
    """One HTTP answer."""

    content_type: str
    """Content-Type header."""
    body: bytes
    """Body, sent as it stands."""
    status: int = 200
    """HTTP status."""
    location: str | None = None
    """Location header of a redirect, an absolute URL."""


def page(title: str, head: str = "", status: int = 200) -> Answer:
    """An HTML page with the given title; `head` is put into its head as it stands."""
    html = (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>{head}</head>\n'
        f"<body><h1>{title}</h1></body>\n</html>\n"
    )
    return Answer(HTML, html.encode(), status)


def moved(url: str) -> Answer:
    """A permanent redirect to an absolute URL."""
    return Answer(HTML, b"", 301, url)
