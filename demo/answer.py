"""Responses of the demo site."""

from __future__ import annotations

from typing import NamedTuple

HTML = "text/html; charset=utf-8"


class Answer(NamedTuple):
    """HTTP response."""

    content_type: str
    body: bytes
    """Body, sent unchanged."""
    status: int = 200
    location: str | None = None
    """Location header of a redirect: an absolute URL."""


def page(title: str, head: str = "", status: int = 200) -> Answer:
    """Return an HTML page with the given title; `head` is inserted into its head unchanged."""
    html = (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>{head}</head>\n'
        f"<body><h1>{title}</h1></body>\n</html>\n"
    )
    return Answer(HTML, html.encode(), status)


def moved(url: str) -> Answer:
    """Return a permanent redirect to an absolute URL."""
    return Answer(HTML, b"", 301, url)
