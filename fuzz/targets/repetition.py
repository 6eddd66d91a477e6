"""Linear time: the middle of the input, repeated up to 64 KiB, costs every reader little.

An input is `beginning ␞ middle ␞ end`, separated by the ASCII record separator.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from fuzz.inputs import MAX_BYTES as LONG
from fuzz.inputs import TooSlow, in_time
from sitemapcrawler import urls
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.replies.discovery import from_html
from sitemapcrawler.replies.page import PageReader, page_of
from sitemapcrawler.replies.soft404 import is_soft_404
from sitemapcrawler.robots import BatchVerdicts, Policy, parse_agents
from sitemapcrawler.urls import grammar as uri
from tests.unit.reader.reading import URL
from tests.unit.rules.judging import judge

DICTIONARY = "xml.dict"
MAX_BYTES = 256
PART = b"\x1e"
SHORT = LONG // 8
"""Bytes of the first try; an input that takes longer than `SUSPECT_S` is tried at full length."""
SUSPECT_S = 0.1
AGENTS = parse_agents("search")
CHUNK = 4096


def check(data: bytes) -> None:
    """Check every reader at a size that reveals non-linear time."""
    for read in READERS:
        begin = time.process_time()
        read(repeated(data, SHORT))
        if time.process_time() - begin > SUSPECT_S:
            try:
                with in_time():
                    read(repeated(data, LONG))
            except TooSlow as slow:
                raise TooSlow(f"{read.__name__}: {slow}") from None


def repeated(data: bytes, size: int) -> bytes:
    """Repeat the middle of the input as often as fits."""
    start, middle, end = (*data.split(PART, 2), b"", b"")[:3]
    if not middle:
        start, middle, end = b"", start, middle
    return start + middle * ((size - len(start) - len(end)) // max(1, len(middle))) + end


def document(data: bytes) -> None:
    """Read the input as a sitemap, in pieces."""
    pieces = (data[start : start + CHUNK] for start in range(0, len(data), CHUNK))
    for _ in Document(URL).read(pieces):
        pass


def judged(data: bytes) -> None:
    """Run the rules on the input as a sitemap."""
    judge(data)


def page(data: bytes) -> None:
    """Read the input as a page, and as a header of one."""
    reader = PageReader("text/html")
    for start in range(0, len(data), CHUNK):
        if reader.feed(data[start : start + CHUNK]):
            break
    headers = {name: [data.decode("latin-1")] for name in ("link", "x-robots-tag", "refresh")}
    is_soft_404(page_of(reader.close(), headers, URL, with_links=True), URL)
    from_html(data, URL)


def robots(data: bytes) -> None:
    """Read the input as a robots.txt."""
    policy = Policy.from_response("https://e.com/robots.txt", 200, data)
    BatchVerdicts(policy, AGENTS).judge(["https://e.com/", f"https://e.com/{data[:2000].decode('latin-1')}"])


def url(data: bytes) -> None:
    """Read the input as a URL, and as a date."""
    text = data.decode("latin-1")
    for written in (text, f"https://e.com/{text}", f"https://{text}"):
        found = urls.resolve(URL, written)
        (
            uri.form_of(written),
            urls.visit_key(written),
            uri.fault_of(written),
            uri.path_of(written),
            found and uri.standing(found, URL),
        )
    utc(text)


READERS: tuple[Callable[[bytes], None], ...] = (document, judged, page, robots, url)
